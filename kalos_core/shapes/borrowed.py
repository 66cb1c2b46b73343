"""A column of shapes seen through a list of rows: a shape may stand in it often and is never copied."""

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
        Which of its shapes, in the order wanted.

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
        """The shapes of the given rows, as a column of their own."""
        return self.column.take(self.rows[rows])

    def absent(self) -> NDArray[np.bool_]:
        """(N,) True where there is no shape."""
        return self.column.absent()[self.rows]

    def bounds(self) -> NDArray[np.float64]:
        """(N, 4) as of the column."""
        return self.column.bounds()[self.rows]

    def outline_bounds(self) -> NDArray[np.float64]:
        """(N, 4) as of the column."""
        return self.column.outline_bounds()[self.rows]

    def area(self) -> NDArray[np.float64]:
        """(N,) as of the column."""
        return self.column.area()[self.rows]

    def union(self, rows: NDArray[np.intp]) -> ShapeColumn:
        """C shapes, each the union of the m shapes of one line of `rows` (C, m)."""
        return self.column.union(self.rows[rows])

    def tie_keys(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """As of the column."""
        return self.column.tie_keys(self.rows[rows])
