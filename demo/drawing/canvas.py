"""Canvas for an image: flat polygons at three times the size, averaged down at the end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from demo.drawing.parts import Colour, Part, Points, Sprite, box, colour_of, oval, polygon

OVERSAMPLE = 3


@dataclass(frozen=True)
class Mood:
    """The light of a scene: the sky from top to horizon, the sun or moon, and a tint over all."""

    name: str
    top: Colour
    low: Colour
    orb: Colour | None
    tint: Colour
    share: float


MOODS = tuple(
    Mood(
        name,
        colour_of(top),
        colour_of(low),
        None if orb is None else colour_of(orb),
        colour_of(tint),
        share,
    )
    for name, top, low, orb, tint, share in (
        ("noon", "#6cc4ec", "#dff3f7", "#fff3b8", "#ffffff", 0.0),
        ("morning", "#a9d8e6", "#fde8d0", "#ffe9a8", "#ffe3c0", 0.08),
        ("cloudy", "#b4c6d3", "#e9eef0", None, "#c9d3dc", 0.14),
        ("evening", "#6d7fb8", "#fbc08f", "#ffd98a", "#f08a5d", 0.13),
        ("dusk", "#34406f", "#c98b9b", "#f7efd8", "#3c3f78", 0.26),
    )
)


class Canvas:
    """Canvas in pixels of the final image; `finish` returns the image."""

    def __init__(self, size: tuple[int, int]) -> None:
        """Start an empty image of `size` (width, height) pixels."""
        self.width, self.height = size
        self._image = Image.new("RGB", (size[0] * OVERSAMPLE, size[1] * OVERSAMPLE))
        self._pen = ImageDraw.Draw(self._image, "RGBA")

    def fill(self, points: Points, colour: Colour, opacity: float = 1.0) -> None:
        """Fill the polygon `points` (V, 2), in pixels."""
        corners = (np.asarray(points) * OVERSAMPLE).ravel().tolist()
        self._pen.polygon(corners, fill=(*colour, round(255 * opacity)))

    def sprite(self, sprite: Sprite, opacity: float = 1.0) -> None:
        """Paint the parts of a placed sprite, first one lowest."""
        for part in sprite:
            if part.colour is not None:
                self.fill(part.points, part.colour, opacity)

    def part(self, part: Part, opacity: float = 1.0) -> None:
        """Paint one part that is already in pixels."""
        self.sprite((part,), opacity)

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        colour: Colour,
        radius: float = 0,
        opacity: float = 1.0,
    ) -> None:
        """Paint an upright rectangle."""
        self.part(box(left, top, right, bottom, colour, radius), opacity)

    def oval(self, x: float, y: float, wide: float, high: float, colour: Colour, opacity: float = 1.0) -> None:
        """Paint an ellipse around (x, y) with half axes `wide` and `high`."""
        self.part(oval(x, y, wide, high, colour), opacity)

    def polygon(self, points: list[tuple[float, float]], colour: Colour, opacity: float = 1.0) -> None:
        """Paint a polygon."""
        self.part(polygon(points, colour), opacity)

    def fade(self, top: float, bottom: float, first: Colour, last: Colour) -> None:
        """Paint rows `top` to `bottom` in a colour that changes from `first` to `last`."""
        rows = max(1, round((bottom - top) * OVERSAMPLE))
        share = np.linspace(0, 1, rows)[:, None, None]
        column = np.asarray(first) * (1 - share) + np.asarray(last) * share
        strip = Image.fromarray(column.round().astype(np.uint8))
        self._image.paste(strip.resize((self._image.width, rows)), (0, round(top * OVERSAMPLE)))

    def finish(self, mood: Mood) -> Image.Image:
        """Return the image at its final size, tinted by the mood."""
        image = self._image.reduce(OVERSAMPLE)
        return Image.blend(image, Image.new("RGB", image.size, mood.tint), mood.share)
