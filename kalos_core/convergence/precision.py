"""Average precision of groups of detections, at 101 recall points, as COCO computes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs, run_starts, total

RECALL = np.linspace(0, 1, 101)
"""Recall points at which precision is read."""


def average_precision(
    group: NDArray[np.intp], hit: NDArray[np.bool_], counts: NDArray[np.bool_] | None, positives: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(T, G) AP of G groups at T thresholds; NaN for a group without ground truth.

    Precision at a recall is the best at that recall or beyond. It only changes where a detection hits: with the k-th
    hit of P annotations at position n, precision is k / n and recall k / P, and the recall points from (k - 1) / P to k
    / P read the best precision from there on.

    Parameters
    ----------
    group : (D,) int, ascending
        Group of each detection; within a group in the order they are taken.
    hit : (T, D) bool
    counts : (T, D) bool, optional
        False where a detection counts neither for nor against; all count unless given.
    positives : (G,) int
        P, the annotations of the ground truth of each group.

    Examples
    --------
    Two annotations; the first and the third detection hit: precision 1 up to recall 1/2, then 2/3.

    >>> ap = average_precision(np.zeros(3, int), np.array([[True, False, True]]), None, np.array([2]))
    >>> round(float(ap[0, 0]), 6) == round((51 + 50 * 2 / 3) / 101, 6)
    True
    """
    thresholds, groups = len(hit), len(positives)
    key, points, precision = precision_points(group, hit, counts, positives)
    ap = total(key, precision * points, thresholds * groups).reshape(thresholds, groups) / len(RECALL)
    ap[:, positives == 0] = np.nan
    return ap


def precision_points(
    group: NDArray[np.intp], hit: NDArray[np.bool_], counts: NDArray[np.bool_] | None, positives: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """What average precision is the sum of; arguments as of `average_precision`.

    Returns
    -------
    key : (M,) int
        Threshold times G plus group of each hit that counts.
    points : (M,) int
        Recall points that it reaches and the hit before it does not.
    precision : (M,) float64
        The best precision from there on: the float nearest to a quotient of two numbers of detections.

    Examples
    --------
    >>> key, points, precision = precision_points(np.zeros(2, int), np.array([[False, True]]), None, np.array([1]))
    >>> key.tolist(), points.tolist(), precision.tolist()
    ([0], [101], [0.5])
    """
    groups = len(positives)
    scored = hit if counts is None else hit & counts
    threshold = np.repeat(np.arange(len(hit)), np.count_nonzero(scored, axis=1))
    flat = np.flatnonzero(scored)
    index = flat - threshold * len(group)
    of_group = group[index]
    runs = _Runs.of(threshold * groups + of_group)
    k = runs.rank + 1
    first = _Runs.of(group).rank
    n = first[index] + 1 if counts is None else _counted_so_far(counts, first)[flat]
    return runs.key, _points_won(k, of_group, positives), runs.best_from_here(k / n)


def single_point_precision(
    group: NDArray[np.intp], hit: NDArray[np.bool_], counts: NDArray[np.bool_] | None, positives: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(T, G) AP where all detections of a group enter at once: one precision, up to one recall; else as above.

    Examples
    --------
    Two of three detections hit two annotations: precision 2/3 up to recall 1.

    >>> hit = np.array([[True, False, True]])
    >>> single_point_precision(np.zeros(3, int), hit, None, np.array([2])).round(3).tolist()
    [[0.667]]
    """
    thresholds, groups = len(hit), len(positives)
    scored = hit if counts is None else hit & counts
    hits = _per_group(group, scored, groups)
    taken = np.bincount(group, minlength=groups) if counts is None else _per_group(group, counts, groups)
    share = hits / np.where(positives, positives, np.nan)
    points = np.where(hits > 0, np.searchsorted(RECALL, share, side="right"), 0)
    return np.where(positives > 0, hits / np.maximum(taken, 1) * points / len(RECALL), np.nan).reshape(
        thresholds, groups
    )


def _per_group(group: NDArray[np.intp], flags: NDArray[np.bool_], groups: int) -> NDArray[np.intp]:
    """(T, G) how many flags (T, D) of each group are set."""
    threshold, index = np.nonzero(flags)
    return np.bincount(threshold * groups + group[index], minlength=len(flags) * groups).reshape(len(flags), groups)


def _counted_so_far(counts: NDArray[np.bool_], rank: NDArray[np.intp]) -> NDArray[np.intp]:
    """(T * D,) how many count from the first of the group on, this one with them; `rank` (D,) is the position in it."""
    sums = np.zeros((len(counts), counts.shape[1] + 1), np.intp)
    np.cumsum(counts, axis=1, out=sums[:, 1:])
    return np.asarray((sums[:, 1:] - sums[:, np.arange(len(rank)) - rank]).ravel())


@dataclass(frozen=True, eq=False)
class _Runs:
    """Equal keys (M,) in runs: the run of each entry, and its position in it from 0 on."""

    key: NDArray[np.intp]
    run: NDArray[np.intp]
    rank: NDArray[np.intp]
    last: NDArray[np.intp]
    """(runs,) position of the last entry of each run."""

    @classmethod
    def of(cls, key: NDArray[np.intp]) -> _Runs:
        last = np.flatnonzero(np.append(key[1:] != key[:-1], True)[: len(key)])
        length = np.diff(last, prepend=-1)
        run = np.repeat(np.arange(len(last)), length)
        return cls(key, run, np.arange(len(key)) - (last - length + 1)[run], last)

    def best_from_here(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(M,) greatest of the values from each to the end of its run."""
        rises = np.append((values[1:] > values[:-1]) & (self.run[1:] == self.run[:-1]), False)[: len(values)]
        before = np.cumsum(rises)
        # only what stands before a rise of its run can change
        open_ = np.flatnonzero(before - rises < before[self.last][self.run])
        last = self.last[self.run[open_]]
        best, step = values.copy(), 1
        while len(open_):
            best[open_] = np.maximum(best[open_], best[open_ + step])
            step *= 2
            going_on = open_ + step <= last
            open_, last = open_[going_on], last[going_on]
        return best


def _points_won(k: NDArray[np.intp], group: NDArray[np.intp], positives: NDArray[np.intp]) -> NDArray[np.intp]:
    """(M,) recall points that the k-th hit of a group reaches and the one before it does not."""
    sizes = np.flatnonzero(np.bincount(positives))
    start = run_starts(sizes + 1)
    owner, position = expand_runs(np.zeros_like(sizes), sizes + 1)
    reached = np.searchsorted(RECALL, position / np.maximum(sizes[owner], 1), side="right")
    reached[position == 0] = 0  # recall 0 is a point of the first hit
    won = np.diff(reached, prepend=0)
    start_of = np.zeros(int(positives.max(initial=0)) + 1, np.intp)
    start_of[sizes] = start[:-1]
    return np.asarray(won[start_of[positives][group] + k])
