"""Values of every label back to where it is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import fiftyone as fo
import fiftyone.core.odm as foo
from bson import ObjectId
from pymongo import UpdateOne

from kalos_core.errors import KalosError
from kalos_core.fiftyone.labels.reading import Labels
from kalos_core.fiftyone.labels.samples import every_sample


@dataclass(frozen=True)
class LabelAttribute:
    """Values for every annotation, to be written under one attribute name; None where there is none."""

    name: str
    values: Sequence[Any]


def write_values(
    labels: Labels,
    attributes: Sequence[LabelAttribute],
    sample_field: str | None = None,
    sample_values: Sequence[Any] | None = None,
) -> None:
    """Write attributes of all labels, and a field of all samples, with one update per sample.

    The fields have to be declared already. FiftyOne's own setters write one attribute of one label per update, which
    for 80,000 labels takes seconds each. Every update names the ids of the labels it expects at their places and does
    nothing where they have moved; that is an error, so nothing is written to a wrong label.

    Raises
    ------
    KalosError
        If labels were added or removed by somebody else meanwhile.
    """
    annotations = labels.annotations
    now = _now()
    conditions: list[dict[str, Any]] = [{"_id": ObjectId(sample)} for sample in annotations.images]
    values: list[dict[str, Any]] = [{"last_modified_at": now} for _ in annotations.images]
    if sample_field is not None and sample_values is not None:
        for update, value in zip(values, sample_values, strict=True):
            update[sample_field] = value
    places = _places(labels)
    columns = [(f".{attribute.name}", attribute.values) for attribute in attributes]
    for row, (image, label_id) in enumerate(zip(annotations.image.tolist(), annotations.id, strict=True)):
        place = places.get(label_id)
        if place is None:
            raise KalosError(f"label {label_id} is gone: the labels were changed while this run was computed")
        conditions[image][f"{place}._id"] = ObjectId(label_id)
        for suffix, column in columns:
            values[image][place + suffix] = column[row]
    updates = [UpdateOne(where, {"$set": new}) for where, new in zip(conditions, values, strict=True)]
    dataset = labels.view._root_dataset
    # as `Dataset._bulk_write` does, which does not say how many updates found their sample
    results = foo.bulk_write(updates, dataset._sample_collection)
    fo.Sample._reload_docs(dataset._sample_collection_name, sample_ids=list(annotations.images))
    missed = len(updates) - sum(result.matched_count for result in results)
    if missed:
        raise KalosError(
            f"{missed:,} samples were changed while this run was computed; nothing of it is kept, run again"
        )


def write_documents(
    view: Any,
    images: Sequence[str],
    documents: Sequence[Mapping[str, Any]],
    at_once: int = 500,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write whole fields of samples, as the database stores them.

    Not by `set_values`, which sees the active slice of a grouped data set only.

    Parameters
    ----------
    view : fiftyone.core.collections.SampleCollection
        Of the data set.
    images : (I,) str
        Ids of samples.
    documents : (I,) mapping
        Field -> what it is to hold.
    at_once : int
        Samples of one write: progress is told, and work can be stopped, in between.
    progress : callable, optional
        Told the share that is written.

    Raises
    ------
    KalosError
        If samples were deleted meanwhile.
    """
    dataset, now = view._root_dataset, _now()
    updates = [
        UpdateOne({"_id": ObjectId(image)}, {"$set": {**fields, "last_modified_at": now}})
        for image, fields in zip(images, documents, strict=True)
    ]
    written = 0
    for begin in range(0, len(updates), at_once):
        if progress is not None:
            progress(begin / len(updates))
        results = foo.bulk_write(updates[begin : begin + at_once], dataset._sample_collection)
        written += sum(result.matched_count for result in results)
    fo.Sample._reload_docs(dataset._sample_collection_name, sample_ids=list(images))
    if written < len(updates):
        raise KalosError(f"{len(updates) - written:,} samples were deleted while this run was computed; run again")


def _now() -> datetime:
    """The time in milliseconds, as the database keeps it."""
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def _places(labels: Labels) -> dict[str, str]:
    """Label id -> path of its place in the stored document, such as ``r1.detections.3``."""
    ids = list(labels.annotations.images)
    stored = every_sample(labels.view).select(ids).values([f"{path}.id" for path in labels.paths])
    return {
        label_id: f"{path}.{place}"
        for path, per_sample in zip(labels.paths, stored, strict=True)
        for label_ids in per_sample
        for place, label_id in enumerate(label_ids or ())
    }
