"""Figures: what is counted where, what a title says, and that the App can draw them."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from kalos_core import VARIATION_TYPES, Annotations, agreement, variations
from kalos_core.figures import (
    COLOURS,
    RATER_COLOURS,
    VARIATION_LABELS,
    agreement_title,
    alpha_bins,
    alpha_histogram,
    plot_agreement,
    plot_variations,
    significant,
    variation_bars,
    variations_title,
    with_interval,
)

NO_VARIATIONS = dict.fromkeys(VARIATION_TYPES, 0)


# ---- numbers and titles ----


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.68888, "0.689"),
        (1, "1.00"),
        (0, "0.00"),
        (100.0, "100"),
        (12.345, "12.3"),
        (-2 / 3, "-0.667"),
        (0.9999, "1.00"),
        (None, "undefined"),
        (math.nan, "undefined"),
    ],
)
def test_three_significant_digits(value, text):
    assert significant(value) == text


def test_an_interval_is_written_as_far_as_there_is_one():
    assert with_interval(0.5, np.array([0.25, 0.75])) == "0.500 [0.250, 0.750]"
    assert with_interval(0.5, [math.nan, math.nan]) == "0.500"
    assert with_interval(None, [None, None]) == "undefined"


@pytest.mark.parametrize(
    ("alpha", "title"),
    [
        (0.9, "Raters agree almost perfectly: 0.900"),
        (0.8, "Raters agree almost perfectly: 0.800"),
        (0.7, "Raters agree substantially: 0.700"),
        (0.5, "Raters agree moderately: 0.500"),
        (0.1, "Raters agree little: 0.100"),
        (-0.1, "Raters disagree systematically: -0.100"),
        (None, "Agreement is undefined"),
        (math.nan, "Agreement is undefined"),
    ],
)
def test_the_title_of_an_agreement_is_its_finding(alpha, title):
    assert agreement_title(alpha, [None, None]) == title


@pytest.mark.parametrize(
    ("counts", "title"),
    [
        (
            {"correct": 70, "missing": 20, "additional": 10},
            "30.0 % of 100 findings are differences, most often missing (20)",
        ),
        ({"correct": 5}, "All 5 findings are correct"),
        ({}, "No findings: nobody marked anything"),
        (NO_VARIATIONS, "No findings: nobody marked anything"),
        (
            {"merged_wrong_class": 1_000},
            "100 % of 1,000 findings are differences, most often merged, wrong class (1,000)",
        ),
    ],
)
def test_the_title_of_variations_is_their_finding(counts, title):
    assert variations_title(counts) == title


# ---- bins ----


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


# ---- figures ----


@pytest.mark.parametrize("alphas", [[0.1, 0.5, 1.0], [-0.9, 0.2], [1.0], [None, None], []])
def test_the_histogram_shows_the_bins(alphas):
    edges, counts = alpha_bins(alphas)
    figure = alpha_histogram(alphas, "title")
    (bars,) = figure.data
    assert list(bars.y) == counts.tolist()
    assert list(bars.x) == pytest.approx((edges[:-1] + 0.05).tolist())
    assert bars.customdata[0] == f"{edges[0]:.1f} to {edges[1]:.1f}"
    assert figure.layout.title.text == "title"
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("alpha of the image", "images")


@pytest.mark.parametrize("alphas", [[0.1, 1.0], [-0.9], [0.95], [0.5], [None]])
def test_the_bands_touch_and_stay_in_the_picture(alphas):
    figure = alpha_histogram(alphas)
    left, right = figure.layout.xaxis.range
    bands = sorted((shape.x0, shape.x1) for shape in figure.layout.shapes)
    assert (bands[0][0], bands[-1][1]) == (left, right)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(bands))
    assert all(left <= name.x <= right for name in figure.layout.annotations)


@pytest.mark.parametrize("counts", [{"correct": 3, "merged": 1}, NO_VARIATIONS, {}])
def test_the_bars_are_in_order_and_have_the_colours_of_the_table(counts):
    figure = variation_bars(counts)
    (bars,) = figure.data
    assert list(bars.y) == [VARIATION_LABELS[name] for name in VARIATION_TYPES]
    assert list(bars.marker.color) == [COLOURS[name] for name in VARIATION_TYPES]
    assert list(bars.x) == [counts.get(name, 0) for name in VARIATION_TYPES]


def test_a_bar_says_its_count_and_share():
    (bars,) = variation_bars({"correct": 1_500, "missing": 500}).data
    assert bars.text[0] == "1,500 (75.0 %)"
    assert bars.text[VARIATION_TYPES.index("missing")] == "500 (25.0 %)"


def test_all_figures_are_plain_json():
    for figure in (alpha_histogram([0.5, None]), alpha_histogram([]), variation_bars(NO_VARIATIONS)):
        plain = figure.to_plotly_json()
        assert json.loads(json.dumps(plain["data"])) == plain["data"]
        json.dumps(plain["layout"])


def test_no_colour_means_two_things():
    assert set(COLOURS) == set(VARIATION_LABELS) == set(VARIATION_TYPES)
    assert len({*COLOURS.values(), *RATER_COLOURS}) == len(COLOURS) + len(RATER_COLOURS)


def test_a_result_is_drawn_with_its_finding_as_title():
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10]}
        for image, raters in ((1, ("ann", "bob")), (2, ("ann",)))
        for rater in raters
    ]
    annotations = Annotations.from_rows(rows)
    result, found = agreement(annotations), variations(annotations)
    assert plot_agreement(result).layout.title.text == agreement_title(result.alpha, result.alpha_interval)
    assert plot_variations(found).layout.title.text == variations_title(found.counts())
