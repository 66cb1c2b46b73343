"""Which annotations of different raters mean the same thing: pairs in, a unit for every annotation out.

Every solver is invariant to the order of raters, annotations and images: candidates stand in one strict order, by
cost, then similarity, and where both are equal by the geometry of the two shapes, class, rater name and last the
source's id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import first_at_all
from kalos_core.errors import lookup
from kalos_core.pairs import Pairs

Cost = Callable[[NDArray[np.float64], NDArray[np.bool_]], NDArray[np.float64]]
"""``cost(similarity, same_class)`` -> (P,) costs, lower is joined first."""

Solver = Callable[[Annotations, Pairs, Cost], NDArray[np.intp]]
"""``solver(annotations, candidates, cost)`` -> (N,) any label per cluster."""

WORD = 64
"""Raters per word of a rater set kept as bits."""


def soft_cost(similarity: NDArray[np.float64], same_class: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Class-aware cost psi_soft: -s - 1 where the classes agree, else -s (KαLOS Eq. 6).

    Examples
    --------
    >>> soft_cost(np.array([0.5, 0.5]), np.array([True, False])).tolist()
    [-1.5, -0.5]
    """
    return -similarity - same_class


def neg_cost(
    similarity: NDArray[np.float64],
    same_class: NDArray[np.bool_],  # noqa: ARG001 - a cost is given both
) -> NDArray[np.float64]:
    """Class-blind cost psi_neg: -s.

    KαLOS Eq. 21 prints -d = -(1 - s), which would prefer the worst overlap; its text says the opposite and is followed.

    Examples
    --------
    >>> neg_cost(np.array([0.5]), np.array([True])).tolist()
    [-0.5]
    """
    return -similarity


COSTS: dict[str, Cost] = {"soft": soft_cost, "neg": neg_cost}


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


SOLVERS: dict[str, Solver] = {"greedy": greedy}
"""Name -> solver; the App's drop-downs and the laws in the tests read this table."""


def correspond(
    annotations: Annotations,
    pairs: Pairs,
    threshold: float = 0.5,
    solver: str = "greedy",
    cost: str = "soft",
) -> NDArray[np.intp]:
    """The unit of every annotation: annotations of one unit mean the same thing, at most one of each rater.

    Parameters
    ----------
    annotations : Annotations
    pairs : Pairs
        Computed from `threshold` or lower.
    threshold : float in [0, 1]
        Pairs of a lower similarity never correspond.
    solver : name in `SOLVERS`
    cost : name in `COSTS`

    Returns
    -------
    (N,) int
        Units 0 to U - 1, numbered by image and first annotation; an annotation nobody else drew is a unit by itself.

    Examples
    --------
    >>> from kalos_core.pairs import compute_pairs
    >>> rows = [
    ...     {"image": 1, "rater": r, "category": "cat", "box": [x, 0, 10, 10]}
    ...     for r, x in [("ann", 0), ("bob", 1), ("ann", 50)]
    ... ]
    >>> annotations = Annotations.from_rows(rows)
    >>> correspond(annotations, compute_pairs(annotations)).tolist()
    [0, 0, 1]
    """
    solve = lookup(SOLVERS, solver, "solver")
    cost_function = lookup(COSTS, cost, "cost")
    label = solve(annotations, pairs.at_least(threshold), cost_function)
    return _numbered(annotations, label)


def strict_order(annotations: Annotations, pairs: Pairs, cost: Cost) -> NDArray[np.intp]:
    """(P,) the candidates by image, cost, similarity, and then by what does not depend on any order of the input."""
    same_class = annotations.category[pairs.left] == annotations.category[pairs.right]
    costs = cost(pairs.similarity, same_class)
    image = annotations.image[pairs.left]
    order = np.lexsort((-pairs.similarity, costs, image))
    tied = (
        (image[order][1:] == image[order][:-1])
        & (costs[order][1:] == costs[order][:-1])
        & (pairs.similarity[order][1:] == pairs.similarity[order][:-1])
    )
    if not tied.any():
        return order
    in_tie = np.concatenate([[False], tied]) | np.concatenate([tied, [False]])
    rank = np.zeros(len(annotations), np.intp)
    rows = np.unique(np.concatenate([pairs.left[order[in_tie]], pairs.right[order[in_tie]]]))
    rank[rows] = rank_rows(annotations, rows, pairs.kind)
    first = np.minimum(rank[pairs.left], rank[pairs.right])
    second = np.maximum(rank[pairs.left], rank[pairs.right])
    return np.lexsort((second, first, -pairs.similarity, costs, image))


def rank_rows(annotations: Annotations, rows: NDArray[np.intp], kind: str) -> NDArray[np.intp]:
    """(M,) rank of each row by geometry, class name, rater name and id: the same for any order of the input."""
    keys: list[NDArray[Any]] = [
        *annotations.shapes[kind].tie_keys(rows),
        _alphabetical(annotations.categories)[annotations.category[rows]],
        _alphabetical(annotations.raters)[annotations.rater[rows]],
        _alphabetical(annotations.id[rows]),
    ]
    rank = np.empty(len(rows), np.intp)
    rank[np.lexsort(keys[::-1])] = np.arange(len(rows))
    return rank


def _rater_bits(annotations: Annotations) -> NDArray[np.uint64]:
    """(N, W) the set of raters of each annotation's cluster, at first its own rater, W words of 64 bits."""
    words = max(1, -(-len(annotations.raters) // WORD))
    bits = np.zeros((len(annotations), words), np.uint64)
    bit = np.left_shift(np.uint64(1), (annotations.rater % WORD).astype(np.uint64))
    bits[np.arange(len(annotations)), annotations.rater // WORD] = bit
    return bits


def _numbered(annotations: Annotations, label: NDArray[np.intp]) -> NDArray[np.intp]:
    """Labels -> 0 to U - 1, by image and then by the first annotation of the unit."""
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.intp)
    number[np.lexsort((first, annotations.image[first]))] = np.arange(len(first))
    return number[inverse]


def _alphabetical(values: NDArray[Any]) -> NDArray[np.intp]:
    """Rank of each value; ids of several types are compared as text, and 1 is told from "1" by its type."""
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1].reshape(-1)
    keys = [(str(value), type(value).__name__) for value in values]
    place = {key: position for position, key in enumerate(sorted(set(keys)))}
    return np.array([place[key] for key in keys], dtype=np.intp)
