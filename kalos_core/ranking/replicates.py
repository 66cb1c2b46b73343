"""Areas of detectors in bootstrap replicates: images drawn with replacement, each with all its pixels."""

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
"""Points of the Gauss-Legendre rule for a segment where both rates start at no less than that share of their ends."""

DIGITS = 12
"""Decimals of an area: sums in another order differ after them."""

TINY = 1e-300
"""False alarms for each find, where there are none: precision is 1 to the last bit."""


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """Pixels of one image under one truth by detector and level, without the zeros.

    Parameters
    ----------
    place : (n,) uint32
        Of a count in an array (2, S, L): positives before negatives, levels ascending.
    count : (n,) uint32
    """

    place: NDArray[np.uint32]
    count: NDArray[np.uint32]

    @classmethod
    def of(cls, positives: NDArray[np.integer], negatives: NDArray[np.integer]) -> LevelCounts:
        """From the counts (S, L) of both.

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
    """(B, T, S) areas under every truth in each replicate, all from the same draws of images.

    Drawn from are all images, in the order of their ids as text. The range of skew stays that of all of them, and so
    does what was estimated over all of them, such as who is an outlier.

    Parameters
    ----------
    images : (I,) sequence
        Ids.
    counts : (T, I) sequence of sequence of LevelCounts or None
        None where a truth does not know the image.
    detectors, levels : int
        S and L.
    skew : (2,) float
    bootstrap : int
        B replicates; 0 for none.
    seed : int

    Returns
    -------
    (B, T, S) float64
        As `curve_area` of the counts of the images drawn, to about 1e-7; NaN without a positive, or a negative.

    Raises
    ------
    InputError
        For a number of replicates or a seed that is none, or more images to draw than the limit.

    Examples
    --------
    A detector that is right on the first image and wrong on the second; drawn are both, the second twice, or the first
    twice, four times in all:

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
    """Sums over images of the counts (2, S, L) of each, as 2 * size columns."""
    entries = [
        (each.place, np.full(len(each.place), line), each.count) for line, each in enumerate(counts) if each is not None
    ]
    return WeightedSums(entries, 2 * size, len(counts))


def _areas(counts: NDArray[np.float64], skew: Sequence[float]) -> NDArray[np.float64]:
    """(B, S) area under the curve of the counts (2, S, L, B) of the images drawn."""
    areas = np.full((counts.shape[3], counts.shape[1]), np.nan)
    for detector, (positives, negatives) in enumerate(counts.swapaxes(0, 1)):
        levels = np.flatnonzero(positives.any(axis=1))[::-1]  # where a curve rises, from the highest down
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
    """(B,) area under curves (B, L) as `curve_area`, each segment by the fewest points that serve it.

    A segment runs from the last TPR and the FPR `before` it to its own TPR and FPR. What is done to it depends on
    nothing else, and areas are rounded, so that curves that are equal tie.
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
    """How far before the end of a segment precision is computed, as a share of it, and the weights."""
    node, weight = np.polynomial.legendre.leggauss(nodes)
    share, weight = (node + 1) / 2, weight / 2
    if nodes == NODES:  # dense where a segment starts: there it is steep
        share, weight = share**2, 2 * weight * share
    return (1 - share).tolist(), weight.tolist()


def _precision(found: NDArray[np.float64], wrong: NDArray[np.float64], skew: Sequence[float]) -> NDArray[np.float64]:
    """As `mean_precision` where anything is found, in fewer steps; what it answers elsewhere counts for nothing."""
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
