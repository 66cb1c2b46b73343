"""Poisson, logistic and Beta fits: vs. scikit-learn and scipy, and known parameters are recovered."""

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from kalos_core.noise.fit.curves import RESOLUTION, fit_logistic, fit_opposition, fit_poisson, separable


def counts(rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    annotations = rng.integers(0, 40, rows)
    return rng.poisson(np.exp(0.5 + 0.04 * annotations)), annotations.astype(float)


def choices(rows=4000):
    rng = np.random.default_rng(0)
    measure = np.log(rng.uniform(0.0005, 0.5, rows))
    return rng.random(rows) < 1 / (1 + np.exp(3 + 0.5 * measure)), measure


def test_poisson_is_that_of_scikit_learn():
    count, annotations = counts()
    theirs = PoissonRegressor(alpha=0, tol=1e-8, max_iter=1000).fit(annotations[:, None], count)
    found = fit_poisson(count, annotations)
    assert found.intercept == pytest.approx(theirs.intercept_, abs=1e-4)
    assert found.slope == pytest.approx(theirs.coef_[0], abs=1e-5)


def test_the_laplace_interval_of_a_rate_by_hand():
    # counts 4 and 16 at 0 and 1: the intercept is ln 4 with variance 1/4, the slope ln 4 with variance 1/4 + 1/16
    found = fit_poisson(np.array([4, 16]), np.array([0.0, 1.0]))
    assert (found.intercept, found.slope) == (pytest.approx(np.log(4)), pytest.approx(np.log(4)))
    half = 1.959964 * np.array([0.5, np.sqrt(5 / 16)])
    np.testing.assert_allclose(np.diff(found.interval, axis=1)[:, 0] / 2, half, rtol=1e-6)


def test_logistic_is_that_of_scikit_learn():
    chosen, measure = choices()
    theirs = LogisticRegression(C=1e9, tol=1e-8, max_iter=1000).fit(measure[:, None], chosen)
    found = fit_logistic(chosen, measure, np.ones(len(measure)))
    assert found.intercept == pytest.approx(theirs.intercept_[0], abs=1e-3)
    assert found.slope == pytest.approx(theirs.coef_[0, 0], abs=1e-3)
    assert found.interval[0, 0] < -3 < found.interval[0, 1]
    assert found.interval[1, 0] < -0.5 < found.interval[1, 1]


def test_groups_that_an_area_tells_apart():
    assert separable(np.array([0.1]), np.array([0.2, 0.3]))
    assert separable(np.array([0.2]), np.array([0.2, 0.3]))  # a step at 0.2 is more likely than any slope
    assert not separable(np.array([0.25]), np.array([0.2, 0.3]))


def test_away_from_the_ends_opposition_is_the_distribution_of_scipy():
    share = np.random.default_rng(1).beta(4, 3, 500)
    found = fit_opposition(share)
    assert (found.alpha, found.beta) == pytest.approx(stats.beta.fit(share, floc=0, fscale=1)[:2], rel=1e-3)


def test_halves_that_oppose_each_other_exactly_count_as_nearly():
    share = np.concatenate([np.full(20, 1.0), np.linspace(0.5, 0.95, 20), [0.0]])

    def misfit(logs):
        distribution = stats.beta(*np.exp(logs))
        ends = 20 * np.log(1 - distribution.cdf(1 - RESOLUTION)) + np.log(distribution.cdf(RESOLUTION))
        return -distribution.logpdf(share[20:40]).sum() - ends

    found = fit_opposition(share)
    best = np.exp(optimize.minimize(misfit, [0, 0], method="Nelder-Mead").x)
    assert (found.alpha, found.beta) == pytest.approx(best, rel=1e-2)
