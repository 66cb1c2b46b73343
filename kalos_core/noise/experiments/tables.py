"""What all experiments return: a table, and what the paper says beside what was found."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, and whether it holds here.

    Parameters
    ----------
    source : str
        Where the paper says it.
    statement : str
        In our words.
    holds : bool or None
        None if it cannot be told here.
    found : str
        The figures it was judged by.

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
        return "cannot be told" if self.holds is None else "holds" if self.holds else "does not hold"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.statement} ({self.source}). Found: {self.found}"


@dataclass(frozen=True, eq=False)
class Columns:
    """A table whose fields are its columns, arrays of one length."""

    def to_pandas(self) -> pd.DataFrame:
        """One row a line."""
        import pandas as pd

        return pd.DataFrame({column.name: getattr(self, column.name) for column in fields(self)})
