"""Grades: values that are numbers or have an order, and Krippendorff's alpha of them by his other metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_floats, expand_runs, object_array, run_starts, total
from kalos_core.errors import InputError, check_iterable, is_hashable, listed, lookup, repr_of
from kalos_core.reliability import NOT_ASSIGNED
from kalos_core.sparse import Tally

METRICS = {
    "nominal": "grades are equal or not",
    "ordinal": "how many grades lie between two, in the order of the grades",
    "interval": "the difference of two numbers",
    "ratio": "the difference of two numbers of at least 0, relative to their sum",
}
"""Level of measurement -> what makes two grades differ (Krippendorff 2011, section D)."""

FEW_GRADES = 64
"""Up to so many different grades, and of many raters no more than there are raters, coincidences are counted."""

FEW_RATERS = 12
"""Up to so many raters it is quicker to cross the grades of every two of them than to count those of each item."""

ITEMS_AT_ONCE = 8192
"""Items with grades that are compared at once, so that intermediate results stay in cache."""

CROSSED_AT_ONCE = 1 << 15
"""Items with grades that are crossed at once."""

PAIRS_AT_ONCE = 1 << 20
"""Pairs of grades that are compared at once."""

SPAN = 1 << 16
"""Whole numbers that lie no further apart are counted, others sorted."""

ROWS_AT_ONCE = 64
"""Grades that are compared with all others at once."""

ALMOST_ZERO = 1e-300
"""In place of zero: relative to itself it differs by nothing, to all else by 1."""

LARGEST = 1e150
"""Of numbers: their squares still fit."""

Distance: TypeAlias = "Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]"
"""How much grades differ, of two arrays of their codes that broadcast; symmetric, 0 for a grade and itself."""


@dataclass(frozen=True, eq=False)
class Grades:
    """Values (I, R) as codes into what they may be.

    Parameters
    ----------
    codes : (I, R) int
        -1 where a rater gave none.
    levels : (K,) float64, ascending
        The numbers; where an order was stated, the position in it.
    names : (K,) object
        What they are called: the numbers themselves, or the categories of the stated order.
    """

    codes: NDArray[np.intp]
    levels: NDArray[np.float64]
    names: NDArray[np.object_]


def encode_grades(values: ArrayLike, metric: str, order: Sequence[Any] | None = None) -> Grades:
    """Values of raters as grades, refused where they have no order, or are no numbers and need to be.

    Parameters
    ----------
    values : (I, R)
        Numbers, None and NaN being missing, in whole numbers `NOT_ASSIGNED`, too; or categories of `order`.
    metric : name in `METRICS`, or of weights
        What they are needed for; "interval" and "ratio" need numbers.
    order : sequence, optional
        The categories from lowest to highest.

    Raises
    ------
    InputError
        For text without an order, values that `order` lacks, numbers that are not finite, and for "ratio" numbers
        below 0.

    Examples
    --------
    >>> found = encode_grades([[3, 5], [5, None]], "interval")
    >>> found.codes.tolist(), found.levels.tolist()
    ([[0, 1], [1, -1]], [3.0, 5.0])
    >>> encode_grades([["low", "high"]], "ordinal", order=["low", "mid", "high"]).codes.tolist()
    [[0, 2]]
    >>> encode_grades([["low", "high"]], "ordinal")
    Traceback (most recent call last):
    kalos_core.errors.InputError: values: expected numbers for 'ordinal', got 'low': text has no order of its own; \
pass order=[...] with the categories from lowest to highest
    """
    if order is not None:
        return _in_order(_table(values), metric, order)
    if metric == "nominal":
        given = _table(values)
        found = dict.fromkeys(value for value in given.ravel().tolist() if not _is_absent(value, given.dtype))
        return _positions(given, list(found))
    numbers, missing = _numbers(_table(values), metric)
    some = bool(missing.any())
    levels, codes = _distinct(numbers[~missing] if some else numbers.ravel())
    if metric == "ratio" and len(levels) and levels[0] < 0:
        raise InputError(
            f"values: expected numbers of at least 0 for 'ratio', which compares them with their sum, got {levels[0]:g}"
        )
    made = codes.reshape(numbers.shape) if not some else np.full(numbers.shape, -1, np.intp)
    if some:
        made[~missing] = codes
    names = [int(level) if level == int(level) else level for level in levels.tolist()]
    return Grades(made, levels, object_array(names))


def _table(values: ArrayLike) -> NDArray[Any]:
    try:
        given = np.asarray(values)
        given = np.asarray(values, dtype=object) if given.dtype.kind not in "biuf" else given
    except ValueError:
        raise InputError("values: expected a table, items x raters, got rows of unequal length") from None
    if given.ndim != 2:
        raise InputError(f"values: expected items x raters, got shape {given.shape}")
    return given


def _in_order(given: NDArray[Any], metric: str, order: Sequence[Any]) -> Grades:
    if metric in ("nominal", "interval", "ratio"):
        needs = "which has no order" if metric == "nominal" else "which needs numbers, not positions in an order"
        raise InputError(f"order: expected none for {metric!r}, {needs}, got {repr_of(order)}")
    names = list(check_iterable(order, "order", "categories from lowest to highest"))
    if len({name for name in names if is_hashable(name)}) < max(len(names), 2):
        raise InputError(f"order: expected two or more categories, each once, got {repr_of(order)}")
    return _positions(given, names)


def _positions(given: NDArray[Any], names: list[Any]) -> Grades:
    """Values as positions among names."""
    code = {name: position for position, name in enumerate(names)}
    values = [None if _is_absent(value, given.dtype) else value for value in given.ravel().tolist()]
    codes = [-1 if value is None else code.get(value, -2) if is_hashable(value) else -2 for value in values]
    if -2 in codes:
        unknown = dict.fromkeys(repr_of(value) for value, at in zip(values, codes, strict=True) if at == -2)
        raise InputError(f"values: expected categories of the order {listed(names, 20)}, got {listed(unknown)}")
    return Grades(
        np.array(codes, np.intp).reshape(given.shape), np.arange(len(names), dtype=np.float64), object_array(names)
    )


def _is_absent(value: Any, kind: np.dtype[Any]) -> bool:
    """Whether a value of an array of that type is missing."""
    return is_missing(value) or (kind.kind == "i" and value == NOT_ASSIGNED)


def _numbers(given: NDArray[Any], metric: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Values as numbers, and where they are missing."""
    if given.dtype.kind == "i":
        missing = given == NOT_ASSIGNED
        if missing.any() and (given[~missing] < 0).any():
            raise InputError(
                f"values: expected grades of at least 0 beside {NOT_ASSIGNED}, which in whole numbers is a missing one,"
                f" got {given[~missing].min()}; pass them as floats, in which only NaN is missing"
            )
        return given, missing
    if given.dtype.kind == "O":
        given = np.array([_number(value, metric) for value in given.ravel().tolist()], np.float64).reshape(given.shape)
    numbers = given.astype(np.float64, copy=False)
    wrong = np.abs(numbers) > LARGEST
    if wrong.any():
        raise InputError(f"values: expected numbers of at most {LARGEST:g} for {metric!r}, got {numbers[wrong][0]:g}")
    return numbers, np.isnan(numbers)


def _number(value: Any, metric: str) -> float:
    if is_missing(value):
        return np.nan
    if isinstance(value, (str, bytes)):
        raise InputError(
            f"values: expected numbers for {metric!r}, got {repr_of(value)}: text has no order of its own; "
            + (
                f"{metric!r} is for numbers only"
                if metric in ("interval", "ratio")
                else "pass order=[...] with the categories from lowest to highest"
            )
        )
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"values: expected numbers for {metric!r}, got {repr_of(value)}") from None


def is_missing(value: Any) -> bool:
    """None, NaN, which does not equal itself, or the NA of pandas, which compares as NA.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    same = value is not None and value == value
    return not same if isinstance(same, (bool, np.bool_)) else True


def _distinct(numbers: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """As `np.unique` with the inverse; whole numbers that lie close together without sorting."""
    if not len(numbers):
        return np.zeros(0), np.zeros(0, np.intp)
    least, most = numbers.min(), numbers.max()
    if most - least < SPAN:
        steps = (numbers - least).astype(np.intp, copy=False)
        if numbers.dtype.kind in "iub" or ((steps + least == numbers).all() and least == np.rint(least)):
            used = np.flatnonzero(np.bincount(steps))
            code = np.zeros(used[-1] + 1, np.intp)
            code[used] = np.arange(len(used))
            return (used + least).astype(np.float64), steps if len(used) == len(code) else code[steps]
    levels, codes = np.unique(numbers, return_inverse=True)
    return levels.astype(np.float64), codes.reshape(-1)


def check_levels(levels: ArrayLike | None, categories: int, metric: str) -> NDArray[np.float64]:
    """(C,) the numbers of the columns of counts; one apart unless given.

    Examples
    --------
    >>> check_levels(None, 3, "ordinal").tolist(), check_levels([1, 2, 4], 3, "ratio").tolist()
    ([0.0, 1.0, 2.0], [1.0, 2.0, 4.0])
    >>> check_levels([2, 1], 2, "interval")
    Traceback (most recent call last):
    kalos_core.errors.InputError: levels: expected 2 ascending numbers, one a column, got [2, 1]
    """
    if levels is None:
        if metric == "ratio":
            raise InputError("levels: expected the number of each column for 'ratio', which compares them with 0")
        return np.arange(categories, dtype=np.float64)
    found = as_floats(levels, "levels")
    if found.shape != (categories,) or not (np.diff(found) > 0).all() or not (np.abs(found) <= LARGEST).all():
        raise InputError(f"levels: expected {categories} ascending numbers, one a column, got {repr_of(levels)}")
    if metric == "ratio" and categories and found[0] < 0:
        raise InputError(f"levels: expected numbers of at least 0 for 'ratio', got {found[0]:g}")
    return found


# ---- how much the grades of items differ ----


def squares_of_items(found: Tally, place: NDArray[np.float64]) -> NDArray[np.float64]:
    """(I,) sum over ordered pairs of annotations of an item of the squared difference of their places (C,).

    Examples
    --------
    >>> from kalos_core.sparse import tally
    >>> squares_of_items(tally([[1, 0, 1], [2, 1, 0]]), np.array([0.0, 1.0, 3.0])).tolist()
    [18.0, 4.0]
    """
    there, often = place[found.category], found.count
    mean = total(found.item, often * there, found.items) / np.maximum(found.annotations, 1)
    return 2 * found.annotations * total(found.item, often * (there - mean[found.item]) ** 2, found.items)


def sums_of_items(found: Tally, distance: Distance) -> NDArray[np.float64]:
    """(I,) sum over ordered pairs of annotations of an item of their distance.

    Examples
    --------
    >>> from kalos_core.sparse import tally
    >>> sums_of_items(tally([[1, 0, 1], [2, 1, 0]]), lambda one, other: abs(one - other)).tolist()
    [4.0, 4.0]
    """
    order = np.argsort(found.item, kind="stable")
    item, category, count = (array[order] for array in (found.item, found.category, found.count))
    length = np.bincount(item, minlength=found.items)
    first, partners = run_starts(length)[item], length[item]
    sums = np.zeros(found.items)
    ends = run_starts(partners)
    begin = 0
    while begin < len(item):
        end = max(int(np.searchsorted(ends, ends[begin] + PAIRS_AT_ONCE, side="right")) - 1, begin + 1)
        owner, other = expand_runs(first[begin:end], partners[begin:end])
        own = begin + owner
        sums += total(item[own], count[own] * count[other] * distance(category[own], category[other]), found.items)
        begin = end
    return sums


def sum_of_all(totals: NDArray[np.float64], distance: Distance) -> float:
    """Sum over ordered pairs of all values, `totals` (K,) of each grade, of their distance.

    Examples
    --------
    >>> sum_of_all(np.array([2.0, 1.0]), lambda one, other: abs(one - other))
    4.0
    """
    used = np.flatnonzero(totals)
    amount, found = totals[used], 0.0
    for start in range(0, len(used), ROWS_AT_ONCE):  # each two grades once: distances are symmetric
        own, later = amount[start : start + ROWS_AT_ONCE], amount[start:].copy()
        later[len(own) :] *= 2
        found += float(own @ distance(used[start : start + len(own), None], used[None, start:]) @ later)
    return found


def sums_between_raters(columns: NDArray[np.intp], distance: Distance) -> NDArray[np.float64]:
    """(I,) as `sums_of_items`, of codes (R, I).

    Examples
    --------
    >>> sums_between_raters(np.array([[0, 2], [3, -1]]), lambda one, other: abs(one - other)).tolist()
    [6.0, 0.0]
    """
    sums = np.zeros(columns.shape[1])
    given = columns >= 0
    complete = given.all()
    for a, b in combinations(range(len(columns)), 2):
        apart = distance(columns[a], columns[b])
        sums += apart if complete else np.where(given[a] & given[b], apart, 0)
    return 2 * sums


def _squares_between_raters(columns: NDArray[np.intp], place: NDArray[np.float64]) -> NDArray[np.float64]:
    """(I,) as `squares_of_items`, of codes (R, I)."""
    given = columns >= 0
    count = given.sum(axis=0)
    there = np.append(place, 0.0)[columns]
    there -= there.sum(axis=0) / np.maximum(count, 1)
    if not given.all():
        there[~given] = 0
    return np.asarray(2 * count * np.einsum("ri,ri->i", there, there))


def tally_of_grades(codes: NDArray[np.intp], grades: int) -> Tally:
    """How many raters gave each item each grade, of codes (I, R).

    Examples
    --------
    >>> found = tally_of_grades(np.array([[0, 0, -1], [1, 0, 1]]), 2)
    >>> found.item.tolist(), found.category.tolist(), found.count.tolist()
    ([0, 1, 1], [0, 0, 1], [2, 1, 2])
    """
    item, rater = np.nonzero(codes >= 0)
    cell, count = np.unique(item * grades + codes[item, rater], return_counts=True)
    return Tally(cell // max(grades, 1), cell % max(grades, 1), count.astype(np.int64), len(codes), grades)


# ---- alpha ----


def alpha_of_grades(grades: Grades, metric: str) -> float:
    """Krippendorff's alpha of grades for any metric but the nominal one; see `nominal_alpha`."""
    codes, levels = grades.codes, grades.levels
    raters = codes.shape[1]
    if len(levels) <= (FEW_GRADES if raters <= FEW_RATERS else min(FEW_GRADES, raters)):
        return alpha_of_coincidences(coincidence_matrix(codes, len(levels)), metric, levels)
    totals = np.zeros(len(levels))
    blocks = [slice(start, start + ITEMS_AT_ONCE) for start in range(0, len(codes), ITEMS_AT_ONCE)]
    for block in blocks:
        here = codes[block]
        given = here >= 0
        pairable = here[given & (given.sum(axis=1) >= 2)[:, None]]
        totals += np.bincount(pairable, minlength=len(levels))
    if not totals.any():
        return np.nan
    observed = 0.0
    place = places(metric, levels, totals)
    for block in blocks:
        columns = np.ascontiguousarray(codes[block].T)
        if place is not None:
            sums = _squares_between_raters(columns, place)
        else:
            sums = sums_between_raters(columns, distance_of(metric, levels))
        observed += float((sums / np.maximum((columns >= 0).sum(axis=0) - 1, 1)).sum())
    return _alpha(observed, totals, place, distance_of(metric, levels))


def coincidence_matrix(codes: NDArray[np.intp], grades: int) -> NDArray[np.float64]:
    """(K, K) how often two grades coincide in an item, each item counting as its m values do (Krippendorff 2011, o_ck).

    Parameters
    ----------
    codes : (I, R) int
        -1 where missing.
    grades : int
        K

    Examples
    --------
    >>> coincidence_matrix(np.array([[0, 0, 1], [1, -1, 1], [0, -1, -1]]), 2).tolist()
    [[1.0, 1.0], [1.0, 2.0]]
    """
    if codes.shape[1] <= FEW_RATERS:
        return _coincidences_of_pairs(codes, grades)
    found = np.zeros((grades, grades))
    for start in range(0, len(codes), ITEMS_AT_ONCE):
        here = codes[start : start + ITEMS_AT_ONCE]
        cell = 1 + (grades + 1) * np.arange(len(here))[:, None] + here  # what is missing has a column, too
        counts = np.bincount(cell.ravel(), minlength=len(here) * (grades + 1)).reshape(len(here), -1)[:, 1:]
        counts = counts.astype(np.float64)
        pairs = np.maximum(counts.sum(axis=1) - 1, 1)
        several = counts.sum(axis=1) >= 2
        weighted = counts * (several / pairs)[:, None]
        found += weighted.T @ counts
        found[np.diag_indices(grades)] -= weighted.sum(axis=0)
    return found


def _coincidences_of_pairs(codes: NDArray[np.intp], grades: int) -> NDArray[np.float64]:
    """`coincidence_matrix`, from the crossed grades of every two raters."""
    size = grades + 1  # what is missing comes first
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


def alpha_of_coincidences(found: NDArray[np.float64], metric: str, levels: NDArray[np.float64]) -> float:
    """1 - D_o / D_e of coincidences (K, K); 1 where all pairable values are equal, as for nominal ones.

    Examples
    --------
    >>> alpha_of_coincidences(np.array([[2.0, 1.0], [1.0, 2.0]]), "interval", np.array([0.0, 1.0]))
    0.4444444444444444
    """
    totals = found.sum(axis=0)
    if not totals.any():
        return np.nan
    place, each = places(metric, levels, totals), np.arange(len(levels))
    distance = distance_of(metric, levels) if place is None else differences(place)
    apart = distance(each[:, None], each[None])
    unequal = totals @ apart @ totals
    return float(1 - (totals.sum() - 1) * (found * apart).sum() / unequal) if unequal else 1.0


def alpha_of_tally(found: Tally, metric: str, levels: NDArray[np.float64]) -> float:
    """Krippendorff's alpha of counts for any metric but the nominal one; see `alpha_of_counts`."""
    pairable = found.times[found.item] * found.usable[found.item]
    totals = total(found.category, found.count * pairable, found.categories)
    if not totals.any():
        return np.nan
    place = places(metric, levels, totals)
    distance, weight = distance_of(metric, levels), found.times / np.maximum(found.annotations - 1, 1)
    if place is not None:
        observed = float((squares_of_items(found, place) * weight).sum())
    else:
        observed = _coinciding(found, weight, distance)
    return _alpha(observed, totals, place, distance)


def _coinciding(found: Tally, weight: NDArray[np.float64], distance: Distance) -> float:
    """Sum of the distances of the annotations of items (I,) with these weights, over grades that occur together."""
    shape = (found.items, found.categories)
    counts = scipy.sparse.coo_array((found.count.astype(np.float64), (found.item, found.category)), shape=shape).tocsr()
    weighted = scipy.sparse.coo_array((found.count * weight[found.item], (found.item, found.category)), shape=shape)
    pairs = (counts.T @ weighted.tocsr()).tocoo()
    one, other = (codes.astype(np.intp) for codes in pairs.coords)
    return float(pairs.data @ distance(one, other))


def places(metric: str, levels: NDArray[np.float64], totals: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """(K,) where grades lie so that the metric is their squared difference; None for one that is none.

    Ordinal is the squared difference of mean ranks among all pairable values: all grades from c to k, less half of
    those that are c or k (Krippendorff 2011, section D).

    Examples
    --------
    >>> places("ordinal", np.array([1.0, 2.0, 9.0]), np.array([2.0, 4.0, 2.0])).tolist()
    [1.0, 4.0, 7.0]
    """
    if lookup(METRICS, metric, "metric") is METRICS["ordinal"]:
        return np.cumsum(totals) - totals / 2
    if metric in ("nominal", "ratio"):
        return None
    return np.asarray((levels - levels[0]) / ((levels[-1] - levels[0]) or 1))


def differences(place: NDArray[np.float64]) -> Distance:
    """The squared difference of the places (K,) of two grades."""
    return lambda one, other: np.asarray((place[one] - place[other]) ** 2)


def distance_of(metric: str, levels: NDArray[np.float64]) -> Distance:
    """The metric "nominal" or "ratio", which differences of places are not."""
    return ratios(levels) if metric == "ratio" else lambda one, other: np.asarray(one != other, dtype=np.float64)


def ratios(levels: NDArray[np.float64]) -> Distance:
    """The ratio metric: the squared difference of two numbers relative to their sum, 0 for two zeros.

    Examples
    --------
    >>> ratios(np.array([0.0, 1.0, 3.0]))(np.array([0, 1, 0]), np.array([0, 2, 1])).round(9).tolist()
    [0.0, 0.25, 1.0]
    """
    scaled = np.maximum(levels / (levels[-1] or 1), ALMOST_ZERO)

    def distance(one: NDArray[np.intp], other: NDArray[np.intp]) -> NDArray[np.float64]:
        first, second = scaled[one], scaled[other]
        apart = first - second
        apart /= first + second
        return np.asarray(np.square(apart, out=apart))

    return distance


def _alpha(
    observed: float, totals: NDArray[np.float64], place: NDArray[np.float64] | None, distance: Distance
) -> float:
    """1 - D_o / D_e; 1 where all pairable values are equal, as for nominal ones."""
    everything = np.arange(len(totals))
    if place is None:
        expected = sum_of_all(totals, distance)
    else:
        zero = np.zeros(len(totals), np.intp)
        expected = float(squares_of_items(Tally(zero, everything, totals.astype(np.int64), 1, len(totals)), place)[0])
    return float(1 - (totals.sum() - 1) * observed / expected) if np.count_nonzero(totals) > 1 else 1.0
