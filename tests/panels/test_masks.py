"""Masks, truth and rankings of detectors in the workbench: their numbers, where clicks lead, and the next form."""

from __future__ import annotations

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, LabelStack, boundary_agreement, region_agreement
from kalos_core.figures.pixels import pixel_title
from tests.fiftyone_bridge.scenes import FIVE, seen_by_five
from tests.fiftyone_bridge.stacks import CLASSES, MAPS, RATERS, RATIO, add_maps, small
from tests.operators.calls import data_set
from tests.panels.conftest import of_maps
from tests.panels.operations import ids, made_again, opened, prompted, sample_of, samples_of, view_of
from tests.plugin import Workbench
from tests.tiers import first


@pytest.fixture(scope="module")
def stack() -> fo.Dataset:
    """The three images with a run of each kind."""
    dataset = add_maps(data_set(small))
    kf.compute_pixel_agreement(dataset, "pixels")
    kf.estimate_truth(dataset, "truth", methods=["any", "0.5"])
    kf.rank_detectors(dataset, "detectors", detectors=["good", "poor"], skew=(0.1, 0.5), boundaries=9)
    return dataset


def test_each_section_offers_the_run_that_is_missing() -> None:
    dataset = add_maps(data_set(small))
    assert "3 raters, masks, 3 images" in Workbench(dataset).load().text()
    kf.estimate_truth(dataset, "truth", methods=["any"])
    assert prompted(opened(dataset, "Masks").send("make"))[0] == "compute_pixel_agreement"
    assert prompted(opened(dataset, "Ranking", "Curves").send("make"))[0] == "rank_detectors"
    kf.compute_pixel_agreement(dataset, "pixels")
    kf.delete_run(dataset, "truth")
    assert prompted(opened(dataset, "Truth").send("make"))[0] == "estimate_truth"


def test_raters_of_masks_and_their_images(stack: fo.Dataset) -> None:
    panel = opened(stack, "Masks", "Raters")
    assert panel.state["sections"] == ["Masks", "Truth", "Ranking", "Runs"]  # nobody annotated objects
    assert pixel_title(31 / 60, 3) in panel.text()
    rows = panel.rows("mask_rows")
    assert [entry["rater"] for entry in rows] == list(RATERS)
    performance = kf.load_details(stack, "pixels").details.performance
    assert rows[0]["sensitivity"] == f"{performance.sensitivity[0]:.3f}"
    clicked = panel.send("masks_click_tree", x=0, y=panel.state["leaves"].index("cid"))
    assert samples_of(stack, clicked) == ids(stack, 1, 0)  # of cid, the least agreement first
    assert samples_of(stack, panel.send("masks_click_rater", row=0)) == ids(stack, 1, 0, 2)
    panel.send("choose_page", value="Images")
    (curve,) = panel.data["ratio"]
    np.testing.assert_allclose(curve["y"], RATIO)
    assert [entry["file"] for entry in panel.rows("mask_images")] == ["1.png", "0.png"]
    assert sample_of(panel.send("masks_click_image", row=1)) == stack.first().id
    assert "properties" not in panel.shown  # a comparison with the images was not asked for
    panel.state["run"] = "nothing"
    panel.send("masks_click_rater", row=0)
    assert "expected one of the pixels runs" in panel.state["problem"]


def test_raters_against_each_consensus(stack: fo.Dataset) -> None:
    panel = opened(stack, "Truth")
    assert "any marks 1.7 times as many pixels as 0.5" in panel.text()
    assert [entry["pixels"] for entry in panel.rows("consensus_rows")] == ["5", "3"]
    panel.send("truth_click_consensus", row=1)
    assert panel.state["consensus"] == "0.5"
    panel.send("truth_click_consensus", row=0)
    assert [entry["sensitivity"] for entry in panel.rows("against_rows")] == ["0.800", "0.800", "0.200"]


def test_ranks_and_curves(stack: fo.Dataset) -> None:
    panel = opened(stack, "Ranking", "Detectors")
    rows, ranking = panel.rows("ranks"), kf.load_run(stack, "detectors").result.ranking
    assert len(panel.data["bump"]) == 2
    assert [entry["reference"] for entry in rows] == kf.load_metrics(stack, "detectors").metrics["truths"]
    # what ann annotated scores higher than all else in any image, and under the poor detector it does not
    assert rows[0]["d0"].replace("\xa0", " ") == "1.000 (1, best in 100 %)"  # of so few images there is no interval
    assert rows[1]["d1"].replace("\xa0", " ").startswith(f"{ranking.values[1, 1]:.3f} (2, best in ")
    panel = opened(stack, "Ranking", "Curves")
    assert "good reaches" in panel.text()
    panel.send("ranking_change_detector", value="poor")
    panel.send("ranking_change_reference", value="bob")
    for said in ("poor reaches", "Under bob: ", "good finds boundaries best: F1 "):
        assert said in panel.text()


# ---- boundaries and divisions of every two raters ----


def test_boundaries_by_pair_class_and_image(masks: fo.Dataset) -> None:
    """Of image 1 cid's object is a column wider: of the 28 + 30 pixels of two boundaries, 6 + 8 are 1 apart."""
    kf.compute_pixel_agreement(masks, "plain")
    assert "did not compare boundaries" in opened(masks, "Masks", "Boundaries").text()
    assert "did not compare divisions" in opened(masks, "Masks", "Divisions").text()
    with pytest.raises(InputError, match="expected a run that compared divisions, got 'plain'"):
        kf.divisions_of(masks, "plain")
    kf.delete_run(masks, "plain")
    run = kf.compute_pixel_agreement(masks, "pixels", boundaries=True, divisions=True, tolerance=1)
    apart, stacks = kf.boundaries_of(masks, "pixels"), [LabelStack.of(maps) for maps in MAPS]
    expected = boundary_agreement(stacks, CLASSES, tolerance=1)
    for name in ("image", "category", "rater_a", "rater_b", "values"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(expected, name))
    np.testing.assert_equal(apart.summary(), expected.summary())
    first, *_ = expected.by_image()["average"]
    assert masks.values("pixels_boundary") == [pytest.approx(first), pytest.approx(2 / 3 * 14 / 58), None]
    assert "'pixels_boundary'" in run.written
    # named classes divide an image, too, with what has none as a region
    divided = region_agreement(stacks, bootstrap=0)
    np.testing.assert_array_equal(kf.divisions_of(masks, "pixels").values, divided.values)
    panel = opened(masks, "Masks", "Boundaries")
    assert apart.headline.splitlines()[1] in panel.text()
    assert [entry["class"] for entry in panel.rows("paired_classes")] == ["road", "car"]
    assert [entry["rater_b"] for entry in panel.rows("paired_raters")] == ["bob", "cid", "cid"]
    assert [entry["file"] for entry in panel.rows("paired_images")] == ["0.png", "1.png"]
    assert sample_of(panel.send("masks_click_image", row=0)) == panel.state["image_ids"][0] == ids(masks, 0)[0]
    assert samples_of(masks, panel.send("masks_show_worst")) == ids(masks, 0, 1)


NUMBERED = [
    {"ann": [1, 1, 1, 2, 2, 2], "bob": [9, 9, 9, 0, 0, 0], "cid": [1, 1, 2, 2, 3, 3]},
    {"ann": [5, 5, 5, 5, 5, 5], "bob": [1, 2, 3, 4, 5, 6]},
]
"""Regions without names: bob numbers ann's halves otherwise, cid has thirds; then one region, and six."""


def test_divisions_by_pair_and_image() -> None:
    """By hand: alike 1 and twice 8/33 on the first image, 0 on the second."""
    numbered = of_maps(NUMBERED)
    with pytest.raises(InputError, match="expected 0 and 1"):  # they number regions, and mark nothing
        kf.compute_pixel_agreement(numbered, "plain", raters=RATERS)
    run = kf.compute_pixel_agreement(numbered, "pixels", divisions=True, raters=RATERS)
    assert "'pixels_adjusted_rand'" in run.written
    assert numbered.values("pixels_adjusted_rand") == pytest.approx([(1 + 16 / 33) / 3, 0])
    found = kf.divisions_of(numbered, "pixels")
    expected = region_agreement([LabelStack.of({name: [own] for name, own in maps.items()}) for maps in NUMBERED])
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_equal(found.summary(), expected.summary())
    assert found.by_rater_pair().equals(expected.by_rater_pair())
    assert found.images.tolist() == numbered.values("id")
    marked = [[[1] * 6, [1, 1, 1, 0, 0, 0], [1] * 6], [[1] * 6, [1] * 6]]  # all that is not 0
    counts = [np.sum(rows, axis=0).tolist() for rows in marked]
    assert [sample["pixels_rater_count"].get_map()[0].tolist() for sample in numbered] == counts
    panel = opened(numbered, "Masks", "Divisions")
    assert found.headline.splitlines()[1] in panel.text()
    rows = panel.rows("paired_raters")
    assert [(one["rater_a"], one["rater_b"]) for one in rows] == [("ann", "bob"), ("ann", "cid"), ("bob", "cid")]
    assert rows[1]["adjusted_rand"] == "0.24"  # of the one image that both divided: no interval
    assert [one["file"] for one in panel.rows("paired_images")] == ["1.png", "0.png"]
    assert "paired_classes" not in panel.shown
    assert sample_of(panel.send("masks_click_image", row=0)) == numbered.last().id
    assert samples_of(numbered, panel.send("masks_show_worst")) == ids(numbered, 1, 0)
    kf.delete_run(numbered, "pixels")
    assert not numbered.has_field("pixels_adjusted_rand")


# ---- a truth of objects ----


def test_who_is_right_about_objects() -> None:
    dataset = data_set(seen_by_five)
    kf.estimate_truth(dataset, "votes", raters=FIVE)
    panel = opened(dataset, "Truth")
    assert "12 of 19 things that anybody annotated are objects at quorum 0.5" in panel.text()
    assert "least_sure" not in panel.shown
    kf.estimate_truth(dataset, "right", raters=FIVE, model="confusion", quorum=[0.5, 0.999])
    panel = opened(dataset, "Truth")
    assert "`right_existence` that of any. 1 is decided otherwise than most of their raters say" in panel.text()
    assert "Fewer than 4 raters" not in panel.text()
    _, again = prompted(panel.send("truth_estimate"))
    assert again is not None
    assert (again["model"], again["quorum"]) == ("confusion", "0.5, 0.999")
    order = np.lexsort((np.array(dataset.values("id")), np.array(dataset.values("right_confidence"))))
    assert samples_of(dataset, panel.send("truth_show_least_sure")) == ids(dataset, *order)
    view = view_of(dataset, panel.send("truth_click_skill", y=0))  # eve missed all cats, and has six of her own
    assert view.values("id") == dataset.values("id")
    assert (view.count("eve.detections"), view.has_field("ann")) == (6, False)
    assert panel.grids[-1]["text"] == "12 images with what eve annotated otherwise than confusion 0.5, or missed"
    panel.send("truth_change_truth_rater", value="5")
    assert panel.state["titles"]["confusion"][0].startswith("eve")
    panel.send("truth_click_consensus", row=1)
    assert panel.state["titles"]["against"][0].startswith("Against confusion 0.999")
    kf.estimate_truth(dataset, "three", raters=FIVE[:3], model="weighted")
    assert "**Fewer than 4 raters** can hardly be told apart" in opened(dataset, "Truth").text()


@pytest.mark.parametrize("similarity", first(["centroid", "box_iou"]))
def test_the_form_of_who_is_right_opens_as_the_truth_was_made(similarity: str) -> None:
    dataset = data_set(seen_by_five)
    how = {"similarity": similarity, "threshold": 0.6, "quorum": [0.4, 1], "raters": FIVE[:4], "classes": ("cat",)}
    run = kf.estimate_truth(dataset, "votes", **how)
    operator, filled = prompted(opened(dataset, "Truth").send("truth_estimate"))
    again = made_again(dataset, operator, filled)
    assert again.settings == {**run.settings, "model": "confusion"}
    assert again.selection == run.selection
