"""Figures of experiments with synthetic raters, by question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import alpha_text, count_text
from kalos_core.noise.experiments import (
    CASES,
    Experiments,
    MagnitudeResponse,
    RaterReturn,
    SchoolImpact,
    SolverAccuracy,
    SolverCases,
)
from kalos_core.noise.experiments.response import AlphaTable
from kalos_core.options import checked
from kalos_core.report.axes import Line, Lines, series
from kalos_core.report.look import Ranked, ranked_domain, row_of
from kalos_core.report.pages import Figure, Section, Table
from kalos_core.report.synthetic import lost

MAGNITUDE = "magnitude of noise, λ"


@checked
def experiment_sections(found: Experiments) -> Iterator[Section]:
    """Yield a section for each experiment."""
    yield Section("Filtered Rand index of the solvers", list(_accuracy(found.accuracy, "rand_index", "Rand index")))
    yield Section("F1 of the solvers", list(_accuracy(found.accuracy, "f1", "F1")))
    yield Section("Matches and misses of solvers", [_cases(found.cases)])
    yield Section("More and more raters", [_raters(found.raters)])
    yield Section("Schools of thought", [_schools(found.schools)])
    yield Section("Alpha over noise", [_response(found.response)])
    yield Section("Signal loss", [lost(found.loss)])


def _accuracy(table: SolverAccuracy, metric: str, name: str) -> Iterator[Figure]:
    """Line plots of solver accuracy, one for each number of raters."""
    from kalos_core.figures.experiments import plot_accuracy

    solvers = list(dict.fromkeys(table.solver.tolist()))
    for count in np.unique(table.raters).tolist():
        lines = []
        for number, solver in enumerate(solvers):
            rows = (table.solver == solver) & (table.raters == count) & (table.cost == "soft")
            x = np.unique(table.magnitude[rows])
            y = [
                table.mean(metric, solver=solver, raters=count, cost="soft", magnitude=magnitude)
                for magnitude in x.tolist()
            ]
            lines.append(Line(solver, x, y, None, *series(number)))
        who = f"{count} synthetic rater{'s' if count > 1 else ' and the reference'}"
        form = Lines(f"{name}, {who}", lines, MAGNITUDE, name, (0.0, float(table.magnitude.max())), _room(lines))
        plot = partial(plot_accuracy, table, metric, name) if count == table.raters.max() else None
        yield Figure(form, who, plot=plot)


def _room(lines: Sequence[Line]) -> tuple[float, float]:
    """Range from the smallest value, rounded down, to 1."""
    least = min((float(np.nanmin(line.y)) for line in lines if len(line.y)), default=0.0)
    return float(min(np.floor(10 * least) / 10, 0.9)), 1.0


def _cases(table: SolverCases) -> Figure:
    """Table of pairs that solvers matched correctly, missed or matched wrongly, with similarity quartiles."""
    from kalos_core.figures import plot_cases

    rows = []
    for solver in dict.fromkeys(table.solver.tolist()):
        for case in CASES:
            values = table.similarity[(table.solver == solver) & (table.case == case)]
            quartiles = np.quantile(values, [0.25, 0.5, 0.75]).tolist() if len(values) else []
            rows.append(
                [solver, case, count_text(table.count(solver, case)), *map(alpha_text, quartiles or [None] * 3)]
            )
    heads = ("solver", "case", "pairs", "lower quartile", "median", "upper quartile")
    form = Table(heads, rows, "Similarity of the pairs, by solver and case", (2, 3, 4, 5))
    return Figure(
        form,
        reading="Similarities of the pairs that solvers matched correctly, missed or matched wrongly.",
        plot=partial(plot_cases, table),
    )


def _alphas(
    table: AlphaTable, x: NDArray[np.generic], groups: Sequence[tuple[str, NDArray[np.bool_]]], axis: str
) -> Lines:
    """Line plot of mean alpha with intervals, one line for each group of rows."""
    ends = np.stack([table.low, table.high], axis=1)
    lines = [
        Line(name, x[rows].astype(np.float64), table.alpha[rows], ends[rows], *series(number))
        for number, (name, rows) in enumerate(groups)
    ]
    numbers = x.astype(np.float64)
    span = (float(numbers.min()), float(numbers.max()))
    return Lines("Mean alpha", lines, axis, "mean alpha", span, ranked_domain(table.alpha, ends))


def _raters(table: RaterReturn) -> Figure:
    from kalos_core.figures import plot_rater_return

    groups = [(f"λ = {value:g}", table.magnitude == value) for value in np.unique(table.magnitude)]
    return Figure(_alphas(table, table.raters, groups, "raters"), plot=partial(plot_rater_return, table))


def _response(table: MagnitudeResponse) -> Figure:
    from kalos_core.figures import plot_response

    groups = [("3 raters", np.ones(len(table.magnitude), np.bool_))]
    return Figure(_alphas(table, table.magnitude, groups, MAGNITUDE), plot=partial(plot_response, table))


def _schools(table: SchoolImpact) -> Figure:
    from kalos_core.figures import plot_schools

    order = np.argsort(-table.alpha, kind="stable").tolist()
    ends = np.stack([table.low, table.high], axis=1)
    rows = [row_of(str(table.schools[at]), float(table.alpha[at]), ends[at]) for at in order]
    form = Ranked(
        "Mean alpha of two schools", ("raters of either school", "alpha"), rows, ranked_domain(table.alpha, ends)
    )
    return Figure(form, plot=partial(plot_schools, table))
