"""Decisions on single concepts: every rater who answered chose each concept, or did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import find_sorted, total
from kalos_core.chance import Tally, tally_unseen
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.groups import check_groups
from kalos_core.nominal.table import LabelTable
from kalos_core.sharding import Sharded


@dataclass(frozen=True, eq=False)
class Decisions:
    """Valid decisions of a table: chosen and missing ones, as ascending keys answer * C + concept.

    Any concept neither chosen nor missing was decided against. Concepts of a group that an answer breaks are missing.
    """

    table: LabelTable
    chosen: NDArray[np.intp]
    missing: NDArray[np.intp]

    @classmethod
    def of(cls, table: LabelTable) -> Decisions:
        """Return the decisions of a table."""
        concepts = max(len(table.concepts), 1)
        broken = check_groups(table)
        parts = [table.unanswered[:, 0] * concepts + table.unanswered[:, 1]]
        for code in range(len(table.groups)):
            members = np.flatnonzero(table.group_of == code)
            left_open = table.unanswered[np.isin(table.unanswered[:, 1], members), 0]
            answers = np.concatenate([broken.answer[broken.group == code], left_open])
            parts.append((answers[:, None] * concepts + members).ravel())
        missing = np.unique(np.concatenate(parts))
        chosen = np.sort(table.answer * concepts + table.concept)
        return cls(table, chosen[find_sorted(missing, chosen) < 0], missing)


@dataclass(frozen=True, eq=False)
class ConceptVotes:
    """Number of raters who chose a concept on an item, for the M pairs that at least one rater chose.

    Parameters
    ----------
    table : LabelTable
    item, concept : (M,) int
    chose : (M,) int
        Number of raters who chose it.
    decided : (M,) int
        Number of raters who decided on it.
    raters : (I,) int
        Number of raters who answered for an item.
    gap_item, gap_concept : (S,) int
        Pairs on which some raters who answered for the item did not decide on the concept.
    gap_decided : (S,) int
        Number of raters who did.
    """

    table: LabelTable
    item: NDArray[np.intp]
    concept: NDArray[np.intp]
    chose: NDArray[np.intp]
    decided: NDArray[np.intp]
    raters: NDArray[np.intp]
    gap_item: NDArray[np.intp]
    gap_concept: NDArray[np.intp]
    gap_decided: NDArray[np.intp]

    @classmethod
    def of(cls, table: LabelTable) -> ConceptVotes:
        """Return the votes of a table."""
        concepts = max(len(table.concepts), 1)
        decisions = Decisions.of(table)
        raters = np.bincount(table.item, minlength=len(table.items))

        def index(keys: NDArray[np.intp]) -> NDArray[np.intp]:
            return table.item[keys // concepts] * concepts + keys % concepts

        pair, chose = np.unique(index(decisions.chosen), return_counts=True)
        gap, times = np.unique(index(decisions.missing), return_counts=True)
        item, concept = pair // concepts, pair % concepts
        at = find_sorted(gap, pair)
        decided = raters[item] - np.where(at >= 0, np.append(times, 0)[at], 0)
        gap_item = gap // concepts
        return cls(table, item, concept, chose, decided, raters, gap_item, gap % concepts, raters[gap_item] - times)

    @classmethod
    def of_source(cls, source: LabelTable | Sharded[LabelTable]) -> ConceptVotes:
        """Return the votes of a table, or of shards, whose answers are not kept."""
        if not isinstance(source, Sharded):
            return cls.of(source)
        parts = source.parts(_votes_alone, "Votes")
        joined: dict[str, Any] = {
            entry.name: np.concatenate([getattr(part, entry.name) for part in parts])
            for entry in fields(cls)
            if entry.name != "table"
        }
        for name in ("item", "gap_item"):
            joined[name] = joined[name] + np.repeat(source.starts[:-1], [len(getattr(part, name)) for part in parts])
        return cls(table=source.known, **joined)

    def deciding_items(self) -> NDArray[np.intp]:
        """Count the items (C,) on which any rater decided on each concept."""
        silent = np.bincount(self.gap_concept[self.gap_decided == 0], minlength=len(self.table.concepts))
        return np.asarray((self.raters > 0).sum() - silent)

    def deciding_concepts(self, least: int = 1) -> NDArray[np.intp]:
        """Count the concepts (I,) of each item on which at least `least` raters decided."""
        lost = (self.gap_decided < least) & (self.raters[self.gap_item] >= least)
        silent = np.bincount(self.gap_item[lost], minlength=len(self.raters))
        return np.where(self.raters >= least, len(self.table.concepts) - silent, 0)

    def optional_majority(self) -> NDArray[np.intp]:
        """Return items and optional concepts (B, 2) that most raters chose."""
        return self._optional(2 * self.chose > self.decided)

    def optional_ties(self) -> NDArray[np.intp]:
        """Return items and optional concepts (B, 2) that exactly half of the raters chose."""
        return self._optional(2 * self.chose == self.decided)

    def silent(self) -> NDArray[np.intp]:
        """Return items and concepts (S, 2) on which no rater decided."""
        none = self.gap_decided == 0
        return np.column_stack([self.gap_item[none], self.gap_concept[none]])

    def _optional(self, which: NDArray[np.bool_]) -> NDArray[np.intp]:
        rows = which & (self.table.group_of[self.concept] == OPTIONAL)
        return np.column_stack([self.item[rows], self.concept[rows]])


def _votes_alone(table: LabelTable) -> ConceptVotes:
    return replace(ConceptVotes.of(table), table=table.select(items=[]))


def optional_tallies(table: LabelTable) -> dict[str, Tally]:
    """Count the raters who did not choose, and who chose, each optional concept; items with equal counts are merged.

    The result equals `LabelTable.counts` of each concept, except for the rows. On most items no rater chose a concept,
    and such items are counted together.

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": ["sky"] if i == 0 else []} for r in ("ann", "bob") for i in range(9)]
    >>> found = optional_tallies(LabelTable.from_rows(rows, groups=None))["sky"]
    >>> found.count.tolist(), found.category.tolist(), found.times.tolist()
    ([2, 2], [0, 1], [8, 1])
    """
    votes = ConceptVotes.of(table)
    concepts = len(table.concepts)
    decided, items = np.unique(votes.raters, return_counts=True)
    pairs, gaps = votes.concept * len(table.items) + votes.item, votes.gap_concept * len(table.items) + votes.gap_item
    quiet = find_sorted(np.sort(pairs), gaps) < 0  # some raters did not decide, and none chose
    # (concept, decided, chose, items): first as if no rater had chosen anything, then replaced where that differs
    parts = (
        (np.repeat(np.arange(concepts), len(decided)), np.tile(decided, concepts), 0, np.tile(items, concepts)),
        (votes.concept, votes.raters[votes.item], 0, -1),
        (votes.concept, votes.decided, votes.chose, 1),
        (votes.gap_concept[quiet], votes.raters[votes.gap_item[quiet]], 0, -1),
        (votes.gap_concept[quiet], votes.gap_decided[quiet], 0, 1),
    )
    concept, decided, chose, times = np.concatenate([np.stack(np.broadcast_arrays(*part), axis=1) for part in parts]).T
    concept, decided, chose, times = _alike(concept, decided, chose, times)
    start = np.searchsorted(concept, np.arange(concepts + 1))
    return {
        str(table.concepts[code]): _of_optional(*(of[start[code] : start[code + 1]] for of in (decided, chose, times)))
        for code in np.flatnonzero(table.group_of == OPTIONAL)
    }


def join_optional(parts: Sequence[Tally]) -> Tally:
    """Join the counts of an optional concept in tables of different items, as in `optional_tallies` of one table.

    Examples
    --------
    >>> def sky(items, chosen):
    ...     rows = [{"item": i, "rater": r, "label": ["sky"][: i in chosen]} for r in ("ann", "bob") for i in items]
    ...     return optional_tallies(LabelTable.from_rows(rows, groups=None, concepts=["sky"]))["sky"]
    >>> found = join_optional([sky("ab", "b"), sky("cde", "d")])
    >>> found.count.tolist(), found.category.tolist(), found.times.tolist()
    ([2, 2], [0, 1], [3, 2])
    """
    chose = np.concatenate([total(*_chosen(part), part.items) for part in parts]).astype(np.int64)
    decided, times = (np.concatenate([getattr(part, name) for part in parts]) for name in ("annotations", "times"))
    return _of_optional(*_alike(np.zeros(len(chose), np.int64), decided, chose, times)[1:])


def _chosen(found: Tally) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    return found.item[found.category == 1], found.count[found.category == 1]


def _alike(
    concept: NDArray[np.int64], decided: NDArray[np.int64], chose: NDArray[np.int64], times: NDArray[np.int64]
) -> tuple[NDArray[np.int64], ...]:
    """Merge equal rows, ascending, with the sum of their times; leave out those where it is 0."""
    size = int(decided.max(initial=0)) + 1
    kinds, index = np.unique((concept * size + decided) * size + chose, return_inverse=True)
    times = total(index, times, len(kinds)).astype(np.int64)
    kinds, times = kinds[times > 0], times[times > 0]
    pairs, chose = np.divmod(kinds, size)
    return *np.divmod(pairs, size), chose, times


def _of_optional(decided: NDArray[np.int64], chose: NDArray[np.int64], times: NDArray[np.int64]) -> Tally:
    """Return rows of an optional concept: how many did not choose it, how many did, and for how many items."""
    return replace(tally_unseen(np.stack([decided - chose, chose], axis=1)), times=times)


def mean_of_finite(values: NDArray[np.float64]) -> float:
    """Compute the mean of the finite values; NaN if there are none.

    Examples
    --------
    >>> mean_of_finite(np.array([1.0, np.nan, 2.0])), mean_of_finite(np.array([np.nan]))
    (1.5, nan)
    """
    found = values[np.isfinite(values)]
    return float(found.mean()) if len(found) else float("nan")
