"""Classes: hardest first by one rule, and classes that raters confuse."""

from __future__ import annotations

import fiftyone as fo

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.kinds.agreement.views import view_of_class
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion
from tests.fiftyone_bridge.scenes import RATERS
from tests.panels.operations import at, look_at, opened, prompted, samples_of


def test_the_hardest_is_the_same_everywhere(trio: fo.Dataset) -> None:
    """By hand: cat and dog are in every unit except the bench's, which has a lower alpha, but on too few images."""
    panel = opened(trio, "Classes")
    rows = [(row["name"], row["images"], row["is_ranked"]) for row in panel.record["classes"]]
    assert rows == [("cat", 24, True), ("dog", 24, True), ("bench", 6, False)]
    said = next(entry for entry in kf.overview_of(trio, "agreement") if entry.leads_to == "Classes")
    assert said.arguments == {"category": "cat"}
    assert panel.record["title"].startswith("Raters agree least about cat")
    assert [row["name"] for row in at(panel, "Overview").record["hardest"]] == ["cat", "dog"]


def test_on_too_few_images_none_is_called_the_hardest(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Classes")
    assert "Too few images to rank classes" in panel.record["title"]
    assert [row["name"] for row in panel.record["classes"]] == ["bench", "dog", "cat"]


def test_confusions_by_hand(trio: fo.Dataset) -> None:
    """Cid says dog where ann and bob say cat, in six scenes each; bob's dog of scene 2 is ann's cat and cid's dog."""
    confused = opened(trio, "Classes").record["confused"]
    assert confused["classes"] == ["cat", "dog"]
    assert confused["counts"] == [[None, 36], [36, None]]
    (row,) = confused["rows"]
    assert (row["first"], row["first_by"]) == ("cat", [["ann", 30], ["bob", 6]])
    assert (row["second"], row["second_by"]) == ("dog", [["cid", 30], ["bob", 6]])


def test_clicks_lead_to_images_of_classes(own_trio: fo.Dataset) -> None:
    panel = opened(own_trio, "Classes")
    view = view_of_class(own_trio, "agreement", "dog")
    assert samples_of(own_trio, panel.act("category", name="dog")) == view.values("id")
    assert f"{len(view)} images with dog, lowest α of dog first" in panel.grids[-1]["text"]
    view = view_of_confusion(own_trio, "variations", "dog", "cat")
    assert samples_of(own_trio, panel.act("confusion", classes=["dog", "cat"])) == view.values("id")
    of_bob = look_at(panel, rater="bob").record["confused"]["rows"][0]
    assert of_bob["count"] == 12


def test_without_a_search_for_differences_the_next_step_is_one(dataset: fo.Dataset) -> None:
    kf.compute_agreement(dataset, "agreement", raters=RATERS, bootstrap=0)
    panel = opened(dataset, "Classes")
    assert panel.record["confused"] is None
    assert prompted(panel.act("find"))[0] == "find_variations"
