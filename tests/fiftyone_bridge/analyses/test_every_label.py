"""*Analyse* on a plain data set of any label type: runs, and statements about their findings."""

import warnings
from collections.abc import Callable
from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning

RATERS = ("ann", "bob", "cora")


def samples_of(label: Callable[[str, int], fo.Label], images: int = 16) -> list[fo.Sample]:
    """Return samples with one field per rater, without stored raters."""
    return [
        fo.Sample(f"/x/{image}.png", raters=list(RATERS), **{name: label(name, image) for name in RATERS})
        for image in range(images)
    ]


def grade(rater: str, image: int) -> fo.Classification:
    """Return grades; cora grades lower by one on three of four images."""
    return fo.Classification(label=str(image % 4 + 1 - (rater == "cora" and image % 4 > 0)))


def name(rater: str, image: int) -> fo.Classification:
    return fo.Classification(label="cat" if rater == "cora" and image % 3 == 0 else "dog" if image % 2 else "owl")


def names(rater: str, image: int) -> fo.Classifications:
    chosen = [fo.Classification(label="red"), fo.Classification(label="wet")][: 1 + image % 2]
    return fo.Classifications(classifications=chosen[:1] if rater == "cora" else chosen)


def mask(rater: str, image: int) -> fo.Segmentation:
    marked = np.zeros((30, 30), np.uint8)
    marked[5:20, 5 : 20 + 6 * (rater == "cora")] = 1
    return fo.Segmentation(mask=np.roll(marked, image, axis=0))


@pytest.mark.parametrize(
    ("label", "kind", "beginnings"),
    [
        (
            grade,
            "image_labels",
            [
                "Raters ",
                "cora grades lower by 0.75",
                "ann grades",
                "bob grades",
                "cora agrees",
                "12 (75",
                "0 of 12 decisions",
            ],
        ),
        (name, "image_labels", ["Raters agree", "cora agrees with the majority least often", "6 (38", "0 of 6"]),
        (names, "image_labels", ["Raters ", "Hardest question: wet", "cora agrees", "8 (50 %) of 16", "0 of 8"]),
        (mask, "pixels", ["Two raters share ", "cora is furthest from the others: F1", "0 of 19 decisions"]),
    ],
)
def test_any_label_type_comes_to_an_overview(make: Any, label: Any, kind: str, beginnings: list[str]) -> None:
    dataset = make(samples_of(label))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KalosWarning)
        analysis = kf.analyse(dataset, "first")
    told = any("no raters are stored, so each field" in str(entry.message) for entry in caught)
    assert told is (kind == "image_labels")  # a field of masks is always a rater
    assert {found: run.key for found, run in analysis.runs.items()} == {kind: "first"}
    *said, last = (statement.text for statement in kf.overview_of(dataset, "first"))
    assert last == "No sample was edited since."
    assert len(said) == len(beginnings), said
    for text, beginning in zip(said, beginnings, strict=True):
        assert text.replace("\u00a0", " ").startswith(beginning)


def test_masks_come_to_decisions(make: Any) -> None:
    dataset = make(samples_of(mask))
    kf.analyse(dataset, "first", raters=RATERS)
    first = kf.next_dispute(dataset, "first")
    unit, *_ = kf.disputed_units(dataset, "first", first)
    kf.decide(dataset, "first", unit.labels, "none", sample_id=first)
    assert kf.count_disputes(dataset, "first").decided == 1
    every = kf.count_disputes(dataset, "first").all
    assert f"1 (5.3 %) of {every} decisions about disputes is made." in [
        statement.text.replace("\u00a0", " ") for statement in kf.overview_of(dataset, "first")
    ]
