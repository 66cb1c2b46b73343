"""Rank detectors under the truth of each rater, and under estimates from all of them."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import TRUTH_METHODS
from kalos_core.figures import ranking_title, significant

from . import forms, mask_forms

USUAL = ["any", "0.5", "0.75"]

MOST_COLUMNS = 8
"""Truths in the table of the summary; the panel shows all."""


class RankDetectors(mask_forms.MaskAnalysis):
    NAME, LABEL, KIND = "rank_detectors", "Rank detectors under each truth", "detectors"
    DESCRIPTION = "Whether the best of several detectors depends on whose labels are the truth"
    ICON, RESULT = "/assets/truth.svg", "Ranking of detectors"
    PANEL = "truth"

    def add_inputs(self, ctx, inputs):
        forms.check_view(ctx, inputs)
        if not mask_forms.add_mask_choice(ctx, inputs):
            return
        chosen = self._add_detectors(ctx, inputs)
        of_pixels = not set(chosen).isdisjoint(kf.heatmap_fields(ctx.dataset))
        if of_pixels:
            self._add_methods(ctx, inputs)
            mask_forms.add_ignored(ctx, inputs)
            self._add_skew(ctx, inputs)
            self._add_contours(ctx, inputs)
        else:
            mask_forms.add_quorum(ctx, inputs)
            forms.add_similarity_field(ctx, inputs, forms.fitting_similarities(ctx))
        self._add_truths(ctx, inputs)
        forms.add_run_key(ctx, inputs, self.KIND)

    def _add_detectors(self, ctx, inputs):
        used, truths = set(mask_forms.chosen_raters(ctx)), kf.truth_fields(ctx.dataset)
        stored = kf.rater_fields(ctx.dataset)
        taken = used | {stored[name] for name in used if name in stored} | set(truths)
        written = {kf.RunNames(key).level for key in kf.list_runs(ctx.dataset, "pixels")}
        maps = [name for name in kf.heatmap_fields(ctx.dataset) if name not in written]
        labels = [name for name in kf.label_fields(ctx.dataset) if name not in taken]
        choices = types.DropdownView(multiple=True)
        for name in maps:
            choices.add_choice(name, label=f"{name} (score maps)")
        for name in labels:
            choices.add_choice(name, label=f"{name} (labels)")
        usual = maps or labels
        prop = inputs.list(
            "detectors",
            types.String(),
            default=usual,
            required=True,
            view=choices,
            label="Detectors",
            description="Fields of Heatmap score maps, or of labels with a confidence",
        )
        chosen = ctx.params.get("detectors")
        chosen = usual if chosen is None else chosen
        if not chosen:
            forms.refuse(prop, "Choose the fields of at least one detector")
        strange = [name for name in chosen if name not in maps and name not in labels]
        if strange:
            forms.refuse(prop, f"{strange[0]!r} is no field of a detector")
        elif len({name in maps for name in chosen}) > 1:
            forms.refuse(prop, "Score maps and labels are ranked one after the other")
        return chosen

    def _add_methods(self, ctx, inputs):
        choices = types.DropdownView(multiple=True)
        for name in TRUTH_METHODS:
            choices.add_choice(name, label=name)
        inputs.list("methods", types.String(), default=USUAL, view=choices, label="Truths beside the raters'")

    def _add_truths(self, ctx, inputs):
        truths = kf.truth_fields(ctx.dataset)
        if not truths:
            return
        choices = types.DropdownView(multiple=True)
        for name in truths:
            choices.add_choice(name, label=name)
        inputs.list("truths", types.String(), view=choices, label="Estimated truths", description="Of earlier runs")

    def _add_skew(self, ctx, inputs):
        inputs.bool("choose_skew", default=False, label="Choose the range of skew", view=types.SwitchView())
        if not ctx.params.get("choose_skew"):
            return
        low = inputs.float(
            "skew_low",
            default=0.01,
            min=0.0,
            max=1.0,
            label="Least fraction of positives",
            description="Precision is averaged over this range; by default over what raters mark",
        )
        high = inputs.float("skew_high", default=0.2, min=0.0, max=1.0, label="Greatest fraction of positives")
        for prop, name in ((low, "skew_low"), (high, "skew_high")):
            forms.refuse_outside(prop, ctx.params.get(name), 0, 1)
        ends = ctx.params.get("skew_low", 0.01), ctx.params.get("skew_high", 0.2)
        if None not in ends and ends[1] <= ends[0]:
            forms.refuse(high, f"A number above {ends[0]:g}, the least fraction")

    def _add_contours(self, ctx, inputs):
        inputs.bool("contours", default=False, label="The task is to find contours", view=types.SwitchView())
        if ctx.params.get("contours"):
            tolerance = inputs.float(
                "tolerance",
                default=0.0075,
                min=0.0,
                max=0.1,
                label="How far a contour may be off",
                description="As a share of the picture's diagonal",
            )
            forms.refuse_outside(tolerance, ctx.params.get("tolerance"), 0, 0.1)
            inputs.bool("thin", default=True, label="Thin truths to lines", view=types.SwitchView())

    def settings(self, params):
        found = forms.given(params, "detectors", "methods", "truths", "ignore_value", "similarity")
        found |= forms.shown(params, "contours", ("tolerance", "thin"))
        if params.get("quorum") is not None:
            found["quorum"] = mask_forms.numbers(params["quorum"], "quorum")
        skew = forms.shown(params, "choose_skew", ("skew_low", "skew_high"))
        if len(skew) == 2:
            found["skew"] = [skew["skew_low"], skew["skew_high"]]
        return found

    def analyse(self, samples, run_key, **settings):
        return kf.rank_detectors(samples, run_key, **{"detectors": (), **settings})

    def summary(self, run):
        f = run.figures
        truths = f["truths"][:MOST_COLUMNS]
        head = f"| Detector | {' | '.join(truths)} |\n|---|{'---|' * len(truths)}\n"
        rows = "\n".join(
            f"| {name} | {' | '.join(_cell(f, t, s) for t in range(len(truths)))} |"
            for s, name in enumerate(f["detectors"])
        )
        undefined = "".join(f"\n\n- {said}" for said in f["undefined"])
        return (
            f"**{ranking_title(kf.stored_ranking(f))}**\n\nBy {f['measure']}, with the rank\n\n{head}{rows}{undefined}"
        )


def _cell(figures, truth, detector):
    value, rank = figures["values"][truth][detector], figures["ranks"][truth][detector]
    return "undefined" if value is None else f"{significant(value)} ({rank:g})"
