"""The document of a data set and those of its runs: read as the database has them, changed in one step.

What the plugin remembers of a data set as a whole stands in ``dataset.info["kalos"]``: read and written here only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any, TypedDict, cast

import fiftyone.constants as foc
from bson import ObjectId, json_util

from kalos_core.errors import InputError, KalosError, listed
from kalos_core.fiftyone.dataset.database import journaled, now
from kalos_core.fiftyone.internals import (
    RunDocument,
    changed_at,
    database,
    id_of,
    reload_info,
    reload_runs,
    root_of,
)

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
    if not change(dataset, {entry: record}, {entry: {"$exists": False}}):
        raise InputError(f"{doing} {dataset.name!r}; wait until it is done")
    dataset.reload()


# ---- the document of a data set ----


def refresh(dataset: Any) -> None:
    """Take up what other processes did to a data set and its runs; next to nothing where that is nothing.

    FiftyOne notes the time of every change of a data set's fields, information and list of runs.
    """
    if stored_document(dataset, "last_modified_at")["last_modified_at"] != changed_at(dataset):
        dataset.reload()


def stored_document(dataset: Any, *names: str) -> dict[str, Any]:
    """Entries of the document of a data set as the database has them; an error where it is gone."""
    found: dict[str, Any] | None = database().datasets.find_one({"_id": id_of(dataset)}, dict.fromkeys(names, True))
    if found is None:
        raise _gone(dataset)
    return found


def change(dataset: Any, entries: Mapping[str, Any], where: Mapping[str, Any] | None = None) -> bool:
    """Set entries of the document of a data set in one step, on disk, and take up what this and others changed.

    Returns False, and changes nothing, where `where` does not hold. Other processes read the data set again. FiftyOne's
    own way holds microseconds, which the database does not keep: this process would always read it again.
    """
    stored = database().datasets
    before = (journaled(stored) if entries else stored).find_one_and_update(  # of the time alone nothing can be lost
        {"_id": id_of(dataset), **(where or {})},
        {"$set": {**entries, "last_modified_at": now()}},
        {"last_modified_at": True},
    )
    if before is not None and before.get("last_modified_at") == changed_at(dataset):
        reload_runs(dataset)
    elif before is not None:  # others changed it since it was looked at
        dataset.reload()
    return before is not None


def touch(dataset: Any) -> None:
    """Note that the runs of a data set changed now; an error where it is gone."""
    if not change(dataset, {}):
        raise _gone(dataset)


def _gone(dataset: Any) -> KalosError:
    return KalosError(f"the data set {dataset.name!r} is gone: it was deleted meanwhile")


# ---- its runs ----

METHOD = "kalos"
"""Runs of this plugin have the method ``kalos/<kind>``."""

OURS = {"config.method": {"$regex": f"^{METHOD}/"}}
"""Of the documents of runs, those of this plugin."""


@dataclass(frozen=True)
class StoredRun:
    """A run as the database has it, for reading only."""

    id: ObjectId
    key: str
    timestamp: datetime
    config: Any


_OWN: dict[Any, tuple[Any, dict[str, StoredRun]]] = {}
"""Id of a data set -> when it changed last, and its runs as they were then."""


def own_runs(dataset: Any) -> dict[str, StoredRun]:
    """The runs of this plugin as they are stored, by key: complete ones, and those that somebody is writing.

    They are read again when the data set has changed.
    """
    stored = stored_document(dataset, "runs", "last_modified_at")
    at, own = _OWN.get(stored["_id"], (None, {}))
    if at is None or at != stored["last_modified_at"]:
        keys = {run: key for key, run in stored.get("runs", {}).items()}
        wanted = {"_id": {"$in": list(keys)}, **OURS}
        own = {
            keys[found["_id"]]: StoredRun(
                found["_id"], keys[found["_id"]], found["timestamp"], SimpleNamespace(**found["config"])
            )
            for found in database().runs.find(wanted, {"timestamp": True, "config": True})
        }
        _OWN[stored["_id"]] = stored["last_modified_at"], own
    return dict(own)


def register_run(
    dataset: Any, run_key: str, config: dict[str, Any], stages: Sequence[Mapping[str, Any]] | None
) -> StoredRun:
    """Enter a run into the list of a data set's runs; of two processes the database refuses one.

    `stages`: of the view it is of, None of the data set.
    """
    document = RunDocument(
        id=ObjectId(),
        dataset_id=id_of(dataset),
        key=run_key,
        version=foc.VERSION,
        timestamp=now(),
        config=dataset.init_run(**config).serialize(),
        view_stages=None if stages is None else list(map(json_util.dumps, stages)),
    )
    journaled(database().runs).insert_one(document.to_mongo())  # on disk before any list names it
    entry = f"runs.{run_key}"
    if not change(dataset, {entry: document.id}, {entry: {"$exists": False}}):  # on disk before any field is declared
        database().runs.delete_one({"_id": document.id})
        raise InputError(f"run key: {run_key!r} is the key of another run; choose another or delete that run first")
    return StoredRun(document.id, run_key, document.timestamp, SimpleNamespace(**config))


def set_config(dataset: Any, runs: Sequence[StoredRun], **entries: Any) -> None:
    """Store other values in the configurations of runs, in one step, so that other processes see it.

    Raises
    ------
    KalosError
        If somebody deleted one of them.
    """
    wanted = {"_id": {"$in": [run.id for run in runs]}}
    values = {"$set": {f"config.{name}": value for name, value in entries.items()}}
    found = journaled(database().runs).update_many(wanted, values).matched_count
    touch(dataset)
    if found < len(runs):
        raise KalosError(f"run key: {listed(repr(run.key) for run in runs)} was deleted by somebody else meanwhile")


def unlist(dataset: Any, run: StoredRun) -> None:
    """Take a run, whatever it wrote being gone, off the list, and then its document."""
    entry = f"runs.{run.key}"
    journaled(database().datasets).update_one({"_id": id_of(dataset), entry: run.id}, {"$unset": {entry: ""}})
    database().runs.delete_one({"_id": run.id})
    touch(dataset)
