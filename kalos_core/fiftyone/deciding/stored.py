"""Queue and decisions that a sample stores for a run, with their types checked, because users can edit any field."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.formats import fits
from kalos_core.fiftyone.runs.table import Run


class _OfSome(TypedDict, total=False):
    question: str
    apart: list[float | None]


class StoredUnit(_OfSome):
    """Entry of the queue of a sample: a unit in dispute."""

    unit: int
    together: int
    state: str
    classes: list[str]
    raters: list[str]


class StoredAnswers(StoredUnit):
    """Entry of a queue that is complete without the labels of the sample: regions, and image-level labels."""

    label: str
    assigned: list[str]
    given: list[str | None]


class StoredDecision(TypedDict):
    """A `Decision`, as a sample stores it."""

    labels: list[str]
    decision: str
    rater: str | None
    note: str
    who: str
    when: datetime
    category: str | None


def queue_of(document: Mapping[str, Any], run: Run[Any, Any, Any, Any], entry: Any = StoredUnit) -> list[Any]:
    """Return the queue of a run in the document of a sample.

    Raises
    ------
    InputError
        If it is not a list of the type `entry`, as in `decisions_of`.
    """
    return _checked(document, run, run.names.queue, entry)


def decisions_of(document: Mapping[str, Any], run: Run[Any, Any, Any, Any]) -> list[Any]:
    """Return all decisions about the units of a run in the document of a sample, the earliest first."""
    return _checked(document, run, run.names.decisions, StoredDecision)


def _checked(document: Mapping[str, Any], run: Run[Any, Any, Any, Any], field: str, entry: Any) -> list[Any]:
    found: list[Any] = document.get(field)  # type: ignore[assignment]
    if not fits(found, list[entry]):
        raise InputError(
            f"sample {document['_id']}: the field {field!r} was changed since the run {run.key!r} wrote it; "
            "restore it, or delete the run and compute it again"
        )
    return found
