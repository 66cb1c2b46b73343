"""Sequential Hungarian matching: who is matched with whom, by hand and vs. the peer."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core.correspondence import COSTS, correspond
from kalos_core.pairs import Pairs, compute_pairs
from tests.correspondence.witnesses import by_peer, crowd, table
from tests.strategies import partition, tables

every_cost = pytest.mark.parametrize("cost", COSTS)


def units(annotations, cost="soft", threshold=0.5, solver="shm"):
    unit_of = correspond(annotations, compute_pairs(annotations, floor=threshold), threshold, solver, cost)
    return {tuple(sorted(ids)) for ids in partition(annotations, unit_of) if len(ids) > 1}


@every_cost
@pytest.mark.parametrize(("name", "by_name"), [("ann", {(1, 3)}), ("zoe", {(1, 2, 3)})])
def test_raters_join_by_overlap_or_by_name(cost, name, by_name):
    #   1   7.........17          1-3 .54, 2-3 .90, 1-2 .48
    #   2 bob 10.5......20.5      By name ann is first: cid is matched with her, and bob stays alone.
    #   3 cid 10.......20         Called zoe, she comes last, to the unit of bob and cid; by overlap in any case:
    #                             1.44 of cid, .90 of bob, .54 of her.
    annotations = table((name, "cat", 7, 10), ("bob", "cat", 10.5, 10), ("cid", "cat", 10, 10))
    assert units(annotations, cost, solver="shm_by_name") == by_name
    assert units(annotations, cost) == {(1, 2, 3)}


@every_cost
@given(tables(raters=5, marks=20), st.sampled_from([0.1, 0.3, 0.5]), st.permutations(range(5)))
def test_other_names_of_raters_give_the_same_units(cost, annotations, threshold, order):
    pairs = compute_pairs(annotations, floor=threshold)
    other = replace(annotations, raters=np.array([f"r{order[k]}" for k in range(len(annotations.raters))], object))
    found, again = (partition(each, correspond(each, pairs, threshold, "shm", cost)) for each in (annotations, other))
    assert found == again


@every_cost
def test_a_unit_that_the_new_rater_joined_is_not_free(cost):
    #   ann 1  0.........10     cid's first joins ann's unit (.9); his second overlaps bob's 2 by .73,
    #   bob 2   1.........11    but bob's unit is ann's, and cid is in it
    #   cid 3  0........9
    #   cid 4     3........12
    annotations = table(("ann", "cat", 0, 10), ("bob", "cat", 1, 10), ("cid", "cat", 0, 9), ("cid", "cat", 3, 9))
    assert units(annotations, cost) == {(1, 2, 3)}


def square(left_top, right_bottom, left_bottom, right_top):
    """Return ann's annotations 1 (cat) and 2 (dog), bob's 3 (cat) and 4 (dog); similarities of 1-3, 2-4, 1-4, 2-3."""
    annotations = table(*[(name, kind, x, 10) for name in ("ann", "bob") for kind, x in (("cat", 0), ("dog", 50))])
    similarity = np.array([left_top, right_bottom, left_bottom, right_top])
    return annotations, Pairs(np.array([0, 1, 0, 1]), np.array([2, 3, 3, 2]), similarity, "box_iou", 0.1)


@pytest.mark.parametrize(("cost", "expected"), [("soft", [0, 1, 0, 1]), ("neg", [0, 1, 1, 0])])
def test_of_as_many_pairs_the_cheaper(cost, expected):
    # the classes agree in 1-3 and 2-4: 3.2 vs. 1.5 for soft, 1.2 vs. 1.5 for neg
    annotations, pairs = square(0.6, 0.6, 0.9, 0.6)
    assert correspond(annotations, pairs, 0.1, "shm", cost).tolist() == expected


def test_sums_are_not_rounded():
    # as floats, both sums are 1.25; but 0.5 - 2^-54 is less than 0.5
    annotations, pairs = square(0.75, 0.5 - 2**-54, 0.625, 0.625)
    assert 0.75 + (0.5 - 2**-54) == 0.625 + 0.625
    assert correspond(annotations, pairs, 0.1, "shm", "neg").tolist() == [0, 1, 1, 0]


def test_of_equal_sums_the_one_with_the_best_pair():
    annotations, pairs = square(0.75, 0.5, 0.625, 0.625)
    assert correspond(annotations, pairs, 0.1, "shm", "neg").tolist() == [0, 1, 0, 1]
    annotations, pairs = square(0.625, 0.625, 0.5, 0.75)
    assert correspond(annotations, pairs, 0.1, "shm", "neg").tolist() == [0, 1, 1, 0]


@every_cost
@pytest.mark.parametrize("raters", [2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_peer_without_ties(peer_package, cost, raters, seed):
    peer = peer_package("kalos.correspondence.correspondence_algorithms")
    annotations = crowd(raters, 25, seed, step=None)
    pairs = compute_pairs(annotations, floor=0.3)
    assert len(np.unique(pairs.similarity)) == len(pairs)
    assert partition(annotations, correspond(annotations, pairs, 0.3, "shm_by_name", cost)) == by_peer(
        peer.match_shm, annotations, pairs, cost
    )
