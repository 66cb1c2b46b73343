"""Ranking of detectors on FiftyOne under each rater and under estimates: score maps by pixels, models by objects."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.consensus.methods import WITHOUT_OUTLIERS
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, lookup
from kalos_core.fiftyone.dataset.masks import ImageMasks, RaterMasks, open_masks
from kalos_core.fiftyone.dataset.objects import Labels, labels_of_field, read_labels
from kalos_core.fiftyone.dataset.opened import similarity_to_store
from kalos_core.fiftyone.dataset.raters import MASKS, estimated_fields, label_fields
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.kinds.detectors.kind import DETECTORS, DetectorDetails, DetectorRun, ranking_metrics
from kalos_core.fiftyone.kinds.detectors.scores import are_score_maps, read_references, read_scores
from kalos_core.fiftyone.kinds.detectors.settings import DetectorRunArguments, DetectorRunSettings
from kalos_core.fiftyone.kinds.masked import are_local, outliers_of_study, with_progress
from kalos_core.fiftyone.kinds.truth.objects import consensus_of, match_objects
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Report
from kalos_core.options import takes
from kalos_core.pixels import MaskStack
from kalos_core.pixels.contours import TOLERANCE
from kalos_core.ranking import DetectorAccumulator, boundary_evaluation, rank_models
from kalos_core.results import plain_values
from kalos_core.similarity import get_similarity

SHARE_OF_OUTLIERS = 0.2
"""Fraction of the work completed when the outlying raters over all images are known."""


@takes(DetectorRunArguments)
def rank_detectors(samples: Any, run_key: str, settings: DetectorRunArguments) -> DetectorRun:
    """Rank detectors under the labels of each rater, and under estimates from all raters.

    Score maps are ranked by the area under the curve of precision, averaged over a range of skew, over recall; see
    `kalos_core.DetectorAccumulator`. Detections are ranked by mAP; see `kalos_core.rank_models`.

    The run itself holds curves and ranks. Only the Berkeley evaluation of boundaries writes a sample field,
    ``<run_key>_f1``: the F1 of the image at its best threshold, for the detector that is best over all images.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.

    Returns
    -------
    Run
        Its `result` is a `DetectorRanking` or a `ModelRanking`; its `details` are a `DetectorDetails`, with the
        result and the ``boundaries``.

    Raises
    ------
    InputError
        If the input cannot be used; nothing is stored in this case.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> masks = {"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 0, 0]]}
    >>> maps = {"sure": [[0.9, 0.6, 0.4, 0.1]], "broad": [[0.6, 0.9, 0.3, 0.2]]}
    >>> fields = {name: fo.Segmentation(mask=np.array(mask, np.uint8)) for name, mask in masks.items()}
    >>> fields |= {name: fo.Heatmap(map=np.array(scores)) for name, scores in maps.items()}
    >>> _ = dataset.add_sample(fo.Sample("a.png", raters=list(masks), **fields))
    >>> run = rank_detectors(dataset, "ranks", detectors=list(maps), methods=["any"], skew=(0.1, 0.5))
    >>> run.metrics["truths"], run.metrics["ranks"]
    (['ann', 'bob', 'any'], [[1.5, 1.5], [1.0, 2.0], [1.5, 1.5]])
    >>> dataset.delete()
    """
    chosen, told = settings.part(Selection), settings.part(DetectorRunSettings)
    with analysing(samples, run_key, settings.progress) as report:
        if not are_score_maps(samples, told.detectors):
            measure = similarity_to_store(samples, chosen, told.similarity)
            return _on_objects(samples, run_key, told.part(DetectorRunSettings, similarity=measure), chosen, report)
        masks = open_masks(samples, chosen, told.ignore_value)
        local = are_local(masks, told.raters_are_local)
        return _on_pixels(masks, run_key, replace(told, raters_are_local=local, **told.for_maps()), report)


# ---- score maps ----


def _on_pixels(masks: RaterMasks, run_key: str, settings: DetectorRunSettings, report: Report) -> DetectorRun:
    if len(masks.classes) > 1:
        raise InputError(
            f"classes: expected one class, as score maps are of one, got {listed(masks.classes, 20)}; choose one"
        )
    known = {*label_fields(masks.view, MASKS), *estimated_fields(masks.view)}.difference(label_fields(masks.view))
    strange = [field for field in settings.truths if field not in known]
    if strange:
        raise InputError(f"truths: expected fields of Segmentation masks, got {listed(map(repr, strange), 20)}")
    local = bool(settings.raters_are_local)
    begin = SHARE_OF_OUTLIERS if WITHOUT_OUTLIERS in settings.methods and not local else 0.0
    outliers = [name for names in outliers_of_study(masks, report, begin).values() for name in names] if begin else None
    names = ("methods", "tolerance", "thin", "shares", "bootstrap", "seed")
    accumulator = DetectorAccumulator(outliers=outliers, **{name: getattr(settings, name) for name in names})
    images = _counted(masks, accumulator, settings, with_progress(masks, report, local, begin))
    found = None
    if settings.boundaries:
        found = boundary_evaluation(images, settings.boundaries, settings.tolerance or TOLERANCE)
    deque(images, maxlen=0)  # consume the remaining images
    result = accumulator.result(settings.skew)
    stored = {**settings.record(), "of": "pixels", "classes": masks.values}
    return _store(run_key, stored, masks, result.raters.tolist(), DetectorDetails(result, found), report)


def _counted(
    masks: RaterMasks, accumulator: DetectorAccumulator, settings: DetectorRunSettings, images: Iterable[ImageMasks]
) -> Iterator[tuple[dict[str, NDArray[np.float64]], MaskStack]]:
    """Iterate over the score maps and masks of each image, and add them to the accumulator."""
    for found in images:
        for stack in found.stacks.values():
            scores = read_scores(masks, found.image, settings.detectors)
            references = read_references(masks, found.image, settings.truths)
            accumulator.add(scores, stack, references, image=masks.name(found.image))
            yield scores, replace(stack, image=masks.images[found.image])


# ---- models ----


def _on_objects(
    samples: Any, run_key: str, settings: DetectorRunSettings, selection: Selection, report: Report
) -> DetectorRun:
    measure = settings.measure
    labels = read_labels(samples, selection, [measure])
    check_comparable(labels.annotations)
    both = [field for field in (*settings.detectors, *settings.truths) if field in labels.fields]
    if both:
        raise InputError(f"detectors: expected fields that hold no labels of raters, got {listed(map(repr, both))}")
    models = {}
    for field in settings.detectors:
        found = labels_of_field(labels, field, measure)
        models[field] = (found.annotations, found.confidence)
    report(COMPARING, f"Matching {number_of(len(labels.annotations), 'annotation')}")
    matched = match_objects(labels.annotations, settings)
    references = {name: found.annotations for name, found in consensus_of(matched, settings).items()}
    for field in settings.truths:
        lookup(label_fields(labels.view), field, "truths")
        references[field] = labels_of_field(labels, field, measure).annotations
    report(STORING / 2, f"Evaluating {number_of(len(models), 'model')}")
    result = rank_models(models, labels.annotations, references, get_similarity(measure), settings.thresholds)
    stored = {**settings.record(), "of": "objects"}
    return _store(run_key, stored, labels, labels.annotations.raters.tolist(), DetectorDetails(result), report)


def _store(
    run_key: str,
    settings: dict[str, Any],
    read: RaterMasks | Labels,
    raters: list[str],
    details: DetectorDetails,
    report: Report,
) -> DetectorRun:
    report(STORING, "Storing the ranking")
    names, boundaries = RunNames(run_key), details.boundaries
    declared = {} if boundaries is None else names.declared(names.f1)
    with writing(DETECTORS, read, run_key, settings, report, declared) as draft:
        if boundaries is not None:
            best = plain_values(boundaries.image_best[np.argmax(np.nan_to_num(boundaries.ods))])
            values = ((image, {names.f1: f1}) for image, f1 in zip(boundaries.images, best, strict=True))
            write_documents(read.view, values, len(best), report.within(STORING, 1.0, "Writing F1"))
        draft.metrics, draft.details = ranking_metrics(settings["of"], details.ranking.ranking, raters), details
        draft.result = details.ranking
    return draft.run
