"""Diagnostics that a run of agreement stores: thresholds, classes, raters and pairs of raters."""

import json

import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import Annotations, agreement, class_difficulty, collaboration, rater_vitality, sensitivity
from kalos_core.fiftyone.dataset.raters import rater_facts, store_raters
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.pairs import compute_pairs
from kalos_core.results import plain_values
from tests.fiftyone_bridge.scenes import (
    MEAN,
    RATERS,
    SCENES,
    THREE,
    crowded,
    make_samples,
    metrics_of,
)


@pytest.fixture(scope="module")
def crowd(make_once):
    """Return overlapping annotations of three raters, to which each test adds a run."""
    return make_once(make_samples(crowded(5)))


class TestStored:
    def test_all_diagnostics_are_those_of_the_library(self, crowd):
        run = kf.compute_agreement(crowd, "run", raters=THREE, bootstrap=50, thresholds=(0.3, 0.7))
        annotations = kf.read_annotations(crowd, raters=THREE)
        expected = agreement(annotations, bootstrap=50)
        stored = plain_values(kf.load_details(crowd, "run").details)
        assert stored == json.loads(json.dumps(plain_values(run.details)))
        assert stored["class_difficulty"] == plain_values(class_difficulty(expected))
        assert stored["vitality"] == plain_values(rater_vitality(expected))
        assert stored["collaboration"] == plain_values(collaboration(expected))
        curve = sensitivity(annotations, (0.3, 0.7), anchor=0.5, strict=0.9, bootstrap=50)
        without = {"image_alpha": {"shape": [2, 0]}}  # values of single images are not shown
        assert stored["sensitivity"] == plain_values(curve) | without
        assert "person with two sessions" in stored["intra_rater"]["reason"]
        assert plain_values(kf.load_run(crowd, "run").details) == stored

    def test_pairs_go_down_to_the_lowest_threshold(self, crowd):
        run = kf.compute_agreement(crowd, "pairs", raters=THREE, threshold=0.6, thresholds=(0.3, 0.7))
        whole = compute_pairs(run.result.annotations, "box_iou", 0.3)
        for pairs in (run.result.pairs, kf.load_run(crowd, "pairs").result.pairs):
            assert pairs.floor == 0.3
            np.testing.assert_array_equal(np.sort(pairs.similarity), np.sort(whole.similarity))

    def test_sensitivity_begins_at_the_threshold_that_was_chosen(self, crowd):
        kf.calibrate_threshold(crowd, "calibration", raters=THREE, similarities=["box_iou", "box_giou"])
        kf.choose_threshold(crowd, "calibration", "box_iou", 0.25)
        run = kf.compute_agreement(crowd, "chosen", raters=THREE, thresholds=(0.3, 0.7))
        found = plain_values(run.details)["sensitivity"]
        assert (found["anchor"], found["strict"], found["calibrated"]) == (0.25, 0.9, True)
        assert run.result.pairs.floor == 0.25
        kf.choose_threshold(crowd, "calibration", "box_iou", 0.95)
        found = plain_values(kf.compute_agreement(crowd, "strict", raters=THREE).details)["sensitivity"]
        assert (found["anchor"], found["strict"]) == (0.95, 0.95)
        kf.delete_run(crowd, "calibration")
        found = plain_values(kf.compute_agreement(crowd, "later", raters=THREE).details)["sensitivity"]
        assert (found["anchor"], found["calibrated"]) == (0.5, False)

    def test_worked_out_by_hand(self, make):
        """Cats: scenes 0 to 2 (and 5, undefined): 1, 0, 0. Dogs: scene 1. Benches: scene 3."""
        found = plain_values(kf.compute_agreement(make(), "run", raters=RATERS).details)
        assert found["vitality"]["reason"].startswith("vitality: expected at least three raters")
        assert found["collaboration"]["alpha"][0][1] == pytest.approx(MEAN)
        classes = found["class_difficulty"]
        assert classes["category"] == ["bench", "cat", "dog"]
        assert classes["alpha"] == pytest.approx([-2 / 3, 1 / 3, 0])
        assert (classes["images"], classes["units"]) == ([1, 3, 1], [3, 4, 1])

    def test_sessions(self, make):
        dataset = make()
        passes = Annotations.from_rows([], raters=RATERS, person=["eve", "eve"], session=["1", "2"])
        store_raters(dataset, {}, passes)
        run = kf.compute_agreement(dataset, "run", raters=RATERS)
        assert plain_values(run.details)["intra_rater"]["person"] == ["eve"]
        assert plain_values(run.details)["intra_rater"]["alpha"] == pytest.approx([MEAN])
        assert plain_values(run.details)["team_agreement"]["session"] == ["1", "2"]


class TestAssignedClasses:
    """Bob is assigned to dogs only, so ann's cats and benches have no value from him."""

    @pytest.fixture
    def dataset(self, make):
        dataset = make(make_samples([SCENES[0] | {"bob": []}, SCENES[1], SCENES[4]]))
        limits = {"raters": RATERS, "categories": ["cat", "dog"], "assigned_categories": {"bob": ["dog"]}}
        store_raters(dataset, {}, Annotations.from_rows([], **limits))
        return dataset

    def test_are_heeded_everywhere(self, dataset):
        run = kf.compute_agreement(dataset, "run", raters=RATERS)
        # a cat by ann only: no other rater is assigned; cat and dog of one object differ; and no rater annotated a dog
        assert dataset.values("run_alpha") == [None, 0.0, 1.0]
        assert kf.load_run(dataset, "run").stale == ()
        found = metrics_of(narrowed_metrics(dataset, "run", kf.Filter(rater="bob")))
        assert found["image_alpha"] == [None, 0.0, 1.0]
        assert found["alpha"] == run.metrics["alpha"] == 0.5

    def test_when_they_change_the_run_is_stale(self, dataset):
        kf.compute_agreement(dataset, "run", raters=RATERS)
        store_raters(dataset, {}, Annotations.from_rows([], raters=RATERS, categories=["cat", "dog"]))
        assert rater_facts(dataset) == {}
        assert kf.stale_samples(dataset, "run") == dataset.values("id")
