"""Threshold: smallest similarity at which two annotations may be the same object, and results that depend on it."""

import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning
from kalos_core.calibration import Separation
from kalos_core.display import VARIATION_LABELS, alpha_text
from kalos_core.errors import Undefined
from kalos_core.fiftyone.analyses.summaries import threshold_advice
from kalos_core.fiftyone.kinds.agreement.views import view_of_threshold
from kalos_core.fiftyone.kinds.calibration.figures import over_what
from kalos_core.fiftyone.kinds.calibration.kind import default_threshold
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.figures.calibration import threshold_text
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.published import PUBLISHED_CALIBRATIONS
from kalos_core.variation import VARIATION_TYPES

from .base import Asked, Led, click, prompt
from .figure import figure_in, figure_of
from .paged import Page, PagedSection, choice
from .rows import Row, measured, row_of, rows_of, value_of, values_of


def calibration(asked: Asked) -> Row:
    """Return the calibration of the selected similarity, initially the one in use; `again` fills in a form."""
    dataset, run = asked.dataset, asked.details("calibration")
    used = _in_use(asked.analysis)
    similarity = choice(asked, "similarity", run.details.names, used and used[0])
    found = run.details[similarity]
    figure = replace(kf.figures_of(run)[similarity], title="")  # it is said
    return {
        "similarity": similarity,
        "said": threshold_text(found, used),
        "advice": threshold_advice(dataset, asked.analysis.key).text if used and used[0] in run.details.names else "",
        "over": over_what(run),
        "similarities": [_calibrated(one, one.name, default_threshold(dataset, one.name)) for one in run.details],
        "sizes": [_calibrated(one, size) for size, one in found.strata.items()],
        "figure": figure_of(figure, CAPTIONS["calibration"]),
        "again": {"similarity": similarity, "threshold": round(found.threshold, 3), "view_target": "DATASET"},
    }


def sensitivity(asked: Asked) -> Row:
    run = asked.details("agreement")
    found, parts = run.details.sensitivity, kf.figures_of(run)
    levels: list[Row] = []
    if not isinstance(found, Undefined):
        alphas = values_of(found.alpha, found.alpha_interval)
        levels = rows_of(threshold=found.threshold, alpha=alphas, images=found.images)
    return {"figure": figure_in(parts, "sensitivity"), "title": parts["sensitivity"].title, "levels": levels}


def types(asked: Asked) -> Row:
    """Return the shares, and the counts at the selected threshold, initially that of the run."""
    run = asked.details("variations")
    shares, own = run.details.shares, run.settings["threshold"]
    if isinstance(shares, Undefined):
        title = kf.figures_of(run)["shares"].title
        return {"figure": None, "title": title, "levels": [], "own": 0, "level": 0, "counts": []}
    levels = shares.threshold.tolist()
    level = choice(asked, "level", levels, own)
    parts = kf.figures_of(run, threshold=level)
    counts = _counts(shares.counts[levels.index(own)], shares.counts[levels.index(level)])
    shown = {"figure": figure_in(parts, "shares"), "title": parts["shares"].title}
    return {**shown, "levels": levels, "own": own, "level": level, "counts": counts}


def published(asked: Asked) -> list[Row]:
    """Return published calibrations, those of the similarity in use first."""
    used = _in_use(asked.analysis)
    return [
        {
            **row_of(one, "dataset", "threshold", name="similarity"),
            **measured(one, "ks", "tau"),
            "source": f"{one.source} {one.note}".rstrip(),
        }
        for one in sorted(PUBLISHED_CALIBRATIONS, key=lambda one: used is None or one.similarity != used[0])
    ]


class ThresholdSection(PagedSection):
    NAME, KIND = "Threshold", "calibration"
    NOTHING_YET = (
        "How similar must two annotations of the same object be?",
        "Nothing is computed yet. Calibration compares each annotation with the nearest annotation of another rater, "
        "on the same image and on a random other image, which represents chance. The threshold is the point at which "
        "both explanations are equally likely.",
    )
    PAGES: ClassVar = {
        "Calibration": Page("calibration", calibration),
        "Sensitivity": Page("agreement", sensitivity),
        "Types": Page("variations", types),
        "Published": Page("", published),
    }

    again = prompt("analyse")

    @click
    def use(self, asked: Asked) -> Led:
        """Make the threshold the default of later forms."""
        similarity = asked.value("similarity")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # it was said
            run = kf.choose_threshold(asked.dataset, asked.run("calibration").key, similarity)
        threshold = run.metrics["chosen"][similarity]["threshold"]
        return Led(said=f"Later forms offer {alpha_text(threshold)} for {similarity}")

    @click
    def alpha(self, asked: Asked) -> Led:
        threshold = asked.value("threshold", float)
        view = asked.view(view_of_threshold, "agreement", threshold)
        return Led(view, f"images, lowest alpha at threshold {alpha_text(threshold)} first")


def _in_use(analysis: Analysis) -> tuple[str, float] | None:
    """Return the similarity and the threshold of the agreement run."""
    lead = analysis.run("agreement")
    return None if lead is None else (lead.settings["similarity"], lead.settings["threshold"])


def _calibrated(found: Separation, name: str, default: float | None = None) -> Row:
    """Return the calibration of a similarity, or of its annotations of one size; `doubt`: why it is not trusted."""
    return {
        "name": name,
        **measured(found, "ks", "tau"),
        "threshold": value_of(found.threshold, found.threshold_interval, found.reason),
        "doubt": "" if found.reason or found.trusted else found.why,
        "is_default": default is not None and default == found.threshold,
    }


def _counts(own: NDArray[np.intp], chosen: NDArray[np.intp]) -> list[Row]:
    """Return the findings of each type at the threshold in use and at another one."""
    shares = {"own_share": own / max(own.sum(), 1), "chosen_share": chosen / max(chosen.sum(), 1)}
    names = [VARIATION_LABELS[name] for name in VARIATION_TYPES]
    return rows_of(type=names, own=own, chosen=chosen, **shares, change=chosen - own)
