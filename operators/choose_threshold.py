"""Make a calibrated threshold the default of later forms."""

import warnings
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES, KalosWarning
from kalos_core.display import alpha_text
from kalos_core.text import shown

from . import base, forms, widgets
from .widgets import Context


class ChooseThreshold(base.Action):
    NAME, LABEL = "choose_threshold", "Use a calibrated threshold"
    DESCRIPTION = (
        "Write the threshold chosen from a calibration into its run, and offer it as the default of later forms"
    )
    ICON, RESULT = "/assets/calibration.svg", "Threshold"
    STREAMED = False

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        runs = [] if ctx.dataset is None else kf.list_runs(ctx.dataset, "calibration", info=True)
        stored = {run.key: run.metrics["similarities"] for run in runs}
        key = forms.add_run(ctx, inputs, list(stored), "calibration")
        if key is None:
            return
        found = {entry["name"]: entry for entry in stored[key]}
        best = next(iter(found))
        similarity = widgets.add_dropdown(
            inputs,
            "similarity",
            {name: SIMILARITIES[name].label if name in SIMILARITIES else name for name in found},
            default=best,
            label="Similarity",
            description="The one that tells matches from chance best comes first",
        )
        chosen = ctx.params.get("similarity") or best
        if chosen not in found:
            widgets.refuse(similarity, f"The run {key!r} did not calibrate {chosen}")
            return
        entry = found[chosen]
        forms.add_threshold_field(ctx, inputs, chosen, best, entry["threshold"], f"Least similarity. {_finding(entry)}")

    def execute(self, ctx: Context) -> dict[str, Any]:
        self.check_params(ctx)
        params = ctx.params
        key = params.get("run_key") or kf.list_runs(ctx.dataset, "calibration")[0]
        found = kf.load_metrics(ctx.dataset, key).metrics["similarities"]
        similarity = params.get("similarity") or found[0]["name"]
        value = forms.threshold_of(params, similarity)
        if value in [forms.shown_threshold(entry["threshold"]) for entry in found if entry["name"] == similarity]:
            value = None  # the calibrated one itself, of which the form shows three digits
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # the summary says it
            run = kf.choose_threshold(ctx.dataset, key, similarity, value)
        doubt = "".join(_doubt(entry) for entry in found if entry["name"] == similarity and value is None)
        value = next(entry["threshold"] for entry in run.metrics["chosen"] if entry["similarity"] == similarity)
        base.reload_panels(ctx)
        summary = f"Later forms offer **{alpha_text(value)}** as the threshold of {shown(similarity)}.{doubt}"
        return {"run_key": key, "similarity": similarity, "threshold": value, "text": summary}


def _finding(entry: dict[str, Any]) -> str:
    """What the calibration found of a similarity."""
    if entry["threshold"] is None:
        return f"Not calibrated: {entry['reason']}"
    return f"Calibrated: {alpha_text(entry['threshold'])} (KS {alpha_text(entry['ks'])}).{_doubt(entry)}"


def _doubt(entry: dict[str, Any]) -> str:
    """What speaks against a calibrated threshold."""
    return "" if entry["trusted"] else f" Not to be trusted: {entry['why']}"
