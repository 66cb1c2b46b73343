"""Stored runs: list, load, rename and delete them, for all kinds of runs in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from typing import Any, Literal, overload

from fiftyone import ViewField as F

from kalos_core.errors import InputError, check_iterable, check_name, check_text, listed, lookup
from kalos_core.fiftyone.dataset.database import edited_since
from kalos_core.fiftyone.dataset.document import StoredRun, set_config
from kalos_core.fiftyone.dataset.formats import written_by
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import root_of
from kalos_core.fiftyone.runs.analyses import Analysis, AnyRun, analyses_of
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.keys import check_run_key
from kalos_core.fiftyone.runs.life import is_listed
from kalos_core.fiftyone.runs.records import details_from, restored
from kalos_core.fiftyone.runs.table import KINDS, Arrays, Changes, Part, Parts, Run
from kalos_core.fiftyone.runs.upkeep import move_of, remove_run, rename_runs, settle, settled_run
from kalos_core.options import checked

KindNames = str | Sequence[str] | None
"""One or several kinds of runs; None: any."""

STATUSES = {"needs_review": "needs review", "in_review": "in review", "reviewed": "reviewed"}
"""Status of a run -> text for users, as in FiftyOne's panel *Model Evaluation*."""


@overload
def list_runs(samples: Any, kind: str | Sequence[str] | None = None, *, info: Literal[False] = False) -> list[str]: ...


@overload
def list_runs(samples: Any, kind: str | Sequence[str] | None = None, *, info: Literal[True]) -> list[AnyRun]: ...


def list_runs(samples: Any, kind: str | Sequence[str] | None = None, *, info: bool = False) -> list[str] | list[AnyRun]:
    """Return the keys of the runs of a data set, the newest first; unfinished runs of dead processes are removed.

    Unreadable runs, written by another version or damaged, are included unless a kind is given; `Run.unreadable` states
    the reason. You can delete them and compute them again under the same key.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    kind : str or sequence of str, optional
        Only runs of one or several kinds; see `KINDS`.
    info : bool
        Whether to return the runs with their settings and metrics, instead of the keys.
    """
    found = _listed(samples, kind)
    return [Run.of(root_of(samples), run) for run in found.values()] if info else list(found)


def list_analyses(samples: Any) -> list[Analysis]:
    """Return the analyses of a data set, the newest first: those made by `analyse`, and groups of separate runs.

    Unreadable runs are not included; `list_runs` lists them.

    A separate agreement run forms an analysis with the newest separate runs of other kinds on the same labels. Separate
    runs that fit no analysis form their own.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> list_analyses(dataset)
    []
    >>> dataset.delete()
    """
    return analyses_of([run for run in list_runs(samples, info=True) if not run.unreadable])


def find_analysis(samples: Any, key: str) -> Analysis:
    """Return the analysis with a key, or with a run of that key.

    Raises
    ------
    InputError
        If there is none.
    """
    check_name(key, "analysis")
    found = list_analyses(samples)
    of_runs = (analysis for analysis in found if key in {run.key for run in analysis.runs.values()})
    analysis = next((analysis for analysis in found if analysis.key == key), None) or next(of_runs, None)
    if analysis is None:
        keys = listed((entry.key for entry in found), 20) if found else "there are none yet"
        raise InputError(f"analysis: expected the key of one ({keys}), got {key!r}")
    return analysis


def load_metrics(samples: Any, run_key: str, kind: KindNames = None) -> AnyRun:
    """Load a run with its settings and metrics only, which is fast for data sets of any size."""
    return Run.of(root_of(samples), find_run(samples, run_key, kind))


def load_details(samples: Any, run_key: str, kind: KindNames = None) -> AnyRun:
    """Load a run with all its numbers, but without its result.

    Raises
    ------
    InputError
        If there is no such run, or its stored data is missing.
    """
    run = load_metrics(samples, run_key, kind)
    return replace(run, details=restored(KINDS[run.kind].details, details_from(run.arrays)))


def load_arrays(samples: Any, run_key: str, kind: KindNames = None) -> Arrays:
    """Return the arrays of a run, each fetched on first access."""
    return load_metrics(samples, run_key, kind).arrays


def load_run(samples: Any, run_key: str) -> AnyRun:
    """Load a run with its result.

    Only labels edited since the run are read again. If those of an image differ, the image is listed in `stale`, and
    its part of the result is computed from the current labels. Everything else comes from the stored run.

    Raises
    ------
    InputError
        If there is no such run, or its labels can no longer be read.
    """
    run = load_details(samples, run_key)
    with explained(samples):
        changes = _changes(samples, run)
        restore = KINDS[run.kind].restore
        if restore is not None and not changes.images:
            expected = "expected at least one sample in its view, got none"
            raise InputError(f"run {run_key!r}: {expected}; its samples were deleted, or no longer match its filters")
        return replace(run, result=run.details if restore is None else restore(changes), stale=changes.all)


def stale_samples(samples: Any, run_key: str) -> list[str]:
    """Return the ids of the samples of a run that were deleted or whose labels changed since.

    Only labels of samples edited since the run are read.
    """
    return list(_changes(samples, load_metrics(samples, run_key)).all)


def count_changes(samples: Any, run_key: str) -> int:
    """Count the samples of a run that were edited or deleted since, in the database, without reading labels.

    Edits that changed no label, such as a tag, count, too; `stale_samples` excludes them. Mask files that were
    rewritten or removed count by their times. If a label field is missing, all samples count. In a clone of the data
    set, only changes of the clone and of files shared with the original count.
    """
    run = load_metrics(samples, run_key)
    view = run.view
    if not all(view.has_field(field) for field in run.label_fields):
        return run.images
    since, made = run.read_at, root_of(view).created_at
    if made > since:  # a clone, all of whose samples have the time of the clone
        since = made + timedelta(milliseconds=1)
    made_before = int(view.match(F("created_at") <= since).count())
    edited, newer = edited_since(view, since), KINDS[run.kind].newer
    rewritten = [] if newer is None else newer(view, run, slack=0.0)
    only_files = len(rewritten) - (edited.select(rewritten).count() if rewritten else 0)
    return int(edited.count()) + only_files + max(run.images - made_before, 0)


def load_run_view(samples: Any, run_key: str, kind: KindNames = None) -> Any:
    """Return the view that a run was computed on."""
    return load_metrics(samples, run_key, kind).view


def rename_run(samples: Any, run_key: str, new_key: str) -> None:
    """Rename a run and everything it wrote; the key of an analysis renames all runs made for it.

    Raises
    ------
    InputError
        If there is no such run, its kind cannot be renamed, or a key is taken; nothing is renamed then.
    """
    with explained(samples, "list the runs to see whether they were renamed"):
        _rename(root_of(samples), _runs_under(samples, run_key), run_key, new_key)


def _rename(dataset: Any, runs: list[AnyRun], run_key: str, new_key: str) -> None:
    for run in runs:
        reason = KINDS[find_run(dataset, run.key).kind].fixed_because
        if reason:
            raise InputError(f"run key: expected a run that can be renamed, got {run.key!r}, {reason}")
    own = {run_key: new_key} | {kind.key_in(run_key): kind.key_in(new_key) for kind in KINDS.values()}
    moves = {run.key: own[run.key] for run in runs if run.key in own}
    for key in moves.values():
        check_run_key(dataset, key)
    analyses = {run.key: new_key if run.analysis == run_key else run.analysis for run in runs}
    rename_runs(dataset, [move_of(dataset, key, moves.get(key, key), of) for key, of in analyses.items()])


def delete_run(samples: Any, run_key: str) -> None:
    """Delete a run and everything it wrote; the key of an analysis deletes all runs made for it.

    For an unreadable run, everything named after its key is deleted; a label field that no record lists is kept.
    """
    with explained(samples, "partially deleted runs are removed when the runs are listed"):
        remove_run(root_of(samples), *(run.key for run in _runs_under(samples, run_key)))


def describe_run(samples: Any, run_key: str, *, note: str | None = None, status: str | None = None) -> None:
    """Set the note or the status of a run; renaming the run keeps them.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Key of a run; the key of an analysis is that of its leading run.
    note : str, optional
        None: unchanged; "" removes it.
    status : name in `STATUSES`, optional
        None: unchanged; "" removes it.

    Raises
    ------
    InputError
        If there is no such run or status.
    """
    if note is not None:
        check_text(note, "note")
    if status:
        lookup(STATUSES, status, "status")
    said = {name: value for name, value in (("note", note), ("review", status)) if value is not None}
    with explained(samples, "the note and status were not stored"):
        set_config(root_of(samples), [find_run(samples, run_key)], **said)


@checked
def figures_of(run: AnyRun, **options: Any) -> Mapping[str, Part]:
    """Return the figures of a run that was loaded with its details: title, plotly figure and note by name."""
    return Parts(import_module(KINDS[run.kind].figures).figures(run, **options))


def _changes(samples: Any, run: AnyRun) -> Changes:
    return Changes(run, find_run(samples, run.key).config)


def _listed(samples: Any, kind: KindNames = None) -> dict[str, StoredRun]:
    """Return the stored runs by key, the newest first, after removing unfinished runs of dead processes."""
    dataset = root_of(samples)
    runs = settle(dataset)
    if runs is None:
        return {}
    kinds = ["", *KINDS] if kind is None else _names(kind)
    known = {key: _of_known_kind(run) for key, run in runs.items() if is_listed(run)}
    found = [key for key, run in known.items() if run.kind in kinds]
    return {key: known[key] for key in sorted(found, key=lambda key: (known[key].timestamp, key), reverse=True)}


def _of_known_kind(run: StoredRun) -> StoredRun:
    """Return a run, marked as unreadable if this version does not know its kind or its selection of labels."""
    if run.unreadable:
        return run
    does_not_know = f"{written_by(vars(run.config))} wrote it, and this version does not know"
    if run.kind not in KINDS:
        return replace(run, unreadable=f"{does_not_know} the kind {run.kind!r}")
    try:
        Selection.of(run.config.selection)
    except InputError as error:
        return replace(run, unreadable=f"{does_not_know} its selection of labels ({error})")
    return run


def find_run(samples: Any, run_key: str, kind: KindNames = None) -> StoredRun:
    """Return a stored run by its key or, if kinds are given, by the key of an analysis with such a run.

    Raises
    ------
    InputError
        If there is no such run, or it cannot be read.
    """
    check_name(run_key, "run key")
    run = settled_run(root_of(samples), run_key)
    if run is not None and not run.unreadable and run.kind in (KINDS if kind is None else _names(kind)):
        return run
    every = _listed(samples)
    there = {key: run for key, run in every.items() if kind is None or run.kind in _names(kind)}
    found = run_key
    if run_key not in there and kind is not None:
        of_key = (analysis.runs for analysis in list_analyses(samples) if analysis.key == run_key)
        found = next((run.key for runs in of_key for run in runs.values() if run.key in there), run_key)
    if found in every and every[found].unreadable:
        raise InputError(
            f"run {found!r} cannot be read: {every[found].unreadable}; delete it and recompute it under the same key"
        )
    if found not in there:
        runs = "the runs" if kind is None else f"the {' or '.join(_names(kind))} runs"
        expected = f"one of {runs} {listed(there, 20)}" if there else f"one of {runs}, but there are none yet"
        raise InputError(f"run key: expected {expected}, got {run_key!r}")
    return there[found]


def _names(kind: str | Sequence[str]) -> Sequence[str]:
    names = [kind] if isinstance(kind, str) else list(check_iterable(kind, "kind", "the name of a kind, or several"))
    for name in names:
        lookup(KINDS, name, "kind")
    return names


def _runs_under(samples: Any, key: str) -> list[AnyRun]:
    """Return the run with a key and the runs made for the analysis of that key, with its leading run last."""
    check_name(key, "run key")
    found = [run for run in list_runs(samples, info=True) if key in (run.analysis, run.key)]
    return found or [load_metrics(samples, key)]
