"""Plot of every ordered pair of raters."""

from __future__ import annotations

import numpy as np
import pytest

from kalos_core.figures.directions import directions_heatmap, directions_title
from tests.figures.plain import plain, title

RATERS = ["ann", "bob", "cid"]
MATRIX = [[None, 0.4, 0.5], [0.6, None, None], [0.7, 0.2, None]]


def test_rows_are_the_ground_truth_with_the_first_on_top():
    figure = directions_heatmap(RATERS, MATRIX, "title")
    (heat,) = plain(figure)
    percent = np.array(MATRIX, dtype=float) * 100
    np.testing.assert_allclose(np.array(heat["z"], dtype=float), percent)
    assert heat["customdata"][2][1] == "bob as detections of cid"
    written = {(note.y, note.x): note.text for note in figure.layout.annotations}
    assert written == {(0, 1): "40.0", (0, 2): "50.0", (1, 0): "60.0", (2, 0): "70.0", (2, 1): "20.0"}
    assert (figure.layout.yaxis.autorange, title(figure)) == ("reversed", "title")


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (MATRIX, "Lowest: 20.0 mAP for bob as detections of cid"),
        (np.full((3, 3), np.nan), "No two raters can be compared"),
    ],
)
def test_the_title_says_who_is_the_worst_guess_of_whom(matrix, said):
    assert directions_title(RATERS, matrix) == said
