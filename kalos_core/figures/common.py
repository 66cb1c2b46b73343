"""What all figures share: colours, and numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import plotly.graph_objects as go

Numbers = Sequence[float | None] | NDArray[np.float64]
"""Values, None or NaN where undefined."""

Intervals = Sequence[Sequence[float | None]] | NDArray[np.float64]
"""(n, 2) values: both ends of the interval of each value."""

COLOURS = {
    "correct": "#009E73",
    "wrong_class": "#D55E00",
    "merged": "#CC79A7",
    "merged_wrong_class": "#8B3A62",
    "missing": "#0072B2",
    "additional": "#56B4E9",
}
"""One colour per variation type, everywhere; told apart by colour-blind readers (Okabe & Ito 2008)."""

RATER_COLOURS = ("#E69F00", "#117733", "#882255", "#44AA99", "#999933", "#332288", "#AA4499", "#DDCC77")
"""Colours of raters, in the order of the vocabulary, over and over; none is the colour of a variation type."""

NEUTRAL = "#8C96A3"
"""Bars of a quantity that is no variation type: a grey that reads on light and dark."""


PALE = "rgba(140, 150, 163, 0.45)"
"""`NEUTRAL`, so pale that a whisker shows on it, on light and dark."""

OWN = "#E69F00"
"""The value people came for, among others."""

WHISKER = "#7A8594"
"""Intervals, and lines that mark a value."""

BAR_HEIGHT = 22
"""Pixels of one bar that lies on its side, with the gap to the next."""


def significant(value: float | None, digits: int = 3) -> str:
    """A number with three significant digits, "undefined" for None and NaN.

    Examples
    --------
    >>> significant(0.68888), significant(-0.05), significant(1.0), significant(None)
    ('0.689', '-0.0500', '1.00', 'undefined')
    """
    return "undefined" if value is None or np.isnan(value) else f"{value:#.{digits}g}".rstrip(".")


def with_interval(value: float | None, interval: Numbers) -> str:
    """A number with its interval, as far as there is one.

    Examples
    --------
    >>> with_interval(0.689, [0.634, 0.745]), with_interval(0.689, [None, None])
    ('0.689 [0.634, 0.745]', '0.689')
    """
    low, high = interval
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return significant(value)
    return f"{significant(value)} [{significant(low)}, {significant(high)}]"


def signed(value: float | None, digits: int = 3) -> str:
    """A difference with its sign.

    Examples
    --------
    >>> signed(0.0412), signed(-0.02), signed(0.0), signed(None)
    ('+0.0412', '-0.0200', '0.00', 'undefined')
    """
    text = significant(value, digits)
    return f"+{text}" if value is not None and value > 0 else text


def as_numbers(values: Numbers) -> NDArray[np.float64]:
    """Values as an array, NaN where undefined.

    Examples
    --------
    >>> as_numbers([0.5, None]).tolist()
    [0.5, nan]
    """
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


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
    return np.array([as_numbers(interval) for interval in intervals], dtype=np.float64).reshape(count, 2)


def whiskers(values: NDArray[np.float64], intervals: NDArray[np.float64]) -> dict[str, Any]:
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
    """Least and largest of what is drawn on an axis of alphas, from 0 or below to at most 1.

    Examples
    --------
    >>> value_range(np.array([0.3, np.nan])), value_range(np.array([-0.25, 0.9]))
    ((0.0, 0.3), (-0.25, 0.9))
    """
    drawn = np.concatenate([part.ravel() for part in values])
    drawn = drawn[np.isfinite(drawn)]
    return min(0.0, *drawn.tolist(), 0.0), max(0.0, *drawn.tolist(), 0.0)


def shortened(name: str, length: int = 18) -> str:
    """A name that leaves room for the figure beside it.

    Examples
    --------
    >>> shortened("lighthouse"), shortened("a class whose name is a sentence", 10)
    ('lighthouse', 'a class w…')
    """
    return name if len(name) <= length else f"{name[: length - 1].rstrip()}…"


def lying_bars(
    names: Sequence[str], title: str, axis: str, lowest: float, highest: float, *, first: str = ""
) -> dict[str, Any]:
    """The layout of bars that lie on their side, the first on top, with room for a text after the longest one."""
    reach = max(highest - lowest, 1e-9)
    return {
        "title": {"text": title, "font": {"size": 14}},
        "xaxis": {
            "title": {"text": axis},
            "range": [lowest - 0.05 * reach if lowest < 0 else 0, highest + 0.34 * reach],
            "fixedrange": True,
            "zeroline": True,
            "zerolinewidth": 2,
            "zerolinecolor": WHISKER,
        },
        "yaxis": {
            "title": {"text": first},
            "tickmode": "array",
            "tickvals": list(range(len(names))),
            "ticktext": [shortened(name) for name in names],
            "range": [len(names) - 0.4, -0.6],
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "ticklabelstandoff": 6,
        },
        "margin": {"t": 40 if title else 10, "b": 45, "l": 140, "r": 10},
        "height": (40 if title else 10) + 45 + BAR_HEIGHT * max(len(names), 2) + 10,
        "showlegend": False,
        "bargap": 0.25,
    }


def with_value_column(figure: go.Figure, texts: Sequence[str]) -> go.Figure:
    """Bars that lie on their side with their values in a column at the right, clear of bars and whiskers."""
    edge = figure.layout.xaxis.range[1]
    column = {"x": edge, "xanchor": "right", "showarrow": False, "font": {"size": 11}}
    figure.update_layout(annotations=[{"y": row, "text": text, **column} for row, text in enumerate(texts)])
    return figure
