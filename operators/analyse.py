"""Operator that makes all runs about the agreement of raters at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import number_of
from kalos_core.fiftyone.analyses.analysis import check_analysis_key, free_analysis_key
from kalos_core.fiftyone.dataset.raters import OBJECTS
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import shown

from . import base, forms, widgets
from .widgets import Context

KEY = "first"
"""Key to propose, if it is free."""


class Analyse(base.Action):
    NAME, LABEL = "analyse", "Analyse raters"
    DESCRIPTION = (
        "Inter-annotator agreement, every disagreement and error, the threshold and the ceiling for models, at once"
    )
    ICON, RESULT = "/assets/agreement.svg", "Analysis"
    KEY_NAME = "key"
    INPUTS: ClassVar = {"attributes": Sequence[str]}

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        forms.check_view(ctx, inputs)
        if reads_objects(ctx):
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
            return summary(kf.analyse(samples, key, progress=progress, **settings, **selection), ctx.dataset)

        return base.run(ctx, work, then=base.written(ctx, "Overview"))


def _settings(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return further arguments of each kind of run; the agreement run compares attributes."""
    settings, attributes = params.get("settings") or {}, params.get("attributes")
    more = {"agreement": {**settings.get("agreement", {}), "attributes": attributes}} if attributes else {}
    return {**settings, **more}


def summary(analysis: Analysis, samples: Any) -> dict[str, Any]:
    """Summarize the runs of an analysis in the sentences of *Overview*, without runs of other analyses."""
    runs = [run for run in analysis.runs.values() if analysis.key in (run.analysis, run.key)]
    said = [shown(statement.text, None) for statement in kf.overview_of(samples, analysis.key)]
    *findings, _ = said if len(said) > 1 else [*said, ""]  # the last one is about labels that were edited since
    made = ", ".join(kf.KINDS[run.kind].title.lower() for run in runs)
    head = f"**{findings[0]}**" if findings else ""
    rows = "\n".join(f"- {text}" for text in findings[1:])
    images = number_of(max((run.images for run in runs), default=0), "image")
    text = f"{head}\n\n{rows}\n\nOn {images}: {made}; the panel *Raters* shows all of it."
    return {"key": analysis.key, "runs": {run.kind: run.key for run in runs}, "text": text}


def reads_objects(ctx: Context) -> bool:
    """Return whether the form selects labels of objects; not if only other labels have several raters."""
    if ctx.dataset is None:
        return True
    families = {found.family for found in kf.found_raters(ctx.dataset)}
    return OBJECTS.name in families or not families


def selected(ctx: Context) -> kf.Selection:
    """Return the selection of the form; all stored raters of objects stand for all raters, also of other labels."""
    if not reads_objects(ctx) or not kf.label_fields(ctx.dataset):
        return kf.Selection()
    selection, stored = forms.read_selection(ctx), kf.rater_fields(ctx.dataset)
    if selection.raters is not None and stored and set(stored) <= set(selection.raters):
        return replace(selection, raters=None)
    return selection
