"""Means, whole alphas and intervals of many statistics at once, vs. plain loops."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from kalos_core import NO_OBJECT, NOT_ASSIGNED, resampling
from kalos_core.inference import clear_of_chance, detectable, intervals, intervals_below_one, median_interval
from kalos_core.reliability import coincidences
from kalos_core.resampling import Cells, WeightedSums, estimate, join_cells, resample
from tests.diagnostics.naive import alpha_of, mean
from tests.expanded import expanded
from tests.tiers import pairwise

STATISTICS, IMAGES = 3, 4


@st.composite
def units_of_cells(draw):
    """Draw values (R = 3) of units, their statistic and image, and cells of all wanted statistics and images."""
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


counts = st.sampled_from([0, 1, 7, 8, 9, 30, 10**6])


@given(
    st.lists(st.lists(st.integers(-9, 9) | st.just(np.nan), min_size=2, max_size=2), max_size=9),
    st.tuples(counts, counts),
)
def test_intervals_are_percentiles_of_what_is_defined(rows, images):
    replicates = np.array(rows, dtype=float).reshape(-1, 2)
    for column, interval, of in zip(replicates.T, intervals(replicates, np.array(images)), images, strict=True):
        np.testing.assert_allclose(interval, expanded(column, of), atol=1e-12)


def test_a_worked_interval():
    # eight images, alpha 1 and 0 of four each: of k of 1 among eight draws k = 0 is .0039 and k <= 1 is .0352; .0057 of
    # 10,000 replicates lie below the interval. Statistic 1 has seven of the images.
    sums = coincidences(np.array([[0, 0], [0, NO_OBJECT]] * 4 + [[0, 0]] * 7), np.arange(15), 15)
    cells = Cells.of(np.repeat([0, 1], [8, 7]), np.array([*range(8), *range(7)]), sums)
    made = estimate(cells, 2, 10_000, 0)
    assert made.alpha.tolist() == [0.5, 1]
    np.testing.assert_array_equal(made.alpha_interval, [[1 / 8, 7 / 8], [np.nan, np.nan]])
    assert made.images.tolist() == [8, 7]


def test_levels_of_intervals_by_hand():
    # of 8 images t(.025, 7) = 2.3646, times sqrt(8 / 7) 2.5279, below which .00574 of a normal law lie; of 21 images
    # 2.0860 and 2.1375, .01628; of many .025; of 1,001 replicates 0 to 1,000 that share is a place
    replicates = np.arange(1001.0)[::-1, None]
    for images, low in ((8, 5.74), (21, 16.28), (10**9, 25.0)):
        assert intervals(replicates, images)[0] == pytest.approx([low, 1000 - low], abs=0.005)
    assert np.isnan(intervals(replicates, 7)).all()
    assert np.isnan(intervals(np.ones((5, 1)), 99)).all()


def test_intervals_below_one_by_hand():
    # log(1 - x) is -1 -+ .5 in the replicates, as often as not: deviation .5 sqrt(9 / 8), t(.025, 8) = 2.3060, so
    # 1 - x is e^-1 times or over e^(1.2229); what is 1 or undefined among replicates says nothing
    drawn = np.array([-1.5, -0.5, -1.5, -0.5])
    drawn = np.append(1 - np.exp(drawn), [1, np.nan])[:, None].repeat(4, axis=1)
    drawn[:, 3] = np.nan  # no replicate is defined
    value = np.array([1 - np.exp(-1), 1 - np.exp(-1), 1, np.nan])
    found = intervals_below_one(value, drawn, np.array([9, 7, 9, 9]))
    assert found[0] == pytest.approx([1 - np.exp(-1 + 1.2229), 1 - np.exp(-1 - 1.2229)], abs=1e-4)
    assert np.isnan(found[1:]).all()
    assert np.isnan(intervals_below_one(value, drawn[:0], 9)).all()


def test_of_a_table_no_more_than_chance_is_clear():
    """Compare with p-values by SciPy's t, and the step-up of Benjamini and Hochberg by hand."""
    rng = np.random.default_rng(0)
    difference, images = rng.normal(0.1, 0.06, 40), rng.integers(8, 60, 40)
    half = rng.uniform(0.05, 0.15, 40)
    ends = np.stack([difference - half, difference + half], axis=1)
    ends[3] = np.nan
    p = 2 * stats.t.sf(np.abs(difference) * stats.t.ppf(0.975, images - 1) / half, images - 1)
    known = sorted(p[np.isfinite(ends[:, 0])])
    most = max(level for rank, level in enumerate(known, 1) if level <= 0.05 * rank / len(known))
    found = clear_of_chance(difference, ends, images)
    assert found.tolist() == ((p <= most) & np.isfinite(ends[:, 0])).tolist()
    assert 0 < found.sum() < (np.abs(difference) > half).sum()  # some intervals without 0 are due to chance


def test_detectable_differences_by_hand():
    # of 21 images .2086 wide to either side is t(.025, 20) = 2.0860 of .1; found in four of five: .8600 more, .2946;
    # of 84 images half as far, by t(83) = 1.9890 and .8466
    ends, images = np.array([[-0.2086, 0.2086], [np.nan, np.nan]]), np.array([21, 21])
    assert detectable(ends, images, images) == pytest.approx([0.2946, np.nan], abs=1e-4, nan_ok=True)
    assert detectable(ends, images, 84)[0] == pytest.approx(0.05 * (1.9890 + 0.8466), abs=1e-4)


@pytest.mark.parametrize("count", range(5, 60))
def test_the_interval_of_a_median_lies_between_order_statistics(count):
    """The k-th from either end contains the median unless fewer than k values are on that side of it (binomial)."""
    values = np.random.default_rng(count).permutation(np.arange(1.0, count + 1))
    found = median_interval(np.append(values, np.nan))
    if count < 8:
        assert np.isnan(found).all()
        return
    k = max(k for k in range(1, count) if 2 * stats.binom.cdf(k - 1, count, 0.5) <= 0.05)
    assert k < found[0] < k + 1
    assert found.sum() == pytest.approx(count + 1)


def test_the_interval_of_a_median_by_hand():
    # of 15 values the 4th and the 12th leave out 2 x 576 / 2^15 = .0352, the 5th and the 11th 2 x 1,941 / 2^15 = .1185:
    # .178 of the way from one to the other is .05, and the ends lie 11 x .178 / (4 + 7 x .178) = .3735 of it further in
    values = np.arange(1.0, 16)
    assert median_interval(values) == pytest.approx([4.3735, 11.6265], abs=1e-4)
    # of ten .95 lies between the 2nd (.9785) and the 3rd (.8906)
    inwards = (0.97852 - 0.95) / (0.97852 - 0.89063)
    assert median_interval(values[:10])[0] == pytest.approx(2 + 8 * inwards / (2 + 6 * inwards), abs=1e-4)


def test_an_interval_of_a_median_holds_it_as_often_as_it_says():
    drawn = np.random.default_rng(0).exponential(size=(4000, 15))
    held = [low <= np.log(2) <= high for low, high in map(median_interval, drawn)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.012)


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
    """Test few distinct images (equal ones are counted together) and many, dense and sparse, in both precisions.

    Also rows and sums in blocks and at once; cached draws, and one replicate at a time.
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
    # by hand: 99 (2^18 + 1) is odd and above 2^24, so single precision cannot represent it; that of two rows it can
    with mock.patch.object(resampling, "LINES_AT_ONCE", 2):
        sums = WeightedSums([(np.zeros(99, int), np.arange(99), np.full(99, 262_145))], columns=1, lines=99)
    assert sums.sums(np.ones((99, 1))).tolist() == [[25_952_355]]


def one_statistic(values, number):
    images = np.arange(len(values))
    sums = coincidences(values.reshape(-1, values.shape[2]), np.repeat(images, values.shape[1]), len(images))
    return Cells.of(np.full(len(images), number), images, sums)
