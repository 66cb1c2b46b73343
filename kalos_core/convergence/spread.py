"""Spread of a metric over subsets, interval for all images, and position of a model relative to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy  # slow to import; submodules are loaded on first use
from numpy.typing import NDArray

from kalos_core.display import interval_text
from kalos_core.errors import InputError, as_number, repr_of

Z = 1.96
"""Standard deviations on either side of the mean that enclose 95 % of a normal distribution."""

FEWEST_IMAGES = 50
"""Minimum number of images for an interval.

With fewer, modified mAP is so far from its value on many images that intervals cover it too rarely.
"""

TO_MANY = (1 + math.sqrt(2)) / 2
"""Extrapolation from all images to many images.

In units of the difference between half of the images and all of them.
"""

Position = Literal["below", "inside", "above", "unknown"]

MEANINGS: dict[Position, str] = {
    "below": "The labels do not limit the model: raters agree more with one another than the model agrees with them.",
    "inside": "The model agrees with the labels as well as raters do with one another: its remaining errors cannot be "
    "distinguished from label variation, and a higher value would not mean a better model.",
    "above": "The model agrees with the labels better than raters do with one another: it follows a convention that "
    "dominates them (raters contribute unequally), or its mAP was measured on other images, classes or thresholds.",
    "unknown": f"There is no interval for fewer than {FEWEST_IMAGES} images, so the model cannot be placed.",
}
"""Meaning of a model's mAP below, inside or above label convergence (considerations of §4.1)."""


@dataclass(frozen=True, eq=False)
class Spread:
    """B replicates of one metric, as in Table 3 of the paper.

    Examples
    --------
    >>> spread = Spread(np.array([0.4, 0.5, 0.6]))
    >>> spread.mean, round(spread.std, 3), spread.interval.round(3).tolist()
    (0.5, 0.1, [0.304, 0.696])
    """

    replicates: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean of the replicates."""
        return float(self.replicates.mean())

    @property
    def std(self) -> float:
        """Sample standard deviation of the replicates."""
        return float(self.replicates.std(ddof=1)) if len(self.replicates) > 1 else float("nan")

    @property
    def least(self) -> float:
        """Smallest replicate."""
        return float(self.replicates.min())

    @property
    def greatest(self) -> float:
        """Largest replicate."""
        return float(self.replicates.max())

    @property
    def interval(self) -> NDArray[np.float64]:
        """(2,) mean -+ 1.96 standard deviations, as in the paper."""
        return np.array([self.mean - Z * self.std, self.mean + Z * self.std])

    @property
    def percentiles(self) -> NDArray[np.float64]:
        """(2,) 2.5th and 97.5th percentiles."""
        return np.asarray(np.percentile(self.replicates, (2.5, 97.5)))

    def row(self) -> dict[str, float]:
        """Return the columns of Table 3."""
        return {
            "mean": self.mean,
            "std": self.std,
            "min": self.least,
            "max": self.greatest,
            "low": float(self.interval[0]),
            "high": float(self.interval[1]),
            "percentile_low": float(self.percentiles[0]),
            "percentile_high": float(self.percentiles[1]),
        }


def interval_of_all(whole: float, halves: NDArray[np.float64], size: int, images: int) -> NDArray[np.float64]:
    """Compute the (2,) 95 % interval of label convergence from its values on all images and on halves of them.

    The spread of the halves estimates how much data sets differ (delete-d jackknife, Shao & Wu 1989). Halves lie above
    the value of all images, which in turn lies above that of many more images, by about 1 / sqrt(images). The interval
    is meant for data sets of this size and larger. Its centre is half-way between the two values, and it is widened by
    their difference.

    Parameters
    ----------
    whole : float
        Value of all images, from 0 to 1.
    halves : (H,) float64
        The same value on subsets drawn without replacement; NaN if a subset has nothing to compare.
    size : int
        Images in each subset.
    images : int
        Total number of images.

    Returns
    -------
    (2,) float64
        NaN for fewer than `FEWEST_IMAGES` images, if a subset has nothing to compare, or if all values are equal.

    Examples
    --------
    >>> halves = np.random.default_rng(0).normal(0.7, 0.03, 200)
    >>> interval_of_all(0.68, halves, 100, 200).round(2).tolist(), interval_of_all(0.68, halves, 20, 40).tolist()
    ([0.58, 0.73], [nan, nan])
    """
    if images < FEWEST_IMAGES or len(halves) < 2 or not np.isfinite([whole, *halves]).all():
        return np.full(2, np.nan)
    to_many = TO_MANY * (whole - halves.mean())
    deviation = math.hypot(float(halves.std(ddof=1)) * math.sqrt(size / (images - size)), to_many)
    if not deviation:  # without differences, nothing is known about other images
        return np.full(2, np.nan)
    reach = scipy.stats.t.ppf(0.975, images - 1) * deviation
    return np.asarray(np.clip([whole + to_many - reach, whole + to_many + reach], 0, 1))


def position_of(value: float, interval: NDArray[np.float64]) -> Position:
    """Locate a model's mAP relative to the interval (2,) of label convergence; both ends count as inside.

    Raises
    ------
    InputError
        If the value is not a number in [0, 1], for example if it is given in percent.

    Examples
    --------
    >>> [position_of(value, np.array([0.3, 0.7])) for value in (0.1, 0.5, 0.8)], position_of(0.1, np.full(2, np.nan))
    (['below', 'inside', 'above'], 'unknown')
    """
    number = as_number(value)
    if number is None or not 0 <= number <= 1:
        raise InputError(f"value: expected an mAP from 0 to 1, got {repr_of(value)}")
    low, high = interval
    if math.isnan(low):
        return "unknown"
    return "below" if number < low else "above" if number > high else "inside"


def meaning_of(value: float, interval: NDArray[np.float64]) -> str:
    """Describe what the position of a model's mAP means.

    Examples
    --------
    >>> print(meaning_of(0.1, np.array([0.304, 0.696])).replace("\u00a0", " "))  # doctest: +ELLIPSIS
    10.0 mAP is below label convergence [30.4, 69.6]. The labels do not limit the model: ...
    """
    where = position_of(value, interval)
    if where == "unknown":
        return f"{100 * value:.1f} mAP. {MEANINGS[where]}"
    return f"{100 * value:.1f} mAP is {where} label convergence {interval_text(100 * interval, 1)}. {MEANINGS[where]}"
