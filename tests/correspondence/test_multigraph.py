"""Multi-graph matching with and without its optional library."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import InputError
from kalos_core.correspondence import COSTS, correspond, usable_solvers
from kalos_core.pairs import compute_pairs
from tests.correspondence.witnesses import best_cliques, table, total_cost
from tests.strategies import partition, tables
from tests.tiers import extended

ROOT = Path(__file__).resolve().parents[2]
every_cost = pytest.mark.parametrize("cost", COSTS)
needs_library = pytest.mark.usefixtures("library")


@pytest.fixture
def library(peer_package):
    peer_package("pylibmgm")


def mgm(annotations, cost="soft", threshold=0.3):
    pairs = compute_pairs(annotations, floor=threshold)
    return pairs, correspond(annotations, pairs, threshold, "mgm", cost)


def test_without_the_library_the_message_names_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pylibmgm", None)
    with pytest.raises(InputError, match="solver 'mgm': needs the optional package pylibmgm"):
        mgm(table(("ann", "cat", 0, 10)))
    assert usable_solvers() == ["greedy", "shm", "shm_by_name", "ahc"]


@extended
def test_the_library_is_imported_only_when_needed():
    code = "import sys, kalos_core.correspondence as c; c.SOLVERS['mgm']; assert 'pylibmgm' not in sys.modules"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=ROOT)


@needs_library
@every_cost
@given(tables(images=2, raters=5), st.sampled_from([0.1, 0.25, 0.5]))
def test_every_two_annotations_of_a_unit_are_a_candidate(cost, annotations, threshold):
    pairs, unit_of = mgm(annotations, cost, threshold)
    within = (np.bincount(unit_of) * (np.bincount(unit_of) - 1) // 2).sum() if len(unit_of) else 0
    assert within == (unit_of[pairs.left] == unit_of[pairs.right]).sum()


@needs_library
@every_cost
@given(tables(images=1, raters=2, marks=9), st.sampled_from([0.1, 0.25, 0.5]))
def test_the_least_sum_for_two_raters(cost, annotations, threshold):
    pairs, unit_of = mgm(annotations, cost, threshold)
    assert total_cost(annotations, pairs, cost, unit_of) == pytest.approx(best_cliques(annotations, pairs, cost))


@needs_library
@every_cost
@given(tables(images=1, raters=4, marks=9), st.sampled_from([0.1, 0.25, 0.5]))
def test_never_above_the_sum_of_ahc_nor_below_the_least(cost, annotations, threshold):
    pairs, unit_of = mgm(annotations, cost, threshold)
    found = total_cost(annotations, pairs, cost, unit_of)
    linked = correspond(annotations, pairs, threshold, "ahc", cost)
    assert best_cliques(annotations, pairs, cost) - 1e-9 <= found
    assert found <= total_cost(annotations, pairs, cost, linked) + 1e-9


@needs_library
@every_cost
def test_the_sum_over_all_pairs_by_hand(cost):
    #   ann 1   10..........20        1-2 .90 is the best pair, and 3-4 .82 goes with it: 1.72
    #   bob 2  9.5........19.5        but 1, 3 and 4 have three pairs, .82 + .82 + .67: 2.30
    #   bob 4     11..........21      2-3 .60 is no candidate
    #   cid 3       12..........22
    annotations = table(("ann", "cat", 10, 10), ("bob", "cat", 9.5, 10), ("cid", "cat", 12, 10), ("bob", "cat", 11, 10))
    pairs, unit_of = mgm(annotations, cost, 0.65)
    assert partition(annotations, unit_of) == {frozenset((1, 3, 4)), frozenset((2,))}
    assert correspond(annotations, pairs, 0.65, "ahc", cost).tolist() == [0, 0, 1, 1]
