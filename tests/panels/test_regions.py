"""Regions of masks in dispute: the queue in *Decide*, and the decision beside the open sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, LabelStack, boundary_agreement, region_agreement
from tests.fiftyone_bridge.stacks import CLASSES, MAPS
from tests.panels.operations import given, opened, samples_of
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
    assert "0 of 3 regions in dispute decided, 3 open" in panel.text()
    found = [(row["file"], row["open"]) for row in panel.rows("queue")]
    assert found == [("0.png", 2), ("2.png", 1)]
    assert given(panel.send("decide_open_next"), "open_sample")["id"] == masks.first().id
    panel.send("choose_page", value="Results")
    assert {"tag_disputes", "hand_over"} <= set(panel.shown)
    assert "resolved" not in panel.shown


def test_a_run_without_regions_has_no_queue(masks: fo.Dataset) -> None:
    kf.compute_pixel_agreement(masks, "pixels")
    assert "Decide" not in Panel("raters", masks).load().state["sections"]


def test_objects_and_regions_are_decided_by_turns(masks: fo.Dataset) -> None:
    box = [0.1, 0.1, 0.5, 0.5]
    sample = masks.first()
    for name, label in (("dan", "cat"), ("eve", "dog")):
        sample[name] = fo.Detections(detections=[fo.Detection(label=label, bounding_box=box)])
    sample.save()
    kf.compute_agreement(masks, "objects", raters=("dan", "eve"), assigned="labelled")
    kf.compute_pixel_agreement(masks, "pixels", regions=True)
    panel = decide_section(masks)
    assert "0 of 1 unit in dispute decided" in panel.text()
    panel.send("decide_change_kind", value="pixels")
    assert "0 of 3 regions in dispute decided" in panel.text()
    assert given(panel.send("decide_open_next"), "open_sample")["id"] == sample.id
    beside = Panel("sample", masks, current_sample=sample.id).load()
    assert "regions in dispute" in beside.text()


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
    panel.send("choose_dispute", place=1)
    assert buttons(panel)[:2] == ["ann is right: road", "bob is right: mostly nothing"]
    panel.send("choose_dispute", place=0)
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


def test_boundaries_by_pair_class_and_image(masks: fo.Dataset) -> None:
    """Of image 1 cid's object is a column wider: of the 28 + 30 pixels of two boundaries, 6 + 8 are 1 apart."""
    kf.compute_pixel_agreement(masks, "plain")
    panel = opened(masks, "Masks", "Boundaries")
    assert "did not compare boundaries" in panel.text()
    kf.delete_run(masks, "plain")
    run = kf.compute_pixel_agreement(masks, "pixels", boundaries=True, tolerance=1)
    apart = kf.boundaries_of(masks, "pixels")
    expected = boundary_agreement([LabelStack.of(maps) for maps in MAPS], CLASSES, tolerance=1)
    for name in ("image", "category", "rater_a", "rater_b", "values"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(expected, name))
    assert apart.summary() == expected.summary()
    by_image = expected.by_image()["average"]
    assert masks.values("pixels_boundary") == [pytest.approx(by_image[0]), pytest.approx(2 / 3 * 14 / 58), None]
    assert "'pixels_boundary'" in run.written
    panel = opened(masks, "Masks", "Boundaries")
    assert apart.headline.splitlines()[1] in panel.text()
    assert [row["class"] for row in panel.rows("paired_classes")] == ["road", "car"]
    assert [row["rater_b"] for row in panel.rows("paired_raters")] == ["bob", "cid", "cid"]
    assert [row["file"] for row in panel.rows("paired_images")] == ["0.png", "1.png"]
    assert given(panel.send("masks_click_image", row=0), "open_sample")["id"] == panel.state["image_ids"][0]
    assert samples_of(masks, panel.send("masks_show_worst")) == masks.values("id")[:2]


NUMBERED = [
    {"ann": [1, 1, 1, 2, 2, 2], "bob": [9, 9, 9, 0, 0, 0], "cid": [1, 1, 2, 2, 3, 3]},
    {"ann": [5, 5, 5, 5, 5, 5], "bob": [1, 2, 3, 4, 5, 6]},
]
"""Regions without names: bob numbers ann's halves otherwise, cid has thirds; then one region, and six."""


@pytest.fixture
def numbered() -> Iterator[fo.Dataset]:
    dataset = fo.Dataset()
    dataset.add_samples(
        fo.Sample(
            f"/{number}.png",
            raters=list(maps),
            **{name: fo.Segmentation(mask=np.array([row], np.uint8)) for name, row in maps.items()},
        )
        for number, maps in enumerate(NUMBERED)
    )
    yield dataset
    for key in kf.list_runs(dataset):
        kf.delete_run(dataset, key)
    dataset.delete()


def test_divisions_by_pair_and_image(numbered: fo.Dataset) -> None:
    """By hand: alike 1 and twice 8/33 on the first image, 0 on the second."""
    with pytest.raises(InputError, match="expected 0 and 1"):  # they number regions, and mark nothing
        kf.compute_pixel_agreement(numbered, "plain", raters=("ann", "bob", "cid"))
    run = kf.compute_pixel_agreement(numbered, "pixels", divisions=True, raters=("ann", "bob", "cid"))
    assert "'pixels_adjusted_rand'" in run.written
    assert numbered.values("pixels_adjusted_rand") == pytest.approx([(1 + 16 / 33) / 3, 0])
    found = kf.divisions_of(numbered, "pixels")
    stacks = [LabelStack.of({name: [row] for name, row in maps.items()}) for maps in NUMBERED]
    expected = region_agreement(stacks)
    np.testing.assert_array_equal(found.values, expected.values)
    assert found.summary() == expected.summary()
    assert found.by_rater_pair().equals(expected.by_rater_pair())
    assert found.images.tolist() == numbered.values("id")
    marked = [[[1] * 6, [1, 1, 1, 0, 0, 0], [1] * 6], [[1] * 6, [1] * 6]]  # all that is not 0
    counts = [np.sum(rows, axis=0).tolist() for rows in marked]
    assert [sample["pixels_rater_count"].get_map()[0].tolist() for sample in numbered] == counts
    panel = opened(numbered, "Masks", "Divisions")
    assert not panel.state.get("problem")
    assert found.headline.splitlines()[1] in panel.text()
    rows = panel.rows("paired_raters")
    assert [(row["rater_a"], row["rater_b"]) for row in rows] == [("ann", "bob"), ("ann", "cid"), ("bob", "cid")]
    assert rows[1]["adjusted_rand"] == "0.24 (0.24 to 0.24)"  # of the one image that both divided
    assert [row["file"] for row in panel.rows("paired_images")] == ["1.png", "0.png"]
    assert "paired_classes" not in panel.shown
    assert given(panel.send("masks_click_image", row=0), "open_sample")["id"] == numbered.last().id
    assert samples_of(numbered, panel.send("masks_show_worst")) == numbered.values("id")[::-1]
    kf.delete_run(numbered, "pixels")
    assert not numbered.has_field("pixels_adjusted_rand")


def test_divisions_of_classes_and_of_nobody(masks: fo.Dataset) -> None:
    """Named classes divide an image, too, with what has none as a region; a run without them says so."""
    kf.compute_pixel_agreement(masks, "plain")
    assert "did not compare divisions" in opened(masks, "Masks", "Divisions").text()
    with pytest.raises(InputError, match="expected a run that compared divisions, got 'plain'"):
        kf.divisions_of(masks, "plain")
    kf.delete_run(masks, "plain")
    kf.compute_pixel_agreement(masks, "pixels", divisions=True, boundaries=True)
    expected = region_agreement([LabelStack.of(maps) for maps in MAPS], bootstrap=0)
    np.testing.assert_array_equal(kf.divisions_of(masks, "pixels").values, expected.values)
    assert kf.boundaries_of(masks, "pixels").classes.tolist() == ["road", "car"]


def test_labels_to_be_rasterised_divide_nothing() -> None:
    dataset = fo.Dataset()
    triangle = [[(0.1, 0.1), (0.9, 0.1), (0.1, 0.9)]]
    labels = {
        name: fo.Polylines(polylines=[fo.Polyline(label="cat", points=triangle, closed=True)])
        for name in ("ann", "bob")
    }
    dataset.add_sample(fo.Sample("/a.png", metadata=fo.ImageMetadata(width=9, height=9), raters=[*labels], **labels))
    with pytest.raises(InputError, match="divisions: expected Segmentation masks, got labels to be rasterised"):
        kf.compute_pixel_agreement(dataset, "pixels", divisions=True, raters=("ann", "bob"))
    assert kf.list_runs(dataset) == []
    dataset.delete()
