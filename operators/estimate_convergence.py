"""Estimate the mAP that no model can be expected to pass, given how the raters differ."""

import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core import read_models
from kalos_core.figures import convergence_title, significant

from . import forms, running

LEAST, GREATEST, STEP = 0.5, 0.95, 0.05
"""Of the thresholds, as in COCO."""

NO_FIELD = "none"

VERDICTS = {"ok": "✓", "warn": "⚠", "cannot know": "?"}


class EstimateConvergence(running.Analysis):
    NAME, LABEL, KIND = "estimate_convergence", "Estimate label convergence", "convergence"
    DESCRIPTION = "Find the mAP that no model can be expected to pass, given how the raters differ"
    ICON, RESULT = "/assets/convergence.svg", "Label convergence"

    DELEGATED_FROM = 10_000_000  # images times subsets: about a minute

    def amount_of_work(self, ctx):
        subsets = ctx.params.get("subsets", 1000)
        return len(ctx.target_view()) * (subsets if isinstance(subsets, int) else 0)

    def add_choices(self, ctx, inputs):
        self._add_similarity(ctx, inputs)
        self._add_thresholds(ctx, inputs)
        self._add_subsets(ctx, inputs)
        self._add_models(ctx, inputs)
        inputs.bool(
            "tags",
            default=False,
            label="An interval for each sample tag, too",
            description="Its subsets are as large a share of the images with the tag",
            view=types.SwitchView(),
        )

    def _add_similarity(self, ctx, inputs):
        fitting = forms.fitting_similarities(ctx)
        forms.add_similarity_field(ctx, inputs, fitting)

    def _add_thresholds(self, ctx, inputs):
        for name, default, label in (
            ("least", LEAST, "Least threshold"),
            ("greatest", GREATEST, "Greatest threshold"),
        ):
            prop = inputs.float(
                name,
                default=default,
                min=STEP,
                max=1.0,
                label=label,
                description="mAP is the mean over thresholds in steps of 0.05" if name == "least" else None,
            )
            forms.refuse_outside(prop, ctx.params.get(name), STEP, 1)
        least, greatest = ctx.params.get("least", LEAST), ctx.params.get("greatest", GREATEST)
        if forms.is_number(least) and forms.is_number(greatest) and greatest < least:
            forms.refuse(prop, f"A number of at least {least:g}, the least threshold")

    def _add_subsets(self, ctx, inputs):
        subsets = inputs.int("subsets", default=1000, min=2, label="Subsets of the images, drawn at random")
        fraction = inputs.float(
            "fraction",
            default=0.1,
            min=0.0,
            max=1.0,
            label="Share of the images in each subset",
            description="Intervals belong to subsets of their size: the paper's have 500 images",
        )
        forms.refuse_outside(subsets, ctx.params.get("subsets"), 2)
        share = ctx.params.get("fraction")
        if share is not None and not (forms.is_number(share) and 0 < share < 1):
            forms.refuse(fraction, "A number between 0 and 1")
        inputs.int("seed", default=0, label="Seed")

    def _add_models(self, ctx, inputs):
        typed = inputs.str(
            "models",
            label="Models whose mAP you know",
            description="Names with their mAP from 0 to 1 at the same thresholds, such as YOLO 0.412, DETR 0.437",
        )
        forms.check(typed, lambda: read_models(ctx.params.get("models")))
        used = forms.fields_of_raters(ctx)
        offered = [field for field in kf.label_fields(ctx.dataset) if field not in used]
        chosen = ctx.params.get("predictions")
        if not offered and not chosen:
            return
        choices = types.DropdownView()
        choices.add_choice(NO_FIELD, label=NO_FIELD)
        for field in offered:
            choices.add_choice(field, label=field)
        known = [*choices.values(), *([chosen] if chosen and chosen not in offered else [])]
        predictions = inputs.enum(
            "predictions",
            known,
            default=NO_FIELD,
            view=choices,
            label="Field with the predictions of a model",
            description="Its mAP is computed with each rater as ground truth; every prediction needs a confidence",
        )
        if chosen and chosen != NO_FIELD and chosen not in offered:
            forms.refuse(predictions, f"{chosen!r} is no field of predictions")

    def settings(self, params):
        given = forms.given(params, "similarity", "subsets", "fraction", "seed", "models", "predictions", "tags")
        if given.get("predictions") == NO_FIELD:
            del given["predictions"]
        return given | {"thresholds": thresholds_between(params.get("least"), params.get("greatest"))}

    def analyse(self, samples, run_key, **settings):
        return kf.estimate_convergence(samples, run_key, **settings)

    def summary(self, run):
        """The headline, the table of both routes, the models with what their place means, the check-list."""
        f = run.figures
        rows = "\n".join(
            f"| {'**' + row['figure'] + '**' if row['is_convergence'] else row['figure']} | "
            f"{' | '.join(_scaled(row, name) for name in ('mean', 'std', 'min', 'max'))} | "
            f"{_scaled(row, 'low')} to {_scaled(row, 'high')} |"
            for row in f["summary"]
        )
        models = "\n".join(f"- **{model['name']}**: {model['meaning']}" for model in f["models"])
        checks = "\n".join(
            f"| {VERDICTS[line['verdict']]} | {line['criterion']} | {line['finding']} |" for line in f["checklist"]
        )
        return (
            f"**{convergence_title(f['mean'], f['interval'], f['images_per_subset'])}**\n\n{f['route']}; "
            f"{f['subsets']:,} subsets of {f['images']:,} images\n\n"
            f"| Figure | Mean | Std | Min | Max | 95 % interval |\n|---|---|---|---|---|---|\n{rows}\n\n"
            + (f"{models}\n\n" if models else "")
            + f"| | Can the data carry this? | Finding |\n|---|---|---|\n{checks}"
        )


def thresholds_between(least, greatest):
    """The thresholds from one to the other in steps of `STEP`, COCO's by default."""
    low, high = LEAST if least is None else least, GREATEST if greatest is None else greatest
    return np.linspace(low, high, round((high - low) / STEP) + 1).tolist()


def _scaled(row, name):
    """mAP in points, alpha as it is."""
    value = row[name]
    return significant(value) if row["figure"] == "alpha" or value is None else f"{100 * value:.2f}"
