"""Observed and expected disagreement of values, and 1 - D_o / D_e.

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
"""Items whose values are crossed at once."""

MANY_VALUES = 1 << 16
"""Numbers of values of an item up to this are looked up, larger ones sorted."""


@checked
def chance_corrected(observed: ArrayLike, expected: ArrayLike, if_none_expected: float = np.nan) -> NDArray[np.float64]:
    """Agreement beyond chance, 1 - D_o / D_e: every coefficient of the library is one.

    Parameters
    ----------
    observed, expected : (...) float
        Disagreement as observed, and as expected by chance.
    if_none_expected : float
        The coefficient where D_e is 0: nothing could disagree, and the quotient is 0 / 0. Alpha says 1 there (KαLOS;
        Krippendorff leaves it open), kappas and AC are undefined.

    Returns
    -------
    (...) float64, at most 1
        NaN where `expected` is.

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
    """Disagreement within items with at least two values, summed over items with the same number of values.

    Parameters
    ----------
    number : (L,) int, at least 2
        m: how many values an item has.
    apart : (L,) float64
        Sum over ordered pairs of values of each item with so many of their distance. Whole numbers for nominal values,
        so that results are the same to the last bit in any order of items.
    items : int
        How many items there are.

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
        """Sum over items of m times the mean distance of two values: D_o of alpha is its n-th part."""
        return float((self.apart / (self.number - 1)).sum())

    @property
    def by_item(self) -> float:
        """D_o of kappas and AC: mean distance of two values of an item, items counting alike; NaN of none."""
        return float((self.apart / (self.number * (self.number - 1))).sum() / (self.items or np.nan))


@checked
def observe(codes: NDArray[np.intp], distance: Distance) -> Observed:
    """Observed disagreement of a reliability matrix, codes (I, R)."""
    size = codes.shape[1] + 1
    items, apart = 0, np.zeros(size)
    for start in range(0, len(codes), ITEMS_AT_ONCE):
        columns = np.ascontiguousarray(codes[start : start + ITEMS_AT_ONCE].T)  # a row a rater, quick to go through
        number = number_of_values(columns)
        items += int(np.count_nonzero(number >= 2))
        apart += total(number, distance.of_raters(columns), size)
    return Observed(np.arange(2, size), apart[2:], items)


@checked
def observe_counts(found: Tally, distance: Distance) -> Observed:
    """Observed disagreement of counts of values.

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
    """(K,) n_c of codes (I, R): how often each category occurs in items with at least two values.

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
        totals += np.bincount(columns.ravel() + 1, minlength=categories + 1)[1:]  # missing values come first
        totals -= np.bincount(alone, minlength=categories)
    return totals


def pairable_counts(found: Tally) -> NDArray[np.float64]:
    """(K,) n_c of counts: how often each category occurs in items with at least two values."""
    return total(found.category, found.count * (found.times * found.usable)[found.item], found.categories)


@checked
def coincidences(found: Tally, group: NDArray[np.intp], groups: int) -> scipy.sparse.csr_array:
    """(G, K * K) coincidences o_ck of the items of each group (I,), a matrix (K, K) in each row.

    o_ck is how often two categories coincide in an item, each item counting as its m values do. Coincidences of groups
    can be added, and alpha by every metric follows from them.

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
    """(K, K) coincidences of codes (I, R), from the crossed values of every two raters: for few of both.

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
    """D_e of alpha: mean distance of two different values of all, `totals` (..., K); NaN below two values.

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
    """D_e of free-marginal kappa: of values drawn from K categories alike, 1 - 1 / K.

    Examples
    --------
    >>> expected_of_categories([4, 1]).tolist()
    [0.75, 0.0]
    """
    return np.asarray(1 - 1 / np.maximum(categories, 1))


@checked
def expected_of_guesses(share: NDArray[np.float64], distance: Distance) -> NDArray[np.float64]:
    """D_e of Gwet's AC: as of raters who guess only where they are uncertain, from shares (..., K).

    1 - T sum p_c (1 - p_c) / (K (K - 1)), T the sum of the weights 1 - distance of every two categories; 0 for a single
    category.

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
    """D_e of Conger's kappa, and Cohen's: mean over pairs of raters of the distance of a value drawn from each.

    Parameters
    ----------
    counts : (..., R, K)
        How often each rater gave each category; raters without values are left out.

    Returns
    -------
    (...) float64
        NaN below two raters.

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
    """(K,) mean over items with a value of the share of each category in it."""
    share = found.count / found.annotations[found.item] * found.times[found.item]
    labelled = found.times[found.annotations > 0].sum()
    return np.asarray(total(found.category, share, found.categories) / max(labelled, 1))
