"""Documents of a data set and of its runs: read directly from the database, and changed atomically.

The plugin stores facts about a whole data set in ``dataset.info["kalos"]``; only this module accesses them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any, TypedDict, cast

import fiftyone.constants as foc
from bson import ObjectId, json_util

from kalos_core.errors import InputError, KalosError, listed, warn
from kalos_core.fiftyone.dataset.database import journaled, now
from kalos_core.fiftyone.dataset.formats import (
    COMPLETE,
    DELETING,
    WRITING,
    Writer,
    fits,
    hints_of,
    record_of,
    sealed,
    updates,
    why_unreadable,
)
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
    """Stored facts about a rater that their labels do not contain."""

    rater: str
    person: str
    session: str
    classes: list[str] | None
    is_local: bool


LOAD_TAG = "kalos-load-"
"""Beginning of the tag of a load, which is also the name of its collection and, after a dot, of its file."""


class LoadRecord(TypedDict):
    """Record of a load that is being written, see `kalos_core.fiftyone.importing.life`."""

    writer: Writer
    tag: str
    is_new: bool
    is_complete: bool
    fields: list[str]
    had_assigned: bool
    default_classes: list[str]
    mask_targets: list[Any]
    files: str | None
    makes_folder: bool


class Move(TypedDict):
    """Change of the key of a run, of its analysis, or of both."""

    id: ObjectId
    key: str
    new_key: str
    analysis: str | None
    fields: list[list[str]]
    """Old and new path of each field that the run wrote."""


class Renaming(TypedDict):
    """Record of the runs that are being renamed, see `kalos_core.fiftyone.runs.upkeep`."""

    writer: Writer
    moves: list[Move]
    is_done: bool


class HandingOver(TypedDict):
    """Record of the annotation run that is being created, see `kalos_core.fiftyone.deciding.results`."""

    key: str
    writer: Writer


class Info(TypedDict, total=False):
    """Everything that the plugin stores about a data set."""

    raters: dict[str, str]
    """Label field -> rater."""
    rater_facts: list[RaterRecord]
    load: LoadRecord
    renaming: Renaming
    handing_over: HandingOver


LASTING = frozenset({"raters", "rater_facts"})
"""Entries of `Info` that stay; the others record what a process is doing."""


def read_info(samples: Any) -> Info:
    """Return what the plugin stored about a data set, without unreadable entries; empty if there is nothing.

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
    return readable_info(root_of(samples).info)


def readable_info(info: Any) -> Info:
    """Return the plugin's entries of `Dataset.info`, without unreadable ones."""
    found = info.get(INFO_KEY) if isinstance(info, dict) else None
    entries = found.items() if isinstance(found, dict) else ()
    hints = hints_of(Info)
    kept = {name: value for name, value in entries if name not in hints or fits(value, hints[name])}
    if "load" in kept and not _is_of_a_load(kept["load"]):
        del kept["load"]
    return cast(Info, kept)


def _is_of_a_load(record: LoadRecord) -> bool:
    """Return whether a record names only a collection and a file that loads create; undoing a load deletes both."""
    tag, files = record["tag"], record["files"]
    is_own = tag.startswith(LOAD_TAG) and ObjectId.is_valid(tag.removeprefix(LOAD_TAG))
    return is_own and (files is None or PurePath(files).name == f".{tag}")


def _forget_garbled(dataset: Any) -> None:
    """Delete unreadable entries of `Info` with a warning, as they would block later writes."""
    stored = dataset.info.get(INFO_KEY, {})
    kept = readable_info(dataset.info)
    if stored == kept:
        return
    names = [name for name in stored if name not in kept] if isinstance(stored, dict) else [INFO_KEY]
    warn(
        f"dataset: {listed(map(repr, names))} in the info of {dataset.name!r} cannot be read and was deleted; "
        f"check its raters, and samples whose tags begin with '{LOAD_TAG}'"
    )
    entry = f"info.{INFO_KEY}"
    values = {"$set": {entry: kept, "last_modified_at": now()}}
    if not kept:
        values = {"$unset": {entry: ""}, "$set": {"last_modified_at": now()}}
    journaled(database().datasets).update_one({"_id": id_of(dataset), entry: stored}, values)
    dataset.reload()


def update_info(dataset: Any, **entries: Any) -> None:
    """Set some keys of `Info`; an empty value deletes the key."""
    before = cast(dict[str, Any], read_info(dataset))
    changed = {name: value for name, value in entries.items() if (value or None) != before.get(name)}
    if not changed:
        return
    own = f"info.{INFO_KEY}"
    values = {f"{own}.{name}": {"$literal": value} if value else "$$REMOVE" for name, value in changed.items()}
    whole = {"$cond": [{"$eq": [f"${own}", {}]}, "$$REMOVE", f"${own}"]}
    # one atomic update that sets each entry separately: other processes may change other entries
    change = [{"$set": {**values, "last_modified_at": now()}}, {"$set": {own: whole}}]
    journaled(database().datasets).update_one({"_id": id_of(dataset)}, change)
    reload_info(dataset)


def claim(dataset: Any, name: str, record: Mapping[str, Any], doing: str) -> None:
    """Record what this process begins to do; if two processes try at once, the database refuses one.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    name : key of `Info`
    record : mapping
    doing : str
        Activity of the other process, for the error message.
    """
    entry = f"info.{INFO_KEY}.{name}"
    if not change(dataset, {entry: record}, {entry: {"$exists": False}}):
        raise InputError(f"{doing} {dataset.name!r}; wait until it is done")
    dataset.reload()


# ---- the document of a data set ----


def refresh(dataset: Any) -> dict[str, StoredRun]:
    """Reload a data set if another process changed it, which one query finds out; return its runs, as `own_runs` does.

    FiftyOne stores the time of the last change of a data set's fields, info and list of runs.
    """
    stored = stored_document(dataset, *RUNS_AND_TIME)
    if stored["last_modified_at"] != changed_at(dataset):
        dataset.reload()
    _forget_garbled(dataset)
    return _runs_in(stored)


def stored_document(dataset: Any, *names: str) -> dict[str, Any]:
    """Return entries of the stored document of a data set; raise an error if it was deleted."""
    found: dict[str, Any] | None = database().datasets.find_one({"_id": id_of(dataset)}, dict.fromkeys(names, True))
    if found is None:
        raise _gone(dataset)
    return found


def change(
    dataset: Any,
    entries: Mapping[str, Any],
    where: Mapping[str, Any] | None = None,
    removed: Sequence[str] = (),
) -> bool:
    """Set and remove entries of the document of a data set atomically, on disk, and reload what was changed.

    Returns False, and changes nothing, if the condition `where` does not hold. Other processes then reload the data
    set. FiftyOne's own method keeps microseconds in memory, which the database does not store, so that this process
    would always reload, too.
    """
    stored = database().datasets
    done: dict[str, Any] = {"$set": {**entries, "last_modified_at": now()}}
    if removed:
        done["$unset"] = dict.fromkeys(removed, "")
    only_time = not entries and not removed  # losing this write does no harm
    before = (stored if only_time else journaled(stored)).find_one_and_update(
        {"_id": id_of(dataset), **(where or {})}, done, {"last_modified_at": True}
    )
    if before is not None and before.get("last_modified_at") == changed_at(dataset):
        reload_runs(dataset)
    elif before is not None:  # another process changed it since it was read
        dataset.reload()
    return before is not None


def touch(dataset: Any) -> None:
    """Mark the runs of a data set as changed now; raise an error if it was deleted."""
    if not change(dataset, {}):
        raise _gone(dataset)


def _gone(dataset: Any) -> KalosError:
    return KalosError(f"the data set {dataset.name!r} was deleted meanwhile")


# ---- its runs ----

METHOD = "kalos"
"""Runs of this plugin have the method ``kalos/<kind>``."""

OWN_ENTRIES = ("seal", "writer", "arrays")
"""Entries that identify a record as this plugin's if its method is lost."""

OURS = {
    "$or": [
        {"config.method": {"$regex": f"^{METHOD}/"}},
        *({f"config.{name}": {"$exists": True}} for name in OWN_ENTRIES),
    ]
}
"""MongoDB query for the run documents of this plugin."""


@dataclass(frozen=True)
class StoredRun:
    """A run as stored in the database; read-only.

    Parameters
    ----------
    id : ObjectId
    key : str
    timestamp : datetime
    config : object
        Its record. For an unreadable run, only what is needed to delete it, checked to be harmless.
    view_stages : list of str, optional
        Stages of the view it was computed on; None: the whole data set.
    unreadable : str
        The reason why it cannot be read; "" if it can.
    """

    id: ObjectId
    key: str
    timestamp: datetime
    config: Any
    view_stages: Sequence[str] | None = None
    unreadable: str = ""

    @property
    def kind(self) -> str:
        """Name of its kind; "" if it is unreadable."""
        return "" if self.unreadable else str(self.config.method).partition("/")[2]

    @property
    def is_complete(self) -> bool:
        """Whether it is readable, and no process is writing or deleting it."""
        return not self.unreadable and self.config.status == COMPLETE

    @property
    def metrics(self) -> dict[str, Any]:
        """Metrics of the summary, including those that users set."""
        return {**self.config.metrics, **self.config.given}


def _stored_run(key: str, identity: Any, document: Mapping[str, Any]) -> StoredRun:
    """Return a run from its document, which is empty if it was deleted; the only function that reads documents."""
    record, reason = record_of(document), why_unreadable(document)
    if reason:
        made = identity.generation_time.replace(tzinfo=None) if isinstance(identity, ObjectId) else datetime.min
        return StoredRun(identity, key, made, _to_delete(key, record), unreadable=reason)
    config = SimpleNamespace(**record)
    return StoredRun(identity, key, document["timestamp"], config, document.get("view_stages"))


def _to_delete(key: str, record: Mapping[str, Any]) -> SimpleNamespace:
    """Return what is needed to delete an unreadable run: of the fields it lists, only those named after its key."""
    is_at_work = fits(record.get("writer"), Writer) and record.get("status") in (WRITING, DELETING)
    arrays, folder, analysis = (record.get(name) for name in ("arrays", "folder", "analysis"))
    listed = record.get("fields")
    fields = [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []
    names = {path: path.rpartition(".")[2] for path in fields}
    return SimpleNamespace(
        status=record["status"] if is_at_work else COMPLETE,
        writer=record.get("writer"),
        fields=[path for path, name in names.items() if name == key or name.startswith(f"{key}_")],
        folder=folder if isinstance(folder, str) else None,
        arrays=arrays if isinstance(arrays, str) and ObjectId.is_valid(arrays) else None,
        analysis=analysis if isinstance(analysis, str) else None,
        label_fields=[],
    )


def _is_ours(document: Mapping[str, Any]) -> bool:
    """Return whether a listed run belongs to this plugin; a run without a record counts as ours."""
    record = record_of(document)
    is_known = str(record.get("method", "")).startswith(f"{METHOD}/")
    return not record or is_known or any(name in record for name in OWN_ENTRIES)


RUNS_AND_TIME = ("runs", "last_modified_at")
"""Entries of the document of a data set from which its runs are known."""

_OWN: dict[Any, tuple[Any, dict[str, StoredRun]]] = {}
"""Cache: id of a data set -> time of its last change, and its runs at that time."""


def own_runs(dataset: Any, *, anew: bool = False) -> dict[str, StoredRun]:
    """Return the stored runs of this plugin by key: complete, unfinished and unreadable ones.

    They are cached until the data set changes; `anew` forces a reload.
    """
    return _runs_in(stored_document(dataset, *RUNS_AND_TIME), anew=anew)


def _runs_in(stored: Mapping[str, Any], *, anew: bool = False) -> dict[str, StoredRun]:
    at, own = _OWN.get(stored["_id"], (None, {}))
    if anew or at is None or at != stored["last_modified_at"]:
        listed = stored.get("runs") or {}
        wanted = {"timestamp": True, "config": True, "view_stages": True}
        found = {of["_id"]: of for of in database().runs.find({"_id": {"$in": list(listed.values())}}, wanted)}
        documents = {key: (run, found.get(run, {})) for key, run in listed.items()}
        own = {key: _stored_run(key, run, of) for key, (run, of) in documents.items() if _is_ours(of)}
        _OWN[stored["_id"]] = stored["last_modified_at"], own
    return dict(own)


def last_known_runs(dataset: Any) -> dict[str, StoredRun]:
    """Return the same as `own_runs` as of the last time they were read, without a query."""
    return dict(_OWN[id_of(dataset)][1])


def register_run(
    dataset: Any, run_key: str, config: Mapping[str, Any], stages: Sequence[Mapping[str, Any]] | None
) -> StoredRun:
    """Add a run to the list of a data set's runs; if two processes use one key, the database refuses one.

    `stages`: the stages of its view, or None for the whole data set.
    """
    made_at, view_stages = now(), None if stages is None else list(map(json_util.dumps, stages))
    record = sealed(config, view_stages)
    document = RunDocument(
        id=ObjectId(),
        dataset_id=id_of(dataset),
        key=run_key,
        version=foc.VERSION,
        timestamp=made_at,
        config=dataset.init_run(**record).serialize(),
        view_stages=view_stages,
    )
    journaled(database().runs).insert_one(document.to_mongo())  # on disk before any list names it
    entry = f"runs.{run_key}"
    if not change(dataset, {entry: document.id}, {entry: {"$exists": False}}):  # on disk before any field is declared
        database().runs.delete_one({"_id": document.id})
        raise InputError(f"run key: {run_key!r} is the key of another run; choose another or delete that run first")
    return StoredRun(document.id, run_key, made_at, SimpleNamespace(**record), view_stages)


def set_config(dataset: Any, runs: Sequence[StoredRun], **entries: Any) -> None:
    """Update entries in the records of runs in one step, visible to other processes.

    Raises
    ------
    KalosError
        If one of the runs was deleted by another user.
    """
    wanted = {"_id": {"$in": [run.id for run in runs]}}
    found = journaled(database().runs).update_many(wanted, {"$set": updates(entries)}).matched_count
    touch(dataset)
    if found < len(runs):
        raise KalosError(f"run key: {listed(repr(run.key) for run in runs)} was deleted by another process meanwhile")


def unlist(dataset: Any, run: StoredRun) -> None:
    """Remove a run from the list of runs, and then delete its document; everything it wrote must be deleted before.

    Removing it also marks the data set as changed, so that no reader follows a reference to a deleted document. A
    document that is left behind is deleted at the next access to the data set.
    """
    entry = f"runs.{run.key}"
    is_done = change(dataset, {}, {entry: run.id}, removed=[entry])
    database().runs.delete_one({"_id": run.id})
    if not is_done:  # another process was faster, or the data set was deleted
        touch(dataset)
