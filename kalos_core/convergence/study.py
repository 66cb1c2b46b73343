"""Label convergence of a data set and its tags, with models placed, at all or some thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations import Annotations
from kalos_core.convergence.criteria import Criterion, check_convergence
from kalos_core.convergence.interval import SHARES, LabelConvergence, SubsetSize, label_convergence
from kalos_core.convergence.models import read_models
from kalos_core.convergence.predictions import map_of_predictions
from kalos_core.convergence.replicates import Replicates
from kalos_core.convergence.spread import meaning_of, position_of
from kalos_core.display import number_of, with_interval
from kalos_core.errors import InputError
from kalos_core.options import Option, Settings, no_progress, takes
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.results import Result
from kalos_core.similarity import get_similarity
from kalos_core.variation import TOUCHING

if TYPE_CHECKING:
    import pandas as pd


WHOLE = "all images"
"""Name of the part that has no tag."""

OF_EACH_SIZE = 100
"""Maximum number of subsets of each other size; large subsets take long, and a curve needs no more."""

Scored = tuple[Annotations, ArrayLike | Sequence[Any] | None]
"""Predictions of a model and the confidence of each."""


@dataclass(frozen=True)
class PlacedModel:
    """Model placed against label convergence.

    Parameters
    ----------
    name : str
    map : float
        mAP from 0 to 1.
    place : "below", "inside", "above" or "unknown"
        Position relative to the interval of label convergence; unknown if there is none.
    meaning : str
        Meaning of the position in words.
    by_rater : dict
        mAP with each rater as ground truth, if predictions are known; NaN for a rater without annotations.
    """

    name: str
    map: float
    place: str
    meaning: str
    by_rater: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, interval: NDArray[np.float64], name: str, value: float, by_rater: Mapping[str, float] | None = None
    ) -> PlacedModel:
        """Place a model against an interval (2,) of label convergence.

        Examples
        --------
        >>> PlacedModel.of(np.array([0.4, 0.6]), "net", 0.1).place
        'below'
        """
        place, meaning = position_of(value, interval), meaning_of(value, interval)
        return cls(name, value, place, meaning, dict(by_rater or {}))


@dataclass(frozen=True, eq=False)
class TagConvergence:
    """Label convergence of all images, or of those with a tag. T thresholds, R raters.

    Parameters
    ----------
    name : str
        The tag; `WHOLE` for all images.
    images : int
    replicates : Replicates or None
    predicted : dict
        Model -> (T, R) mAP of its predictions with each rater as ground truth; NaN for a rater without annotations.
    reason : str
        Reason why there are no replicates.

    Examples
    --------
    >>> TagConvergence("night", 40, None, {"net": np.array([[0.5, np.nan], [0.3, np.nan]])}, "too few").models
    {'net': 0.4}
    """

    name: str
    images: int
    replicates: Replicates | None
    predicted: dict[str, NDArray[np.float64]]
    reason: str = ""

    @property
    def models(self) -> dict[str, float]:
        """MAP of each model with predictions, mean over the thresholds and the raters who have annotations."""
        return {
            name: float(np.nanmean(values.mean(axis=0)))
            for name, values in self.predicted.items()
            if np.isfinite(values).any()
        }


@dataclass(frozen=True, eq=False, repr=False)
class ConvergenceStudy(Result):
    """The result of `convergence_study`. T thresholds, R raters.

    Figures: ``"study"``, ``"directions"``.

    Parameters
    ----------
    parts : tuple of TagConvergence
        All images first, then the tags.
    raters : (R,) object
    directions : (T, R, R) float64
        Modified mAP of all images; see `ModifiedMap`.
    models : dict
        Name -> mAP, as given.
    checklist : tuple of Criterion
    sizes : tuple of SubsetSize
        Label convergence of all images by subset size, over all thresholds.

    Examples
    --------
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10 - shift * (image % 3)]}
    ...     for image in range(200)
    ...     for rater, shift in (("ann", 0), ("bob", 2))
    ... ]
    >>> table = Annotations.from_rows(rows)
    >>> found = convergence_study(table, label_convergence(table, samples=50, fraction=0.5, thresholds=(0.5, 0.75)))
    >>> found.whole.measured.mean < 1, found.matrix.shape, [size.images for size in found.sizes]
    (True, (2, 2), [20, 50, 100, 200])
    >>> found.with_models("net 0.1").placed[0].place
    'below'
    """

    _call = "convergence_study(annotations, label_convergence(annotations))"

    parts: tuple[TagConvergence, ...]
    raters: NDArray[np.object_]
    directions: NDArray[np.float64]
    models: dict[str, float]
    checklist: tuple[Criterion, ...]
    sizes: tuple[SubsetSize, ...]

    @property
    def whole(self) -> Replicates:
        """Replicates of all images."""
        replicates = self.parts[0].replicates
        assert replicates is not None  # without them there is no study
        return replicates

    @property
    def matrix(self) -> NDArray[np.float64]:
        """(R, R) mAP with the row rater as ground truth and the column rater as detections, mean over thresholds."""
        return np.asarray(self.directions.mean(axis=0))

    @property
    def placed(self) -> list[PlacedModel]:
        """All models placed against label convergence of all images; models with predictions are last."""
        interval, whole = self.whole.interval, self.parts[0]
        models = [PlacedModel.of(interval, name, value) for name, value in self.models.items()]
        for name, value in whole.models.items():
            by_rater = dict(zip(map(str, self.raters), whole.predicted[name].mean(axis=0).tolist(), strict=True))
            models.append(PlacedModel.of(interval, name, value, by_rater))
        return models

    def largest(self, count: int = 20) -> list[TagConvergence]:
        """Return all images, then the `count` tags with the most images that have an interval, sorted by name."""
        known = [part for part in self.parts[1:] if part.replicates is not None]
        shown = sorted(known, key=lambda part: -part.images)[:count]
        return [self.parts[0], *sorted(shown, key=lambda part: part.name)]

    def with_models(self, models: str | Mapping[str, float] | None) -> ConvergenceStudy:
        """Add models (see `read_models`); their mAP must refer to the same thresholds."""
        return replace(self, models={**self.models, **read_models(models)})

    def between(self, least: float | None = None, greatest: float | None = None) -> ConvergenceStudy:
        """Restrict to thresholds from `least` to `greatest`, both included; `sizes` keep all thresholds.

        Raises
        ------
        InputError
            If no threshold lies in the range.
        """
        chosen = self.whole.chosen(least, greatest)
        parts = [
            replace(
                part,
                replicates=None if part.replicates is None else part.replicates.between(least, greatest),
                predicted={name: values[chosen] for name, values in part.predicted.items()},
            )
            for part in self.parts
        ]
        return replace(self, parts=tuple(parts), directions=self.directions[chosen])

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        found = with_interval(100 * self.whole.whole_convergence, 100 * self.whole.interval, 1)
        return (
            f"Label convergence {found} mAP, {self.whole.how}; {number_of(len(self.parts) - 1, 'tag')}, "
            f"{number_of(len(self.models), 'model')}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for all images and one for each tag: label convergence from 0 to 1, or why there is none."""
        import pandas as pd

        rows = []
        for part in self.parts:
            found = part.replicates
            low, high = (np.nan, np.nan) if found is None else found.interval
            value = np.nan if found is None else found.whole_convergence
            rows.append((part.name, part.images, value, low, high, part.reason))
        return pd.DataFrame(rows, columns=["name", "images", "map", "map_low", "map_high", "reason"])


@dataclass(frozen=True, kw_only=True)
class StudySettings(Settings):
    """Arguments of `convergence_study`."""

    tags: Mapping[str, NDArray[np.bool_]] | None = None
    models: Annotated[
        str | Mapping[str, float] | None,
        Option(
            "Models",
            "Names of models with their mAP from 0 to 1 at the same thresholds, such as 'net 0.41, old 0.38'.",
        ),
    ] = None
    predictions: Mapping[str, Scored] | None = None
    pairs: Pairs | None = None
    progress: Callable[[float, str], None] = no_progress


@takes(StudySettings)
def convergence_study(annotations: Annotations, result: LabelConvergence, settings: StudySettings) -> ConvergenceStudy:
    """Study label convergence by tag and by subset size, place models, and run the check-list.

    Parameters
    ----------
    annotations : Annotations
    result : LabelConvergence
        Label convergence of all images. Each tag gets as many subsets, with the same share of its images.
    tags : mapping, optional
        Name -> (I,) whether each image has the tag.
    predictions : mapping, optional
        Model name -> its predictions and their confidence, as for `map_of_predictions`.
    pairs : Pairs, optional
        All pairs of annotations that touch.
    progress : callable, optional
        Called as ``progress(share, label)``, as in `label_convergence`.

    Raises
    ------
    InputError
        If models cannot be read, or predictions cannot be evaluated.

    Examples
    --------
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10 - shift * (image % 3)]}
    ...     for image in range(400)
    ...     for rater, shift in (("ann", 0), ("bob", 2))
    ... ]
    >>> table = Annotations.from_rows(rows)
    >>> result = label_convergence(table, samples=50, fraction=0.5, thresholds=(0.5, 0.75))
    >>> found = convergence_study(table, result, tags={"night": np.arange(400) < 200}, models="net 0.1")
    >>> [(part.name, part.replicates.images_per_replicate) for part in found.parts], found.placed[0].place
    ([('all images', 200), ('night', 100)], 'below')
    >>> found.between(0.7).whole.thresholds.tolist()
    [0.75]
    """
    given, masks = read_models(settings.models), dict(settings.tags or {})
    measure, thresholds = get_similarity(result.whole.similarity_name), result.thresholds
    pairs = compute_pairs(annotations, measure, TOUCHING) if settings.pairs is None else settings.pairs

    def predicted(part: Annotations, images: NDArray[np.bool_] | None = None) -> dict[str, NDArray[np.float64]]:
        """MAP of each model's predictions; `images` is the mask that the part was selected with, if any."""
        found = {}
        for model, (table, scores) in (settings.predictions or {}).items():
            if images is not None:
                inside = set(annotations.images[images])
                mask = np.array([key in inside for key in table.images], np.bool_)
                table, scores = table.select(images=mask), np.asarray(scores, dtype=object)[mask[table.image]]
            try:
                found[model] = map_of_predictions(
                    part, table, scores, similarity=measure, thresholds=thresholds
                ).by_rater
            except InputError as error:
                raise InputError(f"predictions: those of {model!r} cannot be evaluated: {error}") from error
        return found

    def of_tag(number: int, tag: str, images: NDArray[np.bool_]) -> TagConvergence:
        """Label convergence of the images of a tag, or the reason why there is none."""
        part, count = annotations.select(images=images), int(images.sum())

        def tell(share: float, label: str) -> None:
            settings.progress((number + share) / len(masks), f"{tag}: {label}")

        try:
            near, chosen = pairs.within(annotations, images), {**result.settings.record(), "similarity": measure}
            found = label_convergence(part, **chosen, pairs=near, progress=tell)
        except InputError as error:
            return TagConvergence(tag, count, None, {}, str(error))
        return TagConvergence(tag, found.images, found.replicates, predicted(part, images))

    whole = TagConvergence(WHOLE, result.images, result.replicates, predicted(annotations))
    of_tags = [of_tag(number, tag, images) for number, (tag, images) in enumerate(masks.items())]
    settings.progress(1.0, "Computing subsets of other sizes")
    return ConvergenceStudy(
        parts=(whole, *of_tags),
        raters=result.whole.raters,
        directions=result.whole.directions,
        models=given,
        checklist=tuple(check_convergence(annotations, measure, pairs=pairs)),
        sizes=_sizes(result),
    )


def _sizes(result: LabelConvergence) -> tuple[SubsetSize, ...]:
    """Rows for the usual subset sizes, or only for the size of the result if others leave subsets empty."""
    shares = [share for share in SHARES if round(share * result.images)]
    samples = min(len(result.drawn), OF_EACH_SIZE)
    try:
        return tuple(result.sizes(shares, samples))
    except InputError:
        return tuple(result.sizes((), samples))
