"""Repeated analyses, and comparison of two agreements, vs. hand-worked scenes and the library."""

import json
from collections.abc import Callable
from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import agreement, compare
from kalos_core.fiftyone.analyses import analysis
from kalos_core.fiftyone.analyses.comparing import view_of_change
from kalos_core.fiftyone.kinds.agreement.stored import stored_agreement
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.stored import describe_run
from kalos_core.results import plain_values
from tests.fiftyone_bridge.quiz import RATERS as QUIZ_RATERS
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import (
    CAT,
    RATERS,
    SCENES,
    THREE,
    counting,
    crowded,
    detection,
    make_samples,
    raising,
    untouched,
)
from tests.fiftyone_bridge.stacks import small

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


def mend(dataset: fo.Dataset) -> str:
    """Let bob label the second scene as a cat, too, and delete his label of the first; return its id."""
    first, second = dataset.limit(2)
    second.bob.detections[0].label = "cat"
    first.bob.detections = []
    first.save()
    second.save()
    return str(second.id)


def keys_of(found: Analysis) -> dict[str, str]:
    return {kind: run.key for kind, run in found.runs.items()}


# ---- repeated analysis ----

OTHERS: dict[str, tuple[Callable[[], list[fo.Sample]], dict[str, Any]]] = {
    "agreement": (
        lambda: make_samples(crowded(0, 6)),
        {"similarity": "centroid_box", "threshold": 0.3, "solver": "shm", "cost": "neg", "bootstrap": 7, "seed": 3,
         "thresholds": (0.3, 0.6)},
    ),
    "variations": (lambda: make_samples(crowded(0, 6)), {"max_merge": 2, "thresholds": (0.3, 0.6)}),
    "calibration": (
        lambda: make_samples(crowded(0, 6)), {"similarities": ["box_iou"], "repeats": 2, "coordinates": "pixels"}
    ),
    "convergence": (
        lambda: make_samples(crowded(0, 6)),
        {"thresholds": (0.5, 0.6), "subsets": 4, "fraction": 0.5, "seed": 2, "models": {"net": 0.4}, "tags": True},
    ),
    "image_labels": (
        quiz,
        {"groups": {"animal": ["cat", "dog"]}, "teams": {"a": ["ann"], "b": ["bob"]}, "bootstrap": 5, "quorum": 0.6},
    ),
    "pixels": (small, {"ignore_value": 7, "raters_are_local": True}),
}  # fmt: skip
"""Kind -> samples, and non-default settings."""


@pytest.mark.parametrize("kind", [name for name, kind in kf.KINDS.items() if kind.suffix])
def test_the_same_labels_give_the_same_run(make, kind):
    samples, settings = OTHERS[kind]
    dataset = make(samples)
    raters = {"image_labels": QUIZ_RATERS, "pixels": None}.get(kind, THREE)
    before = kf.KINDS[kind].compute(dataset, "one", raters=raters, **settings)
    assert keys_of(kf.update_analysis(dataset, "one", "two")) == {kind: "two"}
    after = kf.load_details(dataset, "two")
    assert (after.settings, after.selection, after.metrics) == (before.settings, before.selection, before.metrics)
    assert json.dumps(plain_values(after.details)) == json.dumps(plain_values(kf.load_details(dataset, "one").details))
    if kind == "pixels":
        for key in ("one", "two"):
            kf.delete_run(dataset, key)  # including files of masks


def test_the_view_and_notes_of_users_are_kept(make, monkeypatch):
    dataset = make(make_samples(crowded(0, 16)))
    kf.analyse(dataset.limit(12), "first", kinds=["agreement", "variations"], raters=THREE)
    describe_run(dataset, "first", note="before", status="reviewed")
    describe_run(dataset, "first_variations", note="cats")
    dataset.delete_samples([dataset.first().id])
    carried: list[tuple[str, str]] = []
    monkeypatch.setattr(analysis, "CARRIED", [lambda _, key, new: carried.append((key, new))])
    made = kf.update_analysis(dataset, "first_variations")
    assert carried == [("first", "first2"), ("first_variations", "first2_variations")]
    assert keys_of(made) == {"agreement": "first2", "variations": "first2_variations"}
    assert {run.images for run in made.runs.values()} == {12}
    assert (made.runs["agreement"].note, made.runs["agreement"].status) == ("before", "reviewed")
    assert made.runs["variations"].note == "cats"
    assert [found.key for found in kf.list_analyses(dataset)] == ["first2", "first"]


def test_a_failed_copy_leaves_nothing(dataset, monkeypatch):
    kf.analyse(dataset, "first", kinds=["agreement"], raters=RATERS)
    monkeypatch.setattr(analysis, "CARRIED", [raising(RuntimeError("no room"))])
    with untouched(dataset), pytest.raises(RuntimeError, match="no room"):
        kf.update_analysis(dataset, "first")


# ---- comparison ----


def test_changes_by_hand(dataset):
    """Bob corrects scene 1 (alpha 0 -> 1) and makes scene 0 worse (1 -> 0)."""
    kf.analyse(dataset, "first", kinds=["agreement"], raters=RATERS)
    image = mend(dataset)
    kf.update_analysis(dataset, "first")
    found = kf.compare_runs(dataset, "first", "first2")
    assert found.comparison.improved.tolist() == [image]
    assert found.comparison.worsened.tolist() == [dataset.first().id]
    assert found.comparison.difference == pytest.approx(0)  # (1 - 1) / 5
    assert found.comparison.image_difference.tolist()[:3] == [-1, 1, 0]
    assert {row.name for row in found.settings if row.differs} == {"labels read"}
    assert "first -> first2: mean alpha" in repr(found)


def test_it_is_the_comparison_of_the_library(make):
    dataset = make(make_samples(crowded(0, 16)))
    run = kf.compute_agreement(dataset, "a", raters=THREE)
    read_a = kf.read_annotations(dataset, raters=THREE)
    mend(dataset)
    kf.compute_agreement(dataset, "b", raters=THREE, threshold=0.4)
    read_b = kf.read_annotations(dataset, raters=THREE)
    expected = compare(agreement(read_a), agreement(read_b, threshold=0.4))
    found = kf.compare_runs(dataset, "a", "b").comparison
    for table in ("by_class", "by_rater", "by_image"):
        assert getattr(found, table)().equals(getattr(expected, table)()), table
    assert found.interval.tolist() == expected.interval.tolist()
    assert found.notes == expected.notes
    stored, whole = stored_agreement(dataset, "a", bootstrap=1000), run.result
    intervals = {"alpha_interval": 0, "global_alpha_interval": 0}
    assert stored.summary() | intervals == whole.summary() | intervals
    assert stored.alpha_interval.tolist() == whole.alpha_interval.tolist()
    np.testing.assert_array_equal(stored.image_alpha, whole.image_alpha)
    np.testing.assert_array_equal(stored.units.values, whole.units.values)


def test_why_two_are_not_comparable(dataset):
    kf.compute_agreement(dataset, "a", raters=RATERS)
    kf.compute_agreement(dataset.limit(4), "b", raters=RATERS, threshold=0.75, min_area=5.0)
    found = kf.compare_runs(dataset, "a", "b")
    assert [note for note in found.notes if note.startswith("Not comparable")] == [
        "Not comparable: threshold is 0.5 in the first and 0.75 in the second, which is another question.",
        "Not comparable: min_area is 0.0 in the first and 5.0 in the second.",
    ]
    rows = {row.name: (row.a, row.b) for row in found.settings if row.differs}
    assert set(rows) == {"threshold", "min_area", "labels read", "images"}
    assert rows["images"] == (6, 4)


def test_the_images_that_changed_are_stages(make):
    scenes = [*SCENES, {"ann": [("cat", CAT)], "bob": [("dog", CAT)]}]
    dataset = make(make_samples(scenes))
    kf.compute_agreement(dataset, "a", raters=RATERS)
    mend(dataset)
    last = dataset.last()
    last.bob.detections = [detection("cat", CAT), detection("dog", [60, 60, 20, 20])]
    last.save()
    kf.compute_agreement(dataset, "b", raters=RATERS)
    comparison = kf.compare_runs(dataset, "a", "b").comparison
    with counting(dataset) as read:
        views = {which: view_of_change(dataset, "a", "b", which) for which in ("improved", "worsened")}
    assert read["answers"] == 0
    assert len(comparison.improved) == 2
    for which, view in views.items():
        assert view.values("id") == getattr(comparison, which).tolist()
        text = json.dumps(view._serialize(), default=str)
        assert len(text) < 2_000
        assert not [image for image in dataset.values("id") if image in text]
