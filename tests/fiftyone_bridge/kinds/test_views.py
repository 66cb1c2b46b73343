"""Views behind a click on a bar, a pair of classes or a row."""

import json
import warnings
from collections.abc import Callable
from typing import Any

import fiftyone as fo
import pytest
from bson import ObjectId
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosWarning
from kalos_core.fiftyone.kinds.agreement import views
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun, sample_report
from kalos_core.fiftyone.kinds.convergence.kind import view_of_tag
from kalos_core.fiftyone.kinds.variations.views import (
    view_of_boundary,
    view_of_confusion,
    view_of_copies,
    view_of_merged,
)
from kalos_core.variation import Finding, ImageReport
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.scenes import (
    ALPHAS,
    BENCH,
    CAT,
    RATERS,
    SCENES,
    THREE,
    detection,
    in_one_field,
    make_sample,
    make_samples,
)


def analysed(dataset: fo.Dataset, **selection: Any) -> fo.Dataset:
    """Return the data set with a run of every kind that has views of objects; two scenes are tagged."""
    dataset.match(F("filepath").ends_with(["/0.jpg", "/3.jpg"])).tag_samples("seen")
    kf.compute_agreement(dataset, "run", bootstrap=0, **selection)
    kf.find_variations(dataset, "found", **selection)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "label convergence is .* on all", KalosWarning)
        kf.estimate_convergence(dataset, "ceiling", subsets=2, fraction=0.9, **selection)
    return dataset


@pytest.fixture(scope="module")
def scenes(make_once: Make) -> fo.Dataset:
    return analysed(make_once(), raters=RATERS)


@pytest.fixture
def own(scenes: fo.Dataset) -> fo.Dataset:
    """Return a copy for tests that change labels."""
    return scenes.clone()


@pytest.fixture(scope="module")
def in_one(make_once: Make) -> fo.Dataset:
    """Return the same with all labels in one field."""
    return analysed(make_once(in_one_field(SCENES)), field="marks")


def numbers(view: Any) -> list[int]:
    return [int(path.split("/")[-1].split(".")[0]) for path in view.values("filepath")]


def labels_in(view: Any) -> list[str]:
    return sorted(label for field in RATERS for label in view.values(f"{field}.detections.id", unwind=True) if label)


class TestAlpha:
    def test_of_all_images(self, scenes):
        ids, alphas = views.image_alphas(scenes, "run")
        assert ids == scenes.values("id")
        assert alphas == pytest.approx(ALPHAS)
        assert numbers(views.view_worst_first(scenes, "run")) == [3, 1, 2, 0, 4]
        (worst,) = kf.worst_images(scenes, "run", 1)
        assert (worst.file, worst.alpha, worst.labels) == ("3.jpg", pytest.approx(-2 / 3), 3)
        assert worst.sample_id == ids[3]


class TestFindings:
    def test_confused_classes_of_a_merge(self, make):
        scene = {"ann": [("bench", BENCH), ("cat", CAT)], "bob": [("sofa", box) for _, box in SCENES[3]["bob"] or ()]}
        dataset = make(make_samples([scene]))
        run = kf.find_variations(dataset, "found", raters=RATERS)
        assert run.metrics["counts"]["merged_wrong_class"] == 1
        view = view_of_confusion(dataset, "found", "bench", "sofa")
        assert [len(labels) for labels in (view.first().ann.detections, view.first().bob.detections)] == [1, 2]

    def test_labels_that_are_gone_since(self, own):
        own.skip(3).limit(1).set_values("bob", [fo.Detections()])
        assert len(labels_in(kf.view_of_variation(own, "found", "merged"))) == 1


def report_of(dataset: fo.Dataset, number: int, *keys: str) -> ImageReport:
    return sample_report(dataset, dataset.skip(number).first().id, *(keys or ("run", "found")))


def table(report: ImageReport) -> list[list[tuple[str, str, list[str]]]]:
    return [
        [(cell.state, cell.category, [finding.variation for finding in cell.findings]) for cell in row]
        for row in report.cells
    ]


NONE: list[Any] = ["no object", ""]
CAT_ALONE: list[Any] = [("annotated", "cat", []), (*NONE, [])]


class TestSampleReport:
    def test_of_each_scene(self, scenes):
        """An alpha, raters, and a row for each unit; a merge is not missing."""
        merged, none = ("annotated", "bench", ["merged"]), (*NONE, [])
        expected: list[tuple[int, Any, list[Any]]] = [
            (1, 0.0, [[("annotated", "cat", ["wrong_class"]), ("annotated", "dog", ["wrong_class"])]]),
            (2, 0.0, [[("annotated", "cat", ["additional"]), (*NONE, ["missing"])]]),
            (3, pytest.approx(-2 / 3), [[merged, none], [none, merged], [none, merged]]),
            (4, 1.0, []),
            (5, None, [[("annotated", "cat", []), ("not assigned", "", [])]]),
        ]
        for number, alpha, cells in expected:
            report = report_of(scenes, number)
            assert (report.alpha, report.raters, table(report)) == (alpha, RATERS, cells), number
        report = report_of(scenes, 1)
        assert report.units == (1,)
        cell = report.cells[0][1]
        assert (cell.label_id, cell.field) == (scenes.skip(1).first().bob.detections[0].id, "bob")
        assert cell.findings == (Finding("wrong_class", "ann", 1.0),)
        assert [cell.findings[0].rater for cell in report_of(scenes, 2).cells[0]] == ["bob", "ann"]
        assert table(report_of(scenes, 2, "run")) == [CAT_ALONE]
        for keys in [("found",), ("found", "found"), ("eve",), ("run", "eve")]:
            with pytest.raises(InputError, match="run key: expected one of the"):
                report_of(scenes, 0, *keys)

    def test_samples_and_labels_that_a_run_has_not_read(self, own):
        kf.compute_agreement(own.limit(2), "part", raters=RATERS, bootstrap=0)
        for sample_id in (own.last().id, str(ObjectId()), "no id", ""):
            with pytest.raises(NotInRun, match="not part of the run 'part'"):
                sample_report(own, sample_id, "part")
        kf.find_variations(own.limit(2), "few", raters=RATERS)
        assert table(report_of(own, 2, "run", "few")) == [CAT_ALONE]
        sample = own.first()
        sample.ann.detections.insert(0, detection("dog", [60, 60, 9, 9]))
        sample.save()
        assert table(report_of(own, 0)) == [[("annotated", "cat", ["correct"])] * 2]

    def test_three_raters_in_one_field(self, make):
        scene = {"ann": [("cat", CAT)], "bob": [("cat", CAT)], "cid": [], "gold": []}
        other = {"ann": [], "bob": [], "cid": [("dog", CAT)], "gold": [("dog", CAT)]}
        dataset = make(in_one_field([scene, other]))
        kf.compute_agreement(dataset, "run", field="marks", reference="gold", classes=("cat", "dog"))
        kf.find_variations(dataset, "found", field="marks", reference="gold")
        (row,) = report_of(dataset, 0).cells
        assert [cell.state for cell in row] == ["annotated", "annotated", "no object"]
        assert [sorted((found.variation, found.rater) for found in cell.findings) for cell in row] == [
            [("additional", "cid"), ("correct", "bob")],
            [("additional", "cid"), ("correct", "ann")],
            [("missing", "ann"), ("missing", "bob")],
        ]
        assert report_of(dataset, 1).raters == THREE


# ---- every view ----

ALL = [3, 1, 2, 0, 4]
VIEWS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], list[int], int]] = [
    (views.view_of_alpha, ("run", 0, 0.5), {}, [1, 2], 3),
    (views.view_of_alpha, ("run", -1, 1), {}, ALL, 8),
    (views.view_of_alpha, ("run", -1, 1), {"category": "cat"}, [1, 2, 0], 4),
    (views.view_of_alpha, ("run", -1, 0.5), {"rater": "bob"}, [3, 1, 2], 6),
    (views.view_of_alpha, ("run", -1, 0.5), {"category": "cat", "rater": "bob"}, [1, 2], 2),
    (views.view_worst_first, ("run", 2), {}, [3, 1], 5),
    (views.view_of_threshold, ("run", 0.9), {}, ALL, 8),
    (views.view_of_class, ("run", "bench"), {}, [3], 3),
    (views.view_of_class, ("run", "dog"), {}, [1], 1),
    (views.view_of_pair, ("run", "ann", "bob"), {}, ALL, 8),
    (kf.view_of_variation, ("found", "correct"), {}, [0], 2),
    (kf.view_of_variation, ("found", "merged"), {}, [3], 3),
    (kf.view_of_variation, ("found", "missing"), {}, [2], 1),
    (kf.view_of_variation, ("found", "missing"), {"rater": "bob"}, [2], 1),
    (kf.view_of_variation, ("found", "missing"), {"rater": "ann"}, [], 0),
    (view_of_confusion, ("found", "dog", "cat"), {}, [1], 2),
    (view_of_boundary, ("found", 0, 0.1), {}, [0], 2),
    (view_of_boundary, ("found", 0.1, 0.5), {}, [], 0),
    (view_of_copies, ("found",), {}, [0], 2),
    (view_of_merged, ("found",), {}, [3], 3),
    (view_of_merged, ("found", 0), {}, [3], 3),
    (view_of_tag, ("ceiling", "seen"), {}, [0, 3], 5),
]
"""View, arguments, its scenes and number of labels; one more of the ten labels is in scene 5, without an alpha."""


def test_every_view_holds_these_images_and_labels_and_is_small_at_any_size(scenes, in_one):
    """Views name no images except a selected one, and can be rebuilt from their stages, as in the App."""
    for view_of, arguments, options, images, labels in VIEWS:
        for dataset in (scenes, in_one):
            view = view_of(dataset, *arguments, **options)
            found = numbers(view), sum(view.count(path) for path in kf.label_fields(view).values())
            assert found == (images, labels), (view_of, arguments, options)
            stages = json.dumps(view._serialize())
            assert len(stages) < 10_000, (view_of, arguments, options)
            named = [key for key in dataset.values("id") if key in stages]
            assert len(named) <= 1, (view_of, arguments, options)
            assert numbers(fo.DatasetView._build(dataset, json.loads(stages))) == images


def test_samples_that_came_later_are_in_no_view(dataset):
    """A view may contain samples that the run has not read: they have no alpha."""
    dataset.limit(3).tag_samples("seen")
    kf.compute_agreement(dataset.match_tags("seen"), "tagged", raters=RATERS, bootstrap=0)
    dataset.skip(3).tag_samples("seen")
    (new,) = dataset.add_samples([make_sample(9, SCENES[0], tags=["seen"])], progress=False)
    assert new in kf.load_run_view(dataset, "tagged").values("id")
    for view in (
        views.view_of_alpha(dataset, "tagged", -1, 1),
        views.view_worst_first(dataset, "tagged"),
        views.view_of_alpha(dataset, "tagged", -1, 1, rater="ann"),
        views.view_of_class(dataset, "tagged", "cat"),
        views.view_of_pair(dataset, "tagged", *RATERS),
    ):
        assert sorted(numbers(view)) == [0, 1, 2]
    assert len(kf.worst_images(dataset, "tagged")) == 3
    for options in ({}, {"category": "cat"}):
        assert views.image_alphas(dataset, "tagged", **options)[1] == [1, 0, 0, None, None, None, None]
