"""Operator that creates synthetic raters with ground truth from a reference, each in its own label field."""

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
    "default": "the built-in model: 200 images of LVIS, and the paper's constants",
    "fit": "fitted to the raters of this data set",
    FILE: "a saved file",
}

OF_MODEL = ("model", "rate", "preset", "shifts", "class_source", "embeddings", "taxonomy", "false_positive_source")


class InjectNoise(base.Analysis[NoiseRun]):
    NAME, LABEL = "inject_noise", "Create synthetic raters"
    DESCRIPTION = "Create raters with known ground truth: they add, remove and change annotations of a reference"
    ICON, RESULT = "/assets/noise.svg", "Synthetic raters"
    HIDDEN: ClassVar = {"more": (*OF_MODEL, "detections")}
    INPUTS: ClassVar = {"model_file": str, "magnitude": str | float}
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
        if widgets.is_on(ctx, inputs, "more", label="Choose the model and the sources"):
            self._add_model(ctx, inputs, len(real) > 1)
            self._add_classes(ctx, inputs)
            self._add_false_positives(ctx, inputs)
        forms.add_run_key(ctx, inputs, self.key)
        self._add_preview(ctx, inputs)

    def _add_raters(self, ctx: Context, inputs: types.Object) -> None:
        widgets.add_number(ctx, inputs, "raters", 1, default=3, label="Number of raters")
        about = f"{self.declared['magnitude'].option.help} Such as 1, or 0.5, 1, 2"
        magnitude = inputs.str("magnitude", default="1", label="Magnitude", description=about)
        widgets.check(magnitude, lambda: magnitudes(ctx.params.get("magnitude"), ctx.params.get("raters")))
        self.ask(ctx, inputs, "seed")

    def _add_model(self, ctx: Context, inputs: types.Object, several: bool) -> None:
        usual = {name: label for name, label in MODELS.items() if name != "fit" or several}
        help_text = "" if several else "There is only one real rater; fitting a model needs at least two"
        self.ask(ctx, inputs, "model", offered=usual, description=help_text or None)
        chosen = ctx.params.get("model")
        if chosen == FILE:
            path = inputs.str("model_file", required=True, label="File of the model", description="JSON")
            _check_file(path, ctx.params.get("model_file"))
        self.ask(ctx, inputs, *(("preset", "rate", "shifts") if chosen == "fit" else ("shifts",)))

    def _add_classes(self, ctx: Context, inputs: types.Object) -> None:
        self.ask(ctx, inputs, "class_source")
        chosen = ctx.params.get("class_source")
        if chosen == "embeddings":
            self.ask(ctx, inputs, "embeddings", required=True)
        if chosen == "taxonomy":
            path = self.ask(ctx, inputs, "taxonomy", required=True)
            _check_file(path, ctx.params.get("taxonomy"))

    def _add_false_positives(self, ctx: Context, inputs: types.Object) -> None:
        self.ask(ctx, inputs, "false_positive_source")
        if ctx.params.get("false_positive_source") == "detections":
            self.ask(ctx, inputs, "detections", offered=kf.label_fields(ctx.dataset).keys(), required=True)

    def _add_preview(self, ctx: Context, inputs: types.Object) -> None:
        """Add a preview on one image; each preview has a new name, because the App keeps the value of an input."""
        if not widgets.is_on(ctx, inputs, "preview", default=True, label="Preview"):
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
                "rater. An example from some images, with the built-in model and confusions; select an image to see it"
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
        """Return the field and the rater attribute; raters and the reference are separate arguments."""
        params = ctx.params
        if kf.rater_fields(ctx.dataset) or params.get("storage") == forms.BY_FIELD or not params.get("field"):
            return kf.Selection()
        return kf.Selection(field=params["field"], rater_attribute=params.get("rater_attribute") or RATER_ATTRIBUTES[0])

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        found = super().settings(params)
        if found.get("model") == FILE:
            found["model"] = params.get("model_file")
        if params.get("more") and found.get("model") != "fit":  # hidden in the form
            found = {name: value for name, value in found.items() if name not in ("rate", "preset")}
        return found | {"magnitude": magnitudes(params.get("magnitude"), params.get("raters"))}

    def summary(self, run: NoiseRun) -> str:
        """Return the headline, the events by kind and by stage, and the sources."""
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
            f"Written: {', '.join(names_shown(f['fields']))}. Other analyses take these fields as raters. "
            "An open image shows new fields after you reload the page."
        )


def _quantities(found: Any) -> list[dict[str, str]]:
    return [] if isinstance(found, Undefined) else fidelity_rows(found)


def _table(columns: str, rows: Sequence[Mapping[str, str]]) -> str:
    """Return some columns of rows as a Markdown table; "" without rows."""
    names = columns.split()
    return widgets.table(names, [[row[name.lower()] for name in names] for row in rows]) + "\n\n" if rows else ""


def magnitudes(text: Any, raters: Any = None) -> float | list[float]:
    """Parse magnitudes: one number for all raters, or a list with one for each."""
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


def _check_file(prop: types.Property, path: str | None) -> None:
    if path and not os.path.isfile(path):
        widgets.refuse(prop, "There is no such file")
