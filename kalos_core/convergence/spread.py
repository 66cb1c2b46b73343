"""The spread of a metric over subsets, the interval of all images, and where a model's result lies towards it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.display import interval_text
from kalos_core.errors import InputError, as_number, repr_of

Z = 1.96
"""Standard deviations on either side of the mean that hold 95 % of a normal distribution."""

FEWEST_IMAGES = 50
"""Of fewer images modified mAP is so far from that of many that no interval holds it often enough."""

TO_MANY = (1 + math.sqrt(2)) / 2
"""How far the value of many images lies beyond that of all images: in steps from half of the images to all of them."""

Position = Literal["below", "inside", "above", "unknown"]

MEANINGS: dict[Position, str] = {
    "below": "The labels are not what holds the model back: raters agree more with one another than it does with them.",
    "inside": "The model agrees with the labels as well as raters do with one another: what it still misses cannot be "
    "told from label variation, and a better value would not show a better model.",
    "above": "The model agrees with the labels better than raters do with one another: it follows a convention that "
    "dominates them (raters contribute unequally), or the value is of other images, classes or thresholds.",
    "unknown": f"There is no interval of fewer than {FEWEST_IMAGES} images, so that nothing can be said of the model.",
}
"""What it means for a model that its mAP lies below, inside or above label convergence (considerations of §4.1)."""


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
        """Their standard deviation (of the sample)."""
        return float(self.replicates.std(ddof=1)) if len(self.replicates) > 1 else float("nan")

    @property
    def least(self) -> float:
        """The least."""
        return float(self.replicates.min())

    @property
    def greatest(self) -> float:
        """The greatest."""
        return float(self.replicates.max())

    @property
    def interval(self) -> NDArray[np.float64]:
        """(2,) mean - and + 1.96 standard deviations, as the paper's."""
        return np.array([self.mean - Z * self.std, self.mean + Z * self.std])

    @property
    def percentiles(self) -> NDArray[np.float64]:
        """(2,) the 2.5th and 97.5th percentile."""
        return np.asarray(np.percentile(self.replicates, (2.5, 97.5)))

    def row(self) -> dict[str, float]:
        """The columns of Table 3."""
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
    """(2,) 95 % interval of label convergence, from its value of all images and those of halves of them.

    How far halves differ from one another says how far data sets would (the delete-d jackknife, Shao & Wu 1989). That
    they lie above the value of all images says that this lies above that of many more, about as 1 / sqrt(images). The
    interval is meant for data sets as large as this one and for larger ones: it has its middle half-way between the two
    values, and is wider by as much as they differ.

    Parameters
    ----------
    whole : float
        From 0 to 1.
    halves : (H,) float64
        The same of each of some subsets, drawn without replacement; NaN where one has nothing to compare.
    size : int
        Images in each.
    images : int
        In all.

    Returns
    -------
    (2,) float64
        NaN of fewer than `FEWEST_IMAGES` images, where subsets have nothing to compare, and where none differ.

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
    if not deviation:  # nothing differs: that says nothing of what other images would bring
        return np.full(2, np.nan)
    reach = scipy.stats.t.ppf(0.975, images - 1) * deviation
    return np.asarray(np.clip([whole + to_many - reach, whole + to_many + reach], 0, 1))


def position_of(value: float, interval: NDArray[np.float64]) -> Position:
    """Where the mAP of a model lies towards the interval (2,) of label convergence, both ends of which are inside.

    Raises
    ------
    InputError
        If the value is not a number in [0, 1], as when it is given in percent.

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
    """What the position of a model's mAP means, in words.

    Examples
    --------
    >>> print(meaning_of(0.1, np.array([0.304, 0.696])).replace("\u00a0", " "))  # doctest: +ELLIPSIS
    10.0 mAP is below label convergence [30.4, 69.6]. The labels are not what holds the model back: ...
    """
    where = position_of(value, interval)
    if where == "unknown":
        return f"{100 * value:.1f} mAP. {MEANINGS[where]}"
    return f"{100 * value:.1f} mAP is {where} label convergence {interval_text(100 * interval, 1)}. {MEANINGS[where]}"
