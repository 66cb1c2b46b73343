"""Regions enclosed by annotated rings, as shapely geometries: repaired if a ring crosses itself, and joined."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray


def enclose(points: NDArray[np.float64], ring_start: NDArray[np.intp]) -> tuple[NDArray[np.object_], int]:
    """Return the region that each ring encloses, and the number of self-crossing rings that were repaired.

    Do not call it from several threads: `shapely.is_valid` suppresses the warnings of all threads while it runs.

    Parameters
    ----------
    points : (V, 2) float64
    ring_start : (G + 1,) int
        Ring g has the vertices ``ring_start[g]:ring_start[g + 1]``, at least three.

    Returns
    -------
    (G,) object, int
        Valid polygons and multipolygons; only the polygonal parts of a repaired ring are kept.

    Examples
    --------
    >>> bow_tie = np.array([[0.0, 0], [2, 2], [2, 0], [0, 2]])
    >>> shapes, repaired = enclose(bow_tie, np.array([0, 4]))
    >>> shapely.area(shapes).tolist(), repaired
    ([2.0], 1)
    """
    ring_of_point = np.repeat(np.arange(len(ring_start) - 1), np.diff(ring_start))
    rings = np.asarray(shapely.polygons(shapely.linearrings(points, indices=ring_of_point)))
    broken = np.flatnonzero(~shapely.is_valid(rings))
    for ring in broken:
        rings[ring] = _polygonal(shapely.make_valid(rings[ring]))
    return rings, len(broken)


def corners(points: NDArray[np.float64], ring_start: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return a (V,) mask that is False at points where a ring continues straight; they do not change the region.

    If fewer than four points of a ring would be left, all of them are kept.

    Examples
    --------
    >>> corners(np.array([[0.0, 0], [1, 0], [2, 0], [2, 2], [0, 2]]), np.array([0, 5])).tolist()
    [True, False, True, True, True]
    """
    if not len(points):
        return np.zeros(0, np.bool_)
    ring = np.repeat(np.arange(len(ring_start) - 1), np.diff(ring_start))
    before, after = np.arange(len(points)) - 1, np.arange(len(points)) + 1
    before[ring_start[:-1]], after[ring_start[1:] - 1] = ring_start[1:] - 1, ring_start[:-1]
    to, on = points - points[before], points[after] - points
    straight = (to[:, 0] * on[:, 1] == to[:, 1] * on[:, 0]) & ((to * on).sum(axis=1) > 0)
    few = np.bincount(ring, weights=~straight) < 4
    return np.asarray(~straight | few[ring])


def join_runs(shapes: NDArray[np.object_], run_start: NDArray[np.intp]) -> NDArray[np.object_]:
    """Return the (M,) unions of M runs of geometries stored back to back; an empty polygon for an empty run.

    Examples
    --------
    >>> squares = shapely.box([0, 1, 5], 0, [2, 3, 6], 1)
    >>> shapely.area(join_runs(squares, np.array([0, 2, 2, 3]))).tolist()
    [3.0, 0.0, 1.0]
    """
    count = np.diff(run_start)
    joined = np.full(len(count), shapely.Polygon(), dtype=object)
    joined[count == 1] = shapes[run_start[:-1][count == 1]]
    for several in np.unique(count[count > 1]):
        rows = np.flatnonzero(count == several)
        joined[rows] = shapely.union_all(shapes[run_start[rows, None] + np.arange(several)], axis=1)
    return joined


def _polygonal(geometry: shapely.Geometry) -> shapely.Geometry:
    """Return the polygonal parts of a repaired geometry, without the points and lines that a repair may leave."""
    parts = shapely.get_parts(shapely.get_parts(geometry))  # a collection may hold multipolygons
    return shapely.union_all(parts[shapely.get_dimensions(parts) == 2])
