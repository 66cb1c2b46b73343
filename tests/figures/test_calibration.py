"""Plots of calibration: what is counted where, where the lines stand, and what a title says."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from kalos_core.calibration import DISTANCE_EDGES, Calibration, Separation, distance_curve, distance_shares
from kalos_core.figures import (
    COLOURS,
    NEUTRAL,
    OBSERVED_COLOUR,
    RATER_COLOURS,
    calibration_figure,
    calibration_title,
    plot_calibration,
)

NEAR, FAR = np.array([0.0, 0.02, 0.05, 0.3]), np.array([0.7, 0.9, 1.0, 1.0])


def found(**changed):
    fields = {"name": "box_iou", "size": "all", "observed": NEAR, "expected": FAR, "ks": 1.0, "ks_at": 0.3}
    return Separation(**{**fields, "tau": 0.48, "reason": "", "tau_interval": np.array([0.4, 0.6]), **changed})


def test_a_bin_holds_its_lower_edge_and_the_last_one_both():
    shares = distance_shares(np.array([0.0, 0.02, 0.98, 1.0]))
    assert (shares[0], shares[1], shares[49], shares.sum()) == (0.25, 0.25, 0.5, 1)
    assert len(shares) == len(DISTANCE_EDGES) - 1


def test_a_curve_is_the_density_times_the_width_of_a_bin():
    values = np.random.default_rng(0).beta(2, 5, 300)
    curve = distance_curve(values)
    np.testing.assert_allclose(curve, 0.02 * gaussian_kde(values)(np.linspace(0, 1, 112)), rtol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "title"),
    [
        (
            ("box_iou", 0.8, 0.25),
            "Beyond distance τ* = 0.25 chance is likelier: threshold τ*_s = 0.75 for box_iou (KS 0.80)",
        ),
        (
            ("box_iou", 0.8, 0.25, "", "its interval is wide"),
            "Threshold τ*_s = 0.75 for box_iou is not to be trusted: its interval is wide",
        ),
        (("pose", None, None, "there are no annotations"), "No threshold for pose: there are no annotations"),
        (("pose", math.nan, math.nan, "why"), "No threshold for pose: why"),
    ],
)
def test_the_title_is_the_finding(arguments, title):
    assert calibration_title(*arguments) == title


def test_bars_and_curves_are_those_of_the_distances():
    figure = plot_calibration(found())
    observed, expected, curve, _, axis = figure.data
    assert list(observed.y) == distance_shares(NEAR).tolist()
    assert list(expected.y) == distance_shares(FAR).tolist()
    assert list(curve.y) == distance_curve(NEAR).tolist()
    assert observed.customdata[49] == "0.98 to 1.00 (similarity 0.00 to 0.02)"
    assert axis.xaxis == "x2"


def test_both_axes_show_the_same_positions():
    layout = plot_calibration(found()).layout
    assert layout.xaxis.range == layout.xaxis2.range
    assert [1 - float(text) for text in layout.xaxis2.ticktext] == pytest.approx(list(layout.xaxis.tickvals))
    assert "distance" in layout.xaxis.title.text
    assert layout.xaxis2.title.text == "similarity τ_s"


def test_lines_stand_at_tau_and_at_the_largest_gap():
    layout = plot_calibration(found()).layout
    assert [(shape.type, shape.x0, shape.x1) for shape in layout.shapes] == [
        ("rect", 0.4, 0.6),
        ("line", 0.3, 0.3),
        ("line", 0.48, 0.48),
    ]
    assert [label.text for label in layout.annotations] == [
        "τ* = 0.48\xa0[0.40,\xa00.60] (dashed)",
        "largest gap at 0.30 (dotted)",
    ]


def test_without_the_distances_the_plot_is_the_same():
    whole = found(strata={"small": found(size="small")})
    bare = whole.without_distances()
    assert plot_calibration(bare) == plot_calibration(whole)
    assert len(bare.observed) == len(bare.expected) == len(bare.strata["small"].observed) == 0
    assert [shares.count for shares in bare.shares] == [len(NEAR), len(FAR)]
    assert (bare.tau, bare.strata["small"].tau) == (whole.tau, whole.strata["small"].tau)
    (kept,) = Calibration([whole]).without_distances()
    assert plot_calibration(kept) == plot_calibration(whole)


@pytest.mark.parametrize(("tau", "ks_at", "side", "at"), [(0.2, 0.3, "left", 0.3), (0.9, 0.7, "right", 0.7)])
def test_labels_stand_where_there_is_room(tau, ks_at, side, at):
    labels = plot_calibration(found(tau=tau, ks_at=ks_at)).layout.annotations
    assert {(label.xanchor, label.x) for label in labels} == {(side, at)}


def test_without_a_threshold_there_is_no_line_and_no_curve_of_equal_distances():
    figure = plot_calibration(found(tau=math.nan, expected=np.ones(4), reason="why", tau_interval=np.full(2, np.nan)))
    assert [shape.x0 for shape in figure.layout.shapes] == [0.3]
    assert len(figure.data[3].y) == 0
    assert figure.layout.title.text == "No threshold for box_iou: why"


def test_a_stratum_is_named_in_the_title():
    assert "for box_iou of small annotations" in plot_calibration(found(size="small")).layout.title.text


def test_the_smallest_bar_is_in_the_plot():
    shares = distance_shares(np.concatenate([np.zeros(999), [0.5]]))
    figure = calibration_figure(shares, shares, None, None)
    low, high = figure.layout.yaxis.range
    assert 10**low < 0.001
    assert 10**high > 1


def test_figures_of_stored_values_and_of_nothing_are_plain_json():
    for figure in (
        plot_calibration(found()),
        calibration_figure([0.0] * 50, [0.0] * 50, None, None),
        plot_calibration(found(observed=np.zeros(0), expected=np.zeros(0), tau=math.nan, ks_at=math.nan)),
    ):
        plain = figure.to_plotly_json()
        assert json.loads(json.dumps(plain["data"])) == plain["data"]
        json.dumps(plain["layout"])


def test_the_colours_mean_nothing_else():
    assert len({OBSERVED_COLOUR, NEUTRAL, *COLOURS.values(), *RATER_COLOURS}) == 2 + len(COLOURS) + len(RATER_COLOURS)
