"""Bars of class difficulty: which classes are shown, in which order, and the text about the others."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kalos_core.diagnostics import ClassDifficulty
from kalos_core.figures import plot_class_difficulty
from kalos_core.figures.classes import class_difficulty_title, hardest_classes, left_out
from kalos_core.figures.common import NEUTRAL
from tests.figures.plain import notes

NAMES = ["car", "van", "bus", "dog", "gull"]
ALPHAS = [0.9, 0.2, 0.5, None, -0.1]
IMAGES = [20, 12, 2, 0, 10]


def test_the_hardest_class_with_enough_images_comes_first():
    assert hardest_classes(ALPHAS, IMAGES).tolist() == [4, 1, 0]
    assert hardest_classes(ALPHAS, IMAGES, limit=2).tolist() == [4, 1]
    assert hardest_classes([0.9, 0.2, math.nan], [1, 2, 0]).tolist() == [1, 0]  # none has enough images: all
    assert hardest_classes([0.5, 0.5, 0.1], [9, 9, 9]).tolist() == [2, 0, 1]  # ties keep their order
    assert left_out(ALPHAS, IMAGES, 12) == "Not shown: 1 on fewer than 10 images, 1 without an alpha."
    assert left_out([0.5], [9]) == ""


@pytest.mark.parametrize(
    ("names", "alphas", "images", "title"),
    [
        (NAMES, ALPHAS, IMAGES, "Raters agree least about gull (−0.10), best about car (0.90)"),
        (["car"], [0.5], [9], "Agreement about car (0.50)"),
        (["car"], [None], [0], "No class has an alpha"),
        ([], [], [], "No class has an alpha"),
    ],
)
def test_the_title_names_the_hardest_and_the_easiest(names, alphas, images, title):
    assert class_difficulty_title(names, alphas, images) == title


def test_a_bar_says_its_class_value_interval_and_count():
    alpha = np.array(ALPHAS, np.float64)
    ends = np.array([[0.85, 0.95], [0.1, 0.3], [0.4, 0.6], [None, None], [None, None]], np.float64)
    images = np.array(IMAGES)
    found = ClassDifficulty(alpha, ends, alpha, ends, images, np.array(NAMES, object), images)
    figure = plot_class_difficulty(found, selected="van")
    (bars,) = figure.data
    assert list(bars.x) == [-0.1, 0.2, 0.9]
    assert list(bars.customdata) == [
        "<b>gull</b>: alpha −0.100, 10 images",
        "<b>van</b>: alpha 0.200\xa0[0.100,\xa00.300], 12 images",
        "<b>car</b>: alpha 0.900\xa0[0.850,\xa00.950], 20 images",
    ]
    for ends in (bars.error_x.array, bars.error_x.arrayminus):
        assert list(ends) == pytest.approx([0, 0.1, 0.05])
    assert [colour == NEUTRAL for colour in bars.marker.color] == [False, True, False]
    assert list(figure.layout.yaxis.ticktext) == ["gull", "van", "car"]
    assert notes(figure) == ["−0.10 (10)", "0.20 (12)", "0.90 (20)"]
