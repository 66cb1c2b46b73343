"""Permutation tests of class confusion: independence of the two classes, and Mantel's test of their similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.noise.fit.angles import TestResult

ROUNDS_BEFORE, ROUNDS_BETWEEN = 50, 10
"""Rounds of swaps before the first permutation that counts, and between two of them."""


def independence(
    first: NDArray[np.intp], second: NDArray[np.intp], permutations: int, rng: np.random.Generator
) -> TestResult | None:
    """Test whether the second class depends on the first, among annotations whose classes differ.

    Pearson's chi-squared is compared with permutations that keep the class frequencies on either side and never give an
    annotation the same class twice. A table of confusions has an empty diagonal, which would look like dependence.

    Parameters
    ----------
    first, second : (n,) int
        Classes of either rater, which must differ.
    permutations : int
    rng : Generator

    Returns
    -------
    TestResult or None
        None if there are fewer than two confusions.

    Examples
    --------
    Class 0 is always confused with 1, and class 2 with 3:

    >>> first, second = np.repeat([0, 2], 20), np.repeat([1, 3], 20)
    >>> result = independence(first, second, 99, np.random.default_rng(1))
    >>> result.statistic, result.p_value
    (40.0, 0.01)
    """
    if len(first) < 2:
        return None
    rows, row = np.unique(first, return_inverse=True)
    columns, column = np.unique(second, return_inverse=True)
    expected = np.outer(np.bincount(row), np.bincount(column)) / len(first)
    observed = _chi_squared(row, column, expected)
    permuted, larger = column.copy(), 0
    for number in range(permutations):
        for _ in range(ROUNDS_BETWEEN if number else ROUNDS_BEFORE):
            _swap(rows[row], columns, permuted, rng)
        larger += _chi_squared(row, permuted, expected) >= observed * (1 - 1e-12)
    return TestResult(observed, (larger + 1) / (permutations + 1))


def _chi_squared(row: NDArray[np.intp], column: NDArray[np.intp], expected: NDArray[np.float64]) -> float:
    """Compute Pearson's chi-squared from the nonempty cells; the marginal sums do not change."""
    cell, count = np.unique(row * expected.shape[1] + column, return_counts=True)
    return float((count**2 / expected.ravel()[cell]).sum() - len(row))


def _swap(
    first: NDArray[np.intp], columns: NDArray[np.intp], permuted: NDArray[np.intp], rng: np.random.Generator
) -> None:
    """Do one round of swaps of second classes, in random pairs, then triples, where all classes still differ.

    Each swap has probability ½. With pairs alone, a cycle of three classes would never change.
    """
    for size in (2, 3):
        together = len(first) // size * size
        group = rng.permutation(len(first))[:together].reshape(size, -1)
        giver = np.roll(group, rng.choice((-1, 1)), axis=0)
        differ = (first[group] != columns[permuted[giver]]).all(axis=0)
        allowed = differ & (rng.random(group.shape[1]) < 0.5)
        permuted[group[:, allowed]] = permuted[giver[:, allowed]]


def mantel(
    confusion: NDArray[np.intp], similarity: NDArray[np.float64], permutations: int, rng: np.random.Generator
) -> TestResult | None:
    """Mantel's test: correlation of two class-by-class matrices, compared with permuted classes in one of them.

    The test is two-sided, and uses only classes that were confused at all.

    Parameters
    ----------
    confusion, similarity : (K, K)
        Symmetric matrices; an asymmetric similarity is averaged with its transpose.
    permutations : int
    rng : Generator

    Returns
    -------
    TestResult or None
        None if there are fewer than three classes, or if either matrix is constant.

    Examples
    --------
    >>> near = np.exp(-np.abs(np.subtract.outer(np.arange(6), np.arange(6))))
    >>> result = mantel(np.round(9 * near).astype(int), near, 999, np.random.default_rng(1))
    >>> round(result.statistic, 2), result.p_value < 0.05
    (1.0, True)
    """
    confused = np.flatnonzero((confusion.sum(axis=1) - np.diag(confusion)) > 0)
    left, right = np.triu_indices(len(confused), 1)
    counts = confusion[np.ix_(confused, confused)].astype(np.float64)
    alike = similarity[np.ix_(confused, confused)]
    alike = (alike + alike.T) / 2
    if len(confused) < 3 or not np.ptp(counts[left, right]) or not np.ptp(alike[left, right]):
        return None
    target = _standard(alike[left, right])
    observed = float((_standard(counts[left, right]) * target).mean())
    larger = 0
    for _ in range(permutations):
        order = rng.permutation(len(confused))
        moved = counts[order[left], order[right]]
        larger += bool(abs((_standard(moved) * target).mean()) >= abs(observed) * (1 - 1e-12))
    return TestResult(observed, (larger + 1) / (permutations + 1))


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((values - values.mean()) / values.std())
