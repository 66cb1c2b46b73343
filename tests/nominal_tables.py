"""Strategies for tables of labels, and the plain answers of a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kalos_core import LabelTable

GROUP = ("day", "night", "dusk")
OPTIONAL = ("sky", "sea")


def table_of(answers: Mapping[str, Iterable[Any]], **options: Any) -> LabelTable:
    """Return a table of each rater's answers to the items 0, 1, ...; None for no answer."""
    rows = [
        {"item": item, "rater": rater, "label": label}
        for rater, labels in answers.items()
        for item, label in enumerate(labels)
        if label is not None
    ]
    return LabelTable.from_rows(rows, **options)


@st.composite
def label_tables(draw: Callable[[st.SearchStrategy[Any]], Any], broken: bool = True) -> LabelTable:
    """Draw up to four raters and items, one exclusive group and two optional concepts; some missing or `broken`."""
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
    """Draw `label_tables` in which some answers leave an unchosen optional concept open."""
    table = draw(label_tables())
    concept = table.concepts.tolist().index(OPTIONAL[0])
    chose = set(table.answer[table.concept == concept].tolist())
    left_open = [(answer, concept) for answer in range(len(table)) if answer not in chose and draw(st.booleans())]
    return replace(table, unanswered=np.array(left_open, np.intp).reshape(-1, 2))


def answers_of(table: LabelTable) -> dict[tuple[Any, str], set[str]]:
    """Return what each rater chose for each item they answered."""
    found: dict[tuple[Any, str], set[str]] = {
        (table.items[i], table.raters[r]): set() for i, r in zip(table.item, table.rater, strict=True)
    }
    for answer, concept in zip(table.answer, table.concept, strict=True):
        found[table.items[table.item[answer]], table.raters[table.rater[answer]]].add(table.concepts[concept])
    return found


def dawid_skene_by_loops(values: np.ndarray, added: float, iterations: int, coin: bool) -> tuple[np.ndarray, ...]:
    """Run EM item by item: (I, K) probabilities, (R, K, K) confusion and (K,) prior; `coin`: one skill per rater."""
    items, raters = values.shape
    classes = int(values.max()) + 1
    probability = [
        [sum(value == k for value in row) / sum(value >= 0 for value in row) for k in range(classes)] for row in values
    ]
    for _ in range(iterations):
        prior = [sum(row[k] for row in probability) / items for k in range(classes)]
        counts = np.zeros((raters, classes, classes))
        for i, r, k in np.ndindex(items, raters, classes):
            if values[i, r] >= 0:
                counts[r, k, values[i, r]] += probability[i][k]
        confusion = np.zeros((raters, classes, classes))
        for r, k in np.ndindex(raters, classes):
            if coin:
                usual = np.trace(counts.sum(axis=0)) / counts.sum()
                skill = (np.trace(counts[r]) + added * usual) / (counts[r].sum() + added)
                confusion[r, k] = [skill if k == a else (1 - skill) / (classes - 1) for a in range(classes)]
            else:
                usual = counts[:, k].sum(axis=0) / counts[:, k].sum()
                confusion[r, k] = (counts[r, k] + added * usual) / (counts[r, k].sum() + added)
        for i in range(items):
            given = [(r, values[i, r]) for r in range(raters) if values[i, r] >= 0]
            joint = [prior[k] * math.prod(confusion[r, k, value] for r, value in given) for k in range(classes)]
            probability[i] = [part / sum(joint) for part in joint]
    return np.array(probability), confusion, np.array(prior)
