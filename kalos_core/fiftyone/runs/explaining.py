"""Explanations of external errors: a full disk; a lost database, data set or field."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bson import ObjectId
from fiftyone.core.collections import SampleCollection
from pymongo.errors import ConnectionFailure, OperationFailure

from kalos_core.errors import InputError, KalosError, listed, repr_of
from kalos_core.fiftyone.dataset.database import RESTARTED, last_known_server, server
from kalos_core.fiftyone.dataset.document import own_runs, read_info
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.dataset.writing import MOST, WAYS_OUT, is_too_large
from kalos_core.fiftyone.internals import database, id_of, root_of

OUT_OF_DISK_SPACE = 14031
"""MongoDB's error code."""


_OWN = "_kalos_own_cause"
"""Attribute of an error for which no external cause was found."""


@contextmanager
def explained(samples: Any, outcome: str = "nothing of this run is kept") -> Iterator[None]:
    """Explain errors with an external cause: a full disk, a restarted or lost database, a lost data set or field.

    `outcome` states the consequence for the current operation.
    """
    root = root_of(samples) if isinstance(samples, SampleCollection) else None
    fields = [] if root is None else list(read_info(root).get("raters") or label_fields(root))
    before = None if root is None else (id_of(root), root.name, fields)
    known = last_known_server()
    try:
        yield
    except KalosError:
        raise
    except UnicodeEncodeError as error:
        raise InputError(f"text: expected text that UTF-8 can encode, got {repr_of(error.object)}") from error
    except Exception as error:
        if _OWN in vars(error):  # no cause was found before the cleanup, which may have deleted the data set
            raise
        changed = None if before is None else _reason(*before, known)
        reason = _full(error) or _memory(error) or _too_large(error) or changed or _broken(error) or _lost(root, error)
        if reason is None:
            setattr(error, _OWN, True)
            raise
        raise KalosError(f"{reason}; {outcome}") from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _full(error: Exception) -> str | None:
    for found in _causes(error):
        if isinstance(found, OSError) and found.errno in (errno.ENOSPC, errno.EDQUOT):
            where = f" ({found.filename})" if found.filename else ""
            return f"the disk is full{where}; make room, then try again"
        if isinstance(found, OperationFailure) and found.code == OUT_OF_DISK_SPACE:
            return "the disk of the database is full; make room, then try again"
    return None


def _memory(error: Exception) -> str | None:
    if any(isinstance(found, MemoryError) for found in _causes(error)):
        return "memory: this machine does not have enough; use fewer or smaller images at a time"
    return None


def _too_large(error: Exception) -> str | None:
    if any(map(is_too_large, _causes(error))):
        return f"samples: a sample with all its labels would exceed {MOST:,} bytes: {WAYS_OUT}"
    return None


def _broken(error: Exception) -> str | None:
    if any(isinstance(found, ConnectionFailure) for found in _causes(error)):
        return "the database did not answer for a moment; try again"
    return None


def _lost(root: Any, error: Exception) -> str | None:
    """Return which field of a run is gone, if the error names it; users can delete such fields in the App."""
    if root is None or not isinstance(error, ValueError):
        return None
    for run in own_runs(root).values():
        for path in run.config.fields:
            if f"'{path}'" in str(error) and not root.has_field(path):
                return f"the field {path!r} of run {run.key!r} was deleted or renamed; compute the run again"
    return None


def _reason(identity: ObjectId, name: str, fields: list[str], known: Any) -> str | None:
    """Return what happened to a data set and its server; None if nothing changed."""
    try:
        found = database().datasets.find_one({"_id": identity}, {"name": True, "sample_fields.name": True})
    except Exception as error:
        return f"the database does not answer ({type(error).__name__}); start it, then run again"
    if found is None:
        return f"the data set {name!r} was deleted meanwhile"
    if found["name"] != name:
        return f"the data set {name!r} was renamed to {found['name']!r} meanwhile; load it by that name and run again"
    gone = [field_name for field_name in fields if field_name not in {of["name"] for of in found["sample_fields"]}]
    if gone:
        return f"label fields were deleted or renamed meanwhile: {listed(map(repr, gone))}; run again"
    return RESTARTED if known is not None and server() != known else None
