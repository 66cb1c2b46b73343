"""Large tables of labels, read as codes: same tables and messages as row by row."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core.readers import label_tables, read_long_labels, read_wide_labels, tables
from tests.readers.cases import as_bytes, outcome, write

HEAD = "item,rater,label\n"


def columns(table):
    names = ("item", "rater", "answer", "concept", "items", "raters", "concepts", "groups", "group_of", "time")
    return repr([getattr(table, name).tolist() for name in names])


def differs(source, read=read_long_labels, **options):
    """Return whether reading a table as codes differs from row by row, in result, errors or warnings."""
    found = []
    for row_by_row in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if row_by_row:
                patch.setattr(tables, "_plain", lambda *_: None)
                for name in ("_coded_fields", "_coded_cells"):
                    patch.setattr(label_tables, name, lambda *_: None)
            found.append(outcome(read, source, columns, **options))
    return found[0] != found[1]


OPTIONS = [
    {},
    {"groups": None},
    {"groups": {"pet": ["cat", "dog"]}},
    {"separator": ";", "groups": None},
    {"missing": ["cat", "1"], "on_empty": "skip"},
    {"concepts": ["dog", "cat"]},
    {"concepts": ["dog"], "on_unknown": "skip"},
    {"on_empty": "skip"},
    {"on_empty": "none", "groups": None},
    {"on_repeat": "last"},
    {"on_repeat": "first", "groups": None},
    {"items": ["b", "a", "z"], "raters": ["bob", "ann", "zoe"]},
    {"time": "time"},
    {"time": "time", "on_repeat": "last", "groups": None},
]

TEXTS = {
    "plain": "a,ann,cat\nb,ann,dog\na,bob,dog\nb,bob,dog\n",
    "spaces and a blank line": " a , ann,cat\n\n\tb,ann ,dog\na,bob,cat;dog\n\n",
    "one answer in two rows": "a,ann,cat\na,bob,dog\na,ann,dog\n",
    "the same twice": "a,ann,cat\na,ann,cat\n",
    "numbers stay text": "007,1,1.0\n7,01,1\n1e3,1,True\nNA,nan,NaN\n",
    "equal numbers": "1.0,1,1.0\n2,1.0,1\n3,2,01\n4,2,NA\n",
    "nothing": "a,ann,NA\nb,n/a,dog\nnull,ann,None\n",
    "decimal commas": 'a,ann,"1,5"\nb,ann,2\n',
    "quotes": '"a",ann,"cat"\n"a ""b""","an,n",dog\nc"d,bob,"cat\ndog"\n',
    "nothing chosen": "a,ann,\nb,ann,cat\na,bob,  \n",
    "no item": "a,ann,cat\n,bob,dog\n",
    "cells missing": "a,ann\nb,ann,cat\n",
    "cells too many": "a,ann,cat\nb,ann,cat,\n",
    "an empty row": "a,ann,cat\n,,\nb,ann,dog\n",
    "an open quote": 'a,ann,"cat\nb,ann,dog\n',
    "other ends of lines": "a,ann,cat\r\nb,ann,dog\rc,ann,cat",
    "ends of lines to Python alone": "a,ann,c\u2028at\nb,ann,d\x0bog\n",
    "not ASCII": "ä,ann,Kätzchen\nb,änn,犬\n",
    "separators alone": "a,ann,;\nb,ann,cat;;dog\n",
    "one label twice in a cell": "a,ann,cat;cat\n",
    "no text": b"a,ann,\xff\n",
    "a NUL": "a,ann,c\x00at\n",
}


TIMES = "label,item,x,rater,time\ncat,a,,ann,2024-01-02T03:04:05Z\ndog,a,1,bob,\ncat,b,,ann,17.5\n"
HEADS = ["", "\n", "item,rater\n", "item,item,rater,label\n", '"item\n",rater,label\n', " item ,rater,label,\n"]


def test_texts_with_all_options(tmp_path):
    cases = [(head + TEXTS["plain"], {}) for head in HEADS] + [(TIMES, {"time": "time"})]
    cases.append((TIMES + "cat,c,,ann,soon\n", {"time": "time"}))
    for text in TEXTS.values():
        timed = isinstance(text, str) and [f"{line.rstrip()},{n}\n" for n, line in enumerate(text.splitlines(True))]
        for options in OPTIONS:
            if "time" not in options or timed is False:
                cases.append((HEAD.encode() + as_bytes(text), options))
            else:
                cases.append(("item,rater,label,time\n" + "".join(timed), options))
    found = [(text, options) for text, options in cases if differs(write(tmp_path, text, "labels.csv"), **options)]
    assert found == []


WIDE = [
    {},
    {"groups": None},
    {"separator": ";", "groups": None},
    {"missing": ["cat", "1"]},
    {"concepts": ["dog", "cat"]},
    {"concepts": ["dog"], "on_unknown": "skip"},
    {"on_empty": "raise"},
    {"on_empty": "none", "groups": None},
    {"on_repeat": "last"},
    {"raters": ["bob", "ann"]},
    {"ignore": ["cy"]},
]


def test_wide_texts_with_all_options(tmp_path):
    texts = [b"item,ann,bob\n" + as_bytes(text) for text in TEXTS.values()]
    texts += ["item,1.0,bob,1\na,x,y,\nb,y,x,z\n", "item,ann,bob,cy\na,x,x,why\nb,x,y,how\nc,x,y,\n"]
    cases = [(text, options) for text in texts for options in WIDE]
    found = [case for case in cases if differs(write(tmp_path, case[0], "w.csv"), read_wide_labels, **case[1])]
    assert found == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from('ab,,,\n\n\r" ;\u2028é0'), max_size=60), options=st.sampled_from(OPTIONS[:-2]))
def test_any_text(text, options, tmp_path):
    assert not differs(write(tmp_path, HEAD + text, "labels.csv"), **options)


def test_scores_and_rejections_are_counted(tmp_path):
    text = "item,rater,label,confidence,status\na,ann,cat,.5,ok\na,bob,dog,.9,Rejected\n"
    assert not differs(write(tmp_path, text, "labels.csv"))


def test_by_hand_with_a_byte_order_mark(tmp_path):
    path = write(tmp_path, b"\xef\xbb\xbf" + (HEAD + TEXTS["one answer in two rows"]).encode(), "labels.csv.gz")
    table = read_long_labels(path, groups=None)
    names = [getattr(table, name).tolist() for name in ("items", "raters", "concepts")]
    assert names == [["a"], ["ann", "bob"], ["cat", "dog"]]
    assert (table.item.tolist(), table.rater.tolist()) == ([0, 0], [0, 1])
    assert (table.answer.tolist(), table.concept.tolist()) == ([0, 0, 1], [0, 1, 1])
    assert np.isnan(table.time).all()


COLUMNS = [
    ["cat", "dog", "cat", "dog"],
    ["cat", None, "cat", np.nan],
    [" cat", "", "dog", "  "],
    [1, 1.0, True, "1"],
    [["cat"], ["dog", "cat"], "dog", []],
    pd.Categorical(["cat", "dog", None, "cat"]),
    pd.array(["cat", pd.NA, "dog", "cat"], dtype="string"),
]


def test_frames():
    found = []
    for column in COLUMNS:
        frame = pd.DataFrame({"item": ["a", "a", "b", "b"], "rater": ["ann", "bob", "ann", "bob"]})
        frame["label"] = pd.Series(column, dtype=object) if isinstance(column, list) else column
        for options in OPTIONS[:-2:2]:
            for one in (frame, frame.assign(item=frame["label"])):
                found += [(column, options)] if differs(one, **options) else []
    assert found == []
