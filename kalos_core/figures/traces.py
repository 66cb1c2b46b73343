"""Builders for each form of plot: curves, points, bands and histograms, with hover texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kalos_core.figures.common import NEUTRAL, Layout, as_numbers, as_plain
from kalos_core.figures.late import go

Values: TypeAlias = Sequence[Any] | NDArray[Any]
"""Numbers (None or NaN where undefined) or names."""

NO_NAME = "<extra></extra>"
"""Hides the name of a trace in its hover text."""


def curve(
    x: Values,
    y: Values,
    colour: str,
    name: str | None = None,
    hover: str = "",
    *,
    texts: Sequence[Any] | None = None,
    width: float | None = 2,
    dash: str | None = None,
    extra: str = NO_NAME,
    **more: Any,
) -> go.Scatter:
    """Create a line through points (n,), with gaps where y is undefined.

    Parameters
    ----------
    x, y : (n,)
    colour : str
    name : str, optional
    hover : str
        Template of the hover text; no hover text without it and without `texts`.
    texts : (n,), optional
        Custom data for the template, or the hover text itself without a template.
    width : float, optional
    dash : str, optional
    extra : str
        Text that plotly shows next to the hover text.
    **more
        Further properties of the trace.
    """
    line = {"color": colour, "width": width, "dash": dash}
    given = {"mode": "lines", "line": line, "name": name, **_hover(hover, texts, extra), **more}
    return go.Scatter(x=np.asarray(x).tolist(), y=as_plain(as_numbers(y)), **given)


def points(
    x: Values,
    y: Values,
    colour: str | Sequence[str],
    name: str | None = None,
    hover: str = "",
    *,
    texts: Sequence[Any] | None = None,
    size: float | Sequence[float] = 10,
    symbol: str | Sequence[str] | None = None,
    **more: Any,
) -> go.Scatter:
    """Create markers at points (n,); `hover` and `texts` as in `curve`."""
    marker = {"color": colour, "size": size, "symbol": symbol}
    given = {"mode": "markers", "marker": marker, "name": name, **_hover(hover, texts, NO_NAME), **more}
    return go.Scatter(x=as_plain(as_numbers(x)), y=np.asarray(y).tolist(), **given)


def interval_band(x: NDArray[Any], ends: NDArray[np.float64], colour: str, name: str, **more: Any) -> go.Scatter:
    """Create a band of intervals (n, 2) at positions (n,) as one closed outline, without undefined ones."""
    known = np.isfinite(ends).all(axis=1) & np.isfinite(x)
    there = x[known].tolist()
    given = {"fill": "toself", "fillcolor": colour, "line": {"width": 0}, "mode": "lines", "hoverinfo": "skip", **more}
    return go.Scatter(
        x=there + there[::-1], y=[*ends[known, 1].tolist(), *ends[known, 0].tolist()[::-1]], name=name, **given
    )


def histogram(
    edges: NDArray[np.float64],
    heights: Values,
    hover: str,
    texts: Sequence[Any],
    name: str | None = None,
    *,
    colour: str = NEUTRAL,
    share: float = 1.0,
    **more: Any,
) -> go.Bar:
    """Create bars of heights (n,) between edges (n + 1,); `share` is their width relative to the bins."""
    return go.Bar(
        x=((edges[:-1] + edges[1:]) / 2).tolist(),
        y=np.asarray(heights).tolist(),
        width=(share * np.diff(edges)).tolist(),
        marker={"color": colour},
        name=name,
        **_hover(hover, texts, NO_NAME),
        **more,
    )


def _hover(template: str, texts: Sequence[Any] | None, extra: str) -> Layout:
    if not template and texts is None:
        return {"hoverinfo": "skip"}
    template = template or "%{customdata}"
    customdata = None if texts is None else list(texts)
    return {"customdata": customdata, "hovertemplate": template if "<extra>" in template else template + extra}
