"""Truth: majority of raters or estimated ground truth, and each rater compared with it."""

from collections.abc import Mapping
from typing import Any, ClassVar

import kalos_core.fiftyone as kf
from kalos_core.display import TRUTH_LABELS, count_text
from kalos_core.fiftyone.dataset.raters import MASKS
from kalos_core.fiftyone.kinds.truth.figures import consensus_title, over_what, truth_doubts
from kalos_core.figures.labels import least_first
from kalos_core.text import unshown

from .base import Asked, open_filled_form, open_form, show
from .figure import matrix_in
from .masks import shares_of
from .paged import Page, PagedSection, choice
from .rows import Row, row_of, rows_of, values_of

MOST_NOTES = 10

ALL_RATERS = ""
"""Entry of a menu of raters."""


def truth(asked: Asked) -> Row:
    run = asked.details("truth")
    metrics, truths = run.metrics, run.details.truths
    consensus = choice(asked, "consensus", list(truths))
    of_pixels, names = metrics["of"] == "pixels", metrics["raters"] or []
    rater = choice(asked, "rater", [ALL_RATERS, *names])
    parts, found = kf.figures_of(run, consensus=consensus, rater=rater or None), truths[consensus]
    return {
        "title": consensus_title(metrics, truths),
        "over": over_what(metrics),
        "of_pixels": of_pixels,
        "consensus": consensus,
        "consensuses": [(_of_pixels if of_pixels else _of_objects)(*of) for of in truths.items()],
        "against": unshown(parts["against"].title),
        "note": unshown(parts["against"].note),
        "raters": rows_of(rater=names, shares=_of_raters(found, of_pixels)) if names else [],
        "estimate": _estimate(found.estimate, parts, rater) if "skill" in parts else None,
        "notes": _notes(run.details.notes),
    }


class TruthSection(PagedSection):
    NAME, KIND, FAMILY = "Truth", "truth", MASKS
    NOTHING_YET = (
        "Which labels are most likely right?",
        "Nothing is estimated yet. Several methods estimate ground truth from several raters, for example by vote, or "
        "with weights of raters (STAPLE). Each estimate becomes a label field, and this section compares the raters "
        "with it.",
    )

    PAGES: ClassVar = {"Truth": Page("truth", truth)}

    again, estimate = open_form, open_filled_form(estimate=True)
    least_sure = show(kf.view_least_sure_first, "images, least sure first")
    rater = show(
        kf.view_of_objections,
        "images where {name} differs from {consensus}",
        rater="name",
        consensus="consensus",
    )


def _of_pixels(name: str, found: Any) -> Row:
    """Return the number of true pixels of a consensus, of images without any, and the raters' kappa to it."""
    known = [value for value in found.performance.kappa.tolist() if value == value]
    kappas = {"least_kappa": min(known, default=None), "most_kappa": max(known, default=None)}
    return {"name": name, "said": TRUTH_LABELS.get(name, ""), **row_of(found, "pixels", "empty", "images"), **kappas}


def _of_objects(name: str, found: Any) -> Row:
    kept, below, tied = (found.counts[outcome] for outcome in ("kept", "below quorum", "tied class"))
    return {"name": name, "said": "", "objects": kept, "below": below, "tied": tied, "score": found.score}


def _of_raters(found: Any, of_pixels: bool) -> list[Row]:
    """Return measures of each rater against a consensus; `kept`: share of images on which the method keeps a rater."""
    if not of_pixels:
        return rows_of(sensitivity=found.sensitivity, ppv=found.ppv)
    kept = rows_of(kept=found.kept_share)
    return [{**shares, **own} for shares, own in zip(shares_of(found.performance), kept, strict=True)]


def _estimate(found: Any, parts: Mapping[str, Any], rater: str) -> Row:
    """Return the estimate of who is right about objects, for the selected consensus."""
    skill = values_of(found.skill, found.skill_interval)
    return {
        "title": unshown(parts["skill"].title),
        "text": unshown(parts["skill"].note),
        "warnings": list(truth_doubts(found)),
        "skills": rows_of(least_first(found.skill), rater=found.raters, skill=skill),
        "rater": rater,
        "raters": found.raters,
        "confusion": matrix_in(parts, "confusion", found.classes),
    }


def _notes(found: Any) -> list[str]:
    """Return the first notes on single images."""
    more = [f"and {count_text(len(found) - MOST_NOTES)} more"] * (len(found) > MOST_NOTES)
    return [*map(str, found[:MOST_NOTES]), *more]
