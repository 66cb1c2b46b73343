"""What annotated rings enclose, as shapely geometries: repaired where a ring crosses itself, and joined."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray


def enclose(points: NDArray[np.float64], ring_start: NDArray[np.intp]) -> tuple[NDArray[np.object_], int]:
    """What each ring encloses, and how many of them crossed themselves and were repaired.

    Not for several threads: `shapely.is_valid` keeps warnings from being shown meanwhile, in all of them.

    Parameters
    ----------
    points : (V, 2) float64
    ring_start : (G + 1,) int
        Ring g has the vertices ``ring_start[g]:ring_start[g + 1]``, at least three.

    Returns
    -------
    (G,) object, int
        Valid polygons and multipolygons; of what a repair leaves, only the polygonal parts.

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
    """(V,) False for points at which a ring runs straight on: it encloses the same without them.

    All points of a ring that would have fewer than four left are kept.

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
    """(M,) unions of M runs of geometries stored back to back; the empty polygon for a run of none.

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
    """The polygonal parts of a repaired geometry; points and lines left by the repair enclose nothing."""
    parts = shapely.get_parts(shapely.get_parts(geometry))  # a collection may hold multipolygons
    return shapely.union_all(parts[shapely.get_dimensions(parts) == 2])
