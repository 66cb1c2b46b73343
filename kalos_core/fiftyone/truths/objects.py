"""The consensus of objects as labels of a data set: which raters' labels each is made of, and how many agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, agreement
from kalos_core.annotations import Annotations
from kalos_core.consensus import InstanceConsensus, instance_consensus
from kalos_core.errors import InputError
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.drawn import KINDS, Kind, choose_kind
from kalos_core.fiftyone.labels import Labels
from kalos_core.fiftyone.masks import TRUTH
from kalos_core.fiftyone.runs import RunNames
from kalos_core.pairs import Pairs
from kalos_core.pixels.sums import divide

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


def check_sizes(labels: Labels) -> None:
    """Labels are fractions of their picture, so its size has to be known."""
    unknown: NDArray[np.bool_] = np.any(np.isnan(labels.annotations.image_size), axis=1)
    if unknown.any():
        raise InputError(
            f"samples: the size of {unknown.sum():,} of {len(unknown):,} pictures is unknown; run compute_metadata() "
            "on the data set first"
        )


def kind_of(truths: ObjectTruths) -> Kind:
    """The labels that can hold them; boxes where there is none."""
    there = [found.annotations for found in truths.values() if len(found.annotations)]
    return choose_kind(there[0], "auto") if there else KINDS["detections"]


def declared_fields(run_key: str, fields: Mapping[str, str], kind: Kind) -> dict[str, dict[str, Any]]:
    """With what each path is declared. `fields`: truth -> field."""
    names = RunNames(run_key)
    declared: dict[str, dict[str, Any]] = {}
    for truth, field in fields.items():
        declared[field] = {
            "ftype": fo.EmbeddedDocumentField,
            "embedded_doc_type": kind.document,
            "description": f"Consensus of raters, {truth}, of the run {run_key!r}",
            "info": {TRUTH: run_key},
        }
        declared[f"{field}.{kind.list}.{names.match}"] = {"ftype": fo.ListField, "subfield": fo.StringField}
    return declared


def object_documents(run_key: str, truths: ObjectTruths, fields: Mapping[str, str], kind: Kind) -> list[dict[str, Any]]:
    """Field -> labels of each image, as the database stores them; none where nobody was asked.

    The confidence of a label is the share of raters who drew it, so that exporters write it as the score.
    """
    names = RunNames(run_key)
    first = next(iter(truths.values())).annotations
    documents: list[dict[str, Any]] = [{} for _ in first.images]
    for truth, field in fields.items():
        found = truths[truth]
        marks = found.annotations
        labels: list[list[Any]] = [[] for _ in first.images]
        for row, shape in enumerate(kind.fields(marks) if len(marks) else []):
            name = marks.categories[marks.category[row]]
            about = {"confidence": float(found.score[row]), names.match: found.sources(row)}
            labels[marks.image[row]].append(kind.label(label=name, **shape, **about))
        for image, (own, asked) in enumerate(zip(labels, marks.assigned[:, 0].tolist(), strict=True)):
            if asked:
                documents[image][field] = kind.document(**{kind.list: own}).to_dict()
    return documents


def object_rows(agreement: Agreement, truths: ObjectTruths) -> list[dict[str, Any]]:
    """A row for each truth as plain values, None for what is undefined.

    ``truth``, ``objects`` (how many there are), ``below quorum`` and ``tied class`` (units that became none),
    ``score`` (mean), ``sensitivity`` (R,): of the objects on the images a rater was asked about, the share they drew;
    ``ppv`` (R,): of the marks of a rater, the share that became part of an object.
    """
    marks, unit_of = agreement.annotations, agreement.unit_of
    raters = len(marks.raters)
    total = np.bincount(marks.rater, minlength=raters)
    rows = []
    for name, found in truths.items():
        is_kept = np.zeros(len(found.outcome), np.bool_)
        is_kept[found.unit] = True
        drew = np.bincount(marks.rater[is_kept[unit_of]], minlength=raters)
        asked = marks.assigned[found.annotations.image].sum(axis=0)
        counts = found.counts()
        rows.append(
            {
                "truth": name,
                "objects": counts["kept"],
                "below quorum": counts["below quorum"],
                "tied class": counts["tied class"],
                "score": plain(float(found.score.mean())) if len(found.score) else None,
                "sensitivity": plain(divide(drew, asked)),
                "ppv": plain(divide(drew, total)),
            }
        )
    return rows
