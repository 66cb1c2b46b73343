"""Outlines as edges, and the area that two regions share: exact, many small pairs at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs, run_starts, total

BLOCK = 1 << 17
"""Pairs of edges compared at a time: small enough for their temporary arrays to stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of Q regions, each from left to right; upright ones bound no area and are left out.

    Parameters
    ----------
    start : (Q + 1,) int
        Region q has the edges ``start[q]:start[q + 1]``.
    left, right : (E,) float64
        x of both ends.
    height : (E,) float64
        y at the left end.
    slope : (E,) float64
    sign : (E,) float64
        1 for an edge that has the region below it, -1 for one that has it above.

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
        """Edges of valid polygons and multipolygons (Q,)."""
        part, region = shapely.get_parts(
            shapely.normalize(regions), return_index=True
        )  # clockwise, holes the other way
        ring, part_of_ring = shapely.get_rings(part, return_index=True)
        points, ring_of_point = shapely.get_coordinates(ring, return_index=True)
        first = np.flatnonzero((ring_of_point[1:] == ring_of_point[:-1]) & (points[1:, 0] != points[:-1, 0]))
        begin, end = points[first], points[first + 1]
        forward = end[:, 0] > begin[:, 0]
        low, high = np.where(forward[:, None], begin, end), np.where(forward[:, None], end, begin)
        owner = region[part_of_ring[ring_of_point[first]]]
        return cls(
            run_starts(np.bincount(owner, minlength=len(regions))),
            low[:, 0],
            high[:, 0],
            low[:, 1],
            (high[:, 1] - low[:, 1]) / (high[:, 0] - low[:, 0]),
            np.where(forward, 1.0, -1.0),
        )

    def shared_area(self, rows: NDArray[np.intp], other: Edges, other_rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """(P,) area that region `rows[p]` shares with region `other_rows[p]` of another column.

        A point lies in a region if more of its edges with the region below than with the region above pass over the
        point, namely one. The product of that for two regions, integrated, is a sum over pairs of edges: the area below
        both, counted by the product of their signs.
        """
        work = np.diff(self.start)[rows] * np.diff(other.start)[other_rows]
        block = np.cumsum(work) // BLOCK
        cuts = np.flatnonzero(np.diff(block)) + 1
        parts = np.split(np.arange(len(rows)), cuts)
        return np.concatenate([self._shared(rows[part], other, other_rows[part]) for part in parts])

    def _shared(self, rows: NDArray[np.intp], other: Edges, other_rows: NDArray[np.intp]) -> NDArray[np.float64]:
        pair, a = expand_runs(self.start[rows], np.diff(self.start)[rows])
        owner, b = expand_runs(other.start[other_rows[pair]], np.diff(other.start)[other_rows[pair]])
        a, pair = a[owner], pair[owner]
        left = np.maximum(self.left[a], other.left[b])
        width = np.minimum(self.right[a], other.right[b]) - left
        common = np.flatnonzero(width > 0)
        a, b, pair, left, width = a[common], b[common], pair[common], left[common], width[common]
        # heights above any one level may be taken, since the signs of a region's edges cancel at every x
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
