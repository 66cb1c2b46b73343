"""Calibrations as runs: numbers are stored, nothing is written, and a chosen threshold is a default like its run."""

import json
from collections.abc import Callable
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from scipy.stats import gaussian_kde

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosWarning, calibrate
from kalos_core.calibration import DISTANCE_EDGES, GRID
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.kinds.calibration import compute
from kalos_core.fiftyone.runs.records import plain
from tests.fiftyone_bridge.scenes import CAT, THREE, crowded, documents, make_samples

Make = Callable[..., fo.Dataset]


@pytest.fixture
def dataset(make: Make) -> fo.Dataset:
    return make(make_samples(crowded(8)))


def run_it(dataset: fo.Dataset, key: str = "run", **options: Any) -> kf.Run:
    return kf.calibrate_threshold(dataset, key, **{"raters": THREE, "similarities": ["box_iou", "box_giou"], **options})


class TestTheRun:
    def test_holds_what_the_library_computes(self, dataset: fo.Dataset) -> None:
        run = run_it(dataset, repeats=2, bootstrap=10, seed=3)
        annotations = kf.read_annotations(dataset, raters=THREE)
        expected = calibrate(annotations, ["box_iou", "box_giou"], repeats=2, bootstrap=10, seed=3)
        assert [entry["name"] for entry in run.metrics["similarities"]] == [found.name for found in expected]
        for entry, found in zip(run.metrics["similarities"], expected, strict=True):
            for name in (
                "ks",
                "tau",
                "threshold",
                "ks_interval",
                "tau_interval",
                "threshold_interval",
                "reason",
                "trusted",
                "why",
                "coordinates",
            ):
                assert entry[name] == plain(getattr(found, name)), name
        assert (run.metrics["images"], run.metrics["annotations"]) == (len(dataset), len(annotations))
        assert run.settings == {
            "similarities": ["box_iou", "box_giou"],
            "repeats": 2,
            "bootstrap": 10,
            "seed": 3,
            "coordinates": "relative",
        }

    def test_compares_in_pixels_if_told_so(self, make: Make) -> None:
        """Images of two sizes: relative to them, boxes of equal pixels are not alike."""
        samples = make_samples(crowded(8))
        for sample in samples[::2]:
            sample.metadata.width *= 2
        dataset = make(samples)
        annotations = kf.read_annotations(dataset, raters=THREE)
        for coordinates in ("relative", "pixels"):
            run = run_it(dataset, coordinates, coordinates=coordinates, similarities=["box_iou"])
            expected = calibrate(annotations, ["box_iou"], coordinates=coordinates)
            assert run.metrics["similarities"][0]["coordinates"] == coordinates
            loaded = kf.load_run(dataset, coordinates)
            for found in (run.result, loaded.result):
                np.testing.assert_array_equal(found["box_iou"].expected, expected["box_iou"].expected)
        note = kf.figures_of(kf.load_details(dataset, "pixels"))["box_iou"].note
        assert note == "Annotations of two images are compared in pixels."
        with pytest.raises(InputError, match="coordinates: expected"):
            run_it(dataset, "other", coordinates="metres")

    def test_samples_without_a_size_are_compared_in_pixels_and_it_is_said(self, make: Make) -> None:
        samples = make_samples(crowded(8))
        samples[0].metadata = None
        dataset = make(samples)
        with pytest.warns(KalosWarning, match="coordinates: the sizes of 1 of 12 images are unknown"):
            run = run_it(dataset, similarities=["box_iou"])
        assert run.metrics["similarities"][0]["coordinates"] == "pixels"

    def test_holds_what_is_plotted(self, dataset: fo.Dataset) -> None:
        run = run_it(dataset)
        stored = kf.load_details(dataset, "run").details
        assert plain(stored) == plain(run.details) == json.loads(json.dumps(plain(run.details)))
        for entry, found in zip(stored, run.result, strict=True):
            assert len(entry.observed) == len(entry.expected) == 0
            for shares, distances in zip(entry.shares, (found.observed, found.expected), strict=True):
                assert shares.count == len(distances) == pytest.approx(shares.share.sum() * len(distances))
                at_0 = [value for value in distances if DISTANCE_EDGES[0] <= value < DISTANCE_EDGES[1]]
                assert shares.share[0] * len(distances) == pytest.approx(len(at_0))
                density = shares.curve / (DISTANCE_EDGES[1] - DISTANCE_EDGES[0])
                np.testing.assert_allclose(density, gaussian_kde(distances)(GRID[::9]), rtol=0.02, atol=0.02)
            assert (entry.ks_at, entry.crosses) == (found.ks_at, found.crosses)
            assert {size: part.tau for size, part in entry.strata.items()} == pytest.approx(
                {size: part.tau for size, part in found.strata.items()}, nan_ok=True
            )

    def test_writes_nothing_on_samples(self, dataset: fo.Dataset) -> None:
        before, fields = documents(dataset), list(dataset.get_field_schema(flat=True))
        run = run_it(dataset)
        assert (documents(dataset), list(dataset.get_field_schema(flat=True))) == (before, fields)
        assert run.written == "nothing on samples or labels"

    def test_is_listed_loaded_and_deleted_like_any_other(self, dataset: fo.Dataset) -> None:
        run = run_it(dataset)
        kf.compute_agreement(dataset, "other", raters=THREE)
        assert kf.list_runs(dataset, "calibration") == ["run"]
        assert kf.list_runs(dataset) == ["other", "run"]
        loaded = kf.load_run(dataset, "run")
        assert (loaded.kind, loaded.metrics, loaded.stale) == ("calibration", run.metrics, ())
        assert [found.ks for found in loaded.result] == [found.ks for found in run.result]
        with pytest.raises(InputError, match=r"one of the agreement runs other, got 'run'"):
            kf.narrowed_metrics(dataset, "run")
        kf.delete_run(dataset, "run")
        assert kf.list_runs(dataset) == ["other"]

    def test_knows_changed_labels(self, dataset: fo.Dataset) -> None:
        run_it(dataset)
        sample = dataset.skip(2).first()
        sample.ann.detections[0].bounding_box = [value / 100 for value in CAT]
        sample.save()
        assert kf.stale_samples(dataset, "run") == [sample.id]
        assert kf.load_run(dataset, "run").stale == (sample.id,)

    def test_all_that_fits_by_default(self, dataset: fo.Dataset) -> None:
        run = run_it(dataset, similarities=None)
        fitting = kf.fitting_similarities(dataset, kf.Selection(raters=THREE))
        assert set(run.settings["similarities"]) <= set(fitting)
        assert {"box_iou", "box_giou", "centroid_box"} <= set(run.settings["similarities"])

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"similarities": ["iou"]}, "similarities: expected one of"),
            ({"similarities": ["polygon_iou"]}, "polygon_iou compares shapes of kind 'polygon'"),
            ({"raters": ("ann",)}, "two raters"),
        ],
    )
    def test_bad_input_leaves_nothing(self, dataset: fo.Dataset, options: dict[str, Any], said: str) -> None:
        with pytest.raises(InputError, match=said):
            run_it(dataset, **options)
        assert dataset.list_runs() == []

    def test_one_image_is_too_few(self, dataset: fo.Dataset) -> None:
        with pytest.raises(InputError):
            run_it(dataset.limit(1))
        assert dataset.list_runs() == []


@pytest.mark.filterwarnings("ignore:box_:kalos_core.errors.KalosWarning")
class TestChosenThreshold:
    def test_one_that_is_not_to_be_trusted_is_said(self, dataset: fo.Dataset) -> None:
        found = run_it(dataset).metrics["similarities"]
        why = next(entry["why"] for entry in found if entry["name"] == "box_iou")
        assert why.startswith("observed and expected distances hardly part")
        with pytest.warns(KalosWarning, match=f"box_iou: the calibrated threshold .* is not to be trusted: {why[:40]}"):
            kf.choose_threshold(dataset, "run", "box_iou")

    def test_is_the_default_of_its_similarity(self, dataset: fo.Dataset) -> None:
        run_it(dataset)
        assert kf.default_threshold(dataset, "box_iou") is None
        chosen = kf.choose_threshold(dataset, "run", "box_iou")
        value = next(entry["threshold"] for entry in chosen.metrics["similarities"] if entry["name"] == "box_iou")
        assert chosen.metrics["chosen"] == [{"similarity": "box_iou", "threshold": value}]
        assert kf.default_threshold(dataset, "box_iou") == kf.default_threshold(dataset.limit(2), "box_iou") == value
        assert kf.default_threshold(dataset, "box_giou") is None
        assert kf.load_metrics(dataset, "run").metrics == chosen.metrics

    def test_another_than_the_calibrated_one(self, dataset: fo.Dataset) -> None:
        run_it(dataset)
        kf.choose_threshold(dataset, "run", "box_iou")
        run = kf.choose_threshold(dataset, "run", "box_iou", 0.4)
        assert run.metrics["chosen"] == [{"similarity": "box_iou", "threshold": 0.4}]
        assert kf.default_threshold(dataset, "box_iou") == 0.4
        with pytest.raises(InputError, match="threshold: expected a similarity from 0 to 1, got 4"):
            kf.choose_threshold(dataset, "run", "box_iou", 4)

    def test_the_last_choice_counts(self, dataset: fo.Dataset) -> None:
        run_it(dataset)
        run_it(dataset, "later")
        kf.choose_threshold(dataset, "run", "box_iou", 0.3)
        kf.choose_threshold(dataset, "later", "box_iou", 0.4)
        kf.choose_threshold(dataset, "later", "box_giou", 0.6)
        assert [kf.default_threshold(dataset, name) for name in ("box_iou", "box_giou")] == [0.4, 0.6]

    def test_of_two_people_at_once_each_is_kept(self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
        """The other chooses after this one has read the choices, and before it writes its own."""
        run_it(dataset)
        kf.choose_threshold(dataset, "run", "box_iou", 0.3)
        original = compute.store_choice

        def overtaken(*arguments: Any) -> None:
            monkeypatch.undo()
            kf.choose_threshold(dataset, "run", "box_giou", 0.6)
            original(*arguments)

        monkeypatch.setattr(compute, "store_choice", overtaken)
        run = kf.choose_threshold(dataset, "run", "box_iou", 0.4)
        assert [(entry["similarity"], entry["threshold"]) for entry in run.metrics["chosen"]] == [
            ("box_giou", 0.6),
            ("box_iou", 0.4),
        ]
        assert [kf.default_threshold(dataset, name) for name in ("box_iou", "box_giou")] == [0.4, 0.6]

    def test_moves_and_goes_with_its_run(self, dataset: fo.Dataset) -> None:
        store_raters(dataset, {name: name for name in THREE})
        before = dict(dataset.info)
        run_it(dataset)
        kf.choose_threshold(dataset, "run", "box_iou", 0.3)
        kf.rename_run(dataset, "run", "renamed")
        assert kf.default_threshold(dataset, "box_iou") == 0.3
        kf.delete_run(dataset, "renamed")
        assert kf.default_threshold(dataset, "box_iou") is None
        assert dataset.info == before

    def test_leaves_no_trace_where_nothing_else_is_known(self, dataset: fo.Dataset) -> None:
        run_it(dataset)
        kf.choose_threshold(dataset, "run", "box_iou", 0.3)
        kf.delete_run(dataset, "run")
        assert dataset.info == {}

    def test_of_a_run_deleted_behind_our_back(self, dataset: fo.Dataset) -> None:
        run_it(dataset)
        kf.choose_threshold(dataset, "run", "box_iou", 0.3)
        dataset.delete_run("run")
        assert kf.default_threshold(dataset, "box_iou") is None

    def test_only_what_was_calibrated(self, dataset: fo.Dataset) -> None:
        run_it(dataset)
        with pytest.raises(InputError, match="similarity: expected one of 'box_giou', 'box_iou', got 'pose'"):
            kf.choose_threshold(dataset, "run", "pose")
        kf.compute_agreement(dataset, "other", raters=THREE[:2])
        with pytest.raises(InputError, match="one of the calibration runs run, got 'other'"):
            kf.choose_threshold(dataset, "other", "box_iou")

    def test_without_a_threshold_the_reason_is_said(self, make: Make) -> None:
        """Everybody always annotates the same: no density can be estimated."""
        scene = {name: [("cat", CAT)] for name in THREE}
        dataset = make(make_samples([scene] * 3))
        run = run_it(dataset)
        reason = run.metrics["similarities"][0]["reason"]
        assert run.metrics["similarities"][0]["threshold"] is None
        assert reason
        with pytest.raises(InputError) as said:
            kf.choose_threshold(dataset, "run", "box_iou")
        assert str(said.value) == f"box_iou: expected a calibrated threshold, got none: {reason}"
        assert len(run.details.best.shares[0].curve) == 0
