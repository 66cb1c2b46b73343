"""Similarity of two shapes: 1 = the same place, 0 = apart. The table `SIMILARITIES` names what there is.

A similarity compares rows of two columns of one shape kind. It is given the smallest value that matters (`floor`) and
may answer 0 for a pair that is certain to stay below: this is what makes exact polygons affordable.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, as_number, listed, lookup
from kalos_core.shapes import Boxes, Polygons

Compare = Callable[[Any, NDArray[np.intp], Any, NDArray[np.intp], float], NDArray[np.float64]]
"""``compare(left, left_rows, right, right_rows, floor)`` -> (P,) similarities in [0, 1]."""

ROUNDING = 1e-9
"""Relative slack of an upper bound, far above rounding errors: a pair at the floor is never dropped by it."""

PAIRS_WORTH_A_THREAD = 256


@dataclass(frozen=True)
class Similarity:
    """A named similarity, the shape kind it compares, and the name of what it measures.

    `compare` must be symmetric to the last bit, so that no result depends on the order of raters.

    Examples
    --------
    A similarity of one's own: 1 for boxes of one height, however far apart.

    >>> def same_height(left, left_rows, right, right_rows, floor):
    ...     a, b = left.xywh()[left_rows, 3], right.xywh()[right_rows, 3]
    ...     return np.minimum(a, b) / np.maximum(a, b)
    >>> height = Similarity("height", "box", "ratio of heights", same_height)
    >>> boxes = Boxes.from_xywh([[0, 0, 2, 10], [70, 0, 9, 8]])
    >>> height.compare(boxes, np.array([0]), boxes, np.array([1]), 0.0).tolist()
    [0.8]
    """

    name: str
    kind: str
    label: str
    compare: Compare
    additive: bool = False
    """An IoU in which a union of shapes shares at most the sum of what its parts share: lets merges be ruled out."""

    def column(self, annotations: Annotations) -> Any:
        """The column this similarity compares; an error names the annotations that lack such a shape."""
        column = annotations.shapes.get(self.kind)
        if column is None:
            there = ", ".join(annotations.shapes) or "none"
            raise InputError(f"{self.name} compares shapes of kind {self.kind!r}; the annotations have: {there}")
        if isinstance(column, Polygons) and column.absent().any():
            ids = annotations.id[column.absent()]
            raise InputError(
                f"{self.name} compares polygons; {len(ids):,} of {len(annotations):,} annotations have none "
                f"(ids {listed(ids)})"
            )
        return column


def box_iou(
    left: Boxes,
    left_rows: NDArray[np.intp],
    right: Boxes,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,  # noqa: ARG001 - every similarity is given it
) -> NDArray[np.float64]:
    """Intersection over union of axis-aligned boxes (KαLOS §3.3; Everingham et al. 2010).

    Parameters
    ----------
    left, right : Boxes
    left_rows, right_rows : (P,) int
    floor : float
        Not used: boxes are cheap.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a box has no area, also against itself.

    Examples
    --------
    >>> boxes = Boxes.from_xywh([[0, 0, 2, 2], [1, 0, 2, 2], [9, 9, 1, 1]])
    >>> box_iou(boxes, np.array([0, 0]), boxes, np.array([1, 2])).tolist()
    [0.3333333333333333, 0.0]
    >>> box_iou(boxes, np.array([], int), boxes, np.array([], int)).shape
    (0,)
    """
    ax0, ay0, ax1, ay1 = np.ascontiguousarray(left.corners.T)
    bx0, by0, bx1, by1 = (ax0, ay0, ax1, ay1) if right is left else np.ascontiguousarray(right.corners.T)
    width = np.minimum(ax1[left_rows], bx1[right_rows]) - np.maximum(ax0[left_rows], bx0[right_rows])
    iou = np.zeros(len(left_rows))
    near = np.flatnonzero(width > 0)
    rows_a, rows_b = left_rows[near], right_rows[near]
    height = np.minimum(ay1[rows_a], by1[rows_b]) - np.maximum(ay0[rows_a], by0[rows_b])
    overlap = width[near] * np.maximum(height, 0)
    both = left.area()[rows_a] + right.area()[rows_b]
    iou[near] = _ratio(overlap, both - overlap)
    return iou


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
    area_a, area_b = left.area()[left_rows], right.area()[right_rows]
    limits_a, limits_b = left.bounds()[left_rows], right.bounds()[right_rows]
    sides = np.minimum(limits_a[:, 2:], limits_b[:, 2:]) - np.maximum(limits_a[:, :2], limits_b[:, :2])
    with np.errstate(invalid="ignore"):  # NaN bounds: encloses nothing, never near
        near = (sides > 0).all(axis=1)
    most = np.where(near, np.minimum(np.minimum(area_a, area_b), sides[:, 0] * sides[:, 1]), 0.0)
    bound = _ratio(most, area_a + area_b - most)
    worth = np.flatnonzero((bound > 0) & (bound * (1 + ROUNDING) >= floor))
    iou = np.zeros(len(left_rows))
    a, b = left.geometries[left_rows[worth]], right.geometries[right_rows[worth]]
    swap, same = _compare_outlines(a, b, limits_a[worth], limits_b[worth])
    iou[worth[same]] = 1.0  # exactly, also where the same outline begins at another vertex
    a, b, swap, worth = a[~same], b[~same], swap[~same], worth[~same]
    overlap = _intersection_area(np.where(swap, b, a), np.where(swap, a, b))
    iou[worth] = np.minimum(_ratio(overlap, area_a[worth] + area_b[worth] - overlap), 1.0)
    return iou


SIMILARITIES: dict[str, Similarity] = {
    "box_iou": Similarity("box_iou", "box", "IoU of boxes", box_iou),
    "polygon_iou": Similarity("polygon_iou", "polygon", "IoU of polygons", polygon_iou, additive=True),
}
"""Name -> similarity; the App's drop-downs and the laws in the tests read this table."""


def get_similarity(similarity: str | Similarity) -> Similarity:
    """The similarity of that name, or the one given."""
    return similarity if isinstance(similarity, Similarity) else lookup(SIMILARITIES, similarity, "similarity")


def check_threshold(threshold: object, name: str = "threshold") -> float:
    """A threshold is a similarity: a number in [0, 1]."""
    number = as_number(threshold)
    if number is None or not 0 <= number <= 1:
        raise InputError(f"{name}: expected a similarity from 0 to 1, got {threshold!r}")
    return number


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quotient, 0 where the whole is nothing."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


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
