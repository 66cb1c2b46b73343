"""What figures share: numbers, colours, and that the App can draw all of them."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from kalos_core import (
    VARIATION_TYPES,
    Annotations,
    agreement,
    class_difficulty,
    collaboration,
    intra_rater,
    rater_vitality,
    sensitivity,
    variations,
)
from kalos_core.display import (
    alpha_text,
    count_and_share,
    count_text,
    number_of,
    p_text,
    percent_text,
    points_text,
    signed,
)
from kalos_core.figures import (
    COLOURS,
    RATER_COLOURS,
    VARIATION_LABELS,
    agreement_title,
    alpha_histogram,
    plot_agreement,
    plot_class_difficulty,
    plot_collaboration,
    plot_intra_rater,
    plot_sensitivity,
    plot_variations,
    plot_vitality,
    significant,
    variation_bars,
    variations_title,
    with_interval,
)

NO_VARIATIONS = dict.fromkeys(VARIATION_TYPES, 0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.68888, "0.689"),
        (1, "1"),
        (0, "0"),
        (0.0380, "0.038"),
        (1402.4, "1,402"),
        (100.0, "100"),
        (12.345, "12.3"),
        (-2 / 3, "−0.667"),
        (0.9999, "1"),
        (None, "undefined"),
        (math.nan, "undefined"),
    ],
)
def test_three_significant_digits(value, text):
    assert significant(value) == text


def test_numbers_of_one_kind_are_written_one_way():
    assert [alpha_text(value) for value in (0.68888, 1, -0.0154, -0.004, None)] == [
        "0.69",
        "1.00",
        "−0.02",
        "0.00",
        "undefined",
    ]
    assert [signed(value) for value in (0.0412, -0.0154, 0.0001)] == ["+0.041", "−0.015", "0.000"]
    assert [points_text(value) for value in (0.66068, None)] == ["66.1", "undefined"]
    assert [count_text(value) for value in (1402, -1402)] == ["1,402", "−1,402"]
    assert [p_text(value) for value in (0.0316, 0.2, 1e-9)] == ["p = 0.032", "p = 0.2", "p < 0.001"]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.000506, "0.051\xa0%"),
        (0.333, "33\xa0%"),
        (0.994, "99\xa0%"),
        (0.9999, ">\xa099\xa0%"),
        (1.0, "100\xa0%"),
        (0.0, "0\xa0%"),
        (1e-9, "<\xa00.001\xa0%"),
        (None, "undefined"),
    ],
)
def test_shares_have_two_digits_and_are_never_rounded_to_all_or_none(share, text):
    assert percent_text(share) == text


def test_a_part_of_a_whole_is_its_count_and_its_share():
    assert count_and_share(1402, 11683) == "1,402\xa0(12\xa0%)"
    assert count_and_share(0, 9) == count_and_share(0, 0) == "0"


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
        (1, ("pair of raters",), "1 pair of raters"),
        (1, ("criterion", "criteria"), "1 criterion"),
        (6, ("criterion", "criteria"), "6 criteria"),
        (np.int64(1), ("of 3 images is", "of 3 images are"), "1 of 3 images is"),
        (np.int32(2), ("of 3 images is", "of 3 images are"), "2 of 3 images are"),
    ],
)
def test_one_is_singular_and_others_are_plural(count, words, text):
    assert number_of(count, *words) == text


def test_a_narrow_interval_has_a_decimal_more():
    assert with_interval(0.7981, [0.786, 0.807]) == "0.798\xa0[0.786,\xa00.807]"


def test_an_interval_is_written_as_far_as_there_is_one():
    assert with_interval(0.5, np.array([0.25, 0.75])) == "0.50\xa0[0.25,\xa00.75]"
    assert with_interval(0.5, [math.nan, math.nan]) == "0.50"
    assert with_interval(None, [None, None]) == "undefined"


def test_all_figures_are_plain_json():
    for figure in (alpha_histogram([0.5, None]), alpha_histogram([]), variation_bars(NO_VARIATIONS)):
        plain = figure.to_plotly_json()
        assert json.loads(json.dumps(plain["data"])) == plain["data"]
        json.dumps(plain["layout"])


def test_no_colour_means_two_things():
    assert set(COLOURS) == set(VARIATION_LABELS) == set(VARIATION_TYPES)
    assert len({*COLOURS.values(), *RATER_COLOURS}) == len(COLOURS) + len(RATER_COLOURS)


def test_a_result_is_drawn_with_its_finding_as_title():
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10]}
        for image, raters in ((1, ("ann", "bob")), (2, ("ann",)))
        for rater in raters
    ]
    annotations = Annotations.from_rows(rows, assigned="all")
    result, found = agreement(annotations), variations(annotations)
    assert plot_agreement(result).layout.title.text == agreement_title(result.alpha, result.alpha_interval)
    assert plot_variations(found).layout.title.text == variations_title(found.counts())


def test_every_diagnostic_is_drawn_with_its_finding_as_title():
    rows = [
        {"image": image, "rater": rater, "category": "cat" if rater == "cid" else "dog", "box": [0, 0, 10, 10]}
        for image in range(6)
        for rater in ("ann", "bob", "cid", "ann again")
    ]
    people = {"person": ["ann", "bob", "cid", "ann"], "session": ["1", "1", "1", "2"]}
    raters = ["ann", "bob", "cid", "ann again"]
    annotations = Annotations.from_rows(rows, raters=raters, **people)
    result = agreement(annotations, bootstrap=10)
    titles = [
        plot_sensitivity(sensitivity(annotations, [0.5, 0.9], bootstrap=10)),
        plot_class_difficulty(class_difficulty(result)),
        plot_vitality(rater_vitality(result)),
        plot_collaboration(collaboration(result)),
        plot_intra_rater(intra_rater(result)),
    ]
    said = [figure.layout.title.text for figure in titles]
    assert said[0].startswith("Alpha falls by 0.00")
    assert said[1].startswith("Raters agree least about ")
    assert said[2].startswith("Without cid the others agree better")
    assert said[3].startswith("ann and bob agree most (1.00)")
    assert said[4] == "ann agrees with themselves at 1.00"
    for figure in titles:
        json.dumps(figure.to_plotly_json()["data"], allow_nan=False)
