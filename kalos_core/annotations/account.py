"""Summary of what a reader took from a file: records read, records left out and why, and unused contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kalos_core.display import number_of

PREDICTIONS = "predictions"
"""Reason for leaving out a record that needs no warning, since a model is no rater."""


@dataclass
class Account:
    """Counts of a reader, available as `Annotations.account` and in the JSON of every command.

    Parameters
    ----------
    read : int
        Number of records that became annotations.
    left_out : Counter of str
        Reason -> number of records left out, which affect no result.
    unused : Counter of str
        Unused part of records that has a meaning in other tools -> number of records with it.
    notes : list of str
        Assumptions, such as guessed columns or marks with an assumed meaning.

    Examples
    --------
    >>> account = Account(read=2)
    >>> account.left_out["choices (kalos-core labels reads them)"] += 3
    >>> account.warning("export.json")
    'export.json: 2 records became annotations. Left out: 3 choices (kalos-core labels reads them).'
    >>> Account(read=2).warning("export.json")
    """

    read: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    unused: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Add a note unless it is already present."""
        if text not in self.notes:
            self.notes.append(text)

    def warning(self, source: str) -> str | None:
        """Return a warning; None if nothing was lost that could change a result."""
        said = self.passed_over()
        if not said:
            return None
        return " ".join([f"{source}: {number_of(self.read, 'record')} became annotations.", *said])

    def passed_over(self) -> list[str]:
        """Return sentences on what was left out and what was not used; empty if nothing could change a result."""
        lost = [f"{count:,} {why}" for why, count in self.left_out.items() if why != PREDICTIONS]
        passed = [f"{name} of {number_of(count, 'record')}" for name, count in self.unused.items() if count]
        parts = [("Left out", lost), ("Not used", passed)]
        return [f"{what}: {', '.join(entries)}." for what, entries in parts if entries]

    @classmethod
    def of_parts(cls, parts: Iterable[Account]) -> Account:
        """Merge the accounts of several parts of one source.

        Examples
        --------
        >>> Account.of_parts(
        ...     [Account(1, notes=["cells are numbers"]), Account(2, notes=["cells are numbers"])]
        ... ).record()
        {'read': 3, 'left_out': {}, 'unused': {}, 'notes': ['cells are numbers']}
        """
        whole = cls()
        for part in parts:
            whole.read += part.read
            whole.left_out += part.left_out
            whole.unused += part.unused
            whole.notes += [note for note in part.notes if note not in whole.notes]
        return whole

    def record(self) -> dict[str, Any]:
        """Return the account as a mapping for JSON."""
        return {
            "read": self.read,
            "left_out": dict(self.left_out),
            "unused": dict(self.unused),
            "notes": list(self.notes),
        }
