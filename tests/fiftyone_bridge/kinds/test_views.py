"""What a click on a bar, a pair of classes or a row leads to."""

import json
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from bson import ObjectId
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES, InputError, KalosWarning
from tests.fiftyone_bridge.scenes import (
    ALPHAS,
    BENCH,
    CAT,
    RATERS,
    SCENES,
    THREE,
    crowded,
    detection,
    in_one_field,
    make_sample,
    make_samples,
)

Make = Callable[..., fo.Dataset]


@pytest.fixture
def dataset(unchanged: fo.Dataset) -> fo.Dataset:
    """The scenes with a run of each kind."""
    if not kf.list_runs(unchanged):
        kf.compute_agreement(unchanged, "run", raters=RATERS)
        kf.find_variations(unchanged, "found", raters=RATERS)
    return unchanged


@pytest.fixture
def own(make: Make) -> fo.Dataset:
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
        assert numbers(kf.view_worst_first(dataset, "run")) == [3, 1, 2, 0, 4]
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

    def test_confused_classes_of_a_merge(self, make: Make) -> None:
        scene = {"ann": [("bench", BENCH), ("cat", CAT)], "bob": [("sofa", box) for _, box in SCENES[3]["bob"] or ()]}
        dataset = make(make_samples([scene]))
        run = kf.find_variations(dataset, "found", raters=RATERS)
        assert run.metrics["counts"]["merged_wrong_class"] == 1
        view = kf.view_of_confusion(dataset, "found", "bench", "sofa")
        assert [len(labels) for labels in (view.first().ann.detections, view.first().bob.detections)] == [1, 2]

    def test_counts_are_those_of_the_metrics(self, dataset: fo.Dataset) -> None:
        metrics = kf.load_metrics(dataset, "found").metrics
        for confusion in metrics["confusions"]:
            view = kf.view_of_confusion(dataset, "found", confusion["category_a"], confusion["category_b"])
            assert len(labels_in(view)) == 2 * confusion["count"]

    def test_in_one_field(self, make: Make) -> None:
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
    ],
)
def test_a_run_of_the_other_kind(dataset: fo.Dataset, call: Any, arguments: list[Any]) -> None:
    with pytest.raises(InputError, match=rf"expected one of the \w+ runs \w+, got '{arguments[0]}'"):
        call(dataset, *arguments)


def test_the_key_of_an_analysis_leads_to_its_variations(dataset: fo.Dataset) -> None:
    of_run, of_analysis = (kf.view_of_variation(dataset, key, "merged") for key in ("found", "run"))
    assert labels_in(of_analysis) == labels_in(of_run)


def table(report: kf.ImageReport) -> list[list[tuple[str, str, list[str]]]]:
    return [
        [(cell.state, cell.category, [finding.variation for finding in cell.findings]) for cell in row]
        for row in report.cells
    ]


CAT_ALONE: list[Any] = [("annotated", "cat", []), ("no object", "", [])]


class TestSampleReport:
    def report(self, dataset: fo.Dataset, number: int, *keys: str) -> kf.ImageReport:
        return kf.sample_report(dataset, dataset.skip(number).first().id, *(keys or ("run", "found")))

    def test_annotated(self, dataset: fo.Dataset) -> None:
        report = self.report(dataset, 1)
        assert (report.alpha, report.raters, report.units) == (0.0, RATERS, (1,))
        assert table(report) == [[("annotated", "cat", ["wrong_class"]), ("annotated", "dog", ["wrong_class"])]]
        cell = report.cells[0][1]
        assert (cell.label_id, cell.field) == (dataset.skip(1).first().bob.detections[0].id, "bob")
        assert cell.findings == (kf.Finding("wrong_class", "ann", 1.0),)

    def test_no_object(self, dataset: fo.Dataset) -> None:
        report = self.report(dataset, 2)
        assert table(report) == [[("annotated", "cat", ["additional"]), ("no object", "", ["missing"])]]
        assert [cell.findings[0].rater for cell in report.cells[0]] == ["bob", "ann"]
        assert table(self.report(dataset, 2, "run")) == [CAT_ALONE]

    def test_not_assigned(self, dataset: fo.Dataset) -> None:
        report = self.report(dataset, 5)
        assert report.alpha is None
        assert table(report) == [[("annotated", "cat", []), ("not assigned", "", [])]]

    def test_a_merge_is_nothing_missing(self, dataset: fo.Dataset) -> None:
        report = self.report(dataset, 3)
        assert report.alpha == pytest.approx(-2 / 3)
        assert table(report) == [
            [("annotated", "bench", ["merged"]), ("no object", "", [])],
            [("no object", "", []), ("annotated", "bench", ["merged"])],
            [("no object", "", []), ("annotated", "bench", ["merged"])],
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
        assert table(self.report(own, 2, "run", "part")) == [CAT_ALONE]

    def test_three_raters_in_one_field(self, make: Make) -> None:
        scene = {"ann": [("cat", CAT)], "bob": [("cat", CAT)], "cid": [], "gold": []}
        other = {"ann": [], "bob": [], "cid": [("dog", CAT)], "gold": [("dog", CAT)]}
        dataset = make(in_one_field([scene, other]))
        kf.compute_agreement(dataset, "run", field="marks", reference="gold", classes=("cat", "dog"))
        kf.find_variations(dataset, "found", field="marks", reference="gold")
        (row,) = self.report(dataset, 0).cells
        assert [cell.state for cell in row] == ["annotated", "annotated", "no object"]
        assert [sorted((found.variation, found.rater) for found in cell.findings) for cell in row] == [
            [("additional", "cid"), ("correct", "bob")],
            [("additional", "cid"), ("correct", "ann")],
            [("missing", "ann"), ("missing", "bob")],
        ]
        assert self.report(dataset, 1).raters == ("ann", "bob", "cid")

    def test_labels_added_since(self, own: fo.Dataset) -> None:
        sample = own.first()
        sample.ann.detections.insert(0, detection("dog", [60, 60, 9, 9]))
        sample.save()
        assert table(self.report(own, 0)) == [[("annotated", "cat", ["correct"])] * 2]

    def test_keys_of_the_right_kind(self, dataset: fo.Dataset) -> None:
        for keys in [("found",), ("found", "found"), ("eve",), ("run", "eve")]:
            with pytest.raises(InputError, match="run key: expected one of the"):
                self.report(dataset, 0, *keys)

    def test_a_sample_without_metadata(self, make: Make) -> None:
        dataset = make([make_sample(0, SCENES[0], metadata=None)])
        kf.compute_agreement(dataset, "run", raters=RATERS)
        assert table(self.report(dataset, 0, "run")) == [[("annotated", "cat", [])] * 2]


# ---- every view ----

VIEWS: list[tuple[str, Callable[[Any], Any], list[int], int]] = [
    ("alpha", lambda samples: kf.view_of_alpha(samples, "run", 0, 0.5), [1, 2], 3),
    ("alpha of all", lambda samples: kf.view_of_alpha(samples, "run", -1, 1), [3, 1, 2, 0, 4], 8),
    ("alpha of a class", lambda samples: kf.view_of_alpha(samples, "run", -1, 1, category="cat"), [1, 2, 0], 4),
    ("alpha of a rater", lambda samples: kf.view_of_alpha(samples, "run", -1, 0.5, rater="bob"), [3, 1, 2], 6),
    (
        "alpha of a class and a rater",
        lambda samples: kf.view_of_alpha(samples, "run", -1, 0.5, category="cat", rater="bob"),
        [1, 2],
        2,
    ),
    ("worst", lambda samples: kf.view_worst_first(samples, "run", 2), [3, 1], 5),
    ("worst at a threshold", lambda samples: kf.view_of_threshold(samples, "run", 0.9), [3, 1, 2, 0, 4], 8),
    ("a class", lambda samples: kf.view_of_class(samples, "run", "bench"), [3], 3),
    ("another class", lambda samples: kf.view_of_class(samples, "run", "dog"), [1], 1),
    ("a pair", lambda samples: kf.view_of_pair(samples, "run", "ann", "bob"), [3, 1, 2, 0, 4], 8),
    ("correct", lambda samples: kf.view_of_variation(samples, "found", "correct"), [0], 2),
    ("missing", lambda samples: kf.view_of_variation(samples, "found", "missing"), [2], 1),
    ("missing of one", lambda samples: kf.view_of_variation(samples, "found", "missing", rater="bob"), [2], 1),
    ("missing of the other", lambda samples: kf.view_of_variation(samples, "found", "missing", rater="ann"), [], 0),
    ("confused", lambda samples: kf.view_of_confusion(samples, "found", "dog", "cat"), [1], 2),
    ("close outlines", lambda samples: kf.view_of_boundary(samples, "found", 0, 0.1), [0], 2),
    ("far outlines", lambda samples: kf.view_of_boundary(samples, "found", 0.1, 0.5), [], 0),
    ("copies", lambda samples: kf.view_of_copies(samples, "found"), [0], 2),
    ("all merged", lambda samples: kf.view_of_merged(samples, "found"), [3], 3),
    ("one merged", lambda samples: kf.view_of_merged(samples, "found", 0), [3], 3),
    ("a tag", lambda samples: kf.view_of_tag(samples, "ceiling", "seen"), [0, 3], 5),
]
"""Name, view, the scenes in it and how many labels: of the ten labels one more is in scene 5, which has no alpha."""


def analysed(dataset: fo.Dataset, **selection: Any) -> fo.Dataset:
    """With a run of every kind that has views of objects."""
    kf.compute_agreement(dataset, "run", bootstrap=0, **selection)
    kf.find_variations(dataset, "found", **selection)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "label convergence is .* on all", KalosWarning)
        kf.estimate_convergence(dataset, "ceiling", subsets=2, fraction=0.9, **selection)
    return dataset


@pytest.fixture(scope="module", params=["a field per rater", "one field"])
def scenes(request: pytest.FixtureRequest) -> Iterator[fo.Dataset]:
    """The scenes with a run of each kind, in both ways to hold the labels of several raters; two are tagged."""
    dataset = fo.Dataset()
    fields = request.param == "a field per rater"
    dataset.add_samples(make_samples(SCENES) if fields else in_one_field(SCENES), progress=False)
    dataset.match(F("filepath").ends_with(["0.jpg", "3.jpg"])).tag_samples("seen")
    yield analysed(dataset, **({"raters": RATERS} if fields else {"field": "marks"}))
    dataset.delete()


@pytest.fixture(scope="module")
def many() -> Iterator[fo.Dataset]:
    """Some hundred images of three raters with a run of each kind."""
    dataset = fo.Dataset()
    dataset.add_samples(make_samples(crowded(9, 300)), progress=False)
    yield analysed(dataset, raters=THREE)
    dataset.delete()


@pytest.mark.parametrize(("view_of", "images", "labels"), [entry[1:] for entry in VIEWS], ids=[row[0] for row in VIEWS])
class TestEveryView:
    def test_holds_these_images_and_labels(
        self, scenes: fo.Dataset, view_of: Callable[[Any], Any], images: list[int], labels: int
    ) -> None:
        view = view_of(scenes)
        assert numbers(view) == images
        assert sum(view.count(path) for path in kf.label_fields(view).values()) == labels

    def test_is_small_at_any_size(
        self, many: fo.Dataset, view_of: Callable[[Any], Any], images: list[int], labels: int
    ) -> None:
        del images, labels
        view = view_of(many)
        assert len(json.dumps(view._serialize())) < 10_000
        assert fo.DatasetView._build(many, json.loads(json.dumps(view._serialize()))).values("id") == view.values("id")


class TestTies:
    """Images of equal alpha come in the order of their ids, wherever they are cut off."""

    @pytest.fixture
    def tied(self, make: Make) -> fo.Dataset:
        dataset = make(make_samples([SCENES[number % 3] for number in range(60)]))
        kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)
        return dataset

    @pytest.mark.parametrize("part", [{}, {"category": "cat"}, {"rater": "bob"}])
    def test_have_one_order(self, tied: fo.Dataset, part: dict[str, str]) -> None:
        ids = tied.values("id")
        assert ids == sorted(ids)
        expected = [key for number, key in enumerate(ids) if number % 3] + ids[::3]
        assert kf.view_worst_first(tied, "run", **part).values("id") == expected
        assert [row.sample_id for row in kf.worst_images(tied, "run", 100, kf.Lens(**part))] == expected
        for limit in (1, 7, 25, 45):
            assert kf.view_worst_first(tied, "run", limit, **part).values("id") == expected[:limit]
            assert [row.sample_id for row in kf.worst_images(tied, "run", limit, kf.Lens(**part))] == expected[:limit]
        assert kf.view_of_alpha(tied, "run", -1, 0.5, **part).values("id") == expected[:40]

    def test_of_a_pair(self, tied: fo.Dataset) -> None:
        ids = tied.values("id")
        expected = [key for number, key in enumerate(ids) if number % 3] + ids[::3]
        assert kf.view_of_pair(tied, "run", *RATERS).values("id") == expected

    def test_whatever_the_order_of_the_view(self, tied: fo.Dataset) -> None:
        kf.compute_agreement(tied.sort_by("id", reverse=True), "reversed", raters=RATERS, bootstrap=0)
        expected = kf.view_worst_first(tied, "run").values("id")
        assert kf.view_worst_first(tied, "reversed").values("id") == expected


class TestSamplesThatCameLater:
    """A view may hold samples that the run has not read: they have no alpha."""

    @pytest.mark.parametrize(
        "view_of",
        [
            lambda samples: kf.view_of_alpha(samples, "tagged", -1, 1),
            lambda samples: kf.view_worst_first(samples, "tagged"),
            lambda samples: kf.view_of_alpha(samples, "tagged", -1, 1, rater="ann"),
            lambda samples: kf.view_of_class(samples, "tagged", "cat"),
            lambda samples: kf.view_of_pair(samples, "tagged", *RATERS),
        ],
    )
    def test_are_in_no_view(self, make: Make, view_of: Callable[[Any], Any]) -> None:
        dataset = make()
        dataset.limit(3).tag_samples("seen")
        kf.compute_agreement(dataset.match_tags("seen"), "tagged", raters=RATERS, bootstrap=0)
        dataset.skip(3).tag_samples("seen")
        (new,) = dataset.add_samples([make_sample(9, SCENES[0], tags=["seen"])], progress=False)
        assert new in kf.load_run_view(dataset, "tagged").values("id")
        assert sorted(numbers(view_of(dataset))) == [0, 1, 2]
        assert len(kf.worst_images(dataset, "tagged")) == 3
        assert kf.image_alphas(dataset, "tagged")[1] == [1, 0, 0, None, None, None, None]
        assert kf.image_alphas(dataset, "tagged", category="cat")[1] == [1, 0, 0, None, None, None, None]
