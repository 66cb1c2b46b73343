"""Values against types: one check for containers and our own classes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from inspect import getattr_static
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

from kalos_core.errors import InputError, as_number, is_hashable, repr_of


def check_type(name: str, hint: Any, value: Any) -> None:
    """An error that names an argument of another type than its annotation says.

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


SEVERAL = (Sequence, Iterable, Set, list)

READ = {
    "Annotations": "read_labels(path) reads a file",
    "LabelTable": "read_wide_labels(path) and read_long_labels(path) read a file",
    "MaskStack": "read_mask_folders(path).stacks() reads a folder",
}
"""Name of a class that readers make -> what to say to whoever gives a path in place of it."""

MADE_BY_MANY = ("Annotations", "LabelTable", "MaskStack")
"""Classes that many calls make: none is named."""


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value is of a type, as far as that is looked at: entries of mappings and sequences, too."""
    if type(hint) is type and isinstance(value, hint):  # nearly always
        return True
    options = _alternatives(hint)
    if len(options) > 1:
        forms = [option for option in options if option is not NoneType]
        if len(forms) > 1 and any(get_origin(option) is np.ndarray for option in forms):
            return True  # whoever takes arrays and others alike says what each has to be
        return any(isinstance(value, str) if option is str else _fits(option, value) for option in options)
    origin, inner = get_origin(hint), get_args(hint)
    if hint is str or hint is Hashable or origin is Literal:
        return is_hashable(value)  # whoever knows the names refuses others, but looks them up
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
            or (origin is Iterable and not _is_own(inner[0]))  # whoever goes through them says which is wrong
            or all(_entry_fits(inner[0], entry) for entry in value)
        )
    kind = hint if origin is None else origin
    if _is_protocol(kind):
        return all(getattr_static(value, name, _ABSENT) is not _ABSENT for name in _members(kind))
    if _is_own(kind):  # shards have a table without rows, of the type that is expected
        return isinstance(value, kind) and (not inner or _fits(inner[0], getattr(value, "known", None)))
    return not (isinstance(kind, type) and kind.__module__ in PLAIN) or isinstance(value, kind)


def _entry_fits(hint: Any, value: Any) -> bool:
    """As `_fits`, of an entry of a container: whoever takes several numbers checks them together."""
    return hint in (float, int) or _fits(hint, value)


PLAIN = ("numpy.random._generator", "pathlib", "fractions")
"""Modules of classes that stand for themselves; others may be given in several forms."""

ENTRIES = {np.float64: "numbers", np.intp: "whole numbers", np.int64: "whole numbers", np.bool_: "truth values"}
"""Type of the entries of an array -> their name."""

KINDS_OF_ARRAYS = {np.float64: "fiu", np.intp: "iu", np.int64: "iu", np.int8: "iu", np.bool_: "b"}
"""Type of the entries of an array -> kinds of arrays that can be used as such."""


def round_of(number: float) -> float:
    """The nearest whole number; of infinity and NaN none."""
    return float(round(number)) if math.isfinite(number) else math.nan


def _is_array(value: Any, inner: tuple[Any, ...]) -> bool:
    """Whether a value is an array of entries of that type; `inner` is what NumPy's type of arrays says."""
    entries = get_args(inner[-1])[0] if inner and get_args(inner[-1]) else Any
    return isinstance(value, np.ndarray) and value.dtype.kind in KINDS_OF_ARRAYS.get(entries, value.dtype.kind)


def _is_own(kind: Any) -> bool:
    """Whether a type is a class of this library."""
    return isinstance(kind, type) and kind.__module__.startswith("kalos_core.") and not _is_protocol(kind)


def _is_protocol(kind: Any) -> bool:
    """Whether a type is a protocol of this library."""
    return bool(getattr(kind, "_is_protocol", False)) and kind.__module__.startswith("kalos_core.")


def _members(protocol: Any) -> set[str]:
    """Names that a value of a protocol has."""
    names = (name for base in protocol.__mro__ if _is_protocol(base) for name in vars(base))
    return {name for name in names if name == "__call__" or not name.startswith("_")}


_ABSENT = object()
"""Stands for an attribute that a value does not have."""


def _reader_of(hint: Any, value: Any) -> str:
    """How to get what is expected where a path, or what a file holds, was given; "" where it was neither."""
    if not isinstance(value, (str, os.PathLike, Mapping)):
        return ""
    kinds = [get_origin(kind) or kind for kind in _alternatives(hint)]
    read = [READ[kind.__name__] for kind in kinds if getattr(kind, "__name__", "") in READ]
    made = [kind._call for kind in kinds if "annotations" in getattr(kind, "_call", "")]
    return next(
        iter([*read, *(call.replace("annotations", "read_labels(path)") + " begins with a file" for call in made)]), ""
    )


def _is_several(kind: Any, value: Any) -> bool:
    if isinstance(value, (bytes, bytearray)) or (kind in (Sequence, list) and isinstance(value, Mapping)):
        return False
    try:
        iter(value)
        return kind is Iterable or len(value) >= 0
    except TypeError:
        return False


def _entries(kind: Any) -> str:
    """What a sequence is of, in words."""
    inner = get_args(kind)[0]
    words = {str: "names", float: "numbers", int: "whole numbers", Mapping: "mappings"}
    return words.get(get_origin(inner) or inner, "entries")


def _said(hint: Any, value: Any) -> str:
    """What is expected, in words; of entries that are wrong the type as Python writes it."""
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
