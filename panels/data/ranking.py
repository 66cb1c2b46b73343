"""Ranking: which classifier or detector is best, and whether that depends on whose labels it is measured against."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import kalos_core.fiftyone as kf
from kalos_core.display import number_of, percent_text
from kalos_core.fiftyone.dataset.image_labels import scored_fields
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, MASKS
from kalos_core.fiftyone.kinds.detectors.scores import heatmap_fields
from kalos_core.fiftyone.kinds.labelled import view_of_difference
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.captions import CAPTIONS
from kalos_core.text import plain, unshown

from ..parts.events import Context
from .base import Asked, Led, click, is_rated
from .figure import Figure, Matrix, figure_of, matrix_of
from .paged import Page, PagedSection, Value, choice

MAJORITY = "majority"

MEASURES = {"AUC": "area under the curve (AUC)", "EER": "equal error rate (EER)"}


@dataclass(frozen=True)
class Cell:
    """A system under a reference; `best`: the share of replicates in which it is."""

    value: Value
    rank: float | None
    best: float | None


@dataclass(frozen=True)
class Ranks:
    """Systems under every reference; a click on two references shows where they differ, where `leads`."""

    title: str
    over: str
    notes: tuple[str, ...]
    measure: str
    measures: dict[str, str]
    systems: tuple[str, ...]
    references: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    figures: tuple[Figure, ...]
    tau: Matrix | None
    leads: bool


@dataclass(frozen=True)
class Curves:
    """Without detectors the run ranks models by mAP, which have no curves."""

    detector: str = ""
    detectors: tuple[str, ...] = ()
    of_detector: tuple[Figure, ...] = ()
    reference: str = ""
    references: tuple[str, ...] = ()
    of_reference: tuple[Figure, ...] = ()


def classifiers(asked: Asked) -> Ranks:
    run = kf.load_details(asked.dataset, asked.run("ranking").key)
    rankings = run.details.rankings
    measure = choice(asked, "measure", list(rankings))
    parts = kf.figures_of(run, measure=measure)
    return Ranks(
        title=unshown(parts["bump"].title),
        over=unshown(parts["bump"].note),
        notes=(),
        measure=measure,
        measures={name: MEASURES.get(name, name) for name in rankings},
        **_ranked(rankings[measure]),
        figures=_figures(parts, "shared", "concordance"),
        tau=_tau(parts, rankings[measure]),
        leads=True,
    )


def detectors(asked: Asked) -> Ranks:
    run = kf.load_details(asked.dataset, asked.run("detectors").key)
    metrics, found = run.metrics, run.details.ranking
    parts, measure = kf.figures_of(run), metrics["measure"]
    return Ranks(
        title=unshown(parts["bump"].title),
        over=detector_text(metrics, found),
        notes=tuple(metrics["undefined"]),
        measure=measure,
        measures={measure: measure},
        **_ranked(found.ranking),
        figures=_figures(parts, "shared", "bounds"),
        tau=_tau(parts, found.ranking),
        leads=False,
    )


def curves(asked: Asked) -> Curves:
    run = kf.load_details(asked.dataset, asked.run("detectors").key)
    metrics = run.metrics
    if metrics["of"] != "pixels":
        return Curves()
    detector = choice(asked, "detector", metrics["detectors"])
    reference = choice(asked, "reference", metrics["truths"])
    parts = kf.figures_of(run, detector=detector, reference=reference)
    return Curves(
        detector=detector,
        detectors=tuple(metrics["detectors"]),
        of_detector=_figures(parts, "curves", "agreement"),
        reference=reference,
        references=tuple(metrics["truths"]),
        of_reference=_figures(parts, "under", "correlations", "boundaries"),
    )


class RankingSection(PagedSection):
    """Classifiers and detectors, each with the newest run of its kind."""

    NAME = "Ranking"
    NOTHING_YET = (
        "Which model is best, and does it depend on whose labels it is measured against?",
        "Nothing is ranked yet. Classifiers whose scores are in fields, score maps (Heatmap fields) or labels with a "
        "confidence are ranked under every rater and under each estimated truth.",
    )
    PAGES: ClassVar = {
        "Classifiers": Page("ranking", classifiers),
        "Detectors": Page("detectors", detectors),
        "Curves": Page("detectors", curves),
    }

    def is_shown(self, ctx: Context, analysis: Analysis | None) -> bool:
        return bool(self._there(ctx, analysis))

    def pages(self, asked: Asked) -> tuple[str, ...]:
        return self._there(asked.ctx, asked.analysis)

    def _there(self, ctx: Context, analysis: Analysis | None) -> tuple[str, ...]:
        """The pages that have a run, or labels that one could be made of."""
        runs, dataset = ({} if analysis is None else analysis.runs), ctx.dataset
        scored = is_rated(ctx, IMAGE_LABELS) and bool(scored_fields(dataset))
        mapped = is_rated(ctx, MASKS) and bool(heatmap_fields(dataset))
        there = {"ranking": "ranking" in runs or scored, "detectors": "detectors" in runs or mapped}
        return tuple(name for name, page in self.PAGES.items() if there[page.kind])

    @click
    def again(self, asked: Asked) -> Led:
        return Led(operator=kf.KINDS[self.run_kind(asked)].operator)

    @click
    def difference(self, asked: Asked) -> Led:
        """The images that two references answered differently, one of them by default the majority."""
        one, other = asked.given["one"], asked.given.get("other", MAJORITY)
        view = view_of_difference(asked.dataset, asked.run("ranking").key, one, other)
        return Led(view, f"images that {plain(one)} and {plain(other)} answered differently")


def detector_text(metrics: Any, ranking: Any) -> str:
    """What a ranking is over, and by what."""
    are_raters = number_of(len(metrics["raters"]), "is a rater", "are raters")
    references = f"{number_of(len(metrics['truths']), 'reference')}, of which {are_raters}"
    text = f"{number_of(len(metrics['detectors']), 'detector')} under {references}; by {metrics['measure']}"
    if metrics["of"] == "objects":
        return f"{text}."
    low, high = ranking.skew
    return f"{text}; precision averaged over {percent_text(low)} to {percent_text(high)} positives."


def _ranked(ranking: Any) -> dict[str, Any]:
    """Systems, references, and what each system has under each reference."""
    values, interval, ranks, best = ranking.values, ranking.interval, ranking.ranks, ranking.best_share
    places = range(len(ranking.systems))
    cells = tuple(
        tuple(Cell(Value.of(values[row, at], interval[row, at]), ranks[row, at], best[row, at]) for at in places)
        for row in range(len(ranking.truths))
    )
    return {
        "systems": tuple(map(str, ranking.systems)),
        "references": tuple(map(str, ranking.truths)),
        "cells": cells,
    }


def _figures(parts: Mapping[str, Part], *names: str) -> tuple[Figure, ...]:
    """Those that the run has."""
    there = (name for name in names if name in parts and parts[name].figure)
    return tuple(figure_of(parts[name], CAPTIONS[name]) for name in there)


def _tau(parts: Mapping[str, Part], ranking: Any) -> Matrix | None:
    if "tau" not in parts or not parts["tau"].figure:
        return None
    return matrix_of(parts["tau"], CAPTIONS["tau"], ranking.truths)
