"""Ceiling: how far any model can get, given how the raters differ; models against it, and what it rests on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.convergence import ConvergenceStudy, PlacedModel, TagConvergence
from kalos_core.convergence.spread import FEWEST_IMAGES
from kalos_core.display import alpha_text, number_of, points_text
from kalos_core.fiftyone.kinds.convergence.kind import poolable_runs, pooled_replicates, view_of_tag
from kalos_core.figures.captions import CAPTIONS
from kalos_core.text import plain

from .base import Asked, Led, click
from .figure import Figure, figure_of
from .paged import Page, PagedSection, Value, choice

MOST_TAGS = 25

ALONE, ALL_SETS = "this data set alone", "all of them"
"""Entries of the menu of data sets."""

PAIRS = " Each pair is measured by itself, the ceiling is inferred from α of all: they need not be the same."


@dataclass(frozen=True)
class Head:
    """What stands above every page: the ceiling, how it came about, and the thresholds it is over."""

    said: str
    basis: str
    is_measured: bool
    levels: tuple[float, ...]
    least: float
    greatest: float


@dataclass(frozen=True)
class Part:
    """All images or those of a tag: mAP of all of them at once, and of subsets of a size."""

    name: str
    images: int
    whole: Value
    mean: float | None
    size: int | None


@dataclass(frozen=True)
class Placed:
    """A model; `by_rater`: its mAP with each rater as ground truth."""

    name: str
    map: float
    place: str
    meaning: str
    by_rater: dict[str, float]


@dataclass(frozen=True)
class Intervals:
    head: Head
    parts: tuple[Part, ...]
    models: tuple[Placed, ...]
    typed: str


@dataclass(frozen=True)
class Spread:
    figure: str
    is_convergence: bool
    is_alpha: bool
    whole: Value
    mean: float
    std: float
    least: float
    greatest: float


@dataclass(frozen=True)
class Subsets:
    head: Head
    figures: tuple[Figure, ...]
    summary: tuple[Spread, ...]
    pools: tuple[str, ...]
    pool: str


@dataclass(frozen=True)
class Pairs:
    head: Head
    raters: tuple[str, ...]
    matrix: Any


@dataclass(frozen=True)
class Checks:
    head: Head
    caveat: str
    criteria: Any


def intervals(asked: Asked) -> Intervals:
    found = _found(asked)
    parts = tuple(_part(part) for part in found.parts[: 1 + MOST_TAGS])
    models = tuple(_placed(model) for model in found.placed)
    return Intervals(_head(asked, found), parts, models, asked.given.get("models") or "")


def subsets(asked: Asked) -> Subsets:
    run, found = asked.run("convergence"), _found(asked)
    others = poolable_runs(asked.dataset) if len(run.metrics["raters"]) == 2 else {}
    pools = (ALONE, *others, *([ALL_SETS] if len(others) > 1 else []))
    pool = choice(asked, "pool", pools)
    used = {name: key for name, key in others.items() if pool in (name, ALL_SETS)}
    pooled = pooled_replicates(asked.dataset, run.key, used, **_limits(asked)) if used else None
    parts = kf.figures_of(kf.load_metrics(asked.dataset, run.key), found=found, pooled=pooled)
    figures = tuple(figure_of(parts[name], CAPTIONS[name]) for name in ("sizes", "scatter") if parts[name].figure)
    return Subsets(_head(asked, found), figures, tuple(_spreads(found)), pools, pool)


def pairs(asked: Asked) -> Pairs:
    found = _found(asked)
    head = _head(asked, found, "" if found.whole.is_measured else PAIRS)
    return Pairs(head, tuple(map(str, found.raters)), found.matrix)


def checks(asked: Asked) -> Checks:
    found = _found(asked)
    return Checks(_head(asked, found), _caveat(found), found.checklist)


class CeilingSection(PagedSection):
    NAME, KIND = "Ceiling", "convergence"
    NOTHING_YET = (
        "The ceiling for any model",
        "Nothing is computed yet. Raters who differ put a ceiling on any model, whose mAP is measured against labels "
        "that others would have placed differently. Label convergence is the mAP that raters reach against one "
        "another; a model inside its interval cannot be told from a rater.",
    )
    PAGES: ClassVar = {
        "Interval": Page("convergence", intervals),
        "Subsets": Page("convergence", subsets),
        "Raters": Page("convergence", pairs),
        "Checks": Page("convergence", checks),
    }

    @click
    def images(self, asked: Asked) -> Led:
        """Those of a tag, or all of the run."""
        key, tag = asked.run("convergence").key, asked.given.get("tag")
        if tag is None:
            return Led(kf.load_run_view(asked.dataset, key), "images of this analysis")
        return Led(view_of_tag(asked.dataset, key, tag), f"images with the tag {plain(tag)}")


def _limits(asked: Asked) -> dict[str, float]:
    """The thresholds that are chosen: the nearest ones of the run, the least not above the greatest."""
    levels = asked.run("convergence").settings["thresholds"]
    least = choice(asked, "least", levels, min(levels))
    return {"least": least, "greatest": max(least, choice(asked, "greatest", levels, max(levels)))}


def _found(asked: Asked) -> ConvergenceStudy:
    """At the thresholds that are chosen, with the models that are typed, from the replicates of the run."""
    key, typed = asked.run("convergence").key, asked.given.get("models") or ""
    return kf.convergence_metrics(asked.dataset, key, **_limits(asked), models=typed)


def _head(asked: Asked, found: ConvergenceStudy, more: str = "") -> Head:
    whole, levels = found.whole, asked.run("convergence").settings["thresholds"]
    value = whole.whole_convergence
    said = "How far a model can get on these labels is undefined"
    if not np.isnan(value):
        how = "measured" if whole.is_measured else "inferred from alpha"
        said = f"No model can be expected to pass {points_text(value, 0)} mAP on these labels ({how})"
    title = kf.figures_of(kf.load_metrics(asked.dataset, asked.run("convergence").key), found=found)["bars"].title
    basis = (
        f"{title}. {number_of(len(whole.map), 'subset')} of {number_of(whole.images, 'image')}, "
        f"{number_of(whole.raters, 'rater')}, thresholds {alpha_text(whole.thresholds[0])} to "
        f"{alpha_text(whole.thresholds[-1])}; {_route(found)}.{more}"
    )
    return Head(said, basis, whole.is_measured, tuple(levels), **_limits(asked))


def _route(found: ConvergenceStudy) -> str:
    """How the interval came about, in short; the summary of the run says it in full."""
    whole = found.whole
    if whole.is_measured:
        return whole.route
    return f"inferred from α of all raters with the {list(whole.lines)[-1]} line (more than two raters have no one mAP)"


def _caveat(found: ConvergenceStudy) -> str:
    """What the interval is not."""
    if np.isnan(found.whole.interval).any():
        return f"There is no interval of fewer than {FEWEST_IMAGES} images."
    return "The interval is meant for data sets as large as this one and for larger ones, which reach somewhat less."


def _part(part: TagConvergence) -> Part:
    found = part.replicates
    if found is None:
        return Part(part.name, part.images, Value(None, reason=part.reason), None, None)
    whole = Value.of(found.whole_convergence, found.interval)
    return Part(part.name, part.images, whole, found.convergence.mean, found.images_per_replicate)


def _placed(model: PlacedModel) -> Placed:
    return Placed(model.name, model.map, model.place, model.meaning, model.by_rater)


def _spreads(found: ConvergenceStudy) -> Iterator[Spread]:
    for row in found.whole.summary().to_dict("records"):
        whole, is_alpha = Value.of(row["whole"], (row["low"], row["high"])), row["figure"] == "alpha"
        spread = (row[name] for name in ("mean", "std", "min", "max"))
        yield Spread(row["figure"], row["is_convergence"], is_alpha, whole, *spread)
