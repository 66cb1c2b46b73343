"""Plots of agreement: distribution of image alphas, and comparison with published values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import BAND_SOURCES, BANDS, Agreement, verdict
from kalos_core.diagnostics import NarrowedAgreement, NextToRate
from kalos_core.display import Numbers, alpha_text, number_of, significant, with_interval
from kalos_core.figures.bars import BAR_HEIGHT, row_layout, value_bars
from kalos_core.figures.common import (
    NEUTRAL,
    NOTE,
    OWN,
    PALE,
    Layout,
    as_intervals,
    as_numbers,
    framed,
    stripe,
    upright,
    whiskers,
)
from kalos_core.figures.late import go
from kalos_core.figures.published import PUBLISHED_ALPHAS, PublishedAlpha
from kalos_core.figures.traces import histogram, points
from kalos_core.options import checked

BIN_WIDTH = 0.1
"""Bin width of the histogram of alpha."""

BELOW_NAMES = 0.72
"""Height of the highest bar as a share of the plot; the labels of lines are above it."""

FEW = 5
"""Largest count for which the axis has a tick at every count, since plotly would use halves."""


def agreement_title(alpha: float | None, interval: Numbers) -> str:
    r"""Summarise an agreement in one line.

    Examples
    --------
    >>> agreement_title(0.689, [0.634, 0.745])
    'Raters agree substantially: 0.69\xa0[0.63,\xa00.74]'
    """
    value = float("nan") if alpha is None else alpha
    finding = verdict(value, as_numbers(interval))
    return finding if np.isnan(value) else f"{finding}: {with_interval(alpha, interval)}"


def alpha_bins(image_alpha: Numbers) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return edges (B + 1,) and counts (B,) of defined image alphas in steps of 0.1, from the lowest to 1.

    A bin includes its lower edge, low <= alpha < high; the last one also includes its upper edge.

    Examples
    --------
    >>> edges, counts = alpha_bins([0.85, 1.0, 0.9, None])
    >>> edges.tolist(), counts.tolist()
    ([0.8, 0.9, 1.0], [1, 2])
    """
    values = as_numbers(image_alpha)
    values = values[np.isfinite(values)]
    lowest = float(values.min()) if len(values) else 0.0
    steps = np.arange(np.floor(lowest / BIN_WIDTH) - 1, 1 / BIN_WIDTH + 1)
    edges = np.round(steps * BIN_WIDTH, 10)  # readable numbers: 0.3, not 0.30000000000000004
    first = np.searchsorted(edges[:-1], lowest, side="right") - 1
    return edges[first:], np.histogram(values, edges[first:])[0]


def alpha_histogram(image_alpha: Numbers, title: str = "", global_alpha: float | None = None) -> go.Figure:
    """Plot a histogram of image alphas with the bands in the background; one bar for each bin of `alpha_bins`.

    Labelled lines mark the mean (solid), the median (dashed) and, if given, the alpha of all units in one matrix
    (dotted), as in KαLOS Fig. 20.

    Parameters
    ----------
    image_alpha : (I,) None or NaN where undefined
    title : str
    global_alpha : float, optional
    """
    values = as_numbers(image_alpha)
    values = values[np.isfinite(values)]
    middles = (
        [("mean", float(values.mean()), "solid"), ("median", float(np.median(values)), "dash")] if len(values) else []
    )
    if global_alpha is not None and np.isfinite(global_alpha):
        middles.append(("all units", global_alpha, "dot"))
    edges, counts = alpha_bins(image_alpha)
    halfway = (edges[0] + 1) / 2
    ranges = [f"{alpha_text(low, 1)} to {alpha_text(high, 1)}" for low, high in itertools.pairwise(edges)]
    hover = "%{y} images with alpha %{customdata}<extra>click to see them</extra>"
    bars = histogram(edges, counts, hover, ranges, "images", share=0.92)
    return framed(
        [bars],
        title,
        "alpha of the image",
        "images",
        300,
        xaxis_range=[edges[0] - 0.03, 1.03],
        xaxis_dtick=0.2,
        yaxis_range=[0, max(int(counts.max()), 1) / BELOW_NAMES],
        yaxis_dtick=1 if counts.max(initial=0) <= FEW else None,  # no half images
        margin={"t": 60 if title else 36, "l": 50},
        shapes=[*_band_shapes(float(edges[0])), *(upright(at, OWN, dash=dash) for _, at, dash in middles)],
        annotations=[
            *_band_names(float(edges[0]), in_turn=bool(edges[0] < 0)),
            *(_middle_name(name, at, row, at > halfway) for row, (name, at, _) in enumerate(middles)),
        ],
    )


def alpha_scale(
    alpha: float | None,
    interval: Sequence[float | None],
    similarity: str,
    published: Sequence[PublishedAlpha] = PUBLISHED_ALPHAS,
) -> go.Figure:
    """Plot the alpha of a run above published ones, best first, on one axis with the bands in the background.

    Values found with another similarity are pale, since they are not comparable.
    """
    rows = sorted(published, key=lambda record: -record.alpha)
    same = [record.similarity == similarity for record in rows]
    own = as_numbers([alpha])
    hover = [f"<b>this run</b>: alpha {with_interval(alpha, interval, 3)}"]
    hover += [
        f"<b>{r.dataset}</b>: alpha {alpha_text(r.alpha, 3)}<br>{r.printed}<br>{r.note}<br>{r.source}" for r in rows
    ]
    figure = go.Figure(
        points(
            [*own, *(record.alpha for record in rows)],
            range(len(rows) + 1),
            [OWN, *(NEUTRAL if alike else PALE for alike in same)],
            "alpha",
            texts=hover,
            size=[13, *([10] * len(rows))],
            symbol=["diamond", *(["circle"] * len(rows))],
            marker_line_width=0,
            error_x=whiskers(own, as_intervals([interval], 1)),
        )
    )
    lowest = min(0.0, *own[np.isfinite(own)].tolist(), 0.0)
    names = ["this run", *(f"{record.dataset}, {record.task.split(',')[0]}" for record in rows)]
    figure.update_layout(row_layout(names, "", "mean alpha over images", lowest, 1.0))
    figure.update_layout(
        xaxis={"range": [lowest - 0.03, 1.03], "dtick": 0.2, "zeroline": False},
        margin={"t": 36, "l": 125},
        height=36 + 45 + BAR_HEIGHT * len(names) + 10,
        shapes=_band_shapes(lowest),
        annotations=_band_names(lowest, in_turn=True),
    )
    return figure


@checked
def plot_agreement(result: Agreement | NarrowedAgreement) -> go.Figure:
    """Plot the histogram of a result or a part of it, titled with its finding."""
    title = agreement_title(result.alpha, result.alpha_interval)
    return alpha_histogram(result.image_alpha, title, result.global_alpha)


@checked
def plot_next_to_rate(result: NextToRate) -> go.Figure:
    """Plot how much another rater on each image narrows the interval per label, largest first."""
    rates = result.narrowing / result.labels
    texts = [significant(rate, 2) for rate in rates]
    return value_bars(
        list(map(str, result.image)),
        rates,
        axis="narrowing of the interval for each label",
        name="narrowing",
        title=f"Images for another rater: how much the interval on {result.statistic.replace('_', ' ')} narrows",
        hover=[
            f"{text} a label, about {significant(labels)} labels; {number_of(raters, 'rater')}, alpha {alpha_text(own)}"
            for text, labels, raters, own in zip(texts, result.labels, result.raters, result.alpha, strict=True)
        ],
        texts=texts,
        room=0.1,
    )


def _middle_name(name: str, at: float, row: int, to_left: bool) -> Layout:
    """Label of a line, on the side with more room, one below the other."""
    return {
        **NOTE,
        "x": at,
        "y": 0.98 - 0.09 * row,
        "yanchor": "top",
        "xanchor": "right" if to_left else "left",
        "xshift": -4 if to_left else 4,
        "text": f"{name} {alpha_text(at)}",
        "font": {"size": 11, "color": "#222222"},  # dark on light in every theme
        "bgcolor": "rgba(255, 255, 255, 0.85)",
    }


def _band_shapes(lowest: float) -> list[Layout]:
    """Grey bands in the background, darker for less agreement."""
    edges = [1.0, *(least for least, _ in BANDS), min(lowest - 0.03, 0.0)]
    return [
        stripe(
            max(low, lowest - 0.03),
            min(high, 1.03) if number else 1.03,
            f"rgba(128, 128, 128, {0.04 + 0.05 * number:.2f})",
        )
        for number, (high, low) in enumerate(itertools.pairwise(edges))
        if high > lowest - 0.03
    ]


def _band_names(lowest: float, *, in_turn: bool) -> list[Layout]:
    """Names of the bands above a plot, alternating between two lines if they would overlap."""
    edges = [1.0, *(least for least, _ in BANDS)]
    return [
        {
            **NOTE,
            "x": (max(low, lowest) + high) / 2,
            "y": 1.0,
            "yanchor": "bottom",
            "yshift": 11 * (number % 2) if in_turn else 0,
            "text": name,
            "font": {"size": 9},
            "opacity": 0.75,
            "hovertext": BAND_SOURCES,
        }
        for number, (high, low, (_, name)) in enumerate(zip(edges[:-1], edges[1:], BANDS, strict=True))
        if high - max(low, lowest) >= 0.15
    ]
