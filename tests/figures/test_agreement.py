"""Plots of agreement: what is counted where, and what a title says."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from kalos_core import Annotations, agreement, next_to_rate
from kalos_core.figures import agreement_title, alpha_bins, alpha_histogram, plot_agreement, plot_next_to_rate


@pytest.mark.parametrize(
    ("alpha", "title"),
    [
        (0.9, "Raters agree nearly perfectly: 0.90"),
        (0.8, "Raters agree nearly perfectly: 0.80"),
        (0.7, "Raters agree substantially: 0.70"),
        (0.5, "Raters agree moderately: 0.50"),
        (0.1, "Raters agree little: 0.10"),
        (-0.1, "Raters disagree systematically: −0.10"),
        (None, "Agreement is undefined"),
        (math.nan, "Agreement is undefined"),
    ],
)
def test_the_title_of_an_agreement_is_its_finding(alpha, title):
    assert agreement_title(alpha, [None, None]) == title


@pytest.mark.parametrize("interval", [[-0.07, 0.04], [0.0, 0.04], [-0.07, 0.0]])
def test_an_interval_with_0_in_it_is_chance(interval):
    assert agreement_title(-0.02, interval).startswith("Raters may agree no better than by chance: −0.02")


def test_a_bin_holds_its_lower_edge_and_the_last_one_both():
    edges, counts = alpha_bins([0.7, 0.79999, 0.8, 0.9, 0.95, 1.0])
    assert edges.tolist() == [0.7, 0.8, 0.9, 1.0]
    assert counts.tolist() == [2, 1, 3]


@pytest.mark.parametrize("lowest", [-1.0, -2 / 3, -0.2, 0.0, 0.1, 0.3, 0.7, 0.95, 1.0])
@pytest.mark.parametrize("nudge", [-1e-12, -1e-16, 0, 1e-16, 1e-12])
def test_every_defined_alpha_is_in_a_bin(lowest, nudge):
    values = [min(lowest + nudge, 1.0), 1.0]
    edges, counts = alpha_bins([*values, None, math.nan])
    assert counts.sum() == len(values)
    assert counts[0] > 0
    assert edges[0] <= values[0] < edges[1] or len(counts) == 1


def test_an_alpha_a_rounding_below_an_edge_is_counted_below_it():
    # 1 - 0.8 is 0.19999999999999996
    edges, counts = alpha_bins([1 - 0.8])
    assert (edges[0], counts[0]) == (0.1, 1)


@pytest.mark.parametrize("nothing", [[], [None], [math.nan, None]])
def test_without_any_alpha_the_bins_are_empty(nothing):
    edges, counts = alpha_bins(nothing)
    assert (edges[0], edges[-1], counts.sum()) == (0.0, 1.0, 0)


def test_bins_do_not_depend_on_the_form_of_the_values():
    values = [0.25, None, 0.9]
    as_array = np.array([0.25, np.nan, 0.9])
    assert [part.tolist() for part in alpha_bins(values)] == [part.tolist() for part in alpha_bins(as_array)]


@pytest.mark.parametrize("alphas", [[0.1, 0.5, 1.0], [-0.9, 0.2], [1.0], [None, None], []])
def test_the_histogram_shows_the_bins(alphas):
    edges, counts = alpha_bins(alphas)
    figure = alpha_histogram(alphas, "title")
    (bars,) = figure.data
    assert list(bars.y) == counts.tolist()
    assert list(bars.x) == pytest.approx((edges[:-1] + 0.05).tolist())
    assert bars.customdata[0] == f"{edges[0]:.1f} to {edges[1]:.1f}".replace("-", "−")
    assert figure.layout.title.text == "title"
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("alpha of the image", "images")


@pytest.mark.parametrize("alphas", [[0.1, 1.0], [-0.9], [0.95], [0.5], [None]])
def test_the_bands_touch_and_stay_in_the_plot(alphas):
    figure = alpha_histogram(alphas)
    left, right = figure.layout.xaxis.range
    bands = sorted((shape.x0, shape.x1) for shape in figure.layout.shapes if shape.type == "rect")
    assert (bands[0][0], bands[-1][1]) == (left, right)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(bands))
    assert all(left <= name.x <= right for name in figure.layout.annotations)


def lines_of(figure):
    return {shape.line.dash: shape.x0 for shape in figure.layout.shapes if shape.type == "line"}


def test_mean_median_and_all_units_are_marked():
    #  mean (.2 + .9 + 1 + 1) / 4 = .775, median (.9 + 1) / 2 = .95
    figure = alpha_histogram([0.2, 0.9, None, 1.0, 1.0], global_alpha=0.6)
    assert lines_of(figure) == {"solid": pytest.approx(0.775), "dash": pytest.approx(0.95), "dot": 0.6}
    texts = [note.text for note in figure.layout.annotations]
    assert texts[-3:] == ["mean 0.78", "median 0.95", "all units 0.60"]


def test_a_result_is_drawn_with_its_three_numbers(lvis):
    result = agreement(lvis, bootstrap=0)
    lines = lines_of(plot_agreement(result))
    assert lines == {"solid": pytest.approx(result.alpha), "dash": result.median_alpha, "dot": result.global_alpha}
    # the public `kalos` 0.8.0: mean .688879, global .648286
    assert (lines["solid"], lines["dot"]) == (pytest.approx(0.688879, abs=1e-6), pytest.approx(0.648286, abs=1e-6))
    defined = sorted(result.image_alpha[np.isfinite(result.image_alpha)].tolist())
    assert lines["dash"] == pytest.approx((defined[(len(defined) - 1) // 2] + defined[len(defined) // 2]) / 2)


def test_without_any_alpha_there_is_no_line():
    assert lines_of(alpha_histogram([None], global_alpha=math.nan)) == {}


def test_the_bands_quote_both_papers():
    notes = [note for note in alpha_histogram([0.1, 1.0]).layout.annotations if note.text == "substantial"]
    assert "KαLOS §3.3" in notes[0].hovertext
    assert "Label convergence App. B" in notes[0].hovertext


def test_the_next_images_stand_in_their_order_with_what_they_narrow():
    rows = [
        {"image": image, "rater": rater, "category": category, "box": [0, 0, 9, 9]}
        for image, both in {"a": "cc", "b": "dd", "c<": "cd"}.items()
        for rater, category in zip(("ann", "bob"), both, strict=True)
    ]
    found = next_to_rate(agreement(Annotations.from_rows(rows), bootstrap=50), statistic="global_alpha")
    figure = plot_next_to_rate(found)
    assert figure.layout.title.text == "Where one more rater narrows the interval on global alpha most"
    assert figure.layout.yaxis.ticktext == tuple({"c<": "c&#60;"}.get(name, name) for name in found.image)
    np.testing.assert_allclose(figure.data[0].x, found.narrowing / found.labels)
    assert "2 raters, alpha" in figure.data[0].customdata[0]
