"""A view of a column of shapes through a list of rows: rows may repeat, and no shape is copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.shapes.kinds import ShapeColumn


@dataclass(frozen=True, eq=False)
class Borrowed:
    """N shapes of another column.

    Parameters
    ----------
    column : shape column
    rows : (N,) int
        Rows of the column, in order; rows may repeat.

    Examples
    --------
    >>> from kalos_core.shapes import Boxes
    >>> twice = Borrowed(Boxes.from_xywh([[0, 0, 2, 2], [0, 0, 3, 3]]), np.array([1, 1, 0]))
    >>> len(twice), twice.area().tolist(), twice.take(np.array([2])).area().tolist()
    (3, [9.0, 9.0, 4.0], [4.0])
    """

    column: ShapeColumn
    rows: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: NDArray[np.intp]) -> ShapeColumn:
        """Return the shapes of the given rows as a column."""
        return self.column.take(self.rows[rows])

    def absent(self) -> NDArray[np.bool_]:
        """Return an (N,) mask of rows without a shape."""
        return self.column.absent()[self.rows]

    def bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) bounds, see `ShapeColumn.bounds`."""
        return self.column.bounds()[self.rows]

    def outline_bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) bounds of the outlines, see `ShapeColumn.outline_bounds`."""
        return self.column.outline_bounds()[self.rows]

    def area(self) -> NDArray[np.float64]:
        """Return the (N,) areas in square pixels."""
        return self.column.area()[self.rows]

    def union(self, rows: NDArray[np.intp]) -> ShapeColumn:
        """Return C shapes, each the union of the m shapes of one line of `rows` (C, m)."""
        return self.column.union(self.rows[rows])

    def tie_keys(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Return the sort keys of the given rows, see `ShapeColumn.tie_keys`."""
        return self.column.tie_keys(self.rows[rows])
