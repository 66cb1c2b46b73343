"""The choices every analysis offers first: raters, a reference to keep out, classes, smallest size, confidence."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES, InputError

BY_FIELD, BY_ATTRIBUTE = "one field per rater", "one field with a rater attribute"
NOBODY = "nobody"

RATER_ATTRIBUTES = ("rater", "rater_id", "annotator", "rad_id")
"""Attributes that name the rater in the formats we know; the form proposes the first that the labels have."""

RATERS_IN_FIELD = "raters_in_field"
"""The form's list of raters where an attribute names them: the App keeps what was chosen for one field per rater."""

SIMILARITY_HELP = {
    "box_iou": "shared area over joint area",
    "box_giou": "as IoU, and how far apart where nothing is shared",
    "centroid_box": "distance of the centres over the diagonal of the larger box",
    "polygon_iou": "exact shared area over joint area",
    "polygon_giou": "as IoU, and how far apart where nothing is shared",
    "mask_iou": "shared pixels over joint pixels",
    "centroid": "distance of the centres of area over the diagonal of the picture",
    "pose": "mean distance of joints; one that only one rater sees counts in full",
    "oks": "the COCO measure: forgives more on large objects",
    "volume_iou": "shared volume over joint volume",
    "cuboid_iou": "shared volume over joint volume, rotation and all",
}


def add_run_key(ctx, inputs, base):
    """A run key that is checked as it is typed."""
    suggestion = kf.free_run_key(ctx.dataset, base)
    key = inputs.str(
        "run_key",
        default=suggestion,
        label="Run key",
        description="Names everything this run writes, so that it can be deleted again",
    )
    check(key, lambda: kf.check_run_key(ctx.dataset, ctx.params.get("run_key", suggestion)))


def add_label_choice(ctx, inputs):
    """Raters, reference, classes, smallest size, confidence. False where there is nothing to analyse."""
    if not has_labels(ctx, inputs):
        return False
    offered, usual, property_name = _add_whose(ctx, inputs)
    add_raters(ctx, inputs, property_name, offered, usual)
    add_reference(ctx, inputs, property_name, offered, usual)
    if not ctx.dataset.has_field(kf.ASSIGNED_FIELD):
        add_assignment(inputs)
    inputs.bool("more", default=False, label="Choose classes, sizes and confidence", view=types.SwitchView())
    if ctx.params.get("more"):
        _add_limits(ctx, inputs)
    return True


def has_labels(ctx, inputs):
    """Whether there are labels; says so in the form where there are none."""
    if ctx.dataset is None:
        say(inputs, "No data set is open", "Open one, or load labels of several raters (Load labels).")
        return False
    if not kf.label_fields(ctx.dataset):
        say(inputs, "No labels yet", "Load labels of several raters first (Load labels of several raters).")
        return False
    return True


def add_drawn_from(ctx, inputs):
    """The rater that synthetic raters are drawn from; who is chosen."""
    offered, usual, _ = _add_whose(ctx, inputs)
    choices = types.DropdownView()
    for name in offered:
        choices.add_choice(name, label=name)
    first = next(iter(usual or offered), None)
    chosen = ctx.params.get("drawn_from") or first
    known = [*choices.values(), *([chosen] if chosen is not None and chosen not in offered else [])]
    prop = inputs.enum(
        "drawn_from",
        known,
        default=first,
        view=choices,
        label="Draw raters from",
        description="The reference: its labels are the truth, and are never changed",
    )
    if chosen not in offered and chosen not in kf.label_fields(ctx.dataset):
        refuse(prop, f"There is no rater {chosen!r}")
    return chosen


def drawn_from(ctx):
    """Who raters are drawn from; also for calls from the SDK, which fill in no defaults."""
    chosen = ctx.params.get("drawn_from")
    if chosen:
        return chosen
    real = real_raters(ctx)
    return real[0] if real else None


def real_raters(ctx):
    """The stored raters, or all label fields where none are stored; no synthetic ones, and no estimated truths."""
    made = {*kf.synthetic_fields(ctx.dataset), *kf.truth_fields(ctx.dataset)}
    return list(kf.rater_fields(ctx.dataset)) or [name for name in kf.label_fields(ctx.dataset) if name not in made]


def _add_whose(ctx, inputs):
    """How raters are stored: those to choose from, those chosen unless one says otherwise, and the list's name."""
    fields = kf.label_fields(ctx.dataset)
    if add_storage(ctx, inputs, kf.rater_fields(ctx.dataset), fields) == BY_ATTRIBUTE:
        named = add_attribute(ctx, inputs, fields)
        return named, named, RATERS_IN_FIELD
    real, made = real_raters(ctx), kf.synthetic_fields(ctx.dataset)
    return [*real, *made], real or made, "raters"


def add_assignment(inputs):
    choices = types.DropdownView()
    choices.add_choice("all", label="every rater, everywhere")
    choices.add_choice("labelled", label="a rater only where their labels are there")
    inputs.enum(
        "assigned",
        choices.values(),
        default="all",
        view=choices,
        label="Who was asked",
        description="An image a rater never saw would count as 'saw it and drew nothing', which lowers alpha",
    )


def add_storage(ctx, inputs, stored, fields):
    if stored:
        return BY_FIELD
    usual = BY_ATTRIBUTE if len(fields) == 1 else BY_FIELD
    choices = types.RadioGroup(orientation="horizontal")
    for name in (BY_FIELD, BY_ATTRIBUTE):
        choices.add_choice(name, label=name)
    inputs.enum("storage", choices.values(), default=usual, view=choices, label="Raters are stored as")
    return ctx.params.get("storage") or usual


def add_attribute(ctx, inputs, fields):
    """The field and the attribute; the raters that its labels name."""
    choices = types.DropdownView()
    for field in fields:
        choices.add_choice(field, label=field)
    first = next(iter(fields))
    inputs.enum("field", choices.values(), default=first, view=choices, label="Field")
    path = fields.get(ctx.params.get("field"), fields[first])
    usual = next((name for name in RATER_ATTRIBUTES if _raters_named(ctx, path, name)), RATER_ATTRIBUTES[0])
    attribute = inputs.str("rater_attribute", default=usual, label="Attribute that names the rater")
    chosen = ctx.params.get("rater_attribute", usual)
    raters = _raters_named(ctx, path, chosen)
    if not raters:
        refuse(attribute, f"No label of {path.split('.')[0]!r} has an attribute {chosen!r}")
    return raters


def _raters_named(ctx, path, attribute):
    if not isinstance(attribute, str) or not attribute.isidentifier():
        return []
    return [str(name) for name in ctx.dataset.distinct(f"{path}.{attribute}")]


def add_raters(ctx, inputs, property_name, offered, usual, resolve=None):
    """The list of raters; `resolve` raises for a choice that names unknown ones."""
    choices = types.DropdownView(multiple=True)
    for name in offered:
        choices.add_choice(name, label=name)
    raters = inputs.list(
        property_name,
        types.String(),
        default=usual,
        view=choices,
        label="Raters",
        description="At least two",
    )
    chosen = _chosen(ctx, property_name, usual)
    unknown = [name for name in chosen if name not in offered]
    if unknown and property_name == RATERS_IN_FIELD:
        refuse(raters, f"There is no rater {unknown[0]!r}")
    elif unknown:  # a call from Python may name a stored rater by the field, too
        check(raters, lambda: (resolve or kf.default_similarity)(ctx.dataset, kf.LabelChoice(raters=tuple(chosen))))
    if len(set(chosen)) < 2:
        refuse(raters, "Agreement needs at least two raters")


def add_reference(ctx, inputs, property_name, offered, usual):
    """Only where a choice of it leaves two raters, or where one was made."""
    chosen, reference = set(_chosen(ctx, property_name, usual)), ctx.params.get("reference") or NOBODY
    if len(offered) < 3 and reference == NOBODY:
        return
    choices = types.DropdownView()
    for name in [NOBODY, *offered]:
        choices.add_choice(name, label=name)
    prop = inputs.enum(
        "reference",
        choices.values(),
        default=NOBODY,
        view=choices,
        label="Reference rater",
        description="A gold standard to keep out of agreement",
    )
    if reference != NOBODY and reference not in offered:
        refuse(prop, f"There is no rater {reference!r}")
    elif len(chosen) > 1 and len(chosen - {reference}) < 2:
        refuse(prop, "Beside the reference, agreement needs at least two raters")


def _chosen(ctx, property_name, usual):
    value = ctx.params.get(property_name)
    return usual if value is None else value


def _add_limits(ctx, inputs):
    names = types.DropdownView(multiple=True)
    for name in kf.class_names(ctx.dataset):
        names.add_choice(name, label=name)
    inputs.list(
        "classes",
        types.String(),
        view=names,
        label="Classes",
        description="Only these; empty for all",
    )
    area = inputs.float(
        "min_area",
        default=0.0,
        min=0.0,
        label="Smallest area in square pixels",
        description="A mark just above it whose partner is just below stays without one",
    )
    confidence = inputs.float(
        "min_confidence", default=0.0, min=0.0, max=1.0, label="Least confidence (labels without one stay)"
    )
    refuse_outside(area, ctx.params.get("min_area"), 0)
    refuse_outside(confidence, ctx.params.get("min_confidence"), 0, 1)


def fitting_similarities(ctx):
    """Names of the similarities that fit the chosen labels, the default first."""
    try:
        return kf.fitting_similarities(ctx.dataset, read_label_choice(ctx))
    except InputError:  # said beside what is wrong
        return ["box_iou"]


def add_similarity(ctx, inputs):
    """How marks are compared, and from which similarity on two of them may be the same object."""
    fitting = fitting_similarities(ctx)
    chosen = add_similarity_field(ctx, inputs, fitting)
    calibrated = kf.default_threshold(ctx.dataset, chosen)
    said = "Least similarity, from 0 to 1, at which two marks may be the same object"
    if calibrated is not None:  # one that was chosen from a calibration is the default
        said += f". Calibrated for {chosen}: {calibrated:.3g} ({_calibration_of(ctx, chosen, calibrated)})"
    add_threshold_field(ctx, inputs, chosen, fitting[0], calibrated, said)


def add_similarity_field(ctx, inputs, fitting):
    """How marks are compared: the similarity that is chosen."""
    chosen = ctx.params.get("similarity") or fitting[0]
    choices = types.DropdownView()
    for name in fitting:
        choices.add_choice(name, label=SIMILARITIES[name].label, description=SIMILARITY_HELP.get(name, ""))
    offered = choices.values()
    if chosen in SIMILARITIES and chosen not in fitting:  # chosen for other labels: say so beside it
        offered = [*offered, chosen]
    similarity = inputs.enum("similarity", offered, default=fitting[0], view=choices, label="Similarity")
    if chosen not in fitting:
        refuse(similarity, f"Not every label has what {chosen} compares; choose one of {', '.join(fitting)}")
    return chosen


def add_threshold_field(ctx, inputs, similarity, first, value, said):
    """A threshold of a similarity: each has a field of its own, since the App keeps what stood in one before.

    `first` is the similarity that the form proposes; its field is called as in calls from the SDK.
    """
    name = "threshold" if similarity == first else _threshold_field(similarity)
    threshold = inputs.float(
        name,
        default=0.5 if value is None else shown_threshold(value),
        min=0.0,
        max=1.0,
        label="Threshold",
        description=said,
    )
    refuse_outside(threshold, ctx.params.get(name), 0, 1)


def shown_threshold(value):
    """A threshold as a form shows it."""
    return None if value is None else round(value, 3)


def threshold_of(params, similarity):
    """The threshold that the form, or a call from the SDK, gives for a similarity; None if it gives none."""
    own = params.get(_threshold_field(similarity)) if similarity else None
    return params.get("threshold") if own is None else own


def _threshold_field(similarity):
    return f"threshold_of_{similarity}"


def compared(params):
    """The similarity and its threshold, as far as they are set."""
    threshold = threshold_of(params, params.get("similarity"))
    return given(params, "similarity") | ({} if threshold is None else {"threshold": threshold})


def _calibration_of(ctx, similarity, threshold):
    """The run a default threshold comes from."""
    choice = {"similarity": similarity, "threshold": threshold}
    keys = kf.list_runs(ctx.dataset, "calibration")
    return next(f"run {key}" for key in keys if choice in kf.load_figures(ctx.dataset, key).figures["chosen"])


def read_label_choice(ctx, everybody=None):
    """What the form's label choice means; also for calls from the SDK, which fill in no defaults.

    `everybody` answers the raters where none are chosen and each has a field.
    """
    params = ctx.params
    by_attribute = params.get("storage") == BY_ATTRIBUTE or (params.get("field") and params.get("storage") is None)
    raters = params.get(RATERS_IN_FIELD if params.get("storage") == BY_ATTRIBUTE else "raters")
    reference = params.get("reference")
    limits = shown(params, "more", ("classes", "min_area", "min_confidence"))
    return kf.LabelChoice(
        raters=tuple(raters) if raters else None if by_attribute else (everybody or _all_raters)(ctx),
        field=params.get("field") if by_attribute else None,
        rater_attribute=params.get("rater_attribute") or RATER_ATTRIBUTES[0],
        reference=None if reference in (None, "", NOBODY) else reference,
        classes=tuple(limits["classes"]) if limits.get("classes") else None,
        min_area=limits.get("min_area", 0.0),
        min_confidence=limits.get("min_confidence", 0.0),
        assigned=params.get("assigned") or "auto",
    )


def fields_of_raters(ctx):
    """The label fields that the chosen raters' labels are in, the reference's among them."""
    choice, stored = read_label_choice(ctx), kf.rater_fields(ctx.dataset)
    if choice.field is not None:
        return {choice.field}
    named = [*(choice.raters or stored), *([choice.reference] if choice.reference else [])]
    return {stored.get(name, name) for name in named}


def given(params, *names):
    """The params of these names as far as they are set: what is left out has the default of the function it goes to."""
    return {name: params[name] for name in names if params.get(name) is not None}


def shown(params, switch, names):
    """The same, unless the switch that shows them in the form is off again."""
    return {} if params.get(switch) is False else given(params, *names)


def _all_raters(ctx):
    if kf.rater_fields(ctx.dataset):
        return None
    return tuple(real_raters(ctx)) or None


def check_view(ctx, inputs):
    """Say before anything runs that the samples cannot be used."""
    if ctx.dataset is None:  # said where the labels are chosen
        return
    try:
        kf.check_samples(ctx.target_view())
    except InputError as error:
        inputs.view("samples_problem", types.Error(label="These samples cannot be used", description=str(error)))
        refused = inputs.str("refused", required=True, view=types.HiddenView())
        refuse(refused, str(error))


def check(prop, question):
    """Mark an input as wrong if what asks about it raises."""
    try:
        question()
    except InputError as error:
        refuse(prop, str(error))


def refuse(prop, message):
    prop.invalid = True
    prop.error_message = message


def is_number(value):
    """What is typed into a field of a number need not be one."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def refuse_outside(prop, value, low, high=None):
    """FiftyOne checks the limits of a number only when the form is sent."""
    if value is not None and not (is_number(value) and value >= low and (high is None or value <= high)):
        refuse(prop, f"A number of at least {low}" if high is None else f"A number from {low} to {high}")


def say(inputs, title, text):
    """That there is nothing to fill in, and why; the form cannot be sent."""
    inputs.view("nothing", types.Error(label=title, description=text))
    refuse(inputs.str("refused", required=True, view=types.HiddenView()), text)
