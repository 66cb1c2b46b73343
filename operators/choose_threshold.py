"""Make a calibrated threshold the default of later forms."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES
from kalos_core.figures import significant

from . import forms, running


class ChooseThreshold(running.Action):
    NAME, LABEL = "choose_threshold", "Use a calibrated threshold"
    DESCRIPTION = (
        "Write the threshold chosen from a calibration into its run, and offer it as the default of later forms"
    )
    ICON, RESULT = "/assets/calibration.svg", "Threshold"
    STREAMED = False

    def add_inputs(self, ctx, inputs):
        keys = [] if ctx.dataset is None else kf.list_runs(ctx.dataset, "calibration")
        if not keys:
            inputs.view("none", types.Notice(label="There is no calibration yet", description="Calibrate first."))
            nothing = inputs.str("run_key", required=True, view=types.HiddenView())
            nothing.invalid = True
            return
        key = ctx.params.get("run_key") or keys[0]
        run = inputs.enum("run_key", keys, default=keys[0], view=_menu({name: name for name in keys}), label="Run")
        if key not in keys:
            forms.refuse(run, f"There is no calibration {key!r} any more")
            return
        found = {entry["name"]: entry for entry in kf.load_figures(ctx.dataset, key).figures["similarities"]}
        best = next(iter(found))
        similarity = inputs.enum(
            "similarity",
            list(found),
            default=best,
            view=_menu({name: SIMILARITIES[name].label if name in SIMILARITIES else name for name in found}),
            label="Similarity",
            description="The one that tells matches from chance best comes first",
        )
        chosen = ctx.params.get("similarity") or best
        if chosen not in found:
            forms.refuse(similarity, f"The run {key!r} did not calibrate {chosen}")
            return
        forms.add_threshold_field(ctx, inputs, chosen, best, found[chosen]["threshold"], _said(found[chosen]))

    def execute(self, ctx):
        params = ctx.params
        key = params.get("run_key") or kf.list_runs(ctx.dataset, "calibration")[0]
        found = kf.load_figures(ctx.dataset, key).figures["similarities"]
        similarity = params.get("similarity") or found[0]["name"]
        value = forms.threshold_of(params, similarity)
        if value in [forms.shown_threshold(entry["threshold"]) for entry in found if entry["name"] == similarity]:
            value = None  # the calibrated one itself, of which the form shows three digits
        run = kf.choose_threshold(ctx.dataset, key, similarity, value)
        value = next(entry["threshold"] for entry in run.figures["chosen"] if entry["similarity"] == similarity)
        running.reload_panels(ctx, "calibration")
        said = f"Later forms offer **{significant(value)}** as the threshold of {similarity}."
        return {"run_key": key, "similarity": similarity, "threshold": value, "summary": said}


def _menu(labels):
    choices = types.DropdownView()
    for name, label in labels.items():
        choices.add_choice(name, label=label)
    return choices


def _said(entry):
    """What the calibration found of a similarity."""
    if entry["threshold"] is None:
        return f"Not calibrated: {entry['reason']}"
    return f"Calibrated: {significant(entry['threshold'])} (KS {significant(entry['ks'])})"
