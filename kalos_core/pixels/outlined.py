"""Distances between boundaries of two columns of polygons or masks, and the surface Dice as a similarity."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError, check_text, repr_of
from kalos_core.options import checked
from kalos_core.pixels.boundaries import (
    ROUNDING,
    TOLERANCE,
    BoundaryDistance,
    Tolerance,
    distance_of_borders,
    distance_of_outlines,
)
from kalos_core.shapes import Masks, Polygons
from kalos_core.shapes.boundaries import Outline, Spacing, border
from kalos_core.shapes.crops import crops_of
from kalos_core.similarity import Similarity

OUTLINED = {"polygon": "outlines of polygons", "mask": "boundaries of masks"}
"""Kinds of shapes with a boundary in an image -> description."""


@dataclass(frozen=True, eq=False)
class OutlinedShapes:
    """Two columns of polygons, or of masks, whose rows are compared.

    Examples
    --------
    >>> squares = Polygons.from_rings([[[0, 0, 4, 0, 4, 4, 0, 4]], [[0, 1, 4, 1, 4, 5, 0, 5]]])
    >>> OutlinedShapes(squares, squares, (1.0, 1.0)).distance(0, 1).hausdorff
    1.0
    """

    left: Masks | Polygons
    right: Masks | Polygons
    spacing: Spacing
    _outlines: dict[tuple[int, int], Outline] = field(default_factory=dict)

    def distance(self, a: int, b: int) -> BoundaryDistance:
        """Compute the distance between a row of the left and one of the right column."""
        if isinstance(self.left, Polygons) and isinstance(self.right, Polygons):
            left, right = self._outline(self.left, a), self._outline(self.right, b)
            return distance_of_outlines(left, right)
        assert isinstance(self.left, Masks)
        assert isinstance(self.right, Masks)
        masks = self.left.take(np.array([a])), self.right.take(np.array([b]))
        bounds = np.concatenate([each.bounds() for each in masks])
        if np.isnan(bounds).all():
            frame = np.array([0, 0, 1, 1])
        else:  # crop to both shapes
            low, high = np.nanmin(bounds[:, :2], axis=0), np.nanmax(bounds[:, 2:], axis=0)
            frame = np.concatenate([low, high]).astype(np.intp)
        one, other = (border(crop) for each in masks for crop in crops_of(each, frame[None]))
        return distance_of_borders(one, other, self.spacing)

    def _outline(self, column: Polygons, row: int) -> Outline:
        key = (id(column), row)
        if key not in self._outlines:
            self._outlines[key] = Outline.of_geometry(column.geometries[row], self.spacing)
        return self._outlines[key]


@checked
def surface_dice(tolerance: Tolerance = TOLERANCE, kind: str = "polygon", name: str | None = None) -> Similarity:
    """Return the surface Dice (Nikolov et al. 2018) at a tolerance as a similarity, for objects defined by a boundary.

    It is the share of both boundaries within the tolerance of the other, see `boundary_distance`. Unlike the other
    entries of `SIMILARITIES` it depends on the size of the pixels. It takes about a millisecond per pair of shapes that
    are near each other.

    Parameters
    ----------
    tolerance : float, at least 0
        Tolerance in pixels.
    kind : "polygon" or "mask"
        Kind of shapes to compare.
    name : str, optional
        Name; by default ``"polygon_surface_dice"`` or ``"mask_surface_dice"``.

    Returns
    -------
    Similarity
        0 if a shape has no boundary. `register_similarity` makes it available by name, in the App too.

    Raises
    ------
    InputError
        For another kind, or a tolerance below 0.

    Examples
    --------
    Two squares, one shifted right by 3 pixels, share 7 of 10 pixels of two sides each:

    >>> from kalos_core import Annotations, agreement
    >>> rows = [
    ...     {"image": 1, "rater": rater, "category": "cat", "polygon": [[x, 0, x + 10, 0, x + 10, 10, x, 10]]}
    ...     for rater, x in (("ann", 0), ("bob", 3))
    ... ]
    >>> annotations = Annotations.from_rows(rows)
    >>> agreement(annotations, surface_dice(0), threshold=0.3).pairs.similarity.round(2).tolist()
    [0.35]
    >>> agreement(annotations, surface_dice(3)).pairs.similarity.tolist()
    [1.0]
    """
    if kind not in OUTLINED:
        raise InputError(f"kind: expected 'polygon' or 'mask', got {repr_of(kind)}")
    called = f"{kind}_surface_dice" if name is None else check_text(name, "name")
    compare = partial(_surface_dice, tolerance=tolerance)
    return Similarity(called, kind, f"surface Dice of {OUTLINED[kind]}", compare)


def _surface_dice(
    left: Masks | Polygons,
    left_rows: NDArray[np.intp],
    right: Masks | Polygons,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,  # noqa: ARG001 - every similarity is given it
    *,
    tolerance: float,
) -> NDArray[np.float64]:
    """Compute the surface Dice (P,); see `surface_dice`."""
    shapes, found = OutlinedShapes(left, right, (1.0, 1.0)), np.zeros(len(left_rows))
    bounds_a, bounds_b = left.bounds()[left_rows], right.bounds()[right_rows]
    apart = np.maximum(bounds_a[:, :2] - bounds_b[:, 2:], bounds_b[:, :2] - bounds_a[:, 2:])
    for at in np.flatnonzero((apart <= tolerance * (1 + ROUNDING)).all(axis=1)).tolist():  # NaN is not
        found[at] = shapes.distance(int(left_rows[at]), int(right_rows[at])).surface_dice(tolerance)
    return found
