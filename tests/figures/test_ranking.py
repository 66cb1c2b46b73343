"""Plots of rankings: positions and titles."""

from __future__ import annotations

import numpy as np
import pytest

from kalos_core import DetectorAccumulator, figures
from kalos_core.figures import ranking
from kalos_core.ranking import Rankings, concordance, shared_rankings
from tests.figures.plain import names, notes, plain, title

NET_AND_SVM = [0.9, 0.8]


def rankings(*values, systems=("net", "svm", "rf")):
    table, systems = np.array(values, np.float64), list(systems)
    truths = np.array([f"truth {number}" for number in range(len(table))], object)
    return Rankings("AUC", truths, np.array(systems[: table.shape[1]], object), table)


def of_ranks(*values, **given):
    return ranking.ranking_title(rankings(*values, **given))


def of_bounds(*bounds, **given):
    return ranking.bounds_title(["net", "svm", "rf", "knn"][: len(bounds)], bounds, *given.values())


UNMEASURED = "net cannot be measured: no reference has both marked and unmarked pixels"
DEPENDS = "The best depends on the reference: "
APART, BEYOND = "net and svm can be told apart", "under single raters lie{} outside the bounds"
SOME = "2 of 6 pairs of detectors can be told apart"
# P16: 3 of 6 pairs, while 15 of 24 areas lie outside
OVERLAPPING = ([0.7, 0.8], [0.6, 0.75], [0.5, 0.65], [0.1, 0.62])


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (of_ranks(NET_AND_SVM, [0.8, 0.9], [0.9, 0.1]), f"{DEPENDS}net under 2 of 3, svm under 1"),
        (of_ranks(NET_AND_SVM, [0.9, 0.9]), "net is best under all 2 references; they give 2 rankings"),
        (of_ranks([0.9, 0.9], [0.9, 0.9]), "net and svm are best under all 2 references; they give one ranking"),
        (of_ranks(NET_AND_SVM), "net is best under the one reference"),
        (of_ranks(NET_AND_SVM, [np.nan, np.nan]), "net is best under the one reference"),
        (of_ranks([np.nan, np.nan]), "Nothing can be ranked"),
        (of_ranks(*np.eye(5), systems="abcde"), f"{DEPENDS}a under 1 of 5, b under 1, c under 1 and 2 more"),
        (ranking.shared_title([]), "Nothing can be ranked"),
        (ranking.tau_title(["ann"], [[1]]), "No two references rank the same models"),
        (
            ranking.tau_title(["ann", "bob"], [[1, 0.5], [0.5, 1]]),
            "Similarity of the orders of models under ann and bob: τ 0.50",
        ),
        (of_bounds([0.5, 0.8], [0.1, 0.2]), APART),
        (of_bounds([0.5, 0.8], [0.1, 0.5]), "net and svm cannot be told apart"),
        (of_bounds([0.5, 0.8], [0.1, 0.5], [0.5, 0.5]), "No two detectors can be told apart"),
        (of_bounds([0.7, 0.8], [0.4, 0.5], [0.1, 0.2]), "All 3 detectors can be told apart"),
        (of_bounds([None, None], [0.1, 0.2]), "No two detectors can be compared"),
        (of_bounds(*OVERLAPPING), f"{SOME}; net and svm cannot, nor can 3 more"),
        (of_bounds(*OVERLAPPING, outside=15, compared=24), f"{SOME}, but 15 of 24 areas {BEYOND.format('')}"),
        (of_bounds([0.7, 0.8], [0.1, 0.2], outside=1), f"{APART}, but 1 area {BEYOND.format('s')}"),
        (ranking.curves_title("net", [0.5, None]), "net reaches 0.50 under every reference"),
        (ranking.curves_title("net", [None]), UNMEASURED),
        (ranking.detector_correlation_title(["a"], [None], [None]), "No detector can be compared with agreement"),
    ],
)
def test_titles(title, expected):
    assert title == expected


def test_ranks_are_drawn_with_the_best_on_top_and_a_gap_where_undefined():
    result = rankings([0.9, 0.8, 0.1], [0.2, 0.8, np.nan])
    figure = figures.plot_ranking(result)
    assert [list(trace.y) for trace in figure.data] == [[1, 2], [2, 1], [3, None]]
    bottom, top = figure.layout.yaxis.range
    assert top < 1 < 3 < bottom
    assert figure.data[0].customdata[1] == "<b>net</b> under truth 1: rank 2, AUC 0.20"
    assert title(figure) == ranking.ranking_title(result)


def test_tau_and_concordance_have_their_values_off_the_diagonal():
    result = rankings([0.9, 0.8, 0.1], [0.2, 0.8, 0.1], [0.1, 0.2, 0.3])
    figure = figures.plot_tau(result)
    assert figure.data[0].z[0][0] is None
    assert figure.data[0].z[0][1] == pytest.approx(1 / 3)
    assert figure.data[0].customdata[0][1] == "<b>truth 0</b> and <b>truth 1</b>: Kendall's τ 0.33"
    most = "References order the models most differently under truth 0 and truth 2"
    assert title(figure) == f"{most} (τ −1.00; mean of all pairs −0.33)"
    found = concordance(result)
    figure = figures.plot_concordance(found)
    cells = figure.data[0].z
    assert cells[0][1] == pytest.approx(max(found.distance[0, 1], found.distance[1, 0]))
    assert cells[1][0] == pytest.approx(max(found.p[0, 1], found.p[1, 0]))
    assert cells[0][0] is None
    start = "Rankings are concordant under 0 of 3 pairs of references; least truth 0 and truth 2 (no nearer than random"
    assert title(figure).startswith(start)
    none = figures.plot_concordance(concordance(rankings([0.9], [0.8])))
    assert title(none) == "No two references rank the same models"


@pytest.fixture(scope="module")
def detectors():
    accumulator = DetectorAccumulator()
    masks = {"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 0, 0]], "cid": None}
    accumulator.add({"net": [[0.9, 0.6, 0.4, 0.1]], "edge": [[0.4, 0.6, 0.9, 0.1]]}, masks)
    return accumulator.result((0.1, 0.5))


@pytest.fixture(scope="module")
def agreed():
    accumulator = DetectorAccumulator(methods=("any",), shares="all")
    masks = {"ann": [[1, 1, 0, 0, 0]], "bob": [[1, 0, 0, 0, 0]], "cid": [[1, 1, 1, 0, 0]]}
    scores = {"net": [[0.9, 0.6, 0.4, 0.1, 0.0]], "edge": [[0.4, 0.6, 0.9, 0.1, 0.2]], "flat": [[0.5] * 5]}
    accumulator.add(scores, masks)
    return accumulator.result((0.1, 0.5))


def test_bounds_are_drawn_with_the_raters_within(detectors):
    figure = figures.plot_bounds(detectors)
    bars, ticks = figure.data
    np.testing.assert_allclose(bars.base, detectors.bounds[:, 0])
    np.testing.assert_allclose(np.array(bars.x), np.diff(detectors.bounds, axis=1)[:, 0])
    assert len(ticks.x) == 4  # ann and bob, for two detectors; cid marks nothing
    assert ticks.customdata[0].startswith("<b>net</b> under ann: ")
    outside, compared = detectors.raters_outside.sum(), detectors.raters_compared.sum()
    assert title(figure) == ranking.bounds_title(["net", "edge"], detectors.bounds, outside, compared)
    figure = ranking.bounds_bars(["net", "svm"], [[None, None], [0.2, 0.4]], ["ann"], np.array([[np.nan, 0.3]]))
    assert notes(figure) == ["undefined", "0.20 to 0.40"]
    plain(figure)


def test_curves_are_drawn_where_defined(detectors):
    figure = figures.plot_curves(detectors, "edge")
    assert names(figure) == ["ann", "bob", "any", "0.5"]  # cid marks nothing, and no pixel has three quarters
    assert figure.data[0].x[-1] == 1
    assert figure.data[0].y[-1] == pytest.approx(detectors.precision[0, 1, -1], abs=0.3)
    low, high = np.nanmin(detectors.area[:, 1]), np.nanmax(detectors.area[:, 1])
    assert title(figure) == f"edge reaches {low:.2f} to {high:.2f}, depending on the reference"
    plain(figure)


def test_detectors_against_agreement(agreed):
    figure = figures.plot_detector_correlations(agreed)
    table = agreed.by_detector()
    assert list(figure.data[0].x)[:2] == pytest.approx(table["cco"][:2])
    assert list(figure.data[1].x)[:2] == pytest.approx(table["cci"][:2])
    assert figure.data[1].x[2] is None  # a constant map
    p = table["cci_p"].tolist()
    assert p[0] < 0.01 < p[1]
    assert ["not significant" in text for text in figure.data[1].customdata[:2]] == [False, True]


def test_shared_rankings_side_by_side(agreed):
    figure = figures.plot_shared_rankings(agreed.ranking)
    shared = shared_rankings(agreed.ranking)
    counted = [f"{len(each.truths)} reference{'' if len(each.truths) == 1 else 's'}" for each in shared]
    assert list(figure.layout.xaxis.ticktext) == counted
    assert title(figure) == ranking.shared_title(shared)
    of = {trace.name: trace.y for trace in figure.data}
    for column, each in enumerate(shared):
        assert [of[name][column] for name in each.systems] == each.ranks.tolist()
        assert ", ".join(each.truths) in figure.data[0].customdata[column]
