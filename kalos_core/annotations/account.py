"""What a reader made of a file: records read, left out and why, and what was in them that it does not use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kalos_core.display import number_of

PREDICTIONS = "predictions"
"""Why a record may be left out that needs no warning: nobody takes a model for a rater."""


@dataclass
class Account:
    """Counts of a reader, kept in `Annotations.account` and in the JSON of every command.

    Parameters
    ----------
    read : int
        Records that became annotations.
    left_out : Counter of str
        Why -> how many records: they are in no number.
    unused : Counter of str
        What of records was not used though other tools give it a meaning -> in how many.
    notes : list of str
        What was assumed: columns that were guessed, marks that were taken for something else.

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
        """Add a note, unless it is there already."""
        if text not in self.notes:
            self.notes.append(text)

    def warning(self, source: str) -> str | None:
        """What to warn of; None where nothing could change a number."""
        said = self.passed_over()
        if not said:
            return None
        return " ".join([f"{source}: {number_of(self.read, 'record')} became annotations.", *said])

    def passed_over(self) -> list[str]:
        """A sentence for what was left out, and one for what was not used; none where nothing could change a number."""
        lost = [f"{count:,} {why}" for why, count in self.left_out.items() if why != PREDICTIONS]
        passed = [f"{name} of {number_of(count, 'record')}" for name, count in self.unused.items() if count]
        parts = [("Left out", lost), ("Not used", passed)]
        return [f"{what}: {', '.join(entries)}." for what, entries in parts if entries]

    @classmethod
    def of_parts(cls, parts: Iterable[Account]) -> Account:
        """The account of several parts of one source.

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
        """For JSON."""
        return {
            "read": self.read,
            "left_out": dict(self.left_out),
            "unused": dict(self.unused),
            "notes": list(self.notes),
        }
