"""Annotations in coordinates relative to their images, so that those of two images can be compared."""

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
    "relative": "over the width and height of their own image, as in the paper",
    "pixels": "as they stand, with the left top corners of both images on each other",
}
"""What annotations of two images are compared in, and what that means; see `calibrate`."""

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
"""What they were compared in: "own" where the similarity itself says how, as centroids, poses and volumes do."""


def relative_shape(column: Any) -> tuple[bool, bool]:
    """Whether `relative_column` brings a column to relative coordinates, and whether it needs the images' sizes."""
    needs_size = isinstance(column, (Boxes, Polygons, ScaledPoses))
    return needs_size or isinstance(column, Masks), needs_size


@checked
def relative_column(annotations: Annotations, column: Any, grid: tuple[int, int] | None = None) -> Any:
    """What a similarity compares, in coordinates relative to each annotation's image; None where it sees to that.

    Boxes, polygons and keypoints are divided by the width and height of their image, as the authors' code does. Masks
    are resampled to one grid, as wide as the widest image and as high as the highest one, so that masks of images of
    one size stay as they are. Centroids (over the diagonal of the target's image), poses (N-MPJPE), volumes (on the
    common grid of scans), cuboids and functions of one's own decide for themselves.

    Parameters
    ----------
    annotations : Annotations
    column : as `Similarity.column` makes it of them
    grid : (int, int), optional
        Width and height of the grid of masks, where these are not all masks of a data set.

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
    """Width and height of the grid that spans all masks."""
    width, height = masks.size.max(axis=0, initial=1).tolist()
    return width, height


def _scaled_polygons(polygons: Polygons, size: NDArray[np.float64]) -> Polygons:
    """Polygons over the size (N, 2) of each one's image; what they enclose is scaled, not built anew."""
    ring_of_point = np.repeat(np.arange(len(polygons.ring_start) - 1), np.diff(polygons.ring_start))
    owner_of_ring = np.repeat(np.arange(len(polygons)), np.diff(polygons.part_start))
    scaled = replace(polygons, points=polygons.points / size[owner_of_ring[ring_of_point]])
    points, owner = shapely.get_coordinates(polygons.geometries, return_index=True)
    enclosed = shapely.set_coordinates(polygons.geometries.copy(), points / size[owner])
    broken = ~shapely.is_valid(enclosed)  # edges that touch, by rounding
    if broken.any():
        enclosed[broken] = shapely.buffer(enclosed[broken], 0)
    scaled.__dict__["geometries"] = enclosed
    return scaled


def resampled(masks: Masks, width: int, height: int) -> Masks:
    """Masks on one grid that spans each canvas: a cell is on where the pixel in its middle is.

    Parameters
    ----------
    masks : Masks
    width, height : int
        Of the grid.

    Returns
    -------
    Masks
        Those of a canvas of that size as they are; a canvas of a whole fraction of it, pixel by pixel.

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
    """(T,) first of so many cells with its middle at or beyond the edge of so many pixels, in whole numbers."""
    return np.asarray(-((pixels - 2 * edge * cells) // (2 * pixels)))
