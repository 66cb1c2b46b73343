"""What analyses of image-level labels share: raters, labels, confidence, and which labels exclude each other."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf

from . import base, forms, widgets
from .widgets import Context

GROUPS_EXAMPLE = "place: indoor, outdoor; time: day, night"


class ImageLabelAnalysis(base.Analysis):
    """An analysis that reads image-level labels; a subclass says what any `Analysis` does."""

    DELEGATED_FROM = 100_000  # images

    def add_selection(self, ctx: Context, inputs: types.Object) -> bool:
        """Raters, reference, labels, confidence, exclusive labels."""
        if ctx.dataset is None:
            widgets.block(inputs, "No data set is open", "Open one that has image-level labels.")
            return False
        fields = kf.label_fields(ctx.dataset, kf.IMAGE_LABELS)
        if not fields:
            text = (
                "This reads fields of Classification or Classifications. kalos_core.fiftyone.load_label_table writes a "
                "table of images, raters and labels into them."
            )
            widgets.block(inputs, "No image-level labels yet", text)
            return False
        storage = _add_raters(ctx, inputs, fields)
        _add_exclusive(ctx, inputs, storage == forms.BY_ATTRIBUTE or not _has_lists(ctx, fields))
        widgets.add_switch(inputs, "more", label="Choose labels and confidence")
        if ctx.params.get("more"):
            description = "Only these, as the options that raters had; empty for all"
            widgets.add_list(
                inputs, "classes", kf.class_names(ctx.dataset, kf.IMAGE_LABELS), label="Labels", description=description
            )
            forms.add_confidence(ctx, inputs)
        return True

    def selection(self, ctx: Context) -> kf.Selection:
        return read_selection(ctx)

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return super().settings(params) | {"groups": read_groups(params)}


def read_selection(ctx: Context) -> kf.Selection:
    """The labels that the form selects; also for calls from the SDK, which fill in no defaults."""
    return forms.read_selection(ctx, _everybody)


def read_groups(params: Mapping[str, Any]) -> Any:
    """Which labels exclude each other: all of them unless the form or a call says otherwise."""
    groups, exclusive = params.get("groups"), params.get("exclusive")
    if exclusive is False or (exclusive is None and groups):
        return kf.read_groups(groups) or None
    return "label"


def fields_of_raters(ctx: Context) -> set[str]:
    """The fields that the labels of the selected raters are in."""
    return forms.selected_fields(read_selection(ctx), kf.rater_fields(ctx.dataset, kf.IMAGE_LABELS))


def _add_raters(ctx: Context, inputs: types.Object, fields: Mapping[str, str]) -> str:
    """Who the raters are, and which one to keep out; how they are stored."""
    lists = {name: path for name, path in fields.items() if path != name}
    stored = kf.rater_fields(ctx.dataset, kf.IMAGE_LABELS)
    by_field = stored or not lists or len(_everybody(ctx) or stored) > 1
    storage = forms.BY_FIELD if by_field else forms.add_storage(ctx, inputs, stored, lists)
    if storage == forms.BY_ATTRIBUTE:
        offered = forms.add_attribute(ctx, inputs, lists)
        usual, name = offered, forms.RATERS_IN_FIELD
    else:
        usual, name = list(stored or _everybody(ctx) or ()), "raters"
        offered = [*usual, *(field for field in fields if not stored and field not in usual)]
    forms.add_raters(ctx, inputs, name, offered, usual, partial(kf.sources_of, family=kf.IMAGE_LABELS))
    forms.add_reference(ctx, inputs, name, offered, usual)
    return storage


def _everybody(ctx: Context) -> tuple[str, ...] | None:
    """Fields without scores, where no raters are stored: with scores they are classifiers, unless all have some."""
    if kf.rater_fields(ctx.dataset, kf.IMAGE_LABELS):
        return None
    fields, scored = kf.label_fields(ctx.dataset, kf.IMAGE_LABELS), kf.scored_fields(ctx.dataset)
    return tuple(name for name in fields if name not in scored) or tuple(fields)


def _add_exclusive(ctx: Context, inputs: types.Object, exclusive: bool) -> None:
    """Whether all labels exclude each other, `exclusive` by default; if not, which do."""
    widgets.add_switch(
        inputs,
        "exclusive",
        default=exclusive,
        label="Each rater chose exactly one label",
        description="Otherwise a label is a question of its own, chosen or not, unless it belongs to a group",
    )
    chosen = ctx.params.get("exclusive")
    if exclusive if chosen is None else chosen:
        return
    groups = inputs.str(
        "groups", label="Groups of labels that exclude each other", description=f"Such as {GROUPS_EXAMPLE}"
    )
    widgets.check(groups, lambda: read_groups(ctx.params))


def _has_lists(ctx: Context, fields: Mapping[str, str]) -> bool:
    """Whether a rater's field holds several labels of an image."""
    return any(fields.get(name) != name for name in fields_of_raters(ctx))
