"""The choices that operators on masks offer first: whose masks or labels, of which classes, and what is ignored."""

import fiftyone.operators.types as types
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from kalos_core import InputError

from . import forms, running

PIXELS, OBJECTS = "pixels", "objects"

UNKNOWN_SIZE = 1_000_000
"""Pixels of a picture whose size is not known."""


class MaskAnalysis(running.Analysis):
    """An analysis that reads masks, or outlines as masks; a subclass says what any `Analysis` does."""

    DELEGATED_FROM = 1_000_000_000  # pixels of all raters: about a minute

    def amount_of_work(self, ctx):
        return pixels_of(ctx)

    def choice(self, ctx):
        return read_mask_choice(ctx)


def add_mask_choice(ctx, inputs):
    """Raters, reference, classes. False where there is nothing to analyse."""
    if ctx.dataset is None:
        forms.say(inputs, "No data set is open", "Open one, or load masks of several raters from Python first.")
        return False
    usual = _usual(ctx)
    offered = _offered(ctx)
    if not offered:
        forms.say(
            inputs,
            "No masks yet",
            "Add a field of Segmentation masks for each rater (load_mask_folders in Python), or load labels of several "
            "raters (Load labels of several raters).",
        )
        return False
    forms.add_raters(ctx, inputs, "raters", offered, usual, resolve=kf.read_masks)
    forms.add_reference(ctx, inputs, "raters", offered, usual)
    if not ctx.dataset.has_field(kf.ASSIGNED_FIELD):
        forms.add_assignment(inputs)
    _add_classes(ctx, inputs)
    return True


def _offered(ctx):
    return list(dict.fromkeys([*kf.mask_raters(ctx.dataset), *forms.real_raters(ctx)]))


def _usual(ctx):
    """Masks where two raters have them, labels otherwise."""
    masks = list(kf.mask_raters(ctx.dataset))
    return masks if len(masks) > 1 else forms.real_raters(ctx) or masks


def chosen_raters(ctx):
    """The raters chosen; also for calls from the SDK, which fill in no defaults."""
    return list(ctx.params.get("raters") or _usual(ctx))


def are_masks(ctx):
    """Whether the raters chosen have `Segmentation` masks."""
    known = {**kf.mask_raters(ctx.dataset), **{field: field for field in kf.mask_fields(ctx.dataset)}}
    return any(name in known for name in chosen_raters(ctx))


def _add_classes(ctx, inputs):
    """Those that mask targets name, or that labels have; nothing to choose where there is one."""
    if are_masks(ctx):
        known = kf.mask_raters(ctx.dataset)
        fields = [known.get(name, name) for name in chosen_raters(ctx)]
        try:
            names = list(kf.mask_classes(ctx.dataset, fields).values())
        except InputError as error:
            forms.say(inputs, "These masks cannot be used", str(error))
            return
    else:
        names = kf.class_names(ctx.dataset)
    if len(names) < 2 and not ctx.params.get("classes"):
        return
    choices = types.DropdownView(multiple=True)
    for name in names:
        choices.add_choice(name, label=name)
    inputs.list(
        "classes",
        types.String(),
        view=choices,
        label="Classes",
        description="Each is looked at by itself; empty for "
        + ("all" if are_masks(ctx) else "all labels of a rater together"),
    )


def read_mask_choice(ctx):
    """What the form's choice means; also for calls from the SDK."""
    params = ctx.params
    reference = params.get("reference")
    return kf.LabelChoice(
        raters=tuple(chosen_raters(ctx)),
        reference=None if reference in (None, "", forms.NOBODY) else reference,
        classes=tuple(params["classes"]) if params.get("classes") else None,
        assigned=params.get("assigned") or "auto",
    )


def add_ignored(ctx, inputs):
    """The value of pixels that count for nothing; drawn labels have none."""
    if are_masks(ctx):
        ignored = inputs.int(
            "ignore_value",
            label="Value to ignore",
            description="A pixel that any rater gives this value counts for nothing; empty for none",
        )
        forms.refuse_outside(ignored, ctx.params.get("ignore_value"), 1, 65535)


def pixels_of(ctx):
    """About how many pixels there are to look at, those of every rater."""
    view = ctx.target_view()
    known = view.sum(F("metadata.width") * F("metadata.height")) if view.has_field("metadata.width") else 0
    unknown = len(view) - (view.count("metadata.width") if known else 0)
    return (known + unknown * UNKNOWN_SIZE) * len(chosen_raters(ctx))


def numbers(text, name):
    """Numbers as one types them, such as 0.5, 1; numbers and lists of them from Python."""
    entries = text.replace(",", " ").split() if isinstance(text, str) else text
    entries = entries if isinstance(entries, (list, tuple)) else [entries]
    try:
        return [float(entry) for entry in entries]
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected numbers, such as 0.5, 1, got {text!r}") from None


def add_quorum(ctx, inputs):
    """The shares of raters at which there is an object."""
    prop = inputs.str(
        "quorum",
        default="0.5",
        label="Quorum",
        description="Least share of the raters asked who drew an object, such as 0.5; several: a truth for each",
    )
    forms.check(prop, lambda: _check_shares(ctx.params.get("quorum", "0.5")))


def _check_shares(text):
    values = numbers(text, "quorum")
    if not values or not all(0 < value <= 1 for value in values):
        raise InputError(f"quorum: expected shares above 0 and up to 1, got {text!r}")
