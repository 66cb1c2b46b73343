"""The tolerance of contour tasks for scores: how surely a place is found by something near it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def highest_near(levels: NDArray[np.intp], mask: NDArray[np.bool_], distance: float) -> NDArray[np.intp]:
    """(n,) for each pixel of a mask, row by row, the highest level within `distance` pixels of it, centre to centre.

    Examples
    --------
    >>> highest_near(np.array([[9, 1, 5, 2, 7]]), np.array([[0, 0, 1, 0, 1]], bool), 1).tolist()
    [5, 7]
    """
    highest = levels[mask]
    reach = int(distance)
    if not reach:
        return highest
    row, column = (places + reach for places in np.nonzero(mask))
    with_edge = np.pad(levels, reach, constant_values=-1)
    for down in range(-reach, reach + 1):
        for right in range(-reach, reach + 1):
            if down * down + right * right <= distance * distance:
                np.maximum(highest, with_edge[row + down, column + right], out=highest)
    return highest
