"""Plots of raters: signs, colours, the order of a heatmap, and what the titles say."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from kalos_core import Annotations, agreement, collaboration, rater_vitality
from kalos_core.figures import (
    RATER_COLOURS,
    collaboration_heatmap,
    collaboration_title,
    plot_collaboration,
    plot_vitality,
    session_bars,
    session_title,
    signed,
    team_title,
    vitality_bars,
    vitality_title,
)

RATERS = ["ana", "ben", "chen"]
MATRIX = [[None, 0.9, 0.5], [0.9, None, 0.7], [0.5, 0.7, None]]


# ---- vitality ----


@pytest.mark.parametrize(
    ("values", "title"),
    [
        ([0.04, 0.01, -0.02], "Without chen the others agree better (−0.020); ana holds them together (+0.040)"),
        ([0.04, 0.01, 0.0], "Every rater adds to agreement, ana most (+0.040)"),
        ([-0.04, None, -0.02], "Without ana the others agree better (−0.040)"),
        ([None, math.nan, None], "No rater has a vitality"),
    ],
)
def test_the_title_of_vitality_names_who_matters(values, title):
    assert vitality_title(RATERS, values) == title


def test_a_bar_of_vitality_shows_its_sign_and_the_colour_of_its_rater():
    figure = vitality_bars(RATERS, [0.04, None, -0.02], [10, 0, 1200], [[0.01, 0.07], [None, None], [None, None]])
    (bars,) = figure.data
    assert list(bars.x) == [0.04, None, -0.02]
    assert list(bars.marker.color) == list(RATER_COLOURS[:3])
    assert [note.text for note in figure.layout.annotations] == ["+0.040", "undefined", "−0.020"]
    assert bars.customdata[0] == "<b>ana</b>: vitality +0.040\xa0[+0.010,\xa0+0.070], 10 images"
    assert bars.customdata[2] == "<b>chen</b>: vitality −0.020, 1,200 images"
    assert figure.layout.xaxis.zeroline
    low, high = figure.layout.xaxis.range
    assert low < -0.02
    assert high > 0.07


def test_a_chosen_rater_stands_out():
    opacity = vitality_bars(RATERS, [0.1, 0.2, 0.3], selected="ben").data[0].marker.opacity
    assert opacity[1] > opacity[0] == opacity[2]


def test_more_raters_than_colours_begin_again():
    raters = [str(number) for number in range(10)]
    colours = vitality_bars(raters, [0.1] * 10).data[0].marker.color
    assert colours[8] == colours[0]


# ---- collaboration ----


def test_the_title_of_collaboration_names_both_ends():
    assert collaboration_title(RATERS, MATRIX) == "ana and ben agree most (0.90), ana and chen least (0.50)"
    assert collaboration_title(RATERS[:2], [[None, 0.5], [0.5, None]]) == "ana and ben agree at 0.50"
    assert collaboration_title(RATERS[:2], [[None, None], [None, None]]) == "No two raters can be compared"


def test_the_diagonal_counts_for_nothing():
    matrix = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, 0.7], [0.5, 0.7, 1.0]])
    assert collaboration_title(RATERS, matrix) == collaboration_title(RATERS, MATRIX)
    cells = collaboration_heatmap(RATERS, matrix).data[0].z
    assert [row[place] for place, row in enumerate(cells)] == [None, None, None]


def test_the_cells_are_in_the_order_of_the_clusters():
    figure = collaboration_heatmap(RATERS, MATRIX, [2, 0, 1])
    (cells,) = figure.data
    assert [list(row) for row in cells.z] == [[None, 0.5, 0.7], [0.5, None, 0.9], [0.7, 0.9, None]]
    assert list(figure.layout.xaxis.ticktext) == list(figure.layout.yaxis.ticktext) == ["chen", "ana", "ben"]
    assert cells.customdata[1][2] == "<b>ana</b> and <b>ben</b>: alpha 0.90"
    written = {(note.y, note.x): note.text for note in figure.layout.annotations}
    assert written == {
        (0, 1): "0.50",
        (0, 2): "0.70",
        (1, 0): "0.50",
        (1, 2): "0.90",
        (2, 0): "0.70",
        (2, 1): "0.90",
    }
    assert (cells.zmin, cells.zmax) == (0.5, 0.9)


def test_the_values_read_on_their_colours():
    notes = collaboration_heatmap(RATERS, MATRIX).layout.annotations
    assert {note.text: note.font.color for note in notes} == {"0.90": "black", "0.50": "white", "0.70": "black"}


def test_the_values_of_many_raters_stand_in_the_hover_only():
    many = np.full((17, 17), 0.5)
    figure = collaboration_heatmap([str(number) for number in range(17)], many)
    assert not figure.layout.annotations
    assert figure.data[0].customdata[0][1].endswith("alpha 0.50")


@pytest.mark.parametrize(
    "matrix", [[[None, None], [None, None]], [[None, 0.7], [0.7, None]], [[None, -0.3], [-0.3, None]]]
)
def test_any_matrix_is_drawn_and_plain(matrix):
    figure = collaboration_heatmap(RATERS[:2], matrix)
    (cells,) = figure.data
    assert cells.zmin < cells.zmax
    json.dumps(figure.to_plotly_json()["data"], allow_nan=False)


# ---- sessions ----


def test_sessions_say_who_is_consistent():
    assert session_title(RATERS, [0.9, None, 0.4]) == "ana is most consistent over sessions (0.90), chen least (0.40)"
    assert session_title(RATERS[:1], [0.9]) == "ana agrees with themselves at 0.90"
    assert session_title(RATERS, [None] * 3) == "No rater can be compared with themselves"


def test_sessions_say_how_the_team_does():
    title = "The team agrees best in session 1 (0.90), least in session 3 (0.40)"
    assert team_title(["1", "2", "3"], [0.9, None, 0.4]) == title
    assert team_title(["1"], [0.9]) == "The team agrees at 0.90 in session 1"
    assert team_title(["1"], [None]) == "In no session can raters be compared"


def test_a_bar_of_sessions_has_value_interval_and_count():
    figure = session_bars(["ana"], [0.9], [12], [[0.85, 0.95]], axis="mean alpha in the session")
    assert figure.data[0].customdata == ("<b>ana</b>: alpha 0.900\xa0[0.850,\xa00.950], 12 images",)
    assert figure.layout.xaxis.title.text == "mean alpha in the session"
    assert [note.text for note in figure.layout.annotations] == ["0.90"]


def three_raters():
    """Ann and bob agree on both images; cid on neither, and has annotated one of them only."""
    marks = [("ann", 0, 1), ("bob", 0, 1), ("cid", 50, 1), ("ann", 0, 2), ("bob", 0, 2)]
    rows = [{"image": n, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x, n in marks]
    return agreement(Annotations.from_rows(rows, assigned="all"), bootstrap=20)


def test_vitality_is_shown_by_the_primary_score_and_says_the_other():
    # KαLOS §3.3: the mean over images is the primary score, the global one secondary
    result = rater_vitality(three_raters())
    (bars,) = plot_vitality(result).data
    assert list(bars.x) == pytest.approx(result.vitality.tolist())
    assert not np.allclose(result.vitality, result.global_rematched)
    assert bars.customdata[2].endswith(f"2 images<br>over all units {signed(result.global_rematched[2])}")


def test_collaboration_shows_the_mean_above_and_all_units_below_the_diagonal():
    result = collaboration(three_raters())
    figure = plot_collaboration(result)
    (heat,) = figure.data
    order = result.order
    for y, a in enumerate(order):
        for x, b in enumerate(order):
            expected = None if x == y else result.alpha[a, b] if x > y else result.global_alpha[a, b]
            assert heat.z[y][x] == (None if expected is None else pytest.approx(expected))
    assert "mean alpha over images" in heat.customdata[0][1]
    assert "alpha over all units" in heat.customdata[1][0]
    note = "above the diagonal: mean alpha over images<br>below: alpha over all units"
    assert figure.layout.xaxis.title.text == note
    assert (result.alpha != result.global_alpha).any()
