"""Plots of pixel agreement show the computed values."""

from dataclasses import replace

import numpy as np
import pytest

from kalos_core.figures import pixels as figures
from kalos_core.pixels import MaskStack, pixel_agreement
from kalos_core.pixels.moments import Correlation
from tests.figures.plain import names, notes, plain, title

STACK = {"ann": [[1, 1, 0, 0]], "bob": [[1, 1, 1, 0]], "cid": [[1, 1, 1, 0]], "dan": [[0, 0, 0, 1]]}


@pytest.fixture(scope="module")
def result():
    picture = np.array([[10, 20, 30, 30]], np.uint8)
    return pixel_agreement([MaskStack.of(STACK, image_pixels=picture)])


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (figures.tree_title("abc", [False] * 3), "No rater stands out among 3 raters"),
        (figures.tree_title("abc", [True, False, True]), "a and c stand out among 3 raters"),
        (figures.performance_title(["a"], [None]), "No rater can be compared with the consensus"),
        (figures.performance_title(["a"], [0.5]), "a is closest to the consensus (κ 0.50)"),
        (figures.correlation_title(["red"], [None]), "No property of the images can be compared with agreement"),
        (figures.pixel_title(0.51, "4 to 7"), "Two of 4 to 7 raters share 51\xa0% of their marked pixels (mean F1)"),
        (figures.smyth_note(None), "Smyth's bound is undefined."),
    ],
)
def test_titles(title, expected):
    assert title == expected


def test_the_tree_has_a_leaf_for_each_rater_in_their_own_row(result):
    figure = figures.plot_rater_tree(result)
    leaves = figure.data[-1]
    assert list(leaves.customdata) == ["ann", "bob", "cid", "dan"]
    assert [figure.layout.yaxis.ticktext[row] for row in leaves.y] == ["ann", "bob", "cid", "dan"]
    assert len(figure.data) - 1 == 3
    # bob and cid join at 0, and dan joins at the top
    assert max(max(branch.x) for branch in figure.data[:-1]) == pytest.approx(result.linkage[-1, 2])
    meeting = min(figure.data[:-1], key=lambda branch: max(branch.x))
    assert sorted({meeting.y[0], meeting.y[-1]}) == sorted(leaves.y[1:3])
    assert title(figure) == "dan stands out among 4 raters"


def test_raters_against_the_consensus(result):
    figure = figures.plot_rater_performance(result)
    assert names(figure) == ["sensitivity", "specificity", "PPV", "NPV", "κ"]
    assert list(figure.data[0].x) == result.performance.sensitivity.tolist()
    assert figure.layout.xaxis.range[0] < min(result.performance.kappa)
    assert title(figure).startswith("bob is closest to the consensus (κ 1.00), dan furthest")
    for each in (figure, figures.plot_rater_tree(result), figures.plot_ratio(result)):
        plain(each)


def test_correlations_say_whether_they_are_significant_and_why_there_is_none(result):
    figure = figures.plot_correlations(result)
    assert list(figure.data[0].x) == [each.r for each in result.correlations]
    # Blood Vessel (Table I): blue -.0007, p = .0087 at the paper's 1e-4; here 99 % confidence
    rows = (("green", -0.1495, 0.0), ("blue", -0.0007, 0.087), ("red", None, None, "red is the same on all pixels"))
    found = tuple(Correlation(name, r, p, 9, *reason) for name, r, p, *reason in rows)
    bars = figures.plot_correlations(replace(result, correlations=found))
    green, blue, red = bars.data[0].customdata
    assert green.endswith(", significant (p < 0.001)")
    assert blue.endswith(", not significant (p = 0.087)")
    assert red == "<b>red</b>: red is the same on all pixels"
    assert notes(bars)[2] == "undefined"
    said = figures.correlation_title(["green", "blue"], [-0.1, 0.4], [0.001, 0.2])
    assert said.startswith("Agreement correlates most with green")


def test_the_bound_has_its_peculiarities_next_to_it():
    two = pixel_agreement([{"ann": [[1, 1, 0, 0]], "bob": [[1, 1, 1, 0]]}])
    # of the third pixel, one of two errs: 1/2 of one in four
    note = figures.smyth_note(two.smyth_bound, two.smyth_notes)
    assert note.startswith(
        "Smyth's bound: for any ground truth, raters err on at least 12\xa0% of all pixels (his limit"
    )
    assert "10\xa0%, which this exceeds). Unmarked pixels count" in note
    assert note.endswith("the bound is high even where F1 is.")
    three = pixel_agreement([{"ann": [[1, 0]], "bob": [[1, 0]], "cid": [[1, 0]]}])
    assert "odd number of raters (3)" in figures.smyth_note(three.smyth_bound, three.smyth_notes)
    assert "exceeds" not in figures.smyth_note(0.1)
