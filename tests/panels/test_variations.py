"""The section *Variations*: what each page shows, and what a click leads to."""

from __future__ import annotations

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.display import significant
from kalos_core.fiftyone.kinds.variations.views import view_of_findings
from kalos_core.pixels import unit_boundaries
from kalos_core.variation import VARIATION_TYPES
from tests.fiftyone_bridge.scenes import COUNTS, RATERS, detection, make_samples, polylines
from tests.operators.calls import data_set
from tests.panels.conftest import THREE
from tests.panels.operations import ids, look_at, names, opened, sample_of, samples_of, view_of

PAIR = {"raters": RATERS}


def shown_labels(view: fo.DatasetView, raters: tuple[str, ...] = RATERS) -> list[list[str]]:
    return [view.values(f"{rater}.detections.id") for rater in raters]


# ---- findings ----


def test_a_bar_sets_a_view_of_exactly_its_labels(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Variations", "Types")
    (bars,) = panel.data["counts"]
    assert bars["x"] == [COUNTS[name] for name in VARIATION_TYPES]
    scenes = {"correct": [0], "wrong_class": [1], "missing": [2], "merged": [3]}
    for place, kind in enumerate(VARIATION_TYPES):
        view = view_of(analysed, panel.send("variations_click_bar", idx=place))
        assert shown_labels(view) == shown_labels(kf.view_of_variation(analysed, "variations", kind))
        assert view.values("id") == ids(analysed, *scenes.get(kind, []))


def test_raters_are_compared_by_rates_each_of_which_leads_to_its_labels(trio: fo.Dataset) -> None:
    result = kf.load_run(trio, "variations").result
    panel = opened(trio, "Variations", "Types")
    rows, rates = panel.rows("by_rater"), result.rates()
    own = dict(zip(result.annotations.raters, np.bincount(result.annotations.rater), strict=True))
    merges, splits = result.merged_by(), result.split_by()
    for row in rows:
        rater = row["rater"]
        expected = {kind: rates[rater][kind] for kind in ("wrong_class", "missing", "additional")}
        expected |= {"merges": 100 * merges[rater] / own[rater], "splits": 100 * splits[rater] / own[rater]}
        assert row == {"rater": rater, **{name: significant(value, 2) for name, value in expected.items()}}
    sums = [sum(share for kind, share in rates[row["rater"]].items() if kind != "correct") for row in rows]
    assert sums == sorted(sums, reverse=True)
    cid = [row["rater"] for row in rows].index("cid")
    for column, kinds in ((0, []), (1, [["wrong_class"]]), (5, [["additional"]])):
        view = view_of(trio, panel.send("variations_click_rater", row=cid, column=column))
        expected_view = view_of_findings(trio, "variations", *kinds, rater="cid")
        assert len(view) > 0
        assert shown_labels(view, THREE) == shown_labels(expected_view, THREE)


def test_copies_raise_an_alarm_on_every_page_that_leads_to_their_labels(own: fo.Dataset) -> None:
    for page in ("Types", "Outlines", "Merged", "Confusions", "Attributes"):
        panel = opened(own, "Variations", page)
        assert panel.shown["alarm"]["view"]["label"].startswith("100\xa0% of the correct pairs are identical")
        view = view_of(own, panel.send("variations_show_copies"))
        assert view.values("id") == ids(own, 0)
        assert [view.first()[rater].detections[0].label for rater in RATERS] == ["cat", "cat"]
    own.limit(1).set_values("bob.detections.bounding_box", [[[0.1, 0.1, 0.4, 0.3]]])
    kf.delete_run(own, "variations")
    kf.find_variations(own, "other", **PAIR)
    assert not {"alarm", "show_copies"} & set(opened(own, "Variations", "Outlines").shown)


def test_a_row_opens_an_annotation_with_its_parts(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Variations", "Merged")
    assert "ann merges (1), bob splits (1)" in panel.text()
    assert panel.rows("merged") == [
        {"file": "3.jpg", "whole": "ann: bench", "parts": "bob: 2 × bench", "similarity": "1.000"}
    ]
    operations = panel.send("variations_click_merged", row=0)
    assert names(operations) == ["set_view", "open_sample"]
    view = view_of(analysed, operations)
    assert [len(view.first()[rater].detections) for rater in RATERS] == [1, 2]
    assert sample_of(operations) == ids(analysed, 3)[0]
    assert samples_of(analysed, panel.send("variations_show_merged")) == ids(analysed, 3)


def test_a_row_of_confused_classes_sets_a_view_of_its_labels(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Variations", "Confusions")
    assert panel.rows("confusions") == [{"first": "cat\nann 1", "second": "dog\nbob 1", "count": "1"}]
    view = view_of(analysed, panel.send("variations_click_confusion", row=0))
    assert view.values("id") == ids(analysed, 1)
    assert [view.values(f"{rater}.detections.label") for rater in RATERS] == [[["cat"]], [["dog"]]]


# ---- outlines and attributes of matched labels ----


@pytest.fixture
def outlined() -> fo.Dataset:
    """Two raters: squares of one image are 3 pixels apart, of the next equal, of the third only one is there."""
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
    assert "did not compare boundaries" in opened(outlined, "Variations", "Outlines").text()
    with pytest.raises(InputError, match="expected a run that compared boundaries, got 'first'"):
        kf.unit_boundaries_of(outlined, "first")
    assert not outlined.has_field("first_boundary")
    kf.delete_run(outlined, "first")
    run = kf.compute_agreement(outlined, "first", boundaries=True, tolerance=1, **options)
    expected = unit_boundaries(run.result, tolerance=1, bootstrap=50)
    apart = kf.unit_boundaries_of(outlined, "first")
    for name in ("images", "category", "rater_a", "rater_b", "unit", "values", "classes", "raters"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(expected, name))
    assert repr(apart.summary()) == repr(expected.summary())  # NaN is not itself
    assert apart.hausdorff.tolist() == pytest.approx([3, 0])
    # of the 160 of either: 40 are 3 apart, 34 as well and 2 x 3 up to 3, 2 x 37 on the other and 2 x 3 up to 3
    assert apart.average.tolist() == pytest.approx([(120 + 102 + 9 + 9) / 160, 0], abs=0.01)
    # within 1 of the other: 37 + 1 of either side across, both corners of the side within the other, none of the fourth
    assert apart.surface_dice.tolist() == pytest.approx([(38 + 38 + 2) / 160, 1], abs=0.01)
    distances = expected.by_image()["average"]
    assert outlined.values("first_boundary") == [pytest.approx(distances[0]), pytest.approx(0), None]
    assert "'first_boundary'" in run.written
    assert kf.view_of_unit_boundaries(outlined, "first").values("id") == ids(outlined, 0, 1)
    panel = opened(outlined, "Variations", "Outlines")
    assert apart.headline.splitlines()[1] in panel.text()
    assert [row["class"] for row in panel.rows("paired_classes")] == ["cat", "dog"]
    assert [row["rater_b"] for row in panel.rows("paired_raters")] == ["bob"]
    assert [row["file"] for row in panel.rows("paired_images")] == ["0.jpg", "1.jpg"]
    assert sample_of(panel.send("variations_click_image", row=1)) == ids(outlined, 1)[0]
    assert samples_of(outlined, panel.send("variations_show_worst")) == ids(outlined, 0, 1)
    said = "the lens does not reach here"
    assert said not in panel.text()
    assert said in look_at(panel, rater="ann").text()
    again = kf.update_analysis(outlined, "first").run("agreement")
    assert (again.settings["boundaries"], again.settings["tolerance"]) == (True, 1)
    kf.delete_run(outlined, "first")
    assert not outlined.has_field("first_boundary")


@pytest.fixture
def graded() -> fo.Dataset:
    """Two nodules an image by two raters, with a malignancy, a margin, and a side on which they agree."""
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
    assert "compared no attributes" in opened(graded, "Variations", "Attributes").text()
    kf.delete_run(graded, "first")
    kf.compute_agreement(graded, "first", **PAIR, bootstrap=0, attributes=["malignancy", "margin", "side"])
    panel = opened(graded, "Variations", "Attributes")
    order = [row["attribute"].partition("\n")[0] for row in panel.rows("attributes")]
    panel.send("variations_click_attribute", row=order.index("margin"))
    assert panel.rows("attribute_images") == [{"file": "2.jpg", "category": "nodule", "values": "ann poor, bob sharp"}]
    panel.send("variations_change_attribute", value="malignancy")
    shown = [(row["file"], row["values"]) for row in panel.rows("attribute_images")]
    assert shown == [("2.jpg", "ann 2, bob 5"), ("0.jpg", "ann 1, bob 2")]
    differ = ids(graded, 2, 0)
    assert sample_of(panel.send("variations_click_image", row=1)) == differ[1]
    assert samples_of(graded, panel.send("variations_show_attribute")) == differ
    panel.send("variations_change_attribute", value="side")
    assert "No two raters differ on side" in panel.text()
    assert "attribute_images" not in panel.shown
    assert "the lens does not reach here" in look_at(panel, rater="ann").text()
