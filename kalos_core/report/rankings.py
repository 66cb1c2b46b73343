"""Figures of rankings of classifiers, detectors and models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import (
    alpha_text,
    count_text,
    signed,
)
from kalos_core.ranking import BoundaryEvaluation, Concordance, DetectorRanking, Rankings, shared_rankings
from kalos_core.report.axes import Line, Lines, series
from kalos_core.report.look import Matrix, Ranked, Row
from kalos_core.report.objects import MOST_COLUMNS, MOST_ROWS, captioned, names_of, pairs_form
from kalos_core.report.pages import Figure
from kalos_core.text import plain

FULL = (0.0, 1.0)


def ranks(found: Rankings, note: str = "") -> Figure:
    """Rank of each model under each reference."""
    from kalos_core.figures import plot_ranking
    from kalos_core.figures.ranking import ranking_title

    form = _ranks(
        "Rank under each reference, 1 is best", names_of(found.systems), names_of(found.truths), found.ranks.T
    )
    return captioned("bump", form, ranking_title(found), note, partial(plot_ranking, found))


def _ranks(label: str, models: Sequence[str], references: Sequence[str], values: NDArray[np.float64]) -> Matrix:
    """Matrix of ranks, with references as rows if there are too many for columns; full colour is best."""
    most = float(np.nanmax(values, initial=1.0))
    if len(references) > MOST_COLUMNS >= len(models):
        return Matrix(label, references, models, values.T, (most, 1.0), ("reference", "model"), "{:g}".format)
    return Matrix(label, models, references, values, (most, 1.0), ("model", "reference"), "{:g}".format)


def shared(found: Rankings) -> Figure:
    """Distinct rankings, with the number of references that give them."""
    from kalos_core.figures import plot_shared_rankings
    from kalos_core.figures.ranking import shared_title

    groups = shared_rankings(found)
    rows = [
        Row(
            plain(each.order),
            count_text(len(each.truths)),
            float(len(each.truths)),
            beside=(", ".join(names_of(each.truths)),),
        )
        for each in groups[:MOST_ROWS]
    ]
    most = max((row.value for row in rows), default=1.0)
    form = Ranked("The different rankings", ("order", "references", "which"), rows, (0.0, most))
    return captioned("shared", form, shared_title(groups), plot=partial(plot_shared_rankings, found))


def alike_rankings(found: Rankings) -> Figure:
    """Kendall's tau of every two references."""
    from kalos_core.figures import plot_tau
    from kalos_core.figures.ranking import tau_title

    values = np.array(found.tau, dtype=np.float64)
    np.fill_diagonal(values, np.nan)
    form = pairs_form("Kendall's tau of every two references", names_of(found.truths), values, (-1.0, 1.0), "tau")
    return captioned("tau", form, tau_title(found.truths.tolist(), found.tau), plot=partial(plot_tau, found))


def concordant(found: Concordance) -> Figure:
    """Distance of the rankings of every two references, and its p-value."""
    from kalos_core.figures import plot_concordance
    from kalos_core.figures.ranking import concordance_title

    distance, p = (np.maximum(values, values.T) for values in (found.distance, found.p))
    values = np.where(np.triu(np.ones_like(p), 1) > 0, distance, p)
    np.fill_diagonal(values, np.nan)
    label = "Distance of rankings (above the diagonal) and p (below)"
    form = pairs_form(label, names_of(found.truths), values, what="distance")
    return captioned("concordance", form, concordance_title(found), plot=partial(plot_concordance, found))


def bounds(found: DetectorRanking) -> Figure:
    """Bounds of each detector's area, with ticks for single raters."""
    from kalos_core.figures import plot_bounds
    from kalos_core.figures.ranking import bounds_title

    is_rater = np.isin(found.truths, found.raters)
    rows = [
        Row(
            name,
            "undefined" if np.isnan(low) else f"{alpha_text(low)} to {alpha_text(high)}",
            interval=(low, high),
            marks=[value for value in found.area[is_rater, at].tolist() if np.isfinite(value)],
        )
        for at, (name, (low, high)) in enumerate(
            zip(names_of(found.detectors), np.asarray(found.bounds).tolist(), strict=True)
        )
    ]
    form = Ranked("Area under precision over recall, least to greatest consensus", ("detector", "area"), rows)
    title = bounds_title(
        found.detectors.tolist(), found.bounds, int(found.raters_outside.sum()), int(found.raters_compared.sum())
    )
    return captioned("bounds", form, title, " ".join(map(plain, found.notes)), partial(plot_bounds, found))


def detector_curves(found: DetectorRanking) -> Iterator[Figure]:
    """Precision over recall: first detector under every reference and threshold, and all under the first."""
    from kalos_core.figures import plot_agreement_curves, plot_curves, plot_reference
    from kalos_core.figures.ranking import agreement_curves_title, curves_title, reference_title

    recall, precision = found.sampled()
    detectors, truths = found.detectors.tolist(), found.truths.tolist()
    form = _over_recall(truths, recall, precision[:, 0], found.area[:, 0])
    title = curves_title(detectors[0], found.area[:, 0])
    yield captioned("curves", form, title, plot=partial(plot_curves, found))
    rows = found.by_agreement
    if len(rows):
        names, areas = found.truths[rows].tolist(), found.area[rows, 0]
        title = agreement_curves_title(detectors[0], areas)
        form = _over_recall(names, recall, precision[rows, 0], areas)
        yield captioned("agreement", form, title, plot=partial(plot_agreement_curves, found))
    title = reference_title(truths[0], detectors, found.area[0])
    form = _over_recall(detectors, recall, precision[0], found.area[0])
    yield captioned("under", form, title, plot=partial(plot_reference, found))


def _over_recall(
    names: Sequence[str], recall: NDArray[np.float64], precision: NDArray[np.float64], areas: NDArray[np.float64]
) -> Lines:
    lines = [
        Line(f"{plain(str(name))}: {alpha_text(area)}", recall, values, None, *series(number), dotted=False)
        for number, (name, values, area) in enumerate(zip(names, precision, areas, strict=True))
        if np.isfinite(area)
    ]
    return Lines("Precision over recall, with the area", lines, "recall", "precision", FULL, FULL)


def with_agreement(found: DetectorRanking) -> Figure:
    """Correlation of each detector with agreement, on marked pixels and on the whole image."""
    from kalos_core.figures import plot_detector_correlations
    from kalos_core.figures.ranking import detector_correlation_title

    table = found.by_detector()
    values = table[["cco", "cci"]].to_numpy(dtype=np.float64)
    columns = ("marked pixels (CCO)", "whole image (CCI)")
    label = "Correlation of detectors with agreement"
    form = Matrix(label, names_of(found.detectors), columns, values, (-1.0, 1.0), ("detector", ""), signed)
    title = detector_correlation_title(found.detectors.tolist(), *values.T.tolist())
    return captioned("correlations", form, title, plot=partial(plot_detector_correlations, found))


def boundary_curves(found: BoundaryEvaluation, note: str = "") -> Figure:
    """Precision over recall of boundaries."""
    from kalos_core.figures import plot_boundary_evaluation
    from kalos_core.figures.ranking import boundaries_title

    lines = [
        Line(
            f"{name}: {alpha_text(found.ods[at])}",
            found.recall[at],
            found.precision[at],
            None,
            *series(at),
            dotted=False,
        )
        for at, name in enumerate(names_of(found.detectors))
    ]
    form = Lines("Precision over recall of boundaries, with the best F1", lines, "recall", "precision", FULL, FULL)
    title = boundaries_title(found.detectors.tolist(), found.ods.tolist(), found.ois.tolist())
    return captioned("boundaries", form, title, note, partial(plot_boundary_evaluation, found))
