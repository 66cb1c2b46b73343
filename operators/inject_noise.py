"""Make synthetic raters with known ground truth from a reference, each in a label field of its own."""

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.display import EVENT_LABELS, OUTCOME_LABELS
from kalos_core.drawing.generated import NoisePreview
from kalos_core.errors import Undefined
from kalos_core.fiftyone.dataset.found import RATER_ATTRIBUTES
from kalos_core.fiftyone.kinds.noise.kind import NoiseRun
from kalos_core.figures.events import stage_rows
from kalos_core.figures.experiments import loss_rows
from kalos_core.figures.noise import fidelity_rows
from kalos_core.text import names_shown, plain, shown

from . import base, forms, widgets
from .widgets import Context

FILE = "file"

MODELS = {
    "default": "the shipped one: 200 images of LVIS, and the paper's constants",
    "fit": "fitted on the raters of this data set",
    FILE: "a file that was saved",
}

PRESETS = {"faithful": "as the raters differ", "paper": "the paper's distributions"}

RATES = {
    "auto": "whichever fits better",
    "power": "a power of a rater's annotations",
    "exponential": "exponential, as in the paper",
}

BY_MODEL = "model"

SHIFTS = {
    BY_MODEL: "as the model has it",
    "matched": "matched annotations stay matched",
    "free": "free, as in the paper",
}

CLASS_SOURCES = {
    "confusion": "confusions among the raters, smoothed by class frequency",
    "embeddings": "classes whose labels look alike: embeddings",
    "taxonomy": "classes that are near in a tree",
}

FALSE_POSITIVE_SOURCES = {
    "transplanted": "positions of annotations of other images",
    "images": "regions of the images",
    "detections": "what a detector found",
}


class InjectNoise(base.Analysis[NoiseRun]):
    NAME, LABEL = "inject_noise", "Create synthetic raters"
    DESCRIPTION = (
        "Create raters with known ground truth from a reference: they miss, add, split, merge, misname and move "
        "annotations"
    )
    ICON, RESULT = "/assets/noise.svg", "Synthetic raters"
    HIDDEN: ClassVar = {
        "more": (
            "model",
            "rate",
            "preset",
            "shifts",
            "class_source",
            "embeddings",
            "taxonomy",
            "false_positive_source",
            "detections",
        )
    }
    DELEGATED_FROM = 10_000  # images times raters: about a minute

    def amount_of_work(self, ctx: Context) -> float:
        raters = ctx.params.get("raters", 3)
        return len(ctx.target_view()) * (raters if isinstance(raters, int) else 0)

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        forms.check_view(ctx, inputs)
        if not forms.has_labels(ctx, inputs):
            return
        real = forms.add_original(ctx, inputs)
        self._add_raters(ctx, inputs)
        widgets.add_switch(inputs, "more", label="Choose the model and the sources")
        if ctx.params.get("more"):
            self._add_model(ctx, inputs, len(real) > 1)
            self._add_classes(ctx, inputs)
            self._add_false_positives(ctx, inputs)
        forms.add_run_key(ctx, inputs, self.key)
        self._add_preview(ctx, inputs)

    def _add_raters(self, ctx: Context, inputs: types.Object) -> None:
        widgets.add_number(ctx, inputs, "raters", 1, default=3, label="Number of raters")
        magnitude = inputs.str(
            "magnitude",
            default="1",
            label="Magnitude",
            description="How strongly they differ: 0 is the reference itself, 1 as two raters of the noise model's "
            "data do. One number for all, or one for each, such as 0.5, 1, 2",
        )
        widgets.check(magnitude, lambda: magnitudes(ctx.params.get("magnitude"), ctx.params.get("raters")))
        inputs.int("seed", default=0, min=0, label="Seed")

    def _add_model(self, ctx: Context, inputs: types.Object, several: bool) -> None:
        usual = {name: label for name, label in MODELS.items() if name != "fit" or several}
        help_text = "" if several else "There is one real rater: a model is fitted where there are two or more"
        chosen = _add_option(ctx, inputs, "model", usual, "Noise model", help_text)
        if chosen == FILE:
            path = inputs.str("model_file", required=True, label="File of the model", description="JSON")
            _check_file(path, ctx.params.get("model_file"))
        if chosen == "fit":
            _add_option(ctx, inputs, "preset", PRESETS, "Distributions that are fitted")
            _add_option(ctx, inputs, "rate", RATES, "How the number of unmatched annotations grows")
        _add_option(ctx, inputs, "shifts", SHIFTS, "How far annotations may be moved")

    def _add_classes(self, ctx: Context, inputs: types.Object) -> None:
        chosen = _add_option(ctx, inputs, "class_source", CLASS_SOURCES, "Which classes are mistaken")
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

    def _add_false_positives(self, ctx: Context, inputs: types.Object) -> None:
        label = "Where annotations are added"
        if _add_option(ctx, inputs, "false_positive_source", FALSE_POSITIVE_SOURCES, label) == "detections":
            fields = kf.label_fields(ctx.dataset)
            widgets.add_dropdown(inputs, "detections", fields.keys(), required=True, label="Field of the detector")

    def _add_preview(self, ctx: Context, inputs: types.Object) -> None:
        """One image; each under a name of its own, since the App keeps what stood in a field before."""
        widgets.add_switch(inputs, "preview", default=True, label="Preview")
        if ctx.params.get("preview") is False:
            return
        try:
            preview = self._preview(ctx)
        except InputError as error:
            inputs.view("no_preview", types.Notice(label=f"No preview: {str(error).splitlines()[0]}"))
            return
        inputs.view(
            "preview_caption",
            types.Notice(
                label=f"{plain(preview.file)}: {preview.message}. Dashed white: the reference; solid orange: the first "
                "rater. An example from some images, with the shipped model and confusions; select an image to see it"
            ),
        )
        digest = hashlib.blake2b(preview.image.encode(), digest_size=6).hexdigest()
        size = {"width": f"{preview.width}px", "height": f"{preview.height}px"}
        inputs.str(f"preview_{digest}", default=preview.image, view=types.ImageView(alt=preview.message, **size))

    def _preview(self, ctx: Context) -> NoisePreview:
        params = ctx.params
        numbers = magnitudes(params.get("magnitude"), params.get("raters"))
        source: dict[str, Any] = {**self.selection(ctx).arguments()}
        return kf.preview_noise(
            ctx.target_view(),
            reference=forms.original(ctx),
            magnitude=numbers[0] if isinstance(numbers, list) else numbers,
            seed=params.get("seed") or 0,
            sample_id=next(iter(ctx.selected or ()), None),
            **source,
        )

    def selection(self, ctx: Context) -> kf.Selection:
        """Where labels name their raters; raters and the reference are arguments of their own."""
        params = ctx.params
        if kf.rater_fields(ctx.dataset) or params.get("storage") == forms.BY_FIELD or not params.get("field"):
            return kf.Selection()
        return kf.Selection(field=params["field"], rater_attribute=params.get("rater_attribute") or RATER_ATTRIBUTES[0])

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        found = super().settings(params)
        if found.get("model") == FILE:
            found["model"] = params.get("model_file")
        if params.get("more") and found.get("model") != "fit":  # the form has hidden them again
            found = {name: value for name, value in found.items() if name not in ("rate", "preset")}
        if found.get("shifts") == BY_MODEL:
            del found["shifts"]
        return found | {"magnitude": magnitudes(params.get("magnitude"), params.get("raters"))}

    def summary(self, run: NoiseRun) -> str:
        """The headline, the events by kind and by stage, what was used."""
        f, details = run.metrics, run.details
        kinds = [
            (EVENT_LABELS[kind], *(f"{counts[name]:,}" for name in ("done", "lost", "impossible")))
            for kind, counts in f["events"].items()
        ]
        parts = kf.figures_of(run)
        return (
            f"**{parts['events'].title}**\n\n"
            f"{widgets.table(('Event', *OUTCOME_LABELS.values()), kinds)}\n\n"
            f"{_table('Stage attempted lost share', stage_rows(details.loss))}"
            f"{parts['fidelity'].title}\n\n"
            f"{_table('Quantity generated real', _quantities(details.fidelity))}"
            f"{parts['loss'].title}\n\n"
            f"{_table('magnitude here paper', loss_rows(details.loss_by_magnitude))}"
            f"Model: {shown(f['model'], None)}; classes by {shown(f['class_source'])}; "
            f"additions from {shown(f['false_positive_source'])}.\n\n"
            f"Written: {', '.join(names_shown(f['fields']))}, each a rater of any other analysis. "
            "Of an image that is opened, FiftyOne shows new fields once the page is loaded anew."
        )


def _quantities(found: Any) -> list[dict[str, str]]:
    return [] if isinstance(found, Undefined) else fidelity_rows(found)


def _table(columns: str, rows: Sequence[Mapping[str, str]]) -> str:
    """Some columns of rows as Markdown; nothing without rows."""
    names = columns.split()
    return widgets.table(names, [[row[name.lower()] for name in names] for row in rows]) + "\n\n" if rows else ""


def magnitudes(text: Any, raters: Any = None) -> float | list[float]:
    """One number for all raters, or a list with one for each."""
    parts = [part.strip() for part in ("1" if text is None else str(text)).replace(";", ",").split(",")]
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = [math.nan]
    if not all(0 <= number < math.inf for number in numbers):
        raise InputError(f"magnitude: expected numbers of 0 or more, such as 1 or 0.5, 1, 2, got {text!r}")
    count = raters if isinstance(raters, int) else 3
    if len(numbers) not in (1, count):
        raise InputError(f"magnitude: expected one number, or one for each of {count} raters, got {len(numbers)}")
    return numbers[0] if len(numbers) == 1 else numbers


def _add_option(
    ctx: Context, inputs: types.Object, name: str, entries: Mapping[str, str], label: str, description: str = ""
) -> str:
    """A drop-down; what is chosen."""
    first = next(iter(entries))
    widgets.add_dropdown(inputs, name, entries, default=first, label=label, description=description or None)
    return ctx.params.get(name) or first


def _check_file(prop: types.Property, path: str | None) -> None:
    if path and not os.path.isfile(path):
        widgets.refuse(prop, "There is no such file")
