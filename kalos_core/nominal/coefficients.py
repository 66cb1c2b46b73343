"""Chance-corrected agreement: alpha, Fleiss, free-marginal, Gwet, Conger, Cohen; and their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_array, total
from kalos_core.errors import InputError, lookup, repr_of
from kalos_core.nominal.grades import (
    METRICS,
    Grades,
    alpha_of_grades,
    alpha_of_tally,
    check_levels,
    encode_grades,
    is_missing,
    sum_of_all,
    sums_of_items,
)
from kalos_core.nominal.weights import disagreement, encode_weighted, weighted_cohen, weighted_conger
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED, alpha
from kalos_core.sparse import Counts, Tally, tally
from kalos_core.sparse.labels import CELLS, labels_likelihood

LANDIS_KOCH = (
    (0.8, "almost perfect"),
    (0.6, "substantial"),
    (0.4, "moderate"),
    (0.2, "fair"),
    (0.0, "slight"),
)
"""Least kappa of each band, best first; below the last it is poor (Landis & Koch 1977)."""

FEW_RATERS = 12
"""Up to so many raters it is quicker to compare every two of them than to sort the values of each item."""

ITEMS_AT_ONCE = 8192
"""Items whose values are compared at once, so that intermediate results stay in cache."""

MOST_CODES = 1 << 16
"""Whole numbers beyond this are ids rather than codes, and are numbered anew."""


TURNED = 0.3
"""What alpha has to be, and by how much more than otherwise, if raters are read as items."""

SURE = float(np.log(1000))
"""Log of how much likelier labels have to be if raters are read as items."""


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


def encode_values(values: ArrayLike) -> NDArray[np.int64]:
    """Values of any kind as codes from -1 upwards, `NOT_ASSIGNED` where there is none.

    Parameters
    ----------
    values : (I, R)
        Whole numbers, in which `NOT_ASSIGNED` is missing and `NO_OBJECT` a value; or anything else that can be
        compared, None and NaN being missing.

    Examples
    --------
    >>> encode_values([["cat", None], ["dog", "cat"]]).tolist()
    [[0, -2], [1, 0]]
    """
    try:
        given = np.asarray(values)
    except ValueError:
        raise InputError("values: expected a table, items x raters, got rows of unequal length") from None
    if given.ndim != 2:
        raise InputError(f"values: expected items x raters, got shape {given.shape}")
    if not np.issubdtype(given.dtype, np.integer):
        return _encode_objects(np.asarray(values, dtype=object))  # among names NumPy would make NaN a name
    if given.size and given.min() < NOT_ASSIGNED:
        raise InputError(f"values: expected codes of at least {NOT_ASSIGNED}, got {given.min()}")
    if given.size and given.max() > MOST_CODES:  # ids rather than codes
        distinct, codes = np.unique(given, return_inverse=True)
        return np.asarray(np.where(given < 0, given, codes.reshape(given.shape) - (distinct < 0).sum()))
    return given.astype(np.int64, copy=False)


def _encode_objects(given: NDArray[np.object_]) -> NDArray[np.int64]:
    code: dict[Any, int] = {}
    flat = given.ravel().tolist()
    try:
        codes = [NOT_ASSIGNED if is_missing(value) else code.setdefault(value, len(code)) for value in flat]
    except TypeError as error:
        raise InputError(f"values: expected names or numbers, which can be compared, got {error}") from None
    return np.array(codes, dtype=np.int64).reshape(given.shape)


def label_counts(values: ArrayLike) -> scipy.sparse.csr_array:
    """How many raters gave each item each value: what the functions of counts take.

    Parameters
    ----------
    values : (I, R)
        As for `nominal_alpha`.

    Returns
    -------
    (I, K) int64, sparse
        A column for each value that occurs, by ascending code (names in order of first occurrence).

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
        For no table, or one of raters x items by all appearance: more raters than items, whose labels are 1,000
        times likelier as those of few raters of many items, with an alpha higher by 0.3. For an unknown metric; for
        text where numbers are needed, or an order; for values that the order lacks; for "ratio" numbers below 0.

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
    if lookup(METRICS, metric, "metric") is METRICS["nominal"]:
        if order is not None:
            raise InputError(f"order: expected none for 'nominal', which has no order, got {repr_of(order)}")
        return _alpha_of_upright(encode_values(values), _alpha_of_codes)
    return _alpha_of_upright_grades(encode_grades(values, metric, order), metric)


def check_upright(grades: Grades, metric: str) -> None:
    """An error where grades are raters x items by all appearance; see `nominal_alpha`."""
    _alpha_of_upright_grades(grades, metric)


def _alpha_of_upright_grades(grades: Grades, metric: str) -> float:
    return _alpha_of_upright(grades.codes, lambda codes: alpha_of_grades(replace(grades, codes=codes), metric), -1)


def _alpha_of_upright(
    codes: NDArray[np.int64], alpha_of: Callable[[NDArray[np.int64]], float], missing: int = NOT_ASSIGNED
) -> float:
    """Alpha of codes (I, R), refused where they are raters x items by all appearance."""
    coefficient = alpha_of(codes)
    items, raters = codes.shape
    if items < raters:
        turned = alpha_of(codes.T)
        if turned - coefficient > TURNED < turned and _likelier_turned(codes, missing):
            raise InputError(
                f"values: expected items x raters, got {items:,} items of {raters:,} raters with an alpha of "
                f"{coefficient:.2f}; as raters x items, which the package `krippendorff` takes, it is {turned:.2f}: "
                "pass values.T. If these are the items, pass their counts to alpha_of_counts (label_counts(values))"
            )
    return coefficient


def _likelier_turned(codes: NDArray[np.int64], missing: int) -> bool:
    """Whether codes (I, R), the first of them if they are many, are 1,000 times likelier as (R, I)."""
    some = codes[:, : max(CELLS // max(len(codes), 1), 1)]
    given = some != missing
    return bool(given.any() and labels_likelihood(some.T, given.T) - labels_likelihood(some, given) > SURE)


def _alpha_of_codes(codes: NDArray[np.int64]) -> float:
    raters, categories = codes.shape[1], int(codes.max(initial=NO_OBJECT)) - NO_OBJECT + 1
    agreeing, totals = np.zeros(raters + 1), np.zeros(categories)
    for start in range(0, len(codes), ITEMS_AT_ONCE):
        columns = np.ascontiguousarray(codes[start : start + ITEMS_AT_ONCE].T)  # a row a rater, quick to go through
        given = columns != NOT_ASSIGNED
        annotations = given.sum(axis=0)
        agreeing += total(annotations, _agreeing(_distinguishable(columns)), raters + 1)
        pairable = columns[given & (annotations >= 2)]
        totals += np.bincount(pairable - NO_OBJECT, minlength=categories)
    return _alpha(agreeing, totals)


def _distinguishable(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Values (R, I) with what is missing like nothing else."""
    missing = columns == NOT_ASSIGNED
    return np.where(missing, NOT_ASSIGNED - np.arange(len(columns))[:, None], columns) if missing.any() else columns


def _agreeing(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """(I,) ordered pairs of raters who gave the same value, from values (R, I) of `_distinguishable`."""
    if len(columns) <= FEW_RATERS:
        few = np.zeros(columns.shape[1], np.uint8)  # small numbers are quick to add
        for first, second in combinations(columns, 2):
            few += first == second
        return 2 * few.astype(np.int64)
    run, same = np.zeros((2, columns.shape[1]), np.int64)
    for lower, upper in pairwise(np.sort(columns, axis=0)):  # equal values next to each other
        run = np.where(lower == upper, run + 1, 0)
        same += run
    return 2 * same


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
    if lookup(METRICS, metric, "metric") is not METRICS["nominal"]:
        return alpha_of_tally(found, metric, check_levels(levels, found.categories, metric))
    if levels is not None:
        raise InputError(
            f"levels: expected none for 'nominal', to which all categories are alike, got {repr_of(levels)}"
        )
    pairable = found.times[found.item] * found.usable[found.item]
    totals = total(found.category, found.count * pairable, found.categories)
    return _alpha(total(found.annotations, found.agreeing * found.times, 2), totals)


def _alpha(agreeing: NDArray[np.float64], totals: NDArray[np.float64]) -> float:
    """Alpha from agreeing ordered pairs, summed over items by their number n of values, and totals of pairable values.

    Whole numbers are summed before any is divided: the same to the last bit in any order of items.
    """
    coincident = (agreeing[2:] / np.arange(1, len(agreeing) - 1)).sum()
    coefficient = alpha(np.array([totals.sum()]), np.array([coincident]), np.array([(totals**2).sum()]))
    return float(coefficient[0])


def observed_agreement(counts: Counts) -> float:
    """Mean over items of the probability that two raters agree; items with fewer than two raters are left out.

    Examples
    --------
    >>> observed_agreement([[2, 0], [1, 1], [1, 0]])
    0.5
    """
    return _observed(tally(counts))


def _observed(found: Tally) -> float:
    if not found.usable.any():
        return float("nan")
    return float(np.average(found.item_agreement[found.usable], weights=found.times[found.usable]))


def _corrected(observed: float, expected: float) -> float:
    """(P - P_e) / (1 - P_e); NaN where chance alone would always agree."""
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")


def _mean_shares(found: Tally) -> NDArray[np.float64]:
    """(C,) mean over labelled items of the share of each category."""
    labelled = found.times[found.annotations > 0].sum()
    share = found.count / found.annotations[found.item] * found.times[found.item]
    return np.asarray(total(found.category, share, found.categories) / max(labelled, 1))


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
    found = tally(counts)
    return _corrected(_observed(found), float((_mean_shares(found) ** 2).sum()))


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
    return _corrected(_observed(found), 1 / found.categories if found.categories else 1.0)


def gwet_ac1(counts: Counts) -> float:
    """Gwet's AC1 (2008): chance agreement as of raters who guess only where they are uncertain.

    Expected agreement is sum p_c (1 - p_c) / (C - 1), p_c as in `fleiss_kappa` and C the number of columns.

    Examples
    --------
    >>> round(gwet_ac1([[2, 0], [0, 2], [1, 1], [2, 0]]), 4)
    0.5294
    """
    found = tally(counts)
    share = _mean_shares(found)
    expected = float((share * (1 - share)).sum()) / (found.categories - 1) if found.categories > 1 else 1.0
    return _corrected(_observed(found), expected)


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
    columns = check_levels(levels, found.categories, "weights")
    distance = disagreement(weights, columns)
    if found.categories < 2 or not found.usable.any():
        return float("nan")
    pairs = found.annotations * (found.annotations - 1)
    apart = sums_of_items(found, distance)[found.usable] / pairs[found.usable]
    share = _mean_shares(found)
    weight = found.categories**2 - sum_of_all(np.ones(found.categories), distance)
    expected = weight * float((share * (1 - share)).sum()) / (found.categories * (found.categories - 1))
    return _corrected(1 - float(np.average(apart, weights=found.times[found.usable])), expected)


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
    if weights is not None:
        grades, distance = encode_weighted(values, weights, order)
        check_upright(grades, "interval")
        return weighted_conger(grades, distance)
    _refuse_order(order)
    codes = encode_values(values)
    _alpha_of_upright(codes, _alpha_of_codes)
    columns = np.ascontiguousarray(codes.T)
    columns = columns[(columns != NOT_ASSIGNED).any(axis=1)]
    annotations = (columns != NOT_ASSIGNED).sum(axis=0)
    several = annotations >= 2
    if len(columns) < 2 or not several.any():
        return float("nan")
    pairs = annotations[several] * (annotations[several] - 1)
    observed = float((_agreeing(_distinguishable(columns))[several] / pairs).mean())
    size = int(columns.max()) + 2  # NO_OBJECT takes the first column
    counts = np.stack([np.bincount(row[row != NOT_ASSIGNED] + 1, minlength=size) for row in columns])
    share = counts / counts.sum(axis=1, keepdims=True)
    expected = (share.mean(axis=0) ** 2 - share.var(axis=0, ddof=1) / len(columns)).sum()
    return _corrected(observed, float(expected))


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
    both = np.column_stack([one, other])
    if weights is not None:
        grades, distance = encode_weighted(both, weights, order)
        return weighted_cohen(grades, 0, 1, distance)
    _refuse_order(order)
    return float(_cohen_of_codes(encode_values(both), 0, 1))


def _refuse_order(order: Sequence[Any] | None) -> None:
    if order is not None:
        raise InputError(f"order: expected none without weights, to which alone it matters, got {repr_of(order)}")


def _as_objects(values: ArrayLike) -> NDArray[np.object_]:
    """Values with None where missing, so that those of both raters are compared alike."""
    found: NDArray[np.object_] = as_array(values, "values", object).copy()
    if np.issubdtype(as_array(values, "values").dtype, np.integer):
        found[found == NOT_ASSIGNED] = None
    return found


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
    if weights is None:
        _refuse_order(order)
        codes = encode_values(values)
        of_pair = partial(_cohen_of_codes, codes)
    else:
        grades, distance = encode_weighted(values, weights, order)
        codes = grades.codes
        of_pair = partial(weighted_cohen, grades, distance=distance)
    raters = codes.shape[1]
    kappa = np.full((raters, raters), np.nan)
    for a in range(raters):
        for b in range(a + 1, raters):
            kappa[a, b] = kappa[b, a] = of_pair(a, b)
    return kappa


def _cohen_of_codes(codes: NDArray[np.int64], a: int, b: int) -> float:
    both = (codes[:, a] != NOT_ASSIGNED) & (codes[:, b] != NOT_ASSIGNED)
    one, other = codes[both, a] - NOT_ASSIGNED, codes[both, b] - NOT_ASSIGNED
    if not len(one):
        return float("nan")
    size = int(max(one.max(), other.max())) + 1
    shares = [np.bincount(column, minlength=size) / len(column) for column in (one, other)]
    return _corrected(float((one == other).mean()), float(shares[0] @ shares[1]))
