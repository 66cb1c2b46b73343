"""Rankings with several references: ranks, tau, concordance, and how often the best changes."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kalos_core import InputError
from kalos_core.ranking import Rankings, concordance

NAMES = np.array(list("abcdefgh"), object)


def of(*values, less_is_better=False):
    table = np.array(values, np.float64)
    truths = np.array([f"truth {index}" for index in range(len(table))], object)
    return Rankings("m", truths, NAMES[: table.shape[1]], table, less_is_better)


values = st.lists(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.5, 0.8, np.nan]), min_size=5, max_size=5), min_size=2, max_size=3
)


def test_ranks_by_hand():
    assert of([0.9, 0.2, 0.5]).ranks.tolist() == [[1, 3, 2]]
    assert of([0.9, 0.2, 0.5], less_is_better=True).ranks.tolist() == [[3, 1, 2]]
    assert of([0.5, 0.2, 0.5, 0.1]).ranks.tolist() == [[1.5, 3, 1.5, 4]]
    np.testing.assert_array_equal(of([0.5, np.nan, 0.1]).ranks, [[1, np.nan, 2]])


def test_the_best_by_hand():
    result = of([0.9, 0.9, 0.1], [0.9, 0.1, 0.2], [0.1, 0.5, 0.2], [np.nan] * 3)
    assert result.is_best.tolist() == [[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert result.times_best.tolist() == [2, 2, 0]
    # of the pairs of the three truths that rank, only the second and third have no best system in common
    assert result.best_changes == pytest.approx(1 / 3)
    assert of([0.1, 0.9], less_is_better=True).is_best.tolist() == [[True, False]]
    assert np.isnan(of([0.1, 0.9]).best_changes)
    alike = of([0.9, 0.1], [0.2, 0.8], [0.7, 0.6], [np.nan, np.nan], [np.nan, np.nan])
    assert alike.ranking_of.tolist() == [0, 1, 0, 2, 2]


def test_tau_by_hand():
    # of three pairs, a list with one swap keeps two: tau (2 - 1) / 3
    tau = of([3, 2, 1], [2, 3, 1], [1, 2, 3]).tau
    np.testing.assert_allclose(tau, [[1, 1 / 3, -1], [1 / 3, 1, -1 / 3], [-1, -1 / 3, 1]])
    assert np.isnan(of([0.5, 0.5, 0.5], [0.1, 0.2, 0.3]).tau[0]).all()  # ties only
    table = np.random.default_rng(4).random((2, 8))
    assert of(*table).tau_p[0, 1] == stats.kendalltau(*table).pvalue


@settings(max_examples=12)
@given(values)
def test_tau_is_that_of_a_loop_over_pairs(table):
    result = of(*table)
    for row, first in enumerate(table):
        for column, second in enumerate(table):
            signs = [
                (np.sign(first[i] - first[j]), np.sign(second[i] - second[j]))
                for i in range(5)
                for j in range(i)
                if np.isfinite([first[i], first[j], second[i], second[j]]).all()
            ]
            untied = np.sqrt(sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs))
            expected = sum(a * b for a, b in signs) / untied if untied else np.nan
            assert result.tau[row, column] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def naive_gap(first, second):
    """Apply the definition for ranks without ties: cumulated ranks of one list in the other's order vs. 1 + 2 + ..."""
    total, identity, largest = 0, 0, 0
    for index in range(1, len(first) + 1):
        total += second[list(first).index(index)]
        identity += index
        largest = max(largest, abs(total - identity))
    return largest / identity


def test_concordance_by_hand():
    # in the order a b c d, reversed ranks cumulate to 4 7 9 10 against 1 3 6 10: at most 4 of 10
    result = concordance(of([4, 3, 2, 1], [1, 2, 3, 4]))
    assert result.distance.tolist() == [[0, 0.4], [0.4, 0]]
    # 24 orders: only the own one is as near as 0, and every one is as near as the reverse
    np.testing.assert_allclose(result.p, [[1 / 24, 1], [1, 1 / 24]])


def test_concordance_of_every_order_of_four():
    for second in permutations((1, 2, 3, 4)):
        distance = concordance(of([4, 3, 2, 1], [5 - rank for rank in second])).distance
        assert distance[0, 1] == pytest.approx(naive_gap((1, 2, 3, 4), second))
        assert distance[1, 0] == pytest.approx(naive_gap(second, (1, 2, 3, 4)))


def test_the_p_of_concordance_counts_orders():
    first, second = (1, 2, 3, 4), (2, 1, 4, 3)
    near = [naive_gap(first, order) <= naive_gap(first, second) for order in permutations(first)]
    table = of([4, 3, 2, 1], [3, 4, 1, 2])
    assert concordance(table).p[0, 1] == pytest.approx(np.mean(near))
    drawn, again, other = (concordance(table, permutations=23, seed=seed).p for seed in (0, 0, 3))  # one less than all
    assert drawn[0, 1] == pytest.approx(np.mean(near), abs=0.25)
    assert np.array_equal(drawn, again)
    assert not np.array_equal(drawn, other)


def test_concordance_of_truths_that_rank_other_systems():
    result = concordance(of([3, 2, 1], [1, 2, np.nan], [np.nan, 1, 2]))
    assert result.distance[0].round(3).tolist() == pytest.approx([0, 1 / 3, 1 / 3], abs=1e-3)
    assert np.isnan(result.distance[1, 2])  # one system in common


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"permutations": 0}, "permutations: expected a whole number of at least 1"), ({"seed": -1}, "seed: expected")],
)
def test_input_without_a_result_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        concordance(of([1, 2]), **arguments)
