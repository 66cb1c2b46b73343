"""Exclusive groups: answers that chose none or several labels where exactly one is required."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import number_of
from kalos_core.errors import Problems
from kalos_core.nominal.table import LabelTable
from kalos_core.options import checked
from kalos_core.results import Result


@dataclass(frozen=True, eq=False, repr=False)
class GroupBreaches(Result):
    """B answers that chose none or several concepts of a group.

    Figures: ``"raters"``.

    Parameters
    ----------
    table : LabelTable
    answer, group : (B,) int
        Codes of the answer and the group.
    chosen : (B,) int
        Number of its concepts that were chosen: 0, or at least 2.

    Examples
    --------
    >>> rows = [{"item": "a.jpg", "rater": "ann", "label": ["day", "night"]}]
    >>> breaches = check_groups(LabelTable.from_rows(rows, groups={"time": ["day", "night"]}))
    >>> breaches.chosen.tolist(), len(breaches)
    ([2], 1)
    """

    _call = "check_groups(table)"
    _columns = (
        "item:table.items[table.item[answer]] rater:table.raters[table.rater[answer]] group:table.groups[group] chosen"
    )

    table: LabelTable
    answer: NDArray[np.intp]
    group: NDArray[np.intp]
    chosen: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.answer)

    def by_rater(self) -> dict[str, int]:
        """Return the number of breaches of each rater, largest first."""
        times = np.bincount(self.table.rater[self.answer], minlength=len(self.table.raters))
        order = np.argsort(-times, kind="stable")
        return {str(self.table.raters[code]): int(times[code]) for code in order if times[code]}

    def raise_if_any(self) -> None:
        """Raise `InputError` that lists the first five answers and the total number."""
        table = self.table
        problems = Problems("labels")
        for answer, group, chosen in zip(self.answer, self.group, self.chosen, strict=True):
            record = f"{table.raters[table.rater[answer]]!s} on {table.items[table.item[answer]]!s}"
            problems.add(record, f"exactly one of {table.groups[group]!r}", chosen or "none")
        problems.raise_if_any()

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return (
            f"{number_of(len(self.answer), 'answer breaks', 'answers break')} a group of labels that exclude each other"
        )


@checked
def check_groups(table: LabelTable) -> GroupBreaches:
    """Check that each answer chose exactly one concept of each exclusive group (Nowak & Rüger §3.2, §3.3).

    A group is not answered if the answer leaves one of its concepts open. Answers found here count as missing for that
    group in every metric, and nowhere else. To reject them instead, use ``check_groups(table).raise_if_any()``.

    Parameters
    ----------
    table : LabelTable

    Returns
    -------
    GroupBreaches

    Examples
    --------
    >>> rows = [{"item": 1, "rater": "ann", "label": "day"}, {"item": 1, "rater": "bob", "label": "sunny"}]
    >>> table = LabelTable.from_rows(rows, groups={"time": ["day", "night"]})
    >>> check_groups(table).raise_if_any()
    Traceback (most recent call last):
    kalos_core.errors.InputError: labels: 1 record cannot be used.
      bob on 1: expected exactly one of 'time', got none
    """
    parts = []
    for code in range(len(table.groups)):
        within = table.group_of == code
        times = np.bincount(table.answer[within[table.concept]], minlength=len(table))
        broken = times != 1
        broken[table.unanswered[within[table.unanswered[:, 1]], 0]] = False
        answer = np.flatnonzero(broken)
        parts.append(np.column_stack([answer, np.full(len(answer), code), times[answer]]))
    answer, group, chosen = np.concatenate([np.zeros((0, 3), np.intp), *parts]).T
    return GroupBreaches(table, answer, group, chosen)
