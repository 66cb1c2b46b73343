"""Runs: one computation with its configuration, under a key, and everything it wrote."""

from __future__ import annotations

import base64
import io
import keyword
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import fiftyone as fo
import numpy as np
import psutil
from numpy.typing import NDArray

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.labels import LabelChoice, Labels, every_sample
from kalos_core.fiftyone.raters import label_fields

Kind = Literal["agreement", "variations"]

METHOD = "kalos"
"""Runs of this plugin have the method ``kalos/<kind>``."""

WRITING, COMPLETE = "writing", "complete"

SAME_PROCESS = 60.0
"""Seconds by which the start of one process may differ between two readings: they move with the clock."""


@dataclass(frozen=True)
class RunNames:
    """Every name a run key gives rise to, made here and nowhere else.

    Examples
    --------
    >>> RunNames("first").alpha, RunNames("first").unit
    ('first_alpha', 'first_unit')
    """

    key: str

    @property
    def alpha(self) -> str:
        """Sample field: alpha of the image."""
        return f"{self.key}_alpha"

    @property
    def variation(self) -> str:
        """Label attribute: variation type."""
        return self.key

    @property
    def similarity(self) -> str:
        """Label attribute: least similarity to a partner."""
        return f"{self.key}_similarity"

    @property
    def match(self) -> str:
        """Label attribute: ids of the partners."""
        return f"{self.key}_match"

    @property
    def unit(self) -> str:
        """Label attribute: number of the unit."""
        return f"{self.key}_unit"

    @property
    def of_samples(self) -> list[str]:
        """All sample fields."""
        return [self.alpha]

    @property
    def of_labels(self) -> list[str]:
        """All label attributes."""
        return [self.variation, self.similarity, self.match, self.unit]


@dataclass(frozen=True, eq=False)
class Run:
    """A stored run.

    Parameters
    ----------
    key : str
    kind : "agreement" or "variations"
    settings : dict
        Similarity, threshold and what else the analysis was told.
    choice : LabelChoice
        Which labels it read.
    figures : dict
        The figures of the summary, as plain values.
    label_fields : tuple of str
        Fields it read.
    result : Agreement, Variations or None
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
        return f"{names.variation!r}, {names.similarity!r} and {names.match!r} on labels"


def list_runs(samples: Any, kind: Kind | None = None) -> list[str]:
    """Keys of the complete runs of a data set, the newest first; what a dead writer left behind is removed."""
    dataset = samples._root_dataset
    dataset.reload()
    infos = []
    for key in dataset.list_runs():
        config = dataset.get_run_info(key).config
        if not _is_ours(config):
            continue
        if config.status == WRITING:
            if not _alive(config.writer):
                _remove(dataset, key)
        elif kind is None or config.method == f"{METHOD}/{kind}":
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
    return restore(load_run_view(samples, run_key), run, load_arrays(samples, run_key))


def load_run_view(samples: Any, run_key: str) -> Any:
    """The view a run was computed on."""
    _config(samples, run_key)
    return samples._root_dataset.load_run_view(run_key)


def rename_run(samples: Any, run_key: str, new_key: str) -> None:
    """Give a run, and everything it wrote, another key."""
    config = _config(samples, run_key)
    dataset = samples._root_dataset
    check_run_key(dataset, new_key)
    old, new = RunNames(run_key), RunNames(new_key)
    renamed = dict(zip([*old.of_samples, *old.of_labels], [*new.of_samples, *new.of_labels], strict=True))
    moves = {}
    for path in config.fields:
        parent, _, name = path.rpartition(".")
        moves[path] = f"{parent}.{renamed[name]}" if parent else renamed[name]
    moves = {path: new_path for path, new_path in moves.items() if dataset.has_field(path)}
    config.fields = [*moves, *moves.values()]  # whatever happens on the way, deleting the run finds it all
    dataset.update_run_config(run_key, config)
    try:
        for path, new_path in moves.items():
            _copy_field(dataset, path, new_path)
        dataset.rename_run(run_key, new_key)
    except BaseException:
        _delete_fields(dataset, moves.values())
        config.fields = list(moves)
        dataset.update_run_config(run_key, config)
        raise
    _delete_fields(dataset, moves)
    config.fields = list(moves.values())
    dataset.update_run_config(new_key, config)


def _copy_field(dataset: Any, path: str, new_path: str) -> None:
    """Copy a field of samples or an attribute of labels, in all slices.

    Not FiftyOne's own renaming of attributes: it works on the active slice only, and turns an absent label list into
    an empty one, so that 'not asked' would become 'drew nothing'.
    """
    field = dataset.get_field(path)
    subfield = {"subfield": type(field.field)} if isinstance(field, fo.ListField) else {}
    dataset.add_sample_field(new_path, type(field), **subfield)
    labels, _, name = path.rpartition(".")
    copied: dict[str, Any] = {new_path: f"${path}"}
    if labels:
        attribute = {new_path.rpartition(".")[2]: f"$$label.{name}"}  # absent where the old one is
        join = {"$mergeObjects": ["$$label", attribute]}
        copied = {labels: {"$map": {"input": f"${labels}", "as": "label", "in": join}}}
    update = [{"$set": {**copied, "last_modified_at": "$$NOW"}}]
    dataset._sample_collection.update_many({path: {"$exists": True}}, update)
    fo.Sample._reload_docs(dataset._sample_collection_name)


def _delete_fields(dataset: Any, paths: Iterable[str]) -> None:
    present = [path for path in paths if dataset.has_field(path)]
    if present:
        dataset.delete_sample_fields(present)


def delete_run(samples: Any, run_key: str) -> None:
    """Delete a run, all it wrote, and nothing else."""
    _config(samples, run_key)
    _remove(samples._root_dataset, run_key)


def free_run_key(samples: Any, base: str) -> str:
    """`base`, or `base` with the first number that makes it free."""
    _check_spelling(base)
    number, key = 1, base
    while True:
        try:
            check_run_key(samples, key)
            return key
        except InputError:
            number += 1
            key = f"{base}{number}"


def check_run_key(samples: Any, run_key: object) -> None:
    """Refuse a key that is no identifier, is taken, or whose names would overwrite anything.

    Raises
    ------
    InputError
        Saying which name is in the way.
    """
    run_key = _check_spelling(run_key)
    dataset = samples._root_dataset
    dataset.reload()
    taken = {*dataset.list_runs(), *dataset.list_evaluations(), *dataset.list_brain_runs()}
    if run_key in taken or run_key in dataset.list_annotation_runs():
        raise InputError(f"run key: {run_key!r} is the key of another run; choose another or delete that run first")
    names = RunNames(run_key)
    in_the_way = _reserved(names) + _existing(dataset, names) + _of_other_runs(dataset, names)
    if in_the_way:
        raise InputError(f"run key: {run_key!r} would overwrite {listed(in_the_way)}; choose another key")


def _check_spelling(run_key: object) -> str:
    name = run_key if isinstance(run_key, str) else ""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise InputError(
            f"run key: expected a name of letters, digits and underscores that starts with a letter, got {run_key!r}"
        )
    return name


def _reserved(names: RunNames) -> list[str]:
    found = [f"the attribute {name!r} of samples" for name in names.of_samples if hasattr(fo.Sample, name)]
    for label in (fo.Detection, fo.Polyline):
        own = {*label._fields, *label._fields_ordered}
        clashes = [name for name in names.of_labels if name in own or hasattr(label, name)]
        found += [f"the attribute {name!r} of a {label.__name__}" for name in clashes]
    return found


def _existing(dataset: Any, names: RunNames) -> list[str]:
    schema = dataset.get_field_schema()
    found = [f"the field {name!r}" for name in names.of_samples if name in schema]
    paths = [f"{path}.{name}" for path in label_fields(dataset).values() for name in names.of_labels]
    declared = dataset.get_field_schema(flat=True)
    undeclared = [path for path in paths if path not in declared]
    counts = every_sample(dataset).aggregate([fo.Count(path) for path in undeclared]) if undeclared else []
    used = {path for path, count in zip(undeclared, counts, strict=True) if count}
    return found + [f"the attribute {path!r}" for path in paths if path in declared or path in used]


def _of_other_runs(dataset: Any, names: RunNames) -> list[str]:
    wanted = {*names.of_samples, *names.of_labels}
    others = {key: RunNames(key) for key in dataset.list_runs() if _is_ours(dataset.get_run_info(key).config)}
    return [
        f"the names of the run {key!r}"
        for key, theirs in others.items()
        if not wanted.isdisjoint([*theirs.of_samples, *theirs.of_labels])
    ]


@contextmanager
def writing(
    labels: Labels,
    run_key: str,
    kind: Kind,
    settings: Mapping[str, Any],
    fields: Mapping[str, Mapping[str, Any]],
) -> Iterator[Draft]:
    """Register a run as being written, declare its fields, and take all of it back if anything goes wrong.

    `fields` maps the paths to be created to the arguments of `add_sample_field`. The caller fills in `figures` and
    `arrays` of what it is given; leaving the block makes the run complete.
    """
    dataset = labels.view._root_dataset
    check_run_key(dataset, run_key)
    config = dataset.init_run(
        method=f"{METHOD}/{kind}",
        status=WRITING,
        writer=_writer(),
        settings=dict(settings),
        choice=labels.choice.record(),
        label_fields=list(labels.fields),
        fields=list(fields),
        figures={},
    )
    labels.view.register_run(run_key, config)
    try:
        for path, arguments in fields.items():
            dataset.add_sample_field(path, **arguments)
        draft = Draft()
        yield draft
        results = dataset.init_run_results(run_key)
        results.arrays = draft.arrays
        dataset.save_run_results(run_key, results, cache=False)
        config.figures = draft.figures
        config.status = COMPLETE
        dataset.update_run_config(run_key, config)
    except BaseException:
        _remove(dataset, run_key)
        raise


@dataclass
class Draft:
    """What a run will store besides its fields: figures as plain values, arrays packed."""

    figures: dict[str, Any] = field(default_factory=dict)
    arrays: str = ""


def pack(**arrays: NDArray[Any]) -> str:
    """Arrays as text, for the results of a run."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def load_arrays(samples: Any, run_key: str) -> dict[str, NDArray[Any]]:
    """The arrays a run stored."""
    results = samples._root_dataset.load_run_results(run_key, cache=False, load_view=False)
    if results is None or not getattr(results, "arrays", None):
        raise InputError(f"run {run_key!r}: its stored result is gone; delete the run and compute it again")
    with np.load(io.BytesIO(base64.b64decode(results.arrays)), allow_pickle=False) as stored:
        return dict(stored)


def label_schema(labels: Labels, attributes: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Paths of label attributes in every list that was read, with their field types."""
    return {f"{path}.{name}": arguments for path in labels.paths for name, arguments in attributes.items()}


def _config(samples: Any, run_key: str, kind: Kind | None = None) -> Any:
    keys = list_runs(samples, kind)
    if run_key not in keys:
        runs = f"the {kind} runs" if kind else "the runs"
        there = f"one of {runs} {listed(keys, 20)}" if keys else f"one of {runs}, of which there are none yet"
        raise InputError(f"run key: expected {there}, got {run_key!r}")
    return samples._root_dataset.get_run_info(run_key).config


def _is_ours(config: Any) -> bool:
    return str(config.method).startswith(f"{METHOD}/")


def _remove(dataset: Any, run_key: str) -> None:
    config = dataset.get_run_info(run_key).config
    _delete_fields(dataset, config.fields)
    dataset.delete_run(run_key)


def _writer() -> dict[str, Any]:
    return {"host": socket.gethostname(), "pid": os.getpid(), "started": psutil.Process().create_time()}


def _alive(writer: Mapping[str, Any]) -> bool:
    """Whether the process that writes a run still exists; one on another machine is left alone."""
    if writer["host"] != socket.gethostname():
        return True
    try:
        process = psutil.Process(writer["pid"])
        same = abs(process.create_time() - writer["started"]) < SAME_PROCESS
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
