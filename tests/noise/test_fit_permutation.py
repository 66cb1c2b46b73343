"""Permutation tests of confusions: against every permutation there is, and on data with and without an effect."""

import itertools

import numpy as np
import pytest
from scipy import stats

from kalos_core.noise.fit.permutation import independence, mantel


def generator(seed=0):
    return np.random.default_rng(seed)


def test_chi_squared_is_that_of_scipy():
    first, second = np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.array([1, 2, 1, 0, 2, 0, 0, 1])
    table = np.zeros((3, 3))
    np.add.at(table, (first, second), 1)
    found = independence(first, second, 9, generator())
    assert found.statistic == pytest.approx(stats.chi2_contingency(table, correction=False).statistic)


def test_the_probability_is_that_of_all_arrangements_without_a_class_twice():
    first, second = np.array([0, 0, 1, 1, 2, 2]), np.array([1, 1, 2, 2, 0, 0])

    def chi_squared(arranged):
        table = np.zeros((3, 3))
        np.add.at(table, (first, np.array(arranged)), 1)
        return stats.chi2_contingency(table, correction=False).statistic

    allowed = [order for order in itertools.permutations(second) if (first != np.array(order)).all()]
    exact = np.mean([chi_squared(order) >= chi_squared(second) - 1e-9 for order in allowed])
    assert 0.05 < exact < 0.5
    assert independence(first, second, 2000, generator()).p_value == pytest.approx(exact, abs=0.04)


def test_classes_taken_at_random_pass_as_independent():
    rng = generator(1)
    first, second = rng.integers(0, 6, 400), rng.integers(0, 6, 400)
    differ = first != second
    assert independence(first[differ], second[differ], 199, rng).p_value > 0.05


def test_two_classes_have_one_arrangement_only():
    found = independence(np.array([0, 0, 1]), np.array([1, 1, 0]), 50, generator())
    assert found.p_value == 1


def test_one_confusion_tells_nothing():
    assert independence(np.array([0]), np.array([1]), 9, generator()) is None


def symmetric(rng, size):
    matrix = rng.random((size, size))
    return (matrix + matrix.T) / 2


def test_mantel_is_the_correlation_of_the_triangles():
    rng = generator(2)
    counts = np.round(10 * symmetric(rng, 7)).astype(int)
    alike = symmetric(rng, 7)
    over = np.triu_indices(7, 1)
    found = mantel(counts, alike, 99, rng)
    assert found.statistic == pytest.approx(np.corrcoef(counts[over], alike[over])[0, 1])


def test_mantel_against_every_order_of_the_classes():
    rng = generator(3)
    counts, alike = np.round(10 * symmetric(rng, 5)).astype(int), symmetric(rng, 5)
    over = np.triu_indices(5, 1)

    def correlation(order):
        return abs(np.corrcoef(counts[np.ix_(order, order)][over], alike[over])[0, 1])

    orders = [list(order) for order in itertools.permutations(range(5))]
    exact = np.mean([correlation(order) >= correlation(list(range(5))) - 1e-12 for order in orders])
    assert mantel(counts, alike, 2000, rng).p_value == pytest.approx(exact, abs=0.04)


def test_classes_that_nobody_confused_are_left_out():
    rng = generator(4)
    counts, alike = np.round(10 * symmetric(rng, 5)).astype(int) + 1, symmetric(rng, 8)
    padded = np.zeros((8, 8), int)
    padded[:5, :5] = counts
    assert mantel(padded, alike, 9, rng).statistic == pytest.approx(mantel(counts, alike[:5, :5], 9, rng).statistic)


@pytest.mark.parametrize(
    ("counts", "alike"),
    [
        (np.array([[0, 1], [1, 0]]), np.eye(2)),  # two classes
        (np.ones((4, 4), int), symmetric(generator(), 4)),  # all counts the same
        (np.arange(16).reshape(4, 4), np.ones((4, 4))),  # all alike
        (np.zeros((4, 4), int), symmetric(generator(), 4)),
    ],
)
def test_mantel_says_where_there_is_nothing_to_correlate(counts, alike):
    assert mantel(counts + counts.T, alike, 9, generator()) is None
