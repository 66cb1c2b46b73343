"""Shared inputs of operators on masks: raters with masks or labels, classes, and the value to ignore."""

from typing import Any, ClassVar

import fiftyone.operators.types as types
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.display import TRUTH_LABELS
from kalos_core.fiftyone.dataset.masks import RaterMasks
from kalos_core.fiftyone.dataset.raters import MASKS, class_names, mask_classes, rater_facts

from . import base, forms, widgets
from .widgets import Context

PIXELS, OBJECTS = "pixels", "objects"

UNKNOWN_SIZE = 1_000_000
"""Assumed number of pixels of an image of unknown size."""


class MaskAnalysis(base.Analysis[base.RunOfKind]):
    """Base class of analyses that read masks, or outlines as masks; a subclass defines the same as for `Analysis`."""

    TYPED: ClassVar = {"quorum": widgets.numbers}
    DELEGATED_FROM = 1_000_000_000  # pixels of all raters: about a minute

    def amount_of_work(self, ctx: Context) -> float:
        return pixels_of(ctx)

    def add_selection(self, ctx: Context, inputs: types.Object) -> bool:
        """Add raters, reference and classes."""
        text = (
            "Add a field of Segmentation masks for each rater (load_mask_folders in Python), or load labels of several "
            "raters (Load labels of several raters)."
        )
        if not forms.has_any(ctx, inputs, lambda: _offered(ctx), "No masks yet", text):
            return False
        offered = _offered(ctx)
        usual = _usual(ctx)
        forms.add_raters(ctx, inputs, "raters", offered, usual, _read)
        forms.add_reference(ctx, inputs, "raters", offered, usual)
        forms.add_assignment(ctx, inputs)
        _add_classes(ctx, inputs)
        return True

    def add_local(self, ctx: Context, inputs: types.Object) -> None:
        """Add a switch for raters without names across images; the default is the stored fact."""
        facts = rater_facts(ctx.dataset)
        local = any(facts[name]["is_local"] for name in selected_raters(ctx) if name in facts)
        self.ask(ctx, inputs, "raters_are_local", default=local)

    def selection(self, ctx: Context) -> kf.Selection:
        return forms.read_selection(ctx, _everybody)


def _read(samples: Any, selection: kf.Selection) -> RaterMasks:
    return kf.read_masks(samples, **selection.arguments())


def _everybody(ctx: Context) -> tuple[str, ...] | None:
    """Return the default raters; None if two raters have masks, which are found by themselves."""
    return None if len(kf.rater_fields(ctx.dataset, MASKS)) > 1 else forms.everybody(ctx)


def _offered(ctx: Context) -> list[str]:
    return list(dict.fromkeys([*kf.rater_fields(ctx.dataset, MASKS), *forms.real_raters(ctx)]))


def _usual(ctx: Context) -> list[str]:
    """Return raters with masks if there are at least two, otherwise raters with labels."""
    masks = list(kf.rater_fields(ctx.dataset, MASKS))
    return masks if len(masks) > 1 else forms.real_raters(ctx) or masks


def selected_raters(ctx: Context) -> list[str]:
    """Return the selected raters, also for calls from the SDK, which fill in no defaults."""
    return list(ctx.params.get("raters") or _usual(ctx))


def are_masks(ctx: Context) -> bool:
    """Return whether the selected raters have `Segmentation` masks."""
    known = {*kf.rater_fields(ctx.dataset, MASKS), *kf.label_fields(ctx.dataset, MASKS)}
    return not known.isdisjoint(selected_raters(ctx))


def _add_classes(ctx: Context, inputs: types.Object) -> None:
    """Add the classes of mask targets or labels, if there are at least two."""
    if are_masks(ctx):
        known = kf.rater_fields(ctx.dataset, MASKS)
        fields = [known.get(name, name) for name in selected_raters(ctx)]
        try:
            names = list(mask_classes(ctx.dataset, fields).values())
        except InputError as error:
            widgets.block(inputs, "These masks cannot be used", str(error))
            return
    else:
        names = class_names(ctx.dataset)
    if len(names) < 2 and not ctx.params.get("classes"):
        return
    empty = "all" if are_masks(ctx) else "all labels of a rater together"
    description = f"Each class is analysed separately; empty for {empty}"
    widgets.add_list(inputs, "classes", names, label="Classes", description=description)


def add_methods(ctx: Context, inputs: types.Object, usual: list[str], **options: Any) -> types.Property:
    """Add methods to estimate the truth of pixels."""
    entries = {name: f"{name}: {text}" for name, text in TRUTH_LABELS.items()}
    prop = widgets.add_list(inputs, "methods", entries, default=usual, **options)
    unknown = [name for name in ctx.params.get("methods") or () if name not in TRUTH_LABELS]
    if unknown:
        widgets.refuse(prop, f"{unknown[0]!r} is not a method to estimate ground truth")
    return prop


def add_ignored(ctx: Context, inputs: types.Object) -> None:
    """Add the value of pixels to ignore; rasterised labels have none."""
    if are_masks(ctx):
        description = "A pixel to which any rater gives this value is ignored; empty for none"
        widgets.add_number(ctx, inputs, "ignore_value", 1, 65535, label="Value to ignore", description=description)


def pixels_of(ctx: Context) -> int:
    """Return the approximate number of pixels to read, over all raters."""
    view = ctx.target_view()
    known: int = view.sum(F("metadata.width") * F("metadata.height")) if view.has_field("metadata.width") else 0
    unknown = len(view) - (view.count("metadata.width") if known else 0)
    return (known + unknown * UNKNOWN_SIZE) * len(selected_raters(ctx))
