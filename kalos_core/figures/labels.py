"""Figures of image-level labels: kappas, majorities, accuracy of raters, running agreement, and removal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.figures.common import (
    NEUTRAL,
    OWN,
    PALE,
    RATER_COLOURS,
    WHISKER,
    Intervals,
    Numbers,
    as_intervals,
    as_numbers,
    as_plain,
    lying_bars,
    significant,
    value_range,
    whiskers,
    with_interval,
    with_value_column,
)
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.nominal import LabelAgreement, MajorityAgreement, RaterAccuracy, TeamComparison, landis_koch
from kalos_core.sparse import RemovalExperiment, RunningCurve

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_ROWS = 40
"""Questions or concepts that a figure shows, the least agreed first."""

SPA_COLOUR, ALPHA_COLOUR = OWN, "#0072B2"
"""Agreement as it is, and corrected for chance."""


def least_first(values: Numbers, most: int = MOST_ROWS) -> NDArray[np.intp]:
    """Places of the least values that are defined, ascending, at most so many.

    Examples
    --------
    >>> least_first([0.9, None, 0.1]).tolist()
    [2, 0]
    """
    numbers = as_numbers(values)
    order = np.argsort(numbers, kind="stable")
    return order[np.isfinite(numbers[order])][:most]


def kappa_title(questions: Sequence[str], kappa: Numbers) -> str:
    """What the kappas say, in one line.

    Examples
    --------
    >>> kappa_title(["place", "season", "snow"], [0.85, 0.35, None])
    '1 of 2 questions above 0.6; raters agree least on season (0.350, fair)'
    """
    order = least_first(kappa)
    values = as_numbers(kappa)
    known = int(np.isfinite(values).sum())
    if not known:
        return "No question can be compared"
    least = values[order[0]]
    noun = "question" if known == 1 else "questions"
    where = f"{questions[order[0]]} ({significant(least)}, {landis_koch(least)})"
    return f"{int((values > 0.6).sum())} of {known} {noun} above 0.6; raters agree least on {where}"


def kappa_bars(
    questions: Sequence[str], kappa: Numbers, intervals: Intervals | None = None, title: str = ""
) -> go.Figure:
    """Kappa of each question, the least first, with its interval and its band; lines at 0.6 and 0.8.

    Parameters
    ----------
    questions : (Q,) str
    kappa : (Q,) None or NaN where undefined; those are left out
    intervals : (Q, 2), optional
    title : str
    """
    import plotly.graph_objects as go

    order = least_first(kappa)
    names = [questions[place] for place in order]
    values, ends = as_numbers(kappa)[order], as_intervals(intervals, len(as_numbers(kappa)))[order]
    texts = [with_interval(value, pair) for value, pair in zip(values, ends, strict=True)]
    hover = [f"<b>{name}</b>: kappa {text}" for name, text in zip(names, texts, strict=True)]
    figure = go.Figure(
        go.Bar(
            x=as_plain(values),
            y=list(range(len(names))),
            orientation="h",
            marker={"color": PALE},
            error_x=whiskers(values, ends),
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            name="kappa",
        )
    )
    figure.update_layout(lying_bars(names, title, "free-marginal kappa", *value_range(values, ends)))
    for bound in (0.6, 0.8):
        figure.add_vline(x=bound, line={"width": 1, "dash": "dot", "color": WHISKER})
    return with_value_column(figure, [f"{significant(value)} {landis_koch(value)}" for value in values])


def plot_label_agreement(result: LabelAgreement) -> go.Figure:
    """The kappas of a result, titled with its finding."""
    names, kappa = result.question.tolist(), result.free_marginal
    return kappa_bars(names, kappa, result.free_marginal_interval, kappa_title(names, kappa))


def majority_title(everywhere: float | None, where_chosen: float | None, what: str = "concept") -> str:
    """What agreement with the majority says, in one line.

    Examples
    --------
    >>> majority_title(0.933, 0.796)
    'Per concept 93.3 % of raters decide as the majority, 79.6 % where somebody chose it'
    """
    values = as_numbers([everywhere, where_chosen])
    if np.isnan(values).any():
        return f"Per {what}, nobody chose anything that could be compared"
    return (
        f"Per {what} {100 * values[0]:.1f} % of raters decide as the majority, "
        f"{100 * values[1]:.1f} % where somebody chose it"
    )


def majority_dots(names: Sequence[str], everywhere: Numbers, where_chosen: Numbers, title: str = "") -> go.Figure:
    """Agreement with the majority in both readings, a line between them, the least agreed first (Figure 4).

    Parameters
    ----------
    names : (n,) concepts or items
    everywhere, where_chosen : (n,) shares in [0.5, 1]
        Over all decisions, and where somebody chose the concept; those undefined in the second come last.
    title : str
    """
    import plotly.graph_objects as go

    upper, lower = as_numbers(everywhere), as_numbers(where_chosen)
    order = least_first(np.where(np.isnan(lower), upper + 1, lower))
    shown = [str(names[place]) for place in order]
    rows = list(range(len(order)))
    traces = [
        go.Scatter(
            x=as_plain(100 * values[order]),
            y=rows,
            mode="markers",
            marker={"size": 10, "color": colour, "symbol": symbol},
            customdata=shown,
            hovertemplate="%{customdata}: %{x:.1f} %<extra></extra>",
            name=name,
        )
        for values, colour, symbol, name in (
            (upper, NEUTRAL, "circle", "all decisions"),
            (lower, OWN, "diamond", "where somebody chose it"),
        )
    ]
    figure = go.Figure(traces)
    figure.update_layout(lying_bars(shown, title, "% of raters with the majority", 0.0, 100.0))
    figure.update_layout(
        xaxis={"range": [48, 102]},
        showlegend=True,
        legend={"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "font": {"size": 11}},
        margin={"b": 75},
        height=figure.layout.height + 30,
    )
    return figure


def plot_majority(result: MajorityAgreement) -> go.Figure:
    """The concepts of a result, titled with its finding."""
    means = result.means
    title = majority_title(means["concept_all"], means["concept_chosen"])
    return majority_dots(result.table.concepts.tolist(), result.concept_all, result.concept_chosen, title)


def accuracy_title(raters: Sequence[str], accuracy: NDArray[np.float64] | Sequence[Numbers]) -> str:
    """What pairwise accuracy says, in one line.

    Examples
    --------
    >>> accuracy_title(["ann", "bob", "cid"], [[None, 0.9, 0.8], [0.9, None, 0.85], [0.8, 0.85, None]])
    'Raters label alike in 85.0 % of decisions: ann and bob most (0.900), ann and cid least (0.800)'
    """
    values = np.array([as_numbers(row) for row in accuracy]).reshape(len(raters), -1)
    a, b = np.triu_indices(len(raters), 1)
    pairs = values[a, b]
    known = np.flatnonzero(np.isfinite(pairs))
    if not len(known):
        return "No two raters decided on the same"
    best, least = known[pairs[known].argmax()], known[pairs[known].argmin()]
    told = [f"{raters[a[k]]} and {raters[b[k]]} {word} ({significant(pairs[k])})" for k, word in ((best, "most"),)]
    if least != best:
        told.append(f"{raters[a[least]]} and {raters[b[least]]} least ({significant(pairs[least])})")
    return f"Raters label alike in {100 * pairs[known].mean():.1f} % of decisions: {', '.join(told)}"


def accuracy_heatmap(
    raters: Sequence[str],
    accuracy: NDArray[np.float64] | Sequence[Numbers],
    to_majority: Numbers | None = None,
    title: str = "",
) -> go.Figure:
    """Accuracy of each two raters, and of each to the majority as one more row and column (Table 2).

    Parameters
    ----------
    raters : (R,) names
    accuracy : (R, R) symmetric, None or NaN where undefined
    to_majority : (R,), optional
    title : str
    """
    values = np.array([as_numbers(row) for row in accuracy]).reshape(len(raters), -1)
    names = list(raters)
    if to_majority is not None:
        names.append("majority")
        last = as_numbers(to_majority)
        values = np.block([[values, last[:, None]], [last[None], np.full((1, 1), np.nan)]])
    return square_heatmap(names, values, "accuracy", title)


def plot_rater_accuracy(result: RaterAccuracy) -> go.Figure:
    """The matrix of a result with its majority, titled with its finding."""
    raters = result.raters.tolist()
    return accuracy_heatmap(raters, result.accuracy, result.to_majority, accuracy_title(raters, result.accuracy))


def team_bars(names: Sequence[str], values: Numbers, intervals: Intervals | None = None, title: str = "") -> go.Figure:
    """Agreement within two teams, between them and of their majorities.

    Parameters
    ----------
    names : (n,) what is compared
    values : (n,) None or NaN where undefined
    intervals : (n, 2), optional
    title : str
    """
    import plotly.graph_objects as go

    numbers, ends = as_numbers(values), as_intervals(intervals, len(names))
    texts = [with_interval(value, pair) for value, pair in zip(numbers, ends, strict=True)]
    figure = go.Figure(
        go.Bar(
            x=as_plain(numbers),
            y=list(range(len(names))),
            orientation="h",
            marker={"color": [RATER_COLOURS[k] if k < 2 else NEUTRAL for k in range(len(names))], "opacity": 0.8},
            error_x=whiskers(numbers, ends),
            customdata=[f"<b>{name}</b>: {text}" for name, text in zip(names, texts, strict=True)],
            hovertemplate="%{customdata}<extra></extra>",
            name="kappa",
        )
    )
    figure.update_layout(lying_bars(names, title, "free-marginal kappa", *value_range(numbers, ends)))
    return with_value_column(figure, [significant(value) for value in numbers])


def plot_teams(result: TeamComparison, question: int = 0) -> go.Figure:
    """One question of a comparison, titled with whether the teams differ."""
    names, kappa = result.names, result.kappa[question]
    verb = "agree more among themselves" if kappa[-1] > 0 else "agree less among themselves"
    finding = f"{result.first} {verb} than {result.second}" if result.differs(question) else "no clear difference"
    difference = with_interval(kappa[-1], result.kappa_interval[question, -1])
    title = f"{result.question[question]}: {finding} ({difference})"
    return team_bars(names, kappa, result.kappa_interval[question], title)


def running_title(annotations: Sequence[int], spa: Numbers, interval: Intervals, narrow_from: int | None) -> str:
    """What a running curve says, in one line.

    Examples
    --------
    >>> running_title([100, 200], [0.7, 0.71], [[0.6, 0.8], [0.66, 0.76]], 1)
    'Agreement 0.710 [0.660, 0.760] after 200 annotations; narrow enough from 200 on'
    """
    values = as_numbers(spa)
    if not len(values) or np.isnan(values[-1]):
        return "No item has two annotations yet"
    now = with_interval(values[-1], as_intervals(interval, len(values))[-1])
    text = f"Agreement {now} after {annotations[-1]:,} annotations"
    return text if narrow_from is None else f"{text}; narrow enough from {annotations[narrow_from]:,} on"


def running_figure(
    annotations: Sequence[int],
    spa: Numbers,
    spa_interval: Intervals,
    alpha: Numbers,
    alpha_interval: Intervals,
    narrow_from: int | None = None,
    title: str = "",
) -> go.Figure:
    """Sparse agreement and alpha over the number of annotations, with their intervals as bands.

    Parameters
    ----------
    annotations : (T,) int
    spa, alpha : (T,) None or NaN where undefined
    spa_interval, alpha_interval : (T, 2)
    narrow_from : int, optional
        The step from which on the interval is narrow enough: a dotted line.
    title : str
    """
    import plotly.graph_objects as go

    x = [int(count) for count in annotations]
    figure = go.Figure()
    for name, values, interval, colour in (
        ("probability of agreement", spa, spa_interval, SPA_COLOUR),
        ("alpha", alpha, alpha_interval, ALPHA_COLOUR),
    ):
        ends = as_intervals(interval, len(x))
        edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False, "legendgroup": name}
        figure.add_scatter(x=x, y=as_plain(ends[:, 0]), **edge)
        figure.add_scatter(x=x, y=as_plain(ends[:, 1]), fill="tonexty", fillcolor=PALE, **edge)
        texts = [with_interval(v, pair) for v, pair in zip(as_numbers(values), ends, strict=True)]
        figure.add_scatter(
            x=x,
            y=as_plain(as_numbers(values)),
            mode="lines",
            line={"color": colour, "width": 2},
            customdata=texts,
            hovertemplate="%{customdata}",
            name=name,
            legendgroup=name,
        )
    if narrow_from is not None:
        figure.add_vline(x=x[narrow_from], line={"width": 2, "dash": "dot", "color": WHISKER})
    figure.update_layout(**_curves("annotations so far", "agreement", title), hovermode="x unified")
    return figure


def plot_running(result: RunningCurve, width: float | None = None) -> go.Figure:
    """A curve, and where its interval becomes narrower than a width."""
    step = None if width is None else result.narrow_from(width)
    title = running_title(result.annotations.tolist(), result.spa, result.spa_interval, step)
    curves = result.spa, result.spa_interval, result.alpha, result.alpha_interval
    return running_figure(result.annotations.tolist(), *curves, step, title)


def plot_removal(result: RemovalExperiment) -> go.Figure:
    """Variance of sparse agreement over annotations, removed anywhere and in equal numbers per item (Figure 6)."""
    import plotly.graph_objects as go

    figure = go.Figure(
        [
            go.Scatter(
                x=(items * number).tolist(),
                y=_positive(variance),
                mode="lines+markers",
                line={"color": RATER_COLOURS[place % len(RATER_COLOURS)]},
                hovertemplate="%{x:,} annotations: variance %{y:.2e}",
                name=f"{number} per item",
            )
            for place, (number, items, variance) in enumerate(
                zip(result.per_item, result.items, result.per_item_variance, strict=True)
            )
        ]
    )
    place = result.weights.index("flat") if "flat" in result.weights else 0
    figure.add_scatter(
        x=result.annotations.tolist(),
        y=_positive(result.variance[place]),
        mode="lines+markers",
        line={"color": NEUTRAL, "dash": "dash", "width": 3},
        hovertemplate="%{x:,.0f} annotations: variance %{y:.2e}",
        name=f"any number, {result.weights[place]}",
    )
    gap = float(np.nanmax(np.abs(result.mean[place] - result.full[place])))
    title = f"Fewer annotations, more variance; the mean stays within {significant(gap)}"
    figure.update_layout(**_curves("annotations in usable items", "variance", title))
    figure.update_yaxes(type="log")
    return figure


def plot_weights(result: RemovalExperiment) -> go.Figure:
    """Variance under each weight minus that under equal weights (Figure 7): below the line is better."""
    import plotly.graph_objects as go

    gaps = result.against_flat
    figure = go.Figure(
        [
            go.Scatter(
                x=result.annotations.tolist(),
                y=as_plain(gap),
                mode="lines",
                line={"color": RATER_COLOURS[place % len(RATER_COLOURS)], "width": 2},
                hovertemplate="%{y:.2e}",
                name=name,
            )
            for place, (name, gap) in enumerate(zip(result.weights, gaps, strict=True))
        ]
    )
    best = result.weights[int(np.nanargmin(np.nansum(gaps, axis=1)))]
    title = f"{best} has the least variance in sum"
    figure.update_layout(**_curves("annotations in usable items", "variance − that of flat", title))
    figure.update_layout(hovermode="x unified")
    return figure


def _positive(values: NDArray[np.float64]) -> list[float | None]:
    """What a logarithmic axis can show: of all annotations there is no variance but rounding."""
    return as_plain(np.where(values > 1e-18, values, np.nan))


def _curves(x: str, y: str, title: str) -> dict[str, Any]:
    return {
        "title": {"text": title, "font": {"size": 14}},
        "xaxis": {"title": {"text": x}, "fixedrange": True, "zeroline": False},
        "yaxis": {"title": {"text": y}, "fixedrange": True, "zeroline": False},
        "margin": {"t": 40 if title else 10, "b": 45, "l": 70, "r": 10},
        "height": 380,
        "legend": {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0, "font": {"size": 11}},
    }
