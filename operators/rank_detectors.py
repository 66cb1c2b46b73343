"""Operator that ranks detectors under the labels of each rater, and under estimates from all raters."""

from collections.abc import Mapping
from typing import Any, ClassVar

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text
from kalos_core.fiftyone.dataset.raters import estimated_fields
from kalos_core.fiftyone.kinds.detectors.kind import DetectorRun
from kalos_core.fiftyone.kinds.detectors.scores import heatmap_fields
from kalos_core.fiftyone.kinds.detectors.settings import BERKELEY
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.figures.ranking import boundaries_title, ranking_title
from kalos_core.text import names_shown, shown

from . import forms, mask_forms, widgets
from .widgets import Context

USUAL = ["any", "0.5", "0.75"]

MOST_COLUMNS = 8
"""Maximum number of references in the table of the summary; the panel shows all."""


MATCHING = 4
"""Time to match boundaries at one threshold, relative to ranking a map."""


class RankDetectors(mask_forms.MaskAnalysis[DetectorRun]):
    NAME, LABEL = "rank_detectors", "Rank detectors under each reference"
    DESCRIPTION = "Rank several detectors, and show whether the best depends on the rater used as reference"
    ICON, RESULT = "/assets/truth.svg", "Ranking of detectors"
    HIDDEN: ClassVar = {"contours": ("tolerance", "thin"), "berkeley": ("boundaries",)}
    OVERRIDES: ClassVar = {
        "tolerance": {"default": 0.0075},
        "thin": {"default": True},
        "boundaries": {"default": BERKELEY},
    }
    INPUTS: ClassVar = {"skew_low": float, "skew_high": float}
    FILLED = ("detectors",)

    def amount_of_work(self, ctx: Context) -> float:
        matched = ctx.params.get("boundaries") or BERKELEY if ctx.params.get("berkeley") else 0
        return super().amount_of_work(ctx) * (1 + MATCHING * matched * len(ctx.params.get("detectors") or "?"))

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        detectors = self._add_detectors(ctx, inputs)
        if not set(detectors).isdisjoint(heatmap_fields(ctx.dataset)):
            mask_forms.add_methods(ctx, inputs, USUAL, label="Consensus next to the raters")
            widgets.add_switch(
                inputs,
                "all_shares",
                label="Thresholds of agreement, 1/N to 1, as references",
                description="Pixels that at least 1, 2, ... of the N raters marked; all images need N raters",
            )
            mask_forms.add_ignored(ctx, inputs)
            self.add_local(ctx, inputs)
            self._add_skew(ctx, inputs)
            self.ask(ctx, inputs, "contours", "berkeley", "bootstrap", "seed")
        else:
            self.ask(ctx, inputs, "quorum", default="0.5")
            forms.add_similarity_field(ctx, inputs, forms.fitting_similarities(ctx))
        estimated = estimated_fields(ctx.dataset)
        if estimated:
            self.ask(ctx, inputs, "truths", offered=estimated)

    def _add_detectors(self, ctx: Context, inputs: types.Object) -> list[str]:
        used = set(mask_forms.selected_raters(ctx))
        stored = kf.rater_fields(ctx.dataset)
        taken = used | {stored[name] for name in used if name in stored} | set(estimated_fields(ctx.dataset))
        written = {RunNames(key).rater_count for key in kf.list_runs(ctx.dataset, "pixels")}
        maps = [name for name in heatmap_fields(ctx.dataset) if name not in written]
        labels = [name for name in kf.label_fields(ctx.dataset) if name not in taken]
        usual = maps or labels
        offered = {name: f"{name} (score maps)" for name in maps} | {name: f"{name} (labels)" for name in labels}
        prop = self.ask(ctx, inputs, "detectors", offered=offered, default=usual, required=True)
        chosen: list[str] | None = ctx.params.get("detectors")
        chosen = usual if chosen is None else chosen
        if not chosen:
            widgets.refuse(prop, "Choose the fields of at least one detector")
        unknown = [name for name in chosen if name not in maps and name not in labels]
        if unknown:
            widgets.refuse(prop, f"{unknown[0]!r} is not a field of a detector")
        elif len({name in maps for name in chosen}) > 1:
            widgets.refuse(prop, "Rank score maps and labels in two separate runs")
        return chosen

    def _add_skew(self, ctx: Context, inputs: types.Object) -> None:
        if not widgets.is_on(ctx, inputs, "choose_skew", label="Choose the range of skew"):
            return
        widgets.add_number(
            ctx,
            inputs,
            "skew_low",
            0.0,
            1.0,
            default=0.01,
            label="Smallest fraction of positives",
            description="Precision is averaged over this range; by default, the range of what raters mark",
        )
        high = widgets.add_number(
            ctx, inputs, "skew_high", 0.0, 1.0, default=0.2, label="Largest fraction of positives"
        )
        ends = ctx.params.get("skew_low", 0.01), ctx.params.get("skew_high", 0.2)
        if None not in ends and ends[1] <= ends[0]:
            widgets.refuse(high, f"A number above {ends[0]:g}, the smallest fraction")

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        found = {"detectors": (), **super().settings(params)}
        skew = widgets.given_if(params, "choose_skew", "skew_low", "skew_high")
        if params.get("all_shares"):
            found["shares"] = "all"
        if len(skew) == 2:
            found["skew"] = [skew["skew_low"], skew["skew_high"]]
        return found

    def summary(self, run: DetectorRun) -> str:
        f = run.metrics
        references = f["truths"][:MOST_COLUMNS]
        rows = [
            [shown(name), *(_cell(f, index, d) for index in range(len(references)))]
            for d, name in enumerate(f["detectors"])
        ]
        table = widgets.table(["Detector", *names_shown(references)], rows)
        undefined = "".join(f"\n\n- {reason}" for reason in names_shown(f["undefined"]))
        return f"**{_title(run)}**\n\nBy {f['measure']}, with the rank\n\n{table}{undefined}"


def _title(run: DetectorRun) -> str:
    """Describe the best detector, and the best detector of boundaries."""
    found, boundaries = ranking_title(run.details.ranking.ranking), run.details.boundaries
    if boundaries is None:
        return found
    return f"{found}. {boundaries_title(boundaries.detectors.tolist(), boundaries.ods, boundaries.ois)}"


def _cell(figures: Mapping[str, Any], reference: int, detector: int) -> str:
    value, rank = figures["values"][reference][detector], figures["ranks"][reference][detector]
    return "undefined" if value is None else f"{alpha_text(value, 3)} ({rank:g})"
