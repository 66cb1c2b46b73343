"""Operators on masks: what their forms offer and refuse, what they answer, when they are delegated."""

from __future__ import annotations

import json

import fiftyone as fo
import numpy as np
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import TRUTH_METHODS
from kalos_core.figures import pixel_title
from kalos_core.nominal import SKILL_MODELS
from tests.fiftyone_bridge.scenes import objects
from tests.fiftyone_bridge.stacks import RATERS, add_maps, row, small
from tests.operators.calls import is_delegated_by_default, run, shares, summaries
from tests.plugin import defaults, form, refused, stream


@pytest.fixture
def masks():
    """Three raters' masks and two detectors' score maps on three images."""
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(small(), progress=False)
    add_maps(dataset)
    yield dataset
    for key in kf.list_runs(dataset):
        kf.delete_run(dataset, key)


@pytest.fixture
def boxes():
    """Three raters' boxes and a model's."""
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(objects(), progress=False)
    return dataset


# ---- forms ----


def test_the_forms_offer_masks_first(masks):
    inputs = form("compute_pixel_agreement", masks)
    assert inputs["raters"].default == list(RATERS)
    assert inputs["run_key"].default == "pixels"
    assert "classes" not in inputs
    assert refused(inputs) == {}
    inputs = form("estimate_truth", masks)
    assert [choice.value for choice in inputs["methods"].view.choices] == list(TRUTH_METHODS)
    assert "quorum" not in inputs
    assert "similarity" not in inputs
    inputs = form("rank_detectors", masks)
    assert inputs["detectors"].default == ["good", "poor"]
    assert refused(inputs) == {}


def test_classes_are_those_of_mask_targets(masks):
    masks.default_mask_targets = {1: "road", 2: "car"}
    masks.save()
    inputs = form("compute_pixel_agreement", masks)
    assert [choice.value for choice in inputs["classes"].view.choices] == ["road", "car"]


def test_of_labels_objects_are_estimated_or_pixels(boxes):
    params = {"raters": list(RATERS)}
    inputs = form("estimate_truth", boxes, params)
    assert inputs["of"].default == "objects"
    assert {"quorum", "similarity", "threshold"} <= set(inputs)
    assert "methods" in form("estimate_truth", boxes, params | {"of": "pixels"})
    assert "ignore_value" not in form("estimate_truth", boxes, params | {"of": "pixels"})
    assert form("rank_detectors", boxes, params)["detectors"].default == ["net"]


def test_without_masks_there_is_nothing_to_send():
    dataset = fo.Dataset(persistent=True)
    dataset.add_sample(fo.Sample("/a.png"))
    for name in ("compute_pixel_agreement", "estimate_truth", "rank_detectors"):
        assert "nothing" in form(name, dataset)
        assert "nothing" in form(name, None)


@pytest.mark.parametrize(
    ("name", "params", "where", "message"),
    [
        ("compute_pixel_agreement", {"raters": ["ann"]}, "raters", "Agreement needs at least two raters"),
        ("compute_pixel_agreement", {"raters": ["ann", "eve"]}, "raters", "expected fields of Segmentation masks only"),
        ("compute_pixel_agreement", {"ignore_value": 0}, "ignore_value", "A number from 1 to 65535"),
        ("estimate_truth", {"methods": []}, "methods", "Choose at least one"),
        ("estimate_truth", {"methods": ["best"]}, "methods", "'best' is no way to estimate a truth"),
        ("rank_detectors", {"detectors": []}, "detectors", "Choose the fields of at least one detector"),
        ("rank_detectors", {"detectors": ["ann"]}, "detectors", "'ann' is no field of a detector"),
        (
            "rank_detectors",
            {"choose_skew": True, "skew_low": 0.3, "skew_high": 0.2},
            "skew_high",
            "A number above 0.3, the least fraction",
        ),
        ("rank_detectors", {"contours": True, "tolerance": 1}, "tolerance", "A number from 0 to 0.1"),
        ("rank_detectors", {"berkeley": True, "boundaries": 0}, "boundaries", "A number from 1 to 999"),
        ("compute_pixel_agreement", {"images": True, "channels": "red, nir=3"}, "channels", "or each with its number"),
    ],
)
def test_what_cannot_be_is_refused_at_the_input(masks, name, params, where, message):
    assert message in refused(form(name, masks, params))[where]


def test_a_quorum_is_a_share(boxes):
    params = {"raters": list(RATERS)}
    assert refused(form("estimate_truth", boxes, params | {"quorum": "0.5, 1"})) == {}
    for text in ("half", "0", "1.5", ""):
        assert "quorum: expected" in refused(form("estimate_truth", boxes, params | {"quorum": text}))["quorum"]


# ---- what they answer ----


def test_every_operator_answers_its_metrics(masks):
    result = run("compute_pixel_agreement", masks, raters=list(RATERS), run_key="pixels")
    assert pixel_title(31 / 60, 3) in result["text"]
    assert "| marked | 0.517 | 17\xa0% | 20\xa0% | cid |" in result["text"]  # F1: (.75 + .4 + .4) / 3
    result = run("estimate_truth", masks, raters=list(RATERS), methods=["any", "0.5"], run_key="truth")
    assert "Estimates mark 3 to 5 pixels" in result["text"]
    assert "| 0.5 | 3 | 0 of 2 | 0.333 to 1.000 | 0.750 to 1.000 |" in result["text"]
    params = {"detectors": ["good", "poor"], "choose_skew": True, "skew_low": 0.1, "skew_high": 0.5}
    result = run("rank_detectors", masks, raters=list(RATERS), truths=["truth_any"], run_key="ranks", **params)
    assert "| good | 1.000 (1) |" in result["text"]
    assert kf.load_metrics(masks, "ranks").settings["skew"] == [0.1, 0.5]
    assert json.loads(json.dumps(result)) == result
    assert form("rank_detectors", masks)["detectors"].default == [
        "good",
        "poor",
    ]  # a map of rater counts is no detector


def test_objects_from_the_sdk(boxes):
    result = run("estimate_truth", boxes, raters=list(RATERS), quorum="0.5", run_key="truth")
    assert "1 object at quorum 0.5; 1 below it" in result["text"]
    result = run("rank_detectors", boxes, raters=list(RATERS), detectors=["net"], quorum="0.5", run_key="ranks")
    assert "net is best under" in result["text"]
    assert "truth_quorum_0_5" not in form("compute_agreement", boxes)["raters"].default  # a consensus is no rater


def test_who_is_right_about_objects(boxes):
    params = {"raters": list(RATERS)}
    assert "model" not in form("estimate_truth", boxes, params)
    inputs = form("estimate_truth", boxes, params | {"estimate": True})
    assert inputs["model"].default == "confusion"
    assert [choice.value for choice in inputs["model"].view.choices] == list(SKILL_MODELS)
    result = run("estimate_truth", boxes, **params, estimate=True, model="weighted", run_key="right")
    assert kf.load_metrics(boxes, "right").settings["model"] == "weighted"
    assert "| weighted 0.5 | 1 | 1 | 0 |" in result["text"]
    assert "- Answers are expected to be right in" in result["text"]
    assert "0 are decided otherwise than most of their raters say." in result["text"]
    run("estimate_truth", boxes, **params, estimate=False, model="weighted", run_key="votes")
    assert kf.load_metrics(boxes, "votes").settings["model"] is None


def test_the_app_gets_progress_and_the_panel(masks):
    operations = stream("compute_pixel_agreement", masks, defaults(form("compute_pixel_agreement", masks)))
    assert shares(operations)[-1] == 1
    (summary,) = summaries(operations)
    assert pixel_title(31 / 60, 3) in summary
    assert ("open_panel", "raters") in [(name, params.get("name")) for name, params in operations]


def test_the_app_shows_that_masks_cannot_be_used(masks):
    sample = masks.first()
    sample["ann"] = row([1, 2, 3, 0])
    sample.save()
    (summary,) = summaries(stream("estimate_truth", masks, defaults(form("estimate_truth", masks))))
    assert "Nothing was written" in summary
    assert "0.png: mask of 'ann': expected 0 and 1" in summary
    assert kf.list_runs(masks) == []


def test_large_stacks_are_delegated(masks):
    assert not is_delegated_by_default("compute_pixel_agreement", masks)
    masks.set_values("metadata.width", [40_000] * 3)
    masks.set_values("metadata.height", [40_000] * 3)
    assert is_delegated_by_default("compute_pixel_agreement", masks)
    assert is_delegated_by_default("rank_detectors", masks)
    masks.set_values("metadata.width", [2_000] * 3)
    masks.set_values("metadata.height", [2_000] * 3)
    assert not is_delegated_by_default("estimate_truth", masks, methods=["staple"])
    assert is_delegated_by_default("estimate_truth", masks, methods=["lsml"])
    assert not is_delegated_by_default("rank_detectors", masks, detectors=["good"])
    assert is_delegated_by_default("rank_detectors", masks, detectors=["good"], berkeley=True)


def test_boundaries_from_the_sdk(masks):
    params = {"detectors": ["good", "poor"], "choose_skew": True, "skew_low": 0.1, "skew_high": 0.5}
    result = run("rank_detectors", masks, raters=list(RATERS), berkeley=True, run_key="ranks", **params)
    assert "good finds boundaries best: F1 " in result["text"]
    assert len(kf.load_details(masks, "ranks").details.boundaries.thresholds) == 33


def test_channels_as_one_types_them(masks, tmp_path):
    for number, sample in enumerate(masks.iter_samples(autosave=True)):
        sample.filepath = str(tmp_path / f"{number}.png")
        Image.fromarray(np.arange(12, dtype=np.uint8).reshape(1, 4, 3)).save(sample.filepath)
    for key, text, stored in [("named", "nir, swir ,red", ["nir", "swir", "red"]), ("chosen", "nir = 2", {"nir": 2})]:
        run("compute_pixel_agreement", masks, raters=list(RATERS), images=True, channels=text, run_key=key)
        found = kf.load_details(masks, key)
        assert found.settings["channels"] == stored
        assert [each.name for each in found.details.correlations] == list(stored)


def test_what_a_form_hides_again_does_not_count(masks):
    params = {"detectors": ["good"], "contours": False, "tolerance": 0.01, "choose_skew": False, "skew_low": 0.1}
    run("rank_detectors", masks, raters=list(RATERS), run_key="ranks", **params)
    assert kf.load_metrics(masks, "ranks").settings["tolerance"] == 0
    assert np.isfinite(kf.load_details(masks, "ranks").details.ranking.skew).all()
