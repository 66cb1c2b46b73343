"""The document of a data set and those of its runs: read as the database has them, changed in one step.

What the plugin remembers of a data set as a whole stands in ``dataset.info["kalos"]``: read and written here only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any, TypedDict, cast, get_type_hints

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
    """What is known of a rater beyond their labels."""

    rater: str
    person: str
    session: str
    classes: list[str] | None
    is_local: bool


class LoadRecord(TypedDict):
    """A load that is being written, see `kalos_core.fiftyone.importing.life`."""

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
    """A run that gets another key, or another analysis, or both."""

    id: ObjectId
    key: str
    new_key: str
    analysis: str | None
    fields: list[list[str]]
    """Path of each field it wrote, and what it is to be."""


class Renaming(TypedDict):
    """The runs that are being renamed, see `kalos_core.fiftyone.runs.upkeep`."""

    writer: Writer
    moves: list[Move]
    is_done: bool


class HandingOver(TypedDict):
    """The annotation run that is being made, see `kalos_core.fiftyone.deciding.results`."""

    key: str
    writer: Writer


class Info(TypedDict, total=False):
    """All that is remembered."""

    raters: dict[str, str]
    """Label field -> rater."""
    rater_facts: list[RaterRecord]
    load: LoadRecord
    renaming: Renaming
    handing_over: HandingOver


def read_info(samples: Any) -> Info:
    """What is remembered, without what cannot be read; empty where nothing is.

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
    """The part of `Dataset.info` that is ours and can be read."""
    found = info.get(INFO_KEY) if isinstance(info, dict) else None
    entries = found.items() if isinstance(found, dict) else ()
    hints = get_type_hints(Info)
    return cast(Info, {name: value for name, value in entries if name not in hints or fits(value, hints[name])})


def _forget_garbled(dataset: Any) -> None:
    """Forget what is remembered of a data set and cannot be read, with a warning: it would be in the way."""
    stored = dataset.info.get(INFO_KEY, {})
    kept = readable_info(dataset.info)
    if stored == kept:
        return
    names = [name for name in stored if name not in kept] if isinstance(stored, dict) else [INFO_KEY]
    warn(
        f"dataset: {listed(map(repr, names))} in the information of {dataset.name!r} cannot be read and is forgotten; "
        "look at its raters, and at samples whose tags begin with 'kalos-load'"
    )
    entry = f"info.{INFO_KEY}"
    values = {"$set": {entry: kept, "last_modified_at": now()}}
    if not kept:
        values = {"$unset": {entry: ""}, "$set": {"last_modified_at": now()}}
    journaled(database().datasets).update_one({"_id": id_of(dataset), entry: stored}, values)
    dataset.reload()


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
    _forget_garbled(dataset)


def stored_document(dataset: Any, *names: str) -> dict[str, Any]:
    """Entries of the document of a data set as the database has them; an error where it is gone."""
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
    """Set and remove entries of the document of a data set in one step, on disk, and take up what was changed.

    Returns False, and changes nothing, where `where` does not hold. Other processes read the data set again. FiftyOne's
    own way holds microseconds, which the database does not keep: this process would always read it again.
    """
    stored = database().datasets
    done: dict[str, Any] = {"$set": {**entries, "last_modified_at": now()}}
    if removed:
        done["$unset"] = dict.fromkeys(removed, "")
    only_time = not entries and not removed  # of which nothing can be lost
    before = (stored if only_time else journaled(stored)).find_one_and_update(
        {"_id": id_of(dataset), **(where or {})}, done, {"last_modified_at": True}
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

OWN_ENTRIES = ("seal", "writer", "arrays")
"""Entries by which a record is known as one of this plugin where its method is lost."""

OURS = {
    "$or": [
        {"config.method": {"$regex": f"^{METHOD}/"}},
        *({f"config.{name}": {"$exists": True}} for name in OWN_ENTRIES),
    ]
}
"""Of the documents of runs, those of this plugin."""


@dataclass(frozen=True)
class StoredRun:
    """A run as the database has it, for reading only.

    Parameters
    ----------
    id : ObjectId
    key : str
    timestamp : datetime
    config : object
        Its record. Of one that cannot be read, only what is needed to delete it, none of which does any harm.
    view_stages : list of str, optional
        Stages of the view it is of; None: of the data set.
    unreadable : str
        The reason why it cannot be read; "" where it can.
    """

    id: ObjectId
    key: str
    timestamp: datetime
    config: Any
    view_stages: Sequence[str] | None = None
    unreadable: str = ""

    @property
    def kind(self) -> str:
        """The name of its kind; "" of one that cannot be read."""
        return "" if self.unreadable else str(self.config.method).partition("/")[2]

    @property
    def is_complete(self) -> bool:
        """Whether it can be read, and nobody is writing or deleting it."""
        return not self.unreadable and self.config.status == COMPLETE

    @property
    def metrics(self) -> dict[str, Any]:
        """The numbers of the summary, with those that people gave."""
        return {**self.config.metrics, **self.config.given}


def _stored_run(key: str, identity: Any, document: Mapping[str, Any]) -> StoredRun:
    """A run from its document, which is empty where it is gone: the only place where one is looked at."""
    record, reason = record_of(document), why_unreadable(document)
    if reason:
        made = identity.generation_time.replace(tzinfo=None) if isinstance(identity, ObjectId) else datetime.min
        return StoredRun(identity, key, made, _to_delete(key, record), unreadable=reason)
    config = SimpleNamespace(**record)
    return StoredRun(identity, key, document["timestamp"], config, document.get("view_stages"))


def _to_delete(key: str, record: Mapping[str, Any]) -> SimpleNamespace:
    """What is needed to delete a run that cannot be read: of the fields it lists those that carry its key."""
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
    """Whether a listed run is one of this plugin; one without a record is nobody else's."""
    record = record_of(document)
    is_known = str(record.get("method", "")).startswith(f"{METHOD}/")
    return not record or is_known or any(name in record for name in OWN_ENTRIES)


_OWN: dict[Any, tuple[Any, dict[str, StoredRun]]] = {}
"""Id of a data set -> when it changed last, and its runs as they were then."""


def own_runs(dataset: Any, *, anew: bool = False) -> dict[str, StoredRun]:
    """The runs of this plugin as they are stored, by key: complete ones, those at work, and those that are unreadable.

    They are read again when the data set has changed, or if `anew`.
    """
    stored = stored_document(dataset, "runs", "last_modified_at")
    at, own = _OWN.get(stored["_id"], (None, {}))
    if anew or at is None or at != stored["last_modified_at"]:
        listed = stored.get("runs") or {}
        wanted = {"timestamp": True, "config": True, "view_stages": True}
        found = {of["_id"]: of for of in database().runs.find({"_id": {"$in": list(listed.values())}}, wanted)}
        documents = {key: (run, found.get(run, {})) for key, run in listed.items()}
        own = {key: _stored_run(key, run, of) for key, (run, of) in documents.items() if _is_ours(of)}
        _OWN[stored["_id"]] = stored["last_modified_at"], own
    return dict(own)


def register_run(
    dataset: Any, run_key: str, config: dict[str, Any], stages: Sequence[Mapping[str, Any]] | None
) -> StoredRun:
    """Enter a run into the list of a data set's runs; of two processes the database refuses one.

    `stages`: of the view it is of, None of the data set.
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
    """Store other values in the records of runs, in one step, so that other processes see it.

    Raises
    ------
    KalosError
        If somebody deleted one of them.
    """
    wanted = {"_id": {"$in": [run.id for run in runs]}}
    found = journaled(database().runs).update_many(wanted, {"$set": updates(entries)}).matched_count
    touch(dataset)
    if found < len(runs):
        raise KalosError(f"run key: {listed(repr(run.key) for run in runs)} was deleted by somebody else meanwhile")


def unlist(dataset: Any, run: StoredRun) -> None:
    """Take a run, whatever it wrote being gone, off the list, and then its document.

    Readers see in the same step that the data set has changed, so that none follows a reference to a document that is
    gone; a document that stays here is swept by the next look at the data set.
    """
    entry = f"runs.{run.key}"
    is_done = change(dataset, {}, {entry: run.id}, removed=[entry])
    database().runs.delete_one({"_id": run.id})
    if not is_done:  # somebody else was quicker, or the data set is gone
        touch(dataset)
