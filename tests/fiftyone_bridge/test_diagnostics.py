"""What a run stores of thresholds, classes, raters and pairs of raters, beside what runs of version 0.1.0 stored."""

import json
from collections.abc import Callable
from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import (
    Annotations,
    InputError,
    agreement,
    class_difficulty,
    collaboration,
    compute_pairs,
    rater_vitality,
    sensitivity,
)
from kalos_core.fiftyone.diagnostics import plain
from tests.fiftyone_bridge.scenes import CAT, MEAN, RATERS, SCENES, detection, make_samples
from tests.fiftyone_bridge.test_analyses import crowded

Make = Callable[..., fo.Dataset]
THREE = ("ann", "bob", "cid")


class TestStored:
    @pytest.fixture
    def dataset(self, make: Make) -> fo.Dataset:
        return make(make_samples(crowded(5)))

    def test_all_diagnostics_are_those_of_the_library(self, dataset: fo.Dataset) -> None:
        run = kf.compute_agreement(dataset, "run", raters=THREE, bootstrap=50, thresholds=(0.3, 0.7))
        annotations = kf.read_annotations(dataset, raters=THREE)
        expected = agreement(annotations, bootstrap=50)
        stored = kf.load_diagnostics(dataset, "run")
        assert stored == json.loads(json.dumps(run.diagnostics)) == dict(run.diagnostics)
        assert stored["class_difficulty"] == plain(class_difficulty(expected))
        assert stored["vitality"] == plain(rater_vitality(expected))
        assert stored["collaboration"] == plain(collaboration(expected))
        curve = sensitivity(annotations, (0.3, 0.7), anchor=0.5, strict=0.9, bootstrap=50)
        assert stored["sensitivity"] == plain(curve)
        assert "person with two sessions" in stored["intra_rater"]["reason"]
        assert kf.load_run(dataset, "run").diagnostics == stored

    def test_pairs_go_down_to_the_lowest_threshold(self, dataset: fo.Dataset) -> None:
        run = kf.compute_agreement(dataset, "run", raters=THREE, threshold=0.6, thresholds=(0.3, 0.7))
        whole = compute_pairs(run.result.annotations, "box_iou", 0.3)
        for pairs in (run.result.pairs, kf.load_run(dataset, "run").result.pairs):
            assert pairs.floor == 0.3
            np.testing.assert_array_equal(np.sort(pairs.similarity), np.sort(whole.similarity))

    def test_without_thresholds(self, dataset: fo.Dataset) -> None:
        run = kf.compute_agreement(dataset, "run", raters=THREE, threshold=0.6, thresholds=())
        assert run.result.pairs.floor == 0.6
        assert run.diagnostics["sensitivity"] == {"reason": "sensitivity: not asked for in this run (thresholds)"}

    @pytest.mark.parametrize("thresholds", [(0.5, 1.1), (float("nan"),), ("x",)])
    def test_thresholds_are_similarities(self, dataset: fo.Dataset, thresholds: Any) -> None:
        with pytest.raises(InputError, match="thresholds: expected a similarity from 0 to 1"):
            kf.compute_agreement(dataset, "run", raters=THREE, thresholds=thresholds)
        assert dataset.list_runs() == []

    def test_a_stricter_run_than_the_strict_threshold(self, dataset: fo.Dataset) -> None:
        run = kf.compute_agreement(dataset, "run", raters=THREE, threshold=0.95)
        assert (run.diagnostics["sensitivity"]["anchor"], run.diagnostics["sensitivity"]["delta"]) == (0.95, 0.0)

    def test_two_raters_have_no_vitality(self, make: Make) -> None:
        run = kf.compute_agreement(make(), "run", raters=RATERS)
        assert run.diagnostics["vitality"]["reason"].startswith("vitality: expected at least three raters")
        assert run.diagnostics["collaboration"]["alpha"][0][1] == pytest.approx(MEAN)

    def test_classes_worked_out_by_hand(self, make: Make) -> None:
        """Cats: scenes 0 to 2 (and 5, undefined): 1, 0, 0. Dogs: scene 1. Benches: scene 3."""
        run = kf.compute_agreement(make(), "run", raters=RATERS)
        found = run.diagnostics["class_difficulty"]
        assert found["category"] == ["bench", "cat", "dog"]
        assert found["alpha"] == pytest.approx([-2 / 3, 1 / 3, 0])
        assert found["images"] == [1, 3, 1]
        assert found["units"] == [3, 4, 1]

    def test_sessions(self, make: Make) -> None:
        dataset = make([*make_samples(SCENES)])
        passes = Annotations.from_rows([], raters=RATERS, person=["eve", "eve"], session=["1", "2"])
        kf.raters.store_rater_facts(dataset, passes)
        run = kf.compute_agreement(dataset, "run", raters=RATERS)
        assert run.diagnostics["intra_rater"]["person"] == ["eve"]
        assert run.diagnostics["intra_rater"]["alpha"] == pytest.approx([MEAN])
        assert run.diagnostics["team_agreement"]["session"] == ["1", "2"]


class TestClassesAskedFor:
    """Bob was asked for dogs only: he says nothing about the cats and benches of ann."""

    @pytest.fixture
    def dataset(self, make: Make) -> fo.Dataset:
        dataset = make(make_samples([SCENES[0] | {"bob": []}, SCENES[1], SCENES[4]]))
        limits = {"raters": RATERS, "categories": ["cat", "dog"], "assigned_categories": {"bob": ["dog"]}}
        kf.raters.store_rater_facts(dataset, Annotations.from_rows([], **limits))
        return dataset

    def test_are_heeded_everywhere(self, dataset: fo.Dataset) -> None:
        run = kf.compute_agreement(dataset, "run", raters=RATERS)
        # a cat by ann only: nobody else was asked; cat and dog of one object differ; and nobody drew a dog
        assert dataset.values("run_alpha") == [None, 0.0, 1.0]
        assert kf.load_run(dataset, "run").stale == ()
        found = kf.filtered_figures(dataset, "run", rater="bob")
        assert found["image_alpha"] == [None, 0.0, 1.0]
        assert found["alpha"] == run.figures["alpha"] == 0.5

    def test_a_class_nobody_else_was_asked_for(self, dataset: fo.Dataset) -> None:
        kf.compute_agreement(dataset, "run", raters=RATERS, classes=("dog",))
        assert dataset.values("run_alpha") == [1.0, 0.0, 1.0]

    def test_a_mark_of_another_class_is_refused(self, dataset: fo.Dataset) -> None:
        sample = dataset.first()
        sample.bob.detections = [detection("cat", CAT)]
        sample.save()
        with pytest.raises(InputError, match="expected a class its rater is assigned to, got 'cat' by 'bob'"):
            kf.compute_agreement(dataset, "run", raters=RATERS)

    def test_when_they_change_the_run_is_stale(self, dataset: fo.Dataset) -> None:
        kf.compute_agreement(dataset, "run", raters=RATERS)
        kf.raters.store_rater_facts(dataset, Annotations.from_rows([], raters=RATERS, categories=["cat", "dog"]))
        assert kf.raters.rater_facts(dataset) == {}
        assert kf.stale_samples(dataset, "run") == dataset.values("id")


class TestOlderRuns:
    """Runs of version 0.1.0 hold neither units nor diagnostics."""

    @pytest.fixture
    def dataset(self, make: Make) -> fo.Dataset:
        dataset = make()
        run = kf.compute_agreement(dataset, "run", raters=RATERS)
        stored = kf.runs.load_arrays(dataset, "run")
        kept = ("image_ids", "hashes", "label_ids", "left", "right", "similarity", "unit_of", "image_alpha")
        near = stored["similarity"] >= run.settings["threshold"]
        old = {name: stored[name][near] if name in ("left", "right", "similarity") else stored[name] for name in kept}
        results = dataset.init_run_results("run")
        results.arrays = kf.runs.pack(**old, floor=np.array(run.settings["threshold"]))
        dataset.save_run_results("run", results, overwrite=True, cache=False)
        return dataset

    def test_load_as_they_were(self, dataset: fo.Dataset) -> None:
        loaded = kf.load_run(dataset, "run")
        assert loaded.result.alpha == pytest.approx(MEAN)
        assert (loaded.stale, dict(loaded.diagnostics), kf.load_diagnostics(dataset, "run")) == ((), {}, {})
        assert kf.stale_samples(dataset, "run") == []
        assert len(kf.view_worst_first(dataset, "run")) == 5

    @pytest.mark.parametrize(
        "ask",
        [
            lambda dataset: kf.filtered_figures(dataset, "run", category="cat"),
            lambda dataset: kf.view_of_class(dataset, "run", "cat"),
            lambda dataset: kf.view_of_pair(dataset, "run", *RATERS),
            lambda dataset: kf.view_of_rater(dataset, "run", "ann"),
        ],
    )
    def test_say_what_they_lack(self, dataset: fo.Dataset, ask: Any) -> None:
        with pytest.raises(InputError, match=r"run 'run': made by an older version.*make a new run"):
            ask(dataset)


def test_stored_shapeless_annotations_are_whole(make: Make) -> None:
    """The stored marks say as much about who saw what as the labels do."""
    dataset = make(make_samples(crowded(7)))
    run = kf.compute_agreement(dataset, "run", raters=THREE)
    stored = kf.runs.load_arrays(dataset, "run")
    annotations: Annotations = run.result.annotations
    for name, column in (("mark_image", "image"), ("mark_rater", "rater"), ("mark_category", "category")):
        np.testing.assert_array_equal(stored[name], getattr(annotations, column))
    np.testing.assert_array_equal(stored["assigned"], annotations.assigned)
