"""What the plugin remembers of a data set as a whole, in ``dataset.info["kalos"]``: read and written here only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast

from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.database import journaled, now
from kalos_core.fiftyone.internals import database, id_of, reload_info, root_of

INFO_KEY = "kalos"


class RaterRecord(TypedDict):
    """What is known of a rater beyond their labels."""

    rater: str
    person: str
    session: str
    classes: list[str] | None
    is_local: bool


class Info(TypedDict, total=False):
    """All that is remembered."""

    raters: dict[str, str]
    """Label field -> rater."""
    rater_facts: list[RaterRecord]
    load: dict[str, Any]
    """The load that is being written, see `kalos_core.fiftyone.importing.life`."""
    renaming: dict[str, Any]
    """The runs that are being renamed, see `kalos_core.fiftyone.runs.upkeep`."""
    handing_over: dict[str, Any]
    """The annotation run that is being made, see `kalos_core.fiftyone.deciding.results`."""


def read_info(samples: Any) -> Info:
    """What is remembered; empty where nothing is.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> update_info(dataset, raters={"r1": "ann"})
    >>> read_info(dataset)
    {'raters': {'r1': 'ann'}}
    >>> update_info(dataset, raters={})
    >>> dataset.info
    {}
    >>> dataset.delete()
    """
    return cast(Info, dict(root_of(samples).info.get(INFO_KEY, {})))


def update_info(dataset: Any, **entries: Any) -> None:
    """Remember other values under some keys of `Info`; an empty value forgets the key."""
    before = cast(dict[str, Any], read_info(dataset))
    changed = {name: value for name, value in entries.items() if (value or None) != before.get(name)}
    if not changed:
        return
    own = f"info.{INFO_KEY}"
    values = {f"{own}.{name}": {"$literal": value} if value else "$$REMOVE" for name, value in changed.items()}
    whole = {"$cond": [{"$eq": [f"${own}", {}]}, "$$REMOVE", f"${own}"]}
    # one step, and each entry by itself: other processes may change others
    change = [{"$set": {**values, "last_modified_at": now()}}, {"$set": {own: whole}}]
    journaled(database().datasets).update_one({"_id": id_of(dataset)}, change)
    reload_info(dataset)


def claim(dataset: Any, name: str, record: Mapping[str, Any], doing: str) -> None:
    """Remember what this process begins to do; of two processes at once the database refuses one.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    name : key of `Info`
    record : mapping
    doing : str
        What the other one does, for the error.
    """
    entry = f"info.{INFO_KEY}.{name}"
    where, change = {"_id": id_of(dataset), entry: {"$exists": False}}, {entry: record, "last_modified_at": now()}
    if not journaled(database().datasets).update_one(where, {"$set": change}).matched_count:
        raise InputError(f"{doing} {dataset.name!r}; wait until it is done")
    dataset.reload()
