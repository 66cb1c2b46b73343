"""The consensus of objects as labels of a data set: which raters' labels each is made of, and how many agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import fiftyone as fo

from kalos_core._agreement import Agreement, agreement
from kalos_core.annotations import Annotations
from kalos_core.consensus import InstanceConsensus, instance_consensus
from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.dataset.encoding import LABEL_TYPES, Document, LabelType, Rows, choose_label_type
from kalos_core.fiftyone.dataset.raters import ESTIMATED
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.pairs import Pairs

ObjectTruths = dict[str, InstanceConsensus]
"""Name of a quorum, such as ``"quorum 0.5"`` -> the consensus."""


def quorum_names(quorum: float | Sequence[float]) -> dict[str, float]:
    """What each truth is called.

    Examples
    --------
    >>> quorum_names([0.5, 1])
    {'quorum 0.5': 0.5, 'quorum 1': 1.0}
    """
    values = [quorum] if isinstance(quorum, (int, float)) else list(quorum)
    if not values:
        raise InputError("quorum: expected at least one share of raters, got none")
    return {f"quorum {value:g}": float(value) for value in values}


def match_objects(annotations: Annotations, settings: Mapping[str, Any], pairs: Pairs | None = None) -> Agreement:
    """Raters matched on objects as the settings of a run say."""
    how = {name: settings[name] for name in ("similarity", "threshold", "solver", "cost")}
    return agreement(annotations, **how, bootstrap=0, pairs=pairs)


def consensus_of(matched: Agreement, settings: Mapping[str, Any]) -> ObjectTruths:
    """The consensus at every quorum of the settings."""
    return {
        name: instance_consensus(matched, quorum, settings["ties"], settings["region"])
        for name, quorum in quorum_names(settings["quorum"]).items()
    }


def type_of(truths: ObjectTruths) -> LabelType:
    """The labels that can hold them; boxes where there is none."""
    there = [found.annotations for found in truths.values() if len(found.annotations)]
    return choose_label_type(there[0], "auto") if there else LABEL_TYPES["detections"]


def declared_fields(run_key: str, fields: Mapping[str, str], kind: LabelType) -> dict[str, FieldArguments]:
    """With what each path is declared. `fields`: truth -> field."""
    match: dict[str, FieldArguments] = {RunNames(run_key).match: {"ftype": fo.ListField, "subfield": fo.StringField}}
    declared: dict[str, FieldArguments] = {}
    for truth, field in fields.items():
        about = f"Consensus of raters, {truth}, of the run {run_key!r}"
        declared |= kind.declared(field, about, {ESTIMATED: run_key}, match)
    return declared


def object_documents(
    run_key: str, truths: ObjectTruths, fields: Mapping[str, str], kind: LabelType
) -> Iterator[tuple[str, dict[str, Document]]]:
    """Sample id and field -> labels, of each image; no field where nobody is assigned.

    The confidence of a label is the share of raters who annotated it, so that exporters write it as the score.
    """
    match = RunNames(run_key).match

    def documents(truth: str) -> Iterator[dict[str, Document]]:
        found = truths[truth]

        def attributes(rows: Rows) -> dict[str, list[Any]]:
            return {"confidence": found.score[rows].tolist(), match: [found.sources(row) for row in rows.tolist()]}

        return kind.fields(found.annotations, [fields[truth]], attributes)

    images = next(iter(truths.values())).annotations.images
    for image, *parts in zip(images, *map(documents, fields), strict=True):
        yield image, {field: document for part in parts for field, document in part.items()}
