"""Plots of any result with a table: its counts, a bar for each row, or the distribution of a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from kalos_core.display import alpha_text, percent_text
from kalos_core.errors import InputError, listed, lookup, repr_of
from kalos_core.figures.bars import value_bars
from kalos_core.figures.common import as_numbers, framed
from kalos_core.figures.late import go
from kalos_core.figures.traces import histogram
from kalos_core.options import checked
from kalos_core.results import Result
from kalos_core.text import shown

MOST_BARS = 40
"""Maximum number of rows with a bar."""

TITLE_LETTERS = 110
"""Greatest length of a title, which is the first line of the headline of a result."""


def count_bars_of(counts: Mapping[str, int], title: str = "", axis: str = "count") -> go.Figure:
    """Plot a bar for each count, at most `MOST_BARS`.

    Examples
    --------
    >>> count_bars_of({"cat": 3, "dog": 1}).data[0].x
    (3.0, 1.0)
    """
    names, values = list(counts)[:MOST_BARS], list(counts.values())[:MOST_BARS]
    total = max(sum(counts.values()), 1)
    texts = [f"{value:,}" for value in values]
    shares = [f" ({percent_text(value / total)})" for value in values]
    return value_bars(names, values, axis=axis, name=axis, title=title, hover=texts, after=shares, texts=texts)


@checked
def plot_counts(result: Any, axis: str = "count") -> go.Figure:
    """Plot the counts of a result (`counts`, a mapping or a method that returns one), titled with its headline.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement, instance_consensus
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> plot_counts(instance_consensus(agreement(Annotations.from_rows(rows)))).data[0].x[0]
    1.0
    """
    counts = getattr(result, "counts", None)
    found = counts() if callable(counts) else counts
    if not isinstance(found, Mapping):
        raise InputError(f"result: expected one with counts, got {repr_of(result)}")
    return count_bars_of(found, title_of(result), axis)


@checked
def plot_values(result: Result, value: str, name: str | None = None, *, axis: str = "") -> go.Figure:
    """Plot a bar for each of the first rows of a result's table: values of one column, named by another.

    Parameters
    ----------
    result : Result
    value : str
        Numeric column.
    name : str, optional
        Column of names; without it, rows are numbered.
    axis : str
        Axis title; by default the name of the column.

    Returns
    -------
    plotly.graph_objects.Figure
        Titled with the headline.

    Raises
    ------
    InputError
        If the table does not have the column.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> plot_values(Annotations.from_rows(rows), "annotations", "rater").layout.yaxis.ticktext
    ('ann', 'bob')
    """
    table = result._table()
    if table.empty:
        return count_bars_of({}, title_of(result), axis or value)
    table = table.head(MOST_BARS)
    columns = {str(column): table[column] for column in table.columns}
    numbers = as_numbers([_number(entry) for entry in lookup(columns, value, "value")])
    names = [str(number) for number in range(1, len(table) + 1)] if name is None else list(map(str, columns[name]))
    whole = bool(np.isin(numbers[np.isfinite(numbers)] % 1, 0).all()) and bool((np.abs(numbers) > 1).any())
    texts = [f"{int(number):,}" if whole and np.isfinite(number) else alpha_text(number) for number in numbers]
    title = title_of(result)
    return value_bars(names, numbers, axis=axis or _in_words(value), name=value, title=title, hover=texts, texts=texts)


@checked
def plot_histogram(result: Result, value: str, *, axis: str = "", bins: int = 20) -> go.Figure:
    """Plot the distribution of values in a column of a result's `to_pandas`, titled with the headline.

    Parameters
    ----------
    result : Result
    value : str
        Numeric column; undefined values are left out.
    axis : str
    bins : int

    Raises
    ------
    InputError
        If the table does not have the column.

    Examples
    --------
    >>> from kalos_core import sparse_agreement
    >>> sum(plot_histogram(sparse_agreement([[3, 0], [2, 1]]), "agreement").data[0].y)
    2
    """
    table = result.to_pandas()
    columns = {str(column): table[column] for column in table.columns}
    if value not in columns and len(table):
        raise InputError(f"value: expected one of {listed(columns, 20)}, got {value!r}")
    known = as_numbers([_number(entry) for entry in columns.get(value, ())])
    known = known[np.isfinite(known)]
    ends = (min(0.0, known.min(initial=0.0)), max(1.0, known.max(initial=1.0)))
    counts, edges = np.histogram(known, bins, ends)
    texts = [f"{alpha_text(low)} to {alpha_text(high)}" for low, high in pairwise(edges)]
    bars = histogram(edges, counts, "%{customdata}: %{y:,}", texts)
    return framed([bars], title_of(result), axis or _in_words(value), "count", 300, bargap=0.02)


def text_rows(**columns: Iterable[str]) -> list[dict[str, str]]:
    """Convert columns of texts to rows, for panels and summaries.

    Examples
    --------
    >>> text_rows(stage=["merged"], share=["25 %"])
    [{'stage': 'merged', 'share': '25 %'}]
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def title_of(result: Any) -> str:
    """Return the first line of a headline, shortened to a title."""
    first = result.headline.splitlines()
    return shown(first[0], TITLE_LETTERS) if first else ""


def _in_words(column: str) -> str:
    return column.replace("_", " ")


def _number(entry: Any) -> float | None:
    try:
        return float(entry)
    except (TypeError, ValueError):
        return None
