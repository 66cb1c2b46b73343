"""Measures of classifiers that score concepts of images, against one truth (Nowak & Rüger §4.2).

Letters used in shapes: S classifiers, I images, K concepts, n images of one concept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError, listed
from kalos_core.pixels.sums import divide


def roc_points(
    scores: NDArray[np.float64], truth: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The receiver operating curve of each classifier, from the highest score down.

    Parameters
    ----------
    scores : (S, n) float64
    truth : (n,) bool
        With both positives and negatives.

    Returns
    -------
    fpr, tpr : (S, n + 1) float64
        From (0, 0) to (1, 1); images of one score enter together, and repeat their point.

    Examples
    --------
    >>> fpr, tpr = roc_points(np.array([[0.9, 0.8, 0.8, 0.1]]), np.array([True, True, False, False]))
    >>> fpr.tolist(), tpr.tolist()
    ([[0.0, 0.0, 0.5, 0.5, 1.0]], [[0.0, 0.5, 1.0, 1.0, 1.0]])
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    in_order = np.take_along_axis(scores, order, axis=1)
    n = scores.shape[1]
    last = np.concatenate([in_order[:, 1:] != in_order[:, :-1], np.ones((len(scores), 1), np.bool_)], axis=1)
    end = np.minimum.accumulate(np.where(last, np.arange(n), n)[:, ::-1], axis=1)[:, ::-1]  # of each run of ties
    positive = truth[order]
    rates = []
    for hits in (~positive, positive):
        cumulated = np.take_along_axis(np.cumsum(hits, axis=1), end, axis=1)
        rates.append(np.concatenate([np.zeros((len(scores), 1)), cumulated / cumulated[:, -1:]], axis=1))
    return rates[0], rates[1]


def roc_area(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> NDArray[np.float64]:
    """(S,) area under curves (S, L): the chance that a positive scores above a negative, ties counting half.

    Examples
    --------
    >>> roc_area(*roc_points(np.array([[0.9, 0.8, 0.8, 0.1]]), np.array([True, True, False, False]))).tolist()
    [0.875]
    """
    return np.asarray((np.diff(fpr, axis=1) * (tpr[:, 1:] + tpr[:, :-1]) / 2).sum(axis=1))


def equal_error_rate(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> NDArray[np.float64]:
    """(S,) the rate at which curves (S, L), linear between points, have as many false alarms as misses.

    Examples
    --------
    Misses fall from 1/2 to 0 while false alarms rise from 0 to 1/2: both are 1/4 half way.

    >>> equal_error_rate(*roc_points(np.array([[0.9, 0.8, 0.8, 0.1]]), np.array([True, True, False, False]))).tolist()
    [0.25]
    """
    excess = fpr - (1 - tpr)  # from -1 up to 1
    after = np.argmax(excess >= 0, axis=1)[:, None]
    start, end = (np.take_along_axis(excess, index, axis=1) for index in (after - 1, after))
    low, high = (np.take_along_axis(fpr, index, axis=1) for index in (after - 1, after))
    return np.asarray(low - start / (end - start) * (high - low))[:, 0]


def concept_measures(
    scores: NDArray[np.float64], truth: NDArray[np.bool_], known: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """AUC and EER of each classifier and concept.

    Parameters
    ----------
    scores : (S, I, K) float64
    truth, known : (I, K) bool
        Whether a concept was chosen, and whether there is an answer at all.

    Returns
    -------
    auc, eer : (S, K) float64
        NaN for a concept that is chosen in none, or in all, of its images.

    Examples
    --------
    >>> scores = np.array([[[0.9, 0.5], [0.2, 0.4]]])
    >>> truth = np.array([[True, False], [False, False]])
    >>> auc, eer = concept_measures(scores, truth, np.ones((2, 2), bool))
    >>> auc.tolist(), eer.tolist()
    ([[1.0, nan]], [[0.0, nan]])
    """
    classifiers, _, concepts = scores.shape
    auc, eer = np.full((2, classifiers, concepts), np.nan)
    for concept in range(concepts):
        rows = known[:, concept]
        chosen = truth[rows, concept]
        if chosen.any() and not chosen.all():
            curve = roc_points(scores[:, rows, concept], chosen)
            auc[:, concept], eer[:, concept] = roc_area(*curve), equal_error_rate(*curve)
    return auc, eer


def tree_distances(parents: Mapping[str, str | None], concepts: Sequence[str]) -> NDArray[np.float64]:
    """(K, K) distance of every two concepts in a tree: edges between them, as a share of the longest way.

    Parameters
    ----------
    parents : mapping of str to str or None
        The node above each node. A node without one, or that is not named, is a root; several roots hang on one more.
    concepts : (K,) str
        Nodes of the tree, inner ones too.

    Returns
    -------
    (K, K) float64 in [0, 1]
        1 between the two concepts that are farthest apart.

    Raises
    ------
    InputError
        For a concept that is not in the tree, or nodes above one another in a circle.

    Examples
    --------
    >>> parents = {"cat": "animal", "dog": "animal", "oak": "plant"}
    >>> tree_distances(parents, ["cat", "dog", "oak"]).tolist()
    [[0.0, 0.5, 1.0], [0.5, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    nodes = {*parents, *(parent for parent in parents.values() if parent is not None)}
    strange = [name for name in concepts if name not in nodes]
    if strange:
        raise InputError(f"tree: expected all concepts in it, got none of {listed(map(repr, strange))}")
    paths = [_path_to_root(name, parents) for name in concepts]
    edges = np.array([[len(a) + len(b) - 2 * _shared(a, b) for b in paths] for a in paths], np.float64)
    edges = edges.reshape(len(paths), len(paths))
    return np.asarray(edges / max(edges.max(initial=0), 1))


def _path_to_root(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """A node and all above it, the root first."""
    path: list[str] = []
    node: str | None = name
    while node is not None:
        if node in path:
            raise InputError(f"tree: expected a root above {name!r}, got a circle: {' - '.join([*path, node])}")
        path.append(node)
        node = parents.get(node)
    return path[::-1]


def _shared(first: list[str], second: list[str]) -> int:
    """How many nodes two paths from the root have in common."""
    apart = [index for index, (a, b) in enumerate(zip(first, second, strict=False)) if a != b]
    return apart[0] if apart else min(len(first), len(second))


def ontology_scores(
    named: NDArray[np.bool_],
    truth: NDArray[np.bool_],
    known: NDArray[np.bool_],
    distances: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """How near the concepts that classifiers name lie to the true ones: 1 minus the mean cost of a concept.

    A miss costs its distance in the tree to the nearest concept that the classifier names, a false label its
    distance to the nearest true one, each 1 if there is none; a hit costs nothing. The mean is over the concepts that
    are true or named, with weights. (After Nowak & Lukashevich 2009, in the reading of Nowak & Rüger §4.2: the costs of
    links are ours, and of the agreement between raters only a weight remains.)

    Parameters
    ----------
    named : (S, I, K) bool
        Concepts that each classifier names.
    truth, known : (I, K) bool
        Concepts without an answer count for nothing.
    distances : (K, K) float64 in [0, 1]
    weights : (K,) float64

    Returns
    -------
    (S, I) float64 in [0, 1]
        1 where nothing is true and nothing named; NaN without any answer, or where nothing that counts has weight.

    Examples
    --------
    Truth: cat. Naming cat is right; naming dog is a miss and a false label at 1/2 each; naming nothing misses by 1.

    >>> distances = tree_distances({"cat": "animal", "dog": "animal", "oak": "plant"}, ["cat", "dog", "oak"])
    >>> named = np.array([[[True, False, False]], [[False, True, False]], [[False, False, False]]])
    >>> truth, known = np.array([[True, False, False]]), np.ones((1, 3), bool)
    >>> ontology_scores(named, truth, known, distances, np.ones(3)).ravel().tolist()
    [1.0, 0.5, 0.0]
    """
    named, true = named & known, truth & known
    cost = np.where(true & ~named, _nearest(named, distances), 0.0)
    cost += np.where(named & ~true, _nearest(true, distances), 0.0)
    either = named | true
    total = either @ weights
    score = 1 - divide(cost @ weights, total)
    score[~either.any(axis=-1)] = 1.0
    score[:, ~known.any(axis=-1)] = np.nan
    return np.asarray(score)


def _nearest(chosen: NDArray[np.bool_], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., K) distance of each concept to the nearest of those chosen (..., K), 1 where none is."""
    nearest = np.ones(chosen.shape)
    for concept, from_it in enumerate(distances):
        np.minimum(nearest, np.where(chosen[..., concept, None], from_it, 1.0), out=nearest)
    return nearest
