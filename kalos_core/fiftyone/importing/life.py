"""The life of a load: noted in the data set before its first write, so that one that was cut off is recognised.

The next load undoes what a dead process left half done; a load that fails undoes itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.odm as foo
from bson import ObjectId

from kalos_core.errors import InputError, KalosWarning
from kalos_core.fiftyone.dataset.assignment import ASSIGNED_FIELD, check_assigned_field
from kalos_core.fiftyone.dataset.database import (
    FieldArguments,
    collection,
    declare,
    delete_fields,
    now,
    refresh,
    reload_samples,
)
from kalos_core.fiftyone.dataset.info import INFO_KEY, read_info, update_info
from kalos_core.fiftyone.dataset.raters import forget_raters
from kalos_core.fiftyone.runs.life import explained
from kalos_core.fiftyone.runs.writers import is_alive, writing_now


@dataclass
class Load:
    """One load on its way into a data set.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    tag : str
        What new samples are tagged with until the load is complete.
    fields : list of str
        The fields it adds.
    files : path, optional
        Where it notes the files it makes.
    """

    dataset: Any
    tag: str
    fields: list[str]
    files: Path | None = None

    def make_file(self, path: Path) -> None:
        """Note a file that is about to be made, so that it can be removed again."""
        assert self.files is not None
        self.files.parent.mkdir(parents=True, exist_ok=True)
        with self.files.open("a", encoding="utf-8") as notes:
            notes.write(f"{path}\n")


@contextmanager
def loading(
    dataset: Any, fields: Mapping[str, FieldArguments], is_new: bool, files: Path | None = None
) -> Iterator[Load]:
    """Write everything, or nothing.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    fields : mapping
        Paths of fields and attributes to be created, each with the arguments of `add_sample_field`.
    is_new : bool
        Whether the data set was made for this load: then it goes with it.
    files : path, optional
        Folder of files that the load will make.
    """
    with writing_now() as writer:
        tag = f"kalos-load-{ObjectId()}"
        had_assigned = dataset.has_field(ASSIGNED_FIELD)
        if had_assigned:
            check_assigned_field(dataset)
        record = {
            "writer": dict(writer),
            "tag": tag,
            "is_new": is_new,
            "is_complete": False,
            "fields": list(fields),
            "had_assigned": had_assigned,
            "default_classes": list(dataset.default_classes),
            "mask_targets": [[name, list(of.items())] for name, of in dataset.mask_targets.items()],
            "files": None if files is None else str(files / f".{tag}"),
        }
        _claim(dataset, record)
        try:
            with explained(dataset):
                if had_assigned:  # a copy of who was assigned, made by the database itself
                    stages = [{"$project": {ASSIGNED_FIELD: {"$ifNull": [f"${ASSIGNED_FIELD}", None]}}}, {"$out": tag}]
                    collection(dataset).aggregate(stages)
                assigned = {} if had_assigned else {ASSIGNED_FIELD: {"ftype": fo.ListField, "subfield": fo.StringField}}
                declare(dataset, {**fields, **assigned})
                yield Load(dataset, tag, list(fields), None if record["files"] is None else Path(str(record["files"])))
                update_info(dataset, load={**record, "is_complete": True})
        except BaseException:
            _undo(dataset, record)
            raise
        _finish(dataset, record)


def _claim(dataset: Any, record: Mapping[str, Any]) -> None:
    """Note a load in the data set; of two processes at once the database refuses one."""
    entry = f"info.{INFO_KEY}.load"
    answer = foo.get_db_conn().datasets.update_one(
        {"_id": dataset._doc.id, entry: {"$exists": False}}, {"$set": {entry: record, "last_modified_at": now()}}
    )
    if not answer.matched_count:
        raise InputError(f"dataset: another process is loading into {dataset.name!r}; wait until it is done")
    dataset.reload()


def undo_dead_load(dataset: Any) -> bool:
    """Undo what a dead process left half loaded; whether the data set itself is gone with it.

    Warns
    -----
    KalosWarning
        If there was such a load.
    """
    refresh(dataset)
    record = read_info(dataset).get("load")
    if record is None or is_alive(record["writer"]):
        return False
    if record["is_complete"]:
        _finish(dataset, record)
        return False
    warnings.warn(
        f"dataset: an earlier load into {dataset.name!r} was cut off half-way; what it left is removed first",
        KalosWarning,
        stacklevel=4,
    )
    _undo(dataset, record)
    return bool(record["is_new"])


def _finish(dataset: Any, record: Mapping[str, Any]) -> None:
    """Take away what was only needed to undo a load."""
    collection(dataset).update_many({"tags": record["tag"]}, {"$pull": {"tags": record["tag"]}})
    foo.get_db_conn().drop_collection(record["tag"])
    if record["files"] is not None:
        Path(record["files"]).unlink(missing_ok=True)
    update_info(dataset, load=None)
    reload_samples(dataset)


def _undo(dataset: Any, record: Mapping[str, Any]) -> None:
    if record["files"] is not None:
        _remove_files(Path(record["files"]))
    if record["is_new"]:
        dataset.delete()
        return
    dataset.delete_samples(dataset.match_tags(record["tag"]))
    delete_fields(dataset, record["fields"])
    connection = foo.get_db_conn()
    if not record["had_assigned"]:
        delete_fields(dataset, [ASSIGNED_FIELD])
    elif record["tag"] in connection.list_collection_names():
        back = {"into": collection(dataset).name, "whenMatched": "merge", "whenNotMatched": "discard"}
        connection[record["tag"]].aggregate([{"$merge": back}])
    connection.drop_collection(record["tag"])
    dataset.default_classes = record["default_classes"]
    dataset.mask_targets = {name: dict(of) for name, of in record["mask_targets"]}
    forget_raters(dataset, record["fields"])
    update_info(dataset, load=None)
    reload_samples(dataset)


def _remove_files(notes: Path) -> None:
    if notes.exists():
        for path in notes.read_text(encoding="utf-8").splitlines():
            Path(path).unlink(missing_ok=True)
        notes.unlink()


def open_dataset(dataset: Any, persistent: bool) -> tuple[Any, bool]:
    """An existing data set, without what a dead load left in it, or a new one of that name; and whether it is new."""
    if dataset is not None and not isinstance(dataset, (str, fo.Dataset)):
        raise InputError(f"dataset: expected a name or a data set, got {type(dataset).__name__}")
    if isinstance(dataset, fo.Dataset) or (dataset is not None and fo.dataset_exists(dataset)):
        target = dataset if isinstance(dataset, fo.Dataset) else fo.load_dataset(dataset)
        name = target.name
        if not undo_dead_load(target):
            return target, False
        dataset = name
    return fo.Dataset(dataset, persistent=persistent), True


def existing_dataset(dataset: Any) -> Any:
    """A data set that exists, given as such or by its name."""
    if isinstance(dataset, str) and not fo.dataset_exists(dataset):
        raise InputError(f"dataset: expected one that exists, got {dataset!r}")
    target, is_new = open_dataset(dataset, persistent=False) if dataset is not None else (None, True)
    if is_new:
        if target is not None:
            target.delete()
        raise InputError(f"dataset: expected a name or a data set that exists, got {dataset!r}")
    return target
