"""What a click on a bar, a pair of classes or a row leads to."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from bson import ObjectId
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES, InputError
from tests.fiftyone_bridge.scenes import (
    ALPHAS,
    BENCH,
    CAT,
    RATERS,
    SCENES,
    detection,
    in_one_field,
    make_sample,
    make_samples,
)


@pytest.fixture
def dataset(unchanged: fo.Dataset) -> fo.Dataset:
    """The scenes with a run of each kind."""
    if not kf.list_runs(unchanged):
        kf.compute_agreement(unchanged, "run", raters=RATERS)
        kf.find_variations(unchanged, "found", raters=RATERS)
    return unchanged


@pytest.fixture
def own(make: Callable[..., fo.Dataset]) -> fo.Dataset:
    """The same, to be changed."""
    dataset = make()
    kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)
    kf.find_variations(dataset, "found", raters=RATERS)
    return dataset


def numbers(view: Any) -> list[int]:
    return [int(path.split("/")[-1].split(".")[0]) for path in view.values("filepath")]


class TestAlpha:
    def test_of_all_images(self, dataset: fo.Dataset) -> None:
        ids, alphas = kf.image_alphas(dataset, "run")
        assert ids == dataset.values("id")
        assert alphas == pytest.approx(ALPHAS)

    def test_worst_first(self, dataset: fo.Dataset) -> None:
        assert numbers(kf.view_worst_first(dataset, "run")) in ([3, 1, 2, 0, 4], [3, 2, 1, 0, 4])
        assert numbers(kf.view_worst_first(dataset, "run", 1)) == [3]
        (worst,) = kf.worst_images(dataset, "run", 1)
        assert (worst.file, worst.alpha, worst.labels) == ("3.jpg", pytest.approx(-2 / 3), 3)
        assert worst.sample_id == dataset.skip(3).first().id

    @pytest.mark.parametrize("edges", [[-1, 0, 1], np.linspace(-1, 1, 11).tolist(), [-1, ALPHAS[3], 0.0, 1.0]])
    def test_bins_share_out_the_images_that_have_an_alpha(self, dataset: fo.Dataset, edges: list[float]) -> None:
        alphas = kf.image_alphas(dataset, "run")[1]
        shown = []
        for low, high in pairwise(edges):
            inside = numbers(kf.view_of_alpha(dataset, "run", low, high))
            for number in inside:
                alpha = alphas[number]
                assert alpha is not None
                assert low <= alpha < high or alpha == high == 1
            shown += inside
        assert sorted(shown) == [0, 1, 2, 3, 4]

    def test_one_is_in_the_last_bin_and_zero_in_the_upper(self, dataset: fo.Dataset) -> None:
        assert sorted(numbers(kf.view_of_alpha(dataset, "run", 0.5, 1))) == [0, 4]
        assert sorted(numbers(kf.view_of_alpha(dataset, "run", 0, 0.5))) == [1, 2]
        assert numbers(kf.view_of_alpha(dataset, "run", -1, 0)) == [3]

    def test_of_a_view(self, own: fo.Dataset) -> None:
        kf.compute_agreement(own.match(F("filepath").ends_with("3.jpg")), "one", raters=RATERS)
        assert numbers(kf.view_of_alpha(own, "one", -1, 1)) == [3]

    def test_of_hidden_fields(self, own: fo.Dataset) -> None:
        kf.compute_agreement(own.select_fields(["ann", "bob"]), "hidden", raters=RATERS)
        assert kf.image_alphas(own, "hidden")[1] == pytest.approx(ALPHAS)
        assert len(kf.view_of_alpha(own, "hidden", -1, 1)) == 5


def labels_in(view: Any, fields: tuple[str, ...] = RATERS) -> list[str]:
    return sorted(
        label for field in fields for labels in view.values(f"{field}.detections.id") if labels for label in labels
    )


class TestFindings:
    @pytest.mark.parametrize("kind", VARIATION_TYPES)
    def test_only_the_labels_of_one_type(self, dataset: fo.Dataset, kind: str) -> None:
        result = kf.load_run(dataset, "found").result
        rows = [row for name, a, b in zip(result.type, result.rows_a, result.rows_b, strict=True) for row in (*a, *b)]
        kinds = [name for name, a, b in zip(result.type, result.rows_a, result.rows_b, strict=True) for _ in (*a, *b)]
        expected = {result.annotations.id[row] for row, name in zip(rows, kinds, strict=True) if name == kind}
        view = kf.view_of_variation(dataset, "found", kind)
        assert labels_in(view) == sorted(expected)
        scenes = {"correct": [0], "wrong_class": [1], "missing": [2], "merged": [3]}
        assert numbers(view) == scenes.get(kind, [])

    def test_confused_classes(self, dataset: fo.Dataset) -> None:
        for pair in [("cat", "dog"), ("dog", "cat")]:
            view = kf.view_of_confusion(dataset, "found", *pair)
            assert numbers(view) == [1]
            assert len(labels_in(view)) == 2
        for pair in [("cat", "bench"), ("cat", "cat"), ("cat", "horse")]:
            assert len(kf.view_of_confusion(dataset, "found", *pair)) == 0

    def test_confused_classes_of_a_merge(self, make: Callable[..., fo.Dataset]) -> None:
        scene = {"ann": [("bench", BENCH), ("cat", CAT)], "bob": [("sofa", mark[1]) for mark in SCENES[3]["bob"] or ()]}
        dataset = make(make_samples([scene]))
        run = kf.find_variations(dataset, "found", raters=RATERS)
        assert run.figures["counts"]["merged_wrong_class"] == 1
        view = kf.view_of_confusion(dataset, "found", "bench", "sofa")
        assert [len(labels) for labels in (view.first().ann.detections, view.first().bob.detections)] == [1, 2]

    def test_counts_are_those_of_the_figures(self, dataset: fo.Dataset) -> None:
        figures = kf.load_figures(dataset, "found").figures
        for confusion in figures["confusions"]:
            view = kf.view_of_confusion(dataset, "found", confusion["category_a"], confusion["category_b"])
            assert len(labels_in(view)) == 2 * confusion["count"]

    def test_in_one_field(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(in_one_field(SCENES))
        kf.find_variations(dataset, "found", field="marks")
        view = kf.view_of_variation(dataset, "found", "merged")
        assert view.values("marks.detections.label") == [["bench"] * 3]

    def test_labels_that_are_gone_since(self, own: fo.Dataset) -> None:
        own.skip(3).limit(1).set_values("bob", [fo.Detections()])
        assert len(labels_in(kf.view_of_variation(own, "found", "merged"))) == 1

    def test_unknown_type(self, dataset: fo.Dataset) -> None:
        with pytest.raises(InputError, match=r"variation type: expected one of correct, .* got 'bad'"):
            kf.view_of_variation(dataset, "found", "bad")


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (kf.image_alphas, ["found"]),
        (kf.view_of_alpha, ["found", 0, 1]),
        (kf.view_worst_first, ["found"]),
        (kf.worst_images, ["found"]),
        (kf.view_of_variation, ["run", "merged"]),
        (kf.view_of_confusion, ["run", "cat", "dog"]),
    ],
)
def test_a_run_of_the_other_kind(dataset: fo.Dataset, call: Any, arguments: list[Any]) -> None:
    with pytest.raises(InputError, match=rf"expected one of the \w+ runs \w+, got '{arguments[0]}'"):
        call(dataset, *arguments)


def table(report: kf.SampleReport) -> list[list[tuple[str, str, str]]]:
    return [[(cell.state, cell.category, cell.variation) for cell in row] for row in report.cells]


class TestSampleReport:
    def report(self, dataset: fo.Dataset, number: int, *keys: str) -> kf.SampleReport:
        return kf.sample_report(dataset, dataset.skip(number).first().id, *(keys or ("run", "found")))

    def test_drawn(self, dataset: fo.Dataset) -> None:
        report = self.report(dataset, 1)
        assert (report.alpha, report.raters, report.units) == (0.0, RATERS, (1,))
        assert table(report) == [[("drawn", "cat", "wrong_class"), ("drawn", "dog", "wrong_class")]]
        cell = report.cells[0][1]
        assert (cell.label_id, cell.field, cell.similarity) == (
            dataset.skip(1).first().bob.detections[0].id,
            "bob",
            1.0,
        )

    def test_no_object(self, dataset: fo.Dataset) -> None:
        assert table(self.report(dataset, 2)) == [[("drawn", "cat", "additional"), ("no object", "", "missing")]]
        assert table(self.report(dataset, 2, "run")) == [[("drawn", "cat", ""), ("no object", "", "")]]

    def test_not_assigned(self, dataset: fo.Dataset) -> None:
        report = self.report(dataset, 5)
        assert report.alpha is None
        assert table(report) == [[("drawn", "cat", ""), ("not assigned", "", "")]]

    def test_a_merge_is_nothing_missing(self, dataset: fo.Dataset) -> None:
        report = self.report(dataset, 3)
        assert report.alpha == pytest.approx(-2 / 3)
        assert table(report) == [
            [("drawn", "bench", "merged"), ("no object", "", "")],
            [("no object", "", ""), ("drawn", "bench", "merged")],
            [("no object", "", ""), ("drawn", "bench", "merged")],
        ]

    def test_nothing_at_all(self, dataset: fo.Dataset) -> None:
        report = self.report(dataset, 4)
        assert (report.alpha, report.units, report.cells) == (1.0, (), ())

    def test_a_sample_outside_the_run(self, own: fo.Dataset) -> None:
        kf.compute_agreement(own.limit(2), "part", raters=RATERS)
        for sample_id in (own.last().id, str(ObjectId()), "no id", ""):
            with pytest.raises(kf.NotInRun, match="not part of the run 'part'"):
                kf.sample_report(own, sample_id, "part")

    def test_a_sample_the_variations_do_not_cover(self, own: fo.Dataset) -> None:
        kf.find_variations(own.limit(2), "part", raters=RATERS)
        assert table(self.report(own, 2, "run", "part")) == [[("drawn", "cat", ""), ("no object", "", "")]]

    def test_three_raters_in_one_field(self, make: Callable[..., fo.Dataset]) -> None:
        scene = {"ann": [("cat", CAT)], "bob": [("cat", CAT)], "cid": [], "gold": []}
        other = {"ann": [], "bob": [], "cid": [("dog", CAT)], "gold": [("dog", CAT)]}
        dataset = make(in_one_field([scene, other]))
        kf.compute_agreement(dataset, "run", field="marks", reference="gold", classes=("cat", "dog"))
        kf.find_variations(dataset, "found", field="marks", reference="gold")
        assert table(self.report(dataset, 0)) == [
            [("drawn", "cat", "additional"), ("drawn", "cat", "additional"), ("no object", "", "missing")]
        ]
        assert self.report(dataset, 1).raters == ("ann", "bob", "cid")

    def test_labels_drawn_since(self, own: fo.Dataset) -> None:
        sample = own.first()
        sample.ann.detections.insert(0, detection("dog", [60, 60, 9, 9]))
        sample.save()
        assert table(self.report(own, 0)) == [[("drawn", "cat", "correct"), ("drawn", "cat", "correct")]]

    def test_keys_of_the_right_kind(self, dataset: fo.Dataset) -> None:
        for keys in [("found",), ("run", "run"), ("eve",), ("run", "eve")]:
            with pytest.raises(InputError, match="run key: expected one of the"):
                self.report(dataset, 0, *keys)

    def test_a_sample_without_metadata(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make([make_sample(0, SCENES[0], metadata=None)])
        kf.compute_agreement(dataset, "run", raters=RATERS)
        assert table(self.report(dataset, 0, "run")) == [[("drawn", "cat", ""), ("drawn", "cat", "")]]
