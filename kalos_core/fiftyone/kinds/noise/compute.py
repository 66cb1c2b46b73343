"""Synthetic raters on FiftyOne: a label field for each, and what is true of them as a run."""

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
"""Share of the work done when the raters are generated."""

EVENTS_WRITTEN, LABELS_WRITTEN = 0.5, 0.6
"""Share of the work done when the events are written on the reference's labels, and when labels of raters are."""


@takes(NoiseArguments)
def inject_noise(samples: Any, run_key: str, settings: NoiseArguments) -> NoiseRun:
    """Generate synthetic raters from a reference, with known truth; see `kalos_core.noise` (KαLOS §9).

    Writes a label field for each rater, called after the run key and the rater, never one that is there already. Every
    label in it says in ``<run_key>`` the event it comes from ("shift", "addition", "split", "merge", "wrong_class", or
    "unchanged") and in ``<run_key>_match`` the ids of the reference's labels it is of.

    These labels and those of the reference list, in the same order, the events that are about them in
    ``<run_key>_all``, what became of each in ``<run_key>_outcomes`` ("done", "lost", "impossible"), and the field of
    the rater in ``<run_key>_fields``; nothing else of the reference is changed. The sample field ``<run_key>_changes``
    counts the events of an image other than shifts. Deleting the run removes all of it.

    The reference is a rater or a label field: Detections with or without masks, or Polylines. The fields are raters of
    every other analysis:
    ``compute_agreement(samples, key, raters=noise_raters(samples, run_key))``.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is an `InjectedNoise`: which event did what to which label, and which labels are of one object.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is written then. A run that is stopped half-way leaves nothing, either.

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
    (['deletion', 'shift'], ['noise_synthetic_2', 'noise_synthetic_2'])
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
            "schools": np.bincount(result.reference_rater).tolist(),  # raters made from each reference
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
    """The label fields of the synthetic raters of a run, as `raters` of any other analysis.

    Parameters
    ----------
    samples, run_key
    with_reference : bool
        Whether the reference's field is the first: ``read_annotations(samples, raters=...)`` is then one table of the
        reference and the raters made from it.

    Raises
    ------
    InputError
        For a reference that has no field of its own.
    """
    run = load_metrics(samples, run_key, "noise")
    made: list[str] = run.metrics["fields"]
    if not with_reference:
        return tuple(made)
    if run.selection.field is not None:
        raise InputError(f"with_reference: expected a reference in a field of its own, got {run.selection.field!r}")
    return (*run.settings["reference_fields"], *made)
