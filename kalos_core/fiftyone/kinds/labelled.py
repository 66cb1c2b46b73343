"""Image-level labels as a run stores them and as they are now; their majority on samples; where two raters differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, cast

import fiftyone as fo
import numpy as np
from fiftyone import ViewExpression
from fiftyone import ViewField as F
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.annotations.joining import narrow
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.assignment import ASSIGNED_FIELD, Assignment
from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.dataset.expressions import list_of, text
from kalos_core.fiftyone.dataset.image_labels import ImageLabels, read_image_labels, table_of
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, sources_of
from kalos_core.fiftyone.runs.arrays import as_texts, text_array
from kalos_core.fiftyone.runs.changes import Changes, part_of
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.stored import load_metrics, load_run_view
from kalos_core.fiftyone.runs.table import Arrays, Run
from kalos_core.nominal import MERGED, OPTIONAL, LabelTable, RawLabels, merge_raters
from kalos_core.nominal.grouping import groups_from_record
from kalos_core.nominal.questions import check_two_raters
from kalos_core.reliability import NOT_ASSIGNED

TABLE = "table/"
"""What the names of the arrays of a table begin with."""

CODES = ("item", "rater", "answer", "concept")
NAMES = ("raters", "concepts", "groups")
"""Columns of a `LabelTable`."""

OF_LABELS = ("image_labels", "ranking")
"""The kinds of runs that read such a table."""

TEXTS: FieldArguments = {"ftype": fo.ListField, "subfield": fo.StringField}


# ---- the table ----


def read_compared(view: Any, run: Run[Any, Any, Any, Any]) -> ImageLabels:
    """The labels of some samples, as a run read them."""
    groups = groups_from_record(run.settings["groups"])
    return read_image_labels(view, run.selection, groups, run.settings["on_repeat"], again=True)


def check_answers(table: LabelTable) -> LabelTable:
    """Agreement needs two raters, and an image that two of them labelled."""
    has_optional = (check_two_raters(table).group_of == OPTIONAL).any()
    item = table.item if has_optional else table.item[np.unique(table.answer)]  # no label is no answer to a group
    if not (np.bincount(item, minlength=1) >= 2).any():
        raise InputError("raters: expected an image that two raters labelled, got none")
    return table


def table_arrays(table: LabelTable) -> dict[str, NDArray[Any]]:
    """What `stored_table` reads back; its items are those of the run."""
    return {
        **{f"{TABLE}{name}": narrow(getattr(table, name)) for name in CODES},
        **{f"{TABLE}{name}": text_array(getattr(table, name)) for name in NAMES},
        f"{TABLE}group_of": table.group_of,
        f"{TABLE}time": table.time,
    }


def stored_table(arrays: Arrays) -> LabelTable:
    """The table a run stored."""
    columns = part_of(arrays, TABLE)
    columns |= {name: object_array(as_texts(columns[name])) for name in NAMES}
    return LabelTable(items=object_array(as_texts(arrays["image_ids"])), **columns)


def table_again(changes: Changes) -> LabelTable:
    """The labels of a run as they are now: those of unchanged images as it stored them."""
    stored = stored_table(changes.arrays)
    if not changes.all and stored.items.tolist() == changes.images:
        return stored
    stale = set(changes.stale)
    answers: dict[str, list[tuple[Any, ...]]] = {image: [] for image in changes.images}
    fresh = None if changes.fresh is None else cast(ImageLabels, changes.fresh).raw
    for part, are_stale in ((_records(stored), False), (fresh or RawLabels(), True)):
        for answer in zip(part.item, part.rater, part.label, part.time, strict=True):
            if answer[0] in answers and (answer[0] in stale) is are_stale:
                answers[answer[0]].append(answer)
    columns = zip(*(answer for of_image in answers.values() for answer in of_image), strict=True)
    raw, settings = RawLabels(*map(list, columns)), changes.run.settings
    groups = groups_from_record(settings["groups"])
    return table_of(raw, changes.images, changes.run.selection, groups, settings["on_repeat"])


def _records(table: LabelTable) -> RawLabels:
    """The answers of a table, one record each."""
    labels: list[list[str]] = [[] for _ in range(len(table))]
    for answer, name in zip(table.answer.tolist(), table.concepts[table.concept].tolist(), strict=True):
        labels[answer].append(name)
    times = [time if time == time else None for time in table.time.tolist()]
    return RawLabels(table.items[table.item].tolist(), table.raters[table.rater].tolist(), labels, times)


# ---- the majority, on samples ----


def by_item(item: NDArray[np.intp], names: NDArray[Any], items: int) -> Iterator[list[str]]:
    """Of each item its names, in their order. `item`: the item of each name.

    Examples
    --------
    >>> list(by_item(np.array([2, 0, 2]), np.array(["a", "b", "c"]), 3))
    [['b'], [], ['a', 'c']]
    """
    order = np.argsort(item, kind="stable")
    ends = np.searchsorted(item[order], np.arange(items + 1)).tolist()
    return (names[order[begin:end]].tolist() for begin, end in pairwise(ends))


def majority_schema(names: RunNames) -> dict[str, FieldArguments]:
    """The fields of `majority_values`."""
    return {names.majority: TEXTS, names.tied: TEXTS}


def majority_values(table: LabelTable, names: RunNames) -> dict[str, Iterator[list[str] | None]]:
    """Of each image the labels that most chose, and those of which that is open; None where nobody answered.

    Open is an optional label that as many chose as did not, and in a group without one winner whatever somebody chose.
    """
    merged, items = merge_raters(table), len(table.items)
    open_labels = np.column_stack([merged.item[merged.unanswered[:, 0]], merged.unanswered[:, 1]])
    open_labels = open_labels[table.group_of[open_labels[:, 1]] == OPTIONAL]
    chosen = np.column_stack([table.item[table.answer], table.concept])
    for group, name in enumerate(table.groups.tolist()):
        of_group = chosen[table.group_of[chosen[:, 1]] == group]
        is_open = merged.values(name)[:, 0] == NOT_ASSIGNED
        open_labels = np.concatenate([open_labels, of_group[is_open[of_group[:, 0]]]])
    item, concept = np.unique(open_labels, axis=0).T
    answered = np.isin(np.arange(items), table.item).tolist()
    majority = by_item(merged.item[merged.answer], table.concepts[merged.concept], items)
    tied = by_item(item, table.concepts[concept], items)
    return {
        names.majority: (labels if known else None for labels, known in zip(majority, answered, strict=True)),
        names.tied: (labels if known else None for labels, known in zip(tied, answered, strict=True)),
    }


def documents(
    images: NDArray[np.object_], columns: Mapping[str, Iterable[Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each image what is written on its sample: field -> value. `columns`: field -> (I,) values."""
    for image, *values in zip(images.tolist(), *columns.values(), strict=True):
        yield image, dict(zip(columns, values, strict=True))


# ---- views ----


def view_of_difference(samples: Any, run_key: str, rater_a: str, rater_b: str) -> Any:
    """Samples of a run, of agreement or of a ranking, whose labels by two raters differ; "majority" is one, too.

    The raters' labels are those of today, the majority that of the run, which a label it left open is not compared
    with. Where all labels exclude each other, only samples count to which both gave exactly one (or several answers, of
    which the first or last in the field counts, by `on_repeat` and whatever their times). Otherwise the sets of their
    labels are compared, also where an answer has none or several labels of a group, which elsewhere is no answer to it.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
    rater_a, rater_b : str
        Raters of the run, or "majority".
    """
    run = load_metrics(samples, run_key)
    if run.kind not in OF_LABELS:
        raise InputError(f"run key: expected a run on image-level labels, got {run_key!r} of kind {run.kind!r}")
    view = load_run_view(samples, run_key)
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
    """The labels of a rater in a sample, and whether they answered there; None for everywhere."""
    selection, raters = run.selection, run.selection.raters or ()
    if name == MERGED and name not in raters:
        return list_of(run.names.majority), F(run.names.majority).exists()
    if name not in raters:
        raise InputError(f"raters: expected names among {listed([*raters, MERGED], 20)}, got {name!r}")
    sources = sources_of(view, selection, IMAGE_LABELS)
    source = sources[0] if selection.field is not None else sources[raters.index(name)]
    labels = list_of(source.path) if source.labels else ViewExpression([F(source.field)]).filter(F("label").exists())
    if source.attribute is not None:
        labels = labels.filter(F(source.attribute).to_string() == text(name))
    rule = Assignment.of(view, selection, sources).rule
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
    if isinstance(run.settings["groups"], str) and source.attribute is not None:  # each of the labels is an answer
        labels = {"raise": labels, "first": labels[:1], "last": labels[-1:]}[run.settings["on_repeat"]]
    return labels.map(F("label")), answered
