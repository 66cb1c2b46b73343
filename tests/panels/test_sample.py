"""The panel beside the open sample: units x raters, and the decision about those in dispute, by several people."""

from __future__ import annotations

import base64
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.display import alpha_text
from tests.fiftyone_bridge.scenes import ALPHAS, CAT, RATERS, SCENES, detection
from tests.panels.conftest import data_set
from tests.panels.operations import given, ids
from tests.plugin import Panel

HOSTILE = "<b>**x**</b> \u202egpj [a](b)"
"""A name that is none of Markdown, HTML, or turned round."""


def beside(dataset: fo.Dataset, number: int, note: str = "", who: str = "") -> Panel:
    """The panel beside a sample, loaded, with what is written in its fields."""
    panel = Panel("sample", dataset, current_sample=ids(dataset, number)[0]).load()
    panel.state["notes"] = {note_field(panel): note, "who": who} if "notes" in panel.shown else {}
    return panel


def note_field(panel: Panel) -> str:
    name, _ = panel.shown["notes"]["type"]["properties"]
    return str(name)


def go_to(panel: Panel, sample_id: str) -> None:
    """What the App does when another sample is opened."""
    panel.request["current_sample"] = sample_id
    panel.send("on_change_current_sample")


def buttons(panel: Panel) -> list[str]:
    """What can be pressed to decide."""
    rows = [panel.shown[name]["type"]["properties"] for name in panel.shown if name in ("takes", "others")]
    return [entry["view"]["label"] for row in rows for entry in row.values()]


# ---- units x raters ----


@pytest.mark.parametrize("number", range(len(SCENES)))
def test_the_report_of_the_sample_is_shown(analysed: fo.Dataset, number: int) -> None:
    panel = beside(analysed, number)
    report = kf.sample_report(analysed, ids(analysed, number)[0], "agreement", "variations")
    assert len(panel.rows("unit_rows")) == len(report.units)
    assert panel.state["raters"] == ["ann", "bob"]
    alpha = ALPHAS[number]
    words = {4: "α 1: the raters agree that there is nothing here", 5: "No alpha for this image"}
    assert words.get(number, f"α {alpha_text(alpha)}") in panel.text()


def test_a_row_says_all_of_a_unit(analysed: fo.Dataset) -> None:
    def rows(number: int) -> list[tuple[str, str, str]]:
        found = beside(analysed, number).rows("unit_rows")
        return [(row["unit"], row["rater_0"], row["rater_1"]) for row in found]

    assert rows(0) == [("1", "cat\ncorrect 1.00", "cat\ncorrect 1.00")]
    assert rows(1) == [("1\nopen", "cat\nwrong class 1.00", "dog\nwrong class 1.00")]
    assert rows(2) == [("1\nopen", "cat\nadditional", "no object\nmissing")]
    assert rows(4) == []
    assert rows(5) == [("1", "cat", "not assigned")]


def test_a_finding_is_one_towards_each_other_rater(trio: fo.Dataset) -> None:
    kf.find_variations(trio, "variations", raters=(*RATERS, "cid"))

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


def test_a_row_selects_the_labels_of_its_unit(analysed: fo.Dataset) -> None:
    (sample,) = ids(analysed, 1)
    panel = beside(analysed, 1)
    assert "merged_rows" not in panel.shown  # nothing of this sample is
    chosen = given(panel.send("click_unit", row=0), "select_labels")["labels"]
    labels = [(field, analysed[sample][field].detections[0].id) for field in RATERS]
    assert [(label["field"], label["label_id"]) for label in chosen] == labels
    assert {label["sample_id"] for label in chosen} == {sample}


def png(dataset: fo.Dataset, labels: list[str]) -> str:
    drawn = kf.draw_unit(dataset, "agreement", labels, longest_side=320).png()
    return f"data:image/png;base64,{base64.b64encode(drawn).decode()}"


def test_a_row_shows_its_unit_drawn(analysed: fo.Dataset) -> None:
    sample, empty = ids(analysed, 0, 4)
    panel = beside(analysed, 0)
    assert "crop" not in panel.shown  # nothing is in dispute
    panel.send("click_unit", row=0)
    assert panel.data["crop"] == png(analysed, [analysed[sample]["ann"].detections[0].id])
    assert panel.shown["crop"]["view"]["alt"] == "Unit 1"
    assert "**Unit 1**" in panel.text()
    go_to(panel, empty)
    assert "crop" not in panel.shown


def test_a_unit_that_cannot_be_drawn_leaves_the_panel_as_it_is(
    analysed: fo.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = beside(analysed, 1)

    def refuse(*_: Any, **__: Any) -> None:
        raise InputError("labels of volumes")

    monkeypatch.setattr(kf, "draw_unit", refuse)
    operations = panel.send("click_unit", row=0)
    assert given(operations, "notify")["message"] == "labels of volumes"
    assert given(operations, "select_labels")["labels"]
    assert {"unit_rows", "reading"} <= set(panel.shown)


def test_one_annotation_is_selected_and_drawn_with_its_parts(analysed: fo.Dataset) -> None:
    (sample,) = ids(analysed, 3)
    panel = beside(analysed, 3)
    assert panel.rows("merged_rows") == [{"whole": "ann: bench", "parts": "bob: 2 × bench"}]
    panel.data.pop("crop")
    chosen = given(panel.send("click_merged", row=0), "select_labels")["labels"]
    labels = [(field, label.id) for field in RATERS for label in analysed[sample][field].detections]
    assert [(label["field"], label["label_id"]) for label in chosen] == labels
    assert {label["sample_id"] for label in chosen} == {sample}
    assert panel.data["crop"] == png(analysed, [label_id for _, label_id in labels])


def test_it_follows_the_open_sample(analysed: fo.Dataset) -> None:
    panel = beside(analysed, 0)
    go_to(panel, ids(analysed, 3)[0])
    assert "α −0.67" in panel.text()
    assert panel.state["sample"] == ids(analysed, 3)[0]
    panel.request["current_sample"] = None  # the sample is closed
    panel.send("on_change_current_sample")
    assert "α −0.67" in panel.text()


def test_a_sample_that_is_not_part_of_the_run_is_reported(dataset: fo.Dataset) -> None:
    kf.compute_agreement(dataset.limit(2), "two", raters=RATERS)
    panel = beside(dataset, 4)
    assert "This sample is not part of the analysis **two**" in panel.text()
    assert not {"unit_rows", "dispute", "takes"} & set(panel.shown)
    assert given(panel.send("next"), "open_sample")["id"] == ids(dataset, 1)[0]


# ---- which analysis ----


def test_the_variations_are_those_of_the_same_labels_similarity_and_threshold(analysed: fo.Dataset) -> None:
    def text() -> str:
        return beside(analysed, 1).text()

    assert "Findings of the run **variations**." in text()
    kf.find_variations(analysed, "stricter", raters=RATERS, threshold=0.9)
    assert "Findings of the run **variations**." in text()
    kf.delete_run(analysed, "variations")
    assert "Findings of the run **stricter**, of other labels or another similarity or threshold." in text()
    kf.delete_run(analysed, "stricter")
    assert "Findings of the run" not in text()


def test_the_analysis_is_the_one_chosen_last_here_or_in_the_workbench(analysed: fo.Dataset) -> None:
    kf.compute_agreement(analysed, "second", raters=RATERS, threshold=0.7, bootstrap=20)
    panel = beside(analysed, 1)
    assert panel.state["analysis"] == "second"  # the newest
    workbench = Panel("raters", analysed).load()
    workbench.send("on_change_analysis", value="agreement")
    assert beside(analysed, 1).state["run"] == "agreement"
    panel.send("on_change_analysis", value="second")
    assert panel.state["run"] == beside(analysed, 1).state["run"] == "second"
    kf.delete_run(analysed, "second")
    assert beside(analysed, 1).state["run"] == "agreement"


# ---- deciding ----


def test_only_what_is_possible_can_be_decided(analysed: fo.Dataset) -> None:
    common = ["All of them together", "No object there", "Both readings are legitimate", "The guideline must say"]
    last = ["Not decided now"]
    assert buttons(beside(analysed, 0)) == []
    assert buttons(beside(analysed, 1)) == ["ann is right: cat", "bob is right: dog", *common, *last]
    assert buttons(beside(analysed, 2)) == ["ann is right: cat", "bob is right: no object", *common, *last]
    takes = ["ann is right: bench", "bob is right: 2 × bench"]
    split = [common[0], "One object, the whole", "Several objects, the parts", *common[1:]]
    assert buttons(beside(analysed, 3)) == [*takes, *split, *last]


def test_a_decision_leads_to_the_next_sample_and_is_undone(analysed: fo.Dataset) -> None:
    bench, cats, alone = ids(analysed, 3, 1, 2)
    panel = beside(analysed, 3, " two of them ", "eve")
    field = note_field(panel)
    operations = panel.send("decide", decision="take", rater="bob")
    assert given(operations, "open_sample")["id"] == cats  # alphas -2/3, 0, 0
    (made,) = kf.decisions(analysed, "agreement")
    assert (made.decision, made.rater, made.note, made.who) == ("take", "bob", "two of them", "eve")
    assert set(made.labels) == {label.id for rater in RATERS for label in analysed[bench][rater].detections}
    go_to(panel, cats)
    assert note_field(panel) != field  # an empty one; the name stays
    assert "One dispute:** nobody has decided" in panel.text()
    assert given(panel.send("decide", decision="none"), "open_sample")["id"] == alone

    go_to(panel, alone)

    # back to the second, whose decision is taken back, and then to the first
    assert given(panel.send("undo"), "open_sample")["id"] == cats
    go_to(panel, cats)
    assert "One dispute:** nobody has decided" in panel.text()  # as before; the record keeps what was
    assert [one.decision for one in kf.decisions(analysed, "agreement", history=True)] == ["take", "none", "skip"]
    assert "1 in dispute, 1 open" in panel.text()
    assert given(panel.send("undo"), "open_sample")["id"] == bench
    assert kf.count_disputes(analysed, "agreement").open == 5  # units; the bench and its halves are three
    assert "undo" not in panel.shown["ways"]["type"]["properties"]


def test_the_next_sample_is_shown_before_it_is_open(analysed: fo.Dataset) -> None:
    cats, alone = ids(analysed, 1, 2)
    panel = beside(analysed, 3)
    panel.send("decide", decision="none")
    assert panel.state["sample"] == cats
    assert buttons(panel)[:2] == ["ann is right: cat", "bob is right: dog"]
    panel.request["current_sample"] = cats
    (selected,) = (
        params["labels"] for name, params in panel.send("on_change_current_sample") if name == "select_labels"
    )
    assert {label["label_id"] for label in selected} == set(panel.state["disputes"][0]["labels"])
    assert {label["sample_id"] for label in selected} == {cats}

    # the next time it is opened, or where another one was opened meanwhile, what is there is read
    kf.decide(analysed, "agreement", panel.state["disputes"][0]["labels"], "both", who="dan")
    panel.send("on_change_current_sample")
    assert "by dan" in panel.text()
    panel.send("decide", decision="none")
    assert "meanwhile" not in panel.text()
    assert panel.state["sample"] == alone
    go_to(panel, cats)
    assert panel.state["sample"] == cats
    assert "No object there" in panel.text()


def test_undo_restores_what_a_decision_replaced(analysed: fo.Dataset) -> None:
    (sample,) = ids(analysed, 1)
    (unit,) = kf.disputed_units(analysed, "agreement", sample)
    kf.decide(analysed, "agreement", unit.labels, "take", "ann", "whiskers", "dan")
    panel = beside(analysed, 1)
    assert "ann is right by dan" in panel.text()
    assert "Note: whiskers" in panel.text()
    panel.send("decide", decision="both")
    panel.send("undo")
    (now,) = kf.decisions(analysed, "agreement")
    assert (now.decision, now.rater, now.note, now.who) == ("take", "ann", "whiskers", "dan")


def test_the_units_of_a_sample_come_one_after_the_other() -> None:
    away = [60, 60, 30, 30]
    dataset = data_set([{"ann": [("cat", CAT), ("cow", away)], "bob": [("dog", CAT), ("cat", away)]}, SCENES[0]])
    kf.compute_agreement(dataset, "agreement", raters=RATERS, bootstrap=0)
    (sample,) = ids(dataset, 0)
    panel = beside(dataset, 0)
    assert "Dispute 1 of 2" in panel.text()
    operations = panel.send("decide", decision="skip")
    assert "Dispute 2 of 2" in panel.text()
    assert not [name for name, _ in operations if name.endswith("open_sample")]
    panel.send("decide", decision="none")
    assert "Dispute 1 of 2" in panel.text()  # the one that was skipped is the only one left
    panel.send("choose_dispute", place=1)
    assert "Dispute 2 of 2 on this sample:** No object there" in panel.text()
    panel.send("click_unit", row=0)
    shown = panel.state["disputes"][panel.state["place"]]["labels"]
    assert analysed_label(dataset, sample, "ann", 0) in shown
    operations = panel.send("decide", decision="consensus")
    assert given(operations, "notify")["message"] == "No dispute is open any more."
    assert kf.count_disputes(dataset, "agreement").open == 0


def analysed_label(dataset: fo.Dataset, sample: str, rater: str, number: int) -> str:
    label_id: str = dataset[sample][rater].detections[number].id
    return label_id


def test_next_changes_nothing(analysed: fo.Dataset) -> None:
    panel = beside(analysed, 3)
    assert given(panel.send("next"), "open_sample")["id"] == ids(analysed, 1)[0]
    assert kf.decisions(analysed, "agreement", history=True) == []


# ---- several people at once ----


def test_what_somebody_else_decided_meanwhile_is_shown_before_it_is_replaced(analysed: fo.Dataset) -> None:
    eve, dan = (beside(analysed, 1, who=who) for who in ("eve", "dan"))
    eve.send("decide", decision="take", rater="ann")
    operations = dan.send("decide", decision="take", rater="bob")
    assert "Somebody has decided about this unit meanwhile" in given(operations, "notify")["message"]
    assert "ann is right by eve" in dan.text()
    assert [one.who for one in kf.decisions(analysed, "agreement", history=True)] == ["eve"]
    dan.send("decide", decision="take", rater="bob")  # with open eyes
    history = kf.decisions(analysed, "agreement", history=True)
    assert [(one.who, one.rater) for one in history] == [("eve", "ann"), ("dan", "bob")]

    # whose decision was replaced cannot undo that of the other
    operations = eve.send("undo")
    assert "nothing is undone" in given(operations, "notify")["message"]
    assert kf.decisions(analysed, "agreement", history=True) == history
    assert "bob is right by dan" in eve.text()


def test_a_button_that_is_pressed_twice_decides_once(analysed: fo.Dataset) -> None:
    panel = beside(analysed, 1)
    before = dict(panel.state)
    panel.send("decide", decision="none")
    panel.state.clear()
    panel.state.update(before)  # the second press comes with the state of the first
    assert panel.send("decide", decision="none") == []
    assert len(kf.decisions(analysed, "agreement", history=True)) == 1


def test_two_people_at_two_samples_lose_nothing(analysed: fo.Dataset) -> None:
    eve, dan = beside(analysed, 1), beside(analysed, 2)
    eve.send("decide", decision="none")
    opened = given(dan.send("decide", decision="take", rater="ann"), "open_sample")["id"]
    assert opened == ids(analysed, 3)[0]  # the only one left
    assert {one.decision for one in kf.decisions(analysed, "agreement")} == {"none", "take"}


# ---- what goes wrong ----


def test_a_unit_whose_labels_are_gone_says_so(analysed: fo.Dataset) -> None:
    (sample,) = ids(analysed, 2)
    analysed.set_values("ann.detections", {sample: []}, key_field="id")
    panel = beside(analysed, 2)
    assert "its labels were deleted since" in panel.text()
    assert buttons(panel) == []


def test_a_run_that_is_gone_is_no_traceback(analysed: fo.Dataset) -> None:
    panel = beside(analysed, 1)
    for key in kf.list_runs(analysed):
        kf.delete_run(analysed, key)
    panel.send("decide", decision="none")
    assert "got 'agreement'" in panel.text()
    assert {"failed", "retry"} == set(panel.shown)
    panel.load()
    assert "Nothing is computed yet" in panel.text()


def test_names_are_shown_as_text() -> None:
    dataset = data_set([{"ann": [], "bob": []}])
    sample = dataset.first()
    for rater, name in (("ann", HOSTILE), ("bob", "dog")):
        sample[rater].detections.append(detection(name, CAT))
    sample.save()
    kf.compute_agreement(dataset, "agreement", raters=RATERS, bootstrap=0)
    (unit,) = kf.disputed_units(dataset, "agreement", sample.id)
    kf.decide(dataset, "agreement", unit.labels, "guideline", note=HOSTILE, who="[eve](x)")
    panel = beside(dataset, 0)
    literal = "<b>**x**</b> gpj [a](b)"
    assert f"ann is right: {literal}" in buttons(panel)
    assert literal in panel.rows("unit_rows")[0]["rater_0"]
    written = panel.shown["dispute"]["default"] if "default" in panel.shown["dispute"] else str(panel.shown["dispute"])
    assert not any(sign in written for sign in ("<b>", "**x", "\u202e", "[a]", "[eve]"))
