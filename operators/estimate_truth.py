"""Estimate what is true from what several raters marked, each truth as a field of its own."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import TRUTH_METHODS
from kalos_core.figures import significant

from . import forms, mask_forms

METHODS = {
    "any": "what anybody marked",
    "0.5": "what half of the raters marked",
    "0.75": "what three of four raters marked",
    "excl-0.5": "what half of those marked who do not stand out",
    "staple": "STAPLE: raters weighted by how good they seem",
    "simple": "SIMPLE: raters who fit least are left out, step by step",
    "lsml": "LSML: likely and smooth; slow",
}

USUAL = ["0.5", "staple"]

SLOW, SLOWER = "lsml", 50
"""A method that takes longer than the others, and how many times."""


class EstimateTruth(mask_forms.MaskAnalysis):
    NAME, LABEL, KIND = "estimate_truth", "Estimate the truth", "truth"
    DESCRIPTION = "One truth from several raters: of pixels as a mask, of objects as a label field with scores"
    ICON, RESULT = "/assets/truth.svg", "Estimated truth"

    def amount_of_work(self, ctx):
        slower = SLOWER if SLOW in (ctx.params.get("methods") or []) else 1
        return mask_forms.pixels_of(ctx) * slower if _of_pixels(ctx) else 0

    def add_inputs(self, ctx, inputs):
        forms.check_view(ctx, inputs)
        if not mask_forms.add_mask_choice(ctx, inputs):
            return
        if not mask_forms.are_masks(ctx):
            _add_subject(inputs)
        if _of_pixels(ctx):
            _add_methods(ctx, inputs)
            mask_forms.add_ignored(ctx, inputs)
        else:
            mask_forms.add_quorum(ctx, inputs)
            forms.add_similarity(ctx, inputs)
        forms.add_run_key(ctx, inputs, self.KIND)

    def settings(self, params):
        found = forms.given(params, "methods", "of", "ignore_value") | forms.compared(params)
        if params.get("quorum") is not None:
            found["quorum"] = mask_forms.numbers(params["quorum"], "quorum")
        return found

    def analyse(self, samples, run_key, **settings):
        return kf.estimate_truth(samples, run_key, **settings)

    def summary(self, run):
        f, rows = run.figures, run.diagnostics["truths"]
        names = ", ".join(f"`{field}`" for field in f["fields"].values())
        head = f"**{_said(f, rows)}**\n\n{f['images']:,} images, {len(f['raters'])} raters; written: {names}\n\n"
        return head + (_pixel_table(rows) if f["of"] == mask_forms.PIXELS else _object_table(rows))


def _of_pixels(ctx):
    return mask_forms.are_masks(ctx) or ctx.params.get("of") == mask_forms.PIXELS


def _add_subject(inputs):
    choices = types.RadioGroup(orientation="horizontal")
    choices.add_choice(mask_forms.OBJECTS, label="objects, matched between raters")
    choices.add_choice(mask_forms.PIXELS, label="pixels, all labels of a rater together")
    inputs.enum("of", choices.values(), default=mask_forms.OBJECTS, view=choices, label="Truth of")


def _add_methods(ctx, inputs):
    choices = types.DropdownView(multiple=True)
    for name in TRUTH_METHODS:
        choices.add_choice(name, label=f"{name}: {METHODS[name]}")
    prop = inputs.list(
        "methods",
        types.String(),
        default=USUAL,
        view=choices,
        label="Truths",
        description="Each becomes a field of masks",
    )
    chosen = ctx.params.get("methods")
    strange = [name for name in chosen or () if name not in TRUTH_METHODS]
    if strange:
        forms.refuse(prop, f"{strange[0]!r} is no way to estimate a truth")
    elif chosen is not None and not chosen:
        forms.refuse(prop, "Choose at least one")


def _said(figures, rows):
    """How far the truths differ, or how many objects there are."""
    if figures["of"] == mask_forms.OBJECTS:
        return f"{rows[0]['objects']:,} objects at {rows[0]['truth']}; {rows[0]['below quorum']:,} below it"
    pixels = [row["pixels"] for row in rows]
    if not min(pixels) or len(rows) == 1:
        return f"{max(pixels):,} pixels are true"
    return f"Truths mark {min(pixels):,} to {max(pixels):,} pixels"


def _pixel_table(rows):
    lines = "\n".join(
        f"| {row['truth']} | {row['class']} | {row['pixels']:,} | {row['empty']:,} of {row['images']:,} | "
        f"{_span(row['sensitivity'])} | {_span(row['ppv'])} |"
        for row in rows
    )
    return (
        "| Truth | Class | Pixels | Images without any | Sensitivity of raters | PPV of raters |\n"
        f"|---|---|---|---|---|---|\n{lines}"
    )


def _object_table(rows):
    lines = "\n".join(
        f"| {row['truth']} | {row['objects']:,} | {row['below quorum']:,} | {row['tied class']:,} | "
        f"{significant(row['score'])} | {_span(row['sensitivity'])} | {_span(row['ppv'])} |"
        for row in rows
    )
    return (
        "| Truth | Objects | Below quorum | Tied class | Mean score | Sensitivity of raters | PPV of raters |\n"
        f"|---|---|---|---|---|---|---|\n{lines}"
    )


def _span(values):
    known = [value for value in values if value is not None]
    return f"{significant(min(known))} to {significant(max(known))}" if known else "undefined"
