"""Renaming and removal of runs, recorded before the first write, and cleanup after dead processes.

All runs of a renaming change their keys in one step. If the process dies before this step, the next process undoes the
renaming; if it dies later, the next process finishes it. Meanwhile no other process renames or deletes runs of the data
set. The next process that lists or writes runs removes partially written or deleted runs.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import fiftyone as fo
from bson import ObjectId

from kalos_core.errors import InputError, KalosError
from kalos_core.fiftyone.dataset.database import check_server, copy_fields, journaled, now, server
from kalos_core.fiftyone.dataset.document import (
    INFO_KEY,
    LASTING,
    OURS,
    Move,
    StoredRun,
    claim,
    last_known_runs,
    own_runs,
    read_info,
    readable_info,
    refresh,
    stored_document,
    touch,
    unlist,
    update_info,
)
from kalos_core.fiftyone.dataset.formats import COMPLETE, DELETING, Writer, record_of, updates
from kalos_core.fiftyone.internals import database, delete_fields, id_of, root_of
from kalos_core.fiftyone.runs.arranging import place_fields
from kalos_core.fiftyone.runs.arrays import delete_arrays, drop, orphans
from kalos_core.fiftyone.runs.keys import RunNames, written_fields
from kalos_core.fiftyone.runs.writers import is_alive, writing_now

ENTRY = f"info.{INFO_KEY}.renaming"
"""Entry of the document of a data set that records a renaming."""

BUSY = "run key: another process is changing runs of"

GONE = "run key: another user deleted or created runs in the meantime; nothing was renamed, try again"


def move_of(dataset: Any, run_key: str, new_key: str, analysis: str | None) -> Move:
    """Return the changes that give a run another key and analysis."""
    old, new = RunNames(run_key), RunNames(new_key)
    renamed = dict(zip([*old.of_samples, *old.of_labels], [*new.of_samples, *new.of_labels], strict=True))
    fields = []
    run = own_runs(dataset)[run_key]
    written = written_fields(dataset, run_key, run.config.fields, run.config.label_fields)
    for path in filter(dataset.has_field, written):
        parent, _, name = path.rpartition(".")
        fields.append([path, f"{parent}.{renamed[name]}" if parent else renamed[name]])
    return Move(id=run.id, key=run_key, new_key=new_key, analysis=analysis, fields=fields)


def rename_runs(dataset: Any, moves: Sequence[Move]) -> None:
    """Rename runs, all or none.

    Raises
    ------
    InputError
        If another process is renaming runs of this data set, or one of the runs was deleted.
    """
    with writing_now() as writer:
        known = server()
        record = {"writer": dict(writer), "moves": list(moves), "is_done": False}
        claim(dataset, "renaming", record, BUSY)
        try:
            _check_complete([move["id"] for move in moves])
            if not all(dataset.has_field(path) for move in moves for path, _ in move["fields"]):
                raise InputError(GONE)
            for move in moves:
                if move["key"] != move["new_key"]:
                    copy_fields(dataset, dict(move["fields"]))
            check_server(known)
            _switch(dataset, moves)
            if server() != known:  # restarted before the switch: copies may be lost, so the originals must stay
                _switch(dataset, [_reversed(move) for move in moves], is_done=False)
                check_server(known)
        except BaseException:
            with suppress(Exception):  # what cannot be undone now is undone later; report the first error
                dataset.reload()
                settle_renaming(dataset, own=True)
            raise
        dataset.reload()
        settle_renaming(dataset, own=True)


def _check_complete(runs: Sequence[ObjectId]) -> None:
    """Refuse runs that another process began to delete before the renaming was recorded."""
    if database().runs.count_documents({"_id": {"$in": runs}, "config.status": COMPLETE}) < len(runs):
        raise InputError(GONE)


def _reversed(move: Move) -> Move:
    return {**move, "key": move["new_key"], "new_key": move["key"]}


def _switch(dataset: Any, moves: Sequence[Move], *, is_done: bool = True) -> None:
    others = [move for move in moves if move["key"] != move["new_key"]]
    there: dict[str, Any] = {f"runs.{move['key']}": move["id"] for move in moves}
    free = {f"runs.{move['new_key']}": {"$exists": False} for move in others}
    change: dict[str, Any] = {"$set": {f"runs.{move['new_key']}": move["id"] for move in others}}
    change["$set"] |= {f"{ENTRY}.is_done": is_done, "last_modified_at": now()}
    if others:
        change["$unset"] = {f"runs.{move['key']}": "" for move in others}
    where = {"_id": id_of(dataset), **there, **free}
    if not journaled(database().datasets).update_one(where, change).matched_count:
        raise InputError(GONE)


def settle_renaming(dataset: Any, *, own: bool = False) -> bool:
    """Finish the renaming of a dead process, or undo it if the keys were not switched yet; return whether there is one.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    own : bool
        Whether it is the renaming of this process, which is alive.

    Raises
    ------
    KalosError
        If the database died meanwhile; the next process finishes the renaming.
    """
    record = read_info(dataset).get("renaming")
    if record is None or (is_alive(record["writer"]) and not own):
        return False
    known = server()
    moves = record["moves"]
    for move in moves if record["is_done"] else ():
        _take_over(dataset, move)
    dataset.reload()
    for move in moves:
        if move["key"] != move["new_key"]:
            given_up = move["key"] if record["is_done"] else move["new_key"]
            fields = [pair[0 if record["is_done"] else 1] for pair in move["fields"]]
            delete_fields(dataset, written_fields(dataset, given_up, fields))
    check_server(known)
    update_info(dataset, renaming=None)
    return True


@contextmanager
def writing_beside(samples: Any, run_key: str) -> Iterator[None]:
    """Guard writes to the fields of a run by users, several of whom may write at the same time.

    The run was just loaded: only after the writes is the database asked whether it is still the same.

    Raises
    ------
    InputError
        If another process is renaming the run, or deleted it; nothing is written then.
    KalosError
        If another process renamed or deleted the run meanwhile, so that the writes may be lost.
    """
    dataset = root_of(samples)
    run = _unmoved(dataset, last_known_runs(dataset), run_key)
    if run is None:
        raise InputError(f"run key: another process is renaming or deleting {run_key!r}; wait until it is done")
    yield
    if _unmoved(dataset, refresh(dataset), run_key) != run:
        raise KalosError(
            f"run key: another process renamed or deleted {run_key!r} meanwhile; check whether it exists, or try again"
        )


def _unmoved(dataset: Any, runs: Mapping[str, StoredRun], run_key: str) -> ObjectId | None:
    """Return the id of the run under a key; None if there is none, or it is being renamed."""
    run = runs.get(run_key)
    record = read_info(dataset).get("renaming")
    moved = [move["id"] for move in record["moves"]] if record is not None and is_alive(record["writer"]) else []
    return None if run is None or run.id in moved else run.id


def _take_over(dataset: Any, move: Move) -> None:
    fields = [path for _, path in move["fields"]]
    entries = {"analysis": move["analysis"], **({} if move["key"] == move["new_key"] else {"fields": fields})}
    named = {"key": move["new_key"], **updates(entries)}
    journaled(database().runs).update_one({"_id": move["id"]}, {"$set": named})
    touch(dataset)
    place_fields(dataset, move["new_key"], fields)


FOLDER = "kalos"
"""Folder for the files of runs, in FiftyOne's folder of data sets."""


def remove_run(dataset: Any, *run_keys: str) -> None:
    """Delete runs in any state, and everything they wrote; runs that another process is deleting are left to it.

    All runs are marked as being deleted in one step before anything is removed, so that another process can finish an
    interrupted deletion. Unreadable runs are deleted, too, with everything named after their keys.

    Raises
    ------
    InputError
        If another process is changing runs of the data set, or renamed one of these; nothing is deleted then.
    """
    with writing_now() as writer:
        known = server()
        try:
            marked = _marked(dataset, run_keys, writer)
            shared = _named_by_others(marked)
            for run in marked:
                if run.config.folder is not None and run.config.folder not in shared:
                    _delete_folder(dataset, Path(run.config.folder))
                by_name = RunNames(run.key).of_samples if run.unreadable else []
                fields, read = [*run.config.fields, *by_name], run.config.label_fields
                delete_fields(dataset, written_fields(dataset, run.key, fields, read))
                if run.config.arrays is not None and run.config.arrays not in shared:
                    delete_arrays(id_of(dataset), run.config.arrays)
                check_server(known)
                unlist(dataset, run)
            if any(run.unreadable for run in marked):
                _drop_files_of_no_run(dataset)
        except BaseException:
            forget_deleted(dataset, ())
            raise


def _named_by_others(runs: Sequence[StoredRun]) -> set[str]:
    """Return the arrays and folders of some runs that other runs name, too, as those of a clone of the data set do.

    The last of them is deleted later, as one that belongs to no run.
    """
    files = {name: [getattr(run.config, name) for run in runs] for name in ("arrays", "folder")}
    wanted = [{f"config.{name}": {"$in": [of for of in given if of is not None]}} for name, given in files.items()]
    others = {"_id": {"$nin": [run.id for run in runs]}, "$or": wanted}
    found = database().runs.find(others, {f"config.{name}": True for name in files})
    return {str(record_of(document).get(name)) for document in found for name in files}


def _marked(dataset: Any, run_keys: Sequence[str], writer: Writer) -> list[StoredRun]:
    """Mark runs as being deleted by this process; return those that it may delete."""
    dataset.reload()
    before = [run for key, run in own_runs(dataset, anew=True).items() if key in run_keys]
    if not before:
        return []
    stored = database().runs
    for run in before:
        if run.unreadable:  # recreate a missing document, by which another process can finish the deletion
            stored.update_one({"_id": run.id}, {"$setOnInsert": {"_dataset_id": id_of(dataset)}}, upsert=True)
    unchanged = [{"_id": run.id, "config.writer": run.config.writer} for run in before]
    record = {"$cond": [{"$eq": [{"$type": "$config"}, "object"]}, "$config", {}]}
    note = {"$literal": {"status": DELETING, "writer": dict(writer)}}
    mark = [{"$set": {"config": {"$mergeObjects": [record, note]}}}]
    journaled(stored).update_many({"$or": unchanged}, mark)
    touch(dataset)
    marked = {"_id": {"$in": [run.id for run in before]}, "config.writer": dict(writer)}
    own = [of["_id"] for of in stored.find(marked, {"_id": True})]
    renaming = readable_info(stored_document(dataset, "info").get("info")).get("renaming")
    unmoved = {run.id for key, run in own_runs(dataset).items() if key in run_keys}
    is_busy = (renaming is not None and is_alive(renaming["writer"])) or not unmoved.issuperset(own)
    if is_busy and any(run.config.status == COMPLETE for run in before):
        stored.update_many({"_id": {"$in": own}}, {"$set": {"config.status": COMPLETE}})
        touch(dataset)
        raise InputError(f"{BUSY} {dataset.name!r}; wait until it is done")
    return [run for run in before if run.id in own]  # several if keys name the same run


LEFT_BEHIND: list[Callable[[Any], None]] = []
"""``undo(dataset)`` undoes unfinished operations of dead processes other than runs; the data set was just refreshed."""


def settle(dataset: Any) -> dict[str, StoredRun] | None:
    """Finish or undo operations of dead processes on a data set; return its runs, or None if it no longer exists.

    Undoing a load that was creating the data set deletes it.
    """
    runs = refresh(dataset)
    for undo in LEFT_BEHIND:
        undo(dataset)
        if dataset.deleted:
            return None
    if settle_renaming(dataset):
        runs = refresh(dataset)
    configs = {key: run.config for key, run in runs.items()}
    dead = [key for key, of in configs.items() if of.status != COMPLETE and not is_alive(of.writer)]
    if dead:
        remove_run(dataset, *dead)
        runs = refresh(dataset)
    _drop_unlisted(dataset, runs)
    return runs


def settled_run(dataset: Any, run_key: str) -> StoredRun | None:
    """Return a run that nothing left by dead processes can concern, without looking for it; None if it may."""
    run = refresh(dataset).get(run_key)
    is_complete = run is not None and run.config.status == COMPLETE
    return run if is_complete and read_info(dataset).keys() <= LASTING else None


def _drop_unlisted(dataset: Any, runs: Mapping[str, StoredRun]) -> None:
    """Delete the documents of runs that dead processes had not listed yet, or had already unlisted."""
    connection, listed = database(), [run.id for run in runs.values()]
    unlisted = {"_dataset_id": id_of(dataset), "_id": {"$nin": listed}, **OURS}
    for document in connection.runs.find(unlisted, {"config.writer": True, "config.arrays": True}):
        record = record_of(document)
        if not is_alive(record.get("writer")) and not _is_listed(document["_id"]):
            if ObjectId.is_valid(record.get("arrays")):
                delete_arrays(id_of(dataset), record["arrays"])
            connection.runs.delete_one({"_id": document["_id"]})


def _is_listed(run: ObjectId) -> bool:
    """Return whether any data set lists a run; a damaged document may name the wrong data set."""
    every = database().datasets.aggregate(
        [
            {"$project": {"runs": {"$objectToArray": {"$ifNull": ["$runs", {}]}}}},
            {"$match": {"runs.v": run}},
            {"$limit": 1},
        ]
    )
    return any(True for _ in every)


def sweep(dataset: Any) -> None:
    """Settle a data set, and remove leftovers of deleted data sets and files that belong to no run."""
    if settle(dataset) is not None:
        _drop_files_of_no_run(dataset)
    connection = database()
    gone = {"$nin": connection.datasets.distinct("_id")}
    for document in list(connection.runs.find({"_dataset_id": gone, **OURS}, {"_id": True})):
        if not _is_listed(document["_id"]):
            connection.runs.delete_one(document)
    _drop_orphans(gone)


def _drop_files_of_no_run(dataset: Any) -> None:
    """Remove files of a data set that belong to no run; none if a run is unreadable, as they may be its files.

    Runs of a clone of the data set name the same files.
    """
    home = folder_of(dataset)
    folders = [folder for folder in home.iterdir() if folder.is_dir()] if home.exists() else []
    runs = own_runs(dataset, anew=True).values()  # list runs after folders: a run is listed before its folder is made
    if any(run.unreadable for run in runs):
        return
    wanted = {"config.folder": {"$in": list(map(str, folders))}}
    named = set(database().runs.distinct("config.folder", wanted)) if folders else set()
    for folder in folders:
        if str(folder) not in named:
            _delete_folder(dataset, folder)
    _drop_orphans(id_of(dataset))


def _drop_orphans(owner: Any) -> None:
    for file, writer in list(orphans(_known_files(), of=owner)):
        if not is_alive(writer):
            drop(file)


def _known_files() -> set[str]:
    """Return the files of all runs; a clone of a data set shares those of the original."""
    found = database().runs.find(OURS, {"config.arrays": True})
    return {str(record_of(document).get("arrays")) for document in found}


def forget_deleted(dataset: Any, folders: Sequence[Path]) -> None:
    """Remove what a failed run wrote if its data set was deleted meanwhile, as no later cleanup would find it."""
    connection, identity = database(), id_of(dataset)
    with suppress(Exception):  # leftovers are removed later
        if connection.datasets.find_one({"_id": identity}, {"_id": True}) is None:
            connection.runs.delete_many({"_dataset_id": identity, **OURS})
            for file, _ in orphans(_known_files(), of=identity):
                drop(file)
            for folder in folders:
                _delete_folder(dataset, folder)


# ---- files ----


def _delete_folder(dataset: Any, folder: Path) -> None:
    """Delete the files of a run: only a folder named by an id in the folder of this data set, and no link.

    A run of a clone may name a folder of the original data set, and a damaged record any folder.
    """
    home = folder_of(dataset)
    if folder.parent != home or not ObjectId.is_valid(folder.name) or folder.is_symlink():
        return
    if folder.exists():
        shutil.rmtree(folder)
    if home.exists() and not any(home.iterdir()):
        home.rmdir()


def folder_of(dataset: Any) -> Path:
    """Return the folder for files of a data set's runs, named by the data set's id, which never changes."""
    return Path(fo.config.default_dataset_dir) / FOLDER / str(id_of(dataset))


def new_folder(samples: Any) -> Path:
    """Return a new folder path for the files of one run; the folder is not created yet."""
    return folder_of(root_of(samples)) / str(ObjectId())
