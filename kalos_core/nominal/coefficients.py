"""Chance-corrected agreement: alpha, Fleiss, free-marginal, Gwet, Conger, Cohen; and their parts."""

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
"""Least kappa of each band, best first; below the last it is poor (Landis & Koch 1977)."""


@checked
def landis_koch(value: float) -> str:
    """What a kappa means in the words of Landis & Koch (1977), a value on a bound being of the better band.

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
    """How many raters gave each item each value: what the functions of counts take.

    Parameters
    ----------
    values : (I, R)
        As for `nominal_alpha`.

    Returns
    -------
    (I, K) int64, sparse
        A column for each value that occurs, ascending; names that cannot be compared as they first occur.

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
def nominal_alpha(values: ArrayLike, metric: str = "nominal", *, order: Sequence[Any] | None = None) -> float:
    """Krippendorff's alpha of values: nominal, or by another of his metrics (Krippendorff 2011, section D).

    1 - D_o / D_e with the mean squared difference of two values of an item, and of any two pairable values. The
    difference is, for values c and k that differ, 1 (nominal); the values from c to k in their order, less half of
    those that are c or k (ordinal); c - k (interval); (c - k) / (c + k) (ratio).

    Parameters
    ----------
    values : (I, R)
        Items by raters: what each rater called each item, any values, None, NaN or `NOT_ASSIGNED` where they did not
        label it. Numbers for any metric but the nominal one, ordinal taking categories of an order, too; among whole
        numbers `NOT_ASSIGNED` is missing, so that grades below 0 are to be passed as floats where one is -2.
    metric : name in `METRICS`
        For "ratio" time grows with the square of the number of different values, beyond `FEW_GRADES` of them.
    order : sequence, optional
        For "ordinal": the categories from lowest to highest.

    Returns
    -------
    float, at most 1
        1 where all pairable values are equal; NaN where no item has two values.

    Raises
    ------
    InputError
        For no table, or one of raters x items by all appearance: fewer items than raters, at least 12 raters, and an
        alpha of the turned table of at least 0.35, higher by as much. For an unknown metric; for text where numbers
        are needed, or an order; for values that the order lacks; for "ratio" numbers below 0.

    Examples
    --------
    >>> nominal_alpha([[1, 1], [1, 2]]), nominal_alpha([["cat", "cat"], ["cat", None]]), nominal_alpha([[1, None]])
    (0.0, 1.0, nan)

    Two items of two raters, values 1 1 | 2 4, of mean ranks 1, 2.5 and 3.5. Squared differences of the pairs of all
    four values sum to 18, of those of an item to 1: 1 - 3 · 1 / 18; as numbers to 24 and 4: 1 - 3 · 4 / 24.

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
    """Codes (I, R) from 0, -1 where missing, and a level for each."""
    codes = encode_values(values) - NO_OBJECT
    return codes, np.arange(codes.max(initial=-1) + 1, dtype=np.float64)


@checked
def alpha_of_counts(counts: Counts, metric: str = "nominal", *, levels: ArrayLike | None = None) -> float:
    """Krippendorff's alpha from counts (I, C), dense or `scipy.sparse`; see `nominal_alpha`.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
        Of any metric but the nominal one: columns from the lowest grade to the highest.
    metric : name in `METRICS`
    levels : (C,) ascending numbers, optional
        What the columns stand for; one apart unless given. "ratio" needs them.

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
            f"levels: expected none for 'nominal', to which all categories are alike, got {repr_of(levels)}"
        )
    return alpha_of_tally(found, metric, check_levels(levels, found.categories, metric))


@checked
def observed_agreement(counts: Counts) -> float:
    """Mean over items of the probability that two raters agree; items with fewer than two raters are left out.

    Examples
    --------
    >>> observed_agreement([[2, 0], [1, 1], [1, 0]])
    0.5
    """
    return 1 - observe_counts(tally(counts), Unequal()).by_item


@checked
def fleiss_kappa(counts: Counts) -> float:
    """Fleiss' kappa (1971): observed agreement beyond that of raters who draw from the shares of the categories.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
        Where items have unequal numbers of raters, observed agreement is the mean over items with two, and the share of
        a category the mean over all labelled items of its share in them (Gwet 2014); with equal numbers both are
        Fleiss' own.

    Returns
    -------
    float, at most 1
        NaN where no item has two raters, or all annotations are of one category.

    Examples
    --------
    >>> fleiss_kappa([[2, 0], [0, 2], [1, 1], [2, 0]])
    0.4666666666666667
    """
    found, distance = tally(counts), Unequal()
    return float(chance_corrected(observe_counts(found, distance).by_item, distance.of_all(mean_shares(found))))


@checked
def free_marginal_kappa(counts: Counts) -> float:
    """Free-marginal kappa (Brennan & Prediger 1981; Randolph): (P - 1/k) / (1 - 1/k) for k categories.

    For raters who need not put a certain number of items into each category (Nowak & Rüger §4.4).

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
        All C columns count as categories, also those nobody chose.

    Returns
    -------
    float, at most 1
        NaN where no item has two raters, or there is one category only.

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
    """Gwet's AC1 (2008): chance agreement as of raters who guess only where they are uncertain.

    Expected agreement is sum p_c (1 - p_c) / (C - 1), p_c as in `fleiss_kappa` and C the number of columns.

    Examples
    --------
    >>> round(gwet_ac1([[2, 0], [0, 2], [1, 1], [2, 0]]), 4)
    0.5294
    """
    return _gwet(tally(counts), Unequal())


@checked
def gwet_ac2(counts: Counts, weights: str | ArrayLike = "quadratic", *, levels: ArrayLike | None = None) -> float:
    """Gwet's AC2 (2014, §4.4): AC1 of grades, two that differ agreeing as far as their weight says.

    Observed agreement is the mean over items with two raters of the mean weight of two of their grades; expected is
    T p_c (1 - p_c) / (C (C - 1)), summed over the C columns, T the sum of all weights and p_c as in `fleiss_kappa`.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
        Columns from the lowest grade to the highest; all of them count, also those nobody chose.
    weights : name in `KAPPA_WEIGHTS`, or (C, C) numbers from 0 to 1
        How far two grades agree.
    levels : (C,) ascending numbers, optional
        What the columns stand for; one apart unless given.

    Returns
    -------
    float, at most 1
        NaN where no item has two raters, or there is one category only.

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
    values: ArrayLike, weights: str | ArrayLike | None = None, *, order: Sequence[Any] | None = None
) -> float:
    """Conger's kappa (1980): Cohen's for any number of raters, each with shares of categories of their own.

    Expected agreement is the mean over pairs of raters of sum p_ac p_bc, written so that a rater may have labelled only
    some items (Gwet 2014); observed agreement is the mean over items with two raters.

    Parameters
    ----------
    values : (I, R)
        As for `nominal_alpha`; with weights numbers, or categories of `order`.
    weights : name in `KAPPA_WEIGHTS`, or (K, K) numbers from 0 to 1, optional
        How far two of the grades agree that occur, or that `order` names; only equal ones do unless given.
    order : sequence, optional
        With weights: the categories from lowest to highest, one apart.

    Returns
    -------
    float, at most 1
        NaN where no item has two values, fewer than two raters labelled anything, or chance alone would always agree.

    Examples
    --------
    With two raters it is Cohen's:

    >>> conger_kappa([[1, 1], [1, 1], [2, 2], [2, 1]])
    0.5
    >>> round(conger_kappa([[1, 1, 2], [3, 3, 3], [2, 2, 1]], "quadratic"), 4)
    0.6667
    """
    codes, levels, distance = _encode_weighted(values, weights, order)
    check_upright(codes, "nominal" if weights is None else "interval", levels)
    return conger_of_codes(codes, len(levels), distance)


def _encode_weighted(
    values: ArrayLike, weights: str | ArrayLike | None, order: Sequence[Any] | None
) -> tuple[NDArray[np.intp], NDArray[np.float64], Distance]:
    """Codes (I, R), their levels (K,) and their distance: that of the weights, or the nominal one."""
    if weights is None:
        if order is not None:
            raise InputError(f"order: expected none without weights, to which alone it matters, got {repr_of(order)}")
        return *_encode_nominal(values), Unequal()
    grades = encode_grades(values, weights if isinstance(weights, str) else "weights", order)
    return grades.codes, grades.levels, weight_distance(weights, grades.levels)


@checked
def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    weights: str | ArrayLike | None = None,
    *,
    order: Sequence[Any] | None = None,
) -> float:
    """Cohen's kappa (1960) of two raters, over the items both labelled; weighted (1968) if weights are given.

    Parameters
    ----------
    first, second : (I,) values of any kind, None, NaN or `NOT_ASSIGNED` where missing
        With weights numbers, or categories of `order`.
    weights, order
        As of `conger_kappa`. Weights of numbers are those of their difference (Gwet 2014), not of their ranks among
        those that occur: where a grade in between occurs nowhere, `sklearn.metrics.cohen_kappa_score` has others.

    Returns
    -------
    float, at most 1
        NaN where no item has both, or both used one and the same category throughout.

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
    """Values with None where missing, so that those of both raters are compared alike."""
    found: NDArray[np.object_] = as_array(values, "values", object).copy()
    if np.issubdtype(as_array(values, "values").dtype, np.integer):
        found[found == NOT_ASSIGNED] = None
    return found


@checked
def cohen_matrix(
    values: ArrayLike, weights: str | ArrayLike | None = None, *, order: Sequence[Any] | None = None
) -> NDArray[np.float64]:
    """(R, R) Cohen's kappa of every two raters of a table (I, R), NaN on the diagonal and where undefined.

    `weights` and `order` are those of `conger_kappa`.

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
