"""Tolerance of contour tasks: the highest score near a pixel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def highest_near(levels: NDArray[np.int32], distance: float) -> NDArray[np.int32]:
    """Return the (H, W) highest level within `distance` pixels of each pixel, centre to centre.

    Examples
    --------
    >>> highest_near(np.array([[9, 1, 5, 2, 7]], np.int32), 1).tolist()
    [[9, 9, 5, 7, 7]]
    """
    highest, row, reach = levels.copy(), levels.copy(), 0
    for down in range(int(distance), -1, -1):  # the rows of a disc, which widen towards its middle
        while (reach + 1) ** 2 + down**2 <= distance**2:
            reach += 1
            np.maximum(row[:, reach:], levels[:, :-reach], out=row[:, reach:])
            np.maximum(row[:, :-reach], levels[:, reach:], out=row[:, :-reach])
        end = max(len(levels) - down, 0)
        np.maximum(highest[down:], row[:end], out=highest[down:])
        np.maximum(highest[:end], row[down:], out=highest[:end])
    return highest
