"""Pairwise accuracy: how many labels two raters give alike, over all items and of each one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.arrays import total
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.decisions import ConceptVotes, Decisions, mean_of_finite, or_nan
from kalos_core.nominal.majority import merge_raters
from kalos_core.nominal.table import LabelTable, check_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class RaterAccuracy:
    """Accuracy between every two of R raters, and of each to the majority (Nowak & Rüger Eq. 1, Table 2).

    Parameters
    ----------
    raters : (R,) object
    accuracy : (R, R) float64
        Share of decisions that are alike, of those both made; NaN on the diagonal and where there are none.
    decisions : (R, R) int
        How many both made.
    to_majority : (R,) float64
        The same towards `merge_raters`, ties left out.
    values : (R, R) float64
        Share of questions answered alike, of those both answered: for labels of which one is chosen among many, where
        two raters who differ still agree on all the classes that neither chose.

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": names} for r, names in (("a", ["sky"]), ("b", ["sky", "sea"]))]
    >>> found = rater_accuracy(LabelTable.from_rows(rows, groups=None))
    >>> found.accuracy[0, 1].item(), found.decisions[0, 1].item()
    (0.5, 2)
    """

    raters: NDArray[np.object_]
    accuracy: NDArray[np.float64]
    decisions: NDArray[np.intp]
    to_majority: NDArray[np.float64]
    values: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean over pairs of raters with common decisions."""
        return mean_of_finite(self.accuracy[np.triu_indices(len(self.raters), 1)])

    def to_pandas(self) -> pd.DataFrame:
        """One row a pair of raters."""
        import pandas as pd

        a, b = np.triu_indices(len(self.raters), 1)
        return pd.DataFrame(
            {
                "rater_a": self.raters[a],
                "rater_b": self.raters[b],
                "accuracy": self.accuracy[a, b],
                "values": self.values[a, b],
                "decisions": self.decisions[a, b],
            }
        )


def rater_accuracy(table: LabelTable) -> RaterAccuracy:
    """Accuracy of every two raters: labels given alike / labels, over the items both answered (Eq. 1).

    A label is a concept of an item: to choose it and not to choose it are both decisions. Concepts that an answer
    leaves open, and those of a group it breaks, are none.

    Parameters
    ----------
    table : LabelTable

    Returns
    -------
    RaterAccuracy

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": c} for i, r, c in ((1, "a", "x"), (1, "b", "y"), (1, "c", "x"))]
    >>> found = rater_accuracy(LabelTable.from_rows(rows))
    >>> found.to_majority.tolist(), found.values[0].tolist()
    ([1.0, 0.0, 1.0], [nan, 0.0, 1.0])
    """
    check_table(table)
    found = _compare(_with_majority(table))
    raters = len(table.raters)
    accuracy = _share(found.alike, found.made)
    return RaterAccuracy(
        raters=table.raters,
        accuracy=accuracy[:raters, :raters],
        decisions=found.made[:raters, :raters].astype(np.intp),
        to_majority=accuracy[:raters, raters],
        values=_share(found.same, found.both)[:raters, :raters],
    )


def _with_majority(table: LabelTable) -> LabelTable:
    """The table with its majority as one more rater, the last."""
    merged = merge_raters(table)
    shift = len(table)
    return LabelTable(
        item=np.concatenate([table.item, merged.item]),
        rater=np.concatenate([table.rater, merged.rater + len(table.raters)]),
        answer=np.concatenate([table.answer, merged.answer + shift]),
        concept=np.concatenate([table.concept, merged.concept]),
        items=table.items,
        raters=object_array([*table.raters, ("majority", "of all")]),  # a tuple is the name of no rater
        concepts=table.concepts,
        groups=table.groups,
        group_of=table.group_of,
        unanswered=np.concatenate([table.unanswered, merged.unanswered + np.array([shift, 0])]),
    )


class _Compared(NamedTuple):
    """(R, R) numbers of every two raters, over all items and questions."""

    both: NDArray[np.float64]  # questions both answered
    same: NDArray[np.float64]  # and answered alike
    made: NDArray[np.float64]  # decisions on concepts that both made
    alike: NDArray[np.float64]  # and made alike


Entries = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Raters, and the key of an item or of an option of an item each has; one entry each."""


def _compare(table: LabelTable) -> _Compared:
    found = _of_optional(table)
    for group in table.groups.tolist():
        for sums, amount in zip(found, _of_group(table, group), strict=True):
            sums += amount
    return found


def _of_group(table: LabelTable, group: str) -> _Compared:
    """Two raters who chose different concepts of a group decide alike on all of its concepts but these two."""
    value = table.answered(group)
    given = value >= 0
    rater, item, concepts = table.rater[given], table.item[given], len(table.concepts_of(group))
    option = (rater, item * concepts + value[given])
    both, same = _in_common(table, (rater, item), (rater, item)), _in_common(table, option, option)
    return _Compared(both, same, both * concepts, both * concepts - (both - same) * min(concepts, 2))


def _of_optional(table: LabelTable) -> _Compared:
    """Each optional concept is a question, on which two raters differ if one of them chose it and the other did not."""
    decisions, concepts = Decisions.of(table), max(len(table.concepts), 1)

    def entries(keys: NDArray[np.intp]) -> tuple[Entries, Entries]:
        """Items, and decisions on items, of raters."""
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
    """(R, R) how often a key of the first rater, in `one`, is also one of the second, in `other`."""
    names, index = np.unique(np.concatenate([one[1], other[1]]), return_inverse=True)
    shape = (len(table.raters), len(names))
    first, second = (
        scipy.sparse.csr_array((np.ones(len(rater)), (rater, at)), shape=shape)
        for rater, at in ((one[0], index[: len(one[0])]), (other[0], index[len(one[0]) :]))
    )
    return np.asarray((first @ second.T).toarray())


def _share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R, R) shares, NaN on the diagonal and where there is nothing in common."""
    share = part / np.where(whole > 0, whole, np.nan)
    np.fill_diagonal(share, np.nan)
    return np.asarray(share)


@dataclass(frozen=True, eq=False)
class ItemAccuracy:
    """How alike the raters of each item labelled it (Nowak & Rüger Eq. 2).

    Parameters
    ----------
    items : (I,) object
    accuracy : (I,) float64
        Mean over pairs of its raters of the share of concepts decided alike; NaN below two raters.
    unanimity : (I,) float64
        Share of concepts that all its raters decided alike.
    raters : (I,) int

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": names} for r, names in (("a", ["sky"]), ("b", []), ("c", []))]
    >>> found = item_accuracy(LabelTable.from_rows(rows, groups=None))
    >>> round(found.mean, 4), found.unanimity.tolist()
    (0.3333, [0.0])
    """

    items: NDArray[np.object_]
    accuracy: NDArray[np.float64]
    unanimity: NDArray[np.float64]
    raters: NDArray[np.intp]

    @property
    def mean(self) -> float:
        """Mean over items with two raters."""
        return mean_of_finite(self.accuracy)

    @property
    def mean_unanimity(self) -> float:
        """Mean over items with two raters."""
        return mean_of_finite(self.unanimity)

    def to_pandas(self) -> pd.DataFrame:
        """One row an item."""
        import pandas as pd

        return pd.DataFrame(
            {"item": self.items, "accuracy": self.accuracy, "unanimity": self.unanimity, "raters": self.raters}
        )


def item_accuracy(table: LabelTable) -> ItemAccuracy:
    """Accuracy of each item (Eq. 2): with more than two raters the mean over pairs, and unanimity.

    A concept on which fewer than two raters decided is left out of its item.

    Parameters
    ----------
    table : LabelTable

    Returns
    -------
    ItemAccuracy

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": names} for r, names in (("a", ["sky"]), ("b", ["sky", "sea"]))]
    >>> item_accuracy(LabelTable.from_rows(rows, groups=None)).accuracy.tolist()
    [0.5]
    """
    votes = ConceptVotes.of(check_table(table))
    items = len(table.items)
    compared = votes.decided >= 2
    chose, decided, item = votes.chose[compared], votes.decided[compared], votes.item[compared]
    mixed = 2 * chose * (decided - chose) / (decided * (decided - 1))  # pairs that differ
    split = (chose > 0) & (chose < decided)
    concepts = or_nan(votes.deciding_concepts(least=2))
    return ItemAccuracy(
        items=table.items,
        accuracy=1 - total(item, mixed, items) / concepts,
        unanimity=1 - total(item, split, items) / concepts,
        raters=votes.raters,
    )
