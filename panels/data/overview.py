"""Overview: how good the labels are, who and what is the problem, and what to do next, on one screen."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core._agreement import BANDS
from kalos_core.diagnostics import NarrowedAgreement
from kalos_core.fiftyone.analyses.summaries import threshold_advice
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import ImageRow, view_of_class, view_worst_first
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.kinds.variations.views import view_of_findings
from kalos_core.fiftyone.runs.stored import count_changes
from kalos_core.statements import DIFFERENCES, Statement
from kalos_core.text import plain

from .base import Asked, DataSection, Led, click
from .ranked import Ranked, RankedClass, ranked_classes
from .rates import led_to_rate

FEW = 5
"""Rows of a list."""

WORST = 6
"""Images that are shown small."""

TITLES = {
    "unmatched": "one annotated",
    "wrong_class": "classes differ",
    "merged": "several as one",
    "merged_wrong_class": "as one, class, too",
}
"""Kind of difference -> what its row says."""


@dataclass(frozen=True)
class Ceiling:
    """The mAP that raters reach against one another, measured or inferred from alpha; `route` says how."""

    value: float
    low: float | None
    high: float | None
    is_measured: bool
    route: str


@dataclass(frozen=True)
class Advice:
    """What calibration says of the threshold in use, in a line and whole."""

    short: str
    text: str


@dataclass(frozen=True)
class Overview:
    """All that the dashboard draws.

    `sentences` are those of `kf.overview_of`, by the section they lead to; `bands` the least alpha of each band and its
    name, from the top.
    """

    run: str
    alpha: float | None
    interval: tuple[float | None, float | None]
    bands: tuple[tuple[float, str], ...]
    notation: str
    images: int
    objects: int
    raters: int
    disputes: Any
    sentences: dict[str, str]
    habits: tuple[Statement, ...]
    differences: tuple[Ranked, ...]
    furthest: tuple[Ranked, ...]
    hardest: tuple[RankedClass, ...]
    worst: tuple[ImageRow, ...]
    ceiling: Ceiling | None
    advice: Advice | None
    changed: int
    note: str


class OverviewSection(DataSection):
    NAME, KIND = "Overview", "agreement"
    FOLLOWS = ("category", "rater", "tag", "view")
    NOTHING_YET = (
        "How good are the labels?",
        "Analyse says how far the raters agree, which class is hardest, who differs, and what no model can be expected "
        "to pass.",
    )

    def send(self, asked: Asked) -> Overview:
        dataset, analysis, lens = asked.dataset, asked.analysis, asked.lens
        run = asked.run("agreement")
        found = narrowed_metrics(dataset, run.key, lens)
        low, high = found.alpha_interval
        said = kf.overview_of(dataset, analysis.key, lens)
        habits = tuple(one for one in said if one.leads_to == "Raters" and "kind" in one.arguments)
        return Overview(
            run=run.key,
            alpha=found.alpha,
            interval=(low, high),
            bands=BANDS,
            notation=run.metrics["notation"],
            images=found.images,
            objects=found.units,
            raters=len(run.metrics["raters"]),
            disputes=kf.count_disputes(dataset, run.key),
            sentences={one.leads_to: one.text for one in said if one not in habits},
            habits=habits,
            differences=_differences(asked),
            furthest=_furthest(asked),
            hardest=_hardest(found),
            worst=tuple(kf.worst_images(dataset, run.key, WORST, lens=lens)),
            ceiling=_ceiling(asked),
            advice=_advice(asked, run),
            changed=count_changes(dataset, run.key),
            note=run.metrics["note"] or "",
        )

    @click
    def worst(self, asked: Asked) -> Led:
        lens = asked.lens
        view = view_worst_first(asked.dataset, asked.run("agreement").key, category=lens.category, rater=lens.rater)
        return Led(view, "images, the least agreement first")

    @click
    def open(self, asked: Asked) -> Led:
        return Led(sample=asked.given["sample"])

    @click
    def category(self, asked: Asked) -> Led:
        name = asked.given["name"]
        view = view_of_class(asked.dataset, asked.run("agreement").key, name)
        return Led(view, f"images with {plain(name)}, the least agreement first")

    @click
    def rater(self, asked: Asked) -> Led:
        name = asked.given["name"]
        view = view_worst_first(asked.dataset, asked.run("agreement").key, rater=name)
        return Led(view, f"images, those first where {plain(name)} agrees least")

    @click
    def rate(self, asked: Asked) -> Led:
        return led_to_rate(asked)

    @click
    def difference(self, asked: Asked) -> Led:
        kind = asked.given["name"]
        view = view_of_findings(asked.dataset, asked.run("variations").key, DIFFERENCES[kind])
        return Led(view, f"images with differences: {TITLES[kind]}")

    @click
    def report(self, asked: Asked) -> Led:
        return Led(operator="report", given={"key": asked.run("agreement").key})

    @click
    def next_images(self, asked: Asked) -> Led:
        return Led(operator="next_to_rate", given={"key": asked.run("agreement").key})


def _differences(asked: Asked) -> tuple[Ranked, ...]:
    """Kinds of differences with their findings, the most frequent first."""
    run = asked.analysis.run("variations")
    if run is None:
        return ()
    counts = narrowed_variations(asked.dataset, run.key, asked.lens).counts
    sums = {kind: sum(counts[name] for name in names) for kind, names in DIFFERENCES.items()}
    return tuple(Ranked(kind, sums[kind], title=TITLES[kind]) for kind in sorted(sums, key=lambda name: -sums[name]))


def _furthest(asked: Asked) -> tuple[Ranked, ...]:
    """Raters by their alpha with the others, the least first; undefined last."""
    cards = kf.rater_scorecard(asked.dataset, asked.analysis.key, asked.lens)
    order = sorted(cards, key=lambda card: (np.isnan(card.alpha), card.alpha))
    return tuple(Ranked(card.rater, card.alpha, *card.alpha_interval, images=card.images) for card in order[:FEW])


def _hardest(found: NarrowedAgreement) -> tuple[RankedClass, ...]:
    """Classes on enough images, the hardest first, as the sentence has it; all where no two are on so many."""
    rows = ranked_classes(found.class_difficulty)
    ranked = tuple(row for row in rows if row.is_ranked)
    return (ranked if len(ranked) > 1 else rows)[:FEW]


def _ceiling(asked: Asked) -> Ceiling | None:
    run = asked.analysis.run("convergence")
    if run is None or run.metrics["whole"] is None:
        return None
    low, high = run.metrics["interval"]
    return Ceiling(run.metrics["whole"], low, high, run.metrics["measured"], run.metrics["route"])


def _advice(asked: Asked, run: Any) -> Advice | None:
    """What calibration says, where the similarity in use was calibrated."""
    calibration = asked.analysis.run("calibration")
    if calibration is None:
        return None
    names = [entry["name"] for entry in calibration.metrics["similarities"]]
    if run.settings["similarity"] not in names:
        return None
    found = threshold_advice(asked.dataset, asked.analysis.key)
    return Advice(found.short, found.text)
