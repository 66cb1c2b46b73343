"""Format of stored runs: its number, the seals of a record, and the reason why a run cannot be read.

Each entry of a record has a seal, a digest of its value, which reveals any loss or change since it was stored, at any
depth; `UNSEALED` entries change one value at a time. The types of all entries are checked, too, as a program that seals
anew what it changed could store anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Any, Final, Literal, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

import bson

from kalos_core.version import __version__

FORMAT = 1
"""Number of the format in which runs are stored. Increase it with every change of what a run stores."""

WRITING: Final = "writing"
COMPLETE: Final = "complete"
DELETING: Final = "deleting"
"""States of a run."""


class Writer(TypedDict):
    """A process, and one of its tasks."""

    host: str
    pid: int
    started: float
    work: str


class Choice(TypedDict):
    """A value that a user chose from a run, and when."""

    threshold: float
    at: datetime


class Record(TypedDict):
    """What every run stores about itself."""

    method: str
    status: Literal["writing", "complete", "deleting"]
    writer: Writer
    settings: dict[str, Any]
    selection: dict[str, Any]
    label_fields: list[str]
    images: int
    read_at: datetime
    rater_facts: list[Any]
    fields: list[str]
    """Paths of the fields and attributes that the run created."""
    folder: str | None
    arrays: str
    """Id of the file of its arrays, by which a partial file is found."""
    metrics: dict[str, Any]
    given: dict[str, dict[str, Choice]]
    """Metrics that users set after the run was made."""
    analysis: str | None
    note: str
    review: str


SEAL = "seal"
"""Entry of a record: name of each other entry -> its seal."""

VIEW = "view_stages"
"""Entry of the document, outside the record, that also has a seal: the stages of the view; None: the data set."""


def sealed(record: Mapping[str, Any], view_stages: Sequence[str] | None) -> dict[str, Any]:
    """Return a record with its format, the version that writes it, and its seals.

    Examples
    --------
    >>> record = sealed({"images": 3, "status": "complete", "writer": {}, "given": {}}, None)
    >>> record["format"], sorted(record["seal"])
    (1, ['format', 'images', 'version', 'view_stages'])
    """
    whole = {**record, "format": FORMAT, "version": __version__}
    return {**whole, SEAL: dict(_seals(whole, view_stages))}


def updates(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the updates of a run's document, by path, that change entries of its record and their seals.

    Examples
    --------
    >>> list(updates({"note": "look", "given.chosen.box_iou": None}))
    ['config.note', 'config.given.chosen.box_iou', 'config.seal.note']
    """
    changed = {f"config.{name}": value for name, value in entries.items()}
    return changed | {f"config.{SEAL}.{name}": _seal(of) for name, of in entries.items() if _is_sealed(name)}


def written_by(record: Mapping[str, Any]) -> str:
    """Return the version that wrote a record, for messages."""
    version = record.get("version")
    return f"version {version}" if isinstance(version, str) else "an unknown version"


def record_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record in the document of a run; empty if there is none."""
    record = document.get("config")
    return record if isinstance(record, dict) else {}


def why_unreadable(document: Mapping[str, Any]) -> str:
    """Return the reason why a run cannot be read; "" if it can.

    Examples
    --------
    >>> why_unreadable({"config": {"format": 2, "version": "9.9"}}).partition(",")[0]
    'version 9.9 wrote it in format 2'
    >>> why_unreadable({})
    'its record is gone'
    """
    record = record_of(document)
    if not record:
        return "its record is gone"
    number, writer = record.get("format"), written_by(record)
    if type(number) is not int or number != FORMAT:
        known = f"format {number}" if type(number) is int else "an unknown format"
        return f"{writer} wrote it in {known}, and this version, {__version__}, reads format {FORMAT}"
    given, found = record.get(SEAL), dict(_seals(record, document.get(VIEW)))
    seals = given if isinstance(given, dict) else {}
    names = [name for name in {**found, **seals} if name not in seals or found.get(name) != seals[name]]
    names += [] if isinstance(document.get("timestamp"), datetime) else ["timestamp"]
    names += [name for name, hint in hints_of(Record).items() if name not in record or not fits(record[name], hint)]
    names += [] if bson.ObjectId.is_valid(record.get("arrays")) else ["arrays"]
    return f"{names[0]!r} was changed or lost since {writer} wrote it" if names else ""


def fits(value: Any, hint: Any) -> bool:
    """Return whether a stored value, with all nested values, has a type.

    Examples
    --------
    >>> fits({"a": [1]}, dict[str, list[int]]), fits({"a": "b"}, dict[str, list[int]]), fits(True, int)
    (True, False, False)
    """
    if type(hint) is type:  # a class, and neither a generic type nor a typed dict
        return hint is bool if isinstance(value, bool) else isinstance(value, (int, float) if hint is float else hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, option) for option in inner)
    if origin is Literal:
        return any(type(value) is type(option) and value == option for option in inner)
    if origin is list:
        return isinstance(value, list) and all(fits(entry, inner[0]) for entry in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(name, inner[0]) and fits(of, inner[1]) for name, of in value.items()
        )
    if is_typeddict(hint):
        if not isinstance(value, dict) or not hint.__required_keys__ <= value.keys():
            return False
        return all(fits(value[name], of) for name, of in hints_of(hint).items() if name in value)
    return hint is Any


@cache
def hints_of(kind: Any) -> Mapping[str, Any]:
    """Return the types of the entries of a typed dict; cached, as working them out takes longer than checking them."""
    return get_type_hints(kind)


UNSEALED = {"status", "writer", "given", SEAL, "cls", "type"}
"""Entries without a seal; the last two are FiftyOne's and are never read here."""


def _is_sealed(name: str) -> bool:
    return name.partition(".")[0] not in UNSEALED


def _seals(record: Mapping[str, Any], view_stages: Any) -> Iterator[tuple[str, str]]:
    yield VIEW, _seal(view_stages)
    yield from ((name, _seal(value)) for name, value in record.items() if _is_sealed(name))


def _seal(value: Any) -> str:
    return hashlib.sha256(bson.encode({"value": value})).hexdigest()[:16]
