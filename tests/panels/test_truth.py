"""Masks, truth and rankings of detectors in the workbench: each with its run, and what clicks lead to."""

from __future__ import annotations

from types import SimpleNamespace

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core.figures import pixel_title, ranking_title, ratio_title, skill_title, tree_title
from panels.sections.masks import right_text
from tests.fiftyone_bridge.scenes import FIVE, objects, seen_by_five
from tests.fiftyone_bridge.stacks import RATERS, RATIO, add_maps, row, small
from tests.panels.operations import given, ids, opened, samples_of, view_of
from tests.plugin import Panel, defaults, form, refused, stream


@pytest.fixture(scope="module")
def stack():
    """The three images with a run of each kind."""
    dataset = fo.Dataset()
    dataset.add_samples(small(), progress=False)
    add_maps(dataset)
    kf.compute_pixel_agreement(dataset, "pixels")
    kf.estimate_truth(dataset, "truth", methods=["any", "0.5"])
    kf.rank_detectors(dataset, "detectors", detectors=["good", "poor"], skew=(0.1, 0.5), boundaries=9)
    yield dataset
    for key in kf.list_runs(dataset):
        kf.delete_run(dataset, key)
    dataset.delete()


PAGES = {
    "Raters": ("Masks", "Raters"),
    "Counts": ("Masks", "Images"),
    "Consensus": ("Truth",),
    "Ranking": ("Ranking", "Detectors"),
    "Curves": ("Ranking", "Curves"),
}


def tab(dataset, name):
    return opened(dataset, *PAGES[name])


def test_an_empty_data_set_says_what_to_do():
    dataset = fo.Dataset()
    dataset.add_samples(small(), progress=False)
    assert "Found: 3 raters, masks, 3 images" in Panel("raters", dataset).load().text()
    add_maps(dataset)
    kf.estimate_truth(dataset, "truth", methods=["any"])
    assert "Nothing is computed yet" in tab(dataset, "Raters").text()
    panel = tab(dataset, "Curves")
    assert "Nothing is ranked yet" in panel.text()
    assert "rank_detectors" in str(panel.send("make"))
    kf.compute_pixel_agreement(dataset, "pixels")
    kf.delete_run(dataset, "truth")
    assert "Nothing is estimated yet" in tab(dataset, "Consensus").text()
    kf.delete_run(dataset, "pixels")
    dataset.delete()


def test_sections_bring_their_runs(stack):
    panel = tab(stack, "Ranking")
    assert ranking_title(kf.load_details(stack, "detectors").details.ranking.ranking) in panel.text()
    panel.send("choose_section", value="Masks")
    assert panel.state["run"] == "pixels"
    assert pixel_title(kf.load_metrics(stack, "pixels").metrics["f1"], 3) in panel.text()
    assert panel.state["sections"] == ["Masks", "Truth", "Ranking", "Runs"]  # nobody annotated objects


def test_raters_and_their_images(stack):
    panel = tab(stack, "Raters")
    details = kf.load_details(stack, "pixels").details
    assert tree_title(RATERS, details.outliers) in panel.text()
    rows = panel.rows("mask_rows")
    assert [row["rater"] for row in rows] == list(RATERS)
    assert rows[0]["sensitivity"] == f"{details.performance.sensitivity[0]:.3f}"
    index = panel.state["leaves"].index("cid")
    clicked = panel.send("masks_click_tree", x=0, y=index)
    assert samples_of(stack, clicked) == ids(stack, 1, 0)  # of cid, the least agreement first
    clicked = panel.send("masks_click_rater", row=0)
    assert samples_of(stack, clicked) == ids(stack, 1, 0, 2)


def test_rater_counts_and_the_images_with_the_least_agreement(stack):
    panel = tab(stack, "Counts")
    (curve,) = panel.data["ratio"]
    np.testing.assert_allclose(curve["y"], RATIO)
    assert ratio_title(RATIO) in panel.text()
    assert [row["file"] for row in panel.rows("mask_images")] == ["1.png", "0.png"]
    assert given(panel.send("masks_click_image", row=1), "open_sample")["id"] == stack.first().id
    assert "properties" not in panel.shown  # a comparison with the images was not asked for


def test_raters_against_each_consensus(stack):
    panel = tab(stack, "Consensus")
    assert "any marks 1.7 times as many pixels as 0.5" in panel.text()
    assert [row["pixels"] for row in panel.rows("consensus_rows")] == ["5", "3"]
    panel.send("truth_click_consensus", row=1)
    assert panel.state["consensus"] == "0.5"
    panel.send("truth_click_consensus", row=0)
    assert "Raters against any" in panel.text()
    assert [row["sensitivity"] for row in panel.rows("against_rows")] == ["0.800", "0.800", "0.200"]


def test_ranks_and_curves(stack):
    panel = tab(stack, "Ranking")
    figures = kf.load_metrics(stack, "detectors").metrics
    assert len(panel.data["bump"]) == 2
    assert [row["reference"] for row in panel.rows("ranks")] == figures["truths"]
    rows, ranking = panel.rows("ranks"), kf.load_run(stack, "detectors").result.ranking
    # what ann annotated scores higher than all else in any image, and under the poor detector it does not
    assert rows[0]["d0"].replace("\xa0", " ") == "1.000 [1.000, 1.000] (1, best in 100 %)"
    low, high = ranking.interval[1, 1]
    expected = f"{ranking.values[1, 1]:.3f} [{low:.3f}, {high:.3f}] (2, best in "
    assert rows[1]["d1"].replace("\xa0", " ").startswith(expected)
    assert "Area [95 % interval] (rank, share of replicates in which best)" in panel.text()
    panel = tab(stack, "Curves")
    assert "good reaches" in panel.text()
    panel.send("ranking_change_detector", value="poor")
    assert "poor reaches" in panel.text()
    panel.send("ranking_change_reference", value="bob")
    assert "Under bob: " in panel.text()
    assert "goes with agreement most" in panel.text()
    assert "good finds boundaries best: F1 " in panel.text()


def test_a_run_that_is_gone_is_reported(stack):
    panel = tab(stack, "Raters")
    panel.state["run"] = "nothing"
    panel.send("masks_click_rater", row=0)
    assert "expected one of the pixels runs" in panel.text()
    assert "Try again" in panel.text()


@pytest.fixture
def boxes():
    """Boxes of three raters and a model, with their consensus and the model's rank."""
    dataset = fo.Dataset()
    dataset.add_samples(objects(), progress=False)
    kf.estimate_truth(dataset, "truth", quorum=[0.5, 1.0], raters=RATERS)
    kf.rank_detectors(dataset, "ranks", detectors="net", quorum=[0.5, 1.0], raters=RATERS, thresholds=[0.5, 0.97])
    yield dataset
    dataset.delete()


def test_consensus_of_objects_and_models(boxes):
    panel = tab(boxes, "Ranking")
    assert "net is best under all 4 references" in panel.text()
    assert "mAP is undefined under quorum 1: it has no annotation" in panel.text()
    assert [row["d0"] for row in panel.rows("ranks")] == [
        "0.500 (1)",
        "0.500 (1)",
        "0.000 (1)",
        "1.000 (1)",
        "undefined",
    ]
    assert "tau" not in panel.shown  # one model has no order
    assert "Curves are of score maps" in tab(boxes, "Curves").text()
    panel = tab(boxes, "Consensus")
    assert "1 of 2 things that anybody annotated is an object at quorum 0.5" in panel.text()
    assert "ann annotated most of its objects (100\xa0%), cid fewest (0\xa0%)" in panel.text()
    assert [row["objects"] for row in panel.rows("consensus_rows")] == ["1", "0"]
    assert panel.rows("against_rows")[2] == {"rater": "cid", "sensitivity": "0.000", "ppv": "0.000"}
    panel.send("truth_click_consensus", row=1)
    assert "nobody annotated an object" in panel.text()


def test_who_is_right_about_objects():
    dataset = fo.Dataset()
    dataset.add_samples(seen_by_five(), progress=False)
    kf.estimate_truth(dataset, "votes", raters=FIVE)
    panel = tab(dataset, "Consensus")
    assert "12 of 19 things that anybody annotated are objects at quorum 0.5" in panel.text()
    assert "least_sure" not in panel.shown
    assert given(panel.send("truth_estimate"), "prompt_user_for_operation")["params"] == {
        "of": "objects", "estimate": True, "raters": list(FIVE), "quorum": "0.5", "similarity": "box_iou",
        "threshold": 0.5,
    }  # fmt: skip
    kf.estimate_truth(dataset, "right", raters=FIVE, model="confusion", quorum=[0.5, 0.999])
    panel = tab(dataset, "Consensus")
    found = kf.load_details(dataset, "right").details.truths["confusion 0.5"]
    assert skill_title(list(FIVE), found.estimate.skill) in panel.text()
    assert "`right_existence` that of any. " in panel.text()
    assert found.overruled == 1
    assert "1 is decided otherwise than most of their raters say" in panel.text()
    assert "Fewer than 4 raters" not in panel.text()
    assert "estimate" not in panel.shown
    again = given(panel.send("truth_estimate"), "prompt_user_for_operation")["params"]
    assert (again["model"], again["quorum"]) == ("confusion", "0.5, 0.999")
    order = np.lexsort((np.array(dataset.values("id")), np.array(dataset.values("right_confidence"))))
    assert samples_of(dataset, panel.send("truth_show_least_sure")) == ids(dataset, *order)
    clicked = panel.send("truth_click_skill", y=0)  # eve missed all cats, and has six of her own
    view = view_of(dataset, clicked)
    assert view.values("id") == dataset.values("id")
    assert (view.count("eve.detections"), view.has_field("ann")) == (6, False)
    assert panel.state["in_grid"] == "12 images with what eve annotated otherwise than confusion 0.5, or missed"
    assert panel.state["titles"]["confusion"][0].startswith("Raters")
    panel.send("truth_change_truth_rater", value="5")
    assert panel.state["titles"]["confusion"][0].startswith("eve")
    panel.send("truth_click_consensus", row=1)
    assert panel.state["titles"]["against"][0].startswith("Against confusion 0.999")
    for key in kf.list_runs(dataset):
        kf.delete_run(dataset, key)
    kf.estimate_truth(dataset, "three", raters=FIVE[:3], model="weighted")
    assert "**Fewer than 4 raters** can hardly be told apart" in tab(dataset, "Consensus").text()
    kf.delete_run(dataset, "three")
    dataset.delete()


@pytest.mark.parametrize("similarity", ["box_iou", "centroid"])
def test_the_form_of_who_is_right_opens_as_the_truth_was_made(similarity):
    dataset = fo.Dataset()
    dataset.add_samples(seen_by_five(), progress=False)
    how = {"similarity": similarity, "threshold": 0.6, "quorum": [0.4, 1], "raters": FIVE[:4], "classes": ("cat",)}
    run = kf.estimate_truth(dataset, "votes", **how)
    filled = given(tab(dataset, "Consensus").send("truth_estimate"), "prompt_user_for_operation")["params"]
    inputs = form("estimate_truth", dataset, filled)
    assert refused(inputs) == {}
    assert set(filled) <= set(inputs)
    stream("estimate_truth", dataset, defaults(inputs) | filled | {"run_key": "again"})
    again = kf.load_metrics(dataset, "again")
    assert again.settings == {**run.settings, "model": "confusion"}
    assert again.selection == run.selection
    dataset.delete()


def test_what_the_form_of_who_is_right_does_not_ask_for_is_said():
    dataset = fo.Dataset()
    dataset.add_samples(seen_by_five(), progress=False)
    kf.estimate_truth(dataset, "votes", raters=FIVE, min_confidence=0.2, ties="first")
    panel = tab(dataset, "Consensus")
    assert "prompt_user_for_operation" not in dict(panel.send("truth_estimate"))
    assert "'votes' was made with ties='first', min_confidence=0.2, which the form does not ask for" in panel.text()
    dataset.delete()


def test_who_was_assigned_is_filled_in_where_the_form_asks():
    dataset = fo.Dataset()
    samples = seen_by_five()
    for number, each in enumerate(samples):
        each.clear_field("raters")
        if not number:
            each.clear_field("eve")
    dataset.add_samples(samples, progress=False)
    run = kf.estimate_truth(dataset, "votes", raters=FIVE, assigned="labelled")
    filled = given(tab(dataset, "Consensus").send("truth_estimate"), "prompt_user_for_operation")["params"]
    inputs = form("estimate_truth", dataset, filled)
    assert set(filled) <= set(inputs)
    stream("estimate_truth", dataset, defaults(inputs) | filled | {"run_key": "again"})
    assert kf.load_metrics(dataset, "again").selection == run.selection
    dataset.delete()


def test_labels_that_all_raters_contradict_are_said():
    estimate = SimpleNamespace(raters=FIVE, overturned=2, converged=False)
    text = right_text(SimpleNamespace(overruled=3, estimate=estimate), kf.RunNames("right"))
    assert "**Do not use it:** 2 have another class than all their raters gave, or none" in text
    assert "**Not settled:**" in text


def test_classes_are_chosen_from_a_menu():
    masks = {"ann": [0, 1, 2, 2], "bob": [0, 1, 2, 1], "cid": [1, 1, 2, 1]}
    dataset = fo.Dataset()
    fields = {name: row(values) for name, values in masks.items()}
    dataset.add_sample(fo.Sample("/pictures/a.png", raters=list(masks), **fields))
    dataset.default_mask_targets = {1: "road", 2: "car"}
    kf.compute_pixel_agreement(dataset, "pixels")
    kf.estimate_truth(dataset, "truth", methods=["any", "0.75"])
    panel = tab(dataset, "Raters")
    assert "class road" in panel.text()
    panel.send("masks_change_mask_class", value="car")
    assert "class car" in panel.text()
    panel.send("choose_page", value="Images")
    (curve,) = panel.data["ratio"]
    np.testing.assert_allclose(curve["y"], [1, 0.5, 0.5])  # of two pixels, all three agree on one
    panel = tab(dataset, "Consensus")
    assert [row["consensus"] for row in panel.rows("consensus_rows")] == [
        "any, road",
        "0.75, road",
        "any, car",
        "0.75, car",
    ]
    for key in kf.list_runs(dataset):
        kf.delete_run(dataset, key)
    dataset.delete()


def test_a_change_of_masks_is_reported(stack):
    sample = stack.first()
    kept = sample["bob"].mask
    sample["bob"].mask = 1 - kept
    sample.save()
    assert "1 image was edited or deleted since this run" in tab(stack, "Counts").text()
    sample["bob"].mask = kept
    sample.save()
