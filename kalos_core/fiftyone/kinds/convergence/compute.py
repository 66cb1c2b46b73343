"""Label convergence on FiftyOne: the mAP that disagreement lets a model reach, over all images and over tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.annotations import Annotations
from kalos_core.convergence import THRESHOLDS, Line, PlacedModel, convergence_study, map_of_predictions, read_models
from kalos_core.convergence.matching import ALMOST_ONE
from kalos_core.convergence.modified import check_thresholds
from kalos_core.display import number_of
from kalos_core.errors import InputError, check_whole, lookup
from kalos_core.fiftyone.dataset.objects import Labels, labels_of_field, read_labels
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.similarities import similarity_to_store
from kalos_core.fiftyone.kinds.convergence.kind import CONVERGENCE, ConvergenceRun, converge
from kalos_core.fiftyone.kinds.convergence.metrics import ConvergenceSettings, line_record, metrics_of
from kalos_core.fiftyone.kinds.matched import matched_arrays
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Progress
from kalos_core.fiftyone.runs.stored import load_details
from kalos_core.pairs import compute_pairs
from kalos_core.similarity import get_similarity
from kalos_core.variation.find import TOUCHING

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments


def estimate_convergence(
    samples: Any,
    run_key: str,
    *,
    similarity: str | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
    subsets: int = 1000,
    fraction: float = 0.1,
    seed: int = 0,
    line: Line | None = None,
    models: str | Mapping[str, float] | None = None,
    predictions: str | None = None,
    tags: bool = False,
    progress: Progress | bool | None = None,
    **selection: Unpack[SelectionArguments],
) -> ConvergenceRun:
    """The mAP that no model can be expected to pass, given how the raters differ; see `kalos_core.label_convergence`.

    Writes nothing on samples or labels: the run itself holds the metrics and the replicates, from which
    `convergence_metrics` computes those of some thresholds.

    Parameters
    ----------
    samples, run_key, similarity, progress, **selection
        As in `compute_agreement`.
    thresholds, seed, line
        As in `kalos_core.label_convergence`.
    subsets : int
        How many random subsets of the images, at least 2.
    fraction : float in (0, 1)
        Share of the images in each.
    models : str or mapping, optional
        Names of models with their mAP from 0 to 1, measured at the same thresholds: a mapping, or a text such as
        ``"YOLO 0.412, DETR 0.437"``.
    predictions : str, optional
        A label field with the predictions of a model, each with its confidence: its mAP is computed with every rater
        as ground truth. `stale_samples` does not look at it.
    tags : bool
        Whether the images of each sample tag have an interval of their own.

    Returns
    -------
    Run
        Its `result` is a `LabelConvergence` of all images; its `details` are a `ConvergenceStudy`.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is stored then.

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
    chosen = Selection.of(selection)
    with analysing(samples, run_key, progress) as report:
        levels, typed = check_thresholds(thresholds), read_models(models)
        if not (line is None or isinstance(line, Line)):
            raise InputError(f"line: expected a Line, such as `fitted` of another result, got {line!r}")
        measure = similarity_to_store(samples, chosen, similarity)
        settings = ConvergenceSettings(
            similarity=measure,
            thresholds=levels.tolist(),
            subsets=check_whole(subsets, "subsets", least=2),
            fraction=fraction,
            seed=seed,
            line=line_record(line),
            models=[{"name": name, "map": value} for name, value in typed.items()],
            predictions=predictions,
            tags=bool(tags),
        )
        labels = read_labels(samples, chosen, [measure])
        check_comparable(labels.annotations)
        scored = {} if predictions is None else {predictions: _predictions(labels, predictions, measure)}
        tagged = _tagged(labels) if tags else {}
        report(COMPARING, f"Comparing {number_of(len(labels.annotations), 'annotation')}")
        touching = compute_pairs(
            labels.annotations, get_similarity(measure), TOUCHING
        )  # the check-list looks at all of them
        pairs = touching.at_least(min(float(levels.min()), ALMOST_ONE))
        known = COMPARING + (STORING - COMPARING) / (1 + len(tagged))  # as much work for each tag as for all images
        result = converge(labels.annotations, settings, pairs, report.part(COMPARING, known))
        study = convergence_study(
            labels.annotations,
            result,
            tags=tagged,
            models=typed,
            predictions=scored,
            pairs=touching,
            progress=report.part(known, STORING),
        )
        report(STORING, "Storing label convergence")
        with writing(CONVERGENCE, labels, run_key, settings) as draft:
            draft.metrics, draft.details = metrics_of(study, len(labels.annotations)), study
            draft.arrays = matched_arrays(labels, pairs)
            draft.result = result
    return draft.run


def place_predictions(samples: Any, run_key: str, predictions: str, truth: str) -> PlacedModel:
    """A model against the label convergence of a run: its mAP under one rater, or a resolved field, as ground truth.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
        What the model is evaluated on; those without a field of the truth are left out.
    run_key : str
        Of label convergence, whose similarity, thresholds, classes and smallest area are taken.
    predictions : str
        A label field with the predictions, each with its confidence.
    truth : str
        A rater, or a label field.

    Returns
    -------
    PlacedModel

    Raises
    ------
    InputError
        If there is no such run or field, or predictions that cannot be evaluated.

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
    run = load_details(samples, run_key, CONVERGENCE.name)
    measure, chosen = run.settings["similarity"], run.selection
    wanted = Selection(raters=(truth,), classes=chosen.classes, min_area=chosen.min_area, assigned="labelled")
    labels = read_labels(samples, wanted, [measure])
    model, scores = _predictions(labels, predictions, measure)
    found = map_of_predictions(labels.annotations, model, scores, measure, run.settings["thresholds"]).mean
    return PlacedModel.of(run.details.whole.convergence, predictions, found, {truth: found})


def _predictions(labels: Labels, field: str, similarity: str) -> tuple[Annotations, list[float | None]]:
    """The predictions of a field on the images of the labels, and the confidence of each."""
    lookup(label_fields(labels.view), field, "predictions")
    if field in labels.fields:
        raise InputError(f"predictions: expected the field of a model, got {field!r}, which holds labels of raters")
    found = labels_of_field(labels, field, similarity)
    return found.annotations, list(found.scores)


def _tagged(labels: Labels) -> dict[str, NDArray[np.bool_]]:
    """Tag -> which images have it, by name."""
    tags_of = dict(zip(*labels.view.values(["id", "tags"]), strict=True))
    tags = [set(tags_of[image] or ()) for image in labels.annotations.images]
    return {tag: np.array([tag in own for own in tags]) for tag in sorted(set().union(*tags))}
