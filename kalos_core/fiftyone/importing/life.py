"""Life cycle of a load: recorded in the data set before its first write, so that interrupted loads are detected.

A load that fails undoes itself. If its process dies, the next process that loads, lists or deletes runs undoes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fiftyone as fo
from bson import ObjectId
from pymongo.errors import PyMongoError

from kalos_core.errors import InputError, KalosError, repr_of, warn
from kalos_core.fiftyone.dataset.database import (
    BLOCK,
    FieldArguments,
    check_server,
    collection,
    declare,
    files_of,
    journaled,
    keep,
    reload_samples,
    server,
)
from kalos_core.fiftyone.dataset.document import LOAD_TAG, claim, read_info, update_info
from kalos_core.fiftyone.dataset.opened import check_assigned_field
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD, forget_raters
from kalos_core.fiftyone.dataset.samples import every_sample
from kalos_core.fiftyone.dataset.writing import Progress, write_documents
from kalos_core.fiftyone.internals import database, delete_fields, forget_unlisted_samples, id_of, was_made_since
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.upkeep import LEFT_BEHIND
from kalos_core.fiftyone.runs.writers import is_alive, writing_now
from kalos_core.readers.images import KnownImages
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd

Given = tuple[str, Mapping[str, Any], Sequence[str]]
"""Id of a sample, labels to write to it by field, and the assigned raters."""


@dataclass
class Load:
    """A load in progress.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    record : dict
        Record of the load in the data set.
    """

    dataset: Any
    record: Mapping[str, Any]

    @property
    def tag(self) -> str:
        """Tag of new samples until the load is complete."""
        return str(self.record["tag"])

    def make_file(self, path: Path) -> None:
        """Record a file that is about to be created, so that it can be removed again."""
        notes = Path(self.record["files"])
        notes.parent.mkdir(parents=True, exist_ok=True)
        with notes.open("a", encoding="utf-8") as lines:
            lines.write(f"{json.dumps(str(path))}\n")  # a name may hold a line break

    def add_samples(self, paths: Sequence[str], sizes: Iterable[tuple[float, float]]) -> list[str]:
        """Add samples for image files of the given widths and heights, still without labels; return their ids."""
        ids: list[str] = []
        entries = zip(paths, sizes, strict=True)
        while block := list(islice(entries, BLOCK)):
            found = [
                (path, fo.ImageMetadata(width=round(width), height=round(height))) for path, (width, height) in block
            ]
            samples = [fo.Sample(path, metadata=size, tags=[self.tag]) for path, size in found]
            ids += self.dataset.add_samples(samples, progress=False)
        return ids

    def write(self, labels: Iterable[Given], count: int, progress: Progress | None = None) -> None:
        """Write the labels of `count` samples, and add their raters to those assigned before."""
        before: dict[str, list[str] | None] = {}
        if self.record["had_assigned"]:
            before = dict(zip(*every_sample(self.dataset).values(["id", ASSIGNED_FIELD]), strict=True))
        documents = (
            (key, {**fields, ASSIGNED_FIELD: list(dict.fromkeys([*(before.get(key) or ()), *raters]))})
            for key, fields, raters in labels
        )
        write_documents(self.dataset, documents, count, progress)


@contextmanager
def loading(
    dataset: Any, fields: Mapping[str, FieldArguments], is_new: bool, files: Path | None = None
) -> Iterator[Load]:
    """Write everything or nothing.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    fields : mapping
        Paths of fields and attributes to be created, each with the arguments of `add_sample_field`.
    is_new : bool
        Whether the data set was made for this load; it is deleted if the load fails.
    files : path, optional
        Folder of files that the load will create.
    """
    with writing_now() as writer:
        tag = f"{LOAD_TAG}{ObjectId()}"
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
            "makes_folder": files is not None and not files.exists(),
        }
        known = server()
        with explained(dataset, "nothing is loaded"):
            claim(dataset, "load", record, "dataset: another process is loading into")
        try:
            with explained(dataset, "nothing of this load is kept"):
                if had_assigned:  # back up the assigned raters within the database
                    stages = [{"$project": {ASSIGNED_FIELD: {"$ifNull": [f"${ASSIGNED_FIELD}", None]}}}, {"$out": tag}]
                    journaled(collection(dataset)).aggregate(stages)
                assigned = {} if had_assigned else {ASSIGNED_FIELD: {"ftype": fo.ListField, "subfield": fo.StringField}}
                declare(dataset, {**fields, **assigned})
                yield Load(dataset, record)
                check_server(known)
                update_info(dataset, load={**record, "is_complete": True})
        except BaseException:
            _undo(dataset, record)
            raise
        with explained(
            dataset, "the load is complete; its temporary records are removed at the next access to the data set"
        ):
            _finish(dataset, record)


def undo_dead_load(dataset: Any) -> None:
    """Undo the unfinished load of a dead process; a data set that it was creating is deleted.

    Warns
    -----
    KalosWarning
        If there was such a load.
    """
    _forget_unclaimed()
    if dataset.deleted:
        return
    record = read_info(dataset).get("load")
    if record is None or is_alive(record["writer"]):
        return
    if record["is_complete"]:
        _finish(dataset, record)
        return
    warn(f"dataset: an earlier load into {dataset.name!r} was interrupted; its partial data is removed first")
    _undo(dataset, record)


LEFT_BEHIND.append(undo_dead_load)

MAKING = "kalos.making"
"""Collection of new data sets that loads have not claimed yet, with their names and writers."""


@contextmanager
def _noted(name: str) -> Iterator[None]:
    """Record that this process creates a data set, until it is claimed or deleted."""
    with writing_now() as writer:
        note = {"_id": ObjectId(writer["work"]), "name": name, "writer": dict(writer)}
        with explained(None, "no data set was made"):
            journaled(database()[MAKING]).insert_one(note)
        try:
            yield
        finally:
            with suppress(PyMongoError):  # a leftover is removed at the next access to a data set
                database()[MAKING].delete_one({"_id": note["_id"]})


def _forget_unclaimed() -> None:
    """Delete empty data sets of processes that died before claiming them."""
    for note in database()[MAKING].find():
        if is_alive(note.get("writer")):
            continue
        if fo.dataset_exists(note["name"]):
            made = fo.load_dataset(note["name"])
            if was_made_since(note["_id"], id_of(made)) and not made.count() and not read_info(made):
                made.delete()
        database()[MAKING].delete_one({"_id": note["_id"]})


def _finish(dataset: Any, record: Mapping[str, Any]) -> None:
    """Remove what was only needed to undo a load."""
    journaled(collection(dataset)).update_many({"tags": record["tag"]}, {"$pull": {"tags": record["tag"]}})
    journaled(database()).drop_collection(record["tag"])
    if record["files"] is not None:
        Path(record["files"]).unlink(missing_ok=True)
    update_info(dataset, load=None)
    reload_samples(dataset)


def _undo(dataset: Any, record: Mapping[str, Any]) -> None:
    known = server()
    if record["files"] is not None:
        _remove_files(Path(record["files"]), record["makes_folder"])
    if record["is_new"]:
        dataset.delete()
        return
    dataset.delete_samples(dataset.match_tags(record["tag"]))
    dataset.reload()
    delete_fields(dataset, record["fields"])
    connection = database()
    if not record["had_assigned"]:
        delete_fields(dataset, [ASSIGNED_FIELD])
    elif record["tag"] in connection.list_collection_names():
        back = {"into": collection(dataset).name, "whenMatched": "merge", "whenNotMatched": "discard"}
        journaled(connection[record["tag"]]).aggregate([{"$merge": back}])
    connection.drop_collection(record["tag"])
    dataset.default_classes = record["default_classes"]
    dataset.mask_targets = {name: dict(of) for name, of in record["mask_targets"]}
    forget_raters(dataset, record["fields"])
    check_server(known)
    update_info(dataset, load=None)
    reload_samples(dataset)


def _remove_files(notes: Path, with_folder: bool) -> None:
    if notes.exists():
        for line in notes.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):  # a line that a dead process did not complete; its file does not exist yet
                path = Path(json.loads(line))
                if Path(os.path.realpath(path.parent)).is_relative_to(notes.parent.resolve()):
                    path.unlink(missing_ok=True)
        notes.unlink()
    if with_folder and notes.parent.exists() and not any(notes.parent.iterdir()):
        notes.parent.rmdir()


def known_images(samples: Any) -> KnownImages:
    """Return an index of samples by file path."""
    return KnownImages(files_of(samples))


def find_dataset(dataset: Any) -> Any:
    """Return a data set, given as such or by name, after undoing any dead load; None if it does not exist."""
    if dataset is not None and not isinstance(dataset, (str, fo.Dataset)):
        raise InputError(f"dataset: expected a name or a data set, got {type(dataset).__name__}")
    if isinstance(dataset, str):
        _forget_unclaimed()
        dataset = fo.load_dataset(dataset) if fo.dataset_exists(dataset) else None
    if dataset is not None:
        undo_dead_load(dataset)
    return None if dataset is None or dataset.deleted else dataset


@contextmanager
def opened(dataset: Any, persistent: bool) -> Iterator[tuple[Any, bool]]:
    """Open an existing data set, or create one that is deleted if the block fails; yields it and whether it is new."""
    name = dataset.name if isinstance(dataset, fo.Dataset) else dataset
    with _a_name_it_takes(name):
        found = find_dataset(dataset)
    if found is not None:
        with explained(found, "nothing of this load is kept"):
            yield found, False
        return
    name = fo.get_default_dataset_name() if name is None else name
    with _noted(name):
        with _a_name_it_takes(name):
            made = _make(name, persistent)
        with explained(made, "nothing of this load is kept"):
            try:
                yield made, True
            except BaseException:
                if not made.deleted and not _is_loaded(made):
                    made.delete()
                raise


@contextmanager
def _a_name_it_takes(name: Any) -> Iterator[None]:
    """Refuse a name that FiftyOne cannot store, or cannot use in a URL."""
    try:
        yield
    except KalosError:
        raise
    except ValueError as error:
        raise InputError(f"dataset: expected a name that FiftyOne takes, got {repr_of(name)}: {error}") from error


def _is_loaded(dataset: Any) -> bool:
    record = read_info(dataset).get("load")
    return bool(dataset.count() if record is None else record["is_complete"])


def _make(name: str, persistent: bool) -> Any:
    """Create a data set; if that fails, no partial data set is left."""
    with explained(None, "no data set was made"):
        known, made, since = server(), None, str(ObjectId())
        try:
            made = fo.Dataset(name, persistent=persistent)
            keep(made, known)
        except ValueError:  # also raised if the database loses the data set while creating it
            forget_unlisted_samples(since)
            check_server(known)
            raise
        except (KalosError, PyMongoError):
            if made is None and fo.dataset_exists(name):
                made = fo.load_dataset(name)
            if made is not None and not made.count():
                made.delete()
            forget_unlisted_samples(since)
            raise
    return made


@dataclass(frozen=True, repr=False)
class Loaded(Result):
    """Result of a load: the data set, and the field of each rater."""

    dataset: Any
    fields: dict[str, str]

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per rater, with the field."""
        import pandas as pd

        return pd.DataFrame({"rater": list(self.fields), "field": list(self.fields.values())})

    @property
    def counts(self) -> dict[str, int]:
        """Counts of what was loaded, by name."""
        raise NotImplementedError

    def _plots(self) -> Mapping[str, Callable[..., Any]]:
        from kalos_core.figures import plot_counts

        return {"counts": plot_counts}

    def _content(self) -> dict[str, Any]:
        return {"dataset": self.dataset.name, "fields": self.fields, "counts": self.counts}
