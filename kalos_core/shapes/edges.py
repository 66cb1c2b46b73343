"""Outlines as edges, and the exact shared areas of many pairs of small regions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs, run_starts, total

BLOCK = 1 << 12
"""Number of edges processed at a time, few enough for the temporary arrays to stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of Q regions, each from left to right, without vertical edges, which bound no area.

    Parameters
    ----------
    start : (Q + 1,) int
        Region q has the edges ``start[q]:start[q + 1]``, sorted by their left ends.
    left, right : (E,) float64
        x of both ends.
    height : (E,) float64
        y at the left end.
    slope : (E,) float64
    sign : (E,) float64
        1 for an edge with the region below it, -1 for an edge with the region above it.

    Examples
    --------
    >>> edges = Edges.of(shapely.box([0, 1], [0, 1], [2, 4], [2, 4]))
    >>> edges.start.tolist(), edges.shared_area(np.array([0]), edges, np.array([1])).tolist()
    ([0, 2, 4], [1.0])
    """

    start: NDArray[np.intp]
    left: NDArray[np.float64]
    right: NDArray[np.float64]
    height: NDArray[np.float64]
    slope: NDArray[np.float64]
    sign: NDArray[np.float64]

    @classmethod
    def of(cls, regions: NDArray[np.object_]) -> Edges:
        """Return the edges of valid polygons and multipolygons (Q,)."""
        part, region = shapely.get_parts(regions, return_index=True)
        ring, part_of_ring = shapely.get_rings(part, return_index=True)
        is_outer = np.diff(part_of_ring, prepend=-1) > 0  # the first ring of a part; the following rings are holes
        is_left = shapely.is_ccw(ring) == is_outer  # whether the region lies to the left of the direction of the ring
        points, ring_of_point = shapely.get_coordinates(ring, return_index=True)
        x, y = points.T
        first = np.flatnonzero((ring_of_point[1:] == ring_of_point[:-1]) & (x[1:] != x[:-1]))
        ring_of_edge = ring_of_point[first]
        owner = region[part_of_ring[ring_of_edge]]
        begin, end = x[first], x[first + 1]
        left = np.minimum(begin, end)
        order = np.lexsort((left, owner))
        first, begin, end, left = first[order], begin[order], end[order], left[order]
        forward, high, further = end > begin, y[first], y[first + 1]
        return cls(
            run_starts(np.bincount(owner, minlength=len(regions))),
            left,
            np.maximum(begin, end),
            np.where(forward, high, further),
            (further - high) / (end - begin),
            np.where(forward == is_left[ring_of_edge[order]], -1.0, 1.0),
        )

    def shared_area(self, rows: NDArray[np.intp], other: Edges, other_rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the (P,) areas that region `rows[p]` shares with region `other_rows[p]` of another column.

        The signs of a region's edges above a point sum to 1 if the point lies in the region, else to 0. The integral
        of the product of two such sums is a sum over pairs of edges: the area below both edges, times the product of
        their signs.
        """
        work = np.diff(self.start)[rows] + np.diff(other.start)[other_rows]
        block = np.cumsum(work) // BLOCK
        cuts = np.flatnonzero(np.diff(block)) + 1
        parts = np.split(np.arange(len(rows)), cuts)
        return np.concatenate([self._shared(rows[part], other, other_rows[part]) for part in parts])

    def _shared(self, rows: NDArray[np.intp], other: Edges, other_rows: NDArray[np.intp]) -> NDArray[np.float64]:
        pair_a, a = expand_runs(self.start[rows], np.diff(self.start)[rows])
        pair_b, b = expand_runs(other.start[other_rows], np.diff(other.start)[other_rows])
        i, j = _above_one_another(pair_a, self.left[a], self.right[a], pair_b, other.left[b], other.right[b])
        pair, a, b = pair_a[i], a[i], b[j]
        left = np.maximum(self.left[a], other.left[b])
        width = np.minimum(self.right[a], other.right[b]) - left
        # heights may be measured from any level, since the signs of a region's edges cancel at every x
        level = self.height[self.start[rows[pair]]]
        height_a = self.height[a] - level + self.slope[a] * (left - self.left[a])
        height_b = other.height[b] - level + other.slope[b] * (left - other.left[b])
        further_a, further_b = height_a + self.slope[a] * width, height_b + other.slope[b] * width
        lower = np.minimum(height_a, height_b) + np.minimum(further_a, further_b)
        before, after = height_a - height_b, further_a - further_b
        crossing = np.flatnonzero(before * after < 0)
        before, after = np.abs(before[crossing]), np.abs(after[crossing])
        lower[crossing] += before * after / (before + after)
        return total(pair, self.sign[a] * other.sign[b] * lower * width / 2, len(rows))


def _above_one_another(
    pair_a: NDArray[np.intp],
    left_a: NDArray[np.float64],
    right_a: NDArray[np.float64],
    pair_b: NDArray[np.intp],
    left_b: NDArray[np.float64],
    right_b: NDArray[np.float64],
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions (in a, in b) of edges of one pair whose x ranges overlap.

    Edges are sorted by pair, then by their left ends. Two ranges overlap if the later one begins within the other.
    """
    levels, rank = np.unique(np.concatenate([left_a, left_b]), return_inverse=True)
    steps = len(levels) + 1  # one more, for right ends beyond all left ends
    begin_a, begin_b = pair_a * steps + rank[: len(left_a)], pair_b * steps + rank[len(left_a) :]
    end_a, end_b = pair_a * steps + np.searchsorted(levels, right_a), pair_b * steps + np.searchsorted(levels, right_b)
    first = np.searchsorted(begin_b, begin_a)
    a, later_b = expand_runs(first, np.searchsorted(begin_b, end_a) - first)
    first = np.searchsorted(begin_a, begin_b, side="right")
    b, later_a = expand_runs(first, np.searchsorted(begin_a, end_b) - first)
    return np.concatenate([a, later_a]), np.concatenate([later_b, b])
