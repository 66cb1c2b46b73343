"""Attributes of runs in FiftyOne's *Annotate*: visible and read-only; labels stay editable."""

from typing import Any

import pytest

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.scenes import RATERS


def test_attributes_of_runs_are_read_only_and_labels_are_not(dataset: Any) -> None:
    kf.analyse(dataset, "first", kinds=["agreement", "variations"], raters=RATERS)
    attributes = {entry["name"]: entry for entry in dataset.generate_label_schemas(["ann"])["ann"]["attributes"]}
    own = [name for name in attributes if name.startswith("first")]
    assert {"first_unit", "first_variations", "first_variations_merged_by", "first_variations_missed_by"} <= set(own)
    assert all(attributes[name]["read_only"] for name in own)
    sample = dataset.first()
    sample.ann.detections[0]["first_variations"] = "merged"
    with pytest.raises(ValueError, match="read-only"):
        sample.save()
    sample.reload()
    sample.ann.detections[0].bounding_box = [0, 0, 0.2, 0.2]
    sample.ann.detections.append(sample.ann.detections[0].copy())
    sample.save()
    assert len(dataset.first().ann.detections) == 2
    kf.rename_run(dataset, "first", "second")
    kf.delete_run(dataset, "second_variations")
    assert not [path for path in dataset.get_field_schema(flat=True) if "second_variations" in path]
