"""Array operations that several modules need."""

from __future__ import annotations

import ctypes
import gc
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.errors import InputError, listed, repr_of


def as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return an argument as an array of numbers; raise an error that names it if it holds anything else.

    Examples
    --------
    >>> as_floats([1, None], "weights").tolist()
    [1.0, nan]
    >>> as_floats("equal", "weights")
    Traceback (most recent call last):
    kalos_core.errors.InputError: weights: expected numbers, got 'equal'
    """
    return as_array(values, name, np.float64, "numbers")


def as_array(values: Any, name: str, dtype: Any = None, expected: str = "an array") -> NDArray[Any]:
    """Return an argument as an array; raise an error that names it if rows differ in length or entries do not fit.

    Examples
    --------
    >>> as_array([[1, 2], [3, 4]], "masks").shape
    (2, 2)
    >>> as_array([[1], [2, 3]], "masks")
    Traceback (most recent call last):
    kalos_core.errors.InputError: masks: expected an array, got [[1], [2, 3]]
    """
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise InputError(f"{name}: expected {expected}, got {repr_of(values)}") from None


def as_rows(values: Any, name: str, dtype: Any, columns: int) -> NDArray[Any]:
    """Return an argument as an array with the given number of columns.

    Examples
    --------
    >>> as_rows([], "sizes", np.float64, 2).shape, as_rows([[3, 4]], "sizes", np.float64, 2).tolist()
    ((0, 2), [[3.0, 4.0]])
    """
    array = as_array(values, name, dtype, "numbers")
    if array.size % columns:
        raise InputError(f"{name}: expected rows of {columns}, got shape {array.shape}")
    return array.reshape(-1, columns)


def as_weights(weights: ArrayLike | None, count: int, of: str, above_zero: bool = False) -> NDArray[np.float64]:
    """Return (count,) weights; all 1 unless given.

    Examples
    --------
    >>> as_weights(None, 2, "rater").tolist(), as_weights([0, 2], 2, "rater").tolist()
    ([1.0, 1.0], [0.0, 2.0])
    >>> as_weights([1, -1], 2, "rater")
    Traceback (most recent call last):
    kalos_core.errors.InputError: weights: expected a number of at least 0 for each of 2 raters, got 1.0, -1.0
    """
    if weights is None:
        return np.ones(count)
    given = as_floats(weights, "weights")
    enough = given > 0 if above_zero else given >= 0
    if given.shape != (count,) or not (np.isfinite(given) & enough).all():
        least = "above 0" if above_zero else "of at least 0"
        raise InputError(
            f"weights: expected a number {least} for each of {count} {of}s, got {listed(given.ravel(), 20)}"
        )
    return given


def object_array(values: ArrayLike | Sequence[Any] | Iterable[Any]) -> NDArray[np.object_]:
    """Return a one-dimensional array of Python objects of any type (tuples stay tuples)."""
    if isinstance(values, np.ndarray) and not values.ndim:
        values = [values.item()]
    entries = list(values) if isinstance(values, Iterable) else [values]
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def expand_runs(first: NDArray[np.intp], count: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return all positions of M runs, one run after the other.

    Parameters
    ----------
    first, count : (M,) int
        Run m is ``first[m], first[m] + 1, ...``, `count[m]` positions.

    Returns
    -------
    owner, position : (T,) int
        Index of the run, and the position.

    Examples
    --------
    >>> owner, position = expand_runs(np.array([5, 9]), np.array([2, 1]))
    >>> owner.tolist(), position.tolist()
    ([0, 0, 1], [5, 6, 9])
    """
    owner = np.repeat(np.arange(len(count)), count)
    position = np.arange(len(owner))
    position += np.repeat(first - (np.cumsum(count) - count), count)
    return owner, position


BLOCK = 1 << 14
"""Pairs compared at a time; few enough for the temporary arrays to fit into the processor's cache."""

BLOCKS = 6
"""Number of blocks for few pairs, so that temporary arrays stay small relative to the annotations."""

LEAST_BLOCK = 1 << 12
"""Smallest number of pairs in a block; smaller blocks are not worth the overhead."""


def blocks_of_runs(
    first: NDArray[np.intp], count: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield `expand_runs` in blocks of about `BLOCK` positions, smaller if there are few.

    Examples
    --------
    >>> [(owner.tolist(), position.tolist()) for owner, position in blocks_of_runs(np.array([5, 9]), np.array([2, 1]))]
    [([0, 0, 1], [5, 6, 9])]
    """
    edges = run_starts(count)
    size = min(BLOCK, max(LEAST_BLOCK, int(edges[-1]) // BLOCKS))
    cuts = np.minimum(np.searchsorted(edges, np.arange(0, edges[-1] + size, size)), len(count))
    for start, stop in pairwise(cuts):
        owner, position = expand_runs(first[start:stop], count[start:stop])
        yield start + owner, position


def short(codes: NDArray[np.intp]) -> NDArray[Any]:
    """Return whole numbers from 0 in the smallest unsigned type; types of at most two bytes use radix sort.

    Examples
    --------
    >>> short(np.array([3, 255])).dtype, short(np.array([3, 256])).dtype
    (dtype('uint8'), dtype('uint16'))
    """
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))), copy=False)


def run_starts(lengths: NDArray[np.intp] | list[int]) -> NDArray[np.intp]:
    """Return the start (M + 1,) of each of M runs stored back to back, given their lengths; the end is appended.

    Examples
    --------
    >>> run_starts([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.intp))]).astype(np.intp)


def run_ends(ordered: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return (N,) the position after the last number equal to each of N ascending numbers.

    Examples
    --------
    >>> run_ends(np.array([2, 2, 5])).tolist(), run_ends(np.array([], int)).tolist()
    ([2, 2, 3], [])
    """
    ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1, len(ordered))
    return np.repeat(ends, np.diff(ends, prepend=0))


def distinct_codes(codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return distinct codes and the inverse, as `numpy.unique`; dense whole numbers from 0 use a lookup, not a sort.

    Examples
    --------
    >>> distinct, index = distinct_codes(np.array([7, 2, 7]))
    >>> distinct.tolist(), index.tolist()
    ([2, 7], [1, 0, 1])
    """
    if codes.dtype.kind != "i" or codes.max(initial=0) > WIDEST * len(codes):
        distinct, index = np.unique(codes, return_inverse=True)
        return distinct, index.reshape(-1)
    there = np.zeros(int(codes.max(initial=-1)) + 1, np.bool_)
    there[codes] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


WIDEST = 4
"""Largest range of numbers that is looked up, relative to their count; sorting is faster for wider ranges."""


def find_sorted(ordered: NDArray[np.intp], wanted: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return (M,) the index of each wanted number among ascending ones, -1 if it is absent.

    Examples
    --------
    >>> find_sorted(np.array([2, 5, 7]), np.array([7, 3, 2, 9])).tolist()
    [2, -1, 0, -1]
    >>> find_sorted(np.array([], int), np.array([7])).tolist()
    [-1]
    """
    span = int(ordered[-1]) + 1 if len(ordered) else 0
    if span <= WIDEST * len(wanted) and min(ordered[:1].min(initial=0), wanted.min(initial=0)) >= 0:
        index = np.full(span + 1, -1)  # one extra entry that no wanted number has
        index[ordered] = np.arange(len(ordered))
        return index.take(np.minimum(wanted, span))
    index = np.searchsorted(ordered, wanted)
    there = index < len(ordered)
    there[there] = ordered[index[there]] == wanted[there]
    return np.where(there, index, -1)


def first_at_all(lines: NDArray[np.intp], best: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which candidates come first, in the order given, at every position they touch.

    Parameters
    ----------
    lines : (C, M) int
        The positions each candidate touches; candidates in order of preference.
    best : (positions,) int
        Scratch space, overwritten.

    Returns
    -------
    (C,) bool

    Examples
    --------
    >>> first_at_all(np.array([[0, 1], [1, 2], [3, 4]]), np.empty(5, int)).tolist()
    [True, False, True]
    """
    position = np.arange(len(lines))
    best[lines[::-1].ravel()] = np.repeat(position[::-1], lines.shape[1])  # the last write wins: the first candidate
    chosen: NDArray[np.bool_] = (best[lines] == position[:, None]).all(axis=1)
    return chosen


SLICE = 2
"""Candidates processed together, per position of their group."""


def in_slices(group: NDArray[np.intp], places: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Yield candidates of many groups in slices, so that the rounds of `take_down` stay cheap.

    A round looks at all remaining candidates. If a group has many more candidates than places (for example identical
    annotations), the first few settle most of them. With slices in proportion to the places, the rounds of a group cost
    at most the square of its places.

    Parameters
    ----------
    group : (C,) int
        Group of each candidate; within a group in order of preference.
    places : (G,) int, at least 1 where a group has candidates
        Places of each group; a slice holds at most `SLICE` times as many candidates of it.

    Examples
    --------
    >>> [chosen.tolist() for chosen in in_slices(np.array([0, 0, 0, 1, 1]), np.array([1, 2]))]
    [[0, 1, 3, 4], [2]]
    >>> [chosen.tolist() for chosen in in_slices(np.array([0, 0]), np.array([2]))]
    [[0, 1]]
    """
    count, room = np.bincount(group, minlength=len(places)), SLICE * places
    if (count <= room).all():
        yield np.arange(len(group))
        return
    by_group = np.argsort(group, kind="stable")
    number = np.empty(len(group), np.intp)
    number[by_group] = np.arange(len(group)) - run_starts(count)[group[by_group]]
    number //= room[group]
    yield from rows_by_group(number)


def rows_by_group(group: NDArray[np.intp], count: int = 0) -> list[NDArray[np.intp]]:
    """Return the rows of each group, in their order, for at least `count` groups.

    Examples
    --------
    >>> [rows.tolist() for rows in rows_by_group(np.array([1, 0, 1]), 3)]
    [[1], [0, 2], []]
    """
    of_each = np.bincount(group, minlength=count)
    return np.split(np.argsort(group, kind="stable"), np.cumsum(of_each)[:-1])[: len(of_each)]


def take_down(lines: NDArray[np.intp], free: NDArray[np.bool_], group: NDArray[np.intp]) -> NDArray[np.intp]:
    """Take candidates in order, each only if all its positions are still free.

    Works in rounds over whole arrays: each round takes every candidate that comes first at all its positions.

    Parameters
    ----------
    lines : (C, M) int
        Positions that each candidate touches, all in its own group; candidates in order of preference.
    free : (positions,) bool
        Free positions; those taken are set to False in place.
    group : (positions,) int

    Returns
    -------
    (taken,) int, ascending
        Indices of the candidates taken.

    Examples
    --------
    >>> take_down(np.array([[0, 1], [1, 2], [3, 2]]), np.ones(4, bool), np.zeros(4, int)).tolist()
    [0, 2]
    """
    best = np.empty(len(free), np.intp)
    taken = []
    for waiting in in_slices(group[lines[:, 0]], np.bincount(group)):
        while True:
            waiting = waiting[free[lines[waiting]].all(axis=1)]
            if not len(waiting):
                break
            first = first_at_all(lines[waiting], best)
            taken.append(waiting[first])
            free[lines[taken[-1]]] = False
            waiting = waiting[~first]
    return np.sort(np.concatenate(taken)) if taken else np.zeros(0, np.intp)


def total(group: NDArray[np.intp], amount: NDArray[Any], groups: int) -> NDArray[np.float64]:
    """Return (G,) sums of amounts (M,) by group (M,); G is `groups`, or more if a group is larger.

    Examples
    --------
    >>> total(np.array([1, 1, 0]), np.array([2, 3, 4]), 3).tolist()
    [4.0, 5.0, 0.0]
    """
    return np.bincount(group, weights=amount, minlength=groups).astype(np.float64, copy=False)


Answer = TypeVar("Answer")

PARTS_A_THREAD = 4
"""Parts per thread, so that no thread waits long for the one with the most work."""


def in_threads(task: Callable[[slice], Answer], count: int, least: int) -> list[Answer]:
    """Return the results of a task for parts of `count` rows, in the order of the rows, computed in threads.

    The task must release the GIL. It runs on all rows at once if two threads would not have `least` rows each.

    Examples
    --------
    >>> in_threads(lambda rows: rows.stop - rows.start, 100, least=60)
    [100]
    >>> sum(in_threads(lambda rows: rows.stop - rows.start, 100, least=10))
    100
    """
    workers = min(os.cpu_count() or 1, count // least)
    if workers < 2:
        return [task(slice(0, count))]
    ends = np.linspace(0, count, workers * PARTS_A_THREAD + 1).astype(int).tolist()
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(task, (slice(first, last) for first, last in pairwise(ends))))


def divide(above: NDArray[Any], below: NDArray[Any]) -> NDArray[np.float64]:
    """Divide whole numbers; NaN where the divisor is 0.

    Examples
    --------
    >>> divide(np.array([1, 0]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=np.not_equal(below, 0)))


def mean_of_defined(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of the finite values over the first axis; NaN where there are none.

    Examples
    --------
    >>> mean_of_defined(np.array([[0.5, np.nan], [1.0, np.nan]])).tolist()
    [0.75, nan]
    """
    known = np.isfinite(values)
    columns = np.where(known, values, 0.0).reshape(len(values), math.prod(values.shape[1:])).T.tolist()
    sums = np.array([math.fsum(column) for column in columns], np.float64)  # exact, so that the order does not matter
    return divide(sums.reshape(values.shape[1:]), known.sum(axis=0))


def freeze(owner: object, name: str, array: NDArray[Any]) -> None:
    """Set a field of a frozen dataclass to a read-only view, leaving the caller's own array writable."""
    view = array.view()
    view.setflags(write=False)
    object.__setattr__(owner, name, view)


def by_item(item: NDArray[np.intp], names: NDArray[Any], items: int) -> Iterator[list[Any]]:
    """Yield the names of each item, in their order. `item` holds the item of each name.

    Examples
    --------
    >>> list(by_item(np.array([2, 0, 2]), np.array(["a", "b", "c"]), 3))
    [['b'], [], ['a', 'c']]
    """
    order = np.argsort(item, kind="stable")
    ends = np.searchsorted(item[order], np.arange(items + 1)).tolist()
    return (names[order[begin:end]].tolist() for begin, end in pairwise(ends))


class Owned:
    """Index of entries by their owner.

    Parameters
    ----------
    owner : (E,) int
    count : int
        Number of owners.

    Examples
    --------
    >>> owned = Owned(np.array([2, 0, 2]), 3)
    >>> entries, count = owned.of(np.array([1, 2]))
    >>> entries.tolist(), count.tolist()
    ([0, 2], [0, 2])
    """

    def __init__(self, owner: NDArray[np.intp], count: int) -> None:
        self._entries = np.argsort(owner, kind="stable")
        self._start = run_starts(np.bincount(owner, minlength=count))

    def of(self, owners: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the entries of some owners, one owner after the other, and the number for each."""
        first = self._start[owners]
        count = self._start[owners + 1] - first
        return self._entries[expand_runs(first, count)[1]], count


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable garbage collection while many lists without cycles are made; collection would dominate the time.

    Examples
    --------
    >>> with uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def give_back_memory() -> None:
    """Ask the C library to return freed memory to the operating system; after many small objects glibc keeps it.

    No-op if the C library has no such call.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
