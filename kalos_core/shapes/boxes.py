"""Axis-aligned boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

LARGEST = 1e9
"""Largest coordinate in pixels, larger than any image; areas of much larger boxes would overflow."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """N axis-aligned boxes.

    Parameters
    ----------
    corners : (N, 4) float64
        x_min, y_min, x_max, y_max in pixels; NaN where an annotation has no box.

    Examples
    --------
    >>> boxes = Boxes.from_xywh([[10, 20, 30, 40]])
    >>> boxes.corners.tolist(), boxes.area().tolist()
    ([[10.0, 20.0, 40.0, 60.0]], [1200.0])
    >>> len(Boxes.from_xywh([]))
    0
    """

    corners: NDArray[np.float64]

    @classmethod
    def from_xywh(cls, xywh: ArrayLike) -> Boxes:
        """Return boxes from x, y, width, height (COCO), (N, 4) in pixels."""
        values = np.asarray(xywh, dtype=np.float64).reshape(-1, 4)
        sides = np.empty((4, len(values)))  # the memory layout of `sides`, so that it is not copied there
        sides[:2], sides[2:] = values[:, :2].T, (values[:, :2] + values[:, 2:]).T
        return cls(sides.T)

    def __len__(self) -> int:
        return len(self.corners)

    def take(self, rows: NDArray[np.intp]) -> Boxes:
        """Return the boxes of the given rows."""
        return Boxes(self.corners[rows])

    def absent(self) -> NDArray[np.bool_]:
        """Return an (N,) mask of annotations without a box."""
        return np.asarray(np.isnan(self.corners).any(axis=1))

    def bounds(self) -> NDArray[np.float64]:
        """Return the (N, 4) corners."""
        return self.corners

    def outline_bounds(self) -> NDArray[np.float64]:
        """Return the (N, 4) corners."""
        return self.corners

    def xywh(self) -> NDArray[np.float64]:
        """Return (N, 4) x, y, width, height in pixels, the order of COCO and FiftyOne."""
        corners = np.ascontiguousarray(self.corners)  # pycocotools ignores strides
        return np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1)

    @cached_property
    def sides(self) -> NDArray[np.float64]:
        """(4, N) transposed corners: all x_min, all y_min, all x_max, all y_max."""
        return np.ascontiguousarray(self.corners.T)

    @cached_property
    def _area(self) -> NDArray[np.float64]:
        x_min, y_min, x_max, y_max = self.sides
        return np.asarray((x_max - x_min) * (y_max - y_min))

    def area(self) -> NDArray[np.float64]:
        """Return the (N,) areas in square pixels."""
        return self._area

    def union(self, rows: NDArray[np.intp]) -> Boxes:
        """Return C boxes, each the smallest that encloses the m boxes of one line of `rows` (C, m)."""
        chosen = self.corners[rows]
        return Boxes(np.concatenate([chosen[..., :2].min(axis=1), chosen[..., 2:].max(axis=1)], axis=1))

    def tie_keys(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Return the four corner coordinates of each row."""
        return list(self.corners[rows].T)


def find_box_problems(xywh: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.intp], str]]:
    """Yield the rows of `xywh` (N, 4) that are not valid boxes, with the expected form; each row at most once."""
    finite = np.asarray((np.abs(xywh) <= LARGEST).all(axis=1))  # false for NaN
    yield np.flatnonzero(~finite), f"a box of finite numbers up to {LARGEST:.0e}"
    low, size = np.split(np.where(finite[:, None], xywh, 1.0), 2, axis=1)
    flat = (low + size <= low).any(axis=1)  # includes sides so short that rounding removes them
    yield np.flatnonzero(flat), "a box of positive width and height"
