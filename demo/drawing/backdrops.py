"""Backdrops behind the objects, which are never labelled: sky, hills, houses, road, field and sea."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from demo.drawing.canvas import Canvas, Mood
from demo.drawing.parts import WHITE, Colour, colour_of, dark, light, mix

Rng = np.random.Generator
Backdrop = Callable[[Canvas, Mood, float, Rng], None]

WALLS = tuple(colour_of(c) for c in ("#e9c9a8", "#d99f86", "#c9d5c3", "#e8dcc4", "#b9c9d6", "#dcb3a8"))
ROOFS = tuple(colour_of(c) for c in ("#9c5a4a", "#7d6b78", "#5f6f7f", "#a8745a"))
ASPHALT = colour_of("#7b8290")
PAVING = colour_of("#cfc9bf")
GRASS = tuple(colour_of(c) for c in ("#9fcf7f", "#8cc27a", "#b3d47e"))
SEA = tuple(colour_of(c) for c in ("#4fa3c4", "#3f8fb0", "#5bb0b8"))
FIELDS = tuple(colour_of(c) for c in ("#c9d479", "#a8c96a", "#e3cf7a", "#8fbf6b", "#d9bd66"))
EARTH = colour_of("#d8b98a")


def street(canvas: Canvas, mood: Mood, horizon: float, rng: Rng) -> None:
    """Draw a row of houses, a pavement, a road with two lanes, and the near pavement."""
    _sky(canvas, mood, horizon, rng)
    _skyline(canvas, mood, horizon, rng)
    _houses(canvas, mood, horizon, rng)
    ground = canvas.height - horizon
    kerb, line, edge = (horizon + ground * share for share in (0.13, 0.45, 0.8))
    canvas.box(0, horizon, canvas.width, canvas.height, PAVING)
    canvas.box(0, kerb, canvas.width, edge, ASPHALT)
    for y in (kerb - 3, edge):
        canvas.box(0, y, canvas.width, y + 4, dark(PAVING, 0.3))
    dash = canvas.width / 9
    for x in np.arange(-rng.uniform(0, dash), canvas.width, dash):
        canvas.box(x, line - 2, x + dash * 0.55, line + 2, light(PAVING, 0.6), 1)
    for x in np.arange(0, canvas.width * 1.4, canvas.width / 8):
        shift = canvas.height - edge
        canvas.polygon(
            [
                (x, edge + 4),
                (x + 2, edge + 4),
                (x - shift * 0.6 + 2, canvas.height),
                (x - shift * 0.6, canvas.height),
            ],
            dark(PAVING, 0.12),
        )


def park(canvas: Canvas, mood: Mood, horizon: float, rng: Rng) -> None:
    """Draw a meadow with a winding path, flowers and sometimes a pond, hills behind."""
    _sky(canvas, mood, horizon, rng)
    grass = GRASS[rng.integers(len(GRASS))]
    _hills(canvas, horizon, mix(dark(grass, 0.1), mood.low, 0.45), 0.3, rng)
    _hills(canvas, horizon, mix(dark(grass, 0.1), mood.low, 0.2), 0.16, rng)
    canvas.fade(horizon, canvas.height, light(grass, 0.18), dark(grass, 0.08))
    if rng.random() < 0.4:
        _pond(canvas, horizon, mood, rng)
    _path(canvas, horizon, rng)
    _tufts(canvas, horizon, dark(grass, 0.2), rng)


def harbour(canvas: Canvas, mood: Mood, horizon: float, rng: Rng) -> None:
    """The sea with its glints under a wide sky, and a far coast."""
    _sky(canvas, mood, horizon, rng)
    coast = mix(colour_of("#6f9a8d"), mood.low, 0.45)
    _hills(canvas, horizon, coast, 0.12, rng)
    sea = SEA[rng.integers(len(SEA))]
    canvas.fade(horizon, canvas.height, mix(sea, mood.low, 0.5), dark(sea, 0.18))
    for _ in range(60):
        share = rng.random() ** 1.5
        y = horizon + 3 + share * (canvas.height - horizon)
        x, wide = rng.uniform(0, canvas.width), 8 + 38 * share * rng.uniform(0.5, 1)
        canvas.oval(x, y, wide, 0.8 + 1.2 * share, light(sea, 0.45), 0.55)


def farm(canvas: Canvas, mood: Mood, horizon: float, rng: Rng) -> None:
    """Striped fields, a barn, a fence, and a yard of grass or earth."""
    _sky(canvas, mood, horizon, rng)
    far, near = (FIELDS[i] for i in rng.choice(len(FIELDS), 2, replace=False))
    _hills(canvas, horizon, mix(far, mood.low, 0.4), 0.3, rng)
    _hills(canvas, horizon, mix(far, mood.low, 0.15), 0.15, rng)
    _barn(canvas, horizon, rng)
    strip = horizon + 0.2 * (canvas.height - horizon)
    canvas.box(0, horizon, canvas.width, strip + 2, near)
    vanish = rng.uniform(0.2, 0.8) * canvas.width
    for x in np.arange(-2.0, 3.0, 0.16) * canvas.width:
        canvas.polygon(
            [(vanish + (x - vanish) * 0.7, horizon), (x, strip), (x + canvas.width * 0.05, strip)],
            dark(near, 0.12),
        )
    yard = EARTH if rng.random() < 0.4 else GRASS[rng.integers(len(GRASS))]
    canvas.fade(strip, canvas.height, light(yard, 0.15), dark(yard, 0.06))
    _fence(canvas, strip)
    _tufts(canvas, strip, dark(yard, 0.18), rng)


BACKDROPS: dict[str, Backdrop] = {
    "street": street,
    "park": park,
    "harbour": harbour,
    "farm": farm,
}


def _sky(canvas: Canvas, mood: Mood, horizon: float, rng: Rng) -> None:
    canvas.fade(0, horizon + 1, mood.top, mood.low)
    if mood.orb is not None:
        x, y = rng.uniform(0.08, 0.92) * canvas.width, rng.uniform(0.15, 0.5) * horizon
        for radius, opacity in ((44, 0.16), (33, 0.28), (23, 1.0)):
            canvas.oval(x, y, radius, radius, mood.orb, opacity)
    for _ in range(rng.integers(2, 5) + 3 * (mood.name == "cloudy")):
        _cloud(
            canvas,
            rng.uniform(0, canvas.width),
            rng.uniform(0.1, 0.62) * horizon,
            rng.uniform(0.6, 1.4),
            light(mood.low, 0.5),
        )


def _cloud(canvas: Canvas, x: float, y: float, scale: float, colour: Colour) -> None:
    """Paint a flat-bottomed cloud as one shape, so that its transparent parts do not add up."""
    canvas.box(x - 38 * scale, y - 9 * scale, x + 38 * scale, y + 6 * scale, colour, 7 * scale)
    for dx, dy, radius in ((-16, -10, 14), (4, -16, 18), (22, -8, 11)):
        canvas.oval(x + dx * scale, y + dy * scale, radius * scale, radius * scale, colour)


def _hills(canvas: Canvas, horizon: float, colour: Colour, height: float, rng: Rng) -> None:
    """Return a rolling line up to `height` (share of the horizon's y) above the horizon."""
    x = np.linspace(0, canvas.width, 60)
    waves = sum(np.sin(x / canvas.width * 2 * np.pi * pace + rng.uniform(0, 6.3)) / pace for pace in (0.8, 1.7, 3.1))
    y = horizon - height * horizon * (0.55 + 0.25 * np.asarray(waves))
    corners = [(0.0, horizon + 2), *zip(x.tolist(), y.tolist(), strict=True)]
    canvas.polygon([*corners, (float(canvas.width), horizon + 2)], colour)


def _skyline(canvas: Canvas, mood: Mood, horizon: float, rng: Rng) -> None:
    colour = mix(mood.low, colour_of("#7d8ca3"), 0.35)
    x = -10.0
    while x < canvas.width:
        wide = rng.uniform(34, 80)
        canvas.box(x, horizon - rng.uniform(0.45, 0.82) * horizon, x + wide, horizon, colour)
        x += wide + rng.uniform(-6, 22)


def _houses(canvas: Canvas, mood: Mood, horizon: float, rng: Rng) -> None:
    x, last = -rng.uniform(0, 60), -1
    while x < canvas.width:
        wide = rng.uniform(84, 138)
        paint = int(rng.choice([i for i in range(len(WALLS)) if i != last]))
        lit = {"evening": 0.35, "dusk": 0.7}.get(mood.name, 0.0)
        high = rng.uniform(0.36, 0.56) * horizon
        _house(canvas, (x, horizon, wide, high), WALLS[paint], lit, rng)
        x, last = x + wide, paint


def _house(canvas: Canvas, front: tuple[float, float, float, float], wall: Colour, lit: float, rng: Rng) -> None:
    """Draw a house front with a roof, rows of windows and a door.

    front : left, foot, width and height, pixels
    lit : share of the windows in which a lamp is on
    """
    x, foot, wide, high = front
    roof = ROOFS[rng.integers(len(ROOFS))]
    top = foot - high
    peak = rng.uniform(18, 40)
    if rng.random() < 0.5:
        canvas.polygon([(x - 3, top), (x + wide / 2, top - peak), (x + wide + 3, top)], roof)
    else:
        canvas.polygon(
            [
                (x - 3, top),
                (x + 12, top - peak * 0.7),
                (x + wide - 12, top - peak * 0.7),
                (x + wide + 3, top),
            ],
            roof,
        )
    canvas.box(x, top, x + wide, foot, wall)
    canvas.box(x, foot - 8, x + wide, foot, dark(wall, 0.2))
    columns = 3
    door = int(rng.integers(columns))
    for row, y in enumerate(np.arange(foot - 40, top + 2, -38)):
        for column in range(columns):
            middle = x + wide * (column + 0.5) / columns
            if row == 0 and column == door:
                canvas.box(middle - 9, foot - 38, middle + 9, foot, dark(roof, 0.15))
                continue
            canvas.box(middle - 9, y, middle + 9, y + 21, light(wall, 0.6))
            pane = colour_of("#ffd97a" if rng.random() < lit else "#7f9db3")
            canvas.box(middle - 7, y + 2, middle + 7, y + 19, pane)
            canvas.box(middle - 1, y + 2, middle + 1, y + 19, light(wall, 0.6))


def _path(canvas: Canvas, horizon: float, rng: Rng) -> None:
    share = np.linspace(0, 1, 40)
    centre = canvas.width * (rng.uniform(0.3, 0.7) + 0.2 * np.sin(share * 4 + rng.uniform(0, 6.3)) * (0.2 + share))
    half = 3 + canvas.width * 0.09 * share**1.6
    y = horizon + share * (canvas.height - horizon)
    edges = np.concatenate([np.column_stack([centre - half, y]), np.column_stack([centre + half, y])[::-1]])
    canvas.fill(edges, colour_of("#ead9b5"))


def _pond(canvas: Canvas, horizon: float, mood: Mood, rng: Rng) -> None:
    x = rng.uniform(0.15, 0.85) * canvas.width
    y = horizon + rng.uniform(0.2, 0.4) * (canvas.height - horizon)
    wide = rng.uniform(80, 130)
    water = mix(colour_of("#6db7cf"), mood.low, 0.25)
    canvas.oval(x, y, wide, wide * 0.2, light(water, 0.4))
    canvas.oval(x, y + 1, wide - 6, wide * 0.2 - 4, water)


def _tufts(canvas: Canvas, top: float, colour: Colour, rng: Rng) -> None:
    """Paint blades of grass and a few flowers, larger if nearer."""
    petals = [WHITE, colour_of("#f5d76e"), colour_of("#f2a6a0")]
    for _ in range(46):
        share = rng.random()
        x, y = rng.uniform(0, canvas.width), top + 6 + share * (canvas.height - top - 8)
        size = 2 + 5 * share
        if rng.random() < 0.3:
            canvas.oval(x, y, size * 0.42, size * 0.42, petals[rng.integers(3)])
        else:
            canvas.polygon(
                [
                    (x - size, y),
                    (x - size * 0.7, y - size),
                    (x - size * 0.2, y),
                    (x, y - size * 1.4),
                    (x + size * 0.2, y),
                    (x + size * 0.7, y - size),
                    (x + size, y),
                ],
                colour,
                0.7,
            )


def _barn(canvas: Canvas, horizon: float, rng: Rng) -> None:
    red, x = colour_of("#b5523f"), rng.uniform(0.05, 0.75) * canvas.width
    wide, foot = rng.uniform(100, 140), horizon + 3
    wall, peak = wide * 0.42, wide * 0.72
    canvas.box(x + wide * 0.5, foot - peak, x + wide * 1.5, foot - wall, ROOFS[2])
    canvas.box(x + wide * 0.5, foot - wall, x + wide * 1.46, foot, dark(red, 0.16))
    canvas.polygon(
        [
            (x, foot),
            (x, foot - wall),
            (x + wide * 0.18, foot - peak * 0.88),
            (x + wide * 0.5, foot - peak * 1.05),
            (x + wide * 0.82, foot - peak * 0.88),
            (x + wide, foot - wall),
            (x + wide, foot),
        ],
        red,
    )
    canvas.box(x + wide * 0.3, foot - wall * 0.8, x + wide * 0.7, foot, light(red, 0.75))
    canvas.box(x + wide * 0.33, foot - wall * 0.74, x + wide * 0.67, foot, dark(red, 0.25))
    canvas.box(x + wide * 0.42, foot - peak * 0.86, x + wide * 0.58, foot - peak * 0.66, WHITE)


def _fence(canvas: Canvas, y: float) -> None:
    wood = colour_of("#b08a63")
    for rail in (-15, -7):
        canvas.box(0, y + rail, canvas.width, y + rail + 3, wood)
    for x in range(8, canvas.width, 44):
        canvas.box(x, y - 21, x + 5, y + 3, dark(wood, 0.12), 1)
