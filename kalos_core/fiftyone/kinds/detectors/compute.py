"""Detectors under the labels of each rater and of all of them on FiftyOne: score maps on pixels, models on objects."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.consensus.methods import WITHOUT_OUTLIERS
from kalos_core.convergence import THRESHOLDS
from kalos_core.display import number_of
from kalos_core.errors import InputError, check_whole, listed, lookup
from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.dataset.masks import ImageMasks, RaterMasks, open_masks
from kalos_core.fiftyone.dataset.objects import Labels, labels_of_field, read_labels
from kalos_core.fiftyone.dataset.raters import MASKS, estimated_fields, label_fields
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.similarities import similarity_to_store
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.kinds.detectors.kind import (
    DETECTORS,
    DetectorDetails,
    DetectorRun,
    DetectorSettings,
    ModelSettings,
    ScoreMapSettings,
    ranking_metrics,
)
from kalos_core.fiftyone.kinds.detectors.scores import are_score_maps, read_references, read_scores
from kalos_core.fiftyone.kinds.masked import mask_settings, outliers_of_study, with_progress
from kalos_core.fiftyone.kinds.truth.objects import consensus_of, match_objects, quorum_names
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Progress, Report
from kalos_core.limits import check_replicates
from kalos_core.pixels import MaskStack
from kalos_core.pixels.contours import TOLERANCE
from kalos_core.ranking import DetectorAccumulator, boundary_evaluation, rank_models
from kalos_core.ranking.accumulator import METHODS
from kalos_core.ranking.skew import check_skew
from kalos_core.results import plain_values
from kalos_core.similarity import get_similarity

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments

BERKELEY = 33
"""Thresholds of the Berkeley evaluation unless others are asked for."""

SHARE_OF_OUTLIERS = 0.2
"""Share of the work done when it is known who stands out over all images."""


def rank_detectors(
    samples: Any,
    run_key: str,
    *,
    detectors: str | Sequence[str],
    methods: Sequence[str] = METHODS,
    truths: Sequence[str] = (),
    skew: Sequence[float] | None = None,
    contours: bool = False,
    tolerance: float | None = None,
    thin: bool | None = None,
    shares: str | Sequence[float] = (),
    berkeley: bool = False,
    boundaries: int | None = None,
    ignore_value: int | None = None,
    raters_are_local: bool | None = None,
    quorum: float | Sequence[float] = (0.5,),
    similarity: str | None = None,
    threshold: float = 0.5,
    thresholds: Sequence[float] = THRESHOLDS,
    bootstrap: int = 1000,
    seed: int = 0,
    progress: Progress | bool | None = None,
    **selection: Unpack[SelectionArguments],
) -> DetectorRun:
    """How detectors rank under the labels of each rater, and under estimates from all of them.

    Score maps are ranked by the area under precision, averaged over a range of skew, over recall (see
    `kalos_core.DetectorAccumulator`); detections by mAP (see `kalos_core.rank_models`). Writes nothing on samples or
    labels: the run itself holds curves and ranks. Only the Berkeley evaluation of boundaries writes a sample field,
    ``<run_key>_f1``: F1 of the image at its best threshold, of the detector that is best over all images.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.
    detectors : str or sequence of str
        Fields of `Heatmap`, each with a score map for every image a rater is assigned to; or label fields of models,
        every label with its confidence. Maps of whole numbers are scores from 0 to the most their type holds, of
        floats from 0 to 1, unless the heatmap says another range.
    methods : names in `kalos_core.consensus.TRUTH_METHODS`
        Estimated references of pixels next to the raters. ``"excl-0.5"`` leaves out the raters who stand out over all
        images, whose masks are read twice.
    truths : sequence of str
        Further references: fields of `Segmentation` or, for models, of labels, such as `estimate_truth` writes.
    skew, shares
        As in `kalos_core.DetectorAccumulator`.
    contours : bool
        Whether the task is to find contours.
    tolerance, thin
        As in `kalos_core.DetectorAccumulator`; by default .0075 and True for contours, 0 and False else.
    berkeley : bool
        Whether boundaries are evaluated as by the Berkeley benchmark, see `kalos_core.boundary_evaluation`. A pixel may
        be off by `tolerance`, by the benchmark's .0075 where that is 0.
    boundaries : int, optional
        At how many thresholds, which says `berkeley`, too; 33 by default, the benchmark takes 99. About a sixth of a
        second for each on an image of 481 x 321 pixels with five raters, for every detector.
    ignore_value, raters_are_local
        As in `compute_pixel_agreement`. Raters without names are no references themselves.
    quorum : float or sequence of float
        Estimated references of objects next to the raters: the consensus of that share of them.
    similarity, thresholds
        As in `kalos_core.rank_models`.
    threshold : float
        At which raters are matched for the consensus.
    bootstrap, seed : int
        As in `kalos_core.DetectorAccumulator`, of score maps: intervals of areas and ranks over images.
    **selection
        Which masks are read, of one class, or which labels.

    Returns
    -------
    Run
        Its `result` is a `DetectorRanking`, or a `ModelRanking`; its `details` are a `DetectorDetails`, with that and
        the ``boundaries``.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is stored then.

    Examples
    --------
    >>> import fiftyone as fo
    >>> import numpy as np
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
    chosen = Selection.of(selection)
    with analysing(samples, run_key, progress) as report:
        names = [detectors] if isinstance(detectors, str) else list(detectors)
        more = [truths] if isinstance(truths, str) else list(truths)
        if not are_score_maps(samples, names):
            of_models = ModelSettings(
                of="objects",
                detectors=names,
                truths=more,
                similarity=similarity_to_store(samples, chosen, similarity),
                thresholds=[float(value) for value in thresholds],
                threshold=threshold,
                solver="greedy",
                cost="soft",
                ties="apart",
                region="vote",
                quorum=list(quorum_names(quorum).values()),
            )
            return _on_objects(samples, run_key, of_models, chosen, report)
        masks = open_masks(samples, chosen, ignore_value)
        of_maps = ScoreMapSettings(
            of="pixels",
            detectors=names,
            methods=list(methods),
            truths=more,
            skew=None if skew is None else list(check_skew(skew)),
            tolerance=(TOLERANCE if contours else 0.0) if tolerance is None else tolerance,
            thin=bool(contours if thin is None else thin),
            shares=shares if isinstance(shares, str) else [float(share) for share in shares],
            boundaries=(BERKELEY if berkeley else 0) if boundaries is None else check_whole(boundaries, "boundaries"),
            bootstrap=check_replicates(bootstrap),
            seed=check_whole(seed, "seed"),
            **mask_settings(masks, ignore_value, raters_are_local),
        )
        return _on_pixels(masks, run_key, of_maps, report)


# ---- score maps ----


def _on_pixels(masks: RaterMasks, run_key: str, settings: ScoreMapSettings, report: Report) -> DetectorRun:
    if len(masks.classes) > 1:
        raise InputError(
            f"classes: expected one class, as score maps are of one, got {listed(masks.classes, 20)}; choose one"
        )
    known = {*label_fields(masks.view, MASKS), *estimated_fields(masks.view)}.difference(label_fields(masks.view))
    strange = [field for field in settings["truths"] if field not in known]
    if strange:
        raise InputError(f"truths: expected fields of Segmentation masks, got {listed(map(repr, strange), 20)}")
    begin = SHARE_OF_OUTLIERS if WITHOUT_OUTLIERS in settings["methods"] and not settings["raters_are_local"] else 0.0
    outliers = [name for names in outliers_of_study(masks, report, begin).values() for name in names] if begin else None
    accumulator = DetectorAccumulator(
        methods=settings["methods"],
        tolerance=settings["tolerance"],
        thin=settings["thin"],
        shares=settings["shares"],
        outliers=outliers,
        bootstrap=settings["bootstrap"],
        seed=settings["seed"],
    )
    images = _counted(masks, accumulator, settings, with_progress(masks, report, settings["raters_are_local"], begin))
    found = None
    if settings["boundaries"]:
        found = boundary_evaluation(images, settings["boundaries"], settings["tolerance"] or TOLERANCE)
    deque(images, maxlen=0)  # those that nobody has asked for
    result = accumulator.result(settings["skew"])
    return _store(run_key, settings, masks, result.raters.tolist(), DetectorDetails(result, found), report)


def _counted(
    masks: RaterMasks, accumulator: DetectorAccumulator, settings: ScoreMapSettings, images: Iterable[ImageMasks]
) -> Iterator[tuple[dict[str, NDArray[np.float64]], MaskStack]]:
    """The score maps and masks of each image, counted on the way."""
    for found in images:
        for stack in found.stacks.values():
            scores = read_scores(masks, found.image, settings["detectors"])
            references = read_references(masks, found.image, settings["truths"])
            accumulator.add(scores, stack, references, image=masks.name(found.image))
            yield scores, replace(stack, image=masks.images[found.image])


# ---- models ----


def _on_objects(
    samples: Any, run_key: str, settings: ModelSettings, selection: Selection, report: Report
) -> DetectorRun:
    measure = settings["similarity"]
    labels = read_labels(samples, selection, [measure])
    check_comparable(labels.annotations)
    both = [field for field in (*settings["detectors"], *settings["truths"]) if field in labels.fields]
    if both:
        raise InputError(f"detectors: expected fields of no rater, got {listed(map(repr, both))}")
    models = {}
    for field in settings["detectors"]:
        found = labels_of_field(labels, field, measure)
        models[field] = (found.annotations, found.confidence)
    report(COMPARING, f"Matching {number_of(len(labels.annotations), 'annotation')}")
    matched = match_objects(labels.annotations, settings)
    references = {name: found.annotations for name, found in consensus_of(matched, settings).items()}
    for field in settings["truths"]:
        lookup(label_fields(labels.view), field, "truths")
        references[field] = labels_of_field(labels, field, measure).annotations
    report(STORING / 2, f"Evaluating {number_of(len(models), 'model')}")
    result = rank_models(models, labels.annotations, references, get_similarity(measure), settings["thresholds"])
    return _store(run_key, settings, labels, labels.annotations.raters.tolist(), DetectorDetails(result), report)


def _store(
    run_key: str,
    settings: DetectorSettings,
    read: RaterMasks | Labels,
    raters: list[str],
    details: DetectorDetails,
    report: Report,
) -> DetectorRun:
    report(STORING, "Storing the ranking")
    field, boundaries = RunNames(run_key).f1, details.boundaries
    declared: dict[str, FieldArguments] = {} if boundaries is None else {field: {"ftype": fo.FloatField}}
    with writing(DETECTORS, read, run_key, settings, declared) as draft:
        if boundaries is not None:
            best = plain_values(boundaries.image_best[np.argmax(np.nan_to_num(boundaries.ods))])
            values = ((image, {field: f1}) for image, f1 in zip(boundaries.images, best, strict=True))
            write_documents(read.view, values, len(best), report.within(STORING, 1.0, "Writing F1"))
        draft.metrics, draft.details = ranking_metrics(settings, details.ranking.ranking, raters), details
        draft.result = details.ranking
    return draft.run
