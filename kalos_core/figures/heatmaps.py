"""Heatmap of a quantity for every two names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import alpha_text
from kalos_core.figures.common import Layout, as_plain, margin, shortened, titled
from kalos_core.figures.late import go
from kalos_core.text import names_shown

LIGHT = 0.45
"""Share of the colour scale from which black text is more readable than white."""

MOST_VALUES_WRITTEN = 7
"""Maximum number of names for which values are written in the cells; otherwise only in the hover text."""


def square_heatmap(
    names: Sequence[str], values: NDArray[np.float64], quantity: str, title: str = "", below: str = "", digits: int = 2
) -> go.Figure:
    """Plot a heatmap of a number for every two of n names; NaN cells stay empty.

    Parameters
    ----------
    names : (n,) str
    values : (n, n)
    quantity : str
        Name of the quantity.
    title : str
    below : str
        Name of the quantity below the diagonal, if different.
    digits : int
        Decimals.
    """
    names = names_shown(names)
    texts = [["" if np.isnan(value) else alpha_text(value, digits) for value in row] for row in values]
    hover = [
        [
            f"<b>{a}</b> and <b>{b}</b>: {below if below and x < y else quantity} {text}" if text else ""
            for x, (b, text) in enumerate(zip(names, row, strict=True))
        ]
        for y, (a, row) in enumerate(zip(names, texts, strict=True))
    ]
    note = f"above the diagonal: {quantity}<br>below: {below}" if below else ""
    low, high = _scale(values)
    ticks = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": [shortened(n, 12) for n in names]}
    figure = go.Figure(
        go.Heatmap(
            x=list(range(len(names))),
            y=list(range(len(names))),
            z=[as_plain(row) for row in values],
            zmin=low,
            zmax=high,
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=False,
            colorscale="Cividis",
            colorbar={
                "title": {"text": "" if below else quantity, "side": "right"},
                "thickness": 12,
                "len": 1,
                "outlinewidth": 0,
            },
            xgap=2,
            ygap=2,
            name=quantity,
        )
    )
    size = max(36, min(56, 400 // max(len(names), 1)))
    space = margin(title, left=110, bottom=60)
    figure.update_layout(
        title=titled(title),
        xaxis={
            "title": {"text": note, "font": {"size": 12}},
            "side": "bottom",
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            **ticks,
        },
        yaxis={"autorange": "reversed", "fixedrange": True, "showgrid": False, "zeroline": False, **ticks}
        | {"ticklabelstandoff": 6},
        margin=space,
        height=space["t"] + 60 + max(size * len(names), 120),
        annotations=_cell_texts(values, texts, low, high) if len(names) <= MOST_VALUES_WRITTEN else [],
    )
    return figure


def _cell_texts(values: NDArray[np.float64], texts: Sequence[Sequence[str]], low: float, high: float) -> list[Layout]:
    """Cell texts, white on the dark half of the colour scale and black on the light one."""
    return [
        {"x": x, "y": y, "text": texts[y][x], "showarrow": False}
        | {
            "font": {
                "size": 12 if len(values) < 6 else 10,
                "color": "white" if values[y, x] < low + LIGHT * (high - low) else "black",
            }
        }
        for y, x in np.argwhere(np.isfinite(values)).tolist()
    ]


def _scale(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of the colour scale in tenths, so that similar runs share colours."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    low, high = np.floor(known.min() * 10) / 10, np.ceil(known.max() * 10) / 10
    return (float(low), float(high)) if high > low else (float(low) - 0.1, float(high))
