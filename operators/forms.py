"""Shared inputs of forms: run keys, raters, reference, classes, smallest size, confidence, and similarity."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Sized
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES, InputError
from kalos_core.display import alpha_text
from kalos_core.fiftyone.dataset import opened
from kalos_core.fiftyone.dataset.found import RATER_ATTRIBUTES
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD, class_names, estimated_fields, synthetic_fields
from kalos_core.fiftyone.dataset.samples import check_samples
from kalos_core.fiftyone.kinds.agreement.attributes import attributes_to_compare
from kalos_core.fiftyone.kinds.calibration.kind import default_threshold
from kalos_core.fiftyone.runs.keys import check_run_key, free_run_key

from . import widgets
from .widgets import Context

BY_FIELD, BY_ATTRIBUTE = "one field per rater", "one field with a rater attribute"
NOBODY = "nobody"

RATERS_IN_FIELD = "raters_in_field"
"""Name of the input for raters of one field; the App keeps the choice of the input for one field per rater."""

OF_SIMILARITY = "threshold_of_"
"""Beginning of the name of the threshold of a similarity."""

INPUTS: dict[str, Any] = {"storage": str, RATERS_IN_FIELD: Sequence[str], OF_SIMILARITY: float}
"""Inputs that are no arguments of a function, or beginnings of their names -> their types."""

READ = {entry.name: entry for entry in kf.Selection.declared()}
"""Options that select the labels to read."""

# ---- runs ----


def add_run_key(ctx: Context, inputs: types.Object, base: str) -> None:
    """Add a run key, which is checked while it is typed."""
    add_key(ctx, inputs, "run_key", free_run_key(ctx.dataset, base), check_run_key)


def add_key(
    ctx: Context,
    inputs: types.Object,
    name: str,
    suggestion: str,
    check: Callable[[Any, str], None],
    label: str = "Run key",
    description: str = "Names everything this run writes, so that it can be deleted again",
) -> None:
    """Add a key, which is checked by `check` while it is typed."""
    key = inputs.str(name, default=suggestion, label=label, description=description)
    widgets.check(key, lambda: check(ctx.dataset, ctx.params.get(name, suggestion)))


def add_run(
    ctx: Context, inputs: types.Object, keys: Sequence[str], noun: str, name: str = "run_key", **options: Any
) -> str | None:
    """Add a drop-down of runs with the first as default, and return the chosen key, or None without a run."""
    if not keys:
        inputs.view("none", types.Notice(label=f"There is no {noun} yet"))
        inputs.str(name, required=True, view=types.HiddenView()).invalid = True
        return None
    chosen: str = ctx.params.get(name) or keys[0]
    run = widgets.add_dropdown(inputs, name, keys, default=keys[0], label=noun.capitalize(), **options)
    if chosen not in keys:
        widgets.refuse(run, f"There is no {noun} {chosen!r} any more")
        return None
    return chosen


# ---- which labels ----


def add_selection(ctx: Context, inputs: types.Object) -> bool:
    """Add raters, reference, classes, smallest size and confidence; return False if there is nothing to analyse."""
    if not has_labels(ctx, inputs):
        return False
    offered, usual, property_name = _add_source(ctx, inputs)
    add_raters(ctx, inputs, property_name, offered, usual)
    add_reference(ctx, inputs, property_name, offered, usual)
    add_assignment(ctx, inputs)
    if widgets.is_on(ctx, inputs, "more", label="Choose classes, sizes and confidence"):
        widgets.add_list(
            inputs, "classes", class_names(ctx.dataset), label="Classes", description="Only these; empty for all"
        )
        widgets.add_option(ctx, inputs, READ["min_area"])
        widgets.add_option(ctx, inputs, READ["min_confidence"])
    return True


def has_labels(ctx: Context, inputs: types.Object) -> bool:
    """Return whether there are labels; if not, show this in the form."""
    text = "Load labels of several raters first (Load labels of several raters)."
    return has_any(ctx, inputs, lambda: kf.label_fields(ctx.dataset), "No labels yet", text)


def has_any(ctx: Context, inputs: types.Object, there: Callable[[], Sized], title: str, text: str) -> bool:
    """Return whether an open data set has labels to read; if not, show in the form what to do."""
    if ctx.dataset is None:
        widgets.block(inputs, "No data set is open", "Open one, or load labels of several raters (Load labels).")
    elif not len(there()):
        widgets.block(inputs, title, text)
    else:
        return True
    return False


def _add_source(ctx: Context, inputs: types.Object) -> tuple[list[str], list[str], str]:
    """Add inputs for the storage of raters; return all raters, the default raters, and the name of their input."""
    fields = kf.label_fields(ctx.dataset)
    if add_storage(ctx, inputs, kf.rater_fields(ctx.dataset), fields) == BY_ATTRIBUTE:
        named = add_attribute(ctx, inputs, fields)
        return named, named, RATERS_IN_FIELD
    real, made = real_raters(ctx), synthetic_fields(ctx.dataset)
    return [*real, *made], real or list(made), "raters"


def real_raters(ctx: Context) -> list[str]:
    """Return the stored raters, or else all label fields except synthetic raters and estimated fields."""
    made = {*synthetic_fields(ctx.dataset), *estimated_fields(ctx.dataset)}
    return list(kf.rater_fields(ctx.dataset)) or [name for name in kf.label_fields(ctx.dataset) if name not in made]


def add_storage(ctx: Context, inputs: types.Object, stored: Collection[str], fields: Collection[str]) -> str:
    if stored:
        return BY_FIELD
    usual = BY_ATTRIBUTE if len(fields) == 1 else BY_FIELD
    widgets.add_radio(inputs, "storage", (BY_FIELD, BY_ATTRIBUTE), default=usual, label="Raters are stored as")
    return ctx.params.get("storage") or usual


def add_attribute(ctx: Context, inputs: types.Object, fields: Mapping[str, str]) -> list[str]:
    """Add the field and the rater attribute, and return the raters that its labels name."""
    first = next(iter(fields))
    widgets.add_dropdown(inputs, "field", fields.keys(), default=first, label="Field")
    path = fields.get(ctx.params.get("field"), fields[first])
    usual = next((name for name in RATER_ATTRIBUTES if _raters_named(ctx, path, name)), RATER_ATTRIBUTES[0])
    attribute = inputs.str("rater_attribute", default=usual, label="Attribute that names the rater")
    chosen = ctx.params.get("rater_attribute", usual)
    raters = _raters_named(ctx, path, chosen)
    if not raters:
        widgets.refuse(attribute, f"No label of {path.split('.')[0]!r} has an attribute {chosen!r}")
    return raters


def _raters_named(ctx: Context, path: str, attribute: Any) -> list[str]:
    if not isinstance(attribute, str) or not attribute.isidentifier():
        return []
    return [str(name) for name in ctx.dataset.distinct(f"{path}.{attribute}")]


def add_raters(
    ctx: Context,
    inputs: types.Object,
    property_name: str,
    offered: Sequence[str],
    usual: Sequence[str],
    resolve: Callable[[Any, kf.Selection], object] = opened.default_similarity,
) -> None:
    """Add the list of raters; `resolve` raises an error for a selection with unknown raters."""
    raters = widgets.add_list(inputs, property_name, offered, default=usual, label="Raters", description="At least two")
    selected = _selected(ctx, property_name, usual)
    unknown = [name for name in selected if name not in offered]
    if unknown and property_name == RATERS_IN_FIELD:
        widgets.refuse(raters, f"There is no rater {unknown[0]!r}")
    elif unknown:  # a call from Python may also name a stored rater by its field
        widgets.check(raters, lambda: resolve(ctx.dataset, kf.Selection(raters=tuple(selected))))
    if len(set(selected)) < 2:
        widgets.refuse(raters, "Agreement needs at least two raters")


def add_reference(
    ctx: Context,
    inputs: types.Object,
    property_name: str,
    offered: Sequence[str],
    usual: Sequence[str],
    label: str = "Reference rater",
    description: str = "A gold standard, excluded from agreement",
) -> None:
    """Add a reference, if at least two raters remain without it or if one was chosen."""
    selected, reference = set(_selected(ctx, property_name, usual)), ctx.params.get("reference") or NOBODY
    if len(offered) < 3 and reference == NOBODY:
        return
    prop = widgets.add_option(
        ctx, inputs, READ["reference"], [NOBODY, *offered], default=NOBODY, label=label, description=description
    )
    if reference != NOBODY and reference not in offered:
        widgets.refuse(prop, f"There is no rater {reference!r}")
    elif len(selected) > 1 and len(selected - {reference}) < 2:
        widgets.refuse(prop, "Without the reference, agreement needs at least two raters")


def _selected(ctx: Context, property_name: str, usual: Sequence[str]) -> Sequence[str]:
    value: Sequence[str] | None = ctx.params.get(property_name)
    return usual if value is None else value


def add_assignment(ctx: Context, inputs: types.Object) -> None:
    """Add the rule for assigned raters, if the samples do not list them."""
    if not ctx.dataset.has_field(ASSIGNED_FIELD):
        widgets.add_option(ctx, inputs, READ["assigned"], ("all", "labelled"), default="all")


def add_attributes(ctx: Context, inputs: types.Object) -> None:
    """Add the attributes of labels to compare, if labels have any."""
    offered = attributes_to_compare(ctx.dataset)
    if offered:
        about = "Values that raters gave the same object in addition to its class; numbers are compared by their order"
        widgets.add_list(inputs, "attributes", offered, default=[], label="Attributes", description=about)


def everybody(ctx: Context) -> tuple[str, ...] | None:
    """Return the default raters for one field per rater; None if raters are stored, which are found by themselves."""
    return None if kf.rater_fields(ctx.dataset) else tuple(real_raters(ctx)) or None


def read_selection(ctx: Context, usual: Callable[[Context], tuple[str, ...] | None] = everybody) -> kf.Selection:
    """Return the selection of the form, also for calls from the SDK, which fill in no defaults.

    `usual` returns the default raters for one field per rater.
    """
    params = ctx.params
    by_attribute = params.get("storage") == BY_ATTRIBUTE or (params.get("field") and params.get("storage") is None)
    raters = params.get(RATERS_IN_FIELD if params.get("storage") == BY_ATTRIBUTE else "raters")
    limits = widgets.given_if(params, "more", "classes", "min_area", "min_confidence")
    return kf.Selection(
        raters=tuple(raters) if raters else None if by_attribute else usual(ctx),
        field=params.get("field") if by_attribute else None,
        rater_attribute=params.get("rater_attribute") or RATER_ATTRIBUTES[0],
        reference=read_reference(params),
        classes=tuple(limits["classes"]) if limits.get("classes") else None,
        min_area=limits.get("min_area", 0.0),
        min_confidence=limits.get("min_confidence", 0.0),
        assigned=params.get("assigned") or "auto",
    )


def read_reference(params: Mapping[str, Any]) -> str | None:
    reference: str | None = params.get("reference")
    return None if reference in (None, "", NOBODY) else reference


def selected_fields(selection: kf.Selection, stored: Mapping[str, str]) -> set[str]:
    """Return the label fields of the selected raters and of the reference."""
    if selection.field is not None:
        return {selection.field}
    names: Iterable[str] = selection.raters or stored
    return {stored.get(name, name) for name in [*names, *filter(None, [selection.reference])]}


def check_view(ctx: Context, inputs: types.Object) -> None:
    """Show an error in the form if the samples cannot be used."""
    if ctx.dataset is None:  # shown where the labels are selected
        return
    try:
        check_samples(ctx.target_view())
    except InputError as error:
        widgets.block(inputs, "These samples cannot be used", str(error), name="samples_problem")


# ---- reference of synthetic raters ----


def add_original(ctx: Context, inputs: types.Object) -> list[str]:
    """Add the reference of synthetic raters, and return all real raters, or the synthetic ones without any."""
    offered, usual, _ = _add_source(ctx, inputs)
    first = next(iter(usual or offered), None)
    chosen = ctx.params.get("reference") or first
    accepted = [chosen] if chosen is not None and chosen not in offered else []
    prop = widgets.add_dropdown(
        inputs,
        "reference",
        offered,
        accepted=accepted,
        default=first,
        label="Reference",
        description="Synthetic raters start from its labels, which are the ground truth and are never changed",
    )
    if chosen not in offered and chosen not in kf.label_fields(ctx.dataset):
        widgets.refuse(prop, f"There is no rater {chosen!r}")
    return usual


def original(ctx: Context) -> str:
    """Return the reference of synthetic raters, also for calls from the SDK, which fill in no defaults."""
    return ctx.params.get("reference") or next(iter(real_raters(ctx)), "")


# ---- similarity and threshold ----


def fitting_similarities(ctx: Context) -> list[str]:
    """Return the names of the similarities that fit the selected labels, the default first."""
    try:
        return list(opened.fitting_similarities(ctx.dataset, read_selection(ctx)))
    except InputError:  # shown next to the input that is wrong
        return ["box_iou"]


def add_similarity(ctx: Context, inputs: types.Object) -> str:
    """Add the similarity and its threshold, and return the similarity."""
    fitting = fitting_similarities(ctx)
    similarity = add_similarity_field(ctx, inputs, fitting)
    calibrated = default_threshold(ctx.dataset, similarity)
    help_text = "Smallest similarity, from 0 to 1, at which two annotations may be the same object"
    if calibrated is not None:  # a threshold chosen from a calibration is the default
        run = _calibration_of(ctx, similarity, calibrated)
        help_text += f". Calibrated for {similarity}: {alpha_text(calibrated)} ({run})"
    add_threshold_field(ctx, inputs, similarity, fitting[0], calibrated, help_text)
    return similarity


def add_similarity_field(ctx: Context, inputs: types.Object, fitting: Sequence[str]) -> str:
    """Add the similarity, and return the chosen one."""
    chosen: str = ctx.params.get("similarity") or fitting[0]
    known = chosen in SIMILARITIES and chosen not in fitting  # chosen for other labels: refused next to the input
    similarity = widgets.add_dropdown(
        inputs,
        "similarity",
        {name: SIMILARITIES[name].label for name in fitting},
        descriptions={name: SIMILARITIES[name].help for name in fitting if SIMILARITIES[name].help},
        accepted=[chosen] if known else [],
        default=fitting[0],
        label="Similarity",
    )
    if chosen not in fitting:
        text = f"Not every label can be compared by {chosen}; choose one of {', '.join(fitting)}"
        widgets.refuse(similarity, text)
    return chosen


THRESHOLD = "Threshold τ_s"
"""Label of a threshold, as in the papers: τ_s is a similarity, τ a distance."""


def add_threshold_field(
    ctx: Context, inputs: types.Object, similarity: str, first: str, value: float | None, help_text: str
) -> None:
    """Add the threshold of a similarity; each one has its own input, because the App keeps the value of an input.

    `first` is the default similarity; its input has the same name as in calls from the SDK.
    """
    name = "threshold" if similarity == first else _threshold_field(similarity)
    default = 0.5 if value is None else shown_threshold(value)
    widgets.add_number(ctx, inputs, name, 0.0, 1.0, default=default, label=THRESHOLD, description=help_text)


def shown_threshold(value: float | None) -> float | None:
    """Round a threshold for display in a form."""
    return None if value is None else round(value, 3)


def threshold_of(params: Mapping[str, Any], similarity: str | None) -> float | None:
    """Return the threshold for a similarity from the form or from a call from the SDK; None without one."""
    own: float | None = params.get(_threshold_field(similarity)) if similarity else None
    return params.get("threshold") if own is None else own


def _threshold_field(similarity: str) -> str:
    return f"{OF_SIMILARITY}{similarity}"


def read_threshold(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the threshold of the chosen similarity, if it is set."""
    return widgets.given({"threshold": threshold_of(params, params.get("similarity"))}, "threshold")


def _calibration_of(ctx: Context, similarity: str, threshold: float) -> str:
    """Return the name of the run that a default threshold comes from."""
    runs = kf.list_runs(ctx.dataset, "calibration", info=True)
    chosen = {run.key: run.metrics["chosen"].get(similarity, {}).get("threshold") for run in runs}
    return next(f"run {key}" for key, value in chosen.items() if value == threshold)
