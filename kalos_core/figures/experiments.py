"""Plots of experiments with synthetic raters: solvers vs. known correspondences, and alpha vs. noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import percent_text, rater_colour
from kalos_core.errors import check_text
from kalos_core.figures.common import LEGEND_BELOW, PALE, TITLE_HEIGHT, Layout, as_plain, titled
from kalos_core.figures.late import go
from kalos_core.figures.tables import text_rows
from kalos_core.figures.traces import Values, curve
from kalos_core.noise.experiments import CASES, Experiments, SolverAccuracy, SolverCases
from kalos_core.noise.experiments.response import (
    AlphaTable,
    MagnitudeResponse,
    RaterReturn,
    SchoolImpact,
    SignalLossTable,
)
from kalos_core.options import checked

MAGNITUDE = "magnitude of noise, λ"

MOST_VALUES = 3000
"""Maximum number of values behind one box; more are sampled at random."""


@checked
def plot_experiments(result: Experiments) -> dict[str, go.Figure]:
    """Return the figure of every experiment, by its question."""
    return {
        "Filtered Rand index of the solvers": plot_accuracy(result.accuracy, "rand_index", "filtered Rand index"),
        "F1 of the solvers": plot_accuracy(result.accuracy, "f1", "F1"),
        "Matches and misses of solvers": plot_cases(result.cases),
        "More and more raters": plot_rater_return(result.raters),
        "Schools of thought": plot_schools(result.schools),
        "Alpha over noise": plot_response(result.response),
        "Signal loss": plot_loss(result.loss),
    }


@checked
def plot_rater_return(table: RaterReturn) -> go.Figure:
    """Plot alpha by number of synthetic raters, with a curve for each magnitude of noise."""
    found = np.unique(table.magnitude)
    return _curves(table, table.raters, [(f"λ = {value:g}", table.magnitude == value) for value in found], "raters")


@checked
def plot_response(table: MagnitudeResponse) -> go.Figure:
    """Plot alpha of three synthetic raters by magnitude of noise."""
    return _curves(table, table.magnitude, [("3 raters", np.ones(len(table.magnitude), np.bool_))], MAGNITUDE)


@checked
def plot_accuracy(table: SolverAccuracy, metric: str = "rand_index", name: str = "filtered Rand index") -> go.Figure:
    """Plot a metric of `SolverAccuracy` by magnitude: one colour for each solver, one panel for each rater count."""
    from plotly.subplots import make_subplots

    check_text(name, "name")
    counts = np.unique(table.raters).tolist()
    titles = [f"{count} synthetic rater{'s' if count > 1 else ' and the reference'}" for count in counts]
    drawing = make_subplots(1, len(counts), shared_yaxes=True, subplot_titles=titles)
    for number, solver in enumerate(dict.fromkeys(table.solver.tolist())):
        for column, count in enumerate(counts):
            rows = (table.solver == solver) & (table.raters == count) & (table.cost == "soft")
            magnitudes = np.unique(table.magnitude[rows])
            values = [
                table.mean(metric, solver=solver, raters=count, cost="soft", magnitude=magnitude)
                for magnitude in magnitudes.tolist()
            ]
            hover = f"{solver}, λ %{{x:g}}: %{{y:.4f}}"
            line = _curve(magnitudes, values, number, solver, hover, showlegend=column == 0)
            drawing.add_trace(line, row=1, col=column + 1)
    return _framed(drawing, MAGNITUDE).update_yaxes(title_text=name, col=1)


@checked
def plot_cases(table: SolverCases, seed: int = 0) -> go.Figure:
    """Plot similarities of the pairs that solvers matched correctly, missed or matched wrongly, over all magnitudes."""
    rng = np.random.default_rng(seed)
    drawing = go.Figure()
    for number, solver in enumerate(dict.fromkeys(table.solver.tolist())):
        rows = np.flatnonzero(table.solver == solver)
        counts = {case: table.count(solver, case) for case in CASES}
        rows = np.concatenate([_some(rows[table.case[rows] == case], rng) for case in CASES])
        drawing.add_trace(
            go.Box(
                x=table.case[rows].tolist(),
                y=table.similarity[rows].tolist(),
                name=", ".join([solver, *(f"{case} {count:,}" for case, count in counts.items())]),
                marker={"color": rater_colour(number), "size": 3, "opacity": 0.4},
                boxpoints="outliers",
            )
        )
    drawing.update_layout(boxmode="group", yaxis_range=[0, 1.02])
    drawing.update_xaxes(categoryorder="array", categoryarray=list(CASES))
    return _framed(drawing, y="similarity")


@checked
def plot_schools(table: SchoolImpact) -> go.Figure:
    """Plot alpha of every two schools, highest first."""
    order = np.argsort(-table.alpha, kind="stable")
    bars = go.Bar(
        x=table.schools[order].tolist(),
        y=as_plain(table.alpha[order]),
        error_y=_errors(table, order),
        marker={"color": PALE},
        hovertemplate="%{x}: alpha %{y:.3f}<extra></extra>",
    )
    return _framed(go.Figure(bars), "raters of either school", "mean alpha").update_xaxes(type="category")


def loss_title(table: SignalLossTable) -> str:
    r"""Summarise signal loss at magnitude 1, compared with the paper.

    Examples
    --------
    >>> loss_title(SignalLossTable(np.array([1.0]), np.array([0.0346]), np.array([999]), np.array([0.042])))
    'Signal loss at λ = 1: 3.5\xa0%, the paper 4.2\xa0%'
    """
    rows = np.flatnonzero(table.magnitude == 1)
    if not len(rows):
        return "Signal loss"
    return (
        f"Signal loss at λ = 1: {percent_text(table.ratio[rows[0]])}, the paper {100 * table.paper[rows[0]]:g}\u00a0%"
    )


def loss_rows(table: SignalLossTable) -> list[dict[str, str]]:
    """Return formatted rows by magnitude: ``magnitude``, ``here`` and ``paper`` (Table 3)."""
    return text_rows(
        magnitude=[f"{magnitude:g}" for magnitude in table.magnitude],
        here=["none attempted" if np.isnan(ratio) else percent_text(ratio) for ratio in table.ratio],
        paper=["not printed" if np.isnan(paper) else f"{100 * paper:g}\u00a0%" for paper in table.paper],
    )


@checked
def plot_loss(table: SignalLossTable) -> go.Figure:
    """Plot signal loss by magnitude, compared with the paper; the title has both at magnitude 1."""
    curves = [("here", table.ratio, "solid"), ("paper, whole LVIS", table.paper, "dash")]
    drawing = go.Figure(
        [
            _curve(table.magnitude, 100 * values, number, name, "λ %{x:g}: %{y:.2f} %", dash=dash)
            for number, (name, values, dash) in enumerate(curves)
        ]
    )
    drawing.update_layout(yaxis_rangemode="tozero", title=titled(loss_title(table)))
    return _framed(drawing, MAGNITUDE, "% of events lost")


def _curves(
    table: AlphaTable, x: NDArray[np.generic], groups: Sequence[tuple[str, NDArray[np.bool_]]], title: str
) -> go.Figure:
    """Plot mean alpha with intervals, one curve for each group of rows."""
    drawing = go.Figure(
        [
            _curve(
                x[rows],
                table.alpha[rows],
                number,
                name,
                f"{name}, %{{x:g}}: %{{y:.3f}}",
                error_y=_errors(table, rows) | {"thickness": 1},
            )
            for number, (name, rows) in enumerate(groups)
        ]
    )
    return _framed(drawing, title, "mean alpha")


def _curve(x: Values, y: Values, number: int, name: str, hover: str, **more: Any) -> go.Scatter:
    return curve(x, y, rater_colour(number), name, hover, width=None, mode="lines+markers", **more)


def _errors(table: AlphaTable | SchoolImpact, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Layout:
    return {
        "type": "data",
        "symmetric": False,
        "array": as_plain((table.high - table.alpha)[rows]),
        "arrayminus": as_plain((table.alpha - table.low)[rows]),
    }


def _some(rows: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    return rows if len(rows) <= MOST_VALUES else rng.choice(rows, MOST_VALUES, replace=False)


def _framed(drawing: go.Figure, x: str | None = None, y: str | None = None) -> go.Figure:
    drawing.update_xaxes(title_text=x, fixedrange=True)
    drawing.update_yaxes(title_text=y, fixedrange=True)
    space = {"t": TITLE_HEIGHT, "b": 60, "l": 60, "r": 10}
    return drawing.update_layout(height=400, margin=space, legend=LEGEND_BELOW)
