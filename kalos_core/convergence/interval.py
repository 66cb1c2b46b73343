"""Label convergence: modified mAP and alpha on many subsets, their interval, and the line between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import AgreementSettings
from kalos_core.annotations import Annotations
from kalos_core.convergence.counting import Counted
from kalos_core.convergence.modified import (
    THRESHOLDS,
    HitThresholds,
    MatchTask,
    ModifiedMap,
    Orders,
    Ties,
    count_in_orders,
    map_of,
    mean_of_directions,
    usable_images,
)
from kalos_core.convergence.regression import PUBLISHED_LINE, GivenLine, Line
from kalos_core.convergence.replicates import Replicates
from kalos_core.convergence.spread import FEWEST_IMAGES, Spread
from kalos_core.correspondence.costs import CostName
from kalos_core.correspondence.units import SolverName
from kalos_core.display import bracketed, number_of
from kalos_core.errors import InputError, check_number, check_whole
from kalos_core.limits import check_replicates
from kalos_core.options import Option, Seed, Settings, no_progress, takes
from kalos_core.pairs import Pairs
from kalos_core.results import Result
from kalos_core.sharding import Sharded, kinds_of, known_of
from kalos_core.similarity.fitting import ComparedBy, measure_for, sent

if TYPE_CHECKING:
    import pandas as pd

SHARES = (0.1, 0.25, 0.5)
"""Default shares of the images in a subset for `LabelConvergence.by_size`."""

MATCHED, COUNTED = 0.1, 0.4
"""Fraction of the work done once annotations are matched, and once every image has its alpha."""

HALVES = 200
"""Number of halves of the images behind the interval; its width is then known to about 5 %."""

AT_ONCE = 50
"""Subsets between two progress messages."""

NUMBERS_AT_ONCE = 1 << 19
"""Images times subsets processed together, so that memory does not grow with either."""

PAPER_SOLVER: SolverName = "shm"
PAPER_COST: CostName = "neg"
PAPER_KINDS = frozenset({"box", "polygon", "mask"})
"""Shape kinds that the published line was fitted on: objects in photographs."""

"""Solver and cost of the alpha of the paper's Appendix B, to which its line belongs."""


@dataclass(frozen=True)
class SubsetSize:
    """Label convergence of subsets of one size, or of all images at once.

    Parameters
    ----------
    share : float
        Share of the images in a subset; 1 for all of them.
    images, subsets : int
        Images in a subset, and number of subsets, without those that have no annotations to compare.
    convergence : float
        Mean of `LabelConvergence.convergence`.
    std, low, high, percentile_low, percentile_high : float
        See `Spread`. For all images `low` and `high` are `LabelConvergence.interval`, and the others NaN.
    map, alpha : float
        Mean modified mAP and alpha.

    Examples
    --------
    >>> SubsetSize(0.5, 100, 30, 0.72, 0.02, 0.68, 0.76, 0.69, 0.75, 0.71, 0.6).images
    100
    """

    share: float
    images: int
    subsets: int
    convergence: float
    std: float
    low: float
    high: float
    percentile_low: float
    percentile_high: float
    map: float
    alpha: float


@dataclass(frozen=True, eq=False, repr=False)
class LabelConvergence(Result):
    """The result of `label_convergence`. B replicates of n images, T thresholds, R raters.

    Figures: ``"replicates"``, ``"regression"``, ``"sizes"``, ``"directions"``.

    Parameters
    ----------
    whole : ModifiedMap
        Modified mAP on all images.
    drawn : (B, n) int
        Ascending codes of the images of each replicate.
    images : int
        Number of images that two raters are assigned to; subsets are drawn from these.
    pair_map : (B, T, R, R) float64
        Modified mAP of each replicate: row rater as ground truth, column rater as detections.
    alpha : (B, T) float64
        Mean image alpha of each replicate.
    configuration : AgreementSettings
        Settings of `alpha`, at the first threshold.
    line : Line or None
        Line that maps alpha to mAP; None if no line belongs to this alpha.
    fitted : Line or None
        Line fitted on all replicates and thresholds. None if alpha is the same everywhere, or for more than two
        raters, since they have no single mAP to fit.
    usable : (images,) int
        Codes of the images that subsets are drawn from, in drawing order.
    image_alpha : (I, T) float64
        Alpha of each image; NaN if undefined.
    halves_map, halves_alpha : (H, T) float64
        `map` and `alpha` of halves of the images.
    counted : sequence of Counted
        Matches from which modified mAP of any subset is computed, one for each order of detections.
    settings : ConvergenceSettings

    Examples
    --------
    >>> from kalos_core import Annotations, label_convergence
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10 - shift * (image % 3)]}
    ...     for image in range(200)
    ...     for rater, shift in (("ann", 0), ("bob", 2))
    ... ]
    >>> result = label_convergence(Annotations.from_rows(rows), samples=50, fraction=0.5, thresholds=(0.5, 0.75))
    >>> result.summary()["figure"].tolist()
    ['modified mAP', 'mAP inferred from alpha', 'alpha']
    >>> bool(result.interval[0] <= result.whole_convergence <= result.interval[1])
    True
    """

    _call = "label_convergence(annotations)"

    whole: ModifiedMap
    drawn: NDArray[np.int32]
    images: int
    pair_map: NDArray[np.float64]
    alpha: NDArray[np.float64]
    configuration: AgreementSettings
    line: Line | None
    fitted: Line | None
    usable: NDArray[np.intp]
    image_alpha: NDArray[np.float64]
    halves_map: NDArray[np.float64]
    halves_alpha: NDArray[np.float64]
    counted: Sequence[Counted]
    settings: ConvergenceSettings

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """(T,) thresholds of `whole`."""
        return self.whole.thresholds

    @property
    def images_per_replicate(self) -> int:
        """n, the number of images in a replicate; the width of the intervals belongs to it."""
        return int(self.drawn.shape[1])

    @property
    def map(self) -> NDArray[np.float64]:
        """(B, T) mean of both directions; with more than two raters, mean over all ordered pairs of raters."""
        return mean_of_directions(self.pair_map)

    @property
    def replicates(self) -> Replicates:
        """Replicates without annotations, the source of the numbers below; select thresholds with `between`."""
        return Replicates(
            thresholds=self.thresholds,
            map=self.map,
            alpha=self.alpha,
            raters=len(self.whole.raters),
            images=self.images,
            images_per_replicate=self.images_per_replicate,
            configuration=self.configuration,
            line=self.line,
            whole_map=mean_of_directions(self.whole.directions),
            whole_alpha=self.whole_alpha,
            halves_map=self.halves_map,
            halves_alpha=self.halves_alpha,
        )

    @property
    def whole_alpha(self) -> NDArray[np.float64]:
        """(T,) mean image alpha of all images."""
        return np.asarray(_mean_alpha(self.image_alpha, self.usable[None])[0])

    @property
    def whole_convergence(self) -> float:
        """`convergence` of all images at once. Quote this number: it does not depend on a subset size."""
        return self.replicates.whole_convergence

    def by_size(self, shares: Sequence[float] = SHARES, samples: int | None = None) -> pd.DataFrame:
        """Compute label convergence for several subset sizes and for the whole data set.

        Parameters
        ----------
        shares : sequence of floats in (0, 1)
            Shares of the images in a subset. The share of this result is always among the rows, with its replicates.
        samples : int, at least 2, optional
            Subsets of each size; by default as many as in this result.

        Returns
        -------
        DataFrame
            One row for each size, ascending, with all images last: ``share``, ``images``, ``subsets`` (without those
            that have no annotations to compare), ``convergence`` (as the property) with ``std``, ``low``, ``high``,
            ``percentile_low`` and ``percentile_high``, ``map`` and ``alpha``. For all images ``low`` and ``high`` are
            the interval, and ``std`` and the percentiles are NaN.

        Raises
        ------
        InputError
            If a share is not a number in (0, 1), or leaves a subset empty.

        Examples
        --------
        >>> from kalos_core import Annotations, label_convergence
        >>> rows = [
        ...     {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10 - shift * (image % 3)]}
        ...     for image in range(200)
        ...     for rater, shift in (("ann", 0), ("bob", 2))
        ... ]
        >>> result = label_convergence(Annotations.from_rows(rows), samples=50, fraction=0.5, thresholds=(0.5, 0.75))
        >>> result.by_size()["images"].tolist()
        [20, 50, 100, 200]
        """
        import pandas as pd

        return pd.DataFrame(map(vars, self.sizes(shares, samples)))

    def sizes(self, shares: Sequence[float] = SHARES, samples: int | None = None) -> list[SubsetSize]:
        """Compute the rows of `by_size`."""
        count = len(self.drawn) if samples is None else check_whole(samples, "samples", least=2)
        sizes = {
            _subset_size(self.images, check_number(share, "shares", above=0, below=1), "shares") for share in shares
        }
        rows = [
            _size_row(self._of_size(size, count))
            for size in sorted({*sizes, self.images_per_replicate} - {self.images})
        ]
        return [*rows, _whole_row(self.replicates)]

    def _of_size(self, size: int, samples: int) -> Replicates:
        """Replicates with subsets of a size; the existing ones if they have that size."""
        if size == self.images_per_replicate:
            return self.replicates
        drawn = _draw(self.usable, size, samples, np.random.default_rng([self.settings.seed, size]))
        directions = _pair_map(self.counted, drawn, len(self.whole.raters), no_progress)
        return replace(
            self.replicates,
            map=mean_of_directions(directions),
            alpha=_mean_alpha(self.image_alpha, drawn),
            images_per_replicate=size,
        )

    @property
    def measured(self) -> Spread:
        """See `Replicates.measured`."""
        return self.replicates.measured

    @property
    def inferred(self) -> Spread | None:
        """See `Replicates.inferred`."""
        return self.replicates.inferred

    def inferred_with(self, line: Line) -> Spread:
        """See `Replicates.inferred_with`."""
        return self.replicates.inferred_with(line)

    @property
    def convergence(self) -> Spread:
        """Label convergence as in the paper: measured for two raters, else inferred from alpha if there is a line."""
        return self.replicates.convergence

    @property
    def route(self) -> str:
        """Description of how `convergence` was obtained."""
        return self.replicates.route

    @property
    def interval(self) -> NDArray[np.float64]:
        """(2,) 95 % interval of `whole_convergence`; NaN for fewer than 50 images (see `interval_of_all`)."""
        return self.replicates.interval

    def summary(self) -> pd.DataFrame:
        """Return one row each for measured mAP, inferred mAP and alpha; see `Replicates.summary`."""
        return self.replicates.summary()

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each replicate and threshold: modified mAP and alpha."""
        return self.replicates.to_pandas()

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        found = 100 * self.whole_convergence
        interval = bracketed(100 * self.interval, ".2f", f"fewer than {FEWEST_IMAGES} images")
        return (
            f"label convergence {found:.2f} mAP@{self.whole.span} on all {number_of(self.images, 'image')}"
            f"{interval}, {self.route}{self._of_subsets}"
        )

    @property
    def _of_subsets(self) -> str:
        """Mean over the subsets, as text; empty if a subset has one image."""
        if self.images_per_replicate < 2:
            return ""
        subsets = f"{number_of(len(self.alpha), 'subset')} of {self.images_per_replicate:,} of them"
        return f"; {100 * self.convergence.mean:.2f} on average over {subsets}"

    def _table(self) -> pd.DataFrame:
        return self.summary()


Subsets = Annotated[
    int,
    Option(
        "Random subsets of the images",
        "How many subsets label convergence is computed on.",
        low=2,
        check=lambda value, name: check_replicates(value, name=name, least=2),
    ),
]
SomeSubsets = Annotated[int | None, Option("Subsets", "Number of subsets of each size; by default as drawn.", low=2)]
SubsetShares = Annotated[Sequence[float], Option("Shares", "Shares of the images in a subset.", above=0, below=1)]
Share = Annotated[
    float,
    Option(
        "Share of the images in each subset",
        "Intervals of subsets depend on their size; subsets in the paper have 500 images.",
        above=0,
        below=1,
    ),
]


@dataclass(frozen=True)
class CeilingSettings(Settings):
    """Settings of label convergence except the number of subsets."""

    fraction: Share = 0.1
    seed: Seed = 0
    _: KW_ONLY
    similarity: ComparedBy = "auto"
    thresholds: HitThresholds = THRESHOLDS
    ties: Ties = "coco"
    orders: Orders = 10
    solver: SolverName = PAPER_SOLVER
    cost: CostName = PAPER_COST
    line: GivenLine = None


@dataclass(frozen=True)
class Sampled(Settings):
    """Number of subsets."""

    samples: Subsets = 1000


@dataclass(frozen=True)
class ConvergenceSettings(CeilingSettings, Sampled):
    """Settings of `label_convergence`."""


@dataclass(frozen=True)
class ConvergenceArguments(ConvergenceSettings):
    """Arguments of `label_convergence`: its settings, precomputed pairs and a progress callback."""

    _: KW_ONLY
    pairs: Pairs | None = None
    progress: Callable[[float, str], None] | None = None


@takes(ConvergenceArguments)
def label_convergence(
    annotations: Annotations | Sharded[Annotations], settings: ConvergenceArguments
) -> LabelConvergence:
    """Compute the mAP that no model can be expected to exceed, given how raters differ (label convergence §4).

    Computes modified mAP and alpha on many random subsets of the images, drawn without replacement.

    * For two raters, the interval is that of modified mAP itself.
    * For more raters, no single modified mAP is defined. A line maps alpha to mAP; the mean over ordered pairs of
      raters is reported next to it.

    The published line belongs to the alpha of the default solver and cost on boxes, polygons and masks, and is used
    for no others. For volumes and keypoints only the mean over pairs of raters is reported.

    Annotations are matched once; a subset only accumulates the matches anew. Images without two assigned raters are
    never drawn.

    Parameters
    ----------
    annotations : Annotations, or shards of them
        As in `modified_map`.
    pairs : Pairs, optional
        As in `modified_map`.
    progress : callable, optional
        Called as ``progress(share, label)`` with the fraction completed and the next step. An exception from it ends
        the computation.

    Returns
    -------
    LabelConvergence

    Raises
    ------
    InputError
        As `modified_map`; if `fraction` leaves a subset empty, or some subsets have no annotations to compare.

    Examples
    --------
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10 - shift * (image % 3)]}
    ...     for image in range(200)
    ...     for rater, shift in (("ann", 0), ("bob", 2))
    ... ]
    >>> result = label_convergence(Annotations.from_rows(rows), samples=50, fraction=0.5, thresholds=(0.5, 0.75))
    >>> result.images_per_replicate, result.route
    (100, 'measured: modified mAP of both directions')
    >>> bool(result.interval[0] < result.whole_convergence < result.interval[1])
    True
    """
    known, measure = known_of(annotations, settings.pairs), measure_for(settings.similarity, kinds_of(annotations))
    chosen = settings.part(ConvergenceSettings, similarity=measure.name)
    usable, size = _drawn_from(known, chosen)
    tell, thresholds = settings.progress or no_progress, chosen.thresholds
    tell(0.0, f"Matching {number_of(len(known), 'annotation')}")

    def tell_threshold(index: int) -> None:
        share = index / len(thresholds)
        tell(MATCHED + (COUNTED - MATCHED) * share, f"Alpha at threshold {thresholds[index]:.3g}")

    alpha = chosen.part(AgreementSettings, threshold=thresholds[0], bootstrap=0, empty="count")
    told = None if isinstance(annotations, Sharded) else tell_threshold
    task = MatchTask(sent(measure), thresholds, chosen.ties, pairs=settings.pairs, alpha=alpha, tell=told)
    counted, image_alpha = count_in_orders(annotations, task, chosen.orders, chosen.seed, "Label convergence")
    drawn = _draw(usable, size, chosen.samples, np.random.default_rng(chosen.seed))
    halves = _draw(usable, len(usable) // 2, HALVES if len(usable) > 1 else 0, np.random.default_rng([chosen.seed, 1]))
    shapes = annotations.kinds if isinstance(annotations, Sharded) else annotations.shapes
    compared = {measure.kind} if measure.kind else set(shapes)
    of_paper = (chosen.solver, chosen.cost) == (PAPER_SOLVER, PAPER_COST) and compared <= PAPER_KINDS
    result = LabelConvergence(
        whole=map_of(counted, known, measure.name, np.array(thresholds), chosen.ties),
        drawn=drawn,
        images=len(usable),
        pair_map=_pair_map(counted, drawn, len(known.raters), tell),
        alpha=_mean_alpha(image_alpha, drawn),
        configuration=alpha,
        line=PUBLISHED_LINE if chosen.line is None and of_paper else chosen.line,
        fitted=None,
        usable=usable,
        image_alpha=image_alpha,
        halves_map=mean_of_directions(_pair_map(counted, halves, len(known.raters), no_progress)),
        halves_alpha=_mean_alpha(image_alpha, halves),
        counted=tuple(counted),
        settings=chosen,
    )
    _check_replicates(result)
    tell(1.0, "Done")
    return replace(result, fitted=result.replicates.fitted)


def _drawn_from(annotations: Annotations, settings: ConvergenceSettings) -> tuple[NDArray[np.intp], int]:
    """Images that subsets are drawn from, and images per subset; reads only the assignment of raters."""
    check_replicates(settings.samples, len(annotations.images), "samples", 2)
    usable = np.flatnonzero(usable_images(annotations))
    usable = usable[np.argsort(annotations.image_rank[usable])]  # same draw for any order of the table
    return usable, _subset_size(len(usable), settings.fraction)


def map_of_halves(annotations: Annotations, similarity: str) -> tuple[float, NDArray[np.float64]]:
    """Compute modified mAP of all images, mean over thresholds and directions, and (H,) the same on halves of them.

    Examples
    --------
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10 - shift * (image % 3)]}
    ...     for image in range(40)
    ...     for rater, shift in (("ann", 0), ("bob", 2))
    ... ]
    >>> whole, halves = map_of_halves(Annotations.from_rows(rows), "box_iou")
    >>> len(halves), bool(abs(whole - halves.mean()) < 0.1)
    (200, True)
    """
    task = MatchTask(similarity, THRESHOLDS, "coco")
    counted, _ = count_in_orders(annotations, task, 1, 0, "")
    usable, every = np.flatnonzero(usable_images(annotations)), len(annotations.raters)
    halves = _draw(usable, len(usable) // 2, HALVES if len(usable) > 1 else 0, np.random.default_rng(0))
    whole = mean_of_directions(_pair_map(counted, usable[None], every, no_progress)).mean()
    return float(whole), mean_of_directions(_pair_map(counted, halves, every, no_progress)).mean(axis=1)


def _check_replicates(result: LabelConvergence) -> None:
    size, samples = result.images_per_replicate, len(result.drawn)
    empty = int(np.isnan(result.map).any(axis=1).sum())
    if empty:
        raise InputError(
            f"fraction: expected subsets with annotations to compare, got {empty:,} of {samples:,} subsets of {size:,} "
            "images without any; choose a larger fraction"
        )


def _size_row(found: Replicates) -> SubsetSize:
    """Row of `LabelConvergence.by_size` for one subset size."""
    defined = np.asarray(np.isfinite(found.map).all(axis=1))
    kept = replace(found, map=found.map[defined], alpha=found.alpha[defined])
    if not defined.any():
        raise InputError(
            f"shares: expected subsets with annotations to compare, got {len(defined):,} subsets of "
            f"{found.images_per_replicate:,} images without any"
        )
    spread = kept.convergence
    about = {name: value for name, value in spread.row().items() if name not in ("mean", "min", "max")}
    return SubsetSize(
        share=found.images_per_replicate / found.images,
        images=found.images_per_replicate,
        subsets=int(defined.sum()),
        convergence=spread.mean,
        **about,
        map=kept.measured.mean,
        alpha=float(np.nanmean(kept.alpha)),
    )


def _whole_row(found: Replicates) -> SubsetSize:
    """Last row of `LabelConvergence.by_size`: all images at once."""
    assert found.whole_map is not None
    assert found.whole_alpha is not None
    unknown = float("nan")
    return SubsetSize(
        share=1.0,
        images=found.images,
        subsets=1,
        convergence=found.whole_convergence,
        std=unknown,
        low=float(found.interval[0]),
        high=float(found.interval[1]),
        percentile_low=unknown,
        percentile_high=unknown,
        map=float(found.whole_map.mean()),
        alpha=float(found.whole_alpha.mean()),
    )


def _as_subsets(drawn: NDArray[Any], images: int) -> NDArray[np.bool_]:
    """(B, n) codes -> (B, I) whether each image is in each subset."""
    subsets = np.zeros((len(drawn), images), np.bool_)
    subsets[np.arange(len(drawn))[:, None], drawn] = True
    return subsets


def _subset_size(images: int, share: float, name: str = "fraction") -> int:
    size = round(images * share)
    if size < 1:
        raise InputError(f"{name}: expected at least one image in a subset, got {share:g} of {images:,} images")
    return size


def _draw(images: NDArray[np.intp], size: int, samples: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """(B, n) ascending codes of the images in each subset, drawn without replacement."""
    drawn = np.empty((samples, size), np.int32)
    at_once = max(1, NUMBERS_AT_ONCE // len(images))
    for start in range(0, samples, at_once):
        rows = drawn[start : start + at_once]
        numbers = rng.random((len(rows), len(images)))
        rows[:] = images[np.argpartition(numbers, size - 1, axis=1)[:, :size]]
    drawn.sort(axis=1)
    return drawn


def _pair_map(
    counted: Sequence[Counted], drawn: NDArray[Any], raters: int, tell: Callable[[float, str], None]
) -> NDArray[np.float64]:
    """(B, T, R, R) modified mAP of each subset, mean over the orders of detections."""
    found = [np.zeros((0, len(counted[0].hit), raters, raters))]
    for start in range(0, len(drawn), AT_ONCE):
        tell(COUNTED + (1 - COUNTED) * start / len(drawn), f"Subset {start + 1:,} of {len(drawn):,}")
        part = _as_subsets(drawn[start : start + AT_ONCE], counted[0].images)
        found.append(np.mean([order.directions(part, raters) for order in counted], axis=0))
    return np.concatenate(found)


def _mean_alpha(image_alpha: NDArray[np.float64], drawn: NDArray[Any]) -> NDArray[np.float64]:
    """(I, T) -> (B, T) mean of the defined image alphas of each subset; NaN if there are none."""
    defined, alpha = np.isfinite(image_alpha).astype(np.float64), np.nan_to_num(image_alpha)
    means = np.empty((len(drawn), image_alpha.shape[1]))
    at_once = max(1, NUMBERS_AT_ONCE // len(image_alpha))
    for start in range(0, len(drawn), at_once):
        own = slice(start, start + at_once)
        subsets = _as_subsets(drawn[own], len(image_alpha)).astype(np.float64)
        times = subsets @ defined
        means[own] = (subsets @ alpha) / np.where(times, times, np.nan)
    return means
