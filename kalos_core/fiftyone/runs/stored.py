"""Runs as they are stored: listed, loaded, renamed, deleted. No kind is named here: the table says what each needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Literal, overload

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.database import copy_fields, delete_fields, refresh
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.runs.arrays import StoredArrays
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.changes import count_changes as count_since
from kalos_core.fiftyone.runs.keys import METHOD, RunNames, check_run_key, is_ours
from kalos_core.fiftyone.runs.life import COMPLETE, dead_runs, explained, remove_run, store_config, written_fields
from kalos_core.fiftyone.runs.records import joined, restored
from kalos_core.fiftyone.runs.table import KINDS, Kind, Part, Run
from kalos_core.fiftyone.runs.thresholds import move_thresholds

AnyRun = Run[Any, Any, Any, Any]


@overload
def list_runs(samples: Any, kind: str | Sequence[str] | None = None, *, info: Literal[False] = False) -> list[str]: ...


@overload
def list_runs(samples: Any, kind: str | Sequence[str] | None = None, *, info: Literal[True]) -> list[AnyRun]: ...


def list_runs(samples: Any, kind: str | Sequence[str] | None = None, *, info: bool = False) -> list[str] | list[AnyRun]:
    """Keys of the complete runs of a data set, the newest first; what a dead process left behind is removed.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    kind : str or sequence of str, optional
        Only those of one kind, or of several; see `KINDS`.
    info : bool
        The runs with their settings and metrics, in place of the keys.
    """
    kinds = KINDS if kind is None else [kind] if isinstance(kind, str) else kind
    dataset = samples._root_dataset
    refresh(dataset)
    for key in dead_runs(dataset):
        remove_run(dataset, key)
    found = []
    for key in dataset.list_runs():
        about = dataset.get_run_info(key)
        config = about.config
        if is_ours(config) and config.status == COMPLETE and config.method in [f"{METHOD}/{name}" for name in kinds]:
            found.append((about.timestamp, key, config))
    ordered = sorted(found, key=lambda entry: entry[:2], reverse=True)
    return [_run(key, config) for _, key, config in ordered] if info else [key for _, key, _ in ordered]


def load_metrics(samples: Any, run_key: str, kind: str | None = None) -> AnyRun:
    """A run, of a kind if given, with its settings and metrics only: quick, whatever the size of the data set."""
    return _run(run_key, _config(samples, run_key, kind))


def load_details(samples: Any, run_key: str, kind: str | None = None) -> AnyRun:
    """A run with all its numbers, but without its result.

    Raises
    ------
    InputError
        If there is no such run, or what it stored is gone.
    """
    config = _config(samples, run_key, kind)
    run = _run(run_key, config)
    results = samples._root_dataset.load_run_results(run_key, cache=False, load_view=False)
    if results is None:
        raise InputError(f"run key: {run_key!r}: its stored result is gone; delete the run")
    stored = joined(results.details, StoredArrays(run_key, config.arrays))
    return replace(run, details=restored(KINDS[run.kind].details, stored))


def load_arrays(samples: Any, run_key: str, kind: str | None = None) -> StoredArrays:
    """The arrays a run stored, each fetched when it is asked for."""
    return StoredArrays(run_key, _config(samples, run_key, kind).arrays)


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
    """How many samples of a run were edited or deleted since, or have a mask in a file that was; no label is read.

    An edit that changed no label, such as a tag, counts, too: `stale_samples` looks closer.
    """
    return count_since(load_run_view(samples, run_key), load_metrics(samples, run_key))


def load_run_view(samples: Any, run_key: str) -> Any:
    """The view a run was computed on."""
    _config(samples, run_key)
    return samples._root_dataset.load_run_view(run_key)


def rename_run(samples: Any, run_key: str, new_key: str) -> None:
    """Give a run, and everything it wrote, another key."""
    config = _config(samples, run_key)
    dataset = samples._root_dataset
    reason = _kind_of(config).fixed_because
    if reason:
        raise InputError(f"run key: expected a run that can be renamed, got {run_key!r}, {reason}")
    check_run_key(dataset, new_key)
    old, new = RunNames(run_key), RunNames(new_key)
    renamed = dict(zip([*old.of_samples, *old.of_labels], [*new.of_samples, *new.of_labels], strict=True))
    moves = {}
    for path in written_fields(dataset, run_key, config):
        parent, _, name = path.rpartition(".")
        moves[path] = f"{parent}.{renamed[name]}" if parent else renamed[name]
    config.fields = [*moves, *moves.values()]  # whatever happens on the way, deleting the run finds it all
    store_config(dataset, run_key, config)
    try:
        copy_fields(dataset, moves)
        dataset.rename_run(run_key, new_key)
    except BaseException:
        delete_fields(dataset, moves.values())
        config.fields = list(moves)
        store_config(dataset, run_key, config)
        raise
    delete_fields(dataset, moves)
    config.fields = list(moves.values())
    store_config(dataset, new_key, config)
    move_thresholds(dataset, run_key, new_key)


def delete_run(samples: Any, run_key: str) -> None:
    """Delete a run, all it wrote, and nothing else."""
    _config(samples, run_key)
    remove_run(samples._root_dataset, run_key)


def figures_of(run: AnyRun, **options: Any) -> dict[str, Part]:
    """What is shown of a run that was loaded with its details: name -> title, plotly figure and note."""
    found: dict[str, Part] = import_module(KINDS[run.kind].figures).figures(run, **options)
    return found


def update_metrics(samples: Any, run_key: str, metrics: Any) -> None:
    """Store other metrics for the summary of a complete run."""
    config = _config(samples, run_key)
    config.metrics = metrics
    store_config(samples._root_dataset, run_key, config)


def _kind_of(config: Any) -> Kind[Any, Any, Any, Any]:
    return KINDS[config.method.split("/", 1)[1]]


def _changes(samples: Any, run: AnyRun) -> Changes:
    config = _config(samples, run.key)
    return Changes(run, StoredArrays(run.key, config.arrays), load_run_view(samples, run.key), config)


def _run(run_key: str, config: Any) -> AnyRun:
    return Run(
        key=run_key,
        kind=_kind_of(config).name,
        settings=config.settings,
        selection=Selection.of(config.selection),
        metrics=config.metrics,
        label_fields=tuple(config.label_fields),
        images=config.images,
        read_at=config.read_at,
        details={},
    )


def _config(samples: Any, run_key: str, kind: str | None = None) -> Any:
    keys = list_runs(samples, kind)
    if run_key not in keys:
        runs = f"the {kind} runs" if kind else "the runs"
        there = f"one of {runs} {listed(keys, 20)}" if keys else f"one of {runs}, of which there are none yet"
        raise InputError(f"run key: expected {there}, got {run_key!r}")
    return samples._root_dataset.get_run_info(run_key).config
