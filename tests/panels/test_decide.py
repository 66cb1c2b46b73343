"""*Decide* in the workbench: how far it is, what is next, and what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.scenes import CAT, RATERS, detection
from tests.panels.conftest import data_set
from tests.panels.operations import given, ids, names, samples_of, view_of
from tests.panels.test_sample import HOSTILE
from tests.plugin import SPACES, Panel


def decide_section(dataset: fo.Dataset, page: str = "Queue") -> Panel:
    panel = Panel("raters", dataset).load()
    panel.send("choose_section", value="Decide")
    if page != "Queue":
        panel.send("choose_page", value=page)
    assert not panel.state.get("problem")
    return panel


def decided(dataset: fo.Dataset, number: int, decision: str, rater: str | None = None, **more: Any) -> tuple[Any, ...]:
    """Labels of a unit of a scene that was decided; each scene has one dispute."""
    (sample_id,) = ids(dataset, number)
    (unit,) = kf.disputed_units(dataset, "agreement", sample_id)
    return kf.decide(dataset, "agreement", unit.labels, decision, rater, **more).labels


# ---- the queue ----


def test_the_queue_and_how_far_it_is(analysed: fo.Dataset) -> None:
    panel = decide_section(analysed)
    assert "▱▱▱▱▱▱▱▱▱▱ 0 of 5 units in dispute decided, 5 open" in panel.text()
    files = [Path(path).name for path in analysed.select(ids(analysed, 3, 1, 2), ordered=True).values("filepath")]
    found = [(row["file"], row["alpha"], row["open"]) for row in panel.rows("queue")]
    assert found == [(files[0], "−0.667", 3), (files[1], "0.000", 1), (files[2], "0.000", 1)]
    assert panel.state["queued_ids"] == ids(analysed, 3, 1, 2)

    decided(analysed, 3, "parts")
    decided(analysed, 1, "guideline")
    panel.send("reload")
    assert "▰▰▰▰▰▰▱▱▱▱ 3 of 5 units in dispute decided, 1 waiting for the guideline, 1 open" in panel.text()
    assert panel.state["queued_ids"] == ids(analysed, 2)
    decided(analysed, 2, "none")
    decided(analysed, 1, "none")
    panel.send("reload")
    assert "▰▰▰▰▰▰▰▰▰▰ 5 of 5 units in dispute decided, 0 open" in panel.text()
    assert "No unit in dispute is open here" in panel.text()


def test_a_row_and_the_button_open_a_sample(analysed: fo.Dataset) -> None:
    panel = decide_section(analysed)
    assert given(panel.send("decide_open_next"), "open_sample")["id"] == ids(analysed, 3)[0]
    assert given(panel.send("decide_click_queued", row=2), "open_sample")["id"] == ids(analysed, 2)[0]
    for number in (1, 2, 3):
        decided(analysed, number, "none")
    assert "open_sample" not in names(panel.send("decide_open_next"))  # somebody was quicker
    assert "No unit in dispute is open here" in panel.text()


def test_the_lens_narrows_the_queue(trio: fo.Dataset) -> None:
    panel = decide_section(trio)
    everything = panel.state["queued_ids"]
    for name, value in (("category", "bench"), ("rater", "bob")):
        chosen = str(panel.state["choices"][name].index(value))
        panel.look_through(**{"category": "0", "rater": "0", name: chosen})
        (expected,) = [kf.queued_images(trio, "agreement", 25, **{name: value})]
        assert "(of all classes and raters)" in panel.text()
        assert panel.state["queued_ids"] == [image.sample_id for image in expected] != everything
        assert [row["open"] for row in panel.rows("queue")] == [image.open for image in expected]
        opened = given(panel.send("decide_open_next"), "open_sample")["id"]
        assert opened == kf.next_dispute(trio, "agreement", **{name: value})


@pytest.mark.parametrize(("section", "events"), [("Decide", 1), ("Overview", 1), ("Images", 0)])
def test_a_decision_beside_the_sample_is_counted_in_the_open_workbench(
    analysed: fo.Dataset, section: str, events: int
) -> None:
    panel = Panel("raters", analysed).load()
    panel.send("choose_section", value=section)
    shown = {**SPACES["children"][0], "type": "raters", "component_id": "p"}
    beside = Panel(
        "sample", analysed, current_sample=ids(analysed, 1)[0], spaces={**SPACES, "children": [shown]}
    ).load()
    sent = beside.send("decide", decision="none", rater=None)
    asked = [params for name, params in sent if name.endswith("/raters")]
    assert [(one["panel_id"], one["__method__"]) for one in asked] == [("p", "reload")] * events
    if section == "Decide":
        panel.state.clear()  # an event of another panel does not bring the state along
        panel.send("reload")
        assert "1 of 5 units in dispute decided, 4 open" in panel.text()
    elsewhere = Panel("sample", analysed, current_sample=ids(analysed, 2)[0]).load()
    assert not [name for name, _ in elsewhere.send("decide", decision="none", rater=None) if name.endswith("/raters")]


@pytest.mark.parametrize("part", [{"category": "bench"}, {"rater": "bob"}, {"category": "dog", "rater": "ann"}])
def test_next_beside_the_sample_stays_within_the_lens(trio: fo.Dataset, part: dict[str, str]) -> None:
    panel = decide_section(trio)
    panel.look_through(**{name: str(panel.state["choices"][name].index(value)) for name, value in part.items()})
    opened = given(panel.send("decide_open_next"), "open_sample")["id"]
    beside = Panel("sample", trio, current_sample=opened).load()
    for value in part.values():
        assert value in beside.text().split("Only disputes of ")[1].splitlines()[0]
    for _ in range(3):
        unit = kf.disputed_units(trio, "agreement", opened)[beside.state["place"]]
        assert unit.fits(**part)
        sent = beside.send("decide", decision="none", rater=None)
        if "open_sample" in names(sent):
            following = given(sent, "open_sample")["id"]
            assert following == kf.next_dispute(trio, "agreement", opened, **part)
            opened = beside.request["current_sample"] = following
            beside.send("on_change_current_sample")
    beside.send("all_disputes")
    assert "Only disputes of" not in beside.text()
    following = given(beside.send("next"), "open_sample")["id"]
    assert following == kf.next_dispute(trio, "agreement", opened)


@pytest.mark.parametrize(("which", "numbers"), [("open", [2]), ("waiting", [1]), ("decided", [3])])
def test_images_of_a_state_are_shown_in_the_grid(analysed: fo.Dataset, which: str, numbers: list[int]) -> None:
    decided(analysed, 3, "whole")
    decided(analysed, 1, "guideline")
    panel = decide_section(analysed)
    assert samples_of(analysed, panel.send("decide_show_queue", which=which)) == ids(analysed, *numbers)


# ---- what follows ----


def test_the_training_list_leads_to_the_labels_it_counts(analysed: fo.Dataset) -> None:
    assert "Nobody was decided against yet" in decide_section(analysed, "Training list").text()
    labels = decided(analysed, 1, "take", "bob")
    panel = decide_section(analysed, "Training list")
    (row,) = panel.rows("training")
    assert {name: row[name] for name in ("rater", "gave", "decided", "count")} == {
        "rater": "ann",
        "gave": "cat",
        "decided": "dog",
        "count": "1 of 1",
    }
    view = view_of(analysed, panel.send("decide_click_trained", row=0))
    assert view.values("id") == ids(analysed, 1)
    shown = [label.id for rater in RATERS for label in view.first()[rater].detections]
    assert sorted(shown) == sorted(labels)
    assert panel.state["in_grid"] == "1 image where ann gave cat and it was decided otherwise"
    panel.look_through(rater=str(panel.state["choices"]["rater"].index("bob")))
    assert "Nobody was decided against yet" in panel.text()


def test_questions_to_the_guideline_open_their_images(analysed: fo.Dataset) -> None:
    assert "No question yet" in decide_section(analysed, "Guideline").text()
    decided(analysed, 1, "guideline", note="cat or dog?", who="eve")
    panel = decide_section(analysed, "Guideline")
    (row,) = panel.rows("questions")
    assert (row["note"], row["who"]) == ("cat or dog?", "eve")
    assert kf.guideline_questions(analysed, "agreement") in panel.text()
    assert given(panel.send("decide_click_asked", row=0), "open_sample")["id"] == ids(analysed, 1)[0]


def test_results_are_forms_of_this_agreement(analysed: fo.Dataset) -> None:
    panel = decide_section(analysed, "Results")
    for operator in ("resolved", "export_resolved", "tag_disputes", "hand_over"):
        asked = panel.shown[operator]["view"]["params"]
        (prompted,) = [params for name, params in panel.send("prompt", **asked) if name == "prompt_user_for_operation"]
        assert prompted["operator_uri"].endswith(f"/{operator}")
        assert prompted["params"] == {"key": "agreement"}


def test_names_are_shown_as_text() -> None:
    dataset = data_set([{"ann": [], "bob": []}])
    sample = dataset.first()
    for rater, name in (("ann", HOSTILE), ("bob", "dog")):
        sample[rater].detections.append(detection(name, CAT))
    sample.save()
    kf.compute_agreement(dataset, "agreement", raters=RATERS, bootstrap=0)
    decided(dataset, 0, "guideline", note=f"~~~~\n{HOSTILE}", who=HOSTILE)
    panel = decide_section(dataset, "Guideline")
    literal = "<b>**x**</b> gpj [a](b)"
    assert panel.rows("questions")[0]["who"] == literal
    assert panel.state["markdown"].count("~~~~") == 0  # which would end the block that it stands in
    decided(dataset, 0, "take", "bob")
    assert decide_section(dataset, "Training list").rows("training")[0]["gave"] == literal
