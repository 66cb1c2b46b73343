"""Parsing of shapes that is common to the exports of annotation tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import as_number, listed, repr_of
from kalos_core.files import as_float
from kalos_core.limits import limit
from kalos_core.shapes.masks import count_pixels


class UnusableError(Exception):
    """Invalid annotation: the expected and the actual value; caught where the record's name is known.

    Examples
    --------
    >>> UnusableError("a label", "nothing").args
    ('a label', 'nothing')
    """


def numbers_in(record: Mapping[str, Any] | Element, *names: str) -> list[float]:
    """Return the numbers in fields of a record, which may be text.

    Raises
    ------
    UnusableError
        If a field is not a number.

    Examples
    --------
    >>> numbers_in({"x": 1, "y": "2.5"}, "x", "y")
    [1.0, 2.5]
    """
    given = [record.get(name) for name in names]
    found = [as_float(value) if isinstance(value, str) else as_number(value) for value in given]
    numbers = [number for number in found if number is not None]
    if len(numbers) < len(names):
        raise UnusableError(f"numbers in {', '.join(names)}", listed(map(repr_of, given), len(given)))
    return numbers


def angle_in(record: Mapping[str, Any] | Element, name: str = "rotation") -> float:
    """Return the angle in a field of a record; 0 without it."""
    return 0.0 if record.get(name) in (None, "") else numbers_in(record, name)[0]


def points_in(given: Any, expected: str = "points [[x, y], ...]") -> list[list[float]]:
    """Return a list of points (x, y), at least one.

    Raises
    ------
    UnusableError
        For anything else.

    Examples
    --------
    >>> points_in([[1, 2], (3, 4)])
    [[1.0, 2.0], [3.0, 4.0]]
    """
    points = given if isinstance(given, list) else []
    read = [[as_number(number) for number in point] if isinstance(point, (list, tuple)) else [] for point in points]
    numbers = [[number for number in point if number is not None] for point in read]
    if not numbers or numbers != read or any(len(point) != 2 for point in numbers):
        raise UnusableError(expected, repr_of(given))
    return numbers


def box_or_polygon(
    box: Sequence[float], degrees: float = 0.0, pivot: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Return the shape of a box x, y, width, height: a polygon if it is rotated.

    Parameters
    ----------
    box : sequence of float
    degrees : float
        Rotation, clockwise in image coordinates.
    pivot : (x, y), optional
        Centre of rotation; by default the centre of the box.

    Examples
    --------
    >>> box_or_polygon([0, 0, 4, 2])
    {'box': [0, 0, 4, 2]}
    >>> [[round(x), round(y)] for x, y in box_or_polygon([0, 0, 4, 2], 90, (0, 0))["polygon"][0]]
    [[0, 0], [0, 4], [-2, 4], [-2, 0]]
    """
    if not degrees % 360:
        return {"box": list(box)}
    x, y, width, height = box
    return {"polygon": [turned(box, degrees, (x + width / 2, y + height / 2) if pivot is None else pivot)]}


def turned(box: Sequence[float], degrees: float, pivot: tuple[float, float]) -> list[list[float]]:
    """Return the corners of a box x, y, width, height rotated about a point, clockwise in image coordinates."""
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are reported later
        return _turned(np.array(rectangle(box)) - pivot, degrees, pivot)


def mask_at(pixels: NDArray[np.bool_], left: float, top: float, size: tuple[float, float]) -> dict[str, Any]:
    """Return the mask of a whole image from a part (height, width) and the position of its top left corner.

    Raises
    ------
    UnusableError
        If the size of the image is not known in whole pixels, or the part is not inside the image.

    Examples
    --------
    >>> mask_at(np.array([[True]]), 1, 0, (2.0, 2.0))["mask"]["counts"].tolist()
    [2, 1, 1]
    """
    width, height = size
    if not (width.is_integer() and height.is_integer() and width * height <= limit("KALOS_MOST_PIXELS")):  # or NaN
        raise UnusableError("a width and height of the image in whole pixels", f"{width:g} x {height:g}")
    bottom, right = top + pixels.shape[0], left + pixels.shape[1]
    if not (left >= 0 and right <= width and top >= 0 and bottom <= height and left % 1 == top % 1 == 0):
        part = f"{pixels.shape[1]} x {pixels.shape[0]} at {left:g}, {top:g}"
        raise UnusableError(f"a mask in whole pixels inside of {width:g} x {height:g}", part)
    canvas = np.zeros((int(height), int(width)), np.bool_)
    canvas[int(top) : int(bottom), int(left) : int(right)] = pixels
    return {"mask": run_lengths(canvas)}


def run_lengths(pixels: NDArray[np.bool_]) -> dict[str, Any]:
    """Return COCO run lengths of a mask (height, width), which need little memory until all annotations are read.

    Examples
    --------
    >>> mask = run_lengths(np.array([[False, True, True], [False, True, False]]))
    >>> mask["size"], mask["counts"].tolist()
    ((2, 3), [2, 3, 1])
    """
    return {"size": pixels.shape, "counts": count_pixels(pixels)}


ELLIPSE_CORNERS = 64
"""Number of corners of the polygon that replaces an ellipse; its area is 0.16 % smaller than that of the ellipse."""


def ellipse(x: float, y: float, radius_x: float, radius_y: float, angle: float = 0.0) -> list[list[float]]:
    """Return the polygon of an ellipse: `ELLIPSE_CORNERS` points (x, y) in pixels on its outline.

    Parameters
    ----------
    x, y : float
        Centre, in pixels.
    radius_x, radius_y : float
        Semi-axes before rotation, in pixels.
    angle : float
        Rotation about the centre in degrees, clockwise in image coordinates.

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
    with np.errstate(over="ignore", invalid="ignore"):  # values that are not finite are reported later
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
    """Rotate points relative to a pivot, clockwise in image coordinates, and translate them to the pivot."""
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    found: list[list[float]] = (points @ np.array([[cosine, sine], [-sine, cosine]]) + pivot).tolist()
    return found
