"""Find from which similarity on two marks may be the same object, from the labels themselves."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES
from kalos_core.figures import calibration_title, significant, with_interval

from . import forms, running


class CalibrateThreshold(running.Analysis):
    NAME, LABEL, KIND = "calibrate_threshold", "Calibrate the threshold", "calibration"
    DESCRIPTION = "Compare what raters drew on one image with chance, and find the threshold that tells them apart"
    ICON, RESULT = "/assets/calibration.svg", "Calibration"

    def add_choices(self, ctx, inputs):
        fitting = forms.fitting_similarities(ctx)
        choices = types.DropdownView(multiple=True)
        for name in fitting:
            choices.add_choice(name, label=SIMILARITIES[name].label)
        similarities = inputs.list(
            "similarities",
            types.String(),
            default=fitting,
            view=choices,
            label="Similarities",
            description="Those that fit the labels; the one that separates best comes first in the result",
        )
        chosen = ctx.params.get("similarities")
        unfit = [name for name in chosen or () if name not in fitting]
        if chosen is not None and not chosen:
            forms.refuse(similarities, "Choose at least one similarity")
        elif unfit:
            forms.refuse(similarities, f"Not every label has what {unfit[0]} compares")
        repeats = inputs.int(
            "repeats",
            default=1,
            min=1,
            label="Draws of chance",
            description="How many raters of other images each mark is compared with",
        )
        bootstrap = inputs.int("bootstrap", default=100, min=0, label="Replicates of the intervals (0: no intervals)")
        forms.refuse_outside(repeats, ctx.params.get("repeats"), 1)
        forms.refuse_outside(bootstrap, ctx.params.get("bootstrap"), 0)
        inputs.int("seed", default=0, label="Seed")

    def settings(self, params):
        return forms.given(params, "similarities", "repeats", "bootstrap", "seed")

    def analyse(self, samples, run_key, **settings):
        return kf.calibrate_threshold(samples, run_key, **settings)

    def summary(self, run):
        """A row for each similarity, the best first."""
        found = run.figures["similarities"]
        best = found[0]
        rows = "\n".join(
            f"| {entry['name']} | {with_interval(entry['ks'], entry['ks_interval'])} | {significant(entry['tau'])} | "
            f"{with_interval(entry['threshold'], entry['threshold_interval'])} |"
            for entry in found
        )
        notes = "".join(f"\n- {entry['name']}: {entry['reason']}" for entry in found if entry["reason"])
        return (
            f"**{calibration_title(best['name'], best['ks'], best['tau'], best['reason'])}**\n\n"
            f"| Similarity | KS | τ* | Threshold (1 − τ*) |\n|---|---|---|---|\n{rows}\n{notes}\n\n"
            "Nothing is written on samples or labels. The panel **Calibration** makes a threshold the default of later "
            "forms."
        )
