"""Cohen's kappa of every two raters on every question of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.chance import cohen_of_sums
from kalos_core.nominal.decisions import Decisions
from kalos_core.nominal.table import LabelTable
from kalos_core.options import checked


@dataclass(frozen=True, eq=False)
class CohenSums:
    """Integer sums from which Cohen's kappas of every two raters on a question are computed; they add up over items.

    Parameters
    ----------
    exclusive : bool
        Whether the question is a group of concepts.
    both : (R, R) sparse int
        Number of items that both answered.
    same : (R, R) sparse int
        Number of items for which both chose the same concept.
    chosen : tuple of (R, R) sparse int
        For each concept of the question, the number of items for which the first chose it, of those both answered.

    Examples
    --------
    >>> labels = {"ann": "xxyy", "bob": "xxyx"}
    >>> rows = [{"item": i, "rater": r, "label": c} for r, text in labels.items() for i, c in enumerate(text)]
    >>> ((_, sums),) = cohen_sums(LabelTable.from_rows(rows))
    >>> sums.both.toarray().tolist(), sums.same.toarray().tolist(), [of.toarray().tolist() for of in sums.chosen]
    ([[4, 4], [4, 4]], [[4, 3], [3, 4]], [[[2, 2], [3, 3]], [[2, 2], [1, 1]]])
    >>> (sums + sums).kappas().tolist()
    [[nan, 0.5], [0.5, nan]]
    """

    exclusive: bool
    both: scipy.sparse.csc_array
    same: scipy.sparse.csc_array
    chosen: tuple[scipy.sparse.csc_array, ...]

    def __add__(self, other: CohenSums) -> CohenSums:
        chosen = tuple(one + more for one, more in zip(self.chosen, other.chosen, strict=True))
        return CohenSums(self.exclusive, self.both + other.both, self.same + other.same, chosen)

    def kappas(self) -> NDArray[np.float64]:
        """Compute Cohen's kappa (R, R); see `cohen_matrices` for where it is NaN."""
        both, same = self.both.toarray(), self.same.toarray()
        products = np.zeros_like(both)
        for concept in self.chosen:
            where_both = concept.toarray()
            products += where_both * where_both.T
            if not self.exclusive:  # not choosing it is the other option
                same = 2 * same + both - where_both - where_both.T
                products += (both - where_both) * (both - where_both.T)
        kappa = cohen_of_sums(both, same, products)
        np.fill_diagonal(kappa, np.nan)
        return kappa


@checked
def cohen_matrices(table: LabelTable) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield every question with Cohen's kappa (R, R) of every two raters on it, over the items both answered.

    NaN on the diagonal, where two raters have no item in common, and where both gave the same single answer throughout:
    chance alone would always agree then. The result equals `cohen_matrix` of the values of each question. It takes one
    pass over the raters who chose something, since most concepts are chosen by few.

    Parameters
    ----------
    table : LabelTable

    Yields
    ------
    str, (R, R) float64

    Examples
    --------
    >>> labels = {"ann": "xxyy", "bob": "xxyx"}
    >>> rows = [{"item": i, "rater": r, "label": c} for r, text in labels.items() for i, c in enumerate(text)]
    >>> [(question, kappa[0, 1].item()) for question, kappa in cohen_matrices(LabelTable.from_rows(rows))]
    [('label', 0.5)]
    """
    return ((question, sums.kappas()) for question, sums in cohen_sums(table))


def cohen_sums(table: LabelTable) -> Iterator[tuple[str, CohenSums]]:
    """Yield every question with the sums for its matrix in `cohen_matrices`."""
    concepts = max(len(table.concepts), 1)
    decisions = Decisions.of(table)
    chosen = _by_concept(decisions.chosen, concepts)
    missing = _by_concept(decisions.missing, concepts)
    everybody = _turned(table, np.arange(len(table)))
    of_all = _in_common(everybody, everybody)
    for question in table.questions:
        codes = table.concepts_of(question).tolist()
        answered, both = everybody, of_all
        if len(missing[codes[0]]):
            kept = np.setdiff1d(np.arange(len(table)), missing[codes[0]])
            answered = _turned(table, kept)
            both = _in_common(answered, answered)
        own = [_turned(table, chosen[code]) for code in codes]
        same = reduce(add, [_in_common(one, one) for one in own])
        where_both = tuple(_in_common(one, answered) for one in own)
        yield question, CohenSums(question in table.groups, both, same, where_both)


def _by_concept(keys: NDArray[np.intp], concepts: int) -> list[NDArray[np.intp]]:
    """Return the answers of each concept, from keys answer * C + concept."""
    answer, concept = np.divmod(keys, concepts)
    order = np.argsort(concept, kind="stable")
    ends = np.searchsorted(concept[order], np.arange(1, concepts))
    return np.split(answer[order], ends)


def _turned(table: LabelTable, answers: NDArray[np.intp]) -> scipy.sparse.csr_array:
    """Return a matrix (I, R) with ones where a rater gave one of some answers."""
    places = table.item[answers], table.rater[answers]
    return scipy.sparse.csr_array(
        (np.ones(len(answers), np.int64), places), shape=(len(table.items), len(table.raters))
    )


def _in_common(one: scipy.sparse.csr_array, other: scipy.sparse.csr_array) -> scipy.sparse.csc_array:
    """Count the items (R, R) on which the first rater is in `one`, and the second in `other`."""
    common: scipy.sparse.csc_array = one.T @ other
    return common
