"""Properties of SOLVERS x COSTS (for order see `tests/test_laws.py`), by hand, and vs. one annotation at a time."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core import Annotations, InputError, agreement
from kalos_core.correspondence import COSTS, agglomerative, correspond, neg_cost, rank_rows, soft_cost, usable_solvers
from kalos_core.pairs import compute_pairs
from tests.correspondence.witnesses import ONE_BY_ONE, alike, crowd, table
from tests.strategies import partition, reordered, tables
from tests.tiers import first, pairwise

every_solver = pytest.mark.parametrize("solver", usable_solvers())  # mgm is tested only if its library is installed
every_cost = pytest.mark.parametrize("cost", COSTS)
every_way = pytest.mark.parametrize(
    ("solver", "cost", "similarity"), pairwise(usable_solvers(), list(COSTS), ["box_iou", "polygon_iou"])
)
thresholds = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 1.0])


def solve(annotations, similarity, threshold, solver, cost):
    return correspond(annotations, compute_pairs(annotations, similarity, threshold), threshold, solver, cost)


@every_way
@settings(max_examples=10)
@given(tables(), thresholds)
def test_a_partition_within_images_with_one_annotation_a_rater(solver, cost, similarity, annotations, threshold):
    unit_of = solve(annotations, similarity, threshold, solver, cost)
    first = []
    for unit in range(len(set(unit_of.tolist()))):
        rows = np.flatnonzero(unit_of == unit)
        assert len(set(annotations.image[rows])) == 1
        assert len(set(annotations.rater[rows])) == len(rows)
        first.append(rows[0])
    assert first == sorted(first, key=lambda row: (annotations.image[row], row))  # numbering of units


@every_way
def test_the_same_units_in_any_order_of_identical_annotations(solver, cost, similarity):
    # five raters, each with the same annotation of one of two classes three times: only names and ids can decide
    rows = [
        {"image": 1, "rater": rater, "category": "cat" if copy else "dog", "polygon": [[0, 0, 4, 0, 4, 4, 0, 4]]}
        for rater in "abcde"
        for copy in range(3)
    ]
    ids = [1, "1", *range(2, 15)]
    for annotations in map(
        Annotations.from_rows, (rows, [{**row, "id": key} for row, key in zip(rows, ids, strict=True)])
    ):
        units = solve(annotations, similarity, 0.5, solver, cost)
        assert len(set(units.tolist())) == 3
        for seed in range(10):
            other = reordered(annotations, seed)
            assert partition(annotations, units) == partition(other, solve(other, similarity, 0.5, solver, cost))


@every_solver
@every_cost
@settings(max_examples=10)
@given(tables(), st.sampled_from([0.0, 0.25, 0.5]), st.randoms(use_true_random=False))
def test_other_ids_exchange_identical_annotations_at_most(solver, cost, annotations, threshold, random):
    other = replace(annotations, id=np.array(random.sample(range(1000), len(annotations)), np.intp))
    units = alike(annotations, solve(annotations, "box_iou", threshold, solver, cost))
    assert units == alike(other, solve(other, "box_iou", threshold, solver, cost))


@every_solver
@every_cost
@pytest.mark.parametrize(("raters", "marks", "step"), [(4, 60, 1.0), (4, 60, 4.0), (12, 20, 2.0), (66, 2, 4.0)])
def test_a_crowd_has_the_same_units_in_any_order(solver, cost, raters, marks, step):
    annotations = crowd(raters, marks, seed=raters, images=2, step=step)
    units = partition(annotations, solve(annotations, "box_iou", 0.3, solver, cost))
    for seed in range(2):
        other = reordered(annotations, seed)
        assert units == partition(other, solve(other, "box_iou", 0.3, solver, cost))


@pytest.mark.parametrize(
    ("solver", "cost", "mean", "of_all"),
    [
        ("greedy", "soft", 0.688879, 0.648286),
        ("greedy", "neg", 0.679935, 0.637584),
        ("shm_by_name", "soft", 0.688879, 0.648286),
        ("shm_by_name", "neg", 0.679026, 0.635151),
        ("shm", "neg", 0.679026, 0.635151),  # with two raters, either may be first
        ("ahc", "neg", 0.679935, 0.637584),
    ],
)
def test_real_data_give_the_peers_numbers(lvis, solver, cost, mean, of_all):
    # `kalos` 0.8.0 on the same file at threshold .5
    result = agreement(lvis, "box_iou", solver=solver, cost=cost, bootstrap=0)
    assert (result.alpha, result.global_alpha) == pytest.approx((mean, of_all), abs=1e-6)


@every_cost
@given(tables(), thresholds)
def test_greedy_units_hang_together_by_pairs_at_the_threshold(cost, annotations, threshold):
    pairs = compute_pairs(annotations, "box_iou", threshold)
    unit_of = correspond(annotations, pairs, threshold, "greedy", cost)
    reached = list(range(len(annotations)))
    for left, right in zip(pairs.left, pairs.right, strict=True):
        if unit_of[left] == unit_of[right]:
            old, new = reached[right], reached[left]
            reached = [new if root == old else root for root in reached]
    assert partition(annotations, np.array(reached, int)) == partition(annotations, unit_of)


@pytest.mark.parametrize(
    ("solver", "cost", "similarity"), pairwise(list(ONE_BY_ONE), list(COSTS), ["box_iou", "polygon_iou"])
)
@settings(max_examples=10)
@given(tables(images=2, raters=5, marks=10), thresholds)
def test_whole_arrays_at_once_equal_one_annotation_after_the_other(solver, cost, similarity, annotations, threshold):
    pairs = compute_pairs(annotations, similarity, threshold)
    units = partition(annotations, correspond(annotations, pairs, threshold, solver, cost))
    assert units == ONE_BY_ONE[solver](annotations, pairs, cost)


@pytest.mark.parametrize("solver", ONE_BY_ONE)
@every_cost
@pytest.mark.parametrize("step", [0.0, 0.5])
@pytest.mark.parametrize("counts", first([(4, 6, 3), (9, 9), (12, 5), (3, 3, 3, 3)], 2))
def test_overlapping_annotations_equal_one_after_the_other(monkeypatch, solver, cost, step, counts):
    monkeypatch.setattr(agglomerative, "MANY", 2)  # use chains even for few annotations
    rng = np.random.default_rng(sum(counts))
    rows = [{"image": 3, "rater": "a", "category": "cat", "box": [0, 0, 9, 9]}]
    for image, (rater, count) in product((1, 2), zip("abcd", counts, strict=False)):
        for _ in range(count):
            box = [10 + step * rng.integers(9), 10, 20, 20 + step * rng.integers(5)]
            category = "cat" if rng.random() < 0.7 else "dog"
            rows.append({"image": image, "rater": rater, "category": category, "box": box})
    annotations = Annotations.from_rows(rows, assigned="all")
    pairs = compute_pairs(annotations, floor=0.9)
    units = partition(annotations, correspond(annotations, pairs, 0.9, solver, cost))
    assert units == ONE_BY_ONE[solver](annotations, pairs, cost)


@every_solver
@every_cost
@pytest.mark.parametrize("raters", [2, 64, 65, 130])
def test_any_number_of_raters(solver, cost, raters):
    # two positions; all raters annotate both, the last only the first: 64 raters fill one word of bits
    rng = np.random.default_rng(raters)
    rows = [
        {"image": 1, "rater": f"r{r:03}", "category": "cat", "box": [100 * place, rng.random(), 20, 20 + rng.random()]}
        for place in range(2)
        for r in range(raters - place)
    ]
    annotations = Annotations.from_rows(rows)
    pairs = compute_pairs(annotations)
    units = partition(annotations, correspond(annotations, pairs, solver=solver, cost=cost))
    assert sorted(map(len, units)) == [raters - 1, raters]


@pytest.mark.parametrize("solver", ONE_BY_ONE)
@every_cost
@pytest.mark.parametrize(("seed", "threshold"), [(0, 0.3), (1, 0.5), (2, 0.3)])
def test_exact_ties_among_many_raters(solver, cost, seed, threshold):
    annotations = crowd(6, 4, seed, images=2, step=4.0)
    pairs = compute_pairs(annotations, floor=threshold)
    units = partition(annotations, correspond(annotations, pairs, threshold, solver, cost))
    assert units == ONE_BY_ONE[solver](annotations, pairs, cost)


def units_by_hand(annotations, solver, cost="soft", threshold=0.5):
    """Return units of two or more, as tuples of ids, which count from 1."""
    units = partition(annotations, solve(annotations, "box_iou", threshold, solver, cost))
    return {tuple(sorted(ids)) for ids in units if len(ids) > 1}


@every_solver
@pytest.mark.parametrize(("cost", "units"), [("soft", {(1, 3)}), ("neg", {(1, 2)})])
def test_soft_prefers_the_class_and_neg_the_overlap(solver, cost, units):
    # ann's cat overlaps bob's dog by .9 and bob's cat by .6
    annotations = table(("ann", "cat", 0, 10), ("bob", "dog", 0, 9), ("bob", "cat", 0, 6))
    assert units_by_hand(annotations, solver, cost) == units


@every_solver
@every_cost
def test_nothing_below_the_threshold_starts_a_unit(solver, cost):
    annotations = table(("ann", "cat", 0, 10), ("bob", "cat", 6, 10))  # 4 / 16
    assert units_by_hand(annotations, solver, cost) == set()
    assert units_by_hand(annotations, solver, cost, 0.25) == {(1, 2)}
    annotations = table(("ann", "cat", 0, 10), ("bob", "dog", 0, 9), ("cid", "cat", 0, 8))  # of any class
    assert units_by_hand(annotations, solver, cost) == {(1, 2, 3)}


@every_cost
@pytest.mark.parametrize(
    ("solver", "units"),
    [
        ("greedy", {(1, 3), (5, 6, 7)}),
        ("shm", {(1, 4), (2, 3), (5, 6, 7)}),
        ("ahc", {(1, 3), (6, 7)}),
        ("mgm", {(1, 4), (2, 3), (6, 7)}),
    ],
)
def test_the_solvers_differ(peer_package, solver, cost, units):
    #   ann 1  0.........10           1-3 .82 is best, but then ann 2 and bob 4 stay alone:
    #   ann 2      4......11          1-4 .60 and 2-3 .70 are two pairs, and their sum is the greater one
    #   bob 3   1.........11
    #   bob 4  0.....6
    #   ann 5  100.......110          5-6 .60 and 6-7 .67 make a chain; 5-7 .38 is no candidate,
    #   bob 6    102.5.....112.5      which keeps them apart where every two annotations of a unit must be one
    #   cid 7       104.5....114.5
    if solver == "mgm":
        peer_package("pylibmgm")
    annotations = table(
        *(("ann", "cat", 0, 10), ("ann", "cat", 4, 7), ("bob", "cat", 1, 10), ("bob", "cat", 0, 6)),
        *(("ann", "cat", 100, 10), ("bob", "cat", 102.5, 10), ("cid", "cat", 104.5, 10)),
    )
    assert units_by_hand(annotations, solver, cost) == units


@given(tables())
def test_pairs_from_a_lower_floor_give_the_same_units(annotations):
    wide = correspond(annotations, compute_pairs(annotations, floor=0.2), 0.5)
    np.testing.assert_array_equal(wide, correspond(annotations, compute_pairs(annotations, floor=0.5), 0.5))


def test_ids_of_two_raters_one_after_the_other_as_numpys_text():
    """NumPy's own sorting of such ids crashes the process."""
    ids = [f"{key:024x}" for key in [*range(0, 1000, 2), *range(1, 1000, 2)]]
    annotations = replace(table(*[("ann", "cat", 0, 9)] * len(ids)), id=np.array(ids, dtype=np.dtypes.StringDType()))
    expected = np.argsort(np.argsort(np.array(ids)))  # fixed length uses another sort
    np.testing.assert_array_equal(rank_rows(annotations, np.arange(len(ids)), "box"), expected)


def test_costs_by_hand():
    similarity, same = np.array([0.5, 0.75]), np.array([True, False])
    assert soft_cost(similarity, same).tolist() == [-1.5, -0.75]
    assert neg_cost(similarity, same).tolist() == [-0.5, -0.75]


@pytest.mark.parametrize(
    ("argument", "known"), [("solver", "'ahc', 'greedy', 'mgm', 'shm', 'shm_by_name'"), ("cost", "'neg', 'soft'")]
)
def test_unknown_names_list_the_known_ones(argument, known):
    annotations = table(("ann", "cat", 0, 10))
    with pytest.raises(InputError, match=rf"{argument}: expected one of .*{known}.*, got 'best'"):
        correspond(annotations, compute_pairs(annotations), **{argument: "best"})
