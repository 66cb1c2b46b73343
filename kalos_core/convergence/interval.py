"""Label convergence: modified mAP and alpha on many subsets, the interval they span, and the line between them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Configuration, agreement
from kalos_core.annotations import Annotations
from kalos_core.convergence.counting import Counted
from kalos_core.convergence.modified import (
    SIZES,
    THRESHOLDS,
    ModifiedMap,
    Ties,
    annotations_in_size,
    check_thresholds,
    comparable_pairs,
    count_in_orders,
    mean_of_directions,
    modified_map,
    usable_images,
)
from kalos_core.convergence.regression import PUBLISHED_LINE, Line
from kalos_core.convergence.replicates import Replicates
from kalos_core.convergence.spread import Spread
from kalos_core.errors import InputError, KalosWarning, as_number, check_whole
from kalos_core.pairs import Pairs
from kalos_core.similarity import Rows, Similarity, get_similarity

if TYPE_CHECKING:
    import pandas as pd

FEW_IMAGES = 100
"""Images of a replicate below which its interval is too wide to be set next to the paper's."""

MATCHED, COUNTED = 0.1, 0.4
"""Share of the work done when annotations are matched, and when every image has its alpha."""

AT_ONCE = 50
"""Subsets between two words of progress."""

PAPER_SOLVER, PAPER_COST = "shm", "neg"
"""Solver and cost of the alpha of the paper's Appendix B, to which its line belongs."""


@dataclass(frozen=True, eq=False)
class LabelConvergence:
    """The result of `label_convergence`. B replicates of n images, T thresholds, R raters.

    Parameters
    ----------
    whole : ModifiedMap
        On all images.
    drawn : (B, n) int
        Codes of the images of every replicate, ascending.
    images : int
        From how many they were drawn: those that two raters are assigned to.
    pair_map : (B, T, R, R) float64
        Modified mAP of every replicate: rater of the row as ground truth, of the column as detections.
    alpha : (B, T) float64
        Mean image alpha of every replicate.
    configuration : Configuration
        Of `alpha`, at the first threshold.
    line : Line or None
        What mAP is inferred from alpha with; None if no line belongs to this alpha.
    fitted : Line or None
        Fitted on all replicates and thresholds; None for more than two raters, who have no one mAP to fit, and where
        alpha is the same everywhere.

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
    >>> result.convergence.position(0.1)
    'below'
    """

    whole: ModifiedMap
    drawn: NDArray[np.intp]
    images: int
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
    def images_per_replicate(self) -> int:
        """n, to which the width of the intervals belongs."""
        return int(self.drawn.shape[1])

    @property
    def map(self) -> NDArray[np.float64]:
        """(B, T) mean of both directions; for more than two raters the mean over all ordered pairs of raters."""
        return mean_of_directions(self.pair_map)

    @property
    def replicates(self) -> Replicates:
        """What every number below comes from, without annotations; over some of the thresholds, see its `between`."""
        return Replicates(
            thresholds=self.thresholds,
            map=self.map,
            alpha=self.alpha,
            raters=len(self.whole.raters),
            images=self.images,
            images_per_replicate=self.images_per_replicate,
            configuration=self.configuration,
            line=self.line,
        )

    @property
    def measured(self) -> Spread:
        """As of `Replicates`."""
        return self.replicates.measured

    @property
    def inferred(self) -> Spread | None:
        """As of `Replicates`."""
        return self.replicates.inferred

    def inferred_with(self, line: Line) -> Spread:
        """As of `Replicates`."""
        return self.replicates.inferred_with(line)

    @property
    def convergence(self) -> Spread:
        """The paper's number: measured for two raters, inferred from alpha for more, if there is a line."""
        return self.replicates.convergence

    @property
    def route(self) -> str:
        """How `convergence` was obtained, for people."""
        return self.replicates.route

    @property
    def interval(self) -> NDArray[np.float64]:
        """(2,) of `convergence`."""
        return self.convergence.interval

    def summary(self) -> pd.DataFrame:
        """A row each for measured mAP, inferred mAP and alpha: see `Replicates`."""
        return self.replicates.summary()

    def to_pandas(self) -> pd.DataFrame:
        """One row for each replicate and threshold: modified mAP and alpha."""
        import pandas as pd

        replicates, thresholds = self.alpha.shape
        return pd.DataFrame(
            {
                "replicate": np.repeat(np.arange(replicates), thresholds),
                "threshold": np.tile(self.thresholds, replicates),
                "map": self.map.ravel(),
                "alpha": self.alpha.ravel(),
            }
        )

    def __str__(self) -> str:
        found = self.convergence
        low, high = found.interval
        return (
            f"label convergence {100 * found.mean:.2f} [{100 * low:.2f}, {100 * high:.2f}] mAP@{self.whole.span}, "
            f"{self.route}; {len(self.alpha):,} subsets of {self.images_per_replicate:,} of {self.images:,} images"
        )


def label_convergence(
    annotations: Annotations,
    samples: int = 1000,
    fraction: float = 0.1,
    seed: int = 0,
    *,
    similarity: str | Similarity | Rows = "box_iou",
    thresholds: Sequence[float] | NDArray[np.float64] = THRESHOLDS,
    ties: Ties = "coco",
    orders: int = 10,
    solver: str = PAPER_SOLVER,
    cost: str = PAPER_COST,
    line: Line | None = None,
    pairs: Pairs | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> LabelConvergence:
    """The mAP that no model can be expected to pass, given how the raters differ (label convergence §4).

    Modified mAP and alpha on many random subsets of the images, drawn without replacement. Two raters: the interval of
    modified mAP itself. More: modified mAP of all raters is not defined, so mAP is inferred from alpha with a line; the
    mean over ordered pairs of raters stands next to it. Annotations are matched once; a subset only accumulates anew.

    Parameters
    ----------
    annotations : Annotations
    samples : int, at least 2
    fraction : float in (0, 1)
        Share of the images in a subset. Images that were not given to two raters are never drawn.
    seed : int
    similarity, thresholds, ties, orders, pairs
        As in `modified_map`.
    solver, cost
        Of alpha. The published line belongs to the defaults and is used with no others.
    line : Line, optional
        Fitted elsewhere (`fitted` of another result); by default the published one.
    progress : callable, optional
        ``progress(share, label)``: the share of the work that is done, and what comes next. What it raises ends the
        work.

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
        As `modified_map`; for a fraction that leaves a subset empty, or subsets without any annotation to compare.

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
    measure, checked = get_similarity(similarity), check_thresholds(thresholds)
    samples, seed = check_whole(samples, "samples", least=2), check_whole(seed, "seed")
    if not (line is None or isinstance(line, Line)):
        raise InputError(f"line: expected a Line, such as `fitted` of another result, got {line!r}")
    usable = np.flatnonzero(usable_images(annotations))
    usable = usable[np.argsort(annotations.image_rank[usable])]  # drawn alike in whatever order the table is
    drawn = _draw(usable, _subset_size(len(usable), fraction), samples, np.random.default_rng(seed))
    subsets = np.zeros((samples, len(annotations.images)), np.bool_)
    subsets[np.arange(samples)[:, None], drawn] = True
    tell = progress or _tell_nobody
    tell(0.0, f"Matching {len(annotations):,} annotations")
    pairs = comparable_pairs(annotations, measure, checked, pairs)
    in_size = annotations_in_size(annotations, measure, SIZES["all"])
    counted = count_in_orders(annotations, pairs, checked, ties, in_size, orders, seed)
    image_alpha = _image_alpha(annotations, measure, checked, solver, cost, pairs, tell)
    of_paper = (solver, cost) == (PAPER_SOLVER, PAPER_COST)
    result = LabelConvergence(
        whole=modified_map(annotations, measure, checked, ties, orders=orders, seed=seed, pairs=pairs),
        drawn=drawn,
        images=len(usable),
        pair_map=_pair_map(counted, subsets, len(annotations.raters), tell),
        alpha=_mean_alpha(image_alpha, subsets),
        configuration=Configuration(measure.name, float(checked[0]), solver, cost, 0, seed),
        line=line if line is not None else PUBLISHED_LINE if of_paper else None,
        fitted=None,
    )
    _check_replicates(result)
    tell(1.0, "Done")
    return replace(result, fitted=result.replicates.fitted)


def _check_replicates(result: LabelConvergence) -> None:
    size, samples = result.images_per_replicate, len(result.drawn)
    empty = int(np.isnan(result.map).any(axis=1).sum())
    if empty:
        raise InputError(
            f"fraction: expected subsets with annotations to compare, got {empty:,} of {samples:,} subsets of {size:,} "
            "images without any; choose a larger fraction"
        )
    if size < FEW_IMAGES:
        warnings.warn(
            f"a subset has {size:,} images: its interval is wider than one of {FEW_IMAGES} or more would be; compare "
            "means, not widths, with intervals of larger subsets",
            KalosWarning,
            stacklevel=3,
        )


def _subset_size(images: int, fraction: object) -> int:
    share = as_number(fraction)
    if share is None or not 0 < share < 1:
        raise InputError(f"fraction: expected a share of the images between 0 and 1, got {fraction!r}")
    size = round(images * share)
    if size < 1:
        raise InputError(f"fraction: expected at least one image in a subset, got {share:g} of {images:,} images")
    return size


def _draw(images: NDArray[np.intp], size: int, samples: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """(B, n) images of every subset, drawn without replacement, ascending."""
    chosen = np.argpartition(rng.random((samples, len(images))), size - 1, axis=1)[:, :size]
    return np.sort(images[chosen], axis=1)


def _image_alpha(
    annotations: Annotations,
    measure: Similarity,
    checked: NDArray[np.float64],
    solver: str,
    cost: str,
    pairs: Pairs,
    tell: Callable[[float, str], None],
) -> NDArray[np.float64]:
    """(I, T) alpha of every image at every threshold."""
    columns = []
    for index, threshold in enumerate(checked.tolist()):
        tell(MATCHED + (COUNTED - MATCHED) * index / len(checked), f"Alpha at threshold {threshold:.3g}")
        columns.append(agreement(annotations, measure, threshold, solver, cost, bootstrap=0, pairs=pairs).image_alpha)
    return np.stack(columns, axis=1)


def _pair_map(
    counted: Sequence[Counted], subsets: NDArray[np.bool_], raters: int, tell: Callable[[float, str], None]
) -> NDArray[np.float64]:
    """(B, T, R, R) modified mAP of every subset, mean over the orders of detections."""
    found = []
    for start in range(0, len(subsets), AT_ONCE):
        tell(COUNTED + (1 - COUNTED) * start / len(subsets), f"Subset {start + 1:,} of {len(subsets):,}")
        part = subsets[start : start + AT_ONCE]
        found.append(np.mean([order.directions(part, raters) for order in counted], axis=0))
    return np.concatenate(found)


def _tell_nobody(share: float, label: str) -> None:
    """Progress that nobody wants."""


def _mean_alpha(image_alpha: NDArray[np.float64], subsets: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(I, T) -> (B, T) mean of the defined image alphas of each subset; NaN without any."""
    drawn = subsets.astype(np.float64)
    defined = np.isfinite(image_alpha)
    times = drawn @ defined
    return np.asarray((drawn @ np.nan_to_num(image_alpha)) / np.where(times, times, np.nan))
