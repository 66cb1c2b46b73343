"""The life of a run: registered as writing before its first write, complete last, deleting before its first removal.

Whatever a dead process left in between is swept by whoever lists the runs next, or writes one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Generic

import fiftyone as fo
import fiftyone.constants as foc
import gridfs
from bson import ObjectId, json_util
from numpy.typing import NDArray

from kalos_core.arrays import give_back_memory
from kalos_core.errors import InputError, KalosError, listed
from kalos_core.fiftyone.dataset.database import (
    FieldArguments,
    check_server,
    declare,
    delete_fields,
    journaled,
    now,
    refresh,
    server,
    touch,
)
from kalos_core.fiftyone.dataset.raters import facts_of
from kalos_core.fiftyone.dataset.samples import check_samples
from kalos_core.fiftyone.internals import (
    DETAILS,
    RunDocument,
    changed_at,
    database,
    id_of,
    listed_run,
    listed_runs,
    reload_runs,
    root_of,
    serialized,
    store_results,
)
from kalos_core.fiftyone.runs.arranging import place_fields
from kalos_core.fiftyone.runs.arrays import delete_arrays, drop, orphans, store_arrays
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.keys import METHOD, check_run_key, own_runs, written_attributes
from kalos_core.fiftyone.runs.progress import Progress, Report
from kalos_core.fiftyone.runs.records import apart, keyed, keyless
from kalos_core.fiftyone.runs.renaming import is_held, settle_renaming
from kalos_core.fiftyone.runs.table import Details, Kind, Metrics, Read, Result, Run, Settings
from kalos_core.fiftyone.runs.writers import COMPLETE, DELETING, WRITING, Writer, is_alive, writing_now

READING, COMPARING, STORING = 0.0, 0.2, 0.7
"""Share of the work of an analysis done when each step begins."""

OURS = {"config.method": {"$regex": f"^{METHOD}/"}}
"""Of the documents of runs, those that are of a kind of ours."""

FOLDER = "kalos"
"""Folder in FiftyOne's folder of data sets that holds the files of runs."""


@contextmanager
def analysing(samples: Any, run_key: str, progress: Progress | bool | None) -> Iterator[Report]:
    """What every analysis begins with: samples that can be read, a key that is free, somebody to tell of progress."""
    with Report(progress) as report, explained(samples):
        check_samples(samples)
        check_run_key(samples, run_key)
        report(READING, "Reading labels")
        yield report
        try:
            report(1.0, "Done")
        except BaseException:  # cancelled at the very last: nothing is kept all the same
            remove_run(root_of(samples), run_key)
            raise


@dataclass(frozen=True)
class _Together:
    """Runs of one analysis, which are complete at once: its key, who writes them, and where their files are."""

    analysis: str
    writer: Writer
    folders: list[Path] = field(default_factory=list)


_TOGETHER: ContextVar[_Together | None] = ContextVar("together", default=None)
_LISTS_OWN: ContextVar[bool] = ContextVar("lists_own", default=False)


@contextmanager
def writing_together(dataset: Any, analysis: str) -> Iterator[None]:
    """All runs that are written inside are of one analysis: complete when the block is left, or gone if it fails.

    Until then nobody lists them; what a dead process left of them is swept, as of a single run.
    """
    with writing_now() as writer:
        together = _Together(analysis, writer)
        token = _TOGETHER.set(together)
        try:
            yield
            set_config(dataset, _written_by(dataset, writer), status=COMPLETE)
        except BaseException:
            with suppress(Exception):  # as for a single run
                remove_run(dataset, *_written_by(dataset, writer))
            _forget_deleted(dataset, together.folders)
            raise
        finally:
            _TOGETHER.reset(token)


def _written_by(dataset: Any, writer: Writer) -> list[str]:
    """The keys of the runs of a writer."""
    dataset.reload()
    return [key for key, about in own_runs(dataset).items() if about.config.writer == writer]


@dataclass
class Draft(Generic[Settings, Metrics, Details, Result]):
    """A run that is being written: what it will store besides its fields.

    Parameters
    ----------
    key, kind, settings, read
        As they were given to `writing`.
    made_at : datetime
        When it was registered.
    analysis : str, optional
        What it is a part of.
    metrics : dict
        The numbers of the summary, as plain values: part of the data set's own document, which every look at the data
        set reads, so they are few.
    details : dataclass
        All other numbers; read only when they are asked for.
    arrays : dict
        What is computed from later; each is read only when it is asked for.
    result : optional
        What the analysis returns with the run.
    """

    key: str
    kind: Kind[Settings, Metrics, Details, Result]
    settings: Settings
    read: Read
    made_at: datetime
    analysis: str | None = None
    metrics: Metrics = field(init=False)
    details: Details = field(init=False)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    result: Result | None = None

    @property
    def run(self) -> Run[Settings, Metrics, Details, Result]:
        """The run, once it is written."""
        return Run(
            key=self.key,
            kind=self.kind.name,
            settings=self.settings,
            selection=self.read.selection,
            metrics=self.metrics,
            label_fields=self.read.fields,
            images=len(self.read.images),
            read_at=self.read.read_at,
            made_at=self.made_at,
            details=self.details,
            result=self.result,
            analysis=self.analysis,
        )


@contextmanager
def writing(
    kind: Kind[Settings, Metrics, Details, Result],
    read: Read,
    run_key: str,
    settings: Settings,
    fields: Mapping[str, FieldArguments] | None = None,
    folder: Path | None = None,
) -> Iterator[Draft[Settings, Metrics, Details, Result]]:
    """Register a run as being written, declare its fields, and take all of it back if anything goes wrong.

    Parameters
    ----------
    kind : Kind
    read : Read
        What the run has read.
    run_key : str
    settings : dict
    fields : mapping, optional
        Paths of fields and attributes to be created, each with the arguments of `add_sample_field`.
    folder : path, optional
        Of `new_folder`: where the run will write files.

    Yields
    ------
    Draft
        To be given `metrics`, `details`, `arrays` and `result`; leaving the block makes the run complete.
    """
    dataset, together, stored = root_of(read.view), _TOGETHER.get(), keyless(settings)
    with writing_now() if together is None else nullcontext(together.writer) as writer:
        sweep(dataset)
        check_run_key(dataset, run_key)
        config = dataset.init_run(
            method=f"{METHOD}/{kind.name}",
            status=WRITING,
            writer=writer,
            settings=stored,
            selection=read.selection.record(),
            label_fields=list(read.fields),
            images=len(read.images),
            read_at=read.read_at,
            rater_facts=facts_of(dataset, read.selection.raters or ()),
            fields=list(fields or ()),
            folder=None if folder is None else str(folder),
            arrays=str(ObjectId()),  # its files have this id: what is half written of them is found by it
            metrics={},
            analysis=together and together.analysis,
            note="",
            review="",
        )
        known, made_at = server(), _register(read.view, run_key, config)
        folders = [] if folder is None else [folder]
        if together is not None:
            together.folders.extend(folders)
        try:
            declare(dataset, fields or {})
            place_fields(dataset, run_key, fields or ())
            draft = Draft(run_key, kind, keyed(stored), read, made_at, config.analysis)
            yield draft
            details, beside = apart(draft.details)
            give_back_memory()
            content = {
                "image_ids": read.images.astype("S"),
                "hashes": read.hashes.astype("S"),
                **draft.arrays,
                **beside,
            }
            store_arrays(dataset, content, writer, config.arrays)
            results = dataset.init_run_results(run_key)
            results.details = details
            store_results(dataset, run_key, results, config.arrays)
            check_server(known)
            set_config(dataset, [run_key], metrics=draft.metrics, status=COMPLETE if together is None else WRITING)
        except BaseException:
            with suppress(Exception):  # what cannot be removed now is swept later; the first error is the one to tell
                remove_run(dataset, run_key)
            _forget_deleted(dataset, folders)
            raise


def _register(samples: Any, run_key: str, config: Any) -> datetime:
    """Enter a run into the list of a data set's runs, and when; of two processes the database refuses one."""
    dataset, time = root_of(samples), now()
    is_view = isinstance(samples, fo.DatasetView)
    stages = [json_util.dumps(stage) for stage in serialized(samples)] if is_view else None
    document = RunDocument(
        id=ObjectId(),
        dataset_id=id_of(dataset),
        key=run_key,
        version=foc.VERSION,
        timestamp=time,
        config=config.serialize(),
        view_stages=stages,
    )
    journaled(database().runs).insert_one(document.to_mongo())  # on disk before any list names it
    entry = f"runs.{run_key}"
    before = journaled(database().datasets).find_one_and_update(  # on disk before any field is declared
        {"_id": id_of(dataset), entry: {"$exists": False}},
        {"$set": {entry: document.id, "last_modified_at": time}},
        {"last_modified_at": True},
    )
    if before is None:
        database().runs.delete_one({"_id": document.id})
        raise InputError(f"run key: {run_key!r} is the key of another run; choose another or delete that run first")
    if before.get("last_modified_at") == changed_at(dataset):
        reload_runs(dataset)
    else:  # somebody changed it since it was looked at
        dataset.reload()
    return time


def set_config(dataset: Any, run_keys: Sequence[str], **entries: Any) -> None:
    """Store other values in the configurations of runs, as `change_runs` does."""
    change_runs(dataset, run_keys, {"$set": {f"config.{name}": value for name, value in entries.items()}})


def change_runs(dataset: Any, run_keys: Sequence[str], change: Any) -> None:
    """Change the records of runs, as MongoDB takes it, in one step, so that other processes see it.

    Raises
    ------
    KalosError
        If somebody deleted one of them.
    """
    found = [document for document in (listed_run(dataset, key) for key in run_keys) if document is not None]
    wanted = {"_id": {"$in": [document.id for document in found]}}
    gone = KalosError(f"run key: {listed(map(repr, run_keys))} was deleted by somebody else meanwhile")
    if journaled(database().runs).update_many(wanted, change).matched_count < len(run_keys):
        raise gone
    try:
        for document in found:
            document.reload("config")
    except RunDocument.DoesNotExist as error:
        raise gone from error
    touch(dataset)


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
            _forget_deleted(dataset, ())
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


def _forget_deleted(dataset: Any, folders: Sequence[Path]) -> None:
    """Remove what a run that failed wrote for a data set that was deleted meanwhile: nobody looks at it again."""
    connection, identity = database(), id_of(dataset)
    with suppress(Exception):  # what cannot be removed now is swept later
        if connection.datasets.find_one({"_id": identity}, {"_id": True}) is None:
            connection.runs.delete_many({"_dataset_id": identity, **OURS})
            for file, _ in orphans(_known_files(), of=identity):
                drop(file)
            for folder in folders:
                _delete_folder(dataset, folder)


@contextmanager
def listing_own() -> Iterator[None]:
    """List the runs of the analysis that is being written, which all others see once it is complete."""
    token = _LISTS_OWN.set(True)
    try:
        yield
    finally:
        _LISTS_OWN.reset(token)


def is_listed(config: Any) -> bool:
    """Whether a run is complete, or one of those of `listing_own`."""
    together = _TOGETHER.get() if _LISTS_OWN.get() else None
    return bool(config.status == COMPLETE or (together is not None and config.writer == together.writer))


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
