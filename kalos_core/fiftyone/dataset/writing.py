"""Writing of values to labels and samples in the database, a block of samples at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import bson
import numpy as np
from bson import ObjectId
from numpy.typing import NDArray
from pymongo import UpdateOne
from pymongo.errors import BulkWriteError, DocumentTooLarge, OperationFailure

from kalos_core.arrays import run_starts, uncollected
from kalos_core.display import number_of
from kalos_core.errors import InputError, KalosError
from kalos_core.fiftyone.dataset.database import (
    BLOCK,
    collection,
    reload_samples,
)
from kalos_core.fiftyone.dataset.objects import Labels

Columns = Mapping[str, Sequence[Any]]
"""Name of a field or attribute -> its values; None for no value."""

Values = Callable[[NDArray[np.intp]], Columns]
"""Function that returns the values to write to some labels (rows of a table) or samples (consecutive image codes)."""

Progress = Callable[[float], None]
"""Called with the fraction written; an exception that it raises ends the work."""


def picked(columns: Mapping[str, NDArray[Any]]) -> Values:
    """Return a function that picks values from arrays with one entry per label or sample.

    Examples
    --------
    >>> picked({"alpha": np.array([0.5, np.nan, 1.0])})(np.array([1, 2]))
    {'alpha': [None, 1.0]}
    """
    return lambda chosen: {name: or_none(column[chosen]) for name, column in columns.items()}


NOTHING = picked({})
"""No values."""


def names_in(values: Values) -> list[str]:
    """Return the names of the fields or attributes that are written."""
    return list(values(np.zeros(0, np.intp)))


def write_values(
    labels: Labels, attributes: Values, fields: Values = NOTHING, progress: Progress | None = None
) -> None:
    """Write attributes of all labels, and fields of all samples, with one update per sample.

    The fields must already be declared. FiftyOne's own setters write one attribute of one label per update, which takes
    seconds per attribute for 80,000 labels. Every update requires the expected label ids at their positions and does
    nothing if they have moved. This raises an error, so values are never written to a wrong label.

    Parameters
    ----------
    labels : Labels
    attributes, fields : callable
        Called for the values of one block of labels and samples at a time, to limit memory.
    progress : callable, optional

    Raises
    ------
    InputError
        If a sample would become too large; nothing is written then.
    KalosError
        If another user added or removed labels meanwhile.
    """
    stored = collection(labels.view)
    check_room(stored, _needed(labels, attributes, fields))
    with uncollected():
        missed = write_samples(stored, _updates(labels, stored, attributes, fields, progress))
    reload_samples(labels.view)
    if missed:
        were = number_of(missed, "sample was", "samples were")
        raise KalosError(f"{were} changed while this run was computed; its results were discarded, run it again")


Update = tuple[dict[str, Any], Any]
"""Filter and update of a MongoDB operation."""


def write_samples(stored: Any, updates: Iterable[Update]) -> int:
    """Execute updates in blocks, and return the number of updates that did not match their sample.

    Parameters
    ----------
    stored : pymongo.collection.Collection
        Collection of the samples, see `collection`.
    updates : iterable of (condition, update)
        The condition contains the ``_id``.
    """
    missed, waiting = 0, iter(updates)
    while block := [UpdateOne(where, change) for where, change in islice(waiting, BLOCK)]:
        missed += len(block) - stored.bulk_write(block, ordered=False).matched_count
    return missed


def _needed(labels: Labels, attributes: Values, fields: Values) -> Iterator[tuple[str, str, int]]:
    """Yield the file, id and number of bytes to write for each sample with many labels."""
    by_image, table = labels.by_image, labels.annotations
    for image in np.flatnonzero(np.diff(by_image.start) > MANY).tolist():
        of_sample = {name: column[0] for name, column in fields(np.array([image])).items()}
        rows = by_image.rows(image, image + 1)
        added = bytes_of(of_sample) + sum(map(bytes_of, _documents(attributes(rows), len(rows))))
        yield str(table.files[image]), str(labels.images[image]), added


def _updates(
    labels: Labels, stored: Any, attributes: Values, fields: Values, progress: Progress | None
) -> Iterator[Update]:
    by_image, count = labels.by_image, len(labels.images)
    for begin in range(0, count, BLOCK):
        if progress is not None:
            progress(begin / count)
        end = min(begin + BLOCK, count)
        images, rows = np.arange(begin, end), by_image.rows(begin, end)
        of_samples, of_labels = fields(images), _documents(attributes(rows), len(rows))
        paths, ids = labels.path_of[rows].tolist(), labels.annotations.id[rows].tolist()
        ends = (by_image.start[begin : end + 1] - by_image.start[begin]).tolist()
        for place, (key, lists) in enumerate(_stored_ids(stored, labels.images[images], labels.paths)):
            own = range(ends[place], ends[place + 1])
            given = {(paths[row], ids[row]): of_labels[row] for row in own}
            _check_there(given, lists)
            values = {name: column[place] for name, column in of_samples.items()}
            write = _at_positions if len(given) <= MANY else _whole_lists
            yield from write(labels.paths, key, lists, given, values)


def _documents(columns: Columns, count: int) -> list[dict[str, Any]]:
    names = list(columns)
    rows = zip(*columns.values(), strict=True) if names else [()] * count
    return [dict(zip(names, row, strict=True)) for row in rows]


Given = Mapping[tuple[int, str], Mapping[str, Any]]
"""(index of a path, id of a label in its list) -> values to write.

A label is identified by its path and id, as a cloned field has the ids of the original.
"""


def _check_there(given: Given, lists: Sequence[Sequence[str]]) -> None:
    there = {(number, key) for number, keys in enumerate(lists) for key in keys}
    for number, key in given:
        if (number, key) not in there:
            raise KalosError(f"label {key} was deleted while this run was computed; run it again")


def _at_positions(
    paths: Sequence[str],
    sample: ObjectId,
    lists: Sequence[Sequence[str]],
    given: Given,
    values: Mapping[str, Any],
) -> Iterator[Update]:
    """Yield one update that names the position of every label; the database searches each list from the start."""
    where, change = {"_id": sample}, dict(values)
    for number, path in enumerate(paths):
        for position, key in enumerate(lists[number]):
            if (number, key) in given:
                label = f"{path}.{position}."
                where[label + "_id"] = ObjectId(key)
                for name, value in given[number, key].items():
                    change[label + name] = value
    if change:
        yield where, {"$set": change}


def _whole_lists(
    paths: Sequence[str],
    sample: ObjectId,
    lists: Sequence[Sequence[str]],
    given: Given,
    values: Mapping[str, Any],
) -> Iterator[Update]:
    """Yield one update per list, which traverses it once; for many labels, where positions would be far too slow."""
    for number, (path, keys) in enumerate(zip(paths, lists, strict=True)):
        if any((number, key) in given for key in keys):
            more = {"$literal": [given.get((number, key), {}) for key in keys]}
            pairs = {"$zip": {"inputs": [f"${path}", more]}}
            joined = {"$map": {"input": pairs, "as": "pair", "in": {"$mergeObjects": "$$pair"}}}
            where = {"_id": sample, "$expr": {"$eq": [f"${path}._id", {"$literal": list(map(ObjectId, keys))}]}}
            yield where, [{"$set": {path: joined}}]
    if values:
        yield {"_id": sample}, {"$set": values}


def _stored_ids(
    stored: Any, samples: Iterable[str], paths: Sequence[str]
) -> Iterator[tuple[ObjectId, list[list[str]]]]:
    """Yield the id of each sample, and the ids of the labels at each path, as currently stored."""
    keys = list(map(ObjectId, samples))
    ids = [{"$map": {"input": f"${path}", "in": {"$toString": "$$this._id"}}} for path in paths]
    stages = [{"$match": {"_id": {"$in": keys}}}, {"$project": {"ids": ids}}]
    found = {document["_id"]: document["ids"] for document in stored.aggregate(stages)}
    for key in keys:
        yield key, [there or [] for there in found.get(key, [None] * len(ids))]


def write_documents(
    samples: Any, documents: Iterable[tuple[str, Mapping[str, Any]]], count: int, progress: Progress | None = None
) -> None:
    """Write whole fields of samples, in the form that the database stores.

    FiftyOne's `set_values` is not used, as it sees only the active slice of a grouped data set.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
        The data set or a view of it.
    documents : iterable of (sample id, field -> new value)
        May be a generator: only one block is held at a time.
    count : int
        Number of documents.
    progress : callable, optional

    Raises
    ------
    KalosError
        If samples were deleted meanwhile.
    """

    def updates() -> Iterator[Update]:
        for number, (key, fields) in enumerate(documents):
            if progress is not None and number % BLOCK == 0:
                progress(number / count)
            if fields:
                yield {"_id": ObjectId(key)}, {"$set": fields}

    missed = write_samples(collection(samples), updates())
    reload_samples(samples)
    if missed:
        were = number_of(missed, "sample was", "samples were")
        raise KalosError(f"{were} deleted while this run was computed; run it again")


def nested(values: NDArray[Any], count: NDArray[np.intp]) -> list[list[Any]]:
    """Split values, sorted by owner, into one list per owner; `count` is the number of values of each owner."""
    entries = or_none(values)
    return [entries[begin:end] for begin, end in pairwise(run_starts(count).tolist())]


def or_none(values: NDArray[Any]) -> list[Any]:
    """Convert values to lists, with None for NaN.

    Examples
    --------
    >>> or_none(np.array([[0.5, np.nan]])), or_none(np.empty((0, 2)))
    ([[0.5, None]], [])
    """
    found = np.where(np.isnan(values), None, values) if values.dtype.kind == "f" else values  # type: ignore[call-overload]
    return found.tolist()  # type: ignore[no-any-return]


# ---- how much a sample holds ----

MOST = 1 << 24
"""MongoDB's limit for a sample with all its labels, in bytes; it cannot be configured."""

MANY = 1000
"""Number of labels in a sample above which the size of an update is checked first."""

WAYS_OUT = (
    "this limit of MongoDB cannot be raised. Split the image into tiles, give the raters data sets of their own, or "
    "compute without FiftyOne (kalos_core, kalos-core)"
)

CODES = {10334, 17280, 17419, 17420}
"""MongoDB's error codes for documents that are too large."""


def bytes_of(document: Mapping[str, Any]) -> int:
    """Return the size of a document in the database, in bytes.

    Examples
    --------
    >>> bytes_of({}), bytes_of({"alpha": 0.5})
    (5, 20)
    """
    return len(bson.encode(document))


def check_room(stored: Any, needed: Iterable[tuple[str, str | None, int]]) -> None:
    """Refuse writes that would make a sample too large.

    Parameters
    ----------
    stored : pymongo.collection.Collection
        Collection of the samples, see `collection`.
    needed : iterable of (file, sample id or None, bytes)
        Name of each sample in messages, its id (None for a new sample), and the number of bytes to write.

    Raises
    ------
    InputError
    """
    entries = list(needed)
    there = _stored_bytes(stored, [key for _, key, _ in entries if key is not None])
    for file, key, added in entries:
        total = added + (0 if key is None else there.get(key, 0))
        if total > MOST:
            raise InputError(
                f"samples: expected at most {MOST:,} bytes in a sample, got {total:,} for {Path(file).name}: {WAYS_OUT}"
            )


def _stored_bytes(stored: Any, ids: Sequence[str]) -> dict[str, int]:
    if not ids:
        return {}
    stages = [{"$match": {"_id": {"$in": list(map(ObjectId, ids))}}}, {"$project": {"bytes": {"$bsonSize": "$$ROOT"}}}]
    return {str(found["_id"]): found["bytes"] for found in stored.aggregate(stages)}


def is_too_large(error: BaseException) -> bool:
    """Return whether an error was caused by a document that is too large."""
    return isinstance(error, DocumentTooLarge) or not CODES.isdisjoint(_codes(error))


def _codes(error: BaseException) -> Iterator[int | None]:
    if isinstance(error, OperationFailure):
        yield error.code
    if isinstance(error, BulkWriteError):
        yield from (found["code"] for found in error.details["writeErrors"])
