"""Parsing of model names with their mAP."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kalos_core.errors import InputError, as_number, repr_of
from kalos_core.options import checked


@checked
def read_models(models: str | Mapping[str, float] | None) -> dict[str, float]:
    """Read model names and their mAP from 0 to 1, from text such as ``"YOLO 0.412, DETR 0.437"`` or a mapping.

    Raises
    ------
    InputError
        If an entry has no name or no mAP, an mAP is outside [0, 1] (for example in percent), or a name occurs twice.

    Examples
    --------
    >>> read_models("YOLO 0.412, Mask R-CNN: .437"), read_models({"YOLO": 0.5}), read_models("")
    ({'YOLO': 0.412, 'Mask R-CNN': 0.437}, {'YOLO': 0.5}, {})
    """
    entries: list[tuple[object, object]]
    if models is None or isinstance(models, str):
        entries = [_split(part) for part in re.split(r"[,;\n]", models or "") if part.strip()]
    elif isinstance(models, Mapping):
        entries = list(models.items())
    else:
        raise InputError(
            f"models: expected names with their mAP, such as 'YOLO 0.412, DETR 0.437', got {repr_of(models)}"
        )
    found: dict[str, float] = {}
    for name, value in entries:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"models: expected the name of a model before its mAP, got {repr_of(name)}")
        if name in found:
            raise InputError(f"models: expected every model once, got {repr_of(name)} twice")
        found[name] = _map(name, value)
    return found


def _split(entry: str) -> tuple[object, object]:
    """Split an entry into a name and a number, the last word."""
    name, _, last = re.sub(r"[:=]", " ", entry).strip().rpartition(" ")
    try:
        return name.strip(), float(last)
    except ValueError:
        raise InputError(
            f"models: expected names with their mAP, such as 'YOLO 0.412, DETR 0.437', got {entry.strip()!r}"
        ) from None


def _map(name: str, value: object) -> float:
    number = as_number(value)
    if number is None or not 0 <= number <= 1:
        meant = f"; {number:g} % is {number / 100:.3g}" if number is not None and 1 < number <= 100 else ""
        raise InputError(f"models: expected the mAP of {name!r} from 0 to 1, got {repr_of(value)}{meant}")
    return number
