"""Similarities of axis-aligned boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.options import checked
from kalos_core.shapes import Boxes
from kalos_core.similarity.base import ratio


@checked
def box_iou(
    left: Boxes,
    left_rows: NDArray[np.intp],
    right: Boxes,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,  # noqa: ARG001 - part of the `Compare` signature
) -> NDArray[np.float64]:
    """Compute the intersection over union of axis-aligned boxes (KαLOS §3.3; Everingham et al. 2010).

    Parameters
    ----------
    left, right : Boxes
    left_rows, right_rows : (P,) int
    floor : float
        Ignored: boxes are cheap to compare.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a box has no area, even compared with itself.

    Examples
    --------
    >>> boxes = Boxes.from_xywh([[0, 0, 2, 2], [1, 0, 2, 2], [9, 9, 1, 1]])
    >>> box_iou(boxes, np.array([0, 0]), boxes, np.array([1, 2])).tolist()
    [0.3333333333333333, 0.0]
    >>> box_iou(boxes, np.array([], int), boxes, np.array([], int)).shape
    (0,)
    """
    ax0, ay0, ax1, ay1 = left.sides
    bx0, by0, bx1, by1 = right.sides
    width = np.minimum(ax1.take(left_rows), bx1.take(right_rows)) - np.maximum(
        ax0.take(left_rows), bx0.take(right_rows)
    )
    iou = np.zeros(len(left_rows))
    near = np.flatnonzero(width > 0)
    rows_a, rows_b = left_rows.take(near), right_rows.take(near)
    height = np.minimum(ay1.take(rows_a), by1.take(rows_b)) - np.maximum(ay0.take(rows_a), by0.take(rows_b))
    overlap = width.take(near) * np.maximum(height, 0)
    both = left.area().take(rows_a) + right.area().take(rows_b)
    iou[near] = ratio(overlap, both - overlap)
    return iou


@checked
def box_giou(
    left: Boxes,
    left_rows: NDArray[np.intp],
    right: Boxes,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,  # noqa: ARG001 - part of the `Compare` signature
) -> NDArray[np.float64]:
    """Compute the generalized IoU of axis-aligned boxes, scaled to [0, 1] (KαLOS §3.3; Rezatofighi et al. 2019).

    Let C be the smallest box around both. GIoU is the IoU minus the fraction of C that neither box covers; the
    similarity is (1 + GIoU) / 2. Disjoint boxes score at most 0.5 (side by side) and approach 0 with their distance.

    Parameters
    ----------
    left, right : Boxes
    left_rows, right_rows : (P,) int
    floor : float
        Ignored: boxes are cheap to compare.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a box has no area, even compared with itself.

    Examples
    --------
    >>> boxes = Boxes.from_xywh([[0, 0, 1, 1], [3, 0, 1, 1]])
    >>> box_giou(boxes, np.array([0, 0]), boxes, np.array([0, 1])).tolist()
    [1.0, 0.25]
    """
    a, b = left.corners[left_rows], right.corners[right_rows]
    shared = np.maximum(np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2]), 0).prod(axis=1)
    around = (np.maximum(a[:, 2:], b[:, 2:]) - np.minimum(a[:, :2], b[:, :2])).prod(axis=1)
    area_a, area_b = left.area()[left_rows], right.area()[right_rows]
    union = area_a + area_b - shared
    giou = np.minimum((ratio(shared, union) + ratio(union, around)) / 2, 1.0)  # (1 + IoU - 1 + filled share of C) / 2
    return np.where((area_a > 0) & (area_b > 0), giou, 0.0)


@checked
def centroid_box(
    left: Boxes,
    left_rows: NDArray[np.intp],
    right: Boxes,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,  # noqa: ARG001 - part of the `Compare` signature
) -> NDArray[np.float64]:
    """Compute 1 - (distance of the centres / diagonal of the larger box), at least 0.

    This is the centroid similarity of the authors' package, but in pixels. The package uses coordinates relative to the
    image, which weight horizontal and vertical distances differently unless the image is square. `centroid` is the
    similarity of the paper (KαLOS §3.3), which divides by the diagonal of the image. If both boxes have the same area,
    the longer diagonal is used.

    Parameters
    ----------
    left, right : Boxes
    left_rows, right_rows : (P,) int
    floor : float
        Ignored: boxes are cheap to compare.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a box has no area, even compared with itself.

    Examples
    --------
    >>> boxes = Boxes.from_xywh([[0, 0, 6, 8], [3, 4, 6, 8], [50, 0, 6, 8]])
    >>> centroid_box(boxes, np.array([0, 0]), boxes, np.array([1, 2])).tolist()
    [0.5, 0.0]
    """
    a, b = left.corners[left_rows], right.corners[right_rows]
    away = (a[:, :2] + a[:, 2:]) / 2 - (b[:, :2] + b[:, 2:]) / 2  # symmetric to the last bit
    size_a, size_b = a[:, 2:] - a[:, :2], b[:, 2:] - b[:, :2]
    area_a, area_b = size_a.prod(axis=1), size_b.prod(axis=1)
    diagonal_a, diagonal_b = np.hypot(*size_a.T), np.hypot(*size_b.T)
    larger = np.where(area_a > area_b, diagonal_a, diagonal_b)
    diagonal = np.where(area_a == area_b, np.maximum(diagonal_a, diagonal_b), larger)
    near = np.maximum(1 - ratio(np.hypot(*away.T), diagonal), 0.0)
    return np.where((area_a > 0) & (area_b > 0), near, 0.0)
