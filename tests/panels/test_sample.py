"""Panel beside the open sample: units x raters, its disputes, and navigation to the next sample."""

from __future__ import annotations

import json
from typing import Any

import fiftyone as fo

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text
from tests.fiftyone_bridge.quiz import RATERS as QUIZ
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import ALPHAS, RATERS, SCENES
from tests.panels.conftest import data_set
from tests.panels.operations import given, ids, opened, sample_of
from tests.plugin import Workbench, post


class Beside(Workbench):
    """Panel beside a sample; `record` is drawn by its view."""

    def __init__(self, dataset: fo.Dataset, number: int) -> None:
        super().__init__(dataset, current_sample=ids(dataset, number)[0])
        self.name = "sample"
        self.told("on_load")

    def told(self, event: str) -> Any:
        _, asked = self.post(event)
        self.record = json.loads(
            given([one for one in asked if one[0] == "patch_panel_data"], "patch_panel_data")["data"]["beside"]
        )
        return self.record

    def go_to(self, number: int) -> Any:
        """Do what the App does when another sample is opened."""
        self.request["current_sample"] = ids(self.dataset, number)[0]
        return self.told("on_change_current_sample")


def test_a_row_says_all_of_a_unit(analysed: fo.Dataset) -> None:
    words = {4: "α 1: the raters agree that there is nothing here.", 5: "No alpha for this image"}
    found = []
    for number in range(len(SCENES)):
        record = Beside(analysed, number).record
        assert record["raters"] == ["ann", "bob"]
        assert record["headline"].startswith(words.get(number, f"α {alpha_text(ALPHAS[number])}"))
        found.append([[(cell["text"], cell["found"]) for cell in row["cells"]] for row in record["rows"]])
    assert found[0] == [[("cat", "correct 1.00"), ("cat", "correct 1.00")]]
    assert found[1] == [[("cat", "wrong class 1.00"), ("dog", "wrong class 1.00")]]
    assert found[2] == [[("cat", "additional"), ("no object", "missing")]]
    assert len(found[3]) == 3
    assert found[4:] == [[], [[("cat", ""), ("not assigned", "")]]]


def test_a_finding_names_the_raters_where_it_is_not_the_same_towards_all(trio: fo.Dataset) -> None:
    def row(number: int) -> list[str]:
        (shown,) = Beside(trio, number).record["rows"]
        return [cell["found"] for cell in shown["cells"]]

    assert row(1) == [
        "wrong class 1.00",
        *[f"wrong class: ann 1.00\ncorrect: {rater} 1.00" for rater in ("cid", "bob")],
    ]
    assert row(2) == ["additional: bob\nwrong class: cid 1.00", "missing", "wrong class: ann 1.00\nadditional: bob"]


def test_an_unreadable_id_of_the_open_sample_is_a_problem(analysed: fo.Dataset) -> None:
    panel = Beside(analysed, 0)
    panel.request["current_sample"] = [["a"]]
    assert panel.told("on_change_current_sample") == {"problem": "current_sample: expected a text, got [['a']]"}


def test_its_disputes_are_those_of_this_sample_decided_ones_too(own: fo.Dataset) -> None:
    panel = Beside(own, 1)
    (cats,) = panel.record["queue"]["disputes"]
    assert panel.record["rows"][0]["dispute"] == cats["id"]
    kf.decide(own, "agreement", cats["labels"], "both", who="dan")
    (now,) = panel.told("on_change_current_sample")["queue"]["disputes"]
    assert (now["state"], now["made"]["who"]) == ("decided", "dan")
    assert panel.go_to(4)["queue"]["disputes"] == []
    assert panel.go_to(0)["rows"][0]["dispute"] is None
    labels = panel.record["rows"][0]["labels"]
    selected = panel.ask("select", sample=ids(own, 0)[0], labels=labels)
    assert selected is None
    answer = post("sample", own, {"panel_id": "p", "__method__": "select", "sample": ids(own, 0)[0], "labels": labels})
    assert [[label.label_id, label.field] for label in answer.selections[0]] == labels
    panel.ask("following", run="agreement", after=ids(own, 3)[0])
    assert sample_of(panel.operations) == ids(own, 2)[0]  # after the bench, and not the cats, which are decided


def test_it_stays_within_the_part_that_the_queue_was_opened_with(own_trio: fo.Dataset) -> None:
    queue = opened(own_trio, "Decide").look_through(category="bench").record["queue"]
    sample = queue["disputes"][0]["sample"]
    Workbench(own_trio).ask("open", run="agreement", part={"category": "bench", "rater": None}, sample=sample)
    number = own_trio.values("id").index(sample)
    panel = Beside(own_trio, number)
    assert panel.record["part"] == ["bench"]
    assert panel.record["queue"]["category"] == "bench"
    panel.ask("following", run="agreement", after=sample)
    assert sample_of(panel.operations) == kf.next_dispute(own_trio, "agreement", sample, category="bench")
    assert panel.ask("everything", run="agreement", sample=sample)["part"] == []


def test_the_analysis_is_the_one_chosen_last_here_or_in_the_workbench(own: fo.Dataset) -> None:
    kf.compute_agreement(own, "second", raters=RATERS, threshold=0.7, bootstrap=20)
    panel = Beside(own, 1)
    assert panel.record["analysis"] == "second"  # the newest
    assert panel.record["note"].startswith("Findings of variations")
    Workbench(own).load().send("on_change_analysis", value="agreement")
    assert Beside(own, 1).record["queue"]["run"] == "agreement"
    assert panel.ask("beside", sample=ids(own, 1)[0], analysis="second")["queue"]["run"] == "second"
    kf.delete_run(own, "second")
    assert Beside(own, 1).record["queue"]["run"] == "agreement"


def test_labels_runs_and_samples_may_be_gone(own: fo.Dataset, dataset: fo.Dataset) -> None:
    own.set_values("ann.detections", {ids(own, 2)[0]: []}, key_field="id")
    (gone,) = Beside(own, 2).record["queue"]["disputes"]
    assert (gone["labels"], gone["state"]) == ([], "open")
    for key in kf.list_runs(own):
        kf.delete_run(own, key)
    panel = Beside(own, 1)
    assert panel.record["analysis"] is None
    panel.ask(
        "decide",
        run="agreement",
        sample=ids(own, 1)[0],
        labels=["x"],
        part={},
        decision="none",
        rater=None,
        note="",
        who="",
        when=None,
    )
    assert "got 'agreement'" in panel.state["problem"]
    kf.compute_agreement(dataset.limit(2), "two", raters=RATERS, bootstrap=0)
    assert Beside(dataset, 4).record["headline"] == "This sample is not part of the analysis two."
    assert Beside(dataset, 4).record["queue"] is None


def test_image_level_labels_are_next_to_their_image() -> None:
    dataset = data_set(quiz())
    kf.analyse(dataset, "labels", raters=QUIZ, settings={"image_labels": {"bootstrap": 0}})
    panel = Beside(dataset, 1)
    assert panel.record["headline"] == "Agreement 0.33, 1 question in dispute"
    (row,) = panel.record["rows"]
    assert [cell["text"] for cell in row["cells"]] == ["cat", "cat", "dog"]
    assert (row["dispute"], row["labels"]) == (panel.record["queue"]["disputes"][0]["id"], [])
    assert panel.go_to(0)["headline"] == "Agreement 1.00, 0 questions in dispute"
    dataset.delete()
