"""Shared parts of all figures: colours, conversion of values for plotly, and the frame of a plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import Numbers
from kalos_core.figures.late import go
from kalos_core.text import shown

Intervals = Sequence[Sequence[float | None]] | NDArray[np.float64]
"""(n, 2) ends of the interval of each value."""

Matrix = Sequence[Numbers] | NDArray[np.float64]
"""(n, m) values, None or NaN where undefined."""

Layout = dict[str, Any]
"""Part of a plotly layout or trace, with plotly's nested names."""

COLOURS = {
    "correct": "#009E73",
    "wrong_class": "#D55E00",
    "merged": "#CC79A7",
    "merged_wrong_class": "#8B3A62",
    "missing": "#0072B2",
    "additional": "#56B4E9",
}
"""Colours of the variation types, used everywhere; safe for colour-blind readers (Okabe & Ito 2008)."""

NEUTRAL = "#8C96A3"
"""Colour of quantities other than variation types: a grey that is visible on light and dark."""

PALE = "rgba(140, 150, 163, 0.45)"
"""Pale version of `NEUTRAL`, on which error bars are visible on light and dark."""

OWN = "#E69F00"
"""Colour of the user's own value among others."""

WHISKER = "#7A8594"
"""Colour of intervals, and of lines that mark a value."""

TITLE_HEIGHT = 40
"""Height of a title in pixels; a plot without one has a margin of 10."""

LEGEND_BELOW: Layout = {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0, "font": {"size": 11}}
"""Legend below the title of the x axis."""

LEGEND_AT_BOTTOM: Layout = LEGEND_BELOW | {"yref": "container", "y": 0, "yanchor": "bottom"}
"""Legend at the lower edge of the figure, independent of the plot height."""

LEGEND_ROW = 19
"""Height of a legend row in pixels; in the narrowest panel it holds two entries."""

UPRIGHT: Layout = {"type": "line", "xref": "x", "yref": "paper", "y0": 0, "y1": 1}
"""Vertical line over the full height of a plot."""

NOTE: Layout = {"xref": "x", "yref": "paper", "showarrow": False, "font": {"size": 11}}
"""Text at a position on the x axis."""


def as_numbers(values: Numbers) -> NDArray[np.float64]:
    """Convert values to an array, NaN where undefined.

    Examples
    --------
    >>> as_numbers([0.5, None]).tolist()
    [0.5, nan]
    """
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def as_matrix(rows: Matrix) -> NDArray[np.float64]:
    """Convert rows of values to an array (n, m), NaN where undefined; (0, 0) without rows.

    Examples
    --------
    >>> as_matrix([[None, 0.5], [0.5, None]]).tolist(), as_matrix([]).shape
    ([[nan, 0.5], [0.5, nan]], (0, 0))
    """
    return np.array([as_numbers(row) for row in rows], dtype=np.float64).reshape(len(rows), -1 if len(rows) else 0)


def as_plain(values: NDArray[np.float64]) -> list[float | None]:
    """Convert an array to values for plotly, with None for NaN, which JSON does not have.

    Examples
    --------
    >>> as_plain(np.array([0.5, np.nan]))
    [0.5, None]
    """
    return [None if np.isnan(value) else value for value in values.tolist()]


def as_intervals(intervals: Intervals | None, count: int) -> NDArray[np.float64]:
    """Convert intervals to an array (count, 2), NaN where undefined.

    Examples
    --------
    >>> as_intervals([[0.1, 0.2], [None, None]], 2).tolist(), as_intervals(None, 1).tolist()
    ([[0.1, 0.2], [nan, nan]], [[nan, nan]])
    """
    if intervals is None:
        return np.full((count, 2), np.nan)
    return as_matrix(intervals).reshape(count, 2)


def extremes(values: NDArray[np.float64]) -> tuple[int, int] | None:
    """Return the indices of the highest and the lowest value; None if all are undefined.

    Examples
    --------
    >>> extremes(np.array([np.nan, 0.5, 0.9])), extremes(np.array([np.nan]))
    ((2, 1), None)
    """
    return (int(np.nanargmax(values)), int(np.nanargmin(values))) if np.isfinite(values).any() else None


def pairs_of(matrix: Matrix) -> NDArray[np.float64]:
    """Return the values of every two rows of a symmetric matrix, in the order of `numpy.triu_indices`."""
    values = as_matrix(matrix)
    return values[np.triu_indices(len(values), 1)]


def pair_names(names: Sequence[str], place: int) -> str:
    """Return the two names for an index of `pairs_of`.

    Examples
    --------
    >>> pair_names(["ann", "bob", "cid"], 2)
    'bob and cid'
    """
    first, second = (int(codes[place]) for codes in np.triu_indices(len(names), 1))
    return f"{names[first]} and {names[second]}"


def whiskers(values: NDArray[np.float64], intervals: NDArray[np.float64]) -> Layout:
    """Return plotly error bars for values (count,) with intervals (count, 2)."""
    return {
        "type": "data",
        "symmetric": False,
        "array": np.nan_to_num(intervals[:, 1] - values).tolist(),
        "arrayminus": np.nan_to_num(values - intervals[:, 0]).tolist(),
        "color": WHISKER,
        "thickness": 1.5,
        "width": 4,
    }


def value_range(*values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the least and largest value for an axis of alphas; the range includes 0.

    Examples
    --------
    >>> value_range(np.array([0.3, np.nan])), value_range(np.array([-0.25, 0.9]))
    ((0.0, 0.3), (-0.25, 0.9))
    """
    known = np.concatenate([part.ravel() for part in values])
    known = known[np.isfinite(known)]
    return min(0.0, *known.tolist(), 0.0), max(0.0, *known.tolist(), 0.0)


def shortened(name: str, length: int = 18) -> str:
    """Shorten a name from data to leave room for the plot; see `kalos_core.text.shown`.

    Examples
    --------
    >>> shortened("lighthouse"), shortened("a class whose name is a sentence", 10)
    ('lighthouse', 'a class w…')
    """
    return shown(name, length)


def upright(at: float, colour: str, width: float = 2, dash: str | None = None) -> Layout:
    """Create a vertical line over the full height of a plot."""
    return {**UPRIGHT, "x0": at, "x1": at, "line": {"color": colour, "width": width, "dash": dash}}


def stripe(low: float, high: float, colour: str) -> Layout:
    """Create a vertical stripe behind a plot."""
    return {
        **UPRIGHT,
        "type": "rect",
        "x0": low,
        "x1": high,
        "layer": "below",
        "line": {"width": 0},
        "fillcolor": colour,
    }


def titled(text: str) -> Layout:
    """Create the title of a figure."""
    return {"text": text, "font": {"size": 14}}


def margin(title: str, *, left: int = 60, bottom: int = 45) -> Layout:
    """Return the margins of a plot in pixels, with room for a title if there is one."""
    return {"t": TITLE_HEIGHT if title else 10, "b": bottom, "l": left, "r": 10}


def untitled(figure: go.Figure) -> tuple[str, go.Figure]:
    """Return the title of a figure, and the figure without it and its room."""
    title = figure.layout.title.text or ""
    if title:
        figure.update_layout(title=None, margin={"t": figure.layout.margin.t + margin("")["t"] - TITLE_HEIGHT})
    return title, figure


def with_legend_below(figure: go.Figure, entries: int, title: str = "") -> go.Figure:
    """Add a legend below the plot, without changing the size of the plot."""
    height = LEGEND_ROW * ((entries + 1) // 2) + 18  # between the legend and the title of the axis
    return figure.update_layout(
        height=figure.layout.height + height,
        margin_b=figure.layout.margin.b + height,
        legend=LEGEND_AT_BOTTOM | {"title": {"text": title}},
        showlegend=True,  # the App hides it by default
    )


def framed(traces: Sequence[go.Figure], title: str, x: str, y: str, height: int, **layout: Any) -> go.Figure:
    """Frame traces with a title and axes that cannot be zoomed; `layout` extends the frame."""
    figure = go.Figure(list(traces))
    figure.update_layout(
        title=titled(title),
        xaxis={"title": {"text": x}, "fixedrange": True},
        yaxis={"title": {"text": y}, "fixedrange": True},
        margin=margin(title),
        height=height,
        showlegend=False,
    )
    return figure.update_layout(**layout)
