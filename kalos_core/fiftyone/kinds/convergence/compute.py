"""Label convergence on FiftyOne: the mAP that a model can reach, over all images and for each tag."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.annotations import Annotations
from kalos_core.convergence import PlacedModel, convergence_study, label_convergence, map_of_predictions
from kalos_core.convergence.matching import ALMOST_ONE
from kalos_core.display import number_of
from kalos_core.errors import InputError, lookup
from kalos_core.fiftyone.dataset.objects import Labels, labels_of_field, read_labels
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.dataset.samples import check_samples
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.kinds.convergence.kind import (
    CONVERGENCE,
    ConvergenceRun,
    ConvergenceRunArguments,
    ConvergenceRunSettings,
    metrics_of,
)
from kalos_core.fiftyone.kinds.matched import matched_arrays
from kalos_core.fiftyone.runs.life import COMPARING, STORING, Found, analysing, store
from kalos_core.fiftyone.runs.stored import load_details
from kalos_core.options import takes
from kalos_core.pairs import compute_pairs
from kalos_core.results import plain_values
from kalos_core.similarity import get_similarity
from kalos_core.variation.find import TOUCHING


@takes(ConvergenceRunArguments)
def estimate_convergence(samples: Any, run_key: str, settings: ConvergenceRunArguments) -> ConvergenceRun:
    """Estimate the highest mAP to expect from any model, given how raters differ; see `kalos_core.label_convergence`.

    Nothing is written on samples or labels. The run itself holds the metrics and the replicates, from which
    `convergence_metrics` computes metrics at some of the thresholds. `stale_samples` ignores the field of
    `predictions`.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is a `LabelConvergence` of all images; its `details` are a `ConvergenceStudy`.

    Raises
    ------
    InputError
        If the input cannot be used; nothing is stored in this case.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> def boxes(height):
    ...     return fo.Detections(detections=[fo.Detection(label="cat", bounding_box=[0.1, 0.1, 0.5, height])])
    >>> _ = dataset.add_samples(
    ...     [
    ...         fo.Sample(f"{n}.jpg", raters=["ann", "bob"], ann=boxes(0.5), bob=boxes(0.5 - 0.1 * (n % 3)))
    ...         for n in range(200)
    ...     ],
    ...     progress=False,
    ... )
    >>> run = estimate_convergence(
    ...     dataset, "ceiling", subsets=50, fraction=0.5, models={"net": 0.1}, raters=("ann", "bob")
    ... )
    >>> run.metrics["images_per_subset"], run.metrics["models"][0]["place"], run.written
    (100, 'below', 'nothing on samples or labels')
    >>> dataset.delete()
    """
    predictions = settings.predictions
    with analysing(samples, run_key, settings.progress) as report:
        labels = read_labels(samples, settings.part(Selection), [settings.similarity])
        (measure,) = labels.similarities
        line = settings.line and replace(settings.line, residuals=np.zeros(0))
        told = settings.part(ConvergenceRunSettings, similarity=measure, line=line)
        check_comparable(labels.annotations)
        scored = {} if predictions is None else {predictions: _predictions(labels, predictions, measure)}
        tagged = _tagged(labels) if told.tags else {}
        report(COMPARING, f"Comparing {number_of(len(labels.annotations), 'annotation')}")
        touching = compute_pairs(
            labels.annotations, get_similarity(measure), TOUCHING
        )  # the check-list uses all of them
        pairs = touching.at_least(min(*told.thresholds, ALMOST_ONE))
        known = COMPARING + (STORING - COMPARING) / (1 + len(tagged))  # as much work for each tag as for all images
        tell = report.part(COMPARING, known)
        result = label_convergence(labels.annotations, **told.of_library(), pairs=pairs, progress=tell)
        study = convergence_study(
            labels.annotations,
            result,
            tags=tagged,
            models=told.models,
            predictions=scored,
            pairs=touching,
            progress=report.part(known, STORING),
        )
        report(STORING, "Storing label convergence")
        found = Found(
            settings=plain_values(told.record()),
            metrics=metrics_of(study, len(labels.annotations)),
            details=study,
            result=result,
            arrays=lambda: matched_arrays(labels, pairs),
        )
        return store(CONVERGENCE, labels, run_key, found, report)


def place_predictions(samples: Any, run_key: str, predictions: str, truth: str) -> PlacedModel:
    """Compare a model with the label convergence of a run, by its mAP with a rater or field as ground truth.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
        Samples on which the model is evaluated; samples without ground truth are left out.
    run_key : str
        Key of a label convergence run; its similarity, thresholds, classes and smallest area are used.
    predictions : str
        A label field with predictions; each has a confidence.
    truth : str
        A rater or a label field, such as a resolved one, as ground truth.

    Returns
    -------
    PlacedModel

    Raises
    ------
    InputError
        If the run or a field does not exist, or if the predictions cannot be evaluated.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> def boxes(height, **sure):
    ...     cat = fo.Detection(label="cat", bounding_box=[0.1, 0.1, 0.5, height], **sure)
    ...     return fo.Detections(detections=[cat])
    >>> raters = {"raters": ["ann", "bob"], "ann": boxes(0.5), "net": boxes(0.5, confidence=0.9)}
    >>> samples = [fo.Sample(f"{n}.jpg", bob=boxes(0.5 - 0.1 * (n % 3)), **raters) for n in range(200)]
    >>> _ = dataset.add_samples(samples, progress=False)
    >>> _ = estimate_convergence(dataset, "ceiling", subsets=50, fraction=0.5, raters=("ann", "bob"))
    >>> found = place_predictions(dataset, "ceiling", "net", "ann")
    >>> found.map, found.place
    (1.0, 'above')
    >>> dataset.delete()
    """
    check_samples(samples)
    run = load_details(samples, run_key, CONVERGENCE.name)
    measure, chosen = run.settings["similarity"], run.selection
    wanted = Selection(raters=(truth,), classes=chosen.classes, min_area=chosen.min_area, assigned="labelled")
    labels = read_labels(samples, wanted, [measure])
    model, scores = _predictions(labels, predictions, measure)
    compared = {"similarity": measure, "thresholds": run.settings["thresholds"]}
    found = map_of_predictions(labels.annotations, model, scores, **compared).mean
    return PlacedModel.of(run.details.whole.interval, predictions, found, {truth: found})


def _predictions(labels: Labels, field: str, similarity: str) -> tuple[Annotations, list[float | None]]:
    """Return the predictions of a field on the images of the labels, and their confidences."""
    lookup(label_fields(labels.view), field, "predictions")
    if field in labels.fields:
        raise InputError(f"predictions: expected the field of a model, got {field!r}, which holds labels of raters")
    found = labels_of_field(labels, field, similarity)
    return found.annotations, list(found.scores)


def _tagged(labels: Labels) -> dict[str, NDArray[np.bool_]]:
    tags_of = dict(zip(*labels.view.values(["id", "tags"]), strict=True))
    tags = [set(tags_of[image] or ()) for image in labels.annotations.images]
    return {tag: np.array([tag in own for own in tags]) for tag in sorted(set().union(*tags))}
