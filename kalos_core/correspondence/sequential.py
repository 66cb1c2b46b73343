"""Sequential Hungarian matching: one rater after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.correspondence.assignment import best_assignment
from kalos_core.correspondence.costs import Cost
from kalos_core.correspondence.order import pair_costs, rank_raters, strict_order
from kalos_core.pairs import Pairs


def shm(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Sequential Hungarian matching (Tschirschwitz et al. 2022; KαLOS §5.1): raters join in the order of their names.

    A new rater is matched against each placed rater in turn, in the order of names. An assignment pairs the new
    rater's annotations that are still alone with the annotations of the placed rater whose units hold no annotation of
    the new one: the most pairs first, then the least cost, then the first in the strict order of candidates, all
    exactly. What stays alone opens a unit. All images take a step together.

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
    one member; others of the unit may lie below the threshold.
    """
    order = strict_order(annotations, candidates, cost)
    left, right = candidates.left[order], candidates.right[order]
    costs = pair_costs(annotations, candidates, cost)[order]
    position = _positions(annotations)
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


def _positions(annotations: Annotations) -> NDArray[np.intp]:
    """(N,) the position of each annotation's rater, by name, among those who annotated its image."""
    raters = len(annotations.raters)
    turn = annotations.image * raters + rank_raters(annotations)[annotations.rater]
    turns, which = np.unique(turn, return_inverse=True)
    image = turns // max(raters, 1)
    position = np.arange(len(turns)) - np.searchsorted(image, image)
    position_of_row: NDArray[np.intp] = position[which.reshape(-1)]
    return position_of_row
