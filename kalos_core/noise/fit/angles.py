"""Distributions of directions (von Mises: single, axial, and mixtures by EM), and tests of uniformity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.noise.fit.shifts import CLOSE
from kalos_core.noise.parameters import CARDINAL, AxialAngle, CardinalAngle

MOST_KAPPA = 500.0
"""Largest concentration; higher ones are practically a single direction (a standard deviation of 2.6 degrees)."""

ROUNDS = 100
"""Rounds of expectation and maximization."""

LEAST_WEIGHT = 1e-9
"""Minimum number of directions assigned to a component of the mixture."""

DIAGONAL = tuple(centre + np.pi / 4 for centre in CARDINAL)
"""Centres of the components of the quadrant mixture."""


@dataclass(frozen=True, eq=False)
class AngleFit:
    """Fitted distribution of directions.

    Parameters
    ----------
    name : str
    weights, centres, kappas : (m,) float64
        Parameters of its von Mises components.
    folds : int
        2 for a distribution of doubled angles, else 1.
    log_likelihood : float
    parameters : int
        Number of estimated parameters.
    """

    name: str
    weights: NDArray[np.float64]
    centres: NDArray[np.float64]
    kappas: NDArray[np.float64]
    folds: int
    log_likelihood: float
    parameters: int

    @property
    def aic(self) -> float:
        """Akaike's information criterion; lower is better."""
        return 2 * self.parameters - 2 * self.log_likelihood

    def density(self, angle: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the density at angles (n,) in radians."""
        parts = _log_von_mises(self.folds * angle[:, None] - self.centres, self.kappas)
        return np.asarray(np.exp(parts) @ self.weights)


def fit_cardinal(angles: NDArray[np.float64]) -> CardinalAngle:
    """Fit a mixture with components at right, down, left and up by maximum likelihood.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> found = fit_cardinal(rng.choice(CARDINAL, 4000, p=[0.4, 0.1, 0.4, 0.1]) + rng.vonmises(0, 8, 4000))
    >>> [round(weight, 1) for weight in found.weights]
    [0.4, 0.1, 0.4, 0.1]
    """
    found = fit_mixture(angles, np.array(CARDINAL), "axis-centred")
    return CardinalAngle(tuple((found.weights / found.weights.sum()).tolist()), tuple(found.kappas.tolist()))


def fit_axial(angles: NDArray[np.float64]) -> AxialAngle:
    """Fit a distribution along one axis by maximum likelihood.

    Examples
    --------
    >>> found = fit_axial(np.array([0.1, -0.1, np.pi, np.pi + 0.2, 0.0]))
    >>> round(found.axis, 2)
    0.04
    """
    found = fit_one(angles, folds=2)
    return AxialAngle(axis=float(found.centres[0]) / 2, kappa=float(found.kappas[0]))


def angle_models(angles: NDArray[np.float64]) -> list[AngleFit]:
    """Fit the four distributions of Fig. 10 to directions, in the order of the paper."""
    return [
        fit_one(angles, folds=1),
        fit_one(angles, folds=2),
        fit_mixture(angles, np.array(CARDINAL), "axis-centred"),
        fit_mixture(angles, np.array(DIAGONAL), "quadrants"),
    ]


def fit_one(angles: NDArray[np.float64], folds: int) -> AngleFit:
    """Fit one von Mises distribution to the angles or (``folds=2``) to the doubled angles."""
    turned = folds * angles
    mean = np.exp(1j * turned).mean()
    centre, kappa = float(np.angle(mean)), concentration(float(abs(mean)))
    likelihood = float(_log_von_mises(turned - centre, kappa).sum())
    name = "axial" if folds > 1 else "unimodal"
    return AngleFit(name, np.ones(1), np.array([centre]), np.array([kappa]), folds, likelihood, 2)


def fit_mixture(angles: NDArray[np.float64], centres: NDArray[np.float64], name: str) -> AngleFit:
    """Fit a mixture of von Mises distributions at given centres, by EM followed by a gradient search.

    EM converges slowly if a distribution is wide, such as that of shifts without a preferred direction.
    """
    along = np.cos(angles[:, None] - centres)
    weights, kappas = np.full(len(centres), 1 / len(centres)), np.full(len(centres), 2.0)
    for _ in range(ROUNDS):
        share = _shares(along, weights, kappas)[1]
        held = np.maximum(share.sum(axis=0), LEAST_WEIGHT)
        weights = held / held.sum()
        # the centre is fixed: only the component of the directions along it counts, at least 0
        length = np.maximum((share * along).sum(axis=0) / held, 0)
        kappas = np.array([concentration(value) for value in length.tolist()])
    weights, kappas, likelihood = _climb(along, weights, kappas)
    return AngleFit(name, weights, centres, kappas, 1, likelihood, 2 * len(centres) - 1)


def _shares(
    along: NDArray[np.float64], weights: NDArray[np.float64], kappas: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the density (n,) of each direction, and the share (n, m) of each component in it."""
    height = weights / (2 * np.pi * scipy.special.i0e(kappas))
    joint = height * np.exp(kappas * (along - 1))  # kappas are bounded: no row is 0 at all centres
    each = joint.sum(axis=1)
    return each, joint / each[:, None]


def _climb(
    along: NDArray[np.float64], weights: NDArray[np.float64], kappas: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Maximize the likelihood from the given weights and concentrations; return both and the log likelihood."""
    count = len(weights)

    def misfit(free: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        mixed, each_kappa = scipy.special.softmax(free[:count]), free[count:]
        each, share = _shares(along, mixed, each_kappa)
        pull = along - scipy.special.i1e(each_kappa) / scipy.special.i0e(each_kappa)
        slopes = [share.sum(axis=0) - len(along) * mixed, (share * pull).sum(axis=0)]
        return -float(np.log(each).sum()), -np.concatenate(slopes)

    start = np.concatenate([np.log(np.maximum(weights, LEAST_WEIGHT)), kappas])
    bounds = [(float(np.log(LEAST_WEIGHT)), 1.0)] * count + [(0.0, MOST_KAPPA)] * count
    found = scipy.optimize.minimize(misfit, start, jac=True, bounds=bounds, **CLOSE)
    return scipy.special.softmax(found.x[:count]), found.x[count:], -float(found.fun)


def concentration(length: float) -> float:
    """Solve I1(kappa) / I0(kappa) = length for kappa, with the length of the mean direction.

    Examples
    --------
    >>> concentration(0.0), round(concentration(0.4464), 3)
    (0.0, 1.0)
    """
    if length <= 0:
        return 0.0
    if length >= scipy.special.i1e(MOST_KAPPA) / scipy.special.i0e(MOST_KAPPA):
        return MOST_KAPPA
    return float(
        scipy.optimize.brentq(lambda kappa: scipy.special.i1e(kappa) / scipy.special.i0e(kappa) - length, 0, MOST_KAPPA)
    )


def _log_von_mises(turn: NDArray[np.float64], kappa: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return the log density at angles relative to the centre."""
    return np.asarray(kappa * (np.cos(turn) - 1) - np.log(2 * np.pi * scipy.special.i0e(kappa)))


@dataclass(frozen=True)
class TestResult:
    """Statistic of a test, and the probability of one at least as large under the null hypothesis."""

    __test__ = False  # keeps pytest from collecting the class

    statistic: float
    p_value: float


def rayleigh(angles: NDArray[np.float64]) -> TestResult:
    """Rayleigh test of uniformity against one preferred direction: length of the mean, p after Wilkie (1983).

    Examples
    --------
    >>> rayleigh(np.array([0.0, np.pi / 2, np.pi, 3 * np.pi / 2])).p_value
    1.0
    """
    count = len(angles)
    length = float(abs(np.exp(1j * angles).sum()))
    p_value = np.exp(np.sqrt(1 + 4 * count + 4 * (count**2 - length**2)) - (1 + 2 * count))
    return TestResult(length / count, float(min(p_value, 1.0)))


def kuiper(angles: NDArray[np.float64]) -> TestResult:
    """Kuiper test of uniformity against any alternative: V = D+ + D-, p after Stephens (1970).

    Examples
    --------
    >>> kuiper(np.zeros(20)).p_value < 0.001
    True
    """
    share = np.sort(np.mod(angles, 2 * np.pi)) / (2 * np.pi)
    count = len(share)
    step = np.arange(count) / count
    statistic = float((step + 1 / count - share).max() + (share - step).max())
    scaled = (np.sqrt(count) + 0.155 + 0.24 / np.sqrt(count)) * statistic
    if scaled < 0.4:  # the series would need many terms to reach 1
        return TestResult(statistic, 1.0)
    term = (np.arange(1, 101) * scaled) ** 2
    return TestResult(statistic, float(np.clip(2 * ((4 * term - 1) * np.exp(-2 * term)).sum(), 0, 1)))
