"""The panel beside the open sample: units x raters, and the decision about those in dispute, by several people."""

from __future__ import annotations

import base64
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text
from tests.fiftyone_bridge.scenes import ALPHAS, CAT, RATERS, SCENES, make_samples
from tests.operators.calls import data_set
from tests.panels.operations import given, ids, names, sample_of
from tests.plugin import Panel, Workbench


def beside(dataset: fo.Dataset, number: int, note: str = "", who: str = "") -> Panel:
    """The panel beside a sample, loaded, with what is written in its fields."""
    panel = Panel("sample", dataset, current_sample=ids(dataset, number)[0]).load()
    panel.state["notes"] = {note_field(panel): note, "who": who} if "notes" in panel.shown else {}
    return panel


def note_field(panel: Panel) -> str:
    name, _ = panel.shown["notes"]["type"]["properties"]
    return str(name)


def go_to(panel: Panel, sample_id: str) -> Any:
    """What the App does when another sample is opened."""
    panel.request["current_sample"] = sample_id
    return panel.send("on_change_current_sample")


def decidable(panel: Panel) -> tuple[dict[str, str], list[str]]:
    """What each rater gave the unit that is to be decided, and the decisions there are besides `take`."""
    buttons = [
        entry["view"]["params"]
        for name in ("takes", "others")
        for entry in panel.shown.get(name, {"type": {"properties": {}}})["type"]["properties"].values()
    ]
    if not buttons:
        return {}, []
    unit = panel.state["disputes"][panel.state["place"]]
    takes = [asked["rater"] for asked in buttons if asked["decision"] == "take"]
    assert takes == [rater for rater, _ in unit["given"]]
    return dict(unit["given"]), [asked["decision"] for asked in buttons if asked["decision"] != "take"]


def labels_in(dataset: fo.Dataset, sample_id: str) -> list[tuple[str, str]]:
    """Fields and ids of all labels of a sample."""
    return [(field, label.id) for field in RATERS for label in dataset[sample_id][field].detections]


def png(dataset: fo.Dataset, labels: list[str]) -> str:
    drawn = kf.draw_unit(dataset, "agreement", labels, longest_side=320).png()
    return f"data:image/png;base64,{base64.b64encode(drawn).decode()}"


# ---- units x raters ----


def test_a_row_says_all_of_a_unit(analysed: fo.Dataset) -> None:
    words = {4: "α 1: the raters agree that there is nothing here", 5: "No alpha for this image"}
    found = []
    for number in range(len(SCENES)):
        panel = beside(analysed, number)
        found.append([(row["unit"], row["rater_0"], row["rater_1"]) for row in panel.rows("unit_rows")])
        assert panel.state["raters"] == ["ann", "bob"]
        assert words.get(number, f"α {alpha_text(ALPHAS[number])}") in panel.text()
    assert found[0] == [("1", "cat\ncorrect 1.00", "cat\ncorrect 1.00")]
    assert found[1] == [("1\nopen", "cat\nwrong class 1.00", "dog\nwrong class 1.00")]
    assert found[2] == [("1\nopen", "cat\nadditional", "no object\nmissing")]
    assert len(found[3]) == 3
    assert found[4:] == [[], [("1", "cat", "not assigned")]]


def test_a_finding_is_one_towards_each_other_rater(trio: fo.Dataset) -> None:
    def row(number: int) -> list[str]:
        (shown,) = beside(trio, number).rows("unit_rows")
        return [shown[f"rater_{rater}"] for rater in range(3)]

    assert row(1) == [
        "cat\nwrong class 1.00",
        *[f"dog\nwrong class: ann 1.00\ncorrect: {rater} 1.00" for rater in ("cid", "bob")],
    ]
    assert row(2) == [
        "cat\nadditional: bob\nwrong class: cid 1.00",
        "no object\nmissing",
        "dog\nwrong class: ann 1.00\nadditional: bob",
    ]


@pytest.mark.parametrize(("number", "method"), [(0, "click_unit"), (1, "click_unit"), (3, "click_merged")])
def test_a_row_selects_and_draws_its_labels(analysed: fo.Dataset, number: int, method: str) -> None:
    """One annotation with its parts, too, where there are any."""
    (sample,) = ids(analysed, number)
    panel = beside(analysed, number)
    assert ("crop" in panel.shown) is (number > 0)  # the unit in dispute, if there is one
    assert ("merged_rows" in panel.shown) is (number == 3)
    if number == 3:
        assert panel.rows("merged_rows") == [{"whole": "ann: bench", "parts": "bob: 2 × bench"}]
    panel.data["crop"] = None
    chosen = given(panel.send(method, row=0), "select_labels")["labels"]
    labels = labels_in(analysed, sample)
    assert [(label["field"], label["label_id"]) for label in chosen] == labels
    assert {label["sample_id"] for label in chosen} == {sample}
    assert panel.data["crop"] == png(analysed, [label_id for _, label_id in labels])


def test_it_follows_the_open_sample(analysed: fo.Dataset) -> None:
    panel = beside(analysed, 3)
    go_to(panel, ids(analysed, 4)[0])
    assert panel.state["sample"] == ids(analysed, 4)[0]
    assert "crop" not in panel.shown
    go_to(panel, ids(analysed, 3)[0])
    assert "α −0.67" in panel.text()
    panel.request["current_sample"] = None  # the sample is closed
    panel.send("on_change_current_sample")
    assert "α −0.67" in panel.text()


def test_a_sample_that_is_not_part_of_the_run_is_reported(dataset: fo.Dataset) -> None:
    kf.compute_agreement(dataset.limit(2), "two", raters=RATERS, bootstrap=0)
    panel = beside(dataset, 4)
    assert "This sample is not part of the analysis **two**" in panel.text()
    assert not {"unit_rows", "dispute", "takes"} & set(panel.shown)
    assert sample_of(panel.send("next")) == ids(dataset, 1)[0]


# ---- which analysis ----


def test_the_analysis_is_the_one_chosen_last_here_or_in_the_workbench(own: fo.Dataset) -> None:
    kf.compute_agreement(own, "second", raters=RATERS, threshold=0.7, bootstrap=20)
    panel = beside(own, 1)
    assert panel.state["analysis"] == "second"  # the newest
    Workbench(own).load().send("on_change_analysis", value="agreement")
    assert beside(own, 1).state["run"] == "agreement"
    panel.send("on_change_analysis", value="second")
    assert panel.state["run"] == beside(own, 1).state["run"] == "second"
    kf.delete_run(own, "second")
    assert beside(own, 1).state["run"] == "agreement"


# ---- deciding ----


def test_only_what_is_possible_can_be_decided(analysed: fo.Dataset) -> None:
    common = ["none", "both", "guideline", "skip"]
    assert decidable(beside(analysed, 0)) == ({}, [])
    assert decidable(beside(analysed, 1)) == ({"ann": "cat", "bob": "dog"}, ["consensus", *common])
    assert decidable(beside(analysed, 2)) == ({"ann": "cat", "bob": "no object"}, ["consensus", *common])
    parts = ["consensus", "whole", "parts", *common]
    assert decidable(beside(analysed, 3)) == ({"ann": "bench", "bob": "2 × bench"}, parts)


def test_a_decision_leads_to_the_next_sample_and_is_undone(own: fo.Dataset) -> None:
    bench, cats, alone = ids(own, 3, 1, 2)
    assert sample_of(beside(own, 3).send("next")) == cats
    assert kf.decisions(own, "agreement", history=True) == []  # on which nothing is decided
    panel = beside(own, 3, " two of them ", "eve")
    field = note_field(panel)
    assert sample_of(panel.send("decide", decision="take", rater="bob")) == cats  # alphas -2/3, 0, 0
    (made,) = kf.decisions(own, "agreement")
    assert (made.decision, made.rater, made.note, made.who) == ("take", "bob", "two of them", "eve")
    assert set(made.labels) == {label_id for _, label_id in labels_in(own, bench)}
    go_to(panel, cats)
    assert note_field(panel) != field  # an empty one; the name stays
    assert "One dispute:** nobody has decided" in panel.text()
    assert sample_of(panel.send("decide", decision="none")) == alone
    go_to(panel, alone)

    # back to the second, whose decision is taken back, and then to the first
    assert sample_of(panel.send("undo")) == cats
    go_to(panel, cats)
    assert "One dispute:** nobody has decided" in panel.text()  # as before; the record keeps what was
    assert [one.decision for one in kf.decisions(own, "agreement", history=True)] == ["take", "none", "skip"]
    assert "1 in dispute, 1 open" in panel.text()
    assert sample_of(panel.send("undo")) == bench
    assert kf.count_disputes(own, "agreement").open == 5  # units; the bench and its halves are three
    assert "undo" not in panel.shown["ways"]["type"]["properties"]


def test_the_next_sample_is_shown_before_it_is_open(own: fo.Dataset) -> None:
    cats, alone = ids(own, 1, 2)
    panel = beside(own, 3)
    panel.send("decide", decision="none")
    assert panel.state["sample"] == cats
    assert decidable(panel)[0] == {"ann": "cat", "bob": "dog"}
    selected = given(go_to(panel, cats), "select_labels")["labels"]
    assert {label["label_id"] for label in selected} == set(panel.state["disputes"][0]["labels"])
    assert {label["sample_id"] for label in selected} == {cats}

    # the next time it is opened, or where another one was opened meanwhile, what is there is read
    kf.decide(own, "agreement", panel.state["disputes"][0]["labels"], "both", who="dan")
    panel.send("on_change_current_sample")
    assert "by dan" in panel.text()
    panel.send("decide", decision="none")
    assert "meanwhile" not in panel.text()
    assert panel.state["sample"] == alone
    go_to(panel, cats)
    assert panel.state["sample"] == cats
    assert "No object there" in panel.text()


def test_undo_restores_what_a_decision_replaced(own: fo.Dataset) -> None:
    (unit,) = kf.disputed_units(own, "agreement", *ids(own, 1))
    kf.decide(own, "agreement", unit.labels, "take", "ann", "whiskers", "dan")
    panel = beside(own, 1)
    assert "ann is right by dan" in panel.text()
    assert "Note: whiskers" in panel.text()
    panel.send("decide", decision="both")
    panel.send("undo")
    (now,) = kf.decisions(own, "agreement")
    assert (now.decision, now.rater, now.note, now.who) == ("take", "ann", "whiskers", "dan")


def test_the_units_of_a_sample_come_one_after_the_other() -> None:
    away = [60, 60, 30, 30]
    scene = {"ann": [("cat", CAT), ("cow", away)], "bob": [("dog", CAT), ("cat", away)]}
    dataset = data_set(make_samples([scene, SCENES[0]]))
    kf.compute_agreement(dataset, "agreement", raters=RATERS, bootstrap=0)
    panel = beside(dataset, 0)
    assert "Dispute 1 of 2" in panel.text()
    assert "open_sample" not in names(panel.send("decide", decision="skip"))
    assert "Dispute 2 of 2" in panel.text()
    panel.send("decide", decision="none")
    assert "Dispute 1 of 2" in panel.text()  # the one that was skipped is the only one left
    panel.send("choose_dispute", place=1)
    assert "Dispute 2 of 2 on this sample:** No object there" in panel.text()
    panel.send("click_unit", row=0)
    shown = panel.state["disputes"][panel.state["place"]]["labels"]
    assert dataset.first()["ann"].detections[0].id in shown
    operations = panel.send("decide", decision="consensus")
    assert given(operations, "notify")["message"] == "No dispute is open any more."
    assert kf.count_disputes(dataset, "agreement").open == 0


# ---- several people at once ----


def test_what_somebody_else_decided_meanwhile_is_shown_before_it_is_replaced(own: fo.Dataset) -> None:
    eve, dan = (beside(own, 1, who=who) for who in ("eve", "dan"))
    eve.send("decide", decision="take", rater="ann")
    operations = dan.send("decide", decision="take", rater="bob")
    assert "Somebody has decided about this unit meanwhile" in given(operations, "notify")["message"]
    assert "ann is right by eve" in dan.text()
    assert [one.who for one in kf.decisions(own, "agreement", history=True)] == ["eve"]
    dan.send("decide", decision="take", rater="bob")  # with open eyes
    history = kf.decisions(own, "agreement", history=True)
    assert [(one.who, one.rater) for one in history] == [("eve", "ann"), ("dan", "bob")]

    # whose decision was replaced cannot undo that of the other
    operations = eve.send("undo")
    assert "nothing is undone" in given(operations, "notify")["message"]
    assert kf.decisions(own, "agreement", history=True) == history
    assert "bob is right by dan" in eve.text()


# ---- what goes wrong ----


def test_labels_and_runs_may_be_gone(own: fo.Dataset) -> None:
    panel = beside(own, 1)
    own.set_values("ann.detections", {ids(own, 2)[0]: []}, key_field="id")
    without = beside(own, 2)
    assert "its labels were deleted since" in without.text()
    assert decidable(without) == ({}, [])
    for key in kf.list_runs(own):
        kf.delete_run(own, key)
    panel.send("decide", decision="none")
    assert "got 'agreement'" in panel.text()
    assert set(panel.shown) == {"failed", "retry"}
    panel.load()
    assert "Nothing is computed yet" in panel.text()
