"""Sprites of living things: person, dog, sheep, cow, chicken, gull. Metres, facing right."""

from __future__ import annotations

import numpy as np

from demo.drawing.parts import (
    Colour,
    Sprite,
    blob,
    box,
    colour_of,
    dark,
    light,
    mix,
    oval,
    polygon,
    stroke,
)

SKIN = tuple(colour_of(code) for code in ("#f1c9a5", "#e0a878", "#b97a50", "#8a5a3c"))
HAIR = tuple(colour_of(code) for code in ("#2f2a2a", "#5b3a29", "#a8672f", "#d9b26a", "#8d8d93"))
TOPS = tuple(colour_of(code) for code in ("#d1495b", "#edae49", "#2a9d8f", "#3a6ea5", "#f4f1de", "#7a6c9d", "#e98a6b"))
LEGS = tuple(colour_of(code) for code in ("#2f4a6d", "#4a4e69", "#6b4f3f", "#3d5a50", "#25283d"))
INK = colour_of("#2b2d38")
WOOL = colour_of("#f3eee2")
BEAK = colour_of("#f2a03d")


def _one(colours: tuple[Colour, ...], rng: np.random.Generator) -> Colour:
    return colours[rng.integers(len(colours))]


def person(rng: np.random.Generator) -> Sprite:
    """Draw a person who stands, walks or waves, in trousers or in a dress."""
    skin, hair, top, legs = (_one(colours, rng) for colours in (SKIN, HAIR, TOPS, LEGS))
    step = rng.choice([0.1, 0.24, 0.3])
    arm = rng.choice([0, 1, 2])
    dress = rng.random() < 0.35
    hand_x, hand_y = [(0.36, 0.92), (0.42, 1.02), (0.5, 1.72)][arm]
    elbow = [(0.3, 1.15), (0.33, 1.16), (0.4, 1.38)][arm]
    sleeve = dark(top, 0.12)
    leg_colour = skin if dress else legs
    limbs = [
        stroke([(-0.09, 0.85), (-step, 0.1)], 0.17, dark(leg_colour, 0.12)),
        stroke([(0.09, 0.85), (step, 0.1)], 0.17, leg_colour),
        stroke([(-step - 0.02, 0.06), (-step + 0.13, 0.06)], 0.12, INK),
        stroke([(step - 0.02, 0.06), (step + 0.13, 0.06)], 0.12, INK),
        stroke([(-0.2, 1.38), (-0.32, 1.12), (-0.3, 0.92)], 0.12, sleeve),
        oval(-0.3, 0.88, 0.07, 0.07, skin),
    ]
    trunk = [(-0.25, 0.8), (-0.26, 1.46), (0.26, 1.46), (0.25, 0.8)]
    skirt = [(-0.2, 1.1), (-0.36, 0.55), (0.36, 0.55), (0.2, 1.1)]
    return (
        *limbs,
        *((polygon(skirt, top, 0.05),) if dress else ()),
        polygon(trunk, top, 0.1),
        box(-0.07, 1.4, 0.07, 1.55, dark(skin, 0.12)),
        oval(0.0, 1.66, 0.16, 0.18, skin),
        blob(
            [
                (-0.19, 1.5),
                (-0.2, 1.88),
                (0.02, 1.92),
                (0.2, 1.84),
                (0.18, 1.7),
                (0.02, 1.78),
                (-0.08, 1.6),
            ],
            hair,
        ),
        stroke([(0.2, 1.38), elbow, (hand_x, hand_y)], 0.12, sleeve),
        oval(hand_x, hand_y, 0.075, 0.075, skin),
    )


def dog(rng: np.random.Generator) -> Sprite:
    """Draw a dog; the pale woolly one resembles a sheep."""
    coats = ("#8a5a36", "#3b3634", "#c98d4e", "#e9dfcc")
    woolly = rng.random() < 0.3
    coat = WOOL if woolly else colour_of(coats[rng.integers(len(coats))])
    legs = [
        stroke([(x, 0.42), (x + lean, 0.06)], 0.12, shade)
        for x, lean, shade in (
            (-0.3, -0.02, dark(coat, 0.3)),
            (0.3, 0.02, dark(coat, 0.3)),
            (-0.4, 0.02, coat),
            (0.22, 0.0, coat),
        )
    ]
    trunk = blob(
        [
            (-0.56, 0.5),
            (-0.5, 0.76),
            (0.1, 0.74),
            (0.46, 0.84),
            (0.5, 0.5),
            (0.2, 0.34),
            (-0.2, 0.42),
            (-0.5, 0.34),
        ],
        coat,
    )
    curls = [
        oval(x, y, 0.17, 0.16, coat)
        for x, y in (
            (-0.36, 0.64),
            (-0.12, 0.68),
            (0.12, 0.66),
            (0.3, 0.6),
            (-0.2, 0.5),
            (0.1, 0.5),
        )
    ]
    return (
        *legs,
        stroke([(-0.46, 0.66), (-0.62, 0.84), (-0.64, 0.98)], 0.1, coat),
        trunk,
        *(curls if woolly else ()),
        blob(
            [
                (0.24, 0.62),
                (0.28, 1.04),
                (0.5, 1.1),
                (0.62, 0.98),
                (0.84, 0.92),
                (0.84, 0.78),
                (0.6, 0.76),
                (0.48, 0.6),
            ],
            coat,
        ),
        blob([(0.3, 1.08), (0.44, 1.06), (0.42, 0.74), (0.26, 0.78)], dark(coat, 0.4)),
        oval(0.56, 0.96, 0.035, 0.04, INK),
        oval(0.8, 0.89, 0.05, 0.045, INK),
        stroke([(0.34, 0.7), (0.48, 0.66)], 0.06, colour_of("#d1495b")),
    )


def sheep(rng: np.random.Generator) -> Sprite:
    """Draw a sheep: a woolly cloud on dark legs, the face dark or pale."""
    wool = mix(WOOL, colour_of("#d8c9ae"), float(rng.uniform(0, 0.5)))
    face = INK if rng.random() < 0.6 else colour_of("#d9c4a5")
    shade = dark(wool, 0.12)
    legs = [stroke([(x, 0.4), (x, 0.05)], 0.1, face) for x in (-0.36, -0.22, 0.2, 0.34)]
    low = [oval(x, 0.42, 0.2, 0.15, shade) for x in (-0.36, -0.1, 0.16, 0.36)]
    cloud = [
        oval(x, y, r, r, wool)
        for x, y, r in (
            (-0.42, 0.62, 0.2),
            (-0.25, 0.82, 0.2),
            (0.0, 0.86, 0.21),
            (0.26, 0.8, 0.2),
            (0.42, 0.62, 0.19),
            (0.0, 0.6, 0.3),
            (-0.2, 0.55, 0.22),
            (0.22, 0.55, 0.22),
        )
    ]
    return (
        *legs,
        *low,
        *cloud,
        blob([(0.42, 0.92), (0.6, 1.0), (0.74, 0.88), (0.82, 0.66), (0.7, 0.58), (0.5, 0.7)], face),
        blob([(0.4, 0.9), (0.52, 0.92), (0.5, 0.74), (0.36, 0.76)], dark(face, 0.3)),
        oval(0.65, 0.86, 0.03, 0.035, WOOL if face == INK else INK),
        oval(0.5, 1.0, 0.14, 0.11, wool),
    )


def cow(rng: np.random.Generator) -> Sprite:
    """Draw a cow with patches, horns and an udder."""
    hides = (("#f4f0e6", "#3a3537"), ("#f4ead8", "#8a4f2d"), ("#a9673a", "#8a4f2d"))
    hide, patch = (colour_of(code) for code in hides[rng.integers(len(hides))])
    pink, horn = colour_of("#e9b3a6"), colour_of("#e8dcc0")
    shift = float(rng.uniform(-0.1, 0.1))
    legs = [
        stroke([(x, 0.7), (x, 0.08)], 0.2, shade)
        for x, shade in ((-0.6, dark(hide)), (0.62, dark(hide)), (-0.86, hide), (0.42, hide))
    ]
    return (
        *legs,
        stroke([(-1.02, 1.3), (-1.16, 1.0), (-1.14, 0.7)], 0.07, hide),
        oval(-1.14, 0.64, 0.08, 0.12, patch),
        oval(-0.38, 0.6, 0.2, 0.14, pink),
        polygon([(-1.08, 0.62), (-1.08, 1.46), (0.85, 1.46), (0.85, 0.62)], hide, 0.26),
        blob(
            [
                (-0.8 + shift, 1.46),
                (-0.2 + shift, 1.46),
                (-0.2 + shift, 1.0),
                (-0.66 + shift, 0.92),
            ],
            patch,
        ),
        blob([(0.2, 1.06), (0.56, 1.16), (0.66, 0.76), (0.3, 0.7)], patch),
        *(box(x - 0.1, 0.0, x + 0.1, 0.12, INK) for x in (-0.86, 0.42)),
        stroke([(1.0, 1.74), (0.96, 1.9)], 0.07, horn),
        stroke([(1.2, 1.76), (1.28, 1.9)], 0.07, horn),
        blob(
            [
                (0.6, 1.2),
                (0.84, 1.76),
                (1.2, 1.84),
                (1.34, 1.5),
                (1.46, 1.2),
                (1.2, 1.06),
                (0.94, 1.2),
                (0.76, 0.96),
            ],
            hide,
        ),
        oval(1.34, 1.22, 0.17, 0.14, pink),
        blob([(0.84, 1.72), (1.06, 1.78), (1.02, 1.4), (0.86, 1.44)], patch),
        oval(1.18, 1.56, 0.045, 0.055, INK),
        oval(1.4, 1.24, 0.03, 0.04, dark(pink, 0.5)),
        blob([(0.8, 1.66), (0.6, 1.72), (0.62, 1.54), (0.84, 1.5)], hide),
    )


def chicken(rng: np.random.Generator) -> Sprite:
    """Draw a hen, white, brown or speckled dark."""
    coats = ("#f6efe0", "#b96b3c", "#e0a25a", "#55505a")
    coat = colour_of(coats[rng.integers(len(coats))])
    red = colour_of("#d1373f")
    return (
        *(stroke([(x, 0.2), (x, 0.03), (x + 0.08, 0.02)], 0.035, BEAK) for x in (-0.05, 0.07)),
        oval(0.22, 0.66, 0.06, 0.06, red),
        oval(0.29, 0.65, 0.05, 0.05, red),
        blob(
            [
                (-0.34, 0.58),
                (-0.44, 0.5),
                (-0.32, 0.2),
                (0.0, 0.1),
                (0.26, 0.22),
                (0.34, 0.56),
                (0.28, 0.68),
                (0.14, 0.64),
                (0.06, 0.4),
                (-0.14, 0.38),
            ],
            coat,
        ),
        polygon([(0.3, 0.58), (0.43, 0.53), (0.3, 0.49)], BEAK),
        blob([(-0.22, 0.36), (0.06, 0.38), (0.08, 0.22), (-0.1, 0.18)], dark(coat, 0.2)),
        oval(0.24, 0.57, 0.022, 0.025, INK),
        oval(0.29, 0.47, 0.03, 0.05, red),
    )


def gull(rng: np.random.Generator) -> Sprite:
    """Draw a gull on the wing, its wings up or level."""
    white, grey = colour_of("#fbfaf5"), colour_of("#9aa7b5")
    lift = float(rng.choice([0.12, 0.3, 0.45]))
    far = blob(
        [
            (-0.05, 0.0),
            (0.06, 0.18),
            (-0.25, 0.32 + lift),
            (-0.75, 0.2 + lift),
            (-0.3, 0.16 + lift / 2),
            (-0.22, 0.02),
        ],
        grey,
    )
    near = blob(
        [
            (-0.1, 0.04),
            (0.2, 0.06),
            (0.5, 0.34 + lift),
            (0.95, 0.22 + lift),
            (0.55, 0.5 + lift),
            (0.16, 0.36 + lift / 2),
        ],
        light(grey, 0.35),
    )
    return (
        far,
        blob(
            [
                (-0.55, -0.04),
                (-0.3, 0.1),
                (0.1, 0.12),
                (0.36, 0.18),
                (0.46, 0.06),
                (0.3, -0.06),
                (0.0, -0.12),
                (-0.3, -0.06),
            ],
            white,
        ),
        polygon([(0.4, 0.1), (0.56, 0.04), (0.4, 0.02)], BEAK),
        near,
        oval(0.36, 0.08, 0.022, 0.022, INK),
    )
