"""Histogram and density of distances for plots; the density is scaled to the share a bin would hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.calibration.density import GRID, Sample, densities, has_density, once_each
from kalos_core.options import checked

BIN_OF_DISTANCES = 0.02

DISTANCE_EDGES = np.round(np.arange(51) * BIN_OF_DISTANCES, 10)
"""Edges of the 50 bins of distances."""

CURVE = slice(None, None, 9)
"""Subset of `GRID` at which the density is plotted: 112 of 1,000 points, including both ends."""

CURVE_AT = GRID[CURVE]
"""(112,) distances at these points."""


@checked
def distance_shares(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """(50,) share of distances (n,) in each bin of `DISTANCE_EDGES`, the last with its upper edge; 0 if none.

    Examples
    --------
    >>> shares = distance_shares(np.array([0.0, 0.01, 0.5, 1.0]))
    >>> shares[0], shares[25], shares[49], distance_shares(np.zeros(0)).sum()
    (np.float64(0.5), np.float64(0.25), np.float64(0.25), np.float64(0.0))
    """
    counts = np.histogram(distances, DISTANCE_EDGES)[0]
    return np.asarray(counts / max(len(distances), 1))


@checked
def distance_curve(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """(112,) density of distances (n,) as the share a bin would hold; empty if there is no density.

    Examples
    --------
    >>> len(distance_curve(np.array([0.2, 0.4]))), len(distance_curve(np.ones(5)))
    (112, 0)
    """
    if not has_density(distances):
        return np.zeros(0)
    sample = Sample(distances, np.zeros(len(distances), np.intp))
    return densities(sample, once_each(1))[0, CURVE] * BIN_OF_DISTANCES


@dataclass(frozen=True, eq=False)
class Shares:
    """Histogram and density of n distances.

    Parameters
    ----------
    count : int
        n, the number of distances.
    share : (50,) float64
        Result of `distance_shares`.
    curve : (112,) float64
        Result of `distance_curve`; empty if there is no density.

    Examples
    --------
    >>> shares = Shares.of(np.array([0.0, 0.5]))
    >>> shares.count, shares.share[25], len(shares.curve)
    (2, np.float64(0.5), 112)
    """

    count: int
    share: NDArray[np.float64]
    curve: NDArray[np.float64]

    @classmethod
    def of(cls, distances: NDArray[np.float64]) -> Shares:
        """Compute the shares of distances (n,) in [0, 1]."""
        return cls(len(distances), distance_shares(distances), distance_curve(distances))
