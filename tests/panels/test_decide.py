"""*Decide* in the workbench: how far it is, what is next, what follows; units of objects, and regions of masks."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.deciding.queue import queued_images
from kalos_core.fiftyone.deciding.units import draw_region, region_report
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun
from tests.fiftyone_bridge.scenes import RATERS
from tests.panels.operations import given, ids, look_at, names, opened, prompted, sample_of, samples_of, view_of
from tests.plugin import SPACES, Panel, Workbench
from tests.tiers import first


def decided(dataset: fo.Dataset, number: int, decision: str, rater: str | None = None, **more: Any) -> tuple[Any, ...]:
    """Labels of a unit of a scene that was decided; each scene has one dispute."""
    (unit,) = kf.disputed_units(dataset, "agreement", *ids(dataset, number))
    return kf.decide(dataset, "agreement", unit.labels, decision, rater, **more).labels


# ---- the queue ----


def test_the_queue_and_how_far_it_is(own: fo.Dataset) -> None:
    panel = opened(own, "Decide")
    assert "▱▱▱▱▱▱▱▱▱▱ 0 of 5 units in dispute decided, 5 open" in panel.text()
    expected = [("3.jpg", "−0.667", 3), ("1.jpg", "0.000", 1), ("2.jpg", "0.000", 1)]
    assert [(row["file"], row["alpha"], row["open"]) for row in panel.rows("queue")] == expected
    queue = ids(own, 3, 1, 2)
    assert panel.state["queued_ids"] == queue
    assert sample_of(panel.send("decide_open_next")) == queue[0]
    assert sample_of(panel.send("decide_click_queued", row=2)) == queue[2]

    decided(own, 3, "parts")
    decided(own, 1, "guideline")
    panel.send("reload")
    assert "▰▰▰▰▰▰▱▱▱▱ 3 of 5 units in dispute decided, 1 waiting for the guideline, 1 open" in panel.text()
    assert panel.state["queued_ids"] == queue[2:]
    for which, sample in (("open", queue[2]), ("waiting", queue[1]), ("decided", queue[0])):
        assert samples_of(own, panel.send("decide_show_queue", which=which)) == [sample]
    decided(own, 2, "none")
    decided(own, 1, "none")
    assert "open_sample" not in names(panel.send("decide_open_next"))  # somebody was quicker
    assert "▰▰▰▰▰▰▰▰▰▰ 5 of 5 units in dispute decided, 0 open" in panel.text()
    assert "No unit in dispute is open here" in panel.text()


def test_the_lens_narrows_the_queue(own_trio: fo.Dataset) -> None:
    panel = opened(own_trio, "Decide")
    everything = panel.state["queued_ids"]
    for part in ({"category": "bench"}, {"rater": "bob"}):
        panel.send("clear_lens")
        look_at(panel, **part)
        expected = queued_images(own_trio, "agreement", 25, **part)
        assert panel.state["queued_ids"] == [image.sample_id for image in expected] != everything
        assert [row["open"] for row in panel.rows("queue")] == [image.open for image in expected]
        assert sample_of(panel.send("decide_open_next")) == kf.next_dispute(own_trio, "agreement", **part)
        assert "(of all classes and raters)" in panel.text()


@pytest.mark.parametrize("part", first([{"category": "dog", "rater": "ann"}, {"category": "bench"}]))
def test_next_beside_the_sample_stays_within_the_lens(own_trio: fo.Dataset, part: dict[str, str]) -> None:
    shown = sample_of(look_at(opened(own_trio, "Decide"), **part).send("decide_open_next"))
    beside = Panel("sample", own_trio, current_sample=shown).load()
    for value in part.values():
        assert value in beside.text().split("Only disputes of ")[1].splitlines()[0]
    for _ in range(3):
        unit = kf.disputed_units(own_trio, "agreement", shown)[beside.state["place"]]
        assert unit.fits(**part)
        sent = beside.send("decide", decision="none", rater=None)
        if "open_sample" in names(sent):
            assert sample_of(sent) == kf.next_dispute(own_trio, "agreement", shown, **part)
            shown = beside.request["current_sample"] = sample_of(sent)
            beside.send("on_change_current_sample")
    beside.send("all_disputes")
    assert "Only disputes of" not in beside.text()
    assert sample_of(beside.send("next")) == kf.next_dispute(own_trio, "agreement", shown)


def test_a_decision_beside_the_sample_is_counted_in_the_open_workbench(own: fo.Dataset) -> None:
    panel = opened(own, "Decide")
    spaces = {**SPACES, "children": [{**SPACES["children"][0], "type": "raters", "component_id": "p"}]}
    beside = Panel("sample", own, current_sample=ids(own, 1)[0], spaces=spaces).load()
    sent = beside.send("decide", decision="none", rater=None)
    asked = [params for name, params in sent if name.endswith("/raters")]
    assert [(one["panel_id"], one["__method__"]) for one in asked] == [("p", "reload")]
    panel.send("reload")
    assert "1 of 5 units in dispute decided, 4 open" in panel.text()
    elsewhere = Panel("sample", own, current_sample=ids(own, 2)[0]).load()
    assert not [name for name, _ in elsewhere.send("decide", decision="none", rater=None) if name.endswith("/raters")]


# ---- what follows ----


def test_the_training_list_leads_to_the_labels_it_counts(own: fo.Dataset) -> None:
    assert "Nobody was decided against yet" in opened(own, "Decide", "Training list").text()
    labels = decided(own, 1, "take", "bob")
    panel = opened(own, "Decide", "Training list")
    (row,) = panel.rows("training")
    assert [row[name] for name in ("rater", "gave", "decided", "count")] == ["ann", "cat", "dog", "1 of 1"]
    view = view_of(own, panel.send("decide_click_trained", row=0))
    assert view.values("id") == ids(own, 1)
    assert sorted(label.id for rater in RATERS for label in view.first()[rater].detections) == sorted(labels)
    assert panel.grids[-1]["text"] == "1 image where ann gave cat and it was decided otherwise"
    assert "Nobody was decided against yet" in look_at(panel, rater="bob").text()


def test_questions_to_the_guideline_open_their_images(own: fo.Dataset) -> None:
    assert "No question yet" in opened(own, "Decide", "Guideline").text()
    decided(own, 1, "guideline", note="cat or dog?", who="eve")
    panel = opened(own, "Decide", "Guideline")
    (row,) = panel.rows("questions")
    assert (row["note"], row["who"]) == ("cat or dog?", "eve")
    assert kf.guideline_questions(own, "agreement") in panel.text()
    assert sample_of(panel.send("decide_click_asked", row=0)) == ids(own, 1)[0]


def test_results_are_forms_of_this_agreement(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Decide", "Results")
    for operator in ("resolved", "export_resolved", "tag_disputes", "hand_over"):
        asked = panel.shown[operator]["view"]["params"]
        assert prompted(panel.send("prompt", **asked)) == (operator, {"key": "agreement"})


# ---- regions of masks ----


def test_the_queue_of_regions(masks: fo.Dataset) -> None:
    kf.compute_pixel_agreement(masks, "plain")
    assert "Decide" not in Workbench(masks).load().state["sections"]
    kf.delete_run(masks, "plain")
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    panel = opened(masks, "Decide")
    assert "0 of 3 regions in dispute decided, 3 open" in panel.text()
    assert [(row["file"], row["open"]) for row in panel.rows("queue")] == [("0.png", 2), ("2.png", 1)]
    assert sample_of(panel.send("decide_open_next")) == masks.first().id
    panel.send("choose_page", value="Results")
    assert {"tag_disputes", "hand_over"} <= set(panel.shown)
    assert "resolved" not in panel.shown


def test_objects_and_regions_are_decided_by_turns(masks: fo.Dataset) -> None:
    sample = masks.first()
    for name, label in (("dan", "cat"), ("eve", "dog")):
        box = fo.Detection(label=label, bounding_box=[0.1, 0.1, 0.5, 0.5])
        sample[name] = fo.Detections(detections=[box])
    sample.save()
    kf.compute_agreement(masks, "objects", raters=("dan", "eve"), assigned="labelled", bootstrap=0)
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    panel = opened(masks, "Decide")
    assert "0 of 1 unit in dispute decided" in panel.text()
    panel.send("decide_change_kind", value="pixels")
    assert "0 of 3 regions in dispute decided" in panel.text()
    assert sample_of(panel.send("decide_open_next")) == sample.id
    assert "regions in dispute" in Panel("sample", masks, current_sample=sample.id).load().text()


def test_a_region_is_decided_beside_its_sample(masks: fo.Dataset) -> None:
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    sample = masks.first()
    first, second = (label.id for label in sample.pixels_regions.detections)
    panel = Panel("sample", masks, current_sample=sample.id).load()
    assert not panel.state.get("problem")
    assert "2 regions in dispute, 2 open" in panel.text()
    assert panel.state["raters"] == ["ann", "bob", "cid"]
    assert [[row[f"rater_{at}"] for at in range(3)] for row in panel.rows("unit_rows")] == [
        ["road", "road", "car"],
        ["road", "no object", "no object"],
    ]
    possible = panel.state["disputes"][0]
    assert dict(possible["given"]) == {"ann": "road", "bob": "road", "cid": "car"}
    assert not {"whole", "parts"} & set(possible["decisions"])
    assert dict(panel.state["disputes"][1]["given"])["bob"] == "mostly nothing"
    panel.send("decide", decision="take", rater="cid")
    (made,) = kf.decisions(masks, "pixels")
    assert (made.labels, made.rater) == ((first,), "cid")
    assert "2 regions in dispute, 1 open" in panel.text()
    (selected,) = given(panel.send("click_unit", row=1), "select_labels")["labels"]
    assert selected.items() >= {"sample_id": sample.id, "label_id": second, "field": "pixels_regions"}.items()
    panel.send("undo")
    assert kf.count_disputes(masks, "pixels").open == 3


def test_what_is_drawn_of_a_region_is_what_each_rater_marked(masks: fo.Dataset) -> None:
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    sample = masks.first()
    first, second = (label.id for label in sample.pixels_regions.detections)
    drawing = draw_region(masks, "pixels", first, sample.id)
    assert list(drawing.legend.values()) == ["ann: road", "bob: road", "cid: car"]
    drawing = draw_region(masks, "pixels", second, sample.id)
    nothing = "annotated nothing here"
    assert list(drawing.legend.values()) == ["ann: road", f"bob: {nothing}", f"cid: {nothing}"]
    with pytest.raises(NotInRun):
        region_report(masks, "0" * 24, "pixels")
    for name in ("ann", "bob", "cid"):
        sample[name] = None
    sample.save()
    with pytest.raises(InputError, match="expected"):
        draw_region(masks, "pixels", first, sample.id)
