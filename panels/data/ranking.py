"""Ranking: the best classifier or detector, and whether the ranking depends on the rater used as reference."""

from collections.abc import Mapping
from typing import Any, ClassVar

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.image_labels import scored_fields
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, MASKS
from kalos_core.fiftyone.kinds.detectors.scores import heatmap_fields
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.table import Part
from kalos_core.text import unshown

from ..parts.events import Context
from .base import Asked, is_rated, open_form
from .figure import figures_in, matrix_in
from .paged import Page, PagedSection, choice
from .questions import difference_in
from .rows import Row, rows_of, values_of

MEASURES = {"AUC": "area under the curve (AUC)", "EER": "equal error rate (EER)"}


def classifiers(asked: Asked) -> Row:
    run = asked.details("ranking")
    rankings = run.details.rankings
    measure = choice(asked, "measure", list(rankings))
    return {
        **_ranks(kf.figures_of(run, measure=measure), rankings[measure]),
        "notes": [],
        "measure": measure,
        "measures": {name: MEASURES.get(name, name) for name in rankings},
        "leads": True,
    }


def detectors(asked: Asked) -> Row:
    run = asked.details("detectors")
    measure = run.metrics["measure"]
    return {
        **_ranks(kf.figures_of(run), run.details.ranking.ranking),
        "notes": run.metrics["undefined"],
        "measure": measure,
        "measures": {measure: measure},
        "leads": False,
    }


def curves(asked: Asked) -> Row | None:
    """Return the curves; None if the run ranks models by mAP, which have no curves."""
    run = asked.details("detectors")
    metrics = run.metrics
    if metrics["of"] != "pixels":
        return None
    detector = choice(asked, "detector", metrics["detectors"])
    reference = choice(asked, "reference", metrics["truths"])
    parts = kf.figures_of(run, detector=detector, reference=reference)
    return {
        "detector": detector,
        "detectors": metrics["detectors"],
        "of_detector": figures_in(parts, "curves", "agreement"),
        "reference": reference,
        "references": metrics["truths"],
        "of_reference": figures_in(parts, "under", "correlations", "boundaries"),
    }


class RankingSection(PagedSection):
    """Section on classifiers and detectors, each with the newest run of its kind."""

    NAME = "Ranking"
    NOTHING_YET = (
        "Which model is best, and does that depend on the rater used as reference?",
        "Nothing is ranked yet. A run ranks classifiers (fields with scores), or detectors (Heatmap fields, or labels "
        "with a confidence), with each rater and each estimated ground truth as reference.",
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
        """Return the pages with a run, or with labels to make one."""
        runs, dataset = ({} if analysis is None else analysis.runs), ctx.dataset
        scored = is_rated(ctx, IMAGE_LABELS) and bool(scored_fields(dataset))
        mapped = is_rated(ctx, MASKS) and bool(heatmap_fields(dataset))
        there = {"ranking": "ranking" in runs or scored, "detectors": "detectors" in runs or mapped}
        return tuple(name for name, page in self.PAGES.items() if there[page.kind])

    again, difference = open_form, difference_in("ranking")


def _ranks(parts: Mapping[str, Part], ranking: Any) -> Row:
    """Return the systems under every reference; `best`: the share of replicates in which a system is best."""
    values = map(values_of, ranking.values, ranking.interval)
    cells = zip(values, ranking.ranks, ranking.best_share, strict=True)
    return {
        "title": unshown(parts["bump"].title),
        "over": unshown(parts["bump"].note),
        "systems": ranking.systems,
        "references": ranking.truths,
        "cells": [rows_of(value=value, rank=rank, best=best) for value, rank, best in cells],
        "figures": figures_in(parts, "shared", "concordance", "bounds"),
        "tau": matrix_in(parts, "tau", ranking.truths),
    }
