"""Figures of results of masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import (
    percent_text,
    signed,
)
from kalos_core.pixels import SIGNIFICANT, PixelAgreement, RaterPerformance
from kalos_core.pixels.performance import SHARES
from kalos_core.report.look import Matrix, Ranked, Row
from kalos_core.report.objects import captioned, names_of, pairs_form
from kalos_core.report.pages import Figure
from kalos_core.text import plain


def share_of_all(found: PixelAgreement) -> Figure:
    """Share of the marked pixels that at least n raters marked."""
    from kalos_core.figures import plot_ratio
    from kalos_core.figures.pixels import ratio_title

    rows = [
        Row(f"at least {number}", percent_text(value), float(value))
        for number, value in enumerate(np.asarray(found.ratio).tolist(), start=1)
    ]
    form = Ranked("Share of all marked pixels", ("raters", "share"), rows)
    return captioned("ratio", form, ratio_title(found.ratio), plot=partial(plot_ratio, found))


def who_marks_alike(found: PixelAgreement) -> Figure:
    """F1 of every two raters, in the order of the tree."""
    from kalos_core.figures import plot_rater_tree
    from kalos_core.figures.pixels import tree_title

    order = found.order
    names = names_of(found.raters[order])
    values = np.array(found.f1, dtype=np.float64)[np.ix_(order, order)]
    np.fill_diagonal(values, np.nan)
    form = pairs_form("F1 of every two raters, with similar raters next to each other", names, values, what="F1")
    title = tree_title(found.raters.tolist(), found.outliers.tolist())
    return captioned("tree", form, title, plot=partial(plot_rater_tree, found))


def against(found: RaterPerformance, name: str = "performance", before: str = "") -> Figure:
    """Comparison of each rater with a reference."""
    from kalos_core.figures import plot_performance
    from kalos_core.figures.pixels import performance_title

    raters = found.raters.tolist()
    title = f"{before}{performance_title(raters, found.kappa)}"
    values = {label: np.asarray(getattr(found, key), np.float64) for key, label in SHARES.items()}
    return captioned(name, measured(raters, values), title, plot=partial(plot_performance, found))


def measured(raters: Sequence[str], values: Mapping[str, NDArray[np.float64]]) -> Matrix:
    """Matrix of a few numbers for each rater."""
    columns = np.stack([np.asarray(each, np.float64) for each in values.values()], axis=1)
    return Matrix("Each rater against the reference", names_of(raters), list(values), columns, heads=("rater", ""))


def with_properties(found: PixelAgreement) -> Figure:
    """Correlation of agreement with image properties."""
    from kalos_core.figures import plot_correlations
    from kalos_core.figures.pixels import correlation_title, significance

    rows = [
        Row(
            plain(each.name),
            signed(each.r) if each.r is not None and np.isfinite(each.r) else plain(each.reason or "undefined"),
            np.nan if each.r is None else float(each.r),
            beside=(significance(each.p).removeprefix(", "),),
            pale=each.p is not None and each.p >= SIGNIFICANT,
        )
        for each in found.correlations
    ]
    form = Ranked("Correlation with agreement", ("property", "r", "significance"), rows, (-1.0, 1.0))
    names, values = [each.name for each in found.correlations], [each.r for each in found.correlations]
    title = correlation_title(names, values, [each.p for each in found.correlations])
    return captioned("properties", form, title, plot=partial(plot_correlations, found))
