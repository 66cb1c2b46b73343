"""Expectation-maximisation on answers: estimates the class of each item and the confusion of each rater.

Letters used in shapes: I items, P patterns of answers, R raters, K classes, A answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

SETTLED = 1e-6
"""Convergence: largest change of an item between iterations, of its probabilities summed over classes."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Items by their answers: items with the same answers of the same raters form one pattern.

    Parameters
    ----------
    table : (P, R * K) sparse float64
        1 where a rater gave an answer, at rater * K + answer.
    count : (P,) int
        Number of items with each pattern.
    of_item : (I,) int
        Pattern of each item, -1 if it has no answer.
    raters, classes : int
    """

    table: scipy.sparse.csr_array
    count: NDArray[np.intp]
    of_item: NDArray[np.intp]
    raters: int
    classes: int

    @classmethod
    def of(
        cls,
        item: NDArray[np.intp],
        rater: NDArray[np.intp],
        answer: NDArray[np.intp],
        size: tuple[int, int, int],
    ) -> Patterns:
        """Group A answers into patterns; `size` is (I, R, K).

        Examples
        --------
        >>> item, rater, answer = np.array([[0, 0, 1, 1, 3], [0, 1, 1, 0, 0], [1, 0, 0, 1, 1]])
        >>> found = Patterns.of(item, rater, answer, (4, 2, 2))
        >>> (found.of_item[0] == found.of_item[1]).item(), found.of_item[2].item(), sorted(found.count.tolist())
        (True, -1, [1, 2])
        """
        items, raters, classes = size
        column = rater * classes + answer
        # a random number for each column, so large that sums of different columns are practically never equal
        number = np.random.default_rng(0).integers(1, 1 << 63, raters * classes, dtype=np.uint64)
        key = np.zeros(items, np.uint64)
        np.add.at(key, item, number[column])  # wraps around
        answered = np.flatnonzero(np.bincount(item, minlength=items))
        _, first, pattern, count = np.unique(key[answered], return_index=True, return_inverse=True, return_counts=True)
        of_item, row = np.full((2, items), -1, np.intp)
        of_item[answered] = pattern
        row[answered[first]] = np.arange(len(first))
        kept = row[item] >= 0
        ones = np.ones(int(kept.sum()))
        table = scipy.sparse.csr_array((ones, (row[item[kept]], column[kept])), shape=(len(first), raters * classes))
        return cls(table, count, of_item, raters, classes)

    def shares(self, weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Compute the shares (P, K) of the answers: Dawid & Skene's first estimate (Eq. 3.1).

        With `weight` (R,), answers count by the weight of their rater; all classes have equal shares if all weights are
        0.
        """
        each = np.tile(np.eye(self.classes), (self.raters, 1))
        votes = np.asarray(self.table @ (each if weight is None else each * np.repeat(weight, self.classes)[:, None]))
        whole = votes.sum(axis=1, keepdims=True)
        return np.where(whole > 0, votes / np.where(whole > 0, whole, 1), 1 / self.classes)

    def expected(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute expected answers (R, K, K) by rater, class (row) and answer (column), from probabilities (P, K)."""
        by_answer = np.asarray(self.table.T @ (self.count[:, None] * probability))
        return by_answer.reshape(self.raters, self.classes, self.classes).swapaxes(1, 2)

    def of_own_answers(self, probability: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the columns (A',) of the answers of patterns, and the value of `probability` (P, K) for each."""
        pattern = np.repeat(np.arange(len(self.count)), np.diff(self.table.indptr))
        return self.table.indices.astype(np.intp), probability[pattern, self.table.indices % self.classes]


@dataclass(frozen=True, eq=False)
class Expectation:
    """Result of expectation-maximisation.

    Parameters
    ----------
    probability : (P, K) float64
        Probability of each class, for each pattern.
    confusion : (R, K, K) float64
        Probability of each answer (column) if a class is true (row).
    prior : (K,) float64
        Probability of each class before any answer.
    iterations : int
    converged : bool
    """

    probability: NDArray[np.float64]
    confusion: NDArray[np.float64]
    prior: NDArray[np.float64]
    iterations: int
    converged: bool


Shares = Callable[[NDArray[np.float64], float], NDArray[np.float64]]
"""Function from expected answers (R, K, K), and the number added to them, to confusion (R, K, K)."""


def own_confusion(expected: NDArray[np.float64], added: float) -> NDArray[np.float64]:
    """Normalize each row (Dawid & Skene 1979, Eq. 2.3), after adding `added` answers of the average rater to it.

    NaN for a class with no expected answer.

    Examples
    --------
    Two raters; the second is not expected to have answered an item of the second class:

    >>> expected = np.array([[[3.0, 1.0], [0.0, 4.0]], [[4.0, 0.0], [0.0, 0.0]]])
    >>> own_confusion(expected, 0).tolist()
    [[[0.75, 0.25], [0.0, 1.0]], [[1.0, 0.0], [nan, nan]]]
    >>> own_confusion(expected, 4).tolist()
    [[[0.8125, 0.1875], [0.0, 1.0]], [[0.9375, 0.0625], [0.0, 1.0]]]
    """
    counts = expected + added * _shares(expected.sum(axis=0)) if added else expected
    return _shares(counts)


def one_coin(expected: NDArray[np.float64], added: float) -> NDArray[np.float64]:
    """Estimate one probability of a right answer per rater, for all classes; all wrong answers are equally likely.

    Examples
    --------
    >>> expected = np.array([[[3.0, 1.0], [0.0, 4.0]], [[2.0, 2.0], [0.0, 0.0]]])
    >>> one_coin(expected, 0)[:, 0].tolist(), one_coin(expected, 4)[:, 0].tolist()
    ([[0.875, 0.125], [0.5, 0.5]], [[0.8333333333333334, 0.16666666666666663], [0.625, 0.375]])
    """
    classes = expected.shape[1]
    right, whole = np.trace(expected, axis1=1, axis2=2), expected.sum(axis=(1, 2))
    answers = np.stack([right, np.maximum(whole - right, 0)], axis=1)[:, None]  # (R, 1, 2): right and wrong
    skill = own_confusion(answers, added)[:, :, :1]
    return np.where(np.eye(classes, dtype=bool), skill, (1 - skill) / max(classes - 1, 1))


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the shares along the last axis; NaN where it sums to 0."""
    whole = counts.sum(axis=-1, keepdims=True)
    return np.asarray(counts / np.where(whole > 0, whole, np.nan))


def expectation_maximisation(patterns: Patterns, shares: Shares, added: float, iterations: int) -> Expectation:
    """Alternate estimates of confusion and prior with those of class probabilities until convergence (`SETTLED`).

    The start is the share of the answers of each item. If nothing is added, no step lowers the likelihood.

    Parameters
    ----------
    patterns : Patterns
        At least one pattern.
    shares : Shares
    added : float
        Number of answers of the average rater that are added to those of each rater, for each class.
    iterations : int
        Maximum number, at least 1.

    Examples
    --------
    >>> item, rater, answer = np.array([[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    >>> found = expectation_maximisation(Patterns.of(item, rater, answer, (2, 2, 2)), own_confusion, 0, 100)
    >>> found.confusion[0].tolist(), found.prior.tolist(), found.converged
    ([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5], True)
    """
    probability = patterns.shares()
    items = patterns.count.sum()
    for iteration in range(1, iterations + 1):
        prior = patterns.count @ probability / items
        confusion = shares(patterns.expected(probability), added)
        before, probability = probability, _probability(patterns, confusion, prior, probability)
        if np.abs(probability - before).sum(axis=1).max() <= SETTLED:
            return Expectation(probability, confusion, prior, iteration, True)
    return Expectation(probability, confusion, prior, iterations, False)


def _probability(
    patterns: Patterns,
    confusion: NDArray[np.float64],
    prior: NDArray[np.float64],
    otherwise: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Compute the class probabilities (P, K) given the answers (Eq. 2.5); the old ones if no class is possible."""
    with np.errstate(divide="ignore"):  # the logarithm of 0: impossible
        logs, log_prior = np.log(np.nan_to_num(confusion, nan=1.0)), np.log(prior)  # NaN: no item has that class
    by_answer = np.ascontiguousarray(logs.swapaxes(1, 2)).reshape(-1, patterns.classes)
    scores = np.asarray(patterns.table @ by_answer)
    scores += log_prior
    best = scores.max(axis=1, keepdims=True)
    possible = best > -np.inf
    scores -= np.where(possible, best, 0)
    np.exp(scores, out=scores)
    scores /= np.where(possible, scores.sum(axis=1, keepdims=True), 1)
    return scores if possible.all() else np.where(possible, scores, otherwise)
