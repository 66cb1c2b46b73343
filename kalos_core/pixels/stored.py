"""Conversion of stored masks of an image, binary or label maps, to the stacks of its classes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError, listed, repr_of
from kalos_core.options import Option
from kalos_core.pixels.classes import check_values
from kalos_core.pixels.stack import LabelStack, MaskStack

MARKED = "marked"
"""Name of the only class of binary masks."""

Arrays = Mapping[str, NDArray[Any] | None]
"""Assigned rater -> their mask; None for a rater who marked nothing."""


def chosen_classes(known: Mapping[int, str], names: Sequence[str] | None) -> dict[int, str]:
    """Return value -> name of the classes selected by name or value; by default all known ones; none for binary masks.

    Examples
    --------
    >>> chosen_classes({1: "road", 2: "car"}, ["car"]), chosen_classes({}, ["3"]), chosen_classes({}, None)
    ({2: 'car'}, {3: '3'}, {})
    """
    if names is None:
        return dict(known)
    value_of = {name: value for value, name in known.items()}
    chosen = {}
    for name in names:
        value = value_of.get(name, int(name) if name.isdecimal() else 0)
        if not value or (known and value not in known):
            offered = listed(known.values(), 20) or "whole numbers above 0, as these masks have no named values"
            raise InputError(f"classes: expected classes among {offered}, got {repr_of(name)}")
        chosen[value] = known.get(value, name)
    return chosen


IgnoreValue = Annotated[
    int | None,
    Option(
        "Value to ignore",
        "A pixel that any rater gives this value is ignored; by default none.",
        low=-(1 << 31),
        type="int, optional",
    ),
]


def without_ignored(arrays: Arrays, ignore_value: int | None) -> tuple[Arrays, NDArray[np.bool_] | None]:
    """Replace an ignored value by 0, and return where any rater has it; None if no rater can have it.

    Examples
    --------
    >>> arrays, ignore = without_ignored({"ann": np.array([[1, 9]]), "bob": None}, 9)
    >>> arrays["ann"].tolist(), ignore.tolist()
    ([[1, 0]], [[False, True]])
    """
    given = {rater: array for rater, array in arrays.items() if array is not None}
    if ignore_value is None or not given:
        return arrays, None
    ignore = np.logical_or.reduce([array == ignore_value for array in given.values()])
    return {**arrays, **{rater: np.where(ignore, 0, array) for rater, array in given.items()}}, ignore


def stacks_by_class(
    arrays: Arrays,
    values: Mapping[str, int],
    known: Mapping[int, str],
    size: tuple[int | None, int | None],
    ignore_value: int | None = None,
    image: Any = None,
) -> dict[str, MaskStack]:
    """Return the masks of one image for each class.

    Parameters
    ----------
    arrays : mapping
        Arrays of one size, see `Arrays`.
    values : mapping
        Class -> its value in label maps; if empty, masks are binary and their only class is `MARKED`.
    known : mapping
        Value -> name of every class; empty if values have no names.
    size : (height, width)
        Size of the image, which is used if no rater marked anything.
    ignore_value : int, optional
        A pixel that any rater gives this value is ignored.
    image : object
        Id of the image.

    Raises
    ------
    InputError
        For masks of several sizes, values without a class, or no mask for an image of unknown size.

    Examples
    --------
    >>> stacks_by_class({"ann": np.array([[0, 2]]), "bob": None}, {"car": 2}, {}, (1, 2))["car"].masks.tolist()
    [[[False, True]], [[False, False]]]
    """
    arrays, ignore = _of_one_size(arrays, size, ignore_value)
    if not values:
        return {MARKED: MaskStack.of(arrays, ignore=ignore, image=image)}
    stack = LabelStack.of(arrays, ignore=ignore, image=image)
    if known:
        check_values(stack, known)
    return {name: stack.of_class(value) for name, value in values.items()}


def stored_labels(
    arrays: Arrays, size: tuple[int | None, int | None], ignore_value: int | None = None, image: Any = None
) -> LabelStack:
    """Return the label maps of one image as stored, whatever the names of values; arguments as in `stacks_by_class`.

    Examples
    --------
    >>> stored_labels({"ann": np.array([[7, 3]]), "bob": None}, (1, 2)).labels.tolist()
    [[[7, 3]], [[0, 0]]]
    """
    arrays, ignore = _of_one_size(arrays, size, ignore_value)
    return LabelStack.of(arrays, ignore=ignore, image=image)


def _of_one_size(
    arrays: Arrays, size: tuple[int | None, int | None], ignore_value: int | None
) -> tuple[Arrays, NDArray[np.bool_] | None]:
    """Do the same as `without_ignored`, with empty masks of the size of the image if no rater marked anything."""
    there = {rater: array for rater, array in arrays.items() if array is not None}
    if not there:
        if None in size:
            raise InputError("expected a mask, or the size of the image (compute_metadata()), got neither")
        arrays = {rater: np.zeros(size, np.uint8) for rater in arrays}  # type: ignore[arg-type]
    elif ignore_value is not None:
        LabelStack.of(there)  # one size
    return without_ignored(arrays, ignore_value if there else None)


def joined_stacks(stacks: Mapping[str, MaskStack], values: Mapping[str, int]) -> LabelStack:
    """Combine masks of classes into one label map per rater: the inverse of `stacks_by_class`.

    Parameters
    ----------
    stacks : mapping
        Class -> masks of one image.
    values : mapping
        Class -> its value.

    Raises
    ------
    InputError
        If classes do not have the same raters, or a rater gives a pixel several classes.

    Examples
    --------
    >>> stacks = stacks_by_class({"ann": np.array([[0, 2, 1]])}, {"road": 1, "car": 2}, {}, (1, 3))
    >>> joined_stacks(stacks, {"road": 1, "car": 2}).labels.tolist()
    [[[0, 2, 1]]]
    """
    first = next(iter(stacks.values()))
    found = np.zeros(first.masks.shape, np.int64)
    for name, stack in stacks.items():
        if stack.raters.tolist() != first.raters.tolist():
            who = " and ".join(listed(map(repr_of, each.raters), 20) for each in (first, stack))
            raise InputError(f"raters: expected the same for every class, got {who}")
        if (twice := (found[stack.masks] != 0)).any():
            raise InputError(f"masks: expected one class per pixel and rater, got several at {twice.sum():,} pixels")
        found[stack.masks] = values[name]
    return LabelStack(found, first.raters, first.ignore, first.image, raters_are_local=first.raters_are_local)


def stored_digest(given: Mapping[str, tuple[Any, str | None]]) -> str:
    """Compute a digest of the assigned raters and their masks: bytes of a mask, or path and time of its file.

    `given`: rater -> stored mask, and the path of its file.

    Examples
    --------
    >>> stored_digest({"ann": (b"1", None)}) == stored_digest({"ann": (b"2", None)})
    False
    """
    content = hashlib.blake2b(digest_size=8)
    for rater in sorted(given):
        mask, path = given[rater]
        content.update(repr(rater).encode())
        if isinstance(mask, bytes):
            content.update(mask)
        elif path is not None:
            there = Path(path)
            facts = there.stat() if there.is_file() else None
            content.update(repr((path, facts and (facts.st_size, facts.st_mtime_ns))).encode())
    return content.hexdigest()
