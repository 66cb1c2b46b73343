"""Runs as they are stored: listed, loaded, renamed, deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import fiftyone as fo

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.labels import LabelChoice
from kalos_core.fiftyone.runs.defaults import move_thresholds
from kalos_core.fiftyone.runs.fresh import refresh
from kalos_core.fiftyone.runs.keys import METHOD, RunNames, check_run_key, is_ours
from kalos_core.fiftyone.runs.storing import (
    WRITING,
    Kind,
    delete_fields,
    is_alive,
    load_arrays,
    load_diagnostics,
    remove_run,
    store_config,
)


@dataclass(frozen=True, eq=False)
class Run:
    """A stored run.

    Parameters
    ----------
    key : str
    kind : one of `Kind`
    settings : dict
        Similarity, threshold and what else the analysis was told.
    choice : LabelChoice
        Which labels it read.
    figures : dict
        The figures of the summary, as plain values.
    diagnostics : dict
        All other figures, as plain values; empty if only the summary was loaded, and for runs of version 0.1.0.
    label_fields : tuple of str
        Fields it read.
    result : Agreement, Variations, Calibration, LabelConvergence, InjectedNoise, LabelFindings, SystemRanking or None
        The result itself; None if only the figures were loaded.
    stale : tuple of str
        Ids of samples whose labels have changed since the run (only known when the result is loaded).
    """

    key: str
    kind: Kind
    settings: Mapping[str, Any]
    choice: LabelChoice
    figures: Mapping[str, Any]
    label_fields: tuple[str, ...] = ()
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    stale: tuple[str, ...] = ()

    @property
    def names(self) -> RunNames:
        """The names its key gives rise to."""
        return RunNames(self.key)

    @property
    def written(self) -> str:
        """What it wrote, for people."""
        names = self.names
        if self.kind == "agreement":
            return f"{names.alpha!r} on samples and {names.unit!r} on labels"
        if self.kind in ("calibration", "convergence", "ranking", "detectors"):
            return "nothing on samples or labels"
        if self.kind == "pixels":
            return f"{names.level!r} on samples, with its files"
        if self.kind == "truth":
            files = " with their files" if self.figures["of"] == "pixels" else ""
            return f"the fields {listed(map(repr, self.figures['fields'].values()), 20)}{files}"
        if self.kind == "labels":
            return f"{names.agreement!r} and {names.disputed!r} on samples"
        if self.kind == "noise":
            return f"the fields {listed(map(repr, self.figures['fields']), 20)}"
        return f"{names.variation!r}, {names.similarity!r} and {names.match!r} on labels"


def list_runs(samples: Any, kind: Kind | Sequence[Kind] | None = None) -> list[str]:
    """Keys of the complete runs of a data set, the newest first; what a dead writer left behind is removed.

    `kind`: of one kind, or of several.
    """
    kinds = (kind,) if isinstance(kind, str) else kind
    dataset = samples._root_dataset
    refresh(dataset)
    infos = []
    for key in dataset.list_runs():
        config = dataset.get_run_info(key).config
        if not is_ours(config):
            continue
        if config.status == WRITING:
            if not is_alive(config.writer):
                remove_run(dataset, key)
        elif kinds is None or config.method in [f"{METHOD}/{name}" for name in kinds]:
            infos.append((dataset.get_run_info(key).timestamp, key))
    return [key for _, key in sorted(infos, reverse=True)]


def load_figures(samples: Any, run_key: str, kind: Kind | None = None) -> Run:
    """A run, of a kind if given, without its result: quick, whatever the size of the data set."""
    config = _config(samples, run_key, kind)
    return Run(
        key=run_key,
        kind=config.method.split("/", 1)[1],
        settings=config.settings,
        choice=LabelChoice.from_record(config.choice),
        figures=config.figures,
        label_fields=tuple(config.label_fields),
    )


def load_run(samples: Any, run_key: str) -> Run:
    """A run with its result.

    The labels are read again. Where those of an image have changed since, the image is listed in `stale` and its part
    of the result is computed anew from the labels as they are now; all other similarities come from the stored run.

    Raises
    ------
    InputError
        If there is no such run, or the labels it read can no longer be read.
    """
    from kalos_core.fiftyone.analyses import restore  # analyses write runs; only this one reads them back

    run = load_figures(samples, run_key)
    run = replace(run, diagnostics=load_diagnostics(samples, run_key))
    return restore(load_run_view(samples, run_key), run, load_arrays(samples, run_key))


def load_run_view(samples: Any, run_key: str) -> Any:
    """The view a run was computed on."""
    _config(samples, run_key)
    return samples._root_dataset.load_run_view(run_key)


def rename_run(samples: Any, run_key: str, new_key: str) -> None:
    """Give a run, and everything it wrote, another key."""
    config = _config(samples, run_key)
    dataset = samples._root_dataset
    if config.method in (f"{METHOD}/noise", f"{METHOD}/truth"):
        raise InputError(
            f"run key: expected a run that can be renamed, got {run_key!r}, whose fields are raters or truths of other "
            "runs; the same settings give the same labels under another key"
        )
    check_run_key(dataset, new_key)
    old, new = RunNames(run_key), RunNames(new_key)
    renamed = dict(zip([*old.of_samples, *old.of_labels], [*new.of_samples, *new.of_labels], strict=True))
    moves = {}
    for path in config.fields:
        parent, _, name = path.rpartition(".")
        moves[path] = f"{parent}.{renamed[name]}" if parent else renamed[name]
    moves = {path: new_path for path, new_path in moves.items() if dataset.has_field(path)}
    config.fields = [*moves, *moves.values()]  # whatever happens on the way, deleting the run finds it all
    store_config(dataset, run_key, config)
    try:
        for path, new_path in moves.items():
            _copy_field(dataset, path, new_path)
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


def _copy_field(dataset: Any, path: str, new_path: str) -> None:
    """Copy a field of samples or an attribute of labels, in all slices.

    Not FiftyOne's own renaming of attributes: it works on the active slice only, and turns an absent label list into
    an empty one, so that 'not asked' would become 'drew nothing'.
    """
    field = dataset.get_field(path)
    holds = {"subfield": type(field.field)} if isinstance(field, fo.ListField) else {}
    if isinstance(field, fo.EmbeddedDocumentField):
        holds = {"embedded_doc_type": field.document_type}
    dataset.add_sample_field(new_path, type(field), **holds)
    labels, _, name = path.rpartition(".")
    copied: dict[str, Any] = {new_path: f"${path}"}
    if labels:
        attribute = {new_path.rpartition(".")[2]: f"$$label.{name}"}  # absent where the old one is
        join = {"$mergeObjects": ["$$label", attribute]}
        copied = {labels: {"$map": {"input": f"${labels}", "as": "label", "in": join}}}
    update = [{"$set": {**copied, "last_modified_at": "$$NOW"}}]
    dataset._sample_collection.update_many({path: {"$exists": True}}, update)
    fo.Sample._reload_docs(dataset._sample_collection_name)


def delete_run(samples: Any, run_key: str) -> None:
    """Delete a run, all it wrote, and nothing else."""
    _config(samples, run_key)
    remove_run(samples._root_dataset, run_key)


def _config(samples: Any, run_key: str, kind: Kind | None = None) -> Any:
    keys = list_runs(samples, kind)
    if run_key not in keys:
        runs = f"the {kind} runs" if kind else "the runs"
        there = f"one of {runs} {listed(keys, 20)}" if keys else f"one of {runs}, of which there are none yet"
        raise InputError(f"run key: expected {there}, got {run_key!r}")
    return samples._root_dataset.get_run_info(run_key).config
