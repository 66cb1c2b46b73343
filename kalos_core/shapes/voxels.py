"""Sets of voxels on a common grid, as sorted cell numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs, find_sorted, run_starts

Grid = tuple[int, int, int]
"""Planes, rows and columns of a grid."""


@dataclass(frozen=True, eq=False)
class Voxels:
    """N sets of cells of one grid.

    Parameters
    ----------
    cell : (W,) int
        Cell numbers, ascending within a set: ``(plane * rows + row) * columns + column``.
    start : (N + 1,) int
        Set n has the cells ``start[n]:start[n + 1]``.
    grid : (planes, rows, columns)

    Examples
    --------
    >>> sets = Voxels(np.array([0, 1, 1, 2]), np.array([0, 2, 4]), (1, 1, 3))
    >>> sets.area().tolist(), sets.union(np.array([[0, 1]])).cell.tolist()
    ([2.0, 2.0], [0, 1, 2])
    >>> sets.shared(np.array([0]), sets, np.array([1])).tolist()
    [1]
    """

    cell: NDArray[np.intp]
    start: NDArray[np.intp]
    grid: Grid

    @classmethod
    def of_members(cls, owner: NDArray[np.intp], cell: NDArray[np.intp], sets: int, grid: Grid) -> Voxels:
        """Return sets from (W,) cells and the set that each belongs to, in any order, with or without duplicates."""
        key = np.unique(owner * np.prod(grid) + cell)
        owners, cells = np.divmod(key, np.prod(grid))
        return cls(cells, run_starts(np.bincount(owners, minlength=sets)), grid)

    def __len__(self) -> int:
        return len(self.start) - 1

    def take(self, rows: NDArray[np.intp]) -> Voxels:
        """Return the sets of the given rows."""
        count = np.diff(self.start)[rows]
        return Voxels(self.cell[expand_runs(self.start[rows], count)[1]], run_starts(count), self.grid)

    def area(self) -> NDArray[np.float64]:
        """Return the (N,) numbers of cells."""
        return np.diff(self.start).astype(np.float64)

    def union(self, rows: NDArray[np.intp]) -> Voxels:
        """Return C sets, each the union of the m sets of one line of `rows` (C, m)."""
        chosen = rows.reshape(-1)
        member, position = expand_runs(self.start[chosen], np.diff(self.start)[chosen])
        return Voxels.of_members(member // max(rows.shape[1], 1), self.cell[position], len(rows), self.grid)

    @cached_property
    def bounds(self) -> NDArray[np.intp]:
        """(N, 6) first plane, row and column of each set, then the last ones + 1; zeros for an empty set."""
        bounds = np.zeros((len(self), 6), np.intp)
        filled = np.diff(self.start) > 0
        if filled.any():
            index = np.stack(np.unravel_index(self.cell, self.grid), axis=1)
            first = self.start[:-1][filled]  # empty sets have no cells in between
            bounds[filled, :3] = np.minimum.reduceat(index, first)
            bounds[filled, 3:] = np.maximum.reduceat(index, first) + 1
        return bounds

    def shared(self, rows: NDArray[np.intp], other: Voxels, other_rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the (P,) numbers of cells that set `rows[p]` shares with set `other_rows[p]` of another column."""
        size = int(np.prod(self.grid))
        pair, position = expand_runs(self.start[rows], np.diff(self.start)[rows])
        owner = np.repeat(np.arange(len(other)), np.diff(other.start))
        found = find_sorted(owner * size + other.cell, other_rows[pair] * size + self.cell[position]) >= 0
        return np.bincount(pair[found], minlength=len(rows))


def fill_polygons(
    vertex: NDArray[np.intp], polygon_start: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the cells of polygons whose vertices are cells: those inside, on an edge or at a vertex.

    A cell is inside if a ray from it crosses the outline an odd number of times. It is on an edge if rays to the left
    and to the right disagree in parity (O'Rourke 1998, chapter 7). The integer arithmetic is exact, and the result
    equals `skimage.draw.polygon`.

    Parameters
    ----------
    vertex : (V, 2) int
        Row and column of the vertices of all polygons.
    polygon_start : (G + 1,) int
        Polygon g has the vertices ``polygon_start[g]:polygon_start[g + 1]``, at least one.

    Returns
    -------
    polygon, row, column : (W,) int
        Each cell of each polygon once.

    Examples
    --------
    >>> polygon, row, column = fill_polygons(np.array([[0, 0], [0, 2], [2, 0]]), np.array([0, 3]))
    >>> list(zip(row.tolist(), column.tolist()))
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]
    """
    if len(polygon_start) == 1:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.intp)
    low, high = np.minimum.reduceat(vertex, polygon_start[:-1]), np.maximum.reduceat(vertex, polygon_start[:-1])
    height, width = (high - low + [1, 2]).T  # one more column, for crossings beyond the last cell
    first = run_starts(height * width)
    before = np.arange(len(vertex)) - 1
    before[polygon_start[:-1]] = polygon_start[1:] - 1
    owner = np.repeat(np.arange(len(low)), np.diff(polygon_start))
    # an edge crosses the rows from its lower end to its upper end, exclusive
    bottom, top = np.minimum(vertex[:, 0], vertex[before, 0]), np.maximum(vertex[:, 0], vertex[before, 0])
    edge, row = expand_runs(bottom, top - bottom)
    (y0, x0), (y1, x1) = vertex[edge].T, vertex[before[edge]].T
    base = first[owner[edge]] - low[owner[edge], 1]
    line = (row - low[owner[edge], 0]) * width[owner[edge]]
    right_of = -((x0 * (y1 - y0) + (row - y0) * (x1 - x0)) // (y0 - y1))  # first column not left of the crossing
    left_of = (x0 * (y1 - y0) + (row + 1 - y0) * (x1 - x0)) // (y1 - y0) + 1
    # every row has an even number of crossings, so that cumulative counts may continue from row to row
    odd_right = np.cumsum(np.bincount(base + line + right_of, minlength=first[-1])) % 2
    odd_left = np.cumsum(np.bincount(base + line + width[owner[edge]] + left_of, minlength=first[-1])) % 2
    filled = (odd_right == 1) | (odd_left == 1)
    filled[first[owner] + (vertex[:, 0] - low[owner, 0]) * width[owner] + vertex[:, 1] - low[owner, 1]] = True
    cell = np.flatnonzero(filled)
    polygon = np.searchsorted(first, cell, side="right") - 1
    row, column = np.divmod(cell - first[polygon], width[polygon])
    return polygon, low[polygon, 0] + row, low[polygon, 1] + column
