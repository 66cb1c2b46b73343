"""Writing a run: registered before the first write, complete last, taken back if anything goes wrong."""

from __future__ import annotations

import base64
import io
import os
import shutil
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import fiftyone as fo
import numpy as np
import psutil
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core.errors import InputError
from kalos_core.fiftyone.labels import LabelChoice, Labels
from kalos_core.fiftyone.runs.defaults import forget_thresholds
from kalos_core.fiftyone.runs.keys import METHOD, check_run_key

Kind = Literal[
    "agreement",
    "variations",
    "calibration",
    "convergence",
    "noise",
    "labels",
    "ranking",
    "pixels",
    "truth",
    "detectors",
]

WRITING, COMPLETE = "writing", "complete"

SAME_PROCESS = 60.0
"""Seconds by which the start of one process may differ between two readings: they move with the clock."""


FOLDER = "kalos"
"""Folder in FiftyOne's folder of data sets that holds the files of runs."""


class WhatWasRead(Protocol):
    """What a run has to know of its input: the view, the choice, and the fields."""

    @property
    def view(self) -> Any:
        """The samples."""

    @property
    def choice(self) -> LabelChoice:
        """Which labels or masks of theirs."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields these are in."""


@contextmanager
def writing(
    labels: WhatWasRead,
    run_key: str,
    kind: Kind,
    settings: Mapping[str, Any],
    fields: Mapping[str, Mapping[str, Any]],
    folder: Path | None = None,
) -> Iterator[Draft]:
    """Register a run as being written, declare its fields, and take all of it back if anything goes wrong.

    `fields` maps the paths to be created to the arguments of `add_sample_field`. `folder`, of `new_folder`, is where
    the run will write files. The caller fills in `figures` and `arrays` of what it is given; leaving the block makes
    the run complete.
    """
    dataset = labels.view._root_dataset
    check_run_key(dataset, run_key)
    config = dataset.init_run(
        method=f"{METHOD}/{kind}",
        status=WRITING,
        writer=writer_of_now(),
        settings=dict(settings),
        choice=labels.choice.record(),
        label_fields=list(labels.fields),
        fields=list(fields),
        folder=None if folder is None else str(folder),
        figures={},
    )
    labels.view.register_run(run_key, config)
    try:
        for path, arguments in fields.items():
            dataset.add_sample_field(path, **arguments)
        draft = Draft()
        yield draft
        results = dataset.init_run_results(run_key)
        results.arrays, results.diagnostics = draft.arrays, draft.diagnostics
        dataset.save_run_results(run_key, results, cache=False)
        config.figures = draft.figures
        config.status = COMPLETE
        store_config(dataset, run_key, config)
    except BaseException:
        remove_run(dataset, run_key)
        raise


@dataclass
class Draft:
    """What a run will store besides its fields.

    Parameters
    ----------
    figures : dict
        The figures of the summary, as plain values: part of the data set's own document, which every look at the data
        set reads, so they are few.
    diagnostics : dict
        All other figures, as plain values; read only when they are asked for.
    arrays : str
        What figures are computed from, packed.
    """

    figures: dict[str, Any] = field(default_factory=dict)
    diagnostics: dict[str, Any] = field(default_factory=dict)
    arrays: str = ""


def pack(**arrays: NDArray[Any]) -> str:
    """Arrays as text, for the results of a run."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def store_config(dataset: Any, run_key: str, config: Any) -> None:
    """Store another configuration for a run, so that other processes see it."""
    dataset.update_run_config(run_key, config)
    dataset._update_last_modified_at()


def update_figures(samples: Any, run_key: str, figures: Mapping[str, Any]) -> None:
    """Store other figures for the summary of a complete run."""
    dataset = samples._root_dataset
    config = dataset.get_run_info(run_key).config
    config.figures = dict(figures)
    store_config(dataset, run_key, config)


def digest_arrays(labels: Labels, **arrays: NDArray[Any]) -> str:
    """Packed: what a run read, by image and label, with the arrays given."""
    return pack(
        image_ids=labels.annotations.images.astype(str),
        hashes=labels.hashes.astype(str),
        label_ids=np.array(labels.annotations.id.tolist(), dtype=str),
        **arrays,
    )


def load_arrays(samples: Any, run_key: str) -> dict[str, NDArray[Any]]:
    """The arrays a run stored."""
    packed = getattr(_results(samples, run_key), "arrays", None)
    if not packed:
        raise InputError(f"run {run_key!r}: its stored result is gone; delete the run and compute it again")
    with np.load(io.BytesIO(base64.b64decode(packed)), allow_pickle=False) as stored:
        return dict(stored)


def load_diagnostics(samples: Any, run_key: str) -> dict[str, Any]:
    """The figures of a run beyond its summary, as plain values; none of a run of version 0.1.0, which had none."""
    return dict(getattr(_results(samples, run_key), "diagnostics", None) or {})


def _results(samples: Any, run_key: str) -> Any:
    return samples._root_dataset.load_run_results(run_key, cache=False, load_view=False)


def label_schema(labels: Labels, attributes: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Paths of label attributes in every list that was read, with their field types."""
    return {f"{path}.{name}": arguments for path in labels.paths for name, arguments in attributes.items()}


def remove_run(dataset: Any, run_key: str) -> None:
    """Delete a run and all it wrote, whether it is complete or not."""
    config = dataset.get_run_info(run_key).config
    delete_fields(dataset, config.fields)
    folder = getattr(config, "folder", None)
    if folder is not None:
        _delete_folder(dataset, Path(folder))
    forget_thresholds(dataset, run_key)
    dataset.delete_run(run_key)


def _delete_folder(dataset: Any, folder: Path) -> None:
    """Delete the files of a run; not those of the data set this one is a copy of."""
    home = folder_of(dataset)
    if folder.parent != home or not folder.exists():
        return
    shutil.rmtree(folder)
    if not any(home.iterdir()):
        home.rmdir()


def folder_of(dataset: Any) -> Path:
    """Where runs of a data set write files: named by what never changes, neither its name nor a run key."""
    return Path(fo.config.default_dataset_dir) / FOLDER / str(dataset._doc.id)


def new_folder(dataset: Any) -> Path:
    """A folder for the files of one run; it is not made yet."""
    return folder_of(dataset) / str(ObjectId())


def delete_fields(dataset: Any, paths: Iterable[str]) -> None:
    """Delete those of the fields and attributes that are there."""
    present = [path for path in paths if dataset.has_field(path)]
    if present:
        dataset.delete_sample_fields(present)


def writer_of_now() -> dict[str, Any]:
    """How a run that is being written names the process that writes it: this one."""
    return {"host": socket.gethostname(), "pid": os.getpid(), "started": psutil.Process().create_time()}


def is_alive(writer: Mapping[str, Any]) -> bool:
    """Whether the process that writes a run still exists; one on another machine is left alone."""
    if writer["host"] != socket.gethostname():
        return True
    try:
        process = psutil.Process(writer["pid"])
        same = abs(process.create_time() - writer["started"]) < SAME_PROCESS
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
