"""Operator that computes the agreement of raters about pixels, with a map of rater counts for each image."""

from typing import Any, ClassVar

import fiftyone.operators.types as types

from kalos_core import InputError
from kalos_core.display import alpha_text, number_of, percent_text
from kalos_core.fiftyone.kinds.pixels.kind import PixelRun, pixel_classes
from kalos_core.figures.pixels import pixel_title, smyth_note
from kalos_core.text import names_shown, shown

from . import mask_forms, widgets
from .widgets import Context

OF_REGIONS = ("region_area", "region_width", "region_most")


def read_channels(text: str, name: str) -> Any:
    """Parse typed channels: names, such as red, green, or names with numbers, such as nir=3."""
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not any("=" in entry for entry in entries):
        return entries or None
    pairs = [entry.partition("=") for entry in entries]
    if not all(number.strip().isdigit() for _, _, number in pairs):
        raise InputError(f"{name}: expected names, such as red, green, or each with its number, nir=3, got {text!r}")
    return {channel.strip(): int(number) for channel, _, number in pairs}


class ComputePixelAgreement(mask_forms.MaskAnalysis[PixelRun]):
    NAME, LABEL = "compute_pixel_agreement", "Compute agreement about pixels"
    DESCRIPTION = (
        "Inter-annotator agreement of masks: how much raters agree, which raters are outliers, and each disagreement"
    )
    ICON, RESULT = "/assets/truth.svg", "Agreement about pixels"
    HIDDEN: ClassVar = {"images": ("channels",), "regions": OF_REGIONS, "boundaries": ("tolerance",)}
    TYPED: ClassVar = {"channels": read_channels}

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        mask_forms.add_ignored(ctx, inputs)
        self.add_local(ctx, inputs)
        self.ask(ctx, inputs, "images", "regions", "boundaries")
        if mask_forms.are_masks(ctx):
            self.ask(ctx, inputs, "divisions")

    def summary(self, run: PixelRun) -> str:
        f = run.metrics
        rows = [
            [
                shown(name),
                alpha_text(found.mean_f1, 3),
                *map(percent_text, (found.smyth_bound, found.ratio[-1])),
                ", ".join(names_shown(found.raters[found.outliers])) or "nobody",
            ]
            for name, found in pixel_classes(run.details).items()
        ]
        heads = ("Class", "Mean F1", "Smyth bound", "All agree on", "Stand out")
        return (
            f"**{pixel_title(f['f1'], f['rater_count'])}**\n\n{number_of(f['images'], 'image')}, "
            f"{number_of(f['pixels'], 'pixel')}; "
            f"the field {shown(run.names.rater_count)} shows how many raters marked each. "
            f"{smyth_note(f['smyth_bound'])}\n\n" + widgets.table(heads, rows)
        )
