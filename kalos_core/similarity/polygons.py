"""Similarities of polygons, with exact areas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.arrays import in_threads
from kalos_core.options import checked
from kalos_core.shapes import Polygons
from kalos_core.shapes.edges import Edges
from kalos_core.similarity.base import ROUNDING, iou_bound, ratio

PAIRS_A_THREAD = 256

PAIRS_AT_ONCE = 128
"""Number of pairs whose edges are built at a time; edges of a whole block would dominate the memory use."""


@checked
def polygon_iou(
    left: Polygons,
    left_rows: NDArray[np.intp],
    right: Polygons,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,
) -> NDArray[np.float64]:
    """Compute the intersection over union of exact polygon areas (KαLOS §3.3).

    Only pairs whose upper bound (`iou_bound`) reaches the floor are intersected.

    Parameters
    ----------
    left, right : Polygons
    left_rows, right_rows : (P,) int
    floor : float
        Pairs certain to stay below this value get 0.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a polygon encloses nothing, even compared with itself.

    Examples
    --------
    >>> triangle, square = [0, 0, 2, 0, 0, 2], [0, 0, 2, 0, 2, 2, 0, 2]
    >>> polygons = Polygons.from_rings([[triangle], [square]])
    >>> polygon_iou(polygons, np.array([0, 1]), polygons, np.array([1, 1])).tolist()
    [0.5, 1.0]
    """
    limit = iou_bound(left, left_rows, right, right_rows)
    worth = np.flatnonzero((limit > 0) & (limit >= floor))
    area_a, area_b = left.area()[left_rows[worth]], right.area()[right_rows[worth]]
    limits_a, limits_b = left.bounds()[left_rows[worth]], right.bounds()[right_rows[worth]]
    iou = np.zeros(len(left_rows))
    a, b = left.geometries[left_rows[worth]], right.geometries[right_rows[worth]]
    swap, same = compare_outlines(a, b, limits_a, limits_b)
    iou[worth[same]] = 1.0  # exactly, even if the same outline starts at another vertex
    a, b, swap = a[~same], b[~same], swap[~same]
    overlap = intersection_area(np.where(swap, b, a), np.where(swap, a, b))
    iou[worth[~same]] = np.minimum(ratio(overlap, (area_a + area_b)[~same] - overlap), 1.0)
    return iou


@checked
def polygon_giou(
    left: Polygons,
    left_rows: NDArray[np.intp],
    right: Polygons,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,
) -> NDArray[np.float64]:
    """Compute the generalized IoU of polygons, scaled to [0, 1] (KαLOS §3.3; Rezatofighi et al. 2019).

    Let C be the convex hull of both. GIoU is the IoU minus the fraction of C that neither polygon covers; the
    similarity is (1 + GIoU) / 2. Only a convex polygon has similarity 1 to itself, as the hull of a concave polygon is
    larger than the polygon. A polygon that fills half of its hull has 0.75. Disjoint polygons have at most 0.5.

    Parameters
    ----------
    left, right : Polygons
    left_rows, right_rows : (P,) int
    floor : float
        Pairs certain to stay below this value get 0; see `polygon_giou_bound`.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a polygon encloses nothing, even compared with itself.

    Examples
    --------
    >>> square, other = [0, 0, 1, 0, 1, 1, 0, 1], [3, 0, 4, 0, 4, 1, 3, 1]
    >>> polygons = Polygons.from_rings([[square], [other]])
    >>> polygon_giou(polygons, np.array([0, 0]), polygons, np.array([0, 1])).tolist()
    [1.0, 0.25]
    """
    limit = polygon_giou_bound(left, left_rows, right, right_rows)
    worth = np.flatnonzero((limit > 0) & (limit >= floor))
    left_rows, right_rows = left_rows[worth], right_rows[worth]
    iou = polygon_iou(left, left_rows, right, right_rows)
    union = (left.area()[left_rows] + right.area()[right_rows]) / (1 + iou)
    a, b = left.geometries[left_rows], right.geometries[right_rows]
    swap, _ = compare_outlines(a, b, left.bounds()[left_rows], right.bounds()[right_rows])
    a, b = left.hulls[left_rows], right.hulls[right_rows]
    around = _in_threads(_hull_area, np.where(swap, b, a), np.where(swap, a, b))
    # exactly 1 where the hull adds nothing
    filled = np.where(union >= around * (1 - ROUNDING), 1.0, ratio(union, around))
    giou = np.zeros(len(limit))
    giou[worth] = (iou + filled) / 2  # (1 + IoU - 1 + filled share of C) / 2
    return giou


def polygon_giou_bound(
    left: Polygons, left_rows: NDArray[np.intp], right: Polygons, right_rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return (P,) upper bounds on `polygon_giou`, from areas and bounds alone.

    A shape of area A and width w is at least A / w high somewhere. If a gap separates two shapes, their hull contains
    everything between two such heights. The hull therefore exceeds both shapes by at least the gap times the smaller
    height.
    """
    area_a, area_b = left.area()[left_rows], right.area()[right_rows]
    limits_a, limits_b = left.bounds()[left_rows], right.bounds()[right_rows]
    gap = np.maximum(limits_a[:, :2], limits_b[:, :2]) - np.minimum(limits_a[:, 2:], limits_b[:, 2:])
    height_a = area_a[:, None] / (limits_a[:, 2:] - limits_a[:, :2])
    height_b = area_b[:, None] / (limits_b[:, 2:] - limits_b[:, :2])
    between = np.asarray((np.maximum(gap, 0) * np.minimum(height_a, height_b)).max(axis=1))
    filled = ratio(area_a + area_b, area_a + area_b + between)
    limit = (iou_bound(left, left_rows, right, right_rows) + filled) / 2 * (1 + ROUNDING)
    return np.where((area_a > 0) & (area_b > 0), limit, 0.0)


def compare_outlines(
    a: NDArray[np.object_],
    b: NDArray[np.object_],
    bounds_a: NDArray[np.float64],
    bounds_b: NDArray[np.float64],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (P,) masks: where a comes after b in a fixed order of outlines, and where both outlines are equal."""
    after = _comes_after(bounds_a, bounds_b)
    same = np.zeros(len(a), np.bool_)
    alike = np.flatnonzero((bounds_a == bounds_b).all(axis=1))  # rare: compare the outlines themselves
    outline_a, outline_b = (shapely.to_wkb(shapely.normalize(shapes[alike])) for shapes in (a, b))
    after[alike] = outline_a > outline_b
    same[alike] = outline_a == outline_b
    return after, same


def intersection_area(first: NDArray[np.object_], second: NDArray[np.object_]) -> NDArray[np.float64]:
    """Return the (P,) areas shared by two polygons."""
    return _in_threads(_shared_area, first, second)


def _in_threads(
    measure: Callable[[NDArray[np.object_], NDArray[np.object_]], NDArray[np.float64]],
    first: NDArray[np.object_],
    second: NDArray[np.object_],
) -> NDArray[np.float64]:
    """Apply a (P,) measure of pairs of geometries in threads."""
    return np.concatenate(in_threads(lambda part: measure(first[part], second[part]), len(first), PAIRS_A_THREAD))


def _shared_area(first: NDArray[np.object_], second: NDArray[np.object_]) -> NDArray[np.float64]:
    shared = np.empty(len(first))
    for start in range(0, len(first), PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        rows = np.arange(len(first[some]))
        shared[some] = Edges.of(first[some]).shared_area(rows, Edges.of(second[some]), rows)
    return shared


def _hull_area(first: NDArray[np.object_], second: NDArray[np.object_]) -> NDArray[np.float64]:
    """Return the (P,) areas of the convex hulls around two convex polygons."""
    points, pairs = zip(*(shapely.get_coordinates(hulls, return_index=True) for hulls in (first, second)), strict=True)
    pair = np.concatenate(pairs)
    order = np.argsort(pair, kind="stable")
    # a line through all corners, since points take far longer to create
    corners = shapely.linestrings(np.concatenate(points)[order], indices=pair[order])
    around = shapely.area(shapely.convex_hull(corners))
    return np.asarray(around)


def _comes_after(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a (P,) mask of left bounds that are lexicographically larger than the right ones."""
    after = np.zeros(len(left), np.bool_)
    for corner in reversed(range(4)):
        after = (left[:, corner] > right[:, corner]) | ((left[:, corner] == right[:, corner]) & after)
    return after
