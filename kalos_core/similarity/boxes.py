"""Similarities of axis-aligned boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.shapes import Boxes
from kalos_core.similarity.base import ratio


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
    iou[near] = ratio(overlap, both - overlap)
    return iou
