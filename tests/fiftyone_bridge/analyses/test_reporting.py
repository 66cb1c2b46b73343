"""Report of an analysis, from what its runs stored."""

from __future__ import annotations

from pathlib import Path

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core.display import with_interval
from kalos_core.figures.labels import skill_title
from kalos_core.report import study
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.scenes import THREE, detection, in_fields, make_sample, polyline
from tests.report.test_report import Page


@pytest.fixture(scope="module")
def dataset(make_once: Make) -> fo.Dataset:
    """Return ten images; cid labels every third cat as a dog, and misses the second object of every second image."""
    samples = []
    for number in range(10):
        cats = [("cat", [10, 10, 20, 30]), ("cat", [50, 10, 20, 30])]
        third = [("cat" if number % 3 else "dog", [11, 10, 20, 30]), *([] if number % 2 else cats[1:])]
        given = {"ann": cats, "bob": cats, "cid": third}
        samples.append(in_fields(number, {name: [detection(*one) for one in own] for name, own in given.items()}))
    dataset = make_once(samples)
    settings = {"convergence": {"subsets": 10, "fraction": 0.5}, "calibration": {"bootstrap": 0}}
    kf.analyse(dataset, "first", raters=THREE, settings=settings)
    return dataset


def flat(text: str) -> str:
    """Return text with single, breakable spaces."""
    return " ".join(text.split())


def text_of(path: Path) -> str:
    return flat(Page(path.read_text(encoding="utf-8")).text)


@pytest.fixture(scope="module")
def first(dataset: fo.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report of the analysis, before any decision."""
    return kf.report(dataset, "first", tmp_path_factory.mktemp("reports") / "first.html", title="Mine")


def test_it_says_what_the_overview_says_and_what_was_decided(dataset, first, tmp_path):
    text = text_of(first)
    assert text.startswith("Mine")
    for said in kf.overview_of(dataset, "first"):
        assert flat(said.text) in text
    for chapter in ("Decisions", "Who is right", "Outlines of matched labels"):
        assert chapter not in text
    assert "/pictures" not in first.read_text(encoding="utf-8")
    unit = kf.disputed_units(dataset, "first", kf.next_dispute(dataset, "first"))[0]
    kf.decide(dataset, "first", unit.labels, "take", "ann", who="eve")
    assert "Overruled raters, by class" in text_of(kf.report(dataset, "first", tmp_path / "decided.html"))


def test_its_numbers_are_those_of_a_study_of_the_same_labels(dataset, first):
    alone = study(kf.read_annotations(dataset, raters=THREE), "box_iou", samples=10, fraction=0.5)
    text = text_of(first)
    for said in alone.said:
        assert flat(said.text) in text
    assert f"{alone.agreement.units} " in text


def test_who_is_right_has_a_chapter(dataset, tmp_path):
    run = kf.estimate_truth(dataset, "right", raters=THREE, model="confusion")
    estimate = run.details.truths["confusion 0.5"].estimate
    text = text_of(kf.report(dataset, "first", tmp_path / "right.html"))
    chapter = text.split("Who is right", 1)[1]
    assert flat(skill_title(list(THREE), estimate.skill)) in chapter
    skills = [with_interval(*of) for of in zip(estimate.skill, estimate.skill_interval, strict=True)]
    places = [chapter.index(flat(f"{rater} {skill}")) for rater, skill in zip(THREE, skills, strict=True)]
    assert places[2] < places[0] < places[1]  # lowest accuracy first; ann before bob, who has the same
    assert ("DOUBTFUL" in chapter) == bool(estimate.overturned)
    assert text.count("Answers are expected to be right") == 1


def outlines(width: float) -> fo.Polylines:
    """Return a cat and a dog; the cat of one rater is larger."""
    return fo.Polylines(polylines=[polyline("cat", [0, 0, width, 40]), polyline("dog", [50, 50, 40, 40])])


def mask(columns: int) -> fo.Segmentation:
    return fo.Segmentation(mask=np.repeat([[1] * columns + [0] * (20 - columns)], 20, axis=0).astype(np.uint8))


def test_boundaries_divisions_and_grades_have_chapters(make, tmp_path):
    samples, size = [], fo.ImageMetadata(width=20, height=20)
    for number in range(4):
        labels = {"ann": outlines(40), "bob": outlines(50), "one": mask(10), "other": mask(10 + number)}
        labels |= {name: fo.Classification(label=str(number + more)) for more, name in enumerate(("eve", "dan"))}
        samples.append(make_sample(number, {}, metadata=size, raters=list(labels), **labels))
    dataset = make(samples)
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
        assert f"{title} {flat(found.headline)}" in text
        (row,) = found.by_rater_pair().to_dict("records")
        name = found.measures[0]
        interval = with_interval(row[name], (row[f"{name}_low"], row[f"{name}_high"]))
        assert flat(f"{found.raters[0]} {found.raters[1]} {interval}") in text
    assert "cat 2.00 " in text  # in all images: its right edge is two pixels further out
    (graded,) = run.details.grades
    forms, chapter = graded.correlation, text.split(" Grades ")[1]
    estimates = list(zip(graded.weighted.value, graded.weighted.interval, strict=True))
    for value, ends in [*estimates, (forms.value[1], forms.interval[1])]:
        assert flat(with_interval(value, ends)) in chapter
    assert "label interval" in text
    kf.delete_run(dataset, "first_pixels")  # including its files


def test_an_agreement_alone_has_a_report(dataset, tmp_path):
    kf.compute_agreement(dataset, "bare", raters=THREE, bootstrap=0)
    assert "variations: not part of this analysis" in text_of(kf.report(dataset, "bare", tmp_path / "report.html"))


def test_an_analysis_without_an_agreement_has_one_too(make, tmp_path):
    answers = {"eve": "aaaabbbb", "dan": "aaaabbba", "fay": "aaaabbab"}
    samples = [
        make_sample(
            at, {}, raters=list(answers), **{name: fo.Classification(label=of[at]) for name, of in answers.items()}
        )
        for at in range(8)
    ]
    dataset = make(samples)
    kf.compute_label_agreement(dataset, "asked", raters=tuple(answers), bootstrap=50)
    path = kf.report(dataset, "asked", tmp_path / "report.html")
    text = text_of(path)
    for said in kf.overview_of(dataset, "asked"):
        assert flat(said.text) in text
    assert "10.1145/1743384.1743478" in text
    assert "<script" not in path.read_text(encoding="utf-8")
