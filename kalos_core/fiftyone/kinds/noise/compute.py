"""Synthetic raters on FiftyOne: a label field for each rater, and a run with their ground truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from bson import ObjectId

from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.writing import picked, write_documents, write_values
from kalos_core.fiftyone.kinds.noise.details import noise_details, noise_metrics
from kalos_core.fiftyone.kinds.noise.kind import NOISE, NoiseRun
from kalos_core.fiftyone.kinds.noise.labels import (
    declared_fields,
    labels_of_reference,
    reference_values,
    synthetic_labels,
)
from kalos_core.fiftyone.kinds.noise.settings import NoiseArguments
from kalos_core.fiftyone.kinds.noise.sources import Reference, class_source_of, false_positive_source_of
from kalos_core.fiftyone.kinds.noise.views import PREFIX
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, analysing, writing
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.noise import InjectedNoise
from kalos_core.noise.model import choose_model
from kalos_core.options import takes

COMPARED = 0.45
"""Fraction of the work completed when the raters are generated."""

EVENTS_WRITTEN, LABELS_WRITTEN = 0.5, 0.6
"""Fractions of the work completed at the start and at the end of writing events on the labels of the reference."""


@takes(NoiseArguments)
def inject_noise(samples: Any, run_key: str, settings: NoiseArguments) -> NoiseRun:
    """Generate synthetic raters with ground truth from a reference; see `kalos_core.noise` (KαLOS §9).

    The run writes a new label field for each rater, named after the run key and the rater. Each label in it has two
    attributes: ``<run_key>``, the event that made it ("shift", "addition", "split", "merge", "wrong_class", or
    "unchanged"), and ``<run_key>_match``, the ids of its labels in the reference.

    Synthetic labels and labels of the reference have three lists in the same order. ``<run_key>_all`` lists their
    events, ``<run_key>_outcomes`` the outcome of each event ("done", "lost", "impossible"), and ``<run_key>_fields``
    the field of the rater. Nothing else of the reference is changed. The sample field ``<run_key>_changes`` counts the
    events of an image other than shifts. Deleting the run removes all of these.

    The reference is a rater or a label field: Detections with or without masks, or Polylines. Other analyses take the
    new fields as raters:
    ``compute_agreement(samples, key, raters=noise_raters(samples, run_key))``.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is an `InjectedNoise`: the events on each label, and which labels are of the same object.

    Raises
    ------
    InputError
        If the input cannot be used; nothing is written in this case. An interrupted run leaves nothing behind either.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> boxes = [[0.1, 0.1, 0.2, 0.2], [0.5, 0.1, 0.2, 0.2], [0.1, 0.6, 0.2, 0.2]]
    >>> truth = fo.Detections(detections=[fo.Detection(label="cat", bounding_box=box) for box in boxes])
    >>> size = fo.ImageMetadata(width=100, height=100)
    >>> _ = dataset.add_samples(
    ...     [fo.Sample(f"{n}.jpg", truth=truth.copy(), metadata=size) for n in range(9)], progress=False
    ... )
    >>> run = inject_noise(dataset, "noise", reference="truth", raters=2, magnitude=[0, 1])
    >>> noise_raters(dataset, "noise"), dataset.values("noise_synthetic_1.detections.noise")[0]
    (('noise_synthetic_1', 'noise_synthetic_2'), ['unchanged', 'unchanged', 'unchanged'])
    >>> dataset.first().truth.detections[0]["noise_all"], dataset.first().truth.detections[0]["noise_fields"]
    (['shift'], ['noise_synthetic_2'])
    >>> dataset.delete()
    """
    with analysing(samples, run_key, settings.progress) as report:
        origin = Reference.of(samples, settings.reference, settings.others, settings)
        labels = origin.read(samples)
        report(COMPARING, f"Generating raters from {number_of(len(labels.annotations), 'annotation')}")
        used, title = choose_model(settings.model, labels.annotations, settings.fit)
        result = used.generate(
            labels.annotations,
            raters=settings.raters,
            magnitude=settings.magnitude,
            seed=settings.seed,
            reference=list(origin.names),
            schools=settings.schools,
            class_source=class_source_of(settings, labels, origin),
            false_positive_source=false_positive_source_of(settings, labels, origin),
        )
        report(COMPARED, "Comparing generated raters with the real ones")
        details = noise_details(result, used, labels.annotations, settings.seed)
        names = RunNames(run_key)
        fields = names.fields_for(samples, list(result.annotations.raters))
        noise = InjectedNoise.of(result, list(fields.values()), [str(ObjectId()) for _ in result.annotations.rater])
        originals = labels_of_reference(labels, result.original)
        stored = {
            "similarity": origin.similarity,
            "reference_fields": list(origin.fields),
            "schools": np.bincount(result.reference_rater).tolist(),  # number of raters generated from each reference
        }
        on_reference = report.within(EVENTS_WRITTEN, LABELS_WRITTEN, f"Writing {number_of(len(noise.event), 'event')}")
        on_fields = report.within(LABELS_WRITTEN, 1.0, f"Writing {number_of(len(result.annotations), 'label')}")
        declared = declared_fields(names, fields, origin.label_type, originals)
        with writing(NOISE, labels, run_key, stored, report, declared) as draft:
            changes = picked({names.changes: noise.changes})
            write_values(originals, reference_values(names, noise), changes, on_reference)
            documents = synthetic_labels(names, result, noise, origin.label_type)
            write_documents(labels.view, documents, len(noise.images), on_fields)
            draft.metrics, draft.details, draft.result = noise_metrics(result, noise, title), details, noise
            draft.arrays = {f"{PREFIX}{name}": array for name, array in noise.to_arrays().items()}
    return draft.run


def noise_raters(samples: Any, run_key: str, *, with_reference: bool = False) -> tuple[str, ...]:
    """Return the label fields of the synthetic raters of a run, to use as `raters` in other analyses.

    Parameters
    ----------
    samples, run_key
    with_reference : bool
        Whether to put the field of the reference first. ``read_annotations(samples, raters=...)`` then reads one table
        of the reference and the raters generated from it.

    Raises
    ------
    InputError
        If the reference has no field of its own.
    """
    run = load_metrics(samples, run_key, "noise")
    made: list[str] = run.metrics["fields"]
    if not with_reference:
        return tuple(made)
    if run.selection.field is not None:
        raise InputError(f"with_reference: expected a reference in a field of its own, got {run.selection.field!r}")
    return (*run.settings["reference_fields"], *made)
