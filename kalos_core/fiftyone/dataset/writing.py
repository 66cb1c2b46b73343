"""Values of every label and sample back to where they are stored, a block of samples at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from bson import ObjectId

from kalos_core.errors import KalosError
from kalos_core.fiftyone.dataset.database import BLOCK, collection, reload_samples, write_samples
from kalos_core.fiftyone.dataset.objects import Labels

Columns = Mapping[str, Sequence[Any]]
"""Name of a field or attribute -> its values; None where there is none."""

Progress = Callable[[float], None]
"""Told the share that is written; whatever it raises ends the work."""


def write_values(
    labels: Labels, attributes: Columns, fields: Columns | None = None, progress: Progress | None = None
) -> None:
    """Write attributes of all labels, and fields of all samples, with one update per sample.

    The fields have to be declared already. FiftyOne's own setters write one attribute of one label per update, which
    for 80,000 labels takes seconds each. Every update names the ids of the labels it expects at their positions and
    does nothing where they have moved; that is an error, so nothing is written to a wrong label.

    Parameters
    ----------
    labels : Labels
    attributes : mapping of str to (N,) values
    fields : mapping of str to (I,) values, optional
    progress : callable, optional

    Raises
    ------
    KalosError
        If labels were added or removed by somebody else meanwhile.
    """
    missed = write_samples(labels.view, _updates(labels, attributes, fields or {}, progress))
    reload_samples(labels.view)
    if missed:
        raise KalosError(
            f"{missed:,} samples were changed while this run was computed; nothing of it is kept, run again"
        )


def _updates(
    labels: Labels, attributes: Columns, fields: Columns, progress: Progress | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    annotations, path_of = labels.annotations, labels.path_of.tolist()
    order = np.argsort(annotations.image, kind="stable")
    start = np.searchsorted(annotations.image[order], np.arange(len(annotations.images) + 1))
    for image, positions in enumerate(_positions(labels, progress)):
        where: dict[str, Any] = {"_id": ObjectId(annotations.images[image])}
        values = {name: column[image] for name, column in fields.items()}
        for row in order[start[image] : start[image + 1]].tolist():
            label_id = annotations.id[row]
            position = positions.get((path_of[row], label_id))
            if position is None:
                raise KalosError(f"label {label_id} is gone: the labels were changed while this run was computed")
            where[f"{position}._id"] = ObjectId(label_id)
            for name, column in attributes.items():
                values[f"{position}.{name}"] = column[row]
        if values:
            yield where, {"$set": values}


def _positions(labels: Labels, progress: Progress | None) -> Iterator[dict[tuple[int, str], str]]:
    """Of each sample: label -> the path of its position in the stored document, such as ``r1.detections.3``.

    A label is known by its path and its id: a field that was cloned has the ids of the first.
    """
    projection = {f"{path}._id": True for path in labels.paths}
    samples = collection(labels.view)
    for begin, ids in _blocks(labels.images.tolist()):
        if progress is not None:
            progress(begin / len(labels.images))
        stored = {str(found["_id"]): found for found in samples.find({"_id": {"$in": ids}}, projection)}
        for key in ids:
            yield {
                (number, str(label["_id"])): f"{path}.{position}"
                for number, path in enumerate(labels.paths)
                for position, label in enumerate(_list_at(stored.get(str(key), {}), path))
            }


def _list_at(document: Mapping[str, Any], path: str) -> Iterable[Mapping[str, Any]]:
    field, _, name = path.partition(".")
    return (document.get(field) or {}).get(name) or ()


def _blocks(ids: Sequence[str]) -> Iterator[tuple[int, list[ObjectId]]]:
    for begin in range(0, len(ids), BLOCK):
        yield begin, [ObjectId(key) for key in ids[begin : begin + BLOCK]]


def write_documents(
    samples: Any, documents: Iterable[tuple[str, Mapping[str, Any]]], count: int, progress: Progress | None = None
) -> None:
    """Write whole fields of samples, as the database stores them.

    Not by `set_values`, which sees the active slice of a grouped data set only.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
        Of the data set.
    documents : iterable of (sample id, field -> what it is to hold)
        May be made one by one: no more than a block of them is held.
    count : int
        How many there are.
    progress : callable, optional

    Raises
    ------
    KalosError
        If samples were deleted meanwhile.
    """

    def updates() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        for number, (key, fields) in enumerate(documents):
            if progress is not None and number % BLOCK == 0:
                progress(number / count)
            if fields:
                yield {"_id": ObjectId(key)}, {"$set": fields}

    missed = write_samples(samples, updates())
    reload_samples(samples)
    if missed:
        raise KalosError(f"{missed:,} samples were deleted while this run was computed; run again")
