"""Tables of labels that the tests draw, and the plain answers behind one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kalos_core import LabelTable

GROUP = ("day", "night", "dusk")
OPTIONAL = ("sky", "sea")


def table_of(answers: Mapping[str, Iterable[Any]], **options: Any) -> LabelTable:
    """A table of each rater's answers to the items 0, 1, ...; None where a rater did not answer."""
    rows = [
        {"item": item, "rater": rater, "label": label}
        for rater, labels in answers.items()
        for item, label in enumerate(labels)
        if label is not None
    ]
    return LabelTable.from_rows(rows, **options)


@st.composite
def label_tables(draw: Callable[[st.SearchStrategy[Any]], Any], broken: bool = True) -> LabelTable:
    """Up to four raters and items, one exclusive group and two optional concepts; some answers missing or `broken`."""
    raters = ["ann", "bob", "cid", "dan"][: draw(st.integers(2, 4))]
    items = ["a", "b", "c", "d"][: draw(st.integers(1, 4))]
    one = st.lists(st.sampled_from(GROUP), min_size=0 if broken else 1, max_size=2 if broken else 1, unique=True)
    some = st.lists(st.sampled_from(OPTIONAL), unique=True)
    answer = st.one_of(st.none(), st.tuples(one, some).map(lambda both: both[0] + both[1]))
    rows = [
        {"item": item, "rater": rater, "label": label}
        for item in items
        for rater in raters
        if (label := draw(answer)) is not None
    ] or [{"item": "a", "rater": "ann", "label": ["day"]}]
    concepts = [*OPTIONAL, *GROUP]
    return LabelTable.from_rows(rows, groups={"time": GROUP}, items=items, raters=raters, concepts=concepts)


@st.composite
def tables_with_gaps(draw: Callable[[st.SearchStrategy[Any]], Any]) -> LabelTable:
    """`label_tables` in which some answers leave an optional concept open that they did not choose."""
    table = draw(label_tables())
    concept = table.concepts.tolist().index(OPTIONAL[0])
    chose = set(table.answer[table.concept == concept].tolist())
    left_open = [(answer, concept) for answer in range(len(table)) if answer not in chose and draw(st.booleans())]
    return replace(table, unanswered=np.array(left_open, np.intp).reshape(-1, 2))


def answers_of(table: LabelTable) -> dict[tuple[Any, str], set[str]]:
    """What each rater chose for each item they answered."""
    found: dict[tuple[Any, str], set[str]] = {
        (table.items[i], table.raters[r]): set() for i, r in zip(table.item, table.rater, strict=True)
    }
    for answer, concept in zip(table.answer, table.concept, strict=True):
        found[table.items[table.item[answer]], table.raters[table.rater[answer]]].add(table.concepts[concept])
    return found
