"""Operator that loads a file with labels of several raters, one label field per rater."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import fiftyone as fo
import fiftyone.operators as foo
import fiftyone.operators.types as types
from fiftyone.core.utils import to_slug
from fiftyone.operators.executor import ExecutionResult

import kalos_core.fiftyone as kf
from kalos_core import InputError, read_coco
from kalos_core.display import number_of
from kalos_core.fiftyone.importing.objects import LoadedRaters
from kalos_core.options import declared_by
from kalos_core.readers.vocabulary import Vocabulary
from kalos_core.text import plain, shown

from . import base, files, widgets
from .after_load import JUST_LOADED
from .analyse import summary as made
from .widgets import Context

NEW, CURRENT = "a new data set", "this data set"

CHECKED = 2**25
"""Largest size in bytes of a file that the form reads to check whether all images exist."""

LABEL_TYPES = ("auto", "detections", "polylines", "keypoints")

DECLARED = {entry.name: entry for entry in declared_by(read_coco)}
"""Options of the COCO reader; other formats have some of them."""


class LoadRaters(base.Action):
    NAME, LABEL = "load_raters", "Load labels of several raters"
    DESCRIPTION = "Import annotations of several annotators (COCO and other files), one label field per rater"
    ICON, RESULT = "/assets/load.svg", "Loaded"
    INPUTS: ClassVar = {
        **{entry.name: entry.kind for entry in DECLARED.values()},
        **dict.fromkeys(("labels", "images", "canvas", "dataset_name"), str),
        "aliases": str | Mapping[str, Any],
    }

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        path = inputs.str(
            "labels",
            required=True,
            label="File of labels",
            description="COCO, tables of boxes, Pascal VOC, YOLO, CVAT and others, on the machine that runs the App",
        )
        _refuse_unless(path, ctx.params.get("labels"), os.path.exists, "There is no such file")
        images = inputs.str(
            "images", label="Folder of the images", description="Empty: next to the file, or in its folder 'images'"
        )
        _refuse_unless(images, ctx.params.get("images"), os.path.isdir, "There is no such folder")
        self._preview(ctx, inputs)
        self._add_target(ctx, inputs)
        widgets.add_switch(inputs, "analyse", label="Analyse right after")
        if widgets.is_on(ctx, inputs, "more", label="Reconcile class names, choose label type"):
            self._add_more(ctx, inputs)
        canvas = ctx.params.get("canvas")
        if self._lacks_images(ctx, inputs) or canvas:
            about = (
                "Name of a folder for grey images of the right size, in place of missing images; it is created in "
                f"{plain(str(files.folder_for(_target(ctx))), None)}"
            )
            prop = inputs.str("canvas", label="Or a folder for grey canvases", description=about)
            if canvas:
                widgets.check(prop, lambda: files.place(_target(ctx), canvas, "canvas"))

    def _preview(self, ctx: Context, inputs: types.Object) -> None:
        """Show the content of the file before loading, unless it is invalid or too large to read in a form."""
        params = ctx.params
        if not _is_readable(params.get("labels")):
            return
        try:
            found = kf.preview_raters(params["labels"], images=params.get("images") or None, **_reading(params))
        except InputError:  # shown next to the input
            return
        inputs.view("found", types.Notice(label="Found", description=found))

    def _lacks_images(self, ctx: Context, inputs: types.Object) -> bool:
        """Mark problems that loading would refuse, and return whether images are missing."""
        params, fields = ctx.params, inputs.properties
        if not _is_readable(params.get("labels")) or any(entry.invalid for entry in fields.values()):
            return False
        given = widgets.given_if(params, "more", "outside_images")
        try:
            kf.check_images(
                params["labels"], _target(ctx), images=params.get("images") or None, **given, **_reading(params)
            )
        except InputError as error:
            are_missing = str(error).startswith("images: ")
            if not (are_missing and params.get("canvas")):
                widgets.refuse(fields["images" if are_missing else "labels"], str(error))
            return are_missing
        return False

    def _add_target(self, ctx: Context, inputs: types.Object) -> None:
        targets = (NEW, CURRENT) if ctx.dataset is not None else (NEW,)
        widgets.add_radio(inputs, "target", targets, default=NEW, label="Load into")
        if ctx.params.get("target") != CURRENT:
            name = inputs.str("dataset_name", label="Name of the data set", description="Empty: a generated name")
            widgets.check(name, lambda: _new_name(ctx.params))

    def _add_more(self, ctx: Context, inputs: types.Object) -> None:
        for name in ("rater_field", "category_field"):
            widgets.add_option(ctx, inputs, DECLARED[name])
        code = types.CodeView(language="json")
        widgets.add_option(ctx, inputs, DECLARED["aliases"], read=_aliases, view=code)
        widgets.add_dropdown(inputs, "label_type", LABEL_TYPES, default="auto", label="Label type")
        for name in ("assigned", "crowds", "on_invalid"):
            widgets.add_option(ctx, inputs, DECLARED[name])
        about = (
            "By absolute paths, .. or links. The file can then show any image of the machine: use only files you trust"
        )
        widgets.add_switch(inputs, "outside_images", label="Images may be outside of their folder", description=about)

    def execute(self, ctx: Context) -> dict[str, Any] | Iterator[Any]:
        self.check_params(ctx)
        params, target = ctx.params, _target(ctx)
        options = widgets.given(params, "images", "canvas", "analyse")
        more = widgets.given_if(params, "more", "label_type", "outside_images")
        if options.get("canvas"):
            options["canvas"] = files.place(_target(ctx), options["canvas"], "canvas")
        loaded_name: list[str] = []

        def work(progress: base.Progress) -> dict[str, Any]:
            into = _new_name(params) if target is None else target
            given = {name: value for name, value in {**options, **_reading(params), **more}.items() if value}
            loaded = kf.load_raters(params["labels"], into, progress=progress, **given)
            loaded_name.append(loaded.dataset.name)
            return {
                "dataset": loaded.dataset.name,
                "fields": loaded.fields,
                "annotations": loaded.annotations,
                "images": loaded.images,
                "key": loaded.analysis and loaded.analysis.key,
                "text": summary(loaded),
            }

        def open_it() -> Any:
            JUST_LOADED.add(loaded_name[0])
            return ctx.ops.open_dataset(loaded_name[0])

        then = [open_it] if target is None else base.written(ctx)
        return base.run(ctx, work, then=then)

    def __call__(  # type: ignore[override] # reads a file, no samples
        self, labels: str | os.PathLike[str], **params: Any
    ) -> ExecutionResult:
        """Run from a notebook: `foo.get_operator("@kalos/variation/load_raters")("labels.json")`."""
        return foo.execute_operator(self.uri, {}, params={"labels": str(labels), **params})


def _target(ctx: Context) -> Any:
    """Return the data set to load into, or None for a new one."""
    return ctx.dataset if ctx.params.get("target") == CURRENT else None


def _new_name(params: Mapping[str, Any]) -> str | None:
    """Return the name of the new data set, or None for a generated name."""
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


def _aliases(text: str, name: str) -> Any:
    """Parse and check aliases before any file is read, so that errors are marked while typing."""
    try:
        aliases = json.loads(text) if text else None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: expected JSON, got {error}") from error
    Vocabulary.from_aliases(aliases)
    return aliases


def _reading(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for reading the file."""
    read = widgets.given_if(params, "more", *DECLARED)
    given = {name: value for name, value in read.items() if value and value != DECLARED[name].default}
    given |= widgets.given(params, "format")
    return {name: widgets.typed(_aliases if name == "aliases" else None, value, name) for name, value in given.items()}


def _is_readable(path: str | None) -> bool:
    """Return whether the file exists and is small enough to be read in a form."""
    return path is not None and os.path.isfile(path) and os.path.getsize(path) <= CHECKED


def _refuse_unless(prop: types.Property, value: str | None, check: Callable[[str], bool], message: str) -> None:
    if value and not check(value):
        widgets.refuse(prop, message)


def summary(loaded: LoadedRaters) -> str:
    """Return a description of the loaded data."""
    fields = ", ".join(f"{shown(rater)} ({shown(field)})" for rater, field in loaded.fields.items())
    lines = [
        f"**{number_of(loaded.annotations, 'annotation')} of {number_of(len(loaded.fields), 'rater')} on "
        f"{number_of(loaded.images, 'image')}** are in the data set {shown(loaded.dataset.name)}.",
        f"- Raters and their fields: {fields}",
        f"- New samples: {loaded.added_samples:,}",
    ]
    if loaded.missing_images:
        missing = number_of(len(loaded.missing_images), "missing image")
        lines.append(f"- Grey canvases stand in for {missing}")
    if loaded.crowds:
        crowds = number_of(loaded.crowds, "crowd region is", "crowd regions are")
        lines.append(f"- {crowds} stored separately; agreement does not read them")
    if loaded.skipped:
        skipped = number_of(loaded.skipped, "annotation was", "annotations were")
        lines.append(f"- {skipped} skipped because of an invalid shape")
    if loaded.analysis is not None:
        return "\n".join([lines[0], "", *lines[1:], made(loaded.analysis, loaded.dataset)["text"]])
    return "\n".join([lines[0], "", *lines[1:], "", "Next: **Analyse raters**."])
