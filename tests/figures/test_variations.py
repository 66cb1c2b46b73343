"""Plots of variations: counts and titles."""

from __future__ import annotations

import pytest

from kalos_core import Annotations, variations
from kalos_core.display import VARIATION_LABELS
from kalos_core.figures import plot_variations
from kalos_core.figures.variations import variation_bars, variations_title
from kalos_core.variation import VARIATION_TYPES
from tests.figures.plain import title

NOTHING = "No findings: no rater annotated anything"
MERGED = (
    "100\xa0% of 1,000 findings are differences, most often: one rater annotated as one object what another annotated "
    "as several of another class (1,000)"
)
MOSTLY_MISSING = "30\xa0% of 100 findings are differences, most often: only one of two raters annotated an object (30)"


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"correct": 70, "missing": 20, "additional": 10}, MOSTLY_MISSING),
        ({"correct": 5}, "All 5 findings are correct"),
        ({}, NOTHING),
        ({"merged_wrong_class": 1_000}, MERGED),
    ],
)
def test_the_bars_are_in_order_with_the_finding_as_title(counts, expected):
    assert variations_title(counts) == expected
    (bars,) = variation_bars(counts).data
    assert list(bars.y) == [VARIATION_LABELS[name] for name in VARIATION_TYPES]
    assert list(bars.x) == [counts.get(name, 0) for name in VARIATION_TYPES]


def test_a_bar_says_its_count_and_share():
    (bars,) = variation_bars({"correct": 1_500, "missing": 500}).data
    assert bars.text[0] == "1,500\xa0(75\xa0%)"
    assert bars.text[VARIATION_TYPES.index("missing")] == "500\xa0(25\xa0%)"


def test_a_result_is_drawn():
    rows = [{"image": 1, "rater": name, "category": "cat", "box": [0, 0, 9, 9]} for name in ("ann", "bob")]
    found = variations(Annotations.from_rows([*rows, {**rows[0], "image": 2}], assigned="all"))
    figure = plot_variations(found)
    assert title(figure) == variations_title(found.counts())
    assert figure.data[0].x[VARIATION_TYPES.index("correct")] == 1
