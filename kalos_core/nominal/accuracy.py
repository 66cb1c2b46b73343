"""Pairwise accuracy: how many labels two raters set alike, over all items and of each one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kalos_core.annotations import object_array
from kalos_core.arrays import total
from kalos_core.nominal.decisions import ConceptVotes, Decisions, or_nan
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
        pairs = self.accuracy[np.triu_indices(len(self.raters), 1)]
        pairs = pairs[np.isfinite(pairs)]
        return float(pairs.mean()) if len(pairs) else float("nan")

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
    """Accuracy of every two raters: labels tagged alike / labels, over the items both answered (Eq. 1).

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
    both = _with_majority(table)
    alike, made = _pairs_of_decisions(both)
    raters = len(table.raters)
    with np.errstate(invalid="ignore"):  # 0 / 0: nothing in common
        share = alike / made
    np.fill_diagonal(share, np.nan)
    return RaterAccuracy(
        raters=table.raters,
        accuracy=share[:raters, :raters],
        decisions=made[:raters, :raters].astype(np.intp),
        to_majority=share[:raters, raters],
        values=_pairs_of_values(table),
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


def _pairs_of_decisions(table: LabelTable) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(R, R) decisions alike, and made by both.

    With yes and asked as raters x (item, concept) tables of 0 and 1, those alike are both asked, less those where
    either chose, plus twice those where both did.
    """
    concepts = max(len(table.concepts), 1)
    found = Decisions.of(table)
    asked = _by_rater(table.rater, table.item, len(table.raters))
    everywhere = (asked @ asked.T).toarray() * len(table.concepts)
    yes, gap = (
        (table.rater[keys // concepts], table.item[keys // concepts] * concepts + keys % concepts)
        for keys in (found.chosen, found.missing)
    )
    places, column = np.unique(np.concatenate([yes[1], gap[1]]), return_inverse=True)
    chose = _by_rater(yes[0], column[: len(yes[0])], len(table.raters), len(places))
    missing = _by_rater(gap[0], column[len(yes[0]) :], len(table.raters), len(places))
    on_item = sparse.csr_array(
        (np.ones(len(places)), (np.arange(len(places)), places // concepts)),
        shape=(len(places), asked.shape[1]) if len(places) else (0, asked.shape[1]),
    )
    answered = on_item @ asked.T  # (places, R) whether a rater answered for the item
    lost = (missing @ answered).toarray()  # open for one, in an item the other answered
    made = everywhere - lost - lost.T + (missing @ missing.T).toarray()
    heard = (chose @ answered).toarray() - (chose @ missing.T).toarray()  # chosen by one, decided by the other
    alike = made - heard - heard.T + 2 * (chose @ chose.T).toarray()
    return alike, made


def _by_rater(
    rater: NDArray[np.intp], column: NDArray[np.intp], raters: int, columns: int | None = None
) -> sparse.csr_array:
    width = columns if columns is not None else int(column.max(initial=-1)) + 1
    return sparse.csr_array((np.ones(len(rater)), (rater, column)), shape=(raters, width))


def _pairs_of_values(table: LabelTable) -> NDArray[np.float64]:
    """(R, R) share of questions answered alike."""
    size = len(table.raters)
    alike, made = np.zeros((size, size)), np.zeros((size, size))
    for question in table.questions:
        value = table.answered(question)
        given = value >= 0
        rater, item, option = table.rater[given], table.item[given], value[given].astype(np.intp)
        asked = _by_rater(rater, item, size)
        place = np.unique(item * (int(option.max(initial=0)) + 1) + option, return_inverse=True)[1]
        same = _by_rater(rater, place, size)
        alike += (same @ same.T).toarray()
        made += (asked @ asked.T).toarray()
    with np.errstate(invalid="ignore"):  # 0 / 0: nothing in common
        share = alike / made
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
        found = self.accuracy[np.isfinite(self.accuracy)]
        return float(found.mean()) if len(found) else float("nan")

    @property
    def mean_unanimity(self) -> float:
        """Mean over items with two raters."""
        found = self.unanimity[np.isfinite(self.unanimity)]
        return float(found.mean()) if len(found) else float("nan")

    def to_pandas(self) -> pd.DataFrame:
        """One row an item."""
        import pandas as pd

        return pd.DataFrame(
            {"item": self.items, "accuracy": self.accuracy, "unanimity": self.unanimity, "raters": self.raters}
        )


def item_accuracy(table: LabelTable) -> ItemAccuracy:
    """Accuracy of each item (Eq. 2): with more than two raters the mean over pairs, and unanimity beside it.

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
    compared = votes.asked >= 2
    chose, asked, item = votes.chose[compared], votes.asked[compared], votes.item[compared]
    mixed = 2 * chose * (asked - chose) / (asked * (asked - 1))  # pairs that differ
    split = (chose > 0) & (chose < asked)
    concepts = or_nan(votes.deciding_concepts(least=2))
    return ItemAccuracy(
        items=table.items,
        accuracy=1 - total(item, mixed, items) / concepts,
        unanimity=1 - total(item, split, items) / concepts,
        raters=votes.raters,
    )
