"""Compute how far raters agree about pixels, and put a map of it beside each picture."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.figures import significant, smyth_title

from . import forms, mask_forms


class ComputePixelAgreement(mask_forms.MaskAnalysis):
    NAME, LABEL, KIND = "compute_pixel_agreement", "Compute agreement about pixels", "pixels"
    DESCRIPTION = "How far the masks of raters agree, who stands out, and where they differ"
    ICON, RESULT = "/assets/truth.svg", "Agreement about pixels"
    PANEL = "truth"

    def add_inputs(self, ctx, inputs):
        forms.check_view(ctx, inputs)
        if mask_forms.add_mask_choice(ctx, inputs):
            mask_forms.add_ignored(ctx, inputs)
            inputs.bool(
                "pictures",
                default=False,
                label="Compare with the pictures",
                description="Whether agreement goes with their intensity, contrast and colours; reads every picture",
                view=types.SwitchView(),
            )
            forms.add_run_key(ctx, inputs, self.KIND)

    def settings(self, params):
        return forms.given(params, "ignore_value", "pictures")

    def analyse(self, samples, run_key, **settings):
        return kf.compute_pixel_agreement(samples, run_key, **settings)

    def summary(self, run):
        f = run.figures
        rows = "\n".join(
            f"| {row['name']} | {_percent(row['smyth_bound'])} | {significant(row['f1'])} | "
            f"{_percent(row['all_agree'])} | {', '.join(row['outliers']) or 'nobody'} |"
            for row in f["classes"]
        )
        return (
            f"**{smyth_title(f['smyth_bound'], len(f['raters']))}**\n\n{f['images']:,} images, {f['pixels']:,} pixels; "
            f"the field {run.names.level!r} shows how many raters marked each\n\n"
            "| Class | Smyth bound | Mean F1 | All agree on | Stand out |\n|---|---|---|---|---|\n" + rows
        )


def _percent(value):
    return "undefined" if value is None else f"{significant(100 * value)} %"
