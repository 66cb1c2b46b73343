"""Operators for one kind of run each: their summaries, and their own options."""

from __future__ import annotations

import json
from pathlib import Path

import fiftyone as fo
import fiftyone.operators as foo
import numpy as np
import pytest
from fiftyone.operators.executor import ExecutionError

import kalos_core.fiftyone as kf
from kalos_core import calibrate
from kalos_core.convergence import THRESHOLDS
from kalos_core.fiftyone.dataset.raters import store_raters, synthetic_fields
from kalos_core.fiftyone.kinds.calibration.kind import default_threshold
from kalos_core.figures.events import events_title
from kalos_core.figures.pixels import pixel_title
from tests.fiftyone_bridge.lively import RATERS, lively, unsure
from tests.fiftyone_bridge.noisy import samples
from tests.fiftyone_bridge.scenes import crowded, make_samples, objects
from tests.fiftyone_bridge.stacks import add_maps, small
from tests.operators.calls import data_set, last_line, run, summaries
from tests.plugin import defaults, form, stream, uri

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")

# ---- calibration ----

BOTH = {"similarities": ["box_iou", "centroid_box"], "raters": ["ann", "bob"], "run_key": "first", "bootstrap": 0}


@pytest.fixture(scope="module")
def calibrated() -> fo.Dataset:
    dataset = data_set(make_samples(crowded(0)))
    run("calibrate_threshold", dataset, **BOTH, seed=3)
    return dataset


def test_a_calibration_is_what_the_library_answers(fields: fo.Dataset) -> None:
    before = fields.get_field_schema(flat=True).keys()
    found = run("calibrate_threshold", fields, **BOTH, seed=3)
    own = calibrate(kf.read_annotations(fields, raters=("ann", "bob")), BOTH["similarities"], seed=3)
    assert [entry["name"] for entry in found["similarities"]] == [separation.name for separation in own]
    assert [entry["ks"] for entry in found["similarities"]] == [pytest.approx(separation.ks) for separation in own]
    assert f"| {own.best.name} | {own.best.ks:.3f} |" in found["text"]
    assert fields.get_field_schema(flat=True).keys() == before  # nothing on samples or labels
    with pytest.raises((ExecutionError, ValueError)) as error:
        foo.execute_operator(uri("calibrate_threshold"), {"view": fields.limit(1)}, params=BOTH | {"run_key": "one"})
    assert "image" in last_line(error)
    assert kf.list_runs(fields) == ["first"]


def test_the_form_chooses_the_calibrated_threshold_of_the_best_similarity(calibrated: fo.Dataset) -> None:
    best, other = kf.load_metrics(calibrated, "first").metrics["similarities"]
    inputs = form("choose_threshold", calibrated)
    assert inputs["similarity"].default == best["name"]
    assert inputs["threshold"].default == round(best["threshold"], 3)
    found = run("choose_threshold", calibrated, **defaults(inputs))
    assert found["threshold"] == best["threshold"]  # to the last digit
    assert default_threshold(calibrated, best["name"]) == best["threshold"]

    # each similarity has its own field, because the App keeps the previous value in a field
    own = f"threshold_of_{other['name']}"
    assert own in form("choose_threshold", calibrated, {"similarity": other["name"]})
    found = run("choose_threshold", calibrated, similarity=other["name"], **{own: 0.25, "threshold": 0.9})
    assert (found["similarity"], found["threshold"]) == (other["name"], 0.25)
    assert run("choose_threshold", calibrated, similarity=other["name"], threshold=0.75)["threshold"] == 0.75


def test_one_that_is_not_to_be_trusted_is_said() -> None:
    """Distances are equal within and across images."""
    dataset = data_set(make_samples(crowded(8)))
    answer = run(
        "calibrate_threshold", dataset, similarities=["box_iou"], raters=["ann", "bob", "cid"], run_key="first"
    )
    (found,) = kf.load_metrics(dataset, "first").metrics["similarities"]
    assert not found["trusted"]
    assert f"- box_iou: not to be trusted: {found['why']}" in answer["text"]
    inputs = form("choose_threshold", dataset)
    said = f"Not to be trusted: {found['why']}"
    assert said in inputs["threshold"].view.description
    assert said in run("choose_threshold", dataset, **defaults(inputs))["text"]
    assert "trusted" not in run("choose_threshold", dataset, similarity="box_iou", threshold=0.5)["text"]


# ---- label convergence ----

SMALL = {"subsets": 20, "fraction": 0.5, "seed": 3}


@pytest.fixture(scope="module")
def lively_set() -> fo.Dataset:
    """Return three raters, a model and tags on eight images."""
    dataset = data_set(lively(8))
    store_raters(dataset, {name: name for name in RATERS})
    return dataset


def test_a_ceiling_is_what_the_library_answers(lively_set: fo.Dataset) -> None:
    found = run("estimate_convergence", lively_set, **SMALL, models="YOLO 0.01", predictions="net", tags=True)
    own = kf.estimate_convergence(lively_set, "own", raters=RATERS, **SMALL)
    assert (found["mean"], found["interval"]) == (own.metrics["mean"], own.metrics["interval"])
    assert found["thresholds"] == pytest.approx(THRESHOLDS)
    assert found["summary"] == own.metrics["summary"]  # the rows, besides the text
    assert f"**Label convergence {100 * own.metrics['whole']:.1f} mAP on 8 images**" in found["text"]
    assert f"| 8, all | {100 * own.metrics['whole']:.1f} |" in found["text"]
    assert "- **YOLO**: 1.0 mAP. There is no interval for fewer than 50 images" in found["text"]
    assert "| ✓ | raters contribute equally |" in found["text"]
    assert "| **mAP inferred from alpha** |" in found["text"]


def test_a_ceiling_that_cannot_be_computed_is_an_error(lively_set: fo.Dataset) -> None:
    with pytest.raises((ExecutionError, ValueError)) as error:
        run("estimate_convergence", lively_set, **SMALL | {"fraction": 0.01})
    assert "fraction: expected at least one image in a subset, got 0.01 of 8 images" in last_line(error)
    dataset = data_set(unsure(lively(4)))
    operations = stream("estimate_convergence", dataset, {**SMALL, "raters": list(RATERS), "predictions": "net"})
    (summary,) = summaries(operations)
    assert "Nothing was written" in summary
    assert "those of 'net' cannot be evaluated: scores: expected the confidence of every prediction" in summary
    assert kf.list_runs(lively_set) == kf.list_runs(dataset) == []


# ---- synthetic raters ----


@pytest.fixture(scope="module")
def referenced() -> fo.Dataset:
    """Return a reference on thirty images, and detections."""
    net = fo.Detections(detections=[fo.Detection(label="thing", bounding_box=[0.4, 0.4, 0.1, 0.1])])
    return data_set(samples(net=[net.copy() for _ in range(30)]))


def test_noise_is_what_the_library_answers(referenced: fo.Dataset) -> None:
    found = run("inject_noise", referenced, reference="truth", raters=2, magnitude="0.5, 2", seed=5)
    own = kf.inject_noise(referenced, "own", reference="truth", raters=2, magnitude=[0.5, 2], seed=5)
    f = own.metrics
    assert found["events"] == f["events"]
    assert events_title(["truth"], 2, f["changed"], f["generated_from"], f["signal_loss"]) in found["text"]
    assert f"| missed | {f['events']['deletion']['done']:,} |" in found["text"]
    assert "classes by class frequency; additions from annotations of other images" in found["text"]
    assert "noise_synthetic_1, noise_synthetic_2" in found["text"]


def test_sources_of_the_form_are_used(referenced: fo.Dataset, tmp_path: Path) -> None:
    (tmp_path / "tree.json").write_text(json.dumps({"pet": ["cat", "dog"], "farm": ["cow"]}))
    sources = {"class_source": "taxonomy", "taxonomy": str(tmp_path / "tree.json")}
    sources |= {"false_positive_source": "detections", "detections": "net"}
    found = run("inject_noise", referenced, reference="truth", raters=1, more=True, **sources)
    assert found["class_source"] == "taxonomy of 5 names"
    assert found["false_positive_source"].startswith("detections (30 on 30 images)")


def test_noise_that_cannot_be_created_is_an_error(referenced: fo.Dataset) -> None:
    unusable = {"more": True, "class_source": "embeddings", "embeddings": "nothing"}
    for params, message in (
        ({"magnitude": "-1"}, "magnitude: expected numbers of 0 or more"),
        (unusable, "or a zoo model that is downloaded"),
    ):
        with pytest.raises((ExecutionError, ValueError)) as error:
            run("inject_noise", referenced, reference="truth", **params)
        assert message in last_line(error)
    assert synthetic_fields(referenced) == []


# ---- masks, and ground truth of objects ----

THREE = {"raters": list(RATERS)}
SKEW = {"detectors": ["good", "poor"], "choose_skew": True, "skew_low": 0.1, "skew_high": 0.5}


@pytest.fixture
def masks() -> fo.Dataset:
    """Return masks of three raters and score maps of two detectors on three images."""
    return add_maps(data_set(small))


@pytest.fixture
def boxes() -> fo.Dataset:
    """Return boxes of three raters and of a model."""
    return data_set(objects)


def test_every_operator_on_masks_answers_its_metrics(masks: fo.Dataset) -> None:
    result = run("compute_pixel_agreement", masks, **THREE)
    assert pixel_title(31 / 60, 3) in result["text"]
    assert "| marked | 0.517 | 17\xa0% | 20\xa0% | cid |" in result["text"]  # F1: (.75 + .4 + .4) / 3
    result = run("estimate_truth", masks, **THREE, methods=["any", "0.5"], run_key="truth")
    assert "any marks 1.7 times as many pixels as 0.5" in result["text"]
    assert "| 0.5 | 3 | 0 of 2 | 0.333 to 1.000 | 0.750 to 1.000 |" in result["text"]
    result = run("rank_detectors", masks, **THREE, **SKEW, truths=["truth_any"], berkeley=True, run_key="ranks")
    assert "| good | 1.000 (1) |" in result["text"]
    assert "good finds boundaries best: F1 " in result["text"]
    assert kf.load_metrics(masks, "ranks").settings["skew"] == [0.1, 0.5]
    assert len(kf.load_details(masks, "ranks").details.boundaries.thresholds) == 33
    # a map of rater counts is not a detector
    assert form("rank_detectors", masks)["detectors"].default == ["good", "poor"]
    run("rank_detectors", masks, **THREE, **SKEW | {"choose_skew": False}, run_key="usual")
    assert np.isfinite(kf.load_details(masks, "usual").details.ranking.skew).all()
    assert kf.load_metrics(masks, "usual").settings["tolerance"] == 0


def test_who_is_right_about_objects(boxes: fo.Dataset) -> None:
    result = run("estimate_truth", boxes, **THREE, estimate=True, model="weighted", run_key="right")
    assert kf.load_metrics(boxes, "right").settings["model"] == "weighted"
    assert "| weighted 0.5 | 1 | 1 | 0 |" in result["text"]
    assert "- Answers are expected to be right in" in result["text"]
    assert "0 are decided against most of their raters." in result["text"]
    run("estimate_truth", boxes, **THREE, estimate=False, model="weighted", run_key="votes")
    assert kf.load_metrics(boxes, "votes").settings["model"] is None
