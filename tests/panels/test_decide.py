"""*Decide*: its content by hand; decisions by several users; results; objects and regions of masks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.deciding.queue import queued_images
from kalos_core.fiftyone.deciding.shown import shown_sample
from tests.fiftyone_bridge.quiz import RATERS as QUIZ
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import RATERS
from tests.panels.conftest import data_set
from tests.panels.operations import given, ids, opened, prompted, sample_of, samples_of, view_of
from tests.plugin import Workbench, form


def asked(queue: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a queue that the view sends with each request."""
    part = {name: queue[name] for name in ("category", "rater")}
    return {"run": queue["run"], "variations": queue["variations"], "part": part}


def decide(panel: Workbench, dispute: dict[str, Any], decision: str, rater: str | None = None, **more: Any) -> Any:
    """Return the response to a decision about a dispute, as the view sends it."""
    made = dispute["made"]
    of = {"sample": dispute["sample"], "labels": dispute["labels"], "when": made and made["when"]}
    wanted = {"decision": decision, "rater": rater, "note": "", "who": "", **more}
    return panel.ask("decide", **asked(panel.record["queue"]), **of, **wanted)


def decided(dataset: fo.Dataset, number: int, decision: str, rater: str | None = None, **more: Any) -> tuple[Any, ...]:
    """Return the labels of a unit that was decided in a scene; each scene has one dispute."""
    (unit,) = kf.disputed_units(dataset, "agreement", *ids(dataset, number))
    return kf.decide(dataset, "agreement", unit.labels, decision, rater, **more).labels


# ---- the queue ----


def test_the_queue_by_hand(own: fo.Dataset) -> None:
    """Scene 3: ann has a bench, bob its halves; scene 1: a cat and a dog at one place; scene 2: only ann has a cat."""
    record = opened(own, "Decide").record
    queue = record["queue"]
    assert record["runs"] == [["agreement", "Agreement"]]
    assert queue["counts"] == {"all": 3, "decided": 0, "waiting": 0, "open": 3}  # a whole and its parts count once
    assert (queue["run"], queue["variations"], queue["unit"]) == ("agreement", "variations", "unit")
    bench, cats, alone = queue["disputes"]
    assert [one["sample"] for one in queue["disputes"]] == ids(own, 3, 1, 2)
    assert [(one["rater"], one["text"], one["found"]) for one in bench["given"]] == [
        ("ann", "bench", "merged 1.00"),
        ("bob", "2 × bench", "merged 1.00"),
    ]
    assert [(one["rater"], one["text"], one["found"]) for one in cats["given"]] == [
        ("ann", "cat", "wrong class 1.00"),
        ("bob", "dog", "wrong class 1.00"),
    ]
    assert [(one["text"], one["found"]) for one in alone["given"]] == [("cat", "additional"), ("no object", "missing")]
    assert bench["size"] == [100, 100]
    assert [(one["rater"], one["rings"]) for one in bench["outlines"]] == [
        ("ann", [[[10, 10], [90, 10], [90, 30], [10, 30]]]),
        ("bob", [[[10, 10], [48, 10], [48, 30], [10, 30]]]),
        ("bob", [[[52, 10], [90, 10], [90, 30], [52, 30]]]),
    ]
    common = ["none", "both", "guideline", "skip"]
    assert bench["decisions"] == ["take", "consensus", "whole", "parts", *common]
    assert cats["decisions"] == ["take", "consensus", *common]
    assert (bench["state"], bench["made"], bench["units"], cats["alpha"]) == ("open", None, 3, 0)


def test_more_come_behind_a_sample_whatever_was_decided_meanwhile(own: fo.Dataset) -> None:
    panel = opened(own, "Decide")
    bench, cats, alone = panel.record["queue"]["disputes"]
    decided(own, 3, "parts")
    more = panel.ask("disputes", **asked(panel.record["queue"]), after=bench["sample"])
    assert [one["id"] for one in more["disputes"]] == [cats["id"], alone["id"]]
    assert more["counts"] == {"all": 3, "decided": 1, "waiting": 0, "open": 2}
    assert panel.ask("disputes", **asked(panel.record["queue"]), after=alone["sample"])["disputes"] == []
    anew = panel.ask("queue", **asked(panel.record["queue"]))
    assert [one["id"] for one in anew["disputes"]] == [cats["id"], alone["id"]]
    panel.ask("disputes", **asked(panel.record["queue"]), after="0" * 24)
    assert "not part of the run" in panel.state["problem"]


@pytest.mark.parametrize("part", [{"category": "bench"}, {"rater": "bob"}])
def test_the_filter_narrows_the_queue(trio: fo.Dataset, part: dict[str, str]) -> None:
    panel = opened(trio, "Decide").look_through(**part)
    queue = panel.record["queue"]
    images = queued_images(trio, "agreement", 25, **part)
    found = panel.ask("queue", **asked(queue))["disputes"]
    assert len(queue["disputes"]) <= len(found) <= sum(image.open for image in images)
    samples = [image.sample_id for image in images]
    assert list(dict.fromkeys(one["sample"] for one in found)) == samples[: len({one["sample"] for one in found})]
    for one in found:
        names = {given["text"].rpartition("× ")[2] for given in one["given"]}
        against = {given["rater"] for given in one["given"] if given["is_against"]}
        assert part.get("category") in {None, *names}
        assert part.get("rater") in {None, *against}
    assert queue["counts"]["all"] == kf.count_disputes(trio, "agreement").all  # of all, independent of the filter


def test_images_of_the_queue_go_to_the_grid(own: fo.Dataset) -> None:
    decided(own, 3, "parts")
    decided(own, 1, "guideline")
    panel = opened(own, "Decide")
    assert panel.record["queue"]["counts"] == {"all": 3, "decided": 1, "waiting": 1, "open": 1}
    for state, number in (("open", 2), ("waiting", 1), ("decided", 3)):
        assert samples_of(own, panel.act("show", run="agreement", state=state)) == ids(own, number)
    dispute = panel.record["queue"]["disputes"][0]
    panel.ask("open", **asked(panel.record["queue"]), sample=dispute["sample"])
    assert sample_of(panel.operations) == dispute["sample"]


# ---- concurrent users ----


def test_decisions_of_another_user_are_shown_and_not_replaced(own: fo.Dataset) -> None:
    eve, dan = opened(own, "Decide"), opened(own, "Decide")
    cats = eve.record["queue"]["disputes"][1]
    made = decide(eve, cats, "take", "ann", note=" whiskers ", who="eve")["made"]
    assert (made["rater"], made["note"], made["who"]) == ("ann", "whiskers", "eve")
    answer = decide(dan, cats, "take", "bob", who="dan")
    assert (answer["meanwhile"]["made"], answer["meanwhile"]["state"]) == (made, "decided")
    assert [one.who for one in kf.decisions(own, "agreement", history=True)] == ["eve"]
    decide(dan, answer["meanwhile"], "take", "bob", who="dan")  # knowingly
    assert "meanwhile" in decide(eve, {**cats, "made": made}, "skip")  # no undo after another's decision
    history = kf.decisions(own, "agreement", history=True)
    assert [(one.who, one.rater) for one in history] == [("eve", "ann"), ("dan", "bob")]


def test_a_decision_that_is_sent_again_is_stored_once_and_can_be_taken_back(own: fo.Dataset) -> None:
    panel = opened(own, "Decide")
    cats = panel.record["queue"]["disputes"][1]
    first = decide(panel, cats, "none")
    assert decide(panel, cats, "none") == first  # its response was lost
    assert len(kf.decisions(own, "agreement", history=True)) == 1
    back = decide(panel, {**cats, "made": first["made"]}, "skip")["made"]
    assert kf.count_disputes(own, "agreement").open == 3
    assert decide(panel, {**cats, "made": back}, "both")["made"]["decision"] == "both"
    own.set_values("ann.detections", {cats["sample"]: []}, key_field="id")
    decide(panel, {**cats, "made": None, "labels": ["0" * 24]}, "none")
    assert "labels" in panel.state["problem"]


# ---- results ----


def test_the_training_list_leads_to_the_labels_it_counts(own: fo.Dataset) -> None:
    assert opened(own, "Training list").record == []
    labels = decided(own, 1, "take", "bob")
    panel = opened(own, "Training list")
    (row,) = panel.record
    assert [row[name] for name in ("rater", "gave", "decided", "count", "units")] == ["ann", "cat", "dog", 1, 1]
    view = view_of(own, panel.act("units", run=row["run"], labels=row["labels"], text="images of ann"))
    assert view.values("id") == ids(own, 1)
    assert sorted(label.id for rater in RATERS for label in view.first()[rater].detections) == sorted(labels)
    assert panel.grids[-1]["text"] == "1 image of ann"
    assert panel.look_through(rater="bob").record == []


def test_questions_to_the_guideline_open_their_images(own: fo.Dataset) -> None:
    assert opened(own, "Guideline").record == {"rows": [], "markdown": ""}
    decided(own, 1, "guideline", note="cat or dog?", who="eve")
    panel = opened(own, "Guideline")
    (row,) = panel.record["rows"]
    assert (row["note"], row["who"]) == ("cat or dog?", "eve")
    assert panel.record["markdown"] == kf.guideline_questions(own, "agreement")
    assert given(panel.act("open", run=row["run"], labels=row["labels"]), "open_sample")["id"] == ids(own, 1)[0]
    for rater in RATERS:
        own.set_values(f"{rater}.detections", {ids(own, 1)[0]: []}, key_field="id")
    assert panel.act("open", run=row["run"], labels=row["labels"]) == []


def test_results_are_forms_of_this_agreement(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Results")
    assert [row["operator"] for row in panel.record] == ["resolved", "export_resolved", "tag_disputes", "hand_over"]
    for row in panel.record:
        found = prompted(panel.act("make", operator=row["operator"], run=row["run"]))
        assert found == (row["operator"], {"key": "agreement"})


# ---- regions of masks ----


def test_regions_of_masks_are_decided_likewise(masks: fo.Dataset) -> None:
    kf.compute_pixel_agreement(masks, "plain")
    assert "Decide" not in Workbench(masks).load().state["sections"]
    kf.delete_run(masks, "plain")
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    panel = opened(masks, "Decide")
    queue = panel.record["queue"]
    assert (queue["kind"], queue["unit"], queue["counts"]["open"]) == ("pixels", "region", 3)
    first, second, _ = queue["disputes"]
    assert first["labels"] + second["labels"] == [label.id for label in masks.first().pixels_regions.detections]
    assert [one["text"] for one in first["given"]] == ["road", "road", "car"]
    assert [one["text"] for one in second["given"]] == ["road", "mostly nothing", "mostly nothing"]
    assert not {"whole", "parts"} & set(first["decisions"])
    assert {one["rater"] for one in first["outlines"]} == {"ann", "bob", "cid"}
    assert {one["rater"] for one in second["outlines"]} == {"ann"}
    decide(panel, first, "take", "cid")
    (made,) = kf.decisions(masks, "pixels")
    assert (list(made.labels), made.rater) == (first["labels"], "cid")
    assert [row["operator"] for row in opened(masks, "Results").record] == ["tag_disputes", "hand_over"]
    for name in ("ann", "bob", "cid"):
        masks.clear_sample_field(name)
    assert shown_sample(masks, "pixels", first["sample"]).outlines == {}


# ---- image-level labels ----


@pytest.fixture
def answers() -> Iterator[fo.Dataset]:
    """Return the quiz, analysed."""
    dataset = data_set(quiz())
    kf.analyse(dataset, "labels", raters=QUIZ, settings={"image_labels": {"bootstrap": 0}})
    yield dataset
    dataset.delete()


def test_image_level_labels_are_decided_likewise(answers: fo.Dataset) -> None:
    panel = opened(answers, "Decide")
    queue = panel.record["queue"]
    assert (queue["kind"], queue["unit"], queue["questions"]) == ("image_labels", "question", 1)
    assert (queue["options"], queue["words"]) == ({"label": ["cat", "dog", "owl"]}, kf.LABEL_DECISIONS)
    assert [one["sample"] for one in queue["disputes"]] == ids(answers, 3, 5, 1)
    halved, _, second = queue["disputes"]
    assert (halved["question"], halved["outlines"], halved["size"]) == ("label", [], [100, 100])
    assert [(one["rater"], one["text"], one["found"], one["is_against"]) for one in second["given"]] == [
        ("ann", "cat", "with the majority", False),
        ("bob", "cat", "with the majority", False),
        ("cid", "dog", "most gave cat", True),
    ]
    eve, dan = panel, opened(answers, "Decide")
    made = decide(eve, second, "label", category="owl", who="eve")["made"]
    assert (made["category"], made["rater"]) == ("owl", None)
    assert decide(dan, second, "take", "ann")["meanwhile"]["made"] == made
    decide(eve, {**second, "made": made}, "skip")
    assert kf.count_disputes(answers, "labels").open == 3
    decide(eve, halved, "guideline", note="cat or dog?")
    assert panel.ask("queue", **asked(queue))["counts"] == {"all": 3, "decided": 0, "waiting": 1, "open": 2}
    assert samples_of(answers, panel.act("show", run="labels", state="waiting")) == ids(answers, 3)


def test_the_filter_narrows_image_level_labels(answers: fo.Dataset) -> None:
    panel = opened(answers, "Decide")
    assert panel.frame["choices"] | {"tag": []} == {"category": ["cat", "dog", "owl"], "rater": list(QUIZ), "tag": []}
    assert [one["sample"] for one in panel.look_through(category="owl").record["queue"]["disputes"]] == ids(answers, 5)
    found = panel.look_through(category=None, rater="cid").record["queue"]["disputes"]
    assert [one["sample"] for one in found] == ids(answers, 5, 1)


def test_results_of_decided_labels(answers: fo.Dataset) -> None:
    unit = kf.disputed_units(answers, "labels", *ids(answers, 1))[0]
    kf.decide(answers, "labels", unit.labels, "take", "cid")
    panel = opened(answers, "Training list")
    assert [(row["rater"], row["gave"], row["decided"]) for row in panel.record] == [
        ("ann", "cat", "dog"),
        ("bob", "cat", "dog"),
    ]
    row = panel.record[0]
    assert samples_of(answers, panel.act("units", run=row["run"], labels=row["labels"], text="")) == ids(answers, 1)
    assert opened(answers, "Guideline").record == {"rows": [], "markdown": ""}
    panel = opened(answers, "Results")
    assert [row["operator"] for row in panel.record] == ["resolved", "export_resolved", "tag_disputes", "hand_over"]
    for row in panel.record:
        operator, filled = prompted(panel.act("make", operator=row["operator"], run=row["run"]))
        assert not getattr(form(operator, answers, filled)["key"], "invalid", False)


def test_objects_and_regions_of_one_analysis_are_decided_by_turns(masks: fo.Dataset) -> None:
    sample = masks.first()
    for name, label in (("dan", "cat"), ("eve", "dog")):
        box = fo.Detection(label=label, bounding_box=[0.1, 0.1, 0.5, 0.5])
        sample[name] = fo.Detections(detections=[box])
    sample.save()
    kf.compute_agreement(masks, "objects", raters=("dan", "eve"), assigned="labelled", bootstrap=0)
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    panel = opened(masks, "Decide")
    assert [run for run, _ in panel.record["runs"]] == ["objects", "pixels"]
    assert panel.record["queue"]["run"] == "objects"
    regions = panel.ask("queue", run="pixels", variations=None, part={"category": None, "rater": None})
    assert (regions["unit"], len(regions["disputes"])) == ("region", 3)
