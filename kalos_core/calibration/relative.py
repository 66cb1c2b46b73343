"""Coordinates relative to images, for comparing annotations of two images."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import expand_runs
from kalos_core.options import Option, checked
from kalos_core.shapes import Boxes, Masks, Polygons
from kalos_core.similarity.base import check_image_sizes
from kalos_core.similarity.keypoints import ScaledPoses

COORDINATES = {
    "relative": "relative to the width and height of their own image, as in the paper",
    "pixels": "in pixels, with the top left corners of both images aligned",
}
"""Coordinates for comparing annotations of two images, with their descriptions; see `calibrate`."""

Coordinates = Annotated[
    Literal["relative", "pixels"],
    Option(
        "Compare annotations of two images",
        "Coordinates in which annotations of two images are compared; shifts of equal size weigh more in smaller "
        "images.",
        choices=COORDINATES,
        flag="compare_in",
    ),
]

Compared = Literal["relative", "pixels", "own"]
"""Coordinates that were used; "own" if the similarity defines them, as for centroids, poses and volumes."""


def relative_shape(column: Any) -> tuple[bool, bool]:
    """Return whether `relative_column` converts a column, and whether it needs image sizes for that."""
    needs_size = isinstance(column, (Boxes, Polygons, ScaledPoses))
    return needs_size or isinstance(column, Masks), needs_size


@checked
def relative_column(annotations: Annotations, column: Any, grid: tuple[int, int] | None = None) -> Any:
    """Convert a column to coordinates relative to each annotation's image; None if the similarity handles this itself.

    Boxes, polygons and keypoints are divided by the width and height of their image, as in the authors' code. Masks are
    resampled to one grid, as wide as the widest image and as high as the highest one, so masks of images of one size do
    not change. Centroids (over the diagonal of the target's image), poses (N-MPJPE), volumes (on the common grid of
    scans), cuboids and user functions define their own coordinates.

    Parameters
    ----------
    annotations : Annotations
    column : result of `Similarity.column` for the annotations
    grid : (int, int), optional
        Width and height of the grid for masks, if these are not all masks of a data set.

    Returns
    -------
    column of the same type, or None

    Raises
    ------
    InputError
        If the size of an annotation's image is unknown.

    Examples
    --------
    >>> rows = [{"image": n, "rater": "ann", "category": "cat", "box": [0, 0, 8, 2 * n]} for n in (1, 2)]
    >>> annotations = Annotations.from_rows(rows, image_size={1: (8, 4), 2: (16, 8)})
    >>> relative_column(annotations, annotations.shapes["box"]).corners.tolist()
    [[0.0, 0.0, 1.0, 0.5], [0.0, 0.0, 0.5, 0.5]]
    """
    if isinstance(column, Masks):
        return resampled(column, *(grid or canvas_of(column)))
    if not relative_shape(column)[0]:
        return None
    check_image_sizes("relative coordinates", annotations)
    size = annotations.image_size[annotations.image]
    match column:
        case Boxes():
            return Boxes(column.corners / np.tile(size, 2))
        case Polygons():
            return _scaled_polygons(column, size)
        case _:
            points = column.poses.points / size[:, None]
            poses = replace(column.poses, points=points, size=np.ones_like(size))
            return replace(column, poses=poses, scale=column.scale / size.prod(axis=1))


def canvas_of(masks: Masks) -> tuple[int, int]:
    """Return the width and height of the grid that spans all masks."""
    width, height = masks.size.max(axis=0, initial=1).tolist()
    return width, height


def _scaled_polygons(polygons: Polygons, size: NDArray[np.float64]) -> Polygons:
    """Scale polygons by the size (N, 2) of each one's image; geometries are scaled, not rebuilt."""
    ring_of_point = np.repeat(np.arange(len(polygons.ring_start) - 1), np.diff(polygons.ring_start))
    owner_of_ring = np.repeat(np.arange(len(polygons)), np.diff(polygons.part_start))
    scaled = replace(polygons, points=polygons.points / size[owner_of_ring[ring_of_point]])
    points, owner = shapely.get_coordinates(polygons.geometries, return_index=True)
    enclosed = shapely.set_coordinates(polygons.geometries.copy(), points / size[owner])
    broken = ~shapely.is_valid(enclosed)  # edges that touch due to rounding
    if broken.any():
        enclosed[broken] = shapely.buffer(enclosed[broken], 0)
    scaled.__dict__["geometries"] = enclosed
    return scaled


def resampled(masks: Masks, width: int, height: int) -> Masks:
    """Resample masks to one grid that spans each canvas; a cell is on if the pixel at its centre is.

    Parameters
    ----------
    masks : Masks
    width, height : int
        Size of the grid.

    Returns
    -------
    Masks
        Unchanged for canvases of that size. A canvas of a whole fraction of it is scaled pixel by pixel.

    Examples
    --------
    >>> resampled(Masks.from_arrays([[[0, 1]], [[0, 0, 1, 1]]]), 4, 1).strips(np.arange(2))[1].tolist()
    [2, 3, 2, 3]
    """
    size = np.where(masks.absent()[:, None], 0, (width, height))
    if (masks.size == size).all():
        return masks
    mask, column, top, bottom = masks.strips(np.arange(len(masks)))
    own_width, own_height = masks.size[mask].T
    left, right = (_first_cell(edge, own_width, width) for edge in (column, column + 1))
    top, bottom = (_first_cell(edge, own_height, height) for edge in (top, bottom))
    strip, cell = expand_runs(left, right - left)
    start = cell * height
    return Masks.from_spans(size, mask[strip], start + top[strip], start + bottom[strip])


def _first_cell(edge: NDArray[np.intp], pixels: NDArray[np.intp], cells: int) -> NDArray[np.intp]:
    """(T,) first of `cells` grid cells whose centre is at or beyond an edge between `pixels` pixels, as integers."""
    return np.asarray(-((pixels - 2 * edge * cells) // (2 * pixels)))
