"""Plots of one row for each name: bars that lie on their side, with their values in a column at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from kalos_core.display import Numbers
from kalos_core.figures.common import (
    WHISKER,
    Intervals,
    Layout,
    as_intervals,
    as_numbers,
    as_plain,
    margin,
    shortened,
    titled,
    value_range,
    whiskers,
)

BAR_HEIGHT = 22
"""Pixels of one row, with the gap to the next."""


def row_bars(
    lengths: Sequence[float | None],
    rows: Sequence[int] | Sequence[str],
    colours: str | Sequence[str],
    hover: str,
    name: str,
    **more: Any,
) -> go.Bar:
    """Bars that lie on their side: (n,) lengths in (n,) rows, with plotly's template of the hover text."""
    return go.Bar(
        x=list(lengths),
        y=list(rows),
        orientation="h",
        marker={"color": colours if isinstance(colours, str) else list(colours)},
        hovertemplate=hover,
        name=name,
        **more,
    )


def value_bars(
    names: Sequence[str],
    values: Numbers,
    hover: Sequence[str],
    texts: Sequence[str],
    *,
    axis: str,
    name: str,
    colours: str | Sequence[str],
    title: str = "",
    intervals: Intervals | None = None,
    opacity: float | Sequence[float] | None = None,
    click: str = "",
    room: float = 0.0,
) -> go.Figure:
    """A bar for each name, the first on top, with its interval, and its value in a column at the right.

    Parameters
    ----------
    names : (n,) str
    values : (n,) None or NaN where undefined
    hover, texts : (n,) str
        Hover texts, and texts of the column.
    axis, name : str
        What the values are, and what the trace is called.
    colours : str or (n,) str
    title : str
    intervals : (n, 2), optional
    opacity : float or (n,), optional
    click : str
        What a click on a bar does.
    room : float
        Share of the axis that texts longer than a number need.
    """
    numbers, ends = as_numbers(values), as_intervals(intervals, len(names))
    bars = row_bars(
        as_plain(numbers),
        range(len(names)),
        colours,
        f"%{{customdata}}<extra>{click}</extra>",
        name,
        customdata=list(hover),
        error_x=None if intervals is None else whiskers(numbers, ends),
    )
    if opacity is not None:
        bars.marker.opacity = opacity
    low, high = value_range(numbers, ends)
    figure = go.Figure(bars, layout=row_layout(names, title, axis, low, high + room * (high - low)))
    return with_value_column(figure, texts, high)


def count_bars(traces: Sequence[go.Bar], axis: str, title: str = "") -> go.Figure:
    """Bars of counts on an axis of that name, those of one row end to end, the first row on top."""
    figure = go.Figure(list(traces))
    return figure.update_layout(
        title=titled(title),
        barmode="stack",
        xaxis={"title": {"text": axis}, "fixedrange": True, "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "fixedrange": True, "ticklabelstandoff": 6},
        margin=margin(title, left=140),
        height=300,
        showlegend=False,
    )


def spans(ends: NDArray[np.float64], colour: str, hover: Sequence[str], click: str, name: str) -> go.Bar:
    """A bar in each row between the (n, 2) ends of an interval."""
    return row_bars(
        as_plain(ends[:, 1] - ends[:, 0]),
        range(len(ends)),
        colour,
        f"%{{customdata}}<extra>{click}</extra>",
        name,
        base=as_plain(ends[:, 0]),
        customdata=list(hover),
    )


def ticks(
    values: Sequence[float | None], rows: Sequence[int], size: int, line: Layout, name: str, **hover: Any
) -> go.Scatter:
    """Upright ticks at (n,) values in (n,) rows."""
    return go.Scatter(
        x=list(values),
        y=list(rows),
        mode="markers",
        marker={"symbol": "line-ns", "size": size, "line": line},
        name=name,
        **hover,
    )


def row_axis(names: Sequence[str], first: float = -0.6) -> Layout:
    """The axis of rows, one for each name, the first on top."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [shortened(name) for name in names],
        "range": [len(names) - 0.4, first],
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
        "ticklabelstandoff": 6,
    }


def row_layout(names: Sequence[str], title: str, axis: str, lowest: float, highest: float) -> Layout:
    """The layout of a row for each name, the first on top, with room for a text after the longest bar."""
    reach = max(highest - lowest, 1e-9)
    space = margin(title, left=140)
    return {
        "title": titled(title),
        "xaxis": {
            "title": {"text": axis},
            "range": [lowest - 0.05 * reach if lowest < 0 else 0, highest + 0.34 * reach],
            "fixedrange": True,
            "zeroline": True,
            "zerolinewidth": 2,
            "zerolinecolor": WHISKER,
        },
        "yaxis": row_axis(names),
        "margin": space,
        "height": space["t"] + 45 + BAR_HEIGHT * max(len(names), 2) + 10,
        "showlegend": False,
        "bargap": 0.25,
    }


def with_value_column(figure: go.Figure, texts: Sequence[str], highest: float) -> go.Figure:
    """Rows with their values in a column at the right, beyond the axis, which ends behind the `highest` value."""
    first, edge = figure.layout.xaxis.range
    last = highest + 0.02 * (edge - first)  # a bar's whisker is drawn whole
    figure.update_xaxes(range=[first, last], domain=[0, (last - first) / (edge - first)])
    column = {"x": 1, "xref": "paper", "xanchor": "right", "showarrow": False, "font": {"size": 11}}
    return figure.update_layout(annotations=[{"y": row, "text": text, **column} for row, text in enumerate(texts)])
