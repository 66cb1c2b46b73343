"""A report of an analysis says what its runs stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosWarning
from kalos_core.display import with_interval
from kalos_core.figures import skill_title
from kalos_core.report import study
from tests.report.test_report import Page

RATERS = ("ann", "bob", "cid")


def boxes(*found: tuple[str, float]) -> fo.Detections:
    return fo.Detections(
        detections=[fo.Detection(label=name, bounding_box=[left, 0.1, 0.2, 0.3]) for name, left in found]
    )


@pytest.fixture(scope="module")
def dataset() -> Iterator[fo.Dataset]:
    """Ten images; cid calls every third cat a dog, and misses the second object of every second image."""
    dataset = fo.Dataset()
    size = fo.ImageMetadata(width=200, height=100)
    for number in range(10):
        both = boxes(("cat", 0.1), ("cat", 0.5))
        name = "dog" if number % 3 == 0 else "cat"
        third = boxes((name, 0.11)) if number % 2 else boxes((name, 0.11), ("cat", 0.5))
        dataset.add_sample(
            fo.Sample(
                f"/somewhere/{number}.jpg",
                metadata=size,
                raters=["ann", "bob", "cid"],
                ann=both,
                bob=both.copy(),
                cid=third,
            )
        )
    settings = {"convergence": {"subsets": 10, "fraction": 0.5}, "calibration": {"bootstrap": 0}}
    with pytest.warns(KalosWarning, match="it depends on how many images"):
        kf.analyse(dataset, "first", raters=RATERS, settings=settings)
    yield dataset
    dataset.delete()


def text_of(path: Path) -> str:
    return Page(path.read_text(encoding="utf-8")).text


def test_it_says_what_the_overview_says_and_what_was_decided(dataset: fo.Dataset, tmp_path: Path) -> None:
    path = kf.report(dataset, "first", tmp_path / "first.html")
    text = text_of(path)
    for said in kf.overview_of(dataset, "first"):
        assert " ".join(said.text.split()) in text
    assert "Decisions" not in text
    assert "/somewhere" not in path.read_text(encoding="utf-8")
    unit = kf.disputed_units(dataset, "first", kf.next_dispute(dataset, "first"))[0]
    kf.decide(dataset, "first", unit.labels, "take", "ann", who="eve")
    assert "Who was decided against, on what" in text_of(kf.report(dataset, "first", tmp_path / "first.html"))


def test_its_numbers_are_those_of_a_study_of_the_same_labels(dataset: fo.Dataset, tmp_path: Path) -> None:
    alone = study(kf.read_annotations(dataset, raters=RATERS), "box_iou", samples=10, fraction=0.5)
    text = text_of(kf.report(dataset, "first", tmp_path / "first.html", title="Mine"))
    assert text.startswith("Mine")
    for said in alone.said:
        assert " ".join(said.text.split()) in text
    assert f"{alone.agreement.units} " in text


def test_who_is_right_has_a_chapter(dataset: fo.Dataset, tmp_path: Path) -> None:
    assert "Who is right" not in text_of(kf.report(dataset, "first", tmp_path / "first.html"))
    run = kf.estimate_truth(dataset, "right", raters=RATERS, model="confusion")
    estimate = run.details.truths["confusion 0.5"].estimate
    text = text_of(kf.report(dataset, "first", tmp_path / "first.html"))
    kf.delete_run(dataset, "right")
    chapter = text.split("Who is right", 1)[1]
    assert skill_title(list(RATERS), estimate.skill).replace("\xa0", " ") in chapter.replace("\xa0", " ")
    skills = [with_interval(*of) for of in zip(estimate.skill, estimate.skill_interval, strict=True)]
    rows = [f"{rater} {skill}".replace("\xa0", " ") for rater, skill in zip(RATERS, skills, strict=True)]
    places = [chapter.replace("\xa0", " ").index(row) for row in rows]
    assert places[2] < places[0] < places[1]  # the least right first, and ann before bob, who is as right
    assert ("DOUBTFUL" in chapter) == bool(estimate.overturned)
    assert text.count("Answers are expected to be right") == 1


def test_an_analysis_without_an_agreement_is_refused(dataset: fo.Dataset, tmp_path: Path) -> None:
    kf.analyse(dataset, "alone", kinds=["calibration"], raters=RATERS)
    with pytest.raises(InputError, match="expected an analysis with an agreement, got 'alone'"):
        kf.report(dataset, "alone", tmp_path / "alone.html")
    assert not (tmp_path / "alone.html").exists()
    kf.delete_run(dataset, "alone")


def test_an_agreement_alone_has_a_report(dataset: fo.Dataset, tmp_path: Path) -> None:
    kf.compute_agreement(dataset, "bare", raters=RATERS)
    text = text_of(kf.report(dataset, "bare", tmp_path / "bare.html"))
    assert "variations: not part of this analysis" in text
    kf.delete_run(dataset, "bare")
