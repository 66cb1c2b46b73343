"""The life of a renaming: noted in the data set before its first write; all runs change their keys in one step.

Up to that step whoever looks next takes back what a dead process did; after it, whoever looks next finishes. While it
is noted nobody else renames or deletes runs of the data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypedDict

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
from kalos_core.fiftyone.dataset.info import INFO_KEY, read_info, update_info
from kalos_core.fiftyone.internals import database, id_of, listed_run, root_of
from kalos_core.fiftyone.runs.arranging import place_fields
from kalos_core.fiftyone.runs.keys import RunNames, written_attributes, written_fields
from kalos_core.fiftyone.runs.writers import COMPLETE, Writer, is_alive, writing_now

ENTRY = f"info.{INFO_KEY}.renaming"
"""Where in the document of a data set it is noted."""

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
        _hold(dataset, writer, moves)
        try:
            dataset.reload()
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


def _hold(dataset: Any, writer: Writer, moves: Sequence[Move]) -> None:
    """Note in a data set that its runs are being renamed; of two processes at once the database refuses one."""
    record = {"writer": dict(writer), "moves": list(moves), "is_done": False}
    where, entry = {"_id": id_of(dataset), ENTRY: {"$exists": False}}, {ENTRY: record, "last_modified_at": now()}
    if not journaled(database().datasets).update_one(where, {"$set": entry}).matched_count:
        raise InputError(f"run key: another process is changing runs of {dataset.name!r}; wait until it is done")


def _check_complete(runs: Sequence[ObjectId]) -> None:
    """Refuse runs that somebody began to delete before it was noted that they are held."""
    if database().runs.count_documents({"_id": {"$in": runs}, "config.status": COMPLETE}) < len(runs):
        raise InputError(GONE)


def _reversed(move: Move) -> Move:
    return {**move, "key": move["new_key"], "new_key": move["key"]}


def _switch(dataset: Any, moves: Sequence[Move], *, is_done: bool = True) -> None:
    """Let the data set list the runs under their new keys."""
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
            delete_fields(dataset, dict.fromkeys([*fields, *written_attributes(dataset, given_up)]))
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
    """Let a run that is listed under its new key have it."""
    entries: dict[str, Any] = {"config.analysis": move["analysis"]}
    fields = [path for _, path in move["fields"]]
    if move["key"] != move["new_key"]:
        entries |= {"key": move["new_key"], "config.fields": fields}
    journaled(database().runs).update_one({"_id": move["id"]}, {"$set": entries})
    touch(dataset)
    dataset.reload()
    place_fields(dataset, move["new_key"], fields)
