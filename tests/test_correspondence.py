"""Laws over SOLVERS x COSTS, and the greedy solver against one that goes down the list."""

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import COSTS, SIMILARITIES, SOLVERS, Annotations, InputError, Similarity, agreement, compute_pairs
from kalos_core.correspondence import correspond, neg_cost, soft_cost
from tests.strategies import partition, reordered, tables

every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_cost = pytest.mark.parametrize("cost", COSTS)
every_similarity = pytest.mark.parametrize("similarity", SIMILARITIES)
thresholds = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 1.0])


def solve(annotations, similarity, threshold, solver, cost):
    return correspond(annotations, compute_pairs(annotations, similarity, threshold), threshold, solver, cost)


@every_solver
@every_cost
@every_similarity
@given(tables(), thresholds)
def test_a_partition_within_images_with_one_mark_a_rater(solver, cost, similarity, annotations, threshold):
    unit_of = solve(annotations, similarity, threshold, solver, cost)
    assert sorted(set(unit_of.tolist())) == list(range(unit_of.max() + 1 if len(unit_of) else 0))
    for unit in range(len(set(unit_of.tolist()))):
        rows = np.flatnonzero(unit_of == unit)
        assert len(set(annotations.image[rows])) == 1
        assert len(set(annotations.rater[rows])) == len(rows)


@every_solver
@every_cost
@given(tables())
def test_units_are_numbered_by_image_and_first_mark(solver, cost, annotations):
    unit_of = solve(annotations, "box_iou", 0.25, solver, cost)
    first = [np.flatnonzero(unit_of == unit)[0] for unit in range(len(set(unit_of.tolist())))]
    assert first == sorted(first, key=lambda row: (annotations.image[row], row))


@every_solver
@every_cost
@every_similarity
@given(tables(), thresholds, st.integers(0, 999))
def test_the_same_units_in_any_order(solver, cost, similarity, annotations, threshold, seed):
    other = reordered(annotations, seed)
    assert partition(annotations, solve(annotations, similarity, threshold, solver, cost)) == partition(
        other, solve(other, similarity, threshold, solver, cost)
    )


@every_solver
@every_cost
@every_similarity
@pytest.mark.parametrize("seed", range(20))
def test_the_same_units_in_any_order_of_identical_marks(solver, cost, similarity, seed):
    # five raters, each three times the same mark of one of two classes: nothing but names and ids can decide
    rows = [
        {"image": 1, "rater": rater, "category": "cat" if copy else "dog", "polygon": [[0, 0, 4, 0, 4, 4, 0, 4]]}
        for rater in "abcde"
        for copy in range(3)
    ]
    annotations = Annotations.from_rows(rows)
    other = reordered(annotations, seed)
    units = solve(annotations, similarity, 0.5, solver, cost)
    assert len(set(units.tolist())) == 3
    assert partition(annotations, units) == partition(other, solve(other, similarity, 0.5, solver, cost))


@every_cost
@every_similarity
@given(tables(), thresholds)
def test_greedy_units_hang_together_by_pairs_at_the_threshold(cost, similarity, annotations, threshold):
    pairs = compute_pairs(annotations, similarity, threshold)
    unit_of = correspond(annotations, pairs, threshold, "greedy", cost)
    reached = list(range(len(annotations)))
    for left, right in zip(pairs.left, pairs.right, strict=True):
        if unit_of[left] == unit_of[right]:
            old, new = reached[right], reached[left]
            reached = [new if root == old else root for root in reached]
    assert partition(annotations, np.array(reached, int)) == partition(annotations, unit_of)


def one_after_the_other(annotations, pairs, cost):
    """Greedy as the paper tells it: down the list, joining two clusters that share no rater."""

    def rank(row):
        if pairs.kind == "box":
            shape = tuple(annotations.shapes["box"].corners[row])
        else:
            geometry = annotations.shapes["polygon"].geometries[row]
            shape = (*geometry.bounds, geometry.area, shapely.to_wkb(geometry.normalize()))
        category, rater = annotations.categories[annotations.category[row]], annotations.raters[annotations.rater[row]]
        return (*shape, category, rater, annotations.id[row])

    candidates = []
    for a, b, similarity in zip(pairs.left, pairs.right, pairs.similarity.tolist(), strict=True):
        same = annotations.category[a] == annotations.category[b]
        price = -similarity - 1 if same and cost == "soft" else -similarity
        candidates.append((price, -similarity, *sorted((rank(a), rank(b))), a, b))
    members = {row: {row} for row in range(len(annotations))}
    cluster = {row: row for row in members}
    for *_, a, b in sorted(candidates):
        one, two = cluster[a], cluster[b]
        if one != two and not {annotations.rater[m] for m in members[one]} & {
            annotations.rater[m] for m in members[two]
        }:
            for row in members[two]:
                cluster[row] = one
            members[one] |= members.pop(two)
    return {frozenset(annotations.id[list(rows)].tolist()) for rows in members.values()}


@every_cost
@every_similarity
@given(tables(images=2, raters=5, marks=18), thresholds)
def test_greedy_in_rounds_equals_greedy_one_after_the_other(cost, similarity, annotations, threshold):
    pairs = compute_pairs(annotations, similarity, threshold)
    units = partition(annotations, correspond(annotations, pairs, threshold, "greedy", cost))
    assert units == one_after_the_other(annotations, pairs, cost)


@every_cost
@pytest.mark.parametrize("raters", [2, 63, 64, 65, 130])
def test_any_number_of_raters(cost, raters):
    # two places, all raters mark both, the last one only the first: 64 raters fill one word of bits
    rng = np.random.default_rng(raters)
    rows = [
        {"image": 1, "rater": f"r{r:03}", "category": "cat", "box": [100 * place, rng.random(), 20, 20 + rng.random()]}
        for place in range(2)
        for r in range(raters - place)
    ]
    annotations = Annotations.from_rows(rows)
    pairs = compute_pairs(annotations)
    units = partition(annotations, correspond(annotations, pairs, cost=cost))
    assert sorted(map(len, units)) == [raters - 1, raters]
    assert units == one_after_the_other(annotations, pairs, cost)


def table(*marks):
    """Boxes of height 10 in one image: rater, class, x, width."""
    return Annotations.from_rows(
        [{"image": 1, "rater": rater, "category": name, "box": [x, 0, width, 10]} for rater, name, x, width in marks]
    )


@pytest.mark.parametrize(("cost", "units"), [("soft", {(1, 3), (2,)}), ("neg", {(1, 2), (3,)})])
def test_soft_prefers_the_class_and_neg_the_overlap(cost, units):
    # ann's cat overlaps bob's dog by .9 and bob's cat by .6
    annotations = table(("ann", "cat", 0, 10), ("bob", "dog", 0, 9), ("bob", "cat", 0, 6))
    assert partition(annotations, solve(annotations, "box_iou", 0.5, "greedy", cost)) == set(map(frozenset, units))


def test_a_unit_may_join_marks_below_the_threshold_through_a_third():
    #   ann  0....10          ann-bob and bob-cid overlap by .6, ann-cid by .33: one unit through bob
    #   bob   2.5...12.5
    #   cid     5....15
    annotations = table(("ann", "cat", 0, 10), ("bob", "cat", 2.5, 10), ("cid", "cat", 5, 10))
    assert partition(annotations, solve(annotations, "box_iou", 0.5, "greedy", "soft")) == {frozenset((1, 2, 3))}


def test_clusters_that_share_a_rater_stay_apart():
    #   ann  0....10     .   the best pair is ann1-bob (.9), then ann2-bob (.6) is refused: ann is in already
    annotations = table(("ann", "cat", 0, 10), ("bob", "cat", 0, 9), ("ann", "cat", 0, 6))
    assert partition(annotations, solve(annotations, "box_iou", 0.5, "greedy", "soft")) == {
        frozenset((1, 2)),
        frozenset((3,)),
    }


@pytest.mark.parametrize("lower", [0.0, 0.2])
@given(tables())
def test_pairs_from_a_lower_floor_give_the_same_units(lower, annotations):
    wide = correspond(annotations, compute_pairs(annotations, floor=lower), 0.5)
    np.testing.assert_array_equal(wide, correspond(annotations, compute_pairs(annotations, floor=0.5), 0.5))


def test_ties_under_a_similarity_of_ones_own():
    same = Similarity("same", "box", "always one", lambda _a, rows, _b, _r, _f: np.ones(len(rows)))
    annotations = table(("ann", "cat", 0, 10), ("bob", "cat", 50, 10), ("ann", "cat", 90, 10))
    result = agreement(annotations, same, bootstrap=0)
    assert result.configuration.similarity == "same"
    assert partition(annotations, result.unit_of) == {frozenset((1, 2)), frozenset((3,))}


@pytest.mark.parametrize("first", ["1", 1])
@pytest.mark.parametrize("seed", range(6))
def test_ids_of_several_types_still_decide(first, seed):
    second = 1 if first == "1" else "1"
    rows = [
        {"id": key, "image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]}
        for key, rater in [(first, "ann"), (second, "ann"), (2, "bob")]
    ]
    annotations = Annotations.from_rows(rows)
    other = reordered(annotations, seed)
    assert partition(annotations, solve(annotations, "box_iou", 0.5, "greedy", "soft")) == partition(
        other, solve(other, "box_iou", 0.5, "greedy", "soft")
    )


def test_costs_by_hand():
    similarity, same = np.array([0.5, 0.75]), np.array([True, False])
    assert soft_cost(similarity, same).tolist() == [-1.5, -0.75]
    assert neg_cost(similarity, same).tolist() == [-0.5, -0.75]


@pytest.mark.parametrize(("argument", "known"), [("solver", "'greedy'"), ("cost", "'neg', 'soft'")])
def test_unknown_names_list_the_known_ones(argument, known):
    annotations = table(("ann", "cat", 0, 10))
    with pytest.raises(InputError, match=rf"{argument}: expected one of .*{known}.*, got 'best'"):
        correspond(annotations, compute_pairs(annotations), **{argument: "best"})
