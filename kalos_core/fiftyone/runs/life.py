"""Life cycle of a run: marked as writing before its first write, complete at the end, deleting before any removal.

The next process that lists or writes runs removes the unfinished runs of dead processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic

from bson import ObjectId
from numpy.typing import NDArray

from kalos_core.arrays import give_back_memory
from kalos_core.display import number_of
from kalos_core.fiftyone.dataset.database import (
    FieldArguments,
    add_index,
    check_server,
    declare,
    server,
)
from kalos_core.fiftyone.dataset.document import METHOD, StoredRun, own_runs, register_run, set_config
from kalos_core.fiftyone.dataset.formats import COMPLETE, WRITING, Record, Writer
from kalos_core.fiftyone.dataset.objects import Labels
from kalos_core.fiftyone.dataset.samples import check_samples, unmeasured
from kalos_core.fiftyone.dataset.writing import NOTHING, Values, names_in, write_values
from kalos_core.fiftyone.internals import (
    id_of,
    root_of,
    serialized,
)
from kalos_core.fiftyone.runs.arranging import place_fields
from kalos_core.fiftyone.runs.arrays import store_arrays
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.keys import RunNames, check_run_key
from kalos_core.fiftyone.runs.progress import Progress, Report
from kalos_core.fiftyone.runs.records import details_to_arrays, keyless
from kalos_core.fiftyone.runs.table import Details, Kind, Metrics, Read, Result, Run, Settings
from kalos_core.fiftyone.runs.upkeep import forget_deleted, remove_run, sweep
from kalos_core.fiftyone.runs.writers import writing_now

READING, COMPARING, STORING = 0.0, 0.2, 0.7
"""Fraction of the work of an analysis that is done when each step begins."""


@contextmanager
def analysing(samples: Any, run_key: str, progress: Progress | bool | None) -> Iterator[Report]:
    """Start an analysis: check the samples and the run key, and report progress."""
    with Report(progress) as report, explained(samples):
        check_samples(samples)
        sweep(root_of(samples))
        check_run_key(samples, run_key)
        unknown = unmeasured(samples)
        also = f", and the size of {number_of(unknown, 'image')} that FiftyOne does not know" if unknown else ""
        report(READING, f"Reading labels{also}")
        yield report


@dataclass(frozen=True)
class _Together:
    """Runs of one analysis, which become complete together: its key, their writer, and their folders."""

    analysis: str
    writer: Writer
    folders: list[Path] = field(default_factory=list)


_TOGETHER: ContextVar[_Together | None] = ContextVar("together", default=None)
_LISTS_OWN: ContextVar[bool] = ContextVar("lists_own", default=False)


@contextmanager
def writing_together(dataset: Any, analysis: str) -> Iterator[None]:
    """Write all runs inside the block as one analysis: complete when the block ends, deleted if it fails.

    Until then they are not listed. If the process dies, they are removed like a single run.
    """
    with writing_now() as writer:
        together = _Together(analysis, writer)
        token = _TOGETHER.set(together)
        try:
            yield
            set_config(dataset, _written_by(dataset, writer), status=COMPLETE)
        except BaseException:
            with suppress(Exception):  # as for a single run
                remove_run(dataset, *(run.key for run in _written_by(dataset, writer)))
            forget_deleted(dataset, together.folders)
            raise
        finally:
            _TOGETHER.reset(token)


def _written_by(dataset: Any, writer: Writer) -> list[StoredRun]:
    return [run for run in own_runs(dataset).values() if run.config.writer == writer]


@dataclass
class RunDraft(Generic[Settings, Metrics, Details, Result]):
    """A run being written: what it will store besides its fields, and the run itself once it is written.

    Parameters
    ----------
    metrics : dict
        Numbers of the summary, as plain values. They should be few, as they are read whenever runs are listed.
    details : dataclass
        All other numbers, loaded on request.
    arrays : dict
        Arrays for later computations; each is loaded on request.
    result : optional
        Result that the analysis returns with the run.
    """

    metrics: Metrics = field(init=False)
    details: Details = field(init=False)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    result: Result | None = None
    run: Run[Settings, Metrics, Details, Result] = field(init=False)


@contextmanager
def writing(
    kind: Kind[Settings, Metrics, Details, Result],
    read: Read,
    run_key: str,
    settings: Settings,
    report: Report,
    fields: Mapping[str, FieldArguments] | None = None,
    folder: Path | None = None,
) -> Iterator[RunDraft[Settings, Metrics, Details, Result]]:
    """Register a run as being written, declare its fields, and undo everything if the block fails.

    Parameters
    ----------
    kind : Kind
    read : Read
        Labels that the run has read.
    run_key : str
    settings : dict
    report : Report
        Called at the end.
    fields : mapping, optional
        Paths of fields and attributes to be created, each with the arguments of `add_sample_field`.
    folder : path, optional
        Folder for the files of the run, from `new_folder`.

    Yields
    ------
    RunDraft
        Set its `metrics`, `details`, `arrays` and `result`; leaving the block completes the run.
    """
    dataset, together = root_of(read.view), _TOGETHER.get()
    with writing_now() if together is None else nullcontext(together.writer) as writer:
        check_run_key(dataset, run_key)
        config = Record(
            method=f"{METHOD}/{kind.name}",
            status=WRITING,
            writer=writer,
            settings=keyless(settings),
            selection=read.selection.record(),
            label_fields=list(read.fields),
            images=len(read.images),
            read_at=read.read_at,
            rater_facts=[*read.facts],
            fields=list(fields or ()),
            folder=None if folder is None else str(folder),
            arrays=str(ObjectId()),
            metrics={},
            given={},
            analysis=None if together is None else together.analysis,
            note="",
            review="",
        )
        known, run = server(), register_run(dataset, run_key, config, serialized(read.view))
        folders = [] if folder is None else [folder]
        if together is not None:
            together.folders.extend(folders)
        try:
            declare(dataset, fields or {})
            place_fields(dataset, run_key, fields or ())
            draft = RunDraft[Settings, Metrics, Details, Result]()
            yield draft
            details = details_to_arrays(draft.details)
            give_back_memory()
            own = {"image_ids": read.images.astype("S"), "hashes": read.hashes.astype("S")}
            store_arrays(id_of(dataset), {**own, **draft.arrays, **details}, writer, run.config.arrays)
            check_server(known)
            run.config.metrics = draft.metrics
            set_config(dataset, [run], metrics=draft.metrics, status=COMPLETE if together is None else WRITING)
            draft.run = replace(Run.of(dataset, run), details=draft.details, result=draft.result)
            report(1.0, "Done")  # cancelling here still removes the run
        except BaseException:
            with suppress(Exception):  # leftovers are removed later; report the first error
                remove_run(dataset, run_key)
            forget_deleted(dataset, folders)
            raise


@dataclass(frozen=True, kw_only=True)
class Found(Generic[Settings, Metrics, Details, Result]):
    """Results of an analysis of object labels, for `store`.

    Parameters
    ----------
    settings, metrics, details, result
        As in `Run`.
    arrays : callable
        Returns the arrays for later computations; called after the labels are written, as they may be large.
    on_samples, on_labels : callable
        Values of sample fields and label attributes, whose names are in `RunNames`.
    index : sequence of str
        Fields to index for queries of samples.
    """

    settings: Settings
    metrics: Metrics
    details: Details
    result: Result
    arrays: Callable[[], dict[str, NDArray[Any]]]
    on_samples: Values = NOTHING
    on_labels: Values = NOTHING
    index: Sequence[str] = ()


def store(
    kind: Kind[Settings, Metrics, Details, Result],
    labels: Labels,
    run_key: str,
    found: Found[Settings, Metrics, Details, Result],
    report: Report,
) -> Run[Settings, Metrics, Details, Result]:
    """Store all results of an analysis as a run, or nothing."""
    names = RunNames(run_key)
    fields, attributes = names.declared(*names_in(found.on_samples)), names.declared(*names_in(found.on_labels))
    fields |= {f"{path}.{name}": how for path in labels.paths for name, how in attributes.items()}
    with writing(kind, labels, run_key, found.settings, report, fields) as draft:
        if fields:
            write_values(labels, found.on_labels, found.on_samples, report.within(STORING, 1.0, "Writing"))
        if found.index:
            add_index(labels.view, found.index)
        draft.metrics, draft.details, draft.result = found.metrics, found.details, found.result
        draft.arrays = found.arrays()
    return draft.run


@contextmanager
def listing_own() -> Iterator[None]:
    """Include the runs of the analysis being written in lists of runs; others see them once it is complete."""
    token = _LISTS_OWN.set(True)
    try:
        yield
    finally:
        _LISTS_OWN.reset(token)


def is_listed(run: StoredRun) -> bool:
    """Return whether a run is complete, or included by `listing_own`."""
    together = _TOGETHER.get() if _LISTS_OWN.get() else None
    return bool(run.config.status == COMPLETE or (together is not None and run.config.writer == together.writer))
