"""A report of an analysis says what its runs stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fiftyone as fo
import numpy as np
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


def test_boundaries_divisions_and_grades_have_chapters(tmp_path: Path) -> None:
    dataset, size = fo.Dataset(), fo.ImageMetadata(width=20, height=20)

    def outlines(right: float) -> fo.Polylines:
        """A cat and a dog; the cat of one rater is larger."""
        found = {"cat": (0.0, 0.0, right, 0.4), "dog": (0.5, 0.5, 0.9, 0.9)}
        corners = {
            name: [[(left, top), (far, top), (far, low), (left, low)]] for name, (left, top, far, low) in found.items()
        }
        lines = [fo.Polyline(label=name, points=points, closed=True) for name, points in corners.items()]
        return fo.Polylines(polylines=lines)

    def mask(columns: int) -> fo.Segmentation:
        pixels = np.zeros((20, 20), dtype=np.uint8)
        pixels[:, :columns] = 1
        return fo.Segmentation(mask=pixels)

    for number in range(4):
        labels = {"ann": outlines(0.4), "bob": outlines(0.5), "one": mask(10), "other": mask(10 + number)}
        labels |= {name: fo.Classification(label=str(number + more)) for more, name in enumerate(("eve", "dan"))}
        dataset.add_sample(fo.Sample(f"{number}.jpg", metadata=size, raters=list(labels), **labels))
    options = {"raters": ("ann", "bob"), "similarity": "polygon_iou", "bootstrap": 50}
    kf.compute_agreement(dataset, "first", boundaries=True, **options)
    kf.compute_pixel_agreement(dataset, "first_pixels", raters=("one", "other"), boundaries=True, divisions=True)
    run = kf.compute_label_agreement(dataset, "first_labels", raters=("eve", "dan"), metric="interval", bootstrap=50)
    text = text_of(kf.report(dataset, "first", tmp_path / "first.html"))
    for title, found in (
        ("Outlines of matched labels", kf.unit_boundaries_of(dataset, "first")),
        ("Boundaries", kf.boundaries_of(dataset, "first_pixels")),
        ("Divisions", kf.divisions_of(dataset, "first_pixels")),
    ):
        assert f"{title} {' '.join(found.headline.split())}" in text
        (row,) = found.by_rater_pair().to_dict("records")
        name = found.measures[0]
        interval = with_interval(row[name], (row[f"{name}_low"], row[f"{name}_high"]))
        assert " ".join(f"{found.raters[0]} {found.raters[1]} {interval}".split()) in text
    assert "cat 2.000 [2.000, 2.000]" in text.replace("\xa0", " ")  # its right edge is two pixels further out
    (graded,) = run.details.grades
    forms = graded.correlation
    for value, ends in (
        *zip(graded.weighted.value, graded.weighted.interval, strict=True),
        (forms.value[1], forms.interval[1]),
    ):
        assert " ".join(with_interval(value, ends).split()) in text.split(" Grades ")[1]
    assert "label interval" in text
    kf.delete_run(dataset, "first")
    kf.compute_agreement(dataset, "first", **options)
    assert "Outlines of matched labels" not in text_of(kf.report(dataset, "first", tmp_path / "other.html"))
    dataset.delete()


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
