"""Pairwise accuracy: share of labels that two raters give alike, over all items and per item."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.annotations.columns import codes_in, new_codes
from kalos_core.arrays import divide, total
from kalos_core.display import number_of, percent_text
from kalos_core.errors import InputError, listed, repr_of, warn
from kalos_core.nominal.build import OPTIONAL, RawLabels
from kalos_core.nominal.decisions import ConceptVotes, Decisions, mean_of_finite
from kalos_core.nominal.majority import merge_raters
from kalos_core.nominal.table import LabelTable, build_table
from kalos_core.options import checked
from kalos_core.reliability import NOT_ASSIGNED
from kalos_core.results import Result, of_pairs
from kalos_core.sharding import Sharded, parts_of

if TYPE_CHECKING:
    import pandas as pd

WITHOUT_ITEMS = "reference: expected items of the table, got none in common"

REFERENCE = "reference"
"""Name of a reference without a name of its own."""

Reference: TypeAlias = str | LabelTable | Mapping[Hashable, Any]
"""Reference for accuracy: a rater of the table by name, a table of one rater, or the label or labels of each item."""


@dataclass(frozen=True, eq=False, repr=False)
class RaterAccuracy(Result):
    """Accuracy between every two of R raters, and of each relative to the majority and to a reference.

    It is counted over questions, and over decisions on single concepts (Nowak & Rüger Eq. 1, Table 2). For optional
    concepts, each of which is a question, both are the same. In a group of many concepts of which one is chosen, raters
    who differ still decide alike on all concepts that neither chose. Accuracy over decisions is then high whatever they
    answer.

    Figures: ``"raters"``.

    Parameters
    ----------
    raters : (R,) object
    accuracy : (R, R) float64
        Share of questions answered alike, of those both answered; NaN on the diagonal and without such questions.
    questions : (R, R) int
        Number of questions both answered.
    to_majority : (R,) float64
        Accuracy relative to `merge_raters`, without ties.
    to_reference : (R,) float64
        Accuracy relative to the reference; NaN without one.
    decision_accuracy : (R, R) float64
        Share of decisions on concepts that are alike, of those both made, as in the paper.
    decisions : (R, R) int
        Number of decisions both made.
    decision_to_majority, decision_to_reference : (R,) float64
        Accuracy of decisions relative to the majority and the reference.
    reference : str
        Name of the reference, "" without one.

    Examples
    --------
    Three classes; ann and bob differ on one of two items, and so on two of six decisions:

    >>> answers = ((1, "ann", "cat"), (1, "bob", "cat"), (2, "ann", "dog"), (2, "bob", "owl"))
    >>> table = LabelTable.from_rows([dict(zip(("item", "rater", "label"), row)) for row in answers])
    >>> found = rater_accuracy(table, reference={1: "cat", 2: "owl"})
    >>> found.accuracy[0, 1].item(), round(found.decision_accuracy[0, 1].item(), 3), found.to_reference.tolist()
    (0.5, 0.667, [0.5, 1.0])
    """

    _call = "rater_accuracy(table)"

    raters: NDArray[np.object_]
    accuracy: NDArray[np.float64]
    questions: NDArray[np.intp]
    to_majority: NDArray[np.float64]
    to_reference: NDArray[np.float64]
    decision_accuracy: NDArray[np.float64]
    decisions: NDArray[np.intp]
    decision_to_majority: NDArray[np.float64]
    decision_to_reference: NDArray[np.float64]
    reference: str

    @property
    def mean(self) -> float:
        """Mean over pairs of raters with common questions."""
        return mean_of_finite(self.accuracy[np.triu_indices(len(self.raters), 1)])

    @property
    def decision_mean(self) -> float:
        """Mean over pairs of raters with common decisions."""
        return mean_of_finite(self.decision_accuracy[np.triu_indices(len(self.raters), 1)])

    @property
    def headline(self) -> str:
        """The finding, in words."""
        raters = f"mean over pairs of {number_of(len(self.raters), 'rater')}"
        return f"Raters answer {percent_text(self.mean)} of the questions alike, {raters}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per pair of raters."""
        columns = ("accuracy", "questions", "decision_accuracy", "decisions")
        return of_pairs(self.raters, **{name: getattr(self, name) for name in columns})

    def raters_to_pandas(self) -> pd.DataFrame:
        """Return one row per rater: accuracy relative to the majority and to the reference."""
        return self._frame("rater:raters to_majority to_reference decision_to_majority decision_to_reference")


@checked
def rater_accuracy(table: LabelTable | Sharded[LabelTable], reference: Reference | None = None) -> RaterAccuracy:
    """Compute the accuracy of every two raters, and of each relative to the majority and to a reference.

    Over questions, it is the share answered alike of those both answered. Over decisions, it is labels given alike /
    labels (Eq. 1). A label is a concept of an item: choosing it and not choosing it are both decisions. Concepts that
    an answer leaves open, and those of a group it breaks, are not decisions.

    Parameters
    ----------
    table : LabelTable, or shards of one
    reference : rater of the table, LabelTable of one rater, or mapping of item to label or labels, optional
        For example the ground truth; with shards, one of their raters. A rater of the table who is the reference is not
        among the raters of the result, nor part of the majority. Items and concepts are matched by name. A mapping
        leaves out optional concepts that do not apply. Items with None in a mapping are left out, with a warning that
        counts them.

    Returns
    -------
    RaterAccuracy

    Raises
    ------
    InputError
        If the reference is not a rater of the table, has several raters, has no item in common with the table, or has a
        concept that the table lacks.

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": c} for i, r, c in ((1, "a", "x"), (1, "b", "y"), (1, "c", "x"))]
    >>> found = rater_accuracy(LabelTable.from_rows(rows), reference="c")
    >>> found.raters.tolist(), found.to_reference.tolist(), found.accuracy[0].tolist()
    (['a', 'b'], [1.0, 0.0], [nan, 0.0])
    """
    _check_reference(table, reference)
    parts = parts_of(table, partial(_compare_raters, reference=reference), "Accuracy of raters")
    names, name = parts[0][1:]
    found = _Compared(*(np.sum(each, axis=0) for each in zip(*(part for part, *_ in parts), strict=True)))
    raters = len(names)
    accuracy, decision_accuracy = _share(found.same, found.both), _share(found.alike, found.made)
    none = np.full(raters, np.nan)
    return RaterAccuracy(
        raters=names,
        accuracy=accuracy[:raters, :raters],
        questions=found.both[:raters, :raters].astype(np.intp),
        to_majority=accuracy[:raters, raters],
        to_reference=none if reference is None else accuracy[:raters, raters + 1],
        decision_accuracy=decision_accuracy[:raters, :raters],
        decisions=found.made[:raters, :raters].astype(np.intp),
        decision_to_majority=decision_accuracy[:raters, raters],
        decision_to_reference=none if reference is None else decision_accuracy[:raters, raters + 1],
        reference=name,
    )


def _check_reference(source: LabelTable | Sharded[LabelTable], reference: Reference | None) -> None:
    if isinstance(source, Sharded) and reference is not None and not isinstance(reference, str):
        raise InputError(
            f"reference: expected the name of a rater with shards, got {type(reference).__name__}; shards.table(), if "
            "memory holds all of it, accepts any"
        )


def _compare_raters(table: LabelTable, reference: Reference | None) -> tuple[_Compared, NDArray[np.object_], str]:
    """Return counts for every two raters, including the majority and the reference; rater names; reference name."""
    name, of_reference = "", None
    if reference is not None:
        table, of_reference, name = _find_reference(table, reference)
    return _compare(_with_raters(table, merge_raters(table), of_reference)), table.raters, name


def _find_reference(table: LabelTable, reference: Reference) -> tuple[LabelTable, LabelTable, str]:
    """Return the other raters, the reference as a table of the same items and concepts, and its name."""
    names = table.raters.tolist()
    if isinstance(reference, str):
        if reference not in names:
            raise InputError(f"reference: expected a rater among {listed(names, 20)}, got {repr_of(reference)}")
        others = [name for name in names if name != reference]
        return table.select(raters=others), table.select(raters=[reference]), reference
    if isinstance(reference, LabelTable):
        if len(reference.raters) != 1:
            raise InputError(f"reference: expected a table of one rater, got {len(reference.raters)}")
        return table, _in_words_of(table, reference), str(reference.raters[0])
    gaps = sum(label is None for label in reference.values())
    if gaps:
        warn(f"reference: {gaps:,} of {len(reference):,} items have no label (None) and are excluded")
    given = {item: reference[item] for item in table.items.tolist() if reference.get(item) is not None}
    if not given:
        raise InputError(WITHOUT_ITEMS)
    labels = [list(of) if isinstance(of, Iterable) and not isinstance(of, str) else of for of in given.values()]
    concepts = table.concepts.tolist()
    groups = {
        str(name): [concepts[code] for code in np.flatnonzero(table.group_of == number)]
        for number, name in enumerate(table.groups)
    }
    made = build_table(
        RawLabels(list(given), [REFERENCE] * len(given), labels, [None] * len(given)),
        source="reference",
        groups=groups or None,
        concepts=concepts,
        describe=lambda row: f"item {list(given)[row]!r}",
    )
    return table, _in_words_of(table, made), REFERENCE


def _in_words_of(table: LabelTable, other: LabelTable) -> LabelTable:
    """Recode a table with the items and concepts of another; items that the other does not have are left out."""
    item, concept = codes_in(table.items, other.items), codes_in(table.concepts, other.concepts)
    used = np.unique(np.concatenate([other.concept, other.unanswered[:, 1]]))
    strange = other.concepts[used[concept[used] < 0]]
    if len(strange):
        raise InputError(f"reference: expected concepts of the table, got {listed(map(repr_of, strange))}")
    answers = np.flatnonzero(item[other.item] >= 0)
    if not len(answers):
        raise InputError(WITHOUT_ITEMS)
    kept = new_codes(answers, len(other.item))
    chosen, left_open = kept[other.answer] >= 0, kept[other.unanswered[:, 0]] >= 0
    return LabelTable(
        item=item[other.item[answers]],
        rater=np.zeros(len(answers), np.intp),
        answer=kept[other.answer[chosen]],
        concept=concept[other.concept[chosen]],
        items=table.items,
        raters=other.raters,
        concepts=table.concepts,
        groups=table.groups,
        group_of=table.group_of,
        unanswered=np.column_stack([kept[other.unanswered[left_open, 0]], concept[other.unanswered[left_open, 1]]]),
    )


def _with_raters(table: LabelTable, *others: LabelTable | None) -> LabelTable:
    """Add to the table one rater for each table of one rater, in this order."""
    parts = [part for part in (table, *others) if part is not None]
    shifts = np.cumsum([0, *(len(part) for part in parts)])
    raters = [*table.raters, *(("one more", number) for number in range(len(parts) - 1))]  # no rater is a tuple
    return LabelTable(
        item=np.concatenate([part.item for part in parts]),
        rater=np.concatenate(
            [table.rater, *(part.rater + len(table.raters) + number for number, part in enumerate(parts[1:]))]
        ),
        answer=np.concatenate([part.answer + shift for part, shift in zip(parts, shifts, strict=False)]),
        concept=np.concatenate([part.concept for part in parts]),
        items=table.items,
        raters=object_array(raters),
        concepts=table.concepts,
        groups=table.groups,
        group_of=table.group_of,
        unanswered=np.concatenate(
            [part.unanswered + np.array([shift, 0]) for part, shift in zip(parts, shifts, strict=False)]
        ),
    )


class _Compared(NamedTuple):
    """Counts (R, R) for every two raters, over all items and questions."""

    both: NDArray[np.float64]  # questions both answered
    same: NDArray[np.float64]  # and answered alike
    made: NDArray[np.float64]  # decisions on concepts that both made
    alike: NDArray[np.float64]  # and made alike


Entries = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Raters, and for each entry the key of an item or of an option of an item."""


def _compare(table: LabelTable) -> _Compared:
    found = _of_optional(table)
    for group in table.groups.tolist():
        for sums, amount in zip(found, _of_group(table, group), strict=True):
            sums += amount
    return found


def _of_group(table: LabelTable, group: str) -> _Compared:
    """Compare raters on a group: if two choose different concepts, they decide alike on all but these two."""
    value = table.answered(group)
    given = value >= 0
    rater, item, concepts = table.rater[given], table.item[given], len(table.concepts_of(group))
    option = (rater, item * concepts + value[given])
    both, same = _in_common(table, (rater, item), (rater, item)), _in_common(table, option, option)
    return _Compared(both, same, both * concepts, both * concepts - (both - same) * min(concepts, 2))


def _of_optional(table: LabelTable) -> _Compared:
    """Compare raters on optional concepts: each is a question, on which raters differ if only one of them chose it."""
    decisions, concepts = Decisions.of(table), max(len(table.concepts), 1)

    def entries(keys: NDArray[np.intp]) -> tuple[Entries, Entries]:
        """Return the items, and the decisions on items, of raters."""
        answer, concept = np.divmod(keys[table.group_of[keys % concepts] == OPTIONAL], concepts)
        rater, item = table.rater[answer], table.item[answer]
        return (rater, item), (rater, item * concepts + concept)

    answered = table.rater, table.item
    chosen_on, chosen = entries(decisions.chosen)
    open_on, left_open = entries(decisions.missing)
    without = _in_common(table, open_on, answered)
    made = (table.group_of == OPTIONAL).sum() * _in_common(table, answered, answered)
    made += _in_common(table, left_open, left_open) - without - without.T
    compared = _in_common(table, chosen_on, answered) - _in_common(table, chosen, left_open)
    alike = made - compared - compared.T + 2 * _in_common(table, chosen, chosen)
    return _Compared(made.copy(), alike.copy(), made, alike)


def _in_common(table: LabelTable, one: Entries, other: Entries) -> NDArray[np.float64]:
    """Count (R, R) how often a key of the first rater, in `one`, is also one of the second, in `other`."""
    names, index = np.unique(np.concatenate([one[1], other[1]]), return_inverse=True)
    shape = (len(table.raters), len(names))
    first, second = (
        scipy.sparse.csr_array((np.ones(len(rater)), (rater, at)), shape=shape)
        for rater, at in ((one[0], index[: len(one[0])]), (other[0], index[len(one[0]) :]))
    )
    return np.asarray((first @ second.T).toarray())


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide (R, R); NaN on the diagonal and where there is nothing in common."""
    share = divide(part, whole)
    np.fill_diagonal(share, np.nan)
    return share


@dataclass(frozen=True, eq=False, repr=False)
class ItemAccuracy(Result):
    """Agreement of the raters of each item on its labels (Nowak & Rüger Eq. 2).

    Table: one row per item.

    Figures: ``"items"``.

    Parameters
    ----------
    items : (I,) object
    accuracy : (I,) float64
        Mean share of concepts decided alike, over pairs of raters of the item; NaN with fewer than two raters.
    unanimity : (I,) float64
        Share of concepts that all raters of the item decided alike.
    raters : (I,) int
    to_reference : (I,) float64
        Mean share of concepts decided as in the reference, over raters of the item; NaN without a reference.

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": names} for r, names in (("a", ["sky"]), ("b", []), ("c", []))]
    >>> found = item_accuracy(LabelTable.from_rows(rows, groups=None))
    >>> round(found.mean, 4), found.unanimity.tolist()
    (0.3333, [0.0])
    """

    _call = "item_accuracy(table)"
    _columns = "item:items accuracy unanimity raters to_reference"

    items: NDArray[np.object_]
    accuracy: NDArray[np.float64]
    unanimity: NDArray[np.float64]
    raters: NDArray[np.intp]
    to_reference: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean over items with at least two raters."""
        return mean_of_finite(self.accuracy)

    @property
    def mean_unanimity(self) -> float:
        """Mean over items with at least two raters."""
        return mean_of_finite(self.unanimity)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"Accuracy of the raters of {number_of(len(self.items), 'item')}"


@checked
def item_accuracy(table: LabelTable | Sharded[LabelTable], reference: Reference | None = None) -> ItemAccuracy:
    """Compute the accuracy of each item (Eq. 2), the mean over pairs of its raters, and unanimity.

    A concept on which fewer than two raters decided is left out of its item.

    Parameters
    ----------
    table : LabelTable, or shards of one
    reference : optional
        As in `rater_accuracy`.

    Returns
    -------
    ItemAccuracy

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": names} for r, names in (("a", ["sky"]), ("b", ["sky", "sea"]))]
    >>> item_accuracy(LabelTable.from_rows(rows, groups=None)).accuracy.tolist()
    [0.5]
    """
    _check_reference(table, reference)
    if isinstance(table, Sharded):
        parts = table.parts(partial(item_accuracy, reference=reference), "Accuracy of items")
        names = [entry.name for entry in fields(ItemAccuracy)]
        return ItemAccuracy(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
    to_reference = np.full(len(table.items), np.nan)
    if reference is not None:
        table, of_reference, _ = _find_reference(table, reference)
        to_reference = _items_to_reference(table, of_reference)
    votes = ConceptVotes.of(table)
    items = len(table.items)
    compared = votes.decided >= 2
    chose, decided, item = votes.chose[compared], votes.decided[compared], votes.item[compared]
    mixed = 2 * chose * (decided - chose) / (decided * (decided - 1))  # pairs that differ
    split = (chose > 0) & (chose < decided)
    concepts = votes.deciding_concepts(least=2)
    return ItemAccuracy(
        items=table.items,
        accuracy=1 - divide(total(item, mixed, items), concepts),
        unanimity=1 - divide(total(item, split, items), concepts),
        raters=votes.raters,
        to_reference=to_reference,
    )


def _items_to_reference(table: LabelTable, reference: LabelTable) -> NDArray[np.float64]:
    """Compute the mean share (I,) of concepts that the raters of an item decided as the reference did."""
    truth = reference.decisions(str(reference.raters[0]))
    shares, raters = np.zeros(len(table.items)), np.zeros(len(table.items), np.intp)
    for rater in table.raters:
        own = table.decisions(rater)
        both = (own != NOT_ASSIGNED) & (truth != NOT_ASSIGNED)
        made = both.sum(axis=1)
        shares += ((own == truth) & both).sum(axis=1) / np.maximum(made, 1)
        raters += made > 0
    return divide(shares, raters)
