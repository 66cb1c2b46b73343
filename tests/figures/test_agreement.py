"""Plots of agreement: counts and titles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kalos_core import agreement
from kalos_core.figures import plot_agreement
from kalos_core.figures.agreement import agreement_title, alpha_bins, alpha_histogram
from tests.figures.plain import notes, title


@pytest.mark.parametrize(
    ("alpha", "interval", "expected"),
    [
        (0.9, None, "Raters agree nearly perfectly: 0.90"),
        (0.8, None, "Raters agree nearly perfectly: 0.80"),
        (0.7, None, "Raters agree substantially: 0.70"),
        (0.5, None, "Raters agree moderately: 0.50"),
        (0.1, None, "Raters agree little: 0.10"),
        (-0.1, None, "Raters disagree systematically: −0.10"),
        (None, None, "Agreement is undefined"),
        (math.nan, None, "Agreement is undefined"),
        *((-0.02, ends, "Raters may agree no better than by chance: −0.02") for ends in ([-0.07, 0.04], [0.0, 0.04])),
    ],
)
def test_the_title_of_an_agreement_is_its_finding(alpha, interval, expected):
    assert agreement_title(alpha, interval or [None, None]).startswith(expected)


def test_a_bin_holds_its_lower_edge_and_the_last_one_both():
    edges, counts = alpha_bins([0.7, 0.79999, 0.8, 0.9, None, 0.95, 1.0])
    assert edges.tolist() == [0.7, 0.8, 0.9, 1.0]
    assert counts.tolist() == [2, 1, 3]
    edges, counts = alpha_bins(np.array([1 - 0.8, np.nan]))  # 0.19999999999999996
    assert (edges[0], counts[0]) == (0.1, 1)
    for nothing in ([], [math.nan, None]):
        edges, counts = alpha_bins(nothing)
        assert (edges[0], edges[-1], counts.sum()) == (0.0, 1.0, 0)


@pytest.mark.parametrize("lowest", [-1.0, -2 / 3, -0.2, 0.0, 0.1, 0.3, 0.7, 0.95, 1.0])
def test_every_defined_alpha_is_in_a_bin(lowest):
    for nudge in (-1e-12, -1e-16, 0, 1e-16, 1e-12):
        values = [min(lowest + nudge, 1.0), 1.0]
        edges, counts = alpha_bins([*values, None, math.nan])
        assert counts.sum() == len(values)
        assert counts[0] > 0
        assert edges[0] <= values[0] < edges[1] or len(counts) == 1


@pytest.mark.parametrize("alphas", [[0.1, 0.5, 1.0], [-0.9, 0.2], [0.95], [None, None], []])
def test_the_histogram_shows_the_bins(alphas):
    edges, counts = alpha_bins(alphas)
    figure = alpha_histogram(alphas, "title")
    (bars,) = figure.data
    assert list(bars.y) == counts.tolist()
    assert list(bars.x) == pytest.approx((edges[:-1] + 0.05).tolist())
    assert bars.customdata[0] == f"{edges[0]:.1f} to {edges[1]:.1f}".replace("-", "−")
    assert title(figure) == "title"


def lines_of(figure):
    return {shape.line.dash: shape.x0 for shape in figure.layout.shapes if shape.type == "line"}


def test_a_result_is_drawn_with_its_three_numbers(lvis):
    result = agreement(lvis, "box_iou", bootstrap=0)
    figure = plot_agreement(result)
    assert title(figure) == agreement_title(result.alpha, result.alpha_interval)
    lines = lines_of(figure)
    assert lines == {"solid": pytest.approx(result.alpha), "dash": result.median_alpha, "dot": result.global_alpha}
    # the public `kalos` 0.8.0: mean .688879, global .648286
    assert (lines["solid"], lines["dot"]) == (pytest.approx(0.688879, abs=1e-6), pytest.approx(0.648286, abs=1e-6))
    assert lines["dash"] == pytest.approx(np.nanmedian(result.image_alpha))
    (band,) = [note for note in figure.layout.annotations if note.text == "substantial"]
    assert "KαLOS §3.3" in band.hovertext
    assert "Label convergence App. B" in band.hovertext


def test_mean_median_and_all_units_are_marked():
    #  mean (.2 + .9 + 1 + 1) / 4 = .775, median (.9 + 1) / 2 = .95
    figure = alpha_histogram([0.2, 0.9, None, 1.0, 1.0], global_alpha=0.6)
    assert lines_of(figure) == {"solid": pytest.approx(0.775), "dash": pytest.approx(0.95), "dot": 0.6}
    assert notes(figure)[-3:] == ["mean 0.78", "median 0.95", "all units 0.60"]
    assert lines_of(alpha_histogram([None], global_alpha=math.nan)) == {}
