"""Contours: thinned references, and a tolerance for the position of lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core.ranking.contours import highest_near
from tests.ranking.images import counted


@given(st.integers(0, 1000), st.sampled_from([0, 0.9, 1, 1.5, 2, 2.9, 4.5, 5]))
def test_reach_is_that_of_a_loop(seed, radius):
    levels = np.random.default_rng(seed).integers(-1, 9, (3, 7), dtype=np.int32)
    rows, columns = np.indices(levels.shape)
    expected = [[levels[np.hypot(rows - y, columns - x) <= radius].max() for x in range(7)] for y in range(3)]
    assert highest_near(levels, radius).tolist() == expected


def shifted(by, rows=1, **arguments):
    """Return a detector that marks a rater's line `by` pixels lower, at a diagonal of 50."""
    truth, scores = np.zeros((2, 30, 40))
    truth[10 : 10 + rows, 5:35] = scores[10 + by, 5:35] = 1
    return counted({"scores": {"edge": scores}, "masks": {"ann": truth}}, skew=(0.01, 0.1), levels=2, **arguments)


def test_a_line_within_reach_is_found_and_is_no_false_alarm():
    # tolerance .04 of the diagonal 50: two pixels
    for by in (0, 1, 2):
        result = shifted(by, tolerance=0.04)
        assert (result.tpr[0, 0, 0], result.fpr[0, 0, 0]) == (1, 0)
    beyond = shifted(3, tolerance=0.04)
    assert beyond.tpr[0, 0, 0] == 0
    # of 1,200 pixels those within two of a line of 30 are no negatives: 5 x 30, and 5 + 3 at both ends less the corners
    near = 5 * 30 + 2 * (3 + 1)
    assert beyond.fpr[0, 0, 0] == pytest.approx(30 / (1200 - near))
    assert shifted(1).tpr[0, 0, 0] == 0


def test_thinned_truths_are_what_is_found():
    assert shifted(1, rows=3, thin=False).tpr[0, 0, 0] == pytest.approx(1 / 3)
    assert shifted(1, rows=3, thin=True).tpr[0, 0, 0] > 0.9  # thinning bends the ends of lines
