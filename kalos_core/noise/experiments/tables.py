"""Parts shared by all experiments: a table, and statements of the paper judged by the numbers found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core.options import Option


@dataclass(frozen=True)
class Claim:
    """Statement of the paper, and whether it holds here.

    Parameters
    ----------
    source : str
        Where the paper makes the statement.
    statement : str
        The statement in our words.
    holds : bool or None
        Whether it holds in every draw; None if this data set cannot decide it.
    found : str
        The numbers it was judged by, from the first draw.
    held, draws : int
        Number of draws of synthetic raters in which it holds, and number of draws that decide it.

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
        """Combine the verdicts of several draws of synthetic raters on one statement.

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
        """Verdict in words."""
        if self.draws > 1 and 0 < self.held < self.draws:
            return f"holds in {self.held:,} of {self.draws:,} draws"
        return "undecided" if self.holds is None else "holds" if self.holds else "does not hold"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.statement} ({self.source}). Found: {self.found}"


Magnitudes = Annotated[
    Sequence[float], Option("Magnitudes", "Magnitudes of the added noise.", low=0, required=True, ordered=True)
]
RaterCounts = Annotated[
    Sequence[int],
    Option("Numbers of raters", "Numbers of synthetic raters to compare.", low=1, required=True, ordered=True),
]


def rises(values: NDArray[np.float64]) -> bool | None:
    """Check whether each value exceeds the one before; None if there is nothing to compare.

    Examples
    --------
    >>> rises(np.array([0.1, 0.2])), rises(np.array([0.1, 0.1])), rises(np.array([0.1])), rises(np.array([0.1, np.nan]))
    (True, False, None, None)
    """
    return None if len(values) < 2 or np.isnan(values).any() else bool((np.diff(values) > 0).all())
