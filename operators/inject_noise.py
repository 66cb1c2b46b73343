"""Draw synthetic raters with known truth from a reference, each in a label field of its own."""

import hashlib
import os

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.figures import EVENT_LABELS, OUTCOME_LABELS, events_title, significant

from . import forms, running

FILE = "file"

MODELS = {
    "default": "the shipped one: 200 images of LVIS, and the paper's constants",
    "fit": "fitted on the raters of this data set",
    FILE: "a file that was saved",
}

CLASS_SOURCES = {
    "confusion": "confusions among the raters, smoothed by class frequency",
    "embeddings": "classes whose labels look alike: embeddings",
    "taxonomy": "classes that are near in a tree",
}

FALSE_POSITIVE_SOURCES = {
    "transplanted": "places of annotations of other images",
    "pictures": "regions of the pictures",
    "detections": "what a detector found",
}

STAGES = {
    "unmatched": "missed and added",
    "topology": "split and merged",
    "category": "wrong class",
    "first three": "**together**",
    "localization": "moved",
}
"""Stages as people read them."""


class InjectNoise(running.Analysis):
    NAME, LABEL, KIND = "inject_noise", "Draw synthetic raters", "noise"
    DESCRIPTION = "Draw raters with known truth from a reference: they miss, add, split, merge, misname and move marks"
    ICON, RESULT = "/assets/noise.svg", "Synthetic raters"

    DELEGATED_FROM = 10_000  # images times raters: about a minute

    def amount_of_work(self, ctx):
        raters = ctx.params.get("raters", 3)
        return len(ctx.target_view()) * (raters if isinstance(raters, int) else 0)

    def add_inputs(self, ctx, inputs):
        forms.check_view(ctx, inputs)
        if not forms.has_labels(ctx, inputs):
            return
        forms.add_drawn_from(ctx, inputs)
        self._add_raters(ctx, inputs)
        inputs.bool("more", default=False, label="Choose the model and the sources", view=types.SwitchView())
        if ctx.params.get("more"):
            self._add_model(ctx, inputs)
            self._add_classes(ctx, inputs)
            self._add_places(ctx, inputs)
        forms.add_run_key(ctx, inputs, self.KIND)
        self._add_preview(ctx, inputs)

    def _add_raters(self, ctx, inputs):
        raters = inputs.int("raters", default=3, min=1, label="Number of raters")
        forms.refuse_outside(raters, ctx.params.get("raters"), 1)
        magnitude = inputs.str(
            "magnitude",
            default="1",
            label="Magnitude",
            description="How strongly they differ: 0 is the reference itself, 1 as two real raters do. One number for "
            "all, or one for each, such as 0.5, 1, 2",
        )
        forms.check(magnitude, lambda: magnitudes(ctx.params.get("magnitude"), ctx.params.get("raters")))
        inputs.int("seed", default=0, min=0, label="Seed")

    def _add_model(self, ctx, inputs):
        usual = [name for name in MODELS if name != "fit" or len(forms.real_raters(ctx)) > 1]
        chosen = _add_choice(ctx, inputs, "model", {name: MODELS[name] for name in usual}, "Noise model")
        if chosen == FILE:
            path = inputs.str("model_file", required=True, label="File of the model", description="JSON")
            _check_file(path, ctx.params.get("model_file"))

    def _add_classes(self, ctx, inputs):
        chosen = _add_choice(ctx, inputs, "class_source", CLASS_SOURCES, "Which classes are mistaken")
        if chosen == "embeddings":
            inputs.str(
                "embeddings",
                required=True,
                label="Attribute with embeddings, or model",
                description="An attribute of the reference's labels that has vectors, or a downloaded model of "
                "FiftyOne's zoo",
            )
        if chosen == "taxonomy":
            path = inputs.str(
                "taxonomy", required=True, label="File of the tree", description='JSON: {"animal": ["cat", "dog"]}'
            )
            _check_file(path, ctx.params.get("taxonomy"))

    def _add_places(self, ctx, inputs):
        chosen = _add_choice(ctx, inputs, "false_positive_source", FALSE_POSITIVE_SOURCES, "Where marks are added")
        if chosen != "detections":
            return
        choices = types.DropdownView()
        for field in kf.label_fields(ctx.dataset):
            choices.add_choice(field, label=field)
        inputs.enum("detections", choices.values(), required=True, view=choices, label="Field of the detector")

    def _add_preview(self, ctx, inputs):
        """One image; each under a name of its own, since the App keeps what stood in a field before."""
        inputs.bool("preview", default=True, label="Preview", view=types.SwitchView())
        if ctx.params.get("preview") is False:
            return
        try:
            shown = _preview(ctx)
        except InputError as error:
            inputs.view("no_preview", types.Notice(label=f"No preview: {str(error).splitlines()[0]}"))
            return
        inputs.view(
            "preview_said",
            types.Notice(
                label=f"{shown.file}: {shown.said}. Dashed white: the reference; solid orange: the first rater. "
                "An example from some images, with the shipped model and confusions; select an image to see it"
            ),
        )
        digest = hashlib.blake2b(shown.image.encode(), digest_size=6).hexdigest()
        size = {"width": f"{shown.width}px", "height": f"{shown.height}px"}
        inputs.str(f"preview_{digest}", default=shown.image, view=types.ImageView(alt=shown.said, **size))

    def choice(self, ctx):
        return _choice(ctx)

    def settings(self, params):
        told = forms.given(params, "raters", "seed")
        sources = ("class_source", "embeddings", "taxonomy", "false_positive_source", "detections")
        told |= forms.shown(params, "more", sources)
        model = forms.shown(params, "more", ("model",)).get("model", "default")
        told["model"] = params.get("model_file") if model == FILE else model
        return told | {
            "reference": params.get("drawn_from"),
            "magnitude": magnitudes(params.get("magnitude"), params.get("raters")),
        }

    def analyse(self, samples, run_key, **settings):
        return kf.inject_noise(samples, run_key, **settings)

    def summary(self, run):
        """The headline, the events by kind and by stage, what was used."""
        f = run.figures
        kinds = "\n".join(
            f"| {EVENT_LABELS[kind]} | {counts['done']:,} | {counts['lost']:,} | {counts['impossible']:,} |"
            for kind, counts in f["events"].items()
        )
        stages = "\n".join(
            f"| {STAGES[row['stage']]} | {row['attempted']:,} | {row['lost']:,} | {_percent(row['share_lost'])} |"
            for row in f["loss"]
        )
        title = events_title(f["references"], len(f["fields"]), f["changed"], f["drawn"], f["signal_loss"])
        return (
            f"**{title}**\n\n"
            f"| Event | {' | '.join(OUTCOME_LABELS.values())} |\n|---|---|---|---|\n{kinds}\n\n"
            f"| Stage | attempted | lost | share |\n|---|---|---|---|\n{stages}\n\n"
            f"Model: {f['model']}; classes by {f['class_source']}; additions from {f['false_positive_source']}.\n\n"
            f"Written: {', '.join(f'`{name}`' for name in f['fields'])}, each a rater of any other analysis. "
            "Of an image that is opened, FiftyOne shows new fields once the page is loaded anew."
        )


def magnitudes(text, raters=None):
    """One number for all raters, or a list with one for each."""
    parts = [part.strip() for part in ("1" if text is None else str(text)).replace(";", ",").split(",")]
    numbers = [_number(part) for part in parts]
    if not all(number is not None and 0 <= number < float("inf") for number in numbers):
        raise InputError(f"magnitude: expected numbers of 0 or more, such as 1 or 0.5, 1, 2, got {text!r}")
    count = raters if isinstance(raters, int) else 3
    if len(numbers) not in (1, count):
        raise InputError(f"magnitude: expected one number, or one for each of {count} raters, got {len(numbers)}")
    return numbers[0] if len(numbers) == 1 else numbers


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None


def _percent(share):
    return "none attempted" if share is None else f"{significant(100 * share)} %"


def _add_choice(ctx, inputs, name, entries, label):
    """A drop-down; what is chosen."""
    choices = types.DropdownView()
    for key, text in entries.items():
        choices.add_choice(key, label=text)
    first = next(iter(entries))
    inputs.enum(name, choices.values(), default=first, view=choices, label=label)
    return ctx.params.get(name) or first


def _check_file(prop, path):
    if path and not os.path.isfile(path):
        forms.refuse(prop, "There is no such file")


def _preview(ctx):
    params = ctx.params
    numbers = magnitudes(params.get("magnitude"), params.get("raters"))
    return kf.preview_noise(
        ctx.target_view(),
        reference=forms.drawn_from(ctx),
        magnitude=numbers[0] if isinstance(numbers, list) else numbers,
        seed=params.get("seed") or 0,
        sample_id=next(iter(ctx.selected or ()), None),
        choice=_choice(ctx),
    )


def _choice(ctx):
    """The reference is told by itself; of the others all that are stored."""
    params, stored = ctx.params, tuple(kf.rater_fields(ctx.dataset))
    if stored or params.get("storage") == forms.BY_FIELD or not params.get("field"):
        return kf.LabelChoice(raters=stored or None)
    return kf.LabelChoice(
        field=params["field"], rater_attribute=params.get("rater_attribute") or forms.RATER_ATTRIBUTES[0]
    )
