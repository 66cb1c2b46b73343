"""Cuboids in a scene: 3D boxes of any orientation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
"""(8, 3) corners of the unit cube around the origin."""


@dataclass(frozen=True, eq=False)
class Cuboids:
    """N cuboids, in the units of their scene, as FiftyOne stores 3D detections.

    Parameters
    ----------
    location : (N, 3) float64
        Centre x, y, z; NaN where an annotation has no cuboid.
    dimensions : (N, 3) float64
        Size along the cuboid's own x, y and z axis.
    rotation : (N, 3) float64
        Angles in radians about the x, y and z axis. The cuboid is rotated about the scene's z axis first, then y, then
        x: by the matrix Rx Ry Rz. This is the convention of the App and of
        `fiftyone.utils.utils3d.corners_from_euler`.

    Examples
    --------
    >>> cuboids = Cuboids.from_rows([[0, 0, 0, 2, 4, 6, 0, 0, np.pi / 2]])
    >>> cuboids.volume().tolist(), cuboids.extent().round(9).tolist()
    ([48.0], [[-2.0, -1.0, -3.0, 2.0, 1.0, 3.0]])
    """

    location: NDArray[np.float64]
    dimensions: NDArray[np.float64]
    rotation: NDArray[np.float64]

    @classmethod
    def from_rows(cls, rows: ArrayLike) -> Cuboids:
        """Return cuboids from (N, 9) numbers: location, dimensions, rotation."""
        values = np.asarray(rows, dtype=np.float64).reshape(-1, 9)
        return cls(values[:, :3], values[:, 3:6], values[:, 6:])

    def rows(self) -> NDArray[np.float64]:
        """Return (N, 9) location, dimensions, rotation."""
        return np.concatenate([self.location, self.dimensions, self.rotation], axis=1)

    def __len__(self) -> int:
        return len(self.location)

    def take(self, rows: NDArray[np.intp]) -> Cuboids:
        """Return the cuboids of the given rows."""
        return Cuboids(self.location[rows], self.dimensions[rows], self.rotation[rows])

    def absent(self) -> NDArray[np.bool_]:
        """Return an (N,) mask of annotations without a cuboid."""
        return np.asarray(np.isnan(self.rows()).any(axis=1))

    @cached_property
    def axes(self) -> NDArray[np.float64]:
        """(N, 3, 3) rotation matrices: column k is the cuboid's own axis k in the scene."""
        about_x, about_y, about_z = (_turn(axis, angle) for axis, angle in enumerate(self.rotation.T))
        return np.asarray(about_x @ about_y @ about_z)

    def corners(self) -> NDArray[np.float64]:
        """Return (N, 8, 3) corners in the scene."""
        own = CORNERS * self.dimensions[:, None, :]
        return self.location[:, None, :] + own @ self.axes.transpose(0, 2, 1)

    @cached_property
    def _extent(self) -> NDArray[np.float64]:
        corners = self.corners()
        return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)

    def extent(self) -> NDArray[np.float64]:
        """Return the (N, 6) smallest boxes along the scene's axes: x, y, z of the lowest and highest corner."""
        return self._extent

    def bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) NaN: a cuboid lies in a scene, not in an image; see `extent`."""
        return np.full((len(self), 4), np.nan)

    def outline_bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) NaN, like `bounds`."""
        return self.bounds()

    def area(self) -> NDArray[np.float64]:
        """Return the (N,) volumes, in place of areas."""
        return self.volume()

    def volume(self) -> NDArray[np.float64]:
        """Return the (N,) volumes in cubic units of the scene."""
        return np.asarray(self.dimensions.prod(axis=1))

    def union(self, rows: NDArray[np.intp]) -> Cuboids:
        """Return C axis-aligned cuboids, each the smallest that encloses the m cuboids of one line of `rows` (C, m)."""
        low, high = np.split(self.extent()[rows], 2, axis=2)
        low, high = low.min(axis=1), high.max(axis=1)
        return Cuboids((low + high) / 2, high - low, np.zeros_like(low))

    def tie_keys(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Return the nine numbers of each row."""
        return list(self.rows()[rows].T)


def _turn(axis: int, angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (N, 3, 3) rotations by (N,) angles about one axis, counterclockwise seen from its positive end."""
    matrix = np.tile(np.eye(3), (len(angle), 1, 1))
    first, second = (axis + 1) % 3, (axis + 2) % 3
    matrix[:, first, first] = matrix[:, second, second] = np.cos(angle)
    matrix[:, second, first] = np.sin(angle)
    matrix[:, first, second] = -np.sin(angle)
    return matrix
