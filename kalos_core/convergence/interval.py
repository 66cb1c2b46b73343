"""Label convergence: modified mAP and alpha on many subsets, the interval they span, and the line between them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.agreement import Configuration, agreement
from kalos_core.annotations import Annotations
from kalos_core.convergence.counting import count
from kalos_core.convergence.modified import (
    THRESHOLDS,
    ModifiedMap,
    Ties,
    both_directions,
    check_thresholds,
    comparable_pairs,
    modified_map,
)
from kalos_core.convergence.regression import PUBLISHED, Line, fit_line
from kalos_core.errors import InputError, KalosWarning, as_number, check_whole
from kalos_core.pairs import Pairs
from kalos_core.similarity import Rows, Similarity, get_similarity

if TYPE_CHECKING:
    import pandas as pd

FEW_IMAGES = 100
"""Images of a replicate below which its interval is too wide to be set beside the paper's."""

PAPER_SOLVER, PAPER_COST = "shm", "neg"
"""Solver and cost of the alpha of the paper's Appendix B, to which its line belongs."""

Z = 1.96
"""Standard deviations on either side of the mean that hold 95 % of a normal distribution."""


@dataclass(frozen=True, eq=False)
class Spread:
    """B replicates of one figure, as in Table 3 of the paper."""

    replicates: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean of the replicates."""
        return float(self.replicates.mean())

    @property
    def std(self) -> float:
        """Their standard deviation (of the sample)."""
        return float(self.replicates.std(ddof=1)) if len(self.replicates) > 1 else float("nan")

    @property
    def least(self) -> float:
        """The least."""
        return float(self.replicates.min())

    @property
    def greatest(self) -> float:
        """The greatest."""
        return float(self.replicates.max())

    @property
    def interval(self) -> NDArray[np.float64]:
        """(2,) mean - and + 1.96 standard deviations, as the paper's."""
        return np.array([self.mean - Z * self.std, self.mean + Z * self.std])

    @property
    def percentiles(self) -> NDArray[np.float64]:
        """(2,) the 2.5th and 97.5th percentile."""
        return np.asarray(np.percentile(self.replicates, (2.5, 97.5)))

    def place(self, value: float) -> Literal["below", "inside", "above"]:
        """Where a value lies towards the interval.

        Examples
        --------
        >>> Spread(np.array([0.4, 0.5, 0.6])).place(0.8)
        'above'
        """
        low, high = self.interval
        return "below" if value < low else "above" if value > high else "inside"


@dataclass(frozen=True, eq=False)
class LabelConvergence:
    """The result of `label_convergence`. B replicates, T thresholds, R raters.

    Parameters
    ----------
    whole : ModifiedMap
        On all images.
    images_per_replicate : int
    fraction : float
    pair_map : (B, T, R, R) float64
        Modified mAP of every replicate: rater of the line as ground truth, of the column as detections.
    alpha : (B, T) float64
        Mean image alpha of every replicate.
    configuration : Configuration
        Of `alpha`; its threshold is replaced by each of the thresholds.
    line : Line or None
        The line that mAP is inferred with; None if there is none that belongs to this alpha.
    fitted : Line or None
        Fitted on all replicates and thresholds; only two raters have one mAP to fit.
    """

    whole: ModifiedMap
    images_per_replicate: int
    fraction: float
    pair_map: NDArray[np.float64]
    alpha: NDArray[np.float64]
    configuration: Configuration
    line: Line | None
    fitted: Line | None

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """(T,) as of `whole`."""
        return self.whole.thresholds

    @property
    def map(self) -> NDArray[np.float64]:
        """(B, T) mean of both directions; for more than two raters the mean over all ordered pairs of raters."""
        if self.pair_map.shape[-1] == 2:
            return both_directions(self.pair_map)
        defined = np.isfinite(self.pair_map)
        return np.asarray(np.nansum(self.pair_map, axis=(2, 3)) / defined.sum(axis=(2, 3)))

    @property
    def measured(self) -> Spread:
        """Modified mAP, mean over the thresholds: what the interval of two raters is made of."""
        return Spread(self.map.mean(axis=1))

    @property
    def inferred(self) -> Spread | None:
        """mAP inferred from alpha with `line`: what the interval of more than two raters is made of."""
        return None if self.line is None else Spread(self.line.map_of(self.alpha).mean(axis=1))

    @property
    def convergence(self) -> Spread:
        """The paper's figure: measured for two raters, inferred from alpha for more."""
        inferred = self.inferred
        return self.measured if len(self.whole.raters) == 2 or inferred is None else inferred

    @property
    def route(self) -> str:
        """How `convergence` came about, for people."""
        if len(self.whole.raters) == 2 or self.line is None:
            return "measured: modified mAP of both directions"
        return f"inferred from alpha with {self.line.source}"

    @property
    def interval(self) -> NDArray[np.float64]:
        """(2,) of `convergence`."""
        return self.convergence.interval

    def to_pandas(self) -> pd.DataFrame:
        """One row for each replicate and threshold: modified mAP and alpha."""
        import pandas as pd

        replicates, levels = self.alpha.shape
        return pd.DataFrame(
            {
                "replicate": np.repeat(np.arange(replicates), levels),
                "threshold": np.tile(self.thresholds, replicates),
                "map": self.map.ravel(),
                "alpha": self.alpha.ravel(),
            }
        )

    def __str__(self) -> str:
        found = self.convergence
        low, high = found.interval
        return (
            f"label convergence {100 * found.mean:.2f} [{100 * low:.2f}, {100 * high:.2f}] mAP@{self.whole._span}, "
            f"{self.route}; {len(self.alpha):,} subsets of {self.images_per_replicate:,} images"
        )


def label_convergence(
    annotations: Annotations,
    samples: int = 1000,
    fraction: float = 0.1,
    seed: int = 0,
    *,
    similarity: str | Similarity | Rows = "box_iou",
    thresholds: Sequence[float] = THRESHOLDS,
    ties: Ties = "coco",
    solver: str = PAPER_SOLVER,
    cost: str = PAPER_COST,
    line: Line | None = None,
    pairs: Pairs | None = None,
) -> LabelConvergence:
    """The mAP that no model can be expected to pass, given how the raters differ (label convergence §4).

    Modified mAP and alpha on many random subsets of the images, drawn without replacement. Two raters: the interval of
    modified mAP itself. More: modified mAP of all raters is not defined, so mAP is inferred from alpha with a line.
    Marks are matched once; a subset only accumulates anew.

    Parameters
    ----------
    annotations : Annotations
    samples : int, at least 2
    fraction : float in (0, 1)
        Share of the images in a subset.
    seed : int
    similarity, thresholds, ties, pairs
        As in `modified_map`.
    solver, cost
        Of alpha. The published line belongs to the defaults and is used with no others.
    line : Line, optional
        Fitted elsewhere (`fitted` of another result); by default the published one.

    Returns
    -------
    LabelConvergence

    Warns
    -----
    KalosWarning
        If a subset has fewer than 100 images: intervals belong to subsets of their size, so compare means, not widths.

    Raises
    ------
    InputError
        As `modified_map`; for a fraction that leaves a subset empty, or subsets without any class to compare.

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
    >>> bool(result.interval[0] < result.convergence.mean < result.interval[1])
    True
    """
    measure = get_similarity(similarity)
    samples, seed = check_whole(samples, "samples", least=2), check_whole(seed, "seed")
    levels = check_thresholds(thresholds)
    size = _subset_size(len(annotations.images), fraction)
    pairs = comparable_pairs(annotations, measure, float(levels.min()), pairs)
    whole = modified_map(annotations, measure, tuple(levels), ties, seed=seed, pairs=pairs)
    configuration = Configuration(measure.name, float(levels[0]), solver, cost, 0, seed)
    by_threshold = [
        agreement(annotations, measure, float(level), solver, cost, bootstrap=0, pairs=pairs) for level in levels
    ]
    rng = np.random.default_rng(seed)
    subsets = _draw_subsets(len(annotations.images), size, samples, rng)
    raters = len(annotations.raters)
    counted = count(annotations, pairs, levels, ties, np.ones(len(annotations), np.bool_), rng)
    pair_map = np.stack([counted.by_direction(precision, raters) for precision in counted.precision(subsets)])
    alpha = _mean_alpha(np.stack([result.image_alpha for result in by_threshold], axis=1), subsets)
    of_paper = (solver, cost) == (PAPER_SOLVER, PAPER_COST)
    result = LabelConvergence(
        whole=whole,
        images_per_replicate=size,
        fraction=float(fraction),
        pair_map=pair_map,
        alpha=alpha,
        configuration=configuration,
        line=line if line is not None else PUBLISHED if of_paper else None,
        fitted=None,
    )
    empty = int(np.isnan(result.map).any(axis=1).sum())
    if empty:
        raise InputError(
            f"fraction: expected subsets in which raters can be compared, got {empty:,} of {samples:,} subsets of "
            f"{size:,} images without a mark to compare; choose a larger fraction than {fraction:g}"
        )
    if size < FEW_IMAGES:
        warnings.warn(
            f"a subset has {size:,} images: its interval is wider than one of {FEW_IMAGES} or more would be; compare "
            "means, not widths, with intervals of larger subsets",
            KalosWarning,
            stacklevel=2,
        )
    if raters > 2:
        return result
    source = f"fitted on {samples:,} subsets x {len(levels)} thresholds, α = {configuration.notation}"
    return replace(result, fitted=fit_line(alpha.ravel(), result.map.ravel(), source))


def _subset_size(images: int, fraction: object) -> int:
    share = as_number(fraction)
    if share is None or not 0 < share < 1:
        raise InputError(f"fraction: expected a share of the images between 0 and 1, got {fraction!r}")
    size = round(images * share)
    if size < 1:
        raise InputError(f"fraction: expected at least one image in a subset, got {share:g} of {images} images")
    return size


def _draw_subsets(images: int, size: int, samples: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(B, I) subsets of the same size, drawn without replacement."""
    chosen = np.argpartition(rng.random((samples, images)), size - 1, axis=1)[:, :size]
    subsets = np.zeros((samples, images), np.bool_)
    subsets[np.arange(samples)[:, None], chosen] = True
    return subsets


def _mean_alpha(image_alpha: NDArray[np.float64], subsets: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(I, T) -> (B, T) mean of the defined image alphas of each subset; NaN without any."""
    drawn = subsets.astype(np.float64)
    defined = np.isfinite(image_alpha)
    times = drawn @ defined
    return np.asarray((drawn @ np.nan_to_num(image_alpha)) / np.where(times, times, np.nan))
