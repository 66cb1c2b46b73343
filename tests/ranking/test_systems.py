"""Systems with the truth of each rater and of the majority."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from kalos_core import ConceptTruths, InputError, rank_systems
from kalos_core.ranking import SystemScores
from kalos_core.ranking.concepts import concept_measures
from kalos_core.ranking.redrawn import value_replicates
from kalos_core.reliability import NOT_ASSIGNED
from kalos_core.resampling import Draws
from tests.nominal_tables import table_of

IMAGES = ["a", "b", "c", "d"]
CONCEPTS = ["cat", "dog", "oak"]
TREE = {"cat": "animal", "dog": "animal", "oak": "plant"}


def truths(decisions, names=("ann", "bob")):
    return ConceptTruths(list(names), IMAGES, CONCEPTS, decisions)


def marked(*concepts):
    """Return (1, 4, 3) decisions of a truth from the images of each concept."""
    return np.array([[[image in images for images in concepts] for image in IMAGES]], int)


def scores(values, systems=("net", "svm")):
    return SystemScores(list(systems), IMAGES, CONCEPTS, values)


class Given(list):
    """Given draws (B, I)."""

    def __init__(self, times):
        super().__init__([times])
        self.images = np.arange(times.shape[1])


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
    values = np.zeros((2, 4, 3))
    values[:, :, 0] = [[0.9, 0.8, 0.2, 0.1], [0.9, 0.1, 0.2, 0.8]]
    # bob: cat in a and d, on which svm is right
    result = rank_systems(scores(values), truths(np.concatenate([marked("ab", "", ""), marked("ad", "", "")])))
    assert result.rankings["AUC"].values.tolist() == [[1, 0.5], [0.5, 1]]
    assert result.rankings["EER"].values.tolist() == [[0, 0.5], [0.5, 0]]
    assert result.rankings["EER"].ranks.tolist() == result.rankings["AUC"].ranks.tolist() == [[1, 2], [2, 1]]
    assert result.rankings["AUC"].tau[0, 1] == -1
    assert result.left_out.tolist() == [[False, True, True]] * 2  # dog and oak are in no image
    assert "ontology score" not in result.rankings
    constant = rank_systems(scores(np.full((2, 4, 3), 0.5)), truths(marked("ab", "ab", "ab"), ["ann"])).rankings
    assert constant["AUC"].values.tolist() == constant["EER"].values.tolist() == [[0.5, 0.5]]
    assert constant["AUC"].ranks.tolist() == [[1.5, 1.5]]


def test_ontology_score_by_hand():
    values = np.zeros((2, 4, 3))
    values[0, :, 0] = 0.9  # net says cat everywhere
    values[1, :, 1] = 0.5  # svm says dog everywhere, with just enough confidence
    given = scores(values), truths(marked("ab", "", "cd"), ["ann"])
    result = rank_systems(*given, tree=TREE)
    assert result.ontology[0].tolist() == [[1, 1, 0, 0], [0.5, 0.5, 0, 0]]
    assert result.rankings["ontology score"].values.tolist() == [[0.5, 0.25]]
    assert rank_systems(*given, tree=TREE, decision=0.6).rankings["ontology score"].values.tolist() == [[0.5, 0.0]]
    # without weight on oak, only the false cat counts in images of an oak
    assert rank_systems(*given, tree=TREE, weights=[1, 1, 0]).ontology[0, 0].tolist() == [1, 1, 0, 0]


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
    decisions = of_raters.decisions.copy()
    decisions[:, 2] = NOT_ASSIGNED  # no truth needs the score
    assert rank_systems(gone, truths(decisions)).skipped_images == 0


def test_a_truth_that_finds_nothing_is_undefined_and_says_so(random_study):
    decisions = np.concatenate([marked("", "", ""), marked("ab", "ab", "ab")])
    ranking = rank_systems(random_study[0], truths(decisions), bootstrap=0).rankings["AUC"]
    assert np.isnan(ranking.values[0]).all()
    assert np.isfinite(ranking.values[1]).all()
    assert ranking.undefined == ("AUC is undefined under ann: no concept is in some of the images and not in others",)
    assert np.isnan(ranking.tau[0, 1])


ANSWERS = {"ann": [["cat", "dog"], ["dog"]], "bob": [["cat"]], "eve": [["cat"]], "joe": [["dog"]]}
ANSWERED = table_of(ANSWERS, groups=None)


def test_from_labels():
    result = ConceptTruths.from_labels(ANSWERED)
    assert result.truths.tolist() == ["ann", "bob", "eve", "joe", "majority"]
    # cat has three of four on a; dog two of four, a tie; on b only ann answers
    assert result.decisions[-1].tolist() == [[1, NOT_ASSIGNED], [0, 1]]
    assert result.decisions[1, 1].tolist() == [NOT_ASSIGNED, NOT_ASSIGNED]
    group = table_of({"ann": ["cat"], "bob": ["dog"], "eve": ["cat"]}, concepts=["cat", "dog", "owl"])
    assert ConceptTruths.from_labels(group).decisions[:, 0].tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]]


def test_replicates_by_hand():
    # one concept, in a only: a draw with a once and others twice counts only these
    values, truth = (
        np.array([[[0.5], [0.9], [0.5], [0.1]], [[0.9], [0.9], [0.1], [0.1]]]),
        np.array([[[1], [0], [0], [0]]]),
    )
    times = np.array([[1, 0, 2, 1], [1, 3, 0, 0], [0, 2, 1, 1]])
    found = value_replicates(values, truth, np.array([[[1.0, 0.5, np.nan, 0], [np.nan] * 4]]), Given(times))
    np.testing.assert_allclose(found["AUC"][:, 0], [[2 / 3, 1], [0, 0.5], [np.nan] * 2], atol=1e-12)
    # net, first draw: false alarms 0 to 2/3 while misses 1 to 0; svm, second: 0 to 1 while 1 to 0
    np.testing.assert_allclose(found["EER"][:, 0], [[0.4, 0], [1, 0.5], [np.nan] * 2], atol=1e-12)
    np.testing.assert_allclose(found["ontology score"][:, 0, 0], [0.5, 2.5 / 4, 1 / 3])
    assert np.isnan(found["ontology score"][:, 0, 1]).all()


def test_replicates_are_those_of_a_loop_over_the_images_drawn():
    rng = np.random.default_rng(3)
    values, decisions = rng.random((2, 30, 3)).round(1), rng.integers(0, 2, (2, 30, 3))
    decisions[1, :4, 1] = NOT_ASSIGNED
    names = [f"{number:02}" for number in range(30)]
    result = rank_systems(
        SystemScores(["x", "y"], names, CONCEPTS, values),
        ConceptTruths(["a", "b"], names, CONCEPTS, decisions),
        tree=TREE,
        bootstrap=20,
        seed=4,
    )
    for number, often in enumerate(np.concatenate(list(Draws(np.arange(30), 20, 4)))):
        rows = np.repeat(np.arange(30), often)
        for truth, system in np.ndindex(2, 2):
            kept = [rows[decisions[truth, rows, k] != NOT_ASSIGNED] for k in range(3)]
            areas = [roc_auc_score(decisions[truth, at, k], values[system, at, k]) for k, at in enumerate(kept)]
            assert result.replicates["AUC"][number, truth, system] == pytest.approx(np.mean(areas))
            again = concept_measures(values[:, rows], decisions[truth, rows] == 1, decisions[truth, rows] >= 0)[1]
            assert result.replicates["EER"][number, truth, system] == pytest.approx(again.values[system].mean())
            mean = np.nanmean(result.ontology[truth, system, rows])
            assert result.replicates["ontology score"][number, truth, system] == pytest.approx(mean)


def test_intervals_of_areas_are_as_wide_as_the_rarer_answer_is_rare(random_study):
    assert rank_systems(*random_study).rankings["AUC"].undefined == (
        "AUC has no interval under ann, bob: fewer than 8 images of the rarer answer",
    )
    rng, names = np.random.default_rng(0), [f"{number:03}" for number in range(300)]
    truth = np.arange(300)[None, :, None] < np.array([[[100]], [[10]]])  # in 100 images, or in 10
    table = SystemScores(["x"], names, ["cat"], rng.normal(size=(1, 300, 1)) + truth[1] + truth[0])
    result = rank_systems(table, ConceptTruths(["often", "seldom"], names, ["cat"], truth))
    assert result.deciding_images.tolist() == [100, 10]
    for measure, best in (("AUC", 1), ("EER", 0)):
        found, replicates = result.rankings[measure], result.replicates[measure][:, :, 0]
        away = abs(best - replicates)  # Student's t on the logarithm
        error = np.log(away).std(axis=0) * np.sqrt(np.array([100, 10]) / [99, 9]) * stats.t.ppf(0.975, [99, 9])
        ends = abs(best - found.values) * np.exp(np.stack([-error, error], axis=1))
        np.testing.assert_allclose(np.sort(abs(best - found.interval[:, 0]), axis=1), ends, rtol=1e-6)
        assert (found.interval[:, 0, 0] < found.values[:, 0]).all()
    table = result.to_pandas()
    assert table[["measure", "value_low"]].iloc[0].tolist() == ["AUC", result.rankings["AUC"].interval[0, 0, 0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"missing": "last"}, "missing: expected one of 'raise', 'skip', got 'last'"),
        ({"tree": {"cat": "animal"}}, "tree: expected all concepts in it, got none of 'dog', 'oak'"),
        ({"weights": [1, 2]}, "weights: expected a number of at least 0 for each of 3 concepts, got 1.0, 2.0"),
        ({"weights": [1, math.nan, 1]}, "weights: expected a number of at least 0 for each of 3 concepts"),
        ({"weights": "equal"}, "weights: expected numbers, got 'equal'"),
        ({"decision": math.nan}, "decision: expected a number"),
    ],
)
def test_input_without_a_result_is_refused(random_study, arguments, message):
    with pytest.raises(InputError, match=message):
        rank_systems(*random_study, **arguments)


ZEROS = np.zeros((2, 4, 3))
IN_X = {"cat": 1, "dog": 0, "oak": 0}
ELSEWHERE = SystemScores.from_tables({"net": {"a": IN_X}, "svm": {"x": IN_X}})
CATS = SystemScores(["net"], IMAGES, ["cat"], np.zeros((1, 4, 1)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: scores([[["high"]]]), "scores: expected numbers"),
        (lambda: scores(ZEROS[0]), r"expected systems x images x concepts, got shape \(4, 3\)"),
        (lambda: scores(ZEROS[:, :, :2]), "concepts: expected 2 names, each once, got cat, dog, oak"),
        (lambda: scores(ZEROS, ["x", "x"]), "systems: expected 2 names, each once, got x, x"),
        (lambda: truths(ZEROS[0]), "expected truths x images x concepts"),
        (lambda: truths(ZEROS + 7), r"expected 1 \(chosen\), 0 \(not\) or NOT_ASSIGNED \(-2\), got 7"),
        (lambda: truths(ZEROS + np.nan), "NOT_ASSIGNED .* got nan"),
        (lambda: SystemScores.from_tables({"net": {"a": {"cat": "high"}}}), "net, image 'a', cat: expected a number"),
        (lambda: rank_systems(CATS, truths(ZEROS)), "scores: expected every concept of the truths, .* 'dog', 'oak'"),
        (
            lambda: rank_systems(ELSEWHERE, truths(ZEROS)),
            r"without in net: 3 \('b', 'c', 'd'\), svm: 4 \('a', 'b', 'c' and 1 more\)",
        ),
        (
            lambda: rank_systems(ELSEWHERE, truths(ZEROS), missing="skip"),
            "expected an image with scores of every classifier",
        ),
        (lambda: ConceptTruths.from_labels(ANSWERED, majority="bob"), "majority: .* that no rater has, got 'bob'"),
        (lambda: ConceptTruths.from_labels(ANSWERED, teams={"bob": ["ann"]}), "majority: .* no rater has, got 'bob'"),
        (lambda: ConceptTruths.from_labels(ANSWERED, teams={"x": []}), "teams: expected a rater at least in 'x'"),
    ],
)
def test_tables_that_are_none_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
