"""Resolved labels on FiftyOne: a label field of what raters agree on and of what was decided."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

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
    samples: Any, key: str, field: str, *, undecided: str = "majority", progress: Progress | bool | None = None
) -> ResolvedRun:
    """Make a label field of what raters agree on and of what was decided; see `kalos_core.decisions`.

    It is a run whose key is the field: deleting it deletes the field. Of objects it can be the ``gt_field`` of
    FiftyOne's ``evaluate_detections``, of image-level labels that of ``evaluate_classifications``, the ``reference`` of
    `compute_label_agreement` and one of the raters of `rank_systems`; it is no rater's.

    Every label says where it comes from: ``<field>`` ("agreed", a decision, or "undecided"), of objects
    ``<field>_match`` (ids of the labels it is made of), ``<field>_raters`` (whose these are), ``<field>_note`` and
    ``<field>_who``. `export_resolved` writes a file with all that.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an agreement of objects or of image-level labels.
    field : str
        A new field, which is the key of the new run.
    undecided : name in `UNDECIDED`
        What becomes of units in dispute that nobody has decided.
    progress : callable or bool, optional
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is a `Resolved`, of image-level labels a `ResolvedLabels`. Decisions about labels that are no unit
        any more, as they were changed since, are left out; its metrics say how many.

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
            raise InputError(f"field: {field!r} is there already; choose another name")
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
    samples: Any, key: str, path: str | os.PathLike[str], *, undecided: str = "majority", overwrite: bool = False
) -> Path:
    """Write what `resolved` makes as a file, with where each label comes from; nothing is written on the data set.

    Of objects it is a COCO file, of image-level labels a CSV table that `read_long_labels` reads. The file appears
    whole or not at all.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        As in `resolved`.
    path : path
        A file in a folder that is there; another export of that name is replaced.
    undecided : name in `UNDECIDED`
        As in `resolved`.
    overwrite : bool
        Replace any other file, too.

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
    about = load_metrics(samples, key, tuple(RESOLVING))
    result, _, _ = _resolve(samples, about, undecided)
    return RESOLVING[about.kind].export(samples, result, target, overwrite)


def _resolve(samples: Any, about: AnyRun, undecided: str) -> tuple[Any, Any, int]:
    """The resolved labels, the result they are made of, and how many decisions are about labels that are others now."""
    way, found = RESOLVING[about.kind], load_run(samples, about.key).result
    made = decisions(samples, about.key)
    fits = way.fits(about, found, made)
    kept = [one for one, fit in zip(made, fits, strict=True) if fit]
    return way.resolve(about, found, kept, undecided), found, len(made) - len(kept)
