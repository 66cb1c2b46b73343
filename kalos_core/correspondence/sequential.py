"""Sequential Hungarian matching: one rater after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import total
from kalos_core.correspondence.assignment import best_assignment
from kalos_core.correspondence.costs import Cost
from kalos_core.correspondence.order import pair_costs, rank_contents, rank_raters, strict_order
from kalos_core.options import checked
from kalos_core.pairs import Pairs


@checked
def shm(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Sequential Hungarian matching (Tschirschwitz et al. 2022; KαLOS §5.1): in each image one rater after the other.

    The rater whose annotations overlap those of the others most comes first, the others follow in that order, whatever
    they are called. A new rater is matched against each placed rater in turn. An assignment pairs the new rater's
    annotations that are still alone with the annotations of the placed rater whose units hold no annotation of the new
    one: the most pairs first, then the least cost, then the first in the strict order of candidates, all exactly. What
    stays alone opens a unit. All images take a step together.

    Parameters
    ----------
    annotations : Annotations
    candidates : Pairs
        Already at or above the threshold.
    cost : callable

    Returns
    -------
    (N,) int
        One row of each unit, as its label.

    Notes
    -----
    With the most pairs first, a good pair gives way to two poor ones. An annotation joins a unit for its overlap with
    one member; others of the unit may lie below the threshold. The papers do not say which rater comes first; their
    code takes them by name, as `shm_by_name` does.
    """
    return _one_after_the_other(annotations, candidates, cost, _by_overlap(annotations, candidates, cost))


@checked
def shm_by_name(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """The same with raters in the order of their names, as in the authors' code: other names give other units."""
    return _one_after_the_other(annotations, candidates, cost, rank_raters(annotations)[annotations.rater])


def _one_after_the_other(
    annotations: Annotations, candidates: Pairs, cost: Cost, turn: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The units of raters who join as their `turn` (N,) says; that of a rater is the same in all of an image."""
    order = strict_order(annotations, candidates, cost)
    left, right = candidates.left[order], candidates.right[order]
    costs = pair_costs(annotations, candidates, cost)[order]
    position = _positions(annotations, turn)
    swapped = position[left] > position[right]
    placed, new = np.where(swapped, right, left), np.where(swapped, left, right)
    by_step = np.lexsort((position[placed], position[new]))  # stable: the strict order within a step
    placed, new, costs = placed[by_step], new[by_step], costs[by_step]
    steps = np.flatnonzero(np.diff(position[placed]) | np.diff(position[new])) + 1

    unit = np.arange(len(annotations))
    newest = position.copy()  # of each unit: the last rater that joined
    for start, stop in zip([0, *steps], [*steps, len(new)], strict=True):
        own, other = new[start:stop], placed[start:stop]
        open_ = (unit[own] == own) & (newest[unit[other]] < position[own])
        own, other = own[open_], other[open_]
        if len(own):
            chosen = best_assignment(other, own, costs[start:stop][open_])
            own, other = own[chosen], other[chosen]
            unit[own] = unit[other]
            newest[unit[own]] = position[own]
    return unit


def _positions(annotations: Annotations, turn: NDArray[np.intp]) -> NDArray[np.intp]:
    """(N,) the position of each annotation's rater among those who annotated its image."""
    turns, which = np.unique(annotations.image * (turn.max(initial=0) + 1) + turn, return_inverse=True)
    image = turns // (turn.max(initial=0) + 1)
    position = np.arange(len(turns)) - np.searchsorted(image, image)
    return np.asarray(position[which.reshape(-1)])


def _by_overlap(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """(N,) the turn of each annotation's rater in its image: the greatest sum of similarities to the others first.

    Of equal sums what they annotated decides. Sums are taken in the strict order, so that they are equal to the last
    bit under other names.
    """
    raters = len(annotations.raters)
    own, which = np.unique(annotations.image * raters + annotations.rater, return_inverse=True)
    which = which.reshape(-1)
    order = strict_order(annotations, candidates, cost)
    sides = np.stack([candidates.left[order], candidates.right[order]], axis=1).ravel()
    overlap = total(which[sides], np.repeat(candidates.similarity[order], 2), len(own))
    image, name = own // max(raters, 1), rank_raters(annotations)[own % max(raters, 1)]
    by_overlap = np.lexsort((-overlap, image))
    tied = (np.diff(image[by_overlap]) == 0) & (np.diff(overlap[by_overlap]) == 0)
    in_tie = np.zeros(len(own), np.bool_)
    in_tie[by_overlap[1:][tied]] = in_tie[by_overlap[:-1][tied]] = True
    in_tie &= (overlap > 0) & (np.bincount(image, minlength=1)[image] > 2)  # of two raters either may be first
    content = np.zeros(len(own), np.uint64)
    rows = np.flatnonzero(in_tie[which])
    np.add.at(content, which[rows], rank_contents(annotations, rows, candidates.kind))
    turn = np.empty(len(own), np.intp)
    turn[np.lexsort((name, content, -overlap, image))] = np.arange(len(own))
    return np.asarray((turn - np.searchsorted(image, image))[which])
