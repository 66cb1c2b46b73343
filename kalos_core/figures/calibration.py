"""Plots of calibration: observed and expected distances, and the distance that separates them."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from kalos_core.calibration import Calibration, Separation
from kalos_core.calibration.shares import CURVE_AT, DISTANCE_EDGES
from kalos_core.display import alpha_text, with_interval
from kalos_core.errors import InputError, lookup
from kalos_core.figures.common import (
    LEGEND_AT_BOTTOM,
    NEUTRAL,
    NOTE,
    Layout,
    stripe,
    titled,
    upright,
)
from kalos_core.figures.late import go
from kalos_core.figures.traces import curve, histogram
from kalos_core.options import checked

OBSERVED_COLOUR = "#7A5CE0"
"""Colour of distances within an image; chance is grey. It differs from those of variation types and raters."""

SHARE_TICKS = [0.0001, 0.001, 0.01, 0.1, 1.0]


def calibration_title(name: str, ks: float | None, tau: float | None, reason: str = "", why: str = "") -> str:
    """Summarise a calibration in one line; `why` gives reasons not to trust it (`Separation.why`).

    Examples
    --------
    >>> calibration_title("box_iou", 0.831, 0.735)
    'Beyond distance τ* = 0.73 chance is likelier: threshold τ*_s = 0.27 for box_iou (KS 0.83)'
    >>> calibration_title("box_iou", 0.31, 0.735, why="observed and expected distances hardly part")
    'Threshold τ*_s = 0.27 for box_iou is not to be trusted: observed and expected distances hardly part'
    >>> calibration_title("box_iou", 0.0, None, "all 9 expected distances are 1, and have no density")
    'No threshold for box_iou: all 9 expected distances are 1, and have no density'
    """
    if tau is None or np.isnan(tau):
        return f"No threshold for {name}: {reason}"
    if why:
        return f"Threshold τ*_s = {alpha_text(1 - tau)} for {name} is not to be trusted: {why}"
    return (
        f"Beyond distance τ* = {alpha_text(tau)} chance is likelier: threshold τ*_s = {alpha_text(1 - tau)} for "
        f"{name} (KS {alpha_text(ks)})"
    )


def threshold_text(found: Separation, used: tuple[str, float] | None = None) -> str:
    """Describe the threshold of a similarity, and optionally the similarity and threshold in use.

    Examples
    --------
    >>> near, far = np.linspace(0.1, 0.3, 20), np.linspace(0.7, 1.0, 20)
    >>> found = Separation("box_iou", "all", near, far, 0.8, 0.3, 0.6, "")
    >>> threshold_text(found, ("box_iou", 0.5))
    'From box_iou 0.40 on, two annotations are more likely the same object than chance; in use: 0.50'
    """
    if found.reason:
        text = f"No threshold for {found.name}: {found.reason}"
    elif found.why:
        text = f"Threshold {alpha_text(found.threshold)} for {found.name} is not to be trusted: {found.why}"
    else:
        above = f"From {found.name} {alpha_text(found.threshold)} on"
        text = f"{above}, two annotations are more likely the same object than chance"
    if used is None:
        return text
    similarity, threshold = used
    return f"{text}; in use: {'' if similarity == found.name else f'{similarity} '}{alpha_text(threshold)}"


@checked
def plot_calibration(found: Separation | Calibration, similarity: str | None = None) -> go.Figure:
    """Plot observed and expected distances of one similarity with their densities; tau* and the KS gap are marked.

    Parameters
    ----------
    found : Separation or Calibration
        For a calibration, the similarity with the largest KS is plotted by default.
    similarity : str, optional
    """
    if isinstance(found, Calibration):
        if not len(found.separations):
            raise InputError("found: expected a calibration of at least one similarity, got none")
        known = {separation.name: separation for separation in found.separations}
        found = found.separations[0] if similarity is None else lookup(known, similarity, "similarity")
    named = (("observed: raters of one image", OBSERVED_COLOUR), ("expected: raters of different images", NEUTRAL))
    figure = go.Figure()
    for (name, colour), sample in zip(named, found.shares, strict=True):
        figure.add_trace(_bars(name, colour, sample.share))
    for (name, colour), sample in zip(named, found.shares, strict=True):
        at = CURVE_AT[: len(sample.curve)]
        figure.add_trace(curve(at, sample.curve, colour, name, legendgroup=name, showlegend=False))
    figure.add_trace(go.Scatter(x=[None], y=[None], xaxis="x2", showlegend=False, hoverinfo="skip"))  # shows the axis
    shown = np.concatenate([sample.share for sample in found.shares])
    least = max(float(shown[shown > 0].min(initial=0.01)) / 2, SHARE_TICKS[0])
    ticks = {"tickvals": [0, 0.2, 0.4, 0.6, 0.8, 1], "range": [-0.02, 1.02], "fixedrange": True, "zeroline": False}
    figure.update_layout(
        title=titled(_title(found)) | {"y": 0.97, "yanchor": "top"},
        xaxis={"title": {"text": "distance τ to the nearest annotation (1 − similarity)"}, **ticks},
        xaxis2={
            "title": {"text": "similarity τ_s", "standoff": 4, "font": {"size": 14}},
            "overlaying": "x",
            "side": "top",
            "showgrid": False,
            "ticktext": ["1", "0.8", "0.6", "0.4", "0.2", "0"],
            **ticks,
        },
        yaxis={
            "title": {"text": "share of annotations (log scale)"},
            "type": "log",  # chance is mostly one bar at distance 1, and the densities cross far below it
            "range": [np.log10(least), np.log10(1.2)],
            "tickvals": SHARE_TICKS,
            "ticktext": [f"{100 * share:g} %" for share in SHARE_TICKS],
            "fixedrange": True,
        },
        barmode="overlay",
        bargap=0,
        margin={"t": 90, "b": 105, "l": 60, "r": 15},
        legend=LEGEND_AT_BOTTOM,
        height=400,
        shapes=_lines(found),
        annotations=_labels(found),
    )
    return figure


def _title(found: Separation) -> str:
    name = found.name if found.size == "all" else f"{found.name} of {found.size} annotations"
    return calibration_title(name, found.ks, found.tau, found.reason, found.why)


def _bars(name: str, colour: str, shares: NDArray[np.float64]) -> go.Bar:
    ranges = [
        f"{low:.2f} to {high:.2f} (similarity {1 - high:.2f} to {1 - low:.2f})"
        for low, high in itertools.pairwise(DISTANCE_EDGES)
    ]
    hover = "%{y:.2%} at distance %{customdata}<extra>" + name.split(":")[0] + "</extra>"
    bars = histogram(DISTANCE_EDGES, shares, hover, ranges, name, colour=colour, opacity=0.55, legendgroup=name)
    return bars.update(marker_line_width=0)


def _lines(found: Separation) -> list[Layout]:
    """Line at tau* on the band of its interval, and a dotted line at the largest gap (KS)."""
    low, high = found.tau_interval.tolist()
    shapes = [] if np.isnan([low, high]).any() else [stripe(low, high, "rgba(128, 128, 128, 0.2)")]
    if np.isfinite(found.ks_at):
        shapes.append(upright(found.ks_at, NEUTRAL, 1, "dot"))
    if np.isfinite(found.tau):
        shapes.append(upright(found.tau, OBSERVED_COLOUR, dash="dash"))
    return shapes


def _labels(found: Separation) -> list[Layout]:
    """Labels of the lines, all on the side with more room."""
    texts = [
        (found.tau, f"τ* = {with_interval(found.tau, found.tau_interval)} (dashed)"),
        (found.ks_at, f"largest gap at {alpha_text(found.ks_at)} (dotted)"),
    ]
    known = [(at, text) for at, text in texts if np.isfinite(at)]
    leftmost, rightmost = min((at for at, _ in known), default=0.0), max((at for at, _ in known), default=0.0)
    on_left = leftmost > 1 - rightmost
    return [
        {
            **NOTE,
            "x": leftmost if on_left else rightmost,
            "y": 0.99 - 0.07 * number,
            "text": text,
            "xanchor": "right" if on_left else "left",
            "yanchor": "top",
            "xshift": -4 if on_left else 4,
        }
        for number, (_, text) in enumerate(known)
    ]
