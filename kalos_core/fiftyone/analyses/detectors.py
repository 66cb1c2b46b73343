"""Detectors under the truth of each rater and of all of them on FiftyOne: score maps on pixels, models on objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kalos_core._agreement import check_comparable
from kalos_core.annotations.table import object_array
from kalos_core.convergence import THRESHOLDS
from kalos_core.errors import InputError, listed, lookup
from kalos_core.fiftyone.analyses.steps import COMPARING, READING, WRITING
from kalos_core.fiftyone.analyses.storing import pack_result
from kalos_core.fiftyone.labels import LabelChoice, Labels, check_samples, read_labels, similarity_to_store
from kalos_core.fiftyone.masks import RaterMasks, mask_fields, read_masks, truth_fields
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.raters import label_fields
from kalos_core.fiftyone.runs import Run, check_run_key, pack, writing
from kalos_core.fiftyone.truths import detector_diagnostics, model_diagnostics, quorum_names, ranking_figures
from kalos_core.fiftyone.truths.detectors import are_score_maps, ranking_arrays, read_scores, read_truth
from kalos_core.fiftyone.truths.objects import consensus_of, match_objects
from kalos_core.pixels.stack import as_binary
from kalos_core.ranking import DetectorAccumulator, DetectorRanking, ModelRanking, rank_models
from kalos_core.ranking.accumulator import METHODS
from kalos_core.ranking.skew import check_skew


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
    ignore_value: int | None = None,
    quorum: float | Sequence[float] = (0.5,),
    similarity: str | None = None,
    threshold: float = 0.5,
    thresholds: Sequence[float] = THRESHOLDS,
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """How detectors rank under the truth of each rater, and under estimates from all of them.

    Score maps are ranked by the area under precision, averaged over a range of skew, over recall (see
    `kalos_core.DetectorAccumulator`); detections by mAP (see `kalos_core.rank_models`). Writes nothing on samples or
    labels: the run itself holds curves and ranks.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_agreement`.
    detectors : str or sequence of str
        Fields of `Heatmap`, each with a score map for every image a rater was asked about; or label fields of models,
        every label with its confidence. Maps of whole numbers are scores from 0 to the most their type holds, of
        floats from 0 to 1, unless the heatmap says another range.
    methods : names in `kalos_core.consensus.TRUTH_METHODS`
        Truths of pixels beside the raters'.
    truths : sequence of str
        Further truths: fields of `Segmentation` or, for models, of labels, such as `estimate_truth` writes.
    skew, tolerance, thin
        As in `kalos_core.DetectorAccumulator`.
    ignore_value
        As in `compute_pixel_agreement`.
    quorum : float or sequence of float
        Truths of objects beside the raters': the consensus of that share of raters.
    similarity, thresholds
        As in `kalos_core.rank_models`.
    threshold : float
        At which raters are matched for the consensus.
    choice, **options
        Which masks are read, of one class, or which labels.

    Returns
    -------
    Run
        Its `result` is a `DetectorRanking`, or a `ModelRanking`.

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
    >>> run.figures["truths"], run.figures["ranks"]
    (['ann', 'bob', 'any'], [[1.5, 1.5], [1.0, 2.0], [1.5, 1.5]])
    >>> dataset.delete()
    """
    chosen = LabelChoice.of(choice, options)
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        report(READING, "Reading labels")
        names = [detectors] if isinstance(detectors, str) else list(detectors)
        more = [truths] if isinstance(truths, str) else list(truths)
        if are_score_maps(samples, names):
            settings: dict[str, Any] = {
                "of": "pixels",
                "detectors": names,
                "methods": list(methods),
                "truths": more,
                "skew": None if skew is None else list(check_skew(skew)),
                "tolerance": tolerance,
                "thin": bool(thin),
                "ignore_value": ignore_value,
            }
            run = _on_pixels(samples, run_key, settings, chosen, report)
        else:
            settings = {
                "of": "objects",
                "detectors": names,
                "truths": more,
                "similarity": similarity_to_store(samples, chosen, similarity),
                "thresholds": [float(value) for value in thresholds],
                "threshold": threshold,
                "solver": "greedy",
                "cost": "soft",
                "ties": "apart",
                "region": "vote",
                "quorum": list(quorum_names(quorum).values()),
            }
            run = _on_objects(samples, run_key, settings, chosen, report)
        report(1.0, "Done")
    return run


def _on_pixels(samples: Any, run_key: str, settings: dict[str, Any], choice: LabelChoice, report: Report) -> Run:
    masks = read_masks(samples, choice, ignore_value=settings["ignore_value"])
    if len(masks.classes) > 1:
        raise InputError(
            f"classes: expected one class, as score maps are of one, got {listed(masks.classes, 20)}; choose one"
        )
    known = [*mask_fields(samples), *truth_fields(samples)]
    strange = [field for field in settings["truths"] if field not in known or field in label_fields(samples)]
    if strange:
        raise InputError(f"truths: expected fields of Segmentation masks, got {listed(map(repr, strange), 20)}")
    accumulator = DetectorAccumulator(
        methods=settings["methods"], tolerance=settings["tolerance"], thin=settings["thin"]
    )
    digests = [""] * len(masks)
    for number, found in enumerate(masks):
        name = masks.name(found.image)
        report(WRITING * number / len(masks), f"{name}: {number + 1:,} of {len(masks):,} images")
        digests[found.image] = found.digest
        (stack,) = found.stacks.values()
        scores = read_scores(masks, found.image, settings["detectors"])
        accumulator.add(scores, stack, _further(masks, found.image, settings["truths"]), image=name)
    result = accumulator.result(settings["skew"])
    settings["classes"] = masks.values
    arrays = pack(
        image_ids=masks.images.astype(str), hashes=object_array(digests).astype(str), **ranking_arrays(result)
    )
    return _store(run_key, settings, masks, result, list(result.raters), arrays, report)


def _further(masks: RaterMasks, image: int, fields: Sequence[str]) -> dict[str, Any]:
    """The masks of further truths on one image."""
    (value,) = masks.values.values()
    found = {}
    for field in fields:
        mask = read_truth(masks.view, masks.images[image], field)
        if mask is not None:
            found[field] = as_binary(mask, field) if masks.is_binary else mask == value
    return found


def _on_objects(samples: Any, run_key: str, settings: dict[str, Any], choice: LabelChoice, report: Report) -> Run:
    measure = settings["similarity"]
    labels = read_labels(samples, choice, [measure])
    check_comparable(labels.annotations)
    both = [field for field in (*settings["detectors"], *settings["truths"]) if field in labels.fields]
    if both:
        raise InputError(f"detectors: expected fields of no rater, got {listed(map(repr, both))}")
    models = {}
    for field in settings["detectors"]:
        found = _of_field(labels, field, measure)
        models[field] = (found.annotations, found.confidence)
    report(COMPARING, f"Matching {len(labels.annotations):,} annotations")
    matched = match_objects(labels.annotations, settings)
    consensus = {name: found.annotations for name, found in consensus_of(matched, settings).items()}
    for field in settings["truths"]:
        lookup(label_fields(labels.view), field, "truths")
        consensus[field] = _of_field(labels, field, measure).annotations
    report(WRITING / 2, f"Evaluating {len(models):,} models")
    result = rank_models(models, labels.annotations, consensus, measure, settings["thresholds"])
    arrays = pack_result(labels, matched.pairs, **ranking_arrays(result))
    return _store(run_key, settings, labels, result, labels.annotations.raters.tolist(), arrays, report)


def _of_field(labels: Labels, field: str, similarity: str) -> Labels:
    return read_labels(labels.view, LabelChoice(raters=(field,), assigned="all"), [similarity])


def _store(
    run_key: str,
    settings: dict[str, Any],
    read: RaterMasks | Labels,
    result: DetectorRanking | ModelRanking,
    raters: list[str],
    arrays: str,
    report: Report,
) -> Run:
    report(WRITING, "Storing the ranking")
    with writing(read, run_key, "detectors", settings, {}) as draft:
        draft.figures = ranking_figures(result.ranking, raters) | {"of": settings["of"]}
        draft.diagnostics = (
            detector_diagnostics(result) if isinstance(result, DetectorRanking) else model_diagnostics(result)
        )
        draft.arrays = arrays
    return Run(
        key=run_key,
        kind="detectors",
        settings=settings,
        choice=read.choice,
        figures=draft.figures,
        label_fields=read.fields,
        diagnostics=draft.diagnostics,
        result=result,
    )
