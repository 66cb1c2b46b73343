"""Results as plain values, which can be stored and sent, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar, get_args, get_origin

import numpy as np
from cattrs import Converter
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.errors import Undefined as Undefined
from kalos_core.errors import or_reason as or_reason

Made = TypeVar("Made")

Ends = list[float | None]
"""Both ends of an interval; None where undefined."""

MANY = 1000
"""Entries from which an array of details is stored beside them as it is, not as text."""

BESIDE = "stored array"
"""What stands in its place, with its name."""


def plain(value: Any) -> Any:
    """Arrays as lists, dataclasses as dicts, NaN as None, at any depth: what can be stored and sent.

    Examples
    --------
    >>> plain(np.array([[0.5, np.nan]])), plain((1, "a")), plain({"std": np.float64("nan")})
    ([[0.5, None]], [1, 'a'], {'std': None})
    """
    if is_dataclass(value) and not isinstance(value, type):
        return plain(_CONVERTER.unstructure(value))
    if isinstance(value, np.ndarray) and value.ndim > 1 and not value.size:
        return {"shape": list(value.shape)}
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.where(np.isnan(value), None, value).tolist()  # type: ignore[call-overload]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    return None if isinstance(value, float) and value != value else value


def restored(kind: type[Made], stored: Any) -> Made:
    """The dataclass that `plain` made plain values of; fields it did not store have their defaults.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Curve:
    ...     alpha: NDArray[np.float64]
    ...     best: float
    >>> restored(Curve, plain(Curve(np.array([0.5, np.nan]), float("nan"))))
    Curve(alpha=array([0.5, nan]), best=nan)
    """
    return _CONVERTER.structure(stored, kind)


def apart(details: Any) -> tuple[Any, dict[str, NDArray[Any]]]:
    """What `plain` answers, with the names of long arrays in their places, and these arrays.

    Examples
    --------
    >>> stored, arrays = apart({"alpha": np.zeros(2000), "mean": 0.5})
    >>> stored, joined(stored, arrays)["alpha"].shape
    ({'alpha': {'stored array': 'details/0'}, 'mean': 0.5}, (2000,))
    """
    arrays: dict[str, NDArray[Any]] = {}

    def walk(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.size >= MANY:
            if value.dtype.kind in "OT" and all(isinstance(entry, str) for entry in value.flat):
                value = np.char.encode(np.array(value.tolist(), dtype=str), "utf-8")
            if value.dtype.kind != "O":
                name = f"details/{len(arrays)}"
                arrays[name] = value
                return {BESIDE: name}
        if isinstance(value, Mapping):
            return {key: walk(entry) for key, entry in value.items()}
        return [walk(entry) for entry in value] if isinstance(value, (list, tuple)) else plain(value)

    return walk(_CONVERTER.unstructure(details)), arrays


def joined(stored: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """What `apart` took apart, for `restored`."""
    if isinstance(stored, Mapping):
        name = stored.get(BESIDE)
        return {key: joined(entry, arrays) for key, entry in stored.items()} if name is None else arrays[name]
    return [joined(entry, arrays) for entry in stored] if isinstance(stored, list) else stored


def _is_array(kind: Any) -> bool:
    return get_origin(kind) is np.ndarray


def _array(stored: Any, kind: Any) -> NDArray[Any]:
    (dtype,) = get_args(get_args(kind)[1])
    if isinstance(stored, Mapping):
        return np.empty(stored["shape"], dtype)
    if isinstance(stored, np.ndarray) and stored.dtype.kind == "S":
        stored = np.char.decode(stored, "utf-8").tolist()
    return object_array(stored) if dtype is np.object_ else np.array(stored, dtype=dtype)


_CONVERTER = Converter()
_CONVERTER.register_structure_hook(float, lambda stored, _: float("nan") if stored is None else float(stored))
_CONVERTER.register_structure_hook_func(_is_array, _array)
_CONVERTER.register_unstructure_hook_func(_is_array, lambda array: array)
