"""Average precision of groups of detections, at 101 recall points, as COCO computes it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import distinct_codes, expand_runs, in_threads, run_starts, short, total

AT_ONCE = 1 << 16
"""Detections times thresholds processed together, as far as group sizes allow."""

LONGER = 1.5
"""Maximum ratio of detections between groups that are processed together."""

BATCHES_A_THREAD = 12
"""Minimum number of batches for each thread, so that the cost of a thread is negligible."""

RECALL = np.linspace(0, 1, 101)
"""Recall points at which precision is read."""


def average_precision(
    group: NDArray[np.intp], hit: NDArray[np.bool_], counts: NDArray[np.bool_] | None, positives: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(T, G) AP of G groups at T thresholds; NaN for a group without ground truth.

    Precision at a recall is the best precision at that recall or beyond. It only changes where a detection hits: with
    the k-th hit of P annotations at position n, precision is k / n and recall is k / P. The recall points from
    (k - 1) / P to k / P read the best precision from there on.

    Parameters
    ----------
    group : (D,) int, ascending
        Group of each detection. Within a group, detections are in the order they are taken.
    hit : (T, D) bool
    counts : (T, D) bool, optional
        False where a detection counts neither for nor against; by default all count.
    positives : (G,) int
        P, the number of ground-truth annotations of each group.

    Examples
    --------
    Two annotations; the first and third detections hit: precision 1 up to recall 1/2, then 2/3.

    >>> ap = average_precision(np.zeros(3, int), np.array([[True, False, True]]), None, np.array([2]))
    >>> round(float(ap[0, 0]), 6) == round((51 + 50 * 2 / 3) / 101, 6)
    True
    """
    key, points, best = precision_points(group, hit, counts, positives)
    ap = total(key, best * points, len(hit) * len(positives)).reshape(len(hit), -1) / len(RECALL)
    return np.where(positives > 0, ap, np.nan)


def precision_points(
    group: NDArray[np.intp], hit: NDArray[np.bool_], counts: NDArray[np.bool_] | None, positives: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Compute the terms that sum to average precision; arguments as in `average_precision`.

    Returns
    -------
    key : (M,) int
        Threshold times G plus group, for each hit at which a recall point is read.
    points : (M,) int
        Recall points that this hit reaches and the previous one does not.
    precision : (M,) float64
        Best precision from there on: the float nearest to a quotient of two numbers of detections.

    Examples
    --------
    >>> key, points, precision = precision_points(np.zeros(2, int), np.array([[False, True]]), None, np.array([1]))
    >>> key.tolist(), points.tolist(), precision.tolist()
    ([0], [101], [0.5])
    """
    hit = np.ascontiguousarray(hit)  # any other array is copied whole for every batch
    counts = None if counts is None else np.ascontiguousarray(counts)
    size = np.bincount(group, minlength=len(positives))
    begin, (reached, first_reached) = run_starts(size), _points_reached(positives)
    batches = _batches(size, len(hit))

    def of_batch(groups: NDArray[np.intp]) -> _Points:
        threshold, line, points, best = _points_of_batch(
            begin[groups], size[groups], hit, counts, reached, first_reached[groups]
        )
        return threshold * len(positives) + groups.take(line), points, best

    def of_batches(part: slice) -> list[_Points]:
        return [of_batch(groups) for groups in batches[part]]

    none = np.zeros(0, np.intp)
    found = [points for part in in_threads(of_batches, len(batches), BATCHES_A_THREAD) for points in part]
    key, won, precision = (np.concatenate(part) for part in zip((none, none, np.zeros(0)), *found, strict=True))
    return key, won, precision


_Points = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]


def _batches(size: NDArray[np.intp], thresholds: int) -> list[NDArray[np.intp]]:
    """Batch the groups with detections by similar size, so that their table fits in the cache."""
    by_size = np.argsort(short(size), kind="stable")
    lengths, batches = size[by_size], []
    start = int(np.searchsorted(lengths, 1))
    while start < len(lengths):
        stop = int(np.searchsorted(lengths, int(lengths[start] * LONGER), side="right"))
        stop = min(stop, start + max(1, AT_ONCE // max(thresholds * int(lengths[stop - 1]), 1)))
        batches.append(by_size[start:stop])
        start = stop
    return batches


def _points_of_batch(
    begin: NDArray[np.intp],
    size: NDArray[np.intp],
    hit: NDArray[np.bool_],
    counts: NDArray[np.bool_] | None,
    reached: NDArray[np.uint8],
    first_reached: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Threshold, group, points and precision of `precision_points`, for groups (G,) from `begin`, of `size` at most L.

    A detection that is no hit cannot raise precision above that of the previous hit. The best precision from a hit on
    is therefore the best of all detections from there on.
    """
    length = int(size.max(initial=0))
    position = np.arange(length)
    column, inside = begin[:, None] + position, position < size[:, None]
    column[~inside] = 0
    scored = hit.take(column, axis=1) & inside  # (T, G, L)
    taken: NDArray[np.intp] = position + 1
    if counts is not None:
        counted = counts.take(column, axis=1) & inside
        scored &= counted
        taken = np.maximum(counted.cumsum(axis=-1), 1)
    k = scored.cumsum(axis=-1, dtype=np.int32)
    up_to = reached.take(first_reached.astype(np.int32)[:, None] + k)
    won = up_to.copy()
    won[..., 1:] -= up_to[..., :-1]
    flat = np.flatnonzero(won != 0)
    # non-negative floats sort like their bits as integers, for which a running maximum is faster
    last_first = (k / taken)[..., ::-1].view(np.int64)
    best = np.maximum.accumulate(last_first, axis=-1).view(np.float64)
    line = flat // length
    threshold, number = np.divmod(line, len(size))
    return threshold, number, won.ravel()[flat].astype(np.intp), best.ravel()[(2 * line + 1) * length - 1 - flat]


def _points_reached(positives: NDArray[np.intp]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Recall points that k of P annotations reach, for each k up to each P, and the start of each group (G,).

    Without a hit no point is reached: recall 0 is read at the first hit.
    """
    sizes, of_group = distinct_codes(positives)
    owner, k = expand_runs(np.zeros_like(sizes), sizes + 1)
    reached = np.searchsorted(RECALL, k / np.maximum(sizes[owner], 1), side="right")
    reached[k == 0] = 0
    return reached.astype(np.uint8), run_starts(sizes + 1)[of_group]


def single_point_precision(
    group: NDArray[np.intp], hit: NDArray[np.bool_], counts: NDArray[np.bool_] | None, positives: NDArray[np.intp]
) -> NDArray[np.float64]:
    """(T, G) AP if all detections of a group enter at once: one precision, up to one recall; else as above.

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
    """(T, G) number of flags (T, D) set in each group."""
    threshold, index = np.nonzero(flags)
    return np.bincount(threshold * groups + group[index], minlength=len(flags) * groups).reshape(len(flags), groups)
