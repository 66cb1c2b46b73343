"""The figure of modified mAP of every ordered pair of raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.figures.common import Numbers, as_numbers, as_plain, shortened

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_WRITTEN = 12
"""More raters than these leave no room for a number in each cell."""


def directions_title(raters: Sequence[str], matrix: Sequence[Numbers] | NDArray[np.float64]) -> str:
    """Which rater's labels are the worst guess of which other's, in one line.

    Examples
    --------
    >>> directions_title(["ann", "bob"], [[None, 0.4], [0.5, None]])
    'Lowest: 40.0 mAP for bob as detections of ann'
    """
    values = _table(raters, matrix)
    if not np.isfinite(values).any():
        return "No two raters can be compared"
    truth, found = divmod(int(np.nanargmin(values)), len(raters))
    return f"Lowest: {100 * values[truth, found]:.1f} mAP for {raters[found]} as detections of {raters[truth]}"


def directions_heatmap(
    raters: Sequence[str], matrix: Sequence[Numbers] | NDArray[np.float64], title: str = ""
) -> go.Figure:
    """Modified mAP with the rater of the row as ground truth and the rater of the column as detections.

    Parameters
    ----------
    raters : (R,) str
    matrix : (R, R) mAP in [0, 1], None or NaN where undefined
    title : str
    """
    import plotly.graph_objects as go

    values = 100 * _table(raters, matrix)
    names = [shortened(name) for name in raters]
    few = len(raters) <= MOST_WRITTEN
    heat = go.Heatmap(
        z=[as_plain(row) for row in values],
        x=list(range(len(raters))),
        y=list(range(len(raters))),
        colorscale="Viridis",
        texttemplate="%{z:.1f}" if few else None,
        customdata=[[f"{found} as detections of {truth}" for found in raters] for truth in raters],
        hovertemplate="%{customdata}: %{z:.2f} mAP<extra></extra>",
        colorbar={"title": {"text": "mAP"}},
        hoverongaps=False,
    )
    figure = go.Figure(heat)
    ticks = {"tickvals": list(range(len(raters))), "ticktext": names, "fixedrange": True, "showgrid": False}
    figure.update_layout(
        title={"text": title, "font": {"size": 14}},
        xaxis={**ticks, "title": {"text": "detections"}, "zeroline": False},
        yaxis={**ticks, "title": {"text": "ground truth", "standoff": 20}, "zeroline": False, "autorange": "reversed"},
        margin={"t": 40 if title else 10, "b": 60, "l": 140, "r": 10},
        height=min(140 + 60 * len(raters), 620),
    )
    return figure


def _table(raters: Sequence[str], matrix: Sequence[Numbers] | NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([as_numbers(row) for row in matrix]).reshape(len(raters), len(raters))
