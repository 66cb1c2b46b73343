"""Polygons of one or several rings; rings that cross themselves are repaired."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import expand_runs, in_threads, run_starts
from kalos_core.shapes.regions import enclose, join_runs

POLYGONS_A_THREAD = 256


@dataclass(frozen=True, eq=False)
class Polygons:
    """N polygons, each of any number of rings; the rings of one annotation are parts, joined by union.

    The rings are kept as annotated. `geometries`, computed on first use, holds the regions they enclose: a ring that
    crosses or touches itself is repaired (`shapely.make_valid`; a self-touching "keyhole" becomes a hole), and only its
    polygonal parts count. A ring without area encloses nothing.

    Parameters
    ----------
    points : (V, 2) float64
        x, y in pixels of all vertices of all rings, rings implicitly closed.
    ring_start : (G + 1,) int
        Ring g has the vertices ``ring_start[g]:ring_start[g + 1]``.
    part_start : (N + 1,) int
        Annotation n has the rings ``part_start[n]:part_start[n + 1]``; without rings, it has no polygon.

    Examples
    --------
    >>> polygons = Polygons.from_rings([[[0, 0, 4, 0, 4, 2, 0, 2]], [[0, 0, 1, 0, 1, 1], [5, 5, 6, 5, 6, 6]]])
    >>> polygons.area().tolist()
    [8.0, 1.0]
    >>> polygons.bounds()[1].tolist()
    [0.0, 0.0, 6.0, 6.0]
    >>> len(Polygons.from_rings([]))
    0
    """

    points: NDArray[np.float64]
    ring_start: NDArray[np.intp]
    part_start: NDArray[np.intp]

    @classmethod
    def from_rings(cls, rings: Iterable[Sequence[ArrayLike]]) -> Polygons:
        """Return polygons from N lists of rings; a ring is x1, y1, x2, y2, ... (COCO) or a list of (x, y)."""
        per_annotation = list(rings)
        flat = [np.asarray(ring, dtype=np.float64).reshape(-1, 2) for parts in per_annotation for ring in parts]
        points = np.concatenate(flat) if flat else np.zeros((0, 2))
        return cls(
            points,
            run_starts([len(ring) for ring in flat]),
            run_starts([len(parts) for parts in per_annotation]),
        )

    def __len__(self) -> int:
        return len(self.part_start) - 1

    def rings(self, row: int) -> list[NDArray[np.float64]]:
        """Return the rings of one annotation as annotated, each (V, 2)."""
        first, last = self.part_start[row], self.part_start[row + 1]
        return [self.points[self.ring_start[g] : self.ring_start[g + 1]] for g in range(first, last)]

    def absent(self) -> NDArray[np.bool_]:
        """Return an (N,) mask of annotations without a polygon."""
        return np.equal(np.diff(self.part_start), 0)

    def take(self, rows: NDArray[np.intp]) -> Polygons:
        """Return the polygons of the given rows."""
        parts, vertices = np.diff(self.part_start), np.diff(self.ring_start)
        rings = expand_runs(self.part_start[rows], parts[rows])[1]
        points = expand_runs(self.ring_start[rings], vertices[rings])[1]
        taken = Polygons(self.points[points], run_starts(vertices[rings]), run_starts(parts[rows]))
        if "geometries" in self.__dict__:  # reuse cached geometries
            taken.__dict__["geometries"] = self.geometries[rows]
        return taken

    @cached_property
    def geometries(self) -> NDArray[np.object_]:
        """(N,) valid shapely geometries; an empty polygon where nothing is enclosed."""
        return self._built[0]

    @cached_property
    def repaired(self) -> int:
        """Number of rings that crossed themselves and were repaired."""
        return self._built[1]

    @cached_property
    def _built(self) -> tuple[NDArray[np.object_], int]:
        rings, repaired = enclose(self.points, self.ring_start)

        def joined(rows: slice) -> NDArray[np.object_]:
            part_start = self.part_start[rows.start : rows.stop + 1]
            return join_runs(rings[part_start[0] : part_start[-1]], part_start - part_start[0])

        return np.concatenate(in_threads(joined, len(self), POLYGONS_A_THREAD)), repaired

    @cached_property
    def hulls(self) -> NDArray[np.object_]:
        """(N,) convex hulls of `geometries`."""
        return np.asarray(shapely.convex_hull(self.geometries))

    @cached_property
    def _bounds(self) -> NDArray[np.float64]:
        return shapely.bounds(self.geometries)

    @cached_property
    def _area(self) -> NDArray[np.float64]:
        return shapely.area(self.geometries)

    def bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) bounds of `geometries`; NaN where nothing is enclosed."""
        return self._bounds

    def outline_bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) bounds of the vertices as annotated, even if they enclose nothing; NaN without any."""
        bounds = np.full((len(self), 4), np.nan)
        present = ~self.absent()
        if present.any():
            # rings are stored back to back, so an annotation's vertices are one run
            first_vertex = self.ring_start[self.part_start[:-1][present]]
            bounds[present, :2] = np.minimum.reduceat(self.points, first_vertex)
            bounds[present, 2:] = np.maximum.reduceat(self.points, first_vertex)
        return bounds

    def area(self) -> NDArray[np.float64]:
        """Return the (N,) enclosed areas in square pixels, holes subtracted, overlapping parts counted once."""
        return self._area

    def union(self, rows: NDArray[np.intp]) -> Polygons:
        """Return C polygons, each the geometric union of the m polygons of one line of `rows` (C, m)."""
        joined = np.asarray(shapely.union_all(self.geometries[rows], axis=1))
        return Polygons.from_geometries(joined)

    @classmethod
    def from_geometries(cls, geometries: NDArray[np.object_]) -> Polygons:
        """Return polygons from N shapely (multi)polygons; `rings` has the exteriors, only `geometries` the holes."""
        outlines = [
            [shapely.get_coordinates(shapely.get_exterior_ring(part))[:-1] for part in shapely.get_parts(geometry)]
            for geometry in geometries
        ]
        made = cls.from_rings([[ring for ring in parts if len(ring)] for parts in outlines])
        made.__dict__["geometries"] = geometries
        return made

    def tie_keys(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Return bounds and area, then a rank of the normalized geometry."""
        shapes = shapely.to_wkb(shapely.normalize(self.geometries[rows]))
        digest = np.unique(shapes, return_inverse=True)[1] if len(rows) else np.zeros(0, np.intp)
        bounds = np.nan_to_num(self.bounds()[rows], nan=-np.inf)
        return [*bounds.T, self.area()[rows], digest]
