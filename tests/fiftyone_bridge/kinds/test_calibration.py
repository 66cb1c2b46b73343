"""Runs of calibration: numbers of the library, and a selected threshold that becomes the default."""

import json
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from scipy.stats import gaussian_kde

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosWarning, calibrate
from kalos_core.calibration import DISTANCE_EDGES, GRID
from kalos_core.fiftyone.dataset.opened import fitting_similarities
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.kinds.calibration import compute
from kalos_core.fiftyone.kinds.calibration.kind import default_threshold
from kalos_core.fiftyone.runs.table import Run
from kalos_core.results import plain_values
from tests.fiftyone_bridge.scenes import CAT, THREE, crowded, make_samples, untouched

BOTH = ["box_iou", "box_giou"]


def run_it(dataset: fo.Dataset, key: str = "run", **options: Any) -> Run:
    return kf.calibrate_threshold(dataset, key, **{"raters": THREE, "similarities": BOTH, **options})


@pytest.fixture(scope="module")
def calibrated(make_once):
    """Return a data set with a run, for tests that only read."""
    dataset = make_once(make_samples(crowded(8)))
    return dataset, run_it(dataset, repeats=2, bootstrap=10, seed=3)


@pytest.fixture
def dataset(calibrated):
    """Return a copy for tests that choose thresholds."""
    return calibrated[0].clone()


def test_it_holds_what_the_library_computes(calibrated):
    dataset, run = calibrated
    annotations = kf.read_annotations(dataset, raters=THREE)
    settings = {"similarities": BOTH, "repeats": 2, "bootstrap": 10, "seed": 3, "coordinates": "relative"}
    expected = calibrate(annotations, **settings)
    intervals = ("ks_interval", "tau_interval", "threshold_interval")
    for entry, found in zip(run.metrics["similarities"], expected, strict=True):
        for name in ("name", "ks", "tau", "threshold", *intervals, "reason", "trusted", "why", "coordinates"):
            assert entry[name] == plain_values(getattr(found, name)), name
    assert (run.metrics["images"], run.metrics["annotations"]) == (len(dataset), len(annotations))
    assert run.settings == settings


def test_it_holds_what_is_plotted(calibrated):
    dataset, run = calibrated
    stored = kf.load_details(dataset, "run").details
    assert plain_values(stored) == plain_values(run.details) == json.loads(json.dumps(plain_values(run.details)))
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


def test_it_compares_in_pixels_if_told_so_or_where_a_size_is_unknown(make):
    """Images of two sizes: boxes of equal pixels differ relative to their images."""
    samples = make_samples(crowded(8))
    for sample in samples[::2]:
        sample.metadata.width *= 2
    dataset = make(samples)
    annotations = kf.read_annotations(dataset, raters=THREE)
    for coordinates in ("relative", "pixels"):
        run = run_it(dataset, coordinates, coordinates=coordinates, similarities=["box_iou"])
        expected = calibrate(annotations, ["box_iou"], coordinates=coordinates)
        assert run.metrics["similarities"][0]["coordinates"] == coordinates
        for found in (run.result, kf.load_run(dataset, coordinates).result):
            np.testing.assert_array_equal(found["box_iou"].expected, expected["box_iou"].expected)
    first = dataset.first()
    first.metadata = None
    first.save()
    with pytest.warns(KalosWarning, match="coordinates: the sizes of 1 of 12 images are unknown"):
        run = run_it(dataset, similarities=["box_iou"])
    assert run.metrics["similarities"][0]["coordinates"] == "pixels"


def test_by_default_all_similarities_that_fit(dataset):
    similarities = set(run_it(dataset, "all", similarities=None).settings["similarities"])
    assert {"box_iou", "box_giou", "centroid_box"} <= similarities
    assert similarities <= set(fitting_similarities(dataset, kf.Selection(raters=THREE)))


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        (12, {"similarities": ["polygon_iou"]}, "polygon_iou compares shapes of kind 'polygon'"),
        (12, {"raters": ("ann",)}, "two raters"),
        (1, {}, "expected"),
    ],
)
def test_bad_input_leaves_nothing(calibrated, images, options, message):
    with untouched(calibrated[0]), pytest.raises(InputError, match=message):
        run_it(calibrated[0].limit(images), "other", **options)


@pytest.mark.filterwarnings("ignore:box_:kalos_core.errors.KalosWarning")
class TestChosenThreshold:
    def test_is_the_default_of_its_similarity(self, dataset):
        assert default_threshold(dataset, "box_iou") is None
        with pytest.warns(KalosWarning, match=r"box_iou: the calibrated threshold .* is not to be trusted: observed"):
            chosen = kf.choose_threshold(dataset, "run", "box_iou")
        value = next(entry["threshold"] for entry in chosen.metrics["similarities"] if entry["name"] == "box_iou")
        assert chosen.metrics["chosen"]["box_iou"]["threshold"] == value
        assert default_threshold(dataset, "box_iou") == default_threshold(dataset.limit(2), "box_iou") == value
        assert default_threshold(dataset, "box_giou") is None
        assert kf.load_metrics(dataset, "run").metrics == chosen.metrics

    def test_the_last_choice_counts_and_goes_with_its_run(self, dataset):
        store_raters(dataset, {name: name for name in THREE})
        before = dict(dataset.info)
        run_it(dataset, "later")
        for choice in (("run", "box_iou", 0.3), ("later", "box_iou", 0.4), ("later", "box_giou", 0.6)):
            kf.choose_threshold(dataset, *choice)
        kf.rename_run(dataset, "later", "renamed")
        assert [default_threshold(dataset, name) for name in BOTH] == [0.4, 0.6]
        kf.delete_run(dataset, "renamed")
        assert [default_threshold(dataset, name) for name in BOTH] == [0.3, None]
        kf.delete_run(dataset, "run")
        assert dataset.info == before

    def test_of_two_people_at_once_each_is_kept(self, dataset, meanwhile):
        """Another user chooses between reading and writing of the choices."""
        kf.choose_threshold(dataset, "run", "box_iou", 0.3)
        meanwhile(compute, "set_config", before=lambda: kf.choose_threshold(dataset, "run", "box_giou", 0.6))
        run = kf.choose_threshold(dataset, "run", "box_iou", 0.4)
        chosen = {similarity: entry["threshold"] for similarity, entry in run.metrics["chosen"].items()}
        assert chosen == {"box_giou": 0.6, "box_iou": 0.4}
        assert [default_threshold(dataset, name) for name in BOTH] == [0.4, 0.6]

    def test_invalid_input_is_refused(self, dataset):
        kf.compute_agreement(dataset, "other", raters=THREE[:2], bootstrap=0, thresholds=())
        for arguments, message in (
            (("run", "pose"), "similarity: expected one of 'box_giou', 'box_iou', got 'pose'"),
            (("run", "box_iou", 4), "threshold: expected a number from 0 to 1, got 4"),
            (("other", "box_iou"), "one of the calibration runs run, got 'other'"),
        ):
            with pytest.raises(InputError, match=message):
                kf.choose_threshold(dataset, *arguments)

    def test_without_a_threshold_the_reason_is_given(self, make):
        """All raters always annotated the same: no density can be estimated."""
        dataset = make(make_samples([{name: [("cat", CAT)] for name in THREE}] * 3))
        run = run_it(dataset)
        entry = run.metrics["similarities"][0]
        assert (entry["threshold"], bool(entry["reason"])) == (None, True)
        with pytest.raises(InputError, match="box_iou: expected a calibrated threshold, got none"):
            kf.choose_threshold(dataset, "run", "box_iou")
