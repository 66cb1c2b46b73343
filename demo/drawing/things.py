"""Sprites of plants and objects: trees, street furniture, toys and boats. Metres, facing right."""

from __future__ import annotations

import numpy as np

from demo.drawing.parts import (
    Sprite,
    blob,
    box,
    colour_of,
    dark,
    light,
    oval,
    polygon,
    stroke,
)

WOOD = colour_of("#8a5f3f")
LEAVES = tuple(colour_of(c) for c in ("#5b9a57", "#7bae5a", "#3f7f5f", "#e0913f", "#9bbf65"))
NEEDLES = tuple(colour_of(c) for c in ("#2f6b54", "#3f7d58", "#275b57"))
BRIGHT = tuple(colour_of(c) for c in ("#d1495b", "#edae49", "#2a9d8f", "#3a6ea5", "#e98a6b"))
HULLS = tuple(colour_of(c) for c in ("#d1495b", "#f4f1de", "#2f5d8a", "#2a9d8f", "#46506e"))
SAILS = tuple(colour_of(c) for c in ("#fbf7ec", "#f3d9b1", "#e98a6b", "#d8e6ee"))
GLASS = colour_of("#a9d6e5")
INK = colour_of("#2b2d38")
WHITE = colour_of("#fbfaf5")


def tree(rng: np.random.Generator) -> Sprite:
    """Draw a leafy tree or a fir."""
    if rng.random() < 0.4:
        return _fir(rng)
    leaf = LEAVES[rng.integers(len(LEAVES))]
    crown = [(0.0, 3.1, 0.95), (-0.75, 2.5, 0.8), (0.75, 2.5, 0.8), (0.0, 2.2, 0.9)]
    spots = [(-0.3, 3.3, 0.45), (0.55, 2.75, 0.35), (-0.85, 2.65, 0.35)]
    return (
        polygon([(-0.2, 0), (-0.13, 2.0), (0.13, 2.0), (0.2, 0)], WOOD),
        *(oval(x, y, r, r * 0.92, leaf) for x, y, r in crown),
        *(oval(x, y - 0.1, r, r * 0.8, light(leaf, 0.16)) for x, y, r in spots),
        blob(
            [(-1.2, 2.1), (0.2, 2.05), (1.4, 2.2), (1.1, 1.85), (0.4, 1.5), (-0.6, 1.6)],
            dark(leaf, 0.16),
        ),
    )


def _fir(rng: np.random.Generator) -> Sprite:
    green = NEEDLES[rng.integers(len(NEEDLES))]
    tiers = [(0.5, 1.15, 1.6), (1.35, 0.9, 1.45), (2.15, 0.66, 1.35)]
    return (
        box(-0.14, 0, 0.14, 0.7, WOOD),
        *(polygon([(-w, y), (0, y + h), (w, y)], green) for y, w, h in tiers),
        *(polygon([(0.0, y), (0, y + h), (w, y)], dark(green, 0.18)) for y, w, h in tiers),
    )


def bench(rng: np.random.Generator) -> Sprite:
    """Draw a park bench of wooden slats, seen from the front."""
    wood = dark(colour_of("#b5794a"), float(rng.uniform(0, 0.3)))
    steel = colour_of("#4d5562")
    return (
        *(stroke([(x, 0.03), (x, 0.9)], 0.09, steel) for x in (-0.78, 0.78)),
        *(box(-0.98, y, 0.98, y + 0.15, wood, 0.04) for y in (0.58, 0.78)),
        box(-1.02, 0.36, 1.02, 0.5, light(wood, 0.15), 0.05),
        box(-0.98, 0.28, 0.98, 0.38, dark(wood)),
    )


def kite(rng: np.random.Generator) -> Sprite:
    """Draw a kite in two colours with a tail."""
    first, second = (BRIGHT[i] for i in rng.choice(len(BRIGHT), 2, replace=False))
    tail = [(0, 0.0), (0.14, -0.25), (-0.08, -0.5), (0.1, -0.78)]
    left, right = [(0, 1.2), (-0.45, 0.72), (0, 0)], [(0, 1.2), (0.45, 0.72), (0, 0)]
    return (
        stroke(tail, 0.06, dark(second)),
        *(oval(x, y, 0.1, 0.07, first) for x, y in (tail[1], tail[2], tail[3])),
        polygon(left, first),
        polygon(right, second),
        polygon([(0, 0.72), (-0.45, 0.72), (0, 0)], second),
        polygon([(0, 0.72), (0.45, 0.72), (0, 0)], first),
    )


def ball(rng: np.random.Generator) -> Sprite:
    """Draw a beach ball with coloured panels."""
    first, second = (BRIGHT[i] for i in rng.choice(len(BRIGHT), 2, replace=False))
    disc = oval(0, 0.32, 0.32, 0.32, WHITE)
    return (
        disc,
        blob([(-0.1, 0.63), (-0.34, 0.42), (-0.34, 0.2), (-0.08, 0.02), (-0.16, 0.32)], first),
        blob([(0.1, 0.63), (0.34, 0.42), (0.34, 0.2), (0.08, 0.02), (0.16, 0.32)], second),
        oval(0, 0.57, 0.07, 0.04, first),
    )


def traffic_light(rng: np.random.Generator) -> Sprite:
    """Draw a traffic light on its pole, one lamp lit."""
    lamps = [colour_of(c) for c in ("#3ecf8e", "#ffc845", "#ff5a4f")]
    lit = int(rng.integers(3))
    shade = colour_of("#4b5060")
    return (
        stroke([(0, 0.04), (0, 2.1)], 0.13, dark(shade, 0.1)),
        box(-0.16, 0, 0.16, 0.14, shade, 0.03),
        box(-0.27, 1.85, 0.27, 3.15, INK, 0.12),
        *(oval(0, 2.1 + 0.4 * i, 0.16, 0.16, lamp if i == lit else dark(lamp, 0.72)) for i, lamp in enumerate(lamps)),
    )


def sailing_boat(rng: np.random.Generator) -> Sprite:
    """Draw a sailing boat; with furled sails it resembles a motor boat."""
    hull = HULLS[rng.integers(len(HULLS))]
    sail = SAILS[rng.integers(len(SAILS))]
    body = (
        polygon([(-2.2, 0.75), (-1.7, -0.12), (1.5, -0.12), (2.5, 0.85)], hull, 0.1),
        polygon([(-2.16, 0.66), (-2.02, 0.44), (2.1, 0.48), (2.36, 0.72)], light(hull, 0.5)),
        box(-0.9, 0.6, 0.5, 1.02, light(WOOD, 0.2), 0.12),
    )
    rig: Sprite
    if rng.random() < 0.25:
        rig = (
            stroke([(0, 0.7), (0, 4.4)], 0.11, WOOD),
            stroke([(0, 1.3), (-1.75, 1.3)], 0.3, sail),
        )
    else:
        rig = (
            stroke([(0, 0.7), (0, 5.3)], 0.11, WOOD),
            polygon([(-0.02, 5.1), (-0.02, 1.15), (-1.95, 1.15)], sail),
            polygon([(0.02, 4.7), (0.02, 1.0), (2.0, 0.95)], dark(sail, 0.1)),
            stroke([(-0.05, 2.6), (-1.2, 2.6)], 0.06, dark(sail, 0.2)),
        )
    return (*rig, *body)


def motor_boat(rng: np.random.Generator) -> Sprite:
    """Draw a motor boat with a cabin; the one with a mast resembles a sailing boat."""
    hull = HULLS[rng.integers(len(HULLS))]
    mast = (stroke([(-0.6, 1.4), (-0.6, 2.9)], 0.1, WOOD),) if rng.random() < 0.4 else ()
    cabin = [(-1.4, 0.7), (-1.4, 1.75), (0.3, 1.75), (0.95, 0.7)]
    return (
        *mast,
        polygon(cabin, WHITE, 0.1),
        box(-1.55, 1.66, 0.5, 1.84, light(hull, 0.15), 0.06),
        polygon([(-2.3, 0.85), (-2.1, -0.12), (1.5, -0.12), (2.7, 1.0)], hull, 0.1),
        polygon([(-2.26, 0.6), (-2.2, 0.4), (2.05, 0.45), (2.3, 0.66)], light(hull, 0.55)),
        box(-1.2, 1.05, -0.75, 1.5, GLASS, 0.06),
        box(-0.6, 1.05, -0.15, 1.5, GLASS, 0.06),
        polygon([(0.0, 1.02), (0.0, 1.52), (0.26, 1.52), (0.58, 1.02)], GLASS, 0.04),
    )


def buoy(rng: np.random.Generator) -> Sprite:
    """Draw a striped buoy, red or green, with a lamp."""
    paint = colour_of(("#d1373f", "#2f9e6e")[rng.integers(2)])
    return (
        stroke([(0, 0.9), (0, 1.45)], 0.09, INK),
        oval(0, 1.5, 0.13, 0.13, colour_of("#ffc845")),
        polygon([(-0.45, 0.1), (-0.2, 1.05), (0.2, 1.05), (0.45, 0.1)], paint, 0.04),
        oval(0, 0.1, 0.62, 0.2, dark(paint, 0.25)),
        polygon([(-0.36, 0.46), (-0.29, 0.74), (0.29, 0.74), (0.36, 0.46)], WHITE),
    )


def lighthouse(rng: np.random.Generator) -> Sprite:
    """Draw a lighthouse with red or blue stripes on its rock."""
    paint = colour_of(("#d1495b", "#3a6ea5")[rng.integers(2)])
    rock = colour_of("#6f7682")
    stripes = [
        polygon(
            [
                (-0.9 + y * 0.06, y),
                (-0.9 + (y + 0.9) * 0.06, y + 0.9),
                (0.9 - (y + 0.9) * 0.06, y + 0.9),
                (0.9 - y * 0.06, y),
            ],
            paint,
        )
        for y in (1.0, 2.9, 4.8)
    ]
    return (
        polygon([(-0.9, 0.2), (-0.5, 6.8), (0.5, 6.8), (0.9, 0.2)], WHITE),
        *stripes,
        box(-0.75, 6.7, 0.75, 6.95, INK),
        box(-0.42, 6.9, 0.42, 7.7, colour_of("#ffe08a")),
        stroke([(0, 6.9), (0, 7.7)], 0.08, INK),
        polygon([(-0.6, 7.65), (0, 8.3), (0.6, 7.65)], paint),
        box(-0.16, 2.1, 0.16, 2.6, INK, 0.1),
        box(-0.14, 4.1, 0.14, 4.55, INK, 0.1),
        blob(
            [
                (-2.3, -0.2),
                (-1.8, 0.5),
                (-0.9, 0.7),
                (0.3, 0.55),
                (1.4, 0.75),
                (2.4, -0.2),
                (0, -0.35),
            ],
            rock,
        ),
        blob([(-1.6, 0.1), (-1.2, 0.45), (-0.5, 0.4), (-0.2, 0.05)], light(rock, 0.2)),
    )
