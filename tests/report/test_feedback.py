"""The sheet of one rater: its numbers are the card's, its examples are drawn, and names are text."""

from __future__ import annotations

import numpy as np

from kalos_core import Annotations, agreement, draw_image, variations
from kalos_core.diagnostics import narrowed
from kalos_core.report import card_lines, feedback_sheet
from kalos_core.variation import RaterCard, narrowed_variations, rater_scorecards
from tests.report.test_report import Page

HOSTILE = '<img src=x onerror="alert(1)">'


def cards(rows: list[dict[str, object]]) -> dict[str, RaterCard]:
    table = Annotations.from_rows(rows, assigned="all", image_size={1: (100, 100), 2: (100, 100)})
    found = rater_scorecards(narrowed(agreement(table, bootstrap=0)), narrowed_variations(variations(table)))
    return {card.rater: card for card in found}


def row(image: int, rater: str, category: str, left: float) -> dict[str, object]:
    return {"image": image, "rater": rater, "category": category, "box": [left, 0, 20, 20]}


# image 1: ann cat, bob dog, the same box; image 2: both cat, and bob a bird that ann has not
SCENES = [
    row(1, "ann", "cat", 0),
    row(1, "bob", "dog", 0),
    row(2, "ann", "cat", 0),
    row(2, "bob", "cat", 0),
    row(2, "bob", "bird", 60),
]


def test_lines_say_what_the_card_has() -> None:
    lines = dict(card_lines(cards(SCENES)["bob"]))
    assert lines["Images and labels"] == "2 images, 3 labels"
    assert lines["Wrong class, for every 100 own labels"] == "33.3"  # 1 of 3
    assert lines["Additional, for every 100 own labels"] == "33.3"
    assert lines["Says dog where others say cat"] == "1 finding"
    assert not any("Missing" in name or "Merges" in name for name in lines)  # there are none
    assert dict(card_lines(cards(SCENES)["ann"]))["Missing, for every 100 own labels"] == "50.0"  # 1, of 2 own


def test_examples_are_drawn_and_the_page_needs_no_network() -> None:
    table = Annotations.from_rows(SCENES, image_size={1: (100, 100), 2: (100, 100)})
    page = feedback_sheet(cards(SCENES)["bob"], {"wrong_class": [draw_image(table, 1)]})
    assert page.count("data:image/jpeg;base64,") == 1
    assert "you gave it another class than others" in page
    assert "http" not in page


def test_names_are_text() -> None:
    rows = [
        {**entry, "rater": HOSTILE if entry["rater"] == "bob" else "ann", "category": f"{HOSTILE}{entry['category']}"}
        for entry in SCENES
    ]
    tags = Page(feedback_sheet(cards(rows)[HOSTILE])).tags
    assert not [tag for tag, attrs in tags if tag == "img" or any(name.startswith("on") for name in attrs)]
    assert np.isfinite(cards(rows)[HOSTILE].rates["additional"])
