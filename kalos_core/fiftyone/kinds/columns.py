"""Conversion between dataclasses of arrays and the arrays that runs store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import Undefined
from kalos_core.fiftyone.runs.arrays import text_array
from kalos_core.results import restored

Made = TypeVar("Made")

REASON = "reason"
"""Name of the array that holds the reason of an `Undefined`."""

MOST_EXACT = 1 << 32
"""Whole numbers among floats below this limit are stored as integers."""

FIRST = 1000


def columns_of(found: Any, prefix: str, but: Collection[str] = ()) -> dict[str, NDArray[Any]]:
    """Convert the arrays and numbers of a dataclass to stored arrays: whole numbers as integers, text as UTF-8.

    Parameters
    ----------
    found : dataclass, mapping of names to values, or Undefined
        Nested dataclasses are converted recursively; other values are not stored.
    prefix : str
        Prefix of the names of the arrays.
    but : names of fields, optional
        Fields to leave out.

    Examples
    --------
    >>> from kalos_core.pairs import Pairs
    >>> pairs = Pairs(np.array([0]), np.array([300]), np.array([0.5]), "box_iou", 0.25)
    >>> stored = columns_of(pairs, "pairs/")
    >>> {name: array.dtype.name for name, array in stored.items()}
    {'pairs/left': 'int64', 'pairs/right': 'int64', 'pairs/similarity': 'float64', 'pairs/floor': 'float64'}
    >>> made_from(Pairs, stored, "pairs/", name="box_iou").right
    array([300])
    """
    if isinstance(found, Undefined):
        return {f"{prefix}{REASON}": np.array(found.reason.encode())}
    made: dict[str, NDArray[Any]] = {}
    parts = found if isinstance(found, Mapping) else {name: getattr(found, name) for name in _hints(type(found))}
    for name, value in parts.items():
        if name not in but and is_dataclass(value):
            made |= columns_of(value, f"{prefix}{name}/")
        elif name not in but and isinstance(value, (np.ndarray, int, float)):
            made[f"{prefix}{name}"] = _stored(np.asarray(value))
    return made


def made_from(kind: Callable[..., Made], arrays: Mapping[str, NDArray[Any]], prefix: str, **others: Any) -> Made:
    """Rebuild the dataclass that `columns_of` converted, or `Undefined`; `others` are fields that were not stored."""
    if f"{prefix}{REASON}" in arrays:
        why: Any = Undefined(arrays[f"{prefix}{REASON}"].item().decode())
        return why  # type: ignore[no-any-return] # of a type that the caller's field allows
    made: dict[str, Any] = {}
    for name, hint in _hints(kind).items():
        if name not in others and isinstance(hint, type) and is_dataclass(hint):
            made[name] = made_from(hint, arrays, f"{prefix}{name}/")
        elif name not in others and f"{prefix}{name}" in arrays:
            made[name] = restored(hint, arrays[f"{prefix}{name}"])
    return kind(**made, **others)


def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {entry.name: hints[entry.name] for entry in fields(kind) if entry.init}


def _stored(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind in "OTU":
        return text_array(array)
    if array.dtype.kind == "f" and _are_whole(array):
        array = array.astype(np.intp)
    return array


def _are_whole(numbers: NDArray[Any]) -> bool:
    for some in (numbers.ravel()[:FIRST], numbers):  # a few numbers usually decide
        known = np.isfinite(some).all() and not np.signbit(some).any() and some.max(initial=0) < MOST_EXACT
        if not known or (some != np.rint(some)).any():
            return False
    return True
