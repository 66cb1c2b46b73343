"""Ceiling: upper bound on the mAP of any model, models compared with it, and the evidence for it."""

from typing import ClassVar

import kalos_core.fiftyone as kf
from kalos_core.convergence import ConvergenceStudy, TagConvergence
from kalos_core.fiftyone.kinds.convergence.kind import poolable_runs, pooled_replicates, view_of_tag
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.convergence import ceiling_basis, ceiling_title, interval_caveat
from kalos_core.text import plain

from .base import Asked, Led, click
from .figure import figures_in
from .paged import Page, PagedSection, choice
from .rows import Row, rows_of, value_of, values_of

MOST_TAGS = 25

ALONE, ALL_SETS = "this data set alone", "all of them"
"""Entries of the menu of data sets for the line."""


def intervals(asked: Asked) -> Row:
    found = _found(asked)
    return {
        "head": _head(asked, found),
        "parts": [_part(part) for part in found.parts[: 1 + MOST_TAGS]],
        "models": found.placed,
        "typed": asked.value("models", optional=True) or "",
    }


def subsets(asked: Asked) -> Row:
    run, found = asked.run("convergence"), _found(asked)
    others = poolable_runs(asked.dataset) if len(run.metrics["raters"]) == 2 else {}
    pools = [ALONE, *others, *([ALL_SETS] if len(others) > 1 else [])]
    pool = choice(asked, "pool", pools)
    used = {name: key for name, key in others.items() if pool in (name, ALL_SETS)}
    pooled = pooled_replicates(asked.dataset, run.key, used, **_limits(asked)) if used else None
    parts = kf.figures_of(kf.load_metrics(asked.dataset, run.key), found=found, pooled=pooled)
    figures = figures_in(parts, "sizes", "scatter")
    return {"head": _head(asked, found), "figures": figures, "summary": _spreads(found), "pools": pools, "pool": pool}


def pairs(asked: Asked) -> Row:
    found = _found(asked)
    caption = CAPTIONS["matrix"]
    return {"head": _head(asked, found), "caption": caption, "raters": found.raters, "matrix": found.matrix}


def checks(asked: Asked) -> Row:
    found = _found(asked)
    return {"head": _head(asked, found), "caveat": interval_caveat(found.whole), "criteria": found.checklist}


class CeilingSection(PagedSection):
    NAME, KIND = "Ceiling", "convergence"
    NOTHING_YET = (
        "Which mAP can a model reach on these labels?",
        "Nothing is computed yet. Disagreement between raters limits the mAP of any model that is evaluated on their "
        "labels. Label convergence is the mAP that raters reach when they are evaluated against each other. A model "
        "within its interval agrees with the labels as well as a rater does.",
    )
    PAGES: ClassVar = {
        "Interval": Page("convergence", intervals),
        "Subsets": Page("convergence", subsets),
        "Raters": Page("convergence", pairs),
        "Checks": Page("convergence", checks),
    }

    @click
    def images(self, asked: Asked) -> Led:
        """Show the images of a tag, or all images of the run."""
        key, tag = asked.run("convergence").key, asked.value("tag", optional=True)
        if tag is None:
            return Led(kf.load_run_view(asked.dataset, key), "images of this analysis")
        return Led(view_of_tag(asked.dataset, key, tag), f"images with the tag {plain(tag)}")


def _limits(asked: Asked) -> dict[str, float]:
    """Return the selected thresholds: the nearest ones of the run, the smallest not above the largest."""
    levels = asked.run("convergence").settings["thresholds"]
    least = choice(asked, "least", levels, min(levels))
    return {"least": least, "greatest": max(least, choice(asked, "greatest", levels, max(levels)))}


def _found(asked: Asked) -> ConvergenceStudy:
    """Compute the ceiling from the replicates of the run, for the selected thresholds and the typed models."""
    key, typed = asked.run("convergence").key, asked.value("models", optional=True) or ""
    return kf.convergence_metrics(asked.dataset, key, **_limits(asked), models=typed)


def _head(asked: Asked, found: ConvergenceStudy) -> Row:
    """Return the head of every page: the ceiling, how it was obtained, and its thresholds."""
    return {
        "said": ceiling_title(found.whole),
        "basis": ceiling_basis(found.whole),
        "levels": asked.run("convergence").settings["thresholds"],
        **_limits(asked),
    }


def _part(part: TagConvergence) -> Row:
    """Return the mAP of all images or those of a tag, at once and in subsets of one size."""
    found = part.replicates
    if found is None:
        values: Row = {"whole": value_of(None, reason=part.reason), "mean": None, "size": None}
    else:
        whole = value_of(found.whole_convergence, found.interval)
        values = {"whole": whole, "mean": found.convergence.mean, "size": found.images_per_replicate}
    return {"name": part.name, "images": part.images, **values}


def _spreads(found: ConvergenceStudy) -> list[Row]:
    table = found.whole.summary()
    return rows_of(
        whole=values_of(table["whole"], table[["low", "high"]].to_numpy()),
        is_alpha=table["figure"] == "alpha",
        **table[["figure", "is_convergence", "mean", "std"]],
        least=table["min"],
        greatest=table["max"],
    )
