"""Match raters and compute their agreement."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import COSTS, usable_solvers
from kalos_core.figures import agreement_title, significant, with_interval

from . import forms, running

COST_HELP = {"soft": "prefer partners of the same class (the paper's choice)", "neg": "look at similarity only"}
SOLVER_HELP = {
    "greedy": "most similar first (the paper's choice)",
    "shm": "rater after rater by name, as many partners as possible",
    "ahc": "every two labels of a unit reach the threshold",
    "mgm": "the best sum over all pairs of a unit (slower)",
}


class ComputeAgreement(running.Analysis):
    NAME, LABEL, KIND = "compute_agreement", "Match raters and compute agreement", "agreement"
    DESCRIPTION = "Find which labels of different raters mean the same object, and how far the raters agree"
    ICON, RESULT = "/assets/agreement.svg", "Agreement"

    def add_choices(self, ctx, inputs):
        forms.add_similarity(ctx, inputs)
        self._add_advanced(ctx, inputs)

    def _add_advanced(self, ctx, inputs):
        inputs.bool("advanced", default=False, label="Choose solver, cost and interval", view=types.SwitchView())
        if not ctx.params.get("advanced"):
            return
        for name, table, helps, label in (
            ("solver", usable_solvers(), SOLVER_HELP, "Solver"),
            ("cost", COSTS, COST_HELP, "Cost of a pair"),
        ):
            choices = types.DropdownView()
            for entry in table:
                choices.add_choice(entry, label=f"{entry}: {helps.get(entry, '')}".rstrip(": "))
            inputs.enum(name, choices.values(), default=next(iter(table)), view=choices, label=label)
        inputs.int("bootstrap", default=1000, min=0, label="Replicates of the interval (0: no interval)")
        inputs.int("seed", default=0, label="Seed")

    def settings(self, params):
        return (
            forms.compared(params)
            | forms.given(params, "thresholds")
            | forms.shown(params, "advanced", ("solver", "cost", "bootstrap", "seed"))
        )

    def analyse(self, samples, run_key, **settings):
        return kf.compute_agreement(samples, run_key, **settings)

    def summary(self, run):
        """The figures of a run as text."""
        f = run.figures
        rows = [
            ("Mean alpha over images", with_interval(f["alpha"], f["alpha_interval"])),
            ("Alpha over all units at once", with_interval(f["global_alpha"], f["global_alpha_interval"])),
            ("Images", f"{f['images']:,}, {f['defined_images']:,} with an alpha"),
            ("Empty by agreement", f"{f['empty_images']:,}; mean without them {significant(f['alpha_without_empty'])}"),
            ("Raters", ", ".join(f["raters"])),
            ("Annotations", f"{f['annotations']:,} in {f['units']:,} units"),
            ("Configuration", f["notation"]),
            ("Written", f"`{run.names.alpha}` on samples, `{run.names.unit}` on labels"),
        ]
        table = "\n".join(f"| {name} | {value} |" for name, value in rows)
        return f"**{agreement_title(f['alpha'], f['alpha_interval'])}**\n\n| Figure | Value |\n|---|---|\n{table}"
