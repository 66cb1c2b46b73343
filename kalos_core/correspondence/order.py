"""Strict order of candidates, which makes every solver independent of the order of its input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import short
from kalos_core.correspondence.costs import Cost
from kalos_core.options import checked
from kalos_core.pairs import Pairs


def pair_costs(annotations: Annotations, pairs: Pairs, cost: Cost) -> NDArray[np.float64]:
    """Return (P,) the cost of every pair."""
    return cost(pairs.similarity, annotations.category[pairs.left] == annotations.category[pairs.right])


@checked
def strict_order(annotations: Annotations, pairs: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Return (P,) the order of candidates: by image, cost, similarity, and then by properties other than order."""
    costs = pair_costs(annotations, pairs, cost)
    image = annotations.image[pairs.left]
    order = np.argsort(costs)  # the order of ties does not matter; it is set below
    order = order[np.argsort(short(image)[order], kind="stable")]
    tied = (image[order][1:] == image[order][:-1]) & (costs[order][1:] == costs[order][:-1])
    if not tied.any():
        return order
    in_tie = np.flatnonzero(np.concatenate([[False], tied]) | np.concatenate([tied, [False]]))
    equal = order[in_tie]
    left, right = pairs.left[equal], pairs.right[equal]
    rank = np.zeros(len(annotations), np.intp)
    rows = np.unique(np.concatenate([left, right]))
    rank[rows] = rank_rows(annotations, rows, pairs.kind)
    first, second = np.minimum(rank[left], rank[right]), np.maximum(rank[left], rank[right])
    order[in_tie] = equal[np.lexsort((second, first, -pairs.similarity[equal], costs[equal], image[equal]))]
    return order


@checked
def rank_rows(annotations: Annotations, rows: NDArray[np.intp], kind: str) -> NDArray[np.intp]:
    """Rank (M,) rows by geometry, class name, rater name and id, independently of the order of the input."""
    keys: list[NDArray[Any]] = [
        *annotations.shapes[kind].tie_keys(rows),
        _alphabetical(annotations.categories)[annotations.category[rows]],
        rank_raters(annotations)[annotations.rater[rows]],
        _alphabetical(annotations.id[rows]),
    ]
    rank = np.empty(len(rows), np.intp)
    rank[np.lexsort(keys[::-1])] = np.arange(len(rows))
    return rank


def rank_contents(annotations: Annotations, rows: NDArray[np.intp], kind: str) -> NDArray[np.uint64]:
    """Return (M,) a number for the shape and class of each row, equal for equal annotations in an image by any rater.

    Sums of these numbers identify what raters annotated in an image, in any order of raters or rows.
    """
    if not len(rows):
        return np.zeros(0, np.uint64)
    keys = [_alphabetical(annotations.categories)[annotations.category[rows]], *annotations.shapes[kind].tie_keys(rows)]
    keys.append(annotations.image[rows])
    order = np.lexsort(keys)
    changes = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    rank = np.concatenate([[0], np.cumsum(changes)])[: len(rows)]
    image = annotations.image[rows][order]
    within = rank - rank[np.searchsorted(image, image)]
    number = np.empty(len(rows), np.uint64)
    number[order] = np.random.default_rng(0).integers(0, 1 << 64, int(within.max(initial=0)) + 1, np.uint64)[within]
    return number


def rank_raters(annotations: Annotations) -> NDArray[np.intp]:
    """Return (R,) the alphabetical position of each rater's name."""
    return _alphabetical(annotations.raters)


def _alphabetical(values: NDArray[Any]) -> NDArray[np.intp]:
    """Rank values; ids of several types are compared as text, and 1 is distinguished from "1" by its type."""
    if values.dtype.kind not in "OT":  # NumPy 2.4.6 crashes when quicksort of its text type falls back to heapsort
        return np.unique(values, return_inverse=True)[1].reshape(-1)
    keys = [(str(value), type(value).__name__) for value in values]
    index = {key: position for position, key in enumerate(sorted(set(keys)))}
    return np.array([index[key] for key in keys], dtype=np.intp)
