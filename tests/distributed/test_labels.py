"""Image-level labels over shards: the numbers of one machine, whatever the number and order of shards."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as parquet
import pytest
from distributed import Client, LocalCluster

import kalos_core
from kalos_core import InputError, LabelTable
from kalos_core.distributed import (
    agreement,
    label_agreement,
    open_label_shards,
    open_shards,
    write_shards,
)
from tests.distributed.equality import assert_same
from tests.distributed.scenes import scene

ITEMS = 23
RATERS = ("cid", "ann", "bob", "dan")
GROUPS = {"place": ["indoor", "street", "meadow"], "light": ["day", "night"], "alone": ["only"]}
OPTIONAL = ("busy", "pretty", "never")
SHARDS = {"one": ITEMS, "two": 12, "five": 5, "each item": 1}
"""What the tests are called -> items in a shard."""


def labels(seed=0, groups=GROUPS):
    """Answers in any order, some breaking a group, some leaving concepts open; every seventh item has none.

    Items are numbers and text, among them 1 and "1".
    """
    rng = np.random.default_rng(seed)
    concepts = ["busy", *GROUPS["place"], "pretty", *GROUPS["light"], "only", "never"]
    codes = {name: code for code, name in enumerate(concepts)}
    pairs = [(item, rater) for item in range(ITEMS) if item % 7 != 3 for rater in range(4) if rng.random() < 0.7]
    rng.shuffle(pairs)
    chosen, left_open = [], []
    for answer in range(len(pairs)):
        state = rng.choice(3, len(concepts), p=[0.6, 0.3, 0.1])
        state[codes["never"]] = 0
        for members in GROUPS.values():
            within = [codes[name] for name in members]
            if rng.random() < 0.85:
                state[within] = 0
                state[rng.choice(within)] = 1
        chosen += [(answer, code) for code in np.flatnonzero(state == 1)]
        left_open += [(answer, code) for code in np.flatnonzero(state == 2)]
    rng.shuffle(chosen)
    rng.shuffle(left_open)
    item, rater = np.array(pairs).T
    answer, concept = np.array(chosen).T
    table = LabelTable(
        item=item,
        rater=rater,
        answer=answer,
        concept=concept,
        items=["1", *(number if number % 3 else f"{number}.jpg" for number in range(1, ITEMS))],
        raters=RATERS,
        concepts=concepts,
        unanswered=left_open,
        time=np.where(rng.random(len(pairs)) < 0.5, np.nan, rng.random(len(pairs))),
    )
    return table.regroup(groups)


def exclusive():
    """One group of all concepts, every answer one of them."""
    rng = np.random.default_rng(3)
    rows = [
        {"item": f"{item}.jpg", "rater": rater, "label": "abc"[(item + int(rng.random() < 0.3)) % 3], "time": item}
        for item in range(ITEMS)
        for rater in RATERS
        if rng.random() < 0.8
    ]
    return LabelTable.from_rows(rows, items=[f"{item}.jpg" for item in reversed(range(ITEMS))])


TABLES = {
    "groups and optional concepts": labels,
    "optional concepts": lambda: labels(1, None),
    "one group": exclusive,
    "whole numbers": lambda: replace(labels(2), items=range(100, 100 + ITEMS)),
}


def shards_of(table, folder, items_per_shard):
    """The shards of a table, listed in another order than that of their items."""
    write_shards(table, folder, items_per_shard)
    file = folder / "dataset.json"
    content = json.loads(file.read_text())
    content["shards"] = np.random.default_rng(0).permutation(content["shards"]).tolist()
    file.write_text(json.dumps(content))
    return open_label_shards(folder)


def answers_of(table):
    """Every answer by its item and rater: time, concepts chosen and left open; items in their order."""
    chosen, left_open = ([set() for _ in range(len(table))] for _ in range(2))
    for found, of in ((chosen, np.column_stack([table.answer, table.concept])), (left_open, table.unanswered)):
        for answer, concept in of:
            found[answer].add(table.concepts[concept])
    keys = ((table.items[item], table.raters[rater]) for item, rater in zip(table.item, table.rater, strict=True))
    return table.items.tolist(), {
        key: (repr(time), *sets) for key, time, *sets in zip(keys, table.time.tolist(), chosen, left_open, strict=True)
    }


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("shards", SHARDS)
def test_the_numbers_are_those_of_one_machine(tmp_path, name, shards):
    table = TABLES[name]()
    options = {"bootstrap": 40, "seed": 5}
    found = label_agreement(shards_of(table, tmp_path / "s", SHARDS[shards]), **options)
    assert_same(kalos_core.label_agreement(table, **options), found)
    assert found.breaches == len(kalos_core.nominal.check_groups(table))


def test_other_weights_and_no_bootstrap(tmp_path):
    table = labels(4)
    shards = shards_of(table, tmp_path / "s", 4)
    for weights in ("flat", "edges"):
        assert_same(kalos_core.label_agreement(table, 0, weights=weights), label_agreement(shards, None, 0, 0, weights))


def test_a_metric_of_alpha(tmp_path):
    how = {"metric": {"place": "ordinal"}, "order": ["meadow", "indoor", "street"], "bootstrap": 0}
    expected = kalos_core.label_agreement(labels(), **how)
    found = label_agreement(write_shards(labels(), tmp_path / "shards", images_per_shard=5), **how)
    assert_same(found, expected)
    nominal = kalos_core.label_agreement(labels(), bootstrap=0)
    assert (
        found.alpha[found.question.tolist().index("place")] != nominal.alpha[nominal.question.tolist().index("place")]
    )
    with pytest.raises(InputError, match="metric: expected"):
        label_agreement(tmp_path / "shards", metric={"colour": "ordinal"})


def test_by_hand(tmp_path):
    # two items a shard; ann and bob say of a cat (c) or dog (d), and whether there is sky
    #        item  0    1    2    3
    #         ann  c s  c    d s  d
    #         bob  c s  c    d    c
    rows = [
        {"item": item, "rater": rater, "label": answer.split()}
        for rater, answers in (("ann", ["c s", "c", "d s", "d"]), ("bob", ["c s", "c", "d", "c"]))
        for item, answer in enumerate(answers)
    ]
    shards = write_shards(LabelTable.from_rows(rows, groups={"pet": ["c", "d"]}), tmp_path / "s", 2)
    found = label_agreement(shards, bootstrap=0)
    # on each question they agree on three items of four: (3/4 - 1/2) / (1 - 1/2)
    assert found.question.tolist() == ["pet", "s"]
    assert found.free_marginal.tolist() == [0.5, 0.5]
    # pet: 5 of 8 answers are c, by chance 34/64; ann says c of 2, bob of 3: by chance 1/2 * 3/4 + 1/2 * 1/4 = 1/2
    # s: 3 of 8 are s, by chance 34/64 as well; ann has it on 2, bob on 1: by chance 1/2 * 1/4 + 1/2 * 3/4 = 1/2
    assert found.fleiss.tolist() == pytest.approx([(3 / 4 - 34 / 64) / (1 - 34 / 64)] * 2)
    # AC1: who guesses does so where answers vary, 2 * 5/8 * 3/8 = 30/64 of the time
    assert found.ac1.tolist() == pytest.approx([(3 / 4 - 30 / 64) / (1 - 30 / 64)] * 2)
    assert found.cohen.tolist() == pytest.approx([0.5, 0.5])
    # alpha: of the 8 * 7 ordered pairs of answers 2 * 5 * 3 differ, of the 8 within items 2
    assert found.alpha.tolist() == pytest.approx([1 - (2 / 8) / (30 / 56)] * 2)
    assert (found.ties.tolist(), found.chosen.tolist(), found.breaches) == ([1, 1], [8, 3], 0)


@pytest.mark.parametrize("name", TABLES)
def test_shards_hold_the_answers(tmp_path, name):
    table = TABLES[name]()
    shards = shards_of(table, tmp_path / "s", 4)
    assert (len(shards), shards.items, shards.answers) == (6, ITEMS, len(table))
    items, answers = [], {}
    for shard in shards:
        read = shard.read()
        for field in ("raters", "concepts", "groups", "group_of"):
            np.testing.assert_array_equal(getattr(read, field), getattr(table, field))
        part = answers_of(read)
        items += part[0]
        answers |= part[1]
    assert (items, answers) == answers_of(table)


def test_tables_one_after_the_other_are_one_data_set(tmp_path):
    table = labels()
    pieces = [table.select(items=part) for part in np.array_split(np.arange(ITEMS), 6)]
    stream, whole = write_shards(iter(pieces), tmp_path / "stream", 5), write_shards(table, tmp_path / "whole", 5)
    assert (stream.files, stream.vocabulary) == (whole.files, whole.vocabulary)
    for one, other in zip(stream, whole, strict=True):
        assert answers_of(one.read()) == answers_of(other.read())


def test_workers_answer_what_this_process_answers(tmp_path):
    shards = shards_of(labels(), tmp_path / "s", 8)
    with (
        LocalCluster(n_workers=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        assert_same(label_agreement(shards, bootstrap=10), label_agreement(shards, client, bootstrap=10))


def test_progress_is_called_after_each_shard(tmp_path):
    said = []
    label_agreement(shards_of(labels(), tmp_path / "s", 12), bootstrap=0, progress=lambda *of: said.append(of))
    assert said == [(n / 2, f"Label agreement: {n} of 2") for n in range(3)]


# ---- what is undefined, and what is refused ----


def test_what_is_undefined_has_the_reason_of_one_machine(tmp_path):
    rows = [{"item": item, "rater": "ann" if item % 2 else "bob", "label": "cat"} for item in range(4)]
    table = LabelTable.from_rows(rows)
    found = label_agreement(write_shards(table, tmp_path / "s", 1), bootstrap=0)
    assert found.reason.tolist() == ["no item has two answers"]
    assert_same(kalos_core.label_agreement(table, bootstrap=0), found)


@pytest.mark.parametrize(
    "table",
    [
        LabelTable.from_rows([{"item": 1, "rater": "ann", "label": "cat"}]),
        LabelTable.from_rows(
            [{"item": 1, "rater": rater, "label": []} for rater in "ab"], groups=None, on_empty="none"
        ),
    ],
)
def test_the_checks_are_those_of_one_machine(tmp_path, table):
    shards = write_shards(table, tmp_path / "s")
    with pytest.raises(InputError) as one:
        kalos_core.label_agreement(table)
    with pytest.raises(InputError) as many:
        label_agreement(shards)
    assert str(many.value) == str(one.value)


def test_arguments_are_checked_before_a_shard_is_read(tmp_path):
    write_shards(labels(), tmp_path / "s")
    for file in (tmp_path / "s").glob("*.parquet"):
        file.unlink()
    for options, message in (
        ({"bootstrap": -1}, "bootstrap: expected a whole number"),
        ({"weights": "heavy"}, "weights: expected one of .* got 'heavy'"),
    ):
        with pytest.raises(InputError, match=message):
            label_agreement(tmp_path / "s", **options)


def test_a_folder_of_another_kind_is_refused(tmp_path):
    of_boxes = write_shards(scene(), tmp_path / "boxes")
    of_labels = write_shards(labels(), tmp_path / "labels")
    for folder in (of_boxes, tmp_path / "boxes"):
        with pytest.raises(
            InputError,
            match="boxes: expected shards of labels, got shards of annotations, which open_shards opens",
        ):
            label_agreement(folder)
    for folder in (of_labels, tmp_path / "labels"):
        with pytest.raises(
            InputError,
            match="labels: expected shards of annotations, got shards of labels, which open_label_shards opens",
        ):
            agreement(folder)
    list_file = tmp_path / "labels" / "dataset.json"
    list_file.write_text(list_file.read_text().replace('"kind": "labels"', '"kind": "sounds"'))
    with pytest.raises(InputError, match=r"expected shards of labels, got shards of sounds$"):
        open_label_shards(tmp_path / "labels")
    with pytest.raises(InputError, match=r"expected shards of annotations, got shards of sounds$"):
        open_shards(tmp_path / "labels")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"concepts"', '"words"'), "expected what write_shards writes, got KeyError"),
        (
            lambda text: text.replace('"busy",', "", 1).replace('"only",', "", 1),
            "groups of concepts that it lists, got only",
        ),
        (
            lambda text: text.replace('"first_item": 5', '"first_item": 4'),
            "expected a shard from item 5 on, got .* 4 on",
        ),
    ],
)
def test_a_list_that_does_not_fit_is_refused(tmp_path, change, message):
    write_shards(labels(), tmp_path / "s", 5)
    file = tmp_path / "s" / "dataset.json"
    file.write_text(change(file.read_text()))
    with pytest.raises(InputError, match=message):
        open_label_shards(tmp_path / "s")


def replaced(table, name, values):
    return table.set_column(table.column_names.index(name), name, [values])


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("answers", None, "expected a file, as dataset.json says, got none"),
        ("answers", b"PAR1", "expected a Parquet file, got one that cannot be read"),
        ("items", b"PAR1", "expected a Parquet file, got one that cannot be read"),
        ("answers", lambda table: table.slice(1), "answers, as dataset.json says, got 5 and "),
        ("answers", lambda table: table.drop_columns("chosen"), "expected a column 'chosen', got item, rater"),
        (
            "answers",
            lambda table: replaced(table, "rater", ["eve"] * len(table)),
            "rater: expected names that the data set has, got 'eve'",
        ),
        (
            "answers",
            lambda table: replaced(table, "left_open", [["sea"]] * len(table)),
            "left_open: expected names that the data set has, got 'sea'",
        ),
        (
            "answers",
            lambda table: replaced(table, "item", [0] * len(table)),
            "item: expected numbers 5 to 9, got 0 to 0",
        ),
        (
            "answers",
            lambda table: replaced(table, "item", [5] * len(table)),
            "expected one answer of a rater to an item",
        ),
        ("items", lambda table: table.take([1, 0, 2, 3, 4]), "number: expected 5 to 9, one after the other"),
    ],
)
def test_a_bad_shard_is_named(tmp_path, file, change, message):
    shards = write_shards(labels(), tmp_path / "s", 5)
    path = tmp_path / "s" / f"{file}-00001.parquet"
    if change is None:
        path.unlink()
    elif isinstance(change, bytes):
        path.write_bytes(change)
    else:
        parquet.write_table(change(parquet.read_table(path)), path)
    with pytest.raises(InputError, match=rf"-00001\.parquet: .*{message}"):
        label_agreement(shards)


def test_what_cannot_be_finished_leaves_nothing(tmp_path):
    table = labels()

    def broken():
        yield table.select(items=[0, 1, 2])
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        write_shards(broken(), tmp_path / "s", 1)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda: [labels(), scene()], "source: expected LabelTable as entry 1, got Annotations"),
        (lambda: [scene(), labels()], "source: expected Annotations as entry 1, got LabelTable"),
        (lambda: [labels(), labels()], "items: expected each entry once, got '1', .* again"),
        (
            lambda: [labels().select(items=[0]), labels(groups=None).select(items=[1])],
            "groups: expected those of the first table, place, light, alone, got",
        ),
        (lambda: labels().select(items=[]), "source: expected at least one item, got none"),
        (
            lambda: replace(exclusive(), items=[(number,) for number in range(ITEMS)]),
            r"items: expected ids that are whole numbers or text, got \(0,\)",
        ),
        (lambda: replace(exclusive(), raters=range(4)), "names: expected text, got 0, 1, 2, 3"),
    ],
)
def test_a_source_that_cannot_be_written_is_refused(tmp_path, source, message):
    with pytest.raises(InputError, match=message):
        write_shards(source(), tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_the_schema_is_what_the_page_says(tmp_path):
    write_shards(labels(), tmp_path / "s")
    items = parquet.read_schema(tmp_path / "s" / "items-00000.parquet")
    answers = parquet.read_schema(tmp_path / "s" / "answers-00000.parquet")
    assert [f"{field.name} {field.type}" for field in items] == ["number int64", "item string", "item_is_text bool"]
    assert [f"{field.name} {field.type}" for field in answers] == [
        "item int64",
        "rater dictionary<values=string, indices=int32, ordered=0>",
        "chosen list<element: string>",
        "left_open list<element: string>",
        "time double",
    ]
    content = json.loads((tmp_path / "s" / "dataset.json").read_text())
    assert list(content) == ["format", "version", "kind", "items", "answers", "raters", "concepts", "groups", "shards"]
