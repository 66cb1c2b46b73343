"""Consensus of objects as labels of a data set, with their source labels and their support."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kalos_core._agreement import Agreement, agreement
from kalos_core.annotations import Annotations
from kalos_core.arrays import by_item
from kalos_core.consensus import InstanceConsensus, UnitTruth, instance_consensus, unit_truth
from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.dataset.encoding import LABEL_TYPES, Document, LabelType, Rows, choose_label_type
from kalos_core.fiftyone.dataset.raters import ESTIMATED
from kalos_core.fiftyone.kinds.truth.settings import ConsensusRunSettings
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.pairs import Pairs

ObjectTruths = dict[str, InstanceConsensus]
"""Name of a quorum, such as ``"quorum 0.5"`` or ``"confusion 0.5"`` -> the consensus."""


def match_objects(annotations: Annotations, settings: ConsensusRunSettings, pairs: Pairs | None = None) -> Agreement:
    """Match raters on objects with the settings of a run."""
    how = {name: getattr(settings, name) for name in ("similarity", "threshold", "solver", "cost")}
    return agreement(annotations, **how, bootstrap=0, pairs=pairs)


def consensus_of(matched: Agreement, settings: ConsensusRunSettings) -> ObjectTruths:
    """Return name -> consensus for each quorum of the settings, by votes or by a model of who is right."""
    truth = None if settings.model is None else unit_truth(matched, model=settings.model)
    return {
        f"{settings.model or 'quorum'} {quorum:g}": instance_consensus(
            matched, quorum, settings.ties, settings.region, truth=truth
        )
        for quorum in np.atleast_1d(settings.quorum).tolist()
    }


def type_of(truths: ObjectTruths) -> LabelType:
    """Return the label type for the consensus; detections if there is no object."""
    there = [found.annotations for found in truths.values() if len(found.annotations)]
    return choose_label_type(there[0], "auto") if there else LABEL_TYPES["detections"]


def declared_fields(
    run_key: str, fields: Mapping[str, str], kind: LabelType, model: str | None
) -> dict[str, FieldArguments]:
    """Return path -> declaration; `fields` maps an estimate to its field."""
    names = RunNames(run_key)
    own, declared = names.declared(names.match), dict[str, FieldArguments]()
    if model is not None:
        own |= names.declared(names.existence, names.against)
        declared = names.declared(names.confidence, names.left_out)
    for truth, field in fields.items():
        about = f"Consensus of raters, {truth}, of the run {run_key!r}"
        declared |= kind.declared(field, about, {ESTIMATED: run_key}, own)
    return declared


def object_documents(
    run_key: str, truths: ObjectTruths, fields: Mapping[str, str], kind: LabelType
) -> Iterator[tuple[str, dict[str, Document]]]:
    """Iterate over sample ids with field -> labels; an image without assigned raters has no field.

    The confidence of a label is the share of raters who annotated it, so that exporters write it as the score. If the
    run estimated who is right, the confidence is the probability of the label. Attributes then hold the probability of
    an object of any class, and the raters who disagree. Sample fields hold the confidence of the least certain unit,
    and the labels that are part of no object at any quorum.
    """
    names = RunNames(run_key)

    def documents(truth: str) -> Iterator[dict[str, Document]]:
        found = truths[truth]
        existence = None if found.truth is None else found.truth.existence

        def attributes(rows: Rows) -> dict[str, list[Any]]:
            numbers = rows.tolist()
            own = {"confidence": found.score[rows].tolist(), names.match: list(map(found.sources, numbers))}
            if existence is None:
                return own
            exists = existence[found.unit[rows]].tolist()
            return own | {names.existence: exists, names.against: list(map(found.against, numbers))}

        return kind.fields(found.annotations, [fields[truth]], attributes)

    first = next(iter(truths.values()))
    images = first.annotations.images
    own = [{}] * len(images) if first.truth is None else _of_images(first.truth, list(truths.values()), names)
    for image, about, *parts in zip(images, own, *map(documents, fields), strict=True):
        yield image, {**about, **{field: document for part in parts for field, document in part.items()}}


def _of_images(truth: UnitTruth, found: list[InstanceConsensus], names: RunNames) -> list[Document]:
    """Return the sample fields of each image; `found` holds a consensus for each quorum."""
    source = found[0].source
    none = ~np.any([each.is_part for each in found], axis=0)
    left_out = by_item(source.image[none], source.id[none], len(source.images))
    sure = _least_sure(truth, names.confidence)
    return [{**least, names.left_out: ids} for least, ids in zip(sure, left_out, strict=True)]


def _least_sure(truth: UnitTruth, field: str) -> list[dict[str, float]]:
    """Return the field with the smallest confidence of a unit, for each image; no field without a unit."""
    least = np.full(len(truth.images), np.inf)
    np.minimum.at(least, truth.units.image, truth.estimate.confidence)
    return [{field: value} if value < np.inf else {} for value in least.tolist()]
