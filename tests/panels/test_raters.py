"""Raters: numbers of each rater and of every two, and effects of clicks."""

from __future__ import annotations

import base64

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import Annotations
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.kinds.agreement.views import view_of_pair, view_worst_first
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion, view_of_findings
from kalos_core.results import plain_values
from tests.fiftyone_bridge.scenes import MEAN, RATERS
from tests.panels.operations import given, look_at, opened, prompted, samples_of


def test_rates_have_their_counts(trio: fo.Dataset) -> None:
    """By hand, six times over: bob lacks the cat of scene 3, which is ann's and cid's dog, and splits the bench.

    Of ann's three labels in scenes 1 to 3, the cat of scene 1 is bob's cat and cid's dog: half of the others, not most.
    """
    cards = {card["rater"]: card for card in opened(trio, "Raters").record["cards"]}
    counts, rates = cards["bob"]["counts"], cards["bob"]["rates"]
    assert (counts["missing"], rates["missing"]) == ([6, 24], 25)
    assert (counts["splits"], rates["splits"]) == ([12, 24], 50)
    assert cards["bob"]["splits_with"] == {"ann": 6, "cid": 6}
    assert cards["ann"]["counts"]["missing"] == [0, 18]
    assert cards["cid"]["confusions"] == [{"own": "dog", "other": "cat", "count": 30}]


def test_numbers_are_those_of_the_scorecards_and_of_the_run(trio: fo.Dataset) -> None:
    record = opened(trio, "Raters").record
    cards = {card.rater: card for card in kf.rater_scorecard(trio, "agreement")}
    order = [card["rater"] for card in record["cards"]]
    assert order == sorted(cards, key=lambda name: (cards[name].alpha, name))
    assert [card["alpha"] for card in record["cards"]] == [cards[name].alpha for name in order]
    stored = plain_values(kf.load_details(trio, "agreement").details)
    together, pairs = stored["collaboration"], record["pairs"]
    first, second = together["order"][:2]
    assert pairs["raters"] == [together["raters"][place] for place in together["order"]]
    assert pairs["alpha"][0][:2] == [None, together["alpha"][first][second]]
    assert pairs["alpha"][1][0] == together["global_alpha"][first][second]
    vitality = dict(zip(stored["vitality"]["rater"], stored["vitality"]["vitality"], strict=True))
    assert {card["rater"]: card["vitality"] for card in record["cards"]} == vitality


def test_clicks_lead_to_the_labels_behind_a_number(own_trio: fo.Dataset) -> None:
    panel = opened(own_trio, "Raters")
    for kind in ("missing", "additional", "wrong_class", "merges", "splits"):
        view = view_of_findings(own_trio, "variations", [kind], rater="bob")
        assert samples_of(own_trio, panel.act("rate", rater="bob", kind=kind)) == view.values("id"), kind
    assert panel.grids[-1]["text"] == "6 images with labels of bob that are parts of a label of another rater"
    views = {
        "rater": (view_worst_first(own_trio, "agreement", rater="cid"), {"rater": "cid"}),
        "pair": (view_of_pair(own_trio, "agreement", "ann", "cid"), {"raters": ["ann", "cid"]}),
        "confusion": (view_of_confusion(own_trio, "variations", "dog", "cat"), {"own": "dog", "other": "cat"}),
    }
    for click, (view, clicked) in views.items():
        assert samples_of(own_trio, panel.act(click, **clicked)) == view.values("id"), click
    assert prompted(panel.act("load"))[0] == "load_raters"
    assert prompted(panel.act("find"))[0] == "find_variations"


def test_the_feedback_sheet_is_saved_by_the_browser(trio: fo.Dataset) -> None:
    sent = given(opened(trio, "Raters").act("sheet", rater="bob"), "browser_download")
    assert sent["filename"] == "feedback-bob.html"
    page = base64.b64decode(sent["url"].partition(",")[2]).decode()
    assert "6 of 24 objects that most others have" in page


def test_undefined_results_have_a_reason(analysed: fo.Dataset) -> None:
    record = opened(analysed, "Raters").record
    assert record["why_no_vitality"].startswith("vitality: expected at least three raters")
    assert record["pairs"]["raters"] == ["ann", "bob"]
    assert record["people"] == []


def test_rates_follow_the_class_of_the_filter(trio: fo.Dataset) -> None:
    panel = look_at(opened(trio, "Raters"), category="bench")
    bob = next(card for card in panel.record["cards"] if card["rater"] == "bob")
    assert (bob["counts"]["splits"], bob["rates"]["splits"]) == ([12, 12], 100)


def test_sessions_of_a_person_lead_to_the_two_that_agree_least(dataset: fo.Dataset) -> None:
    passes = Annotations.from_rows([], raters=RATERS, person=["eve", "eve"], session=["1", "2"])
    store_raters(dataset, {}, passes)
    kf.compute_agreement(dataset, "agreement", raters=RATERS, bootstrap=0)
    panel = opened(dataset, "Raters")
    assert [(row["name"], row["value"]) for row in panel.record["people"]] == [("eve", pytest.approx(MEAN))]
    assert {row["name"] for row in panel.record["sessions"]} == {"1", "2"}
    view = view_of_pair(dataset, "agreement", "ann", "bob")
    assert samples_of(dataset, panel.act("person", name="eve")) == view.values("id")
