"""Chance-corrected agreement: alpha, Fleiss, free-marginal, Gwet, Conger, Cohen; and the functions they consist of."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_array
from kalos_core.chance import (
    METRICS,
    Counts,
    Distance,
    Tally,
    Unequal,
    alpha_of_codes,
    alpha_of_tally,
    chance_corrected,
    check_upright,
    cohen_of_codes,
    conger_of_codes,
    expected_of_categories,
    expected_of_guesses,
    mean_shares,
    observe_counts,
    tally,
    weight_distance,
)
from kalos_core.chance.distances import KappaWeights, MetricName
from kalos_core.errors import InputError, lookup, repr_of
from kalos_core.nominal.values import check_levels, encode_grades, encode_values
from kalos_core.options import checked
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED

LANDIS_KOCH = (
    (0.8, "almost perfect"),
    (0.6, "substantial"),
    (0.4, "moderate"),
    (0.2, "fair"),
    (0.0, "slight"),
)
"""Minimum kappa of each band, best first; lower values are poor (Landis & Koch 1977)."""


@checked
def landis_koch(value: float) -> str:
    """Describe a kappa in the words of Landis & Koch (1977); a value on a bound is in the better band.

    Nowak & Rüger call 0.6 adequate and 0.8 almost perfect, which are the same bounds.

    Examples
    --------
    >>> [landis_koch(value) for value in (0.83, 0.6, 0.1, -0.2, float("nan"))]
    ['almost perfect', 'substantial', 'slight', 'poor', 'undefined']
    """
    if np.isnan(value):
        return "undefined"
    return next((name for least, name in LANDIS_KOCH if value >= least), "poor")


@checked
def label_counts(values: ArrayLike) -> scipy.sparse.csr_array:
    """Count how many raters gave each item each value, as input of the functions of counts.

    Parameters
    ----------
    values : (I, R)
        As for `nominal_alpha`.

    Returns
    -------
    (I, K) int64, sparse
        One column per value that occurs, ascending; values that cannot be compared are in order of first occurrence.

    Examples
    --------
    >>> label_counts([["cat", "cat", None], ["dog", "cat", "dog"]]).toarray().tolist()
    [[2, 0], [1, 2]]
    """
    codes = encode_values(values)
    item, rater = np.nonzero(codes != NOT_ASSIGNED)
    used, category = np.unique(codes[item, rater], return_inverse=True)
    shape = (len(codes), len(used))
    counts = scipy.sparse.coo_array((np.ones(len(item), np.int64), (item, category)), shape=shape).tocsr()
    counts.sum_duplicates()
    return counts


@checked
def nominal_alpha(values: ArrayLike, metric: MetricName = "nominal", *, order: Sequence[Any] | None = None) -> float:
    """Compute Krippendorff's alpha of values: nominal, or by another of his metrics (Krippendorff 2011, section D).

    Alpha is 1 - D_o / D_e. D_o is the mean squared difference of two values of an item, and D_e that of any two
    pairable values. For different values c and k, the difference is

    * nominal: 1;
    * ordinal: the number of values from c to k in their order, minus half of those that are c or k;
    * interval: c - k;
    * ratio: (c - k) / (c + k).

    Parameters
    ----------
    values : (I, R)
        Items by raters: the value that each rater gave each item. Any values; None, NaN or `NOT_ASSIGNED` where a rater
        did not label the item. All metrics but the nominal one need numbers; ordinal also accepts categories of
        `order`. Among integers `NOT_ASSIGNED` is missing: pass grades below 0 as floats if one of them is -2.
    metric : name in `METRICS`
        For "ratio" time grows with the square of the number of different values, if there are more than `FEW_GRADES`.
    order : sequence, optional
        For "ordinal": the categories from lowest to highest.

    Returns
    -------
    float, at most 1
        1 if all pairable values are equal; NaN if no item has two values.

    Raises
    ------
    InputError
        For no table, or one that appears to be raters x items: it has fewer items than raters, at least 12 raters, and
        an alpha of the transposed table of at least 0.35, higher by as much. For an unknown metric; for text where
        numbers or an order are needed; for values missing in the order; for "ratio" numbers below 0.

    Examples
    --------
    >>> nominal_alpha([[1, 1], [1, 2]]), nominal_alpha([["cat", "cat"], ["cat", None]]), nominal_alpha([[1, None]])
    (0.0, 1.0, nan)

    Two items of two raters, values 1 1 | 2 4, with mean ranks 1, 2.5 and 3.5. The squared differences of the pairs of
    all four values sum to 18, those of the pairs within items to 1: alpha is 1 - 3 · 1 / 18. As numbers the sums are 24
    and 4: alpha is 1 - 3 · 4 / 24.

    >>> round(nominal_alpha([[1, 1], [2, 4]], "ordinal"), 4), nominal_alpha([[1, 1], [2, 4]], "interval")
    (0.8333, 0.5)
    >>> round(nominal_alpha([["low", "low"], ["mid", "high"]], "ordinal", order=["low", "mid", "high"]), 4)
    0.8333
    """
    lookup(METRICS, metric, "metric")
    if metric == "nominal":
        if order is not None:
            raise InputError(f"order: expected none for 'nominal', which has no order, got {repr_of(order)}")
        codes, levels = _encode_nominal(values)
    else:
        grades = encode_grades(values, metric, order)
        codes, levels = grades.codes, grades.levels
    check_upright(codes, metric, levels)
    return alpha_of_codes(codes, metric, levels)


def _encode_nominal(values: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return codes (I, R) from 0, -1 where missing, and a level for each code."""
    codes = encode_values(values) - NO_OBJECT
    return codes, np.arange(codes.max(initial=-1) + 1, dtype=np.float64)


@checked
def alpha_of_counts(counts: Counts, metric: MetricName = "nominal", *, levels: ArrayLike | None = None) -> float:
    """Compute Krippendorff's alpha from counts (I, C), dense or `scipy.sparse`; see `nominal_alpha`.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
        For any metric but the nominal one: columns from the lowest grade to the highest.
    metric : name in `METRICS`
    levels : (C,) ascending numbers, optional
        Values of the columns; by default they are one apart. Required for "ratio".

    Examples
    --------
    >>> alpha_of_counts([[2, 0], [1, 1]])
    0.0
    >>> round(alpha_of_counts([[2, 0, 0], [0, 1, 1]], "interval", levels=[1, 2, 4]), 4)
    0.5
    """
    found = tally(counts)
    lookup(METRICS, metric, "metric")
    if metric == "nominal" and levels is not None:
        raise InputError(
            f"levels: expected none for 'nominal', which treats all categories alike, got {repr_of(levels)}"
        )
    return alpha_of_tally(found, metric, check_levels(levels, found.categories, metric))


@checked
def observed_agreement(counts: Counts) -> float:
    """Compute the mean probability that two raters of an item agree; items with fewer than two raters are left out.

    Examples
    --------
    >>> observed_agreement([[2, 0], [1, 1], [1, 0]])
    0.5
    """
    return 1 - observe_counts(tally(counts), Unequal()).by_item


@checked
def fleiss_kappa(counts: Counts) -> float:
    """Compute Fleiss' kappa (1971): observed agreement beyond that of raters who draw from the category shares.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
        If items have unequal numbers of raters, observed agreement is the mean over items with two raters. The share of
        a category is then the mean of its shares in all labelled items (Gwet 2014). With equal numbers both are Fleiss'
        own.

    Returns
    -------
    float, at most 1
        NaN if no item has two raters, or all annotations are of one category.

    Examples
    --------
    >>> fleiss_kappa([[2, 0], [0, 2], [1, 1], [2, 0]])
    0.4666666666666667
    """
    found, distance = tally(counts), Unequal()
    return float(chance_corrected(observe_counts(found, distance).by_item, distance.of_all(mean_shares(found))))


@checked
def free_marginal_kappa(counts: Counts) -> float:
    """Compute free-marginal kappa (Brennan & Prediger 1981; Randolph): (P - 1/k) / (1 - 1/k) for k categories.

    It is meant for raters who need not put a fixed number of items into each category (Nowak & Rüger §4.4).

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
        All C columns count as categories, including those that no rater chose.

    Returns
    -------
    float, at most 1
        NaN if no item has two raters, or there is only one category.

    Examples
    --------
    >>> free_marginal_kappa([[2, 0], [0, 2], [1, 1], [2, 0]])
    0.5
    """
    found = tally(counts)
    expected = expected_of_categories(found.categories)
    return float(chance_corrected(observe_counts(found, Unequal()).by_item, expected))


@checked
def gwet_ac1(counts: Counts) -> float:
    """Compute Gwet's AC1 (2008): chance agreement assumes that raters guess only where they are uncertain.

    Expected agreement is sum p_c (1 - p_c) / (C - 1), with p_c as in `fleiss_kappa` and C the number of columns.

    Examples
    --------
    >>> round(gwet_ac1([[2, 0], [0, 2], [1, 1], [2, 0]]), 4)
    0.5294
    """
    return _gwet(tally(counts), Unequal())


@checked
def gwet_ac2(counts: Counts, weights: KappaWeights = "quadratic", *, levels: ArrayLike | None = None) -> float:
    """Compute Gwet's AC2 (2014, §4.4): AC1 of grades, in which different grades agree as far as their weight says.

    Observed agreement is the mean over items with two raters of the mean weight of two of their grades. Expected
    agreement is T p_c (1 - p_c) / (C (C - 1)), summed over the C columns, with T the sum of all weights and p_c as in
    `fleiss_kappa`.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
        Columns from the lowest grade to the highest; all of them count, including those that no rater chose.
    weights : name in `KAPPA_WEIGHTS`, or (C, C) numbers from 0 to 1
        Agreement of each two grades.
    levels : (C,) ascending numbers, optional
        Values of the columns; by default they are one apart.

    Returns
    -------
    float, at most 1
        NaN if no item has two raters, or there is only one category.

    Examples
    --------
    >>> round(gwet_ac2([[2, 0, 0], [0, 1, 1], [0, 0, 2]], "linear"), 4)
    0.6604
    >>> round(gwet_ac2([[2, 0], [0, 2], [1, 1], [2, 0]], [[1, 0], [0, 1]]), 4)
    0.5294
    """
    found = tally(counts)
    return _gwet(found, weight_distance(weights, check_levels(levels, found.categories, "weights")))


def _gwet(found: Tally, distance: Distance) -> float:
    expected = expected_of_guesses(mean_shares(found), distance)
    return float(chance_corrected(observe_counts(found, distance).by_item, expected))


@checked
def conger_kappa(
    values: ArrayLike, weights: KappaWeights | None = None, *, order: Sequence[Any] | None = None
) -> float:
    """Compute Conger's kappa (1980): Cohen's for any number of raters, each with their own shares of categories.

    Expected agreement is the mean over pairs of raters of sum p_ac p_bc, in a form that allows raters who labelled only
    some items (Gwet 2014). Observed agreement is the mean over items with two raters.

    Parameters
    ----------
    values : (I, R)
        As for `nominal_alpha`; with weights, numbers or categories of `order`.
    weights : name in `KAPPA_WEIGHTS`, or (K, K) numbers from 0 to 1, optional
        Agreement of each two grades that occur, or that `order` names; by default only equal grades agree.
    order : sequence, optional
        With weights: the categories from lowest to highest, which are one apart.

    Returns
    -------
    float, at most 1
        NaN if no item has two values, fewer than two raters labelled anything, or chance alone would always agree.

    Examples
    --------
    With two raters it is Cohen's kappa:

    >>> conger_kappa([[1, 1], [1, 1], [2, 2], [2, 1]])
    0.5
    >>> round(conger_kappa([[1, 1, 2], [3, 3, 3], [2, 2, 1]], "quadratic"), 4)
    0.6667
    """
    codes, levels, distance = _encode_weighted(values, weights, order)
    check_upright(codes, "nominal" if weights is None else "interval", levels)
    return conger_of_codes(codes, len(levels), distance)


def _encode_weighted(
    values: ArrayLike, weights: KappaWeights | None, order: Sequence[Any] | None
) -> tuple[NDArray[np.intp], NDArray[np.float64], Distance]:
    """Return codes (I, R), their levels (K,) and their distance: that of the weights, or the nominal one."""
    if weights is None:
        if order is not None:
            raise InputError(f"order: expected none without weights, which alone use it, got {repr_of(order)}")
        return *_encode_nominal(values), Unequal()
    grades = encode_grades(values, weights if isinstance(weights, str) else "weights", order)
    return grades.codes, grades.levels, weight_distance(weights, grades.levels)


@checked
def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    weights: KappaWeights | None = None,
    *,
    order: Sequence[Any] | None = None,
) -> float:
    """Compute Cohen's kappa (1960) of two raters, over the items both labelled; weighted (1968) if weights are given.

    Parameters
    ----------
    first, second : (I,) values of any kind, None, NaN or `NOT_ASSIGNED` where missing
        With weights, numbers or categories of `order`.
    weights, order
        As in `conger_kappa`. Weights of numbers are those of their difference (Gwet 2014), not of their ranks among
        those that occur. `sklearn.metrics.cohen_kappa_score` therefore differs if a grade in between does not occur.

    Returns
    -------
    float, at most 1
        NaN if no item has both, or both used the same single category throughout.

    Examples
    --------
    >>> cohen_kappa([1, 1, 2, 2], [1, 1, 2, 1])
    0.5
    >>> cohen_kappa([1, 2, 3, 3], [1, 2, 2, 3], weights="quadratic")
    0.8
    """
    one, other = _as_objects(first), _as_objects(second)
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(f"second: expected as many values as in first, got shapes {one.shape} and {other.shape}")
    codes, levels, distance = _encode_weighted(np.column_stack([one, other]), weights, order)
    return cohen_of_codes(codes[:, 0], codes[:, 1], len(levels), distance)


def _as_objects(values: ArrayLike) -> NDArray[np.object_]:
    """Return values with None where missing, so that those of both raters compare equal."""
    found: NDArray[np.object_] = as_array(values, "values", object).copy()
    if np.issubdtype(as_array(values, "values").dtype, np.integer):
        found[found == NOT_ASSIGNED] = None
    return found


@checked
def cohen_matrix(
    values: ArrayLike, weights: KappaWeights | None = None, *, order: Sequence[Any] | None = None
) -> NDArray[np.float64]:
    """Compute Cohen's kappa (R, R) of every two raters of a table (I, R), NaN on the diagonal and where undefined.

    `weights` and `order` are as in `conger_kappa`.

    Examples
    --------
    >>> cohen_matrix([[1, 1], [1, 1], [2, 2], [2, 1]]).tolist()
    [[nan, 0.5], [0.5, nan]]
    """
    codes, levels, distance = _encode_weighted(values, weights, order)
    columns = np.ascontiguousarray(codes.T)
    kappa = np.full((len(columns), len(columns)), np.nan)
    for a, b in combinations(range(len(columns)), 2):
        kappa[a, b] = kappa[b, a] = cohen_of_codes(columns[a], columns[b], len(levels), distance)
    return kappa
