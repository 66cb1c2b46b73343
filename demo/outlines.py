"""Simulated annotation of outlines by hand: imprecise, coarser, sometimes around several objects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from numpy.typing import NDArray

GRID = 0.01  # pixels; coordinates are rounded to it
LEAST_AREA = 4.0  # square pixels; a smaller outline is not worth annotating


def redraw(outline: shapely.Polygon, looseness: float, rng: np.random.Generator) -> shapely.Polygon:
    """Return `outline` as annotated by hand: moved, stretched, with fewer corners that are displaced together.

    looseness : 0 traces exactly; 1 is off by about 4 % of the object's size, plus half a pixel
    """
    slip = looseness * (0.04 * float(np.sqrt(outline.area)) + 0.5)
    corners = shapely.get_coordinates(shapely.simplify(outline, slip / 2).exterior)[:-1]
    centre = corners.mean(axis=0)
    stretched = centre + (corners - centre) * rng.normal(1 + 0.03 * looseness, 0.03 * looseness, 2)
    moved = stretched + rng.normal(0, slip, 2)
    stray = rng.normal(0, slip, corners.shape)
    stray = (np.roll(stray, 1, axis=0) + 2 * stray + np.roll(stray, -1, axis=0)) / 4
    return _untorn(moved, stray)


def _untorn(corners: NDArray[np.float64], stray: NDArray[np.float64]) -> shapely.Polygon:
    """Return the polygon of `corners` moved by as much of `stray` as keeps it valid; both (V, 2)."""
    plain = shapely.Polygon(corners)
    for share in (1.0, 0.5, 0.25):
        annotated = largest(shapely.Polygon(corners + share * stray).buffer(0))
        if annotated.area > 0.85 * plain.area:
            return annotated
    return plain


def around(outlines: Sequence[shapely.Polygon], gap: float) -> shapely.Polygon:
    """Return one loose outline around several that are at most `gap` pixels apart."""
    return largest(shapely.union_all(outlines).buffer(gap).buffer(-0.6 * gap))


def tidy(outline: shapely.Polygon, size: tuple[int, int]) -> shapely.Polygon | None:
    """Return the largest piece inside an image of `size`, on the grid; None if too little is left."""
    piece = largest(outline & shapely.box(0, 0, *size))
    piece = largest(shapely.set_precision(shapely.Polygon(piece.exterior), GRID))
    return piece if piece.area >= LEAST_AREA else None


def largest(shape: shapely.Geometry) -> shapely.Polygon:
    """Return the largest polygon of a shape without its holes; an empty polygon if it has none."""
    pieces = [part for part in shapely.get_parts(shape) if part.geom_type == "Polygon"]
    if not pieces:
        return shapely.Polygon()
    return shapely.Polygon(max(pieces, key=lambda piece: float(piece.area)).exterior)


def neighbours(outlines: Sequence[shapely.Polygon], reach: float) -> list[list[int]]:
    """Return groups of indices whose outlines are connected by gaps of at most `reach` of their size."""
    groups: list[list[int]] = []
    for index, outline in enumerate(outlines):
        gap = reach * float(np.sqrt(outline.area))
        touched = [g for g in groups if any(outline.distance(outlines[i]) <= gap for i in g)]
        groups = [group for group in groups if group not in touched]
        groups.append(sorted([index, *(i for group in touched for i in group)]))
    return groups
