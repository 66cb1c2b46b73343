"""Sequential Hungarian matching: one rater after another."""

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
    """Match annotations rater by rater: sequential Hungarian matching (Tschirschwitz et al. 2022; KαLOS §5.1).

    In each image, the rater whose annotations overlap most with those of others comes first. The others follow by the
    same measure; names do not matter. A new rater is matched with each placed rater in turn. An exact assignment pairs
    the new rater's unmatched annotations with annotations of the placed rater whose units contain none of the new
    rater's. It prefers the most pairs, then the lowest cost, then the first in the strict order of candidates. All
    unmatched annotations open new units. All images advance together.

    Parameters
    ----------
    annotations : Annotations
    candidates : Pairs
        Candidates at or above the threshold.
    cost : callable

    Returns
    -------
    (N,) int
        Label of each unit: one of its rows.

    Notes
    -----
    Because the number of pairs comes first, two poor pairs win over one good pair. An annotation joins a unit because
    it overlaps one member; other members may lie below the threshold. The papers do not say which rater comes first;
    their code takes raters by name, as `shm_by_name` does.
    """
    return _one_after_the_other(annotations, candidates, cost, _by_overlap(annotations, candidates, cost))


@checked
def shm_by_name(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Match as `shm`, with raters in the order of their names as in the authors' code; other names give other units."""
    return _one_after_the_other(annotations, candidates, cost, rank_raters(annotations)[annotations.rater])


def _one_after_the_other(
    annotations: Annotations, candidates: Pairs, cost: Cost, turn: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the units of raters who join in the order of `turn` (N,), which is the same for a rater in an image."""
    order = strict_order(annotations, candidates, cost)
    left, right = candidates.left[order], candidates.right[order]
    costs = pair_costs(annotations, candidates, cost)[order]
    position = _positions(annotations, turn)
    swapped = position[left] > position[right]
    placed, new = np.where(swapped, right, left), np.where(swapped, left, right)
    by_step = np.lexsort((position[placed], position[new]))  # stable, to keep the strict order within a step
    placed, new, costs = placed[by_step], new[by_step], costs[by_step]
    steps = np.flatnonzero(np.diff(position[placed]) | np.diff(position[new])) + 1

    unit = np.arange(len(annotations))
    newest = position.copy()  # last rater that joined, per unit
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
    """Return (N,) the position of each annotation's rater among the raters who annotated its image."""
    turns, which = np.unique(annotations.image * (turn.max(initial=0) + 1) + turn, return_inverse=True)
    image = turns // (turn.max(initial=0) + 1)
    position = np.arange(len(turns)) - np.searchsorted(image, image)
    return np.asarray(position[which.reshape(-1)])


def _by_overlap(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Return (N,) the turn of each annotation's rater in its image, by descending sum of similarities to the others.

    Equal sums are ordered by what the raters annotated. Sums are taken in the strict order, so that they are identical
    under other names.
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
    in_tie &= (overlap > 0) & (np.bincount(image, minlength=1)[image] > 2)  # with two raters, either may be first
    content = np.zeros(len(own), np.uint64)
    rows = np.flatnonzero(in_tie[which])
    np.add.at(content, which[rows], rank_contents(annotations, rows, candidates.kind))
    turn = np.empty(len(own), np.intp)
    turn[np.lexsort((name, content, -overlap, image))] = np.arange(len(own))
    return np.asarray((turn - np.searchsorted(image, image))[which])
