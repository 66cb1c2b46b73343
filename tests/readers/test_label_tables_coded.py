"""Large tables of labels, read as codes: the same table, and the same words, as row by row."""

import gzip
import json
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import InputError
from kalos_core.readers import label_tables, read_long_labels

HEAD = "item,rater,label\n"


def outcome(source, coded, monkeypatch, **options):
    """All that comes of a table, or what is said of it; and what is warned of."""
    with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patch.setattr(label_tables, "WORTH_PANDAS", 0 if coded else 1 << 40)
        if not coded:
            patch.setattr(label_tables, "_frame_texts", lambda *_: None)
        try:
            table = read_long_labels(source, **options)
        except InputError as error:
            return str(error)
    names = ("item", "rater", "answer", "concept", "items", "raters", "concepts", "groups", "group_of", "time")
    return repr([getattr(table, name).tolist() for name in names]), [str(warning.message) for warning in caught]


def same_either_way(source, monkeypatch, **options):
    assert outcome(source, True, monkeypatch, **options) == outcome(source, False, monkeypatch, **options)


def is_coded(source, **options):
    """Whether a table was made without looking at every row."""
    needed = ["item", "rater", "label"] + ([options["time"]] if "time" in options else [])
    return label_tables._coded(source, needed, options.get("separator")) is not None


@pytest.fixture
def file(tmp_path):
    def write(text, name="labels.csv"):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        return tmp_path / name

    return write


OPTIONS = [
    {},
    {"groups": None},
    {"groups": {"pet": ["cat", "dog"]}},
    {"separator": ";", "groups": None},
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
    "quotes": '"a",ann,"cat"\n"a ""b""","an,n",dog\nc"d,bob,"cat\ndog"\n',
    "nothing chosen": "a,ann,\nb,ann,cat\na,bob,  \n",
    "no item": "a,ann,cat\n,bob,dog\n",
    "no rater": "a,ann,cat\nb,,dog\n",
    "cells missing": "a,ann\nb,ann,cat\n",
    "cells too many": "a,ann,cat\nb,ann,cat,\n",
    "cells too many everywhere": "a,ann,cat,\nb,ann,cat,\n",
    "an empty row": "a,ann,cat\n,,\nb,ann,dog\n",
    "an open quote": 'a,ann,"cat\nb,ann,dog\n',
    "other ends of lines": "a,ann,cat\r\nb,ann,dog\rc,ann,cat",
    "ends of lines to Python alone": "a,ann,c\u2028at\nb,ann,d\x0bog\n",
    "not ASCII": "ä,ann,Kätzchen\nb,änn,犬\n",
    "header alone": "",
    "separators alone": "a,ann,;\nb,ann,cat;;dog\n",
    "one label twice in a cell": "a,ann,cat;cat\n",
    "no text": b"a,ann,\xff\n",
    "a NUL": "a,ann,c\x00at\n",
}


@pytest.mark.parametrize("options", OPTIONS, ids=json.dumps)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_either_way(text, options, file, monkeypatch):
    if "time" in options and isinstance(text, str):
        lines = text.splitlines(keepends=True)
        text = "item,rater,label,time\n" + "".join(f"{line.rstrip()},{n}\n" for n, line in enumerate(lines))
    else:
        text = HEAD.encode() + text if isinstance(text, bytes) else HEAD + text
    same_either_way(file(text), monkeypatch, **options)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.sampled_from('ab,,,\n\n\r" ;\u2028é0'), max_size=60),
    options=st.sampled_from(OPTIONS[:-2]),
)
def test_any_text(text, options, file, monkeypatch):
    same_either_way(file(HEAD + text), monkeypatch, **options)


@pytest.mark.parametrize(
    "head", ["", "\n", "item,rater\n", "item,item,rater,label\n", '"item\n",rater,label\n', " item ,rater,label,\n"]
)
def test_headers(head, file, monkeypatch):
    same_either_way(file(head + TEXTS["plain"]), monkeypatch)


def test_times(file, monkeypatch):
    text = "label,item,x,rater,time\ncat,a,,ann,2024-01-02T03:04:05Z\ndog,a,1,bob,\ncat,b,,ann,17.5\n"
    same_either_way(file(text), monkeypatch, time="time")
    same_either_way(file(text + "cat,c,,ann,soon\n"), monkeypatch, time="time")


def test_by_hand_with_a_byte_order_mark(file, monkeypatch):
    monkeypatch.setattr(label_tables, "WORTH_PANDAS", 0)
    path = file(b"\xef\xbb\xbf" + (HEAD + TEXTS["one answer in two rows"]).encode(), "labels.csv.gz")
    assert is_coded(path)
    table = read_long_labels(path, groups=None)
    assert (table.items.tolist(), table.raters.tolist(), table.concepts.tolist()) == (
        ["a"],
        ["ann", "bob"],
        ["cat", "dog"],
    )
    assert (table.item.tolist(), table.rater.tolist()) == ([0, 0], [0, 1])
    assert (table.answer.tolist(), table.concept.tolist()) == ([0, 0, 1], [0, 1, 1])
    assert np.isnan(table.time).all()


@pytest.mark.parametrize(
    "column",
    [
        ["cat", "dog", "cat", "dog"],
        ["cat", None, "cat", np.nan],
        [" cat", "", "dog", "  "],
        [1, 1.0, True, "1"],
        [["cat"], ["dog", "cat"], "dog", []],
        pd.Categorical(["cat", "dog", None, "cat"]),
        pd.array(["cat", pd.NA, "dog", "cat"], dtype="string"),
    ],
)
@pytest.mark.parametrize("options", OPTIONS[:-2], ids=json.dumps)
def test_frames(column, options, monkeypatch):
    frame = pd.DataFrame({"item": ["a", "a", "b", "b"], "rater": ["ann", "bob", "ann", "bob"]})
    frame["label"] = pd.Series(column, dtype=object) if isinstance(column, list) else column
    same_either_way(frame, monkeypatch, **options)
    same_either_way(frame.assign(item=frame["label"]), monkeypatch, **options)


def test_large_files_are_read_as_codes(tmp_path, monkeypatch):
    draw = random.Random(0)
    rows = [f"image_{number // 5:05d}.jpg,rater {number % 5},{draw.choice('xyz')}\n" for number in range(60_000)]
    path = tmp_path / "large.csv"
    path.write_text(HEAD + "".join(rows))
    assert path.stat().st_size > label_tables.WORTH_PANDAS
    assert is_coded(path)
    same_either_way(path, monkeypatch)
    path.write_text(HEAD + "".join([*rows, rows[7]]))  # a fault is named by its line
    with pytest.raises(InputError, match=r"line 60002: expected one answer of a rater to an item, got 'rater 2' on"):
        read_long_labels(path)
