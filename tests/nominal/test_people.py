"""Majorities, accuracies, kappas per question, and teams, each vs. a loop over answers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given

from kalos_core import (
    NOT_ASSIGNED,
    InputError,
    compare_teams,
    fleiss_kappa,
    label_agreement,
    nominal_alpha,
    sparse_agreement,
)
from kalos_core.nominal import free_marginal_kappa, gwet_ac1, item_accuracy, merge_raters, rater_accuracy
from kalos_core.nominal.majority import majority_agreement, majority_vote
from tests.expanded import expanded
from tests.nominal_tables import table_of, tables_with_gaps

PAIR = table_of({"ann": "x", "bob": "x"})
SKIES = table_of({"ann": [["sky", "sea"], []], "bob": [["sky"], []]}, groups=None)


def decisions_of(table):
    """Return rater -> (I, C) decisions."""
    return {name: table.decisions(name) for name in table.raters}


def mean(values):
    found = [value for value in values if not math.isnan(value)]
    return sum(found) / len(found) if found else math.nan


def test_majority_by_hand():
    result = majority_vote([[2, 1, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]])
    assert result.winner.tolist() == [0, -1, -1, -1]
    assert result.tied.tolist() == [False, True, False, True]
    assert result.votes.tolist() == [2, 1, 0, 1]
    assert (result.ties, result.share[0]) == (2, pytest.approx(2 / 3))


@given(tables_with_gaps())
def test_the_merged_rater_is_the_majority_of_every_question(table):
    merged = merge_raters(table)
    assert merged.raters.tolist() == ["majority"]
    for question in table.questions:
        for row, (found,) in zip(table.values(question), merged.values(question), strict=True):
            given_values = [value for value in row if value != NOT_ASSIGNED]
            times = {value: given_values.count(value) for value in given_values}
            best = [value for value, count in times.items() if count == max(times.values())]
            assert found == (best[0] if len(best) == 1 else NOT_ASSIGNED)


@given(tables_with_gaps())
def test_agreement_with_the_majority_in_both_readings(table):
    decided = np.stack(list(decisions_of(table).values()))  # (R, I, C)
    found = majority_agreement(table)
    share = np.full(decided.shape[1:], math.nan)
    chosen = np.zeros(decided.shape[1:], bool)
    for place in np.ndindex(share.shape):
        votes = [vote for vote in decided[(slice(None), *place)] if vote != NOT_ASSIGNED]
        if votes:
            share[place] = max(sum(votes), len(votes) - sum(votes)) / len(votes)
            chosen[place] = sum(votes) > 0
    for name, values in (("all", share), ("chosen", np.where(chosen, share, math.nan))):
        of_concepts, of_items = [mean(column) for column in values.T], [mean(row) for row in values]
        assert getattr(found, f"concept_{name}") == pytest.approx(of_concepts, nan_ok=True)
        assert getattr(found, f"item_{name}") == pytest.approx(of_items, nan_ok=True)
        assert found.means[f"item_{name}"] == pytest.approx(mean(of_items), nan_ok=True)
    assert found.concept_items.tolist() == chosen.sum(axis=0).tolist()
    assert found.to_pandas()["items"].tolist() == found.concept_items.tolist()


@given(tables_with_gaps())
def test_accuracy_of_every_two_raters_and_to_the_majority(table):
    def alike(one, other):
        both = (one != NOT_ASSIGNED) & (other != NOT_ASSIGNED)
        return pytest.approx((one == other)[both].mean() if both.any() else math.nan, nan_ok=True), both.sum()

    decided = decisions_of(table)
    merged = merge_raters(table).decisions("majority")
    found = rater_accuracy(table)
    values = np.concatenate([table.values(question) for question in table.questions])
    for (a, one), (b, other) in itertools.permutations(enumerate(table.raters), 2):
        expected, decisions = alike(decided[one], decided[other])
        assert (found.decision_accuracy[a, b], found.decisions[a, b]) == (expected, decisions)
        expected, questions = alike(values[:, a], values[:, b])
        assert (found.accuracy[a, b], found.questions[a, b]) == (expected, questions)
    for a, name in enumerate(table.raters):
        assert found.decision_to_majority[a] == alike(decided[name], merged)[0]
    for undefined in (np.diag(found.accuracy), found.to_reference, found.decision_to_reference):
        assert np.isnan(undefined).all()


@given(tables_with_gaps())
def test_a_rater_as_the_reference_is_as_between_raters(table):
    name, others = table.raters[-1], table.raters[:-1].tolist()
    found, between = rater_accuracy(table, reference=name), rater_accuracy(table)
    without = rater_accuracy(table.select(raters=others))
    np.testing.assert_array_equal(found.to_reference, between.accuracy[:-1, -1])
    np.testing.assert_array_equal(found.decision_to_reference, between.decision_accuracy[:-1, -1])
    np.testing.assert_array_equal(found.accuracy, without.accuracy)
    np.testing.assert_array_equal(found.to_majority, without.to_majority)
    assert (found.reference, found.raters.tolist()) == (name, others)
    reference = table.select(raters=[name])
    if len(reference):
        of_table = rater_accuracy(table.select(raters=others), reference=reference)
        np.testing.assert_array_equal(of_table.to_reference, found.to_reference)
        np.testing.assert_array_equal(of_table.decision_to_reference, found.decision_to_reference)


def test_accuracy_by_hand_of_one_class_among_many():
    # ten classes, four items; ann is right on three, bob on two, and they agree on one
    truth = dict(enumerate("abcd"))
    table = table_of({"ann": "abcx", "bob": "ayzd"}, concepts=list("abcdefgxyz"))
    found = rater_accuracy(table, reference=truth)
    assert found.to_reference.tolist() == [3 / 4, 2 / 4]
    # a wrong class is two wrong decisions of ten: 38 and 36 of 40
    assert found.decision_to_reference.tolist() == pytest.approx([38 / 40, 36 / 40])
    assert (found.mean, found.decision_mean) == (1 / 4, 34 / 40)
    assert found.raters_to_pandas()["to_reference"].tolist() == [0.75, 0.5]
    turned = rater_accuracy(table, reference={i: [label] for i, label in reversed([*truth.items(), (9, "a")])})
    assert turned.to_reference.tolist() == [3 / 4, 2 / 4]  # items are matched by name
    optional = rater_accuracy(SKIES, reference={0: ["sky"], 1: []})
    assert optional.to_reference.tolist() == [3 / 4, 4 / 4]


def test_bluebirds_against_the_truth(bluebirds):
    table, labels = bluebirds
    found = rater_accuracy(table, reference=dict(zip(table.items, labels, strict=True)))
    truth = np.array([table.options().index(label) for label in labels])
    np.testing.assert_allclose(found.to_reference, (table.values() == truth[:, None]).mean(axis=0))
    merged = merge_raters(table).values()[:, 0]
    assert (merged == truth).mean() == pytest.approx(0.759, abs=5e-4)  # crowd-kit's value for the majority


@given(tables_with_gaps())
def test_accuracy_of_every_item(table):
    decided = np.stack(list(decisions_of(table).values()))
    found = item_accuracy(table)
    for item in range(len(table.items)):
        alike, unanimous = [], []
        for concept in range(len(table.concepts)):
            votes = [vote for vote in decided[:, item, concept] if vote != NOT_ASSIGNED]
            if len(votes) >= 2:
                alike.append(np.mean([a == b for a, b in itertools.combinations(votes, 2)]))
                unanimous.append(float(len(set(votes)) == 1))
        assert found.accuracy[item] == pytest.approx(mean(alike), nan_ok=True)
        assert found.unanimity[item] == pytest.approx(mean(unanimous), nan_ok=True)


@given(tables_with_gaps())
def test_every_question_has_its_coefficients(table):
    result = label_agreement(table, bootstrap=20)
    frame = result.to_pandas().set_index("question")
    for question in table.questions:
        counts, row = table.counts(question), frame.loc[question]
        assert row["alpha"] == pytest.approx(nominal_alpha(table.values(question)), nan_ok=True)
        assert row["fleiss"] == pytest.approx(fleiss_kappa(counts), nan_ok=True)
        assert row["ac1"] == pytest.approx(gwet_ac1(counts), nan_ok=True)
        assert row["free_marginal"] == pytest.approx(free_marginal_kappa(counts), nan_ok=True)
        assert row["spa"] == pytest.approx(sparse_agreement(counts).value, nan_ok=True)
        assert row["answers"] == counts.sum()
        usable, ends = (counts.sum(axis=1) >= 2).sum(), row[["free_marginal_low", "free_marginal_high"]].astype(float)
        assert np.isfinite(ends).all() or usable < 8 or not 0 < row["spa"] < 1
        if np.isfinite(ends).all():
            assert ends.iloc[0] <= row["free_marginal"] <= ends.iloc[1]
    answered = np.zeros((len(table.items), len(table.raters)), bool)
    answered[table.item, table.rater] = True
    assert result.breaches == (answered & (table.values("time") == NOT_ASSIGNED)).sum()


@given(tables_with_gaps())
def test_teams_by_every_pair_of_raters(table):
    def alike(pairs):
        return mean([float(a == b) for a, b in pairs])

    raters = table.raters.tolist()
    teams = {"experts": raters[:1] if len(raters) < 4 else raters[:2], "crowd": raters[-1:] + raters[2:-1]}
    result = compare_teams(table, teams, bootstrap=10)
    for q, question in enumerate(table.questions):
        parts = [[], [], []]
        for row in table.values(question):
            one, other = ([row[raters.index(name)] for name in members] for members in teams.values())
            one, other = ([v for v in part if v != NOT_ASSIGNED] for part in (one, other))
            parts[0].append(alike(itertools.combinations(one, 2)))
            parts[1].append(alike(itertools.combinations(other, 2)))
            parts[2].append(alike(itertools.product(one, other)))
        expected = [mean(part) for part in parts]
        assert result.agreement[q, :3] == pytest.approx(expected, nan_ok=True)
        assert result.agreement[q, 4] == pytest.approx(expected[0] - expected[1], nan_ok=True)
        k = len(table.options(question))
        assert result.kappa[q, :3] == pytest.approx([(p - 1 / k) / (1 - 1 / k) for p in expected], nan_ok=True)


def test_majorities_of_teams_by_hand():
    votes = {"e1": "xyx", "e2": "xyx", "e3": "xxx", "c1": "xyy", "c2": "xyy", "c3": "yxy"}
    table = table_of({rater: 3 * answers for rater, answers in votes.items()})
    teams = {"experts": ["e1", "e2", "e3"], "crowd": ["c1", "c2", "c3"]}
    result = compare_teams(table, teams, bootstrap=200)
    assert np.isnan(compare_teams(table_of(votes), teams, bootstrap=200).agreement_interval).all()  # three items
    assert result.agreement[0, 3] == pytest.approx(2 / 3)  # x y x against x y y
    assert result.kappa[0, 3] == pytest.approx(1 / 3)
    assert result.agreement[0, :2] == pytest.approx([(1 + 1 / 3 + 1) / 3, (1 / 3 + 1 / 3 + 1) / 3])
    low, high = result.agreement_interval[0, 4]
    assert low <= result.agreement[0, 4] <= high
    assert result.kappa_interval[0, 4] == pytest.approx([2 * low, 2 * high])  # for two options, without chance
    assert result.differs.tolist() == [False]  # none of nine items is one of the three that differ in .026
    apart = table_of({"e1": "x" * 20, "e2": "x" * 20, "c1": "xy" * 10, "c2": "x" * 20})
    assert compare_teams(apart, {"experts": ["e1", "e2"], "crowd": ["c1", "c2"]}).differs.tolist() == [True]
    assert np.isnan(compare_teams(table, teams, bootstrap=0).agreement_interval).all()
    assert result.to_pandas()["comparison"].tolist()[:3] == ["experts", "crowd", "experts with crowd"]


def test_the_interval_of_teams_is_that_of_items_sampled_with_replacement():
    rng = np.random.default_rng(0)
    text = {rater: rng.choice(["x", "y"], 60, p=[0.7, 0.3]) for rater in ("e1", "e2", "c1", "c2")}
    table = table_of({rater: labels.tolist() for rater, labels in text.items()})
    result = compare_teams(table, {"e": ["e1", "e2"], "c": ["c1", "c2"]}, bootstrap=2000)
    within = np.stack([text["e1"] == text["e2"], text["c1"] == text["c2"]]).astype(float)
    resampled = within[:, rng.integers(0, 60, (2000, 60))].mean(axis=2)
    for column, values in ((0, resampled[0]), (1, resampled[1]), (4, resampled[0] - resampled[1])):
        assert result.agreement_interval[0, column] == pytest.approx(expanded(values, 60), abs=0.035)
    for both in (8, 7):  # a difference uses the items that the team with fewer answered twice
        few = table_of({r: [v if r != "c2" or i < both else None for i, v in enumerate(text[r])] for r in text})
        result = compare_teams(few, {"e": ["e1", "e2"], "c": ["c1", "c2"]}, bootstrap=200)
        assert result.items[0, [0, 1, 4]].tolist() == [60, both, both]
        assert np.isfinite(result.agreement_interval[0, 4]).all() == (both == 8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_teams(PAIR, {"a": ["ann"]}), "teams: expected two names"),
        (lambda: compare_teams(PAIR, {"a": ["ann"], "b": []}), "teams: .* at least one rater in each, got none in 'b'"),
        (lambda: compare_teams(PAIR, {"a": ["ann"], "b": ["ann"]}), "teams: .* in one team only, got 'ann' in both"),
        (lambda: compare_teams(PAIR, {"a": ["ann"], "b": ["eve"]}), "raters: .* names among ann, bob, got 'eve'"),
        (lambda: label_agreement(table_of({"ann": "x"})), r"table: .* at least two raters to compare, got 1 \(ann\)"),
        (lambda: label_agreement("labels.csv"), "table: expected LabelTable, got str; read_wide_labels"),
        (lambda: rater_accuracy(SKIES, reference={1: ["snow"]}), "item 1: .* of the vocabulary, got 'snow'"),
        (lambda: rater_accuracy(SKIES, reference={7: ["sky"]}), "reference: expected items .*, got none in common"),
        (lambda: rater_accuracy(SKIES, reference="eve"), "reference: expected a rater among ann, bob, got 'eve'"),
        (lambda: rater_accuracy(SKIES, reference=["sky"]), "reference: expected .* or a mapping, got list"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
