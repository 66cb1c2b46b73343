"""Sprites on wheels: car, van, bus, truck, bicycle, tractor. Metres, facing right."""

from __future__ import annotations

import numpy as np

from demo.drawing.parts import (
    Colour,
    Part,
    Sprite,
    box,
    colour_of,
    dark,
    hoop,
    light,
    oval,
    polygon,
    stroke,
)

PAINTS = tuple(
    colour_of(code)
    for code in (
        "#d1495b",
        "#edae49",
        "#2a9d8f",
        "#3a6ea5",
        "#f4f1de",
        "#7a6c9d",
        "#81b29a",
        "#e07a5f",
        "#46506e",
    )
)
GLASS = colour_of("#bfe3ee")
TYRE = colour_of("#33363f")
STEEL = colour_of("#aab2bd")
LAMP = colour_of("#ffe08a")
BRAKE = colour_of("#b3202e")
SIGN = colour_of("#2d3047")


def _paint(rng: np.random.Generator) -> Colour:
    return PAINTS[rng.integers(len(PAINTS))]


def _wheel(x: float, radius: float) -> Sprite:
    tyre = oval(x, radius, radius, radius, TYRE)
    hub = (
        oval(x, radius, radius * 0.52, radius * 0.52, STEEL),
        oval(x, radius, radius * 0.18, radius * 0.18, dark(STEEL, 0.5)),
    )
    return (tyre, *hub)


def _lamps(back: float, front: float, y: float) -> Sprite:
    return (
        box(front - 0.16, y - 0.09, front, y + 0.09, LAMP, 0.05),
        box(back, y - 0.1, back + 0.1, y + 0.1, BRAKE, 0.03),
    )


def car(rng: np.random.Generator) -> Sprite:
    """Draw a car: a saloon, or an estate that resembles a van."""
    paint = _paint(rng)
    estate = rng.random() < 0.4
    rear_foot, rear_top = (-2.0, -1.75) if estate else (-1.55, -1.05)
    high = 1.55 if estate else 1.45
    low = [(-2.1, 0.28), (-2.1, 0.8), (-1.95, 0.95), (1.2, 0.95), (2.0, 0.8), (2.12, 0.28)]
    roof = [(rear_foot, 0.8), (rear_top, high), (0.5, high), (1.3, 0.8)]
    panes = [
        polygon(
            [
                (rear_foot + 0.25, 0.95),
                (rear_top + 0.1, high - 0.12),
                (-0.42, high - 0.12),
                (-0.42, 0.95),
            ],
            GLASS,
            0.05,
        ),
        polygon([(-0.3, 0.95), (-0.3, high - 0.12), (0.44, high - 0.12), (1.0, 0.95)], GLASS, 0.05),
    ]
    return (
        polygon(roof, paint, 0.12),
        polygon(low, paint, 0.14),
        *panes,
        box(-2.05, 0.28, 2.05, 0.42, dark(paint)),
        box(-0.1, 0.72, 0.16, 0.78, dark(paint, 0.4)),
        stroke([(-0.36, 0.42), (-0.36, 0.92)], 0.03, dark(paint)),
        *_lamps(-2.1, 2.07, 0.68),
        *_wheel(-1.28, 0.37),
        *_wheel(1.25, 0.37),
    )


def van(rng: np.random.Generator) -> Sprite:
    """Draw a van: a tall one for parcels, or a low one with windows that resembles a car."""
    paint = _paint(rng)
    low = rng.random() < 0.45
    high = 1.72 if low else 2.15
    shell = [(-2.25, 0.3), (-2.25, high), (0.75, high), (1.5, 1.1), (2.15, 0.92), (2.25, 0.3)]
    windscreen = [(0.2, 1.08), (0.2, high - 0.16), (0.7, high - 0.16), (1.26, 1.08)]
    if low:
        sides = [
            box(-2.05, 1.08, -1.05, high - 0.16, GLASS, 0.06),
            box(-0.93, 1.08, 0.08, high - 0.16, GLASS, 0.06),
        ]
    else:
        sides = [
            box(-1.9, 1.0, -0.2, 1.75, light(paint, 0.45), 0.08),
            box(-1.7, 1.2, -0.95, 1.55, dark(paint, 0.35), 0.05),
        ]
    return (
        polygon(shell, paint, 0.16),
        polygon(windscreen, GLASS, 0.06),
        *sides,
        box(-2.2, 0.3, 2.2, 0.46, dark(paint)),
        stroke([(0.12, 0.46), (0.12, 1.0)], 0.03, dark(paint)),
        *_lamps(-2.25, 2.2, 0.74),
        *_wheel(-1.38, 0.38),
        *_wheel(1.3, 0.38),
    )


def bus(rng: np.random.Generator) -> Sprite:
    """Draw a town bus with a row of windows and a stripe."""
    paint = _paint(rng)
    panes = [box(x, 1.5, x + 0.82, 2.5, GLASS, 0.06) for x in np.arange(-3.2, 1.6, 0.96)]
    door = [
        box(1.62, 0.5, 2.5, 2.5, dark(paint, 0.35), 0.06),
        box(1.7, 0.62, 2.02, 2.4, GLASS, 0.04),
        box(2.1, 0.62, 2.42, 2.4, GLASS, 0.04),
    ]
    return (
        box(-3.4, 0.35, 3.4, 2.95, paint, 0.22),
        box(-3.38, 0.95, 1.55, 1.2, light(paint, 0.6)),
        box(-3.36, 0.35, 3.36, 0.52, dark(paint)),
        *panes,
        *door,
        box(2.66, 1.3, 3.4, 2.5, GLASS, 0.08),
        box(2.5, 2.62, 3.3, 2.85, SIGN, 0.04),
        *_lamps(-3.4, 3.4, 0.74),
        *_wheel(-2.2, 0.46),
        *_wheel(2.75, 0.46),
    )


def truck(rng: np.random.Generator) -> Sprite:
    """Draw a truck: a cab before a box that may carry a stripe."""
    paint, cargo = _paint(rng), light(_paint(rng), 0.45)
    cab = [(1.25, 0.4), (1.25, 2.35), (2.35, 2.35), (2.85, 1.4), (2.95, 0.4)]
    return (
        box(-3.1, 0.5, 2.9, 0.85, TYRE),
        box(-3.1, 0.8, 1.1, 2.85, cargo, 0.08),
        box(1.0, 0.6, 1.4, 1.2, TYRE),
        polygon(cab, paint, 0.14),
        box(-3.05, 1.45, 1.05, 1.95, paint),
        box(-3.05, 0.8, 1.05, 0.95, dark(cargo)),
        polygon([(1.75, 1.4), (1.75, 2.18), (2.27, 2.18), (2.66, 1.4)], GLASS, 0.06),
        box(1.3, 0.42, 2.9, 0.6, dark(paint)),
        _lamps(1.3, 2.93, 0.85)[0],
        *_wheel(-2.4, 0.46),
        *_wheel(-1.4, 0.46),
        *_wheel(2.1, 0.46),
    )


def bicycle(rng: np.random.Generator) -> Sprite:
    """Draw a bicycle from the side; its outline encloses the wheels."""
    paint = _paint(rng)
    paint = dark(paint, 0.2) if min(paint) > 190 else paint
    seat, head, crank = (-0.22, 0.98), (0.42, 1.0), (-0.08, 0.42)
    tubes: list[Part] = [
        stroke(line, 0.07, paint)
        for line in (
            [(-0.58, 0.38), crank, head, (-0.18, 0.86)],
            [(-0.18, 0.86), (-0.58, 0.38)],
            [crank, seat],
            [(0.58, 0.38), (0.4, 1.12)],
        )
    ]
    spokes = [
        stroke([(x - dx, 0.38 - dy), (x + dx, 0.38 + dy)], 0.015, STEEL)
        for x in (-0.58, 0.58)
        for dx, dy in ((0.33, 0.0), (0.0, 0.33), (0.23, 0.23), (0.23, -0.23))
    ]
    return (
        *spokes,
        *hoop(-0.58, 0.38, 0.38, 0.06, TYRE),
        *hoop(0.58, 0.38, 0.38, 0.06, TYRE),
        *tubes,
        stroke([(-0.36, 1.0), (-0.1, 1.0)], 0.1, TYRE),
        stroke([(0.4, 1.12), (0.52, 1.16), (0.56, 1.06)], 0.06, TYRE),
        oval(*crank, 0.1, 0.1, STEEL),
    )


def tractor(rng: np.random.Generator) -> Sprite:
    """Draw a tractor with a big rear wheel, a cabin and an exhaust pipe."""
    paint = PAINTS[rng.choice([0, 1, 2, 3, 7])]
    rim = colour_of("#f2c14e") if paint != PAINTS[1] else PAINTS[4]
    cabin = [(-1.2, 1.2), (-1.05, 2.45), (0.05, 2.45), (0.3, 1.2)]
    return (
        stroke([(0.95, 1.3), (0.95, 2.25)], 0.11, TYRE),
        polygon(cabin, dark(paint, 0.1), 0.1),
        box(-1.3, 2.38, 0.25, 2.56, paint, 0.08),
        box(-1.0, 0.65, 1.8, 1.45, paint, 0.18),
        polygon([(-0.98, 1.35), (-0.88, 2.3), (-0.1, 2.3), (0.1, 1.35)], GLASS, 0.05),
        *(box(x, 0.9, x + 0.08, 1.25, dark(paint, 0.4)) for x in (1.05, 1.23, 1.41)),
        box(1.62, 1.02, 1.8, 1.24, LAMP, 0.05),
        *(oval(-0.75, 0.82, r, r, c) for r, c in ((0.82, TYRE), (0.5, rim), (0.16, TYRE))),
        *(oval(1.35, 0.45, r, r, c) for r, c in ((0.45, TYRE), (0.26, rim), (0.09, TYRE))),
    )
