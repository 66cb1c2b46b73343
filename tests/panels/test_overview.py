"""Overview: its content by hand and vs. the library's results, and effects of its clicks."""

from __future__ import annotations

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.kinds.agreement.views import view_of_class, view_worst_first
from kalos_core.fiftyone.kinds.variations.views import view_of_findings
from tests.fiftyone_bridge.quiz import RATERS as QUIZ
from tests.fiftyone_bridge.quiz import quiz
from tests.panels.conftest import THREE, data_set
from tests.panels.operations import given, opened, prompted, samples_of
from tests.plugin import Workbench


def test_its_record_by_hand(trio: fo.Dataset) -> None:
    """The six scenes repeated six times; cid annotates as ann, but labels every cat as a dog.

    Scene 1: of cat, cat, dog, two pairs differ. Scene 2: of cat, dog, dog, two. Scene 3: cat and dog differ, and bob
    lacks what both have. Scene 4: ann's and cid's bench is two of bob's; these are three units, and one decision.
    Scene 5 is empty, and in scene 6 ann's cat is cid's dog. There is no unit with full agreement.
    """
    record = opened(trio, "Overview").record
    assert (record["images"], record["raters"]) == (36, 3)
    assert record["objects"] == 6 * (1 + 1 + 1 + 3 + 0 + 1)
    assert record["disputes"] == {"all": 30, "decided": 0, "waiting": 0, "open": 30}  # a whole and its parts count once
    differences = [(row["name"], row["value"]) for row in record["differences"]]
    every = [("wrong_class", 6 * (2 + 2 + 1 + 1)), ("unmatched", 6 * 2), ("merged", 6 * 2), ("merged_wrong_class", 0)]
    assert differences == every
    hardest = [(row["name"], row["value"], row["images"]) for row in record["hardest"]]
    assert hardest == [("cat", 0, 24), ("dog", 0, 24)]  # a bench is on too few images


def test_its_lists_are_those_of_the_library(trio: fo.Dataset) -> None:
    record = opened(trio, "Overview").record
    cards = {card.rater: card for card in kf.rater_scorecard(trio, "agreement")}
    alphas = [row["value"] for row in record["furthest"]]
    assert {row["name"] for row in record["furthest"]} == set(THREE)
    assert alphas == sorted(alphas) == [cards[row["name"]].alpha for row in record["furthest"]]
    images = [image["sample_id"] for image in record["worst"]]
    assert images == view_worst_first(trio, "agreement").values("id")[: len(images)]
    assert [image["path"] for image in record["worst"]] == [trio[image].filepath for image in images]
    said = [(entry.leads_to, entry.text) for entry in kf.overview_of(trio, "agreement")]
    habits = [("Raters", of["text"]) for of in record["habits"]]
    assert sorted([*record["sentences"].items(), *habits]) == sorted(said)
    assert habits
    assert record["ceiling"] is None
    assert record["advice"] is None


def test_the_ceiling_is_measured_or_inferred_and_the_advice_is_that_of_the_calibration(analysed: fo.Dataset) -> None:
    record = opened(analysed, "Overview").record
    run = kf.load_metrics(analysed, "convergence")
    assert record["ceiling"]["value"] == run.metrics["whole"]
    assert record["ceiling"]["how"] == "measured between the two raters"
    assert record["ceiling"]["route"].startswith("measured")
    assert record["advice"]["text"]


def test_a_filter_narrows_it_down(trio: fo.Dataset) -> None:
    panel = opened(trio, "Overview")
    whole = panel.record
    narrowed = panel.look_through(category="cat").record
    assert narrowed["objects"] < whole["objects"]
    assert narrowed["disputes"] == whole["disputes"]  # of all, independent of the filter
    view = view_of_findings(trio, "variations", ("merged",), category="dog")
    assert len(view) < len(view_of_findings(trio, "variations", ("merged",)))
    assert samples_of(trio, panel.look_through(category="dog").act("difference", name="merged")) == view.values("id")


def test_its_clicks_lead_to_what_they_are_about(own_trio: fo.Dataset) -> None:
    panel = opened(own_trio, "Overview")
    views = {
        "worst": (view_worst_first(own_trio, "agreement"), {}),
        "rater": (view_worst_first(own_trio, "agreement", rater="cid"), {"name": "cid"}),
        "rate": (
            view_of_findings(own_trio, "variations", ("missing",), rater="bob"),
            {"rater": "bob", "kind": "missing"},
        ),
        "category": (view_of_class(own_trio, "agreement", "cat"), {"name": "cat"}),
        "difference": (view_of_findings(own_trio, "variations", ("wrong_class",)), {"name": "wrong_class"}),
    }
    for click, (view, clicked) in views.items():
        assert samples_of(own_trio, panel.act(click, **clicked)) == view.values("id"), click
        assert panel.grids[-1]["text"].startswith(f"{len(view)} images")
    image = panel.record["worst"][0]["sample_id"]
    assert given(panel.act("open", sample=image), "open_sample")["id"] == image
    assert prompted(panel.act("report")) == ("report", {"key": "agreement"})
    assert prompted(panel.act("next_images")) == ("next_to_rate", {"key": "agreement"})
    panel.act("send")
    assert "click: expected one of 'category', 'difference'" in panel.state["problem"]


@pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")
def test_undefined_results_have_a_sentence(dataset: fo.Dataset) -> None:
    kf.compute_agreement(dataset.skip(5), "undefined", raters=["ann", "bob"])  # only one of them was assigned
    record = Workbench(dataset).load().record
    assert record["alpha"] is None
    assert record["sentences"]["Images"].startswith("Alpha is undefined:")
    assert record["differences"] == record["worst"] == []


def test_image_level_labels_are_said_in_sentences_that_lead_on() -> None:
    dataset = data_set(quiz())
    kf.analyse(dataset, "labels", raters=QUIZ, settings={"image_labels": {"bootstrap": 0}})
    panel = Workbench(dataset).load()
    assert panel.state["section"] == "Overview"
    said = {one["leads_to"]: one["text"] for one in panel.record["said"]}
    assert said["Decide"].endswith("of 3 decisions about disputes are made.")
    assert said.keys() <= {"Questions", "Raters", "Decide", "Runs"}
    (unit,) = kf.disputed_units(dataset, "labels", kf.next_dispute(dataset, "labels"))
    kf.decide(dataset, "labels", unit.labels, "none")
    assert opened(dataset, "Decide").record["queue"]["counts"]["decided"] == 1
    assert panel.load().record["said"] != said
    dataset.delete()
