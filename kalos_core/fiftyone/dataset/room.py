"""How much one sample holds: MongoDB's limit of a document, looked at before anything is written that may pass it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import bson
from bson import ObjectId
from pymongo.errors import BulkWriteError, DocumentTooLarge, OperationFailure

from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.database import collection

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


def check_room(samples: Any, needed: Iterable[tuple[str, str | None, int]]) -> None:
    """Refuse what some samples could not hold.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    needed : iterable of (file, sample id or None, bytes)
        What is to be written to each sample, and what it is called in messages; None: to a new one.

    Raises
    ------
    InputError
    """
    entries = list(needed)
    there = _stored_bytes(samples, [key for _, key, _ in entries if key is not None])
    for file, key, added in entries:
        total = added + (0 if key is None else there.get(key, 0))
        if total > MOST:
            raise InputError(
                f"samples: expected at most {MOST:,} bytes in a sample, got {total:,} for {Path(file).name}: {WAYS_OUT}"
            )


def _stored_bytes(samples: Any, ids: Sequence[str]) -> dict[str, int]:
    """Sample -> bytes that it has now."""
    if not ids:
        return {}
    stages = [{"$match": {"_id": {"$in": list(map(ObjectId, ids))}}}, {"$project": {"bytes": {"$bsonSize": "$$ROOT"}}}]
    return {str(found["_id"]): found["bytes"] for found in collection(samples).aggregate(stages)}


def is_too_large(error: BaseException) -> bool:
    """Whether an error is of a document that is too large."""
    return isinstance(error, DocumentTooLarge) or not CODES.isdisjoint(_codes(error))


def _codes(error: BaseException) -> Iterator[int | None]:
    if isinstance(error, OperationFailure):
        yield error.code
    if isinstance(error, BulkWriteError):
        yield from (found["code"] for found in error.details["writeErrors"])
