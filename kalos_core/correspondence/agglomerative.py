"""Agglomerative clustering with complete linkage: a unit is as good as its worst pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import first_at_all
from kalos_core.correspondence.costs import Cost
from kalos_core.correspondence.order import strict_order
from kalos_core.pairs import Pairs


def ahc(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Agglomerative clustering with complete linkage (Amgad et al. 2022; KαLOS §5.1).

    The two clusters with the least cost are joined again and again. The cost of joining two clusters is the largest
    among all their cross pairs, and each of these must be a candidate: so every two members of a unit reach the
    threshold and are of two raters. Costs are compared by the position of a pair in the strict order, so there are no
    ties.

    Done in rounds over whole arrays: every two clusters that are each other's best are joined at once. This equals
    one join at a time, since under complete linkage a join brings no cluster nearer to any other.

    Parameters
    ----------
    annotations : Annotations
    candidates : Pairs
        Already at or above the threshold.
    cost : callable

    Returns
    -------
    (N,) int
        One row of each cluster, as its label.

    Notes
    -----
    The public `kalos` package never joins two classes under the soft cost. It asks the cost for its cut with two empty
    annotations, whose classes are equal, none being none: the cut is the cost of a pair of *one* class at the
    threshold, -(1 + τ_s), and that of a pair of two classes is at least -1. Here they are joined.
    """
    order = strict_order(annotations, candidates, cost)
    left, right = candidates.left[order], candidates.right[order]
    # of every two clusters all of whose cross pairs are candidates, best first: the worst pair and how many there are
    worst, count = np.arange(len(order)), np.ones(len(order), np.intp)
    size = np.ones(len(annotations), np.intp)
    cluster = np.arange(len(annotations))
    best = np.empty(len(annotations), np.intp)
    while len(left):
        joined = first_at_all(np.stack([left, right], axis=1), best)
        kept, gone = left[joined], right[joined]
        size[kept] += size[gone]
        parent = np.arange(len(annotations))
        parent[gone] = kept
        cluster = parent[cluster]
        left, right = parent[left], parent[right]
        left, right = np.minimum(left, right), np.maximum(left, right)
        grouped = np.lexsort((right, left))
        grouped = grouped[left[grouped] != right[grouped]]
        if not len(grouped):
            break
        left, right = left[grouped], right[grouped]
        first = np.flatnonzero(np.concatenate([[True], (left[1:] != left[:-1]) | (right[1:] != right[:-1])]))
        left, right = left[first], right[first]
        worst = np.maximum.reduceat(worst[grouped], first)
        count = np.add.reduceat(count[grouped], first)
        complete = np.flatnonzero(count == size[left] * size[right])
        complete = complete[np.argsort(worst[complete])]
        left, right, worst, count = left[complete], right[complete], worst[complete], count[complete]
    return cluster
