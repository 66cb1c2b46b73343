"""Valid files made invalid: values replaced, fields removed, records repeated, anywhere in them."""

from __future__ import annotations

import copy
from typing import Any
from xml.etree import ElementTree

from hypothesis import strategies as st

HUGE = 10**400
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 9), st.floats(), st.sampled_from([HUGE, -HUGE, 2**63, 1e308, "", "ann"]),
    st.text(max_size=3),
)  # fmt: skip
junk = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["id", "counts"]), inner, max_size=2),
    max_leaves=8,
)
near = st.one_of(
    st.lists(st.floats(-10, 30) | scalars, min_size=4, max_size=4),
    st.lists(st.lists(st.floats(-10, 30), min_size=4, max_size=9), max_size=2),
)
words = st.sampled_from(["", " ", "nan", "inf", "-1", "0", "1e308", "1e999", "ann", "a.jpg", "1,2;3", "9" * 30, "14"])


@st.composite
def spoiled(
    draw: st.DrawFn, content: Any, values: st.SearchStrategy[Any] = junk | near, least: int = 0, most: int = 4
) -> Any:
    """Draw parsed JSON, or any nested lists and dictionaries, with some changes at any depth."""
    content = copy.deepcopy(content)
    for _ in range(draw(st.integers(least, most))):
        place = content
        while True:
            keys = list(place) if isinstance(place, dict) else range(len(place))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            deeper = isinstance(place[key], (dict, list)) and place[key]
            if deeper and draw(st.integers(0, 5)):
                place = place[key]
                continue
            change = draw(st.integers(0, 5))
            if change == 0:
                del place[key]
            elif change == 1 and isinstance(place, list):
                place.append(copy.deepcopy(place[key]))
            elif change == 1:
                place[draw(st.sampled_from([5, None, "new", "a\0", "\ud800"]))] = place[key]
            else:
                place[key] = draw(values)
            break
    return content


@st.composite
def spoiled_xml(draw: st.DrawFn, text: str) -> bytes:
    """Draw XML with up to four changes, or truncated."""
    root = ElementTree.fromstring(text)
    for _ in range(draw(st.integers(0, 4))):
        element = draw(st.sampled_from(list(root.iter())))
        change = draw(st.integers(0, 4))
        if change == 0 and element.attrib:
            element.set(draw(st.sampled_from(sorted(element.attrib))), draw(words))
        elif change == 1 and element.attrib:
            del element.attrib[draw(st.sampled_from(sorted(element.attrib)))]
        elif change == 2:
            element.text = draw(words)
        elif change == 3 and len(element):
            element.remove(draw(st.sampled_from(list(element))))
        elif len(element):
            element.append(copy.deepcopy(draw(st.sampled_from(list(element)))))
    data = ElementTree.tostring(root)
    return data[: draw(st.integers(0, len(data)))] if not draw(st.integers(0, 9)) else data


@st.composite
def spoiled_lines(draw: st.DrawFn, text: str) -> str:
    """Draw a table of comma-separated cells with up to four changes."""
    rows = [line.split(",") for line in text.splitlines()]
    for _ in range(draw(st.integers(0, 4))):
        row = draw(st.sampled_from(rows)) if rows else []
        change = draw(st.integers(0, 3))
        if change == 0 and row:
            row[draw(st.integers(0, len(row) - 1))] = draw(words | st.sampled_from(['"', "\r", "\0", "x\ny"]))
        elif change == 1 and row:
            del row[draw(st.integers(0, len(row) - 1))]
        elif change == 2:
            rows.append([*row])
        elif rows:
            rows.remove(row)
    return "\n".join(map(",".join, rows))


@st.composite
def spoiled_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """Draw bytes with up to four changes: truncated, replaced, inserted, removed or repeated."""
    for _ in range(draw(st.integers(0, 4))):
        start, end = sorted(draw(st.integers(0, len(data))) for _ in range(2))
        change = draw(st.integers(0, 4))
        if change == 0:
            data = data[:end]
        elif change == 1:
            data = data[:start] + draw(st.binary(max_size=4)) + data[start + 4 :]
        elif change == 2:
            data = data[:start] + draw(st.binary(min_size=1, max_size=9)) + data[start:]
        elif change == 3:
            data = data[:start] + data[min(end, start + 9) :]
        else:
            data = data[:end] + data[start:]
    return data
