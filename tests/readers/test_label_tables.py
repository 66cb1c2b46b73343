import gzip

import numpy as np
import pandas as pd
import pytest

from kalos_core import NOT_ASSIGNED, InputError, KalosWarning, read_long_labels, read_wide_labels
from kalos_core.nominal import check_groups

LONG = """item,rater,label,when,note
a.jpg,ann,cat,2026-01-02T10:00:00,x
a.jpg,bob,dog,2026-01-01T10:00:00,
b.jpg,ann,cat,2026-01-03T10:00:00Z,

b.jpg,bob,cat,2026-01-04T10:00:00+02:00,"a, b"
"""


@pytest.fixture
def write(tmp_path):
    def file(text, name="labels.csv"):
        path = tmp_path / name
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return file


def same(one, other):
    assert one.items.tolist() == other.items.tolist()
    assert one.raters.tolist() == other.raters.tolist()
    assert one.options() == other.options()
    assert one.values().tolist() == other.values().tolist()


@pytest.mark.parametrize("name", ["labels.csv", "labels.csv.gz"])
def test_a_long_table(write, name):
    table = read_long_labels(write(LONG, name))
    assert table.values().tolist() == [[0, 1], [0, 0]]
    assert table.options() == ("cat", "dog")


def test_a_frame_and_a_file_are_the_same(write):
    path = write(LONG)
    same(read_long_labels(path), read_long_labels(pd.read_csv(path)))


def test_dates_become_seconds_and_zones_count(write):
    table = read_long_labels(write(LONG), time="when")
    ann_a, bob_a, ann_b, bob_b = table.time.tolist()
    assert ann_a - bob_a == ann_b - ann_a == 24 * 3600
    assert bob_b - ann_b == 22 * 3600
    frame = pd.DataFrame({"item": [1], "rater": ["ann"], "label": ["x"], "t": [pd.Timestamp("2026-01-02T10:00:00")]})
    assert read_long_labels(frame, time="t").time.tolist() == [ann_a]
    numbers = frame.assign(t=[3.5])
    assert read_long_labels(numbers, time="t").time.tolist() == [3.5]
    assert np.isnan(read_long_labels(frame.assign(t=[pd.NaT]), time="t").time).all()


def test_other_names_of_columns_and_whole_numbers(write):
    path = write("image_id,worker,answer\n7,1,0\n7,2,1\n")
    table = read_long_labels(path, item="image_id", rater="worker", label="answer")
    assert (table.raters.tolist(), table.options()) == (["1", "2"], ("0", "1"))


def test_several_labels_in_a_cell(write):
    path = write("item,rater,label\na,ann,indoor; sky\na,bob,indoor\n")
    table = read_long_labels(path, separator=";", groups={"place": ["indoor", "outdoor"]})
    assert table.values("place").tolist() == [[0, 0]]
    assert table.values("sky").tolist() == [[1, 0]]


def test_exclusive_groups_with_none_or_two_are_named(write):
    text = "item,rater,label\na,ann,day\na,ann,night\na,bob,sky\n"
    table = read_long_labels(write(text), groups={"time": ["day", "night"]})
    with pytest.raises(InputError, match=r"2 records(.|\n)*ann on a: .*got 2(.|\n)*bob on a: .*got none"):
        check_groups(table).raise_if_any()


def test_a_wide_table(write):
    path = write("item,gt,ann,bob\na,cat,cat,dog\nb,cat,cat,\n")
    table = read_wide_labels(path, ignore=["gt"])
    assert table.raters.tolist() == ["ann", "bob"]
    assert table.values().tolist() == [[0, 1], [0, NOT_ASSIGNED]]
    same(table, read_wide_labels(path, raters=["ann", "bob"]))
    same(table, read_wide_labels(pd.read_csv(path), ignore=["gt"]))
    with pytest.raises(InputError, match="line 3, column bob: expected a label, got nothing"):
        read_wide_labels(path, ignore=["gt"], on_empty="raise")


def test_wide_and_long_are_the_same(write):
    wide = read_wide_labels(write("item,ann,bob\na.jpg,cat,dog\nb.jpg,cat,cat\n"))
    same(wide, read_long_labels(write(LONG, "long.csv")))


@pytest.mark.parametrize("dtype", ["Int64", "Float64", object])
def test_empty_cells_of_a_frame_in_all_their_ways(dtype):
    frame = pd.DataFrame({"item": ["a", "b"], "ann": [1, 0], "bob": pd.array([1, None], dtype=dtype)})
    assert read_wide_labels(frame).values().tolist() == [[0, 0], [1, NOT_ASSIGNED]]


def test_bluebirds(data_folder):
    path = data_folder / "bluebirds.csv"
    if not path.exists():
        pytest.skip("bluebirds.csv is not in the data folder")
    table = read_wide_labels(path, item="image_id", ignore=["gt"], concepts=["0", "1"])
    frame = pd.read_csv(path)
    assert table.values().tolist() == frame.drop(columns=["image_id", "gt"]).to_numpy().tolist()


TWICE = "item,rater,label\na,ann,cat\na,ann,dog\n"


def test_a_rater_who_answers_twice_is_named(write):
    with pytest.raises(InputError, match="line 3: expected one answer of a rater to an item, got 'ann' on 'a' again"):
        read_long_labels(write(TWICE))
    assert read_long_labels(write(TWICE), on_repeat="first").to_pandas()["label"].tolist() == ["cat"]
    assert read_long_labels(write(TWICE), on_repeat="last").to_pandas()["label"].tolist() == ["dog"]
    with pytest.raises(InputError, match="'ann' on 'a' again"):
        read_wide_labels(write("item,ann\na,cat\na,dog\n"))


def test_unknown_labels(write):
    with pytest.raises(InputError, match="line 2: expected a label of the vocabulary, got 'cat'"):
        read_long_labels(write(TWICE), concepts=["dog"])
    with pytest.warns(KalosWarning, match="'cat'"):
        table = read_long_labels(write(TWICE), concepts=["dog"], on_unknown="skip")
    assert table.to_pandas()["label"].tolist() == ["dog"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,rater\na,ann\n", "expected the columns label, got item, rater"),
        ("", "expected the columns item, rater, label, got nothing"),
        ("item,rater,label\n", "expected at least one record, got none"),
        ("item,rater,label\na,ann,\n", "line 2: expected a label, got nothing"),
        ("item,rater,label\n,ann,x\n", "line 2: expected an item, got nothing"),
        ("item,rater,label\na,,x\n", "line 2: expected a rater, got nothing"),
        ("item,rater,label\na,ann,x,y\n", "line 2: expected 3 cells, got 4"),
        ("item,rater,item,label\n", "expected each column once"),
    ],
)
def test_what_cannot_be_used_is_reported(write, text, said):
    with pytest.raises(InputError, match=said):
        read_long_labels(write(text))


def test_other_things_that_cannot_be_used(write, tmp_path):
    with pytest.raises(InputError, match="expected a readable CSV file"):
        read_long_labels(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="table: expected a path or a pandas DataFrame, got int"):
        read_long_labels(3)
    with pytest.raises(InputError, match="line 2, column when: expected a number or a date in ISO 8601, got 'noon'"):
        read_long_labels(write("item,rater,label,when\na,ann,x,noon\n"), time="when")
    with pytest.raises(InputError, match="expected a column for each rater"):
        read_wide_labels(write("item,gt\na,1\n"), ignore=["gt"])
    with pytest.raises(InputError, match="expected the columns cid"):
        read_wide_labels(write("item,ann\na,1\n"), raters=["cid"])
