"""Conversion of results to plain values, which can be stored and sent, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bson import json_util
from numpy.typing import NDArray

from kalos_core.errors import Undefined as Undefined
from kalos_core.errors import or_reason as or_reason
from kalos_core.results import plain_values
from kalos_core.results import restored as restored

Ends = list[float | None]
"""Both ends of an interval; None if undefined."""

MANY = 1000
"""Number of entries from which an array in details is stored separately, not as text."""

BESIDE = "stored array"
"""Key of the placeholder that names such an array."""


ENTRIES = "entries"
"""Key of a mapping that is stored as a list of its entries."""


def keyless(value: Any) -> Any:
    """Convert settings for storage: nested mappings become lists, as database keys cannot hold every name.

    Examples
    --------
    >>> keyless({"groups": {"a.b": ["$c"]}})
    {'groups': {'entries': [['a.b', ['$c']]]}}
    """
    return {name: _entries(of) for name, of in value.items()}


def _entries(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {ENTRIES: [[name, _entries(of)] for name, of in value.items()]}
    return [_entries(of) for of in value] if isinstance(value, (list, tuple)) else value


def keyed(value: Any) -> Any:
    """Restore settings that `keyless` converted.

    Examples
    --------
    >>> keyed(keyless({"groups": {"a.b": ["$c"]}}))
    {'groups': {'a.b': ['$c']}}
    """
    if isinstance(value, Mapping):
        return {name: keyed(of) for name, of in value.get(ENTRIES, value.items())}
    return [keyed(of) for of in value] if isinstance(value, (list, tuple)) else value


DETAILS = "details"
"""Name of the array that holds the details as text."""


def details_to_arrays(details: Any) -> dict[str, NDArray[Any]]:
    """Convert details to arrays for storage: one with their plain values as text, and the long arrays.

    Examples
    --------
    >>> arrays = details_to_arrays({"alpha": np.zeros(2000), "mean": 0.5})
    >>> list(arrays), details_from(arrays)["alpha"].shape, details_from(arrays)["mean"]
    (['details/0', 'details'], (2000,), 0.5)
    """
    arrays: dict[str, NDArray[Any]] = {}

    def beside(value: Any) -> Any:
        if not isinstance(value, np.ndarray) or value.size < MANY:
            return None
        if value.dtype.kind in "OT" and all(isinstance(entry, str) for entry in value.flat):
            value = np.char.encode(np.array(value.tolist(), dtype=str), "utf-8")
        if value.dtype.kind == "O":
            return None
        name = f"{DETAILS}/{len(arrays)}"
        arrays[name] = value
        return {BESIDE: name}

    text = json_util.dumps(plain_values(details, beside))
    return {**arrays, DETAILS: np.frombuffer(text.encode(), np.uint8)}


def details_from(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the plain values of details that `details_to_arrays` converted, as input of `restored`."""

    def joined(stored: Any) -> Any:
        if isinstance(stored, Mapping):
            name = stored.get(BESIDE)
            return {key: joined(entry) for key, entry in stored.items()} if name is None else arrays[name]
        return [joined(entry) for entry in stored] if isinstance(stored, list) else stored

    return joined(json_util.loads(arrays[DETAILS].tobytes().decode()))
