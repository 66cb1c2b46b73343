"""The figure of every ordered pair of raters."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kalos_core.figures import directions_heatmap, directions_title

RATERS = ["ann", "bob", "cid"]
MATRIX = [[None, 0.4, 0.5], [0.6, None, None], [0.7, 0.2, None]]


def test_rows_are_the_ground_truth():
    figure = json.loads(json.dumps(directions_heatmap(RATERS, MATRIX).to_plotly_json(), allow_nan=False))
    (heat,) = figure["data"]
    assert heat["z"] == [
        [None, pytest.approx(40), pytest.approx(50)],
        [pytest.approx(60), None, None],
        [pytest.approx(70), pytest.approx(20), None],
    ]
    assert heat["customdata"][2][1] == "bob as detections of cid"
    written = {(text["y"], text["x"]): text["text"] for text in figure["layout"]["annotations"]}
    assert written == {(0, 1): "40.0", (0, 2): "50.0", (1, 0): "60.0", (2, 0): "70.0", (2, 1): "20.0"}
    assert not directions_heatmap([str(n) for n in range(13)], np.ones((13, 13))).layout.annotations


def test_the_first_rater_stands_on_top_and_nothing_zooms():
    layout = directions_heatmap(RATERS, MATRIX, "title").layout
    assert layout.yaxis.autorange == "reversed"
    assert layout.xaxis.fixedrange
    assert layout.yaxis.fixedrange
    assert layout.title.text == "title"


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (MATRIX, "Lowest: 20.0 mAP for bob as detections of cid"),
        (np.full((3, 3), np.nan), "No two raters can be compared"),
    ],
)
def test_the_title_says_who_is_the_worst_guess_of_whom(matrix, said):
    assert directions_title(RATERS, matrix) == said
