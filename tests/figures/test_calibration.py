"""Plots of calibration: counts, positions of lines, and titles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from kalos_core.calibration import DISTANCE_EDGES, Separation, distance_curve, distance_shares
from kalos_core.figures import plot_calibration
from kalos_core.figures.calibration import calibration_title
from tests.figures.plain import notes

NEAR, FAR = np.array([0.0, 0.02, 0.05, 0.3]), np.array([0.7, 0.9, 1.0, 1.0])


def found(**changed):
    fields = {"name": "box_iou", "size": "all", "observed": NEAR, "expected": FAR, "ks": 1.0, "ks_at": 0.3}
    return Separation(**{**fields, "tau": 0.48, "reason": "", "tau_interval": np.array([0.4, 0.6]), **changed})


def test_a_bin_holds_its_lower_edge_and_a_curve_is_the_density_times_its_width():
    shares = distance_shares(np.array([0.0, 0.02, 0.98, 1.0]))
    assert (shares[0], shares[1], shares[49], shares.sum()) == (0.25, 0.25, 0.5, 1)
    assert len(shares) == len(DISTANCE_EDGES) - 1
    values = np.random.default_rng(0).beta(2, 5, 300)
    expected = 0.02 * gaussian_kde(values)(np.linspace(0, 1, 112))
    np.testing.assert_allclose(distance_curve(values), expected, rtol=1e-3)


BEYOND = "Beyond distance τ* = 0.25 chance is likelier: threshold τ*_s = 0.75 for box_iou (KS 0.80)"
WIDE = "Threshold τ*_s = 0.75 for box_iou is not to be trusted: its interval is wide"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("box_iou", 0.8, 0.25), BEYOND),
        (("box_iou", 0.8, 0.25, "", "its interval is wide"), WIDE),
        (("pose", None, None, "there are no annotations"), "No threshold for pose: there are no annotations"),
        (("pose", math.nan, math.nan, "why"), "No threshold for pose: why"),
    ],
)
def test_the_title_is_the_finding(arguments, expected):
    assert calibration_title(*arguments) == expected


def test_bars_curves_axes_and_lines_are_at_their_distances():
    figure = plot_calibration(found())
    observed, expected, curve, _, axis = figure.data
    assert list(observed.y) == distance_shares(NEAR).tolist()
    assert list(expected.y) == distance_shares(FAR).tolist()
    assert list(curve.y) == distance_curve(NEAR).tolist()
    assert observed.customdata[49] == "0.98 to 1.00 (similarity 0.00 to 0.02)"
    layout = figure.layout
    assert (axis.xaxis, layout.xaxis.range) == ("x2", layout.xaxis2.range)
    assert [1 - float(text) for text in layout.xaxis2.ticktext] == pytest.approx(list(layout.xaxis.tickvals))
    assert "distance" in layout.xaxis.title.text
    assert layout.xaxis2.title.text == "similarity τ_s"
    lines = [(shape.type, shape.x0, shape.x1) for shape in layout.shapes]
    assert lines == [("rect", 0.4, 0.6), ("line", 0.3, 0.3), ("line", 0.48, 0.48)]
    assert notes(figure) == ["τ* = 0.48\xa0[0.40,\xa00.60] (dashed)", "largest gap at 0.30 (dotted)"]
