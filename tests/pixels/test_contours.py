"""Contours: distances by hand and in a loop; properties of thinning."""

import numpy as np
import pytest
from scipy import ndimage

from kalos_core.pixels import match_contours, near, thinned, tolerance_in_pixels


def test_near_is_a_loop_over_all_pairs_of_pixels():
    rng = np.random.default_rng(0)
    mask = rng.random((7, 8)) < 0.1
    on = np.argwhere(mask)
    for distance in (0, 1, 1.5, 2.3):
        expected = [[min(np.hypot(*(on - [y, x]).T)) <= distance for x in range(8)] for y in range(7)]
        assert near(mask, distance).tolist() == expected
    assert not near(np.zeros((3, 3), bool), 9).any()


def test_a_truth_is_thinned_to_one_pixel_and_keeps_its_parts():
    mask = np.zeros((20, 30), bool)
    mask[4:7, 2:28] = mask[14:17, 2:12] = True
    line = thinned(mask)
    assert line.sum(axis=0).max() == 2
    assert (line <= mask).all()
    parts = np.ones((3, 3))
    assert ndimage.label(line, parts)[1] == ndimage.label(mask, parts)[1] == 2


def test_tolerance():
    truth, marked = np.zeros((60, 80), bool), np.zeros((60, 80), bool)  # diagonal 100
    truth[10, :40] = True
    marked[12, :40] = marked[50, :10] = True
    assert tolerance_in_pixels((60, 80), 0.02) == 2
    assert match_contours(marked, truth, 0.019).f1 == 0
    found = match_contours(marked, truth, 0.02)
    assert (found.precision, found.recall) == (0.8, 1.0)
    assert found.f1 == pytest.approx(2 * 0.8 / 1.8)


def test_nothing_to_compare_is_none():
    empty, full = np.zeros((2, 2), bool), np.ones((2, 2), bool)
    assert (match_contours(empty, full).precision, match_contours(empty, full).recall) == (None, 0)
    assert match_contours(empty, empty).f1 is None
