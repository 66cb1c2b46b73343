"""Similarity of positions alone: the distance between the centroids of two shapes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import total
from kalos_core.errors import InputError
from kalos_core.options import checked
from kalos_core.shapes import Boxes, Keypoints, Masks, Polygons, ShapeColumn
from kalos_core.similarity.base import check_image_sizes


@dataclass(frozen=True, eq=False)
class Centroids:
    """The geometric centroids of a column of shapes, and the diagonal of each one's image.

    Parameters
    ----------
    shapes : Boxes, Polygons, Masks or Keypoints
    diagonal : (N,) float64
        In pixels.
    """

    shapes: ShapeColumn
    diagonal: NDArray[np.float64]

    @classmethod
    def of(cls, annotations: Annotations, shapes: ShapeColumn) -> Centroids:
        """Return the centroids of a table's shapes; the error lists images of unknown size."""
        check_image_sizes("centroid", annotations)
        return cls(shapes, np.hypot(*annotations.image_size[annotations.image].T))

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """(N, 2) x, y in pixels; NaN for an outline or mask without area, or a pose without labelled keypoints."""
        match self.shapes:
            case Boxes() as boxes:
                return np.asarray((boxes.corners[:, :2] + boxes.corners[:, 2:]) / 2)  # also of boxes without area
            case Polygons() as polygons:
                points = np.full((len(polygons), 2), np.nan)
                there, which = shapely.get_coordinates(shapely.centroid(polygons.geometries), return_index=True)
                points[which] = there  # empty polygons have no centroid
            case Masks() as masks:
                return _of_masks(masks)
            case Keypoints() as poses:
                return _of_keypoints(poses)
            case other:
                raise InputError(
                    f"centroid: expected boxes, polygons, masks or keypoints, got {type(other).__name__.lower()}"
                )
        return np.where(self.shapes.area()[:, None] > 0, points, np.nan)

    def union(self, rows: NDArray[np.intp]) -> Centroids:
        """Return the centroids of C unions: each line of the (C, m) rows lists m shapes of one image."""
        return Centroids(self.shapes.union(rows), self.diagonal[rows[:, 0]])


def _of_masks(masks: Masks) -> NDArray[np.float64]:
    """Return the (N, 2) mean of the centres of all pixels."""
    mask, column, top, bottom = masks.strips(np.arange(len(masks)))
    pixels = bottom - top
    sums = [total(mask, pixels * position, len(masks)) for position in (column + 0.5, (top + bottom) / 2)]
    area = masks.area()[:, None]
    return np.asarray(np.divide(np.stack(sums, axis=1), area, out=np.full((len(masks), 2), np.nan), where=area > 0))


def _of_keypoints(poses: Keypoints) -> NDArray[np.float64]:
    """Return the (N, 2) mean of the labelled keypoints."""
    count = poses.visible.sum(axis=1)[:, None]
    sums = np.where(poses.visible[..., None], poses.points, 0).sum(axis=1)
    return np.asarray(np.divide(sums, count, out=np.full(sums.shape, np.nan), where=count > 0))


@checked
def centroid(
    left: Centroids,
    left_rows: NDArray[np.intp],
    right: Centroids,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,  # noqa: ARG001 - part of the `Compare` signature
) -> NDArray[np.float64]:
    """Compute 1 - (distance of two centroids in pixels / diagonal of the image), at least 0 (KαLOS §3.3).

    For annotations in images of different sizes, which only calibration compares, the diagonal of the left annotation's
    image is used.

    Parameters
    ----------
    left, right : Centroids
    left_rows, right_rows : (P,) int
    floor : float
        Ignored: points are cheap to compare.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where an outline or mask has no area or a pose has no labelled keypoint, even compared with itself.

    Examples
    --------
    >>> boxes = Boxes.from_xywh([[0, 0, 10, 10], [30, 40, 10, 10]])
    >>> centroids = Centroids(boxes, np.array([100.0, 100.0]))
    >>> centroid(centroids, np.array([0, 0]), centroids, np.array([0, 1])).tolist()
    [1.0, 0.5]
    """
    away = np.hypot(*(left.points[left_rows] - right.points[right_rows]).T)
    return np.asarray(np.nan_to_num(np.maximum(1 - away / left.diagonal[left_rows], 0.0), nan=0.0))
