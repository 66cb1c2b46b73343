"""Directions: mixtures are recovered, one distribution equals scipy's, and tests of uniformity are calibrated."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from kalos_core.noise.fit import angles as fits
from kalos_core.noise.parameters import CARDINAL


def cardinal(rows=4000, weights=(0.4, 0.3, 0.2, 0.1), kappas=(8.0, 4.0, 12.0, 6.0)):
    rng = np.random.default_rng(0)
    distribution = rng.choice(4, rows, p=weights)
    return np.array(CARDINAL)[distribution] + rng.vonmises(0, np.array(kappas)[distribution])


def test_em_ends_where_a_search_ends():
    angles = cardinal(500)

    def misfit(free):
        weights, kappas = special.softmax(np.append(free[:3], 0)), np.exp(free[3:])
        parts = zip(weights, kappas, CARDINAL, strict=True)
        return -np.log(sum(w * stats.vonmises.pdf(angles - centre, k) for w, k, centre in parts)).sum()

    best = optimize.minimize(misfit, [1, 1, 0.5, 2, 2, 2, 2])
    found = fits.fit_mixture(angles, np.array(CARDINAL), "axis-centred")
    assert found.log_likelihood == pytest.approx(-best.fun, abs=0.01)
    assert found.aic == pytest.approx(14 + 2 * best.fun, abs=0.02)


def test_one_distribution_is_that_of_scipy():
    angles = np.random.default_rng(3).vonmises(1.0, 2.0, 1000)
    kappa, centre, _ = stats.vonmises.fit(angles, fscale=1)
    found = fits.fit_one(angles, folds=1)
    assert found.centres[0] == pytest.approx(centre, abs=1e-6)
    assert found.kappas[0] == pytest.approx(kappa, rel=1e-4)
    assert found.log_likelihood == pytest.approx(stats.vonmises.logpdf(angles, kappa, centre).sum())


def test_rayleigh_and_kuiper_by_hand():
    found = fits.rayleigh(np.array([0.0, 0.0, np.pi / 2, np.pi / 2]))  # sum (2, 2), length sqrt 8
    assert found.statistic == pytest.approx(np.sqrt(8) / 4)
    assert found.p_value == pytest.approx(np.exp(np.sqrt(1 + 16 + 4 * (16 - 8)) - 9))
    # a quarter of the circle each, all at the start of its quarter: D+ = 1/4, D- = 0
    assert fits.kuiper(np.array(CARDINAL)).statistic == pytest.approx(0.25)
    assert fits.kuiper(np.array([0.0, 0.0, 0.0, np.pi])).statistic == pytest.approx(0.75)  # D+ = 3/4 at 0, D- = 0


@pytest.mark.parametrize(("scaled", "p_value"), [(1.620, 0.10), (1.747, 0.05), (1.862, 0.025), (2.001, 0.01)])
def test_kuiper_has_the_critical_values_of_stephens(scaled, p_value):
    count = 100
    wanted = scaled / (np.sqrt(count) + 0.155 + 0.24 / np.sqrt(count))
    share = np.arange(count) / count * (1 - wanted + 1 / count)  # compressed by the required amount
    found = fits.kuiper(2 * np.pi * share)
    assert found.statistic == pytest.approx(wanted, abs=0.002)
    assert found.p_value == pytest.approx(p_value, rel=0.15)


def test_the_concentration_is_the_inverse_of_the_length_of_the_mean():
    for kappa in (0.1, 1.0, 10.0, 100.0):
        assert fits.concentration(float(special.i1e(kappa) / special.i0e(kappa))) == pytest.approx(kappa)
    assert [fits.concentration(length) for length in (-0.1, 0.0, 1.0)] == [0, 0, fits.MOST_KAPPA]


def axial(rows):
    rng = np.random.default_rng(0)
    return 0.5 + rng.vonmises(0, 1.5, rows) / 2 + np.pi * rng.integers(0, 2, rows)


@pytest.mark.parametrize(
    ("angles", "best"),
    [
        (cardinal(1000), "axis-centred"),
        (cardinal(1000) + np.pi / 4, "quadrants"),
        (axial(1000), "axial"),
        (np.random.default_rng(5).vonmises(0.7, 1.0, 1000), "unimodal"),
    ],
)
def test_aic_finds_the_distribution_the_angles_are_from(angles, best):
    models = fits.angle_models(angles)
    assert [found.name for found in models] == ["unimodal", "axial", "axis-centred", "quadrants"]
    assert min(models, key=lambda found: found.aic).name == best
    grid = np.linspace(0, 2 * np.pi, 3000, endpoint=False)
    for found in models:  # each density integrates to one, and gives the likelihood
        assert found.density(grid).mean() * 2 * np.pi == pytest.approx(1)
        assert np.log(found.density(angles)).sum() == pytest.approx(found.log_likelihood, abs=1e-3)
