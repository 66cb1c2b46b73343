"""Plots of raters: signs, order of heatmaps, and titles."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kalos_core import Annotations, agreement, collaboration, figures, rater_vitality
from kalos_core.display import signed
from kalos_core.figures import raters
from tests.figures.plain import notes

RATERS = ["ana", "ben", "chen"]
MATRIX = [[None, 0.9, 0.5], [0.9, None, 0.7], [0.5, 0.7, None]]
FULL = np.where(np.eye(3), 1.0, np.array(MATRIX, float))
WITHOUT = "Without chen the others agree better (−0.020); ana holds them together (+0.040)"
CONSISTENT = "ana is most consistent over sessions (0.90), chen least (0.40)"
TEAM = "The team agrees best in session 1 (0.90), least in session 3 (0.40)"
ENDS = "ana and ben agree most (0.90), ana and chen least (0.50)"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        (raters.vitality_title(RATERS, [0.04, 0.01, -0.02]), WITHOUT),
        (raters.vitality_title(RATERS, [0.04, 0.01, 0.0]), "Every rater adds to agreement, ana most (+0.040)"),
        (raters.vitality_title(RATERS, [-0.04, None, -0.02]), "Without ana the others agree better (−0.040)"),
        (raters.vitality_title(RATERS, [None, math.nan, None]), "No rater has a vitality"),
        (raters.collaboration_title(RATERS, MATRIX), ENDS),
        (raters.collaboration_title(RATERS, FULL), ENDS),  # without the diagonal
        (raters.collaboration_title(RATERS[:2], [[None, 0.5], [0.5, None]]), "ana and ben agree at 0.50"),
        (raters.collaboration_title(RATERS[:2], [[None, None], [None, None]]), "No two raters can be compared"),
        (raters.session_title(RATERS, [0.9, None, 0.4]), CONSISTENT),
        (raters.session_title(RATERS[:1], [0.9]), "ana agrees with themselves at 0.90"),
        (raters.session_title(RATERS, [None] * 3), "No rater can be compared with themselves"),
        (raters.team_title("123", [0.9, None, 0.4]), TEAM),
        (raters.team_title(["1"], [0.9]), "The team agrees at 0.90 in session 1"),
        (raters.team_title(["1"], [None]), "In no session can raters be compared"),
    ],
)
def test_titles(title, expected):
    assert title == expected


def test_a_bar_of_vitality_shows_its_sign(three_raters):
    values, ends = np.array([0.04, np.nan, -0.02]), np.array([[0.01, 0.07], [np.nan] * 2, [np.nan] * 2])
    made = {"rater": np.array(RATERS, object), "vitality": values, "vitality_interval": ends}
    found = replace(rater_vitality(three_raters), **made, images=np.array([10, 0, 1200]))
    figure = figures.plot_vitality(found)
    (bars,) = figure.data
    assert list(bars.x) == [0.04, None, -0.02]
    assert notes(figure) == ["+0.040", "undefined", "−0.020"]
    assert bars.customdata[0].startswith("<b>ana</b>: vitality +0.040\xa0[+0.010,\xa0+0.070], 10 images<br>")
    assert bars.customdata[2].startswith("<b>chen</b>: vitality −0.020, 1,200 images<br>over all units ")
    low, high = figure.layout.xaxis.range
    assert low < -0.02
    assert high > 0.07
    opacity = figures.plot_vitality(found, selected="ben").data[0].marker.opacity
    assert opacity[1] > opacity[0] == opacity[2]


def test_the_cells_are_in_the_order_of_the_clusters(three_raters):
    made = {"raters": np.array(RATERS, object), "alpha": FULL, "global_alpha": FULL, "order": np.array([2, 0, 1])}
    figure = figures.plot_collaboration(replace(collaboration(three_raters), **made))
    (cells,) = figure.data
    assert [list(row) for row in cells.z] == [[None, 0.5, 0.7], [0.5, None, 0.9], [0.7, 0.9, None]]
    assert list(figure.layout.xaxis.ticktext) == list(figure.layout.yaxis.ticktext) == ["chen", "ana", "ben"]
    assert cells.customdata[1][2] == "<b>ana</b> and <b>ben</b>: mean alpha over images 0.90"
    written = {(note.y, note.x): float(note.text) for note in figure.layout.annotations}
    assert written == {(y, x): value for y, row in enumerate(cells.z) for x, value in enumerate(row) if x != y}


@pytest.fixture(scope="module")
def three_raters():
    """Return ann and bob, who agree on both images, and cid, who annotated only one and agrees on none."""
    marks = [("ann", 0, 1), ("bob", 0, 1), ("cid", 50, 1), ("ann", 0, 2), ("bob", 0, 2)]
    rows = [{"image": n, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x, n in marks]
    return agreement(Annotations.from_rows(rows, assigned="all"), bootstrap=20)


def test_vitality_is_shown_by_the_primary_score_and_says_the_other(three_raters):
    # KαLOS §3.3: the mean over images is the primary score, the global one secondary
    result = rater_vitality(three_raters)
    (bars,) = figures.plot_vitality(result).data
    assert list(bars.x) == pytest.approx(result.vitality.tolist())
    assert not np.allclose(result.vitality, result.global_rematched)
    assert bars.customdata[2].endswith(f"2 images<br>over all units {signed(result.global_rematched[2])}")


def test_collaboration_shows_the_mean_above_and_all_units_below_the_diagonal(three_raters):
    result = collaboration(three_raters)
    figure = figures.plot_collaboration(result)
    (heat,) = figure.data
    mean, total = (values[np.ix_(result.order, result.order)] for values in (result.alpha, result.global_alpha))
    expected = np.where(np.eye(3), np.nan, np.triu(mean) + np.tril(total, -1))
    np.testing.assert_allclose(np.array(heat.z, dtype=float), expected)
    assert "mean alpha over images" in heat.customdata[0][1]
    assert "alpha over all units" in heat.customdata[1][0]
    note = "above the diagonal: mean alpha over images<br>below: alpha over all units"
    assert figure.layout.xaxis.title.text == note
    assert (result.alpha != result.global_alpha).any()
