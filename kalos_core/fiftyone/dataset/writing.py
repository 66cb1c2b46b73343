"""Values of every label and sample back to where they are stored, a block of samples at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core.annotations.blocks import ByImage
from kalos_core.arrays import run_starts
from kalos_core.errors import KalosError
from kalos_core.fiftyone.dataset.database import BLOCK, collection, reload_samples, write_samples
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


def names_in(values: Values) -> list[str]:
    """The fields or attributes that are written."""
    return list(values(np.zeros(0, np.intp)))


def write_values(
    labels: Labels, attributes: Values, fields: Values | None = None, progress: Progress | None = None
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
    KalosError
        If labels were added or removed by somebody else meanwhile.
    """
    missed = write_samples(labels.view, _updates(labels, attributes, fields or picked({}), progress))
    reload_samples(labels.view)
    if missed:
        raise KalosError(
            f"{missed:,} samples were changed while this run was computed; nothing of it is kept, run again"
        )


def _updates(
    labels: Labels, attributes: Values, fields: Values, progress: Progress | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    by_image, count = ByImage(labels.annotations), len(labels.images)
    for begin in range(0, count, BLOCK):
        if progress is not None:
            progress(begin / count)
        end = min(begin + BLOCK, count)
        images, rows = np.arange(begin, end), by_image.rows(begin, end)
        of_samples, of_labels = fields(images), attributes(rows)
        paths, ids = labels.path_of[rows].tolist(), [ObjectId(key) for key in labels.annotations.id[rows]]
        ends = (by_image.start[begin : end + 1] - by_image.start[begin]).tolist()
        for place, (key, positions) in enumerate(_positions(labels, images)):
            where: dict[str, Any] = {"_id": key}
            values = {name: column[place] for name, column in of_samples.items()}
            for row in range(ends[place], ends[place + 1]):
                position = positions.get((paths[row], ids[row]))
                if position is None:
                    raise KalosError(f"label {ids[row]} is gone: the labels were changed while this run was computed")
                where[f"{position}._id"] = ids[row]
                for name, column in of_labels.items():
                    values[f"{position}.{name}"] = column[row]
            if values:
                yield where, {"$set": values}


def _positions(labels: Labels, images: NDArray[np.intp]) -> Iterator[tuple[ObjectId, dict[tuple[int, ObjectId], str]]]:
    """Of each sample its id and: label -> the path of its position in the stored document, such as ``r1.detections.3``.

    A label is known by its path and its id: a field that was cloned has the ids of the first.
    """
    ids = [ObjectId(key) for key in labels.images[images]]
    projection = {f"{path}._id": True for path in labels.paths}
    found = collection(labels.view).find({"_id": {"$in": ids}}, projection)
    stored = {document["_id"]: document for document in found}
    for key in ids:
        yield (
            key,
            {
                (number, label["_id"]): f"{path}.{position}"
                for number, path in enumerate(labels.paths)
                for position, label in enumerate(_list_at(stored.get(key, {}), path))
            },
        )


def _list_at(document: Mapping[str, Any], path: str) -> Iterable[Mapping[str, Any]]:
    field, _, name = path.partition(".")
    return (document.get(field) or {}).get(name) or ()


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
