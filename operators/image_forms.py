"""What analyses of labels of whole images share: raters, labels, confidence, and what excludes what."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf

from . import forms, running

GROUPS_EXAMPLE = "place: indoor, outdoor; time: day, night"


class ImageAnalysis(running.Analysis):
    """An analysis that reads labels of whole images; a subclass says what any `Analysis` does."""

    DELEGATED_FROM = 100_000  # images

    def add_inputs(self, ctx, inputs):
        forms.check_view(ctx, inputs)
        if add_label_choice(ctx, inputs):
            self.add_choices(ctx, inputs)
            forms.add_run_key(ctx, inputs, self.KIND)

    def choice(self, ctx):
        return read_label_choice(ctx)


def add_label_choice(ctx, inputs):
    """Raters, reference, labels, confidence, exclusive labels. False where there is nothing to analyse."""
    if ctx.dataset is None:
        forms.say(inputs, "No data set is open", "Open one that has labels of whole images.")
        return False
    fields = kf.image_label_fields(ctx.dataset)
    if not fields:
        text = (
            "This reads fields of Classification or Classifications. kalos_core.fiftyone.load_label_table writes a "
            "table of images, raters and labels into them."
        )
        forms.say(inputs, "No labels of whole images yet", text)
        return False
    storage = _add_whose(ctx, inputs, fields)
    _add_exclusive(ctx, inputs, storage == forms.BY_ATTRIBUTE or not _has_lists(ctx, fields))
    inputs.bool("more", default=False, label="Choose labels and confidence", view=types.SwitchView())
    if ctx.params.get("more"):
        _add_limits(ctx, inputs)
    return True


def read_label_choice(ctx):
    """What the form's choice means; also for calls from the SDK, which fill in no defaults."""
    return forms.read_label_choice(ctx, _everybody)


def read_groups(params):
    """Which labels exclude each other: all of them unless the form or a call says otherwise."""
    groups, exclusive = params.get("groups"), params.get("exclusive")
    if exclusive is False or (exclusive is None and groups):
        return kf.read_groups(groups) or None
    return "label"


def fields_of_raters(ctx):
    """The fields that the chosen raters' labels are in."""
    choice, stored = read_label_choice(ctx), kf.image_rater_fields(ctx.dataset)
    if choice.field is not None:
        return {choice.field}
    named = [*(choice.raters or stored), *([choice.reference] if choice.reference else [])]
    return {stored.get(name, name) for name in named}


def _add_whose(ctx, inputs, fields):
    """Who the raters are, and whom to keep out; how they are stored."""
    lists = {name: path for name, path in fields.items() if path != name}
    stored = kf.image_rater_fields(ctx.dataset)
    by_field = stored or not lists or len(_everybody(ctx) or stored) > 1
    storage = forms.BY_FIELD if by_field else forms.add_storage(ctx, inputs, stored, lists)
    if storage == forms.BY_ATTRIBUTE:
        offered = forms.add_attribute(ctx, inputs, lists)
        usual, name = offered, forms.RATERS_IN_FIELD
    else:
        usual, name = list(stored) or list(_everybody(ctx)), "raters"
        offered = [*usual, *(field for field in fields if not stored and field not in usual)]
    forms.add_raters(ctx, inputs, name, offered, usual, kf.label_sources)
    forms.add_reference(ctx, inputs, name, offered, usual)
    return storage


def _everybody(ctx):
    """Fields without scores, where no raters are stored: with scores they are systems, unless all have some."""
    if kf.image_rater_fields(ctx.dataset):
        return None
    fields, scored = kf.image_label_fields(ctx.dataset), kf.scored_fields(ctx.dataset)
    return tuple(name for name in fields if name not in scored) or tuple(fields)


def _add_exclusive(ctx, inputs, exclusive):
    """Whether all labels exclude each other, `exclusive` by default; if not, which do."""
    inputs.bool(
        "exclusive",
        default=exclusive,
        label="Each rater chose exactly one label",
        description="Otherwise a label is a question of its own, chosen or not, unless it belongs to a group",
        view=types.SwitchView(),
    )
    chosen = ctx.params.get("exclusive")
    if exclusive if chosen is None else chosen:
        return
    groups = inputs.str(
        "groups", label="Groups of labels that exclude each other", description=f"Such as {GROUPS_EXAMPLE}"
    )
    forms.check(groups, lambda: read_groups(ctx.params))


def _has_lists(ctx, fields):
    """Whether a rater's field holds several labels of an image."""
    return any(fields.get(name) != name for name in fields_of_raters(ctx))


def _add_limits(ctx, inputs):
    names = types.DropdownView(multiple=True)
    for name in kf.image_label_names(ctx.dataset):
        names.add_choice(name, label=name)
    inputs.list(
        "classes",
        types.String(),
        view=names,
        label="Labels",
        description="Only these, as the options that raters had; empty for all",
    )
    confidence = inputs.float(
        "min_confidence", default=0.0, min=0.0, max=1.0, label="Least confidence (labels without one stay)"
    )
    forms.refuse_outside(confidence, ctx.params.get("min_confidence"), 0, 1)
