"""What the exports of annotation tools have in common in how they write shapes."""

from __future__ import annotations

from collections.abc import Sequence
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
        return _turned(points, degrees, pivot)


def run_lengths(pixels: NDArray[np.bool_]) -> dict[str, Any]:
    """A mask (height, width) as COCO writes it, which needs little memory until all annotations are read.

    Examples
    --------
    >>> mask = run_lengths(np.array([[False, True, True], [False, True, False]]))
    >>> mask["size"], mask["counts"].tolist()
    ((2, 3), [2, 3, 1])
    """
    return {"size": pixels.shape, "counts": count_pixels(pixels)}


ELLIPSE_CORNERS = 64
"""Corners of the polygon that stands for an ellipse: its area is 0.16 % smaller than the area of the ellipse."""


def ellipse(x: float, y: float, radius_x: float, radius_y: float, angle: float = 0.0) -> list[list[float]]:
    """Return the polygon of an ellipse: `ELLIPSE_CORNERS` points (x, y) in pixels on its outline.

    Parameters
    ----------
    x, y : float
        Centre, in pixels.
    radius_x, radius_y : float
        Half axes before the turn, in pixels.
    angle : float
        Degrees by which the ellipse is turned about its centre, clockwise as an image shows it.

    Raises
    ------
    UnusableError
        If a radius is not a positive number.

    Examples
    --------
    >>> ring = ellipse(10, 5, 4, 2)
    >>> len(ring), ring[0], [round(value, 6) for value in ellipse(10, 5, 4, 2, angle=90)[0]]
    (64, [14.0, 5.0], [10.0, 9.0])
    """
    if not (radius_x > 0 and radius_y > 0):
        raise UnusableError("two positive radii", f"{radius_x:g} and {radius_y:g}")
    turn = np.arange(ELLIPSE_CORNERS) * (2 * np.pi / ELLIPSE_CORNERS)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused with all other shapes
        points = np.stack([radius_x * np.cos(turn), radius_y * np.sin(turn)], axis=1)
        return _turned(points, angle, (x, y))


def rectangle(box: Sequence[float]) -> list[list[float]]:
    """Return the four corners of a box (x, y, width, height), in its units: the ring of a polygon.

    Examples
    --------
    >>> rectangle([1, 2, 8, 4])
    [[1, 2], [9, 2], [9, 6], [1, 6]]
    """
    x, y, width, height = box
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def _turned(points: NDArray[np.float64], degrees: float, pivot: tuple[float, float]) -> list[list[float]]:
    """Points relative to a pivot, turned about it clockwise as an image shows it, and put there."""
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    found: list[list[float]] = (points @ np.array([[cosine, sine], [-sine, cosine]]) + pivot).tolist()
    return found
