"""Outlines of annotations: closed rings of polygons, masks and boxes, and points of poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, lookup
from kalos_core.options import checked
from kalos_core.shapes import Boxes, Keypoints, Masks, Polygons

FLAT = ("polygon", "mask", "keypoints", "box")
"""Shape kinds that can be outlined in an image, most detailed first."""


@dataclass(frozen=True, eq=False)
class Outline:
    """Outline of one annotation.

    Parameters
    ----------
    row, rater : int
        Row of the annotation, and code of its rater.
    category : str
    rings : sequence of (V, 2) float64
        x, y in pixels of the image; each ring is closed by a line to its first point.
    points : (J, 2) float64
        Labelled keypoints; empty for other kinds.
    """

    row: int
    rater: int
    category: str
    rings: Sequence[NDArray[np.float64]]
    points: NDArray[np.float64]

    @property
    def bounds(self) -> NDArray[np.float64]:
        """(4,) minimum and maximum x, y of the outline; NaN if it is empty."""
        every = np.concatenate([self.points, *self.rings])
        return np.concatenate([every.min(axis=0), every.max(axis=0)]) if len(every) else np.full(4, np.nan)


@checked
def outlines_of(annotations: Annotations, rows: NDArray[np.intp], shape: str | None = None) -> list[Outline]:
    """Return the outlines of some annotations.

    Parameters
    ----------
    annotations : Annotations
    rows : (M,) int
    shape : "polygon", "mask", "keypoints" or "box", optional
        Shape kind to outline; by default the most detailed one of each annotation.

    Returns
    -------
    list of Outline
        Outlines of the annotations with such a shape, in the order of `rows`.

    Raises
    ------
    InputError
        If the kind is another, or the annotations do not have it, or they have only volumes or cuboids.

    Examples
    --------
    >>> row = {"image": 1, "rater": "ann", "category": "cat", "box": [10, 20, 30, 40]}
    >>> (outline,) = outlines_of(Annotations.from_rows([row]), np.array([0]))
    >>> outline.category, outline.rings[0].tolist()
    ('cat', [[10.0, 20.0], [40.0, 20.0], [40.0, 60.0], [10.0, 60.0]])
    """
    known = {kind: annotations.shapes[kind] for kind in FLAT if kind in annotations.shapes}
    if shape is not None:
        known = {shape: lookup(known, shape, "shape")}
    if not known and len(annotations):
        raise InputError(
            f"annotations: expected polygons, masks, keypoints or boxes to draw, got {', '.join(annotations.shapes)}"
        )
    absent = {kind: column.absent() for kind, column in known.items()}
    found = []
    for row in rows.tolist():
        kind = next((kind for kind in known if not absent[kind][row]), None)
        if kind is not None:
            rings, points = _shape_of(known[kind], row)
            category = str(annotations.categories[annotations.category[row]])
            found.append(Outline(row, int(annotations.rater[row]), category, rings, points))
    return found


def _shape_of(column: object, row: int) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
    nothing = np.zeros((0, 2))
    match column:
        case Polygons():
            return column.rings(row), nothing
        case Masks():
            return _edges_of(column, row), nothing
        case Keypoints():
            return [], column.points[row][column.visible[row]]
        case Boxes():
            left, top, right, bottom = column.corners[row]
            return [np.array([[left, top], [right, top], [right, bottom], [left, bottom]])], nothing
    raise AssertionError(column)


def _edges_of(masks: Masks, row: int) -> list[NDArray[np.float64]]:
    """Return the edges of a mask's pixels, including holes."""
    _, column, top, bottom = masks.strips(np.array([row]))
    region = shapely.union_all(shapely.box(column, top, column + 1, bottom))
    rings = shapely.get_rings(shapely.get_parts(shapely.simplify(region, 0)))
    return [shapely.get_coordinates(ring)[:-1] for ring in rings]
