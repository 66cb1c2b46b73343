"""Tables of image-level labels, in a row each or a column a rater."""

import numpy as np
import pandas as pd
import pytest

from kalos_core import NOT_ASSIGNED, InputError, read_long_labels, read_wide_labels
from kalos_core.nominal import check_groups
from tests.readers.cases import Warned, differing, label_lines, write

HEAD = "item,rater,label\n"
LONG = """item,rater,label,when,note
a.jpg,ann,cat,2026-01-02T10:00:00,x
a.jpg,bob,dog,2026-01-01T10:00:00,
b.jpg,ann,cat,2026-01-03T10:00:00Z,

b.jpg,bob,cat,2026-01-04T10:00:00+02:00,"a, b"
"""
BOTH = ["a.jpg: ann cat, bob dog", "b.jpg: ann cat, bob cat"]
TWICE = HEAD + "a,ann,cat\na,ann,dog\n"
AGAIN = "line 3: expected one answer of a rater to an item, got 'ann' on 'a' again"
OTHER_NAMES = {"item": "image_id", "rater": "worker", "label": "answer"}

LONG_TABLES = [
    (LONG, BOTH),
    ("image_id,worker,answer\n7,1,0\n7,2,1\n", OTHER_NAMES, ["7: 1 0, 2 1"]),
    (HEAD + "a,ann,indoor; sky\na,bob,indoor\n", {"separator": ";", "groups": None}, ["a: ann indoor sky, bob indoor"]),
    (TWICE, AGAIN),
    (TWICE, {"on_repeat": "first"}, ["a: ann cat"]),
    (TWICE, {"on_repeat": "last"}, ["a: ann dog"]),
    (TWICE, {"concepts": ["dog"]}, "line 2: expected a label of the vocabulary, got 'cat'"),
    (TWICE, {"concepts": ["dog"], "on_unknown": "skip"}, Warned("'cat'", ["a: ann dog"])),
    ("", "expected the columns item, rater, label, got nothing"),
    (HEAD + "a,ann,\n", "line 2: expected a label, got nothing"),
    (HEAD + "a,,x\n", "line 2: expected a rater, got nothing"),
    (HEAD + "a,ann,x,y\n", "line 2: expected 3 cells, got 4"),
    ("item,rater,item,label\n", "expected each column once"),
    ("item,rater,label,when\na,ann,x,noon\n", {"time": "when"},
     "line 2, column when: expected a number or a date in ISO 8601, got 'noon'"),
]  # fmt: skip

GAP = "item,gt,ann,bob\na,cat,cat,dog\nb,cat,cat,\n"
WITH_GAP = ["a: ann cat, bob dog", "b: ann cat"]
WIDE_TABLES = [
    ("item,ann,bob\na.jpg,cat,dog\nb.jpg,cat,cat\n", BOTH),
    (GAP, {"ignore": ["gt"]}, WITH_GAP),
    (GAP, {"raters": ["ann", "bob"]}, WITH_GAP),
    (GAP, {"ignore": ["gt"], "on_empty": "raise"}, "line 3, column bob: expected a label, got nothing"),
    ("item,ann\na,cat\na,dog\n", "got 'ann' on 'a' again"),
    ("item,ann\na,1\n", {"raters": ["cid"]}, "expected the columns cid"),
]


def test_files(tmp_path):
    assert differing(read_long_labels, tmp_path, LONG_TABLES, "labels.csv", label_lines) == []
    assert differing(read_long_labels, tmp_path, LONG_TABLES[:1], "labels.csv.gz", label_lines) == []
    assert differing(read_wide_labels, tmp_path, WIDE_TABLES, "wide.csv", label_lines) == []
    wrong = [(tmp_path / "nothing.csv", "expected a readable CSV file"),
             (3, "table: expected a path or a pandas DataFrame, got int")]  # fmt: skip
    assert differing(read_long_labels, None, wrong) == []


def test_frames_and_their_empty_cells(tmp_path):
    frame = pd.read_csv(write(tmp_path, LONG, "labels.csv"))
    assert label_lines(read_long_labels(frame)) == BOTH
    for dtype in ("Int64", "Float64", object):
        frame = pd.DataFrame({"item": ["a", "b"], "ann": [1, 0], "bob": pd.array([1, None], dtype=dtype)})
        assert read_wide_labels(frame).values().tolist() == [[0, 0], [1, NOT_ASSIGNED]]


def test_dates_become_seconds_and_zones_count(tmp_path):
    table = read_long_labels(write(tmp_path, LONG, "labels.csv"), time="when")
    ann_a, bob_a, ann_b, bob_b = table.time.tolist()
    assert ann_a - bob_a == ann_b - ann_a == 24 * 3600
    assert bob_b - ann_b == 22 * 3600
    frame = pd.DataFrame({"item": [1], "rater": ["ann"], "label": ["x"]})
    for time, seconds in ((pd.Timestamp("2026-01-02T10:00:00"), ann_a), (3.5, 3.5), (pd.NaT, np.nan)):
        np.testing.assert_array_equal(read_long_labels(frame.assign(t=[time]), time="t").time, [seconds])


def test_groups(tmp_path):
    path = write(tmp_path, HEAD + "a,ann,indoor; sky\na,bob,indoor\n", "labels.csv")
    table = read_long_labels(path, separator=";", groups={"place": ["indoor", "outdoor"]})
    assert (table.values("place").tolist(), table.values("sky").tolist()) == ([[0, 0]], [[1, 0]])
    path = write(tmp_path, HEAD + "a,ann,day\na,ann,night\na,bob,sky\n", "labels.csv")
    table = read_long_labels(path, groups={"time": ["day", "night"]})
    with pytest.raises(InputError, match=r"2 records(.|\n)*ann on a: .*got 2(.|\n)*bob on a: .*got none"):
        check_groups(table).raise_if_any()
