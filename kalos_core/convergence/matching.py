"""Matching of detections to ground truth, for every two raters, class, image and threshold at once.

One rater's annotations serve as the detections of another. All have the same score, so they are taken in row order, as
in pycocotools.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import short, take_down
from kalos_core.convergence.crowds import CrowdOverlaps
from kalos_core.correspondence import neg_cost, strict_order
from kalos_core.pairs import Pairs

MOST_DETECTIONS = 1000
"""Maximum number of detections that count for each image and class."""

ALMOST_ONE = 1 - 1e-10
"""Largest similarity ever required, so that a threshold of 1 still matches equal shapes (pycocotools)."""


@dataclass(frozen=True, eq=False)
class Detections:
    """D detections. Each annotation is a detection for every other rater that it is `compared` with.

    Parameters
    ----------
    row : (D,) int
        Row of the annotation.
    truth : (D,) int
        Rater who provides the ground truth.
    hit : (T, D) bool
        Whether the detection matched an annotation, at each threshold.
    ignored : (T, D) bool
        Whether the detection counts neither for nor against. It matched an annotation of another size, is itself of
        another size, or matched nothing and lies in a crowd region.
    """

    row: NDArray[np.intp]
    truth: NDArray[np.intp]
    hit: NDArray[np.bool_]
    ignored: NDArray[np.bool_]


def compared(annotations: Annotations) -> NDArray[np.bool_]:
    """(N, R) True if a rater and the annotation's own rater, not the same, are assigned to its image and class."""
    assigned = annotations.assigned_per_annotation
    of_own = np.arange(0, assigned.size, max(assigned.shape[1], 1)) + annotations.rater  # in the flat table
    found = assigned & assigned.ravel().take(of_own)[:, None]
    found.ravel()[of_own] = False
    return np.asarray(found)


def _sides(is_compared: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(D,) row and (D,) rater of every True in a table (N, R); faster than `numpy.nonzero`."""
    row, other = np.divmod(np.flatnonzero(is_compared), is_compared.shape[1])
    return row, other


def rank_in_order(annotations: Annotations, order: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """(N,) position of each annotation within its image, rater and class, in `order` (N,) or in row order."""
    codes = (annotations.category, annotations.rater, annotations.image)
    if order is None:
        run = np.lexsort([short(code) for code in codes])
    else:
        run = order[np.lexsort([short(code)[order] for code in codes])]
    fresh = np.zeros(len(run), np.bool_)
    fresh[:1] = True
    for code in codes:
        along = code[run]
        fresh[1:] |= along[1:] != along[:-1]
    start = np.flatnonzero(fresh)
    rank = np.empty(len(annotations), np.intp)
    rank[run] = np.arange(len(run)) - np.repeat(start, np.diff(start, append=len(run)))
    return rank


def detect(
    annotations: Annotations,
    pairs: Pairs,
    thresholds: NDArray[np.float64],
    rank: NDArray[np.intp],
    in_size: NDArray[np.bool_],
    crowds: CrowdOverlaps,
    is_compared: NDArray[np.bool_],
) -> Detections:
    """Match as COCO does: each detection in turn takes the most similar annotation that is still free.

    Parameters
    ----------
    annotations : Annotations
    pairs : Pairs
        Computed at the least threshold or lower.
    thresholds : (T,) float64
    rank : (N,) int
        See `rank_in_order`.
    in_size : (N,) bool
        Annotations of the chosen sizes. Others are matched only if nothing else is free, and then count for nothing.
    crowds : CrowdOverlaps
        Also matched only if nothing else is free; a region can match any number of detections.
    is_compared : (N, R) bool
        See `compared`.
    """
    raters = len(annotations.raters)
    is_compared = is_compared & (rank < MOST_DETECTIONS)[:, None]
    number = np.cumsum(is_compared.ravel()) - 1  # detection number of each annotation and rater
    alike = annotations.category[pairs.left] == annotations.category[pairs.right]
    left, right = pairs.left[alike], pairs.right[alike]
    truth, found = np.concatenate([left, right]), np.concatenate([right, left])
    side = found * raters + annotations.rater[truth]
    kept = is_compared.ravel()[side]
    truth, found, side = truth[kept], found[kept], side[kept]
    similarity = np.tile(pairs.similarity[alike], 2)[kept]
    crowd_side = _crowd_sides(crowds, raters)
    few = is_compared.ravel()[crowd_side]
    sides, of_crowd = len(annotations) * raters, np.arange(int(few.sum()))
    edges = _Edges(
        truth=np.concatenate([truth * raters + annotations.rater[found], sides + of_crowd]),
        found=number[np.concatenate([side, crowd_side[few]])],
        similarity=np.concatenate([similarity, crowds.share[few]]),
        second=np.concatenate([~in_size[truth], np.ones(len(of_crowd), np.bool_)]),
        turn=np.concatenate([rank[found], rank[crowds.found[few]]]),
        last=np.concatenate([rank[truth], len(annotations) + of_crowd]),
    )
    limits = np.minimum(thresholds, ALMOST_ONE)[:, None]
    row, other = _sides(is_compared)
    # a detection with one candidate, which is a candidate of no other detection, can be matched without turns
    alone = (np.bincount(edges.found)[edges.found] == 1) & (np.bincount(edges.truth)[edges.truth] == 1)
    reached, is_second = np.full(len(row), -1.0), np.zeros(len(row), np.bool_)
    reached[edges.found[alone]], is_second[edges.found[alone]] = edges.similarity[alone], edges.second[alone]
    hit = reached >= limits
    ignored = hit & is_second if is_second.any() else np.zeros(hit.shape, np.bool_)
    _match_in_turn(edges.keep(~alone), limits, sides, hit, ignored)
    if not in_size.all():
        ignored |= ~hit & ~in_size[row]
    return Detections(row, other, hit, ignored)


@dataclass(frozen=True, eq=False)
class _Edges:
    """E candidate matches between detections and sides of annotations or crowd regions.

    `second`: taken only if nothing else is free. `turn`: turn in which the detection is matched. `last`: among equally
    similar candidates, the greatest is taken.
    """

    truth: NDArray[np.intp]
    found: NDArray[np.intp]
    similarity: NDArray[np.float64]
    second: NDArray[np.bool_]
    turn: NDArray[np.intp]
    last: NDArray[np.intp]

    def keep(self, chosen: NDArray[Any]) -> _Edges:
        return _Edges(*(column[chosen] for column in vars(self).values()))


def _match_in_turn(
    edges: _Edges, limits: NDArray[np.float64], sides: int, hit: NDArray[np.bool_], ignored: NDArray[np.bool_]
) -> None:
    """Match detections of each image, rater and class in turn, best candidate first; fill `hit` and `ignored`.

    Edges from `sides` on lead to crowd regions, which always stay free.
    """
    # best first; among equally similar candidates the last, as in pycocotools
    edges = edges.keep(np.lexsort((-edges.last, -edges.similarity, edges.second, edges.found, edges.turn)))
    places, place = np.unique(edges.truth, return_inverse=True)
    taken = np.zeros((len(limits), len(places)), np.bool_)
    is_crowd = places >= sides
    steps = np.searchsorted(edges.turn, np.arange(edges.turn.max(initial=-1) + 2))
    for start, stop in pairwise(steps.tolist()):
        if start == stop:
            continue
        of_truth, of_found = place[start:stop], edges.found[start:stop]
        fresh = np.flatnonzero(np.concatenate([[True], of_found[1:] != of_found[:-1]]))
        free = (edges.similarity[start:stop] >= limits) & ~taken[:, of_truth]
        first = np.minimum.reduceat(np.where(free, np.arange(stop - start), stop - start), fresh, axis=1)
        threshold, detection = np.nonzero(first < stop - start)
        chosen = first[threshold, detection]
        taken[threshold, of_truth[chosen]] = True
        taken[:, is_crowd] = False
        hit[threshold, of_found[fresh[detection]]] = True
        ignored[threshold, of_found[fresh[detection]]] = edges.second[start:stop][chosen]


def _crowd_sides(crowds: CrowdOverlaps, raters: int) -> NDArray[np.intp]:
    """(C,) side of each detection in a crowd region, towards the rater of the region."""
    return np.asarray(crowds.found * raters + crowds.truth)


def detect_jointly(
    annotations: Annotations,
    pairs: Pairs,
    thresholds: NDArray[np.float64],
    in_size: NDArray[np.bool_],
    crowds: CrowdOverlaps,
    is_compared: NDArray[np.bool_],
) -> Detections:
    """Match the most similar annotations first, whatever their order; arguments as in `detect`."""
    raters = len(annotations.raters)
    alike = pairs.keep(annotations.category[pairs.left] == annotations.category[pairs.right])
    order = strict_order(annotations, alike, neg_cost)
    left, right, similarity = alike.left[order], alike.right[order], alike.similarity[order]
    left_side = left * raters + annotations.rater[right]
    right_side = right * raters + annotations.rater[left]
    free = np.ones(len(annotations) * raters, np.bool_)
    image = np.repeat(annotations.image, raters)
    taken = take_down(np.stack([left_side, right_side], axis=1), free, image)
    partner = np.full(len(free), -1, np.intp)
    partner[left_side[taken]], partner[right_side[taken]] = right[taken], left[taken]
    reached = np.zeros(len(free))
    reached[left_side[taken]] = reached[right_side[taken]] = similarity[taken]
    row, other = _sides(is_compared)
    side = row * raters + other
    limits = np.minimum(thresholds, ALMOST_ONE)[:, None]
    hit = (reached[side] >= limits) & (partner[side] >= 0)
    in_crowd = np.zeros(len(annotations) * raters)
    in_crowd[_crowd_sides(crowds, raters)] = crowds.share
    ignored = np.where(hit, ~in_size[partner[side]], ~in_size[row] | (in_crowd[side] >= limits))
    return Detections(row, other, hit, ignored)
