"""Shapes that follow their boxes: moved, scaled, cut in half, joined; and concatenation of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs, run_starts
from kalos_core.noise.draft import LOWER, WHOLE
from kalos_core.shapes import Boxes, Masks, Polygons, ShapeColumn

KINDS = ("box", "polygon", "mask")
"""Shape kinds that noise is defined for."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Target positions of M shapes of a column.

    Parameters
    ----------
    rows : (M,) int
        Rows of the column.
    before, after : (M, 4) float64
        Corners in pixels of the current box of each shape, and of its target box.
    canvas : (M, 2) int
        Width and height of the image of each shape.
    """

    rows: NDArray[np.intp]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    canvas: NDArray[np.intp]

    @property
    def maps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(M, 2) factors and (M, 2) offsets from one box to the other; a side of length 0 keeps its length.

        Examples
        --------
        >>> one = Placement(np.array([0]), np.array([[0.0, 0, 2, 2]]), np.array([[5.0, 0, 9, 1]]), np.array([[9, 9]]))
        >>> [numbers.tolist() for numbers in one.maps]
        [[[2.0, 0.5]], [[5.0, 0.0]]]
        """
        was, becomes = (corners[:, 2:] - corners[:, :2] for corners in (self.before, self.after))
        factor = np.divide(becomes, was, out=np.ones_like(was), where=was > 0)
        return factor, self.after[:, :2] - factor * self.before[:, :2]


def move_polygons(polygons: Polygons, to: Placement) -> Polygons:
    """Move and scale the polygons of some rows with their boxes.

    Examples
    --------
    >>> triangle = Polygons.from_rings([[[0, 0, 2, 0, 0, 2]]])
    >>> to = Placement(np.array([0]), np.array([[0.0, 0, 2, 2]]), np.array([[5.0, 0, 9, 1]]), np.array([[9, 9]]))
    >>> move_polygons(triangle, to).points.tolist()
    [[5.0, 0.0], [9.0, 0.0], [5.0, 1.0]]
    """
    taken = polygons.take(to.rows)
    owner = np.repeat(np.arange(len(taken)), np.diff(taken.ring_start[taken.part_start]))
    factor, offset = to.maps
    return Polygons(taken.points * factor[owner] + offset[owner], taken.ring_start, taken.part_start)


def move_masks(masks: Masks, to: Placement) -> Masks:
    """Move and scale the masks of some rows with their boxes, clipped to the canvas.

    A pixel is on if its centre comes from a point of the old mask that is on.

    Examples
    --------
    >>> square = Masks.from_arrays([[[1, 1, 0, 0], [1, 1, 0, 0]]])
    >>> to = Placement(np.array([0]), np.array([[0.0, 0, 2, 2]]), np.array([[1.0, 0, 4, 1]]), np.array([[4, 2]]))
    >>> moved = move_masks(square, to)
    >>> moved.bounds().tolist(), moved.area().tolist()
    ([[1.0, 0.0, 4.0, 1.0]], [3.0])
    """
    factor, offset = to.maps
    size = np.where(masks.absent()[to.rows, None], 0, to.canvas)
    index, column, top, bottom = masks.strips(to.rows)
    # rows whose centre comes from inside the strip
    new_top = np.ceil(top * factor[index, 1] + offset[index, 1] - 0.5)
    new_bottom = np.ceil(bottom * factor[index, 1] + offset[index, 1] - 0.5)
    new_top, new_bottom = (np.clip(edge, 0, size[index, 1]).astype(np.intp) for edge in (new_top, new_bottom))
    # the same for columns: one strip may become several, or none
    left = np.clip(np.ceil(column * factor[index, 0] + offset[index, 0] - 0.5), 0, size[index, 0]).astype(np.intp)
    right = np.clip(np.ceil((column + 1) * factor[index, 0] + offset[index, 0] - 0.5), 0, size[index, 0])
    strip, new_column = expand_runs(left, right.astype(np.intp) - left)
    owner = index[strip]
    start = new_column * size[owner, 1]
    return Masks.from_spans(size, owner, start + new_top[strip], start + new_bottom[strip])


def halve_polygons(polygons: Polygons, rows: NDArray[np.intp], lower: NDArray[np.bool_]) -> Polygons:
    """Return one half of each polygon, cut across the middle of the longer side of its bounds.

    A polygon without area stays whole.

    Examples
    --------
    >>> long = Polygons.from_rings([[[0, 0, 8, 0, 8, 2, 0, 2]]])
    >>> halve_polygons(long, np.array([0, 0]), np.array([True, False])).bounds().tolist()
    [[0.0, 0.0, 4.0, 2.0], [4.0, 0.0, 8.0, 2.0]]
    """
    taken = polygons.take(rows)
    enclosed = np.flatnonzero(taken.area() > 0)
    half = _half(taken.bounds()[enclosed], lower[enclosed])
    cut = shapely.intersection(taken.geometries[enclosed], shapely.box(*half.T))
    parts = [taken.rings(row) for row in range(len(taken))]
    for index, geometry in zip(enclosed.tolist(), cut, strict=True):
        pieces = [piece for piece in shapely.get_parts(geometry) if piece.geom_type == "Polygon"]
        parts[index] = [shapely.get_coordinates(shapely.get_exterior_ring(piece))[:-1] for piece in pieces]
    return Polygons.from_rings(parts)


def halve_masks(masks: Masks, rows: NDArray[np.intp], lower: NDArray[np.bool_]) -> Masks:
    """Return one half of each mask, cut across the middle of its longer side; a single pixel stays whole.

    Examples
    --------
    >>> tall = Masks.from_arrays([[[0, 1], [0, 1], [0, 1]]])
    >>> halve_masks(tall, np.array([0, 0]), np.array([True, False])).area().tolist()
    [1.0, 2.0]
    """
    bounds = np.nan_to_num(masks.bounds()[rows])
    whole: NDArray[np.bool_] = np.all(bounds[:, 2:] - bounds[:, :2] <= 1, axis=1)
    half = np.where(whole[:, None], bounds, np.floor(_half(bounds, lower))).astype(np.intp)
    index, column, top, bottom = masks.strips(rows)
    size = masks.size[rows]
    inside = (column >= half[index, 0]) & (column < half[index, 2])
    index, column, top, bottom = index[inside], column[inside], top[inside], bottom[inside]
    start = column * size[index, 1]
    top, bottom = np.maximum(top, half[index, 1]), np.minimum(bottom, half[index, 3])
    return Masks.from_spans(size, index, start + top, start + bottom)


def _half(bounds: NDArray[np.float64], lower: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the lower or upper half (M, 4) of boxes along their longer side."""
    half, rows = bounds.copy(), np.arange(len(bounds))
    side = np.where(bounds[:, 2] - bounds[:, 0] >= bounds[:, 3] - bounds[:, 1], 0, 1)
    middle = (bounds[rows, side] + bounds[rows, side + 2]) / 2
    half[rows, np.where(lower, side + 2, side)] = middle
    return half


def join_polygons(polygons: Polygons, rows: NDArray[np.intp]) -> Polygons:
    """Combine rows (C, 2) into C polygons with the rings of both; the rings of a polygon are joined by union.

    Examples
    --------
    >>> squares = Polygons.from_rings([[[0, 0, 2, 0, 2, 2, 0, 2]], [[1, 0, 3, 0, 3, 2, 1, 2]]])
    >>> join_polygons(squares, np.array([[0, 1]])).area().tolist()
    [6.0]
    """
    taken = polygons.take(rows.ravel())
    return Polygons(taken.points, taken.ring_start, taken.part_start[::2])


def rectangles(kind: str, corners: NDArray[np.float64], canvas: NDArray[np.intp]) -> ShapeColumn:
    """Return boxes as shapes of a kind, for annotations that have no other outline.

    Examples
    --------
    >>> rectangles("mask", np.array([[0.0, 0, 2, 1]]), np.array([[4, 4]])).area().tolist()
    [2.0]
    """
    if kind == "box":
        return Boxes(corners)
    if kind == "polygon":
        points = corners[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 2)
        return Polygons(points, np.arange(0, len(points) + 1, 4), np.arange(len(corners) + 1))
    pixel = Masks.from_arrays([[[True]]])
    to = Placement(np.zeros(len(corners), np.intp), np.tile([0.0, 0, 1, 1], (len(corners), 1)), corners, canvas)
    return move_masks(pixel, to)


def stack(columns: Sequence[Any]) -> Any:
    """Concatenate columns of one kind.

    Examples
    --------
    >>> parts = [Polygons.from_rings([[[0, 0, 2, 0, 2, 2]]]), Polygons.from_rings([[], [[0, 0, 1, 0, 1, 1]]])]
    >>> stack(parts).area().tolist()
    [2.0, 0.0, 0.5]
    """
    first = columns[0]
    if isinstance(first, Boxes):
        return Boxes(np.concatenate([column.corners for column in columns]))
    if isinstance(first, Polygons):
        rings = np.concatenate([np.diff(column.ring_start) for column in columns])
        parts = np.concatenate([np.diff(column.part_start) for column in columns])
        return Polygons(np.concatenate([column.points for column in columns]), run_starts(rings), run_starts(parts))
    return Masks(
        np.concatenate([column.size for column in columns]),
        np.concatenate([column.first for column in columns]),
        np.concatenate([column.length for column in columns]),
        run_starts(np.concatenate([np.diff(column.run_start) for column in columns])),
    )


def half_of(column: Any, rows: NDArray[np.intp], part: NDArray[np.intp]) -> Any:
    """Return the half of each shape given by `part`."""
    halve: Callable[..., Any] = halve_polygons if isinstance(column, Polygons) else halve_masks
    return halve(column, rows, part == LOWER)


def move(column: Any, to: Placement) -> Any:
    """Move and scale shapes of a column other than boxes."""
    return move_polygons(column, to) if isinstance(column, Polygons) else move_masks(column, to)


@dataclass(frozen=True, eq=False)
class Origins:
    """Sources of M new annotations: annotations of a reference, or proposals.

    Parameters
    ----------
    source, partner : (M,) int
        Rows of the reference, -1 for an addition, and where nothing was merged.
    part : (M,) int
        `WHOLE`, or a half.
    donor : (M,) int
        For an addition the row of its outline among the donors, else -1.
    corners : (M, 4) float64
        Boxes of the new annotations.
    canvas : (M, 2) int
        Width and height of their images.
    """

    source: NDArray[np.intp]
    partner: NDArray[np.intp]
    part: NDArray[np.intp]
    donor: NDArray[np.intp]
    corners: NDArray[np.float64]
    canvas: NDArray[np.intp]

    def placement(self, chosen: NDArray[np.intp], rows: NDArray[np.intp], before: NDArray[np.float64]) -> Placement:
        """Return the placement of the chosen annotations (C,): shapes of rows (C,) in boxes `before` (C, 4)."""
        return Placement(rows, before, self.corners[chosen], self.canvas[chosen])


def build_shapes(
    origins: Origins, reference: Mapping[str, ShapeColumn], donors: Mapping[str, ShapeColumn]
) -> dict[str, ShapeColumn]:
    """Return the columns of the new annotations, of the kinds that the reference has."""
    return {
        kind: Boxes(origins.corners) if kind == "box" else _build(kind, origins, reference, donors)
        for kind in KINDS
        if kind in reference
    }


def _build(
    kind: str, origins: Origins, reference: Mapping[str, ShapeColumn], donors: Mapping[str, ShapeColumn]
) -> ShapeColumn:
    parts = [*_of_reference(reference[kind], reference["box"].bounds(), origins), *_of_donors(kind, donors, origins)]
    order = np.concatenate([chosen for chosen, _ in parts])
    together: ShapeColumn = stack([column for _, column in parts])
    return together.take(np.argsort(order))


def _of_reference(column: Any, boxes: NDArray[np.float64], origins: Origins) -> Iterator[tuple[NDArray[np.intp], Any]]:
    """Yield the whole, halved and joined annotations of the reference: indices of the new annotations, and shapes."""
    merged, halved = origins.partner >= 0, origins.part != WHOLE
    whole = np.flatnonzero((origins.donor < 0) & ~merged & ~halved)
    rows = origins.source[whole]
    yield whole, move(column, origins.placement(whole, rows, boxes[rows]))

    half = np.flatnonzero(halved)
    halves = half_of(column, origins.source[half], origins.part[half])
    bounds = np.where(np.isnan(halves.outline_bounds()), origins.corners[half], halves.outline_bounds())
    yield half, move(halves, origins.placement(half, np.arange(len(half)), bounds))

    joined = np.flatnonzero(merged)
    couples = np.stack([origins.source[joined], origins.partner[joined]], axis=1)
    yield joined, join_polygons(column, couples) if isinstance(column, Polygons) else column.union(couples)


def _of_donors(
    kind: str, donors: Mapping[str, ShapeColumn], origins: Origins
) -> Iterator[tuple[NDArray[np.intp], Any]]:
    """Yield additions with the outline of a donor, then those without: indices of the new annotations, and shapes."""
    added = np.flatnonzero(origins.donor >= 0)
    outlined = np.zeros(len(added), np.bool_)
    if kind in donors:
        outlined = ~donors[kind].absent()[origins.donor[added]]
        chosen = added[outlined]
        rows = origins.donor[chosen]
        yield chosen, move(donors[kind], origins.placement(chosen, rows, donors["box"].bounds()[rows]))
    bare = added[~outlined]
    yield bare, rectangles(kind, origins.corners[bare], origins.canvas[bare])
