"""Label convergence on FiftyOne: the mAP that disagreement lets a model reach, over all images and over tags."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.annotations import Annotations
from kalos_core.convergence import (
    THRESHOLDS,
    Criterion,
    LabelConvergence,
    Line,
    PredictionMap,
    check_convergence,
    map_of_predictions,
    read_models,
)
from kalos_core.convergence.interval import FEW_IMAGES
from kalos_core.convergence.matching import ALMOST_ONE
from kalos_core.convergence.modified import check_thresholds
from kalos_core.errors import InputError, KalosWarning, check_whole, listed, lookup
from kalos_core.fiftyone.dataset.objects import Labels, labels_of_field, read_labels
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.similarities import similarity_to_store
from kalos_core.fiftyone.kinds.convergence.kind import CONVERGENCE, ConvergenceRun
from kalos_core.fiftyone.kinds.convergence.metrics import (
    WHOLE,
    ConvergenceMetrics,
    ConvergenceSettings,
    ConvergenceSummary,
    Estimate,
    Subsets,
    arrays_of,
    by_rater,
    converge,
    line_record,
    metrics_of,
    models_of,
    sizes_of,
)
from kalos_core.fiftyone.kinds.matched import matched_arrays
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Progress, Report
from kalos_core.pairs import Pairs, compute_pairs
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
        Its `result` is a `LabelConvergence` of all images; its `details` are what `convergence_metrics` answers.

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
            line=None if line is None else line_record(line),
            models=[{"name": name, "map": value} for name, value in typed.items()],
            predictions=predictions,
            tags=bool(tags),
        )
        labels = read_labels(samples, chosen, [measure])
        check_comparable(labels.annotations)
        model = None if predictions is None else _Model.read(labels, predictions, measure, settings["thresholds"])
        report(COMPARING, f"Comparing {len(labels.annotations):,} annotations")
        touching = compute_pairs(labels.annotations, measure, TOUCHING)  # the check-list looks at all of them
        checklist = check_convergence(labels.annotations, measure, pairs=touching)
        pairs = touching.at_least(min(float(levels.min()), ALMOST_ONE))
        result, estimate = _estimate(labels, settings, pairs, model, checklist, report)
        details = metrics_of(estimate)
        report(STORING, "Storing label convergence")
        with writing(CONVERGENCE, labels, run_key, settings) as draft:
            kept = {name: value for name, value in details.items() if name in ConvergenceSummary.__annotations__}
            draft.metrics = cast(ConvergenceMetrics, {**kept, "annotations": len(labels.annotations)})
            draft.details = details
            draft.arrays = matched_arrays(labels, pairs) | arrays_of(estimate)
            draft.result = result
    return draft.run


@dataclass(frozen=True, eq=False)
class _Model:
    """The predictions of a field, on the images of the labels, in their order."""

    field: str
    predictions: Annotations
    scores: tuple[float | None, ...]
    similarity: str
    thresholds: list[float]

    @classmethod
    def read(cls, labels: Labels, field: str, similarity: str, thresholds: list[float]) -> _Model:
        lookup(label_fields(labels.view), field, "predictions")
        if field in labels.fields:
            raise InputError(f"predictions: expected the field of a model, got {field!r}, which holds labels of raters")
        found = labels_of_field(labels, field, similarity)
        return cls(field, found.annotations, tuple(found.scores), similarity, thresholds)

    def precision(self, annotations: Annotations, images: NDArray[np.bool_]) -> PredictionMap:
        """MAP on the images of a mask (I,), to which the annotations are cut down already."""
        inside = images[self.predictions.image]
        scores = [score for score, kept in zip(self.scores, inside, strict=True) if kept]
        part = self.predictions.select(images=images)
        try:
            return map_of_predictions(annotations, part, scores, self.similarity, self.thresholds)
        except InputError as error:
            raise InputError(f"predictions: the field {self.field!r} cannot be evaluated: {error}") from error


def _estimate(
    labels: Labels,
    settings: ConvergenceSettings,
    pairs: Pairs,
    model: _Model | None,
    checklist: Sequence[Criterion],
    report: Report,
) -> tuple[LabelConvergence, Estimate]:
    """All images and every tag."""
    annotations = labels.annotations
    tagged = _tagged(labels) if settings["tags"] else {}

    def tell(number: int, name: str) -> Progress:
        """Progress of one part of the work."""
        each = (STORING - COMPARING) / (1 + len(tagged))
        return lambda share, label: report(COMPARING + (number + share) * each, f"{name}{label}")

    everywhere = np.ones(len(annotations.images), np.bool_)
    found = None if model is None else model.precision(annotations, everywhere)
    result = converge(annotations, settings, pairs, tell(0, ""))
    predicted = by_rater(found, len(result.thresholds), len(annotations.raters))
    parts = [Subsets(WHOLE, result.images, result.replicates, _mean(predicted))]
    for number, (tag, images) in enumerate(tagged.items(), 1):
        parts.append(_part(annotations, tag, images, settings, pairs, model, tell(number, f"{tag}: ")))
    _warn_of_small(parts[1:])
    report(STORING, "Looking at subsets of other sizes")
    return result, Estimate(
        parts=tuple(parts),
        raters=tuple(annotations.raters),
        directions=result.whole.directions,
        models=models_of(settings["models"]),
        predictions=settings["predictions"],
        predicted=predicted,
        checklist=[asdict(line) for line in checklist],
        sizes=sizes_of(result),
    )


def _tagged(labels: Labels) -> dict[str, NDArray[np.bool_]]:
    """Tag -> which images have it, by name."""
    tags_of = dict(zip(*labels.view.values(["id", "tags"]), strict=True))
    tags = [set(tags_of[image] or ()) for image in labels.annotations.images]
    return {tag: np.array([tag in own for own in tags]) for tag in sorted(set().union(*tags))}


def _part(
    annotations: Annotations,
    tag: str,
    images: NDArray[np.bool_],
    settings: ConvergenceSettings,
    pairs: Pairs,
    model: _Model | None,
    progress: Progress,
) -> Subsets:
    """The images of a tag; why they have no interval where they have none."""
    part, undefined = annotations.select(images=images), np.full(len(settings["thresholds"]), np.nan)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # said of all tags at once
            found = converge(part, settings, _pairs_within(annotations, pairs, images), progress)
    except InputError as error:
        return Subsets(tag, int(images.sum()), None, undefined, str(error))
    predicted = undefined if model is None else _mean(model.precision(part, images).by_rater)
    return Subsets(tag, found.images, found.replicates, predicted)


def _pairs_within(annotations: Annotations, pairs: Pairs, images: NDArray[np.bool_]) -> Pairs:
    """The pairs of some images (I,), as rows of the annotations of these alone."""
    inside = images[annotations.image]
    kept = pairs.keep(inside[pairs.left])
    row = np.cumsum(inside) - 1
    return replace(kept, left=row[kept.left], right=row[kept.right])


def _mean(by_rater: NDArray[np.float64]) -> NDArray[np.float64]:
    """(T, R) -> (T,) mean over the raters who have annotations; NaN without any."""
    known = np.isfinite(by_rater).all(axis=0)
    return by_rater[:, known].mean(axis=1) if known.any() else np.full(len(by_rater), np.nan)


def _warn_of_small(tags: Sequence[Subsets]) -> None:
    small = [
        tag.name for tag in tags if tag.replicates is not None and tag.replicates.images_per_replicate < FEW_IMAGES
    ]
    if small:
        warnings.warn(
            f"tags: subsets of {listed(small)} have fewer than {FEW_IMAGES} images: compare their means, not their "
            "widths",
            KalosWarning,
            stacklevel=4,
        )
