"""Plots of one row for each name: bars that lie on their side, with their values in a column at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import Numbers, alpha_text, number_of, with_interval
from kalos_core.figures.common import (
    LEGEND_AT_BOTTOM,
    NEUTRAL,
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
from kalos_core.figures.late import go
from kalos_core.figures.traces import points
from kalos_core.text import names_shown

BAR_HEIGHT = 22
"""Pixels of one row, with the gap to the next."""

LEGEND = 55
"""Pixels above rows for the names of what is shown, in several lines where the panel is narrow."""


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
    intervals: Intervals | None = None,
    *,
    axis: str,
    name: str,
    title: str = "",
    what: str = "",
    digits: int | None = None,
    after: Sequence[str] | None = None,
    hover: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    colours: str | Sequence[str] = NEUTRAL,
    opacity: float | Sequence[float] | None = None,
    click: str = "",
    room: float = 0.0,
) -> go.Figure:
    """A bar for each name, the first on top, with its interval, and its value in a column at the right.

    Parameters
    ----------
    names : (n,) str
    values : (n,) None or NaN where undefined
    intervals : (n, 2), optional
    axis, name : str
        What the values are, and what the trace is called.
    title : str
    what, digits, after
        Of the hover text: what stands before a value, its decimals, and (n,) texts behind it.
    hover : (n,) str, optional
        Behind the names in the hover text, in place of the values with their intervals.
    texts : (n,) str, optional
        In the column, in place of the values.
    colours : str or (n,) str
    opacity : float or (n,), optional
    click : str
        What a click on a bar does.
    room : float
        Share of the axis that texts longer than a number need.
    """
    numbers, ends = as_numbers(values), as_intervals(intervals, len(names))
    if hover is None:
        hover = [f"{what}{with_interval(*found, digits)}" for found in zip(numbers, ends, strict=True)]
    rows = zip(names_shown(names), hover, after or [""] * len(names), strict=True)
    bars = row_bars(
        as_plain(numbers),
        range(len(names)),
        colours,
        f"%{{customdata}}<extra>{click}</extra>",
        name,
        customdata=[f"<b>{row}</b>: {text}{more}" for row, text, more in rows],
        error_x=None if intervals is None else whiskers(numbers, ends),
    )
    if opacity is not None:
        bars.marker.opacity = opacity
    low, high = value_range(numbers, ends)
    figure = go.Figure(bars, layout=row_layout(names, title, axis, low, high + room * (high - low)))
    return with_value_column(figure, texts or [alpha_text(value) for value in numbers], high)


def with_counts(counts: Sequence[int] | None, what: str) -> list[str] | None:
    """How many things stand behind each value, for the end of a hover text."""
    return None if counts is None else [f", {number_of(count, what)}" for count in counts]


def dotted_rows(
    names: Sequence[str],
    dots: Sequence[go.Scatter],
    title: str,
    axis: str,
    ends: tuple[float, float],
    legend_on_top: bool = True,
) -> go.Figure:
    """A row for each name, the first on top, with a dot of each trace in it, and a legend."""
    figure = go.Figure(list(dots), layout=row_layout(names, title, axis, *ends))
    height, space = figure.layout.height, figure.layout.margin
    if legend_on_top:
        legend = {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0}
        figure.update_layout(legend=legend, margin_t=space.t + LEGEND, height=height + LEGEND)
    else:
        figure.update_layout(legend=LEGEND_AT_BOTTOM, margin_b=space.b + 30, height=height + 30)
    return figure.update_layout(showlegend=True)


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
    values: Numbers, rows: Sequence[int], size: int, line: Layout, name: str, texts: Sequence[str] | None = None
) -> go.Scatter:
    """Upright ticks at (n,) values in (n,) rows."""
    return points(values, rows, "", name, texts=texts, marker={"symbol": "line-ns", "size": size, "line": line})


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
