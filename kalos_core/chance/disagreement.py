"""Observed and expected disagreement of values, and the coefficient 1 - D_o / D_e.

Letters used in shapes: I items, R raters, K categories. Codes of categories are 0 to K - 1; -1 is a missing value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_floats, total
from kalos_core.chance.counts import Tally, entry_pairs
from kalos_core.chance.distances import ITEMS_AT_ONCE, Distance, number_of_values
from kalos_core.options import checked

CROSSED_AT_ONCE = 1 << 15
"""Items crossed at once."""

MANY_VALUES = 1 << 16
"""Up to this maximum, numbers of values per item are looked up; above, they are sorted."""


@checked
def chance_corrected(observed: ArrayLike, expected: ArrayLike, if_none_expected: float = np.nan) -> NDArray[np.float64]:
    """Compute chance-corrected agreement, 1 - D_o / D_e; every coefficient of the library has this form.

    Parameters
    ----------
    observed, expected : (...) float
        Observed disagreement, and disagreement expected by chance.
    if_none_expected : float
        Coefficient if D_e is 0, so that disagreement is impossible and the quotient is 0 / 0. It is 1 for alpha (KαLOS;
        Krippendorff leaves it open); kappas and AC are undefined.

    Returns
    -------
    (...) float64, at most 1
        NaN where `expected` is NaN.

    Examples
    --------
    >>> chance_corrected([0.25, 0.5, 0.0], [0.5, 0.5, 0.0]).tolist()
    [0.5, 0.0, nan]
    >>> chance_corrected(0.0, [0.0, np.nan], if_none_expected=1.0).tolist()
    [1.0, nan]
    """
    expected = as_floats(expected, "expected")
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected <= 0, if_none_expected, 1 - as_floats(observed, "observed") / expected)


# ---- observed disagreement ----


@dataclass(frozen=True, eq=False)
class Observed:
    """Observed disagreement within items with at least two values, summed over items with equally many values.

    Parameters
    ----------
    number : (L,) int, at least 2
        m: number of values of an item.
    apart : (L,) float64
        Sum of the distances between ordered pairs of values, over items with that many values. For nominal values,
        these are whole numbers, so that results are identical in any order of items.
    items : int
        Number of items.

    Examples
    --------
    >>> from kalos_core.chance import Unequal
    >>> found = observe(np.array([[0, 0, 1], [1, -1, 1], [0, -1, -1]]), Unequal())
    >>> found.number.tolist(), found.apart.tolist(), found.items
    ([2, 3], [0.0, 4.0], 2)
    >>> found.by_value, round(found.by_item, 3)
    (2.0, 0.333)
    """

    number: NDArray[np.intp]
    apart: NDArray[np.float64]
    items: int

    @property
    def by_value(self) -> float:
        """Sum over items of m times the mean distance between two values; D_o of alpha is this divided by n."""
        return float((self.apart / (self.number - 1)).sum())

    @property
    def by_item(self) -> float:
        """D_o of kappas and AC: mean distance between two values of an item, weighted equally by item; NaN if empty."""
        return float((self.apart / (self.number * (self.number - 1))).sum() / (self.items or np.nan))


@checked
def observe(codes: NDArray[np.intp], distance: Distance) -> Observed:
    """Compute the observed disagreement of a reliability matrix, codes (I, R)."""
    size = codes.shape[1] + 1
    items, apart = 0, np.zeros(size)
    for start in range(0, len(codes), ITEMS_AT_ONCE):
        columns = np.ascontiguousarray(codes[start : start + ITEMS_AT_ONCE].T)  # one row per rater, for fast iteration
        number = number_of_values(columns)
        items += int(np.count_nonzero(number >= 2))
        apart += total(number, distance.of_raters(columns), size)
    return Observed(np.arange(2, size), apart[2:], items)


@checked
def observe_counts(found: Tally, distance: Distance) -> Observed:
    """Compute the observed disagreement of counts of values.

    Examples
    --------
    >>> from kalos_core.chance import Unequal, tally
    >>> observe_counts(tally([[1, 2], [0, 2], [1, 0]]), Unequal()).by_value
    2.0
    """
    index, most = found.annotations, int(found.annotations.max(initial=0))
    number = np.arange(most + 1)
    if most > MANY_VALUES:
        number, index = np.unique(found.annotations, return_inverse=True)
    apart = total(index, distance.of_items(found) * found.times, len(number))
    several = number >= 2
    return Observed(number[several], apart[several], int(found.times[found.usable].sum()))


def pairable_values(codes: NDArray[np.intp], categories: int) -> NDArray[np.float64]:
    """Count (K,) n_c in codes (I, R): how often each category occurs in items with at least two values.

    Examples
    --------
    >>> pairable_values(np.array([[0, 0, 1], [1, -1, 1], [0, -1, -1]]), 2).tolist()
    [2.0, 3.0]
    """
    if codes.shape[1] >= 2 and codes.min(initial=0) >= 0:
        return np.bincount(codes.ravel(), minlength=categories).astype(np.float64)
    totals = np.zeros(categories)
    for start in range(0, len(codes), ITEMS_AT_ONCE):
        columns = np.ascontiguousarray(codes[start : start + ITEMS_AT_ONCE].T)
        alone = columns[:, number_of_values(columns) == 1].max(axis=0, initial=-1)
        totals += np.bincount(columns.ravel() + 1, minlength=categories + 1)[1:]  # missing values are counted first
        totals -= np.bincount(alone, minlength=categories)
    return totals


def pairable_counts(found: Tally) -> NDArray[np.float64]:
    """Count (K,) n_c in counts: how often each category occurs in items with at least two values."""
    return total(found.category, found.count * (found.times * found.usable)[found.item], found.categories)


@checked
def coincidences(found: Tally, group: NDArray[np.intp], groups: int) -> scipy.sparse.csr_array:
    """Compute (G, K * K) coincidences o_ck of the items of each group (I,), one flattened matrix (K, K) per row.

    o_ck counts how often two categories coincide in an item; each item is weighted by its m values. Coincidences of
    groups can be added, and alpha for any metric can be computed from them.

    Examples
    --------
    >>> from kalos_core.chance import tally
    >>> coincidences(tally([[2, 1], [0, 2], [1, 0]]), np.zeros(3, int), 1).toarray().tolist()
    [[1.0, 1.0, 1.0, 2.0]]
    """
    made = scipy.sparse.csr_array((groups, found.categories**2))
    for own, other in entry_pairs(found):
        item = found.item[own]
        often = found.count[own] * (found.count[other] - (own == other))
        part = often * found.usable[item] / np.maximum(found.annotations[item] - 1, 1)
        cell = found.category[own] * found.categories + found.category[other]
        made = made + scipy.sparse.csr_array((part, (group[item], cell)), shape=made.shape)
    return made


def crossed_coincidences(codes: NDArray[np.intp], categories: int) -> NDArray[np.float64]:
    """Compute (K, K) coincidences of codes (I, R) by crossing the values of every two raters; fast for few of both.

    Takes two thirds of the time of `observe` with `pairable_values` for five raters and categories.

    Examples
    --------
    >>> crossed_coincidences(np.array([[0, 0, 1], [1, -1, 1], [0, -1, -1]]), 2).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    size = categories + 1  # missing values come first
    found = np.zeros(size * size)
    for start in range(0, len(codes), CROSSED_AT_ONCE):
        columns = np.ascontiguousarray(codes[start : start + CROSSED_AT_ONCE].T) + 1
        values = np.count_nonzero(columns, axis=0)
        complete = bool((values == len(columns)).all())
        share = None if complete else 1 / np.maximum(values - 1, 1)
        for one, other in combinations(columns, 2):
            crossed = np.bincount(one * size + other, share, size * size)
            found += crossed / max(len(columns) - 1, 1) if complete else crossed
    table = found.reshape(size, size)[1:, 1:]
    return np.asarray(table + table.T)


# ---- expected disagreement ----


@checked
def expected_of_values(totals: NDArray[Any], distance: Distance) -> NDArray[np.float64]:
    """Compute D_e of alpha: mean distance between two of all values, `totals` (..., K); NaN with fewer than two values.

    Examples
    --------
    >>> from kalos_core.chance import Unequal
    >>> expected_of_values(np.array([[3, 1], [0, 0]]), Unequal()).tolist()
    [0.5, nan]
    """
    n = totals.sum(axis=-1)
    return np.asarray(distance.of_all(totals) / np.where(n > 1, n * (n - 1), np.nan))


@checked
def expected_of_categories(categories: ArrayLike) -> NDArray[np.float64]:
    """Compute D_e of free-marginal kappa: for values drawn uniformly from K categories, 1 - 1 / K.

    Examples
    --------
    >>> expected_of_categories([4, 1]).tolist()
    [0.75, 0.0]
    """
    return np.asarray(1 - 1 / np.maximum(categories, 1))


@checked
def expected_of_guesses(share: NDArray[np.float64], distance: Distance) -> NDArray[np.float64]:
    """Compute D_e of Gwet's AC, for raters who guess only if they are uncertain, from shares (..., K).

    1 - T sum p_c (1 - p_c) / (K (K - 1)), where T is the sum of the weights 1 - distance over every two categories;
    0 for a single category.

    Examples
    --------
    >>> from kalos_core.chance import Unequal
    >>> expected_of_guesses(np.array([0.5, 0.5]), Unequal()).item()
    0.5
    """
    size = share.shape[-1]
    if size < 2:
        return np.zeros(share.shape[:-1])
    weight = size**2 - distance.of_all(np.ones(size))
    return np.asarray(1 - weight * (share * (1 - share)).sum(axis=-1) / (size * (size - 1)))


@checked
def expected_of_raters(counts: NDArray[Any], distance: Distance) -> NDArray[np.float64]:
    """Compute D_e of Conger's and Cohen's kappa: mean distance between random values of two raters.

    Parameters
    ----------
    counts : (..., R, K)
        Number of times each rater gave each category; raters without values are left out.

    Returns
    -------
    (...) float64
        NaN with fewer than two raters.

    Examples
    --------
    >>> from kalos_core.chance import Unequal
    >>> expected_of_raters(np.array([[3, 1], [2, 2], [0, 0]]), Unequal()).item()
    0.5
    """
    given = counts.sum(axis=-1, keepdims=True)
    share = counts / np.where(given > 0, given, 1)
    raters = (given > 0).sum(axis=(-2, -1))
    between = distance.of_all(share.sum(axis=-2)) - distance.of_all(share).sum(axis=-1)
    return np.asarray(between / np.where(raters > 1, raters * (raters - 1), np.nan))


@checked
def mean_shares(found: Tally) -> NDArray[np.float64]:
    """Compute (K,) the mean share of each category in an item, over items with a value."""
    share = found.count / found.annotations[found.item] * found.times[found.item]
    labelled = found.times[found.annotations > 0].sum()
    return np.asarray(total(found.category, share, found.categories) / max(labelled, 1))
