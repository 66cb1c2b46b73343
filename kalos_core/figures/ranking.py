"""Plots of rankings: ranks under each reference, similarity of references, and a detector's curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import Numbers, alpha_text, number_of, percent_text, rater_colour, signed, with_interval
from kalos_core.errors import InputError, index_of
from kalos_core.figures.bars import BAR_HEIGHT, dotted_rows, row_layout, spans, ticks, with_value_column
from kalos_core.figures.common import (
    PALE,
    WHISKER,
    Intervals,
    Matrix,
    as_intervals,
    as_matrix,
    as_numbers,
    as_plain,
    extremes,
    framed,
    margin,
    pair_names,
    pairs_of,
    shortened,
    titled,
    value_range,
    with_legend_below,
)
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.figures.late import go
from kalos_core.figures.pixels import significance
from kalos_core.figures.traces import curve, points
from kalos_core.options import checked
from kalos_core.pixels import SIGNIFICANT
from kalos_core.ranking import (
    BoundaryEvaluation,
    Concordance,
    DetectorRanking,
    Rankings,
    SharedRanking,
    shared_rankings,
)
from kalos_core.text import MOST_LETTERS, names_shown, shown

DASHES = ("dash", "dot", "dashdot", "longdash", "longdashdot")
"""Dash patterns for curves of another kind."""

PRECISION_AT = "recall %{x:.3f}, precision %{y:.3f}"
"""Hover template of a point of a curve."""

ROOM_FOR_NAMES = 50
"""Characters that fit below a chart if all names are as long as the longest; longer names are slanted."""

RANK_HEIGHT = 32
"""Distance of ranks in pixels."""


def ranking_title(rankings: Rankings) -> str:
    """Summarise in one line whether the best model depends on the reference.

    Examples
    --------
    >>> names = np.array(["ann", "bob", "eve"]), np.array(["net", "svm"])
    >>> ranking_title(Rankings("AUC", *names, np.array([[0.9, 0.8], [0.7, 0.9], [0.9, 0.3]])))
    'The best depends on the reference: net under 2 of 3, svm under 1'
    >>> ranking_title(Rankings("AUC", *names, np.array([[0.9, 0.8], [0.8, 0.7], [0.9, 0.3]])))
    'net is best under all 3 references; they give one ranking'
    """
    is_best = rankings.is_best
    ranked = int(is_best.any(axis=1).sum())
    times = rankings.times_best
    if not ranked:
        return "Nothing can be ranked"
    order = np.argsort(-times, kind="stable")
    best = [(shown(str(rankings.systems[index])), int(times[index])) for index in order if times[index]]
    if best[0][1] < ranked:
        others = "".join(f", {name} under {count}" for name, count in best[1:3])
        more = f" and {len(best) - 3} more" if len(best) > 3 else ""
        return f"The best depends on the reference: {best[0][0]} under {best[0][1]} of {ranked}{others}{more}"
    winners = [name for name, count in best if count == ranked]
    leads = f"{' and '.join(winners)} {'is' if len(winners) == 1 else 'are'} best under"
    if ranked == 1:
        return f"{leads} the one reference"
    different = len(set(rankings.ranking_of[is_best.any(axis=1)].tolist()))
    return (
        f"{leads} all {number_of(ranked, 'reference')}; they give "
        f"{'one ranking' if different == 1 else number_of(different, 'ranking')}"
    )


def rank_text(rankings: Rankings, reference: int, model: int) -> str:
    """Format a value with its rank, interval and share of bootstrap draws in which it is best.

    Examples
    --------
    >>> rankings = Rankings("AUC", np.array(["ann"]), np.array(["net", "svm"]), np.array([[0.9, 0.8]]))
    >>> rank_text(rankings, 0, 1)
    '0.800 (2)'
    """
    at = reference, model
    if np.isnan(rankings.values[at]):
        return "undefined"
    value, best = with_interval(rankings.values[at], rankings.interval[at], 3), rankings.best_share[at]
    often = "" if np.isnan(best) else f", best in {percent_text(best)}"
    return f"{value} ({rankings.ranks[at]:g}{often})"


def bump_chart(
    references: Sequence[str],
    models: Sequence[str],
    ranks: NDArray[np.float64],
    values: NDArray[np.float64],
    measure: str,
    title: str = "",
    intervals: NDArray[np.float64] | None = None,
) -> go.Figure:
    """Plot a line for each model through its ranks under the references; rank 1 is on top.

    Parameters
    ----------
    references, models : (T,), (S,) str
    ranks, values : (T, S) float64
        Ranks and their values; NaN where undefined, which leaves a gap.
    measure : str
        Name of the values.
    title : str
    intervals : (T, S, 2) float64, optional
        Intervals of the values; NaN without one.
    """
    references = names_shown(references)
    models = names_shown(models)
    ends = np.full((*values.shape, 2), np.nan) if intervals is None else intervals
    figure = go.Figure()
    for number, model in enumerate(models):
        columns = ranks[:, number], values[:, number], ends[:, number]
        hover = [
            f"<b>{model}</b> under {reference}: rank {rank:g}, {measure} {with_interval(value, interval)}"
            for reference, rank, value, interval in zip(references, *columns, strict=True)
        ]
        colour, at = rater_colour(number), range(len(references))
        line = curve(at, ranks[:, number], colour, shortened(model), texts=hover, width=3, mode="lines+markers")
        figure.add_trace(line.update(marker={"color": colour, "size": 11}))
    count = max(len(models), 2)
    named = [shortened(name, 12) for name in references]
    figure.update_layout(
        title=titled(title),
        xaxis={
            "tickvals": list(range(len(references))),
            "ticktext": named,
            "tickangle": -40 if len(named) * max(map(len, named), default=0) > ROOM_FOR_NAMES else 0,
            "range": [-0.4, len(references) - 0.6],
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
        margin=margin(title, bottom=80),
        height=margin(title)["t"] + 80 + max(RANK_HEIGHT * min(count, 20), 160),
    )
    return with_legend_below(figure, len(models))


@checked
def plot_ranking(rankings: Rankings) -> go.Figure:
    """Plot the ranks of a result, titled with the finding."""
    return bump_chart(
        rankings.truths.tolist(),
        rankings.systems.tolist(),
        rankings.ranks,
        rankings.values,
        rankings.measure,
        ranking_title(rankings),
        rankings.interval,
    )


def tau_title(references: Sequence[str], tau: Matrix) -> str:
    """Summarise in one line how similar the rankings of references are.

    Examples
    --------
    >>> tau_title(["ann", "bob", "eve"], [[1, 0.9, 0.5], [0.9, 1, 0.7], [0.5, 0.7, 1]])
    'References order the models most differently under ann and eve (τ 0.50; mean of all pairs 0.70)'
    """
    references = names_shown(references, MOST_LETTERS)
    values = pairs_of(tau)
    found = extremes(values)
    if found is None:
        return "No two references rank the same models"
    best, least = found
    pair, value = pair_names(references, least), alpha_text(values[least])
    if np.isfinite(values).sum() == 1:
        return f"Similarity of the orders of models under {pair}: τ {value}"
    if values[best] == values[least]:
        return f"All pairs of references order the models equally similarly (τ {value})"
    mean = alpha_text(float(np.nanmean(values)))
    return f"References order the models most differently under {pair} (τ {value}; mean of all pairs {mean})"


@checked
def plot_tau(rankings: Rankings) -> go.Figure:
    """Plot Kendall's tau between the rankings of every two references, titled with the finding; empty diagonal."""
    references, values = rankings.truths.tolist(), as_matrix(rankings.tau)
    np.fill_diagonal(values, np.nan)
    return square_heatmap(references, values, "Kendall's τ", tau_title(references, rankings.tau))


def concordance_title(result: Concordance) -> str:
    """Summarise in one line which references give concordant rankings.

    Examples
    --------
    >>> d, p = np.array([[0, 0.2], [0.1, 0]]), np.array([[0, 0.01], [0.3, 0]])
    >>> concordance_title(Concordance(np.array(["ann", "bob"]), d, p))
    'Rankings are concordant under 0 of 1 pair of references; least ann and bob (no nearer than random orders)'
    """
    first, second = np.triu_indices(len(result.truths), 1)
    distance = np.maximum(result.distance[first, second], result.distance[second, first])
    known = np.flatnonzero(np.isfinite(distance))
    if not len(known):
        return "No two references rank the same models"
    least = known[distance[known].argmax()]
    pair = int(first[least]), int(second[least])
    agreeing = int(result.concordant[first, second][known].sum())
    names = f"{shown(str(result.truths[pair[0]]))} and {shown(str(result.truths[pair[1]]))}"
    noun = "pair" if len(known) == 1 else "pairs"
    by_chance = "" if result.concordant[pair] else " (no nearer than random orders)"
    return f"Rankings are concordant under {agreeing} of {len(known)} {noun} of references; least {names}{by_chance}"


@checked
def plot_concordance(result: Concordance) -> go.Figure:
    """Plot distances of rankings for every two references, with p-values below the diagonal, titled with the finding.

    Shows the greater value of both directions.
    """
    distance, p = (np.maximum(values, values.T) for values in (result.distance, result.p))
    values = np.where(np.triu(np.ones_like(p), 1) > 0, distance, p)
    np.fill_diagonal(values, np.nan)
    return square_heatmap(result.truths.tolist(), values, "D", concordance_title(result), "p")


def bounds_title(detectors: Sequence[str], bounds: Intervals, outside: int = 0, compared: int | None = None) -> str:
    """Summarise in one line which detectors the labels can distinguish, and how often the bounds fail.

    `outside` is the number of areas under single raters outside the bounds, which shows that the bounds are too narrow.
    `compared` is the total number of these areas.

    Examples
    --------
    >>> bounds_title(["net", "svm", "rf"], [[0.5, 0.8], [0.6, 0.7], [0.1, 0.2]])
    '2 of 3 pairs of detectors can be told apart; net and svm cannot'
    >>> bounds_title(["net", "svm"], [[0.5, 0.8], [0.1, 0.2]], outside=3, compared=8)
    'net and svm can be told apart, but 3 of 8 areas under single raters lie outside the bounds'
    """
    detectors = names_shown(detectors, MOST_LETTERS)
    low, high = as_intervals(bounds, len(detectors)).T
    first, second = np.triu_indices(len(detectors), 1)
    known = np.isfinite(low[first]) & np.isfinite(low[second])
    first, second = first[known], second[known]
    if not len(first):
        return "No two detectors can be compared"
    apart = (low[first] > high[second]) | (low[second] > high[first])
    mixed = [f"{detectors[a]} and {detectors[b]}" for a, b in zip(first[~apart], second[~apart], strict=True)]
    of_all = "" if compared is None else f" of {compared}"
    areas = f"area{'' if outside == 1 and compared is None else 's'} under single raters"
    doubt = f", but {outside}{of_all} {areas} {'lies' if outside == 1 else 'lie'} outside the bounds" if outside else ""
    if not apart.any():
        return f"{mixed[0]} cannot be told apart" if len(mixed) == 1 else "No two detectors can be told apart"
    if not mixed:
        who = (
            f"{detectors[0]} and {detectors[1]}"
            if len(detectors) == 2
            else f"All {number_of(len(detectors), 'detector')}"
        )
        return f"{who} can be told apart{doubt}"
    others = "" if len(mixed) == 1 else f", nor can {len(mixed) - 1} more"
    pairs = f"{apart.sum()} of {number_of(len(apart), 'pair')} of detectors can be told apart"
    return f"{pairs}{doubt}" if doubt else f"{pairs}; {mixed[0]} cannot{others}"


def bounds_bars(
    detectors: Sequence[str],
    bounds: Intervals,
    raters: Sequence[str],
    areas: NDArray[np.float64],
    title: str = "",
) -> go.Figure:
    """Plot the bounds of each detector's area as bars, with a tick for its area under each rater.

    Parameters
    ----------
    detectors, raters : (S,), (R,) str
    bounds : (S, 2)
    areas : (R, S)
        NaN where undefined.
    title : str
    """
    detectors = names_shown(detectors)
    raters = names_shown(raters)
    ends = as_intervals(bounds, len(detectors))
    texts = ["undefined" if np.isnan(low) else f"{alpha_text(low)} to {alpha_text(high)}" for low, high in ends]
    names = [f"<b>{name}</b>: {text}" for name, text in zip(detectors, texts, strict=True)]
    row, column = np.nonzero(np.isfinite(areas))
    values = areas[row, column]
    hover = [
        f"<b>{detectors[detector]}</b> under {raters[rater]}: {alpha_text(value)}"
        for rater, detector, value in zip(row.tolist(), column.tolist(), values, strict=True)
    ]
    line = {"width": 2, "color": [rater_colour(rater) for rater in row.tolist()]}
    marks = ticks(values, column.tolist(), BAR_HEIGHT - 6, line, "raters", hover)
    low, high = value_range(ends, areas)
    layout = row_layout(detectors, title, "area under precision over recall", low, high)
    layout["xaxis"]["range"][1] = high + 0.55 * (high - low)  # the texts name both ends
    layout["xaxis"]["tickvals"] = [0, 0.5, 1]
    figure = go.Figure([spans(ends, PALE, names, "any to high agreement", "bounds"), marks], layout=layout)
    return with_value_column(figure, texts, high)


@checked
def plot_bounds(result: DetectorRanking) -> go.Figure:
    """Plot the bounds of every detector of a result, titled with the finding."""
    detectors, of_rater = result.detectors.tolist(), np.isin(result.truths, result.raters)
    return bounds_bars(
        detectors,
        result.bounds,
        result.truths[of_rater].tolist(),
        result.area[of_rater],
        bounds_title(detectors, result.bounds, int(result.raters_outside.sum()), int(result.raters_compared.sum())),
    )


def shared_title(shared: Sequence[SharedRanking]) -> str:
    """Summarise in one line how many distinct rankings there are.

    Examples
    --------
    >>> from kalos_core.ranking import SharedRanking
    >>> names, ranks = np.array(["net", "svm"]), np.array([1.0, 2.0])
    >>> shared_title([SharedRanking(np.array(["ann", "bob"]), names, ranks)])
    'All 2 references give one ranking: net > svm'
    >>> shared_title(
    ...     [SharedRanking(np.array(["ann", "bob"]), names, ranks), SharedRanking(["any"], names[::-1], ranks)]
    ... )
    '3 references give 2 rankings; 2 of them net > svm'
    """
    if not shared:
        return "Nothing can be ranked"
    references, first = sum(len(each.truths) for each in shared), shared[0]
    order = replace(first, systems=np.array(names_shown(first.systems, MOST_LETTERS), dtype=np.object_)).order
    if len(shared) == 1:
        who = "The one reference gives" if references == 1 else f"All {number_of(references, 'reference')} give"
        return f"{who} one ranking: {order}"
    return (
        f"{number_of(references, 'reference')} give {number_of(len(shared), 'ranking')}; {len(first.truths)} of them "
        f"{order}"
    )


@checked
def plot_shared_rankings(rankings: Rankings) -> go.Figure:
    """Plot the distinct rankings (Lampert et al., Table IV), each with the number of references that give it."""
    shared = shared_rankings(rankings)
    models = list(dict.fromkeys(str(name) for each in shared for name in each.systems))
    ranks = np.full((len(shared), len(models)), np.nan)
    for row, each in enumerate(shared):
        ranks[row, [models.index(str(name)) for name in each.systems]] = each.ranks
    names = [", ".join(str(name) for name in each.truths) for each in shared]
    figure = bump_chart(names, models, ranks, np.full(ranks.shape, np.nan), "", shared_title(shared))
    for number, model in enumerate(models):
        figure.data[number].customdata = [
            f"<b>{shown(model, None)}</b>: rank {rank:g} under {shown(name, None)}"
            for name, rank in zip(names, ranks[:, number], strict=True)
        ]
    counts = [f"{len(each.truths)} reference{'' if len(each.truths) == 1 else 's'}" for each in shared]
    return figure.update_layout(xaxis_ticktext=counts)


def detector_correlation_title(detectors: Sequence[str], cco: Numbers, cci: Numbers) -> str:
    """Summarise in one line which detector's output is correlated with agreement most.

    Examples
    --------
    >>> detector_correlation_title(["Gauss", "C-S"], [0.5293, 0.6387], [0.4711, 0.5259])
    'C-S correlates most with agreement: r +0.639 on marked pixels, +0.526 on the whole image'
    """
    detectors = names_shown(detectors, MOST_LETTERS)
    marked, whole = as_numbers(cco), as_numbers(cci)
    known = np.flatnonzero(np.isfinite(whole))
    if not len(known):
        return "No detector can be compared with agreement"
    most = int(known[np.argmax(whole[known])])
    on_marked = f"r {signed(marked[most])} on marked pixels, " if np.isfinite(marked[most]) else "r "
    return f"{detectors[most]} correlates most with agreement: {on_marked}{signed(whole[most])} on the whole image"


@checked
def plot_detector_correlations(result: DetectorRanking) -> go.Figure:
    """Plot correlations of detector output with agreement, on marked pixels and all (Lampert et al., Table III).

    Empty dots are not significant at 99 %. A detector with a CCI far below its CCO raises false alarms. The title names
    the detector with the highest correlation.
    """
    table = result.by_detector()
    detectors = names_shown(result.detectors)
    dots = []
    for number, (name, column) in enumerate((("marked pixels (CCO)", "cco"), ("whole image (CCI)", "cci"))):
        values, chance = as_numbers(table[column].tolist()), as_numbers(table[f"{column}_p"].tolist())
        texts = [
            f"<b>{detector}</b>, {name}: r {signed(value)}{significance(share)}"
            for detector, value, share in zip(detectors, values, chance, strict=True)
        ]
        symbols = ["circle-open" if share >= SIGNIFICANT else "circle" for share in chance]
        rows, colour = range(len(detectors)), rater_colour(number)
        dots.append(points(values, rows, colour, name, texts=texts, size=11, symbol=symbols))
    cco, cci = table["cco"].tolist(), table["cci"].tolist()
    ends = value_range(as_numbers(cco), as_numbers(cci))
    title = detector_correlation_title(result.detectors.tolist(), cco, cci)
    return dotted_rows(detectors, dots, title, "Pearson's r with agreement", ends)


def curves_title(detector: str, areas: Numbers) -> str:
    """Summarise in one line how much a detector's area depends on the reference.

    Examples
    --------
    >>> curves_title("net", [0.62, None, 0.81])
    'net reaches 0.62 to 0.81, depending on the reference'
    """
    detector = shown(detector)
    values = as_numbers(areas)
    values = values[np.isfinite(values)]
    if not len(values):
        return f"{detector} cannot be measured: no reference has both marked and unmarked pixels"
    low, high = alpha_text(float(values.min())), alpha_text(float(values.max()))
    return (
        f"{detector} reaches {low} under every reference"
        if low == high
        else (f"{detector} reaches {low} to {high}, depending on the reference")
    )


def precision_curves(
    names: Sequence[str],
    recall: Sequence[float] | NDArray[np.float64],
    precision: Matrix,
    areas: Numbers,
    dashed: Sequence[bool] = (),
    title: str = "",
) -> go.Figure:
    """Plot precision averaged over skew by recall: one curve for each reference of a detector, or vice versa.

    Parameters
    ----------
    names : (n,) str
    recall, precision : (P,), (n, P)
        As returned by `DetectorRanking.sampled`.
    areas : (n,)
        Shown after the names; curves with an undefined area are omitted.
    dashed : (n,) bool, optional
        Curves of another kind, such as those under estimated references.
    title : str
    """
    curves = []
    for number, (name, values, area) in enumerate(zip(names, precision, as_numbers(areas), strict=True)):
        if np.isnan(area):
            continue
        dash = DASHES[number % len(DASHES)] if len(dashed) and dashed[number] else "solid"
        colour = rater_colour(number) if dash == "solid" else WHISKER
        hover = f"<b>{shown(name, None)}</b>: {PRECISION_AT}"
        curves.append(curve(recall, values, colour, f"{shortened(name)}: {alpha_text(area)}", hover, dash=dash))
    return _over_recall(curves, title, "precision, mean over skew", len(curves), "area")


def _over_recall(traces: Sequence[go.Scatter], title: str, y: str, entries: int, legend: str) -> go.Figure:
    axis = {"range": [0, 1.02], "zeroline": False}
    return with_legend_below(framed(traces, title, "recall", y, 340, xaxis=axis, yaxis=axis), entries, legend)


@checked
def plot_curves(result: DetectorRanking, detector: str | None = None) -> go.Figure:
    """Plot the curves of one detector under every reference, titled with their range; estimates are dashed."""
    detector = str(result.detectors[0]) if detector is None else detector
    column = _column(result, detector)
    recall, precision = result.sampled()
    return precision_curves(
        result.truths.tolist(),
        recall.tolist(),
        precision[:, column],
        result.area[:, column],
        dashed=(~np.isin(result.truths, result.raters)).tolist(),
        title=curves_title(detector, result.area[:, column]),
    )


def agreement_curves_title(detector: str, areas: Numbers) -> str:
    """Summarise in one line whether a detector is better where more raters agree; areas are by ascending threshold.

    Examples
    --------
    >>> agreement_curves_title("net", [0.42, 0.55, 0.71]), agreement_curves_title("net", [0.5, 0.7, 0.6])
    ('The more raters agree, the better net does: 0.42 to 0.71', 'net does best at threshold 2 of 3: 0.70')
    """
    detector = shown(detector)
    values = as_numbers(areas)
    known = values[np.isfinite(values)]
    if not len(known):
        return f"{detector} cannot be measured: no threshold leaves both marked and unmarked pixels"
    if len(known) > 1 and (np.diff(known) >= 0).all() and known[-1] > known[0]:
        span = f"{alpha_text(float(known[0]))} to {alpha_text(float(known[-1]))}"
        return f"The more raters agree, the better {detector} does: {span}"
    best = int(np.nanargmax(values))
    return f"{detector} does best at threshold {best + 1} of {len(values)}: {alpha_text(float(values[best]))}"


@checked
def plot_agreement_curves(result: DetectorRanking, detector: str | None = None) -> go.Figure:
    """Plot the curves of one detector by threshold of agreement, darker for higher ones (Lampert et al., Fig. 5).

    Raises
    ------
    InputError
        If the ranking has no thresholds of agreement; use `DetectorAccumulator(shares="all")`.
    """
    from plotly.colors import sample_colorscale

    detector = str(result.detectors[0]) if detector is None else detector
    column = _column(result, detector)
    rows = result.by_agreement
    if not len(rows):
        raise InputError('result: expected thresholds of agreement, got none; DetectorAccumulator(shares="all") counts')
    recall, precision = result.sampled()
    names, areas = result.truths[rows].tolist(), result.area[rows, column]
    title = agreement_curves_title(detector, areas)
    figure = precision_curves(names, recall.tolist(), precision[rows, column], areas, title=title)
    shades = sample_colorscale("Blues", np.linspace(0.35, 1, len(names)).tolist())
    for trace, shade in zip(figure.data, np.array(shades)[np.isfinite(areas)], strict=True):
        trace.line.color = str(shade)
    return figure


def reference_title(reference: str, detectors: Sequence[str], areas: Numbers) -> str:
    """Summarise the ranking of detectors under one reference in one line.

    Examples
    --------
    >>> reference_title("0.5", ["Gauss", "2D GWLC", "C-S"], [0.5, 0.6, None])
    'Under 0.5: 2D GWLC (0.60) before Gauss (0.50)'
    """
    detectors = names_shown(detectors, MOST_LETTERS)
    reference = shown(reference)
    values = as_numbers(areas)
    order = [index for index in np.argsort(-values, kind="stable") if np.isfinite(values[index])]
    if not order:
        return f"No detector can be measured under {reference}: it has no marked or no unmarked pixels"
    best = [f"{detectors[index]} ({alpha_text(float(values[index]))})" for index in order[:3]]
    more = f", then {len(order) - 3} more" if len(order) > 3 else ""
    return f"Under {reference}: {' before '.join(best)}{more}"


@checked
def plot_reference(result: DetectorRanking, reference: str | None = None) -> go.Figure:
    """Plot the curves of all detectors under one reference, titled with their ranking (Lampert et al., Fig. 6)."""
    reference = str(result.truths[0]) if reference is None else reference
    row = index_of(result.truths.tolist(), reference, "reference")
    recall, precision = result.sampled()
    detectors, areas = result.detectors.tolist(), result.area[row]
    title = reference_title(reference, detectors, areas)
    return precision_curves(detectors, recall.tolist(), precision[row], areas, title=title)


def boundaries_title(detectors: Sequence[str], ods: Numbers, ois: Numbers) -> str:
    """Summarise the best boundary detector in one line.

    Examples
    --------
    >>> boundaries_title(["gPb-ucm", "REN"], [0.726, 0.739], [0.757, 0.758])
    'REN finds boundaries best: F1 0.74 at one threshold (ODS), 0.76 at the best of each image (OIS)'
    """
    detectors = names_shown(detectors, MOST_LETTERS)
    values = as_numbers(ods)
    if not np.isfinite(values).any():
        return "No detector of boundaries can be measured"
    best = int(np.nanargmax(values))
    scores = f"F1 {alpha_text(values[best])} at one threshold (ODS), {alpha_text(as_numbers(ois)[best])}"
    return f"{detectors[best]} finds boundaries best: {scores} at the best of each image (OIS)"


@checked
def plot_boundary_evaluation(result: BoundaryEvaluation) -> go.Figure:
    """Plot boundary precision by recall for falling thresholds, with the ODS marked; titled with the best detector."""
    table = result.by_detector()
    detectors, traces = result.detectors.tolist(), []
    for number, name in enumerate(detectors):
        row, colour, who = table.iloc[number], rater_colour(number), f"<b>{shown(name, None)}</b>"
        label, hover = f"{shortened(name)}: {alpha_text(row['ods'])}", f"{who} at %{{customdata}}: {PRECISION_AT}"
        texts = [f"{threshold:.3g}" for threshold in result.thresholds]
        traces.append(
            curve(as_plain(result.recall[number]), result.precision[number], colour, label, hover, texts=texts)
        )
        hover = f"{who}: ODS {alpha_text(row['ods'])}, OIS {alpha_text(row['ois'])}"
        best = as_plain(as_numbers([row["precision"]]))
        traces.append(points([row["recall"]], best, colour, None, hover, size=11, showlegend=False))
    title = boundaries_title(detectors, result.ods.tolist(), result.ois.tolist())
    return _over_recall(traces, title, "precision", len(detectors), "best F1")


def _column(result: DetectorRanking, detector: str) -> int:
    return index_of(result.detectors.tolist(), detector, "detector")
