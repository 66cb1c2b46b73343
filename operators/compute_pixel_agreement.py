"""Compute how far raters agree about pixels, and store a map of rater counts for each image."""

import fiftyone.operators.types as types

from kalos_core.figures import pixel_title, significant, smyth_note

from . import mask_forms, widgets
from .base import Run
from .widgets import Context


class ComputePixelAgreement(mask_forms.MaskAnalysis):
    NAME, LABEL = "compute_pixel_agreement", "Compute agreement about pixels"
    DESCRIPTION = "How far the masks of raters agree, who stands out, and where they differ"
    ICON, RESULT = "/assets/truth.svg", "Agreement about pixels"

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        mask_forms.add_ignored(ctx, inputs)
        mask_forms.add_local(ctx, inputs)
        widgets.add_switch(
            inputs,
            "images",
            label="Compare with the images themselves",
            description="Whether agreement goes with their intensity, contrast and colours; reads every image",
        )

    def summary(self, run: Run) -> str:
        f = run.metrics
        rows = "\n".join(
            f"| {row['name']} | {significant(row['f1'])} | {_percent(row['smyth_bound'])} | "
            f"{_percent(row['all_agree'])} | {', '.join(row['outliers']) or 'nobody'} |"
            for row in f["classes"]
        )
        return (
            f"**{pixel_title(f['f1'], f['rater_count'])}**\n\n{f['images']:,} images, {f['pixels']:,} pixels; "
            f"the field {run.names.rater_count!r} shows how many raters marked each. {smyth_note(f['smyth_bound'])}\n\n"
            "| Class | Mean F1 | Smyth bound | All agree on | Stand out |\n|---|---|---|---|---|\n" + rows
        )


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{significant(100 * value)} %"
