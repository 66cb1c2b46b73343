"""Majorities, accuracies, kappas per question and teams, each against a loop over plain answers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from kalos_core import (
    NOT_ASSIGNED,
    InputError,
    LabelTable,
    compare_teams,
    fleiss_kappa,
    item_accuracy,
    label_agreement,
    majority_agreement,
    majority_vote,
    nominal_alpha,
    rater_accuracy,
    read_wide_labels,
    sparse_agreement,
)
from kalos_core.nominal import alpha_of_counts, free_marginal_kappa, gwet_ac1, merge_raters, running_label_agreement
from kalos_core.nominal.decisions import optional_tallies
from tests.nominal_tables import tables_with_gaps


def decisions_of(table):
    """rater -> (I, C) decisions."""
    return {name: table.decisions(name) for name in table.raters}


def mean(values):
    found = [value for value in values if not math.isnan(value)]
    return sum(found) / len(found) if found else math.nan


@pytest.fixture(scope="module")
def bluebirds(data_folder):
    path = data_folder / "bluebirds.csv"
    if not path.exists():
        pytest.skip("bluebirds.csv is not in the data folder")
    return read_wide_labels(path, item="image_id", ignore=["gt"])


@pytest.fixture(scope="module")
def bluebird_truth(data_folder):
    truth = read_wide_labels(data_folder / "bluebirds.csv", item="image_id")
    values = truth.select(raters=["gt"]).values()[:, 0]
    return {item: truth.options()[value] for item, value in zip(truth.items, values, strict=True)}


def test_majority_by_hand():
    result = majority_vote([[2, 1, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]])
    assert result.winner.tolist() == [0, -1, -1, -1]
    assert result.tied.tolist() == [False, True, False, True]
    assert result.votes.tolist() == [2, 1, 0, 1]
    assert (result.ties, result.share[0]) == (2, pytest.approx(2 / 3))


@settings(max_examples=25)
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


@settings(max_examples=25)
@given(tables_with_gaps())
def test_agreement_with_the_majority_in_both_readings(table):
    decided = np.stack(list(decisions_of(table).values()))  # (R, I, C)
    found = majority_agreement(table)
    share = np.full(decided.shape[1:], math.nan)
    chosen = np.zeros(decided.shape[1:], bool)
    for item, concept in itertools.product(*map(range, decided.shape[1:])):
        votes = [vote for vote in decided[:, item, concept] if vote != NOT_ASSIGNED]
        if votes:
            share[item, concept] = max(sum(votes), len(votes) - sum(votes)) / len(votes)
            chosen[item, concept] = sum(votes) > 0
    only = np.where(chosen, share, math.nan)
    assert found.concept_all == pytest.approx([mean(column) for column in share.T], nan_ok=True)
    assert found.concept_chosen == pytest.approx([mean(column) for column in only.T], nan_ok=True)
    assert found.item_all == pytest.approx([mean(row) for row in share], nan_ok=True)
    assert found.item_chosen == pytest.approx([mean(row) for row in only], nan_ok=True)
    assert found.concept_items.tolist() == chosen.sum(axis=0).tolist()
    assert found.means["item_all"] == pytest.approx(mean([mean(row) for row in share]), nan_ok=True)


@settings(max_examples=25)
@given(tables_with_gaps())
def test_accuracy_of_every_two_raters_and_to_the_majority(table):
    decided = decisions_of(table)
    merged = merge_raters(table).decisions("majority")
    found = rater_accuracy(table)
    for a, b in itertools.combinations(range(len(table.raters)), 2):
        one, other = decided[table.raters[a]], decided[table.raters[b]]
        both = (one != NOT_ASSIGNED) & (other != NOT_ASSIGNED)
        expected = (one == other)[both].mean() if both.any() else math.nan
        assert found.decision_accuracy[a, b] == found.decision_accuracy[b, a] or math.isnan(expected)
        assert found.decision_accuracy[a, b] == pytest.approx(expected, nan_ok=True)
        assert found.decisions[a, b] == both.sum()
        values = [table.values(question)[:, [a, b]] for question in table.questions]
        pairs = np.concatenate(values)
        pairs = pairs[(pairs != NOT_ASSIGNED).all(axis=1)]
        same = (pairs[:, 0] == pairs[:, 1]).mean() if len(pairs) else math.nan
        assert found.accuracy[a, b] == pytest.approx(same, nan_ok=True)
        assert found.questions[a, b] == len(pairs)
    for a, name in enumerate(table.raters):
        both = (decided[name] != NOT_ASSIGNED) & (merged != NOT_ASSIGNED)
        expected = (decided[name] == merged)[both].mean() if both.any() else math.nan
        assert found.decision_to_majority[a] == pytest.approx(expected, nan_ok=True)
    assert np.isnan(np.diag(found.accuracy)).all()
    assert np.isnan(found.to_reference).all()
    assert np.isnan(found.decision_to_reference).all()


@settings(max_examples=25)
@given(tables_with_gaps())
def test_a_rater_as_the_reference_is_as_between_raters(table):
    name = table.raters[-1]
    found = rater_accuracy(table, reference=name)
    others = len(table.raters) - 1
    between, without = rater_accuracy(table), rater_accuracy(table.select(raters=table.raters[:-1].tolist()))
    np.testing.assert_array_equal(found.to_reference, between.accuracy[:others, -1])
    np.testing.assert_array_equal(found.decision_to_reference, between.decision_accuracy[:others, -1])
    np.testing.assert_array_equal(found.accuracy, without.accuracy)
    np.testing.assert_array_equal(found.to_majority, without.to_majority)
    assert (found.reference, found.raters.tolist()) == (name, table.raters[:-1].tolist())
    reference = table.select(raters=[name])
    if len(reference):
        of_table = rater_accuracy(table.select(raters=table.raters[:-1].tolist()), reference=reference)
        np.testing.assert_array_equal(of_table.to_reference, found.to_reference)
        np.testing.assert_array_equal(of_table.decision_to_reference, found.decision_to_reference)


def test_accuracy_by_hand_of_one_class_among_many():
    # ten classes, four items; ann is right on three, bob on two, and they agree on one
    truth = dict(enumerate("abcd"))
    answers = {"ann": "abcx", "bob": "ayzd"}
    rows = [{"item": i, "rater": r, "label": label} for r, labels in answers.items() for i, label in enumerate(labels)]
    table = LabelTable.from_rows(rows, concepts=list("abcdefgxyz"))
    found = rater_accuracy(table, reference=truth)
    assert found.to_reference.tolist() == [3 / 4, 2 / 4]
    # a wrong class is two wrong decisions of ten: 38 and 36 of 40
    assert found.decision_to_reference.tolist() == pytest.approx([38 / 40, 36 / 40])
    assert (found.mean, found.decision_mean) == (1 / 4, 34 / 40)
    assert found.raters_to_pandas()["to_reference"].tolist() == [0.75, 0.5]
    turned = rater_accuracy(table, reference={i: [label] for i, label in reversed([*truth.items(), (9, "a")])})
    assert turned.to_reference.tolist() == [3 / 4, 2 / 4]  # items are found by name


def test_reference_of_optional_concepts():
    rows = [{"item": 1, "rater": "ann", "label": ["sky", "sea"]}, {"item": 2, "rater": "ann", "label": []}]
    table = LabelTable.from_rows(rows, groups=None)
    assert rater_accuracy(table, reference={1: ["sky"], 2: []}).to_reference.tolist() == [3 / 4]
    with pytest.raises(InputError, match="reference: expected concepts of the table, got 'snow'"):
        rater_accuracy(table, reference={1: ["snow"]})
    with pytest.raises(InputError, match="reference: expected items of the table, got none in common"):
        rater_accuracy(table, reference={7: ["sky"]})
    with pytest.raises(InputError, match="reference: expected a rater among ann, got 'eve'"):
        rater_accuracy(table, reference="eve")
    with pytest.raises(InputError, match=r"reference: expected a rater, a LabelTable or a mapping .* got list"):
        rater_accuracy(table, reference=["sky"])


def test_bluebirds_against_the_truth(bluebirds, bluebird_truth):
    found = rater_accuracy(bluebirds, reference=bluebird_truth)
    values = bluebirds.values()
    truth = np.array([bluebirds.options().index(bluebird_truth[item]) for item in bluebirds.items])
    np.testing.assert_allclose(found.to_reference, (values == truth[:, None]).mean(axis=0))
    merged = merge_raters(bluebirds).values()[:, 0]
    assert (merged == truth).mean() == pytest.approx(0.759, abs=5e-4)  # crowd-kit's figure of the majority


@settings(max_examples=25)
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


@settings(max_examples=20)
@given(tables_with_gaps())
def test_optional_concepts_counted_together_are_those_counted_one_by_one(table):
    for question, found in optional_tallies(table).items():
        counts = table.counts(question).toarray()
        rows, times = np.unique(counts, axis=0, return_counts=True)
        together = np.zeros((found.items, 2), int)
        together[found.item, found.category] = found.count
        assert sorted(zip(together.tolist(), found.times, strict=True)) == list(zip(rows.tolist(), times, strict=True))
        for coefficient in (fleiss_kappa, free_marginal_kappa, gwet_ac1, alpha_of_counts):
            assert coefficient(found) == pytest.approx(coefficient(counts), abs=1e-12, nan_ok=True)
        one, other = (sparse_agreement(of, bootstrap=20) for of in (found, counts))
        assert one.value == pytest.approx(other.value, abs=1e-12, nan_ok=True)
        assert one.interval == pytest.approx(other.interval, abs=1e-12, nan_ok=True)
        assert (one.usable_items, one.usable) == (other.usable_items, other.usable)


@settings(max_examples=15)
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
        if np.isfinite(row["free_marginal"]):
            assert row["free_marginal_low"] <= row["free_marginal"] + 1e-12
            assert row["free_marginal_high"] >= row["free_marginal"] - 1e-12
    assert result.breaches == sum(
        len(table.items[(table.values("time")[:, r] == NOT_ASSIGNED) & answered])
        for r, answered in enumerate(_answered(table).T)
    )


def _answered(table):
    answered = np.zeros((len(table.items), len(table.raters)), bool)
    answered[table.item, table.rater] = True
    return answered


def test_mean_kappas_of_groups_and_of_optional_concepts():
    labels = {"ann": [["day", "sky"], ["night"]], "bob": [["day"], ["night"]]}
    rows = [{"item": i, "rater": r, "label": label} for r, of in labels.items() for i, label in enumerate(of)]
    result = label_agreement(LabelTable.from_rows(rows, groups={"time": ["day", "night"]}), bootstrap=0)
    assert result.mean_kappa(exclusive=True) == 1
    assert result.mean_kappa(exclusive=False) == 0  # one of two images: P = 1/2 of two options
    assert result.bands.tolist() == ["almost perfect", "slight"]
    assert result.chosen.tolist() == [4, 1]


@settings(max_examples=20)
@given(tables_with_gaps())
def test_teams_by_every_pair_of_raters(table):
    raters = table.raters.tolist()
    teams = {"experts": raters[:1] if len(raters) < 4 else raters[:2], "crowd": raters[-1:] + raters[2:-1]}
    result = compare_teams(table, teams, bootstrap=10)
    for q, question in enumerate(table.questions):
        values = table.values(question)
        parts = [[] for _ in range(3)]
        for row in values:
            one, other = ([row[raters.index(name)] for name in teams[team]] for team in teams)
            one, other = ([v for v in part if v != NOT_ASSIGNED] for part in (one, other))
            parts[0].append(np.mean([a == b for a, b in itertools.combinations(one, 2)]) if len(one) > 1 else math.nan)
            parts[1].append(
                np.mean([a == b for a, b in itertools.combinations(other, 2)]) if len(other) > 1 else math.nan
            )
            pairs = list(itertools.product(one, other))
            parts[2].append(np.mean([a == b for a, b in pairs]) if pairs else math.nan)
        expected = [mean(part) for part in parts]
        assert result.agreement[q, :3] == pytest.approx(expected, nan_ok=True)
        assert result.agreement[q, 4] == pytest.approx(expected[0] - expected[1], nan_ok=True)
        k = len(table.options(question))
        assert result.kappa[q, :3] == pytest.approx([(p - 1 / k) / (1 - 1 / k) for p in expected], nan_ok=True)


def test_majorities_of_teams_by_hand():
    text = {"e1": "xyx", "e2": "xyx", "e3": "xxx", "c1": "xyy", "c2": "xyy", "c3": "yxy"}
    rows = [{"item": i, "rater": r, "label": c} for r, of in text.items() for i, c in enumerate(of)]
    teams = {"experts": ["e1", "e2", "e3"], "crowd": ["c1", "c2", "c3"]}
    result = compare_teams(LabelTable.from_rows(rows), teams, bootstrap=200)
    assert result.agreement[0, 3] == pytest.approx(2 / 3)  # x y x against x y y
    assert result.kappa[0, 3] == pytest.approx(1 / 3)
    assert result.agreement[0, 0] == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert result.agreement[0, 1] == pytest.approx((1 / 3 + 1 / 3 + 1) / 3)
    low, high = result.agreement_interval[0, 4]
    assert low <= result.agreement[0, 4] <= high
    assert result.kappa_interval[0, 4] == pytest.approx([2 * low, 2 * high])  # of two options, and no chance in it
    assert not result.differs(0)
    assert np.isnan(compare_teams(LabelTable.from_rows(rows), teams, bootstrap=0).agreement_interval).all()
    assert result.to_pandas()["comparison"].tolist()[:3] == ["experts", "crowd", "experts with crowd"]


def test_the_interval_of_teams_is_that_of_items_sampled_with_replacement():
    rng = np.random.default_rng(0)
    text = {rater: rng.choice(["x", "y"], 60, p=[0.7, 0.3]) for rater in ("e1", "e2", "c1", "c2")}
    rows = [{"item": i, "rater": r, "label": str(c)} for r, of in text.items() for i, c in enumerate(of)]
    result = compare_teams(LabelTable.from_rows(rows), {"e": ["e1", "e2"], "c": ["c1", "c2"]}, bootstrap=2000)
    within = np.stack([text["e1"] == text["e2"], text["c1"] == text["c2"]]).astype(float)
    resampled = within[:, rng.integers(0, 60, (2000, 60))].mean(axis=2)
    for column, values in ((0, resampled[0]), (1, resampled[1]), (4, resampled[0] - resampled[1])):
        assert result.agreement_interval[0, column] == pytest.approx(np.percentile(values, [2.5, 97.5]), abs=0.035)


def test_a_clear_difference_of_teams_is_seen():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 150)
    noise = {"e1": 0.05, "e2": 0.05, "c1": 0.5, "c2": 0.5}
    rows = [
        {"item": i, "rater": r, "label": int(rng.integers(0, 3)) if rng.random() < share else int(truth[i])}
        for r, share in noise.items()
        for i in range(150)
    ]
    result = compare_teams(LabelTable.from_rows(rows), {"experts": ["e1", "e2"], "crowd": ["c1", "c2"]})
    assert result.differs(0)
    assert result.agreement_interval[0, 4, 0] > 0


def test_bluebirds(bluebirds):
    values = bluebirds.values()
    assert values.shape == (108, 39)
    result = label_agreement(bluebirds)
    n = np.stack([(values == k).sum(axis=1) for k in (0, 1)], axis=1)
    observed = ((n * (n - 1)).sum(axis=1) / (39 * 38)).mean()
    assert result.spa[0] == pytest.approx(observed)
    assert result.free_marginal[0] == pytest.approx(2 * observed - 1)
    pairs = [(values[:, a] == values[:, b]).mean() for a, b in itertools.combinations(range(39), 2)]
    found = rater_accuracy(bluebirds)
    assert found.mean == pytest.approx(np.mean(pairs))
    assert np.nanmin(found.accuracy) == pytest.approx(min(pairs))
    assert item_accuracy(bluebirds).mean == pytest.approx(observed)  # as all raters label all images


def test_running_agreement_of_a_table_ends_where_the_table_is(bluebirds):
    curve = running_label_agreement(bluebirds, points=5, bootstrap=20)
    assert curve.annotations[-1] == 108 * 39
    assert curve.spa[-1] == pytest.approx(sparse_agreement(bluebirds.counts()).value)
    assert curve.alpha[-1] == pytest.approx(nominal_alpha(bluebirds.values()))


@pytest.mark.parametrize(
    ("teams", "message"),
    [
        ({"a": ["ann"]}, "teams: expected two names"),
        ({"a": ["ann"], "b": []}, "teams: expected at least one rater in each, got none in 'b'"),
        ({"a": ["ann"], "b": ["ann"]}, "teams: expected a rater in one of them, got 'ann' in both"),
        ({"a": ["ann"], "b": ["eve"]}, "raters: expected names among ann, bob, got 'eve'"),
    ],
)
def test_teams_that_cannot_be_compared(teams, message):
    table = LabelTable.from_rows([{"item": 1, "rater": r, "label": "x"} for r in ("ann", "bob")])
    with pytest.raises(InputError, match=message):
        compare_teams(table, teams)


def test_a_single_rater_is_refused():
    alone = LabelTable.from_rows([{"item": 1, "rater": "ann", "label": "x"}])
    with pytest.raises(InputError, match=r"table: expected at least two raters to compare, got 1 \(ann\)"):
        label_agreement(alone)
    with pytest.raises(InputError, match="table: expected LabelTable, the result of read_long_labels"):
        label_agreement("labels.csv")


def test_tables_of_results():
    rows = [{"item": i, "rater": r, "label": ["x"]} for i in (1, 2) for r in ("ann", "bob", "cid")]
    table = LabelTable.from_rows(rows, groups=None)
    assert len(rater_accuracy(table).to_pandas()) == 3
    assert item_accuracy(table).to_pandas()["raters"].tolist() == [3, 3]
    assert item_accuracy(table).mean_unanimity == 1
    assert majority_agreement(table).to_pandas()["items"].tolist() == [2]
    assert majority_agreement(table).items_to_pandas()["item"].tolist() == [1, 2]
