"""Figures of rankings: who comes where under which truth, how alike the truths rank, and a detector's curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import lookup
from kalos_core.figures.common import (
    BAR_HEIGHT,
    PALE,
    RATER_COLOURS,
    WHISKER,
    Intervals,
    Numbers,
    as_intervals,
    as_numbers,
    as_plain,
    lying_bars,
    shortened,
    significant,
    value_range,
    with_value_column,
)
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.ranking import DetectorRanking, Rankings

if TYPE_CHECKING:
    import plotly.graph_objects as go

DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot")
"""How curves of another kind are told apart."""

ROOM_FOR_TRUTHS = 50
"""Letters that have room below a chart, were all names as long as the longest; more are written at a slant."""

RANK_HEIGHT = 32
"""Pixels from one rank to the next."""


def ranking_title(rankings: Rankings) -> str:
    """Whether the best system depends on the truth, in one line.

    Examples
    --------
    >>> names = np.array(["ann", "bob", "eve"]), np.array(["net", "svm"])
    >>> ranking_title(Rankings("AUC", *names, np.array([[0.9, 0.8], [0.7, 0.9], [0.9, 0.3]])))
    'The best depends on the truth: net under 2 of 3, svm under 1'
    >>> ranking_title(Rankings("AUC", *names, np.array([[0.9, 0.8], [0.8, 0.7], [0.9, 0.3]])))
    'net is best under all 3 truths; they give one ranking'
    """
    is_best = rankings.is_best
    ranked = int(is_best.any(axis=1).sum())
    times = rankings.times_best
    if not ranked:
        return "Nothing can be ranked"
    order = np.argsort(-times, kind="stable")
    best = [(str(rankings.systems[place]), int(times[place])) for place in order if times[place]]
    if best[0][1] < ranked:
        others = "".join(f", {name} under {count}" for name, count in best[1:3])
        more = f" and {len(best) - 3} more" if len(best) > 3 else ""
        return f"The best depends on the truth: {best[0][0]} under {best[0][1]} of {ranked}{others}{more}"
    winners = [name for name, count in best if count == ranked]
    leads = f"{' and '.join(winners)} {'is' if len(winners) == 1 else 'are'} best under"
    if ranked == 1:
        return f"{leads} the one truth"
    different = len(set(rankings.ranking_of[is_best.any(axis=1)].tolist()))
    return f"{leads} all {ranked} truths; they give {'one ranking' if different == 1 else f'{different} rankings'}"


def bump_chart(
    truths: Sequence[str],
    systems: Sequence[str],
    ranks: NDArray[np.float64],
    values: NDArray[np.float64],
    measure: str,
    title: str = "",
) -> go.Figure:
    """A line for each system through its ranks under the truths, side by side; the best is on top.

    Parameters
    ----------
    truths, systems : (T,), (S,) str
    ranks, values : (T, S) float64
        Ranks, and what they are of; NaN where undefined, which leaves a gap.
    measure : str
        What the values are.
    title : str
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for place, system in enumerate(systems):
        told = [
            f"<b>{system}</b> under {truth}: rank {rank:g}, {measure} {significant(value)}"
            for truth, rank, value in zip(truths, ranks[:, place], values[:, place], strict=True)
        ]
        colour = RATER_COLOURS[place % len(RATER_COLOURS)]
        figure.add_scatter(
            x=list(range(len(truths))),
            y=as_plain(ranks[:, place]),
            mode="lines+markers",
            line={"color": colour, "width": 3},
            marker={"color": colour, "size": 11},
            customdata=told,
            hovertemplate="%{customdata}<extra></extra>",
            name=shortened(system),
        )
    count = max(len(systems), 2)
    named = [shortened(truth, 12) for truth in truths]
    figure.update_layout(
        title={"text": title, "font": {"size": 14}},
        xaxis={
            "tickvals": list(range(len(truths))),
            "ticktext": named,
            "tickangle": -40 if len(named) * max(map(len, named), default=0) > ROOM_FOR_TRUTHS else 0,
            "range": [-0.4, len(truths) - 0.6],
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        yaxis={
            "title": {"text": "rank"},
            "range": [count + 0.5, 0.5],
            "dtick": max(1, count // 12),
            "tick0": 1,
            "fixedrange": True,
            "zeroline": False,
        },
        margin={"t": 70 if title else 40, "b": 80, "l": 60, "r": 10},
        height=(70 if title else 40) + 80 + max(RANK_HEIGHT * min(count, 20), 160),
        legend={"font": {"size": 11}, "orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        showlegend=True,
    )
    return figure


def plot_ranking(rankings: Rankings) -> go.Figure:
    """The ranks of a result, titled with what they depend on."""
    return bump_chart(
        rankings.truths.tolist(),
        rankings.systems.tolist(),
        rankings.ranks,
        rankings.values,
        rankings.measure,
        ranking_title(rankings),
    )


def tau_title(truths: Sequence[str], tau: NDArray[np.float64] | Sequence[Numbers]) -> str:
    """How alike truths rank, in one line.

    Examples
    --------
    >>> tau_title(["ann", "bob", "eve"], [[1, 0.9, 0.5], [0.9, 1, 0.7], [0.5, 0.7, 1]])
    'Rankings agree at τ 0.700 on average; least under ann and eve (0.500)'
    """
    values = np.array([as_numbers(row) for row in tau])
    values[np.tril_indices(len(values))] = np.nan
    if not np.isfinite(values).any():
        return "No two truths rank the same systems"
    first, second = divmod(int(np.nanargmin(values)), len(truths))
    mean, least = significant(float(np.nanmean(values))), significant(float(values[first, second]))
    if np.isfinite(values).sum() == 1:
        return f"{truths[first]} and {truths[second]} rank alike at τ {least}"
    if np.nanmin(values) == np.nanmax(values):
        return f"Every two truths rank alike at τ {least}"
    return f"Rankings agree at τ {mean} on average; least under {truths[first]} and {truths[second]} ({least})"


def tau_heatmap(truths: Sequence[str], tau: NDArray[np.float64] | Sequence[Numbers], title: str = "") -> go.Figure:
    """Kendall's tau between the rankings under every two truths; the diagonal is empty.

    Parameters
    ----------
    truths : (T,) str
    tau : (T, T) symmetric, None or NaN where undefined
    title : str
    """
    values = np.array([as_numbers(row) for row in tau])
    np.fill_diagonal(values, np.nan)
    return square_heatmap(truths, values, "Kendall's τ", title)


def plot_tau(rankings: Rankings) -> go.Figure:
    """How alike the truths of a result rank, titled with the finding."""
    truths, tau = rankings.truths.tolist(), rankings.tau
    return tau_heatmap(truths, tau, tau_title(truths, tau))


def bounds_title(detectors: Sequence[str], bounds: Intervals, outside: int = 0) -> str:
    """Which detectors the labels allow to tell apart, in one line.

    `outside` is how many areas under single raters lie outside the bounds, which then promise too much.

    Examples
    --------
    >>> bounds_title(["net", "svm", "rf"], [[0.5, 0.8], [0.6, 0.7], [0.1, 0.2]])
    '2 of 3 pairs of detectors can be told apart; net and svm cannot'
    >>> bounds_title(["net", "svm"], [[0.5, 0.8], [0.1, 0.2]], outside=3)
    'net and svm can be told apart, though single raters go beyond the bounds 3 times'
    """
    low, high = as_intervals(bounds, len(detectors)).T
    first, second = np.triu_indices(len(detectors), 1)
    known = np.isfinite(low[first]) & np.isfinite(low[second])
    first, second = first[known], second[known]
    if not len(first):
        return "No two detectors can be compared"
    apart = (low[first] > high[second]) | (low[second] > high[first])
    mixed = [f"{detectors[a]} and {detectors[b]}" for a, b in zip(first[~apart], second[~apart], strict=True)]
    if not apart.any():
        return f"{mixed[0]} cannot be told apart" if len(mixed) == 1 else "No two detectors can be told apart"
    beyond = f", though single raters go beyond the bounds {outside} time{'' if outside == 1 else 's'}"
    doubt = beyond if outside else ""
    if not mixed:
        who = f"{detectors[0]} and {detectors[1]}" if len(detectors) == 2 else f"All {len(detectors)} detectors"
        return f"{who} can be told apart{doubt}"
    others = "" if len(mixed) == 1 else f", nor can {len(mixed) - 1} more"
    return f"{apart.sum()} of {len(apart)} pairs of detectors can be told apart; {mixed[0]} cannot{others}{doubt}"


def bounds_bars(
    detectors: Sequence[str],
    bounds: Intervals,
    truths: Sequence[str],
    areas: NDArray[np.float64],
    title: str = "",
) -> go.Figure:
    """The bounds of each detector's area as bars, and a tick for its area under each rater.

    Parameters
    ----------
    detectors, truths : (S,), (R,) str
    bounds : (S, 2)
    areas : (R, S)
        NaN where undefined.
    title : str
    """
    import plotly.graph_objects as go

    ends = as_intervals(bounds, len(detectors))
    spans = ["undefined" if np.isnan(low) else f"{significant(low)} to {significant(high)}" for low, high in ends]
    bars = go.Bar(
        base=as_plain(ends[:, 0]),
        x=as_plain(ends[:, 1] - ends[:, 0]),
        y=list(range(len(detectors))),
        orientation="h",
        marker={"color": PALE},
        customdata=[f"<b>{name}</b>: {span}" for name, span in zip(detectors, spans, strict=True)],
        hovertemplate="%{customdata}<extra>any to high agreement</extra>",
        name="bounds",
    )
    truth, detector = np.nonzero(np.isfinite(areas))
    values = areas[truth, detector]
    colours = [RATER_COLOURS[place % len(RATER_COLOURS)] for place in truth.tolist()]
    hover = [
        f"<b>{detectors[s]}</b> under {truths[t]}: {significant(value)}"
        for t, s, value in zip(truth.tolist(), detector.tolist(), values, strict=True)
    ]
    ticks = go.Scatter(
        x=values.tolist(),
        y=detector.tolist(),
        mode="markers",
        marker={"symbol": "line-ns", "size": BAR_HEIGHT - 6, "line": {"width": 2, "color": colours}},
        customdata=hover,
        hovertemplate="%{customdata}<extra></extra>",
        name="raters",
    )
    low, high = value_range(ends, areas)
    layout = lying_bars(detectors, title, "area under precision over recall", low, high)
    layout["xaxis"]["range"][1] = high + 0.55 * (high - low)  # the texts name both ends
    layout["xaxis"]["tickvals"] = [0, 0.5, 1]
    figure = go.Figure([bars, ticks], layout=layout)
    return with_value_column(figure, spans)


def plot_bounds(result: DetectorRanking) -> go.Figure:
    """The bounds of every detector of a result, titled with who can be told apart."""
    detectors, of_rater = result.detectors.tolist(), np.isin(result.truths, result.raters)
    return bounds_bars(
        detectors,
        result.bounds,
        result.truths[of_rater].tolist(),
        result.area[of_rater],
        bounds_title(detectors, result.bounds, int(result.raters_outside.sum())),
    )


def curves_title(detector: str, areas: Numbers) -> str:
    """How far a detector's area depends on the truth, in one line.

    Examples
    --------
    >>> curves_title("net", [0.62, None, 0.81])
    'net reaches 0.620 to 0.810, depending on the truth'
    """
    values = as_numbers(areas)
    values = values[np.isfinite(values)]
    if not len(values):
        return f"{detector} cannot be measured: no truth has both marked and unmarked pixels"
    low, high = significant(float(values.min())), significant(float(values.max()))
    return (
        f"{detector} reaches {low} under every truth"
        if low == high
        else (f"{detector} reaches {low} to {high}, depending on the truth")
    )


def precision_curves(
    names: Sequence[str],
    recall: Sequence[float] | NDArray[np.float64],
    precision: NDArray[np.float64] | Sequence[Numbers],
    areas: Numbers,
    dashed: Sequence[bool] = (),
    title: str = "",
) -> go.Figure:
    """Precision averaged over skew, over recall: one curve for each truth of a detector, or the other way round.

    Parameters
    ----------
    names : (n,) str
    recall, precision : (P,), (n, P)
        As `DetectorRanking.sampled` answers.
    areas : (n,)
        Shown beside the names; a curve whose area is undefined is not drawn.
    dashed : (n,) bool, optional
        Curves of another kind, such as those under estimated truths.
    title : str
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for place, (name, values, area) in enumerate(zip(names, precision, as_numbers(areas), strict=True)):
        if np.isnan(area):
            continue
        dash = DASHES[place % len(DASHES)] if len(dashed) and dashed[place] else "solid"
        colour = RATER_COLOURS[place % len(RATER_COLOURS)] if dash == "solid" else WHISKER
        figure.add_scatter(
            x=list(recall),
            y=as_plain(as_numbers(values)),
            mode="lines",
            line={"color": colour, "width": 2, "dash": dash},
            hovertemplate=f"<b>{name}</b>: recall %{{x:.3f}}, precision %{{y:.3f}}<extra></extra>",
            name=f"{shortened(name)}: {significant(area)}",
        )
    axis = {"range": [0, 1.02], "fixedrange": True, "zeroline": False}
    figure.update_layout(
        title={"text": title, "font": {"size": 14}},
        xaxis={"title": {"text": "recall"}, **axis},
        yaxis={"title": {"text": "precision, mean over skew"}, **axis},
        margin={"t": 40 if title else 10, "b": 45, "l": 60, "r": 10},
        height=380,
        legend={"title": {"text": "area"}, "font": {"size": 11}},
        showlegend=True,
    )
    return figure


def plot_curves(result: DetectorRanking, detector: str) -> go.Figure:
    """The curves of one detector under every truth, titled with their span; estimated truths are dashed."""
    place = lookup({name: code for code, name in enumerate(result.detectors.tolist())}, detector, "detector")
    recall, precision = result.sampled()
    return precision_curves(
        result.truths.tolist(),
        recall.tolist(),
        precision[:, place],
        result.area[:, place],
        dashed=(~np.isin(result.truths, result.raters)).tolist(),
        title=curves_title(detector, result.area[:, place]),
    )
