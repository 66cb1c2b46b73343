"""Horizontal bar plots with one row for each name, and values in a column on the right."""

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
"""Height of a row in pixels, including the gap to the next."""

LEGEND = 55
"""Height in pixels of a legend above rows, which may take several lines in a narrow panel."""


def row_bars(
    lengths: Sequence[float | None],
    rows: Sequence[int] | Sequence[str],
    colours: str | Sequence[str],
    hover: str,
    name: str,
    **more: Any,
) -> go.Bar:
    """Create horizontal bars of lengths (n,) in rows (n,), with a plotly template for the hover text."""
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
    """Plot a bar for each name, first on top, with its interval, and its value in a column on the right.

    Parameters
    ----------
    names : (n,) str
    values : (n,) None or NaN where undefined
    intervals : (n, 2), optional
    axis, name : str
        Axis title and name of the trace.
    title : str
    what, digits, after
        Hover text: prefix of a value, its decimals, and suffixes (n,).
    hover : (n,) str, optional
        Hover texts after the names, instead of values with intervals.
    texts : (n,) str, optional
        Texts of the column, instead of the values.
    colours : str or (n,) str
    opacity : float or (n,), optional
    click : str
        Effect of a click on a bar.
    room : float
        Share of the axis reserved for texts longer than a number.
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
    """Return hover text suffixes with the number of items behind each value."""
    return None if counts is None else [f", {number_of(count, what)}" for count in counts]


def dotted_rows(
    names: Sequence[str],
    dots: Sequence[go.Scatter],
    title: str,
    axis: str,
    ends: tuple[float, float],
    legend_on_top: bool = True,
) -> go.Figure:
    """Plot a row for each name, first on top, with one dot for each trace, and a legend."""
    figure = go.Figure(list(dots), layout=row_layout(names, title, axis, *ends))
    height, space = figure.layout.height, figure.layout.margin
    if legend_on_top:
        legend = {"orientation": "h", "y": 1, "yanchor": "bottom", "x": 0}
        figure.update_layout(legend=legend, margin_t=space.t + LEGEND, height=height + LEGEND)
    else:
        figure.update_layout(legend=LEGEND_AT_BOTTOM, margin_b=space.b + 30, height=height + 30)
    return figure.update_layout(showlegend=True)


def count_bars(traces: Sequence[go.Bar], axis: str, title: str = "") -> go.Figure:
    """Plot stacked bars of counts, first row on top."""
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
    """Create a bar in each row between the ends of an interval (n, 2)."""
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
    """Create vertical ticks at values (n,) in rows (n,)."""
    return points(values, rows, "", name, texts=texts, marker={"symbol": "line-ns", "size": size, "line": line})


def row_axis(names: Sequence[str], first: float = -0.6) -> Layout:
    """Axis of rows, one for each name, first on top."""
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
    """Layout with a row for each name, first on top, and room for a text after the longest bar."""
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
    """Add a column of values on the right; the axis ends just beyond the `highest` value."""
    first, edge = figure.layout.xaxis.range
    last = highest + 0.02 * (edge - first)  # leaves room for the cap of an error bar
    figure.update_xaxes(range=[first, last], domain=[0, (last - first) / (edge - first)])
    column = {"x": 1, "xref": "paper", "xanchor": "right", "showarrow": False, "font": {"size": 11}}
    return figure.update_layout(annotations=[{"y": row, "text": text, **column} for row, text in enumerate(texts)])
