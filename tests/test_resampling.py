"""Means, whole alphas and intervals of many statistics at once, against plain loops."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import NO_OBJECT, NOT_ASSIGNED, resampling
from kalos_core.reliability import coincidences
from kalos_core.resampling import Cells, WeightedSums, estimate, intervals, join_cells, resample
from tests.diagnostics.naive import alpha_of, mean
from tests.tiers import pairwise

STATISTICS, IMAGES = 3, 4


@st.composite
def units_of_cells(draw):
    """Values (R = 3) of units, the statistic and image of each, and the cells of all wanted statistics and images."""
    wanted = draw(
        st.lists(st.tuples(st.integers(0, STATISTICS - 1), st.integers(0, IMAGES - 1)), unique=True, max_size=8)
    )
    value = st.sampled_from([NOT_ASSIGNED, NO_OBJECT, 0, 1, 2])
    unit = st.tuples(st.integers(0, max(len(wanted) - 1, 0)), st.tuples(value, value, value))
    units = draw(st.lists(unit, max_size=12)) if wanted else []
    cell = np.array([at for at, _ in units], np.intp)
    values = np.array([given for _, given in units], np.int32).reshape(-1, 3)
    statistic, image = (np.array([key[side] for key in wanted], np.intp) for side in (0, 1))
    return values, cell, Cells.of(statistic, image, coincidences(values, cell, len(wanted)))


def as_floats(values):
    return np.where(values == NOT_ASSIGNED, np.nan, values.astype(float))


@given(units_of_cells())
def test_mean_and_whole_of_each_statistic(drawn):
    values, cell, cells = drawn
    for statistic in range(STATISTICS):
        own = np.flatnonzero(cells.statistic == statistic)
        of_images = [alpha_of(as_floats(values[cell == at])) for at in own]
        np.testing.assert_allclose(cells.value[own], of_images, atol=1e-12)
        np.testing.assert_allclose(cells.mean(STATISTICS)[statistic], mean(of_images), atol=1e-12)
        whole = alpha_of(as_floats(values[np.isin(cell, own)]))
        np.testing.assert_allclose(cells.whole(STATISTICS)[statistic], whole, atol=1e-12)
        assert cells.count(STATISTICS)[statistic] == np.isfinite(of_images).sum()


@given(units_of_cells(), st.integers(0, 9), st.sampled_from([1, 7, 100, 101]))
def test_the_replicates_are_those_of_a_plain_loop(drawn, seed, replicates):
    values, cell, cells = drawn
    made = resample(cells, STATISTICS, replicates, seed)
    pool = np.unique(cells.image[np.isfinite(cells.value)])
    if not len(pool):
        assert made.mean.shape == made.whole.shape == (0, STATISTICS)
        return
    rng = np.random.default_rng(seed)
    for replicate in range(replicates):
        images = pool[rng.integers(0, len(pool), len(pool))]
        for statistic in range(STATISTICS):
            own = [
                at for image in images for at in np.flatnonzero((cells.statistic == statistic) & (cells.image == image))
            ]
            np.testing.assert_allclose(made.mean[replicate, statistic], mean(cells.value[own]), atol=1e-12)
            units = [row for at in own for row in as_floats(values[cell == at])]
            np.testing.assert_allclose(made.whole[replicate, statistic], alpha_of(units), atol=1e-9)


@given(st.lists(st.lists(st.floats(-1, 1) | st.just(np.nan), min_size=2, max_size=2), max_size=9))
def test_intervals_are_percentiles_of_what_is_defined(rows):
    replicates = np.array(rows, dtype=float).reshape(-1, 2)
    for column, interval in zip(replicates.T, intervals(replicates), strict=True):
        known = column[np.isfinite(column)]
        expected = np.percentile(known, [2.5, 97.5]) if len(known) else [np.nan, np.nan]
        np.testing.assert_allclose(interval, expected, atol=1e-12)


def test_a_worked_interval():
    # two images, alpha 1 and 0: the mean of two draws is 0, .5 or 1, and 1,000 replicates hold many of each
    sums = coincidences(np.array([[0, 0], [0, NO_OBJECT]]), np.array([0, 1]), 2)
    made = estimate(Cells.of(np.array([0, 0]), np.array([0, 1]), sums), 1, 1000, 0)
    assert made.alpha.tolist() == [0.5]
    assert made.alpha_interval.tolist() == [[0, 1]]
    assert made.images.tolist() == [2]


def test_no_bootstrap_has_no_interval():
    sums = coincidences(np.array([[0, 0]]), np.array([0]), 1)
    made = estimate(Cells.of(np.array([0]), np.array([0]), sums), 2, 0, 0)
    assert np.isnan(made.alpha_interval).all()
    assert made.alpha_interval.shape == made.global_alpha_interval.shape == (2, 2)
    np.testing.assert_array_equal(made.alpha, [1, np.nan])


@given(units_of_cells(), st.integers(0, 99))
def test_parts_joined_again_are_the_whole(drawn, seed):
    _, _, cells = drawn
    order = np.random.default_rng(seed).permutation(len(cells))
    cut = seed % (len(cells) + 1)
    again = join_cells([cells.take(order[:cut]), cells.take(order[cut:])])
    np.testing.assert_array_equal(again.value, cells.value[order])
    np.testing.assert_allclose(again.whole(STATISTICS), cells.whole(STATISTICS), atol=1e-12)
    np.testing.assert_allclose(again.mean(STATISTICS), cells.mean(STATISTICS), atol=1e-12)


WAYS = pairwise(
    [0, 1 << 30], [0, resampling.EXACT], [2, 40], [1, resampling.LINES_AT_ONCE], [1, resampling.KEPT], [1, 1 << 24]
)


@pytest.mark.parametrize(("dense", "exact", "distinct", "lines", "kept", "sums"), WAYS)
def test_every_way_to_multiply_is_a_plain_loop(monkeypatch, dense, exact, distinct, lines, kept, sums):
    """Few distinct images (alike ones are counted together) and many, as full tables and sparse, in both precisions.

    Lines and sums some at a time and all at once; draws that are kept, and one replicate at a time.
    """
    values = {"DENSE": dense, "EXACT": exact, "LINES_AT_ONCE": lines, "KEPT": kept, "SUMS_AT_ONCE": sums}
    for name, value in values.items():
        monkeypatch.setattr(resampling, name, value)
    rng = np.random.default_rng(0)
    pool = rng.integers(-1, 4, (distinct, 5, 3)).astype(np.int32)
    values = pool[rng.integers(0, distinct, 40)]  # (images, units, raters)
    pairs = ([0, 1], [0, 2])
    cells = join_cells([one_statistic(values[:, :, pair], number) for number, pair in enumerate(pairs)])
    found = resample(cells, 2, replicates=6, seed=3)
    draws = values.astype(float)[np.random.default_rng(3).integers(0, 40, (6, 40))]
    means = [[np.mean([alpha_of(units[:, pair]) for units in drawn]) for pair in pairs] for drawn in draws]
    wholes = [[alpha_of(drawn[:, :, pair].reshape(-1, 2)) for pair in pairs] for drawn in draws]
    np.testing.assert_allclose(found.mean, means, atol=1e-12)
    np.testing.assert_allclose(found.whole, wholes, atol=1e-12)


def test_sums_beyond_single_precision_are_exact():
    # by hand: 99 (2^18 + 1) is odd and above 2^24, which single precision does not hold; that of two lines it does
    with mock.patch.object(resampling, "LINES_AT_ONCE", 2):
        sums = WeightedSums([(np.zeros(99, int), np.arange(99), np.full(99, 262_145))], columns=1, lines=99)
    assert sums.sums(np.ones((99, 1))).tolist() == [[25_952_355]]


def one_statistic(values, number):
    images = np.arange(len(values))
    sums = coincidences(values.reshape(-1, values.shape[2]), np.repeat(images, values.shape[1]), len(images))
    return Cells.of(np.full(len(images), number), images, sums)
