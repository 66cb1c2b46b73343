"""Tables of image-level labels, with one row each or one column per rater."""

import krippendorff
import numpy as np
import pandas as pd
import pytest

from kalos_core import NOT_ASSIGNED, InputError, label_agreement, read_long_labels, read_wide_labels
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
NONE = HEAD + "a,ann,x\na,bob,None\n"
CROWD = "WorkerId,AssignmentStatus,Input.image_url,Answer.category.label\nW1,Approved,a,cat\nW2,Rejected,a,dog\n"
"""Part of an export from Amazon Mechanical Turk."""
SURE = "ImageID,user,LabelName,Confidence\n0,u,m,{}\n0,v,m,{}\n"
OTHER_NAMES = {"item": "image_id", "rater": "worker", "label": "answer"}

LONG_TABLES = [
    (LONG, BOTH),
    ("image_id,worker,answer\n7,1,0\n7,2,1\n", OTHER_NAMES, ["7: 1 0, 2 1"]),
    (HEAD + "a,ann,indoor; sky\na,bob,indoor\n", {"separator": ";", "groups": None}, ["a: ann indoor sky, bob indoor"]),
    (TWICE, AGAIN),
    (HEAD + "a,ann,Cat\na,bob,cat\n", Warned("labels 'Cat', 'cat' are different classes", ["a: ann Cat, bob cat"])),
    (TWICE, {"on_repeat": "first"}, Warned("Left out: 1 repeated answers of one rater", ["a: ann cat"])),
    (TWICE, {"on_repeat": "last"}, Warned("Left out: 1 repeated answers of one rater", ["a: ann dog"])),
    (TWICE, {"on_repeat": "last", "groups": None}, ["a: ann cat dog"]),
    (";file;worker;answer;\n1;a;1.0;1.0;\n2;a;1;2;\n2;b;2;1;\n", AGAIN.replace("'ann'", "'1'")),
    ("image\tuser\tclass\na\tu\tx\na\tv\tna\n", {"on_empty": "skip"}, ["a: u x"]),
    (NONE, "line 3: expected a label (on_empty='skip' leaves out those without; missing= lists the texts that mean no"),
    (NONE, {"on_empty": "skip"}, Warned("1 cell 'None' read as no answer", ["a: ann x"])),
    (NONE, {"missing": ["NA"]}, ["a: ann x, bob None"]),
    ("item,rater,label,class\na,ann,x,y\na,bob,x,z\n", "which differ: name it by label='class' (--label class)"),
    (HEAD + '"a\nb",ann,x\na,,x\n', "line 4: expected a rater, got nothing"),
    (TWICE, {"concepts": ["dog"]}, "line 2: expected a label of the vocabulary, got 'cat'"),
    (TWICE, {"concepts": ["dog"], "on_unknown": "skip"}, Warned("'cat'", ["a: ann dog"])),
    ("", "expected the columns item, rater, label, got nothing"),
    (HEAD + "a,ann,\n", "line 2: expected a label, got nothing"),
    (HEAD + "a,,x\n", "line 2: expected a rater, got nothing"),
    (HEAD + "a,ann,x,y\n", "line 2: expected 3 cells, got 4"),
    ("item,rater,item,label\n", "expected columns of different names, got item twice"),
    ("sep=;\nitem;rater;label\na;ann;x\n", ["a: ann x"]),
    (CROWD, Warned("2 answers are read. Not used: AssignmentStatus (rejection) of 1 record.", ["a: W1 cat, W2 dog"])),
    (SURE.format(1, 0), Warned("Not used: Confidence (score) of 2 records.", ["0: u m, v m"])),
    (SURE.format(1, 1), ["0: u m, v m"]),
    ("item,rater,label,when\na,ann,x,noon\n", {"time": "when"},
     "line 2, column when: expected a number or a date in ISO 8601, got 'noon'"),
]  # fmt: skip

GAP = "item,gt,ann,bob\na,cat,cat,dog\nb,cat,cat,\n"
WITH_GAP = ["a: ann cat, bob dog", "b: ann cat"]
WITH_TEXT = ["a: ann x, bob x, text why", "b: ann x, bob y, text how"]
WIDE_TABLES = [
    ("item,ann,bob\na.jpg,cat,dog\nb.jpg,cat,cat\n", BOTH),
    (GAP, {"ignore": ["gt"]}, WITH_GAP),
    (GAP, {"raters": ["ann", "bob"]}, WITH_GAP),
    (GAP, {"ignore": ["gt"], "on_empty": "raise"}, "line 3, column bob: expected a label, got nothing"),
    ("item,ann\na,cat\na,dog\n", "got 'ann' on 'a' again"),
    (
        "item,ann,bob\na,x,\n".encode("utf-16-le"),
        "expected a readable CSV file in UTF-8, got NUL characters, as in UTF-16",
    ),
    ("item,ann\na,1\n", {"raters": ["cid"]}, "expected the columns cid"),
    (
        GAP.replace("gt", "note"),
        "got note: leave out columns that are not of a rater with ignore=['note'] (--ignore note), or name",
    ),
    (SURE.replace("user", "Source"), "got LabelName, as a table with a row for each label has: name its column of"),
    (TWICE.replace("label", "x"), "got items in several rows and rater, as a table with a row for each label"),
    ("item,ann,bob,text\na,x,x,why\nb,x,y,how\n", Warned("no other column has a label of text: leave out", WITH_TEXT)),
    ("item,reader,expert\na,1,2\n", ["a: reader 1, expert 2"]),
    ("item,annotator,label\n1,ann,x\n", "got item, annotator, label, as a table with a row for each label has"),
    ("item;ann;bob\na;1,5;2\n", "expected numbers with a decimal point, got '1,5'"),
    ("case,ann\na,1\n", "expected a column for the item, got case, ann: name it by item="),
    (",file,ann,bob,id\n0,a,1.0,1,7\n1,b,2.50,#N/A,8\n", ["a: ann 1, bob 1", "b: ann 2.5"]),
    ("item,ann,bob\na,1.0,1\nb,x,null\n", Warned("labels '1' and '1.0' are two", ["a: ann 1.0, bob 1", "b: ann x"])),
    ("item,ann,bob\na,True,TRUE\n", ["a: ann True, bob True"]),
    ("item,ann,bob\na,1.0,2\nb,2,01\n", {"concepts": ["2.0", "1"]}, ["a: ann 1, bob 2", "b: ann 2, bob 1"]),
]


def test_files(tmp_path):
    assert differing(read_long_labels, tmp_path, LONG_TABLES, "labels.csv", label_lines) == []
    assert differing(read_long_labels, tmp_path, LONG_TABLES[:1], "labels.csv.gz", label_lines) == []
    assert differing(read_wide_labels, tmp_path, WIDE_TABLES, "wide.csv", label_lines) == []
    wrong = [(tmp_path / "nothing.csv", "expected a readable CSV file"),
             (3, "table: expected a path or a pandas DataFrame, got int")]  # fmt: skip
    assert differing(read_long_labels, None, wrong) == []


def test_the_account_lists_guesses(tmp_path):
    accounts = [read_long_labels(write(tmp_path, text, "labels.csv")).account for text in (LONG, SURE.format(1, 1))]
    assert [account.notes for account in accounts] == [[], ["item = ImageID, rater = user, label = LabelName"]]
    account = read_wide_labels(write(tmp_path, GAP, "wide.csv")).account
    assert (account.read, account.notes[0]) == (5, "item = item, raters = gt, ann, bob")
    assert (
        account.notes[1] == "gt is read as a rater; if it is the ground truth, leave it out with ignore= (--ignore gt)"
    )


def test_frames_and_their_empty_cells(tmp_path):
    frame = pd.read_csv(write(tmp_path, LONG, "labels.csv"))
    assert label_lines(read_long_labels(frame)) == BOTH
    for dtype in ("Int64", "Float64", object):
        frame = pd.DataFrame({"item": ["a", "b"], "ann": ["1", "no"], "bob": pd.array([1, None], dtype=dtype)})
        assert read_wide_labels(frame).values().tolist() == [[0, 0], [1, NOT_ASSIGNED]]


def test_gaps_and_numbers_of_columns_that_pandas_wrote(tmp_path):
    ratings = np.array([[1, 2, 3, 3, 2, 1, 4, 1, 2], [1, 2, 3, 3, 2, 2, 4, 1, 2], [np.nan, 3, 3, 3, 2, 3, 4, 2, 2]])
    frame = pd.DataFrame(ratings.T, columns=["ann", "bob", "cid"]).astype({"ann": int, "bob": int})
    frame.insert(0, "item", [f"s{n}" for n in range(9)])
    arrow = pytest.importorskip("pyarrow", reason="its tables are read where it is installed").Table.from_pandas(frame)
    expected = krippendorff.alpha(ratings, level_of_measurement="nominal")
    texts = [frame.to_csv(index=False, na_rep=gap) for gap in ("", "NA", "NaN", "#N/A", "null")]
    for table in (frame, arrow, *(write(tmp_path / str(n), text, "w.csv") for n, text in enumerate(texts))):
        assert label_agreement(read_wide_labels(table), bootstrap=0).alpha[0] == pytest.approx(expected)


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
