"""Figures of rankings: who comes where under which truth, how alike the truths rank, and a detector's curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from kalos_core.display import Numbers, significant
from kalos_core.errors import lookup
from kalos_core.figures.bars import BAR_HEIGHT, row_layout, spans, ticks, with_value_column
from kalos_core.figures.common import (
    PALE,
    WHISKER,
    Intervals,
    Matrix,
    as_intervals,
    as_matrix,
    as_numbers,
    as_plain,
    framed,
    rater_colour,
    shortened,
    titled,
    value_range,
)
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.ranking import DetectorRanking, Rankings

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
    figure = go.Figure()
    for place, system in enumerate(systems):
        told = [
            f"<b>{system}</b> under {truth}: rank {rank:g}, {measure} {significant(value)}"
            for truth, rank, value in zip(truths, ranks[:, place], values[:, place], strict=True)
        ]
        colour = rater_colour(place)
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
        title=titled(title),
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


def tau_title(truths: Sequence[str], tau: Matrix) -> str:
    """How alike truths rank, in one line.

    Examples
    --------
    >>> tau_title(["ann", "bob", "eve"], [[1, 0.9, 0.5], [0.9, 1, 0.7], [0.5, 0.7, 1]])
    'Rankings agree at τ 0.700 on average; least under ann and eve (0.500)'
    """
    values = as_matrix(tau)
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


def tau_heatmap(truths: Sequence[str], tau: Matrix, title: str = "") -> go.Figure:
    """Kendall's tau between the rankings under every two truths; the diagonal is empty.

    Parameters
    ----------
    truths : (T,) str
    tau : (T, T) symmetric, None or NaN where undefined
    title : str
    """
    values = as_matrix(tau)
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
    ends = as_intervals(bounds, len(detectors))
    texts = ["undefined" if np.isnan(low) else f"{significant(low)} to {significant(high)}" for low, high in ends]
    names = [f"<b>{name}</b>: {text}" for name, text in zip(detectors, texts, strict=True)]
    row, column = np.nonzero(np.isfinite(areas))
    values = areas[row, column]
    hover = [
        f"<b>{detectors[detector]}</b> under {truths[truth]}: {significant(value)}"
        for truth, detector, value in zip(row.tolist(), column.tolist(), values, strict=True)
    ]
    line = {"width": 2, "color": [rater_colour(truth) for truth in row.tolist()]}
    points = ticks(values.tolist(), column.tolist(), BAR_HEIGHT - 6, line, "raters")
    points.update(customdata=hover, hovertemplate="%{customdata}<extra></extra>")
    low, high = value_range(ends, areas)
    layout = row_layout(detectors, title, "area under precision over recall", low, high)
    layout["xaxis"]["range"][1] = high + 0.55 * (high - low)  # the texts name both ends
    layout["xaxis"]["tickvals"] = [0, 0.5, 1]
    figure = go.Figure([spans(ends, PALE, names, "any to high agreement", "bounds"), points], layout=layout)
    return with_value_column(figure, texts)


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
    precision: Matrix,
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
    curves = []
    for number, (name, values, area) in enumerate(zip(names, precision, as_numbers(areas), strict=True)):
        if np.isnan(area):
            continue
        dash = DASHES[number % len(DASHES)] if len(dashed) and dashed[number] else "solid"
        colour = rater_colour(number) if dash == "solid" else WHISKER
        curves.append(
            go.Scatter(
                x=list(recall),
                y=as_plain(as_numbers(values)),
                mode="lines",
                line={"color": colour, "width": 2, "dash": dash},
                hovertemplate=f"<b>{name}</b>: recall %{{x:.3f}}, precision %{{y:.3f}}<extra></extra>",
                name=f"{shortened(name)}: {significant(area)}",
            )
        )
    axis = {"range": [0, 1.02], "zeroline": False}
    return framed(
        curves,
        title,
        "recall",
        "precision, mean over skew",
        380,
        xaxis=axis,
        yaxis=axis,
        legend={"title": {"text": "area"}, "font": {"size": 11}},
        showlegend=True,
    )


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
