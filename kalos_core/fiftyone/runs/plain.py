"""Results as plain values, which can be stored and sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Arrays as lists, dataclasses as dicts, NaN as None, at any depth: what can be stored and sent.

    Examples
    --------
    >>> plain(np.array([[0.5, np.nan]])), plain((1, "a")), plain({"std": np.float64("nan")})
    ([[0.5, None]], [1, 'a'], {'std': None})
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.where(np.isnan(value), None, value).tolist()  # type: ignore[call-overload]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    return None if isinstance(value, float) and value != value else value
