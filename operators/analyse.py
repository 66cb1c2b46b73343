"""Everything about how raters agree, in one go."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import number_of
from kalos_core.fiftyone.analyses.analysis import check_analysis_key, free_analysis_key
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, MASKS
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import bold

from . import base, forms, widgets
from .widgets import Context

KEY = "first"
"""The key to propose, if it is free."""


class Analyse(base.Action):
    NAME, LABEL = "analyse", "Analyse raters"
    DESCRIPTION = "How far raters agree, every difference, the threshold and the ceiling of any model, in one go"
    ICON, RESULT = "/assets/agreement.svg", "Analysis"

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        forms.check_view(ctx, inputs)
        if has_objects(ctx) or not has_others(ctx):
            if not forms.add_selection(ctx, inputs):
                return
            forms.add_similarity(ctx, inputs)
            forms.add_attributes(ctx, inputs)
        forms.add_key(
            ctx,
            inputs,
            "key",
            free_analysis_key(ctx.dataset, KEY),
            check_analysis_key,
            label="Key",
            description="Names everything the analysis writes, so that it can be deleted again",
        )

    def execute(self, ctx: Context) -> dict[str, Any] | Iterator[Any]:
        self.check_params(ctx)
        params, samples = ctx.params, ctx.target_view()
        settings = widgets.given(params, "kinds", "similarity") | forms.read_threshold(params)
        settings["settings"] = _settings(params)
        selection = selected(ctx).arguments()

        def work(progress: base.Progress) -> dict[str, Any]:
            key = params.get("key") or free_analysis_key(ctx.dataset, KEY)
            return summary(kf.analyse(samples, key, progress=progress, **settings, **selection))

        return base.run(ctx, work, then=base.written(ctx, "Overview"))


def _settings(params: Mapping[str, Any]) -> dict[str, Any]:
    """Further arguments of each kind of run; attributes are compared by the agreement."""
    settings, attributes = params.get("settings") or {}, params.get("attributes")
    more = {"agreement": {**settings.get("agreement", {}), "attributes": attributes}} if attributes else {}
    return {**settings, **more}


def summary(analysis: Analysis) -> dict[str, Any]:
    """Which runs were made, under which keys."""
    runs = analysis.runs.values()
    rows = "\n".join(
        f"- {kf.KINDS[run.kind].title}: run {bold(run.key)}, {number_of(run.images, 'image')}" for run in runs
    )
    return {"key": analysis.key, "runs": {run.kind: run.key for run in runs}, "text": f"{rows}\n"}


def has_objects(ctx: Context) -> bool:
    """Whether there are labels of objects to select from."""
    return ctx.dataset is not None and bool(kf.label_fields(ctx.dataset))


def has_others(ctx: Context) -> bool:
    """Whether several raters gave image-level labels, or masks."""
    families = (IMAGE_LABELS, MASKS)
    return ctx.dataset is not None and any(len(kf.rater_fields(ctx.dataset, family)) > 1 for family in families)


def selected(ctx: Context) -> kf.Selection:
    """What the form selects; all stored raters of objects are all raters, of other labels, too."""
    if not has_objects(ctx):
        return kf.Selection()
    selection, stored = forms.read_selection(ctx), kf.rater_fields(ctx.dataset)
    if selection.raters is not None and stored and set(stored) <= set(selection.raters):
        return replace(selection, raters=None)
    return selection
