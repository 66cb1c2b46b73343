"""Numbers of JSON lists parsed in bulk: by hand, and bit-identical to Python's `json`."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kalos_core.annotations.shapes import decimals
from kalos_core.annotations.shapes.decimals import read_lists

SPACE = st.sampled_from(["", "", "", " ", "\n  ", "\t\r\n"])
DIGITS = st.text("0123456789", min_size=1, max_size=9)
SHORT = st.builds(lambda whole, places: f"{int(whole)}{places}", DIGITS, DIGITS.map(".{}".format) | st.just(""))
LONG = (st.floats(allow_nan=False, allow_infinity=False) | st.integers()).map(json.dumps)
SIGNED = st.builds("{}{}".format, st.sampled_from(["", "", "-"]), SHORT)
STRANGE = st.sampled_from(["-0", "-0.0", "0.0", "1e2", "1E-2", "-2.5e+3", "null", "true", '"12"', '"],["', "{}", "[1]"])


def listed(entry):
    """Return JSON lists of entries, with white space anywhere."""
    gaps = st.lists(SPACE, min_size=4, max_size=4)
    return st.builds(
        lambda entries, gap: "[" + gap[0] + (gap[1] + "," + gap[2]).join(entries) + gap[3] + "]",
        st.lists(entry),
        gaps,
    )


def same_as_json(texts, depth):
    found = read_lists([msgspec.Raw(text.encode()) for text in texts], depth)
    numbers, length = iter(found.numbers.tolist()), iter(found.length.tolist())
    for text, lists, clear in zip(texts, found.lists.tolist(), found.clear.tolist(), strict=True):
        taken = [[next(numbers).hex() for _ in range(next(length))] for _ in range(lists)]
        expected = (json.loads(text) if depth == 2 else [json.loads(text)]) if clear else []
        assert taken == [[float(number).hex() for number in entries] for entries in expected]
    assert next(numbers, None) is next(length, None) is None


@given(st.lists(listed(listed(SIGNED | LONG | STRANGE)) | STRANGE | LONG, max_size=6))
def test_same_as_json(texts):
    same_as_json(texts, 1)
    same_as_json(texts, 2)


def read(*texts, depth=2):
    return read_lists([msgspec.Raw(text.encode()) for text in texts], depth)


def test_by_hand():
    found = read("[[384.75,-2.5] ,[ 0.000001, 12345678]]", "[[]]", "[]", "[[-0.5,\n 1], []]")
    assert found.numbers.tolist() == [384.75, -2.5, 1e-6, 12345678.0, -0.5, 1.0]
    assert found.length.tolist() == [2, 2, 0, 2, 0]
    assert found.lists.tolist() == [2, 1, 0, 2]
    assert found.clear.all()


def test_anything_else_is_left_out():
    numbers = ["123456789", "1.2345678", "-0", "1e5", "1, [2]", '"1"', '"["']
    others = [*(f"[[{number}]]" for number in numbers), "[[1], 2]", "7", "{}"]
    for text in others:
        found = read("[[1, 2]]", text, text, "[[3]]")
        assert found.clear.tolist() == [True, False, False, True]
        assert found.numbers.tolist() == [1, 2, 3]
        assert (found.length.tolist(), found.lists.tolist()) == ([2, 1], [1, 0, 0, 1])
    for found in (read(), read_lists([None, [[1, 2]]], 2)):  # empty, and not JSON
        assert [len(column) for column in found[:2]] == [0, 0]
        assert not found.clear.any()


def test_the_same_in_parts(monkeypatch):
    texts = [f"[[{row}, {row / 8}], [{row}]]" for row in range(100)]
    whole = read(*texts)
    monkeypatch.setattr(decimals, "BYTES_AT_ONCE", 50)
    for one, other in zip(whole, read(*texts), strict=True):
        assert one.tolist() == other.tolist()
    assert whole.numbers.tolist() == [number for row in range(100) for number in (row, row / 8, row)]
