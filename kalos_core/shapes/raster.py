"""Conversion of polygons and runs to pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs
from kalos_core.limits import check_pixels
from kalos_core.shapes.edges import Edges
from kalos_core.shapes.masks import Masks
from kalos_core.shapes.polygons import Polygons


def rasterise(polygons: Polygons, size: NDArray[np.intp]) -> Masks:
    """Return masks of the pixels whose centres lie in polygons.

    A centre on a boundary belongs to the polygon on its right or below it, so that polygons that tile the plane share
    no pixel.

    Parameters
    ----------
    polygons : Polygons
        N polygons; parts beyond the canvas are cut off.
    size : (N, 2) int
        Width and height of each canvas.

    Returns
    -------
    Masks
        N masks; empty for a polygon that is absent or contains no pixel centre.

    Examples
    --------
    >>> masks = rasterise(Polygons.from_rings([[[1, 0, 3, 0, 3, 2, 1, 2]]]), np.array([[4, 3]]))
    >>> pixels_of(masks, 0).astype(int).tolist()
    [[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    """
    edges = Edges.of(polygons.geometries)
    owner = np.repeat(np.arange(len(polygons)), np.diff(edges.start))
    width, height = size.T
    if len(size):
        largest = size.prod(axis=1, dtype=np.float64).argmax()
        check_pixels(int(width[largest]), int(height[largest]), "outlines as masks")
    left, right = _cells(edges.left, width[owner]), _cells(edges.right, width[owner])
    edge, column = expand_runs(left, np.maximum(right - left, 0))
    y = edges.height[edge] + edges.slope[edge] * (column + 0.5 - edges.left[edge])
    # down a column, edges alternately enter and leave the region
    order = np.lexsort((y, column, owner[edge]))
    begin, end = order[::2], order[1::2]
    shape = owner[edge[begin]]
    top, bottom = _cells(y[begin], height[shape]), _cells(y[end], height[shape])
    start = column[begin] * height[shape]
    return Masks.from_spans(size, shape, start + top, start + bottom)


def _cells(position: NDArray[np.float64], limit: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the first pixel whose centre is not before a position, clipped to [0, number of pixels]."""
    return np.clip(np.ceil(position - 0.5), 0, limit).astype(np.intp)


def pixels_of(masks: Masks, row: int) -> NDArray[np.bool_]:
    """Return one mask as an array (height, width).

    Examples
    --------
    >>> pixels_of(Masks.from_arrays([[[0, 1], [1, 1]]]), 0).astype(int).tolist()
    [[0, 1], [1, 1]]
    """
    runs = slice(masks.run_start[row], masks.run_start[row + 1])
    width, height = masks.size[row].tolist()
    check_pixels(width, height, f"mask {row}")
    change = np.zeros(width * height + 1, np.int8)
    change[masks.first[runs]] = 1
    change[masks.first[runs] + masks.length[runs]] = -1
    return np.cumsum(change[:-1], dtype=np.int8).astype(np.bool_).reshape(width, height).T
