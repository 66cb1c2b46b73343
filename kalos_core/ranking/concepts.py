"""Measures of classifiers that score concepts of images, against one truth (Nowak & Rüger §4.2).

Letters used in shapes: S classifiers, I images, K concepts, n images of one concept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import distinct_codes, divide
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.ranking.ties import exact_mean

MOST_IMAGES = 2_000_000
"""Number of images up to which products of three counts, used for equal error rates, fit a 64-bit integer."""


@dataclass(frozen=True, eq=False)
class RocCounts:
    """ROC curves of S classifiers or B draws as counts, from the highest score of n images down.

    Parameters
    ----------
    alarms, hits : (S, n + 1) int
        Numbers of negatives and positives with at least a given score. Images with equal scores enter together and
        repeat their point. For B draws, (B, m + 1) float64, without points within a straight line.

    Examples
    --------
    >>> counts = RocCounts.of(np.array([[0.9, 0.8, 0.8, 0.1]]), np.array([True, True, False, False]))
    >>> counts.alarms.tolist(), counts.hits.tolist()
    ([[0, 0, 1, 1, 2]], [[0, 1, 2, 2, 2]])
    """

    alarms: NDArray[Any]
    hits: NDArray[Any]

    @classmethod
    def of(cls, scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> RocCounts:
        """Return the curves of scores (S, n) under a truth (n,) with both positives and negatives."""
        order = np.argsort(-scores, axis=1, kind="stable")
        in_order = np.take_along_axis(scores, order, axis=1)
        n = scores.shape[1]
        last = np.concatenate([in_order[:, 1:] != in_order[:, :-1], np.ones((len(scores), 1), np.bool_)], axis=1)
        end = np.minimum.accumulate(np.where(last, np.arange(n), n)[:, ::-1], axis=1)[:, ::-1]  # of each run of ties
        positive = truth[order]
        counts: list[NDArray[np.integer]] = []
        for which in (~positive, positive):
            cumulated = np.take_along_axis(np.cumsum(which, axis=1, dtype=np.int64), end, axis=1)
            counted = np.concatenate([np.zeros((len(scores), 1), np.int64), cumulated], axis=1)
            counts.append(counted.astype(object) if n > MOST_IMAGES else counted)
        return cls(counts[0], counts[1])

    @classmethod
    def of_draws(cls, scores: NDArray[np.float64], truth: NDArray[np.bool_], times: NDArray[np.float64]) -> RocCounts:
        """Return the curves of the scores (n,) of one classifier under a truth (n,) for B draws with counts (n, B).

        Examples
        --------
        >>> times = np.array([[1.0, 0.0], [1.0, 2.0], [1.0, 1.0]])
        >>> RocCounts.of_draws(np.array([0.9, 0.8, 0.1]), np.array([True, False, False]), times).alarms.tolist()
        [[0.0, 0.0, 2.0], [0.0, 0.0, 3.0]]
        """
        from scipy import sparse  # slow to import, and needed here only

        point, points = _points(scores, truth)
        row = np.where(truth, points, 0) + point
        sums = sparse.csr_array((np.ones(len(row)), (row, np.arange(len(row)))), (2 * points, len(row)))
        counts = np.zeros((2, points + 1, times.shape[1]))
        np.cumsum(np.asarray(sums @ times).reshape(2, points, -1), axis=1, out=counts[:, 1:])
        return cls(counts[0].T, counts[1].T)

    @property
    def negatives(self) -> NDArray[Any]:
        """(S,) number of negatives."""
        return np.asarray(self.alarms[:, -1])

    @property
    def positives(self) -> NDArray[Any]:
        """(S,) number of positives."""
        return np.asarray(self.hits[:, -1])

    def areas(self) -> Ratios:
        """Return the (S,) areas under the curves: the probability that a positive scores above a negative, ties half.

        Examples
        --------
        >>> counts = RocCounts.of(np.array([[0.9, 0.8, 0.8, 0.1]]), np.array([True, True, False, False]))
        >>> counts.areas().above.tolist(), counts.areas().below.tolist()
        ([7], [8])
        """
        twice = (np.diff(self.alarms, axis=1) * (self.hits[:, 1:] + self.hits[:, :-1])).sum(axis=1)
        return Ratios(twice, 2 * self.negatives * self.positives)

    def equal_error_rates(self) -> Ratios:
        """Return the (S,) equal error rates of the curves, interpolated linearly between points.

        Examples
        --------
        The miss rate falls from 1/2 to 0 while the false alarm rate rises from 0 to 1/2: halfway, both are 1/4.

        >>> counts = RocCounts.of(np.array([[0.9, 0.8, 0.8, 0.1]]), np.array([True, True, False, False]))
        >>> counts.equal_error_rates().values.tolist()
        [0.25]
        """
        # (false alarm rate - miss rate) times negatives times positives, ascending
        negatives, positives = self.negatives[:, None], self.positives[:, None]
        excess = self.alarms * positives + self.hits * negatives - negatives * positives
        after = (excess < 0).sum(axis=1)[:, None]
        start, end = (np.take_along_axis(excess, index, axis=1)[:, 0] for index in (after - 1, after))
        low, high = (np.take_along_axis(self.alarms, index, axis=1)[:, 0] for index in (after - 1, after))
        return Ratios(low * (end - start) - start * (high - low), self.negatives * (end - start))


def _points(scores: NDArray[np.float64], truth: NDArray[np.bool_]) -> tuple[NDArray[np.intp], int]:
    """Return the (n,) point of the curve at which each image enters, and the number of points.

    A straight line has a point at its end only.
    """
    distinct, group = distinct_codes(-scores)
    hits = np.bincount(group, truth, len(distinct))
    is_mixed = (hits > 0) & (hits < np.bincount(group))
    turns = np.diff(hits > 0) | is_mixed[1:] | is_mixed[:-1]
    return np.concatenate([[0], np.cumsum(turns)])[group], int(turns.sum()) + 1


class Ratios(NamedTuple):
    """Quotients of integers, 0 / 0 where undefined."""

    above: NDArray[Any]
    below: NDArray[Any]

    @property
    def values(self) -> NDArray[np.float64]:
        """Quotients as floats, NaN where undefined."""
        return divide(self.above, self.below)


def concept_measures(
    scores: NDArray[np.float64], truth: NDArray[np.bool_], known: NDArray[np.bool_]
) -> tuple[Ratios, Ratios]:
    """Compute AUC and EER of each classifier and concept.

    Parameters
    ----------
    scores : (S, I, K) float64
    truth, known : (I, K) bool
        Whether a concept is present in an image, and whether this is known.

    Returns
    -------
    auc, eer : Ratios of (S, K)
        Undefined for a concept that is present in none, or in all, of its images.

    Examples
    --------
    >>> scores = np.array([[[0.9, 0.5], [0.2, 0.4]]])
    >>> truth = np.array([[True, False], [False, False]])
    >>> auc, eer = concept_measures(scores, truth, np.ones((2, 2), bool))
    >>> auc.values.tolist(), eer.values.tolist()
    ([[1.0, nan]], [[0.0, nan]])
    """
    classifiers, images, concepts = scores.shape
    whole = np.dtype(object if images > MOST_IMAGES else np.int64)
    auc, eer = (Ratios(*np.zeros((2, classifiers, concepts), whole)) for _ in range(2))
    for concept in range(concepts):
        rows = known[:, concept]
        chosen = truth[rows, concept]
        if chosen.any() and not chosen.all():
            curves = RocCounts.of(scores[:, rows, concept], chosen)
            for found, of_concept in ((auc, curves.areas()), (eer, curves.equal_error_rates())):
                found.above[:, concept], found.below[:, concept] = of_concept
    return auc, eer


def tree_distances(parents: Mapping[str, str | None], concepts: Sequence[str]) -> NDArray[np.float64]:
    """Return the (K, K) distances of concepts in a tree: the edges between two, relative to the longest path.

    The two concepts that are farthest apart have distance 1. For parameters and errors, see `tree_edges`.

    Examples
    --------
    >>> parents = {"cat": "animal", "dog": "animal", "oak": "plant"}
    >>> tree_distances(parents, ["cat", "dog", "oak"]).tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    return as_distances(tree_edges(parents, concepts))


def tree_edges(parents: Mapping[str, str | None], concepts: Sequence[str]) -> NDArray[np.intp]:
    """Return the (K, K) numbers of edges between every two concepts in a tree.

    Parameters
    ----------
    parents : mapping of str to str or None
        Parent of each node. A node that is missing or has the parent None is a root; several roots share a common
        parent.
    concepts : (K,) str
        Nodes of the tree, leaves or inner nodes.

    Returns
    -------
    (K, K) int

    Raises
    ------
    InputError
        For a concept that is not in the tree, or a cycle of nodes.

    Examples
    --------
    >>> tree_edges({"cat": "animal", "dog": "animal", "oak": "plant"}, ["cat", "dog", "oak"]).tolist()
    [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
    """
    nodes = {*parents, *(parent for parent in parents.values() if parent is not None)}
    strange = [name for name in concepts if name not in nodes]
    if strange:
        raise InputError(f"tree: expected all concepts in it, got none of {listed(map(repr_of, strange))}")
    paths = [_path_to_root(name, parents) for name in concepts]
    edges = np.array([[len(a) + len(b) - 2 * _shared(a, b) for b in paths] for a in paths], np.intp)
    return edges.reshape(len(paths), len(paths))


def as_distances(edges: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return (K, K) edges relative to the longest path.

    Examples
    --------
    >>> as_distances(np.array([[0, 4], [4, 0]])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return np.asarray(edges / _longest(edges))


def _longest(edges: NDArray[np.intp]) -> int:
    return max(int(edges.max(initial=0)), 1)


def _path_to_root(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """Return a node and its ancestors, the root first."""
    path: list[str] = []
    node: str | None = name
    while node is not None:
        if node in path:
            raise InputError(f"tree: expected a root above {name!r}, got a cycle: {' - '.join([*path, node])}")
        path.append(node)
        node = parents.get(node)
    return path[::-1]


def _shared(first: list[str], second: list[str]) -> int:
    """Return the number of nodes that two paths from the root have in common."""
    apart = [index for index, (a, b) in enumerate(zip(first, second, strict=False)) if a != b]
    return apart[0] if apart else min(len(first), len(second))


def ontology_scores(
    named: NDArray[np.bool_],
    truth: NDArray[np.bool_],
    known: NDArray[np.bool_],
    distances: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return ontology scores: 1 minus the mean tree distance between predicted and true concepts.

    A miss costs its distance in the tree to the nearest predicted concept, a false label its distance to the nearest
    true concept, and 1 if there is none; a hit costs nothing. The score is 1 minus the weighted mean cost of the
    concepts that are true or predicted. It follows Nowak & Lukashevich (2009) as read by Nowak & Rüger §4.2; the costs
    of links are our own, and the agreement between raters enters only as a weight.

    Parameters
    ----------
    named : (S, I, K) bool
        Concepts that each classifier predicts.
    truth, known : (I, K) bool
        Whether a concept is present in an image, and whether this is known; unknown concepts are ignored.
    distances : (K, K) float64 in [0, 1]
    weights : (K,) float64

    Returns
    -------
    (S, I) float64 in [0, 1]
        1 where nothing is true and nothing predicted; NaN where no concept is known or the total weight is 0.

    Examples
    --------
    The truth is cat. Cat is correct; dog is a miss and a false label at 1/2 each; no prediction is a miss at 1.

    >>> distances = tree_distances({"cat": "animal", "dog": "animal", "oak": "plant"}, ["cat", "dog", "oak"])
    >>> named = np.array([[[True, False, False]], [[False, True, False]], [[False, False, False]]])
    >>> truth, known = np.array([[True, False, False]]), np.ones((1, 3), bool)
    >>> ontology_scores(named, truth, known, distances, np.ones(3)).ravel().tolist()
    [1.0, 0.5, 0.0]
    """
    named, true = named & known, truth & known
    cost = np.where(true & ~named, _nearest(named, distances, 1.0), 0.0)
    cost += np.where(named & ~true, _nearest(true, distances, 1.0), 0.0)
    either = named | true
    total = either @ weights
    score = 1 - divide(cost @ weights, total)
    score[~either.any(axis=-1)] = 1.0
    score[:, ~known.any(axis=-1)] = np.nan
    return np.asarray(score)


def exact_ontology_mean(
    named: NDArray[np.bool_],
    truth: NDArray[np.bool_],
    known: NDArray[np.bool_],
    edges: NDArray[np.intp],
    weights: NDArray[np.float64],
) -> float:
    """Return the mean ontology score of one classifier over images, computed with integers and rounded once.

    Parameters
    ----------
    named, truth, known : (I, K) bool
    edges : (K, K) int
        See `tree_edges`.
    weights : (K,) float64

    Examples
    --------
    >>> named, truth = np.array([[False, True], [True, False]]), np.array([[True, False], [True, False]])
    >>> exact_ontology_mean(named, truth, np.ones((2, 2), bool), np.array([[0, 3], [3, 0]]), np.ones(2))
    0.5
    """
    named, true, longest = named & known, truth & known, _longest(edges)
    cost = np.where(true & ~named, _nearest(named, edges, longest), 0)
    cost += np.where(named & ~true, _nearest(true, edges, longest), 0)
    ratios = [weight.as_integer_ratio() for weight in weights.tolist()]
    common = max(below for _, below in ratios)  # powers of 2
    whole = np.array([above * (common // below) for above, below in ratios], object)
    either = named | true
    total, lost = either.astype(object) @ whole * longest, cost.astype(object) @ whole
    alone = known.any(axis=1) & ~either.any(axis=1)  # nothing is true and nothing predicted
    total[alone], lost[alone] = 1, 0
    scored = total != 0
    return exact_mean((total - lost)[scored].tolist(), total[scored].tolist(), int(scored.sum()))


def _nearest(chosen: NDArray[np.bool_], distances: NDArray[Any], farthest: float) -> NDArray[Any]:
    """Return the (..., K) distance of each concept to the nearest chosen one (..., K); `farthest` without any."""
    nearest = np.full(chosen.shape, farthest, distances.dtype)
    for concept, from_it in enumerate(distances):
        np.minimum(nearest, np.where(chosen[..., concept, None], from_it, farthest), out=nearest)
    return nearest
