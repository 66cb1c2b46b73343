"""Plots of variations: what is counted where, and what a title says."""

from __future__ import annotations

import pytest

from kalos_core import VARIATION_TYPES
from kalos_core.figures import COLOURS, VARIATION_LABELS, variation_bars, variations_title

NO_VARIATIONS = dict.fromkeys(VARIATION_TYPES, 0)


@pytest.mark.parametrize(
    ("counts", "title"),
    [
        (
            {"correct": 70, "missing": 20, "additional": 10},
            "30\xa0% of 100 findings are differences, most often missing (20)",
        ),
        ({"correct": 5}, "All 5 findings are correct"),
        ({}, "No findings: nobody annotated anything"),
        (NO_VARIATIONS, "No findings: nobody annotated anything"),
        (
            {"merged_wrong_class": 1_000},
            "100\xa0% of 1,000 findings are differences, most often merged, wrong class (1,000)",
        ),
    ],
)
def test_the_title_of_variations_is_their_finding(counts, title):
    assert variations_title(counts) == title


@pytest.mark.parametrize("counts", [{"correct": 3, "merged": 1}, NO_VARIATIONS, {}])
def test_the_bars_are_in_order_and_have_the_colours_of_the_table(counts):
    figure = variation_bars(counts)
    (bars,) = figure.data
    assert list(bars.y) == [VARIATION_LABELS[name] for name in VARIATION_TYPES]
    assert list(bars.marker.color) == [COLOURS[name] for name in VARIATION_TYPES]
    assert list(bars.x) == [counts.get(name, 0) for name in VARIATION_TYPES]


def test_a_bar_says_its_count_and_share():
    (bars,) = variation_bars({"correct": 1_500, "missing": 500}).data
    assert bars.text[0] == "1,500\xa0(75\xa0%)"
    assert bars.text[VARIATION_TYPES.index("missing")] == "500\xa0(25\xa0%)"
