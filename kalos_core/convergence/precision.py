"""Average precision of groups of detections, at 101 recall points, as COCO computes it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import expand_runs, in_threads, run_starts, total

Answer = TypeVar("Answer")

AT_ONCE = 1 << 16
"""Detections times thresholds that are looked at together, as far as groups allow."""

BLOCKS_A_THREAD = 2
"""Of these at least, so that what threads cost does not count."""

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

    def summed(first: int, last: int, found: _Points) -> NDArray[np.float64]:
        key, points, best = found
        ap = total(key, best * points, len(hit) * (last - first)).reshape(len(hit), -1) / len(RECALL)
        return np.where(positives[first:last] > 0, ap, np.nan)

    none = np.zeros((len(hit), 0))
    return np.concatenate([none, *_in_blocks(group, hit, counts, positives, summed)], axis=1)


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

    def placed(first: int, last: int, found: _Points) -> _Points:
        key, points, best = found
        return key // (last - first) * groups + first + key % (last - first), points, best

    none = np.zeros(0, np.intp)
    parts = _in_blocks(group, hit, counts, positives, placed)
    keys, won, precision = zip((none, none, np.zeros(0)), *parts, strict=True)
    return np.concatenate(keys), np.concatenate(won), np.concatenate(precision)


_Points = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]


def _in_blocks(
    group: NDArray[np.intp],
    hit: NDArray[np.bool_],
    counts: NDArray[np.bool_] | None,
    positives: NDArray[np.intp],
    answer: Callable[[int, int, _Points], Answer],
) -> list[Answer]:
    """Answers to the first group, the last and the `precision_points` of some groups at a time, on all cores.

    So few groups that what is computed of them stays in the processor's cache.
    """
    begins = run_starts(np.bincount(group, minlength=len(positives)))
    size = max(1, AT_ONCE // max(len(hit), 1))
    cuts = np.searchsorted(begins, np.arange(size, len(group), size))
    blocks = list(pairwise(np.unique([0, *cuts.tolist(), len(positives)]).tolist()))

    def of_block(first: int, last: int) -> Answer:
        own = slice(begins[first], begins[last])
        kept = None if counts is None else counts[:, own]
        return answer(first, last, _points_of_block(begins[first : last + 1], hit[:, own], kept, positives[first:last]))

    def of_blocks(part: slice) -> list[Answer]:
        return [of_block(first, last) for first, last in blocks[part]]

    return [found for part in in_threads(of_blocks, len(blocks), BLOCKS_A_THREAD) for found in part]


def _points_of_block(
    begins: NDArray[np.intp], hit: NDArray[np.bool_], counts: NDArray[np.bool_] | None, positives: NDArray[np.intp]
) -> _Points:
    """`precision_points` of the detections (D,) of groups that begin at `begins` (G + 1,)."""
    begins, groups = begins - begins[0], len(positives)
    group = np.repeat(np.arange(groups), np.diff(begins))
    scored = hit if counts is None else hit & counts
    flat = np.flatnonzero(scored)
    threshold = np.repeat(np.arange(len(hit)), np.count_nonzero(scored, axis=1))
    index = flat - threshold * len(group)
    of_group = group[index]
    key = threshold * groups + of_group
    run = run_starts(np.bincount(key, minlength=len(hit) * groups))
    k = np.arange(1, len(key) + 1) - run[key]
    rank = index - begins[of_group]
    n = rank + 1 if counts is None else _counted_so_far(counts, np.arange(len(group)) - begins[group])[flat]
    return key, _points_won(k, of_group, positives), _best_from_here(k / n, key, int(n.max(initial=1)))


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


def _best_from_here(values: NDArray[np.float64], key: NDArray[np.intp], most: int) -> NDArray[np.float64]:
    """(M,) greatest of the values from each to the end of its run of equal keys (M,), which ascend.

    The values are quotients k / n with n up to `most`: two of them differ by 1 / most² at least, so whole numbers of
    twice as many binary digits, and one more, put them in order. Each run lies above those that follow it.
    """
    if not len(values):
        return values
    digits = 2 * most.bit_length() + 1
    run = np.cumsum(np.concatenate([[False], key[1:] != key[:-1]]))
    above = (run[-1] - run) << (digits + 1)
    height = np.ldexp(values, digits).astype(np.int64) + above
    is_best = np.maximum.accumulate(height[::-1])[::-1] == height
    best = np.where(is_best, np.arange(len(values)), len(values))
    return np.asarray(values[np.minimum.accumulate(best[::-1])[::-1]])


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
