"""Accuracy of raters and certainty of labels: steps by hand, Dawid & Skene's data, loops over answers, and laws."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from kalos_core import NOT_ASSIGNED, InputError, dawid_skene, majority_vote, staple
from kalos_core.nominal import SKILL_MODELS
from kalos_core.nominal.expectation import Patterns, expectation_maximisation, own_confusion
from kalos_core.nominal.skill import _dispersion, _Given
from tests.nominal_tables import dawid_skene_by_loops, table_of
from tests.tiers import pairwise

SKIES = table_of({"ann": [[], ["sky"]], "bob": [[], ["sky"]]}, groups=None, concepts=["sky", "sea"])
THREE = [[0, 0, 0], [0, 0, 1], [1, 1, 1]]
"""Items on which the third of three raters differs once."""

PATIENTS = (
    "111 1 1 1 1|333 4 3 3 4|112 2 1 2 2|222 3 1 2 1|222 3 2 2 2|222 3 3 2 2|122 2 1 1 1|333 3 4 3 3|222 2 2 2 3|"
    "232 2 2 2 3|444 4 4 4 4|222 3 3 4 3|111 1 1 1 1|222 3 2 1 2|121 1 1 1 1|111 2 1 1 1|111 1 1 1 1|111 1 1 1 1|"
    "222 2 2 2 1|222 1 3 2 2|222 2 2 2 2|222 2 2 2 1|222 3 2 2 2|221 2 2 2 2|111 1 1 1 1|111 1 1 1 1|232 2 2 2 2|"
    "111 1 1 1 1|111 1 1 1 1|112 1 1 2 1|111 1 1 1 1|333 3 2 3 3|111 1 1 1 1|222 2 2 2 2|222 3 2 3 2|433 4 3 4 3|"
    "221 2 2 3 2|232 3 2 3 3|333 3 4 3 2|111 1 1 1 1|111 1 1 1 1|121 2 1 1 1|232 2 2 2 2|121 1 1 1 1|222 2 2 2 2"
)
"""Dawid & Skene (1979), Table 1: 45 patients; the first of five anaesthetists judged each of them three times."""


# ---- one step, by hand ----


def test_one_step_by_hand():
    """Vote shares give the second item 2/3 and 1/3, and so the classes 5/9 and 4/9 of the items."""
    found = dawid_skene(THREE, added=0, iterations=1)
    assert found.prior == pytest.approx([5 / 9, 4 / 9])
    first, second, third = found.confusion
    assert first.ravel() == pytest.approx([1, 0, 1 / 4, 3 / 4])  # of class 1: 1/3 of an answer 0, and one answer 1
    assert second.tolist() == first.tolist()
    assert third.ravel() == pytest.approx([3 / 5, 2 / 5, 0, 1])  # of class 0: one answer 0, and 2/3 of an answer 1
    # the second item: 5/9 * 1 * 1 * 2/5 = 8/36 against 4/9 * 1/4 * 1/4 * 1 = 1/36
    assert found.probability.ravel() == pytest.approx([1, 0, 8 / 9, 1 / 9, 0, 1])
    assert found.skill == pytest.approx([26 / 27, 26 / 27, 19 / 27])
    assert (found.iterations, found.converged, "NOT SETTLED" in found.headline) == (1, False, True)
    assert found.labels.tolist() == [0, 0, 1]


def test_added_annotations_by_hand():
    """Smoothing: for class 0, raters give 5/3 + 5/3 + 1 answers 0 and 2/3 answers 1; for 1, 2/3 and 1 + 1 + 4/3."""
    found = dawid_skene(THREE, added=3, iterations=1)
    assert found.confusion[0, 0] == pytest.approx([(5 / 3 + 3 * 13 / 15) / (5 / 3 + 3), (3 * 2 / 15) / (5 / 3 + 3)])
    assert found.confusion[2, 1] == pytest.approx([(3 * 1 / 6) / (4 / 3 + 3), (4 / 3 + 3 * 5 / 6) / (4 / 3 + 3)])


def test_one_step_with_one_coin_by_hand():
    """The first two are right in 1 + 2/3 + 1 of three answers, the third in 1 + 1/3 + 1."""
    found = dawid_skene(THREE, model="one_coin", added=0, iterations=1)
    assert found.confusion[0].ravel() == pytest.approx([8 / 9, 1 / 9, 1 / 9, 8 / 9])
    assert found.confusion[2].ravel() == pytest.approx([7 / 9, 2 / 9, 2 / 9, 7 / 9])
    # the second item: 5/9 * 8/9 * 8/9 * 2/9 against 4/9 * 1/9 * 1/9 * 7/9, which is 640 to 28
    assert found.probability[1] == pytest.approx([640 / 668, 28 / 668])


def test_the_majority_weighted_by_skill_by_hand():
    """The third rater is in the majority on two of three items: 1 + 1 vs. 2/3 on the second item."""
    found = dawid_skene(THREE, model="weighted")
    assert found.skill == pytest.approx([1, 1, 2 / 3])
    assert found.probability[1] == pytest.approx([3 / 4, 1 / 4])
    assert (found.labels.tolist(), found.iterations, found.converged) == ([0, 0, 1], 0, True)


def test_intervals_are_wilsons_of_what_is_known():
    """If nothing is uncertain, an interval is that of a share of the number of answers."""
    values = [[1, 1, 1, 1, 1, 2], *[[k % 2 + 1] * 6 for k in range(19)]]
    found = dawid_skene(values)
    expected = binomtest(19, 20).proportion_ci(method="wilson")
    assert found.skill[5] == pytest.approx(19 / 20, abs=1e-4)
    assert found.skill_interval[5] == pytest.approx(expected, abs=1e-3)
    assert found.skill_interval[0] == pytest.approx(binomtest(20, 20).proportion_ci(method="wilson"), abs=1e-3)


# ---- published ----


def test_the_patients_of_dawid_and_skene():
    """The paper prints the maximum likelihood estimates: shares of classes, and the first anaesthetist's rates."""
    answers = [
        (patient, rater, int(answer) - 1)
        for patient, row in enumerate(PATIENTS.split("|"))
        for rater, of_rater in enumerate(row.split())
        for answer in of_rater
    ]
    item, rater, answer = np.array(answers).T
    found = expectation_maximisation(Patterns.of(item, rater, answer, (45, 5, 4)), own_confusion, 0, 1000)
    assert found.converged
    assert found.prior.round(2).tolist() == [0.40, 0.42, 0.11, 0.07]
    assert found.confusion[0].round(2).tolist() == [
        [0.89, 0.11, 0.00, 0.00],
        [0.07, 0.88, 0.05, 0.00],
        [0.00, 0.34, 0.66, 0.00],
        [0.00, 0.00, 0.56, 0.44],
    ]


def test_bluebirds(bluebirds):
    """crowd-kit 1.4 stops after two steps, with 96 of 108 right (.889), as in its documentation."""
    table, truth = bluebirds
    found = dawid_skene(table)
    assert (found.labels == truth).mean() == pytest.approx(97 / 108)
    assert (dawid_skene(table, added=0, iterations=2).labels == truth).sum() == 96
    options = np.array(table.options())
    assert (options[majority_vote(table.counts()).winner] == truth).mean() == pytest.approx(82 / 108)
    marked = staple(table.values().T[:, None, :].astype(bool)).mask[0]
    assert (options[marked.astype(int)] == truth).mean() == pytest.approx(97 / 108, abs=0.01)


@pytest.mark.parametrize(("model", "right", "dispersion"), [("one_coin", 63, 6.6), ("confusion", 97, 2.4)])
def test_bluebirds_are_surer_than_right_and_it_is_said(bluebirds, model, right, dispersion):
    """Posterior above 99 %, 58 % right: some birds mislead almost all raters."""
    table, truth = bluebirds
    found = dawid_skene(table, model=model)
    assert ((found.labels == truth).sum(), found.confidence.mean() > 0.99) == (right, True)
    assert found.dispersion == pytest.approx(dispersion, abs=0.05)
    assert found.errs_together
    assert "TOO SURE: raters err on the same items" in found.headline


def test_dispersion_by_hand():
    """Answers are right with .8, four per item: 2 of 10 items all wrong, 8 all right: (2 * 3.2^2 + 8 * .8^2) / 6.4."""
    values = [["a"] * 4] * 5 + [["b"] * 4] * 5
    found = dawid_skene(values, added=0)
    assert np.isnan(found.dispersion)  # no rater errs
    coin = np.array([[0.8, 0.2], [0.2, 0.8]])
    given = _Given.of([["a"] * 4] * 8 + [["b"] * 4] * 2, None)
    value, error = _dispersion(given, np.zeros(10, np.intp), np.tile(coin, (4, 1, 1)))
    assert value == pytest.approx((2 * 3.2**2 + 8 * 0.8**2) / 6.4)
    assert error == pytest.approx(np.sqrt(10 * (2 * 0.64**2 + 4 * 0.16 * (1 - 6 * 0.16))) / 6.4)


def test_who_errs_independently_is_not_called_too_sure():
    """By simulation: the error of the dispersion matches the spread of 40 simulations, and none is flagged."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 2, 150)
        values = np.where(rng.random((150, 12)) < 0.8, truth[:, None], 1 - truth[:, None])
        found.append(dawid_skene(values))
    assert not any(one.errs_together for one in found)
    errors = [one.dispersion_error for one in found]
    assert np.std([one.dispersion for one in found]) == pytest.approx(np.mean(errors), rel=0.35)


# ---- vs. loops over answers ----


def ratings(seed):
    """Return answers of six raters of different skill to 40 items, with gaps; every item and rater has an answer."""
    rng = np.random.default_rng(seed)
    truth, skill = rng.integers(0, 3, 40), rng.uniform(0.4, 0.95, 6)
    values = np.where(rng.random((40, 6)) < skill, truth[:, None], rng.integers(0, 3, (40, 6)))
    gone = rng.random((40, 6)) > 0.7
    gone[np.arange(40), rng.integers(0, 6, 40)] = False
    return np.where(gone, NOT_ASSIGNED, values)


@pytest.mark.parametrize(("model", "added", "iterations"), pairwise(["confusion", "one_coin"], [0, 4, 0.3], [1, 4, 15]))
def test_the_same_as_item_by_item(model, added, iterations):
    values = ratings(seed=iterations)
    found = dawid_skene(values, model=model, added=added, iterations=iterations)
    expected = dawid_skene_by_loops(values, added, found.iterations, model == "one_coin")
    for own, loop in zip((found.probability, found.confusion, found.prior), expected, strict=True):
        assert own == pytest.approx(loop, abs=1e-9)


@pytest.mark.parametrize("model", ["confusion", "one_coin"])
def test_a_further_step_changes_nothing_where_it_converged(model):
    values = ratings(seed=9)
    found = dawid_skene(values, model=model)
    assert found.converged
    steps = [
        dawid_skene_by_loops(values, 4, found.iterations + more, model == "one_coin")[0] for more in (-2, -1, 0, 1)
    ]
    assert np.abs(found.probability - steps[2]).max() < 1e-9
    before, last, further = np.abs(np.diff(steps, axis=0)).sum(axis=2).max(axis=1)  # of the item that changes most
    assert further < last <= 1e-6 < before


# ---- known ground truth ----


def test_intervals_hold_the_skill_that_was_given():
    held = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth, skill = rng.integers(0, 2, 150), rng.uniform(0.6, 0.95, 7)
        values = np.where(rng.random((150, 7)) < skill, truth[:, None], 1 - truth[:, None])
        low, high = dawid_skene(values, model="one_coin").skill_interval.T
        held += ((low <= skill) & (skill <= high)).tolist()
    assert np.mean(held) > 0.9


# ---- given parameters ----


def test_a_table_and_its_values_give_the_same():
    table = table_of({"ann": ["cat", "dog"], "bob": ["cat", "cat"], "cid": [None, "dog"]})
    names = [["cat", "cat", None], ["dog", "cat", "dog"]]
    codes = np.array([[0, 0, NOT_ASSIGNED], [1, 0, 1]])
    expected = dawid_skene(table)
    for found in map(dawid_skene, (names, np.array(names, dtype=object), codes, [[0, 0, math.nan], [1, 0, 1]])):
        assert found.probability == pytest.approx(expected.probability)
        assert found.labels.tolist() in (["cat", "dog"], [0, 1])
    assert (expected.items.tolist(), expected.raters.tolist()) == ([0, 1], ["ann", "bob", "cid"])
    assert dawid_skene(codes).labels.dtype.kind == "i"


def test_an_optional_concept_is_a_question():
    assert dawid_skene(SKIES, "sky").labels.tolist() == ["not chosen", "chosen"]


# ---- edge cases ----


@pytest.mark.parametrize("model", sorted(SKILL_MODELS))
@pytest.mark.parametrize("added", [0, 4])
def test_edges(model, added):
    def found(values):
        return dawid_skene(values, model=model, added=added)

    one_class = found([[4, 4], [4, NOT_ASSIGNED]])
    assert (one_class.labels.tolist(), one_class.probability.tolist()) == ([4, 4], [[1.0], [1.0]])
    assert (one_class.confusion.tolist(), one_class.prior.tolist()) == ([[[1.0]], [[1.0]]], [1.0])
    one_rater = found([["a"], ["b"], ["a"]])
    assert (one_rater.labels.tolist(), one_rater.converged) == (["a", "b", "a"], True)
    gaps = found([[0, 0, NOT_ASSIGNED], [NOT_ASSIGNED] * 3, [1, 1, NOT_ASSIGNED], [0, 0, NOT_ASSIGNED]])
    assert gaps.labels.tolist() == [0, NOT_ASSIGNED, 1, 0]
    assert gaps.probability[1] == pytest.approx(gaps.prior)
    assert np.isnan(gaps.confidence[1])
    assert np.isnan(gaps.skill[2])
    assert np.isnan(gaps.skill_interval[2]).all()
    assert np.isnan(gaps.confusion[2]).all()
    alike = found([[0] * 5, [1] * 5, [2] * 5] * 4)
    assert alike.labels.tolist() == [0, 1, 2] * 4
    assert alike.confidence == pytest.approx(1, abs=1e-2)
    assert alike.skill == pytest.approx(1, abs=1e-2)
    tie = found([["a", "b"]])
    assert (tie.labels.tolist(), tie.tied.tolist(), tie.confidence.tolist()) == ([None], [True], [0.5])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dawid_skene(SKIES), "question: expected a name, as there are several: sky, sea"),
        (lambda: dawid_skene([[1, 1]], "sky"), "question: expected none, as values have no names"),
        (lambda: dawid_skene(THREE, model="glad"), "model: .* one of 'confusion', 'one_coin', 'weighted', got 'glad'"),
        (lambda: dawid_skene(THREE, added=-1), "added: expected a number of at least 0, got -1"),
        (lambda: dawid_skene(THREE, added=math.nan), "added: expected a number of at least 0, got"),
        (lambda: dawid_skene(THREE, iterations=0), "iterations: expected a whole number of at least 1, got 0"),
        (lambda: dawid_skene([1, 2, 3]), "values: expected items x raters, got shape"),
        (lambda: dawid_skene(THREE), r"values: expected at most 11 cells of confusion matrices .* got 12"),
    ],
)
def test_invalid_input_is_refused(call, message, monkeypatch):
    monkeypatch.setenv("KALOS_MOST_CONFUSED", "11")
    with pytest.raises(InputError, match=message):
        call()


def test_unanimous_items_of_another_label_are_counted_and_said():
    """By hand: three of six items have at least two answers, all equal; the last has one answer, the fourth differs."""
    rows = [[0, 0, 0], [0, 0, 1], [1, 1, 1], [0, 1, -2], [1, -2, -2], [0, 1, 2]]
    found = dawid_skene(np.where(np.array(rows) < 0, NOT_ASSIGNED, rows))
    assert found.labels[0] != 0  # six items are too few for three classes: one class takes the position of another
    unanimous = [0, 2]
    assert found.overturned == sum(found.labels[item] != rows[item][0] for item in unanimous) == 2
    assert found.headline.endswith("DOUBTFUL: 2 have another label than all of their raters gave")
    assert dawid_skene(THREE).overturned == 0
    assert "DOUBTFUL" not in dawid_skene(THREE).headline
