"""Random draws from the laws of the noise model (KαLOS §9.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.noise.parameters import CARDINAL, AxialAngle, CardinalAngle, Opposition, Shift


def draw_change(law: Shift, area: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """(M,) trend over the area plus a clipped residual, of either sign (Eq. 12 before its absolute value).

    Examples
    --------
    >>> law = Shift(intercept=1.0, slope=2.0, nu=3.0, mu=0.0, sigma=1e-12)
    >>> draw_change(law, np.array([0.0, 0.5]), np.random.default_rng(0)).round(6).tolist()
    [1.0, 2.0]
    """
    low, high = law.limits
    residual = np.clip(law.mu + law.sigma * rng.standard_t(law.nu, len(area)), low, high)
    return np.asarray(law.trend(area) + residual)


def draw_angle(law: CardinalAngle | AxialAngle, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(M,) angles in radians.

    Examples
    --------
    >>> down = CardinalAngle(weights=(0, 1, 0, 0), kappas=(1, 1e9, 1, 1))
    >>> draw_angle(down, 2, np.random.default_rng(0)).round(3).tolist()
    [1.571, 1.571]
    """
    if isinstance(law, AxialAngle):
        turned = np.pi * rng.integers(0, 2, count)
        return np.asarray(law.axis + rng.vonmises(0, law.kappa, count) / 2 + turned)
    direction = rng.choice(4, count, p=np.array(law.weights) / sum(law.weights))
    return rng.vonmises(np.array(CARDINAL)[direction], np.array(law.kappas)[direction])


def draw_opposition(law: Opposition, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(M,) angles from the first fragment to the second, in radians, either way round (Eq. 19)."""
    sense = rng.choice([-1.0, 1.0], count)
    return np.asarray(sense * np.pi * rng.beta(law.alpha, law.beta, count))


def towards(angle: NDArray[np.float64], distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """(M, 2) steps of a length in a direction.

    Examples
    --------
    >>> towards(np.array([0.0, np.pi / 2]), np.array([2.0, 1.0])).round(6).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * distance[:, None]
