"""Concatenation of columns of shapes, and their conversion to flat arrays for storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError
from kalos_core.shapes.boxes import Boxes
from kalos_core.shapes.cuboids import Cuboids
from kalos_core.shapes.keypoints import Keypoints
from kalos_core.shapes.kinds import ShapeColumn
from kalos_core.shapes.masks import Masks
from kalos_core.shapes.polygons import Polygons

FLAT: dict[str, type[Any]] = {
    "box": Boxes,
    "polygon": Polygons,
    "mask": Masks,
    "keypoints": Keypoints,
    "cuboid": Cuboids,
}
"""Shape kinds whose columns are flat arrays. Fields ``..._start`` are the offsets of shapes in other fields, which have
a row per shape or per part."""


def join_columns(kind: str, columns: Sequence[ShapeColumn | int]) -> ShapeColumn:
    """Concatenate columns of one kind; a number n stands for n annotations without a shape.

    Examples
    --------
    >>> one, other = Boxes.from_xywh([[0, 0, 2, 2]]), Boxes.from_xywh([[1, 1, 1, 1]])
    >>> join_columns("box", [one, 1, other]).absent().tolist()
    [False, True, False]
    """
    made = FLAT[kind]
    given: list[ShapeColumn] = [column for column in columns if isinstance(column, made)]
    if len(given) == len(columns) == 1:
        return given[0]
    parts = [_absent(given[0], column) if isinstance(column, int) else column for column in columns]
    try:
        joined: ShapeColumn = made(
            **{
                field.name: _starts([getattr(part, field.name) for part in parts])
                if field.name.endswith("_start")
                else np.concatenate([getattr(part, field.name) for part in parts])
                for field in fields(made)
            }
        )
        return joined
    except ValueError as error:  # poses of different numbers of keypoints
        raise InputError(f"{kind}: expected shapes of one form in all images, got several: {error}") from None


def _starts(parts: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Return the offsets of shapes in the concatenated parts of several columns."""
    offsets = np.cumsum([0, *(part[-1] for part in parts)])
    return np.concatenate([[0], *(part[1:] + offset for part, offset in zip(parts, offsets, strict=False))]).astype(
        np.intp
    )


def _absent(like: ShapeColumn, count: int) -> ShapeColumn:
    """Return a column of `count` annotations without a shape, of the type of another column."""
    values = {}
    for field in fields(like):  # type: ignore[arg-type]
        array = getattr(like, field.name)
        if field.name.endswith("_start"):
            values[field.name] = np.zeros(count + 1 if len(array) == len(like) + 1 else 1, np.intp)
        else:
            rows = count if len(array) == len(like) and not _is_of_parts(like, field.name) else 0
            empty: Any = np.nan if array.dtype.kind == "f" else 0
            values[field.name] = np.full((rows, *array.shape[1:]), empty, array.dtype)
    return type(like)(**values)


def _is_of_parts(column: ShapeColumn, name: str) -> bool:
    """Check whether a field has a row per part, not per shape."""
    return (type(column).__name__, name) in {("Polygons", "points"), ("Masks", "first"), ("Masks", "length")}


def column_arrays(column: ShapeColumn) -> dict[str, NDArray[Any]]:
    """Return the fields of a flat column; `column_of` is the inverse."""
    return {field.name: getattr(column, field.name) for field in fields(column)}  # type: ignore[arg-type]


def column_of(kind: str, arrays: Mapping[str, NDArray[Any]]) -> ShapeColumn:
    """Return a column of a kind from the fields that `column_arrays` returned."""
    column: ShapeColumn = FLAT[kind](**arrays)
    return column
