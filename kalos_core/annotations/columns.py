"""Columns of names, ids, and codes into a vocabulary."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_array
from kalos_core.arrays import object_array as object_array
from kalos_core.errors import InputError, is_hashable, listed, repr_of

TEXT = np.dtypes.StringDType()
"""Variable-length text without a Python object per entry; uses half the memory, and indexing returns `str`."""

CODES = {"image": "images", "rater": "raters", "category": "categories"}
"""Columns of codes -> their vocabularies."""

NAMES = ("images", "files", "raters", "categories", "person", "session")

AXES = {
    **dict.fromkeys(("image", "rater", "category", "id"), "N"),
    **dict.fromkeys(("images", "files", "crowds", "skipped"), "I"),
    **dict.fromkeys(("raters", "person", "session"), "R"),
    "categories": "K",
    "image_size": "I2",
    "assigned": "IR",
    "assigned_categories": "RK",
}
"""Array of a table -> meaning of its axes: N annotations, I images, R raters, K categories, 2 numbers."""


def id_array(ids: ArrayLike | Sequence[Any]) -> NDArray[Any]:
    """Convert ids to int64 if all are integers, keep NumPy text, and otherwise use Python objects."""
    if isinstance(ids, np.ndarray) and np.issubdtype(ids.dtype, np.integer):
        return ids.astype(np.int64, copy=False)
    if isinstance(ids, np.ndarray) and ids.dtype == TEXT:
        return ids
    entries: list[Any] = list(ids) if isinstance(ids, Iterable) else [ids]
    if set(map(type, entries)) == {int}:  # the common case, and the fastest
        whole = min(entries) >= -(1 << 63) and max(entries) < 1 << 63
    else:
        whole = all(
            isinstance(entry, (int, np.integer)) and not isinstance(entry, bool) and -(1 << 63) <= entry < 1 << 63
            for entry in entries
        )
    return np.array(entries, dtype=np.int64) if whole else object_array(entries)


def as_name(value: Any) -> Any:
    """Convert a name to text: integers become text, blanks and NaN None; other values are returned for rejection.

    Examples
    --------
    >>> as_name("ann"), as_name(7), as_name(7.0), as_name(""), as_name(["ann"])
    ('ann', '7', '7', None, ['ann'])
    """
    if isinstance(value, str):  # first, since nearly all names are text
        return None if not value or value.isspace() else value
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return str(int(value)) if abs(int(value)) < 1 << 63 else value
    if isinstance(value, float):
        return None if value != value else str(int(value)) if value.is_integer() else value
    return value


def names_of(given: Sequence[Any] | None, used: list[Any], what: str) -> list[str]:
    """Return a vocabulary: the given names, checked to be unique, or else the names in use in order of occurrence.

    Examples
    --------
    >>> names_of(None, ["cat", None, "dog", "cat"], "categories"), names_of([3], [], "raters")
    (['cat', 'dog'], ['3'])
    """
    if given is None:
        return [name for name in distinct(used) if isinstance(name, str)]
    names = [given] if isinstance(given, str) else [as_name(name) for name in given]
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong or len(set(names)) != len(names):
        actual = map(repr_of, wrong or repeated(names))
        raise InputError(f"{what}: expected names, each once, got {listed(actual)}{'' if wrong else ' again'}")
    return names


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return distinct values in order of first occurrence, without None and unhashable values."""
    return list(dict.fromkeys(value for value in values if value is not None and is_hashable(value)))


def repeated(values: Iterable[Any]) -> list[Any]:
    """Return the distinct values that occur more than once.

    Examples
    --------
    >>> repeated([3, 5, 3, 3])
    [3]
    """
    seen: set[Any] = set()
    return distinct(value for value in values if value in seen or seen.add(value))  # type: ignore[func-returns-value]


def positions(chosen: ArrayLike | None, size: int, what: str) -> NDArray[np.intp]:
    """Convert a mask or codes below `size` to codes, in the given order; None selects all.

    Examples
    --------
    >>> positions([True, False, True], 3, "rows").tolist(), positions([2, 0], 3, "rows").tolist()
    ([0, 2], [2, 0])
    """
    if chosen is None:
        return np.arange(size)
    array = as_array(chosen, what)
    if array.dtype == np.bool_:
        if array.shape != (size,):
            raise InputError(f"{what}: expected a mask of shape ({size},), got {array.shape}")
        return np.flatnonzero(array)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"{what}: expected a mask or whole numbers, got {listed(map(repr_of, array.reshape(-1).tolist()))}"
        )
    codes = array.astype(np.intp).reshape(-1)
    if len(codes) and (codes.min() < 0 or codes.max() >= size):
        raise InputError(f"{what}: expected codes 0 to {size - 1}, got {codes.min()} to {codes.max()}")
    if len(np.unique(codes)) != len(codes):
        raise InputError(f"{what}: expected each code once, got {listed(repeated(codes))} again")
    return codes


def new_codes(kept: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """(size,) new code of each old code after only `kept` remain, in that order; -1 for the others.

    Examples
    --------
    >>> new_codes(np.array([2, 0]), 3).tolist()
    [1, -1, 0]
    """
    codes = np.full(size, -1, dtype=np.intp)
    codes[kept] = np.arange(len(kept))
    return codes


def codes_in(vocabulary: Iterable[Any], names: Iterable[Any]) -> NDArray[np.intp]:
    """(M,) code of each name in a vocabulary; -1 if missing.

    Examples
    --------
    >>> codes_in(["cat", "dog"], ["dog", "emu"]).tolist()
    [1, -1]
    """
    code = {name: number for number, name in enumerate(vocabulary)}
    return np.array([code.get(name, -1) if is_hashable(name) else -1 for name in names], dtype=np.intp)


def exclusion_triples(exclusions: Iterable[Any]) -> list[tuple[Any, Any, Any]]:
    """Convert exclusions to triples of image, rater name and class name.

    Examples
    --------
    >>> exclusion_triples([["a.jpg", 7, "cat"]])
    [('a.jpg', '7', 'cat')]
    """
    entries = list(exclusions)
    strange = [
        entry for entry in entries if not isinstance(entry, Sequence) or isinstance(entry, str) or len(entry) != 3
    ]
    if strange:
        raise InputError(f"exclusions: expected triples of image, rater and class, got {listed(map(repr_of, strange))}")
    return [(image, as_name(rater), as_name(name)) for image, rater, name in entries]


def by_image(values: Mapping[Hashable, ArrayLike], images: Sequence[Any]) -> list[NDArray[np.float64] | None]:
    """Return the numbers of each image, in the order of `images`; None if it has none."""
    return [
        as_array(values[key], "slice_positions", np.float64, "numbers") if key in values else None for key in images
    ]
