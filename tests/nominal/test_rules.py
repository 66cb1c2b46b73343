"""Groups suggested from data, answers rejected by rules, and majority labels: by hand and in plain loops."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from kalos_core import InputError, LabelTable, label_agreement, rater_accuracy
from kalos_core.nominal import (
    check_groups,
    cohen_matrix,
    free_marginal_kappa,
    majority_labels,
    merge_raters,
    reject_answers,
    suggest_groups,
)
from kalos_core.nominal.cohen import cohen_matrices
from tests.nominal_tables import table_of, tables_with_gaps

GROUPS = {"place": ["harbour", "meadow", "street"], "light": ["day", "dusk", "night"]}
OPTIONAL = ["busy", "pretty", "animals"]


def made(answers: list[list[str]]) -> LabelTable:
    """Return four raters' answers to item 0, then to item 1, ..."""
    return table_of({rater: answers[at::4] for at, rater in enumerate("abcd")}, groups=None)


def scene(seed: int, answers: int, broken: float = 0.0) -> LabelTable:
    rng = np.random.default_rng(seed)
    labels = []
    for _ in range(answers):
        chosen = [str(rng.choice(of)) for of in GROUPS.values() if rng.random() >= broken]
        labels.append(chosen + [name for name in OPTIONAL if rng.random() < 0.5])
    return made(labels)


class TestSuggestions:
    def test_by_hand(self) -> None:
        #          day  night  sky   one of day, night
        answers = [["day", "sky"], ["day"], ["night", "sky"], ["night"], ["night"], ["day", "sky"]]
        (group,) = suggest_groups(made(answers))
        assert (set(group.concepts), group.answers, group.supporting) == ({"day", "night"}, 6, 6)
        assert (group.without, group.several) == (0, 0)

    @pytest.mark.parametrize(("seed", "broken"), [(0, 0.0), (2, 0.02)])
    def test_groups_are_found_among_optional_concepts(self, seed: int, broken: float) -> None:
        table = scene(seed, 800, broken)
        found = suggest_groups(table)
        assert {frozenset(group.concepts) for group in found} == {frozenset(of) for of in GROUPS.values()}
        chosen = [set(table.concepts[table.concept[table.answer == answer]]) for answer in np.unique(table.answer)]
        for group in found:
            times = Counter(len(labels & set(group.concepts)) for labels in chosen)
            assert (group.supporting, group.without, group.answers) == (times[1], times[0], len(chosen))

    def test_every_strict_group_covers_each_answer_once(self) -> None:
        # vs. all subsets of the concepts
        table = scene(5, 40)
        columns = {
            name: np.bincount(table.answer[table.concept == code], minlength=len(table))
            for code, name in enumerate(table.concepts)
        }
        every = [
            frozenset(names)
            for size in range(2, len(columns) + 1)
            for names in itertools.combinations(columns, size)
            if all(columns[name].any() for name in names) and (sum(columns[name] for name in names) == 1).all()
        ]
        found = [frozenset(group.concepts) for group in suggest_groups(table, most_breaches=0)]
        assert sorted(map(sorted, found)) == sorted(map(sorted, every))

    def test_nothing_is_suggested_where_answers_break_more_or_chance_explains_it(self) -> None:
        assert suggest_groups(scene(0, 400, broken=0.2)) == ()
        # one that is almost always chosen, and one that almost never is
        by_chance = [["busy", "pretty"]] * 48 + [["busy"]] * 47 + [["busy", "snow"], ["snow"]] + [["pretty"]] * 3
        assert suggest_groups(made(by_chance)) == ()
        assert suggest_groups(made([["cat"], ["cat"]])) == ()
        rng, names = np.random.default_rng(0), [str(number) for number in range(400)]
        assert suggest_groups(made([rng.choice(names, 3, replace=False).tolist() for _ in range(500)])) == ()

    def test_one_label_each_is_one_group(self) -> None:
        (group,) = suggest_groups(made([["cat"], ["dog"], ["owl"], ["cat"]]))
        assert (set(group.concepts), group.name) == ({"cat", "dog", "owl"}, "cat / dog / owl")
        (group,) = suggest_groups(made([[str(number)] for number in range(2000)]))
        assert (len(group.concepts), group.supporting) == (2000, 2000)

    def test_a_table_takes_them(self) -> None:
        table = scene(0, 200)
        found = {group.name: group.concepts for group in suggest_groups(table)}
        regrouped = table.regroup(found)
        assert set(regrouped.groups) == set(found)
        assert len(check_groups(regrouped)) == 0
        assert regrouped.regroup(None).questions == table.questions


class TestRejection:
    def test_by_hand(self) -> None:
        # two images; cid leaves the group open on one, and dan gives the other answer on both
        answers = {"ann": [["day"], ["night"]], "bob": [["day"], ["night"]], "cid": [[], ["night"]]}
        table = table_of({**answers, "dan": [["night"], ["day"]]}, groups={"time": ["day", "night"]})
        paper = reject_answers(table, broken=True)
        assert paper.rejected.tolist() == [False] * 4 + [True] + [False] * 3
        assert (len(paper), paper.rejected_raters) == (1, ())
        # (1/3 + 1/2) / 2 agree, before and after: the answer that broke the group was missing before, too
        assert paper.before.tolist() == paper.after.tolist() == [pytest.approx(2 * (1 / 3 + 1 / 2) / 2 - 1)]
        alone = reject_answers(table, least_accuracy=0.5)
        assert alone.rejected_raters == ("dan",)
        assert alone.after.tolist() == [1.0]
        assert alone.means == (pytest.approx(2 * (1 / 3 + 1 / 2) / 2 - 1), 1.0)
        kept = alone.keep(table)
        assert (kept.raters.tolist(), len(kept)) == (["ann", "bob", "cid"], 6)
        often = reject_answers(table, most_breaches=0.4)
        assert (often.rejected_raters, often.reason[2]) == (("cid",), "more than 40 % break a group")
        assert often.to_pandas()["rejected"].tolist() == [0, 0, 2, 0]

    @given(tables_with_gaps())
    def test_rules_by_plain_loops(self, table: LabelTable) -> None:
        found = reject_answers(table, broken=True, most_breaches=0.3, least_accuracy=0.4)
        broken = {int(answer) for answer in check_groups(table).answer}
        to_majority = rater_accuracy(table).to_majority
        for answer, rater in enumerate(table.rater):
            own = np.flatnonzero(table.rater == rater)
            often = sum(row in broken for row in own.tolist()) / len(own) > 0.3
            assert found.rejected[answer] == (answer in broken or often or to_majority[rater] < 0.4)
        kept = found.keep(table)
        assert len(kept) == len(table) - len(found)
        for question, after in zip(table.questions, found.after, strict=True):
            assert after == pytest.approx(free_marginal_kappa(kept.counts(question)), nan_ok=True)


@given(tables_with_gaps())
def test_labels_of_the_majority_with_their_shares(table: LabelTable) -> None:
    found, merged = majority_labels(table), merge_raters(table)
    decided = found.item[~found.tied], found.concept[~found.tied]
    expected = merged.item[merged.answer], merged.concept
    assert sorted(zip(*decided, strict=True)) == sorted(zip(*expected, strict=True))
    for item, concept, share, tied in zip(found.item, found.concept, found.share, found.tied, strict=True):
        votes = [int(table.decisions(rater)[item, concept]) for rater in table.raters]
        votes = [vote for vote in votes if vote >= 0]
        assert share == pytest.approx(np.mean(votes))
        if table.group_of[concept] < 0:
            assert tied == (share == 0.5)


@given(tables_with_gaps())
def test_cohens_kappa_of_every_question_and_the_reason_where_one_is_undefined(table: LabelTable) -> None:
    result = label_agreement(table, bootstrap=0)
    for number, (question, kappas) in enumerate(cohen_matrices(table)):
        expected = cohen_matrix(table.values(question))
        np.testing.assert_allclose(kappas, expected, atol=1e-12)
        pairs = expected[np.triu_indices(len(expected), 1)]
        mean = np.nanmean(pairs) if np.isfinite(pairs).any() else np.nan
        assert result.cohen[number] == pytest.approx(mean, nan_ok=True)
        coefficients = [getattr(result, name)[number] for name in ("free_marginal", "fleiss", "alpha", "cohen")]
        assert bool(result.reason[number]) == bool(np.isnan(coefficients).any())


def test_reasons_by_hand() -> None:
    table = table_of(dict.fromkeys("ab", ([], ["sky"])), groups={"kind": ["one"]}, concepts=["sky", "snow", "one"])
    result = label_agreement(table, bootstrap=0)
    assert dict(zip(result.question, result.reason, strict=True)) == {
        "sky": "",
        "snow": "Fleiss' kappa: all answers are the same; Cohen's kappa: no two raters have items in common on which "
        "answers vary",
        "kind": "no item has two answers",
    }


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda table: table.regroup({"x": ["cow"]}), "groups: expected concepts of the table in 'x', got 'cow'"),
        (lambda table: table.regroup({"x": ["cat"], "y": ["cat"]}), "groups: .* in one group, got 'cat' again"),
        (lambda table: suggest_groups(table, 1), "most_breaches: expected a number of at least 0 and below 1, got 1"),
        (reject_answers, "rule: expected broken, most_breaches or least_accuracy, got none"),
        (lambda table: reject_answers(table, least_accuracy=60), "least_accuracy: .* number from 0 to 1, got 60"),
    ],
)
def test_invalid_input_is_refused(call: Callable[[LabelTable], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(made([["cat"]]))
