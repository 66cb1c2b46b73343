"""Regions of masks in dispute: the queue in *Decide*, and the decision beside the open sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError
from tests.fiftyone_bridge.test_regions import CLASSES, MAPS
from tests.panels.operations import given
from tests.plugin import Panel


@pytest.fixture
def masks() -> Iterator[fo.Dataset]:
    dataset = fo.Dataset()
    dataset.add_samples(
        fo.Sample(f"/{number}.png", raters=list(maps), **{name: fo.Segmentation(mask=m) for name, m in maps.items()})
        for number, maps in enumerate(MAPS)
    )
    dataset.default_mask_targets = CLASSES
    dataset.save()
    yield dataset
    for key in kf.list_runs(dataset):
        kf.delete_run(dataset, key)
    dataset.delete()


def decide_section(dataset: fo.Dataset) -> Panel:
    panel = Panel("raters", dataset).load()
    panel.send("choose_section", value="Decide")
    assert not panel.state.get("problem")
    return panel


def buttons(panel: Panel) -> list[str]:
    rows = [panel.shown[name]["type"]["properties"] for name in panel.shown if name in ("takes", "others")]
    return [entry["view"]["label"] for row in rows for entry in row.values()]


def test_the_queue_of_regions(masks: fo.Dataset) -> None:
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    panel = decide_section(masks)
    assert "0 of 3 units in dispute decided, 3 open" in panel.text()
    found = [(row["file"], row["open"]) for row in panel.rows("queue")]
    assert found == [("0.png", 2), ("2.png", 1)]
    assert given(panel.send("decide_open_next"), "open_sample")["id"] == masks.first().id
    panel.send("choose_page", value="Results")
    assert {"tag_disputes", "hand_over"} <= set(panel.shown)
    assert "resolved" not in panel.shown


def test_a_run_without_regions_says_what_to_do(masks: fo.Dataset) -> None:
    kf.compute_pixel_agreement(masks, "pixels")
    panel = decide_section(masks)
    assert "make a new one with *Regions in dispute* switched on" in panel.text()
    asked = given(panel.send("make"), "prompt_user_for_operation")
    assert asked["operator_uri"].endswith("compute_pixel_agreement")
    assert asked["params"] == {"regions": True}


def test_a_region_is_decided_beside_its_sample(masks: fo.Dataset) -> None:
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    sample = masks.first()
    panel = Panel("sample", masks, current_sample=sample.id).load()
    assert not panel.state.get("problem")
    assert "2 regions in dispute, 2 open" in panel.text()
    assert panel.state["raters"] == ["ann", "bob", "cid"]
    assert [[row[f"rater_{at}"] for at in range(3)] for row in panel.rows("unit_rows")] == [
        ["road", "road", "car"],
        ["road", "no object", "no object"],
    ]
    assert buttons(panel)[:3] == ["ann is right: road", "bob is right: road", "cid is right: car"]
    assert not {"One object, the whole", "Several objects, the parts"} & set(buttons(panel))
    panel.send("decide", decision="take", rater="cid")
    (made,) = kf.decisions(masks, "pixels")
    assert (made.labels, made.rater) == ((sample.pixels_regions.detections[0].id,), "cid")
    assert "2 regions in dispute, 1 open" in panel.text()
    operations: Any = panel.send("click_unit", row=1)
    selected = given(operations, "set_selected_labels")["labels"]
    assert selected == [
        {"sample_id": sample.id, "label_id": sample.pixels_regions.detections[1].id, "field": "pixels_regions"}
    ]
    panel.send("undo")
    assert kf.count_disputes(masks, "pixels").open == 3


def test_what_is_drawn_of_a_region_is_what_each_rater_marked(masks: fo.Dataset) -> None:
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    sample = masks.first()
    first, second = (label.id for label in sample.pixels_regions.detections)
    drawing = kf.draw_region(masks, "pixels", first, sample.id)
    assert list(drawing.legend.values()) == ["ann: road", "bob: road", "cid: car"]
    drawing = kf.draw_region(masks, "pixels", second, sample.id)
    assert list(drawing.legend.values()) == ["ann: road", "bob: annotated nothing here", "cid: annotated nothing here"]
    with pytest.raises(kf.NotInRun):
        kf.region_report(masks, "0" * 24, "pixels")
    for name in ("ann", "bob", "cid"):
        sample[name] = None
    sample.save()
    with pytest.raises(InputError, match="expected"):
        kf.draw_region(masks, "pixels", first, sample.id)
