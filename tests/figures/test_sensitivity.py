"""Sensitivity curve: positions of its points, band and marks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kalos_core.diagnostics import Sensitivity
from kalos_core.figures import plot_sensitivity
from kalos_core.figures.sensitivity import sensitivity_title
from tests.figures.plain import notes

THRESHOLDS, ALPHAS = [0.1, 0.5, 0.9], [0.8, 0.7, 0.3]


def drawn(ends, threshold=THRESHOLDS, alpha=ALPHAS, **given):
    x, y, intervals = (np.array(values, np.float64) for values in (threshold, alpha, ends))
    given = {"anchor": 0.5, "strict": 0.9, "calibrated": False, **given}
    nothing = {"delta": np.nan, "delta_interval": np.full(2, np.nan), "global_delta": np.nan, "image_alpha": y[None]}
    whole = {"global_alpha": y, "global_alpha_interval": intervals, "global_delta_interval": np.full(2, np.nan)}
    return plot_sensitivity(Sensitivity(x, y, intervals, images=np.ones(len(x), int), **whole, **nothing, **given))


def traces(figure):
    return {trace.name: trace for trace in figure.data}


@pytest.mark.parametrize(
    ("delta", "interval", "title"),
    [
        (0.4, [0.3, 0.5], "Alpha falls by 0.40\xa0[0.30,\xa00.50] from threshold 0.50 to 0.90"),
        (0.0, [None, None], "Alpha falls by 0.00 from threshold 0.50 to 0.90"),
        (-0.1, [-0.2, 0.05], "Alpha rises by 0.10\xa0[−0.05,\xa00.20] from threshold 0.50 to 0.90"),
        (math.nan, [None, None], "How alpha depends on the threshold is undefined"),
    ],
)
def test_the_title_says_what_is_lost(delta, interval, title):
    assert sensitivity_title(delta, 0.5, 0.9, interval) == title


def test_the_curve_goes_through_the_values_in_the_band_of_intervals():
    line = traces(drawn([[0.7, 0.9], [0.6, 0.8], [0.2, 0.4]]))["alpha"]
    assert (list(line.x), list(line.y)) == (THRESHOLDS, ALPHAS)
    assert list(line.customdata) == ["0.80\xa0[0.70,\xa00.90]", "0.70\xa0[0.60,\xa00.80]", "0.30\xa0[0.20,\xa00.40]"]
    band = traces(drawn([[0.7, 0.9], [None, None], [0.2, 0.4]]))["95 % interval"]
    assert list(zip(band.x, band.y, strict=True)) == [(0.1, 0.9), (0.9, 0.4), (0.9, 0.2), (0.1, 0.7)]
    assert "95 % interval" not in traces(drawn([[None, None]] * 3))


def test_anchor_and_strict_are_marked_with_their_alpha():
    figure = drawn([[None, None]] * 3)
    assert [shape.x0 for shape in figure.layout.shapes] == [0.5, 0.9]
    assert notes(figure) == ["anchor 0.50: 0.70", "strict 0.90: 0.30"]
    figure = drawn([[None, None]] * 2, [0.29, 0.9], [0.8, 0.3], anchor=0.289, calibrated=True)
    assert notes(figure)[0].startswith("calibrated anchor τ*_s 0.29")
