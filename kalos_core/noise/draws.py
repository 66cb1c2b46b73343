"""Random draws from the distributions of the noise model (KαLOS §9.3)."""

from __future__ import annotations

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.noise.parameters import CARDINAL, AxialAngle, CardinalAngle, Opposition, Shift

LEAST_FACTOR = 1e-30
"""Lower bound of the factor that divides a residual; larger residuals are clipped anyway."""


def draw_change(
    distribution: Shift, area: NDArray[np.float64], rng: np.random.Generator, tail: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Draw (M,) signed changes: trend over the area plus a clipped residual, scaled (Eq. 12 before its absolute value).

    `tail` (M,) holds the quantiles in [0, 1] of the factors that divide normal residuals; NaN where one is to be drawn.

    Examples
    --------
    >>> distribution = Shift(intercept=1.0, slope=2.0, nu=3.0, mu=0.0, sigma=1e-12)
    >>> draw_change(distribution, np.array([0.0, 0.5]), np.random.default_rng(0)).round(6).tolist()
    [1.0, 2.0]
    """
    low, high = distribution.limits
    step = rng.standard_t(distribution.nu, len(area))
    if tail is not None:
        common = np.flatnonzero(~np.isnan(tail))
        factor = 2 * scipy.special.gammaincinv(distribution.nu / 2, tail[common]) / distribution.nu  # chi-squared
        step[common] = rng.standard_normal(len(common)) / np.sqrt(np.maximum(factor, LEAST_FACTOR))
    residual = np.clip(distribution.mu + distribution.sigma * step, low, high)
    return np.asarray((distribution.trend(area) + residual) * distribution.scale(area))


def draw_angle(distribution: CardinalAngle | AxialAngle, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw (M,) angles in radians.

    Examples
    --------
    >>> down = CardinalAngle(weights=(0, 1, 0, 0), kappas=(1, 1e9, 1, 1))
    >>> draw_angle(down, 2, np.random.default_rng(0)).round(3).tolist()
    [1.571, 1.571]
    """
    if isinstance(distribution, AxialAngle):
        turned = np.pi * rng.integers(0, 2, count)
        return np.asarray(distribution.axis + rng.vonmises(0, distribution.kappa, count) / 2 + turned)
    direction = rng.choice(4, count, p=np.array(distribution.weights) / sum(distribution.weights))
    return rng.vonmises(np.array(CARDINAL)[direction], np.array(distribution.kappas)[direction])


def draw_opposition(distribution: Opposition, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw (M,) signed angles in radians from the first fragment to the second (Eq. 19)."""
    sense = rng.choice([-1.0, 1.0], count)
    return np.asarray(sense * np.pi * rng.beta(distribution.alpha, distribution.beta, count))


def towards(angle: NDArray[np.float64], distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (M, 2) steps of given lengths in given directions.

    Examples
    --------
    >>> towards(np.array([0.0, np.pi / 2]), np.array([2.0, 1.0])).round(6).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * distance[:, None]
