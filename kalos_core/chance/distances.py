"""Distances between categories: difference functions of alpha, weights of kappas, and their sums over values.

Letters used in shapes: I items, R raters, K categories. Codes of categories are 0 to K - 1; -1 is a missing value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_floats, total
from kalos_core.chance.counts import Tally, entry_pairs, tally_of_codes
from kalos_core.errors import InputError, lookup
from kalos_core.options import checked

MetricName = Literal["nominal", "ordinal", "interval", "ratio"]
"""Names in `METRICS`."""

METRICS: dict[MetricName, str] = {
    "nominal": "grades are equal or not",
    "ordinal": "how many grades lie between two, in the order of the grades",
    "interval": "the difference of two numbers",
    "ratio": "the difference of two numbers of at least 0, relative to their sum",
}
"""Level of measurement -> difference between two grades (Krippendorff 2011, section D)."""

KappaWeightName = Literal[
    "linear", "quadratic", "linear_ranks", "quadratic_ranks", "ordinal", "radical", "ratio", "circular", "bipolar"
]
"""Names in `KAPPA_WEIGHTS`."""

KappaWeights = KappaWeightName | NDArray[Any] | Sequence[Sequence[float]]
"""A name in `KAPPA_WEIGHTS`, or (K, K) agreement of each two grades. Not `ArrayLike`, which contains every `str`."""

KAPPA_WEIGHTS: dict[KappaWeightName, str] = {
    "linear": "1 - d / d_max, d the difference of two grades",
    "quadratic": "1 - (d / d_max)²",
    "linear_ranks": "as linear, d counted in steps from grade to grade, as scikit-learn and psych have it",
    "quadratic_ranks": "as quadratic, d counted in steps from grade to grade",
    "ordinal": "1 - (n + 1) n / ((K - 1) K), n the steps from grade to grade of K",
    "radical": "1 - √(d / d_max)",
    "ratio": "1 - (d / sum)² / (d_max / sum of the least and the greatest)², for numbers above 0",
    "circular": "1 - sin²(π d / (d_max + 1)) over its greatest value: the last grade is next to the first",
    "bipolar": "1 - d² / ((x + y - 2 least) (2 greatest - x - y)) over its greatest value",
}
"""Name of the weight -> agreement of two grades (Cohen 1968; Fleiss & Cohen 1973; Gwet 2014, §3.5)."""

FEW_RATERS = 12
"""Up to this number of raters, comparing every two raters is faster than counting the values of each item."""

FEW_CATEGORIES = 64
"""Up to this number of categories, full tables are faster than pairs of categories that occur."""

ITEMS_AT_ONCE = 8192
"""Items whose values are compared at once, so that intermediate results stay in the cache."""

ROWS_AT_ONCE = 64
"""Categories compared with all others at once."""

ALMOST_ZERO = 1e-300
"""Replaces a level of 0 in ratios: its ratio distance is 0 to itself and 1 to all other levels."""


Between: TypeAlias = "Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]]"
"""Distances of two arrays of codes that broadcast; symmetric, 0 between a category and itself."""


class Distance:
    """Distance between two categories, and its sums over ordered pairs of values.

    The sums are faster for distances with a closed form: `Unequal` and `SquaredDifference`.

    Parameters
    ----------
    between : callable
        See `Between`.
    """

    def __init__(self, between: Between) -> None:
        self.between = between

    def matrix(self, categories: int) -> NDArray[np.float64]:
        """Return (K, K) the distance between every two categories."""
        each = np.arange(categories)
        return self.between(each[:, None], each[None])

    def of_items(self, found: Tally) -> NDArray[np.float64]:
        """Return (I,) the sum over ordered pairs of values of each item.

        Examples
        --------
        >>> from kalos_core.chance import Unequal, weight_distance
        >>> found = Tally(np.array([0, 0, 1, 1]), np.array([0, 2, 0, 1]), np.array([1, 1, 2, 1]), 2, 3)
        >>> weight_distance("linear", np.arange(3.0)).of_items(found).tolist(), Unequal().of_items(found).tolist()
        ([2.0, 2.0], [2.0, 4.0])
        """
        if found.categories <= FEW_CATEGORIES:
            return self._by_table(found)
        sums = np.zeros(found.items)
        for own, other in entry_pairs(found):
            apart = self.between(found.category[own], found.category[other])
            sums += total(found.item[own], found.count[own] * found.count[other] * apart, found.items)
        return sums

    def _by_table(self, found: Tally) -> NDArray[np.float64]:
        """Compute `of_items` from blocks of dense counts."""
        order = np.argsort(found.item, kind="stable")
        item, sums = found.item[order], np.zeros(found.items)
        for start in range(0, found.items, ITEMS_AT_ONCE):
            here = order[slice(*np.searchsorted(item, (start, start + ITEMS_AT_ONCE)))]
            counts = np.zeros((min(ITEMS_AT_ONCE, found.items - start), found.categories))
            counts[found.item[here] - start, found.category[here]] = found.count[here]
            sums[start : start + len(counts)] = self._of_table(counts)
        return sums

    def _of_table(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.einsum("ic,ic->i", counts @ self.matrix(counts.shape[1]), counts))

    def of_raters(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return (I,) the sum over ordered pairs of values of each item, from codes (R, I) by rater.

        Examples
        --------
        >>> from kalos_core.chance import Unequal, weight_distance
        >>> columns = np.array([[0, 2, 1], [2, -1, 1], [0, 2, 0]])
        >>> weight_distance("linear", np.arange(3.0)).of_raters(columns).tolist()
        [4.0, 0.0, 2.0]
        >>> Unequal().of_raters(columns).tolist()
        [4.0, 0.0, 4.0]
        """
        raters, items = columns.shape
        size = int(columns.max(initial=-1)) + 2
        if raters > FEW_RATERS and size <= FEW_CATEGORIES:
            cell = np.arange(items) * size + 1 + columns  # missing values come first
            counts = np.bincount(cell.ravel(), minlength=items * size).astype(np.float64)
            return self._of_table(counts.reshape(items, size)[:, 1:])
        if raters > FEW_CATEGORIES:
            return self.of_items(tally_of_codes(columns.T))
        sums, given = np.zeros(items), columns >= 0
        complete = given.all()
        for a, b in combinations(range(raters), 2):
            apart = self.between(columns[a], columns[b])
            sums += apart if complete else np.where(given[a] & given[b], apart, 0)
        return 2 * sums

    def of_all(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """Return (...,) the sum over ordered pairs of all values, given `totals` (..., K) of each category.

        Examples
        --------
        >>> from kalos_core.chance import Unequal, weight_distance
        >>> totals = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
        >>> weight_distance("linear", np.arange(3.0)).of_all(totals).tolist(), Unequal().of_all(totals).tolist()
        ([2.0, 2.0], [4.0, 2.0])
        """
        used = np.flatnonzero(totals.any(axis=tuple(range(totals.ndim - 1))))
        amount, found = totals[..., used], np.zeros(totals.shape[:-1])
        for start in range(0, len(used), ROWS_AT_ONCE):  # every two categories once, because distances are symmetric
            own, later = amount[..., start : start + ROWS_AT_ONCE], amount[..., start:].astype(np.float64)
            later[..., own.shape[-1] :] *= 2
            apart = self.between(used[start : start + ROWS_AT_ONCE, None], used[None, start:])
            found += (own @ apart * later).sum(axis=-1)
        return found


class Unequal(Distance):
    """Nominal distance: 1 between different categories."""

    def __init__(self) -> None:
        super().__init__(lambda one, other: np.asarray(one != other, dtype=np.float64))

    def of_items(self, found: Tally) -> NDArray[np.float64]:
        """Return (I,) as `Distance.of_items`."""
        return np.asarray(found.annotations * (found.annotations - 1) - found.agreeing, dtype=np.float64)

    def of_raters(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return (I,) as `Distance.of_raters`."""
        number = number_of_values(columns)
        missing = len(columns) - number
        agreeing = _agreeing(columns) - missing * (missing - 1)  # missing values are equal to each other, too
        return (number * (number - 1) - agreeing).astype(np.float64)

    def of_all(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """Return (...,) as `Distance.of_all`."""
        return np.asarray(totals.sum(axis=-1) ** 2 - (totals**2).sum(axis=-1), dtype=np.float64)


@checked
def number_of_values(columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Count (I,) m: the number of values of each item, from codes (R, I)."""
    complete = columns.min(initial=0) >= 0
    return np.full(columns.shape[1], len(columns)) if complete else (columns >= 0).sum(axis=0)


def _agreeing(columns: NDArray[np.intp]) -> NDArray[np.int64]:
    """Count (I,) ordered pairs of raters with equal codes (R, I)."""
    if len(columns) <= FEW_RATERS:
        few = np.zeros(columns.shape[1], np.uint8)  # small integers are fast to add
        for first, second in combinations(columns, 2):
            few += first == second
        return 2 * few.astype(np.int64)
    run, same = np.zeros((2, columns.shape[1]), np.int64)
    for lower, upper in pairwise(np.sort(columns, axis=0)):  # equal values are adjacent
        run = np.where(lower == upper, run + 1, 0)
        same += run
    return 2 * same


class SquaredDifference(Distance):
    """Squared difference of the positions of categories.

    Parameters
    ----------
    place : (K,) float64

    Examples
    --------
    >>> apart = SquaredDifference(np.array([0.0, 1.0, 3.0]))
    >>> apart.of_items(Tally(np.array([0, 0, 1, 1]), np.array([0, 2, 0, 1]), np.array([1, 1, 2, 1]), 2, 3)).tolist()
    [18.0, 4.0]
    >>> apart.of_all(np.array([2, 1, 0])).item()
    4.0
    """

    def __init__(self, place: NDArray[np.float64]) -> None:
        super().__init__(lambda one, other: np.asarray((place[one] - place[other]) ** 2))
        self.place = place

    def of_items(self, found: Tally) -> NDArray[np.float64]:
        """Return (I,) as `Distance.of_items`."""
        there, often = self.place[found.category], found.count
        mean = total(found.item, often * there, found.items) / np.maximum(found.annotations, 1)
        return 2 * found.annotations * total(found.item, often * (there - mean[found.item]) ** 2, found.items)

    def of_raters(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return (I,) as `Distance.of_raters`."""
        number = number_of_values(columns)
        there = np.append(self.place, 0.0)[columns]
        there -= there.sum(axis=0) / np.maximum(number, 1)
        there[columns < 0] = 0
        return np.asarray(2 * number * np.einsum("ri,ri->i", there, there))

    def of_all(self, totals: NDArray[Any]) -> NDArray[np.float64]:
        """Return (...,) as `Distance.of_all`."""
        n = totals.sum(axis=-1)
        mean = (totals @ self.place) / np.where(n > 0, n, 1)
        found = 2 * n * (totals * (self.place - mean[..., None]) ** 2).sum(axis=-1)
        return np.where((totals > 0).sum(axis=-1) > 1, found, 0.0)  # exactly 0 for a single category


def _ratio(levels: NDArray[np.float64]) -> Distance:
    """Return the squared difference of two levels relative to their sum; 0 between two zeros."""
    scaled = np.maximum(levels / (levels.max(initial=0) or 1), ALMOST_ZERO)

    def between(one: NDArray[np.intp], other: NDArray[np.intp]) -> NDArray[np.float64]:
        first, second = scaled[one], scaled[other]
        apart = first - second
        apart /= first + second
        return np.asarray(np.square(apart, out=apart))

    return Distance(between)


@checked
def metric_distance(metric: str, levels: NDArray[np.float64], totals: NDArray[Any]) -> Distance:
    """Return Krippendorff's difference function for a level of measurement (2011, section D).

    For "ordinal", this is the squared difference of mean ranks among all pairable values: all values from c to k,
    minus half of those that are c or k.

    Parameters
    ----------
    metric : name in `METRICS`
    levels : (K,) float64, ascending
    totals : (K,) float
        Number of pairable values of each grade; for "ordinal".

    Examples
    --------
    >>> metric_distance("ordinal", np.array([1.0, 2.0, 9.0]), np.array([2.0, 4.0, 2.0])).place.tolist()
    [1.0, 4.0, 7.0]
    >>> metric_distance("ratio", np.array([0.0, 1.0, 3.0]), np.zeros(3)).matrix(3)[1].round(9).tolist()
    [1.0, 0.0, 0.25]
    """
    lookup(METRICS, metric, "metric")
    if metric == "nominal":
        return Unequal()
    if metric == "ratio":
        return _ratio(levels)
    if metric == "ordinal":
        return SquaredDifference(np.cumsum(totals) - totals / 2)
    apart = levels - levels[:1]
    power = np.frexp(apart.max(initial=0))[1]
    return SquaredDifference(np.ldexp(apart, -power))  # squares do not overflow, and whole numbers stay exact


@checked
def weight_distance(weights: str | ArrayLike, levels: NDArray[np.float64]) -> Distance:
    """Return the distance between grades for the weights of a kappa: 1 - weight, from 0 to 1.

    Parameters
    ----------
    weights : name in `KAPPA_WEIGHTS`, or (K, K) numbers
    levels : (K,) float, ascending
        Positions, if grades are not numbers.

    Examples
    --------
    >>> weight_distance("quadratic", np.array([1.0, 2.0, 5.0])).matrix(3)[0].tolist()
    [0.0, 0.0625, 1.0]
    >>> weight_distance([[1, 0.5], [0.5, 1]], np.array([1.0, 2.0])).matrix(2).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    if isinstance(weights, str):
        lookup(KAPPA_WEIGHTS, weights, "weights")
        form, _, ranks = weights.partition("_")
        return _of_form(form, np.arange(len(levels), dtype=np.float64) if ranks else levels)
    table, size = as_floats(weights, "weights"), len(levels)
    if table.shape != (size, size):
        raise InputError(
            f"weights: expected a table of {size} x {size}, one row and column per grade, got shape {table.shape}; "
            "pass order=[...] with all grades if some do not occur"
        )
    if not (((table >= 0) & (table <= 1)).all() and (table == table.T).all() and (np.diag(table) == 1).all()):
        raise InputError("weights: expected agreement from 0 to 1, symmetric, 1 on the diagonal, got other numbers")
    return Distance(lambda one, other: np.asarray(1 - table[one, other]))


def _of_form(form: str, levels: NDArray[np.float64]) -> Distance:
    """Return the distance for a named weight, from 0 to 1."""
    place, least, greatest = _from_0_to_1(levels), levels.min(initial=np.inf), levels.max(initial=-np.inf)
    if form == "quadratic":
        return SquaredDifference(place)
    if form == "linear":
        return Distance(lambda one, other: np.asarray(np.abs(place[one] - place[other])))
    if form == "radical":
        return Distance(lambda one, other: np.sqrt(np.abs(place[one] - place[other])))
    if form == "ordinal":
        pairs = max(len(levels) * (len(levels) - 1), 1)
        return Distance(lambda one, other: np.abs(one - other) * (np.abs(one - other) + 1) / pairs)
    if form == "ratio" and len(levels) and not least > 0:
        raise InputError(f"weights: expected grades above 0 for 'ratio', got {least:g}")

    def between(one: NDArray[np.intp], other: NDArray[np.intp]) -> NDArray[np.float64]:
        apart, both = levels[one] - levels[other], levels[one] + levels[other]
        if form == "ratio":
            return np.asarray((apart / both) ** 2)
        if form == "circular":
            return np.asarray(np.sin(np.pi * apart / (greatest - least + 1)) ** 2)
        within = (both - 2 * least) * (2 * greatest - both)
        return np.asarray(np.divide(apart**2, within, out=np.zeros(np.shape(apart)), where=apart != 0))

    every = np.arange(len(levels))
    most = between(every[:, None], every[None]).max(initial=0) or 1.0
    return Distance(lambda one, other: np.asarray(between(one, other) / most))


def _from_0_to_1(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((levels - levels[:1]) / ((levels[-1] - levels[0]) if len(levels) > 1 else 1))
