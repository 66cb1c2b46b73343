"""Agglomerative clustering with complete linkage: the cost of a unit is that of its worst pair."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import first_at_all
from kalos_core.correspondence.assignment import components
from kalos_core.correspondence.costs import Cost
from kalos_core.correspondence.order import strict_order
from kalos_core.options import checked
from kalos_core.pairs import Pairs

FAR = np.iinfo(np.int32).max
"""Linkage of two clusters that cannot be joined."""

MANY = 64
"""Pairs of clusters per join in a round above which chains are faster."""

DENSE = 1 / 8
"""Smallest density of joinable pairs of clusters in a component for which it is converted to a table."""


@checked
def ahc(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Match annotations by agglomerative clustering with complete linkage (Amgad et al. 2022; KαLOS §5.1).

    The two clusters with the lowest cost are joined repeatedly. The cost of a join is the highest cost among all
    cross pairs, and each of these must be a candidate. Therefore every two members of a unit reach the threshold and
    belong to two raters. Costs are compared by the position of a pair in the strict order, so there are no ties.

    Works in rounds over whole arrays: every two clusters that are each other's best are joined at once. This equals
    one join at a time, because under complete linkage a join brings no cluster closer to any other. If a round joins
    few of many clusters, as among identical annotations, connected clusters are joined along chains of nearest
    neighbours; the time is quadratic in their number.

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

    Notes
    -----
    The public `kalos` package never joins two classes under the soft cost. It derives its cutoff from the cost of two
    empty annotations, whose (missing) classes are equal. That is the cost of a pair of *one* class at the threshold,
    -(1 + τ_s), whereas a pair of two classes costs at least -1. This function joins such pairs.
    """
    order = strict_order(annotations, candidates, cost)
    left, right = candidates.left[order], candidates.right[order]
    # best first, for every two clusters whose cross pairs are all candidates: their worst pair, and the number of pairs
    worst, count = np.arange(len(order)), np.ones(len(order), np.intp)
    size = np.ones(len(annotations), np.intp)
    cluster = np.arange(len(annotations))
    best = np.empty(len(annotations), np.intp)
    while len(left):
        joined = first_at_all(np.stack([left, right], axis=1), best)
        if len(left) > MANY * np.count_nonzero(joined):
            alone = _join_along_chains(left, right, worst, cluster)
            left, right, worst, count = left[alone], right[alone], worst[alone], count[alone]
            joined = joined[alone]
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


def _join_along_chains(
    left: NDArray[np.intp], right: NDArray[np.intp], worst: NDArray[np.intp], cluster: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Join clusters in the dense parts of a graph, in place; return (E,) which edges belong to other parts.

    A chain of nearest neighbours grows until two clusters are each other's nearest (Benzécri 1982). Under complete
    linkage these are always joined, and the rest of the chain stays valid.
    """
    nodes, index = np.unique(np.concatenate([left, right]), return_inverse=True)
    first, second = index.reshape(2, -1)
    part_of_node = components(first, second, len(nodes))
    size, part = np.bincount(part_of_node), part_of_node[first]
    dense = np.bincount(part) >= DENSE * size * (size - 1) / 2
    parent = np.arange(len(cluster))
    order = np.argsort(part, kind="stable")
    by_part = np.split(order, np.cumsum(np.bincount(part))[:-1])
    for edges in (edges for edges, is_dense in zip(by_part, dense, strict=True) if is_dense):
        own, local = np.unique(np.concatenate([first[edges], second[edges]]), return_inverse=True)
        one, other = local.reshape(2, -1)
        table = np.full((len(own), len(own)), FAR, np.int32)
        rank = np.argsort(np.argsort(worst[edges]))
        table[one, other] = table[other, one] = rank
        for kept, gone in _chain(table):
            parent[nodes[own[gone]]] = nodes[own[kept]]
    while (parent[parent] != parent).any():
        parent = parent[parent]
    cluster[:] = parent[cluster]
    return np.asarray(~dense[part])


def _chain(table: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """Yield the two clusters of each join, in order, from a table of linkages (overwritten)."""
    waiting = list(range(len(table)))
    chain: list[int] = []
    while chain or waiting:
        if not chain:
            chain = [waiting.pop()]
        nearest = int(table[chain[-1]].argmin())
        if table[chain[-1], nearest] == FAR:  # already joined, or nothing left to join
            chain.pop()
        elif len(chain) > 1 and nearest == chain[-2]:
            gone, kept = chain.pop(), chain.pop()
            table[kept] = table[:, kept] = np.maximum(table[kept], table[gone])
            table[gone] = table[:, gone] = FAR
            table[kept, kept] = FAR
            waiting.append(kept)
            yield kept, gone
        else:
            chain.append(nearest)
