"""KS, densities and tau* vs. scipy, the peer and hand-worked cases; resamples vs. repeated values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gaussian_kde, ks_2samp

from kalos_core.calibration.density import (
    GRID,
    Sample,
    crossings,
    densities,
    has_density,
    kolmogorov_smirnov,
    once_each,
)
from tests.tiers import first

STEP = GRID[1]


def sample(*values):
    """Return a sample of one image."""
    return Sample(np.array(values, dtype=float), np.zeros(len(values), np.intp))


def draw(rng):
    """Draw realistic distances: narrow or wide clusters, spikes at an end, rounded values; 20 to 4,000 of them."""
    size, parts = int(10 ** rng.uniform(1.3, 3.3)), []
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(4)
        if kind == 0:
            parts.append(rng.beta(*rng.uniform(0.3, 20, 2), size))
        elif kind == 1:
            parts.append(np.full(size // rng.integers(1, 20) + 1, rng.integers(2), dtype=float))
        elif kind == 2:
            parts.append(np.clip(rng.normal(rng.random(), 10 ** rng.uniform(-3, -0.5), size), 0, 1))
        else:
            parts.append(np.round(rng.random(size), rng.integers(1, 4)))
    return np.concatenate(parts)


@pytest.mark.parametrize("beside", [-1e-3, 1 + 1e-3])
def test_a_value_outside_the_range_counts_at_its_end(beside):
    """Rounding may cause such values; a bin outside of the table would be foreign memory."""
    end = float(beside > 0)
    found, expected = (densities(sample(0.4, 0.6, value), once_each(1))[0] for value in (beside, end))
    np.testing.assert_allclose(found, expected, rtol=0.02)


def plain_tau(observed, expected):
    """Apply the definition to scipy's densities; also return whether the mode of the observed ones is clear."""
    f, g = gaussian_kde(observed)(GRID), gaussian_kde(expected)(GRID)
    modes = np.flatnonzero(f >= f.max() * (1 - 1e-4))
    clear = modes[-1] - modes[0] <= 2 * len(modes)
    mode, other = f.argmax(), g.argmax()
    for place in range(mode + 1, len(GRID) - 1):
        if np.sign(f[place] - g[place]) != np.sign(f[place + 1] - g[place + 1]):
            return GRID[place], clear
    low, high = sorted((mode, other))
    return (np.nan if low == high else GRID[low + (f + g)[low : high + 1].argmin()]), clear


# ---- KS ----


def test_ks_by_hand():
    #  distance   .1   .2   .3   .4   .5        largest excess of the observed: 2/3 - 0 at .2
    #  observed    x    x              x
    #  expected              x    x
    ks, at = kolmogorov_smirnov(sample(0.5, 0.1, 0.2), sample(0.4, 0.3), once_each(1))
    assert (ks[0], at[0]) == (2 / 3, 0.2)


@given(*(st.lists(st.integers(0, 10), min_size=1, max_size=30),) * 2)
def test_ks_equals_scipys(observed, expected):
    observed, expected = np.array(observed) / 10, np.array(expected) / 10
    theirs = ks_2samp(observed, expected, alternative="greater", method="asymp").statistic
    ks, at = kolmogorov_smirnov(sample(*observed), sample(*expected), once_each(1))
    assert ks[0] == pytest.approx(theirs, abs=1e-12)
    assert (observed <= at[0]).mean() - (expected <= at[0]).mean() == pytest.approx(ks[0], abs=1e-12)


def test_without_distances_there_is_no_ks():
    for observed, expected in (((), (0.5,)), ((0.5,), ()), ((), ())):
        assert np.isnan(kolmogorov_smirnov(sample(*observed), sample(*expected), once_each(1))).all()


# ---- densities ----


@pytest.mark.parametrize("seed", first(range(40), 12))
def test_densities_equal_scipys(seed):
    values = draw(np.random.default_rng(seed))
    if not has_density(values):
        assert np.ptp(values) == 0
        return
    ours, theirs = densities(sample(*values), once_each(1))[0], gaussian_kde(values)(GRID)
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3 * theirs.max())


def test_a_density_is_right_far_out_in_its_tail():
    # where a Fourier transform has no information: 1e-16 of the peak is rounding
    values = np.random.default_rng(0).normal(0.2, 0.02, 2000)
    ours, theirs = densities(sample(*values), once_each(1))[0], gaussian_kde(values)(GRID)
    far = (theirs > 1e-250) & (theirs < 1e-20)
    assert far.sum() > 50
    np.testing.assert_allclose(np.log(ours[far]), np.log(theirs[far]), rtol=0.01)


@pytest.mark.parametrize("values", [(), (0.5,), (1.0,) * 9, (0.3,) * 1000])
def test_without_two_different_values_there_is_no_density(values):
    assert not has_density(np.array(values))
    assert np.isnan(densities(sample(*values), once_each(1))).all()


# ---- tau* ----


@pytest.mark.parametrize("seed", first(range(60), 20))
def test_tau_is_within_a_step_of_the_definition_on_scipys_densities(seed):
    rng = np.random.default_rng(seed)
    observed, expected = draw(rng), draw(rng)
    if not has_density(observed) or not has_density(expected):
        return
    tau, clear = plain_tau(observed, expected)
    if clear:
        ours = crossings(sample(*observed), sample(*expected), once_each(1))[0]
        np.testing.assert_allclose(ours, tau, atol=1.01 * STEP)


@pytest.mark.parametrize("seed", range(6))
def test_tau_and_ks_equal_the_peers(peer_package, seed):
    peer_package("kalos")
    from kalos.iaa.principled_configuration import calculate_ks_statistic, find_bayesian_boundary

    rng = np.random.default_rng(seed)
    observed = np.concatenate([rng.beta(1, 8, 800), np.ones(rng.integers(0, 100))])
    expected = np.concatenate([rng.beta(6, 2, 300), np.ones(rng.integers(100, 600))])
    ours = sample(*observed), sample(*expected), once_each(1)
    assert abs(crossings(*ours)[0] - find_bayesian_boundary(observed, expected)) <= 1.01 * STEP
    assert kolmogorov_smirnov(*ours)[0][0] == calculate_ks_statistic(observed, expected)


def test_tau_by_hand():
    near = 0.3 + 0.2 * (np.arange(200) / 199 - 0.5)
    observed, expected = sample(*near), sample(*(1 - near))
    assert crossings(observed, expected, once_each(1))[0] == pytest.approx(0.5, abs=STEP)  # half way
    # if observed distances are larger, nothing is separated, and without a crossing it is the valley
    assert kolmogorov_smirnov(expected, observed, once_each(1))[0].tolist() == [0]
    assert crossings(expected, observed, once_each(1))[0] == pytest.approx(0.5, abs=2 * STEP)
    assert np.isnan(crossings(observed, observed, once_each(1))[0])


# ---- resamples ----


@given(seed=st.integers(0, 10_000))
def test_a_resample_is_its_images_repeated(seed):
    rng = np.random.default_rng(seed)
    images = int(rng.integers(2, 8))

    def made(a, b):
        size = int(rng.integers(5, 60))
        return Sample(np.round(rng.beta(a, b, size), 2), rng.integers(0, images, size))

    observed, expected = made(1, 5), made(5, 1)
    times = rng.integers(0, 4, (3, images)).astype(float)
    ks, at = kolmogorov_smirnov(observed, expected, times)
    tau = crossings(observed, expected, times)
    for row, drawn in enumerate(times.astype(int)):
        repeated = [
            Sample(np.repeat(one.value, drawn[one.image]), np.zeros(drawn[one.image].sum(), np.intp))
            for one in (observed, expected)
        ]
        alone, alone_at = kolmogorov_smirnov(*repeated, once_each(1))
        np.testing.assert_allclose(ks[row], alone[0], atol=1e-12)
        alone_tau = crossings(*repeated, once_each(1))[0]
        np.testing.assert_allclose(tau[row], alone_tau, atol=1.01 * STEP)
        assert np.isnan(at[row]) == np.isnan(alone_at[0])
