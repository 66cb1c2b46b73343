"""Plots of rankings: what is drawn where, and what a title says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kalos_core import DetectorAccumulator, InputError
from kalos_core.figures import (
    RATER_COLOURS,
    agreement_curves_title,
    bounds_bars,
    bounds_title,
    bump_chart,
    curves_title,
    detector_correlation_title,
    plot_agreement_curves,
    plot_bounds,
    plot_concordance,
    plot_curves,
    plot_detector_correlations,
    plot_ranking,
    plot_reference,
    plot_shared_rankings,
    plot_tau,
    precision_curves,
    ranking_title,
    reference_title,
    shared_title,
    tau_heatmap,
    tau_title,
)
from kalos_core.ranking import Rankings, concordance, shared_rankings


def rankings(*values, systems=("net", "svm", "rf")):
    table = np.array(values, np.float64)
    truths = np.array([f"truth {number}" for number in range(len(table))], object)
    return Rankings("AUC", truths, np.array(systems[: table.shape[1]], object), table)


@pytest.mark.parametrize(
    ("values", "title"),
    [
        (([0.9, 0.8], [0.8, 0.9], [0.9, 0.1]), "The best depends on the reference: net under 2 of 3, svm under 1"),
        (([0.9, 0.8], [0.9, 0.9]), "net is best under all 2 references; they give 2 rankings"),
        (([0.9, 0.9], [0.9, 0.9]), "net and svm are best under all 2 references; they give one ranking"),
        (([0.9, 0.8],), "net is best under the one reference"),
        (([0.9, 0.8], [np.nan, np.nan]), "net is best under the one reference"),
        (([np.nan, np.nan],), "Nothing can be ranked"),
    ],
)
def test_the_title_says_whether_the_best_depends_on_the_reference(values, title):
    assert ranking_title(rankings(*values)) == title


def test_many_winners_are_cut():
    found = ranking_title(rankings(*np.eye(5), systems=tuple("abcde")))
    assert found == "The best depends on the reference: a under 1 of 5, b under 1, c under 1 and 2 more"


def test_ranks_are_drawn_with_the_best_on_top_and_a_gap_where_undefined():
    result = rankings([0.9, 0.8, 0.1], [0.2, 0.8, np.nan])
    figure = plot_ranking(result)
    assert [list(trace.y) for trace in figure.data] == [[1, 2], [2, 1], [3, None]]
    top, bottom = figure.layout.yaxis.range[1], figure.layout.yaxis.range[0]
    assert top < 1 < 3 < bottom
    assert figure.data[0].customdata[1] == "<b>net</b> under truth 1: rank 2, AUC 0.20"
    assert figure.data[1].line.color == RATER_COLOURS[1]
    assert figure.layout.title.text == ranking_title(result)


def test_tau_is_drawn_without_its_diagonal():
    result = rankings([0.9, 0.8, 0.1], [0.2, 0.8, 0.1], [0.1, 0.2, 0.3])
    figure = plot_tau(result)
    assert figure.data[0].z[0][0] is None
    assert figure.data[0].z[0][1] == pytest.approx(1 / 3)
    assert figure.data[0].customdata[0][1] == "<b>truth 0</b> and <b>truth 1</b>: Kendall's τ 0.33"
    assert figure.layout.title.text == (
        "References order the models most differently under truth 0 and truth 2 (τ −1.00; mean of all pairs −0.33)"
    )


def test_concordance_has_its_distance_above_and_p_below_the_diagonal():
    result = concordance(rankings([0.9, 0.8, 0.1], [0.2, 0.8, 0.1], [0.1, 0.2, 0.3]))
    figure = plot_concordance(result)
    cells = figure.data[0].z
    assert cells[0][1] == pytest.approx(max(result.distance[0, 1], result.distance[1, 0]))
    assert cells[1][0] == pytest.approx(max(result.p[0, 1], result.p[1, 0]))
    assert cells[0][0] is None
    start = "Rankings are concordant under 0 of 3 pairs of references; least truth 0 and truth 2 (no nearer than random"
    assert figure.layout.title.text.startswith(start)
    assert (
        plot_concordance(concordance(rankings([0.9], [0.8]))).layout.title.text
        == "No two references rank the same models"
    )


def test_titles_of_tau():
    assert tau_title(["ann"], [[1]]) == "No two references rank the same models"
    assert tau_title(["ann", "bob"], [[1, 0.5], [0.5, 1]]) == "How alike ann and bob order the models: τ 0.50"


@pytest.mark.parametrize(
    ("bounds", "title"),
    [
        ([[0.5, 0.8], [0.1, 0.2]], "net and svm can be told apart"),
        ([[0.5, 0.8], [0.1, 0.5]], "net and svm cannot be told apart"),
        ([[0.5, 0.8], [0.1, 0.5], [0.5, 0.5]], "No two detectors can be told apart"),
        ([[0.7, 0.8], [0.4, 0.5], [0.1, 0.2]], "All 3 detectors can be told apart"),
        (
            [[0.5, 0.8], [0.1, 0.6], [0.0, 0.2]],
            "1 of 3 pairs of detectors can be told apart; net and svm cannot, nor can 1 more",
        ),
        ([[None, None], [0.1, 0.2]], "No two detectors can be compared"),
    ],
)
def test_titles_of_bounds(bounds, title):
    assert bounds_title(["net", "svm", "rf"][: len(bounds)], bounds) == title


def test_titles_of_bounds_count_the_areas_outside():
    # P16: 3 of 6 pairs, while 15 of 24 areas lie outside
    bounds = [[0.7, 0.8], [0.6, 0.75], [0.5, 0.65], [0.1, 0.62]]
    names = ["a", "b", "c", "d"]
    assert bounds_title(names, bounds) == "2 of 6 pairs of detectors can be told apart; a and b cannot, nor can 3 more"
    assert bounds_title(names, bounds, 15, 24) == (
        "2 of 6 pairs of detectors can be told apart, but 15 of 24 areas under single raters lie outside the bounds"
    )
    assert bounds_title(names[:2], [[0.7, 0.8], [0.1, 0.2]], 1) == (
        "a and b can be told apart, but 1 area under single raters lies outside the bounds"
    )


def test_bounds_are_drawn_with_the_raters_within(detectors):
    figure = plot_bounds(detectors)
    bars, ticks = figure.data
    np.testing.assert_allclose(bars.base, detectors.bounds[:, 0])
    np.testing.assert_allclose(np.array(bars.x), np.diff(detectors.bounds, axis=1)[:, 0])
    assert len(ticks.x) == 4  # ann and bob, for two detectors; cid marks nothing
    assert ticks.customdata[0].startswith("<b>net</b> under ann: ")
    outside, compared = detectors.raters_outside.sum(), detectors.raters_compared.sum()
    assert figure.layout.title.text == bounds_title(["net", "edge"], detectors.bounds, outside, compared)


def test_bounds_that_are_undefined_are_said():
    figure = bounds_bars(["net", "svm"], [[None, None], [0.2, 0.4]], ["ann"], np.array([[np.nan, 0.3]]))
    assert [note.text for note in figure.layout.annotations] == ["undefined", "0.20 to 0.40"]
    json.dumps(figure.to_plotly_json()["data"], allow_nan=False)


def test_titles_of_curves():
    assert curves_title("net", [0.5, None]) == "net reaches 0.50 under every reference"
    assert curves_title("net", [None]) == "net cannot be measured: no reference has both marked and unmarked pixels"


@pytest.fixture(scope="module")
def detectors():
    accumulator = DetectorAccumulator()
    masks = {"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 0, 0]], "cid": None}
    accumulator.add({"net": [[0.9, 0.6, 0.4, 0.1]], "edge": [[0.4, 0.6, 0.9, 0.1]]}, masks)
    return accumulator.result((0.1, 0.5))


def test_curves_are_drawn_where_defined(detectors):
    figure = plot_curves(detectors, "edge")
    drawn = [trace.name.split(":")[0] for trace in figure.data]
    assert drawn == ["ann", "bob", "any", "0.5"]  # cid marks nothing, nor is there a pixel of three quarters
    assert figure.data[0].line.dash == "solid"
    assert figure.data[2].line.dash != "solid"
    assert figure.data[0].x[-1] == 1
    assert figure.data[0].y[-1] == pytest.approx(detectors.precision[0, 1, -1], abs=0.3)
    low, high = np.nanmin(detectors.area[:, 1]), np.nanmax(detectors.area[:, 1])
    assert figure.layout.title.text == f"edge reaches {low:.2f} to {high:.2f}, depending on the reference"


def test_an_unknown_detector_is_named(detectors):
    with pytest.raises(InputError, match="detector: expected one of 'edge', 'net', got 'svm'"):
        plot_curves(detectors, "svm")


def test_all_are_plain_json_and_fixed(detectors):
    names = ["a", "b"]
    for figure in (
        plot_curves(detectors, "net"),
        plot_ranking(detectors.ranking),
        plot_tau(detectors.ranking),
        plot_bounds(detectors),
        bump_chart([], [], np.zeros((0, 0)), np.zeros((0, 0)), "AUC"),
        tau_heatmap(["a"], [[1]]),
        tau_heatmap(names, [[1, None], [None, 1]]),
        precision_curves(names, [0.5, 1], [[1, 0.5], [None, None]], [0.75, None]),
    ):
        json.dumps(figure.to_plotly_json()["data"], allow_nan=False)
        assert figure.layout.xaxis.fixedrange
        assert figure.layout.yaxis.fixedrange


@pytest.fixture(scope="module")
def agreed():
    accumulator = DetectorAccumulator(methods=("any",), shares="all")
    masks = {"ann": [[1, 1, 0, 0, 0]], "bob": [[1, 0, 0, 0, 0]], "cid": [[1, 1, 1, 0, 0]]}
    scores = {"net": [[0.9, 0.6, 0.4, 0.1, 0.0]], "edge": [[0.4, 0.6, 0.9, 0.1, 0.2]], "flat": [[0.5] * 5]}
    accumulator.add(scores, masks)
    return accumulator.result((0.1, 0.5))


def test_curves_at_growing_agreement(agreed):
    figure = plot_agreement_curves(agreed, "edge")
    assert [trace.name.split(":")[0] for trace in figure.data] == [f"at least {number}/3" for number in (1, 2, 3)]
    assert len({trace.line.color for trace in figure.data}) == 3
    areas = agreed.area[agreed.by_agreement, 1]
    assert figure.layout.title.text == agreement_curves_title("edge", areas)
    assert agreement_curves_title("net", [None]).startswith("net cannot be measured")


def test_a_ranking_without_thresholds_has_no_such_curves(detectors):
    with pytest.raises(InputError, match="expected thresholds of agreement, got none"):
        plot_agreement_curves(detectors, "net")


def test_all_detectors_under_one_reference(agreed):
    figure = plot_reference(agreed, "any")
    row = agreed.truths.tolist().index("any")
    assert [trace.name.split(":")[0] for trace in figure.data] == ["net", "edge", "flat"]
    _, precision = agreed.sampled()
    assert list(figure.data[1].y) == pytest.approx(precision[row, 1])
    assert figure.layout.title.text == reference_title("any", ["net", "edge", "flat"], agreed.area[row])
    with pytest.raises(InputError, match="reference: expected one of"):
        plot_reference(agreed, "staple")
    assert reference_title("any", ["net"], [None]).startswith("No detector can be measured under any")


def test_detectors_against_agreement(agreed):
    figure = plot_detector_correlations(agreed)
    table = agreed.by_detector()
    assert list(figure.data[0].x)[:2] == pytest.approx(table["cco"][:2])
    assert list(figure.data[1].x)[:2] == pytest.approx(table["cci"][:2])
    assert figure.data[1].x[2] is None  # a map that is the same everywhere
    p = table["cci_p"].tolist()
    assert p[0] < 0.01 < p[1]
    assert figure.data[1].marker.symbol[:2] == ("circle", "circle-open")
    assert ["not significant" in text for text in figure.data[1].customdata[:2]] == [False, True]
    assert detector_correlation_title(["a"], [None], [None]) == "No detector can be compared with agreement"
    json.dumps(figure.to_plotly_json()["data"], allow_nan=False, default=list)


def test_shared_rankings_side_by_side(agreed):
    figure = plot_shared_rankings(agreed.ranking)
    shared = shared_rankings(agreed.ranking)
    assert list(figure.layout.xaxis.ticktext) == [
        f"{len(each.truths)} reference{'' if len(each.truths) == 1 else 's'}" for each in shared
    ]
    assert figure.layout.title.text == shared_title(shared)
    of = {trace.name: trace.y for trace in figure.data}
    for column, each in enumerate(shared):
        assert [of[name][column] for name in each.systems] == each.ranks.tolist()
        assert ", ".join(each.truths) in figure.data[0].customdata[column]
    assert shared_title([]) == "Nothing can be ranked"


def test_a_legend_takes_nothing_from_the_plot():
    sizes = set()
    for count in (1, 13):
        names = [f"reference {number}" for number in range(count)]
        figure = precision_curves(names, [0.0, 1.0], np.ones((count, 2)), np.ones(count))
        assert figure.layout.legend.orientation == "h"
        sizes.add(figure.layout.height - figure.layout.margin.b - figure.layout.margin.t)
    assert len(sizes) == 1
