"""Sizes of changes: known parameters are recovered, and the likelihood is that of scipy's distributions."""

import numpy as np
import pytest
from scipy import optimize, stats

from kalos_core.noise.fit.shifts import fit_growing, fit_normal, fit_student, fit_tails

ROWS = 4000


def drawn(intercept, slope, nu, sigma, seed=0, rows=ROWS):
    rng = np.random.default_rng(seed)
    area = rng.uniform(0, 1, rows)
    return np.abs(intercept + slope * area + sigma * rng.standard_t(nu, rows)), area


def test_growth_comes_back_and_is_found_on_lvis(lvis_model):
    rng = np.random.default_rng(2)
    area = np.exp(rng.uniform(-8, -1, ROWS))
    size = np.abs(0.02 + 0.004 * rng.standard_t(3, ROWS)) * area**-0.3
    found = fit_growing(size, area)
    assert (found.growth, found.nu) == (pytest.approx(-0.3, abs=0.03), pytest.approx(3, rel=0.3))
    assert found.log_likelihood == pytest.approx(np.log(found.density(size, area)).sum())
    for part, growth in (("translation", 0.24), ("width", -0.30), ("height", -0.27)):
        assert getattr(lvis_model.localization, part).growth == pytest.approx(growth, abs=0.02)


def test_where_nothing_is_folded_it_is_the_distribution_of_scipy():
    size, _ = drawn(5.0, 0.0, 4.0, 0.1, rows=1000)
    close = {"xatol": 1e-6, "fatol": 1e-8, "maxiter": 2000}  # scipy's own t.fit ends far below the maximum
    best = optimize.minimize(
        lambda p: -stats.t.logpdf(size, *p).sum(), [4, 5, 0.1], method="Nelder-Mead", options=close
    )
    found = fit_student(size, np.zeros(1000))
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-3)
    assert (found.nu, found.intercept, found.sigma) == pytest.approx(best.x, rel=1e-3)
    assert found.slope == 0


def test_the_normal_distribution_is_that_of_scipys_folded_normal():
    size = np.abs(np.random.default_rng(2).normal(0.02, 0.02, 2000))
    shape, _, sigma = stats.foldnorm.fit(size, floc=0)
    found = fit_normal(size, np.zeros(2000))
    best = stats.foldnorm.logpdf(size, shape, 0, sigma).sum()
    assert found.log_likelihood == pytest.approx(best, abs=1e-2)
    assert found.aic == pytest.approx(6 - 2 * best, abs=0.02)
    share = stats.foldnorm.cdf(size, found.intercept / found.sigma, 0, found.sigma)
    np.testing.assert_allclose(found.cumulative(size, np.zeros(2000)), share, atol=1e-9)


def test_heavy_tails_are_found_and_given_ones_kept():
    heavy, area = drawn(0.2, 0.1, 2.0, 0.02, rows=1500)
    assert fit_student(heavy, area).aic < fit_normal(heavy, area).aic - 100
    assert fit_tails(heavy, area, 1.5).nu == 1.5
    light, area = drawn(0.2, 0.1, 1e6, 0.02, rows=1500)
    assert fit_student(light, area).aic == pytest.approx(fit_normal(light, area).aic, abs=6)
