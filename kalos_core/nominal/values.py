"""Values of raters as codes: names, numbers, and categories with an order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_floats, object_array
from kalos_core.errors import InputError, check_iterable, is_hashable, listed, repr_of
from kalos_core.options import checked
from kalos_core.reliability import NOT_ASSIGNED
from kalos_core.sharding import instead_of

MOST_CODES = 1 << 16
"""Largest integer used as a code; larger ones are treated as ids and renumbered."""

SPAN = 1 << 16
"""Range of integers within which distinct values are found by counting instead of sorting."""

LARGEST = 1e150
"""Largest accepted number, whose square is still finite."""


@checked
def encode_values(values: ArrayLike) -> NDArray[np.int64]:
    """Encode values of any kind as codes from -1 upwards, `NOT_ASSIGNED` where missing.

    Parameters
    ----------
    values : (I, R)
        Integers, in which `NOT_ASSIGNED` is missing and `NO_OBJECT` a value; or anything else that can be compared,
        with None and NaN as missing.

    Examples
    --------
    >>> encode_values([["cat", None], ["dog", "cat"]]).tolist()
    [[0, -2], [1, 0]]
    """
    given = _table(values)
    if not np.issubdtype(given.dtype, np.integer):
        codes, _ = _by_name(given)
        return np.where(codes < 0, NOT_ASSIGNED, codes)
    if given.size and given.min() < NOT_ASSIGNED:
        raise InputError(f"values: expected codes of at least {NOT_ASSIGNED}, got {given.min()}")
    if given.size and given.max() > MOST_CODES:  # ids rather than codes
        distinct, codes = np.unique(given, return_inverse=True)
        return np.asarray(np.where(given < 0, given, codes.reshape(given.shape) - (distinct < 0).sum()))
    return given.astype(np.int64, copy=False)


def in_order(values: Iterable[Any]) -> list[Any]:
    """Return the distinct values, ascending if they can be compared, else in the order of first occurrence.

    Examples
    --------
    >>> in_order(["dog", "cat", "dog"]), in_order(["dog", 1])
    (['cat', 'dog'], ['dog', 1])
    """
    distinct = list(dict.fromkeys(values))
    with suppress(TypeError):  # text and numbers
        distinct.sort()
    return distinct


def _by_name(given: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Return codes of values, -1 where missing, and the values of the codes, sorted as by `in_order`."""
    some = given.astype(object)
    if given.dtype.kind == "i":
        some[given == NOT_ASSIGNED] = None
    every = some.ravel().tolist()
    try:
        names = in_order(value for value in every if not is_missing(value))
    except TypeError as error:
        raise InputError(f"values: expected names or numbers, which can be compared, got {error}") from None
    code = {name: at for at, name in enumerate(names)}
    codes = [-1 if is_missing(value) else code[value] for value in every]
    return np.array(codes, dtype=np.int64).reshape(given.shape), names


@dataclass(frozen=True, eq=False)
class Grades:
    """Values (I, R) as codes of grades.

    Parameters
    ----------
    codes : (I, R) int
        -1 where a rater gave none.
    levels : (K,) float64, ascending
        Numbers of the grades; with a stated order, the positions in it.
    names : (K,) object
        Names of the grades: the numbers themselves, or the categories of the stated order.
    """

    codes: NDArray[np.intp]
    levels: NDArray[np.float64]
    names: NDArray[np.object_]


def encode_grades(values: ArrayLike, metric: str, order: Sequence[Any] | None = None) -> Grades:
    """Encode values of raters as grades; raise an error if they have no order, or are not numbers where needed.

    Parameters
    ----------
    values : (I, R)
        Numbers, with None and NaN missing (among integers also `NOT_ASSIGNED`); or categories of `order`.
    metric : name in `METRICS`, or of weights
        Metric that the grades are for; "interval" and "ratio" need numbers.
    order : sequence, optional
        The categories from lowest to highest.

    Raises
    ------
    InputError
        For text without an order, values missing in `order`, numbers that are not finite, and for "ratio" numbers
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
        codes, found = _by_name(_table(values))
        return Grades(codes, np.arange(len(found), dtype=np.float64), object_array(found))
    numbers, missing = _numbers(_table(values), metric)
    levels, codes = _distinct(numbers[~missing] if missing.any() else numbers.ravel())
    if metric == "ratio" and len(levels) and levels[0] < 0:
        raise InputError(
            f"values: expected numbers of at least 0 for 'ratio', which compares them with their sum, got {levels[0]:g}"
        )
    if len(codes) < missing.size:
        codes, given = np.full(missing.size, -1, np.intp), codes
        codes[~missing.ravel()] = given
    names = [int(level) if level == int(level) else level for level in levels.tolist()]
    return Grades(codes.reshape(numbers.shape), levels, object_array(names))


def _table(values: ArrayLike) -> NDArray[Any]:
    try:
        given = np.asarray(values)
        given = np.asarray(values, dtype=object) if given.dtype.kind not in "biuf" else given
    except ValueError:
        raise InputError("values: expected a table, items x raters, got rows of unequal length") from None
    if given.ndim != 2:
        raise InputError(f"values: expected items x raters, got shape {given.shape}{instead_of(values)}")
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
    """Convert values to positions among names."""
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
    """Check whether a value of an array of that type is missing."""
    return is_missing(value) or (kind.kind == "i" and value == NOT_ASSIGNED)


def _numbers(given: NDArray[Any], metric: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return values as numbers, and where they are missing."""
    if given.dtype.kind == "i":
        missing = given == NOT_ASSIGNED
        if missing.any() and (given[~missing] < 0).any():
            raise InputError(
                f"values: expected whole grades of at least 0, and {NOT_ASSIGNED} for missing ones, got "
                f"{given[~missing].min()}; pass grades below 0 as floats, where only NaN is missing"
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
    """Check for None, NaN (which does not equal itself), and the NA of pandas (which compares as NA).

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    same = value is not None and value == value
    return not same if isinstance(same, (bool, np.bool_)) else True


def _distinct(numbers: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Do the same as `np.unique` with the inverse; integers in a small range are not sorted."""
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
    """Check the numbers (C,) of the columns of counts; by default they are one apart.

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
