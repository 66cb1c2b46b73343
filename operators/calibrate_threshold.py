"""Operator that calibrates the smallest similarity at which two annotations may be the same object."""

import fiftyone.operators.types as types

from kalos_core import SIMILARITIES
from kalos_core.display import with_interval
from kalos_core.fiftyone.kinds.calibration.kind import CalibrationRun
from kalos_core.figures.calibration import calibration_title
from kalos_core.text import bold, shown

from . import base, forms, widgets
from .widgets import Context

HEAD = ("Similarity", "KS", r"τ\* (distance)", r"τ\*\_s (similarity, 1 − τ\*)", "Compared", "Trusted")

COMPARED = {"relative": "relative", "pixels": "in pixels", "own": "as defined"}
"""Coordinates in which annotations of two images were compared."""


class CalibrateThreshold(base.Analysis[CalibrationRun]):
    NAME, LABEL = "calibrate_threshold", "Calibrate the threshold"
    DESCRIPTION = "Compare annotations of one image with chance, and find the threshold that separates the two"
    ICON, RESULT = "/assets/calibration.svg", "Calibration"

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        fitting = forms.fitting_similarities(ctx)
        offered = {name: SIMILARITIES[name].label for name in fitting}
        similarities = self.ask(ctx, inputs, "similarities", offered=offered, default=fitting)
        chosen = ctx.params.get("similarities")
        unfit = [name for name in chosen or () if name not in fitting]
        if chosen is not None and not chosen:
            widgets.refuse(similarities, "Choose at least one similarity")
        elif unfit:
            widgets.refuse(similarities, f"Not every label can be compared by {unfit[0]}")
        self.ask(ctx, inputs, "repeats", "coordinates", "bootstrap", "seed")

    def summary(self, run: CalibrationRun) -> str:
        """Return a table with a row for each similarity, the best first."""
        found = run.metrics["similarities"]
        best = found[0]
        rows = [
            [
                shown(entry["name"]),
                with_interval(entry["ks"], entry["ks_interval"], 3),
                with_interval(entry["tau"], entry["tau_interval"], 3),
                with_interval(entry["threshold"], entry["threshold_interval"], 3),
                COMPARED[entry["coordinates"]],
                "yes" if entry["trusted"] else "no",
            ]
            for entry in found
        ]
        notes = "".join(
            f"\n- {shown(entry['name'])}: not to be trusted: {entry['why']}" for entry in found if entry["why"]
        )
        return (
            f"{bold(calibration_title(best['name'], best['ks'], best['tau'], best['reason'], best['why']))}\n\n"
            f"{widgets.table(HEAD, rows)}\n{notes}\n\nNothing is written on samples or labels. The section "
            "**Threshold** of the panel **Raters** makes a threshold the default of later forms."
        )
