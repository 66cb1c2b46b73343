"""Masks, ground truth and rankings of detectors in the workbench: numbers, effects of clicks, and the next form."""

from __future__ import annotations

from types import SimpleNamespace

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, LabelStack, boundary_agreement, region_agreement
from kalos_core.fiftyone.kinds.truth.figures import consensus_title
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
    """Return the three images with a run of each kind."""
    dataset = add_maps(data_set(small))
    kf.compute_pixel_agreement(dataset, "pixels")
    kf.estimate_truth(dataset, "truth", methods=["any", "0.5"])
    kf.rank_detectors(dataset, "detectors", detectors=["good", "poor"], skew=(0.1, 0.5), boundaries=9)
    return dataset


def test_each_section_offers_the_run_that_is_missing() -> None:
    dataset = add_maps(data_set(small))
    assert "3 raters, masks, 3 images" in Workbench(dataset).load().text()
    kf.estimate_truth(dataset, "truth", methods=["any"])
    assert opened(dataset, "Masks").invitation["operator"] == "compute_pixel_agreement"
    assert opened(dataset, "Ranking").invitation["operator"] == "rank_detectors"
    kf.compute_pixel_agreement(dataset, "pixels")
    kf.delete_run(dataset, "truth")
    assert opened(dataset, "Truth").invitation["operator"] == "estimate_truth"


def test_raters_of_masks_and_their_images(stack: fo.Dataset) -> None:
    panel = opened(stack, "Masks")
    assert panel.state["sections"] == ["Overview", "Masks", "Truth", "Ranking", "Runs"]  # no objects are annotated
    shown = panel.record["shown"]
    assert shown["title"] == pixel_title(31 / 60, 3)
    assert [row["name"] for row in shown["raters"]] == list(RATERS)
    performance = kf.load_details(stack, "pixels").details.performance
    assert [row["shares"]["sensitivity"] for row in shown["raters"]] == performance.sensitivity.tolist()
    assert shown["tree"]["title"]
    assert samples_of(stack, panel.act("rater", name="cid")) == ids(stack, 1, 0)  # of cid, lowest agreement first
    assert samples_of(stack, panel.act("rater", name="ann")) == ids(stack, 1, 0, 2)
    shown = panel.choose(page="Images").record["shown"]
    (curve,) = shown["ratio"]["traces"]
    np.testing.assert_allclose(curve["y"], RATIO)
    assert [row["file"] for row in shown["images"]] == ["1.png", "0.png"]
    assert sample_of(panel.act("open", sample=shown["images"][1]["sample_id"])) == stack.first().id
    assert shown["properties"] is None  # comparison with the images was not requested
    panel.act("rater", name="nobody")
    assert "got 'nobody'" in panel.state["problem"]


def test_raters_against_each_consensus(stack: fo.Dataset) -> None:
    panel = opened(stack, "Truth")
    shown = panel.record["shown"]
    assert shown["title"] == "The method matters: any marks 1.7 times as many pixels as 0.5"
    assert [row["pixels"] for row in shown["consensuses"]] == [5, 3]
    assert panel.choose(consensus="0.5").record["shown"]["consensus"] == "0.5"
    raters = panel.choose(consensus="any").record["shown"]["raters"]
    assert [row["shares"]["sensitivity"] for row in raters] == [0.8, 0.8, 0.2]


def test_ways_that_mark_as_many_pixels_are_not_told_to_matter() -> None:
    truths = {name: SimpleNamespace(pixels=pixels) for name, pixels in (("0.5", 1000), ("staple", 1004))}
    said = "All methods find about the same number of true pixels (1,000 to 1,004)"
    assert consensus_title({"of": "pixels"}, truths) == said


def test_ranks_and_curves(stack: fo.Dataset) -> None:
    panel = opened(stack, "Ranking")
    shown, ranking = panel.record["shown"], kf.load_run(stack, "detectors").result.ranking
    assert panel.record["pages"] == ["Detectors", "Curves"]
    assert shown["references"] == kf.load_metrics(stack, "detectors").metrics["truths"]
    # ann's annotation has the highest score in any image, except for the poor detector
    best = shown["cells"][0][0]
    assert (best["value"]["value"], best["rank"], best["best"]) == (1, 1, 1)
    assert best["value"]["low"] is None  # with few images, there is no interval
    assert (shown["cells"][1][1]["value"]["value"], shown["cells"][1][1]["rank"]) == (ranking.values[1, 1], 2)
    assert prompted(panel.act("again"))[0] == "rank_detectors"
    assert "good reaches" in panel.choose(page="Curves").record["shown"]["of_detector"][0]["title"]
    shown = panel.choose(page="Curves", detector="poor", reference="bob").record["shown"]
    said = " ".join(figure["title"] for figure in (*shown["of_detector"], *shown["of_reference"]))
    for text in ("poor reaches", "Under bob: ", "good finds boundaries best: F1 "):
        assert text in said


# ---- boundaries and divisions of every two raters ----


def test_boundaries_by_pair_class_and_image(masks: fo.Dataset) -> None:
    """Of image 1 cid's object is a column wider: of the 28 + 30 pixels of two boundaries, 6 + 8 are 1 apart."""
    kf.compute_pixel_agreement(masks, "plain")
    for page in ("Boundaries", "Divisions"):
        assert opened(masks, "Masks").choose(page=page).record["shown"] is None  # it was not compared
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
    # named classes also divide an image, with unlabelled pixels as a region
    divided = region_agreement(stacks, bootstrap=0)
    np.testing.assert_array_equal(kf.divisions_of(masks, "pixels").values, divided.values)
    panel = opened(masks, "Masks").choose(page="Boundaries")
    shown = panel.record["shown"]
    assert [shown["title"], shown["over"]] == apart.headline.splitlines()
    assert [row["class"] for row in shown["classes"]] == ["road", "car"]
    assert [row["rater_a"] + row["rater_b"] for row in shown["pairs"]] == ["annbob", "anncid", "bobcid"]
    assert [row["file"] for row in shown["images"]] == ["0.png", "1.png"]
    assert [row["average"] for row in shown["images"]] == pytest.approx([first, 2 / 3 * 14 / 58])
    assert sample_of(panel.act("open", sample=shown["images"][0]["image"])) == ids(masks, 0)[0]
    assert samples_of(masks, panel.act("furthest")) == ids(masks, 0, 1)


NUMBERED = [
    {"ann": [1, 1, 1, 2, 2, 2], "bob": [9, 9, 9, 0, 0, 0], "cid": [1, 1, 2, 2, 3, 3]},
    {"ann": [5, 5, 5, 5, 5, 5], "bob": [1, 2, 3, 4, 5, 6]},
]
"""Regions without names: bob numbers ann's halves differently, cid has thirds; then one region, and six."""


def test_divisions_by_pair_and_image() -> None:
    """By hand: similarity is 1 and twice 8/33 on the first image, 0 on the second."""
    numbered = of_maps(NUMBERED)
    with pytest.raises(InputError, match="expected 0 and 1"):  # they number regions, and are not marks
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
    marked = [[[1] * 6, [1, 1, 1, 0, 0, 0], [1] * 6], [[1] * 6, [1] * 6]]  # everything that is not 0
    counts = [np.sum(rows, axis=0).tolist() for rows in marked]
    assert [sample["pixels_rater_count"].get_map()[0].tolist() for sample in numbered] == counts
    panel = opened(numbered, "Masks").choose(page="Divisions")
    shown = panel.record["shown"]
    assert [row["rater_a"] + row["rater_b"] for row in shown["pairs"]] == ["annbob", "anncid", "bobcid"]
    alike = shown["pairs"][1]
    assert alike["adjusted_rand"] == pytest.approx(8 / 33)
    assert alike["adjusted_rand_low"] is None  # of the one image that both divided
    assert [row["file"] for row in shown["images"]] == ["1.png", "0.png"]
    assert shown["classes"] == []
    assert samples_of(numbered, panel.act("least_alike")) == ids(numbered, 1, 0)
    kf.delete_run(numbered, "pixels")
    assert not numbered.has_field("pixels_adjusted_rand")


# ---- ground truth of objects ----


def test_who_is_right_about_objects() -> None:
    dataset = data_set(seen_by_five)
    kf.estimate_truth(dataset, "votes", raters=FIVE)
    shown = opened(dataset, "Truth").record["shown"]
    assert shown["title"] == "12 of 19 annotated units are objects at quorum 0.5"
    assert shown["estimate"] is None
    kf.estimate_truth(dataset, "right", raters=FIVE, model="confusion", quorum=[0.5, 0.999])
    panel = opened(dataset, "Truth")
    estimate = panel.record["shown"]["estimate"]
    assert "right_existence that of any. 1 is decided against most of their raters" in estimate["text"]
    assert estimate["warnings"] == []
    _, again = prompted(panel.act("estimate"))
    assert again is not None
    assert (again["model"], again["quorum"]) == ("confusion", "0.5, 0.999")
    order = np.lexsort((np.array(dataset.values("id")), np.array(dataset.values("right_confidence"))))
    assert samples_of(dataset, panel.act("least_sure")) == ids(dataset, *order)
    assert estimate["skills"][0]["rater"] == "eve"  # she missed all cats, and added six objects
    view = view_of(dataset, panel.act("rater", name="eve", consensus="confusion 0.5"))
    assert view.values("id") == dataset.values("id")
    assert (view.count("eve.detections"), view.has_field("ann")) == (6, False)
    assert panel.grids[-1]["text"] == "12 images where eve differs from confusion 0.5"
    shown = panel.choose(rater="eve", consensus="confusion 0.999").record["shown"]
    assert shown["estimate"]["confusion"]["title"].startswith("eve")
    assert shown["against"].startswith("Against confusion 0.999")
    kf.estimate_truth(dataset, "three", raters=FIVE[:3], model="weighted")
    (warning, *_) = opened(dataset, "Truth").record["shown"]["estimate"]["warnings"]
    assert warning.startswith("Fewer than 4 raters can hardly be told apart")


@pytest.mark.parametrize("similarity", first(["centroid", "box_iou"]))
def test_the_form_of_who_is_right_opens_as_the_truth_was_made(similarity: str) -> None:
    dataset = data_set(seen_by_five)
    how = {"similarity": similarity, "threshold": 0.6, "quorum": [0.4, 1], "raters": FIVE[:4], "classes": ("cat",)}
    run = kf.estimate_truth(dataset, "votes", **how)
    operator, filled = prompted(opened(dataset, "Truth").act("estimate"))
    again = made_again(dataset, operator, filled)
    assert again.settings == {**run.settings, "model": "confusion"}
    assert again.selection == run.selection
