"""Advice on similarity and threshold: replicates by hand, and differences in a plain loop."""

from __future__ import annotations

import numpy as np
import pytest

from kalos_core import calibrate
from kalos_core.calibration import Calibration, Separation, threshold_advice
from tests.calibration.test_calibrate import scene
from tests.expanded import expanded

NEAR, FAR = np.linspace(0.1, 0.3, 20), np.linspace(0.7, 1.0, 20)


def separation(name, ks, replicates=(), tau=0.6, interval=(0.55, 0.65)):
    return Separation(
        name,
        "all",
        NEAR,
        FAR,
        ks,
        0.3,
        tau,
        "",
        tau_interval=np.array(interval),
        ks_replicates=np.array(replicates),
        images=8,
    )


def test_a_similarity_better_in_every_replicate_is_recommended():
    """Differences .1, .2, .3 of 8 images, from .1 + .2 · .00574; the KS intervals, .5 to .9 and .6 to 1.2, overlap."""
    own, other = separation("box_iou", 0.7, [0.5, 0.7, 0.9]), separation("polygon_iou", 0.9, [0.6, 0.9, 1.2], tau=0.75)
    found = threshold_advice(Calibration([other, own]), "box_iou", 0.4)
    assert (found.better, found.difference) == ("polygon_iou", pytest.approx(0.2))
    assert found.difference_interval == pytest.approx([0.10115, 0.29885], abs=1e-5)
    assert found.settings == {"similarity": "polygon_iou", "threshold": 0.25}


def test_a_similarity_better_by_chance_is_not():
    """Differences -.1, .1 and .3."""
    own, other = separation("box_iou", 0.7, [0.7, 0.7, 0.7]), separation("polygon_iou", 0.8, [0.6, 0.8, 1.0])
    found = threshold_advice(Calibration([other, own]), "box_iou", 0.4)
    assert (found.better, found.fits, found.settings) == (None, True, None)
    assert "polygon_iou does not separate matches from chance significantly better" in found.text


def test_a_threshold_outside_of_its_interval_is_replaced():
    found = threshold_advice(Calibration([separation("box_iou", 0.7, [0.7])]), "box_iou", 0.5)
    assert (found.fits, found.settings) == (False, {"similarity": "box_iou", "threshold": 0.4})


def test_without_replicates_nothing_is_significant():
    found = threshold_advice(Calibration([separation("polygon_iou", 0.9), separation("box_iou", 0.6)]), "box_iou", 0.4)
    assert (found.better, "Without an interval it is unknown" in found.text) == (None, True)
    assert np.isnan(found.difference_interval).all()


def test_replicates_of_a_calibration_are_those_of_its_intervals():
    measures = ["box_iou", "box_giou"]
    together = calibrate(scene(), measures, bootstrap=30, seed=2)
    for name in measures:
        alone = calibrate(scene(), name, bootstrap=30, seed=2).best
        np.testing.assert_array_equal(together[name].ks_replicates, alone.ks_replicates)
        assert together[name].ks_interval == pytest.approx(expanded(alone.ks_replicates, 12))
    found = threshold_advice(together, together.names[1], 0.5)
    differences = together[together.names[0]].ks_replicates - together[together.names[1]].ks_replicates
    assert together.best.trusted
    assert found.difference_interval == pytest.approx(expanded(differences, 12))
