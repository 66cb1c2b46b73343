"""Bootstrap replicates of the areas of detectors: images are resampled with all their pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import divide
from kalos_core.errors import check_whole
from kalos_core.limits import check_replicates
from kalos_core.ranking.skew import NEAR, NODES, by_logarithm, mean_precision
from kalos_core.resampling import Draws, WeightedSums

RULES = ((0.8, 3), (0.5, 5), (0.2, 10), (0.0, NODES))
"""(share, points): number of Gauss-Legendre points for a segment whose rates start at no less than this share of their
ends."""

DIGITS = 12
"""Number of decimals of an area; the order of summation only changes later decimals."""

TINY = 1e-300
"""Replaces a ratio FPR / TPR of 0, so that precision is 1 to the last bit."""


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Non-zero pixel counts of one image under one truth by detector and level.

    Parameters
    ----------
    place : (n,) uint32
        Flat index of a count in an array (2, S, L): positives before negatives, levels ascending.
    count : (n,) uint32
    """

    place: NDArray[np.uint32]
    count: NDArray[np.uint32]

    @classmethod
    def of(cls, positives: NDArray[np.integer], negatives: NDArray[np.integer]) -> LevelCounts:
        """Return the non-zero counts of positives and negatives (S, L).

        Examples
        --------
        >>> LevelCounts.of(np.array([[0, 2]]), np.array([[1, 0]])).place.tolist()
        [1, 2]
        """
        both = np.stack([positives, negatives]).ravel()
        place = np.flatnonzero(both)
        return cls(place.astype(np.uint32), both[place].astype(np.uint32))


def area_replicates(
    images: Sequence[Any],
    counts: Sequence[Sequence[LevelCounts | None]],
    detectors: int,
    levels: int,
    skew: Sequence[float],
    bootstrap: int = 1000,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return the (B, T, S) areas under every truth in each replicate, all from the same draws of images.

    Draws are from all images, sorted by the text of their ids. The range of skew, and values estimated over all images
    such as the outliers, are the same in every replicate.

    Parameters
    ----------
    images : (I,) sequence
        Ids.
    counts : (T, I) sequence of sequence of LevelCounts or None
        None if a truth does not have the image.
    detectors, levels : int
        S and L.
    skew : (2,) float
    bootstrap : int
        B replicates; 0 for none.
    seed : int

    Returns
    -------
    (B, T, S) float64
        `curve_area` of the counts of the images drawn, to about 1e-7; NaN without a positive, or a negative.

    Raises
    ------
    InputError
        For an invalid number of replicates or seed, or more images to draw than the limit.

    Examples
    --------
    Four draws of two images, with a detector that is right on the first image and wrong on the second. A draw contains
    both images, the first image twice, or the second twice:

    >>> right = LevelCounts.of(np.array([[0, 1]]), np.array([[1, 0]]))
    >>> wrong = LevelCounts.of(np.array([[1, 0]]), np.array([[0, 1]]))
    >>> area_replicates([1, 2], [[right, wrong]], 1, 2, (0.5, 0.5), bootstrap=4).ravel().round(3).tolist()
    [0.307, 0.5, 1.0, 1.0]
    """
    replicates, seed = check_replicates(bootstrap, len(images)), check_whole(seed, "seed")
    order = sorted(range(len(images)), key=lambda at: repr(images[at]))
    drawn = Draws(np.arange(len(images)), replicates, seed)
    areas = np.empty((replicates, len(counts), detectors))
    for truth, of_truth in enumerate(counts if replicates else ()):
        sums = _sums([of_truth[at] for at in order], detectors * levels)
        tables = (sums.sums(times.T).reshape(2, detectors, levels, -1) for times in drawn)
        areas[:, truth] = np.concatenate([_areas(table, skew) for table in tables])
    return areas


def _sums(counts: Sequence[LevelCounts | None], size: int) -> WeightedSums:
    """Return weighted sums over images of their counts (2, S, L), as 2 * size columns."""
    entries = [
        (each.place, np.full(len(each.place), line), each.count) for line, each in enumerate(counts) if each is not None
    ]
    return WeightedSums(entries, 2 * size, len(counts))


def _areas(counts: NDArray[np.float64], skew: Sequence[float]) -> NDArray[np.float64]:
    """Return the (B, S) areas under the curves of the counts (2, S, L, B) of the images drawn."""
    areas = np.full((counts.shape[3], counts.shape[1]), np.nan)
    for detector, (positives, negatives) in enumerate(counts.swapaxes(0, 1)):
        levels = np.flatnonzero(positives.any(axis=1))[::-1]  # where the curve rises, from the highest level down
        if not len(levels):
            continue
        found = np.cumsum(positives[levels], axis=0)
        wrong = np.cumsum(negatives[::-1], axis=0)[::-1]  # at a level or above it
        tpr, fpr = divide(found, found[-1:]), divide(wrong, wrong[:1])
        before = divide(wrong - negatives, wrong[:1])
        tpr, before, fpr = (np.ascontiguousarray(rates.T) for rates in (tpr, before[levels], fpr[levels]))
        areas[:, detector] = _area(tpr, before, fpr, skew)
    return areas


def _area(
    tpr: NDArray[np.float64], before: NDArray[np.float64], fpr: NDArray[np.float64], skew: Sequence[float]
) -> NDArray[np.float64]:
    """Return the (B,) areas under curves (B, L) as `curve_area`, with the fewest points that suffice per segment.

    A segment runs from the last TPR and the FPR `before` it to its own TPR and FPR. Each segment is computed
    independently, and areas are rounded, so that equal curves tie.
    """
    steps, ends = (np.diff(tpr, axis=1, prepend=0.0), fpr - before), (tpr, fpr)
    rises = steps[0] > 0
    shares = (
        np.divide(step, end, out=np.zeros(tpr.shape), where=rises & (end > 0))
        for step, end in zip(steps, ends, strict=True)
    )
    start = np.where(rises, 1 - np.maximum(*shares), np.nan)
    area, below = np.zeros(len(tpr)), np.inf
    for bound, nodes in RULES:
        served = (start >= bound) & (start < below)
        chosen = np.flatnonzero(served.any(axis=0))
        below = bound
        step, wider, end, wrong = (rates[:, chosen] for rates in (*steps, *ends))
        for back, weight in zip(*_rule(nodes), strict=True):
            precision = _precision(end - back * step, wrong - back * wider, skew)
            area += np.where(served[:, chosen], weight * step * precision, 0.0).sum(axis=1)
    return np.asarray(np.where(np.isnan(tpr[:, -1] + fpr[:, -1]), np.nan, area.round(DIGITS)))


@lru_cache
def _rule(nodes: int) -> tuple[list[float], list[float]]:
    """Return the nodes, as relative distances from the end of a segment, and the weights."""
    node, weight = np.polynomial.legendre.leggauss(nodes)
    share, weight = (node + 1) / 2, weight / 2
    if nodes == NODES:  # denser at the start of a segment, where the curve is steep
        share, weight = share**2, 2 * weight * share
    return (1 - share).tolist(), weight.tolist()


def _precision(found: NDArray[np.float64], wrong: NDArray[np.float64], skew: Sequence[float]) -> NDArray[np.float64]:
    """Compute `mean_precision` faster where anything is found; other values are arbitrary and unused."""
    low, high = skew
    if low == high:
        return mean_precision(found, wrong, skew)
    with np.errstate(all="ignore"):
        ratio = np.maximum(wrong / found, TINY)
        precision = by_logarithm(1.0, ratio, low, high)
        near = np.isfinite(ratio) & (np.abs(1 - ratio) * high <= NEAR * ratio)
    if near.any():
        precision[near] = mean_precision(1.0, ratio[near], skew)
    return precision
