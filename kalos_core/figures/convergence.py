"""Plots of label convergence: replicates with the line, intervals with models, variation types by threshold."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from kalos_core.convergence import (
    PUBLISHED_LINE,
    ConvergenceStudy,
    LabelConvergence,
    ModifiedMap,
    Replicates,
    SubsetSize,
    fit_line,
)
from kalos_core.convergence.criteria import MANY_COPIES
from kalos_core.convergence.interval import PAPER_COST, PAPER_SOLVER
from kalos_core.convergence.regression import Line
from kalos_core.convergence.spread import FEWEST_IMAGES
from kalos_core.display import (
    VARIATION_LABELS,
    Numbers,
    alpha_text,
    number_of,
    percent_text,
    points_text,
    with_interval,
)
from kalos_core.errors import InputError, listed
from kalos_core.figures.bars import BAR_HEIGHT, row_axis, spans, ticks
from kalos_core.figures.calibration import OBSERVED_COLOUR
from kalos_core.figures.common import (
    COLOURS,
    LEGEND_AT_BOTTOM,
    LEGEND_BELOW,
    LEGEND_ROW,
    NEUTRAL,
    NOTE,
    OWN,
    PALE,
    WHISKER,
    as_matrix,
    as_numbers,
    framed,
    margin,
    shortened,
    titled,
    upright,
)
from kalos_core.figures.directions import directions_heatmap, directions_title
from kalos_core.figures.late import go
from kalos_core.figures.traces import curve, histogram, interval_band, points
from kalos_core.options import checked
from kalos_core.text import names_shown
from kalos_core.variation import VARIATION_TYPES, BoundaryQuality, VariationShares

DATASET_COLOURS = ("#8C96A3", "#7A5CE0", "#B8860B", "#2F6B5E", "#A23B72")
"""Colours of pooled data sets, used cyclically; different from those of variation types and raters."""

SYMBOLS = ("circle", "diamond", "square", "cross", "triangle-up")
"""Symbols of pooled data sets, distinguishable without colour."""

MOST_POINTS = 2000
"""Maximum number of points in a scatter plot, for speed in the browser; lines are fitted to all points."""


def convergence_title(whole: float | None, interval: Numbers, images: int | None = None) -> str:
    r"""Summarise label convergence in one line, in points of mAP as in papers.

    Parameters
    ----------
    whole : float or None
        Value on all images; NaN or None if undefined.
    interval : (2,) floats or None
    images : int, optional
        Number of images.

    Examples
    --------
    >>> convergence_title(0.6607, [0.5493, 0.7021], 200)
    'Label convergence 66.1\xa0[54.9,\xa070.2] mAP on 200 images'
    >>> convergence_title(0.6607, [None, None], 40)
    'Label convergence 66.1 mAP on 40 images'
    """
    if whole is None or np.isnan(whole):
        return "Label convergence is undefined"
    ends = [None if end is None or np.isnan(end) else 100 * end for end in interval]
    of = "" if images is None else f" on {number_of(images, 'image')}"
    return f"Label convergence {with_interval(100 * whole, ends, 1)} mAP{of}"


def ceiling_title(found: Replicates) -> str:
    """Summarise the ceiling for models and how it was obtained, in one line."""
    value = found.whole_convergence
    if np.isnan(value):
        return "How far a model can get on these labels is undefined"
    return f"No model can be expected to pass {points_text(value)} mAP on these labels: {found.how}"


def ceiling_basis(found: Replicates) -> str:
    """Summarise label convergence in one line, with the data behind it."""
    return (
        f"{convergence_title(found.whole_convergence, found.interval, found.images)}. "
        f"{number_of(len(found.map), 'subset')} of {number_of(found.images, 'image')}, "
        f"{number_of(found.raters, 'rater')}, thresholds {alpha_text(found.thresholds[0])} to "
        f"{alpha_text(found.thresholds[-1])}."
    )


def interval_caveat(found: Replicates) -> str:
    """Describe the data sets that the interval applies to."""
    if np.isnan(found.interval).any():
        return f"There is no interval for fewer than {FEWEST_IMAGES} images."
    return "The interval is meant for data sets as large as this one and for larger ones, which reach somewhat less."


def replicate_scatter(
    alpha: Numbers,
    precision: Numbers,
    threshold: Numbers,
    lines: Mapping[str, Line],
    title: str = "",
    seed: int = 0,
    dataset: Sequence[str] | None = None,
) -> go.Figure:
    """Plot mAP by alpha, a point for each subset and threshold, with lines: the first solid, the others dashed.

    Parameters
    ----------
    alpha, precision, threshold : (M,)
        At most `MOST_POINTS` of the defined points are shown, sampled at random.
    lines : mapping of names to Line
    title : str
    seed : int
        Seed of the sampling.
    dataset : (M,) str, optional
        Data set of each point, if several are pooled; each has its own colour and symbol.
    """
    x, y, thresholds = as_numbers(alpha), as_numbers(precision), as_numbers(threshold)
    shown = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    count = len(shown)
    if count > MOST_POINTS:
        shown = np.sort(np.random.default_rng(seed).choice(shown, MOST_POINTS, replace=False))
    ends = [float(x[shown].min()), float(x[shown].max())] if count else [0.0, 1.0]
    name = f"{len(shown):,} of {number_of(count, 'point')} shown" if len(shown) < count else number_of(count, "point")
    groups = [(name, shown, NEUTRAL, "circle")]
    if dataset is not None:
        owner = np.asarray(dataset, dtype=object)
        looks = zip(itertools.cycle(DATASET_COLOURS), itertools.cycle(SYMBOLS))
        groups = [
            (group, shown[owner[shown] == group], *look)
            for group, look in zip(dict.fromkeys(owner.tolist()), looks, strict=False)
        ]
    marks = [
        points(
            x[rows].round(4),  # all data of a panel is sent with every click
            (100 * y[rows]).round(2),
            colour,
            group if dataset is None else shortened(group, 40),
            "threshold %{customdata:.2f}: alpha %{x:.3f}, mAP %{y:.1f}",
            texts=thresholds[rows].round(4).tolist(),
            size=5,
            symbol=symbol,
            marker_opacity=0.45,
        )
        for group, rows, colour, symbol in groups
    ]
    return framed(
        [*marks, *(_line(name, line, ends, number) for number, (name, line) in enumerate(lines.items()))],
        title,
        "mean alpha of a subset",
        "modified mAP of a subset, in points",
        380,
        xaxis_zeroline=False,
        yaxis_zeroline=False,
        showlegend=True,
        legend=LEGEND_BELOW,
    )


def _line(name: str, line: Line, ends: list[float], number: int) -> go.Scatter:
    return curve(
        ends,
        [100 * (line.slope * end + line.intercept) for end in ends],
        WHISKER if number else OWN,
        f"{shortened(name, 40)}: {_equation(line)}",
        width=3,
        dash="dash" if number else "solid",
    )


def _equation(line: Line) -> str:
    sign = "+" if line.intercept >= 0 else "−"
    return f"mAP = {points_text(line.slope)} α {sign} {points_text(abs(line.intercept))}"


def _diamonds(models: Sequence[tuple[int, str, float]]) -> go.Scatter:
    """Markers of models, each with its row, name and mAP."""
    rows, names, values = zip(*models, strict=True)
    return points(
        values,
        rows,
        OWN,
        "model",
        "%{customdata}: %{x:.1f} mAP",
        texts=names_shown(names),
        size=12,
        symbol="diamond",
        mode="markers+text",
        text=[shortened(name) for name in names],
        textposition="top center",
        textfont={"size": 11},
        cliponaxis=False,
    )


def shares_title(equilibrium: float | None, reason: str = "") -> str:
    """Summarise variation types by threshold in one line.

    Examples
    --------
    >>> shares_title(0.7972), shares_title(float("nan"), "there are no findings")
    ('From threshold 0.80 on, more annotations are unmatched than matched', 'No equilibrium: there are no findings')
    """
    if equilibrium is None or np.isnan(equilibrium):
        return f"No equilibrium: {reason}" if reason else "No equilibrium"
    return f"From threshold {alpha_text(equilibrium)} on, more annotations are unmatched than matched"


def boundary_title(count: int, median: float | None, identical: int) -> str:
    """Summarise boundary quality in one line; reports copies first if there are as many as the check-list warns of.

    Examples
    --------
    >>> boundary_title(1398, 0.121, 0)
    'Half of 1,398 correct findings differ by 0.12 or less'
    >>> boundary_title(100, 0.0, 60)
    '60 of 100 correct findings have the very same outline: labels may have been copied'
    """
    if not count or median is None or np.isnan(median):
        return "No finding is correct: there are no boundaries to compare"
    if identical > MANY_COPIES * count:
        of = f"of {number_of(count, 'correct finding')}"
        same = number_of(identical, f"{of} has", f"{of} have")
        return f"{same} the very same outline: labels may have been copied"
    differ = number_of(count, "correct finding differs", "correct findings differ")
    return f"Half of {differ} by {alpha_text(median)} or less"


@checked
def plot_sizes(sizes: Sequence[SubsetSize]) -> go.Figure:
    """Plot label convergence by subset size (`LabelConvergence.sizes`), titled with the first and last value.

    The last point, all images, is the one to quote.
    """
    if not sizes:
        raise InputError("sizes: expected at least one size of subsets, got none")
    first, last = sizes[0], sizes[-1]
    title = (
        f"Label convergence {points_text(last.convergence)} mAP on all {number_of(last.images, 'image')}, "
        f"{points_text(first.convergence)} on subsets of {first.images:,}"
    )
    x, y = (np.array([getattr(size, name) for size in sizes], np.float64) for name in ("images", "convergence"))
    ends = as_matrix([(size.low, size.high) for size in sizes])
    hover = [
        f"{'all ' if row == len(x) - 1 else 'subsets of '}{count:,.0f} images: "
        + f"{with_interval(100 * value, 100 * pair, 1)} mAP"
        for row, (count, value, pair) in enumerate(zip(x, y, ends, strict=True))
    ]
    before = len(x) - 1
    line = curve(
        x,
        100 * y,
        NEUTRAL,
        "mean of subsets, and all images (diamond)",
        texts=hover,
        width=3,
        mode="lines+markers+text",
        text=["" if np.isnan(value) else points_text(value) for value in y],
        textposition="top center",
        marker={
            "size": [*([7] * before), 13],
            "color": [*([NEUTRAL] * before), OBSERVED_COLOUR],
            "symbol": [*(["circle"] * before), "diamond"],
        },
        cliponaxis=False,
    )
    return framed(
        [interval_band(x[:-1], 100 * ends[:-1], PALE, "95 % interval of subsets"), line],
        title,
        "images it is computed on",
        "label convergence, mAP",
        340,
        xaxis={"type": "log", "tickvals": x.tolist(), "ticktext": [f"{count:,.0f}" for count in x]},
        margin={"t": 60, "b": 60 + 2 * LEGEND_ROW},
        showlegend=True,
        legend=LEGEND_AT_BOTTOM,
    )


@checked
def plot_convergence(result: LabelConvergence | Replicates) -> go.Figure:
    """Plot the replicates of a result with its own line and the published one, titled with its finding."""
    found = _replicates(result)
    thresholds = np.tile(found.thresholds, len(found.alpha))
    return replicate_scatter(found.alpha.ravel(), found.map.ravel(), thresholds, found.lines, _title(found))


def fit_title(result: LabelConvergence | Replicates) -> str:
    """Describe how well the line fitted to the replicates of a result explains them."""
    line = _replicates(result).fitted
    if line is None:
        return "Published line: a line of these labels needs two raters, and subsets with different alphas"
    return (
        f"α explains {percent_text(line.explained)} of the spread of mAP "
        f"(ρ = {alpha_text(line.correlation)}; published: ρ = 0.92)"
    )


@checked
def plot_study(study: ConvergenceStudy) -> go.Figure:
    """Plot label convergence of all images and of the largest tags with all models; the title is that of all images."""
    parts = study.largest()
    names = names_shown(part.name for part in parts)
    found = [part.replicates for part in parts]
    everything = as_numbers([None if each is None else each.whole_convergence for each in found])
    ends = as_matrix([(None, None) if each is None else each.interval.tolist() for each in found])
    models = [{model.name: model.map for model in study.placed}, *(part.models for part in parts[1:])]
    placed = [(row, name, 100 * value) for row, of_row in enumerate(models) for name, value in of_row.items()]
    known = [*ends[np.isfinite(ends)], *everything[np.isfinite(everything)]]
    values = [*(100 * np.array(known)).tolist(), *(value for _, _, value in placed)] or [0.0, 100.0]
    reach = max(max(values) - min(values), 1.0)
    hover = [
        f"{name}: {'undefined' if np.isnan(value) else f'{with_interval(100 * value, 100 * pair, 1)} mAP'}"
        for name, value, pair in zip(names, everything, ends, strict=True)
    ]
    solid = {"width": 4, "color": OBSERVED_COLOUR}
    traces = [
        spans(100 * ends, PALE, hover, "", "label convergence, 95 % interval"),
        ticks(100 * everything, range(len(names)), BAR_HEIGHT, solid, "label convergence of these images"),
    ]
    figure = go.Figure([*traces, *([_diamonds(placed)] if placed else [])])
    title = _title(study.whole)
    space = margin(title, left=140, bottom=90) | {"r": 20}
    return figure.update_layout(
        title=titled(title),
        xaxis={
            "title": {"text": "mAP"},
            "range": [max(min(values) - 0.12 * reach, 0), min(max(values) + 0.12 * reach, 104)],
            "fixedrange": True,
            "zeroline": False,
        },
        yaxis=row_axis(names, -0.8),
        margin=space,
        height=space["t"] + 100 + 2 * BAR_HEIGHT * max(len(names), 2),
        showlegend=True,
        legend=LEGEND_AT_BOTTOM,
        bargap=0.45,
    )


@checked
def plot_directions(result: ModifiedMap | ConvergenceStudy) -> go.Figure:
    """Plot modified mAP of every ordered pair of raters, mean over the thresholds, titled with the lowest."""
    raters, matrix = result.raters.tolist(), result.directions.mean(axis=0)
    return directions_heatmap(raters, matrix, directions_title(raters, matrix))


def _replicates(result: LabelConvergence | Replicates) -> Replicates:
    return result if isinstance(result, Replicates) else result.replicates


def _title(found: Replicates) -> str:
    return convergence_title(found.whole_convergence, found.interval, found.images)


@checked
def plot_regression(results: Mapping[str, LabelConvergence | Replicates]) -> go.Figure:
    """Plot the replicates of several data sets with a line fitted to all of them (label convergence Fig. 3).

    Parameters
    ----------
    results : mapping of names of data sets to results
        Results of two raters each, with the same solver and cost of alpha.

    Returns
    -------
    plotly.graph_objects.Figure
        Titled with the pooled line; includes the published line if it belongs to the same alpha.

    Raises
    ------
    InputError
        If there is no result, a result has more than two raters (who have no single mAP to fit), or alphas have
        different configurations.
    """
    if not isinstance(results, Mapping):
        raise InputError(f"results: expected a mapping of data sets to results, got {type(results).__name__}")
    found = {name: _replicates(result) for name, result in results.items()}
    many = [name for name, one in found.items() if one.raters > 2]
    if not found or many:
        raise InputError(f"results: expected results of two raters each, got {listed(many) or 'none'}")
    kinds = {(one.configuration.solver, one.configuration.cost) for one in found.values()}
    if len(kinds) > 1:
        raise InputError(f"results: expected alphas of one solver and cost, got {listed(map(str, sorted(kinds)))}")
    alpha = {name: one.alpha for name, one in found.items()}
    precision = {name: one.map for name, one in found.items()}
    pooled = fit_line(alpha, precision)
    lines = {"pooled": pooled}
    if kinds == {(PAPER_SOLVER, PAPER_COST)}:
        lines["published"] = PUBLISHED_LINE
    data = "data set" if len(found) == 1 else number_of(len(found), "data set")
    title = (
        f"{_equation(pooled)} over {data} (ρ = {alpha_text(pooled.correlation)}, R² = {alpha_text(pooled.explained)})"
    )
    return replicate_scatter(
        np.concatenate([values.ravel() for values in alpha.values()]),
        np.concatenate([values.ravel() for values in precision.values()]),
        np.concatenate([np.tile(one.thresholds, len(one.alpha)) for one in found.values()]),
        lines,
        title,
        dataset=[name for name, values in alpha.items() for _ in range(values.size)],
    )


@checked
def plot_shares(result: VariationShares, selected: float | None = None) -> go.Figure:
    """Plot the stacked shares of the variation types by threshold, titled with the equilibrium (dotted line).

    A solid line marks a selected threshold.
    """
    equilibrium = result.equilibrium
    areas = [
        curve(
            result.threshold,
            100 * result.shares[:, column],
            COLOURS[name],
            VARIATION_LABELS[name],
            "%{customdata:,} (%{y:.3~g} %)",
            texts=result.counts[:, column].tolist(),
            width=0.5,
            extra="",
            stackgroup="types",
            fillcolor=COLOURS[name],
        )
        for column, name in enumerate(VARIATION_TYPES)
    ]
    known = bool(np.isfinite(equilibrium))
    lines = [(equilibrium, "dot")] if known else []
    if selected is not None:
        lines.append((selected, "solid"))
    note = {**NOTE, "y": 1, "yanchor": "bottom"}
    return framed(
        areas,
        shares_title(equilibrium, result.no_equilibrium),
        "threshold (minimum similarity)",
        "% of findings",
        420,
        xaxis_range=[result.threshold.min(), result.threshold.max()] if len(result.threshold) > 1 else None,
        yaxis_range=[0, 100],
        margin={"t": 62, "b": 105},
        hovermode="x unified",
        showlegend=True,
        legend=LEGEND_AT_BOTTOM,
        shapes=[upright(x, "#FFFFFF", dash=dash) for x, dash in lines],  # visible on all colours
        annotations=[{**note, "x": equilibrium, "text": f"equilibrium: {alpha_text(equilibrium)}"}] if known else [],
    )


@checked
def plot_boundaries(result: BoundaryQuality) -> go.Figure:
    """Plot the distribution of outline distances, 1 - similarity, of correct findings, titled with the finding."""
    ends = result.edges
    hover = "%{y:,} findings from %{customdata[0]:.3~g} to %{customdata[1]:.3~g}"
    texts = np.stack([ends[:-1], ends[1:]], axis=1).tolist()
    bars = histogram(ends, result.counts, hover, texts, "correct findings", colour=COLOURS["correct"])
    return framed(
        [bars],
        boundary_title(result.findings, result.median, result.identical),
        "distance of outlines (1 − similarity)",
        "correct findings",
        280,
        xaxis_range=[ends[0], ends[-1]],
        yaxis_rangemode="tozero",
        bargap=0.05,
    )
