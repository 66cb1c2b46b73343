"""Shared parts of plots: numbers, colours, and findings as titles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kalos_core import Annotations, agreement, display, figures
from kalos_core.diagnostics import class_difficulty, collaboration, intra_rater, rater_vitality, sensitivity
from tests.figures.plain import plain, title


@pytest.mark.parametrize(
    ("write", "texts"),
    [
        (display.significant, {0.68888: "0.689", 12.345: "12.3", 0: "0", 0.0380: "0.038", 1402.4: "1,402"}),
        (display.significant, {100.0: "100", -2 / 3: "−0.667", 0.9999: "1", None: "undefined", math.nan: "undefined"}),
        (display.alpha_text, {0.68888: "0.69", 1: "1.00", -0.0154: "−0.02", -0.004: "0.00", None: "undefined"}),
        (display.signed, {0.0412: "+0.041", -0.0154: "−0.015", 0.0001: "0.000"}),
        (display.points_text, {0.66068: "66.1", None: "undefined"}),
        (display.count_text, {1402: "1,402", -1402: "−1,402"}),
        (display.p_text, {0.0316: "p = 0.032", 0.2: "p = 0.2", 1e-9: "p < 0.001"}),
        # two digits, and never rounded to 0 or 100 %
        (display.percent_text, {0.000506: "0.051\xa0%", 0.333: "33\xa0%", 0.994: "99\xa0%", 0.9999: ">\xa099\xa0%"}),
        (display.percent_text, {1.0: "100\xa0%", 0.0: "0\xa0%", 1e-9: "<\xa00.001\xa0%", None: "undefined"}),
        (
            lambda parts: display.count_and_share(*parts),
            {(1402, 11683): "1,402\xa0(12\xa0%)", (0, 9): "0", (0, 0): "0"},
        ),
    ],
)
def test_numbers_of_one_kind_are_written_one_way(write, texts):
    assert {value: write(value) for value in texts} == texts


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (1, ("image",), "1 image"),
        (0, ("image",), "0 images"),
        (1402, ("crowd region",), "1,402 crowd regions"),
        (2, ("class",), "2 classes"),
        (2, ("category",), "2 categories"),
        (2, ("survey",), "2 surveys"),
        (2, ("match",), "2 matches"),
        (2, ("box",), "2 boxes"),
        (2, ("pair of raters",), "2 pairs of raters"),
        (2, ("unit in dispute",), "2 units in dispute"),
        (1, ("criterion", "criteria"), "1 criterion"),
        (6, ("criterion", "criteria"), "6 criteria"),
        (np.int64(1), ("of 3 images is", "of 3 images are"), "1 of 3 images is"),
    ],
)
def test_one_is_singular_and_others_are_plural(count, words, text):
    assert display.number_of(count, *words) == text


def test_an_interval_is_written_as_far_as_there_is_one():
    assert display.with_interval(0.7981, [0.786, 0.807]) == "0.798\xa0[0.786,\xa00.807]"  # narrow: one more decimal
    assert display.with_interval(0.5, np.array([0.25, 0.75])) == "0.50\xa0[0.25,\xa00.75]"
    assert display.with_interval(0.5, [math.nan, math.nan]) == "0.50"
    assert display.with_interval(None, [None, None], why="fewer than 8 images") == "undefined"


def test_every_diagnostic_is_drawn_with_its_finding_as_title():
    raters = ["ann", "bob", "cid", "ann again"]
    rows = [
        {"image": image, "rater": rater, "category": "cat" if rater == "cid" else "dog", "box": [0, 0, 10, 10]}
        for image in range(6)
        for rater in raters
    ]
    people = {"person": ["ann", "bob", "cid", "ann"], "session": ["1", "1", "1", "2"]}
    annotations = Annotations.from_rows(rows, raters=raters, **people)
    result = agreement(annotations, bootstrap=10)
    for figure, expected in (
        (figures.plot_sensitivity(sensitivity(annotations, [0.5, 0.9], bootstrap=10)), "Alpha falls by 0.00"),
        (figures.plot_class_difficulty(class_difficulty(result)), "Raters agree least about "),
        (figures.plot_vitality(rater_vitality(result)), "Without cid the others agree better"),
        (figures.plot_collaboration(collaboration(result)), "ann and bob agree most (1.00)"),
        (figures.plot_intra_rater(intra_rater(result)), "ann agrees with themselves at 1.00"),
    ):
        assert title(figure).startswith(expected)
        plain(figure)
