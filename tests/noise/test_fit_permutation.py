"""Permutation tests of confusions: vs. all permutations, and on data with and without an effect."""

import itertools

import numpy as np
import pytest
from scipy import stats

from kalos_core.noise.fit.permutation import independence, mantel

RNG = np.random.default_rng


def chi_squared(first, second):
    table = np.zeros((3, 3))
    np.add.at(table, (first, np.array(second)), 1)
    return stats.chi2_contingency(table, correction=False).statistic


def test_chi_squared_is_that_of_scipy():
    first, second = np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.array([1, 2, 1, 0, 2, 0, 0, 1])
    assert independence(first, second, 9, RNG(0)).statistic == pytest.approx(chi_squared(first, second))


def test_the_probability_is_that_of_all_arrangements_without_a_class_twice():
    first, second = np.array([0, 0, 1, 1, 2, 2]), np.array([1, 1, 2, 2, 0, 0])
    allowed = [order for order in set(itertools.permutations(second)) if (first != np.array(order)).all()]
    exact = np.mean([chi_squared(first, order) >= chi_squared(first, second) - 1e-9 for order in allowed])
    assert 0.05 < exact < 0.5
    assert independence(first, second, 800, RNG(0)).p_value == pytest.approx(exact, abs=0.04)


def test_classes_taken_at_random_and_those_that_cannot_be_arranged():
    rng = RNG(1)
    first, second = rng.integers(0, 6, (2, 400))
    differ = first != second
    assert independence(first[differ], second[differ], 199, rng).p_value > 0.05
    assert independence(np.array([0, 0, 1]), np.array([1, 1, 0]), 50, RNG(0)).p_value == 1  # only one arrangement
    assert independence(np.array([0]), np.array([1]), 9, RNG(0)) is None


def symmetric(rng, size):
    matrix = rng.random((size, size))
    return (matrix + matrix.T) / 2


def test_mantel_is_the_correlation_of_the_triangles_against_every_order_of_the_classes():
    rng = RNG(3)
    counts, alike = np.round(10 * symmetric(rng, 5)).astype(int), symmetric(rng, 5)
    over = np.triu_indices(5, 1)
    found = mantel(counts, alike, 2000, rng)
    assert found.statistic == pytest.approx(np.corrcoef(counts[over], alike[over])[0, 1])
    orders = np.array(list(itertools.permutations(range(5))))
    correlations = [np.corrcoef(counts[np.ix_(order, order)][over], alike[over])[0, 1] for order in orders]
    exact = np.mean(np.abs(correlations) >= abs(correlations[0]) - 1e-12)
    assert found.p_value == pytest.approx(exact, abs=0.04)
