"""Greedy clustering: the best pair first."""

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
"""Raters per word of a rater set kept as bits."""


@checked
def greedy(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Greedy clustering (KαLOS §3.4): candidates by ascending cost join two clusters that share no rater.

    Done in rounds over whole arrays: every candidate that is the best at *both* of its clusters is joined at once.
    This equals going down the list one by one, since a candidate that could overtake a locally best one would have to
    touch one of its clusters. The best candidates of an image come first, a few for each annotation, so that the rounds
    cost at most the square of its annotations however many candidates there are. Rater sets are kept as bits.

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
    """Who stands at the end of the chain of parents of each row; later walks along it are short."""
    root = parent[rows]
    while True:
        above = parent[root]
        if (above == root).all():
            parent[rows] = root
            return root
        root = above


def _rater_bits(annotations: Annotations) -> NDArray[np.uint64]:
    """(N, W) the set of raters of each annotation's cluster, at first its own rater, W words of 64 bits."""
    words = max(1, -(-len(annotations.raters) // WORD))
    bits = np.zeros((len(annotations), words), np.uint64)
    bit = np.left_shift(np.uint64(1), (annotations.rater % WORD).astype(np.uint64))
    bits[np.arange(len(annotations)), annotations.rater // WORD] = bit
    return bits
