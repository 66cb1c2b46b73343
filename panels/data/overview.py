"""Overview on one screen: quality of the labels, main problems, and next steps."""

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core._agreement import BANDS
from kalos_core.diagnostics import NarrowedAgreement
from kalos_core.fiftyone.analyses.summaries import advice_of, disputes_by_run, sentences_of
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_class, view_worst_first
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.runs.stored import count_changes

from .base import Asked, DataSection, Led, click, open_sample, prompt, show
from .ranked import ranked_classes
from .rows import Row, row_of, value_of
from .variations import ranked_differences, show_difference, show_rate

FEW = 5
"""Maximum number of rows of a list."""

WORST = 6
"""Maximum number of thumbnails."""


class OverviewSection(DataSection):
    NAME, KIND = "Overview", "agreement"
    FOLLOWS = ("category", "rater", "tag", "view")
    NOTHING_YET = (
        "How good are the labels?",
        "Analyse computes how much the raters agree, which class is hardest, which raters differ, and which mAP a "
        "model can reach.",
    )

    def send(self, asked: Asked) -> Row:
        dataset, filter, run = asked.dataset, asked.filter, asked.run("agreement")
        found = narrowed_metrics(dataset, run.key, filter)
        disputes, changed = disputes_by_run(dataset, asked.analysis), count_changes(dataset, run.key)
        said = sentences_of(dataset, asked.analysis, filter, disputes, changed)
        habits = [one for one in said if one.leads_to == "Raters" and "kind" in one.arguments]
        return {
            **row_of(found, "alpha", "images", interval="alpha_interval", objects="units"),
            "bands": BANDS,
            "notation": run.metrics["notation"],
            "raters": len(run.metrics["raters"]),
            "disputes": disputes[run.key],
            "sentences": {one.leads_to: one.text for one in said if one not in habits},
            "habits": habits,
            "differences": _differences(asked),
            "furthest": _furthest(asked),
            "hardest": _hardest(found),
            "worst": kf.worst_images(dataset, run.key, WORST, filter=filter),
            "ceiling": _ceiling(asked),
            "advice": _advice(asked),
            "changed": changed,
            "note": run.metrics["note"] or "",
        }

    open = open_sample
    category = show(view_of_class, "images with {name}, lowest agreement first", category="name")
    rater = show(view_worst_first, "images, lowest agreement of {name} first", rater="name")
    difference = show_difference
    rate = show_rate
    report = prompt("report", key="agreement")
    next_images = prompt("next_to_rate", key="agreement")

    @click
    def worst(self, asked: Asked) -> Led:
        return Led(asked.view(view_worst_first, "agreement", **asked.part), "images, lowest agreement first")


def _differences(asked: Asked) -> list[Row]:
    run = asked.analysis.run("variations")
    return [] if run is None else ranked_differences(narrowed_variations(asked.dataset, run.key, asked.filter).counts)


def _furthest(asked: Asked) -> list[Row]:
    """Return raters by their alpha with the others, lowest first, undefined last."""
    cards = kf.rater_scorecard(asked.dataset, asked.analysis.key, asked.filter)
    order = sorted(cards, key=lambda card: (np.isnan(card.alpha), card.alpha))[:FEW]
    return [{**value_of(card.alpha, card.alpha_interval), "name": card.rater, "images": card.images} for card in order]


def _hardest(found: NarrowedAgreement) -> list[Row]:
    """Return classes on enough images, hardest first, as in the sentence; all classes if fewer than two are."""
    rows = ranked_classes(found.class_difficulty)
    ranked = [row for row in rows if row["is_ranked"]]
    return (ranked if len(ranked) > 1 else rows)[:FEW]


def _ceiling(asked: Asked) -> Row | None:
    """Return the mAP that raters reach against each other, `how` it was obtained, and the full `route`."""
    run = asked.analysis.run("convergence")
    if run is None or run.metrics["whole"] is None:
        return None
    metrics, (low, high) = run.metrics, run.metrics["interval"]
    return {"value": metrics["whole"], "low": low, "high": high, "how": metrics["how"], "route": metrics["route"]}


def _advice(asked: Asked) -> Row | None:
    """Return the advice of the calibration if it has the similarity in use."""
    found = advice_of(asked.dataset, asked.analysis)
    return None if found is None else {"short": found.short, "text": found.text}
