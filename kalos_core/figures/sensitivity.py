"""Plots of localization sensitivity: agreement by similarity threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.diagnostics import Sensitivity
from kalos_core.display import Numbers, alpha_text, with_interval
from kalos_core.figures.common import (
    NEUTRAL,
    NOTE,
    WHISKER,
    Layout,
    framed,
    upright,
    value_range,
)
from kalos_core.figures.late import go
from kalos_core.figures.traces import curve, interval_band
from kalos_core.options import checked

BAND = "rgba(128, 128, 128, 0.25)"


def sensitivity_title(delta: float | None, anchor: float, strict: float, interval: Numbers = (None, None)) -> str:
    r"""Summarise a sensitivity in one line; `delta` is alpha at the anchor minus alpha at the strict threshold.

    Examples
    --------
    >>> sensitivity_title(0.128, 0.5, 0.75, [0.1, 0.155])
    'Alpha falls by 0.13\xa0[0.10,\xa00.15] from threshold 0.50 to 0.75'
    >>> sensitivity_title(-0.02, 0.5, 0.75), sensitivity_title(None, 0.5, 0.75)
    ('Alpha rises by 0.02 from threshold 0.50 to 0.75', 'How alpha depends on the threshold is undefined')
    """
    if delta is None or np.isnan(delta):
        return "How alpha depends on the threshold is undefined"
    if delta < 0:
        low, high = interval
        ends = [None if end is None else -end for end in (high, low)]
        return (
            f"Alpha rises by {with_interval(-delta, ends)} from threshold {alpha_text(anchor)} to {alpha_text(strict)}"
        )
    return (
        f"Alpha falls by {with_interval(delta, interval)} from threshold {alpha_text(anchor)} to {alpha_text(strict)}"
    )


@checked
def plot_sensitivity(result: Sensitivity) -> go.Figure:
    """Plot mean alpha by similarity threshold, with its interval as a grey band; anchor and strict threshold marked.

    The title gives the decrease of alpha from the anchor to the strict threshold.
    """
    x, y, ends = result.threshold, result.alpha, result.alpha_interval
    low, high = value_range(y, ends)
    lines = ((result.anchor, "calibrated anchor τ*_s" if result.calibrated else "anchor"), (result.strict, "strict"))
    line = curve(
        x,
        y,
        NEUTRAL,
        "alpha",
        "threshold %{x:.3~g}: alpha %{customdata}",
        texts=[with_interval(value, pair) for value, pair in zip(y, ends, strict=True)],
        width=3,
        mode="lines+markers",
        marker_size=7,
    )
    around = [] if np.isnan(ends).any(axis=1).all() else [interval_band(x, ends, BAND, "95 % interval")]
    return framed(
        [*around, line],
        sensitivity_title(result.delta, result.anchor, result.strict, result.delta_interval),
        "threshold τ_s (minimum similarity)",
        "mean alpha",
        280,
        xaxis={"range": [0, 1], "dtick": 0.2},
        yaxis={
            "range": [low - 0.05 if low < 0 else 0, max(high, 0.1) * 1.12],
            "zeroline": True,
            "zerolinecolor": WHISKER,
        },
        margin={"t": 72, "l": 55},
        shapes=[upright(at, WHISKER, 1.5, "dot") for at, _ in lines],
        annotations=[
            _line_name(at, f"{name} {alpha_text(at)}", x, y) | {"yshift": 13 * row}
            for row, (at, name) in enumerate(lines)
        ],
    )


def _line_name(at: float, name: str, x: NDArray[np.float64], y: NDArray[np.float64]) -> Layout:
    """Threshold label, with the alpha there."""
    there = y[np.isclose(x, at)]
    text = f"{name}: {alpha_text(float(there[0]))}" if len(there) else name
    return {
        **NOTE,
        "x": at,
        "y": 1,
        "yanchor": "bottom",
        "xanchor": "center" if 0.2 < at < 0.8 else "left" if at <= 0.2 else "right",
        "text": text,
    }
