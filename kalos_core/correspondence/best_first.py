"""Greedy clustering: best pair first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import first_at_all, in_slices
from kalos_core.correspondence.costs import Cost
from kalos_core.correspondence.order import strict_order
from kalos_core.options import checked
from kalos_core.pairs import Pairs

WORD = 64
"""Raters per word of a rater set stored as bits."""


@checked
def greedy(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Match annotations greedily (KαLOS §3.4): candidates by ascending cost join two clusters that share no rater.

    Works in rounds over whole arrays: every candidate that is the best at *both* of its clusters is joined at once.
    This equals processing the list one by one, because a candidate that could overtake a locally best one would have
    to share a cluster with it. The best candidates of an image come first, a few per annotation, so the rounds cost at
    most the square of its annotations, however many candidates there are. Rater sets are stored as bits.

    Parameters
    ----------
    annotations : Annotations
    candidates : Pairs
        Candidates at or above the threshold.
    cost : callable

    Returns
    -------
    (N,) int
        Label of each cluster: one of its rows.
    """
    order = strict_order(annotations, candidates, cost)
    first, second = candidates.left[order], candidates.right[order]
    cluster = np.arange(len(annotations))
    raters = _rater_bits(annotations)
    best = np.empty(len(annotations), np.intp)
    for chosen in in_slices(annotations.image[first], np.bincount(annotations.image)):
        left, right = _roots(cluster, first[chosen]), _roots(cluster, second[chosen])
        while True:
            open_ = (left != right) & ~(raters[left] & raters[right]).any(axis=1)
            left, right = left[open_], right[open_]
            if not len(left):
                break
            joined = first_at_all(np.stack([left, right], axis=1), best)
            kept, gone = left[joined], right[joined]
            raters[kept] |= raters[gone]
            cluster[gone] = kept
            left, right = cluster[left], cluster[right]
    return _roots(cluster, np.arange(len(annotations)))


def _roots(parent: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the root of each row's chain of parents, and shorten the chains."""
    root = parent[rows]
    while True:
        above = parent[root]
        if (above == root).all():
            parent[rows] = root
            return root
        root = above


def _rater_bits(annotations: Annotations) -> NDArray[np.uint64]:
    """Return (N, W) the rater set of each annotation's cluster, initially its own rater, in W words of 64 bits."""
    words = max(1, -(-len(annotations.raters) // WORD))
    bits = np.zeros((len(annotations), words), np.uint64)
    bit = np.left_shift(np.uint64(1), (annotations.rater % WORD).astype(np.uint64))
    bits[np.arange(len(annotations)), annotations.rater // WORD] = bit
    return bits
