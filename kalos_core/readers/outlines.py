"""Outlines in the cells of tables: text of numbers, JSON, GeoJSON, WKT, WKB, and lists."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.errors import as_number

Rings: TypeAlias = list[list[float]]
"""Rings of an outline, each x1, y1, x2, y2, ..."""


UNIT_SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float64)
"""Corners of a box, in order, relative to its sides."""


def rings_in(cell: Any) -> Rings:
    """Return the outer rings of an outline given as text of numbers, JSON, GeoJSON, WKT, WKB, or lists.

    Examples
    --------
    >>> [rings_in(cell) for cell in ("0,0;4,0;4,2", "POLYGON ((0 0, 4 0, 4 2, 0 0))", "[[0,0],[4,0],[4,2]]")]
    [[[0.0, 0.0, 4.0, 0.0, 4.0, 2.0]], [[0.0, 0.0, 4.0, 0.0, 4.0, 2.0]], [[0.0, 0.0, 4.0, 0.0, 4.0, 2.0]]]
    >>> rings_in([[0, 0, 4, 0, 4, 2], [9, 9, 8, 9, 8, 8]])
    [[0.0, 0.0, 4.0, 0.0, 4.0, 2.0], [9.0, 9.0, 8.0, 9.0, 8.0, 8.0]]
    """
    geometry = cell if isinstance(cell, shapely.Geometry) else None
    if isinstance(cell, str) and re.match(r"\s*(SRID=\d+;)?\s*(MULTI)?POLYGON", cell, re.IGNORECASE):
        geometry = shapely.from_wkt(cell.partition(";")[2] or cell)
    elif isinstance(cell, bytes):
        geometry = shapely.from_wkb(cell)
    if geometry is not None:
        parts = shapely.get_parts(geometry).tolist()
        if any(len(part.interiors) for part in parts):
            raise ValueError
        return [shapely.get_coordinates(part.exterior)[:-1].ravel().tolist() for part in parts]
    value = as_list(cell)
    if isinstance(value, Mapping):  # GeoJSON
        inside = value["coordinates"]
        polygons = {"Polygon": [inside], "MultiPolygon": inside}[value["type"]]
        if any(len(rings) != 1 for rings in polygons):
            raise ValueError
        return [ring for polygon in polygons for ring in _flat(polygon[0])]
    return _flat(value)


def as_list(cell: Any) -> Any:
    """Parse JSON or a text of numbers; lists are returned unchanged."""
    if isinstance(cell, np.ndarray):
        return cell.tolist()
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    if text[:1] in ("[", "{", "("):
        try:
            return json.loads(text.replace("(", "[").replace(")", "]").replace("'", '"'))
        except ValueError:
            if text[0] == "{":
                raise
    return [float(part) for part in re.split(r"[\s,;|\[\]()]+", text) if part]


def _flat(value: Any) -> Rings:
    """Return rings from numbers, pairs, {"x": ..., "y": ...}, or lists of these."""
    entries = [entry.tolist() if isinstance(entry, np.ndarray) else entry for entry in value]
    if not entries:
        return []
    if all(as_number(entry) is not None for entry in entries):
        return [[float(entry) for entry in entries]]
    if all(isinstance(entry, Mapping) for entry in entries):
        return [[float(entry[axis]) for entry in entries for axis in "xy"]]
    if all(len(entry) == 2 and all(as_number(number) is not None for number in entry) for entry in entries):
        return [[float(number) for entry in entries for number in entry]]
    return [ring for entry in entries for ring in _flat(entry)]


def interleaved(xs: Any, ys: Any) -> list[float]:
    """Return a ring from lists of x and y."""
    return [float(number) for pair in zip(xs, ys, strict=True) for number in pair]


def bounds_of(outlines: Sequence[Rings]) -> NDArray[np.float64]:
    """Return (K, 4) x, y, width, height of the bounding box of each outline.

    Examples
    --------
    >>> bounds_of([[[0, 0, 4, 0, 4, 2]], [[1, 1, 2, 2, 1, 2], [5, 1, 6, 9, 5, 9]]]).tolist(), bounds_of([]).shape
    ([[0.0, 0.0, 4.0, 2.0], [1.0, 1.0, 5.0, 8.0]], (0, 4))
    """
    if not outlines:
        return np.zeros((0, 4))
    flat = [list(chain.from_iterable(rings)) for rings in outlines]
    length = np.array([len(numbers) // 2 for numbers in flat], np.intp)
    points = np.array(list(chain.from_iterable(flat)), np.float64).reshape(-1, 2)
    first = np.cumsum(length) - length
    least, most = np.minimum.reduceat(points, first), np.maximum.reduceat(points, first)
    with np.errstate(invalid="ignore", over="ignore"):  # values that are not finite are reported later
        return np.concatenate([least, most - least], axis=1)


def corners_of(boxes: NDArray[np.float64], degrees: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the (K, 8) corners x1, y1, ..., x4, y4 of boxes (K, 4) x, y, width, height.

    Parameters
    ----------
    boxes : (K, 4) float64
        In pixels.
    degrees : (K,) float64, optional
        Rotation of each box about its centre, clockwise in image coordinates.

    Examples
    --------
    >>> box = np.array([[0.0, 0.0, 4.0, 2.0]])
    >>> corners_of(box).tolist(), corners_of(box, np.array([90.0])).round(6).tolist()
    ([[0.0, 0.0, 4.0, 0.0, 4.0, 2.0, 0.0, 2.0]], [[3.0, -1.0, 3.0, 3.0, 1.0, 3.0, 1.0, -1.0]])
    """
    first, sides = boxes[:, None, :2], boxes[:, None, 2:]
    with np.errstate(invalid="ignore", over="ignore"):  # values that are not finite are reported later
        if degrees is None:
            return np.reshape(first + sides * UNIT_SQUARE, (-1, 8))
        cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        turn = np.stack([cosine, sine, -sine, cosine], axis=1).reshape(-1, 2, 2)
        return np.reshape(sides * (UNIT_SQUARE - 0.5) @ turn + first + sides / 2, (-1, 8))
