"""Complete linkage: by hand, vs. scipy and vs. the peer."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from kalos_core import agreement
from kalos_core.correspondence import COSTS, correspond
from kalos_core.pairs import compute_pairs
from tests.correspondence.witnesses import by_peer, crowd, in_strict_order, table
from tests.strategies import partition

every_cost = pytest.mark.parametrize("cost", COSTS)
FAR = 9.0
"""Cost of a pair that must not be joined."""


def units(annotations, cost="soft", threshold=0.5):
    unit_of = correspond(annotations, compute_pairs(annotations, floor=threshold), threshold, "ahc", cost)
    return {tuple(sorted(ids)) for ids in partition(annotations, unit_of) if len(ids) > 1}


@every_cost
def test_the_worst_cross_pair_counts(cost):
    #   ann 1 0.........10         1-2 .90 is joined first. Then 3 could join the two at .54, its worst pair (with 1),
    #   bob 2 0........9           or 4 at .74. These two reach .67: 3-4 is better than the one, not than the other.
    #   cid 3    3.........13
    #   dan 4  1.........11.5
    annotations = table(("ann", "cat", 0, 10), ("bob", "cat", 0, 9), ("cid", "cat", 3, 10), ("dan", "cat", 1, 10.5))
    similarity = {}
    pairs = compute_pairs(annotations, floor=0.0)
    for left, right, value in zip(pairs.left, pairs.right, pairs.similarity, strict=True):
        similarity[tuple(sorted((left + 1, right + 1)))] = round(value, 2)
    assert similarity == {(1, 2): 0.9, (1, 3): 0.54, (2, 3): 0.46, (1, 4): 0.78, (2, 4): 0.7, (3, 4): 0.71}
    # joined: 1-2 (.90), then 3-4 (.71) before 12-4 (.70)
    assert units(annotations, cost) == {(1, 2), (3, 4)}
    assert units(annotations, cost, 0.45) == {(1, 2, 3, 4)}


@every_cost
@pytest.mark.parametrize(("seed", "threshold"), [(0, 0.3), (1, 0.5), (2, 0.3)])
def test_scipys_complete_linkage_without_ties(cost, seed, threshold):
    annotations = crowd(7, 8, seed, step=None)
    pairs = compute_pairs(annotations, floor=threshold)
    apart = np.full((len(annotations), len(annotations)), FAR)
    np.fill_diagonal(apart, 0)
    for price, a, b in in_strict_order(annotations, pairs, cost):
        apart[a, b] = apart[b, a] = price + 3  # distances are positive
    expected = fcluster(linkage(squareform(apart), "complete"), FAR - 1, "distance")
    unit_of = correspond(annotations, pairs, threshold, "ahc", cost)
    assert partition(annotations, unit_of) == partition(annotations, expected)


@pytest.mark.parametrize("raters", [2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_the_peer_without_ties(peer_package, raters, seed):
    peer = peer_package("kalos.correspondence.correspondence_algorithms")
    annotations = crowd(raters, 25, seed, step=None)
    pairs = compute_pairs(annotations, floor=0.3)
    assert partition(annotations, correspond(annotations, pairs, 0.3, "ahc", "neg")) == by_peer(
        peer.match_ahc, annotations, pairs, "neg"
    )


def test_two_classes_are_joined_under_the_soft_cost_too():
    # the peer's cutoff is that of a pair of one class, -1.5; equal boxes of two classes, at -1, do not reach it
    annotations = table(("ann", "cat", 0, 1), ("bob", "dog", 0, 1))
    assert agreement(annotations, solver="ahc", bootstrap=0).units.values.tolist() == [[0, 1]]
