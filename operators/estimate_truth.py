"""Operator that estimates the ground truth from the labels of several raters, each consensus in its own field."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

import fiftyone.operators.types as types
import numpy as np
from numpy.typing import NDArray

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text, number_of
from kalos_core.fiftyone.kinds.truth.figures import consensus_title
from kalos_core.fiftyone.kinds.truth.kind import TruthRun
from kalos_core.text import names_shown

from . import again, base, forms, mask_forms, widgets
from .widgets import Context

USUAL = ["0.5", "staple"]

Truths: TypeAlias = Mapping[str, Any]
"""Name of an estimate -> its numbers."""

SHARES = ("Sensitivity of raters", "PPV of raters")

SUBJECTS = {
    mask_forms.OBJECTS: "objects, matched between raters",
    mask_forms.PIXELS: "pixels, all labels of a rater together",
}

ESTIMATE_HELP = (
    "Instead of votes: how likely each object exists, its class, and how often each rater is right. The quorum is then "
    "the smallest probability that it exists"
)

SLOW, SLOWER = "lsml", 50
"""A slow method, and its running time relative to the others."""


class EstimateTruth(mask_forms.MaskAnalysis[TruthRun]):
    NAME, LABEL = "estimate_truth", "Estimate the truth"
    DESCRIPTION = "Consensus of several raters: a mask for pixels, or a label field with scores for objects"
    ICON, RESULT = "/assets/truth.svg", "Estimated truth"
    HIDDEN: ClassVar = {base.ESTIMATE: ("model",)}

    def amount_of_work(self, ctx: Context) -> float:
        slower = SLOWER if SLOW in (ctx.params.get("methods") or []) else 1
        return mask_forms.pixels_of(ctx) * slower if _of_pixels(ctx) else 0

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        if not mask_forms.are_masks(ctx):
            widgets.add_radio(inputs, "of", SUBJECTS, default=mask_forms.OBJECTS, label="Truth of")
        if _of_pixels(ctx):
            _add_methods(ctx, inputs)
            mask_forms.add_ignored(ctx, inputs)
            self.add_local(ctx, inputs)
            self.ask(ctx, inputs, "maps")
        else:
            self.ask(ctx, inputs, "quorum", default="0.5")
            self.add_model(ctx, inputs, "model", ESTIMATE_HELP, "Requires at least four independent raters")
            forms.add_similarity(ctx, inputs)

    def filled_in(self, dataset: Any, run: TruthRun) -> dict[str, Any]:
        """Return the params of the form that repeat a run."""
        return again.form_of_truth(dataset, run)

    def summary(self, run: TruthRun) -> str:
        f, truths = run.metrics, run.details.truths
        names = ", ".join(names_shown([*f["fields"].values(), *f["maps"].values()]))
        who = number_of(len(f["raters"]), "rater") if f["raters"] else "unnamed raters"
        head = f"**{consensus_title(f, truths)}**\n\n{number_of(f['images'], 'image')}, {who}; written: {names}\n\n"
        return head + (_pixel_table(truths) if f["of"] == mask_forms.PIXELS else _object_table(truths) + _skills(run))


def _of_pixels(ctx: Context) -> bool:
    return mask_forms.are_masks(ctx) or ctx.params.get("of") == mask_forms.PIXELS


def _add_methods(ctx: Context, inputs: types.Object) -> None:
    prop = mask_forms.add_methods(
        ctx, inputs, USUAL, label="Methods", description="The consensus of each becomes a field of masks"
    )
    if ctx.params.get("methods") == []:
        widgets.refuse(prop, "Choose at least one")


def _pixel_table(truths: Truths) -> str:
    rows = [
        (name, f"{found.pixels:,}", f"{found.empty:,} of {found.images:,}", *_shares(found.performance))
        for name, found in truths.items()
    ]
    return widgets.table(("Consensus", "Pixels", "Images without any", *SHARES), rows)


def _object_table(truths: Truths) -> str:
    rows = [
        (name, *(f"{count:,}" for count in found.counts.values()), alpha_text(found.score, 3), *_shares(found))
        for name, found in truths.items()
    ]
    return widgets.table(("Consensus", "Objects", "Below quorum", "Tied class", "Mean score", *SHARES), rows)


def _skills(run: TruthRun) -> str:
    """Describe the skill of raters, with doubts; "" if the run did not estimate who is right."""
    found: Any = next(iter(run.details.truths.values()))
    if getattr(found, "estimate", None) is None:
        return ""
    count = f"{found.overruled:,} are decided against most of their raters{found.estimate.doubts}"
    return f"\n\n- {kf.figures_of(run)['skill'].title}.\n- {count}."


def _shares(found: Any) -> list[str]:
    """Return the ranges of sensitivity and PPV of raters."""
    return [_span(found.sensitivity), _span(found.ppv)]


def _span(values: NDArray[np.float64]) -> str:
    known = values[np.isfinite(values)].tolist()
    return f"{alpha_text(min(known), 3)} to {alpha_text(max(known), 3)}" if known else "undefined"
