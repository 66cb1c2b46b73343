"""Stored runs come back as they were, and only what has changed since is compared again."""

from collections.abc import Callable
from typing import Any

import fiftyone as fo
import numpy as np
import pymongo.collection
import pytest

import kalos_core.fiftyone as kf
from kalos_core import Agreement, Annotations, InputError, KalosWarning, agreement, variations
from kalos_core.pairs import compute_pairs
from kalos_core.variation import Variations
from tests.fiftyone_bridge.scenes import (
    CAT,
    RATERS,
    SCENES,
    Scene,
    detection,
    in_one_field,
    make_sample,
    make_samples,
    polylines,
)

ANALYSES = {"agreement": kf.compute_agreement, "variations": kf.find_variations}
every_analysis = pytest.mark.parametrize("kind", ANALYSES)


def assert_same(first: Any, second: Any) -> None:
    """Bit for bit."""
    assert type(first) is type(second)
    for name in ("left", "right", "similarity"):
        np.testing.assert_array_equal(getattr(first.pairs, name), getattr(second.pairs, name), err_msg=name)
    for name in ("images", "raters", "categories", "id"):
        assert list(getattr(first.annotations, name)) == list(getattr(second.annotations, name))
    if isinstance(first, Agreement):
        assert first.configuration == second.configuration
        for name in ("unit_of", "image_alpha", "alpha", "alpha_interval", "global_alpha", "global_alpha_interval"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
        np.testing.assert_array_equal(first.units.values, second.units.values)
    if isinstance(first, Variations):
        for name in ("image", "rater_a", "rater_b", "type", "similarity"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
        assert list(first.rows_a) == list(second.rows_a)
        assert list(first.rows_b) == list(second.rows_b)


def fresh(kind: str, annotations: Annotations, settings: Any) -> Any:
    if kind == "variations":
        return variations(annotations, **settings)
    pairs = compute_pairs(annotations, settings["similarity"], 0.1)  # the lowest threshold of the sensitivity curve
    return agreement(annotations, **settings, pairs=pairs)


def crowded(seed: int, images: int = 12) -> list[Scene]:
    """Pictures with many overlapping marks of three raters, on a grid so that ties are common."""
    rng = np.random.default_rng(seed)

    def marks() -> list[Any]:
        boxes = rng.integers((0, 0, 2, 2), (8, 8, 8, 8), (rng.integers(2, 9), 4)) * 6
        return [(str(rng.choice(["cat", "dog"])), [int(value) for value in box]) for box in boxes]

    return [{"ann": marks(), "bob": marks(), "cid": marks() if number % 3 else None} for number in range(images)]


CHANGES: dict[str, Callable[[fo.Dataset], list[int]]] = {}


def change(function: Callable[[fo.Dataset], list[int]]) -> Callable[[fo.Dataset], list[int]]:
    """A change, and the numbers of the samples that are stale then."""
    CHANGES[function.__name__] = function
    return function


@change
def none(_: fo.Dataset) -> list[int]:
    return []


@change
def a_class(dataset: fo.Dataset) -> list[int]:
    dataset.limit(1).set_values("ann.detections.label", [["horse"] * len(dataset.first().ann.detections)])
    return [0] if dataset.first().ann.detections else []


@change
def a_box(dataset: fo.Dataset) -> list[int]:
    sample = dataset.skip(4).first()
    sample.bob.detections.append(detection("cat", CAT))
    sample.bob.detections[0].bounding_box = [0.2, 0.2, 0.3, 0.3]
    sample.save()
    return [4]


@change
def deleted_labels(dataset: fo.Dataset) -> list[int]:
    sample = dataset.skip(2).first()
    sample.ann.detections = []
    sample.bob.detections = sample.bob.detections[1:]
    sample.save()
    return [2]


@change
def who_was_asked(dataset: fo.Dataset) -> list[int]:
    sample = dataset.skip(4).first()
    sample["cid"] = None
    sample["raters"] = ["ann", "bob"]
    sample.save()
    return [4]


@change
def order_of_labels(dataset: fo.Dataset) -> list[int]:
    sample = dataset.skip(1).first()
    sample.bob.detections = sample.bob.detections[::-1]
    sample.save()
    return []


@change
def what_was_not_read(dataset: fo.Dataset) -> list[int]:
    dataset.tag_samples("seen")
    dataset.limit(3).tag_labels("checked", label_fields="ann")
    dataset.set_values("mine", list(range(len(dataset))))
    return []


class TestLoadedRuns:
    @pytest.fixture
    def dataset(self, make: Callable[..., fo.Dataset]) -> fo.Dataset:
        return make(make_samples(crowded(3)))

    @every_analysis
    @pytest.mark.parametrize("name", CHANGES)
    def test_equal_a_fresh_computation(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
    ) -> None:
        run = ANALYSES[kind](dataset, "run", raters=("ann", "bob", "cid"))
        stale = CHANGES[name](dataset)
        compared: list[Any] = []
        original = kf.analyses.storing.compute_pairs

        def counting(annotations: Annotations, *arguments: Any) -> Any:
            compared.extend(set(annotations.images[annotations.image]))
            return original(annotations, *arguments)

        monkeypatch.setattr(kf.analyses.storing, "compute_pairs", counting)
        loaded = kf.load_run(dataset, "run")
        monkeypatch.undo()
        ids = dataset.values("id")
        assert loaded.stale == tuple(ids[number] for number in stale)
        assert sorted(compared) == sorted(ids[number] for number in stale)
        annotations = kf.read_annotations(dataset, raters=("ann", "bob", "cid"))
        assert_same(loaded.result, fresh(kind, annotations, run.settings))
        if name == "none":
            assert_same(loaded.result, run.result)
            assert (loaded.figures, loaded.settings, loaded.choice) == (run.figures, run.settings, run.choice)

    @every_analysis
    def test_samples_deleted_and_added(self, dataset: fo.Dataset, kind: str) -> None:
        run = ANALYSES[kind](dataset, "run", raters=("ann", "bob", "cid"))
        ids = dataset.values("id")
        dataset.delete_samples([ids[5], ids[0]])
        (new,) = dataset.add_samples([make_sample(99, {**SCENES[3], "cid": None})], progress=False)
        loaded = kf.load_run(dataset, "run")
        assert set(loaded.stale) == {new, ids[0], ids[5]}
        assert loaded.stale[0] == new
        annotations = kf.read_annotations(dataset, raters=("ann", "bob", "cid"))
        assert_same(loaded.result, fresh(kind, annotations, run.settings))

    @every_analysis
    def test_polygons(self, make: Callable[..., fo.Dataset], kind: str) -> None:
        dataset = make(make_samples(crowded(4, images=5), polylines))
        run = ANALYSES[kind](dataset, "run", raters=("ann", "bob"), threshold=0.3)
        assert run.settings["similarity"] == "polygon_iou"
        loaded = kf.load_run(dataset, "run")
        assert loaded.stale == ()
        assert_same(loaded.result, run.result)

    def test_rings_drawn_apart(self, make: Callable[..., fo.Dataset]) -> None:
        corners = [(0.1, 0.1), (0.4, 0.1), (0.4, 0.4), (0.6, 0.6), (0.9, 0.6), (0.9, 0.9)]
        whole, parts = ([corners], [corners[:3], corners[3:]])
        label = fo.Polyline(label="cat", points=whole, closed=True)
        dataset = make([fo.Sample("/p/0.jpg", raters=["a", "b"], a=fo.Polylines(polylines=[label]), b=fo.Polylines())])
        kf.compute_agreement(dataset, "run", raters=("a", "b"))
        dataset.set_values("a.polylines.points", [[parts]])
        assert kf.load_run(dataset, "run").stale == (dataset.first().id,)

    @pytest.mark.parametrize("raters", [None, ("ann", "bob")])
    def test_a_rater_who_came_later_is_not_part_of_it(self, make: Callable[..., fo.Dataset], raters: Any) -> None:
        dataset = make()
        kf.raters.store_rater_fields(dataset, {name: name for name in RATERS})
        kf.compute_agreement(dataset, "run", raters=raters)
        dataset.set_values("eve", [fo.Detections(detections=[detection("cat", CAT)])] * 6)
        dataset.set_values("raters", [[*names, "eve"] for names in dataset.values("raters")])
        kf.raters.store_rater_fields(dataset, {"eve": "eve"})
        loaded = kf.load_run(dataset, "run")
        assert (list(loaded.result.annotations.raters), loaded.stale) == (["ann", "bob"], ())

    def test_a_rater_and_a_class_that_are_gone(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(in_one_field([{"ann": [("cat", CAT)], "bob": [("dog", CAT)], "gold": [("cat", CAT)]}]))
        dataset.delete_sample_field("raters")
        with pytest.warns(KalosWarning, match="no sample field"):
            kf.compute_agreement(dataset, "run", field="marks", reference="gold", classes=("cat", "dog"))
        sample = dataset.first()
        sample.marks.detections = sample.marks.detections[:1]
        sample.save()
        with pytest.warns(KalosWarning, match="no sample field"):
            loaded = kf.load_run(dataset, "run")
        assert list(loaded.result.annotations.raters) == ["ann", "bob"]
        assert loaded.stale == (sample.id,)
        assert loaded.result.alpha == 0.0

    def test_a_field_that_is_gone(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make()
        kf.compute_agreement(dataset, "run", raters=RATERS)
        dataset.delete_sample_field("bob")
        with pytest.raises(InputError, match="expected a label field or a rater, got 'bob'"):
            kf.load_run(dataset, "run")
        assert kf.load_figures(dataset, "run").figures["raters"] == ["ann", "bob"]


def test_raters_with_any_name_in_the_figures(make: Callable[..., fo.Dataset]) -> None:
    dataset = make()
    names = {"Dr. A. $ 1": "ann", "$where.b": "bob"}
    kf.raters.store_rater_fields(dataset, names)
    dataset.set_values("raters", [list(names)] * 5 + [list(names)[:1]])
    kf.find_variations(dataset, "run")
    assert list(kf.load_figures(dataset, "run").figures["by_rater"]) == list(names)


def test_undefined_figures_are_none(make: Callable[..., fo.Dataset]) -> None:
    dataset = make(make_samples(SCENES[4:]))
    dataset.delete_samples(dataset.first())
    run = kf.compute_agreement(dataset, "run", raters=RATERS)
    figures = kf.load_figures(dataset, "run").figures
    assert figures == run.figures
    assert [figures[name] for name in ("alpha", "global_alpha", "alpha_without_empty")] == [None] * 3
    assert figures["alpha_interval"] == [None, None]
    assert (figures["defined_images"], figures["undefined_images"], figures["band"]) == (0, 1, "undefined")
    assert dataset.values("run_alpha") == [None]


@every_analysis
def test_the_number_of_queries_does_not_grow_with_the_samples(make: Callable[..., fo.Dataset], kind: str) -> None:
    counts = []
    for images in (4, 40):
        dataset = make(make_samples(crowded(1, images)))
        with pytest.MonkeyPatch.context() as patch:
            asked: list[str] = []
            for method in ("aggregate", "find", "find_one", "bulk_write", "update_many", "update_one", "insert_one"):
                patch.setattr(pymongo.collection.Collection, method, _counting(method, asked))
            ANALYSES[kind](dataset, "run", raters=("ann", "bob", "cid"))
            kf.load_run(dataset, "run")
            kf.delete_run(dataset, "run")
        assert asked.count("bulk_write") < 6  # FiftyOne's batches: one sample first, then ever more
        counts.append(sorted(name for name in asked if name != "bulk_write"))
    assert counts[0] == counts[1]
    assert len(counts[0]) < 100


def _counting(method: str, asked: list[str]) -> Any:
    original = getattr(pymongo.collection.Collection, method)

    def counted(*arguments: Any, **options: Any) -> Any:
        asked.append(method)
        return original(*arguments, **options)

    return counted
