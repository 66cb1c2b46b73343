"""Rows of lists that several sections send: a value with its interval, and classes with the hardest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kalos_core.diagnostics import ClassDifficulty
from kalos_core.diagnostics.classes import hardest_first
from kalos_core.errors import Undefined


@dataclass(frozen=True)
class Ranked:
    """A row of a list: a value with its interval, and what stands in its hover."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    title: str = ""
    images: int = 0


@dataclass(frozen=True)
class RankedClass(Ranked):
    """A class; `is_ranked`: on enough images to be compared with others."""

    units: int = 0
    is_ranked: bool = True


def ranked_classes(classes: ClassDifficulty | Undefined) -> tuple[RankedClass, ...]:
    """Classes with an alpha: those on enough images, the hardest first, then the others likewise."""
    if isinstance(classes, Undefined):
        return ()
    ranked = hardest_first(classes.alpha, classes.images)
    defined = np.flatnonzero(np.isfinite(classes.alpha))
    others = np.setdiff1d(defined, ranked)
    others = others[np.argsort(classes.alpha[others], kind="stable")]
    rows = [_class_row(classes, place, is_ranked=True) for place in ranked]
    return (*rows, *(_class_row(classes, place, is_ranked=False) for place in others))


def _class_row(classes: ClassDifficulty, place: int, *, is_ranked: bool) -> RankedClass:
    low, high = classes.alpha_interval[place]
    return RankedClass(
        name=str(classes.category[place]),
        value=classes.alpha[place],
        low=low,
        high=high,
        images=int(classes.images[place]),
        units=int(classes.units[place]),
        is_ranked=is_ranked,
    )


def ranked_estimates(names: Sequence[Any], found: Any) -> tuple[Ranked, ...]:
    """Names with the alphas of `Estimates`, the least first; undefined last."""
    order = np.argsort(found.alpha, kind="stable")
    ends = found.alpha_interval
    return tuple(
        Ranked(str(names[at]), found.alpha[at], ends[at, 0], ends[at, 1], images=int(found.images[at])) for at in order
    )
