"""Ranking of object detection models by mAP under each rater's truth and under consensus."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.columns import object_array
from kalos_core.convergence import THRESHOLDS, PredictionMap, map_of_predictions
from kalos_core.convergence.modified import HitThresholds
from kalos_core.convergence.precision import RECALL
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.options import Settings, takes
from kalos_core.ranking.ranks import Rankings
from kalos_core.ranking.ties import as_ratio, exact_mean, settle
from kalos_core.results import Result
from kalos_core.similarity import Similarity
from kalos_core.similarity.fitting import ComparedBy, complete_kinds, measure_for

if TYPE_CHECKING:
    import pandas as pd

Predictions = tuple[Annotations, ArrayLike | Sequence[Any] | None]
"""Output of a model: its annotations as those of one rater, and the confidence of each."""


@dataclass(frozen=True, eq=False, repr=False)
class ModelRanking(Result):
    """The result of `rank_models`. T truths, M models, L thresholds.

    Figures: ``"ranking"``, ``"tau"``, ``"shared"``.

    Parameters
    ----------
    similarity_name : str
    thresholds : (L,) float64
    truths, models : (T,), (M,) object
        Names; the raters come first.
    by_threshold : (L, T, M) float64
        mAP; NaN under a truth without an annotation.
    unknown_classes : (M,) int
        Number of predictions of classes that the raters do not have; they are ignored.
    means : (T, M) float64
        mAP by which models are ranked, the mean over the thresholds. Values that are equal in exact arithmetic are
        equal, for any order of classes and models. By default the mean of `by_threshold`, which may miss a tie due to
        rounding.

    Examples
    --------
    >>> cat = {"image": 1, "category": "cat"}
    >>> truth = Annotations.from_rows([{**cat, "rater": "ann", "box": [0, 0, 10, 10]}])
    >>> model = Annotations.from_rows([{**cat, "rater": "net", "box": [0, 0, 10, 6]}])
    >>> result = rank_models({"net": (model, [0.8])}, truth, {"quorum 2": truth.select(rows=[])}, thresholds=[0.5])
    >>> result.to_pandas()["map"].tolist()
    [1.0, nan]
    >>> result.ranking.undefined
    ('mAP is undefined under quorum 2: it has no annotation',)
    """

    _call = "rank_models(models, annotations)"

    similarity_name: str
    thresholds: NDArray[np.float64]
    truths: NDArray[np.object_]
    models: NDArray[np.object_]
    by_threshold: NDArray[np.float64]
    unknown_classes: NDArray[np.intp]
    means: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))

    def __post_init__(self) -> None:
        if not self.means.size:
            sums = [[math.fsum(of_model) for of_model in of_truth] for of_truth in np.moveaxis(self.by_threshold, 0, 2)]
            object.__setattr__(self, "means", np.array(sums, np.float64) / len(self.by_threshold))

    @property
    def ranking(self) -> Rankings:
        """Models ranked under each truth by their mean mAP over the thresholds."""
        without = self.truths[np.isnan(self.means).all(axis=1)]
        reasons = tuple(f"mAP is undefined under {truth}: it has no annotation" for truth in without)
        return Rankings("mAP", self.truths, self.models, self.means, undefined=reasons)

    @property
    def headline(self) -> str:
        """One-line summary of the result."""
        return f"{number_of(len(self.models), 'model')} ranked under {number_of(len(self.truths), 'reference')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per truth and model: mAP and rank."""
        return self.ranking.to_pandas().rename(columns={"system": "model", "value": "map"})


@dataclass(frozen=True)
class ModelSettings(Settings):
    """Settings of `rank_models`."""

    consensus: Mapping[str, Annotations] | None = None
    similarity: ComparedBy = "auto"
    thresholds: HitThresholds = THRESHOLDS


@takes(ModelSettings)
def rank_models(models: Mapping[str, Predictions], annotations: Annotations, settings: ModelSettings) -> ModelRanking:
    """Rank models by mAP under the truth of each rater, and under further truths such as consensus at several quorums.

    Each mAP is computed by `map_of_predictions`: an image without predictions of a model still counts as assigned.

    Parameters
    ----------
    models : mapping of name to (Annotations, confidences)
    annotations : Annotations
        Annotations of the raters, each of whom is a truth. Raters that are local to an image
        (`Annotations.raters_are_local`) cannot be truths; models are then ranked under consensus only.
    consensus : mapping of name to Annotations, optional
        Further truths, with one rater each. A truth without annotations, such as a quorum that nothing reaches, has no
        mAP.

    Returns
    -------
    ModelRanking

    Raises
    ------
    InputError
        Without a model, without consensus if raters are local to an image, for a name used twice, a consensus of
        several raters, no annotation of any rater, or input that `map_of_predictions` rejects. The message names the
        model.

    Examples
    --------
    >>> cat = {"image": 1, "category": "cat"}
    >>> truth = Annotations.from_rows(
    ...     [{**cat, "rater": "ann", "box": [0, 0, 10, 10]}, {**cat, "rater": "bob", "box": [0, 0, 10, 6]}]
    ... )
    >>> wide, low = (Annotations.from_rows([{**cat, "rater": "net", "box": [0, 0, 10, h]}]) for h in (10, 6))
    >>> result = rank_models({"wide": (wide, [0.8]), "low": (low, [0.7])}, truth, thresholds=(0.5, 0.75))
    >>> result.ranking.values.tolist(), result.ranking.tau[0].tolist(), result.ranking.best_changes
    ([[1.0, 0.5], [0.5, 1.0]], [1.0, -1.0], 1.0)
    """
    others, thresholds = settings.consensus or {}, settings.thresholds
    if not models:
        raise InputError("models: expected at least one, got none")
    tables = [annotations, *others.values(), *(given[0] for given in models.values() if _is_pair(given))]
    kinds = complete_kinds(annotations).intersection(*map(complete_kinds, filter(len, tables)))
    measure = measure_for(settings.similarity, kinds)
    _check_consensus(annotations, others)
    if annotations.raters_are_local and not others:
        raise InputError(
            "consensus: expected at least one, as raters that are local to an image cannot be references, got none"
        )
    first_truth = len(annotations.raters) if annotations.raters_are_local else 0
    columns = [
        _maps_of(name, predictions, annotations, others, measure, thresholds) for name, predictions in models.items()
    ]
    by_threshold = np.stack([column.maps for column in columns], axis=2)[:, first_truth:]
    first = columns[0].first

    def mean(truth: int, model: int) -> float:
        return columns[model].exact(truth)

    return ModelRanking(
        similarity_name=first.similarity_name,
        thresholds=first.thresholds,
        truths=object_array([*annotations.raters, *others][first_truth:]),
        models=object_array(models),
        by_threshold=by_threshold,
        unknown_classes=np.array([column.unknown_classes for column in columns], np.intp),
        means=np.array(
            [settle(means, partial(mean, truth)) for truth, means in enumerate(by_threshold.mean(axis=0), first_truth)],
            np.float64,
        ),
    )


@dataclass(frozen=True)
class _Column:
    """The mAP of one model under every truth."""

    found: tuple[tuple[PredictionMap, int] | None, ...]
    """(T,) result and index of its rater for each truth; None for a truth without annotations."""
    unknown_classes: int

    @property
    def first(self) -> PredictionMap:
        """Result under the raters' truths."""
        return next(entry for entry in self.found if entry is not None)[0]

    @property
    def maps(self) -> NDArray[np.float64]:
        """(L, T) mAP at each threshold."""
        none = np.full(len(self.first.thresholds), np.nan)
        columns = [none if entry is None else entry[0].by_rater[:, entry[1]] for entry in self.found]
        return np.stack(columns, axis=1)

    def exact(self, truth: int) -> float:
        """Return the mean mAP under a truth over the thresholds, computed with integers and rounded once."""
        entry = self.found[truth]
        if entry is None:
            return math.nan
        result, rater = entry
        ratios = [as_ratio(precision) for precision in result.precisions[rater].tolist()]
        points = result.points[rater].tolist()
        above = [number * times for (number, _), times in zip(ratios, points, strict=True)]
        times = len(RECALL) * len(result.thresholds) * int(result.classes[rater])
        return exact_mean(above, [divisor for _, divisor in ratios], times)


def _is_pair(given: object) -> bool:
    return isinstance(given, (tuple, list)) and len(given) == 2


def _maps_of(
    name: str,
    predictions: Predictions,
    annotations: Annotations,
    consensus: Mapping[str, Annotations],
    measure: Similarity,
    thresholds: Sequence[float] | NDArray[np.float64],
) -> _Column:
    if not _is_pair(predictions):
        raise InputError(f"model {name!r}: expected annotations and their scores, got {repr_of(predictions)}")
    detected, scores = predictions

    def under(truths: Annotations) -> PredictionMap:
        return map_of_predictions(truths, detected, scores, similarity=measure, thresholds=thresholds)

    try:
        of_raters = under(annotations)
        found = [(of_raters, rater) for rater in range(len(annotations.raters))]
        others = [(under(truth), 0) if len(truth) else None for truth in consensus.values()]
    except InputError as error:
        raise InputError(f"model {name!r}: {error}") from error
    return _Column((*found, *others), of_raters.unknown_classes)


def _check_consensus(annotations: Annotations, consensus: Mapping[str, Annotations]) -> None:
    several = [name for name, truth in consensus.items() if len(truth.raters) > 1]
    if several:
        raise InputError(f"consensus: expected annotations of one rater each, got several raters in {listed(several)}")
    twice = [name for name in consensus if name in annotations.raters.tolist()]
    if twice:
        raise InputError(f"consensus: expected names that no rater has, got {listed(map(repr_of, twice))}")
