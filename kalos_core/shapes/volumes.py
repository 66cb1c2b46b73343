"""Volumes in scans: stacks of contours, one or several per slice, some of them holes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs, run_starts, total
from kalos_core.errors import InputError
from kalos_core.shapes.edges import Edges
from kalos_core.shapes.regions import corners, enclose, join_runs
from kalos_core.shapes.voxels import Grid, Voxels, fill_polygons

COMMON_GRID: Grid = (128, 128, 128)
"""Planes, rows and columns of the grid on which the paper's code rasterises every scan (KαLOS §14.2)."""


@dataclass(frozen=True, eq=False)
class Scans:
    """S scans that contain volumes.

    Parameters
    ----------
    position : (T,) float64
        Positions of the slices of all scans along the third axis, in mm, ascending within a scan.
    start : (S + 1,) int
        Scan s has the slices ``start[s]:start[s + 1]``.
    pixel_spacing : (S,) float64
        mm per pixel, NaN where unknown.
    size : (S, 2) float64
        Width and height of a slice in pixels, NaN where unknown.
    span : (S, 2) float64
        Positions of the lowest and highest annotated slice, in mm; NaN for a scan without annotations. They define the
        third axis of relative coordinates, as in the paper's code, and do not change when annotations are selected.

    Examples
    --------
    >>> scans = Scans(
    ...     np.array([-5.0, -2.5, 0]), np.array([0, 3]), np.array([0.7]), np.full((1, 2), 512.0), np.array([[-5.0, 0]])
    ... )
    >>> scans.slice_spacing.tolist()
    [2.5]
    """

    position: NDArray[np.float64]
    start: NDArray[np.intp]
    pixel_spacing: NDArray[np.float64]
    size: NDArray[np.float64]
    span: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def slice_spacing(self) -> NDArray[np.float64]:
        """(S,) median distance of neighbouring slices in mm; NaN for fewer than two.

        Computed from slice positions, as the slice thickness recorded by a scanner may differ.
        """
        ranges = zip(self.start[:-1], self.start[1:], strict=True)
        return np.array(
            [np.median(np.diff(self.position[a:b])) if b - a > 1 else np.nan for a, b in ranges], np.float64
        )

    @cached_property
    def voxel(self) -> NDArray[np.float64]:
        """(S,) size of a voxel in mm³; 1 where either spacing is unknown, so that volumes are voxel counts."""
        return np.nan_to_num(self.pixel_spacing**2 * self.slice_spacing, nan=1.0)


@dataclass(frozen=True, eq=False)
class Sections:
    """Regions that volumes enclose in each slice: Q sections of positive area, sorted by annotation, then slice.

    Parameters
    ----------
    annotation, slice : (Q,) int
        Row of the volume, and number of the slice in its scan.
    geometry : (Q,) object
        Valid shapely geometries in normal form.
    area : (Q,) float64
        In square pixels.
    bounds : (Q, 4) float64
    """

    annotation: NDArray[np.intp]
    slice: NDArray[np.intp]
    geometry: NDArray[np.object_]
    area: NDArray[np.float64]
    bounds: NDArray[np.float64]

    @classmethod
    def of(cls, annotation: NDArray[np.intp], slice_: NDArray[np.intp], geometry: NDArray[np.object_]) -> Sections:
        """Return the non-empty sections among the given regions (Q,), which are sorted by annotation and slice."""
        normal = shapely.normalize(geometry)
        area = np.asarray(shapely.area(normal))
        some = area > 0
        return cls(
            annotation[some], slice_[some], normal[some], area[some], shapely.bounds(normal[some]).reshape(-1, 4)
        )

    @cached_property
    def edges(self) -> Edges:
        """Edges of every section."""
        return Edges.of(self.geometry)

    def take(self, chosen: NDArray[np.intp], annotation: NDArray[np.intp]) -> Sections:
        """Return the sections at the given positions, assigned to new annotations."""
        return Sections(annotation, self.slice[chosen], self.geometry[chosen], self.area[chosen], self.bounds[chosen])


@dataclass(frozen=True, eq=False)
class Volumes:
    """N volumes, each a stack of contours.

    In a slice, the region of an annotation is enclosed by its contours, minus the regions of its exclusion contours. A
    contour of fewer than three points encloses nothing. Contours that cross themselves are repaired as in `Polygons`.

    Parameters
    ----------
    points : (V, 2) float64
        x, y in pixels of all points of all contours, contours implicitly closed.
    contour_start : (G + 1,) int
        Contour g has the points ``contour_start[g]:contour_start[g + 1]``.
    slice : (G,) int
        Number of each contour's slice in its scan, from 0 at the lowest position.
    inclusion : (G,) bool
        False where a contour is the edge of a hole.
    annotation_start : (N + 1,) int
        Annotation n has the contours ``annotation_start[n]:annotation_start[n + 1]``; without any, it has no volume.
    scan : (N,) int
        Scan of each annotation.
    scans : Scans

    Examples
    --------
    A square of 4 x 4 pixels in two slices, with a hole of 2 x 2 in the second, at 0.5 mm per pixel:

    >>> square, hole = [[0, 0], [4, 0], [4, 4], [0, 4]], [[1, 1], [3, 1], [3, 3], [1, 3]]
    >>> scans = Scans(np.array([0.0, 2]), np.array([0, 2]), np.array([0.5]), np.full((1, 2), 9.0), np.array([[0.0, 2]]))
    >>> volumes = Volumes(
    ...     np.array([*square, *square, *hole], float),
    ...     np.array([0, 4, 8, 12]),
    ...     np.array([0, 1, 1]),
    ...     np.array([True, True, False]),
    ...     np.array([0, 3]),
    ...     np.array([0]),
    ...     scans,
    ... )
    >>> volumes.area().tolist(), volumes.volume().tolist(), volumes.z.tolist()
    ([28.0], [14.0], [0.0, 2.0, 2.0])
    """

    points: NDArray[np.float64]
    contour_start: NDArray[np.intp]
    slice: NDArray[np.intp]
    inclusion: NDArray[np.bool_]
    annotation_start: NDArray[np.intp]
    scan: NDArray[np.intp]
    scans: Scans

    def __len__(self) -> int:
        return len(self.annotation_start) - 1

    @cached_property
    def annotation(self) -> NDArray[np.intp]:
        """(G,) annotation of each contour."""
        return np.repeat(np.arange(len(self)), np.diff(self.annotation_start))

    @property
    def z(self) -> NDArray[np.float64]:
        """(G,) position of each contour along the third axis, in mm."""
        return np.asarray(self.scans.position[self.scans.start[self.scan[self.annotation]] + self.slice])

    @cached_property
    def flat(self) -> NDArray[np.bool_]:
        """(G,) True for contours of fewer than three points, not counting a repeated first point at the end."""
        first, last = self.contour_start[:-1], self.contour_start[1:] - 1
        closed = (self.points[first] == self.points[last]).all(axis=1) & (last > first)
        return np.asarray(np.diff(self.contour_start) - closed < 3)

    @property
    def flat_contours(self) -> int:
        """Number of contours that have fewer than three points and so enclose nothing."""
        return int(self.flat.sum())

    def take(self, rows: NDArray[np.intp]) -> Volumes:
        """Return the volumes of the given rows."""
        contours, points = np.diff(self.annotation_start), np.diff(self.contour_start)
        chosen = expand_runs(self.annotation_start[rows], contours[rows])[1]
        taken = Volumes(
            self.points[expand_runs(self.contour_start[chosen], points[chosen])[1]],
            run_starts(points[chosen]),
            self.slice[chosen],
            self.inclusion[chosen],
            run_starts(contours[rows]),
            self.scan[rows],
            self.scans,
        )
        if "sections" in self.__dict__:  # reuse cached sections
            annotation, sections = self.sections_of(rows)
            taken.__dict__["sections"] = self.sections.take(sections, annotation)
        return taken

    def absent(self) -> NDArray[np.bool_]:
        """Return an (N,) mask of annotations without a contour."""
        return np.equal(np.diff(self.annotation_start), 0)

    @cached_property
    def sections(self) -> Sections:
        """Regions that each volume encloses in each slice."""
        return self._build()[0]

    @cached_property
    def repaired(self) -> int:
        """Number of contours that crossed themselves and were repaired."""
        return self._build()[1]

    def _build(self) -> tuple[Sections, int]:
        solid = np.flatnonzero(~self.flat)
        count = np.diff(self.contour_start)[solid]
        position = expand_runs(self.contour_start[solid], count)[1]
        points, start = self.points[position], run_starts(count)
        kept = corners(points, start)
        regions, repaired = enclose(points[kept], run_starts(np.add.reduceat(kept, start[:-1])) if len(kept) else start)
        slices = int(self.slice.max(initial=0)) + 1
        key, inside = self.annotation[solid] * slices + self.slice[solid], self.inclusion[solid]
        distinct, shape = _join_equal(key[inside], regions[inside])
        hole_key, hole = _join_equal(key[~inside], regions[~inside])
        _, pierced, holes = np.intersect1d(distinct, hole_key, assume_unique=True, return_indices=True)
        shape[pierced] = shapely.difference(shape[pierced], hole[holes])
        return Sections.of(distinct // slices, distinct % slices, shape), repaired

    @cached_property
    def section_start(self) -> NDArray[np.intp]:
        """(N + 1,) offsets: annotation n has the sections ``section_start[n]:section_start[n + 1]``."""
        return run_starts(np.bincount(self.sections.annotation, minlength=len(self)))

    def sections_of(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the sections of the volumes of M rows: index into `rows`, and position in `sections`."""
        return expand_runs(self.section_start[rows], np.diff(self.section_start)[rows])

    @cached_property
    def _bounds(self) -> NDArray[np.float64]:
        return _bounds_of_runs(self.sections.bounds[:, :2], self.sections.bounds[:, 2:], self.section_start)

    def bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) bounds in x and y of the enclosed regions of all slices; NaN where nothing is enclosed."""
        return self._bounds

    def outline_bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) bounds in x and y of all points as annotated; NaN without any."""
        return _bounds_of_runs(self.points, self.points, self.contour_start[self.annotation_start])

    @cached_property
    def _area(self) -> NDArray[np.float64]:
        return total(self.sections.annotation, self.sections.area, len(self))

    def area(self) -> NDArray[np.float64]:
        """Return the (N,) total enclosed areas of all slices in square pixels: the volume in voxels."""
        return self._area

    def volume(self) -> NDArray[np.float64]:
        """Return the (N,) enclosed volumes in mm³, or in voxels where the scan's pixel or slice spacing is unknown."""
        return self.area() * self.scans.voxel[self.scan]

    def union(self, rows: NDArray[np.intp]) -> Volumes:
        """Return C volumes, each the union per slice of the m volumes of one line of `rows` (C, m), all in one scan."""
        member, section = self.sections_of(rows.reshape(-1))
        slices = int(self.sections.slice.max(initial=0)) + 1
        key = member // max(rows.shape[1], 1) * slices + self.sections.slice[section]
        distinct, shape = _join_equal(key, self.sections.geometry[section])
        sections = Sections.of(distinct // slices, distinct % slices, shape)
        return Volumes.from_sections(sections, self.scan[rows[:, 0]], self.scans)

    @classmethod
    def from_sections(cls, sections: Sections, scan: NDArray[np.intp], scans: Scans) -> Volumes:
        """Return N volumes from their sections; the edges of holes become exclusion contours."""
        part, section = shapely.get_parts(sections.geometry, return_index=True)
        rings, part_of_ring = shapely.get_rings(part, return_index=True)
        section_of_ring = section[part_of_ring]
        exterior = np.ones(len(rings), np.bool_)  # first ring of a part; its holes follow
        exterior[1:] = part_of_ring[1:] != part_of_ring[:-1]
        points, ring_of_point = shapely.get_coordinates(rings, return_index=True)
        made = cls(
            points,
            run_starts(np.bincount(ring_of_point, minlength=len(rings))),
            sections.slice[section_of_ring],
            exterior,
            run_starts(np.bincount(sections.annotation[section_of_ring], minlength=len(scan))),
            scan,
            scans,
        )
        made.__dict__["sections"] = sections
        return made

    def tie_keys(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Return bounds and area, then a rank of the outlines of all slices."""
        section = self.sections_of(rows)[1]
        outlines = shapely.to_wkb(self.sections.geometry[section])
        pieces = [
            b"%d:" % number + outline for number, outline in zip(self.sections.slice[section], outlines, strict=True)
        ]
        start = run_starts(np.diff(self.section_start)[rows])
        whole = np.empty(len(rows), dtype=object)
        whole[:] = [b"".join(pieces[a:b]) for a, b in pairwise(start)]
        digest = np.unique(whole, return_inverse=True)[1] if len(rows) else np.zeros(0, np.intp)
        return [*np.nan_to_num(self.bounds()[rows], nan=-np.inf).T, self.area()[rows], digest]

    def voxels(self, grid: Grid = COMMON_GRID) -> Voxels:
        """Rasterise the volumes on a grid that spans each scan, as in the paper's code (KαLOS §14.2).

        Coordinates are relative: x and y are divided by the slice's width and height, z runs over the scan's `span`.
        Each is scaled to the grid and rounded. A contour fills the cells inside, on its edges and at its points. As in
        the paper's code, holes are filled, and slices that fall into one plane are joined.

        Raises
        ------
        InputError
            If the size of a volume's scan is unknown.
        """
        if grid not in self._voxels:
            self._voxels[grid] = self._fill(grid)
        return self._voxels[grid]

    @cached_property
    def _voxels(self) -> dict[Grid, Voxels]:
        """Cache of `voxels` by grid."""
        return {}

    def _fill(self, grid: Grid) -> Voxels:
        drawn = np.flatnonzero(~self.flat)
        scan = self.scan[self.annotation[drawn]]
        if np.isnan(self.scans.size[scan]).any():
            raise InputError("volumes on a grid: expected the width and height of every image, got some without")
        low, high = self.scans.span[scan].T
        height = np.divide(self.z[drawn] - low, high - low, out=np.zeros(len(drawn)), where=high > low)
        plane = np.rint(height * (grid[0] - 1)).astype(np.intp)
        count = np.diff(self.contour_start)[drawn]
        contour, position = expand_runs(self.contour_start[drawn], count)
        relative = self.points[position] / self.scans.size[scan][contour]
        cell = np.rint(relative * (grid[2] - 1, grid[1] - 1)).astype(np.intp)
        polygon, row, column = fill_polygons(cell[:, ::-1], run_starts(count))
        number = (plane[polygon] * grid[1] + row) * grid[2] + column
        return Voxels.of_members(self.annotation[drawn][polygon], number, len(self), grid)


def _join_equal(key: NDArray[np.intp], shapes: NDArray[np.object_]) -> tuple[NDArray[np.intp], NDArray[np.object_]]:
    """Return the distinct keys, ascending, and the union of the geometries of each key."""
    order = np.argsort(key, kind="stable")
    distinct, count = np.unique(key, return_counts=True)
    return distinct, join_runs(shapes[order], run_starts(count))


def _bounds_of_runs(
    low: NDArray[np.float64], high: NDArray[np.float64], start: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the (M, 4) bounds of M runs of low and high corners stored back to back; NaN for an empty run."""
    bounds = np.full((len(start) - 1, 4), np.nan)
    filled = np.diff(start) > 0
    if filled.any():
        bounds[filled, :2] = np.minimum.reduceat(low, start[:-1][filled])
        bounds[filled, 2:] = np.maximum.reduceat(high, start[:-1][filled])
    return bounds
