"""Greedy clustering: the best pair first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import first_at_all
from kalos_core.correspondence.costs import Cost
from kalos_core.correspondence.order import strict_order
from kalos_core.pairs import Pairs

WORD = 64
"""Raters per word of a rater set kept as bits."""


def greedy(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Greedy clustering (KαLOS §3.4): candidates by ascending cost join two clusters that share no rater.

    Done in rounds over whole arrays: every candidate that is the best at *both* of its clusters is joined at once.
    This equals going down the list one by one, since a candidate that could overtake a locally best one would have to
    touch one of its clusters. Rater sets are kept as bits.

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
    left, right = candidates.left[order], candidates.right[order]
    cluster = np.arange(len(annotations))
    raters = _rater_bits(annotations)
    best = np.empty(len(annotations), np.intp)
    while len(left):
        joined = first_at_all(np.stack([left, right], axis=1), best)
        kept, gone = left[joined], right[joined]
        raters[kept] |= raters[gone]
        parent = np.arange(len(annotations))
        parent[gone] = kept
        cluster = parent[cluster]
        left, right = parent[left], parent[right]
        open_ = (left != right) & ~(raters[left] & raters[right]).any(axis=1)
        left, right = left[open_], right[open_]
    return cluster


def _rater_bits(annotations: Annotations) -> NDArray[np.uint64]:
    """(N, W) the set of raters of each annotation's cluster, at first its own rater, W words of 64 bits."""
    words = max(1, -(-len(annotations.raters) // WORD))
    bits = np.zeros((len(annotations), words), np.uint64)
    bit = np.left_shift(np.uint64(1), (annotations.rater % WORD).astype(np.uint64))
    bits[np.arange(len(annotations)), annotations.rater // WORD] = bit
    return bits
