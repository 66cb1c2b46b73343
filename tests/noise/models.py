"""Models and references for the tests of generation: distributions that hardly scatter, one difference at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kalos_core import Annotations
from kalos_core.noise import NoiseModel
from kalos_core.noise.parameters import (
    AxialAngle,
    CardinalAngle,
    Chance,
    Coupling,
    Enlargement,
    EventRate,
    Opposition,
    Overlap,
    Shift,
    SizeCurve,
)
from kalos_core.noise.sources import Proposals
from kalos_core.shapes import Boxes

NEVER, ALWAYS = SizeCurve(-60.0, 0.0), SizeCurve(60.0, 0.0)
SHARP = 1e12
"""A concentration at which every angle is the centre."""


def always(size: float) -> Shift:
    """A change of one size, whatever the area."""
    return Shift(intercept=size, slope=0.0, nu=5.0, mu=0.0, sigma=1e-12)


def towards(direction: int) -> CardinalAngle:
    """0 right, 1 down, 2 left, 3 up."""
    weights = tuple(float(number == direction) for number in range(4))
    return CardinalAngle(weights=weights, kappas=(SHARP,) * 4)


def quiet(**groups: dict[str, Any]) -> NoiseModel:
    """A model in which nothing happens but what the given distributions say; shifts are free and independent."""
    model = NoiseModel.default()
    still = {"translation": always(0), "width": always(0), "height": always(0)}
    distributions: dict[str, dict[str, Any]] = {
        "unmatched": {"rate": EventRate(-60.0, 0.0)},
        "topology": {"susceptibility": NEVER},
        "category": still | {"occurrence": Chance(0.0), "angle": AxialAngle(0.0, SHARP)},
        "localization": still | {"angle": towards(0), "overlap": Overlap(0.0), "coupling": Coupling(0.0)},
    }
    for group, given in groups.items():
        distributions[group] |= given
    return replace(model, **{group: replace(getattr(model, group), **given) for group, given in distributions.items()})


def halves() -> dict[str, Any]:
    """A split into a left and a right fragment of half the width, a tenth of the image from the centre."""
    return {
        "susceptibility": ALWAYS,
        "split": Chance(1.0),
        "first_translation": always(0.1),
        "first_angle": towards(2),
        "first_width": always(np.log(2)),
        "first_height": always(0),
        "enlargement": Enlargement(0.0),
        "second_distance": always(0.1),
        "second_width": always(np.log(2)),
        "second_height": always(0),
        "opposition": Opposition(1e9, 1e-3),
    }


def table(
    *annotations: tuple[Any, str, list[float]], size: tuple[float, float] = (200.0, 100.0), **given: Any
) -> Annotations:
    """Annotations (image, category, box) of one rater."""
    rows = [{"image": image, "rater": "ann", "category": name, "box": box} for image, name, box in annotations]
    images = given.pop("images", list(dict.fromkeys(image for image, _, _ in annotations)))
    return Annotations.from_rows(
        rows, images=images, image_size=dict.fromkeys(images, size), **{"assigned": "all"} | given
    )


class FixedFalsePositives:
    """Proposals at given boxes of the first image."""

    name = "fixed places"

    def __init__(self, *boxes: list[float]) -> None:
        self.boxes = Boxes.from_xywh(boxes)

    def propose(self, reference: Annotations, rng: np.random.Generator) -> Proposals:  # noqa: ARG002 - always these
        index = np.arange(len(self.boxes))
        return Proposals(0 * index, self.boxes.corners, {"box": self.boxes}, index)
