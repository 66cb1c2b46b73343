"""The few array steps that several modules need."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.errors import InputError


def as_floats(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """An argument as an array of numbers; an error that names it if it holds anything else.

    Examples
    --------
    >>> as_floats([1, None], "weights").tolist()
    [1.0, nan]
    >>> as_floats("equal", "weights")
    Traceback (most recent call last):
    kalos_core.errors.InputError: weights: expected numbers, got 'equal'
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected numbers, got {values!r:.100}") from None


def object_array(values: ArrayLike | Sequence[Any] | Iterable[Any]) -> NDArray[np.object_]:
    """A one-dimensional array of Python objects, whatever they are (tuples stay tuples)."""
    entries = list(values) if isinstance(values, Iterable) else [values]
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array


def expand_runs(first: NDArray[np.intp], count: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All positions of M runs, one run after the other.

    Parameters
    ----------
    first, count : (M,) int
        Run m is ``first[m], first[m] + 1, ...``, `count[m]` positions.

    Returns
    -------
    owner, position : (T,) int
        Which run, and the position.

    Examples
    --------
    >>> owner, position = expand_runs(np.array([5, 9]), np.array([2, 1]))
    >>> owner.tolist(), position.tolist()
    ([0, 0, 1], [5, 6, 9])
    """
    owner = np.repeat(np.arange(len(count)), count)
    offset = np.cumsum(count) - count
    return owner, np.arange(len(owner)) - (offset - first)[owner]


def run_starts(lengths: NDArray[np.intp] | list[int]) -> NDArray[np.intp]:
    """Lengths (M,) of runs stored back to back -> (M + 1,) where each begins, with the end appended.

    Examples
    --------
    >>> run_starts([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.intp))]).astype(np.intp)


def find_sorted(ordered: NDArray[np.intp], wanted: NDArray[np.intp]) -> NDArray[np.intp]:
    """(M,) where each wanted number stands among ascending ones, -1 where it does not.

    Examples
    --------
    >>> find_sorted(np.array([2, 5, 7]), np.array([7, 3, 2, 9])).tolist()
    [2, -1, 0, -1]
    >>> find_sorted(np.array([], int), np.array([7])).tolist()
    [-1]
    """
    index = np.searchsorted(ordered, wanted)
    there = index < len(ordered)
    there[there] = ordered[index[there]] == wanted[there]
    return np.where(there, index, -1)


def first_at_all(lines: NDArray[np.intp], best: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which candidates come first, in the order given, at every position they touch.

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


def total(group: NDArray[np.intp], amount: NDArray[Any], groups: int) -> NDArray[np.float64]:
    """(G,) sums of the amounts (M,) of each group (M,); G is `groups`, or more if a group is larger.

    Examples
    --------
    >>> total(np.array([1, 1, 0]), np.array([2, 3, 4]), 3).tolist()
    [4.0, 5.0, 0.0]
    """
    return np.bincount(group, weights=amount, minlength=groups).astype(np.float64, copy=False)


def freeze(owner: object, name: str, array: NDArray[Any]) -> None:
    """Set a field of a frozen dataclass to a read-only view, leaving the caller's own array writable."""
    view = array.view()
    view.setflags(write=False)
    object.__setattr__(owner, name, view)


def by_item(item: NDArray[np.intp], names: NDArray[Any], items: int) -> Iterator[list[Any]]:
    """Of each item its names, in their order. `item`: the item of each name.

    Examples
    --------
    >>> list(by_item(np.array([2, 0, 2]), np.array(["a", "b", "c"]), 3))
    [['b'], [], ['a', 'c']]
    """
    order = np.argsort(item, kind="stable")
    ends = np.searchsorted(item[order], np.arange(items + 1)).tolist()
    return (names[order[begin:end]].tolist() for begin, end in pairwise(ends))


class Owned:
    """Entries that have owners: which of them some owners have.

    Parameters
    ----------
    owner : (E,) int
    count : int
        How many owners there are.

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
        """The entries of some owners, one owner after the other, and how many each has."""
        first = self._start[owners]
        count = self._start[owners + 1] - first
        return self._entries[expand_runs(first, count)[1]], count


def give_back_memory() -> None:
    """Ask the C library to return what was freed: after very many small objects glibc keeps it, which others lack.

    Does nothing where the C library has no such call.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
