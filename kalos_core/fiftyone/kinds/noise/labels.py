"""The labels of synthetic raters, each in a field of its rater, and what is written on those of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import fiftyone as fo
import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.dataset.encoding import LabelType
from kalos_core.fiftyone.dataset.objects import Labels
from kalos_core.fiftyone.dataset.raters import SYNTHETIC
from kalos_core.fiftyone.kinds.matched import label_schema, nested
from kalos_core.fiftyone.kinds.noise.injected import InjectedNoise
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.noise import GeneratedRaters

UNCHANGED = "unchanged"
"""The event of a label to which nothing happened."""


def declared_fields(
    names: RunNames, fields: Mapping[str, str], label_type: LabelType, reference: Labels
) -> dict[str, FieldArguments]:
    """Every path that is written, and what it is declared with. `fields`: rater -> field."""
    texts: FieldArguments = {"ftype": fo.ListField, "subfield": fo.StringField}
    lists = dict.fromkeys([names.all, names.outcomes, names.fields], texts)
    declared: dict[str, FieldArguments] = {names.changes: {"ftype": fo.IntField}, **label_schema(reference, lists)}
    for rater, field in fields.items():
        declared[field] = {
            "ftype": fo.EmbeddedDocumentField,
            "embedded_doc_type": label_type.document,
            "description": f"{rater}, a synthetic rater of the run {names.key!r}",
            "info": {SYNTHETIC: rater},
        }
        own: dict[str, FieldArguments] = {names.main: {"ftype": fo.StringField}, names.match: texts, **lists}
        declared |= {f"{field}.{label_type.list_name}.{name}": arguments for name, arguments in own.items()}
    return declared


def synthetic_labels(
    names: RunNames, result: GeneratedRaters, noise: InjectedNoise, label_type: LabelType
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Sample id -> field -> labels, a block of images at a time: see `inject_noise` for what each label carries."""
    events = _event_of(noise)

    def attributes(rows: NDArray[np.intp]) -> dict[str, Sequence[Any]]:
        lists = [
            ([str(noise.event[row])], [str(noise.outcome[row])], [str(noise.fields[noise.rater[row]])])
            if row >= 0
            else ([], [], [])
            for row in events[rows].tolist()
        ]
        happened, outcomes, fields = zip(*lists, strict=True) if lists else ((), (), ())
        return {
            "_id": [ObjectId(key) for key in noise.label_ids[rows].tolist()],
            names.main: [own[0] if own else UNCHANGED for own in happened],
            names.match: [
                [str(noise.original_ids[row]) for row in of_label if row >= 0]
                for of_label in result.truth[rows].tolist()
            ],
            names.all: happened,
            names.outcomes: outcomes,
            names.fields: fields,
        }

    fields = label_type.fields(result.annotations, noise.fields.tolist(), attributes)
    return zip(noise.images.tolist(), fields, strict=True)


def _event_of(noise: InjectedNoise) -> NDArray[np.intp]:
    """(N,) the event each label comes from, -1 for none: an annotation is changed by one stage only."""
    found = np.full(len(noise.label_ids), -1)
    for rows in noise.rows.T:
        there = np.flatnonzero(rows >= 0)
        found[rows[there]] = there
    return found


def labels_of_reference(labels: Labels, original: Any) -> Labels:
    """Those of the labels that raters are generated from. `original`: the annotations of `GeneratedRaters.original`."""
    annotations = labels.annotations
    code_of = {name: code for code, name in enumerate(annotations.raters)}
    rows = np.flatnonzero(np.isin(annotations.rater, [code_of[name] for name in original.raters]))
    paths, path_of = np.unique(labels.path_of[rows], return_inverse=True)
    return replace(
        labels,
        annotations=original,
        paths=tuple(labels.paths[path] for path in paths),
        path_of=path_of,
        confidence=labels.confidence[rows],
    )


def reference_values(names: RunNames, noise: InjectedNoise) -> dict[str, list[list[str]]]:
    """Attribute -> (M,) lists: of every event that is about a label its kind, its outcome and the rater's field."""
    count = len(noise.original_ids)
    event, column = np.nonzero(noise.origins >= 0)
    key = np.unique(noise.origins[event, column] * len(noise.event) + event)
    row, event = np.divmod(key, max(len(noise.event), 1))
    return {
        names.all: nested(row, noise.event[event].tolist(), count),
        names.outcomes: nested(row, noise.outcome[event].tolist(), count),
        names.fields: nested(row, noise.fields[noise.rater[event]].tolist(), count),
    }
