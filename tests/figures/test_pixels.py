"""Plots of agreement about pixels: what is drawn is what was computed, and JSON can hold it."""

import json

import numpy as np
import pytest

from kalos_core.figures import pixels as figures
from kalos_core.pixels import MaskStack, pixel_agreement

STACK = {"ann": [[1, 1, 0, 0]], "bob": [[1, 1, 1, 0]], "cid": [[1, 1, 1, 0]], "dan": [[0, 0, 0, 1]]}


@pytest.fixture(scope="module")
def result():
    picture = np.array([[10, 20, 30, 30]], np.uint8)
    return pixel_agreement([MaskStack.of(STACK, image_pixels=picture)])


def test_the_tree_has_a_leaf_for_each_rater_in_their_own_row(result):
    figure = figures.plot_rater_tree(result)
    leaves = figure.data[-1]
    assert list(leaves.customdata) == ["ann", "bob", "cid", "dan"]
    drawn = [figure.layout.yaxis.ticktext[row] for row in leaves.y]
    assert drawn == ["ann", "bob", "cid", "dan"]
    assert len(figure.data) - 1 == 3
    # bob and cid meet at 0, and the top joins dan
    assert max(max(branch.x) for branch in figure.data[:-1]) == pytest.approx(result.linkage[-1, 2])
    meeting = min(figure.data[:-1], key=lambda branch: max(branch.x))
    assert sorted({meeting.y[0], meeting.y[-1]}) == sorted(leaves.y[1:3])
    assert figure.layout.title.text == "dan stands out among 4 raters"
    assert figures.tree_title(["a", "b", "c"], [False] * 3) == "Nobody stands out among 3 raters"
    assert figures.tree_title(["a", "b", "c"], [True, False, True]) == "a and c stand out among 3 raters"


def test_the_ratio_is_drawn_from_one_rater(result):
    figure = figures.plot_ratio(result)
    assert list(figure.data[0].x) == [1, 2, 3, 4]
    assert list(figure.data[0].y) == pytest.approx([1, 3 / 4, 2 / 4, 0])
    two = figures.ratio_curve([[1, None], [1, 0.5]], ["road", "car"])
    assert two.data[0].y == (1, None)
    assert two.layout.showlegend


def test_raters_against_the_consensus(result):
    figure = figures.plot_rater_performance(result)
    assert [trace.name for trace in figure.data] == ["sensitivity", "specificity", "PPV", "NPV", "κ"]
    assert list(figure.data[0].x) == result.performance.sensitivity.tolist()
    assert figure.layout.xaxis.range[0] < min(result.performance.kappa)
    assert figure.layout.title.text.startswith("bob is closest to the consensus (κ 1.00), dan furthest")
    assert figures.performance_title(["a"], [None]) == "Nobody can be compared with the consensus"
    assert figures.performance_title(["a"], [0.5]) == "a is closest to the consensus (κ 0.50)"


def test_correlations_and_why_there_is_none(result):
    figure = figures.plot_correlations(result)
    assert list(figure.data[0].x) == [each.r for each in result.correlations]
    bars = figures.correlation_bars(["red"], [None], ["red is the same on all pixels"])
    assert bars.data[0].customdata == ("<b>red</b>: red is the same on all pixels",)
    assert bars.layout.annotations[0].text == "undefined"
    assert figures.correlation_title(["red"], [None]) == "No property of the images can be compared with agreement"


@pytest.mark.parametrize("plot", ["plot_rater_tree", "plot_ratio", "plot_rater_performance", "plot_correlations"])
def test_figures_are_json_and_cannot_be_zoomed(plot, result):
    figure = getattr(figures, plot)(result)
    assert "NaN" not in json.dumps(figure.to_plotly_json(), default=list)
    assert figure.layout.xaxis.fixedrange
    assert figure.layout.yaxis.fixedrange


def test_the_headline_leads_with_f1_and_the_bound_has_its_peculiarities_next_to_it(result):
    assert figures.pixel_title(result.mean_f1, 4) == (
        f"Two of 4 raters share {100 * result.mean_f1:.0f}\u00a0% of what they mark (mean F1)"
    )
    assert figures.pixel_title(0.51, "4 to 7") == "Two of 4 to 7 raters share 51\u00a0% of what they mark (mean F1)"
    two = pixel_agreement([{"ann": [[1, 1, 0, 0]], "bob": [[1, 1, 1, 0]]}])
    # of the third pixel, one of two errs: 1/2 of one in four
    note = figures.smyth_note(two.smyth_bound, two.smyth_notes)
    assert note.startswith("Smyth's bound: whatever the truth, raters err on at least 12\xa0% of all pixels (his limit")
    assert "10\xa0%, which this exceeds). Unmarked pixels count" in note
    assert note.endswith("the bound is high even where F1 is.")
    three = pixel_agreement([{"ann": [[1, 0]], "bob": [[1, 0]], "cid": [[1, 0]]}])
    assert "odd number of raters (3)" in figures.smyth_note(three.smyth_bound, three.smyth_notes)
    assert "exceeds" not in figures.smyth_note(0.1)
    assert figures.smyth_note(None) == "Smyth's bound is undefined."


def test_what_is_not_significant_is_pale_and_says_so():
    # Blood Vessel (Table I): blue -.0007, p = .0087 at the paper's 1e-4; here 99 % confidence
    bars = figures.correlation_bars(["green", "blue"], [-0.1495, -0.0007], p=[0.0, 0.087])
    assert list(bars.data[0].marker.color) == [figures.NEUTRAL, figures.PALE]
    assert bars.data[0].customdata[0].endswith(", significant (p < 0.001)")
    assert bars.data[0].customdata[1].endswith(", not significant (p = 0.087)")
    assert figures.correlation_title(["green", "blue"], [-0.1, 0.4], [0.001, 0.2]).startswith(
        "Agreement goes most with green"
    )
