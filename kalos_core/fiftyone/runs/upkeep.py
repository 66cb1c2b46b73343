"""How runs are renamed and removed, each noted before its first write; what dead processes left of it is settled.

All runs that are renamed change their keys in one step: up to it whoever looks next takes back what a dead process did,
after it whoever looks next finishes; meanwhile nobody else renames or deletes runs of the data set. A run that is
half written or half deleted is swept by whoever lists the runs next, or writes one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypedDict

import fiftyone as fo
import gridfs
from bson import ObjectId

from kalos_core.errors import InputError, KalosError
from kalos_core.fiftyone.dataset.database import (
    check_server,
    copy_fields,
    delete_fields,
    journaled,
    now,
    refresh,
    server,
    touch,
)
from kalos_core.fiftyone.dataset.info import INFO_KEY, claim, read_info, update_info
from kalos_core.fiftyone.internals import (
    DETAILS,
    database,
    id_of,
    listed_run,
    root_of,
)
from kalos_core.fiftyone.runs.arranging import place_fields
from kalos_core.fiftyone.runs.arrays import delete_arrays, drop, orphans
from kalos_core.fiftyone.runs.keys import METHOD, RunNames, own_runs, written_attributes, written_fields
from kalos_core.fiftyone.runs.writers import COMPLETE, DELETING, is_alive, writing_now

ENTRY = f"info.{INFO_KEY}.renaming"
"""Where in the document of a data set it is noted."""

BUSY = "run key: another process is changing runs of"

GONE = "run key: runs were deleted or made by somebody else meanwhile; nothing is renamed, try again"


class Move(TypedDict):
    """A run that gets another key, or another analysis, or both."""

    id: ObjectId
    key: str
    new_key: str
    analysis: str | None
    fields: list[list[str]]
    """Path of each field it wrote, and what it is to be."""


def move_of(dataset: Any, run_key: str, new_key: str, analysis: str | None) -> Move:
    """What changes where a run gets another key, and another analysis."""
    old, new = RunNames(run_key), RunNames(new_key)
    renamed = dict(zip([*old.of_samples, *old.of_labels], [*new.of_samples, *new.of_labels], strict=True))
    fields = []
    for path in written_fields(dataset, run_key, dataset.get_run_info(run_key).config):
        parent, _, name = path.rpartition(".")
        fields.append([path, f"{parent}.{renamed[name]}" if parent else renamed[name]])
    return Move(id=listed_run(dataset, run_key).id, key=run_key, new_key=new_key, analysis=analysis, fields=fields)


def rename_runs(dataset: Any, moves: Sequence[Move]) -> None:
    """Give runs other keys, all of them or none.

    Raises
    ------
    InputError
        If somebody else is renaming runs of this data set, or one of them is gone.
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
            if server() != known:  # between the two: what was copied may be gone, so what it is copied from stays
                _switch(dataset, [_reversed(move) for move in moves], is_done=False)
                check_server(known)
        except BaseException:
            with suppress(Exception):  # what cannot be taken back now is later; the first error is the one to tell
                dataset.reload()
                settle_renaming(dataset, own=True)
            raise
        dataset.reload()
        settle_renaming(dataset, own=True)


def _check_complete(runs: Sequence[ObjectId]) -> None:
    """Refuse runs that somebody began to delete before it was noted that they are held."""
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


def settle_renaming(dataset: Any, *, own: bool = False) -> None:
    """Finish a renaming that a dead process began, or take it back where it had not come far enough.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    own : bool
        Whether it is the renaming of this process, which is alive.

    Raises
    ------
    KalosError
        If the database died meanwhile: whoever looks next finishes.
    """
    record = read_info(dataset).get("renaming")
    if record is None or (is_alive(record["writer"]) and not own):
        return
    known = server()
    moves: list[Move] = record["moves"]
    for move in moves if record["is_done"] else ():
        _take_over(dataset, move)
    dataset.reload()
    for move in moves:
        if move["key"] != move["new_key"]:
            given_up = move["key"] if record["is_done"] else move["new_key"]
            fields = [pair[0 if record["is_done"] else 1] for pair in move["fields"]]
            _delete_written(dataset, given_up, fields)
    check_server(known)
    update_info(dataset, renaming=None)


def is_held(dataset: Any) -> bool:
    """Whether somebody is renaming runs of a data set."""
    record = read_info(dataset).get("renaming")
    return record is not None and is_alive(record["writer"])


@contextmanager
def writing_beside(samples: Any, run_key: str) -> Iterator[None]:
    """What is written inside stands on fields of a run; of several people at once each does.

    Raises
    ------
    InputError
        If somebody is renaming the run, or has deleted it; nothing is written then.
    KalosError
        If somebody renamed or deleted the run meanwhile, so that what was written may be lost.
    """
    dataset = root_of(samples)
    run = _listed_unmoved(dataset, run_key)
    if run is None:
        raise InputError(f"run key: another process is renaming or deleting {run_key!r}; wait until it is done")
    yield
    if _listed_unmoved(dataset, run_key) != run:
        raise KalosError(
            f"run key: somebody renamed or deleted {run_key!r} meanwhile; look whether it is there, or try again"
        )


def _listed_unmoved(dataset: Any, run_key: str) -> ObjectId | None:
    """The id of a run that is listed now under a key, and that nobody is renaming; else None."""
    refresh(dataset)
    record, run = read_info(dataset).get("renaming"), listed_run(dataset, run_key)
    moved = [move["id"] for move in record["moves"]] if record is not None and is_alive(record["writer"]) else []
    return None if run is None or run.id in moved else run.id


def _take_over(dataset: Any, move: Move) -> None:
    entries: dict[str, Any] = {"config.analysis": move["analysis"]}
    fields = [path for _, path in move["fields"]]
    if move["key"] != move["new_key"]:
        entries |= {"key": move["new_key"], "config.fields": fields}
    journaled(database().runs).update_one({"_id": move["id"]}, {"$set": entries})
    _note_change(dataset)
    place_fields(dataset, move["new_key"], fields)


def _note_change(dataset: Any) -> None:
    """Let other processes read a data set again, and do so here."""
    touch(dataset)
    dataset.reload()


def _delete_written(dataset: Any, run_key: str, fields: Iterable[str]) -> None:
    """Delete the fields of a run, and its attributes wherever they are now."""
    delete_fields(dataset, dict.fromkeys([*fields, *written_attributes(dataset, run_key)]))


def _listed(dataset: Any, run_keys: Sequence[str]) -> dict[ObjectId, str]:
    """The ids of the runs of some keys that a data set lists, with these keys."""
    found = ((listed_run(dataset, key), key) for key in run_keys)
    return {document.id: key for document, key in found if document is not None}


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
        listed, stored = _listed(dataset, run_keys), database().runs
        these = {"_id": {"$in": list(listed)}}
        before = [found["config"] for found in stored.find(these, {"config.status": True, "config.writer": True})]
        known, works = server(), {"$in": [config["writer"]["work"] for config in before]}
        mark = {"$set": {"config.status": DELETING, "config.writer": dict(writer)}}
        journaled(stored).update_many({**these, "config.writer.work": works}, mark)
        own = [found["_id"] for found in stored.find({**these, "config.writer.work": writer["work"]}, {"_id": True})]
        _note_change(dataset)
        is_complete = any(config["status"] == COMPLETE for config in before)
        if is_complete and (is_held(dataset) or not set(own) <= _listed(dataset, run_keys).keys()):
            stored.update_many({"_id": {"$in": own}}, {"$set": {"config.status": COMPLETE}})
            _note_change(dataset)
            raise InputError(f"{BUSY} {dataset.name!r}; wait until it is done")
        try:
            for identity in own:
                _remove_marked(dataset, listed[identity], identity, known)
        except BaseException:
            forget_deleted(dataset, ())
            raise


def _remove_marked(dataset: Any, run_key: str, identity: ObjectId, known: Any) -> None:
    """Delete what a run wrote, then the run. `known`: the server that noted it as being deleted."""
    config = dataset.get_run_info(run_key).config
    _delete_written(dataset, run_key, config.fields)
    if config.folder is not None:
        _delete_folder(dataset, Path(config.folder))
    _delete_files(id_of(dataset), identity)
    check_server(known)
    entry = f"runs.{run_key}"
    journaled(database().datasets).update_one({"_id": id_of(dataset), entry: identity}, {"$unset": {entry: ""}})
    database().runs.delete_one({"_id": identity})  # before what fails where the data set was renamed meanwhile
    _note_change(dataset)


def _delete_files(owner: ObjectId, run: ObjectId) -> None:
    """Delete the arrays and details of a run; not those of the data set this one is a copy of."""
    found = database().runs.find_one({"_id": run}, {"config.arrays": True, "results": True})
    if found is not None:
        file = found["config"].get("arrays")
        delete_arrays(owner, file)
        delete_arrays(owner, file, DETAILS)
        if found.get("results") not in (None, file and ObjectId(file)):  # FiftyOne's copy, where the data set is one
            gridfs.GridFS(database(), collection=DETAILS).delete(found["results"])


def sweep(owner: ObjectId) -> None:
    """Remove what dead processes left: runs half written or half deleted, files of no run, runs of no data set.

    The database says what there is; the data set itself is only opened where something was left in it.
    """
    connection, ours = database(), {"_dataset_id": owner, **OURS}
    every = list(connection.runs.find(ours, {"config.status": True, "config.writer": True}))
    wanted = {"name": True, "runs": True, "renaming": f"${ENTRY}.writer"}
    stored = connection.datasets.find_one({"_id": owner}, wanted) or {}
    listed_now = set(stored.get("runs", {}).values())  # looked at later: what a living process makes is listed last
    left = [found for found in every if found["config"]["status"] != COMPLETE or found["_id"] not in listed_now]
    dead = {found["_id"] for found in left if not is_alive(found["config"]["writer"])}
    if "renaming" in stored or not dead.isdisjoint(listed_now):
        settle(fo.load_dataset(stored["name"]))
    for run in dead - listed_now:
        _delete_files(owner, run)
        connection.runs.delete_one({"_id": run})
    connection.runs.delete_many({"_dataset_id": {"$nin": connection.datasets.distinct("_id")}, **OURS})
    for file, writer in orphans(_known_files()):
        if not is_alive(writer):
            drop(file)


def settle(dataset: Any) -> None:
    """Finish or take back what dead processes were doing to the runs that a data set lists."""
    refresh(dataset)
    settle_renaming(dataset)
    if dead := dead_runs(own_runs(dataset)):
        remove_run(dataset, *dead)


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
