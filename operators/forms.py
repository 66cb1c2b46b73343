"""The choices every analysis offers first: raters, a reference to keep out, classes, smallest size, confidence."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES, InputError

BY_FIELD, BY_ATTRIBUTE = "one field per rater", "one field with a rater attribute"
NOBODY = "nobody"

SIMILARITY_HELP = {
    "box_iou": "Boxes: shared area over joint area",
    "polygon_iou": "Polygons: exact shared area over joint area",
}


def add_run_key(ctx, inputs, base):
    """A run key that is checked as it is typed."""
    suggestion = kf.free_run_key(ctx.dataset, base)
    key = inputs.str(
        "run_key",
        required=True,
        default=suggestion,
        label="Run key",
        description="Names everything this run writes, so that it can be deleted again",
    )
    _check(key, lambda: kf.check_run_key(ctx.dataset, ctx.params.get("run_key", suggestion)))


def add_label_choice(ctx, inputs):
    """Raters, reference, classes, smallest size, confidence. False where there is nothing to analyse."""
    stored = kf.rater_fields(ctx.dataset)
    fields = kf.label_fields(ctx.dataset)
    if not fields:
        inputs.view(
            "no_fields",
            types.Error(label="No labels yet", description="Load labels of several raters first (Load raters)."),
        )
        return False
    storage = _add_storage(ctx, inputs, stored)
    if storage == BY_ATTRIBUTE:
        _add_attribute(inputs, fields)
        names = []
    else:
        names = _add_raters(ctx, inputs, stored, fields)
    if len(names) > 2:
        reference = types.DropdownView()
        for name in [NOBODY, *names]:
            reference.add_choice(name, label=name)
        inputs.enum(
            "reference",
            reference.values(),
            default=NOBODY,
            view=reference,
            label="Reference rater",
            description="A gold standard to keep out of agreement",
        )
    inputs.bool("more", default=False, label="Choose classes, sizes and confidence", view=types.SwitchView())
    if ctx.params.get("more"):
        _add_limits(inputs)
    return True


def _add_storage(ctx, inputs, stored):
    if stored:
        return BY_FIELD
    choices = types.RadioGroup(orientation="horizontal")
    for name in (BY_FIELD, BY_ATTRIBUTE):
        choices.add_choice(name, label=name)
    inputs.enum("storage", choices.values(), default=BY_FIELD, view=choices, label="Raters are stored as")
    return ctx.params.get("storage", BY_FIELD)


def _add_attribute(inputs, fields):
    choices = types.DropdownView()
    for field in fields:
        choices.add_choice(field, label=field)
    inputs.enum("field", choices.values(), required=True, default=next(iter(fields)), view=choices, label="Field")
    inputs.str("rater_attribute", required=True, default="rater", label="Attribute that names the rater")


def _add_raters(ctx, inputs, stored, fields):
    names = list(stored) or list(fields)
    choices = types.DropdownView(multiple=True)
    for name in names:
        choices.add_choice(name, label=name)
    raters = inputs.list(
        "raters", types.String(), required=True, default=names, view=choices, label="Raters", description="At least two"
    )
    chosen = [name for name in ctx.params.get("raters") or names if name in names]
    if len(ctx.params.get("raters", names)) < 2:
        _refuse(raters, "Agreement needs at least two raters")
    return chosen


def _add_limits(inputs):
    inputs.list(
        "classes",
        types.String(),
        view=types.AutocompleteView(),
        label="Classes",
        description="Only these; empty for all",
    )
    inputs.float(
        "min_area",
        default=0.0,
        min=0.0,
        label="Smallest area in square pixels",
        description="A mark just above it whose partner is just below stays without one",
    )
    inputs.float("min_confidence", default=0.0, min=0.0, max=1.0, label="Least confidence (labels without one stay)")


def add_similarity(ctx, inputs):
    """How marks are compared, and from which similarity on two of them may be the same object."""
    choice = read_label_choice(ctx)
    try:
        default = kf.default_similarity(ctx.dataset, choice)
    except InputError:  # said beside the raters
        default = "box_iou"
    choices = types.DropdownView()
    for name, similarity in SIMILARITIES.items():
        choices.add_choice(name, label=similarity.label, description=SIMILARITY_HELP.get(name, ""))
    inputs.enum("similarity", choices.values(), required=True, default=default, view=choices, label="Similarity")
    inputs.float(
        "threshold",
        required=True,
        default=0.5,
        min=0.0,
        max=1.0,
        view=types.SliderView(value_precision=2, value_label_display="on"),
        label="Threshold",
        description="Least similarity at which two marks may be the same object",
    )


def read_label_choice(ctx):
    """What the form's label choice means; also for calls from the SDK, which fill in no defaults."""
    params = ctx.params
    reference = params.get("reference")
    raters = params.get("raters")
    by_attribute = params.get("storage") == BY_ATTRIBUTE or (params.get("field") and params.get("storage") is None)
    return kf.LabelChoice(
        raters=tuple(raters) if raters else _all_raters(ctx, by_attribute),
        field=params.get("field") if by_attribute else None,
        rater_attribute=params.get("rater_attribute") or "rater",
        reference=None if reference in (None, "", NOBODY) else reference,
        classes=tuple(params["classes"]) if params.get("classes") else None,
        min_area=float(params.get("min_area") or 0.0),
        min_confidence=float(params.get("min_confidence") or 0.0),
        assigned=params.get("assigned") or "auto",
    )


def _all_raters(ctx, by_attribute):
    if by_attribute or kf.rater_fields(ctx.dataset):
        return None
    return tuple(kf.label_fields(ctx.dataset)) or None


def check_view(ctx, inputs):
    """Say before anything runs that the samples cannot be used."""
    try:
        kf.check_samples(ctx.target_view())
    except InputError as error:
        inputs.view("samples_problem", types.Error(label="These samples cannot be used", description=str(error)))
        refused = inputs.str("refused", required=True, view=types.HiddenView())
        _refuse(refused, str(error))


def _check(prop, check):
    try:
        check()
    except InputError as error:
        _refuse(prop, str(error))


def _refuse(prop, message):
    prop.invalid = True
    prop.error_message = message
