"""Measures of one classifier with one reference: curves, AUC, EER, distances in a tree, ontology score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from kalos_core import InputError
from kalos_core.ranking.concepts import RocCounts, ontology_scores, tree_distances

ANIMALS = {"cat": "pet", "dog": "pet", "pet": "animal", "wolf": "animal", "animal": None, "oak": "plant"}


@st.composite
def scored(draw):
    n = draw(st.integers(2, 9))
    truth = draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda t: 0 < sum(t) < n))
    levels = st.sampled_from([0.1, 0.2, 0.5, 0.9])
    return np.array([draw(st.lists(levels, min_size=n, max_size=n)) for _ in range(2)]), np.array(truth)


@given(scored())
def test_auc_is_that_of_scikit_learn(case):
    scores, truth = case
    expected = [roc_auc_score(truth, of_classifier) for of_classifier in scores]
    assert RocCounts.of(scores, truth).areas().values == pytest.approx(expected)


def test_by_hand():
    #  scores 4 3 2 1, truth + - + -: of four pairs of a positive and a negative three are in order
    curve = RocCounts.of(np.array([[4.0, 3, 2, 1], [1, 2, 3, 4], [7, 7, 7, 7]]), np.array([1, 0, 1, 0], bool))
    assert curve.areas().values.tolist() == [0.75, 0.25, 0.5]
    # misses and false alarms: 1/2 each after two images, from either end; for equal scores half way along the diagonal
    assert curve.equal_error_rates().values.tolist() == [0.5, 0.5, 0.5]
    ends = RocCounts.of(np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([True, False]))
    assert (ends.areas().values.tolist(), ends.equal_error_rates().values.tolist()) == ([1, 0], [0, 1])


def test_distances_in_a_tree_by_hand():
    #        +--------+
    #     animal    plant        cat - dog: 2 edges; cat - wolf: 3; cat - oak: 5, the longest
    #     pet wolf   oak
    #   cat dog
    names = ["cat", "dog", "wolf", "oak", "pet"]
    edges = [[0, 2, 3, 5, 1], [2, 0, 3, 5, 1], [3, 3, 0, 4, 2], [5, 5, 4, 0, 4], [1, 1, 2, 4, 0]]
    np.testing.assert_allclose(tree_distances(ANIMALS, names), np.array(edges) / 5)
    assert tree_distances({"cat": None}, ["cat"]).tolist() == [[0]]
    assert tree_distances({}, []).shape == (0, 0)


@given(st.data())
def test_distances_are_those_of_a_walk(data):
    size = data.draw(st.integers(2, 7))
    above = [None, *(data.draw(st.integers(0, node - 1)) for node in range(1, size))]
    parents = {f"n{node}": None if up is None else f"n{up}" for node, up in enumerate(above)}
    walk = np.where(np.eye(size, dtype=bool), 0.0, np.inf)
    for node, up in enumerate(above):
        if up is not None:
            walk[node, up] = walk[up, node] = 1
    for via in range(size):
        walk = np.minimum(walk, walk[:, [via]] + walk[[via]])
    np.testing.assert_allclose(tree_distances(parents, list(parents)), walk / walk.max())


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"cat": "pet"}, "expected all concepts in it, got none of 'emu'"),
        ({"cat": "pet", "pet": "cat", "emu": None}, "expected a root above 'cat', got a cycle: cat - pet - cat"),
    ],
)
def test_a_tree_that_is_none_is_refused(tree, message):
    with pytest.raises(InputError, match=message):
        tree_distances(tree, ["cat", "emu"])


def naive_ontology(named, truth, known, distances, weights):
    """Compute one image of one classifier, concept by concept."""
    named, true = ({k for k in range(len(known)) if side[k] and known[k]} for side in (named, truth))
    if not (known.any() and named | true):
        return 1.0 if known.any() else np.nan
    cost = 0.0
    for k in named ^ true:
        cost += weights[k] * min((distances[k][j] for j in (true if k in named else named)), default=1)
    total = sum(weights[k] for k in named | true)
    return 1 - cost / total if total else np.nan


@given(st.integers(0, 1000), st.sampled_from([[1, 1, 1, 1], [1, 0, 0.5, 2], [0, 0, 0, 1]]))
def test_ontology_score_is_that_of_a_loop(seed, weights):
    rng = np.random.default_rng(seed)
    distances = tree_distances(ANIMALS, ["cat", "dog", "wolf", "oak"])
    named, truth, known = rng.random((2, 5, 4)) < 0.4, rng.random((5, 4)) < 0.4, rng.random((5, 4)) < 0.7
    found = ontology_scores(named, truth, known, distances, np.array(weights, float))
    for classifier in range(2):
        expected = [naive_ontology(named[classifier, i], truth[i], known[i], distances, weights) for i in range(5)]
        np.testing.assert_allclose(found[classifier], expected, atol=1e-12)


def test_ontology_score_by_hand():
    distances = tree_distances(ANIMALS, ["cat", "dog", "wolf", "oak"])
    truth, known = np.array([[1, 0, 0, 0]], bool), np.ones((1, 4), bool)
    named = np.array([[[1, 0, 0, 0]], [[0, 1, 0, 0]], [[0, 0, 0, 1]], [[0, 0, 0, 0]], [[1, 0, 1, 0]]], bool)
    # right; a sibling, twice 2/5; the farthest; nothing; right with a false label at 3/5, one of two
    scores = ontology_scores(named, truth, known, distances, np.ones(4))[:, 0]
    np.testing.assert_allclose(scores, [1, 0.6, 0, 0, 0.7])
    # raters agree less on wolf: its false label has weight 1/2 instead of 1
    light = ontology_scores(named, truth, known, distances, np.array([1, 1, 0.5, 1]))[4, 0]
    assert light == pytest.approx(1 - 0.3 / 1.5)
    # nothing is true, and nothing is named
    assert ontology_scores(named[3:4], named[3], known, distances, np.ones(4)).tolist() == [[1]]
    assert np.isnan(ontology_scores(named[3:4], named[3], ~known, distances, np.ones(4))).all()
