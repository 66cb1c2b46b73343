import numpy as np
import pytest
from hypothesis import given, settings

from kalos_core import NOT_ASSIGNED, InputError, KalosWarning, LabelTable
from kalos_core.nominal import check_groups
from tests.nominal_tables import answers_of, label_tables

PLACE = {"place": ["indoor", "outdoor", "none"]}


def rows(*entries):
    return [dict(zip(("item", "rater", "label", "time"), entry, strict=False)) for entry in entries]


def test_values_counts_and_decisions_by_hand():
    table = LabelTable.from_rows(
        rows(
            ("a", "ann", ["indoor", "sunny"]),
            ("a", "bob", ["indoor"]),
            ("b", "ann", ["outdoor"]),
            ("b", "bob", ["none", "sunny"]),
        ),
        groups=PLACE,
        raters=["ann", "bob", "cid"],
    )
    assert table.questions == ("place", "sunny")
    assert table.options("place") == ("indoor", "outdoor", "none")
    assert table.options("sunny") == ("not chosen", "chosen")
    assert table.values("place").tolist() == [[0, 0, -2], [1, 2, -2]]
    assert table.values("sunny").tolist() == [[1, 0, -2], [0, 1, -2]]
    assert table.counts("place").toarray().tolist() == [[2, 0, 0], [0, 1, 1]]
    assert table.counts("sunny").toarray().tolist() == [[1, 1], [1, 1]]
    names = table.concepts.tolist()
    assert names == ["indoor", "sunny", "outdoor", "none"]
    assert table.decisions("ann").tolist() == [[1, 1, 0, 0], [0, 0, 1, 0]]
    assert (table.decisions("cid") == NOT_ASSIGNED).all()


def test_missing_is_not_none():
    table = LabelTable.from_rows(
        rows(("a", "ann", ["sky"]), ("a", "bob", [])), groups=None, raters=["ann", "bob", "cid"], items=["a", "b"]
    )
    assert table.values().tolist() == [[1, 0, NOT_ASSIGNED], [NOT_ASSIGNED] * 3]
    assert table.to_pandas()["label"].isna().tolist() == [False, True]


def test_rows_of_a_rater_and_item_are_one_answer_unless_labels_exclude_each_other():
    two = rows(("a", "ann", "sky"), ("a", "ann", "sea"))
    assert LabelTable.from_rows(two, groups=None).answer.tolist() == [0, 0]
    with pytest.raises(
        InputError, match=r"record 2: expected one answer of a rater to an item, got 'ann' on 'a' again"
    ):
        LabelTable.from_rows(two)


@pytest.mark.parametrize(("on_repeat", "kept"), [("first", "sky"), ("last", "sea")])
def test_a_rater_who_answers_twice(on_repeat, kept):
    twice = rows(("a", "ann", "sky"), ("a", "ann", "sea"))
    table = LabelTable.from_rows(twice, on_repeat=on_repeat)
    assert table.concepts[table.concept].tolist() == [kept]
    timed = rows(("a", "ann", "sea", 2.0), ("a", "ann", "sky", 1.0))
    table = LabelTable.from_rows(timed, on_repeat=on_repeat)
    assert table.concepts[table.concept].tolist() == [kept]
    several = rows(("a", "ann", ["sea", "sun"], 2), ("a", "ann", ["sky"], 1))
    with pytest.raises(InputError, match="again"):
        LabelTable.from_rows(several, groups=None)
    table = LabelTable.from_rows(several, groups=None, on_repeat=on_repeat)
    assert kept in table.concepts[table.concept]


def test_the_same_label_twice_in_an_answer():
    twice = rows(("a", "ann", "sky"), ("a", "ann", "sky"))
    with pytest.raises(InputError, match="expected a label once in an answer, got 'sky' again by 'ann' on 'a'"):
        LabelTable.from_rows(twice, groups=None)
    assert len(LabelTable.from_rows(twice, groups=None, on_repeat="first").concept) == 1


@pytest.mark.parametrize("empty", [None, "", "  ", float("nan")])
def test_empty_labels(empty):
    some = rows(("a", "ann", "sky"), ("a", "bob", empty))
    with pytest.raises(InputError, match="record 2: expected a label, got nothing"):
        LabelTable.from_rows(some, groups=None)
    assert LabelTable.from_rows(some, groups=None, on_empty="none").values().tolist() == [[1, 0]]
    assert LabelTable.from_rows(some, groups=None, on_empty="skip").values().tolist() == [[1, NOT_ASSIGNED]]


def test_unknown_labels():
    some = rows(("a", "ann", "sky"), ("a", "bob", "skie"))
    with pytest.raises(InputError, match="record 2: expected a label of the vocabulary, got 'skie'"):
        LabelTable.from_rows(some, concepts=["sky", "sea"])
    with pytest.warns(KalosWarning, match=r"not in the vocabulary are left out: 'skie' \(1\)"):
        table = LabelTable.from_rows(some, concepts=["sky", "sea"], on_unknown="skip")
    assert table.values().tolist() == [[0, NOT_ASSIGNED]]


def test_who_broke_a_group():
    table = LabelTable.from_rows(
        rows(("a", "ann", ["indoor", "outdoor"]), ("a", "bob", ["sunny"]), ("b", "ann", ["none"])), groups=PLACE
    )
    breaches = check_groups(table)
    assert breaches.to_pandas().to_dict("list") == {
        "item": ["a", "a"],
        "rater": ["ann", "bob"],
        "group": ["place", "place"],
        "chosen": [2, 0],
    }
    assert breaches.by_rater() == {"ann": 1, "bob": 1}
    with pytest.raises(InputError, match="ann on a: expected exactly one of 'place', got 2"):
        breaches.raise_if_any()
    # such an answer is missing for the group and counts for the rest
    assert table.values("place").tolist() == [[NOT_ASSIGNED] * 2, [2, NOT_ASSIGNED]]
    assert table.values("sunny").tolist() == [[0, 1], [0, NOT_ASSIGNED]]
    indoor = table.concepts.tolist().index("indoor")
    assert table.decisions("ann")[0, indoor] == NOT_ASSIGNED


def test_what_is_left_open_is_missing_and_breaks_nothing():
    table = LabelTable(
        item=[0],
        rater=[0],
        answer=[0],
        concept=[2],
        items=["a"],
        raters=["ann"],
        concepts=["x", "y", "sky", "sea"],
        groups=["g"],
        group_of=[0, 0, -1, -1],
        unanswered=[[0, 0], [0, 3]],
    )
    assert len(check_groups(table)) == 0
    assert table.values("g").tolist() == [[NOT_ASSIGNED]]
    assert table.values("sea").tolist() == [[NOT_ASSIGNED]]
    assert table.decisions("ann").tolist() == [[-2, -2, 1, -2]]


@settings(max_examples=25)
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


@settings(max_examples=15)
@given(label_tables())
def test_a_part_is_what_it_was(table):
    raters = table.raters.tolist()[::-1][:2]
    items = np.arange(len(table.items))[::-1]
    part = table.select(items=items, raters=raters)
    assert part.raters.tolist() == raters
    columns = [table.raters.tolist().index(name) for name in raters]
    for question in table.questions:
        assert part.values(question).tolist() == table.values(question)[np.ix_(items, columns)].tolist()


def test_the_table_is_frozen():
    table = LabelTable.from_rows(rows(("a", "ann", "x")))
    with pytest.raises(ValueError, match="read-only"):
        table.item[0] = 1
    assert "1 answer of 1 rater to 1 item" in repr(table)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": []}, "expected at least one record"),
        ({"rows": ["x"]}, "record 1: expected a mapping"),
        ({"rows": rows((None, "ann", "x"))}, "record 1: expected an item, got nothing"),
        ({"rows": rows(("a", "", "x"))}, "record 1: expected a rater, got nothing"),
        ({"rows": rows(("a", "ann", 1.5))}, "record 1: expected names of labels, got 1.5"),
        ({"rows": rows(("a", "ann", "x", "noon"))}, "record 1: expected a number as its time, got 'noon'"),
        ({"rows": rows(("a", "ann", "x")), "items": ["b"]}, "an item of the vocabulary, got 'a'"),
        ({"rows": rows(("a", "ann", "x")), "raters": ["bob"]}, "a rater of the vocabulary, got 'ann'"),
        ({"rows": rows(("a", "ann", "x")), "on_repeat": "mean"}, "on_repeat: expected one of 'raise', 'first', 'last'"),
        ({"rows": rows(("a", "ann", "x")), "on_empty": "x"}, "on_empty"),
        ({"rows": rows(("a", "ann", "x")), "on_unknown": "x"}, "on_unknown"),
        ({"rows": rows(("a", "ann", "x")), "groups": {"g": ["x", "y"], "h": ["y"]}}, "in one group at most"),
        ({"rows": rows(("a", "ann", "x")), "groups": {"g": []}}, "at least one concept in a group, got none in g"),
        ({"rows": rows(("a", "ann", "x")), "groups": {"x": ["y"]}}, "questions"),
        ({"rows": rows(("a", "ann", "x")), "groups": {"g": "xy"}}, "groups: expected lists of concepts, got a text"),
        ({"rows": rows(("a", "ann", "x")), "groups": {"g": ["y"]}, "concepts": ["x"]}, "groups: expected concepts"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        LabelTable.from_rows(**arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rater": [0, 1]}, "rater: expected shape"),
        ({"item": [1]}, "item: expected codes 0 to 0, got 1 to 1"),
        ({"concept": [0, 0], "answer": [0, 0]}, "a concept once in an answer"),
        ({"item": [0, 0], "rater": [0, 0]}, "one answer of a rater to an item"),
        ({"concepts": ["x", "x"]}, "concepts: expected each name once"),
        ({"group_of": [0]}, "group_of: expected codes"),
    ],
)
def test_the_constructor_checks_its_codes(change, message):
    given_fields = {"item": [0], "rater": [0], "answer": [0], "concept": [0]}
    names = {"items": ["a"], "raters": ["ann"], "concepts": ["x"]}
    with pytest.raises(InputError, match=message):
        LabelTable(**{**given_fields, **names, **change})


def test_names_used_again_are_found_at_once_among_many():
    items = [*range(30_000), *range(30_000)]  # a look through all of them for each would take minutes
    with pytest.raises(InputError, match="items: expected each name once, got 0, 1, 2"):
        LabelTable(item=[], rater=[], answer=[], concept=[], items=items, raters=["ann"], concepts=["x"])


def test_questions_and_raters_are_asked_for_by_name():
    table = LabelTable.from_rows(rows(("a", "ann", ["x", "y"])), groups=None)
    with pytest.raises(InputError, match="question: expected a name, as there are several: x, y"):
        table.values()
    with pytest.raises(InputError, match="question: expected one of 'x', 'y', got 'z'"):
        table.values("z")
    with pytest.raises(InputError, match="rater: expected one of 'ann', got 'bob'"):
        table.decisions("bob")
    with pytest.raises(InputError, match="raters: expected names among ann, got 'bob'"):
        table.select(raters=["bob"])
    with pytest.raises(InputError, match="items"):
        table.select(items=[3])
