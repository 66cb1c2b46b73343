"""Synthetic raters on FiftyOne: one label field each, and the truth about them as a run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kalos_core.fiftyone.analyses.steps import COMPARING, READING, WRITING
from kalos_core.fiftyone.labels import LabelChoice, Labels, check_samples
from kalos_core.fiftyone.noise import (
    Drawing,
    InjectedNoise,
    arrays_of,
    class_source_of,
    false_positive_source_of,
    field_arguments,
    figures_of,
    law_rows,
    make_labels,
    model_of,
    rater_rows,
    write_raters,
)
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.runs import Run, check_run_key, digest_arrays, load_figures, writing
from kalos_core.noise import ClassSource, FalsePositiveSource, GeneratedRaters, NoiseModel

MAKING = 0.45
"""Share of the work done when the labels are made of what was drawn."""


def inject_noise(
    samples: Any,
    run_key: str,
    *,
    reference: str | Sequence[str] | None = None,
    raters: int | Sequence[str] = 3,
    magnitude: float | Sequence[float] = 1.0,
    seed: int = 0,
    schools: Sequence[int] | None = None,
    model: NoiseModel | str | os.PathLike[str] = "default",
    class_source: ClassSource | str = "confusion",
    embeddings: Any = None,
    taxonomy: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    false_positive_source: FalsePositiveSource | str = "transplanted",
    detections: str | None = None,
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """Draw synthetic raters from a reference, with known truth; see `kalos_core.noise` (KαLOS §9).

    Writes a label field for each rater, called after the run key and the rater, never one that is there already; the
    reference is not touched. Two attributes of every label: ``<run_key>``, the event it comes from ("shift",
    "addition", "split", "merge", "wrong_class", or "unchanged"), and ``<run_key>_match``, ids of the reference's labels
    it is of. Deleting the run removes the fields. They are raters of every other analysis:
    ``compute_agreement(samples, key, raters=noise_raters(samples, run_key))``.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.
    reference : str or sequence of str, optional
        The rater, or label field, to draw from: Detections with or without masks, or Polylines. Several: one for each
        school. Not needed where there is only one.
    raters, magnitude, seed, schools
        As in `kalos_core.noise.NoiseModel.generate`.
    model : "default", "fit", path, JSON text or NoiseModel
        The shipped model, one fitted on the raters of the choice, or one that was saved.
    class_source : "confusion", "embeddings", "taxonomy" or ClassSource
        Which classes are taken for one another: those that the raters of the choice confused, smoothed by frequency;
        those whose labels look alike; those that are near in a tree.
    embeddings : str or fiftyone.core.models.Model, optional
        An attribute of the reference's labels with vectors, the name of a model of FiftyOne's zoo that is downloaded
        already, or a model that embeds patches.
    taxonomy : mapping or path, optional
        As in `TaxonomyClasses.from_tree`.
    false_positive_source : "transplanted", "detections", "pictures" or FalsePositiveSource
        Where marks are added: at the places of marks of other images, where a detector found something, or at regions
        of the pictures themselves.
    detections : str, optional
        The field of the detector.
    choice, **options
        Which labels are read: the reference's, and those of the `raters` of the choice (by default all stored ones) to
        fit the model or to see which classes are confused.

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
    >>> dataset.delete()
    """
    choice = LabelChoice.of(choice, options)
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        report(READING, "Reading labels")
        drawing = Drawing.of(samples, reference, choice, with_others=model == "fit" or class_source == "confusion")
        labels = drawing.read(samples)
        report(COMPARING, f"Drawing raters from {len(labels.annotations):,} annotations")
        used, title = model_of(model, labels)
        result = used.generate(
            labels.annotations,
            raters=raters,
            magnitude=magnitude,
            seed=seed,
            reference=list(drawing.references),
            schools=schools,
            class_source=class_source_of(class_source, labels, drawing, embeddings, taxonomy),
            false_positive_source=false_positive_source_of(false_positive_source, labels, drawing, detections),
        )
        run = _write(run_key, labels, drawing, result, (used, title), report)
        report(1.0, "Done")
    return run


def _write(
    run_key: str,
    labels: Labels,
    drawing: Drawing,
    result: GeneratedRaters,
    model: tuple[NoiseModel, str],
    report: Report,
) -> Run:
    """The fields of the raters and the run, or nothing."""
    report(MAKING, f"Making {len(result.annotations):,} labels")
    there = labels.view._root_dataset.get_field_schema()
    fields, declared = field_arguments(run_key, list(result.annotations.raters), drawing.kind, there)
    made = make_labels(run_key, result, fields, drawing.kind)
    arrays = arrays_of(result, made)
    settings = {
        "similarity": drawing.similarity,
        "reference_fields": list(drawing.fields),
        "schools": np.bincount(result.reference_rater).tolist(),  # how many raters of each reference
    }

    def tell(share: float) -> None:
        report(WRITING + share * (1 - WRITING), f"Writing {len(fields):,} fields")

    with writing(labels, run_key, "noise", settings, declared) as draft:
        write_raters(labels.view, list(labels.annotations.images), made, tell)
        draft.figures = figures_of(result, fields, model[1])
        draft.diagnostics = {
            "raters": rater_rows(result, fields),
            "laws": law_rows(model[0]),
            "model": model[0].to_json(),
        }
        draft.arrays = digest_arrays(labels, **arrays)
    return Run(
        key=run_key,
        kind="noise",
        settings=settings,
        choice=labels.choice,
        figures=draft.figures,
        label_fields=labels.fields,
        diagnostics=draft.diagnostics,
        result=InjectedNoise.of(arrays),
    )


def noise_raters(samples: Any, run_key: str) -> tuple[str, ...]:
    """The label fields of the synthetic raters of a run, as `raters` of any other analysis."""
    return tuple(load_figures(samples, run_key, "noise").figures["fields"])
