"""Detectors under the labels of each rater and of all of them on FiftyOne: score maps on pixels, models on objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kalos_core._agreement import check_comparable
from kalos_core.consensus.methods import WITHOUT_OUTLIERS
from kalos_core.convergence import THRESHOLDS
from kalos_core.errors import InputError, listed, lookup
from kalos_core.fiftyone.dataset.masks import RaterMasks, open_masks
from kalos_core.fiftyone.dataset.objects import Labels, labels_of_field, read_labels
from kalos_core.fiftyone.dataset.raters import MASKS, estimated_fields, label_fields
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.similarities import similarity_to_store
from kalos_core.fiftyone.kinds.detectors.details import (
    DetectorSettings,
    ModelSettings,
    ScoreMapSettings,
    ranking_arrays,
    ranking_details,
    ranking_metrics,
)
from kalos_core.fiftyone.kinds.detectors.kind import DETECTORS, DetectorRun
from kalos_core.fiftyone.kinds.detectors.scores import are_score_maps, read_references, read_scores
from kalos_core.fiftyone.kinds.masked import are_local, outliers_of_study, with_progress
from kalos_core.fiftyone.kinds.truth.objects import consensus_of, match_objects, quorum_names
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Progress, Report
from kalos_core.ranking import DetectorAccumulator, DetectorRanking, ModelRanking, rank_models
from kalos_core.ranking.accumulator import METHODS
from kalos_core.ranking.skew import check_skew

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments

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
    tolerance: float = 0.0,
    thin: bool = False,
    shares: str | Sequence[float] = (),
    ignore_value: int | None = None,
    raters_are_local: bool | None = None,
    quorum: float | Sequence[float] = (0.5,),
    similarity: str | None = None,
    threshold: float = 0.5,
    thresholds: Sequence[float] = THRESHOLDS,
    progress: Progress | bool | None = None,
    **selection: Unpack[SelectionArguments],
) -> DetectorRun:
    """How detectors rank under the labels of each rater, and under estimates from all of them.

    Score maps are ranked by the area under precision, averaged over a range of skew, over recall (see
    `kalos_core.DetectorAccumulator`); detections by mAP (see `kalos_core.rank_models`). Writes nothing on samples or
    labels: the run itself holds curves and ranks.

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
    skew, tolerance, thin, shares
        As in `kalos_core.DetectorAccumulator`.
    ignore_value, raters_are_local
        As in `compute_pixel_agreement`. Raters without names are no references themselves.
    quorum : float or sequence of float
        Estimated references of objects next to the raters: the consensus of that share of them.
    similarity, thresholds
        As in `kalos_core.rank_models`.
    threshold : float
        At which raters are matched for the consensus.
    **selection
        Which masks are read, of one class, or which labels.

    Returns
    -------
    Run
        Its `result` is a `DetectorRanking`, or a `ModelRanking`; its `details` are a `DetectorDetails`.

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
        if are_score_maps(samples, names):
            of_maps = ScoreMapSettings(
                of="pixels",
                detectors=names,
                methods=list(methods),
                truths=more,
                skew=None if skew is None else list(check_skew(skew)),
                tolerance=tolerance,
                thin=bool(thin),
                shares=shares if isinstance(shares, str) else [float(share) for share in shares],
                ignore_value=ignore_value,
                raters_are_local=bool(raters_are_local),
                classes={},
            )
            return _on_pixels(samples, run_key, of_maps, chosen, report, by_facts=raters_are_local is None)
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


def _on_pixels(
    samples: Any, run_key: str, settings: ScoreMapSettings, selection: Selection, report: Report, *, by_facts: bool
) -> DetectorRun:
    masks = open_masks(samples, selection, settings["ignore_value"])
    settings["classes"] = masks.values
    if by_facts:
        settings["raters_are_local"] = are_local(masks)
    local = settings["raters_are_local"]
    if len(masks.classes) > 1:
        raise InputError(
            f"classes: expected one class, as score maps are of one, got {listed(masks.classes, 20)}; choose one"
        )
    known = {*label_fields(samples, MASKS), *estimated_fields(samples)}.difference(label_fields(samples))
    strange = [field for field in settings["truths"] if field not in known]
    if strange:
        raise InputError(f"truths: expected fields of Segmentation masks, got {listed(map(repr, strange), 20)}")
    by_study = WITHOUT_OUTLIERS in settings["methods"] and not local
    begin = SHARE_OF_OUTLIERS if by_study else 0.0
    outliers = (
        [name for names in outliers_of_study(masks, report, begin).values() for name in names] if by_study else None
    )
    accumulator = DetectorAccumulator(
        methods=settings["methods"],
        tolerance=settings["tolerance"],
        thin=settings["thin"],
        shares=settings["shares"],
        outliers=outliers,
    )
    for found in with_progress(masks, report, local, begin):
        for stack in found.stacks.values():
            scores = read_scores(masks, found.image, settings["detectors"])
            references = read_references(masks, found.image, settings["truths"])
            accumulator.add(scores, stack, references, image=masks.name(found.image))
    result = accumulator.result(settings["skew"])
    return _store(run_key, settings, masks, result, list(result.raters), report, outliers)


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
    report(COMPARING, f"Matching {len(labels.annotations):,} annotations")
    matched = match_objects(labels.annotations, settings)
    references = {name: found.annotations for name, found in consensus_of(matched, settings).items()}
    for field in settings["truths"]:
        lookup(label_fields(labels.view), field, "truths")
        references[field] = labels_of_field(labels, field, measure).annotations
    report(STORING / 2, f"Evaluating {len(models):,} models")
    result = rank_models(models, labels.annotations, references, measure, settings["thresholds"])
    return _store(run_key, settings, labels, result, labels.annotations.raters.tolist(), report)


def _store(
    run_key: str,
    settings: DetectorSettings,
    read: RaterMasks | Labels,
    result: DetectorRanking | ModelRanking,
    raters: list[str],
    report: Report,
    outliers: Sequence[str] | None = None,
) -> DetectorRun:
    report(STORING, "Storing the ranking")
    with writing(DETECTORS, read, run_key, settings) as draft:
        draft.metrics, draft.details = ranking_metrics(result, raters), ranking_details(result, outliers)
        draft.arrays, draft.result = ranking_arrays(result), result
    return draft.run
