"""What all figures share: colours, values as plotly takes them, and the frame around a plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import Numbers
from kalos_core.figures.late import go
from kalos_core.text import shown

Intervals = Sequence[Sequence[float | None]] | NDArray[np.float64]
"""(n, 2) values: both ends of the interval of each value."""

Matrix = Sequence[Numbers] | NDArray[np.float64]
"""(n, m) values, None or NaN where undefined."""

Layout = dict[str, Any]
"""A part of a plotly layout or trace, as plotly's own nested names."""

COLOURS = {
    "correct": "#009E73",
    "wrong_class": "#D55E00",
    "merged": "#CC79A7",
    "merged_wrong_class": "#8B3A62",
    "missing": "#0072B2",
    "additional": "#56B4E9",
}
"""One colour per variation type, everywhere; told apart by colour-blind readers (Okabe & Ito 2008)."""

NEUTRAL = "#8C96A3"
"""Bars of a quantity that is no variation type: a grey that reads on light and dark."""

PALE = "rgba(140, 150, 163, 0.45)"
"""`NEUTRAL`, so pale that a whisker shows on it, on light and dark."""

OWN = "#E69F00"
"""The user's own value among others."""

WHISKER = "#7A8594"
"""Intervals, and lines that mark a value."""

TITLE_HEIGHT = 40
"""Pixels above a plot with a title; one without has 10."""

LEGEND_BELOW: Layout = {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0, "font": {"size": 11}}
"""A legend under the name of the x axis."""

LEGEND_AT_BOTTOM: Layout = LEGEND_BELOW | {"yref": "container", "y": 0, "yanchor": "bottom"}
"""A legend at the lower edge of the figure, however high the plot is."""

LEGEND_ROW = 19
"""Pixels of a row of a legend; two entries share one in the narrowest panel."""

UPRIGHT: Layout = {"type": "line", "xref": "x", "yref": "paper", "y0": 0, "y1": 1}
"""A line from the lower to the upper edge of a plot."""

NOTE: Layout = {"xref": "x", "yref": "paper", "showarrow": False, "font": {"size": 11}}
"""A text at a place of the x axis."""


def as_numbers(values: Numbers) -> NDArray[np.float64]:
    """Values as an array, NaN where undefined.

    Examples
    --------
    >>> as_numbers([0.5, None]).tolist()
    [0.5, nan]
    """
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def as_matrix(rows: Matrix) -> NDArray[np.float64]:
    """Rows of values as an array (n, m), NaN where undefined; (0, 0) without rows.

    Examples
    --------
    >>> as_matrix([[None, 0.5], [0.5, None]]).tolist(), as_matrix([]).shape
    ([[nan, 0.5], [0.5, nan]], (0, 0))
    """
    return np.array([as_numbers(row) for row in rows], dtype=np.float64).reshape(len(rows), -1 if len(rows) else 0)


def as_plain(values: NDArray[np.float64]) -> list[float | None]:
    """Values as a figure takes them: JSON knows no NaN.

    Examples
    --------
    >>> as_plain(np.array([0.5, np.nan]))
    [0.5, None]
    """
    return [None if np.isnan(value) else value for value in values.tolist()]


def as_intervals(intervals: Intervals | None, count: int) -> NDArray[np.float64]:
    """Intervals as an array (count, 2), NaN where there is none.

    Examples
    --------
    >>> as_intervals([[0.1, 0.2], [None, None]], 2).tolist(), as_intervals(None, 1).tolist()
    ([[0.1, 0.2], [nan, nan]], [[nan, nan]])
    """
    if intervals is None:
        return np.full((count, 2), np.nan)
    return as_matrix(intervals).reshape(count, 2)


def extremes(values: NDArray[np.float64]) -> tuple[int, int] | None:
    """Places of the highest and the lowest value; None where all are undefined.

    Examples
    --------
    >>> extremes(np.array([np.nan, 0.5, 0.9])), extremes(np.array([np.nan]))
    ((2, 1), None)
    """
    return (int(np.nanargmax(values)), int(np.nanargmin(values))) if np.isfinite(values).any() else None


def pairs_of(matrix: Matrix) -> NDArray[np.float64]:
    """The values of every two rows of a symmetric matrix, once, in the order of `numpy.triu_indices`."""
    values = as_matrix(matrix)
    return values[np.triu_indices(len(values), 1)]


def pair_names(names: Sequence[str], place: int) -> str:
    """The two names of a place of `pairs_of`.

    Examples
    --------
    >>> pair_names(["ann", "bob", "cid"], 2)
    'bob and cid'
    """
    first, second = (int(codes[place]) for codes in np.triu_indices(len(names), 1))
    return f"{names[first]} and {names[second]}"


def whiskers(values: NDArray[np.float64], intervals: NDArray[np.float64]) -> Layout:
    """Error bars of plotly: how far (count, 2) intervals reach to both sides of (count,) values."""
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
    """Least and largest of the values on an axis of alphas, from 0 or below to at most 1.

    Examples
    --------
    >>> value_range(np.array([0.3, np.nan])), value_range(np.array([-0.25, 0.9]))
    ((0.0, 0.3), (-0.25, 0.9))
    """
    known = np.concatenate([part.ravel() for part in values])
    known = known[np.isfinite(known)]
    return min(0.0, *known.tolist(), 0.0), max(0.0, *known.tolist(), 0.0)


def shortened(name: str, length: int = 18) -> str:
    """A name from data that leaves room for the plot next to it, as `kalos_core.text.shown`.

    Examples
    --------
    >>> shortened("lighthouse"), shortened("a class whose name is a sentence", 10)
    ('lighthouse', 'a class w…')
    """
    return shown(name, length)


def upright(at: float, colour: str, width: float = 2, dash: str | None = None) -> Layout:
    """A line from the lower to the upper edge of a plot."""
    return {**UPRIGHT, "x0": at, "x1": at, "line": {"color": colour, "width": width, "dash": dash}}


def stripe(low: float, high: float, colour: str) -> Layout:
    """A stripe behind a plot, from its lower to its upper edge."""
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
    """The title of a figure."""
    return {"text": text, "font": {"size": 14}}


def margin(title: str, *, left: int = 60, bottom: int = 45) -> Layout:
    """Pixels around a plot, with room above for a title where there is one."""
    return {"t": TITLE_HEIGHT if title else 10, "b": bottom, "l": left, "r": 10}


def untitled(figure: go.Figure) -> tuple[str, go.Figure]:
    """The title of a figure, and the figure without it and without the room for it."""
    title = figure.layout.title.text or ""
    if title:
        figure.update_layout(title=None, margin={"t": figure.layout.margin.t + margin("")["t"] - TITLE_HEIGHT})
    return title, figure


def with_legend_below(figure: go.Figure, entries: int, title: str = "") -> go.Figure:
    """A figure with a legend under its plot, which keeps its size however many entries there are."""
    height = LEGEND_ROW * ((entries + 1) // 2) + 18  # between it and the title of the axis
    return figure.update_layout(
        height=figure.layout.height + height,
        margin_b=figure.layout.margin.b + height,
        legend=LEGEND_AT_BOTTOM | {"title": {"text": title}},
        showlegend=True,  # the App draws none by default
    )


def framed(traces: Sequence[go.Figure], title: str, x: str, y: str, height: int, **layout: Any) -> go.Figure:
    """Traces with a title and named axes that cannot be zoomed; `layout` adds to this frame."""
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
