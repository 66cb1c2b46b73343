"""Checks for transposed tables (raters x items), and for labels given as counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.chance.coefficients import alpha_of_codes, alpha_of_tally
from kalos_core.chance.counts import HINT, Counts, Tally, tally_unseen
from kalos_core.errors import InputError
from kalos_core.options import checked

FEWEST_ITEMS = 12
"""Smallest number of items in the other reading for which a table is checked."""

TELLING = 0.35
"""A table is refused if alpha in the other reading is at least this, and higher by at least this."""

CELLS = 20_000
"""Number of cells of a larger table of counts that are checked."""


@checked
def check_upright(codes: NDArray[np.intp], metric: str, levels: NDArray[np.float64]) -> None:
    """Refuse a table with fewer items than raters that agree only if rows are raters; arguments as in `alpha_of_codes`.

    Raises
    ------
    InputError
        If there are fewer items than raters, at least `FEWEST_ITEMS` raters, and alpha of the transposed table is at
        least `TELLING`.

    Examples
    --------
    >>> check_upright(np.array([[0, 1, 2, 3] * 3] * 2), "nominal", np.arange(4.0))
    Traceback (most recent call last):
    kalos_core.errors.InputError: values: expected items x raters, got 2 items of 12 raters with an alpha of -0.05; \
as raters x items, which the package `krippendorff` takes, it is 1.00: pass values.T. If these are the items, pass \
their counts to alpha_of_counts (label_counts(values))
    """
    items, raters = codes.shape
    if items >= raters or raters < FEWEST_ITEMS:
        return
    alpha, turned = (alpha_of_codes(table, metric, levels) for table in (codes, codes.T))
    if _is_telling(turned, alpha):
        raise InputError(
            f"values: expected items x raters, got {items:,} items of {raters:,} raters with an alpha of {alpha:.2f}; "
            f"as raters x items, which the package `krippendorff` takes, it is {turned:.2f}: pass values.T. If these "
            "are the items, pass their counts to alpha_of_counts (label_counts(values))"
        )


@checked
def tally(counts: Counts) -> Tally:
    """Return the entries of counts that are not zero; a tally is returned as it is.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`

    Returns
    -------
    Tally

    Raises
    ------
    InputError
        If the counts are not a table of whole numbers of at least 0, or a dense table of labels instead
        (`refuse_labels`).

    Examples
    --------
    >>> tally([[0, 3], [1, 0]]).count.tolist()
    [3, 1]
    >>> tally([[0.5, 1]])
    Traceback (most recent call last):
    kalos_core.errors.InputError: counts: expected whole numbers of at least 0, got 0.5 for item 0, category 0
    """
    found = tally_unseen(counts)
    if not isinstance(counts, (Tally, scipy.sparse.sparray, scipy.sparse.spmatrix)):
        refuse_labels(np.asarray(counts))
    return found


@checked
def refuse_labels(counts: NDArray[Any]) -> None:
    """Refuse counts (I, C) that agree only if they are read as labels, items x raters.

    Rows with equal sums are counts of equally many raters per item, and are accepted.

    Raises
    ------
    InputError
        If rows have different sums, there are at least `FEWEST_ITEMS`, and alpha as labels is at least `TELLING`.

    Examples
    --------
    >>> refuse_labels(np.array([[3, 0], [2, 1], [0, 1]]))
    >>> refuse_labels(np.array([[0, 0, 0], [4, 4, 4], [1, 1, 1], [2, 2, 2], [3, 3, 1]] * 4))
    Traceback (most recent call last):
    kalos_core.errors.InputError: counts: expected counts of labels, items x categories, got values that look like \
labels, items x raters: rows sum to 0 to 12, and alpha is 0.83 if these are labels, -0.15 if they are counts; pass \
labels, items x raters, to nominal_alpha(labels), or convert them with label_counts(labels), as in \
fleiss_kappa(label_counts(labels)). If they are counts, pass scipy.sparse.csr_array(counts)
    """
    items, columns = counts.shape
    if columns < 2 or items < FEWEST_ITEMS:
        return
    rows = counts
    if counts.size > CELLS:
        rows = counts[np.linspace(0, items - 1, min(max(CELLS // columns, FEWEST_ITEMS), items)).astype(np.intp)]
        rows = rows[:, :CELLS]
    sums = rows.sum(axis=1)
    if (sums == sums[0]).all():
        return
    used, codes = np.unique(rows, return_inverse=True)
    as_labels = alpha_of_codes(codes.reshape(rows.shape), "nominal", used.astype(np.float64))
    as_counts = alpha_of_tally(tally_unseen(rows), "nominal", np.arange(rows.shape[1], dtype=np.float64))
    if _is_telling(as_labels, as_counts):
        raise InputError(
            "counts: expected counts of labels, items x categories, got values that look like labels, items x raters: "
            f"rows sum to {sums.min():g} to {sums.max():g}, and alpha is {as_labels:.2f} if these are labels, "
            f"{as_counts:.2f} if they are counts; {HINT}. If they are counts, pass scipy.sparse.csr_array(counts)"
        )


def _is_telling(otherwise: float, alpha: float) -> bool:
    """Return whether raters agree only in the other reading of a table; true also if this reading has no alpha."""
    return otherwise >= TELLING and not otherwise - alpha < TELLING
