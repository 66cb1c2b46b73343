"""Sheet of one rater: its numbers are those of the scorecard, its examples are drawn, and names are text."""

from __future__ import annotations

import numpy as np
import pytest

from kalos_core import Annotations, agreement, draw_image, variations
from kalos_core.diagnostics import narrowed
from kalos_core.drawing import draw_unit
from kalos_core.report import card_lines, feedback_sheet, study
from kalos_core.variation import RaterCard, narrowed_variations, rater_scorecards
from tests.report.test_report import Page

HOSTILE = '<img src=x onerror="alert(1)">'


def cards(rows: list[dict[str, object]]) -> dict[str, RaterCard]:
    table = Annotations.from_rows(rows, assigned="all", image_size={1: (100, 100), 2: (100, 100)})
    found = rater_scorecards(narrowed(agreement(table, bootstrap=0)), narrowed_variations(variations(table)))
    return {card.rater: card for card in found}


def row(image: int, rater: str, category: str, left: float) -> dict[str, object]:
    return {"image": image, "rater": rater, "category": category, "box": [left, 0, 20, 20]}


# image 1: ann cat, bob dog, the same box; image 2: both cat, and bob has a bird that ann does not have
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
    assert lines["Wrong class"] == "1 of 3 own labels (33\u00a0%)"
    assert lines["Additional"] == "1 of 3 own labels (33\u00a0%)"
    assert lines["Says dog where others say cat"] == "1 finding"
    assert not any("Missing" in name or "Merges" in name for name in lines)  # there are none
    missed = dict(card_lines(cards(SCENES)["ann"]))["Missing"]
    assert missed == "1 of 3 objects that most others have (33\u00a0%)"


def test_examples_are_drawn_and_the_page_needs_no_network() -> None:
    table = Annotations.from_rows(SCENES, image_size={1: (100, 100), 2: (100, 100)})
    page = feedback_sheet(cards(SCENES)["bob"], {"wrong_class": [draw_image(table, 1)]})
    assert page.count("data:image/jpeg;base64,") == 1
    assert "you gave it another class than most others" in page
    assert "http" not in page


def test_names_are_text() -> None:
    rows = [
        {**entry, "rater": HOSTILE if entry["rater"] == "bob" else "ann", "category": f"{HOSTILE}{entry['category']}"}
        for entry in SCENES
    ]
    tags = Page(feedback_sheet(cards(rows)[HOSTILE])).tags
    assert not [tag for tag, attrs in tags if tag == "img" or any(name.startswith("on") for name in attrs)]
    assert np.isfinite(cards(rows)[HOSTILE].rates["additional"])


class TestNothingFalseIsStated:
    """dan annotates two persons as one, cid has none of them; all except cid see a bottle, bob and eve also a cup."""

    @pytest.fixture
    def table(self) -> Annotations:
        two, one = ([0, 0, 10, 20], [10, 0, 10, 20]), ([0, 0, 20, 20],)
        persons = {"ann": two, "bob": two, "dan": one, "eve": two}
        rows = [("person", rater, box) for rater, boxes in persons.items() for box in boxes]
        rows += [("bottle", rater, [60, 0, 9, 9]) for rater in persons]
        rows += [("cup", rater, [60, 60, 9, 9]) for rater in ("bob", "eve")] + [("cup", "cid", [30, 60, 9, 9])]
        given = [{"image": 1, "rater": rater, "category": name, "box": box} for name, rater, box in rows]
        return Annotations.from_rows(given, assigned="all", image_size={1: (100, 100)})

    def test_a_merged_finding_has_the_annotations_of_each_rater(self, table: Annotations) -> None:
        found = study(table, threshold=0.6, bootstrap=0)
        drawing = found.examples["dan"]["merged"]
        said = {text.split(": ")[0]: text.split(": ")[1] for text in drawing.legend.values()}
        assert said == {
            "ann": "2 × person",
            "bob": "2 × person",
            "dan": "person",
            "eve": "2 × person",
            "cid": "annotated nothing here",
        }

    def test_additional_annotations_have_no_counterpart(self, table: Annotations) -> None:
        cards = {card.rater: card for card in study(table, threshold=0.6, bootstrap=0).cards}
        assert cards["bob"].counts["additional"] == cards["eve"].counts["additional"] == (0, 4)
        assert cards["cid"].counts["additional"] == (1, 1)
        assert "additional" not in cards["bob"].examples
        assert cards["cid"].counts["missing"] == (3, 3)  # two persons and a bottle; a cup is of two of four

    def test_who_has_something_that_does_not_match_is_not_said_to_have_nothing(self) -> None:
        boxes = {"ann": [0, 0, 20, 20], "bob": [10, 0, 20, 20]}
        rows = [{"image": 1, "rater": rater, "category": "cat", "box": box} for rater, box in boxes.items()]
        table = Annotations.from_rows(rows, raters=["ann", "bob", "cid"], assigned="all", image_size={1: (99, 99)})
        legend = draw_unit(agreement(table, bootstrap=0), 0).legend.values()
        assert list(legend) == ["ann: cat", "bob: nothing that matches", "cid: annotated nothing here"]
