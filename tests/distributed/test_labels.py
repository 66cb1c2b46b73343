"""Image-level labels in shards give the same numbers as one table, for any number and order of shards."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as parquet
import pytest

import kalos_core
from kalos_core import InputError, LabelTable
from kalos_core.distributed import write_shards
from kalos_core.nominal import reject_answers, suggest_groups
from kalos_core.nominal.accuracy import item_accuracy
from kalos_core.nominal.disputes import find_disputes
from tests.distributed.equality import assert_same, every_size, shards_of
from tests.distributed.scenes import ITEMS, exclusive, labels, scene

TABLES = {
    "groups and optional concepts": labels,
    "optional concepts": lambda: labels(1, None),
    "one group": exclusive,
    "whole numbers": lambda: replace(labels(2), items=range(100, 100 + ITEMS)),
}


def answers_of(table):
    """Return items in order, and for every answer its item, rater, time, and concepts chosen and left open."""
    chosen, left_open = ([set() for _ in range(len(table))] for _ in range(2))
    for found, of in ((chosen, np.column_stack([table.answer, table.concept])), (left_open, table.unanswered)):
        for answer, concept in of:
            found[answer].add(table.concepts[concept])
    items, raters, times = table.items[table.item], table.raters[table.rater], map(repr, table.time.tolist())
    lines = zip(map(repr, items), raters, times, map(sorted, chosen), map(sorted, left_open), strict=True)
    return table.items.tolist(), sorted(lines)


@pytest.mark.parametrize("name", TABLES)
@every_size
def test_the_numbers_are_those_of_one_machine(tmp_path, name, size):
    table = TABLES[name]()
    options = {"bootstrap": 40, "seed": 5}
    found = kalos_core.label_agreement(shards_of(table, tmp_path / "s", size), **options)
    assert_same(kalos_core.label_agreement(table, **options), found)
    assert found.breaches == len(kalos_core.nominal.check_groups(table))


TEAMS = {"first": ["cid", "ann"], "second": ["dan"]}
CALLS = {
    "majority": kalos_core.majority_agreement,
    "items": item_accuracy,
    "items to a rater": lambda source: item_accuracy(source, "bob"),
    "raters": kalos_core.rater_accuracy,
    "raters to one": lambda source: kalos_core.rater_accuracy(source, "bob"),
    "disputes": lambda source: [find_disputes(source), find_disputes(source).to_pandas()],
    "teams": lambda source: kalos_core.compare_teams(source, TEAMS, bootstrap=20),
    "coefficients": lambda source: kalos_core.label_agreement(source, bootstrap=20, seed=3),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("name", TABLES)
@every_size
def test_as_of_one_table(tmp_path, name, size, call):
    table = TABLES[name]()
    assert_same(call(table), call(shards_of(table, tmp_path / "s", size)))


@pytest.mark.parametrize(
    "call",
    [
        *(kalos_core.dawid_skene, suggest_groups, reject_answers, kalos_core.nominal_alpha),
        lambda source: kalos_core.rater_accuracy(source, {100: "indoor"}),
    ],
)
def test_functions_that_need_all_answers_refuse_shards(tmp_path, call):
    shards = write_shards(labels(2), tmp_path / "s", 9)
    with pytest.raises(InputError, match=r"shards\.table\(\)"):
        call(shards)
    assert answers_of(shards.table()) == answers_of(labels(2))


ORDERED = {"metric": {"place": "ordinal"}, "order": ["meadow", "indoor", "street"]}


@pytest.mark.parametrize("how", [{"weights": "flat"}, {"weights": "edges"}, ORDERED])
def test_other_weights_and_metrics(tmp_path, how):
    usual, expected = (kalos_core.label_agreement(labels(), bootstrap=0, **chosen) for chosen in ({}, how))
    assert_same(expected, kalos_core.label_agreement(shards_of(labels(), tmp_path / "s", 5), bootstrap=0, **how))
    assert not np.array_equal(usual.alpha, expected.alpha) or not np.array_equal(usual.cohen, expected.cohen)


def test_by_hand(tmp_path):
    # two items per shard; ann and bob label a cat (c) or dog (d), and whether there is sky (s)
    #        item  0    1    2    3
    #         ann  c s  c    d s  d
    #         bob  c s  c    d    c
    rows = [
        {"item": item, "rater": rater, "label": answer.split()}
        for rater, answers in (("ann", ["c s", "c", "d s", "d"]), ("bob", ["c s", "c", "d", "c"]))
        for item, answer in enumerate(answers)
    ]
    shards = write_shards(LabelTable.from_rows(rows, groups={"pet": ["c", "d"]}), tmp_path / "s", 2)
    found = kalos_core.label_agreement(shards, bootstrap=0)
    # on each question they agree on three items of four: (3/4 - 1/2) / (1 - 1/2)
    assert found.question.tolist() == ["pet", "s"]
    assert found.free_marginal.tolist() == [0.5, 0.5]
    # pet: 5 of 8 answers are c, by chance 34/64; ann says c of 2, bob of 3: by chance 1/2 * 3/4 + 1/2 * 1/4 = 1/2
    # s: 3 of 8 are s, by chance 34/64 as well; ann has it on 2, bob on 1: by chance 1/2 * 1/4 + 1/2 * 3/4 = 1/2
    assert found.fleiss.tolist() == pytest.approx([(3 / 4 - 34 / 64) / (1 - 34 / 64)] * 2)
    # AC1: who guesses does so where answers vary, 2 * 5/8 * 3/8 = 30/64 of the time
    assert found.ac1.tolist() == pytest.approx([(3 / 4 - 30 / 64) / (1 - 30 / 64)] * 2)
    assert found.cohen.tolist() == pytest.approx([0.5, 0.5])
    # alpha: of the 8 * 7 ordered pairs of answers, 2 * 5 * 3 differ; of the 8 within items, 2
    assert found.alpha.tolist() == pytest.approx([1 - (2 / 8) / (30 / 56)] * 2)
    assert (found.ties.tolist(), found.chosen.tolist(), found.breaches) == ([1, 1], [8, 3], 0)


@pytest.mark.parametrize("name", TABLES)
def test_shards_hold_the_answers(tmp_path, name):
    table = TABLES[name]()
    shards = shards_of(table, tmp_path / "s", 4)
    assert (len(shards), shards.images, shards.rows) == (6, ITEMS, len(table))
    items, answers = [], []
    for shard in shards:
        read = shard.read()
        for field in ("raters", "concepts", "groups", "group_of"):
            np.testing.assert_array_equal(getattr(read, field), getattr(table, field))
        part = answers_of(read)
        items += part[0]
        answers += part[1]
    assert (items, sorted(answers)) == answers_of(table)


# ---- undefined results and errors ----


def test_undefined_results_have_the_reason_of_one_machine(tmp_path):
    rows = [{"item": item, "rater": "ann" if item % 2 else "bob", "label": "cat"} for item in range(4)]
    table = LabelTable.from_rows(rows)
    found = kalos_core.label_agreement(write_shards(table, tmp_path / "s", 1), bootstrap=0)
    assert found.reason.tolist() == ["no item has two answers"]
    assert_same(kalos_core.label_agreement(table, bootstrap=0), found)


def test_the_checks_are_those_of_one_machine(tmp_path):
    empty = [{"item": 1, "rater": rater, "label": []} for rater in "ab"]
    for table in (
        LabelTable.from_rows([{"item": 1, "rater": "ann", "label": "cat"}]),
        LabelTable.from_rows(empty, groups=None, on_empty="none"),
    ):
        shards = write_shards(table, tmp_path / str(len(table)))
        with pytest.raises(InputError) as one:
            kalos_core.label_agreement(table)
        with pytest.raises(InputError) as many:
            kalos_core.label_agreement(shards)
        assert str(many.value) == str(one.value)


def replaced(table, name, value):
    return table.set_column(table.column_names.index(name), name, [[value] * len(table)])


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("answers", lambda table: table.slice(1), "answers, as dataset.json says, got 5 and "),
        ("answers", lambda table: replaced(table, "left_open", ["sea"]), "left_open: expected names .* got 'sea'"),
        ("answers", lambda table: replaced(table, "item", 0), "item: expected numbers 5 to 9, got 0 to 0"),
        ("answers", lambda table: replaced(table, "item", 5), "expected one answer of a rater to an item"),
        ("items", lambda table: table.take([1, 0, 2, 3, 4]), "number: expected 5 to 9, one after the other"),
    ],
)
def test_a_bad_shard_is_named(tmp_path, file, change, message):
    shards = write_shards(labels(), tmp_path / "s", 5)
    path = tmp_path / "s" / f"{file}-00001.parquet"
    parquet.write_table(change(parquet.read_table(path)), path)
    with pytest.raises(InputError, match=rf"-00001\.parquet: .*{message}"):
        kalos_core.label_agreement(shards)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda: [labels(), scene()], "source: expected LabelTable as entry 1, got Annotations"),
        (lambda: [scene(), labels()], "source: expected Annotations as entry 1, got LabelTable"),
        (
            lambda: [labels().select(items=[0]), labels(groups=None).select(items=[1])],
            "groups: expected those of the first table",
        ),
        (lambda: labels().select(items=[]), "source: expected at least one item, got none"),
        (lambda: replace(exclusive(), raters=range(4)), "names: expected text, got 0, 1, 2, 3"),
    ],
)
def test_a_source_that_cannot_be_written_is_refused(tmp_path, source, message):
    with pytest.raises(InputError, match=message):
        write_shards(source(), tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_the_schema_equals_the_page(tmp_path):
    write_shards(labels(), tmp_path / "s")
    items = parquet.read_schema(tmp_path / "s" / "items-00000.parquet")
    answers = parquet.read_schema(tmp_path / "s" / "answers-00000.parquet")
    assert [f"{field.name} {field.type}" for field in items] == ["number int64", "item string", "item_is_text bool"]
    lists, names = "list<element: string>", "dictionary<values=string, indices=int32, ordered=0>"
    expected = ["item int64", f"rater {names}", f"chosen {lists}", f"left_open {lists}", "time double"]
    assert [f"{field.name} {field.type}" for field in answers] == expected
    content = json.loads((tmp_path / "s" / "dataset.json").read_text())
    assert list(content) == ["format", "version", "kind", "images", "rows", "raters", "concepts", "groups", "shards"]
