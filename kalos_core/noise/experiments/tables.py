"""What all experiments return: a table, and the statements of the paper against what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core.options import Option


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, and whether it holds here.

    Parameters
    ----------
    source : str
        Where the paper states it.
    statement : str
        In our words.
    holds : bool or None
        None if this data set cannot decide it.
    found : str
        The numbers it was judged by.

    Examples
    --------
    >>> print(Claim("Table 3", "at lambda 1, 4.2 % of the events are lost", False, "3.1 %"))
    does not hold: at lambda 1, 4.2 % of the events are lost (Table 3). Found: 3.1 %
    """

    source: str
    statement: str
    holds: bool | None
    found: str

    @property
    def verdict(self) -> str:
        """In words."""
        return "undecided" if self.holds is None else "holds" if self.holds else "does not hold"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.statement} ({self.source}). Found: {self.found}"


Magnitudes = Annotated[
    Sequence[float], Option("Magnitudes", "Of the noise that is added.", low=0, required=True, ordered=True)
]
RaterCounts = Annotated[
    Sequence[int],
    Option("Numbers of raters", "How many synthetic raters are compared.", low=1, required=True, ordered=True),
]


def rises(values: NDArray[np.float64]) -> bool | None:
    """Whether each value is above the one before; None where there is nothing to compare.

    Examples
    --------
    >>> rises(np.array([0.1, 0.2])), rises(np.array([0.1, 0.1])), rises(np.array([0.1])), rises(np.array([0.1, np.nan]))
    (True, False, None, None)
    """
    return None if len(values) < 2 or np.isnan(values).any() else bool((np.diff(values) > 0).all())
