"""Similarities of polygons: exact areas, and only where they can matter."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.shapes import Polygons
from kalos_core.similarity.base import ROUNDING, ratio

PAIRS_WORTH_A_THREAD = 256


def polygon_iou(
    left: Polygons,
    left_rows: NDArray[np.intp],
    right: Polygons,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,
) -> NDArray[np.float64]:
    """Intersection over union of exact polygon areas (KαLOS §3.3).

    The bounds come first: the intersection is at most ``u``, the least of both areas and the area of the bounds'
    intersection, so IoU <= u / (A + B - u). Only pairs whose bound reaches the floor are intersected.

    Parameters
    ----------
    left, right : Polygons
    left_rows, right_rows : (P,) int
    floor : float
        Pairs certain to stay below are answered 0.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a polygon encloses nothing, also against itself.

    Examples
    --------
    >>> triangle, square = [0, 0, 2, 0, 0, 2], [0, 0, 2, 0, 2, 2, 0, 2]
    >>> polygons = Polygons.from_rings([[triangle], [square]])
    >>> polygon_iou(polygons, np.array([0, 1]), polygons, np.array([1, 1])).tolist()
    [0.5, 1.0]
    """
    limit = polygon_bound(left, left_rows, right, right_rows)
    worth = np.flatnonzero((limit > 0) & (limit >= floor))
    area_a, area_b = left.area()[left_rows[worth]], right.area()[right_rows[worth]]
    limits_a, limits_b = left.bounds()[left_rows[worth]], right.bounds()[right_rows[worth]]
    iou = np.zeros(len(left_rows))
    a, b = left.geometries[left_rows[worth]], right.geometries[right_rows[worth]]
    swap, same = _compare_outlines(a, b, limits_a, limits_b)
    iou[worth[same]] = 1.0  # exactly, also where the same outline begins at another vertex
    a, b, swap = a[~same], b[~same], swap[~same]
    overlap = _intersection_area(np.where(swap, b, a), np.where(swap, a, b))
    iou[worth[~same]] = np.minimum(ratio(overlap, (area_a + area_b)[~same] - overlap), 1.0)
    return iou


def polygon_bound(
    left: Polygons, left_rows: NDArray[np.intp], right: Polygons, right_rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(P,) what the IoU of two polygons cannot exceed, from their areas and bounds alone; see `polygon_iou`."""
    area_a, area_b = left.area()[left_rows], right.area()[right_rows]
    limits_a, limits_b = left.bounds()[left_rows], right.bounds()[right_rows]
    sides = np.minimum(limits_a[:, 2:], limits_b[:, 2:]) - np.maximum(limits_a[:, :2], limits_b[:, :2])
    with np.errstate(invalid="ignore"):  # NaN bounds: encloses nothing, never near
        near = (sides > 0).all(axis=1)
    most = np.where(near, np.minimum(np.minimum(area_a, area_b), sides[:, 0] * sides[:, 1]), 0.0)
    return ratio(most, area_a + area_b - most) * (1 + ROUNDING)


def _compare_outlines(
    a: NDArray[np.object_],
    b: NDArray[np.object_],
    bounds_a: NDArray[np.float64],
    bounds_b: NDArray[np.float64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(P,) where a comes after b in an order of outlines alone, and where they are the same outline."""
    after = _comes_after(bounds_a, bounds_b)
    same = np.zeros(len(a), np.bool_)
    alike = np.flatnonzero((bounds_a == bounds_b).all(axis=1))  # rare: the outlines themselves decide
    outline_a, outline_b = (shapely.to_wkb(shapely.normalize(shapes[alike])) for shapes in (a, b))
    after[alike] = outline_a > outline_b
    same[alike] = outline_a == outline_b
    return after, same


def _intersection_area(first: NDArray[np.object_], second: NDArray[np.object_]) -> NDArray[np.float64]:
    """(P,) area shared by two polygons."""
    workers = min(os.cpu_count() or 1, len(first) // PAIRS_WORTH_A_THREAD)
    if workers < 2:
        return _shared_area(first, second)
    with ThreadPoolExecutor(workers) as pool:  # GEOS releases the interpreter
        parts = pool.map(_shared_area, np.array_split(first, workers * 4), np.array_split(second, workers * 4))
        return np.concatenate(list(parts))


def _shared_area(first: NDArray[np.object_], second: NDArray[np.object_]) -> NDArray[np.float64]:
    shared: NDArray[np.float64] = shapely.area(shapely.intersection(first, second))
    return shared


def _comes_after(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(P,) True where the left bounds are lexicographically larger than the right ones."""
    after = np.zeros(len(left), np.bool_)
    for corner in reversed(range(4)):
        after = (left[:, corner] > right[:, corner]) | ((left[:, corner] == right[:, corner]) & after)
    return after
