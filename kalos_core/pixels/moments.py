"""Pearson's correlation over images that are read one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIGNIFICANT = 0.01
"""Significance level: Lampert et al. test with 99 % confidence."""


@dataclass(frozen=True)
class Moments:
    """Sums of pairs (x, y) about their own means, which can be merged without loss (Chan et al. 1983).

    Examples
    --------
    >>> first, second = (Moments.of(np.array(x), np.array(y)) for x, y in (([0, 1], [0, 2]), ([5], [7])))
    >>> whole = Moments.of(np.array([0, 1, 5]), np.array([0, 2, 7]))
    >>> round(first.joined(second).covariance - whole.covariance, 12)
    0.0
    """

    count: int = 0
    mean: tuple[float, float] = (0.0, 0.0)
    squares: tuple[float, float] = (0.0, 0.0)
    covariance: float = 0.0
    low: tuple[float, float] = (np.inf, np.inf)
    high: tuple[float, float] = (-np.inf, -np.inf)

    @classmethod
    def of(cls, x: NDArray[np.generic], y: NDArray[np.generic]) -> Moments:
        """Compute the moments of the pairs (M,) of one image."""
        if not x.size:
            return cls()
        pairs = [np.asarray(side, dtype=np.float64).ravel() for side in (x, y)]
        mean = [float(side.mean()) for side in pairs]
        apart = [side - middle for side, middle in zip(pairs, mean, strict=True)]
        return cls(
            x.size,
            (mean[0], mean[1]),
            (float(apart[0] @ apart[0]), float(apart[1] @ apart[1])),
            float(apart[0] @ apart[1]),
            (float(pairs[0].min()), float(pairs[1].min())),
            (float(pairs[0].max()), float(pairs[1].max())),
        )

    def joined(self, other: Moments) -> Moments:
        """Return the moments of the pairs of both."""
        count = self.count + other.count
        if not count:
            return self
        share = other.count / count
        x, y = (b - a for a, b in zip(self.mean, other.mean, strict=True))
        weight = self.count * share
        return Moments(
            count,
            (self.mean[0] + x * share, self.mean[1] + y * share),
            (self.squares[0] + other.squares[0] + x * x * weight, self.squares[1] + other.squares[1] + y * y * weight),
            self.covariance + other.covariance + x * y * weight,
            (min(self.low[0], other.low[0]), min(self.low[1], other.low[1])),
            (max(self.high[0], other.high[0]), max(self.high[1], other.high[1])),
        )


@dataclass(frozen=True)
class Correlation:
    """Pearson's r between agreement and a property of the image.

    Parameters
    ----------
    name : str
        ``"intensity"``, ``"contrast"`` or the name of a channel.
    r : float or None
        None if it is undefined; see `reason`.
    p : float or None
        Two-sided, from Student's t with M - 2 degrees of freedom. Neighbouring pixels are not independent, so p is
        smaller than it should be: read it as a lower bound.
    pixels : int
        Number of pixels, M.
    reason : str
        Why r is undefined; "" if it is defined.

    Examples
    --------
    >>> correlation("red", Moments.of(np.arange(9), np.arange(9) % 5)).significant
    False
    >>> correlation("red", Moments.of(np.arange(9), np.ones(9)), "agreement").reason
    'red is the same on all pixels'
    """

    name: str
    r: float | None
    p: float | None
    pixels: int
    reason: str = ""

    @property
    def significant(self) -> bool:
        """Whether p is below .01."""
        return self.p is not None and self.p < SIGNIFICANT


def correlation(name: str, moments: Moments, of: str = "agreement") -> Correlation:
    """Compute r and p of x, which is `of` something, and y, the property called `name`."""
    if moments.count < 3:
        return Correlation(name, None, None, moments.count, f"fewer than 3 pixels, namely {moments.count}")
    for what, low, high in zip((of, name), moments.low, moments.high, strict=True):
        if low == high:
            return Correlation(name, None, None, moments.count, f"{what} is the same on all pixels")
    from scipy.stats import t  # slow to import, and needed here only

    r = moments.covariance / np.sqrt(moments.squares[0] * moments.squares[1])
    r = float(np.clip(r, -1, 1))
    freedom = moments.count - 2
    p = 0.0 if abs(r) == 1 else 2 * float(t.sf(abs(r) * np.sqrt(freedom / (1 - r * r)), freedom))
    return Correlation(name, r, p, moments.count)
