"""Parts of sprites: flat polygons, and operations on them.

A sprite is designed in metres, x to the right and y upwards, standing on y = 0 and facing right.
`place` turns it into pixels of the image (y downwards). The sprite's outline is the union of its
parts, so that image and labels always match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray

Colour = tuple[int, int, int]
Points = NDArray[np.float64]  # (V, 2)
NIGHT: Colour = (38, 40, 66)
WHITE: Colour = (255, 255, 255)


@dataclass(frozen=True)
class Part:
    """One flat polygon of a sprite.

    points : (V, 2) float64, the corners, closed implicitly
    colour : red, green, blue in 0..255; None is part of the outline but is not painted
    """

    points: Points
    colour: Colour | None


Sprite = tuple[Part, ...]


def colour_of(code: str) -> Colour:
    """The colour of a code such as "#d1495b"."""
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def mix(first: Colour, second: Colour, share: float) -> Colour:
    """`first` with a `share` in [0, 1] of `second` mixed in."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue


def dark(colour: Colour, share: float = 0.22) -> Colour:
    """Return a shaded `colour`."""
    return mix(colour, NIGHT, share)


def light(colour: Colour, share: float = 0.3) -> Colour:
    """Return a lit `colour`."""
    return mix(colour, WHITE, share)


def polygon(points: Sequence[tuple[float, float]], colour: Colour | None, radius: float = 0) -> Part:
    """Return a polygon with its convex corners rounded by `radius`, in the unit of the points."""
    if radius <= 0:
        return Part(np.asarray(points, dtype=float), colour)
    shape = shapely.Polygon(points).buffer(-radius).buffer(radius, quad_segs=4)
    return Part(_ring(shape), colour)


def box(left: float, low: float, right: float, high: float, colour: Colour, radius: float = 0) -> Part:
    """Return an upright rectangle with corners rounded by `radius`."""
    return polygon([(left, low), (left, high), (right, high), (right, low)], colour, radius)


def oval(x: float, y: float, wide: float, high: float, colour: Colour | None) -> Part:
    """Return an ellipse around (x, y) with half axes `wide` and `high`."""
    turn = np.linspace(0, 2 * np.pi, 28, endpoint=False)
    return Part(np.column_stack([x + wide * np.cos(turn), y + high * np.sin(turn)]), colour)


def blob(points: Sequence[tuple[float, float]], colour: Colour) -> Part:
    """Return a closed curve that follows the corners `points` (Chaikin's corner cutting, twice)."""
    curve = np.asarray(points, dtype=float)
    for _ in range(2):
        after = np.roll(curve, -1, axis=0)
        cut = np.stack([0.75 * curve + 0.25 * after, 0.25 * curve + 0.75 * after], axis=1)
        curve = cut.reshape(-1, 2)
    return Part(curve, colour)


def stroke(points: Sequence[tuple[float, float]], width: float, colour: Colour) -> Part:
    """Return a line through `points` of the given width, with round ends."""
    return Part(_ring(shapely.LineString(points).buffer(width / 2, quad_segs=4)), colour)


def hoop(x: float, y: float, radius: float, width: float, colour: Colour) -> tuple[Part, Part]:
    """Return a ring as painted, and the full disc that its outline encloses."""
    disc = oval(x, y, radius, radius, None)
    centre = np.array([x, y])
    inner = centre + (disc.points - centre) * (1 - width / radius)
    seam = [disc.points, disc.points[:1], inner[:1], inner[::-1]]
    return disc, Part(np.concatenate(seam), colour)


def place(sprite: Sprite, x: float, y: float, scale: float, flip: bool = False) -> Sprite:
    """The sprite in pixels: standing on (x, y), `scale` pixels a metre, facing left if `flip`."""
    factor = np.array([-scale if flip else scale, -scale])
    return tuple(replace(part, points=part.points * factor + (x, y)) for part in sprite)


def silhouette(sprite: Sprite) -> shapely.Polygon:
    """The outline of all parts together, holes filled."""
    whole = shapely.union_all([_valid(part.points) for part in sprite])
    if not isinstance(whole, shapely.Polygon):
        raise ValueError(f"The parts of a sprite must touch; their union is a {whole.geom_type}.")
    return shapely.Polygon(_ring(whole))


def _valid(points: Points) -> shapely.Polygon:
    shape = shapely.Polygon(points)
    return shape if shape.is_valid else shape.buffer(0)


def _ring(shape: shapely.Polygon) -> Points:
    """The outer ring of a polygon without the repeated last point, (V, 2)."""
    return shapely.get_coordinates(shape.exterior)[:-1]
