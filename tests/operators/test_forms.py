"""Forms say what is wrong while it is typed, and can be sent as they come."""

from __future__ import annotations

import json

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.scenes import ALPHAS, MEAN
from tests.operators.calls import coco, notices, send
from tests.plugin import defaults, form, post, refused

ANALYSES = ["compute_agreement", "find_variations"]
each_analysis = pytest.mark.parametrize("name", ANALYSES)
BY_FIELD, BY_ATTRIBUTE = "one field per rater", "one field with a rater attribute"


# ---- as they come ----


@each_analysis
@pytest.mark.parametrize("dataset", ["fields", "one_field", "stored", "pair"])
def test_defaults_can_be_executed(name, dataset, request):
    samples = request.getfixturevalue(dataset)
    params = send(name, samples)
    assert kf.list_runs(samples) == [params["run_key"]]


@each_analysis
@pytest.mark.parametrize("switches", [{"more": True}, {"advanced": True}, {"more": True, "advanced": True}])
def test_defaults_behind_the_switches_can_be_executed(name, switches, fields):
    params = send(name, fields, **switches)
    assert kf.list_runs(fields) == [params["run_key"]]


def test_defaults_of_one_field_are_the_raters_its_labels_name(one_field):
    params = send("compute_agreement", one_field)
    assert (params["storage"], params["field"], params["rater_attribute"]) == (BY_ATTRIBUTE, "marks", "rater")
    assert params["raters_in_field"] == ["ann", "bob"]
    assert one_field.values("agreement_alpha")[:5] == [pytest.approx(value) for value in ALPHAS[:5]]


def test_the_attribute_of_an_import_is_found(one_field):
    one_field.add_dynamic_sample_fields()
    one_field.rename_sample_field("marks.detections.rater", "marks.detections.rater_id")
    params = send("compute_agreement", one_field)
    assert params["rater_attribute"] == "rater_id"
    assert kf.load_metrics(one_field, "agreement").metrics["alpha"] == pytest.approx(MEAN)


def test_the_run_key_is_the_first_free_one(fields):
    assert send("compute_agreement", fields)["run_key"] == "agreement"
    assert form("compute_agreement", fields)["run_key"].default == "agreement2"


def test_delete_run_can_be_executed_as_it_comes(fields):
    send("compute_agreement", fields)
    inputs = form("delete_run", fields)
    assert (
        "Deletes 'agreement_alpha' on samples, with those of classes, raters and thresholds, and 'agreement_unit' on "
        "labels" in notices(inputs)
    )
    assert post("delete_run", fields, defaults(inputs)).error is None
    assert kf.list_runs(fields) == []


# ---- what is offered ----


def test_stored_raters_are_offered_by_name(stored):
    inputs = form("compute_agreement", stored)
    assert inputs["raters"].default == ["ann", "bob", "dr. c"]
    assert "storage" not in inputs
    assert "reference" in inputs
    assert "assigned" not in inputs


def test_fields_are_offered_where_no_rater_is_stored(fields):
    inputs = form("compute_agreement", fields)
    assert inputs["storage"].default == BY_FIELD
    assert inputs["raters"].default == ["ann", "bob"]


def test_who_was_assigned_is_an_option_where_no_field_says_so(fields):
    assert "assigned" not in form("compute_agreement", fields)
    fields.delete_sample_field("raters")
    assert form("compute_agreement", fields)["assigned"].default == "all"


def test_two_raters_leave_none_for_a_reference(pair):
    assert "reference" not in form("compute_agreement", pair)


def test_polygons_are_proposed_where_everybody_has_them(fields):
    from tests.fiftyone_bridge.scenes import SCENES, make_samples, polylines

    outlines = fo.Dataset()
    outlines.add_samples(make_samples(SCENES, polylines), progress=False)
    assert form("compute_agreement", outlines)["similarity"].default == "polygon_iou"
    assert form("compute_agreement", fields)["similarity"].default == "box_iou"
    outlines.delete()


# ---- what is wrong ----


@each_analysis
def test_without_labels_the_form_says_what_to_do(name):
    empty = fo.Dataset()
    empty.add_samples([fo.Sample("a.jpg")], progress=False)
    inputs = form(name, empty)
    assert "No labels yet" in notices(inputs)
    assert refused(inputs)
    empty.delete()


@each_analysis
def test_without_a_data_set_the_form_says_so(name):
    inputs = form(name, None)
    assert "No data set is open" in notices(inputs)
    assert refused(inputs)


@each_analysis
@pytest.mark.parametrize(
    ("params", "where", "message"),
    [
        ({"run_key": "not a key"}, "run_key", "expected a name of letters"),
        ({"run_key": ""}, "run_key", "expected a name of letters"),
        ({"run_key": None}, "run_key", "expected a name of letters"),
        ({"run_key": "ann"}, None, ""),
        ({"run_key": "label"}, "run_key", "would overwrite the attribute 'label'"),
        ({"raters": []}, "raters", "at least two raters"),
        ({"raters": ["ann"]}, "raters", "at least two raters"),
        ({"raters": ["ann", "ann"]}, "raters", "at least two raters"),
        (
            {"raters": ["ann", "bob", "zoe"]},
            "raters",
            "expected a rater, or a field of Detections, Polylines or Keypoints, got 'zoe'",
        ),
        ({"raters": None}, None, ""),
        ({"reference": "ann"}, "reference", "Without the reference, agreement needs at least two raters"),
        ({"reference": "zoe"}, "reference", "There is no rater 'zoe'"),
        ({"similarity": "polygon_iou"}, "similarity", "Not every label has what polygon_iou compares"),
        ({"threshold": 1.5}, "threshold", "A number from 0 to 1"),
        ({"threshold": -0.1}, "threshold", "A number from 0 to 1"),
        ({"threshold": None}, None, ""),
        ({"more": True, "min_area": -1}, "min_area", "A number of at least 0"),
        ({"more": True, "min_confidence": 7}, "min_confidence", "A number from 0 to 1"),
        ({"more": True, "min_confidence": "high"}, "min_confidence", "A number from 0 to 1"),
        ({"more": True, "classes": None, "min_area": None}, None, ""),
        ({"storage": BY_ATTRIBUTE, "field": "ann", "rater_attribute": "rater"}, "rater_attribute", "No label of 'ann'"),
        ({"storage": BY_ATTRIBUTE, "field": "gone"}, "rater_attribute", "No label of 'ann' has an attribute 'rater'"),
        ({"storage": BY_ATTRIBUTE, "rater_attribute": "$x"}, "rater_attribute", "has an attribute '$x'"),
        ({"storage": BY_ATTRIBUTE, "rater_attribute": ""}, "rater_attribute", "has an attribute ''"),
    ],
)
def test_a_wrong_input_is_marked(name, fields, params, where, message):
    marked = refused(form(name, fields, params))
    if where is None:
        assert marked == {}
    else:
        assert message in marked[where]


@each_analysis
def test_a_run_key_that_is_taken_is_marked(name, fields):
    send("compute_agreement", fields)
    assert "is the key of another run" in refused(form(name, fields, {"run_key": "agreement"}))["run_key"]


@each_analysis
def test_a_view_that_cannot_be_used_is_marked(name, fields):
    inputs = form(name, fields, view=fields.match_tags("nowhere"))
    assert "got an empty view" in notices(inputs)
    assert "got an empty view" in refused(inputs)["refused"]


@each_analysis
def test_videos_are_refused(name):
    videos = fo.Dataset()
    videos.add_samples([fo.Sample("a.mp4", ann=fo.Detections(), bob=fo.Detections())], progress=False)
    assert "expected images or 3D scenes, got samples of type 'video'" in notices(form(name, videos))
    videos.delete()


def test_nothing_to_delete(fields):
    inputs = form("delete_run", fields)
    assert "There is no run yet" in notices(inputs)
    assert refused(inputs)
    assert refused(form("delete_run", None))


def test_a_run_that_is_gone_cannot_be_deleted(fields):
    send("compute_agreement", fields)
    assert "There is no run 'old'" in refused(form("delete_run", fields, {"run_key": "old"}))["run_key"]


# ---- loading ----


@pytest.fixture
def labels(tmp_path):
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(coco()))
    return str(file)


@pytest.mark.parametrize(
    ("params", "where", "message"),
    [
        ({"labels": "/no/such/file.json"}, "labels", "There is no such file"),
        ({"labels": "\0"}, "labels", "There is no such file"),
        ({"images": "/no/such/folder"}, "images", "There is no such folder"),
        ({"dataset_name": "stored"}, "dataset_name", "exists already"),
        ({"dataset_name": "STORED"}, "dataset_name", "exists already"),
        ({"dataset_name": "!!!"}, "dataset_name", "expected a name FiftyOne can use"),
        ({"dataset_name": "free"}, None, ""),
        ({"dataset_name": "stored", "target": "this data set"}, None, ""),
        ({"more": True, "aliases": "{"}, "aliases", "expected JSON"),
        ({"more": True, "aliases": "[1]"}, "aliases", "expected a mapping"),
        ({"more": True, "aliases": '{"a": 1}'}, "aliases", "expected a written name and a class name"),
        ({"more": True, "aliases": '{"/(/": "a"}'}, "aliases", "expected a regular expression, got /(/"),
        ({"more": True, "aliases": '{"a": "b"}'}, None, ""),
        ({"more": True, "aliases": ""}, None, ""),
    ],
)
def test_a_wrong_input_of_loading_is_marked(stored, params, where, message):
    marked = refused(form("load_raters", stored, params))
    if where is None:
        assert marked == {}
    else:
        assert message in marked[where]


def test_loading_needs_no_open_data_set():
    inputs = form("load_raters", None)
    assert [choice.value for choice in inputs["target"].view.choices] == ["a new data set"]
    assert refused(inputs) == {}


MISSING = "expected a folder with all 1 image of labels.json, got none for 1, such as 'a.jpg'"


def test_missing_images_are_one_sentence_at_one_field(stored, labels, tmp_path):
    params = {"labels": labels, "dataset_name": "mine"}
    inputs = form("load_raters", stored, params)
    ((name, message),) = refused(inputs).items()
    assert (name, message.count(MISSING)) == ("images", 1)
    assert "canvas" in inputs
    # a folder of canvases, the samples that are there, or the images themselves mend it
    assert refused(form("load_raters", stored, params | {"canvas": str(tmp_path / "grey")})) == {}
    assert refused(form("load_raters", stored, {"labels": labels, "target": "this data set"})) == {}
    (tmp_path / "a.jpg").write_bytes(b"")
    mended = form("load_raters", stored, params)
    assert refused(mended) == {}
    assert "canvas" not in mended


def test_the_form_reads_a_file_as_loading_does(stored, labels, tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"")
    params = {"labels": labels, "dataset_name": "mine", "more": True, "category_field": "said"}
    assert "expected" in refused(form("load_raters", stored, params))["labels"]
    assert refused(form("load_raters", stored, params | {"more": False})) == {}
    (tmp_path / "labels.json").write_text("no json")
    assert "labels.json: expected JSON" in refused(form("load_raters", stored, params))["labels"]


def test_a_large_file_is_not_read_by_the_form(stored, labels, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("was read")

    monkeypatch.setattr(kf, "check_images", fail)
    with pytest.raises(AssertionError, match="was read"):
        form("load_raters", stored, {"labels": labels})
    with open(labels, "a", encoding="utf-8") as file:
        file.truncate(2**25 + 1)
    assert refused(form("load_raters", stored, {"labels": labels})) == {}


def test_loading_can_be_executed_as_it_comes(stored, labels, tmp_path):
    from PIL import Image

    Image.new("RGB", (100, 80)).save(tmp_path / "a.jpg")
    for switch in (False, True):
        name = f"loaded {switch}"
        send("load_raters", stored, labels=labels, more=switch, dataset_name=name)
        assert len(fo.load_dataset(name)) == 1
