"""Differences: types, outlines, wholes and parts, attributes; and effects of clicks."""

from __future__ import annotations

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.kinds.variations.views import view_of_boundary, view_of_findings
from kalos_core.pixels import unit_boundaries
from tests.fiftyone_bridge.scenes import COUNTS, RATERS, detection, make_samples, polylines
from tests.operators.calls import data_set
from tests.panels.operations import ids, look_at, names, opened, prompted, sample_of, samples_of, view_of

PAIR = {"raters": RATERS}


def shown_labels(view: fo.DatasetView) -> list[list[str]]:
    return [view.values(f"{rater}.detections.id") for rater in RATERS]


# ---- findings ----


def test_a_type_leads_to_exactly_its_labels(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Variations")
    assert panel.record["correct"] == COUNTS["correct"]
    found = {row["name"]: row["value"] for row in panel.record["kinds"]}
    assert found == {"unmatched": 1, "wrong_class": 1, "merged": 1, "merged_wrong_class": 0}
    scenes = {"correct": [0], "wrong_class": [1], "unmatched": [2], "merged": [3]}
    for kind in ("correct", *found):
        view = view_of(analysed, panel.act("kind", name=kind))
        stored = kf.view_of_variation(analysed, "variations", "missing" if kind == "unmatched" else kind)
        assert shown_labels(view) == shown_labels(stored)
        assert view.values("id") == ids(analysed, *scenes.get(kind, []))


def test_raters_are_compared_per_object(trio: fo.Dataset) -> None:
    panel = opened(trio, "Variations")
    rates = kf.load_run(trio, "variations").result.rater_rates
    rows = panel.record["raters"]
    assert [row["rater"] for row in rows] == ["bob", "ann", "cid"]  # bob misses a quarter and splits half
    for row in rows:
        assert row["rates"] == rates.per_100[row["rater"]]
        assert {kind: tuple(pair) for kind, pair in row["counts"].items()} == rates.counts[row["rater"]]
    view = view_of_findings(trio, "variations", ["wrong_class"], rater="cid")
    assert samples_of(trio, panel.act("rate", rater="cid", kind="wrong_class")) == view.values("id")


def test_copies_raise_an_alarm_that_leads_to_their_labels(own: fo.Dataset) -> None:
    panel = opened(own, "Variations")
    assert panel.record["alarm"].startswith("100\xa0% of the correct pairs are identical")
    view = view_of(own, panel.act("copies"))
    assert view.values("id") == ids(own, 0)
    assert [view.first()[rater].detections[0].label for rater in RATERS] == ["cat", "cat"]
    own.limit(1).set_values("bob.detections.bounding_box", [[[0.1, 0.1, 0.4, 0.3]]])
    kf.delete_run(own, "variations")
    kf.find_variations(own, "other", **PAIR)
    record = opened(own, "Variations").record
    assert (record["alarm"], record["outlines"]["quality"]["identical"]) == ("", 0)


def test_a_whole_and_its_parts(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Variations")
    divided = panel.record["divided"]
    assert divided["title"].endswith("ann merges (1), bob splits (1)")
    assert [(row["name"], row["value"]) for row in divided["merged_by"] + divided["split_by"]] == [
        ("ann", 1),
        ("bob", 1),
    ]
    (row,) = divided["rows"]
    assert (row["file"], row["whole_rater"], row["parts_rater"], row["parts"]) == ("3.jpg", "ann", "bob", 2)
    operations = panel.act("whole", finding=row["finding"], sample=row["sample_id"])
    assert sorted(names(operations)) == ["open_sample", "set_view"]
    view = view_of(analysed, operations)
    assert [len(view.first()[rater].detections) for rater in RATERS] == [1, 2]
    assert samples_of(analysed, panel.act("divided")) == ids(analysed, 3)
    assert samples_of(analysed, panel.act("rate", rater="ann", kind="merges")) == ids(analysed, 3)
    assert samples_of(analysed, panel.act("rate", rater="bob", kind="merges")) == []


# ---- outlines and attributes of matched labels ----


@pytest.fixture
def outlined() -> fo.Dataset:
    """Return two raters: squares of one image are 3 pixels apart, of the next equal, in the third only one exists."""
    square = [10, 10, 40, 40]
    scenes = [
        {"ann": [("cat", square)], "bob": [("cat", [13, 10, 40, 40])]},
        {"ann": [("dog", square)], "bob": [("dog", square)]},
        {"ann": [("cat", square)], "bob": []},
    ]
    return data_set(make_samples(scenes, polylines))


def test_outlines_of_matched_labels_by_pair_class_and_image(outlined: fo.Dataset) -> None:
    options = {**PAIR, "similarity": "polygon_iou", "bootstrap": 50}
    kf.find_variations(outlined, "first_variations", **PAIR, similarity="polygon_iou")
    kf.compute_agreement(outlined, "first", **options)
    panel = opened(outlined, "Variations")
    outlines = panel.record["outlines"]
    assert outlines["in_pixels"] is None
    assert prompted(panel.act("agree", boundaries=True)) == ("compute_agreement", {"boundaries": True})
    quality = outlines["quality"]
    bin_of = next(place for place, count in enumerate(quality["counts"]) if place and count)
    low, high = quality["edges"][bin_of : bin_of + 2]
    view = view_of_boundary(outlined, "first_variations", low, high)
    assert samples_of(outlined, panel.act("apart", low=low, high=high)) == view.values("id") == ids(outlined, 0)
    with pytest.raises(InputError, match="expected a run that compared boundaries, got 'first'"):
        kf.unit_boundaries_of(outlined, "first")
    kf.delete_run(outlined, "first")
    run = kf.compute_agreement(outlined, "first", boundaries=True, tolerance=1, **options)
    expected = unit_boundaries(run.result, tolerance=1, bootstrap=50)
    apart = kf.unit_boundaries_of(outlined, "first")
    for name in ("images", "category", "rater_a", "rater_b", "unit", "values", "classes", "raters"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(expected, name))
    # of the 160 of either: 40 are 3 apart, 34 as well and 2 x 3 up to 3, 2 x 37 on the other and 2 x 3 up to 3
    assert apart.average.tolist() == pytest.approx([(120 + 102 + 9 + 9) / 160, 0], abs=0.01)
    # within 1 of the other: 37 + 1 of either side across, both corners of the side within the other, none of the fourth
    assert apart.surface_dice.tolist() == pytest.approx([(38 + 38 + 2) / 160, 1], abs=0.01)
    panel = opened(outlined, "Variations")
    found = panel.record["outlines"]["in_pixels"]
    assert [row["class"] for row in found["classes"]] == ["cat", "dog"]
    assert [(row["rater_a"], row["rater_b"]) for row in found["pairs"]] == [("ann", "bob")]
    assert [(row["file"], row["hausdorff95"]) for row in found["images"]] == [("0.jpg", pytest.approx(3)), ("1.jpg", 0)]
    assert sample_of(panel.act("open", sample=found["images"][1]["image"])) == ids(outlined, 1)[0]
    assert samples_of(outlined, panel.act("furthest")) == ids(outlined, 0, 1)
    again = kf.update_analysis(outlined, "first").run("agreement")
    assert (again.settings["boundaries"], again.settings["tolerance"]) == (True, 1)
    kf.delete_run(outlined, "first")
    assert not outlined.has_field("first_boundary")


@pytest.fixture
def graded() -> fo.Dataset:
    """Return two nodules per image by two raters, with malignancy, margin, and a side on which they agree."""
    grades = {"ann": [[1, 5], [3, 3], [2, 4]], "bob": [[2, 5], [3, 3], [5, 4]]}

    def nodule(place: int, grade: int) -> fo.Detection:
        margin = "sharp" if grade > 2 else "poor"
        return detection("nodule", [50 * place, 10, 30, 30], malignancy=grade, margin=margin, side="left")

    def nodules(given: list[int]) -> fo.Detections:
        return fo.Detections(detections=[nodule(place, grade) for place, grade in enumerate(given)])

    dataset, size = fo.Dataset(persistent=True), fo.ImageMetadata(width=100, height=100)
    for image in range(3):
        labels = {rater: nodules(given[image]) for rater, given in grades.items()}
        dataset.add_sample(fo.Sample(f"{image}.jpg", metadata=size, raters=list(grades), **labels), dynamic=True)
    kf.find_variations(dataset, "first_variations", **PAIR)
    return dataset


def test_attributes_of_matched_labels_lead_to_the_images_that_differ(graded: fo.Dataset) -> None:
    kf.compute_agreement(graded, "first", **PAIR, bootstrap=0)
    assert opened(graded, "Variations").record["attributes"] == []
    kf.delete_run(graded, "first")
    kf.compute_agreement(graded, "first", **PAIR, bootstrap=0, attributes=["malignancy", "margin", "side"])
    panel = opened(graded, "Variations")
    found = {of["name"]: of for of in panel.record["attributes"]}
    (row,) = found["margin"]["rows"]
    assert (row["file"], row["category"], row["values"]) == ("2.jpg", "nodule", {"ann": "poor", "bob": "sharp"})
    rows = [(row["file"], row["values"]) for row in found["malignancy"]["rows"]]
    assert rows == [("2.jpg", {"ann": 2, "bob": 5}), ("0.jpg", {"ann": 1, "bob": 2})]
    assert found["side"]["rows"] == []
    assert samples_of(graded, panel.act("attribute", name="malignancy")) == ids(graded, 2, 0)


def test_types_are_as_the_rater_of_the_filter_sees_them(trio: fo.Dataset) -> None:
    panel = look_at(opened(trio, "Variations"), rater="bob")
    found = [(row["name"], row["value"]) for row in panel.record["kinds"]]
    assert found[:3] == [("merged", 12), ("wrong_class", 12), ("missing", 12)]
    view = view_of_findings(trio, "variations", ["missing"], rater="bob")
    assert samples_of(trio, panel.act("kind", name="missing")) == view.values("id")
