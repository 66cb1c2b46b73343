"""Systems under the truth of each rater and of the majority."""

import json
import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from kalos_core import ConceptTruths, InputError, SystemScores, rank_systems
from kalos_core.nominal import LabelTable, majority_agreement, merge_raters
from kalos_core.reliability import NOT_ASSIGNED

IMAGES = ["a", "b", "c", "d"]
CONCEPTS = ["cat", "dog", "oak"]
TREE = {"cat": "animal", "dog": "animal", "oak": "plant"}


def truths(decisions, names=("ann", "bob")):
    return ConceptTruths(list(names), IMAGES, CONCEPTS, decisions)


def scores(values, systems=("net", "svm")):
    return SystemScores(list(systems), IMAGES, CONCEPTS, values)


@pytest.fixture
def random_study():
    rng = np.random.default_rng(5)
    return scores(rng.random((2, 4, 3))), truths(rng.integers(0, 2, (2, 4, 3)))


def test_every_concept_as_scikit_learn_has_it():
    rng = np.random.default_rng(2)
    names = [str(index) for index in range(60)]
    table = SystemScores(["x", "y", "z"], names, CONCEPTS, rng.random((3, 60, 3)).round(1))
    of_raters = ConceptTruths(["ann", "bob"], names, CONCEPTS, rng.integers(0, 2, (2, 60, 3)))
    result = rank_systems(table, of_raters)
    for truth, decisions in enumerate(of_raters.decisions):
        for system, values in enumerate(table.values):
            expected = roc_auc_score(decisions, values, average=None)
            np.testing.assert_allclose(result.auc[truth, system], expected)
            assert result.rankings["AUC"].values[truth, system] == pytest.approx(np.mean(expected))


def test_by_hand():
    # ann: cat in a and b. net scores a b c d = .9 .8 .2 .1 (AUC 1), svm .9 .1 .2 .8: 2 of 4 pairs in order (AUC 1/2)
    cat = [[0.9, 0.8, 0.2, 0.1], [0.9, 0.1, 0.2, 0.8]]
    values = np.zeros((2, 4, 3))
    values[:, :, 0] = cat
    decisions = np.zeros((2, 4, 3), int)
    decisions[0, [0, 1], 0] = 1
    decisions[1, [0, 3], 0] = 1  # bob: cat in a and d, for whom svm is right
    result = rank_systems(scores(values), truths(decisions))
    assert result.rankings["AUC"].values.tolist() == [[1, 0.5], [0.5, 1]]
    assert result.rankings["EER"].values.tolist() == [[0, 0.5], [0.5, 0]]
    assert result.rankings["EER"].ranks.tolist() == result.rankings["AUC"].ranks.tolist() == [[1, 2], [2, 1]]
    assert result.rankings["AUC"].tau[0, 1] == -1
    assert result.left_out.tolist() == [[False, True, True]] * 2  # dog and oak are in no image
    assert "ontology score" not in result.rankings


def test_ontology_score_by_hand():
    values = np.zeros((2, 4, 3))
    values[0, :, 0] = 0.9  # net says cat everywhere
    values[1, :, 1] = 0.5  # svm says dog everywhere, just sure enough
    decisions = np.zeros((1, 4, 3), int)
    decisions[0, :2, 0] = 1
    decisions[0, 2:, 2] = 1  # cat, cat, oak, oak
    result = rank_systems(scores(values), truths(decisions, ["ann"]), tree=TREE)
    assert result.ontology[0].tolist() == [[1, 1, 0, 0], [0.5, 0.5, 0, 0]]
    assert result.rankings["ontology score"].values.tolist() == [[0.5, 0.25]]
    stricter = rank_systems(scores(values), truths(decisions, ["ann"]), tree=TREE, decision=0.6)
    assert stricter.rankings["ontology score"].values.tolist() == [[0.5, 0.0]]
    light = rank_systems(scores(values), truths(decisions, ["ann"]), tree=TREE, weights=[1, 1, 0])
    # without weight on oak, only the false cat counts in the images of an oak
    assert light.ontology[0, 0].tolist() == [1, 1, 0, 0]


def test_truths_by_name():
    values = np.random.default_rng(0).random((2, 4, 3))
    decisions = np.random.default_rng(1).integers(0, 2, (2, 4, 3))
    straight = rank_systems(scores(values), truths(decisions), tree=TREE)
    turned = SystemScores(["net", "svm"], [*IMAGES[::-1], "e"], [*CONCEPTS[::-1], "emu"], np.ones((2, 5, 4)))
    turned.values[:, :4, :3] = values[:, ::-1, ::-1]
    result = rank_systems(turned, truths(decisions), tree=TREE)
    np.testing.assert_array_equal(result.auc, straight.auc)
    np.testing.assert_array_equal(result.ontology, straight.ontology)
    assert (result.unknown_images, result.unknown_concepts) == (1, 1)


def test_images_without_a_score_are_refused_or_left_out_for_all(random_study):
    table, of_raters = random_study
    values = table.values.copy()
    values[1, 2] = np.nan
    gone = scores(values)
    with pytest.raises(InputError, match=r"got images without in svm: 1 \('c'\); missing='skip' leaves"):
        rank_systems(gone, of_raters)
    result = rank_systems(gone, of_raters, missing="skip")
    assert (result.skipped_images, result.images.tolist()) == (1, ["a", "b", "d"])
    kept = [0, 1, 3]
    fewer = rank_systems(
        SystemScores(table.systems, ["a", "b", "d"], CONCEPTS, table.values[:, kept]),
        ConceptTruths(of_raters.truths, ["a", "b", "d"], CONCEPTS, of_raters.decisions[:, kept]),
    )
    np.testing.assert_array_equal(result.auc, fewer.auc)


def test_a_score_that_no_truth_asks_for_may_be_missing(random_study):
    table, of_raters = random_study
    values, decisions = table.values.copy(), of_raters.decisions.copy()
    values[0, 1, 2], decisions[:, 1, 2] = np.nan, NOT_ASSIGNED
    assert rank_systems(scores(values), truths(decisions)).skipped_images == 0


def test_systems_with_other_images(random_study):
    _, of_raters = random_study
    tables = {"net": {"a": {"cat": 1, "dog": 0, "oak": 0}}, "svm": {"x": {"cat": 1, "dog": 0, "oak": 0}}}
    other = SystemScores.from_tables(tables)
    with pytest.raises(InputError, match=r"without in net: 3 \('b', 'c', 'd'\), svm: 4 \('a', 'b', 'c' and 1 more\)"):
        rank_systems(other, of_raters)
    with pytest.raises(InputError, match="expected an image with scores of every classifier"):
        rank_systems(other, of_raters, missing="skip")


def test_a_truth_that_finds_nothing_is_undefined_and_says_so(random_study):
    table, _ = random_study
    decisions = np.zeros((2, 4, 3), int)
    decisions[1, :2] = 1
    ranking = rank_systems(table, truths(decisions)).rankings["AUC"]
    assert np.isnan(ranking.values[0]).all()
    assert np.isfinite(ranking.values[1]).all()
    assert ranking.undefined == ("AUC is undefined under ann: no concept is in some of the images and not in others",)
    assert np.isnan(ranking.tau[0, 1])


def test_constant_scores_rank_by_chance():
    decisions = np.zeros((1, 4, 3), int)
    decisions[0, :2] = 1
    ranking = rank_systems(scores(np.full((2, 4, 3), 0.5)), truths(decisions, ["ann"])).rankings
    assert ranking["AUC"].values.tolist() == ranking["EER"].values.tolist() == [[0.5, 0.5]]
    assert ranking["AUC"].ranks.tolist() == [[1.5, 1.5]]


def test_from_labels():
    answers = {"ann": ["cat", "dog"], "bob": ["cat"], "eve": ["cat"], "joe": ["dog"]}
    rows = [{"item": "a", "rater": rater, "label": label} for rater, label in answers.items()]
    rows.append({"item": "b", "rater": "ann", "label": ["dog"]})
    result = ConceptTruths.from_labels(LabelTable.from_rows(rows, groups=None))
    assert result.truths.tolist() == ["ann", "bob", "eve", "joe", "majority"]
    # cat has three of four on a; dog two of four, a tie; on b ann alone answers
    assert result.decisions[-1].tolist() == [[1, NOT_ASSIGNED], [0, 1]]
    assert result.decisions[1, 1].tolist() == [NOT_ASSIGNED, NOT_ASSIGNED]
    with pytest.raises(InputError, match="majority: expected a name that no rater has, got 'bob'"):
        ConceptTruths.from_labels(LabelTable.from_rows(rows, groups=None), majority="bob")


def test_from_labels_of_a_group():
    answers = {"ann": "cat", "bob": "dog", "eve": "cat"}
    rows = [{"item": "a", "rater": rater, "label": label} for rater, label in answers.items()]
    table = LabelTable.from_rows(rows, concepts=["cat", "dog", "owl"])
    assert ConceptTruths.from_labels(table).decisions[:, 0].tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]]


def test_from_labels_to_rankings():
    rng = np.random.default_rng(0)
    chosen = rng.random((3, 20, 3)) < 0.5
    rows = [
        {"item": item, "rater": f"r{rater}", "label": [CONCEPTS[k] for k in np.flatnonzero(chosen[rater, item])]}
        for rater in range(3)
        for item in range(20)
    ]
    table = LabelTable.from_rows(rows, groups=None, concepts=CONCEPTS)
    systems = SystemScores(["like r0", "random"], range(20), CONCEPTS, [chosen[0] * 0.9, rng.random((20, 3))])
    result = rank_systems(
        systems, ConceptTruths.from_labels(table), tree=TREE, weights=majority_agreement(table).concept_all
    )
    for ranking in result.rankings.values():
        assert ranking.truths.tolist() == ["r0", "r1", "r2", "majority"]
        assert ranking.is_best[0].tolist() == [True, False]
    assert result.rankings["AUC"].values[0, 0] == result.rankings["ontology score"].values[0, 0] == 1


def test_tables(random_study):
    result = rank_systems(*random_study, tree=TREE)
    table = result.to_pandas()
    assert len(table) == 3 * 2 * 2
    assert table["measure"].unique().tolist() == ["AUC", "EER", "ontology score"]
    concepts = result.by_concept()
    assert len(concepts) == np.isfinite(result.auc).sum()
    assert json.loads(concepts.to_json())["auc"]["0"] == pytest.approx(concepts["auc"][0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"missing": "last"}, "missing: expected 'raise' or 'skip', got 'last'"),
        ({"tree": {"cat": "animal"}}, "tree: expected all concepts in it, got none of 'dog', 'oak'"),
        ({"weights": [1, 2]}, "weights: expected 3 numbers of at least 0, got 1.0, 2.0"),
        ({"weights": [1, math.nan, 1]}, "weights: expected 3 numbers"),
        ({"weights": "equal"}, "weights: expected numbers, got 'equal'"),
        ({"decision": math.nan}, "decision: expected a number"),
    ],
)
def test_what_cannot_be_computed_is_refused(random_study, arguments, message):
    with pytest.raises(InputError, match=message):
        rank_systems(*random_study, **arguments)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: scores([[["high"]]]), "scores: expected numbers"),
        (lambda: scores(np.zeros((2, 4))), r"expected systems x images x concepts, got shape \(2, 4\)"),
        (lambda: scores(np.zeros((2, 4, 2))), "concepts: expected 2 names, each once, got cat, dog, oak"),
        (lambda: scores(np.zeros((2, 4, 3)), ["x", "x"]), "systems: expected 2 names, each once, got x, x"),
        (lambda: truths(np.zeros((2, 4))), "expected truths x images x concepts"),
        (lambda: truths(np.full((2, 4, 3), 7)), r"expected 1 \(chosen\), 0 \(not\) or NOT_ASSIGNED \(-2\), got 7"),
        (lambda: truths(np.full((2, 4, 3), np.nan)), "NOT_ASSIGNED .* got nan"),
        (
            lambda: SystemScores.from_tables({"net": {"a": {"cat": "high"}}}),
            "net, image 'a', cat: expected a number, got 'high'",
        ),
        (
            lambda: rank_systems(
                SystemScores(["net"], IMAGES, ["cat"], np.zeros((1, 4, 1))), truths(np.zeros((2, 4, 3)))
            ),
            "scores: expected every concept of the truths, got none of 'dog', 'oak'",
        ),
    ],
)
def test_tables_that_are_none_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_the_merged_labels_of_teams_are_truths():
    answers = {"e1": "xy", "e2": "xy", "e3": "xx", "c1": "yy", "c2": "yx", "c3": "yx"}
    rows = [{"item": i, "rater": r, "label": c} for r, text in answers.items() for i, c in enumerate(text)]
    table = LabelTable.from_rows(rows, concepts=["x", "y"])
    teams = {"experts": ["e1", "e2", "e3"], "crowd": ["c1", "c2", "c3"]}
    truths = ConceptTruths.from_labels(table, teams=teams)
    assert truths.truths.tolist() == [*answers, "experts", "crowd", "majority"]
    assert truths.decisions[6:8].tolist() == [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]  # x y, and y x
    assert (truths.decisions[8] == NOT_ASSIGNED).all()  # three against three, twice
    for team, decisions in zip(teams.values(), truths.decisions[6:8], strict=True):
        np.testing.assert_array_equal(merge_raters(table.select(raters=team)).decisions("majority"), decisions)
    with pytest.raises(InputError, match="teams: expected a rater at least in 'crowd', got none"):
        ConceptTruths.from_labels(table, teams={"crowd": []})
    with pytest.raises(InputError, match="majority: expected a name that no rater has, got 'e1'"):
        ConceptTruths.from_labels(table, teams={"e1": ["e2"]})
