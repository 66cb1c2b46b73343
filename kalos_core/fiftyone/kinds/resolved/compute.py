"""Resolved labels on FiftyOne: a label field of what raters agree on and of what was decided."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from kalos_core._agreement import Agreement
from kalos_core.decisions import Resolved, resolve
from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.encoding import LABEL_TYPES, Document, Rows, choose_label_type
from kalos_core.fiftyone.dataset.raters import ESTIMATED
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.deciding.decide import still_of_units
from kalos_core.fiftyone.kinds.matched import read_compared
from kalos_core.fiftyone.kinds.resolved.kind import (
    RESOLVED,
    ResolvedDetails,
    ResolvedRun,
    resolved_arrays,
)
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Progress
from kalos_core.fiftyone.runs.stored import load_metrics, load_run
from kalos_core.files import as_path
from kalos_core.readers import write_coco


def resolved(
    samples: Any, key: str, field: str, *, undecided: str = "majority", progress: Progress | bool | None = None
) -> ResolvedRun:
    """Make a label field of what raters agree on and of what was decided; see `kalos_core.decisions.resolve`.

    It is a run whose key is the field: deleting it deletes the field. It can be the ``gt_field`` of FiftyOne's
    ``evaluate_detections``, and is no rater's. Every label says where it comes from: ``<field>`` ("agreed", a decision
    of `DECISIONS`, "undecided"), ``<field>_match`` (ids of the labels it is made of), ``<field>_raters`` (whose these
    are), ``<field>_note`` and ``<field>_who``. `export_resolved` writes a COCO file with all that.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an agreement.
    field : str
        A new field, which is the key of the new run.
    undecided : name in `UNDECIDED`
        What becomes of units in dispute that nobody has decided.
    progress : callable or bool, optional
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is a `Resolved`. Decisions about labels that are no unit any more, as they were changed since, are
        left out; its metrics say how many.

    Examples
    --------
    >>> import fiftyone as fo
    >>> from kalos_core.fiftyone.deciding.decide import decide
    >>> from kalos_core.fiftyone.kinds.agreement.compute import compute_agreement
    >>> dataset, box = fo.Dataset(), [0.1, 0.1, 0.5, 0.5]
    >>> cat, dog = (fo.Detection(label=name, bounding_box=box) for name in ("cat", "dog"))
    >>> size = fo.ImageMetadata(width=100, height=100)
    >>> _ = dataset.add_sample(
    ...     fo.Sample("a.jpg", metadata=size, ann=fo.Detections(detections=[cat]), bob=fo.Detections(detections=[dog]))
    ... )
    >>> _ = compute_agreement(dataset, "first", raters=("ann", "bob"), assigned="all")
    >>> _ = decide(dataset, "first", [cat.id, dog.id], "take", "bob")
    >>> run = resolved(dataset, "first", "gold")
    >>> (label,) = dataset.first()["gold"].detections
    >>> label.label, label["gold"], label["gold_raters"], run.metrics["origins"]
    ('dog', 'take', ['bob'], {'take': 1})
    >>> dataset.delete()
    """
    about = load_metrics(samples, key, "agreement")
    dataset, view = about.dataset, about.view
    with analysing(view, field, progress) as report:
        if dataset.has_field(field):
            raise InputError(f"field: {field!r} is there already; choose another name")
        found = cast(Agreement, load_run(dataset, about.key).result)
        decided, others = still_of_units(dataset, about.key, found)
        report(COMPARING, f"Resolving {number_of(len(found.units), 'unit')}")
        result = resolve(found, decided, undecided)
        settings = {"agreement": about.key, "similarity": about.settings["similarity"], "undecided": undecided}
        labels = read_compared(view, about)
        sizes = result.annotations.image_size  # where they are unknown, coordinates are shares of the image already
        table = replace(result.annotations, image_size=np.where(np.isnan(sizes), 1.0, sizes))
        kind = choose_label_type(table, "auto") if len(table) else LABEL_TYPES["detections"]
        names = RunNames(field)
        own = names.declared(names.main, names.match, names.raters, names.note, names.who)
        declared = kind.declared(field, f"Resolved from the agreement {about.key!r}", {ESTIMATED: field}, own)
        with writing(RESOLVED, labels, field, settings, report, declared) as draft:
            rater_of = dict(zip(found.annotations.id.tolist(), found.annotations.rater.tolist(), strict=True))
            attributes = _attributes(result, names, rater_of, found.annotations.raters.tolist())
            documents: Iterator[tuple[str, dict[str, Document]]] = zip(
                table.images.tolist(), kind.fields(table, [field], attributes), strict=True
            )
            write_documents(view, documents, len(table.images), report.within(STORING, 1.0, "Writing"))
            draft.metrics, draft.details = _metrics(result, len(others)), _details(result)
            draft.arrays, draft.result = resolved_arrays(result), result
    return draft.run


def export_resolved(samples: Any, key: str, path: str | os.PathLike[str], *, undecided: str = "majority") -> Path:
    """Write what `resolved` makes as a COCO file, with where each label comes from; nothing is written on the data set.

    The file appears whole or not at all.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an agreement.
    path : path
        A file in a folder that is there; one of that name is replaced.
    undecided : name in `UNDECIDED`
        As in `resolved`.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    target = as_path(path, "path").absolute()
    if not target.name or target.is_dir():
        raise InputError(f"path: expected a file, got the folder {target}")
    found = cast(Agreement, load_run(samples, load_metrics(samples, key, "agreement").key).result)
    result = resolve(found, still_of_units(samples, key, found)[0], undecided)
    return write_coco(result.annotations, target, result.fields())


def _attributes(result: Resolved, names: RunNames, rater_of: dict[str, int], raters: list[str]) -> Any:
    def attributes(rows: Rows) -> dict[str, list[Any]]:
        sources = [list(result.sources[row]) for row in rows.tolist()]
        return {
            names.main: result.origin[rows].tolist(),
            names.match: sources,
            names.raters: [[raters[code] for code in dict.fromkeys(rater_of[key] for key in keys)] for keys in sources],
            names.note: result.note[rows].tolist(),
            names.who: result.who[rows].tolist(),
        }

    return attributes


def _metrics(result: Resolved, left_out: int) -> dict[str, Any]:
    """How many labels there are, and of which origin; ``left_out``: decisions whose labels are others now."""
    return {
        "labels": len(result.annotations),
        "origins": dict(Counter(result.origin.tolist()).most_common()),
        "decided": result.decided,
        "open": len(result.open_units),
        "left_out": left_out,
    }


def _details(result: Resolved) -> ResolvedDetails:
    table = result.annotations
    pairs = Counter(zip(result.origin.tolist(), table.categories[table.category].tolist(), strict=True))
    classes: dict[str, dict[str, int]] = {}
    for (origin, category), count in pairs.most_common():
        classes.setdefault(origin, {})[category] = count
    return ResolvedDetails(classes)
