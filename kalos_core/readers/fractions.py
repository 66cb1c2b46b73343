"""Conversion of shapes from coordinates relative to the image to pixels.

Invalid shapes are returned unchanged, to be reported later with their record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

LABELLED = 2
"""COCO's value for a keypoint that is labelled and visible."""


def box_in_pixels(box: Any, width: float, height: float) -> Any:
    """Convert x, y, width, height of a box.

    Examples
    --------
    >>> box_in_pixels([0.1, 0.25, 0.5, 0.5], 10, 20), box_in_pixels([0.1, 0.25], 10, 20)
    ([1.0, 5.0, 5.0, 10.0], [0.1, 0.25])
    """
    try:
        x, y, w, h = box
        return [x * width, y * height, w * width, h * height]
    except (TypeError, ValueError):
        return box


def rings_in_pixels(rings: Any, width: float, height: float) -> Any:
    """Convert rings to lists x1, y1, x2, y2, ..., the form that is read fastest.

    Examples
    --------
    >>> rings_in_pixels([[(0.5, 0.5), (1, 0)]], 10, 20)
    [[5.0, 10.0, 10, 0]]
    """
    try:
        return [[value for x, y in ring for value in (x * width, y * height)] for ring in rings]
    except (TypeError, ValueError):
        return rings


def keypoints_in_pixels(points: Any, width: float, height: float) -> Any:
    """Convert keypoints to COCO's form x1, y1, v1, x2, ...; a point of NaN is not labelled: 0, 0, 0.

    Examples
    --------
    >>> keypoints_in_pixels([(0.5, 0.5), (float("nan"), float("nan"))], 10, 20)
    [5.0, 10.0, 2, 0, 0, 0]
    """
    try:
        flat: list[float] = []
        for x, y in points:
            flat += (0, 0, 0) if x != x and y != y else (x * width, y * height, LABELLED)
        return flat
    except (TypeError, ValueError):
        return points


def mask_in_pixels(crop: Any, box: Any, width: float, height: float) -> Any:
    """Return COCO run lengths on the grid of the whole image for a crop (h, w) that fills a box.

    The crop is placed at the corners of the box, rounded to whole pixels and clipped to the image, as FiftyOne's
    importers cut it. A crop of a different size is resized by nearest neighbour.

    Examples
    --------
    >>> mask_in_pixels(np.array([[True, False], [True, True]]), [0.25, 0.5, 0.5, 0.5], 4, 4)["counts"].tolist()
    [6, 2, 3, 1, 4]
    """
    try:
        x, y, w, h = box
        corners = np.rint(np.array([x * width, y * height, (x + w) * width, (y + h) * height], np.float64))
        left, top, right, bottom = np.clip(corners, 0, [width, height] * 2).astype(np.intp)
    except (TypeError, ValueError):
        return crop
    drawn = np.asarray(crop)
    if drawn.ndim == 3:
        drawn = drawn[:, :, 0]
    if drawn.ndim != 2 or not drawn.size:
        return crop
    placed = _stretched(drawn != 0, int(bottom - top), int(right - left))
    return _run_lengths(placed, int(left), int(top), int(width), int(height))


def _stretched(crop: NDArray[np.bool_], height: int, width: int) -> NDArray[np.bool_]:
    if crop.shape == (height, width):
        return crop
    rows, columns = (
        ((np.arange(size) + 0.5) * there / max(size, 1)).astype(np.intp)
        for size, there in zip((height, width), crop.shape, strict=True)
    )
    return crop[np.ix_(rows, columns)]


def _run_lengths(crop: NDArray[np.bool_], left: int, top: int, width: int, height: int) -> dict[str, Any]:
    """Return run lengths outside, inside, outside, ... down the columns of an image with the crop at a position."""
    rows, columns = crop.shape
    padded = np.zeros((columns, rows + 1), np.bool_)  # a pixel outside ends the runs of each column
    padded[:, :rows] = crop.T
    flat = np.concatenate([[False], padded.ravel()])
    starts, stops = np.flatnonzero(flat[1:] != flat[:-1]).reshape(-1, 2).T
    column, row = np.divmod(starts, rows + 1)
    first = (left + column) * height + top + row
    end = first + stops - starts
    apart = first[1:] > end[:-1]  # merge touching runs of full-height columns
    first, end = first[np.append(True, apart)[: len(first)]], end[np.append(apart, True)[: len(end)]]
    edges = np.concatenate([[0], np.column_stack([first, end]).ravel(), [width * height]])
    return {"size": [height, width], "counts": np.diff(edges)}


def cuboid(location: Any, dimensions: Any, rotation: Any) -> Any:
    """Return a record of a cuboid; a rotation of None means zero angles. None without location and dimensions.

    Examples
    --------
    >>> cuboid([1, 2, 3], [4, 5, 6], None)["rotation"], cuboid(None, None, None)
    ([0.0, 0.0, 0.0], None)
    """
    if location is None and dimensions is None:
        return None
    turned: Sequence[float] = [0.0, 0.0, 0.0] if rotation is None else rotation
    return {"location": location, "dimensions": dimensions, "rotation": turned}
