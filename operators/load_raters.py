"""Load a file of several raters, one label field per rater."""

import json
import os

import fiftyone as fo
import fiftyone.operators as foo
import fiftyone.operators.types as types
from fiftyone.core.utils import to_slug

import kalos_core.fiftyone as kf
from kalos_core import InputError, Vocabulary

from . import forms, running

NEW, CURRENT = "a new data set", "this data set"

FORMATS = {
    "auto": "told by the file",
    "coco": "COCO, with a rater per annotation",
    "vindr": "CSV as of VinDr-CXR",
    "cvat": "CVAT for images 1.1, one file per annotator",
    "label_studio": "Label Studio, JSON",
}

LABEL_TYPES = {name: name for name in ("auto", "detections", "polylines", "keypoints")}

ON_INVALID = {"raise": "refuse the file", "skip": "leave them out and count them"}

ASSIGNED = {"all": "every rater of the file, everywhere", "drew": "only those who drew in an image"}


class LoadRaters(running.Action):
    NAME, LABEL = "load_raters", "Load labels of several raters"
    DESCRIPTION = "Load a file whose annotations name their rater (COCO and others), one label field per rater"
    ICON, RESULT = "/assets/load.svg", "Loaded"

    def add_inputs(self, ctx, inputs):
        path = inputs.str(
            "labels",
            required=True,
            label="File of labels",
            description="COCO, VinDr CSV, CVAT or Label Studio, on the machine the App runs on",
        )
        _refuse_unless(path, ctx.params.get("labels"), os.path.exists, "There is no such file")
        images = inputs.str(
            "images", label="Folder of the pictures", description="Empty: beside the file, or in its folder 'images'"
        )
        _refuse_unless(images, ctx.params.get("images"), os.path.isdir, "There is no such folder")
        self._add_target(ctx, inputs)
        inputs.str(
            "canvas",
            label="Folder for grey canvases",
            description="Where a picture is missing, a grey one of the right size is put here; empty: refuse to load",
        )
        inputs.bool("more", default=False, label="Reconcile class names, choose label type", view=types.SwitchView())
        if ctx.params.get("more"):
            self._add_more(ctx, inputs)

    def _add_target(self, ctx, inputs):
        choices = types.RadioGroup(orientation="horizontal")
        for name in (NEW, CURRENT) if ctx.dataset is not None else (NEW,):
            choices.add_choice(name, label=name)
        inputs.enum("target", choices.values(), default=NEW, view=choices, label="Load into")
        if ctx.params.get("target") != CURRENT:
            name = inputs.str("dataset_name", label="Its name", description="Empty: a name is made up")
            try:
                _new_name(ctx.params)
            except InputError as error:
                name.invalid = True
                name.error_message = str(error)

    def _add_more(self, ctx, inputs):
        inputs.str("category_field", label="Annotation field that holds the class as text (instead of category_id)")
        aliases = inputs.str(
            "aliases",
            view=types.CodeView(language="json"),
            label="Class names raters wrote -> class",
            description='JSON: {"auto": "car", "rater 3": {"/car_[0-9]+/": "car"}}; between slashes: an expression',
        )
        try:
            _aliases(ctx.params.get("aliases"))
        except InputError as error:
            aliases.invalid = True
            aliases.error_message = str(error)
        _add_choices(inputs, "label_type", LABEL_TYPES, label="Label type")
        _add_choices(inputs, "assigned", ASSIGNED, label="Assigned where rater_list is absent")
        _add_choices(inputs, "on_invalid", ON_INVALID, label="Marks whose shape cannot be used")

    def execute(self, ctx):
        params, current = ctx.params, ctx.dataset
        into_current = params.get("target") == CURRENT
        options = {name: params[name] for name in ("format", "images", "canvas") if params.get(name)}
        more = forms.shown(params, "more", ("category_field", "aliases", "label_type", "assigned", "on_invalid"))
        loaded_name = []

        def work(progress):
            target = current if into_current else _new_name(params)
            options.update({name: value for name, value in more.items() if value})
            options["aliases"] = _aliases(more.get("aliases"))
            loaded = kf.load_raters(params["labels"], target, progress=progress, **options)
            loaded_name.append(loaded.dataset.name)
            return {
                "dataset": loaded.dataset.name,
                "fields": loaded.fields,
                "annotations": loaded.annotations,
                "images": loaded.images,
                "summary": summary(loaded),
            }

        show = ctx.ops.reload_dataset if into_current else lambda: ctx.ops.open_dataset(loaded_name[0])
        return running.run(ctx, work, then=(show,))

    def __call__(self, labels, **params):
        """Run from a notebook: `foo.get_operator("@kalos/variation/load_raters")("labels.json")`."""
        return foo.execute_operator(self.uri, {}, params={"labels": str(labels), **params})


def _add_choices(inputs, name, choices, label):
    """A drop-down of values and what they mean; the first is the default."""
    view = types.DropdownView()
    for value, meaning in choices.items():
        view.add_choice(value, label=meaning)
    inputs.enum(name, view.values(), default=next(iter(choices)), view=view, label=label)


def _new_name(params):
    """The name of the new data set, None for one that is made up."""
    name = (params.get("dataset_name") or "").strip()
    if not name:
        return None
    try:
        slug = to_slug(name)
    except ValueError as error:
        raise InputError(f"dataset_name: expected a name FiftyOne can use, got {name!r}: {error}") from error
    if fo.dataset_exists(name) or slug in map(to_slug, fo.list_datasets()):
        raise InputError(f"dataset_name: a data set of the name {name!r} exists already")
    return name


def _aliases(given):
    """The aliases, checked before any file is read: a wrong one is said while it is typed."""
    if not given:
        return None
    try:
        aliases = json.loads(given) if isinstance(given, str) else given
    except json.JSONDecodeError as error:
        raise InputError(f"aliases: expected JSON, got {error}") from error
    Vocabulary.from_aliases(aliases)
    return aliases


def _refuse_unless(prop, value, check, message):
    if value and not check(value):
        prop.invalid = True
        prop.error_message = message


def summary(loaded):
    """What was loaded, as text."""
    fields = ", ".join(f"{rater} (`{field}`)" for rater, field in loaded.fields.items())
    lines = [
        f"**{loaded.annotations:,} annotations of {len(loaded.fields)} raters on {loaded.images:,} images** are in "
        f"the data set `{loaded.dataset.name}`.",
        f"- Raters and their fields: {fields}",
        f"- New samples: {loaded.added_samples:,}",
    ]
    if loaded.missing_pictures:
        lines.append(f"- {len(loaded.missing_pictures):,} pictures are missing; grey canvases stand in for them")
    if loaded.crowds:
        lines.append(f"- {loaded.crowds:,} crowd regions were left out")
    if loaded.skipped:
        lines.append(f"- {loaded.skipped:,} marks were left out because their shape cannot be used")
    return "\n".join([lines[0], "", *lines[1:], "", "Next: **Match raters and compute agreement**."])
