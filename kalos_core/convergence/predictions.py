"""mAP of a model's predictions with each rater as ground truth, to compare with label convergence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.columns import object_array
from kalos_core.arrays import blocks_of_runs
from kalos_core.convergence.counting import match, orders_of
from kalos_core.convergence.crowds import crowd_overlaps
from kalos_core.convergence.matching import ALMOST_ONE
from kalos_core.convergence.modified import THRESHOLDS, HitThresholds
from kalos_core.display import number_of, points_text
from kalos_core.errors import InputError, as_number, listed, repr_of
from kalos_core.options import Settings, takes
from kalos_core.pairs import Pairs
from kalos_core.results import Result
from kalos_core.similarity import Similarity
from kalos_core.similarity.fitting import ComparedBy, complete_kinds, measure_for

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class PredictionMap(Result):
    """The result of `map_of_predictions`. T thresholds, R raters.

    Figures: ``"raters"``.

    Parameters
    ----------
    similarity_name : str
    thresholds : (T,) float64
    raters : (R,) object
    by_rater : (T, R) float64
        mAP with each rater as ground truth; NaN for a rater without annotations.
    images : (R,) int
        Images of each rater. Predictions on other images do not count for that rater.
    unknown_classes : int
        Number of predictions whose class does not occur in the annotations; they are not counted, as in COCO.
    precisions : tuple of R arrays (V,) float64
    points : tuple of R arrays (V,) int
        For each rater, the distinct precisions and how many recall points read each, over all classes and thresholds.
        mAP is the sum of their products divided by 101 points, the thresholds and the classes of the rater.
    classes : (R,) int
        Number of classes that each rater annotated.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core.convergence import map_of_predictions
    >>> cat = {"image": 1, "category": "cat"}
    >>> truth = Annotations.from_rows(
    ...     [{**cat, "rater": "ann", "box": [0, 0, 10, 10]}, {**cat, "rater": "bob", "box": [0, 0, 10, 6]}]
    ... )
    >>> model = Annotations.from_rows([{**cat, "rater": "net", "box": [0, 0, 10, 10]}])
    >>> result = map_of_predictions(truth, model, [0.8], thresholds=(0.5, 0.75))
    >>> result.per_rater.tolist(), result.mean
    ([1.0, 0.5], 0.75)
    >>> result.to_pandas()["map"].tolist()
    [1.0, 1.0, 1.0, 0.0]
    """

    _call = "map_of_predictions(annotations, predictions, scores)"

    similarity_name: str
    thresholds: NDArray[np.float64]
    raters: NDArray[np.object_]
    by_rater: NDArray[np.float64]
    images: NDArray[np.intp]
    unknown_classes: int
    precisions: tuple[NDArray[np.float64], ...]
    points: tuple[NDArray[np.intp], ...]
    classes: NDArray[np.intp]

    @property
    def per_rater(self) -> NDArray[np.float64]:
        """(R,) mean over the thresholds."""
        return np.asarray(self.by_rater.mean(axis=0))

    @property
    def mean(self) -> float:
        """Mean over the raters who have annotations; compare it with label convergence."""
        return float(np.nanmean(self.per_rater))

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        raters = int(np.isfinite(self.per_rater).sum())
        return f"mAP {points_text(self.mean)} of predictions, mean over {number_of(raters, 'rater')} as ground truth"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each threshold and rater."""
        import pandas as pd

        thresholds, raters = self.by_rater.shape
        return pd.DataFrame(
            {
                "ground_truth": np.tile(self.raters, thresholds),
                "threshold": np.repeat(self.thresholds, raters),
                "map": self.by_rater.ravel(),
                "images": np.tile(self.images, thresholds),
            }
        )


@dataclass(frozen=True)
class PredictionSettings(Settings):
    """Settings of `map_of_predictions`."""

    similarity: ComparedBy = "auto"
    thresholds: HitThresholds = THRESHOLDS


@takes(PredictionSettings)
def map_of_predictions(
    annotations: Annotations,
    predictions: Annotations,
    scores: ArrayLike | Sequence[Any] | None,
    settings: PredictionSettings,
) -> PredictionMap:
    """Compute a model's mAP with each rater as ground truth, as in `modified_map` but with the model's own scores.

    The result is comparable with `label_convergence` of the same annotations. It equals pycocotools with at most 1,000
    detections per image and class, also on crowd regions of the raters. Similarities of volumes are not supported,
    because scans in two tables are not known to be the same.

    Parameters
    ----------
    annotations : Annotations
        Annotations of the raters.
    predictions : Annotations
        Predictions of one model, as its only rater. Images and classes are matched to `annotations` by id and name.
    scores : (N,) float
        Confidence of each prediction.

    Returns
    -------
    PredictionMap

    Raises
    ------
    InputError
        If a prediction has no confidence, predictions are of several raters or on images that are not in the
        annotations, or the similarity cannot compare two tables.

    Examples
    --------
    Two boxes, one of which hits. The other has the higher score: precision 1/2 at every recall.

    >>> cat = {"image": 1, "category": "cat"}
    >>> truth = Annotations.from_rows([{**cat, "rater": "ann", "box": [0, 0, 10, 10]}])
    >>> rows = [{**cat, "rater": "net", "box": box} for box in ([0, 0, 10, 10], [50, 0, 10, 10])]
    >>> map_of_predictions(truth, Annotations.from_rows(rows), [0.6, 0.9]).mean
    0.5
    """
    kinds = complete_kinds(annotations) & complete_kinds(predictions)
    checked = np.array(settings.thresholds)
    sureness = _check_scores(predictions, scores)
    measure = _check_measure(settings.similarity, kinds)
    known, table = _side_by_side(annotations, predictions)
    floor = min(float(checked.min()), ALMOST_ONE)
    detected = predictions.select(rows=known)
    pairs = _pairs_across(annotations, detected, table, measure, floor)
    crowds = crowd_overlaps(annotations.crowd_regions, detected, measure.name, pairs.kind, floor)
    crowds = replace(crowds, found=crowds.found + len(annotations))
    model = len(annotations.raters)
    matches = match(
        table,
        pairs,
        checked,
        "coco",
        np.ones(len(table), np.bool_),
        orders_of(table, len(table), "coco", 1, 0)[0],
        crowds,
        np.concatenate([np.zeros(len(annotations)), sureness[known]]),
    )
    counted = matches.counted(len(table.images), model + 1, len(table.categories), joint=False)
    of_precision = [counted.points(rater) for rater in range(model)]
    by_rater = counted.by_direction(counted.class_precision(), model + 1)[:, :model, model]
    if np.isnan(by_rater).all():
        raise InputError("annotations: expected annotations of a rater, got none to compare predictions with")
    return PredictionMap(
        similarity_name=measure.name,
        thresholds=checked,
        raters=annotations.raters,
        by_rater=by_rater,
        images=annotations.assigned.sum(axis=0),
        unknown_classes=int(len(predictions) - known.sum()),
        precisions=tuple(precision for precision, _ in of_precision),
        points=tuple(points for _, points in of_precision),
        classes=np.bincount(counted.truth[counted.found == model], minlength=model),
    )


def _check_scores(predictions: Annotations, scores: ArrayLike | Sequence[Any] | None) -> NDArray[np.float64]:
    given = [] if scores is None else np.asarray(scores, dtype=object).reshape(-1).tolist()
    if len(given) != len(predictions):
        actual = "none" if scores is None else f"{len(given):,}"
        raise InputError(f"scores: expected the confidence of each of {len(predictions):,} predictions, got {actual}")
    numbers = np.array([np.nan if (value := as_number(entry)) is None else value for entry in given], np.float64)
    without = ~np.isfinite(numbers)
    if without.any():
        raise InputError(
            f"scores: expected the confidence of every prediction, got none for {without.sum():,} of "
            f"{len(predictions):,} (ids {listed(predictions.id[without])})"
        )
    return numbers


def _check_measure(similarity: ComparedBy, kinds: set[str]) -> Similarity:
    if callable(similarity):
        raise InputError("similarity: expected a name or a Similarity, got a function of the rows of one table")
    measure = measure_for(similarity, kinds)
    if measure.kind == "volume":
        raise InputError(f"similarity: expected one that compares two tables, got {repr_of(measure.name)}")
    return measure


def _side_by_side(annotations: Annotations, predictions: Annotations) -> tuple[NDArray[np.bool_], Annotations]:
    """Mask of predictions with a known class, and a joint table without shapes in which the model is the last rater."""
    if len(predictions.raters) > 1:
        raise InputError(f"predictions: expected those of one model, got raters {listed(predictions.raters)}")
    image_code = {key: code for code, key in enumerate(annotations.images)}
    used = predictions.images[np.unique(predictions.image)]
    strange = [key for key in used if key not in image_code]
    if strange:
        raise InputError(
            f"predictions: expected images of the annotations, got others: {listed(map(repr_of, strange))}"
        )
    class_code = {name: code for code, name in enumerate(annotations.categories)}
    category = np.array([class_code.get(name, -1) for name in predictions.categories], np.intp)[predictions.category]
    image = np.array([image_code.get(key, -1) for key in predictions.images], np.intp)[predictions.image]
    known = category >= 0
    count_known, model = int(known.sum()), len(annotations.raters)
    limits = annotations.assigned_categories
    table = replace(
        annotations,
        image=np.concatenate([annotations.image, image[known]]),
        rater=np.concatenate([annotations.rater, np.full(count_known, model)]),
        category=np.concatenate([annotations.category, category[known]]),
        id=np.arange(len(annotations) + count_known),
        shapes={},
        attributes={},
        raters=object_array([*annotations.raters, "predictions"]),
        person=object_array([]),
        session=object_array([]),
        assigned=np.column_stack([annotations.assigned, np.ones(len(annotations.images), np.bool_)]),
        assigned_categories=None if limits is None else np.vstack([limits, np.ones((1, limits.shape[1]), np.bool_)]),
    )
    return known, table


def _pairs_across(
    annotations: Annotations, predictions: Annotations, table: Annotations, measure: Similarity, floor: float
) -> Pairs:
    """Pairs of a rater's annotation and a prediction, as rows of the joint table."""
    found: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]] = []
    rows_of_raters = len(annotations)
    if rows_of_raters and len(predictions):
        sizes = annotations.image_size[table.image[rows_of_raters:]]
        left, right = measure.column(annotations), measure.column(_with_sizes(predictions, sizes))
        order = np.argsort(table.image[rows_of_raters:], kind="stable")
        image = table.image[rows_of_raters:][order]
        first = np.searchsorted(image, annotations.image)
        for rows, position in blocks_of_runs(first, np.searchsorted(image, annotations.image, side="right") - first):
            values = measure.values(left, rows, right, order[position], floor)
            near = values >= floor
            found.append((rows[near], order[position][near] + rows_of_raters, values[near]))
    none = np.zeros(0, np.intp)
    left_rows, right_rows, values = (
        np.concatenate(part) for part in zip((none, none, np.zeros(0)), *found, strict=True)
    )
    return Pairs(left_rows, right_rows, values, measure.name, floor, measure.kind)


def _with_sizes(predictions: Annotations, sizes: NDArray[np.float64]) -> Annotations:
    """Copy the predictions with image sizes (N, 2) of the annotations, for similarities that need them."""
    image_size = predictions.image_size.copy()
    image_size[predictions.image] = sizes
    return replace(predictions, image_size=image_size)
