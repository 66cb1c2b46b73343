"""Runs as they are stored: listed, loaded, renamed, deleted. No kind is named here: the table says what each needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from typing import Any, Literal, overload

from fiftyone import ViewField as F

from kalos_core.errors import InputError, check_text, listed, lookup
from kalos_core.fiftyone.dataset.database import edited_since
from kalos_core.fiftyone.dataset.document import StoredRun, own_runs, set_config
from kalos_core.fiftyone.dataset.formats import written_by
from kalos_core.fiftyone.internals import root_of
from kalos_core.fiftyone.runs.analyses import Analysis, AnyRun, analyses_of
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.keys import check_run_key
from kalos_core.fiftyone.runs.life import is_listed
from kalos_core.fiftyone.runs.records import details_from, restored
from kalos_core.fiftyone.runs.table import KINDS, Arrays, Changes, Part, Parts, Run
from kalos_core.fiftyone.runs.upkeep import move_of, remove_run, rename_runs, settle

KindNames = str | Sequence[str] | None
"""A kind of run, or several; None: any."""

STATUSES = {"needs_review": "needs review", "in_review": "in review", "reviewed": "reviewed"}
"""What a run may be marked as, as in FiftyOne's panel *Model Evaluation*, with its words."""


@overload
def list_runs(samples: Any, kind: str | Sequence[str] | None = None, *, info: Literal[False] = False) -> list[str]: ...


@overload
def list_runs(samples: Any, kind: str | Sequence[str] | None = None, *, info: Literal[True]) -> list[AnyRun]: ...


def list_runs(samples: Any, kind: str | Sequence[str] | None = None, *, info: bool = False) -> list[str] | list[AnyRun]:
    """Keys of the runs of a data set, the newest first; what a dead process left behind is removed.

    A run that cannot be read, as another version wrote it or its record is damaged, is among them unless a kind is
    given: `Run.unreadable` says why. It can be deleted, and made anew under its key.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    kind : str or sequence of str, optional
        Only those of one kind, or of several; see `KINDS`.
    info : bool
        The runs with their settings and metrics, in place of the keys.
    """
    found = _listed(samples, kind)
    return [Run.of(root_of(samples), run) for run in found.values()] if info else list(found)


def list_analyses(samples: Any) -> list[Analysis]:
    """The analyses of a data set, the newest first: what `analyse` made, and what lone runs make up.

    Runs that cannot be read are in none; `list_runs` lists them.

    A lone agreement is an analysis of its own, to which the newest lone runs of other kinds that read the same labels
    belong. Lone runs that fit no such analysis make up their own.

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
    """The analysis of a key: its own, or that of one of its runs.

    Raises
    ------
    InputError
        If there is none.
    """
    found = list_analyses(samples)
    of_runs = (analysis for analysis in found if key in {run.key for run in analysis.runs.values()})
    analysis = next((analysis for analysis in found if analysis.key == key), None) or next(of_runs, None)
    if analysis is None:
        keys = listed((entry.key for entry in found), 20) if found else "none there yet"
        raise InputError(f"analysis: expected the key of one ({keys}), got {key!r}")
    return analysis


def load_metrics(samples: Any, run_key: str, kind: KindNames = None) -> AnyRun:
    """A run, of a kind if given, with its settings and metrics only: quick, whatever the size of the data set."""
    return Run.of(root_of(samples), find_run(samples, run_key, kind))


def load_details(samples: Any, run_key: str, kind: KindNames = None) -> AnyRun:
    """A run with all its numbers, but without its result.

    Raises
    ------
    InputError
        If there is no such run, or what it stored is gone.
    """
    run = load_metrics(samples, run_key, kind)
    return replace(run, details=restored(KINDS[run.kind].details, details_from(run.arrays)))


def load_arrays(samples: Any, run_key: str, kind: KindNames = None) -> Arrays:
    """The arrays a run stored, each fetched when it is asked for."""
    return load_metrics(samples, run_key, kind).arrays


def load_run(samples: Any, run_key: str) -> AnyRun:
    """A run with its result.

    Only labels that were edited since are read again. Where those of an image differ, the image is listed in `stale`
    and its part of the result is computed anew from the labels as they are now; all else comes from the stored run.

    Raises
    ------
    InputError
        If there is no such run, or the labels it read can no longer be read.
    """
    run = load_details(samples, run_key)
    with explained(samples):
        changes = _changes(samples, run)
        restore = KINDS[run.kind].restore
        return replace(run, result=run.details if restore is None else restore(changes), stale=changes.all)


def stale_samples(samples: Any, run_key: str) -> list[str]:
    """Ids of the samples of a run whose labels have changed since, or that are gone.

    Only labels of samples that somebody edited since the run are read.
    """
    return list(_changes(samples, load_metrics(samples, run_key)).all)


def count_changes(samples: Any, run_key: str) -> int:
    """How many samples of a run were edited or deleted since: counts in the database, no label is read.

    An edit that changed no label, such as a tag, counts, too: `stale_samples` looks closer. So do files of masks that
    were written anew or removed, whose times are looked at. All count where a field of the labels is gone. In a clone
    of the data set only what happened to the clone counts, and to the files that both have.
    """
    run = load_metrics(samples, run_key)
    view = run.view
    if not all(view.has_field(field) for field in run.label_fields):
        return run.images
    since, made = run.read_at, root_of(view).created_at
    if made > since:  # a clone, whose samples all have its own time
        since = made + timedelta(milliseconds=1)
    made_before = int(view.match(F("created_at") <= since).count())
    edited, newer = edited_since(view, since), KINDS[run.kind].newer
    rewritten = [] if newer is None else newer(view, run, slack=0.0)
    only_files = len(rewritten) - (edited.select(rewritten).count() if rewritten else 0)
    return int(edited.count()) + only_files + max(run.images - made_before, 0)


def load_run_view(samples: Any, run_key: str, kind: KindNames = None) -> Any:
    """The view a run was computed on."""
    return load_metrics(samples, run_key, kind).view


def rename_run(samples: Any, run_key: str, new_key: str) -> None:
    """Give a run, and everything it wrote, another key; by the key of an analysis, all the runs made for it.

    Raises
    ------
    InputError
        If there is no such run, its kind cannot be renamed, or a key is taken; nothing is renamed then.
    """
    with explained(samples, "ask for the runs to see how far it came"):
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
    """Delete a run, all it wrote, and nothing else; by the key of an analysis, all the runs made for it.

    Of a run that cannot be read goes all that carries its key; a label field of it that no record names stays.
    """
    with explained(samples, "what is half deleted goes when the runs are listed"):
        remove_run(root_of(samples), *(run.key for run in _runs_under(samples, run_key)))


def describe_run(samples: Any, run_key: str, *, note: str | None = None, status: str | None = None) -> None:
    """Say something of a run, which stays with it under any key.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of a run; that of an analysis is that of the run that leads it.
    note : str, optional
        None: as it is; "" forgets it.
    status : name in `STATUSES`, optional
        None: as it is; "" forgets it.

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
    with explained(samples, "it is not noted"):
        set_config(root_of(samples), [find_run(samples, run_key)], **said)


def figures_of(run: AnyRun, **options: Any) -> Mapping[str, Part]:
    """What is shown of a run that was loaded with its details: name -> title, plotly figure and note."""
    return Parts(import_module(KINDS[run.kind].figures).figures(run, **options))


def _changes(samples: Any, run: AnyRun) -> Changes:
    return Changes(run, find_run(samples, run.key).config)


def _listed(samples: Any, kind: KindNames = None) -> dict[str, StoredRun]:
    """The runs, of a kind if given, as they are stored, the newest first; dead ones are removed."""
    dataset = root_of(samples)
    if not settle(dataset):
        return {}
    kinds = ["", *KINDS] if kind is None else _names(kind)
    known = {key: _of_known_kind(run) for key, run in own_runs(dataset).items() if is_listed(run)}
    found = [key for key, run in known.items() if run.kind in kinds]
    return {key: known[key] for key in sorted(found, key=lambda key: (known[key].timestamp, key), reverse=True)}


def _of_known_kind(run: StoredRun) -> StoredRun:
    """A run, unreadable where this version does not know its kind."""
    if run.unreadable or run.kind in KINDS:
        return run
    reason = f"{written_by(vars(run.config))} wrote it, and this version does not know the kind {run.kind!r}"
    return replace(run, unreadable=reason)


def find_run(samples: Any, run_key: str, kind: KindNames = None) -> StoredRun:
    """A run as it is stored, by its key or, of some kinds, by that of an analysis that has one.

    Raises
    ------
    InputError
        If there is no such run, or it cannot be read.
    """
    every = _listed(samples)
    there = {key: run for key, run in every.items() if kind is None or run.kind in _names(kind)}
    found = run_key
    if run_key not in there and kind is not None:
        of_key = (analysis.runs for analysis in list_analyses(samples) if analysis.key == run_key)
        found = next((run.key for runs in of_key for run in runs.values() if run.key in there), run_key)
    if found in every and every[found].unreadable:
        raise InputError(
            f"run {found!r} cannot be read: {every[found].unreadable}; delete it, and make it anew under the same key"
        )
    if found not in there:
        runs = "the runs" if kind is None else f"the {' or '.join(_names(kind))} runs"
        expected = f"one of {runs} {listed(there, 20)}" if there else f"one of {runs}, of which there are none yet"
        raise InputError(f"run key: expected {expected}, got {run_key!r}")
    return there[found]


def _names(kind: str | Sequence[str]) -> Sequence[str]:
    return [kind] if isinstance(kind, str) else kind


def _runs_under(samples: Any, key: str) -> list[AnyRun]:
    """The runs made for the analysis of a key, the one that leads it last, and the run of that key."""
    found = [run for run in list_runs(samples, info=True) if key in (run.analysis, run.key)]
    return found or [load_metrics(samples, key)]
