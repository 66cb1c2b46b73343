"""Maximum likelihood of rates and selections (Poisson and logistic regression), and of the Beta distribution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.noise.parameters import Opposition, share_law

ROUNDS = 100
ENOUGH = 1e-10
"""Newton's method stops when no coefficient changes by more."""

NORMAL_95 = 1.959963984540054
"""Standard normal quantile at .975."""

RESOLUTION = 1e-3
"""Shares of pi closer than this to 0 or 1 count as censored: halves of a box are exactly opposite."""

CLOSE: dict[str, Any] = {"method": "Nelder-Mead", "options": {"xatol": 1e-6, "fatol": 1e-8}}
"""Search for a Beta distribution, and its tolerances; without gradients, since the likelihood is 0 far out."""

LEAST_SHARE = 1e-9
"""Minimum share of missed annotations, and of the others: an observation cannot be impossible."""

DISPERSIONS = (-10.0, 5.0)
"""Range of the logarithm of a dispersion."""

RATES = (-20.0, 10.0)
"""Range of the logarithm of an expected number of events."""

MOST_LOGARITHM = (-5.0, 5.0)
"""Range of the logarithm of the parameters of the Beta distribution."""


@dataclass(frozen=True, eq=False)
class LineFit:
    """Intercept and slope on the scale of the link function, with Laplace intervals.

    Parameters
    ----------
    intercept, slope : float
    interval : (2, 2) float64
        95 % intervals of the intercept and of the slope, from the curvature of the likelihood at its maximum.
    log_likelihood : float
        Up to a constant that depends on the data alone.
    """

    intercept: float
    slope: float
    interval: NDArray[np.float64]
    log_likelihood: float

    def widened(self, factor: float) -> LineFit:
        """Return the fit with intervals that are `factor` times as wide."""
        middle = np.array([[self.intercept], [self.slope]])
        return replace(self, interval=middle + factor * (self.interval - middle))


Likelihood = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64], NDArray[np.float64]]]
"""Map linear predictors (n,) to the log likelihood, and to its slope and absolute curvature for each of them."""


def fit_poisson(count: NDArray[np.intp], measure: NDArray[np.float64]) -> LineFit:
    """Fit the expected count exp(intercept + slope · measure); `measure` must vary and not all counts may be 0.

    Examples
    --------
    >>> found = fit_poisson(np.array([1, 3, 1, 3]), np.array([0, 1, 0, 1]))
    >>> abs(round(found.intercept, 6)), round(found.slope, 6)  # ln 1 and ln 3
    (0.0, 1.098612)
    """

    def likelihood(line: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        with np.errstate(over="ignore"):  # too long a step has likelihood 0, and is shortened
            expected = np.exp(line)
        return float((count * line - expected).sum()), np.asarray(count - expected, np.float64), expected

    return _climb(likelihood, measure, float(np.log(count.mean())))


def fit_each(count: NDArray[np.intp], number: NDArray[np.float64]) -> LineFit:
    """Fit the expected count exp(intercept) + exp(slope) · (number - 1): for the first, and for each further one.

    Examples
    --------
    >>> found = fit_each(np.array([1, 5, 1, 5]), np.array([1.0, 3.0, 1.0, 3.0]))
    >>> round(float(np.exp(found.intercept)), 3), round(float(np.exp(found.slope)), 3)
    (1.0, 2.0)
    """
    further = number - 1

    def parts(logarithms: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([np.full(len(further), np.exp(logarithms[0])), np.exp(logarithms[1]) * further], axis=1)

    def misfit(logarithms: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        each = parts(logarithms)
        expected = each.sum(axis=1)
        return float((expected - count * np.log(expected)).sum()), ((1 - count / expected)[:, None] * each).sum(axis=0)

    start = np.log(np.full(2, max(float(count.sum()), 1.0) / float(number.sum())))
    found = scipy.optimize.minimize(misfit, start, jac=True, method="L-BFGS-B", bounds=[RATES] * 2)
    each = parts(found.x)
    error = NORMAL_95 * np.sqrt(np.diag(np.linalg.pinv((each / each.sum(axis=1)[:, None]).T @ each)))
    interval = found.x[:, None] + error[:, None] * np.array([-1, 1])
    return LineFit(float(found.x[0]), float(found.x[1]), interval, -float(found.fun))


def fit_logistic(chosen: NDArray[np.bool_], measure: NDArray[np.float64], weight: NDArray[np.float64]) -> LineFit:
    """Fit the probability sigmoid(intercept + slope · measure) to weighted observations; see `separable`.

    Examples
    --------
    >>> chosen, measure = np.array([True, False, False, True, True, False]), np.array([0, 0, 0, 1, 1, 1])
    >>> found = fit_logistic(chosen, measure, np.ones(6))
    >>> round(found.intercept, 6), round(found.slope, 6)  # the odds are 1 : 2 and 2 : 1
    (-0.693147, 1.386294)
    """

    def likelihood(line: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        share = scipy.special.expit(line)
        value = -np.logaddexp(0, np.where(chosen, -line, line))
        return float((weight * value).sum()), weight * (chosen - share), weight * share * (1 - share)

    return _climb(likelihood, measure, float(scipy.special.logit(np.average(chosen, weights=weight))))


def separable(chosen: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Check whether one value separates both groups, so that the logistic curve would be a step of infinite slope.

    Examples
    --------
    >>> separable(np.array([3.0, 4.0]), np.array([1.0, 2.0])), separable(np.array([1.0, 4.0]), np.array([2.0]))
    (True, False)
    """
    return bool(chosen.min() >= others.max() or others.min() >= chosen.max())


def _climb(likelihood: Likelihood, measure: NDArray[np.float64], start: float) -> LineFit:
    """Run Newton's method with step halving, on the standardized measure (mean 0, standard deviation 1)."""
    middle, spread = float(measure.mean()), float(measure.std())
    design = np.stack([np.ones(len(measure)), (measure - middle) / spread], axis=1)
    index = np.array([start, 0.0])
    value, slope, curvature = likelihood(design @ index)
    for _ in range(ROUNDS):
        step = np.linalg.solve(_information(design, curvature), design.T @ slope)
        while True:
            ahead = likelihood(design @ (index + step))
            if ahead[0] >= value or np.abs(step).max() < ENOUGH:
                break
            step = step / 2
        index, (value, slope, curvature) = index + step, ahead
        if np.abs(step).max() < ENOUGH:
            break
    back = np.array([[1, -middle / spread], [0, 1 / spread]])  # to the original measure
    coefficients = back @ index
    error = np.sqrt(np.diag(back @ np.linalg.inv(_information(design, curvature)) @ back.T))
    interval = coefficients[:, None] + NORMAL_95 * error[:, None] * np.array([-1, 1])
    return LineFit(float(coefficients[0]), float(coefficients[1]), interval, value)


def poisson_log_likelihood(count: NDArray[np.intp], expected: NDArray[np.float64]) -> float:
    """Compute the log likelihood of counts (n,), each Poisson with its expected number.

    Examples
    --------
    >>> round(poisson_log_likelihood(np.array([0, 2]), np.array([1.0, 2.0])), 6)  # -1 and ln 2 - 2
    -2.306853
    """
    return float(np.sum(scipy.stats.poisson.logpmf(count, expected)))


def fit_dispersion(
    number: NDArray[np.intp], count: NDArray[np.intp], expected: NDArray[np.float64]
) -> tuple[float, float]:
    """Fit the variance of a factor of mean 1 on the expected counts (n,); return it and the reduction of AIC.

    Counts out of `number` are then beta-binomial: see `share_law`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> number, expected = np.full(4000, 20), np.full(4000, 5.0)
    >>> found, gain = fit_dispersion(number, rng.binomial(20, rng.beta(*share_law(expected / 20, 0.5))), expected)
    >>> round(found, 1), gain > 100
    (0.5, True)
    """
    share = np.clip(expected / number, LEAST_SHARE, 1 - LEAST_SHARE)

    def misfit(logarithm: float) -> float:
        law = share_law(share, float(np.exp(logarithm)))
        return -float(np.sum(scipy.stats.betabinom.logpmf(count, number, *law)))

    found = scipy.optimize.minimize_scalar(misfit, bounds=DISPERSIONS, method="bounded")
    alike = float(np.sum(scipy.stats.binom.logpmf(count, number, share)))
    return float(np.exp(found.x)), 2 * (-float(found.fun) - alike) - 2


def _information(design: NDArray[np.float64], curvature: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(design.T @ (curvature[:, None] * design))


def fit_opposition(share: NDArray[np.float64]) -> Opposition:
    """Fit a Beta distribution; values closer than `RESOLUTION` to 0 or 1 count as censored there.

    Examples
    --------
    >>> found = fit_opposition(np.random.default_rng(1).beta(4.0, 0.5, 4000))
    >>> round(found.alpha), round(found.beta, 1)
    (4, 0.5)
    """
    inner = share[(share > RESOLUTION) & (share < 1 - RESOLUTION)]
    low, high = int((share <= RESOLUTION).sum()), int((share >= 1 - RESOLUTION).sum())

    def misfit(logarithms: NDArray[np.float64]) -> float:
        distribution = scipy.stats.beta(*np.exp(logarithms))
        likelihood = distribution.logpdf(inner).sum()
        if low:
            likelihood += low * distribution.logcdf(RESOLUTION)
        if high:
            likelihood += high * distribution.logsf(1 - RESOLUTION)
        return -float(likelihood)

    found = scipy.optimize.minimize(misfit, np.zeros(2), bounds=[MOST_LOGARITHM, MOST_LOGARITHM], **CLOSE)
    alpha, beta = np.exp(found.x)
    return Opposition(float(alpha), float(beta))
