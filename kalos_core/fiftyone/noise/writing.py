"""The labels of synthetic raters: made in memory, written to fields of their own with one update per sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.fiftyone.drawn import Kind
from kalos_core.fiftyone.labels import write_documents
from kalos_core.fiftyone.raters import ASSIGNED_FIELD, SYNTHETIC, derive_field_names
from kalos_core.fiftyone.runs import RunNames
from kalos_core.noise import GeneratedRaters

UNCHANGED = "unchanged"
"""The event of a label to which nothing happened."""

AT_ONCE = 500
"""Samples of one write: progress is told, and work can be stopped, in between."""


@dataclass(frozen=True, eq=False)
class SyntheticLabels:
    """The labels of R synthetic raters on their way into a data set.

    Parameters
    ----------
    fields : (R,) names
        Of the label fields, in the order of the raters.
    ids : (N,) str
        Of the labels.
    event : (N,) str
        What each comes from, of `EVENTS`, or `UNCHANGED`.
    documents : list, one for each image
        Field -> labels, as the database stores them; empty for who looked and drew nothing.
    """

    fields: tuple[str, ...]
    ids: NDArray[np.str_]
    event: NDArray[np.object_]
    documents: list[dict[str, Any]]


def field_arguments(
    run_key: str, raters: Sequence[str], kind: Kind, taken: Mapping[str, Any]
) -> tuple[tuple[str, ...], dict[str, dict[str, Any]]]:
    """A field of its own for each rater, none of them there already, and with what each path is declared."""
    names = RunNames(run_key)
    wanted = [names.of_rater(rater) for rater in raters]
    fields = tuple(derive_field_names(wanted, [*taken, ASSIGNED_FIELD]).values())
    declared: dict[str, dict[str, Any]] = {}
    for field, rater in zip(fields, raters, strict=True):
        declared[field] = {
            "ftype": fo.EmbeddedDocumentField,
            "embedded_doc_type": kind.document,
            "description": f"{rater}, a synthetic rater of the run {run_key!r}",
            "info": {SYNTHETIC: rater},
        }
        declared[f"{field}.{kind.list}.{names.event}"] = {"ftype": fo.StringField}
        declared[f"{field}.{kind.list}.{names.match}"] = {"ftype": fo.ListField, "subfield": fo.StringField}
    return fields, declared


def make_labels(run_key: str, result: GeneratedRaters, fields: tuple[str, ...], kind: Kind) -> SyntheticLabels:
    """Labels with the event each comes from and the ids of the reference labels it is of."""
    names, made = RunNames(run_key), result.annotations
    event, sources = _event_of(result), _reference_ids(result)
    documents: list[dict[str, Any]] = [
        {field: kind.document() for field, asked in zip(fields, row, strict=True) if asked}
        for row in made.assigned.tolist()
    ]
    ids = []
    shapes = kind.fields(made)
    for row, (image, rater) in enumerate(zip(made.image.tolist(), made.rater.tolist(), strict=True)):
        attributes = {names.event: event[row], names.match: sources[row]}
        label = kind.label(label=made.categories[made.category[row]], **shapes[row], **attributes)
        documents[image][fields[rater]][kind.list].append(label)
        ids.append(label.id)
    stored = [{field: labels.to_dict() for field, labels in of_image.items()} for of_image in documents]
    return SyntheticLabels(fields, np.array(ids, dtype=str), event, stored)


def _event_of(result: GeneratedRaters) -> NDArray[np.object_]:
    """(N,) the event each mark comes from: a mark is changed by one stage only."""
    found = np.full(len(result.annotations), UNCHANGED, dtype=object)
    events = result.events
    for rows in events.rows.T:
        there = rows >= 0
        found[rows[there]] = events.event[there]
    return found


def _reference_ids(result: GeneratedRaters) -> list[list[str]]:
    """(N,) ids of the original labels each mark is of."""
    ids = result.original.id.tolist()
    return [[ids[row] for row in rows if row >= 0] for rows in result.truth.tolist()]


def write_raters(view: Any, images: Sequence[str], made: SyntheticLabels, progress: Callable[[float], None]) -> None:
    """Write the labels of every image; `progress` is told the share that is written."""
    write_documents(view, images, made.documents, AT_ONCE, progress)
