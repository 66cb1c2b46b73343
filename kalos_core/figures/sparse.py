"""Plots of sparse agreement: convergence with incoming annotations, and the effect of fewer annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import Numbers, alpha_text, number_of, rater_colour, with_interval
from kalos_core.figures.common import (
    LEGEND_BELOW,
    NEUTRAL,
    OWN,
    PALE,
    WHISKER,
    Intervals,
    as_intervals,
    as_numbers,
    as_plain,
    framed,
)
from kalos_core.figures.late import go
from kalos_core.figures.traces import curve, interval_band, points
from kalos_core.options import checked
from kalos_core.sparse import Independence, RemovalExperiment, RunningCurve
from kalos_core.sparse.independence import SUSPECT

SPA_COLOUR, ALPHA_COLOUR = OWN, "#0072B2"
"""Colours of agreement without and with correction for chance."""


def running_title(annotations: Sequence[int], spa: Numbers, interval: Intervals, narrow_from: int | None) -> str:
    r"""Summarise a running curve in one line.

    Examples
    --------
    >>> running_title([100, 200], [0.7, 0.71], [[0.6, 0.8], [0.66, 0.76]], 1)
    'Agreement 0.71\xa0[0.66,\xa00.76] after 200 annotations; narrow enough from 200 on'
    """
    values = as_numbers(spa)
    if not len(values) or np.isnan(values[-1]):
        return "No item has two annotations yet"
    now = with_interval(values[-1], as_intervals(interval, len(values))[-1])
    text = f"Agreement {now} after {number_of(annotations[-1], 'annotation')}"
    return text if narrow_from is None else f"{text}; narrow enough from {annotations[narrow_from]:,} on"


@checked
def plot_running(result: RunningCurve, width: float | None = None) -> go.Figure:
    """Plot sparse agreement and alpha by number of annotations, with their intervals as bands.

    A dotted line marks where the interval becomes narrower than `width`.
    """
    x, step = result.annotations, None if width is None else result.narrow_from(width)
    lines = []
    for name, values, ends, colour in (
        ("probability of agreement", result.spa, result.spa_interval, SPA_COLOUR),
        ("alpha", result.alpha, result.alpha_interval, ALPHA_COLOUR),
    ):
        texts = [with_interval(value, pair) for value, pair in zip(values, ends, strict=True)]
        lines += [
            interval_band(x, ends, PALE, name, legendgroup=name, showlegend=False),
            curve(x, values, colour, name, texts=texts, extra="", legendgroup=name),
        ]
    title = running_title(x.tolist(), result.spa, result.spa_interval, step)
    if width is not None and step is None:
        title += f"; the interval is not yet narrower than {width:g}"
    figure = _curves(lines, "annotations so far", "agreement", title).update_layout(hovermode="x unified")
    if step is not None:
        figure.add_vline(x=int(x[step]), line={"width": 2, "dash": "dot", "color": WHISKER})
    return figure


@checked
def plot_removal(result: RemovalExperiment) -> go.Figure:
    """Plot variance of sparse agreement by annotations, removed at random and in equal numbers per item (Figure 6)."""
    curves = [
        _variances(items * number, variance, rater_colour(row), f"{number} per item")
        for row, (number, items, variance) in enumerate(
            zip(result.per_item, result.items, result.per_item_variance, strict=True)
        )
    ]
    shown = result.weights.index("flat") if "flat" in result.weights else 0
    name = f"any number, {result.weights[shown]}"
    any_number = _variances(result.annotations, result.variance[shown], NEUTRAL, name, width=3, dash="dash")
    gap = float(np.nanmax(np.abs(result.mean[shown] - result.full[shown])))
    title = f"Fewer annotations, more variance; the mean stays within {alpha_text(gap)}"
    return _curves([*curves, any_number], "annotations in usable items", "variance", title).update_yaxes(type="log")


@checked
def plot_weights(result: RemovalExperiment) -> go.Figure:
    """Plot variance under each weight minus that under equal weights (Figure 7); negative values are better."""
    gaps = result.against_flat
    curves = [
        curve(result.annotations, gap, rater_colour(number), name, "%{y:.2e}", extra="")
        for number, (name, gap) in enumerate(zip(result.weights, gaps, strict=True))
    ]
    best = result.weights[int(np.nanargmin(np.nansum(gaps, axis=1)))]
    title = f"{best} has the smallest total variance"
    figure = _curves(curves, "annotations in usable items", "variance − that of flat", title)
    return figure.update_layout(hovermode="x unified")


def independence_title(rho: float | None, p: float | None) -> str:
    """Summarise in one line whether agreement depends on the number of annotations.

    Examples
    --------
    >>> independence_title(0.57, 0.001)
    'Raters agree more on items with more annotations: compare equal weights'
    >>> independence_title(0.05, 0.4), independence_title(None, None)
    ('Agreement shows no dependence on the number of annotations', \
'All items have the same count, or the same agreement')
    """
    if rho is None or p is None or np.isnan(rho):
        return "All items have the same count, or the same agreement"
    if p >= SUSPECT:
        return "Agreement shows no dependence on the number of annotations"
    return f"Raters agree {'more' if rho > 0 else 'less'} on items with more annotations: compare equal weights"


@checked
def plot_independence(result: Independence) -> go.Figure:
    """Plot mean agreement by number of annotations of an item; it is constant if sparse agreement is unbiased.

    Dot sizes show numbers of items; bars are 1.96 standard errors, so one in twenty misses by chance.
    """
    error = 1.96 * result.deviation / np.sqrt(result.items)
    texts = [
        f"{alpha_text(mean)} of {number_of(items, 'item')} with {number_of(n, 'annotation')}"
        for mean, items, n in zip(result.agreement, result.items.tolist(), result.annotations.tolist(), strict=True)
    ]
    level = float((result.agreement * result.items).sum() / max(result.items.sum(), 1))
    dots = points(
        result.annotations,
        as_plain(result.agreement),
        SPA_COLOUR,
        "items",
        texts=texts,
        size=(8 + 16 * np.sqrt(result.items / result.items.max(initial=1))).tolist(),
        error_y={"type": "data", "array": as_plain(error), "color": WHISKER},
    )
    title = independence_title(result.rho, result.p)
    figure = framed([dots], title, "annotations of an item", "probability of agreement", 380)
    figure.update_yaxes(range=[-0.02, 1.02], zeroline=False).update_xaxes(zeroline=False)
    return figure.add_hline(y=level, line={"width": 2, "dash": "dot", "color": NEUTRAL})


def _variances(
    x: NDArray[np.float64],
    variance: NDArray[np.float64],
    colour: str,
    name: str,
    width: float | None = None,
    **more: Any,
) -> go.Scatter:
    positive = np.where(variance > 1e-18, variance, np.nan)  # with all annotations, variance is only rounding error
    hover = "%{x:,.0f} annotations: variance %{y:.2e}"
    return curve(x, positive, colour, name, hover, width=width, mode="lines+markers", extra="", **more)


def _curves(traces: Sequence[go.Scatter], x: str, y: str, title: str) -> go.Figure:
    return framed(
        traces,
        title,
        x,
        y,
        380,
        xaxis_zeroline=False,
        yaxis={"zeroline": False, "exponentformat": "e"},
        margin_l=70,
        showlegend=True,  # the App hides it by default
        legend=LEGEND_BELOW,
    )
