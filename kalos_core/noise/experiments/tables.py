"""What all experiments return: a table, and the statements of the paper against what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError, as_number, check_whole, repr_of
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True, eq=False, repr=False)
class Columns(Result):
    """A table whose fields are its columns, arrays of one length."""

    def to_pandas(self) -> pd.DataFrame:
        """One row a line."""
        import pandas as pd

        return pd.DataFrame({column.name: getattr(self, column.name) for column in fields(self)})


def check_magnitudes(magnitudes: Sequence[float]) -> list[float]:
    """The magnitudes of an experiment: each once, ascending.

    Raises
    ------
    InputError
        For none, or what is no finite number of at least 0.

    Examples
    --------
    >>> check_magnitudes([1, 0.5, 1])
    [0.5, 1.0]
    >>> check_magnitudes([])
    Traceback (most recent call last):
    kalos_core.errors.InputError: magnitudes: expected at least one, got none
    """
    found = {as_number(magnitude) for magnitude in magnitudes}
    if not found:
        raise InputError("magnitudes: expected at least one, got none")
    known = [number for number in found if number is not None and 0 <= number < np.inf]
    if len(known) < len(found):
        raise InputError(f"magnitudes: expected finite numbers of 0 or more, got {repr_of(list(magnitudes))}")
    return sorted(known)


def check_counts(counts: Sequence[int], name: str, least: int) -> list[int]:
    """The numbers of raters of an experiment: each once, ascending.

    Raises
    ------
    InputError
        For none, or what is no whole number of at least `least`.

    Examples
    --------
    >>> check_counts([3, 2], "counts", 2)
    [2, 3]
    >>> check_counts([1], "counts", 2)
    Traceback (most recent call last):
    kalos_core.errors.InputError: counts: expected a whole number of at least 2, got 1
    """
    found = sorted({check_whole(count, name, least) for count in counts})
    if not found:
        raise InputError(f"{name}: expected at least one, got none")
    return found


def rises(values: NDArray[np.float64]) -> bool | None:
    """Whether each value is above the one before; None where there is nothing to compare.

    Examples
    --------
    >>> rises(np.array([0.1, 0.2])), rises(np.array([0.1, 0.1])), rises(np.array([0.1])), rises(np.array([0.1, np.nan]))
    (True, False, None, None)
    """
    return None if len(values) < 2 or np.isnan(values).any() else bool((np.diff(values) > 0).all())
