"""Exact assignments vs. all possible assignments, and vs. scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from kalos_core.correspondence.assignment import best_assignment, components
from tests.correspondence.witnesses import first_best

costs = st.one_of(
    st.integers(-3, 0).map(float),  # many ties
    st.floats(-2, 0, allow_subnormal=True),
    st.floats(-2, -0.5).map(lambda value: -1.0 - value / 2**40),  # differ in the last digits
    st.sampled_from([-1.0, -0.5, *(-k * 2.0**-70 for k in range(4))]),  # sums need more digits than a machine word
)


@st.composite
def problems(draw, places=5):
    """Draw pairs of up to `places` nodes on either side, in the order of their costs."""
    chosen = draw(st.lists(st.tuples(*[st.integers(0, places - 1)] * 2), max_size=12, unique=True))
    cost = sorted(draw(st.lists(costs, min_size=len(chosen), max_size=len(chosen))))
    left, right = np.array(chosen, np.intp).reshape(-1, 2).T
    return left, right, np.array(cost)


@given(problems())
def test_first_of_the_best_of_all_assignments(problem):
    left, right, cost = problem
    lines = [(price, a, 10 + b) for price, a, b in zip(cost.tolist(), left.tolist(), right.tolist(), strict=True)]
    expected = sorted(map(lines.index, first_best(lines)))
    assert np.flatnonzero(best_assignment(left, right, cost)).tolist() == expected


@pytest.mark.parametrize(("rows", "columns", "digits"), [(1, 8, 53), (7, 8, 2), (7, 40, 53), (40, 7, 20), (40, 40, 53)])
def test_the_least_cost_as_scipy_finds_it(rows, columns, digits):
    table = -np.random.default_rng(rows + columns).integers(0, 2**digits, (rows, columns)) / 2.0**digits
    left, right = np.unravel_index(np.argsort(table, axis=None, kind="stable"), table.shape)
    chosen = best_assignment(left, right, table[left, right])
    assert chosen.sum() == min(rows, columns) == len(set(left[chosen])) == len(set(right[chosen]))
    assert table[left, right][chosen].sum() == pytest.approx(table[linear_sum_assignment(table)].sum(), abs=1e-12)


@pytest.mark.parametrize("size", [2, 5, 30])
def test_where_all_cost_the_same_the_order_decides(size):
    # every assignment is optimal: the first contains the first pair, then the first that is still free, ...
    rng = np.random.default_rng(size)
    left, right = np.unravel_index(rng.permutation(size * size), (size, size))
    chosen = best_assignment(left, right, np.full(size * size, -0.7))
    taken = np.zeros((2, size), bool)
    for a, b, one in zip(left, right, chosen, strict=True):
        assert one == (not taken[0, a] and not taken[1, b])
        taken[0, a] |= one
        taken[1, b] |= one


def test_one_pair_is_given_up_for_two_by_hand():
    #   0 -- 0   -.9      0 -- 1   -.2
    #   1 -- 0   -.1      2 -- 3   -.5   separate
    left, right = np.array([0, 2, 0, 1]), np.array([0, 3, 1, 0])
    assert best_assignment(left, right, np.array([-0.9, -0.5, -0.2, -0.1])).tolist() == [False, True, True, True]


@pytest.mark.parametrize("smallest", [2.0**-30, 2.0**-60, 2.0**-300])
def test_the_last_digit_decides(smallest):
    #   0 -- 0   -1      0 -- 1   -1          -1 - 2t is less than -1 - t,
    #   1 -- 0   -2t     1 -- 1   -t          which as floating-point numbers are both -1
    left, right = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    cost = np.array([-1, -1, -2 * smallest, -smallest])
    assert best_assignment(left, right, cost).tolist() == [False, True, True, False]


def test_no_pairs():
    none = np.zeros(0, np.intp)
    assert best_assignment(none, none, np.zeros(0)).tolist() == []
    assert components(none, none, 2).tolist() == [0, 1]
