"""Labels that were given where counts of labels are meant: recognised by what they would be as either."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError

CELLS = 200_000
"""Of a larger table so many cells are looked at, in rows spread over all of it."""

FEW, FEWEST = 8, 40
"""Below so many items, the more where there are two columns only, a table could be either."""

HINT = (
    "labels, items x raters, go to nominal_alpha(labels), and into counts by label_counts(labels), such as "
    "fleiss_kappa(label_counts(labels))"
)
"""What to do with labels."""


def refuse_labels(counts: NDArray[Any]) -> None:
    """An error if counts (I, C) are labels (I, R) by all appearance.

    Three things have to come together: rows with unequal sums; entries of a row that are as alike as labels of raters
    who agree (alpha above 0.25, of two columns above 0.5), while counts of a row are rather unlike, as a label that
    goes to one category is lost to the others; and, read as counts, an agreement below that by more than chance may do.
    Tables of fewer than 8 rows, of two columns 40, could be either and are taken as they are given.

    Examples
    --------
    >>> refuse_labels(np.array([[3, 0], [2, 1], [0, 1]]))
    >>> refuse_labels(np.array([[0, 0, 0], [4, 4, 4], [1, 1, 1], [2, 2, 2], [3, 3, 1]] * 2))
    Traceback (most recent call last):
    kalos_core.errors.InputError: counts: expected counts of labels, items x categories, got what looks like labels, \
items x raters: rows sum to 0 to 12, and alpha is 0.84 if these are labels, -0.14 if they are counts; labels, items x \
raters, go to nominal_alpha(labels), and into counts by label_counts(labels), such as \
fleiss_kappa(label_counts(labels)). If they are counts, pass scipy.sparse.csr_array(counts)
    """
    items, columns = counts.shape
    if columns < 2 or items < (FEWEST if columns == 2 else FEW):
        return
    rows = counts
    if counts.size > CELLS:
        rows = counts[np.linspace(0, items - 1, max(CELLS // columns, FEW)).astype(np.intp)]
    sums = rows.sum(axis=1)
    if (sums == sums[0]).all():
        return
    as_labels, as_counts = _alpha_of_labels(rows), _alpha_of_counts(rows, sums)
    least, chance = (0.25, 2) if columns > 2 else (0.5, 4)
    if as_labels > least and as_labels - as_counts > 0.2 + chance / np.sqrt(items):
        raise InputError(
            "counts: expected counts of labels, items x categories, got what looks like labels, items x raters: rows "
            f"sum to {sums.min():g} to {sums.max():g}, and alpha is {as_labels:.2f} if these are labels, "
            f"{as_counts:.2f} if they are counts; {HINT}. If they are counts, pass scipy.sparse.csr_array(counts)"
        )


def _alpha_of_labels(labels: NDArray[Any]) -> float:
    """Krippendorff's alpha of labels (I, R) without gaps."""
    ordered = np.sort(labels, axis=1)
    run = np.zeros(len(labels), np.int64)
    agreeing = 0
    for column in range(1, labels.shape[1]):  # equal labels stand next to each other
        run = np.where(ordered[:, column] == ordered[:, column - 1], run + 1, 0)
        agreeing += 2 * int(run.sum())
    totals = np.unique(labels, return_counts=True)[1].astype(np.float64)
    return _alpha(agreeing / (labels.shape[1] - 1), totals)


def _alpha_of_counts(counts: NDArray[Any], sums: NDArray[Any]) -> float:
    """Krippendorff's alpha of counts (I, C) with their sums (I,)."""
    usable = sums >= 2
    numbers = counts[usable].astype(np.float64)
    agreeing = ((numbers * (numbers - 1)).sum(axis=1) / (sums[usable] - 1)).sum()
    return _alpha(float(agreeing), numbers.sum(axis=0))


def _alpha(coincident: float, totals: NDArray[np.float64]) -> float:
    """Alpha of agreeing coincidences and totals of the categories; NaN where nothing could disagree."""
    n = totals.sum()
    by_chance = n**2 - (totals**2).sum()
    return float(1 - (n - 1) * (n - coincident) / by_chance) if by_chance > 0 else float("nan")
