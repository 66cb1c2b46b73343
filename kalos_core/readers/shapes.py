"""What the exports of annotation tools have in common in how they write shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.shapes.masks import count_pixels

MOST_PIXELS = 1 << 28
"""Of a mask's image: more than any has, and little enough to be held."""


class UnusableError(Exception):
    """What was expected of an annotation, and what was given; caught where the record's name is known.

    Examples
    --------
    >>> UnusableError("a label", "nothing").args
    ('a label', 'nothing')
    """


def rotated(
    corners: tuple[float, float, float, float], degrees: float, pivot: tuple[float, float]
) -> list[list[float]]:
    """Corners of a box x_min, y_min, x_max, y_max turned about a point, clockwise as an image shows it.

    Examples
    --------
    >>> [[round(x), round(y)] for x, y in rotated((0, 0, 4, 2), 90, (0, 0))]
    [[0, 0], [0, 4], [-2, 4], [-2, 0]]
    """
    x_min, y_min, x_max, y_max = corners
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused with all other shapes
        points = np.array([[x_min, y_min], [x_max, y_min], [x_max, y_max], [x_min, y_max]]) - pivot
        cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        turned: list[list[float]] = (points @ np.array([[cosine, sine], [-sine, cosine]]) + pivot).tolist()
    return turned


def run_lengths(pixels: NDArray[np.bool_]) -> dict[str, Any]:
    """A mask (height, width) as COCO writes it, which needs little memory until all annotations are read.

    Examples
    --------
    >>> mask = run_lengths(np.array([[False, True, True], [False, True, False]]))
    >>> mask["size"], mask["counts"].tolist()
    ((2, 3), [2, 3, 1])
    """
    return {"size": pixels.shape, "counts": count_pixels(pixels)}
