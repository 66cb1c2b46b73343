"""Groups of concepts that exclude each other, suggested from the concepts that raters chose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.display import number_of
from kalos_core.nominal.table import LabelTable
from kalos_core.options import Option, checked
from kalos_core.results import Results

MOST_BREACHES = 0.05
"""Default maximum share of the answers that may break a suggested group."""

CHANCE = 0.25
"""Maximum number of breaches of a suggested group, relative to that of unrelated concepts."""

MOST_STEPS, STEPS_IN_ALL = 300, 5_000
"""Maximum steps of the search for the group of a concept, and for all groups; the search stops there."""

MOST_MEMBERS = 300
"""Maximum number of concepts of a group that is searched for."""

NAMED = 3
"""Number of concepts listed in the name of a group."""


@dataclass(frozen=True)
class SuggestedGroup:
    """Group of concepts with exactly one choice in nearly every answer.

    Parameters
    ----------
    concepts : tuple of str
        Concepts, most frequent first.
    answers : int
        Number of answers that chose anything.
    supporting : int
        Number of those that chose exactly one of the concepts.
    without, several : int
        Number of those that chose none, and of those that chose more than one.

    Examples
    --------
    >>> SuggestedGroup(("day", "dusk", "night", "dawn"), answers=10, supporting=9, without=1, several=0).name
    'day / dusk / night / …'
    """

    concepts: tuple[str, ...]
    answers: int
    supporting: int
    without: int
    several: int

    @property
    def name(self) -> str:
        """Name made of the first concepts."""
        return " / ".join([*self.concepts[:NAMED], *("…" for _ in self.concepts[NAMED : NAMED + 1])])


class SuggestedGroups(Results[SuggestedGroup]):
    """Groups found by `suggest_groups`, as a sequence of `SuggestedGroup`.

    Figures: ``"groups"``.

    Examples
    --------
    >>> SuggestedGroups([SuggestedGroup(("day", "night"), 10, 9, 1, 0)]).to_pandas()["name"].tolist()
    ['day / night']
    """

    _entry = SuggestedGroup
    _call = "suggest_groups(table)"

    def _row(self, entry: SuggestedGroup) -> dict[str, Any]:
        return {"name": entry.name} | super()._row(entry)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{number_of(len(self), 'suggested group')} of concepts that exclude each other"


Breaches = Annotated[float, Option("Most breaches", "Share of answers that break a group.", low=0, below=1)]


@checked
def suggest_groups(table: LabelTable, most_breaches: Breaches = MOST_BREACHES) -> SuggestedGroups:
    """Suggest groups of two or more concepts with exactly one choice in every answer, or nearly every one.

    Of the answers that chose anything, at most a share of `most_breaches` may have chosen none or several concepts of a
    group. This must be at most a quarter of the number for concepts chosen independently: a concept that nearly all
    answers have and one that hardly any has form such a group by chance alone. Groups do not overlap; the search begins
    with the most frequent concept. Whether the concepts exclude each other by their meaning is for people to decide.

    Parameters
    ----------
    table : LabelTable
        The groups of the table are ignored.
    most_breaches : float in [0, 1)
        Maximum share of breaches; 0: always exactly one.

    Returns
    -------
    SuggestedGroups
        Pass ``{group.name: group.concepts for group in ...}`` to `LabelTable.regroup`.

    Raises
    ------
    InputError
        If the share is out of range.

    Examples
    --------
    >>> labels = [["day", "sky"], ["day"], ["night", "sky"], ["night"]] * 3
    >>> rows = [{"item": item, "rater": "ann", "label": label} for item, label in enumerate(labels)]
    >>> [(group.name, group.supporting) for group in suggest_groups(LabelTable.from_rows(rows, groups=None))]
    [('day / night', 12)]
    """
    chosen = _chosen(table)
    answers = chosen.shape[0]
    if answers and chosen.sum() == answers:  # one label per answer
        used = np.argsort(-np.bincount(table.concept), kind="stable")[: len(np.unique(table.concept))]
        return SuggestedGroups((_counted(chosen[:, used], table.concepts[used]),) if len(used) > 1 else ())
    together = np.asarray((chosen.T @ chosen).toarray())
    counts = together.diagonal().copy()
    np.fill_diagonal(together, 0)
    found: list[SuggestedGroup] = []
    free = counts > 0
    for spare in sorted({0, int(most_breaches * answers)}):  # groups without breaches come first
        search = _Search(counts, together, answers, spare)
        for seed in np.argsort(-counts, kind="stable").tolist():
            members = search.group_of(seed, free) if free[seed] else None
            if members is not None:
                group = _counted(chosen[:, members], table.concepts[members])
                breaches = answers - group.supporting
                if breaches <= spare and breaches <= CHANCE * _unrelated(counts[members], answers):
                    free[members] = False
                    found.append(group)
    return SuggestedGroups(found)


def _chosen(table: LabelTable) -> scipy.sparse.csr_array:
    """Return the concepts (A', C) of each answer that chose anything, as zeros and ones."""
    ones = np.ones(len(table.answer), np.int64)
    chosen = scipy.sparse.csr_array(
        (ones, (table.answer, table.concept)), shape=(len(table), max(len(table.concepts), 1))
    )
    return chosen[np.unique(table.answer)]


def _counted(chosen: scipy.sparse.csr_array, concepts: NDArray[np.object_]) -> SuggestedGroup:
    """Build a group of concepts with the counts of the answers that chose them."""
    times = np.asarray(chosen.sum(axis=1)).ravel()
    supporting, without, several = (int(which.sum()) for which in (times == 1, times == 0, times > 1))
    return SuggestedGroup(tuple(concepts.tolist()), len(times), supporting, without, several)


def _unrelated(counts: NDArray[np.int64], answers: int) -> float:
    """Compute how many answers would choose none or several of independent concepts with these counts."""
    share = counts / answers
    others = np.array([np.prod(np.delete(1 - share, index)) for index in range(len(share))])
    return float(answers * (1 - (share * others).sum()))


class _Search:
    """Search for concepts that together cover the answers and hardly overlap, by how often two occur together.

    Parameters
    ----------
    counts : (C,) int
        Number of answers that chose each concept.
    together : (C, C) int
        Number of answers that chose two concepts, 0 on the diagonal.
    answers, spare : int
        Number of answers, and of those that may break a group.
    """

    def __init__(self, counts: NDArray[np.int64], together: NDArray[np.int64], answers: int, spare: int) -> None:
        self.counts, self.together, self.answers, self.spare = counts, together, answers, spare
        self.steps, self.left = 0, STEPS_IN_ALL

    def group_of(self, seed: int, free: NDArray[np.bool_]) -> list[int] | None:
        """Return a group that contains a concept, made of free concepts; None if there is none."""
        self.steps = min(MOST_STEPS, self.left)
        self.left -= self.steps
        others = np.flatnonzero(free & (np.arange(len(free)) != seed))
        others = others[np.argsort(-self.counts[others], kind="stable")]
        found = self._extend([seed], int(self.counts[seed]), 0, others, self.together[seed, others])
        self.left += self.steps
        return found if found is not None and len(found) > 1 else None

    def _extend(
        self, members: list[int], covered: int, overlap: int, others: NDArray[np.intp], shared: NDArray[np.int64]
    ) -> list[int] | None:
        """Extend members by others, most frequent first, until they cover enough without overlapping too much.

        `covered`: how often members were chosen; `overlap`: how often two of them together; `shared`: how often each of
        the others was chosen together with a member.
        """
        if self.steps <= 0 or len(members) > MOST_MEMBERS:
            return None
        self.steps -= 1
        fitting = (overlap + shared <= self.spare) & (
            self.counts[others] > 2 * shared
        )  # otherwise it breaks more than it covers
        others, shared = others[fitting], shared[fitting]
        reach = covered + np.cumsum(self.counts[others][::-1])[::-1]
        for index in range(len(others)):
            if reach[index] < self.answers - self.spare:
                break
            other, more = int(others[index]), int(self.counts[others[index]])
            rest = others[index + 1 :]
            found = self._extend(
                [*members, other],
                covered + more,
                overlap + int(shared[index]),
                rest,
                shared[index + 1 :] + self.together[other, rest],
            )
            if found is not None:
                return found
        return members if covered - overlap >= self.answers - self.spare else None
