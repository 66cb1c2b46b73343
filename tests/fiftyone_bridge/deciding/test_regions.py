"""Regions in dispute of masks: written with their run, decided like units, and deleted with it."""

from __future__ import annotations

from collections.abc import Iterator

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.deciding.decide import carry_decisions
from kalos_core.fiftyone.deciding.queue import DisputeCount, queued_images, view_of_queue
from kalos_core.pixels import LabelStack, disputed_regions
from tests.fiftyone_bridge.back_end import STUB, Stub
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.stacks import CLASSES, MAPS, RATERS, painted


@pytest.fixture
def dataset(make: Make) -> Iterator[fo.Dataset]:
    """Return the maps with a run that wrote their regions."""
    found = make(
        [
            fo.Sample(
                f"/{number}.png", raters=list(maps), **{name: fo.Segmentation(mask=m) for name, m in maps.items()}
            )
            for number, maps in enumerate(MAPS)
        ]
    )
    found.default_mask_targets = CLASSES
    found.save()
    kf.compute_pixel_agreement(found, "pixels", regions=True)
    yield found
    for key in kf.list_runs(found):
        kf.delete_run(found, key)


def test_regions_are_those_of_the_library(dataset):
    run = kf.load_details(dataset, "pixels")
    expected = disputed_regions([LabelStack.of(maps) for maps in MAPS], CLASSES)
    stored = [label for sample in dataset for label in sample.pixels_regions.detections]
    assert [label.area for label in stored] == expected.area.tolist() == [36, 20, 20]
    assert run.metrics["regions"] == 3
    assert stored[0].raters == list(RATERS)
    assert stored[0].given == ["road", "road", "car"]
    np.testing.assert_allclose(stored[1].bounding_box, [20 / 30, 10 / 20, 4 / 30, 5 / 20])
    assert stored[1].mask.shape == (5, 4)
    assert stored[1].mask.all()
    assert "pixels_regions" not in label_fields(dataset)  # not labels of a rater
    few = kf.compute_pixel_agreement(dataset, "few", regions=True, region_most=1)  # of the two of the first image
    assert (few.metrics["regions"], few.settings["region_most"]) == (2, 1)
    assert [label.area for sample in dataset for label in sample.few_regions.detections] == [36, 20]
    kf.delete_run(dataset, "few")
    schema = list(dataset.get_field_schema())
    kf.delete_run(dataset, "pixels")
    assert list(dataset.get_field_schema()) == [name for name in schema if not name.startswith("pixels_")]


def test_open_regions_are_handed_over(dataset, monkeypatch):
    """Hand over masks of the run's classes, images with lowest agreement first; no mask is changed."""
    monkeypatch.setitem(fo.annotation_config.backends, "stub", STUB)
    first, _, last = dataset.values("id")
    before = [sample[name] and sample[name].mask.tolist() for sample in dataset for name in RATERS]
    kf.hand_over(dataset, "pixels", "arbiter", backend="stub")
    assert sorted(Stub.given["ids"]) == [first, last]  # the second has no dispute
    assert Stub.given["ids"] == view_of_queue(dataset, "pixels").values("id")
    (about,) = Stub.given["schema"].values()
    assert (about["type"], list(about["classes"])) == ("segmentation", ["road", "car"])
    assert [sample[name] and sample[name].mask.tolist() for sample in dataset for name in RATERS] == before
    (left,) = kf.disputed_units(dataset, "pixels", last)
    kf.decide(dataset, "pixels", left.labels, "none")
    kf.hand_over(dataset, "pixels", "again", backend="stub", category="car")
    assert Stub.given["ids"] == [first]
    for region in kf.disputed_units(dataset, "pixels", first):
        kf.decide(dataset, "pixels", region.labels, "guideline")
    with pytest.raises(InputError, match="open disputes"):
        kf.hand_over(dataset, "pixels", "other", backend="stub")


def test_regions_are_decided_one_after_the_other(dataset):
    first, _, last = dataset.values("id")
    assert kf.tag_disputes(dataset, "pixels", "look") == 2
    assert dataset.match_tags("look").values("id") == [first, last]
    assert dataset.count_label_tags("pixels_regions") == {"look": 3}
    assert kf.next_dispute(dataset, "pixels") == kf.next_dispute(dataset, "pixels", last, category="road") == first
    assert [(one.sample_id, one.open) for one in queued_images(dataset, "pixels", 9)] == [(first, 2), (last, 1)]
    one, other = kf.disputed_units(dataset, "pixels", first)
    assert one.values == {"ann": ("road",), "bob": ("road",), "cid": ("car",)}
    assert other.values == {"ann": ("road",), "bob": (), "cid": ()}
    assert (one.against, other.against) == (("cid",), ("ann",))
    assert "take" in one.decisions
    assert not {"whole", "parts"} & set(one.decisions)
    made = kf.decide(dataset, "pixels", one.labels, "take", "ann", "dry paint", "lea")
    assert made.labels == one.labels == (dataset.first().pixels_regions.detections[0].id,)
    kf.decide(dataset, "pixels", other.labels, "guideline", note="is a yard a road?")
    assert kf.count_disputes(dataset, "pixels") == DisputeCount(3, 1, 1, 1)
    assert kf.next_dispute(dataset, "pixels") == last
    (left,) = kf.disputed_units(dataset, "pixels", last)
    assert set(left.against) == {"ann", "bob"}  # one each: no majority
    kf.decide(dataset, "pixels", left.labels, "none")
    assert kf.next_dispute(dataset, "pixels") is None
    view = view_of_queue(dataset, "pixels", state="decided")
    found = [[label.label for label in sample.pixels_regions.detections] for sample in view]
    assert found == [["car or road"], ["car or nothing"]]
    table = kf.training_list(dataset, "pixels")[["rater", "category", "decided", "count", "units"]]
    assert table.values.tolist() == [["ann", "car", "no object", 1, 2], ["cid", "car", "road", 1, 1]]
    questions = kf.guideline_questions(dataset, "pixels")
    assert "- is a yard a road?" in questions
    assert "ann: road; bob: no object; cid: no object" in questions


def test_undisputed_units_cannot_be_decided(dataset):
    kf.compute_pixel_agreement(dataset, "plain")
    with pytest.raises(InputError, match="a run with units in dispute, got 'plain'; rerun it with regions=True"):
        kf.next_dispute(dataset, "plain")
    (_, region) = dataset.first().pixels_regions.detections
    for labels, decision, message in [
        ([region.id], "whole", "decision: expected another than 'whole'"),
        (["1" * 24], "none", "labels: expected ids of labels that the run 'pixels' matched"),
    ]:
        with pytest.raises(InputError, match=message):
            kf.decide(dataset, "pixels", labels, decision)


def test_decisions_follow_the_regions_of_the_run_made_again(dataset):
    (first, second) = (label.id for label in dataset.first().pixels_regions.detections)
    kf.decide(dataset, "pixels", [first], "take", "bob")
    kf.decide(dataset, "pixels", [second], "none")
    sample = dataset.first()
    sample["ann"] = fo.Segmentation(mask=painted((0, 0, 6, 6, 1), (20, 10, 4, 6, 1)))
    sample.save()
    again = kf.update_analysis(dataset, "pixels")
    (made,) = kf.decisions(dataset, again.runs["pixels"].key)
    assert (made.labels, made.decision, made.rater) == ((first,), "take", "bob")  # the other region has changed
    assert again.runs["pixels"].settings["regions"]
    moved = carry_decisions(dataset, "pixels", again.runs["pixels"].key)
    assert [one.labels for one in moved.left] == [(second,)]
