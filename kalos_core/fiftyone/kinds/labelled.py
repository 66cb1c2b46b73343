"""Image-level labels of a run: the stored and the current table, the majority on samples, and views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

import fiftyone as fo
import numpy as np
from bson import ObjectId
from fiftyone import ViewExpression
from fiftyone import ViewField as F
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.arrays import by_item
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.database import FieldArguments, label_field
from kalos_core.fiftyone.dataset.expressions import list_of, text
from kalos_core.fiftyone.dataset.image_labels import ImageLabels, known_classes, read_image_labels, table_of
from kalos_core.fiftyone.dataset.opened import rule_of
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD, ESTIMATED, IMAGE_LABELS, LabelSource, sources_of
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.kinds.columns import columns_of, made_from
from kalos_core.fiftyone.runs.arrays import as_texts
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.fiftyone.runs.table import Arrays, Changes, Run
from kalos_core.nominal import MERGED, LabelTable, RawLabels, majority_labels
from kalos_core.nominal.grouping import Groups

TABLE = "table/"
"""Prefix of the names of the arrays of a table."""

OF_LABELS = ("image_labels", "ranking")
"""Kinds of runs that read a table of image-level labels."""

TRUTH = "truth"
"""Name of the estimated labels of a run where raters are named."""


# ---- the table ----


def read_compared(view: Any, run: Run[Any, Any, Any, Any]) -> ImageLabels:
    """Read the labels of samples with the settings of a run."""
    return read_image_labels(view, run.selection, run.settings["groups"], run.settings["on_repeat"], again=True)


def table_arrays(table: LabelTable) -> dict[str, NDArray[Any]]:
    """Return the arrays that `stored_table` reads; the items are those of the run."""
    return columns_of(table, TABLE, but=("items", "account"))


def stored_table(arrays: Arrays) -> LabelTable:
    """Return the table that a run stored."""
    return made_from(LabelTable, arrays, TABLE, items=object_array(as_texts(arrays["image_ids"])))


def table_again(changes: Changes) -> LabelTable:
    """Return the current labels of a run; those of unchanged images come from the stored table."""
    stored, run = stored_table(changes.arrays), changes.run
    if not changes.all and stored.items.tolist() == changes.images:
        return stored
    fresh = RawLabels() if changes.fresh is None else cast(ImageLabels, changes.fresh).raw
    raw = stored.raw.updated(fresh, set(changes.stale), changes.images)
    known, settings = known_classes(changes.view, run.label_fields), run.settings
    return table_of(raw, changes.images, run.selection, settings["groups"], settings["on_repeat"], known)


# ---- the majority, on samples ----


def majority_schema(names: RunNames, groups: Groups) -> dict[str, FieldArguments]:
    """Declare the fields of `majority_values`: one label per image if all labels exclude each other, else several."""
    about = f"Labels that most raters chose, of the run {names.key!r}; confidence: the share of raters who did"
    document = fo.Classification if isinstance(groups, str) else fo.Classifications
    return {names.majority: label_field(document, about, {ESTIMATED: names.key}), **names.declared(names.tied)}


def majority_values(table: LabelTable, names: RunNames, groups: Groups) -> dict[str, Iterator[Any]]:
    """Return the majority labels and the tied labels of each image; None for an image without answers."""
    found, items = majority_labels(table), len(table.items)
    labels = table.concepts[found.concept]
    kept = ~found.tied
    pairs = object_array(list(zip(labels[kept].tolist(), found.share[kept].tolist(), strict=True)))
    answered = np.isin(np.arange(items), table.item).tolist()
    majority = by_item(found.item[kept], pairs, items)
    tied = by_item(found.item[found.tied], labels[found.tied], items)
    return {
        names.majority: label_documents(majority, answered, groups),
        names.tied: (of if known else None for of, known in zip(tied, answered, strict=True)),
    }


def label_documents(
    labels: Iterable[list[tuple[str, float]]], answered: Iterable[bool], groups: Groups
) -> Iterator[dict[str, Any] | None]:
    """Return the labels of each image with their confidences, as documents; None for an image without answers."""
    return (_label(of, groups) if known else None for of, known in zip(labels, answered, strict=True))


def _label(pairs: list[tuple[str, float]], groups: Groups) -> dict[str, Any] | None:
    made: list[dict[str, Any]] = [
        {"_id": ObjectId(), "_cls": "Classification", "tags": [], "label": label, "confidence": share}
        for label, share in pairs
    ]
    if isinstance(groups, str):
        return made[0] if made else None
    return {"_cls": "Classifications", "classifications": made}


def write_columns(labels: ImageLabels, columns: dict[str, Iterable[Any]], progress: Any) -> None:
    """Write fields of all samples; `columns` maps a field to its (I,) values."""
    rows = zip(labels.images.tolist(), *columns.values(), strict=True)
    documents = ((image, dict(zip(columns, values, strict=True))) for image, *values in rows)
    write_documents(labels.view, documents, len(labels.images), progress)


# ---- views ----


def view_of_difference(samples: Any, run_key: str, rater_a: str, rater_b: str) -> Any:
    """Return the samples of a run, of agreement or of a ranking, whose labels by two raters differ.

    "majority" also counts as a rater, and so does "truth" of a run that estimated who is right. Labels of raters are
    the current ones; those of "majority" and "truth" are the ones the run wrote. Tied labels are not compared.

    If all labels exclude each other, only samples with exactly one label by each of the two are compared. Of several
    answers, the first or last in the field counts, by `on_repeat`, whatever their times. Otherwise the sets of their
    labels are compared. This includes answers with none or several labels of a group, which do not count as an answer
    elsewhere.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
    rater_a, rater_b : str
        Raters of the run, its reference, "majority" or "truth".
    """
    run = load_metrics(samples, run_key, OF_LABELS)
    view = run.view
    compared = [_of_rater(run, view, name) for name in (rater_a, rater_b)]
    both = ViewExpression([labels for labels, _ in compared])
    one, other = both[0], both[1]
    if isinstance(run.settings["groups"], str):
        return view.match(both.let_in((one.length() == 1) & (other.length() == 1) & (one != other)))
    differing = one.difference(other).union(other.difference(one))
    if MERGED in {rater_a, rater_b}.difference(run.selection.raters or ()):
        differing = differing.difference(list_of(run.names.tied))
    conditions = [answered for _, answered in compared if answered is not None]
    return view.match(ViewExpression.all([*conditions, both.let_in(differing.length() > 0)]))


def _of_rater(run: Run[Any, Any, Any, Any], view: Any, name: str) -> tuple[ViewExpression, ViewExpression | None]:
    """Return the labels of a rater in a sample, and whether they answered; None if they answered everywhere."""
    selection, raters = run.selection, run.selection.raters or ()
    is_exclusive = isinstance(run.settings["groups"], str)
    merged_fields = {MERGED: run.names.majority} | ({TRUTH: run.names.truth} if estimates(run) else {})
    if name in merged_fields and name not in raters:
        field = merged_fields[name]
        merged = LabelSource(field, field if is_exclusive else f"{field}.classifications", None, None)
        return _labels(merged).map(F("label")), F(run.names.tied).exists()
    if name == selection.reference:
        selection, raters = replace(selection, raters=(name,), reference=None, assigned="labelled"), (name,)
    if name not in raters:
        raise InputError(f"raters: expected names among {listed([*raters, *merged_fields], 20)}, got {name!r}")
    sources = sources_of(view, selection, IMAGE_LABELS)
    source = sources[0] if selection.field is not None else sources[raters.index(name)]
    labels = _labels(source)
    if source.attribute is not None:
        labels = labels.filter(F(source.attribute).to_string() == text(name))
    rule = rule_of(view, selection, sources)
    answered = None
    if rule == "listed":
        answered = list_of(ASSIGNED_FIELD).contains([text(name)])
    elif rule == "labelled":
        answered = labels.length() > 0 if source.attribute is not None else F(source.field).exists()
    if selection.min_confidence > 0:
        sure = F("confidence") >= selection.min_confidence
        labels = labels.filter(F("confidence").exists(False) | sure)
    if selection.classes is not None:
        labels = labels.filter(ViewExpression.literal(list(selection.classes)).contains([F("label")]))
    if is_exclusive and source.attribute is not None:  # each of the labels is an answer
        labels = {"raise": labels, "first": labels[:1], "last": labels[-1:]}[run.settings["on_repeat"]]
    return labels.map(F("label")), answered


def _labels(source: LabelSource) -> ViewExpression:
    return list_of(source.path) if source.labels else ViewExpression([F(source.field)]).filter(F("label").exists())


ARGUMENTS = {"image_labels": "truth", "truth": "model"}
"""Kind of run -> the argument that makes it estimate who is right."""


def estimates(run: Run[Any, Any, Any, Any]) -> bool:
    """Return whether a run estimated who is right."""
    return run.kind in ARGUMENTS and run.settings[ARGUMENTS[run.kind]] is not None


def view_least_sure_first(samples: Any, run_key: str) -> Any:
    """Return the samples of a run that estimated who is right, by increasing confidence and then by id.

    The confidence of a sample is that of its least certain question, or of its least certain object, whether the
    object was accepted or not.

    Raises
    ------
    InputError
        For a run that did not estimate who is right.
    """
    run = load_metrics(samples, run_key, list(ARGUMENTS))
    if not estimates(run):
        raise InputError(
            f"run key: expected a run made with {ARGUMENTS[run.kind]}=..., got {run.key!r}, which estimated nothing"
        )
    confidence = run.names.confidence
    return run.view.exists(confidence).sort_by([(confidence, 1), ("id", 1)])
