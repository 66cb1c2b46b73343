"""What all experiments return: a table, and the statements of the paper against what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
        Whether it does in every draw; None if this data set cannot decide it.
    found : str
        The numbers it was judged by, those of the first draw.
    held, draws : int
        In how many draws of synthetic raters it holds, of those that decide it.

    Examples
    --------
    >>> print(Claim("Table 3", "at lambda 1, 4.2 % of the events are lost", False, "3.1 %"))
    does not hold: at lambda 1, 4.2 % of the events are lost (Table 3). Found: 3.1 %
    """

    source: str
    statement: str
    holds: bool | None
    found: str
    held: int = 0
    draws: int = 0

    @classmethod
    def over(cls, claims: Sequence[Claim]) -> Claim:
        """What several draws of synthetic raters say of one statement.

        Examples
        --------
        >>> drawn = [Claim("Table 3", "signal loss grows with noise", holds, "...") for holds in (True, False, True)]
        >>> Claim.over(drawn).verdict, Claim.over(drawn[:1]).verdict
        ('holds in 2 of 3 draws', 'holds')
        """
        decided = [claim.holds for claim in claims if claim.holds is not None]
        holds = all(decided) if decided else None
        return replace(claims[0], holds=holds, held=sum(decided), draws=len(decided))

    @property
    def verdict(self) -> str:
        """In words."""
        if self.draws > 1 and 0 < self.held < self.draws:
            return f"holds in {self.held:,} of {self.draws:,} draws"
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
