"""Models and references for tests of generation: distributions with almost no spread, one difference at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kalos_core import Annotations
from kalos_core.noise import NoiseModel, parameters
from kalos_core.noise.parameters import AxialAngle, CardinalAngle, Chance, EventRate, Shift, SizeCurve
from kalos_core.noise.sources import Proposals
from kalos_core.shapes import Boxes

NEVER, ALWAYS = SizeCurve(-60.0, 0.0), SizeCurve(60.0, 0.0)
SHARP = 1e12
"""Concentration at which every angle equals the centre."""


def always(size: float) -> Shift:
    """Return a change of one size, whatever the area."""
    return Shift(intercept=size, slope=0.0, nu=5.0, mu=0.0, sigma=1e-12)


def towards(direction: int) -> CardinalAngle:
    """Return a direction: 0 right, 1 down, 2 left, 3 up."""
    weights = tuple(float(number == direction) for number in range(4))
    return CardinalAngle(weights=weights, kappas=(SHARP,) * 4)


def quiet(**groups: dict[str, Any]) -> NoiseModel:
    """Return a model with only the given distributions, which are those of the paper's families."""
    model = NoiseModel.default()
    still = {"translation": always(0), "width": always(0), "height": always(0)}
    alone = {"overlap": parameters.Overlap(0.0), "coupling": parameters.Coupling(0.0)}
    distributions: dict[str, dict[str, Any]] = {
        "unmatched": {"rate": EventRate(-60.0, 0.0), "own_class": parameters.OwnClass()},
        "topology": {"susceptibility": NEVER},
        "category": still | {"occurrence": Chance(0.0), "angle": AxialAngle(0.0, SHARP)},
        "localization": still | alone | {"angle": towards(0)},
    }
    for group, given in groups.items():
        distributions[group] |= given
    return replace(model, **{group: replace(getattr(model, group), **given) for group, given in distributions.items()})


def unmatched(often: float, deletion: float, **given: Any) -> NoiseModel:
    """Return a model of `exp(often)` unmatched annotations per image, with that share of deletions."""
    return quiet(unmatched={"rate": EventRate(often, 0.0), "deletion": Chance(deletion)} | given)


def halves() -> dict[str, Any]:
    """Return a split into a left and a right fragment of half the width, a tenth of the image from the centre."""
    half, middle = always(np.log(2)), always(0.1)
    first = {"translation": middle, "angle": towards(2), "width": half, "height": always(0)}
    second = {"distance": middle, "width": half, "height": always(0)}
    fragments = {f"first_{name}": given for name, given in first.items()}
    fragments |= {f"second_{name}": given for name, given in second.items()}
    often = {"susceptibility": ALWAYS, "split": Chance(1.0)}
    opposite = {"enlargement": parameters.Enlargement(0.0), "opposition": parameters.Opposition(1e9, 1e-3)}
    return often | fragments | opposite


def by_raters(
    *annotations: tuple[Any, str, str, list[float]], size: tuple[float, float] = (200.0, 100.0), **given: Any
) -> Annotations:
    """Return annotations (image, rater, category, box), of images of one size."""
    rows = [{"image": image, "rater": rater, "category": name, "box": box} for image, rater, name, box in annotations]
    images = list(given.pop("images", dict.fromkeys(image for image, *_ in annotations)))
    return Annotations.from_rows(rows, images=images, **{"image_size": dict.fromkeys(images, size)} | given)


def table(*annotations: tuple[Any, str, list[float]], **given: Any) -> Annotations:
    """Return annotations (image, category, box) of one rater."""
    return by_raters(*((image, "ann", name, box) for image, name, box in annotations), **{"assigned": "all"} | given)


def many(images: int, annotations: int = 4) -> Annotations:
    """Return images of equal annotations, far apart."""
    return table(*[(image, "cat", [40 * index, 40, 20, 20]) for image in range(images) for index in range(annotations)])


class FixedPlaces:
    """Proposals at given boxes of the first image."""

    name = "fixed places"

    def __init__(self, *boxes: list[float]) -> None:
        self.boxes = Boxes.from_xywh(boxes)

    def propose(self, reference: Annotations, rng: np.random.Generator) -> Proposals:  # noqa: ARG002 - always these
        index = np.arange(len(self.boxes))
        return Proposals(0 * index, self.boxes.corners, {"box": self.boxes}, index)
