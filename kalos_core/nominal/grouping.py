"""Which image-level labels exclude each other: as arguments, as text, and as records that can be stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypedDict

from kalos_core.errors import InputError, repr_of

Groups: TypeAlias = Mapping[str, Sequence[str]] | str | None
"""See `LabelTable.from_rows`."""

Teams: TypeAlias = Mapping[str, Sequence[str]] | None
"""Name -> raters."""

SUGGESTED = "suggested"
"""In place of groups: those that `suggest_groups` finds in the labels."""


class GroupRecord(TypedDict):
    """A group of labels of which exactly one is to be chosen, or a team of raters."""

    name: str
    labels: list[str]


GroupsRecord: TypeAlias = list[GroupRecord] | str | None
"""`Groups` as plain values."""


def groups_record(groups: Groups) -> GroupsRecord:
    """Which labels exclude each other, as a list of records: names of groups may hold what keys may not.

    Examples
    --------
    >>> groups_record("label"), groups_record({"place": ("in", "out")})
    ('label', [{'name': 'place', 'labels': ['in', 'out']}])
    """
    if groups is None or isinstance(groups, str):
        return groups
    if not isinstance(groups, Mapping):
        raise InputError(f"groups: expected a name, or names with their labels, got {repr_of(groups)}")
    wrong = {name: of for name, of in groups.items() if isinstance(of, str) or not isinstance(of, Sequence)}
    if wrong:
        raise InputError(f"groups: expected a list of labels for each name, got {repr_of(wrong)}")
    return [GroupRecord(name=name, labels=list(of)) for name, of in groups.items()]


def groups_from_record(record: GroupsRecord) -> Groups:
    """The groups that `groups_record` wrote down.

    Examples
    --------
    >>> groups_from_record([{"name": "place", "labels": ["in", "out"]}])
    {'place': ['in', 'out']}
    """
    if record is None or isinstance(record, str):
        return record
    return {group["name"]: list(group["labels"]) for group in record}


def teams_record(teams: Teams) -> list[GroupRecord] | None:
    """Teams of raters as a list of records.

    Examples
    --------
    >>> teams_record({"experts": ["ann"]})
    [{'name': 'experts', 'labels': ['ann']}]
    """
    if isinstance(teams, str):
        raise InputError(f"teams: expected names with their raters, got {repr_of(teams)}")
    record = groups_record(teams)
    return None if isinstance(record, str) else record


def teams_from_record(record: list[GroupRecord] | None) -> dict[str, list[str]] | None:
    """The teams that `teams_record` wrote down."""
    return None if record is None else {team["name"]: list(team["labels"]) for team in record}


def read_groups(text: str | None) -> dict[str, list[str]]:
    """Names with their labels, from a text such as ``"place: indoor, outdoor; time: day, night"``.

    Raises
    ------
    InputError
        For a part without a name or a label, and a name given twice.

    Examples
    --------
    >>> read_groups("place: indoor, outdoor; time: day, night")
    {'place': ['indoor', 'outdoor'], 'time': ['day', 'night']}
    >>> read_groups("")
    {}
    >>> read_groups("place")
    Traceback (most recent call last):
    kalos_core.errors.InputError: groups: expected names with labels, such as 'place: indoor, outdoor', got 'place'
    """
    found: dict[str, list[str]] = {}
    for part in (text or "").replace("\n", ";").split(";"):
        name, _, rest = part.partition(":")
        labels = [label.strip() for label in rest.split(",") if label.strip()]
        if not part.strip():
            continue
        if not name.strip() or not labels:
            raise InputError(
                f"groups: expected names with labels, such as 'place: indoor, outdoor', got {part.strip()!r}"
            )
        if name.strip() in found:
            raise InputError(f"groups: expected every name once, got {name.strip()!r} twice")
        found[name.strip()] = labels
    return found
