"""Resolved labels on FiftyOne: a label field of agreed and decided labels."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from kalos_core.decisions.decision import Undecided
from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.deciding.decide import decisions
from kalos_core.fiftyone.kinds.resolved.kind import RESOLVED, ResolvedDetails, ResolvedRun
from kalos_core.fiftyone.kinds.resolved.resolving import RESOLVING, AnyRun, origins_by_class
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Progress
from kalos_core.fiftyone.runs.stored import load_metrics, load_run
from kalos_core.files import as_path


def resolved(
    samples: Any, key: str, field: str, *, undecided: Undecided = "majority", progress: Progress | bool | None = None
) -> ResolvedRun:
    """Write a label field of the labels that raters agree on or that were decided; see `kalos_core.decisions`.

    The field belongs to a run whose key is the name of the field; deleting the run deletes the field. With objects, it
    can be the ``gt_field`` of FiftyOne's ``evaluate_detections``. With image-level labels, it can be the ``gt_field``
    of ``evaluate_classifications``, the ``reference`` of `compute_label_agreement`, and one of the raters of
    `rank_systems`. The field does not count as a rater.

    Each label stores its origin in the attribute ``<field>`` ("agreed", a decision, or "undecided"), the raters of its
    source labels in ``<field>_raters``, and ``<field>_note`` and ``<field>_who``. Objects also store the ids of their
    source labels in ``<field>_match``. `export_resolved` writes a file with the same information.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an agreement run on objects or on image-level labels.
    field : str
        Name of a new field, which is also the key of the new run.
    undecided : name in `UNDECIDED`
        How to resolve units in dispute without a decision.
    progress : callable or bool, optional
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is a `Resolved`, or a `ResolvedLabels` for image-level labels. Decisions about labels that no
        longer form a unit, because labels changed since, are left out; the metrics contain their number.

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
    about = load_metrics(samples, key, tuple(RESOLVING))
    dataset, view, way = about.dataset, about.view, RESOLVING[about.kind]
    with analysing(view, field, progress) as report:
        if dataset.has_field(field):
            raise InputError(f"field: {field!r} exists already; choose another name")
        report(COMPARING, "Resolving what is in dispute")
        result, found, left_out = _resolve(dataset, about, undecided)
        settings = {"agreement": about.key, "of": about.kind, "undecided": undecided, **way.settings(about)}
        labels, declared = way.read(view, about), way.fields(result, field, about)
        with writing(RESOLVED, labels, field, settings, report, declared) as draft:
            documents = way.documents(result, field, about, found)
            write_documents(view, documents, len(labels.images), report.within(STORING, 1.0, "Writing"))
            origins = result.origin.tolist()
            draft.metrics = {
                "labels": len(origins),
                "origins": dict(Counter(origins).most_common()),
                "decided": result.decided,
                "open": way.open(result),
                "left_out": left_out,
            }
            draft.details = ResolvedDetails(origins_by_class(origins, way.names(result)))
            draft.arrays, draft.result = way.arrays(result), result
    return draft.run


def export_resolved(
    samples: Any, key: str, path: str | os.PathLike[str], *, undecided: Undecided = "majority", overwrite: bool = False
) -> Path:
    """Write resolved labels with their origins to a file; nothing is written on the data set.

    The file is a COCO file for objects, or a CSV table for image-level labels, which `read_long_labels` reads. It is
    written completely or not at all.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        As in `resolved`.
    path : path
        A file in an existing folder; an earlier export with this name is replaced.
    undecided : name in `UNDECIDED`
        As in `resolved`.
    overwrite : bool
        Whether to replace any other file as well.

    Returns
    -------
    Path
        Path of the written file.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    target = as_path(path, "path").absolute()
    if not target.name or target.is_dir():
        raise InputError(f"path: expected a file, got the folder {target}")
    about = load_metrics(samples, key, tuple(RESOLVING))
    result, _, _ = _resolve(samples, about, undecided)
    return RESOLVING[about.kind].export(samples, result, target, overwrite)


def _resolve(samples: Any, about: AnyRun, undecided: Undecided) -> tuple[Any, Any, int]:
    """Return the resolved labels, the result of the agreement, and the number of decisions about changed labels."""
    way, found = RESOLVING[about.kind], load_run(samples, about.key).result
    made = decisions(samples, about.key)
    fits = way.fits(about, found, made)
    kept = [one for one, fit in zip(made, fits, strict=True) if fit]
    return way.resolve(about, found, kept, undecided), found, len(made) - len(kept)
