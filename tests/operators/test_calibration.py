"""Calibration from its form and from Python, and what later forms make of it."""

from __future__ import annotations

import json

import fiftyone as fo
import fiftyone.operators as foo
import pytest
from fiftyone.operators.executor import ExecutionError

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES, calibrate
from tests.fiftyone_bridge.scenes import SCENES, THREE, crowded, make_samples, polylines
from tests.operators.calls import last_line, notices, run, send, shares, summaries
from tests.plugin import defaults, form, refused, stream, uri


@pytest.fixture
def outlines() -> fo.Dataset:
    dataset = fo.Dataset()
    dataset.add_samples(make_samples(SCENES, polylines), progress=False)
    return dataset


# ---- the form ----


def test_only_similarities_that_fit_are_offered(fields, outlines):
    boxes = ["box_iou", "box_giou", "centroid_box", "centroid"]
    assert form("calibrate_threshold", fields)["similarities"].default == boxes
    offered = form("calibrate_threshold", outlines)["similarities"].default
    assert offered[0] == "polygon_iou"
    assert {"box_iou", "polygon_giou"} <= set(offered)
    assert "mask_iou" not in offered
    for name in ("compute_agreement", "find_variations"):
        choices = form(name, outlines)["similarity"].view.choices
        assert [choice.value for choice in choices] == offered


def test_every_similarity_that_is_offered_is_explained(outlines):
    choices = form("compute_agreement", outlines)["similarity"].view.choices
    assert {choice.value for choice in choices} <= set(SIMILARITIES)
    assert all(choice.label and choice.description for choice in choices)


@pytest.mark.parametrize(
    ("params", "where", "message"),
    [
        ({"similarities": []}, "similarities", "Choose at least one similarity"),
        ({"similarities": ["polygon_iou"]}, "similarities", "Not every label has what polygon_iou compares"),
        ({"similarities": ["box_iou"]}, None, ""),
        ({"coordinates": "pixels"}, None, ""),
        ({"repeats": 0}, "repeats", "A number of at least 1"),
        ({"bootstrap": -1}, "bootstrap", "A number of at least 0"),
        ({"run_key": "not a key"}, "run_key", "expected a name of letters"),
    ],
)
def test_a_wrong_input_is_marked(fields, params, where, message):
    marked = refused(form("calibrate_threshold", fields, params))
    if where is None:
        assert marked == {}
    else:
        assert message in marked[where]


def test_the_form_can_be_sent_as_it_comes(fields):
    params = send("calibrate_threshold", fields)
    assert kf.list_runs(fields, "calibration") == [params["run_key"]] == ["calibration"]


# ---- what it answers ----


def test_it_answers_what_the_library_answers(fields):
    found = run(
        "calibrate_threshold",
        fields,
        similarities=["box_iou", "centroid_box"],
        seed=3,
        bootstrap=0,
        raters=["ann", "bob"],
    )
    assert found["run_key"] == "calibration"
    own = calibrate(kf.read_annotations(fields, raters=("ann", "bob")), ["box_iou", "centroid_box"], seed=3)
    assert [entry["name"] for entry in found["similarities"]] == [separation.name for separation in own]
    assert [entry["ks"] for entry in found["similarities"]] == [pytest.approx(separation.ks) for separation in own]
    assert f"| {own.best.name} | {own.best.ks:.3f} |" in found["text"]
    assert json.loads(json.dumps(found)) == found


def test_it_writes_nothing_on_samples_or_labels(fields):
    before = fields.get_field_schema(flat=True).keys()
    run("calibrate_threshold", fields, raters=["ann", "bob"])
    assert fields.get_field_schema(flat=True).keys() == before


def test_the_app_gets_progress_the_panel_and_a_summary(fields):
    operations = stream("calibrate_threshold", fields, defaults(form("calibrate_threshold", fields)))
    progress = shares(operations)
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert [given["name"] for name, given in operations if name == "open_panel"] == ["raters"]
    (summary,) = summaries(operations)
    assert "Nothing is written on samples or labels" in summary


def test_one_image_is_no_calibration_and_says_so(fields):
    with pytest.raises((ExecutionError, ValueError)) as error:
        foo.execute_operator(uri("calibrate_threshold"), {"view": fields.limit(1)}, params={"raters": ["ann", "bob"]})
    assert "image" in last_line(error)
    assert kf.list_runs(fields) == []


# ---- the default of later forms ----


@pytest.mark.parametrize("name", ["compute_agreement", "find_variations"])
def test_a_chosen_threshold_is_the_default_of_later_forms(fields, name):
    assert form(name, fields)["threshold"].default == 0.5
    run("calibrate_threshold", fields, similarities=["box_iou"], raters=["ann", "bob"], run_key="first")
    assert form(name, fields)["threshold"].default == 0.5  # nobody chose it yet
    kf.choose_threshold(fields, "first", "box_iou", 0.375)
    inputs = form(name, fields)
    assert inputs["threshold"].default == 0.375
    assert "Calibrated for box_iou: 0.38 (run first)" in inputs["threshold"].view.description
    assert form(name, fields, {"similarity": "centroid_box"})["threshold_of_centroid_box"].default == 0.5
    send(name, fields)
    assert kf.load_metrics(fields, kf.list_runs(fields)[0]).settings["threshold"] == 0.375
    kf.delete_run(fields, "first")
    assert form(name, fields)["threshold"].default == 0.5


def test_a_calibration_can_be_deleted_from_its_form(fields):
    run("calibrate_threshold", fields, similarities=["box_iou"], raters=["ann", "bob"], run_key="first")
    assert "This cannot be undone" in notices(form("delete_run", fields))
    run("delete_run", fields, run_key="first")
    assert kf.list_runs(fields) == []


# ---- choosing ----


def test_there_is_nothing_to_choose_before_a_calibration(fields):
    inputs = form("choose_threshold", fields)
    assert "There is no calibration yet" in notices(inputs)
    assert refused(inputs) == {"run_key": ""}


def test_the_form_chooses_the_calibrated_threshold_of_the_best_similarity(fields):
    run("calibrate_threshold", fields, similarities=["box_iou", "centroid_box"], raters=["ann", "bob"], run_key="first")
    best = kf.load_metrics(fields, "first").metrics["similarities"][0]
    inputs = form("choose_threshold", fields)
    assert inputs["similarity"].default == best["name"]
    assert inputs["threshold"].default == round(best["threshold"], 3)
    found = run("choose_threshold", fields, **defaults(inputs))
    assert found["threshold"] == best["threshold"]  # to the last digit
    assert kf.default_threshold(fields, best["name"]) == best["threshold"]


def test_one_that_is_not_to_be_trusted_is_said():
    """As alike in one image as across images."""
    fields = fo.Dataset()
    fields.add_samples(make_samples(crowded(8)), progress=False)
    answer = run("calibrate_threshold", fields, similarities=["box_iou"], raters=list(THREE), run_key="first")
    (found,) = kf.load_metrics(fields, "first").metrics["similarities"]
    assert not found["trusted"]
    assert f"- box_iou: not to be trusted: {found['why']}" in answer["text"]
    inputs = form("choose_threshold", fields)
    assert f"Not to be trusted: {found['why']}" in inputs["threshold"].view.description
    assert f"Not to be trusted: {found['why']}" in run("choose_threshold", fields, **defaults(inputs))["text"]
    assert "trusted" not in run("choose_threshold", fields, similarity="box_iou", threshold=0.5)["text"]


def test_another_similarity_and_threshold_can_be_chosen(fields):
    run("calibrate_threshold", fields, similarities=["box_iou", "centroid_box"], raters=["ann", "bob"], run_key="first")
    other = kf.load_metrics(fields, "first").metrics["similarities"][1]["name"]
    inputs = form("choose_threshold", fields, {"similarity": other})
    assert f"threshold_of_{other}" in inputs  # each has its own: the App keeps what stood in a field
    found = run("choose_threshold", fields, similarity=other, **{f"threshold_of_{other}": 0.25, "threshold": 0.9})
    assert (found["similarity"], found["threshold"]) == (other, 0.25)
    assert run("choose_threshold", fields, similarity=other, threshold=0.75)["threshold"] == 0.75


@pytest.mark.parametrize(
    ("params", "where", "message"),
    [
        ({"run_key": "gone"}, "run_key", "There is no calibration 'gone' any more"),
        ({"similarity": "polygon_iou"}, "similarity", "The run 'first' did not calibrate polygon_iou"),
        ({"threshold": 2}, "threshold", "A number from 0 to 1"),
    ],
)
def test_a_wrong_option_is_marked(fields, params, where, message):
    run("calibrate_threshold", fields, similarities=["box_iou"], raters=["ann", "bob"], run_key="first")
    assert message in refused(form("choose_threshold", fields, params))[where]


def test_a_similarity_keeps_its_own_threshold_in_the_form(fields):
    params = {"similarity": "centroid_box", "threshold": 0.9}  # what stood there for boxes
    inputs = form("compute_agreement", fields, params)
    assert inputs["threshold_of_centroid_box"].default == 0.5
    send("compute_agreement", fields, **params)
    settings = kf.load_metrics(fields, kf.list_runs(fields)[0]).settings
    assert (settings["similarity"], settings["threshold"]) == ("centroid_box", 0.5)
