"""Detections matched to ground truth, for every two raters, class, image and threshold at once.

One rater's annotations are read as the detections of another's: all have the same score, so they are taken in the order
of their rows, as pycocotools takes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import first_at_all
from kalos_core.convergence.crowds import CrowdOverlaps
from kalos_core.correspondence import neg_cost, strict_order
from kalos_core.pairs import Pairs

MOST_DETECTIONS = 1000
"""Detections that count of each image and class."""

ALMOST_ONE = 1 - 1e-10
"""The greatest similarity that is ever needed, so that a threshold of 1 finds equal shapes (pycocotools)."""


@dataclass(frozen=True, eq=False)
class Detections:
    """D detections: an annotation is one for every other rater that it is `compared` with.

    Parameters
    ----------
    row : (D,) int
        The annotation.
    truth : (D,) int
        The rater whose annotations are the ground truth.
    hit : (T, D) bool
        Whether it found an annotation, at each threshold.
    ignored : (T, D) bool
        Whether it counts neither for nor against (it found, or is, an annotation of another size, or found nothing and
        lies in a crowd region).
    """

    row: NDArray[np.intp]
    truth: NDArray[np.intp]
    hit: NDArray[np.bool_]
    ignored: NDArray[np.bool_]


def compared(annotations: Annotations) -> NDArray[np.bool_]:
    """(N, R) True where another rater and an annotation's own were both assigned to its image and class."""
    own = annotations.assigned_per_annotation[np.arange(len(annotations)), annotations.rater]
    return np.asarray(annotations.others_assigned & own[:, None])


def rank_in_order(annotations: Annotations, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """(N,) position of each annotation among those of its image, rater and class, taken in `order` (N,)."""
    index = np.empty(len(annotations), np.intp)
    index[order] = np.arange(len(annotations))
    run = np.lexsort((index, annotations.category, annotations.rater, annotations.image))
    keys = np.stack([annotations.image, annotations.rater, annotations.category], axis=1)[run]
    fresh = np.ones(len(run), np.bool_)
    fresh[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    start = np.maximum.accumulate(np.where(fresh, np.arange(len(run)), 0))
    rank = np.empty(len(annotations), np.intp)
    rank[run] = np.arange(len(run)) - start
    return rank


def detect(
    annotations: Annotations,
    pairs: Pairs,
    thresholds: NDArray[np.float64],
    rank: NDArray[np.intp],
    in_size: NDArray[np.bool_],
    crowds: CrowdOverlaps,
) -> Detections:
    """Match as COCO does: each detection in turn takes the most similar annotation that is still free.

    Parameters
    ----------
    annotations : Annotations
    pairs : Pairs
        From the least threshold upwards.
    thresholds : (T,) float64
    rank : (N,) int
        See `rank_in_order`.
    in_size : (N,) bool
        Annotations of the chosen sizes; the others are only taken second, and then count for nothing.
    crowds : CrowdOverlaps
        Likewise taken second, by as many detections as there are.
    """
    raters = len(annotations.raters)
    alike = annotations.category[pairs.left] == annotations.category[pairs.right]
    left, right = pairs.left[alike], pairs.right[alike]
    truth, found = np.concatenate([left, right]), np.concatenate([right, left])
    similarity = np.tile(pairs.similarity[alike], 2)
    kept = rank[found] < MOST_DETECTIONS
    truth, found, similarity = truth[kept], found[kept], similarity[kept]
    sides = len(annotations) * raters
    few = rank[crowds.found] < MOST_DETECTIONS
    of_crowd = np.arange(int(few.sum()))
    truth_side = np.concatenate([truth * raters + annotations.rater[found], sides + of_crowd])
    found_side = np.concatenate([found * raters + annotations.rater[truth], _crowd_sides(crowds, raters)[few]])
    similarity = np.concatenate([similarity, crowds.share[few]])
    second = np.concatenate([~in_size[truth], np.ones(len(of_crowd), np.bool_)])
    turn = rank[found_side // max(raters, 1)]
    # the best first; of equally good ones the last in order, as pycocotools takes it
    last = np.concatenate([rank[truth], len(annotations) + of_crowd])
    order = np.lexsort((-last, -similarity, second, found_side, turn))
    truth_side, found_side, similarity = truth_side[order], found_side[order], similarity[order]
    turn, second = turn[order], second[order]
    limits = np.minimum(thresholds, ALMOST_ONE)[:, None]
    taken = np.zeros((len(thresholds), sides + len(of_crowd)), np.bool_)
    hit, ignored = np.zeros((2, len(thresholds), sides), np.bool_)
    edges = np.searchsorted(turn, np.arange(turn.max(initial=-1) + 2))
    for start, stop in pairwise(edges.tolist()):
        if start == stop:
            continue
        of_truth, of_found = truth_side[start:stop], found_side[start:stop]
        fresh = np.flatnonzero(np.concatenate([[True], of_found[1:] != of_found[:-1]]))
        free = (similarity[start:stop] >= limits) & ~taken[:, of_truth]
        first = np.minimum.reduceat(np.where(free, np.arange(stop - start), stop - start), fresh, axis=1)
        threshold, detection = np.nonzero(first < stop - start)
        chosen = first[threshold, detection]
        taken[threshold, of_truth[chosen]] = True
        taken[:, sides:] = False
        hit[threshold, of_found[fresh[detection]]] = True
        ignored[threshold, of_found[fresh[detection]]] = second[start:stop][chosen]
    row, other = np.nonzero(compared(annotations) & (rank < MOST_DETECTIONS)[:, None])
    side = row * raters + other
    hit, ignored = hit[:, side], ignored[:, side]
    ignored |= ~hit & ~in_size[row]
    return Detections(row, other, hit, ignored)


def _crowd_sides(crowds: CrowdOverlaps, raters: int) -> NDArray[np.intp]:
    """(C,) the detections in crowd regions, each for the rater whose region it is."""
    return np.asarray(crowds.found * raters + crowds.truth)


def detect_jointly(
    annotations: Annotations,
    pairs: Pairs,
    thresholds: NDArray[np.float64],
    in_size: NDArray[np.bool_],
    crowds: CrowdOverlaps,
) -> Detections:
    """Match the most similar annotations first, whatever their order; arguments as of `detect`."""
    raters = len(annotations.raters)
    alike = pairs.keep(annotations.category[pairs.left] == annotations.category[pairs.right])
    order = strict_order(annotations, alike, neg_cost)
    left, right, similarity = alike.left[order], alike.right[order], alike.similarity[order]
    left_side = left * raters + annotations.rater[right]
    right_side = right * raters + annotations.rater[left]
    best = np.empty(len(annotations) * raters, np.intp)
    partner = np.full(len(annotations) * raters, -1, np.intp)
    reached = np.zeros(len(annotations) * raters)
    waiting = np.arange(len(left))
    while len(waiting):
        sides = np.stack([left_side[waiting], right_side[waiting]], axis=1)
        first = first_at_all(sides, best)
        taken = waiting[first]
        partner[left_side[taken]], partner[right_side[taken]] = right[taken], left[taken]
        reached[left_side[taken]] = reached[right_side[taken]] = similarity[taken]
        waiting = waiting[(partner[sides] < 0).all(axis=1)]
    row, other = np.nonzero(compared(annotations))
    side = row * raters + other
    limits = np.minimum(thresholds, ALMOST_ONE)[:, None]
    hit = (reached[side] >= limits) & (partner[side] >= 0)
    in_crowd = np.zeros(len(annotations) * raters)
    in_crowd[_crowd_sides(crowds, raters)] = crowds.share
    ignored = np.where(hit, ~in_size[partner[side]], ~in_size[row] | (in_crowd[side] >= limits))
    return Detections(row, other, hit, ignored)
