"""The spread of a metric over replicates, and where a model's result lies towards it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import interval_text
from kalos_core.errors import InputError, as_number, repr_of

Z = 1.96
"""Standard deviations on either side of the mean that hold 95 % of a normal distribution."""

Position = Literal["below", "inside", "above"]

MEANINGS: dict[Position, str] = {
    "below": "The labels are not what holds the model back: raters agree more with one another than it does with them.",
    "inside": "The model agrees with the labels as well as raters do with one another: what it still misses cannot be "
    "told from label variation, and a better value would not show a better model.",
    "above": "The model agrees with the labels better than raters do with one another: it follows a convention that "
    "dominates them (raters contribute unequally), or the value is of other images, classes or thresholds.",
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

    def position(self, value: float) -> Position:
        """Where the mAP of a model lies towards the interval, both ends of which are inside.

        Raises
        ------
        InputError
            If the value is not a number in [0, 1], as when it is given in percent.

        Examples
        --------
        >>> spread = Spread(np.array([0.4, 0.5, 0.6]))
        >>> [spread.position(value) for value in (0.1, 0.5, 0.8)]
        ['below', 'inside', 'above']
        """
        number = as_number(value)
        if number is None or not 0 <= number <= 1:
            raise InputError(f"value: expected an mAP from 0 to 1, got {repr_of(value)}")
        low, high = self.interval
        return "below" if number < low else "above" if number > high else "inside"

    def meaning(self, value: float) -> str:
        """What the position of a model's mAP means, in words.

        Examples
        --------
        >>> print(Spread(np.array([0.4, 0.5, 0.6])).meaning(0.1).replace("\u00a0", " "))  # doctest: +ELLIPSIS
        10.0 mAP is below label convergence [30.4, 69.6]. The labels are not what holds the model back: ...
        """
        where = self.position(value)
        low, high = 100 * self.interval
        return f"{100 * value:.1f} mAP is {where} label convergence {interval_text(low, high, 1)}. {MEANINGS[where]}"

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
