"""Cohen's kappa of every two raters on every question of a table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.nominal.decisions import Decisions
from kalos_core.nominal.table import LabelTable, check_table


def cohen_matrices(table: LabelTable) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Every question with (R, R) Cohen's kappa of every two raters on it, over the items both answered.

    NaN on the diagonal, where two raters have no item in common, and where both gave one and the same answer
    throughout: chance alone would always agree then. The same as `cohen_matrix` of the values of each question, in one
    go through those who chose something, as nearly nobody chooses most concepts.

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
    check_table(table)
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
        same, by_chance = np.zeros_like(both), np.zeros_like(both)
        for code in codes:
            own = _turned(table, chosen[code])
            where_both = _in_common(own, answered)  # how often the first chose it where the second answered
            same += _in_common(own, own)
            by_chance += where_both * where_both.T
            if question not in table.groups:  # not to choose it is the other option
                same += both - where_both - where_both.T + _in_common(own, own)
                by_chance += (both - where_both) * (both - where_both.T)
        below = both**2 - by_chance
        kappa = (same * both - by_chance) / np.where(below > 0, below, np.nan)
        np.fill_diagonal(kappa, np.nan)
        yield question, kappa


def _by_concept(keys: NDArray[np.intp], concepts: int) -> list[NDArray[np.intp]]:
    """The answers of each concept, of keys answer * C + concept."""
    answer, concept = np.divmod(keys, concepts)
    order = np.argsort(concept, kind="stable")
    ends = np.searchsorted(concept[order], np.arange(1, concepts))
    return np.split(answer[order], ends)


def _turned(table: LabelTable, answers: NDArray[np.intp]) -> scipy.sparse.csr_array:
    """(I, R) ones where a rater gave one of some answers."""
    places = table.item[answers], table.rater[answers]
    return scipy.sparse.csr_array(
        (np.ones(len(answers), np.int64), places), shape=(len(table.items), len(table.raters))
    )


def _in_common(one: scipy.sparse.csr_array, other: scipy.sparse.csr_array) -> NDArray[np.int64]:
    """(R, R) items on which the first rater is in one, and the second in the other."""
    return np.asarray((one.T @ other).toarray())
