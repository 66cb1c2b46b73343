"""Average precision of groups of detections, at 101 recall points, as COCO computes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import total

RECALL = np.linspace(0, 1, 101)
"""Recall points at which precision is read."""


def average_precision(
    group: NDArray[np.intp], hit: NDArray[np.bool_], counts: NDArray[np.bool_], positives: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(T, G) AP of G groups at T thresholds; NaN for a group without ground truth.

    Precision at a recall is the best at that recall or beyond. It only changes where a detection hits: with the k-th
    hit of P marks at place n, precision is k / n and recall k / P, and the recall points from (k - 1) / P to k / P
    read the best precision from there on.

    Parameters
    ----------
    group : (D,) int, ascending
        Group of each detection; within a group in the order they are taken.
    hit : (T, D) bool
    counts : (T, D) bool
        False where a detection counts neither for nor against.
    positives : (G,) int
        P, the marks of the ground truth of each group.

    Examples
    --------
    Two marks; the first and the third detection hit: precision 1 up to recall 1/2, then 2/3.

    >>> ap = average_precision(np.zeros(3, int), np.array([[True, False, True]]), np.ones((1, 3), bool), np.array([2]))
    >>> round(float(ap[0, 0]), 6) == round((51 + 50 * 2 / 3) / 101, 6)
    True
    """
    levels, groups = len(hit), len(positives)
    first = np.searchsorted(group, np.arange(groups))[group]
    n = _running(counts, first)
    k = _running(hit & counts, first)
    level, place = np.nonzero(hit & counts)
    of_group = group[place]
    precision = k[level, place] / n[level, place]
    segment = level * groups + of_group
    best = _best_from_here(precision, segment)
    share = k[level, place] / positives[of_group]
    before = (k[level, place] - 1) / positives[of_group]
    points = np.searchsorted(RECALL, share, side="right") - np.where(
        k[level, place] == 1, 0, np.searchsorted(RECALL, before, side="right")
    )
    ap = total(segment, best * points, levels * groups).reshape(levels, groups) / len(RECALL)
    ap[:, positives == 0] = np.nan
    return ap


def _running(flags: NDArray[np.bool_], first: NDArray[np.intp]) -> NDArray[np.intp]:
    """(T, D) how many are set from the first of the group on, this one with them."""
    sums = np.cumsum(flags, axis=1, dtype=np.intp)
    before = np.concatenate([np.zeros((len(flags), 1), np.intp), sums], axis=1)
    return sums - before[:, first]


def _best_from_here(values: NDArray[np.float64], segment: NDArray[np.intp]) -> NDArray[np.float64]:
    """(M,) greatest of the values from each to the end of its segment; segments are runs."""
    best, step = values.copy(), 1
    longest = int(np.bincount(np.unique(segment, return_inverse=True)[1]).max(initial=0))
    while step < longest:
        same = segment[step:] == segment[:-step]
        best[:-step] = np.where(same, np.maximum(best[:-step], best[step:]), best[:-step])
        step *= 2
    return best


def single_point_precision(
    group: NDArray[np.intp], hit: NDArray[np.bool_], counts: NDArray[np.bool_], positives: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(T, G) AP where all detections of a group enter at once: one precision, up to one recall; else as above."""
    levels, groups = len(hit), len(positives)
    level = np.arange(levels)[:, None] * groups
    hits = np.bincount((level + group)[hit & counts], minlength=levels * groups).reshape(levels, groups)
    all_ = np.bincount((level + group)[counts], minlength=levels * groups).reshape(levels, groups)
    share = hits / np.where(positives, positives, np.nan)
    points = np.where(hits > 0, np.searchsorted(RECALL, share, side="right"), 0)
    return np.where(positives > 0, hits / np.maximum(all_, 1) * points / len(RECALL), np.nan)
