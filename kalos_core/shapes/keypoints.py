"""Keypoints: the joints of a pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Keypoints:
    """N poses of J keypoints each.

    Parameters
    ----------
    points : (N, J, 2) float64
        x, y in pixels; NaN where a keypoint is not labelled.
    visible : (N, J) bool
        Whether a keypoint is labelled: whether its rater gave its position, occluded or not.
    size : (N, 2) float64
        Width and height of each annotation's image, NaN where unknown.
    present : (N,) bool
        Whether an annotation has a pose at all; a pose may have no labelled keypoint.

    Examples
    --------
    >>> points = np.array([[[10.0, 20.0], [30.0, 25.0], [np.nan, np.nan]]])
    >>> pose = Keypoints(points, ~np.isnan(points[..., 0]), np.array([[640.0, 480.0]]), np.array([True]))
    >>> pose.bounds().tolist(), pose.area().tolist()
    ([[10.0, 20.0, 30.0, 25.0]], [100.0])
    """

    points: NDArray[np.float64]
    visible: NDArray[np.bool_]
    size: NDArray[np.float64]
    present: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.points)

    def take(self, rows: NDArray[np.intp]) -> Keypoints:
        """Return the poses of the given rows."""
        return Keypoints(self.points[rows], self.visible[rows], self.size[rows], self.present[rows])

    def absent(self) -> NDArray[np.bool_]:
        """Return an (N,) mask of annotations without keypoints."""
        return ~self.present

    def bounds(self) -> NDArray[np.float64]:
        """Return the (N, 4) smallest boxes around the labelled keypoints; NaN without any."""
        low = np.where(self.visible[..., None], self.points, np.inf).min(axis=1, initial=np.inf)
        high = np.where(self.visible[..., None], self.points, -np.inf).max(axis=1, initial=-np.inf)
        bounds = np.concatenate([low, high], axis=1)
        bounds[~self.visible.any(axis=1)] = np.nan
        return bounds

    def outline_bounds(self) -> NDArray[np.float64]:
        """Return the same as `bounds`."""
        return self.bounds()

    def area(self) -> NDArray[np.float64]:
        """Return the (N,) areas of the bounds in square pixels; 0 without labelled keypoints."""
        bounds = np.nan_to_num(self.bounds())
        return np.asarray((bounds[:, 2:] - bounds[:, :2]).prod(axis=1))

    def union(self, rows: NDArray[np.intp]) -> Keypoints:
        """Return C poses, each the mean of the labelled keypoints of the m poses of one line of `rows` (C, m)."""
        visible = self.visible[rows]
        count = visible.sum(axis=1)
        points = np.where(visible[..., None], self.points[rows], 0).sum(axis=1)
        points = np.divide(points, count[..., None], out=np.full_like(points, np.nan), where=count[..., None] > 0)
        return Keypoints(points, count > 0, self.size[rows[:, 0]], np.asarray(self.present[rows].any(axis=1)))

    def tie_keys(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Return the coordinates of all keypoints in order; keypoints without a label sort first."""
        points = np.where(self.visible[rows, :, None], self.points[rows], -np.inf)
        return list(points.reshape(len(rows), points.shape[1] * 2).T)
