"""How runs go: noted as being deleted before the first removal, and what dead processes left is swept."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import fiftyone as fo
import gridfs
from bson import ObjectId

from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.database import (
    check_server,
    delete_fields,
    journaled,
    refresh,
    server,
    touch,
)
from kalos_core.fiftyone.internals import (
    DETAILS,
    database,
    id_of,
    listed_run,
    listed_runs,
    root_of,
)
from kalos_core.fiftyone.runs.arrays import delete_arrays, drop, orphans
from kalos_core.fiftyone.runs.keys import METHOD, own_runs, written_attributes
from kalos_core.fiftyone.runs.renaming import is_held, settle_renaming
from kalos_core.fiftyone.runs.writers import COMPLETE, DELETING, is_alive, writing_now

OURS = {"config.method": {"$regex": f"^{METHOD}/"}}
"""Of the documents of runs, those that are of a kind of ours."""

FOLDER = "kalos"
"""Folder in FiftyOne's folder of data sets that holds the files of runs."""


def remove_run(dataset: Any, *run_keys: str) -> None:
    """Delete runs and all they wrote, whatever state they are in; what somebody else deletes already is left to them.

    All are noted as being deleted in one step, before anything goes: whoever finds them half gone finishes.

    Raises
    ------
    InputError
        If somebody is changing runs of the data set, or has renamed one of these; nothing is deleted then.
    """
    with writing_now() as writer:
        dataset.reload()
        there = {key: listed_run(dataset, key) for key in run_keys}
        found = {document.id: (key, document) for key, document in there.items() if document is not None}
        before = {key: document.config for key, document in found.values()}
        stored = database().runs
        these, works = {"_id": {"$in": list(found)}}, [config["writer"]["work"] for config in before.values()]
        taken = {**these, "config.writer.work": {"$in": works}}
        known, change = server(), {"$set": {"config.status": DELETING, "config.writer": dict(writer)}}
        journaled(stored).update_many(taken, change)
        own = [entry["_id"] for entry in stored.find({**these, "config.writer.work": writer["work"]}, {"_id": True})]
        complete = [key for key, config in before.items() if config["status"] == COMPLETE]
        touch(dataset)
        dataset.reload()
        still = {getattr(listed_run(dataset, found[identity][0]), "id", None) for identity in own}
        if complete and (is_held(dataset) or not still.issuperset(own)):
            stored.update_many({"_id": {"$in": own}}, {"$set": {"config.status": COMPLETE}})
            touch(dataset)
            dataset.reload()
            raise InputError(f"run key: another process is changing runs of {dataset.name!r}; wait until it is done")
        try:
            for identity in own:
                _remove_marked(dataset, found[identity][0], identity, known)
        except BaseException:
            forget_deleted(dataset, ())
            raise


def _remove_marked(dataset: Any, run_key: str, identity: ObjectId, known: Any) -> None:
    """Delete what a run wrote, then the run. `known`: the server that noted it as being deleted."""
    config = dataset.get_run_info(run_key).config
    delete_fields(dataset, dict.fromkeys([*config.fields, *written_attributes(dataset, run_key)]))
    if config.folder is not None:
        _delete_folder(dataset, Path(config.folder))
    _delete_files(dataset, identity)
    check_server(known)
    entry = f"runs.{run_key}"
    journaled(database().datasets).update_one({"_id": id_of(dataset), entry: identity}, {"$unset": {entry: ""}})
    database().runs.delete_one({"_id": identity})  # before what fails where the data set was renamed meanwhile
    touch(dataset)
    dataset.reload()


def _delete_files(dataset: Any, identity: ObjectId) -> None:
    """Delete the arrays and details of a run."""
    found = database().runs.find_one({"_id": identity}, {"config.arrays": True, "results": True})
    if found is not None:
        file = found["config"].get("arrays")
        delete_arrays(dataset, file)
        delete_arrays(dataset, file, DETAILS)
        if found.get("results") not in (None, file and ObjectId(file)):  # FiftyOne's copy, where the data set is one
            gridfs.GridFS(database(), collection=DETAILS).delete(found["results"])


def sweep(dataset: Any) -> None:
    """Remove what dead processes left: runs half written or half deleted, files of no run, runs of no data set."""
    refresh(dataset)
    settle_renaming(dataset)
    if dead := dead_runs(own_runs(dataset)):
        remove_run(dataset, *dead)
    connection = database()
    every = list(connection.runs.find({"_dataset_id": id_of(dataset), **OURS}, {"config.writer": True}))
    listed_now = listed_runs(dataset) if every else set()  # looked at later: what a living process makes is listed last
    for found in every:
        if found["_id"] not in listed_now and not is_alive(found["config"]["writer"]):
            _delete_files(dataset, found["_id"])
            connection.runs.delete_one({"_id": found["_id"]})
    connection.runs.delete_many({"_dataset_id": {"$nin": connection.datasets.distinct("_id")}, **OURS})
    for file, writer in orphans(_known_files()):
        if not is_alive(writer):
            drop(file)


def _known_files() -> set[str]:
    """The files of runs of the data sets that there are; a copy of a data set has those of the first."""
    connection = database()
    wanted = {"_dataset_id": {"$in": connection.datasets.distinct("_id")}, **OURS}
    return {str(found["config"].get("arrays")) for found in connection.runs.find(wanted, {"config.arrays": True})}


def forget_deleted(dataset: Any, folders: Sequence[Path]) -> None:
    """Remove what a run that failed wrote for a data set that was deleted meanwhile: nobody looks at it again."""
    connection, identity = database(), id_of(dataset)
    with suppress(Exception):  # what cannot be removed now is swept later
        if connection.datasets.find_one({"_id": identity}, {"_id": True}) is None:
            connection.runs.delete_many({"_dataset_id": identity, **OURS})
            for file, _ in orphans(_known_files(), of=identity):
                drop(file)
            for folder in folders:
                _delete_folder(dataset, folder)


def dead_runs(own: Mapping[str, Any]) -> list[str]:
    """Keys of the runs, of those of `own_runs`, that a dead process was writing or deleting."""
    configs = {key: about.config for key, about in own.items()}
    return [key for key, config in configs.items() if config.status != COMPLETE and not is_alive(config.writer)]


# ---- files ----


def _delete_folder(dataset: Any, folder: Path) -> None:
    """Delete the files of a run; not those of the data set this one is a copy of."""
    home = folder_of(dataset)
    if folder.parent != home:
        return
    if folder.exists():
        shutil.rmtree(folder)
    if home.exists() and not any(home.iterdir()):
        home.rmdir()


def folder_of(dataset: Any) -> Path:
    """Where runs of a data set write files: named by what never changes, neither its name nor a run key."""
    return Path(fo.config.default_dataset_dir) / FOLDER / str(id_of(dataset))


def new_folder(samples: Any) -> Path:
    """A folder for the files of one run; it is not made yet."""
    return folder_of(root_of(samples)) / str(ObjectId())
