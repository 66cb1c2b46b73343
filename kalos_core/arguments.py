"""Checks of values against types, for containers and classes of this library."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from inspect import getattr_static
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from kalos_core.errors import InputError, as_number, check_text, is_hashable, repr_of


def check_type(name: str, hint: Any, value: Any) -> None:
    """Check that an argument has the type of its annotation.

    Examples
    --------
    >>> check_type("sorted", bool, "no")
    Traceback (most recent call last):
    kalos_core.errors.InputError: sorted: expected True or False, got 'no'
    """
    if not _fits(hint, value):
        own = any(_is_own(get_origin(kind) or kind) for kind in _alternatives(hint))
        actual = type(value).__name__ if own else repr_of(value)
        instead = _reader_of(hint, value) or getattr(value, "_instead", "")
        raise InputError(f"{name}: expected {_said(hint, value)}, got {actual}{instead and f'; {instead}'}")


def check_sent(name: str, hint: Any, value: Any) -> None:
    """Check that an argument that was sent as JSON has the type of its annotation, or is None.

    Unlike in calls from Python, a name must be a text, also within a list.

    Examples
    --------
    >>> check_sent("raters", Sequence[str], None)
    >>> check_sent("raters", Sequence[str], ["ann", None])
    Traceback (most recent call last):
    kalos_core.errors.InputError: an entry of raters: expected a text of at most 100,000 characters that UTF-8 can \
hold, got None
    >>> check_sent("tag", str, 5)
    Traceback (most recent call last):
    kalos_core.errors.InputError: tag: expected a text, got 5
    """
    if isinstance(value, str):
        check_text(value, name)
    check_type(name, Union[hint, None], value)  # noqa: UP007 # of types at run time
    if isinstance(value, list) and any(get_args(kind) == (str,) for kind in _alternatives(hint)):
        for entry in value:
            check_text(entry, f"an entry of {name}")


SEVERAL = (Sequence, Iterable, Set, list)

READ = {
    "Annotations": "read_labels(path) reads a file",
    "LabelTable": "read_wide_labels(path) and read_long_labels(path) read a file",
    "MaskStack": "read_mask_folders(path).stacks() reads a folder",
}
"""Class that readers make -> hint for users who pass a path instead."""

MADE_BY_MANY = ("Annotations", "LabelTable", "MaskStack")
"""Types whose constructor is not suggested in messages."""


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _fits(hint: Any, value: Any) -> bool:
    """Return whether a value is of a type; entries of mappings and sequences are checked, too."""
    if type(hint) is type and isinstance(value, hint):  # the usual case
        return True
    options = _alternatives(hint)
    if len(options) > 1:
        forms = [option for option in options if option is not NoneType]
        if len(forms) > 1 and any(get_origin(option) is np.ndarray for option in forms):
            return True  # functions that take arrays among other types check them
        names = (str, Literal)
        return any(
            isinstance(value, str) if (get_origin(option) or option) in names else _fits(option, value)
            for option in options
        )
    origin, inner = get_origin(hint), get_args(hint)
    if hint is str or hint is Hashable or origin is Literal:
        return is_hashable(value)  # functions that know the names refuse others, but look them up
    if hint is None or hint is NoneType:
        return value is None
    if hint is bool:
        return isinstance(value, (bool, np.bool_))
    if origin is Callable:
        return callable(value)
    if hint is float or hint is int:
        number = as_number(value)
        return number is not None and (hint is float or number == round_of(number))
    if origin is np.ndarray:
        return _is_array(value, inner)
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(_entry_fits, inner, value))
    if origin in (Mapping, dict):
        return isinstance(value, Mapping) and all(
            _fits(inner[0], key) and _entry_fits(inner[1], entry) for key, entry in value.items()
        )
    if origin in SEVERAL:
        return _is_several(origin, value) and (
            isinstance(value, Iterator)
            or (isinstance(value, np.ndarray) and not _is_own(inner[0]))
            or inner[0] in (Any, object, float, int)
            or (origin is Iterable and not _is_own(inner[0]))  # functions that iterate over them name the wrong entry
            or all(_entry_fits(inner[0], entry) for entry in value)
        )
    kind = hint if origin is None else origin
    if _is_protocol(kind):
        return all(getattr_static(value, name, _ABSENT) is not _ABSENT for name in _members(kind))
    if _is_own(kind):  # shards have a table without rows, of the expected type
        return isinstance(value, kind) and (not inner or _fits(inner[0], getattr(value, "known", None)))
    return not (isinstance(kind, type) and kind.__module__ in PLAIN) or isinstance(value, kind)


def _entry_fits(hint: Any, value: Any) -> bool:
    """Return whether an entry of a container fits; sequences of numbers are checked by the function that takes them."""
    return hint in (float, int) or _fits(hint, value)


PLAIN = ("numpy.random._generator", "pathlib", "fractions")
"""Modules of classes that are accepted only as themselves; others may be given in several forms."""

ENTRIES = {np.float64: "numbers", np.intp: "whole numbers", np.int64: "whole numbers", np.bool_: "truth values"}
"""Type of the entries of an array -> name of the entries."""

KINDS_OF_ARRAYS = {np.float64: "fiu", np.intp: "iu", np.int64: "iu", np.int8: "iu", np.bool_: "b"}
"""Type of the entries of an array -> array kinds that are accepted."""


def round_of(number: float) -> float:
    """Return the nearest whole number; NaN for values that are not finite."""
    return float(round(number)) if math.isfinite(number) else math.nan


def _is_array(value: Any, inner: tuple[Any, ...]) -> bool:
    """Return whether a value is an array with entries of that type; `inner` holds the arguments of `NDArray`."""
    entries = get_args(inner[-1])[0] if inner and get_args(inner[-1]) else Any
    return isinstance(value, np.ndarray) and value.dtype.kind in KINDS_OF_ARRAYS.get(entries, value.dtype.kind)


def _is_own(kind: Any) -> bool:
    """Return whether a type is a class of this library, other than a protocol."""
    return isinstance(kind, type) and kind.__module__.startswith("kalos_core.") and not _is_protocol(kind)


def _is_protocol(kind: Any) -> bool:
    """Return whether a type is a protocol of this library."""
    return bool(getattr(kind, "_is_protocol", False)) and kind.__module__.startswith("kalos_core.")


def _members(protocol: Any) -> set[str]:
    """Return the names of the attributes that a protocol requires."""
    names = (name for base in protocol.__mro__ if _is_protocol(base) for name in vars(base))
    return {name for name in names if name == "__call__" or not name.startswith("_")}


_ABSENT = object()
"""Placeholder for a missing attribute."""


def _reader_of(hint: Any, value: Any) -> str:
    """Return how to read a file if a path or its content was given; "" otherwise."""
    if not isinstance(value, (str, os.PathLike, Mapping)):
        return ""
    kinds = [get_origin(kind) or kind for kind in _alternatives(hint)]
    read = [READ[kind.__name__] for kind in kinds if getattr(kind, "__name__", "") in READ]
    made = [kind._call for kind in kinds if "annotations" in getattr(kind, "_call", "")]
    return next(
        iter([*read, *(call.replace("annotations", "read_labels(path)") + " begins with a file" for call in made)]), ""
    )


def _is_several(kind: Any, value: Any) -> bool:
    if isinstance(value, (bytes, bytearray)) or (kind in (Sequence, list) and isinstance(value, (str, Mapping))):
        return False
    try:
        iter(value)
        return kind is Iterable or len(value) >= 0
    except TypeError:
        return False


def _entries(kind: Any) -> str:
    """Name the entries of a sequence."""
    inner = get_args(kind)[0]
    words = {str: "names", float: "numbers", int: "whole numbers", Mapping: "mappings"}
    return words.get(get_origin(inner) or inner, "entries")


def _said(hint: Any, value: Any) -> str:
    """Describe the expected type in words; for wrong entries, as Python writes it."""
    words = []
    for kind in _alternatives(hint):
        origin, call = get_origin(kind), getattr(kind, "_call", "")
        if origin in (Mapping, dict, *SEVERAL):
            there = isinstance(value, Mapping) if origin in (Mapping, dict) else _is_several(origin, value)
            usual = "a mapping" if origin in (Mapping, dict) else f"several {_entries(kind)}"
            words.append(str(kind).replace("collections.abc.", "").replace("typing.", "") if there else usual)
        elif origin is Literal:
            words += map(repr, get_args(kind))
        elif kind is bool:
            words.append("True or False")
        elif kind is str:
            words.append("a text" if len(_alternatives(hint)) > 1 else "a name")
        elif origin is Callable:
            words.append("a function")
        elif kind in (float, int):
            words.append("a number" if kind is float else "a whole number")
        elif origin is np.ndarray:
            entries = get_args(get_args(kind)[-1])
            words.append(f"an array of {ENTRIES.get(entries[0], 'values') if entries else 'values'}")
        elif _is_protocol(kind):
            words.append(f"an object with {' and '.join(f'`{name}`' for name in sorted(_members(kind)))}")
        elif kind is not NoneType and not hasattr(origin, "_instead"):
            name = getattr(kind, "__name__", str(kind))
            words.append(f"{name}, the result of {call}" if call and name not in MADE_BY_MANY else name)
    return " or ".join(dict.fromkeys(words))
