import numpy as np
import pytest
from hypothesis import given

from kalos_core import NOT_ASSIGNED, InputError, KalosWarning, LabelTable
from kalos_core.nominal import check_groups
from tests.nominal_tables import answers_of, label_tables, table_of

PLACE = {"place": ["indoor", "outdoor", "none"]}


def rows(*entries):
    return [dict(zip(("item", "rater", "label", "time"), entry, strict=False)) for entry in entries]


ONE = rows(("a", "ann", "x"))
TWICE = rows(("a", "ann", "sky"), ("a", "ann", "sea"))


def test_values_counts_and_decisions_by_hand():
    answers = {"ann": [["indoor", "sunny"], ["outdoor"]], "bob": [["indoor"], ["none", "sunny"]]}
    table = table_of(answers, groups=PLACE, raters=["ann", "bob", "cid"])
    assert table.questions == ("place", "sunny")
    assert table.options("place") == ("indoor", "outdoor", "none")
    assert table.options("sunny") == ("not chosen", "chosen")
    assert table.values("place").tolist() == [[0, 0, -2], [1, 2, -2]]
    assert table.values("sunny").tolist() == [[1, 0, -2], [0, 1, -2]]
    assert table.counts("place").toarray().tolist() == [[2, 0, 0], [0, 1, 1]]
    assert table.counts("sunny").toarray().tolist() == [[1, 1], [1, 1]]
    assert table.concepts.tolist() == ["indoor", "sunny", "outdoor", "none"]
    assert table.decisions("ann").tolist() == [[1, 1, 0, 0], [0, 0, 1, 0]]
    assert (table.decisions("cid") == NOT_ASSIGNED).all()
    assert "4 answers of 3 raters to 2 items" in repr(table)
    with pytest.raises(ValueError, match="read-only"):
        table.item[0] = 1


@pytest.mark.parametrize(("on_repeat", "kept"), [("first", "sky"), ("last", "sea")])
def test_a_rater_who_answers_twice(on_repeat, kept):
    timed = rows(("a", "ann", "sea", 2.0), ("a", "ann", "sky", 1.0))
    several = rows(("a", "ann", ["sea", "sun"], 2), ("a", "ann", ["sky"], 1))
    for given_rows, groups in ((TWICE, "label"), (timed, "label"), (several, None)):
        with pytest.warns(KalosWarning, match="Left out: 1 repeated answers of one rater to one item"):
            table = LabelTable.from_rows(given_rows, groups=groups, on_repeat=on_repeat)
        assert table.concepts[table.concept].tolist()[0] == kept
    assert LabelTable.from_rows(TWICE, groups=None).answer.tolist() == [0, 0]  # one answer with two labels
    assert len(LabelTable.from_rows([*ONE, *ONE], groups=None, on_repeat="first").concept) == 1


@pytest.mark.parametrize("empty", [None, "", "  ", float("nan")])
def test_empty_labels(empty):
    some = rows(("a", "ann", "sky"), ("a", "bob", empty))
    with pytest.raises(InputError, match="record 2: expected a label, got nothing"):
        LabelTable.from_rows(some, groups=None)
    assert LabelTable.from_rows(some, groups=None, on_empty="none").values().tolist() == [[1, 0]]
    assert LabelTable.from_rows(some, groups=None, on_empty="skip").values().tolist() == [[1, NOT_ASSIGNED]]


def test_unknown_labels():
    some = rows(("a", "ann", "sky"), ("a", "bob", "skie"))
    with pytest.warns(KalosWarning, match=r"Left out: 1 labels that are not in the vocabulary: 'skie' \(1\)"):
        table = LabelTable.from_rows(some, concepts=["sky", "sea"], on_unknown="skip")
    assert table.values().tolist() == [[0, NOT_ASSIGNED]]


def test_who_broke_a_group():
    answers = {"ann": [["indoor", "outdoor"], ["none"]], "bob": [["sunny"], None]}
    table = table_of(answers, groups=PLACE)
    breaches = check_groups(table)
    expected = {"item": [0, 0], "rater": ["ann", "bob"], "group": ["place", "place"], "chosen": [2, 0]}
    assert breaches.to_pandas().to_dict("list") == expected
    assert breaches.by_rater() == {"ann": 1, "bob": 1}
    with pytest.raises(InputError, match="ann on 0: expected exactly one of 'place', got 2"):
        breaches.raise_if_any()
    # such an answer is missing for the group and counts for the rest
    assert table.values("place").tolist() == [[NOT_ASSIGNED] * 2, [2, NOT_ASSIGNED]]
    assert table.values("sunny").tolist() == [[0, 1], [0, NOT_ASSIGNED]]
    indoor = table.concepts.tolist().index("indoor")
    assert table.decisions("ann")[0, indoor] == NOT_ASSIGNED


def test_open_answers_are_missing_and_break_no_group():
    names = {"items": ["a"], "raters": ["ann"], "concepts": ["x", "y", "sky", "sea"], "groups": ["g"]}
    codes = {"item": [0], "rater": [0], "answer": [0], "concept": [2], "group_of": [0, 0, -1, -1]}
    table = LabelTable(**names, **codes, unanswered=[[0, 0], [0, 3]])
    assert len(check_groups(table)) == 0
    assert table.values("g").tolist() == [[NOT_ASSIGNED]]
    assert table.values("sea").tolist() == [[NOT_ASSIGNED]]
    assert table.decisions("ann").tolist() == [[-2, -2, 1, -2]]


@given(label_tables())
def test_every_question_as_a_reader_of_rows_would_see_it(table):
    answers = answers_of(table)
    groups = {name: table.concepts[table.group_of == code].tolist() for code, name in enumerate(table.groups)}
    for question in table.questions:
        values = table.values(question)
        for i, item in enumerate(table.items):
            for r, rater in enumerate(table.raters):
                chosen = answers.get((item, rater))
                if chosen is None:
                    expected = NOT_ASSIGNED
                elif question in groups:
                    of = [name for name in groups[question] if name in chosen]
                    expected = groups[question].index(of[0]) if len(of) == 1 else NOT_ASSIGNED
                else:
                    expected = int(question in chosen)
                assert values[i, r] == expected
        counts = table.counts(question).toarray()
        assert counts.tolist() == [[(row == k).sum() for k in range(counts.shape[1])] for row in values]


@given(label_tables())
def test_a_part_is_what_it_was(table):
    raters = table.raters.tolist()[::-1][:2]
    items = np.arange(len(table.items))[::-1]
    part = table.select(items=items, raters=raters)
    assert part.raters.tolist() == raters
    columns = [table.raters.tolist().index(name) for name in raters]
    for question in table.questions:
        assert part.values(question).tolist() == table.values(question)[np.ix_(items, columns)].tolist()


@pytest.mark.parametrize(
    ("given_rows", "options", "message"),
    [
        ([], {}, "expected at least one record"),
        (["x"], {}, "record 1: expected a mapping"),
        (rows((None, "ann", "x")), {}, "record 1: expected an item, got nothing"),
        (rows(("a", "", "x")), {}, "record 1: expected a rater, got nothing"),
        (rows(("a", "ann", 1.5)), {}, "record 1: expected names of labels, got 1.5"),
        (rows(("a", "ann", "x", "noon")), {}, "record 1: expected a number as its time, got 'noon'"),
        (TWICE, {}, "record 2: expected one answer of a rater to an item, got 'ann' on 'a' again"),
        (rows(("a", "ann", ["x", "y"]), ("a", "ann", ["x"])), {"groups": None}, "again"),
        ([*ONE, *ONE], {"groups": None}, "expected a label once in an answer, got 'x' again by 'ann' on 'a'"),
        (ONE, {"concepts": ["y"]}, "record 1: expected a label of the vocabulary, got 'x'"),
        (ONE, {"items": ["b"]}, "an item of the vocabulary, got 'a'"),
        (ONE, {"raters": ["bob"]}, "a rater of the vocabulary, got 'ann'"),
        (ONE, {"on_repeat": "mean"}, "on_repeat: expected one of 'first', 'last', 'raise'"),
        (ONE, {"on_empty": "x"}, "on_empty"),
        (ONE, {"on_unknown": "x"}, "on_unknown"),
        (ONE, {"groups": {"g": ["x", "y"], "h": ["y"]}}, "in one group at most"),
        (ONE, {"groups": {"g": []}}, "at least one concept in a group, got none in g"),
        (ONE, {"groups": {"x": ["y"]}}, "questions"),
        (ONE, {"groups": {"g": "xy"}}, "groups: expected names with a list each"),
        (ONE, {"groups": {"g": ["y"]}, "concepts": ["x"]}, "groups: expected concepts"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(given_rows, options, message):
    with pytest.raises(InputError, match=message):
        LabelTable.from_rows(given_rows, **options)


CODES = {"item": [0], "rater": [0], "answer": [0], "concept": [0], "items": ["a"], "raters": ["ann"], "concepts": ["x"]}
FREE = LabelTable.from_rows(rows(("a", "ann", ["x", "y"])), groups=None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LabelTable(**CODES | {"rater": [0, 1]}), "rater: expected shape"),
        (lambda: LabelTable(**CODES | {"item": [1]}), "item: expected codes 0 to 0, got 1 to 1"),
        (lambda: LabelTable(**CODES | {"concept": [0, 0], "answer": [0, 0]}), "a concept once in an answer"),
        (lambda: LabelTable(**CODES | {"item": [0, 0], "rater": [0, 0]}), "one answer of a rater to an item"),
        (lambda: LabelTable(**CODES | {"concepts": ["x", "x"]}), "concepts: expected each name once, got 'x'"),
        (lambda: LabelTable(**CODES | {"group_of": [0]}), "group_of: expected codes"),
        (lambda: FREE.values(), "question: expected a name, as there are several: x, y"),
        (lambda: FREE.values("z"), "question: expected one of 'x', 'y', got 'z'"),
        (lambda: FREE.decisions("bob"), "rater: expected one of 'ann', got 'bob'"),
        (lambda: FREE.select(raters=["bob"]), "raters: expected names among ann, got 'bob'"),
        (lambda: FREE.select(items=[3]), "items"),
    ],
)
def test_codes_and_names_are_checked(call, message):
    with pytest.raises(InputError, match=message):
        call()
