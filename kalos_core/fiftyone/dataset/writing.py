"""Values of every label and sample back to where they are stored, a block of samples at a time."""

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
"""Name of a field or attribute -> its values; None where there is none."""

Values = Callable[[NDArray[np.intp]], Columns]
"""What is written on some labels (rows of a table), or on some samples (codes of images that follow one another)."""

Progress = Callable[[float], None]
"""Told the share that is written; whatever it raises ends the work."""


def picked(columns: Mapping[str, NDArray[Any]]) -> Values:
    """Values that stand in arrays, one for each label or sample.

    Examples
    --------
    >>> picked({"alpha": np.array([0.5, np.nan, 1.0])})(np.array([1, 2]))
    {'alpha': [None, 1.0]}
    """
    return lambda chosen: {name: or_none(column[chosen]) for name, column in columns.items()}


NOTHING = picked({})
"""No values."""


def names_in(values: Values) -> list[str]:
    """The fields or attributes that are written."""
    return list(values(np.zeros(0, np.intp)))


def write_values(
    labels: Labels, attributes: Values, fields: Values = NOTHING, progress: Progress | None = None
) -> None:
    """Write attributes of all labels, and fields of all samples, with one update per sample.

    The fields have to be declared already. FiftyOne's own setters write one attribute of one label per update, which
    for 80,000 labels takes seconds each. Every update names the ids of the labels it expects at their positions and
    does nothing where they have moved; that is an error, so nothing is written to a wrong label.

    Parameters
    ----------
    labels : Labels
    attributes, fields : callable
        Asked for the values of the labels and samples of a block at a time, so that there are never more of them.
    progress : callable, optional

    Raises
    ------
    InputError
        If a sample could not hold that; nothing is written then.
    KalosError
        If labels were added or removed by somebody else meanwhile.
    """
    stored = collection(labels.view)
    check_room(stored, _needed(labels, attributes, fields))
    with uncollected():
        missed = write_samples(stored, _updates(labels, stored, attributes, fields, progress))
    reload_samples(labels.view)
    if missed:
        were = number_of(missed, "sample was", "samples were")
        raise KalosError(f"{were} changed while this run was computed; nothing of it is kept, run again")


Update = tuple[dict[str, Any], Any]
"""Condition and change, as MongoDB takes them."""


def write_samples(stored: Any, updates: Iterable[Update]) -> int:
    """Carry out one update a sample, a block at a time; how many did not find their sample.

    Parameters
    ----------
    stored : pymongo.collection.Collection
        Of the samples, see `collection`.
    updates : iterable of (condition, update)
        The condition names the ``_id``.
    """
    missed, waiting = 0, iter(updates)
    while block := [UpdateOne(where, change) for where, change in islice(waiting, BLOCK)]:
        missed += len(block) - stored.bulk_write(block, ordered=False).matched_count
    return missed


def _needed(labels: Labels, attributes: Values, fields: Values) -> Iterator[tuple[str, str, int]]:
    """File, id and bytes of what is written to each sample of many labels."""
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
"""Number of a path, and id of a label in the list there -> what is written on it.

A label is known by its path and its id: a field that was cloned has the ids of the first.
"""


def _check_there(given: Given, lists: Sequence[Sequence[str]]) -> None:
    there = {(number, key) for number, keys in enumerate(lists) for key in keys}
    for number, key in given:
        if (number, key) not in there:
            raise KalosError(f"label {key} is gone: the labels were changed while this run was computed")


def _at_positions(
    paths: Sequence[str],
    sample: ObjectId,
    lists: Sequence[Sequence[str]],
    given: Given,
    values: Mapping[str, Any],
) -> Iterator[Update]:
    """One update, which names the position of every label: the database looks for each from the first on."""
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
    """An update for each list, which goes through it once: of many labels, where positions would take for ever."""
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
    """Of each sample its id, and the ids of the labels in the list at each path, as they stand in the database now."""
    keys = list(map(ObjectId, samples))
    ids = [{"$map": {"input": f"${path}", "in": {"$toString": "$$this._id"}}} for path in paths]
    stages = [{"$match": {"_id": {"$in": keys}}}, {"$project": {"ids": ids}}]
    found = {document["_id"]: document["ids"] for document in stored.aggregate(stages)}
    for key in keys:
        yield key, [there or [] for there in found.get(key, [None] * len(ids))]


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
        raise KalosError(f"{were} deleted while this run was computed; run again")


def nested(values: NDArray[Any], count: NDArray[np.intp]) -> list[list[Any]]:
    """A list for each owner of values that stand one owner after the other, of whom each has so many."""
    entries = or_none(values)
    return [entries[begin:end] for begin, end in pairwise(run_starts(count).tolist())]


def or_none(values: NDArray[Any]) -> list[Any]:
    """Values as lists, None for NaN.

    Examples
    --------
    >>> or_none(np.array([[0.5, np.nan]])), or_none(np.empty((0, 2)))
    ([[0.5, None]], [])
    """
    found = np.where(np.isnan(values), None, values) if values.dtype.kind == "f" else values  # type: ignore[call-overload]
    return found.tolist()  # type: ignore[no-any-return]


# ---- how much a sample holds ----

MOST = 1 << 24
"""Bytes of a sample with all its labels, as MongoDB allows; no setting of it raises that."""

MANY = 1000
"""Labels of one sample from which on what is written to it is measured first."""

WAYS_OUT = (
    "MongoDB holds no more in a sample, and nothing raises that: split the image into tiles, give the raters data sets "
    "of their own, or compute without FiftyOne (kalos_core, kalos-core)"
)

CODES = {10334, 17280, 17419, 17420}
"""MongoDB's errors of documents that are too large."""


def bytes_of(document: Mapping[str, Any]) -> int:
    """How many bytes of a document the database stores.

    Examples
    --------
    >>> bytes_of({}), bytes_of({"alpha": 0.5})
    (5, 20)
    """
    return len(bson.encode(document))


def check_room(stored: Any, needed: Iterable[tuple[str, str | None, int]]) -> None:
    """Refuse what some samples could not hold.

    Parameters
    ----------
    stored : pymongo.collection.Collection
        Of the samples, see `collection`.
    needed : iterable of (file, sample id or None, bytes)
        What is to be written to each sample, and what it is called in messages; None: to a new one.

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
    """Whether an error is of a document that is too large."""
    return isinstance(error, DocumentTooLarge) or not CODES.isdisjoint(_codes(error))


def _codes(error: BaseException) -> Iterator[int | None]:
    if isinstance(error, OperationFailure):
        yield error.code
    if isinstance(error, BulkWriteError):
        yield from (found["code"] for found in error.details["writeErrors"])
