"""Operator that estimates the mAP that no model can be expected to exceed, given how the raters differ."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text, ends_text, number_of, points_text
from kalos_core.errors import check_number
from kalos_core.fiftyone.kinds.convergence.kind import ConvergenceRun
from kalos_core.figures.convergence import convergence_title
from kalos_core.text import names_shown, shown

from . import base, forms, widgets
from .widgets import Context

LEAST, GREATEST, STEP = 0.5, 0.95, 0.05
"""Range and step of the thresholds, as in COCO."""

NO_FIELD = "none"

VERDICTS = {"ok": "✓", "warn": "⚠", "cannot know": "?"}

METRICS = ("Metric", "All images", "Mean", "Std", "Min", "Max", "95 % interval")

SIZES = ("Images", "Label convergence", "95 % interval")


class EstimateConvergence(base.Analysis[ConvergenceRun]):
    NAME, LABEL = "estimate_convergence", "Estimate label convergence"
    DESCRIPTION = "Find the mAP that no model can be expected to exceed, given how the raters differ"
    ICON, RESULT = "/assets/convergence.svg", "Label convergence"

    DELEGATED_FROM = 10_000_000  # images times subsets: about a minute
    INPUTS: ClassVar = {"least": float, "greatest": float}

    def amount_of_work(self, ctx: Context) -> float:
        subsets: float | None = ctx.params.get("subsets")
        return len(ctx.target_view()) * (1000 if subsets is None else subsets)

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        forms.add_similarity_field(ctx, inputs, forms.fitting_similarities(ctx))
        self._add_thresholds(ctx, inputs)
        self.ask(ctx, inputs, "subsets", "fraction", "seed")
        self._add_models(ctx, inputs)
        self.ask(ctx, inputs, "tags")

    def _add_thresholds(self, ctx: Context, inputs: types.Object) -> None:
        description = "mAP is the mean over thresholds in steps of 0.05"
        widgets.add_number(
            ctx, inputs, "least", STEP, 1.0, default=LEAST, label="Lowest threshold τ_s", description=description
        )
        prop = widgets.add_number(ctx, inputs, "greatest", STEP, 1.0, default=GREATEST, label="Highest threshold τ_s")
        given = widgets.given(ctx.params, "least", "greatest")
        least, greatest = given.get("least", LEAST), given.get("greatest", GREATEST)
        if greatest < least:
            widgets.refuse(prop, f"A number of at least {least:g}, the lowest threshold")

    def _add_models(self, ctx: Context, inputs: types.Object) -> None:
        self.ask(ctx, inputs, "models")
        used = forms.selected_fields(forms.read_selection(ctx), kf.rater_fields(ctx.dataset))
        offered = [NO_FIELD, *(field for field in kf.label_fields(ctx.dataset) if field not in used)]
        chosen = ctx.params.get("predictions")
        if len(offered) == 1 and not chosen:
            return
        unknown = bool(chosen) and chosen not in offered
        accepted = [chosen] if unknown else []
        predictions = self.ask(ctx, inputs, "predictions", offered=offered, accepted=accepted, default=NO_FIELD)
        if unknown:
            widgets.refuse(predictions, f"{chosen!r} is not a field of predictions")

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        found = super().settings(params)
        if found.get("predictions") == NO_FIELD:
            del found["predictions"]
        return {"thresholds": thresholds_between(params.get("least"), params.get("greatest"))} | found

    def summary(self, run: ConvergenceRun) -> str:
        """Return the headline, the table of both routes, the models with their interpretation, and the check-list."""
        f = run.metrics
        rows = [
            [
                f"**{shown(row['figure'])}**" if row["is_convergence"] else shown(row["figure"]),
                *(_scaled(row, name) for name in ("whole", "mean", "std", "min", "max")),
                _ends(row),
            ]
            for row in f["summary"]
        ]
        models = "\n".join(f"- **{shown(model['name'])}**: {model['meaning']}" for model in f["models"])
        checks = [
            (VERDICTS[line["verdict"]], *names_shown((line["criterion"], line["finding"]))) for line in f["checklist"]
        ]
        sizes = [
            (f"{row.images:,}{', all' * (row.share == 1)}", points_text(row.convergence), _ends(vars(row)))
            for row in run.details.sizes
        ]
        title = convergence_title(f["whole"], f["interval"], f["images"])
        return (
            f"**{title}**\n\n{f['route']}{_subsets(f)}\n\n"
            f"{widgets.table(METRICS, rows)}\n\n{widgets.table(SIZES, sizes)}\n\n"
            + (f"{models}\n\n" if models else "")
            + widgets.table(("", "Do the data support this estimate?", "Finding"), checks)
        )


FEWEST_IN_SUBSET = 10
"""Minimum number of images of a subset to mention subsets in the summary."""


def _subsets(figures: Mapping[str, Any]) -> str:
    """Describe the number and the size of subsets; "" if they are too small."""
    each = figures["images_per_subset"]
    if each < FEWEST_IN_SUBSET:
        return ""
    return f"; {number_of(figures['subsets'], 'subset')} of {number_of(each, 'image')} each"


def thresholds_between(least: float | None, greatest: float | None) -> list[float]:
    """Return the thresholds of a range in steps of `STEP`, by default those of COCO."""
    low = check_number(LEAST if least is None else least, "least", STEP, 1)
    high = check_number(GREATEST if greatest is None else greatest, "greatest", low, 1)
    return [float(threshold) for threshold in np.linspace(low, high, round((high - low) / STEP) + 1)]


def _ends(row: dict[str, Any]) -> str:
    return ends_text((row["low"], row["high"]), _writer(row))


def _scaled(row: dict[str, Any], name: str) -> str:
    return _writer(row)(row[name])


def _writer(row: dict[str, Any]) -> Callable[[float | None], str]:
    """Return the function that formats the values of a row: mAP in points, alpha unscaled."""
    return alpha_text if row.get("figure") == "alpha" else points_text
