"""Majority votes, their ties, and the agreement of raters with the majority."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.arrays import divide, total
from kalos_core.chance import Counts, tally
from kalos_core.display import number_of, percent_text
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.decisions import ConceptVotes, mean_of_finite
from kalos_core.nominal.table import LabelTable
from kalos_core.options import checked
from kalos_core.results import Result
from kalos_core.sharding import Sharded, known_of

if TYPE_CHECKING:
    import pandas as pd

UNDECIDED = -1
"""Winner of an item without annotations, or with a tie."""

MERGED = "majority"
"""Name of the rater that `merge_raters` creates."""


@dataclass(frozen=True, eq=False, repr=False)
class Majority(Result):
    """Majority vote of one question on I items.

    Table: one row per item.

    Figures: ``"shares"``.

    Parameters
    ----------
    winner : (I,) int
        Category with the most votes; `UNDECIDED` for a tie or without votes.
    votes : (I,) int
        Number of its votes, or of the votes of each category in a tie.
    annotations : (I,) int
        Number of all votes.
    tied : (I,) bool
        Whether several categories have the most votes.

    Examples
    --------
    >>> majority_vote([[2, 1], [1, 1], [0, 0]]).share.tolist()
    [0.6666666666666666, 0.5, nan]
    """

    _call = "majority_vote(counts)"
    _columns = "winner votes annotations tied share"

    winner: NDArray[np.intp]
    votes: NDArray[np.int64]
    annotations: NDArray[np.int64]
    tied: NDArray[np.bool_]

    @property
    def share(self) -> NDArray[np.float64]:
        """(I,) share of the votes for the winner, or for each category in a tie; NaN without votes."""
        return np.asarray(self.votes / np.where(self.annotations > 0, self.annotations, np.nan))

    @property
    def ties(self) -> int:
        """Number of items without a winner because several categories tie."""
        return int(self.tied.sum())

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"Majority of {number_of(len(self.winner), 'item')}, {int(self.tied.sum()):,} tied"


@checked
def majority_vote(counts: Counts) -> Majority:
    """Find the category with the most votes of each item (plurality); ties are reported, never decided by order.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`

    Returns
    -------
    Majority

    Examples
    --------
    >>> result = majority_vote([[2, 1], [1, 1], [0, 3]])
    >>> result.winner.tolist(), result.tied.tolist()
    ([0, -1, 1], [False, True, False])
    """
    found = tally(counts)
    most = np.zeros(found.items, np.int64)
    np.maximum.at(most, found.item, found.count)
    best = found.count == most[found.item]
    winners = np.bincount(found.item[best], minlength=found.items)
    winner = np.full(found.items, UNDECIDED, np.intp)
    winner[found.item[best]] = found.category[best]
    winner[winners > 1] = UNDECIDED
    return Majority(winner, most, found.annotations, winners > 1)


@checked
def merge_raters(table: LabelTable, name: str = MERGED) -> LabelTable:
    """Merge all raters into one rater with the majority of labels, concept by concept, group by group.

    A tie is left open (`LabelTable.unanswered`): exactly half of the raters chose an optional concept, or several
    concepts of a group have the most votes. A question that no rater answered is left open as well.

    Parameters
    ----------
    table : LabelTable
    name : str
        Name of the one rater of the result.

    Returns
    -------
    LabelTable
        Answers for all items that any rater labelled.

    Examples
    --------
    >>> rows = [("a", "ann", "cat"), ("a", "bob", "cat"), ("a", "cid", "dog"), ("b", "ann", "cat"), ("b", "bob", "dog")]
    >>> table = LabelTable.from_rows([dict(zip(("item", "rater", "label"), row)) for row in rows])
    >>> merge_raters(table).values().tolist()
    [[0], [-2]]
    """
    votes = ConceptVotes.of(table)
    item = np.unique(table.item)
    answer_of = np.full(len(table.items), -1, np.intp)
    answer_of[item] = np.arange(len(item))
    chosen, undecided = [votes.optional_majority()], [votes.optional_ties()]
    undecided.append(votes.silent())
    for code in range(len(table.groups)):
        members = np.flatnonzero(table.group_of == code)
        vote = majority_vote(table.counts(str(table.groups[code])))
        decided = np.flatnonzero(vote.winner >= 0)
        chosen.append(np.column_stack([decided, members[vote.winner[decided]]]))
        rest = item[vote.winner[item] < 0]
        undecided.append(np.column_stack([rest, np.full(len(rest), members[0])]))  # leaves the whole group open
    chosen_labels, left_open = (np.concatenate(part) for part in (chosen, undecided))
    concepts = max(len(table.concepts), 1)
    left_open = np.column_stack(np.divmod(np.unique(left_open[:, 0] * concepts + left_open[:, 1]), concepts))
    return LabelTable(
        item=item,
        rater=np.zeros(len(item), np.intp),
        answer=answer_of[chosen_labels[:, 0]],
        concept=chosen_labels[:, 1],
        items=table.items,
        raters=object_array([name]),
        concepts=table.concepts,
        groups=table.groups,
        group_of=table.group_of,
        unanswered=np.column_stack([answer_of[left_open[:, 0]], left_open[:, 1]]),
    )


@dataclass(frozen=True, eq=False, repr=False)
class MajorityLabels(Result):
    """Labels chosen by a majority: N labels of items, each with the share of the raters who chose it.

    Table: one row per label, with codes of the table.

    Figures: ``"shares"``.

    Parameters
    ----------
    item, concept : (N,) int
        Codes, sorted by item.
    share : (N,) float64
        Share of the raters who decided on the concept, or answered its group.
    tied : (N,) bool
        Whether the label is open: an optional concept that exactly half of the raters chose, or any chosen concept of a
        group in which several have the most votes.

    Examples
    --------
    >>> rows = [("a", "ann", "cat"), ("a", "bob", "cat"), ("a", "cid", "dog"), ("b", "ann", "cat"), ("b", "bob", "dog")]
    >>> table = LabelTable.from_rows([dict(zip(("item", "rater", "label"), row)) for row in rows])
    >>> found = majority_labels(table)
    >>> found.item.tolist(), found.share.round(2).tolist(), found.tied.tolist()
    ([0, 1, 1], [0.67, 0.5, 0.5], [False, True, True])
    """

    _call = "majority_labels(table)"
    _columns = "item concept share tied"

    item: NDArray[np.intp]
    concept: NDArray[np.intp]
    share: NDArray[np.float64]
    tied: NDArray[np.bool_]

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{number_of(len(self.item), 'label')} of the majority, {int(self.tied.sum()):,} left open by a tie"


@checked
def majority_labels(table: LabelTable) -> MajorityLabels:
    """Return the labels of `merge_raters` with their shares, and those that a tie leaves open.

    Parameters
    ----------
    table : LabelTable

    Returns
    -------
    MajorityLabels

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": names} for r, names in (("a", ["sky"]), ("b", ["sky"]), ("c", []))]
    >>> majority_labels(LabelTable.from_rows(rows, groups=None)).share.round(2).tolist()
    [0.67]
    """
    votes = ConceptVotes.of(table)
    rows = (2 * votes.chose >= votes.decided) & (table.group_of[votes.concept] == OPTIONAL)
    chose, decided = votes.chose[rows], votes.decided[rows]
    parts = [(votes.item[rows], votes.concept[rows], chose / decided, 2 * chose == decided)]
    for code, name in enumerate(table.groups.tolist()):
        counts = table.counts(name).tocoo()
        vote = majority_vote(counts.tocsr())
        item, option = counts.coords
        kept = vote.tied[item] | (option == vote.winner[item])
        share = counts.data / vote.annotations[item]
        concept = np.flatnonzero(table.group_of == code)[option]
        parts.append((item[kept], concept[kept], share[kept], vote.tied[item[kept]]))
    item, concept, share, tied = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((concept, item))
    return MajorityLabels(item[order].astype(np.intp), concept[order].astype(np.intp), share[order], tied[order])


@dataclass(frozen=True, eq=False, repr=False)
class MajorityAgreement(Result):
    """Share of raters who agree with the majority, by concept and by item, in both readings of a decision.

    Table: one row per concept.

    Figures: ``"concepts"``.

    Parameters
    ----------
    concepts, group : (C,) object
        Names, and the group of each concept; None for an optional concept.
    concept_all, concept_chosen : (C,) float64
        Mean over items of the share of raters in the majority, in [0.5, 1]: over all items, and over those where any
        rater chose the concept; NaN if there are none.
    concept_items : (C,) int
        Number of items on which any rater chose the concept.
    items : (I,) object
    item_all, item_chosen : (I,) float64
        The same for each item: over all concepts, and over those that any rater chose.
    item_concepts : (I,) int
        Number of concepts that any rater chose.

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": names} for r, names in (("ann", ["sky"]), ("bob", []))]
    >>> found = majority_agreement(LabelTable.from_rows(rows, groups=None, concepts=["sky", "snow"]))
    >>> found.concept_all.tolist(), found.concept_chosen.tolist(), found.item_all.tolist()
    ([0.5, 1.0], [0.5, nan], [0.75])
    """

    _call = "majority_agreement(table)"
    _columns = "concept:concepts group all:concept_all chosen:concept_chosen items:concept_items"

    concepts: NDArray[np.object_]
    group: NDArray[np.object_]
    concept_all: NDArray[np.float64]
    concept_chosen: NDArray[np.float64]
    concept_items: NDArray[np.intp]
    items: NDArray[np.object_]
    item_all: NDArray[np.float64]
    item_chosen: NDArray[np.float64]
    item_concepts: NDArray[np.intp]

    @property
    def means(self) -> dict[str, float]:
        """Mean of each of the four shares over the concepts or items where it is defined."""
        names = ("concept_all", "concept_chosen", "item_all", "item_chosen")
        return {name: mean_of_finite(getattr(self, name)) for name in names}

    def without_items(self) -> MajorityAgreement:
        """Return the numbers of the concepts alone.

        Examples
        --------
        >>> table = LabelTable.from_rows([{"item": 1, "rater": "ann", "label": "cat"}])
        >>> majority_agreement(table).without_items().item_all.tolist()
        []
        """
        none = np.zeros(0)
        no_items = object_array([])
        return replace(self, items=no_items, item_all=none, item_chosen=none, item_concepts=np.zeros(0, np.intp))

    @property
    def headline(self) -> str:
        """The finding, in words."""
        everywhere, chosen = (percent_text(self.means[name]) for name in ("concept_all", "concept_chosen"))
        return (
            f"{everywhere} of the raters agree with the majority about a concept, {chosen} where a rater chose it; "
            f"{number_of(len(self.concepts), 'concept')}"
        )

    def items_to_pandas(self) -> pd.DataFrame:
        """Return one row per item."""
        return self._frame("item:items all:item_all chosen:item_chosen concepts:item_concepts")


@checked
def majority_agreement(table: LabelTable | Sharded[LabelTable]) -> MajorityAgreement:
    """Compute the agreement with the majority per concept and per item (Nowak & Rüger §5.1, Figure 4).

    For each item and concept, it is the share of raters who decided like the majority: chose the concept, or did not.
    If
    *selection and deselection* count as decisions, the mean is over all items. If only *selection* counts, it is over
    items where at least one rater chose the concept. A concept that no rater chose is then undefined (the paper plots
    0). A tie has share 0.5, whoever wins. An answer that breaks a group does not decide on its concepts.

    Parameters
    ----------
    table : LabelTable, or shards of one

    Returns
    -------
    MajorityAgreement

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": names} for r, names in (("a", ["sky"]), ("b", []), ("c", []))]
    >>> found = majority_agreement(LabelTable.from_rows(rows, groups=None))
    >>> found.concept_chosen.round(3).tolist()
    [0.667]
    """
    known = known_of(table)
    votes = ConceptVotes.of_source(table)
    loss = 1 - np.maximum(votes.chose, votes.decided - votes.chose) / votes.decided
    counted = votes.raters > 0
    concept_items, item_concepts = votes.deciding_items(), votes.deciding_concepts()
    by_concept = np.bincount(votes.concept, minlength=len(known.concepts))
    by_item = np.bincount(votes.item, minlength=len(known.items))
    concept_loss = total(votes.concept, loss, len(known.concepts))
    item_loss = total(votes.item, loss, len(known.items))
    return MajorityAgreement(
        concepts=known.concepts,
        group=object_array([*known.groups, None])[known.group_of],  # `OPTIONAL` (-1) selects the last
        concept_all=1 - divide(concept_loss, concept_items),
        concept_chosen=1 - divide(concept_loss, by_concept),
        concept_items=by_concept,
        items=known.items,
        item_all=np.where(counted, 1 - divide(item_loss, item_concepts), np.nan),
        item_chosen=1 - divide(item_loss, by_item),
        item_concepts=by_item,
    )
