"""Operators called from Python: directly, as functions, delegated; and as the App calls them."""

from __future__ import annotations

import json
import warnings

import fiftyone as fo
import fiftyone.operators as foo
import pytest
from fiftyone.operators.executor import ExecutionError
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning
from tests.fiftyone_bridge.scenes import ALPHAS, COUNTS, MEAN, WITHOUT_EMPTY, documents
from tests.operators.calls import coco, delegate, last_line, run, shares, summaries
from tests.plugin import SPACES, defaults, form, post, stream, uri


def agreement_params(**params):
    """The required inputs, which calls from Python have to give."""
    return {"raters": ["ann", "bob"], "similarity": "box_iou", "threshold": 0.5, "run_key": "first", **params}


# ---- from Python ----


def test_compute_agreement_answers_its_metrics(fields):
    result = run("compute_agreement", fields, **agreement_params())
    assert result["alpha"] == pytest.approx(MEAN)
    assert result["alpha_without_empty"] == pytest.approx(WITHOUT_EMPTY)
    assert result["run_key"] == "first"
    assert result["raters"] == ["ann", "bob"]
    assert f"| Mean alpha over images | {MEAN:.2f}\xa0[" in result["text"]
    assert json.loads(json.dumps(result)) == result
    assert fields.values("first_alpha") == [pytest.approx(value) for value in ALPHAS[:5]] + [None]


def test_compute_agreement_of_a_view(fields):
    result = foo.execute_operator(uri("compute_agreement"), {"view": fields.limit(2)}, params=agreement_params())
    assert result.result["images"] == 2
    assert result.result["alpha"] == pytest.approx(0.5)


def test_solver_cost_and_interval_are_passed_on(fields):
    params = agreement_params(advanced=True, solver="greedy", cost="neg", bootstrap=0, seed=3)
    result = run("compute_agreement", fields, **params)
    assert result["alpha_interval"] == [None, None]
    assert kf.load_metrics(fields, "first").settings["cost"] == "neg"
    assert kf.load_metrics(fields, "first").settings["seed"] == 3


def test_what_a_switch_hides_again_does_not_count(fields):
    hidden = {"advanced": False, "cost": "neg", "more": False, "classes": ["dog"], "min_area": 1e9}
    result = run("compute_agreement", fields, **agreement_params(**hidden))
    assert result["alpha"] == pytest.approx(MEAN)
    assert kf.load_metrics(fields, "first").settings["cost"] == "soft"


def test_limits_are_passed_on(fields):
    result = run("compute_agreement", fields, **agreement_params(more=True, classes=["bench"], min_area=0.0))
    assert result["annotations"] == 3


def test_raters_of_one_field_differ_by_their_attribute(one_field):
    params = {"field": "marks", "rater_attribute": "rater", "similarity": "box_iou", "threshold": 0.5}
    result = run("compute_agreement", one_field, run_key="first", **params)
    assert result["alpha"] == pytest.approx(MEAN)


def test_names_of_one_way_of_storing_are_not_taken_for_the_other(one_field):
    # the App still sends the raters that were offered before the way was changed
    params = defaults(form("compute_agreement", one_field, {"storage": "one field per rater"}))
    params |= {"storage": "one field with a rater attribute"}
    params |= defaults(form("compute_agreement", one_field, params))
    params["raters"] = ["marks"]
    params["storage"] = "one field with a rater attribute"
    assert run("compute_agreement", one_field, **params)["raters"] == ["ann", "bob"]


def test_a_reference_is_kept_out(stored):
    params = {"raters": ["ann", "bob", "dr. c"], "similarity": "box_iou", "threshold": 0.5, "run_key": "first"}
    assert run("compute_agreement", stored, **params, reference="dr. c")["raters"] == ["ann", "bob"]


def test_raters_may_be_named_by_their_fields(stored):
    assert run("compute_agreement", stored, raters=["ann", "dr_c"], run_key="first")["raters"] == ["ann", "dr. c"]


def test_find_variations_answers_its_metrics(fields):
    result = run("find_variations", fields, **agreement_params(max_merge=4))
    assert result["counts"] == COUNTS
    assert "| merged | 1 | 25\xa0% |" in result["text"]
    assert "1 of 1 correct finding has the very same outline" in result["text"]
    assert "No equilibrium: matched findings are never outnumbered, up to threshold 0.9." in result["text"]
    assert json.loads(json.dumps(result)) == result


def test_find_variations_counts_at_the_thresholds_it_is_given(fields):
    run("find_variations", fields, **agreement_params(thresholds=[0.2, 0.9]))
    assert kf.load_details(fields, "first").details.shares.threshold.tolist() == [0.2, 0.5, 0.9]
    without = run("find_variations", fields, **agreement_params(run_key="second", thresholds=[]))
    assert isinstance(kf.load_details(fields, "second").details.shares, kf.Undefined)
    assert "equilibrium" not in without["text"]


def test_delete_run_deletes_what_was_written(fields):
    before = documents(fields)
    run("find_variations", fields, **agreement_params())
    assert documents(fields) != before
    result = run("delete_run", fields, run_key="first")
    assert result["run_key"] == "first"
    assert documents(fields) == before


def test_load_raters_into_a_new_data_set(tmp_path):
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(coco()))
    params = {"labels": str(file), "dataset_name": "loaded", "canvas": str(tmp_path / "canvas")}
    result = foo.execute_operator(uri("load_raters"), {}, params=params).result
    assert result["dataset"] == "loaded"
    assert result["fields"] == {"ann": "ann", "bob": "bob", "dr. c": "dr_c"}
    assert (result["images"], result["annotations"]) == (1, 3)
    assert "Grey canvases stand in for 1 missing image" in result["text"]
    assert fo.load_dataset("loaded").values("raters") == [["ann", "bob", "dr. c"]]


def test_load_raters_into_this_data_set(tmp_path, pair):
    file = tmp_path / "more.json"
    file.write_text(json.dumps(coco(("dr. c",))))
    result = run("load_raters", pair, labels=str(file), target="this data set")
    assert result["dataset"] == "pair"
    assert list(kf.rater_fields(pair)) == ["ann", "bob", "dr. c"]
    assert len(pair) == 1


@pytest.mark.parametrize("asked", [False, True])
def test_a_load_ends_with_the_panel(stored, tmp_path, asked):
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(coco()))
    Image.new("RGB", (100, 80)).save(tmp_path / "a.jpg")
    params = defaults(form("load_raters", stored)) | {"labels": str(file), "dataset_name": "followed"}
    assert params["analyse"] is False
    operations = stream("load_raters", stored, params | {"analyse": asked})
    names = [name for name, _ in operations]
    assert [name for name in names if name.startswith("open")] == ["open_dataset"]
    assert names[-1] == "show_output"
    for dataset, opened in (("stored", []), ("followed", ["raters"]), ("followed", [])):  # once, as the App opens it
        requests = post("after_load", fo.load_dataset(dataset), {}).executor.to_json()["requests"]
        assert [entry["params"]["name"] for entry in requests] == opened
    progress = shares(operations)
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert kf.list_runs(fo.load_dataset("followed"), "agreement") == ["analysis"] * asked
    (text,) = summaries(operations)
    assert ("run **analysis**" in text) == asked
    assert ("Next: **Analyse raters**" in text) != asked


def test_a_load_into_this_data_set_opens_the_panel(tmp_path, pair):
    file = tmp_path / "more.json"
    file.write_text(json.dumps(coco(("dr. c",))))
    operations = stream("load_raters", pair, {"labels": str(file), "target": "this data set"})
    assert [name for name, _ in operations if name in ("open_panel", "reload_dataset")] == [
        "reload_dataset",
        "open_panel",
    ]


def test_load_raters_reconciles_class_names(tmp_path):
    labels = coco()
    for number, mark in enumerate(labels["annotations"]):
        mark["label_raw"] = ["kitty", "cat_1", "cat"][number]
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(labels))
    params = {"labels": str(file), "canvas": str(tmp_path), "category_field": "label_raw"}
    params |= {"aliases": '{"kitty": "cat", "bob": {"/cat_[0-9]+/": "cat"}}', "dataset_name": "reconciled"}
    foo.execute_operator(uri("load_raters"), {}, params=params)
    dataset = fo.load_dataset("reconciled")
    assert dataset.distinct("ann.detections.label") == dataset.distinct("bob.detections.label") == ["cat"]


def test_a_warning_of_ours_is_part_of_the_summary(fields):
    fields.delete_sample_field("raters")
    result = run("compute_agreement", fields, **agreement_params())
    assert "every rater is taken as assigned to every sample" in result["warnings"][0]
    assert f"- **Note:** {result['warnings'][0]}" in result["text"]


# ---- as functions ----


def test_operators_are_functions_for_a_notebook(fields, tmp_path):
    given = {"raters": ["ann", "bob"], "similarity": "box_iou", "threshold": 0.5}
    agreed = foo.get_operator(uri("compute_agreement"))(fields, "first", **given)
    assert agreed.result["alpha"] == pytest.approx(MEAN)
    found = foo.get_operator(uri("find_variations"))(fields.limit(2), "second", **given)
    assert found.result["images"] == 2
    for samples, key in ((fields, "first"), (fields.limit(1), "second")):
        foo.get_operator(uri("delete_run"))(samples, key)
    assert kf.list_runs(fields) == []
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(coco()))
    loaded = foo.get_operator(uri("load_raters"))(file, canvas=str(tmp_path))
    assert loaded.result["annotations"] == 3


# ---- wrong input ----


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"raters": ["ann", "nobody"]},
            "raters: expected a rater, or a field of Detections, Polylines or Keypoints, got 'nobody'",
        ),
        (
            {"raters": ["ann", "raters"]},
            "raters: expected a rater, or a field of Detections, Polylines or Keypoints, got 'raters'",
        ),
        ({"run_key": "not a key"}, "run key: expected a name of letters, digits and underscores"),
        ({"run_key": "bounding_box"}, "would overwrite the attribute 'bounding_box' of a Detection"),
        ({"raters": ["ann"]}, "Agreement needs at least two raters"),
        ({"similarity": "polygon_iou"}, "polygon"),
        ({"threshold": 2.0}, "threshold"),
        ({"advanced": True, "solver": "magic"}, "solver"),
        ({"more": True, "min_area": -1.0}, "min_area"),
        ({"more": True, "classes": ["unicorn"]}, "classes: expected classes among"),
    ],
)
@pytest.mark.parametrize("name", ["compute_agreement", "find_variations"])
def test_input_that_cannot_be_used_is_an_error_and_writes_nothing(fields, name, params, message):
    if name == "find_variations" and "solver" in params:
        pytest.skip("has no solver")
    before, schema = documents(fields), fields.get_field_schema(flat=True).keys()
    with pytest.raises((ExecutionError, ValueError)) as error:
        run(name, fields, **agreement_params(**params))
    assert message in last_line(error)
    assert documents(fields) == before
    assert fields.get_field_schema(flat=True).keys() == schema
    assert kf.list_runs(fields) == []


def test_an_empty_view_is_an_error(fields):
    view = {"view": fields.match_tags("nowhere")}
    with pytest.raises((ExecutionError, ValueError)) as error:
        foo.execute_operator(uri("compute_agreement"), view, params=agreement_params())
    assert "expected at least one sample, got an empty view" in last_line(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no json", "labels.json: expected JSON"),
        ("3", "labels.json: expected "),
        ('{"images": [], "annotations": [], "categories": []}', "labels.json: expected at least one image, got none"),
        (json.dumps({**coco(), "categories": []}), "labels.json: 3 records cannot be used."),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_and_leaves_no_data_set(tmp_path, text, message):
    file = tmp_path / "labels.json"
    file.write_text(text)
    before = fo.list_datasets()
    with pytest.raises((ExecutionError, ValueError)) as error:
        foo.execute_operator(uri("load_raters"), {}, params={"labels": str(file), "dataset_name": "broken"})
    assert message in str(error.value)
    assert fo.list_datasets() == before


@pytest.mark.parametrize("name", ["stored", "Stored", "!!!"])
def test_a_name_that_is_taken_or_impossible_is_an_error(stored, tmp_path, name):
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(coco()))
    before = documents(stored)
    with pytest.raises((ExecutionError, ValueError)) as error:
        foo.execute_operator(uri("load_raters"), {}, params={"labels": str(file), "dataset_name": name})
    assert "dataset_name: " in last_line(error)
    assert documents(stored) == before


# ---- delegated ----


def test_a_delegated_run_is_queued_and_stores_its_progress(fields):
    done = delegate("compute_agreement", fields, **agreement_params())
    assert done.run_state == "completed"
    assert done.status.progress == 1.0
    assert done.result.result["alpha"] == pytest.approx(MEAN)
    assert kf.list_runs(fields) == ["first"]


# ---- as the App ----


@pytest.mark.parametrize("name", ["compute_agreement", "find_variations"])
def test_the_app_gets_progress_a_panel_and_a_summary(fields, name):
    operations = stream(name, fields, agreement_params())
    progress = shares(operations)
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert len(progress) >= 4
    names = [operation for operation, _ in operations]
    assert [given["name"] for operation, given in operations if operation == "open_panel"] == ["raters"]
    assert names.index("reload_dataset") < names.index("open_panel")
    assert len(summaries(operations)) == 1
    assert names[-1] == "show_output"
    assert kf.list_runs(fields) == ["first"]


def arranged(*panels):
    """The App's layout with these panels open beside the grid."""
    children = [{"_cls": "Panel", "component_id": f"panel-{name}", "type": name} for name in panels]
    right = {"_cls": "Space", "component_id": "right", "children": children}
    return {**SPACES, "children": [SPACES["children"][0], right]}


def test_panels_that_are_open_take_up_a_new_run(fields):
    spaces = arranged("sample", "raters")
    operations = stream("compute_agreement", fields, agreement_params(), spaces=spaces)
    reloads = [(name, given) for name, given in operations if given.get("__method__") == "reload"]
    section = kf.KINDS["agreement"].section
    assert reloads == [(uri("raters"), {"panel_id": "panel-raters", "__method__": "reload", "section": section})]
    assert "open_panel" not in [name for name, _ in operations]  # it would open a second one


def test_every_open_panel_of_the_plugin_takes_up_that_a_run_is_gone(fields):
    run("compute_agreement", fields, **agreement_params())
    own = ["raters", "sample"]
    spaces = arranged(*own, "Map")  # a panel of somebody else
    requests = post("delete_run", fields, {"run_key": "first"}, spaces=spaces).executor.to_json()["requests"]
    reloads = {entry["operator_uri"] for entry in requests if entry["params"].get("__method__") == "reload"}
    assert reloads == {uri(name) for name in own}


def test_the_app_shows_what_is_wrong(fields):
    fields.set_values(
        "ann.detections.bounding_box",
        [[[0.1, 0.1, 0.0, 0.2] for _ in own or ()] for own in fields.values("ann.detections.id")],
    )
    before = documents(fields)
    operations = stream("compute_agreement", fields, agreement_params())
    notices = [given for name, given in operations if name == "notify"]
    assert [given["variant"] for given in notices] == ["error"]
    assert notices[0]["message"].startswith("Nothing was written: view: 5 records cannot be used")
    (summary,) = summaries(operations)
    assert summary.startswith("**Nothing was written.** view: 5 records cannot be used.")
    assert summary.count("\n- ") == 5
    assert "open_panel" not in [name for name, _ in operations]
    assert documents(fields) == before


def test_an_unexpected_error_is_shown_and_raised(fields, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(kf, "compute_agreement", fail)
    generator = post("compute_agreement", fields, agreement_params()).result
    notices = []
    with pytest.raises(ZeroDivisionError):
        notices.extend(message.body for message in generator)
    assert notices[-1].operator_uri == "notify"
    assert notices[-1].params["message"] == "Nothing was written: ZeroDivisionError: by nought"


def test_the_app_opens_what_was_loaded(fields, tmp_path):
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(coco()))
    params = {"labels": str(file), "dataset_name": "loaded", "canvas": str(tmp_path / "canvas")}
    operations = stream("load_raters", fields, params)
    assert [given["dataset"] for name, given in operations if name == "open_dataset"] == ["loaded"]
    progress = shares(operations)
    assert progress == sorted(progress)


def test_a_warning_does_not_hide_other_peoples_warnings(fields, monkeypatch):
    original = kf.compute_agreement

    def warn(*args, **options):
        warnings.warn("somebody else's", RuntimeWarning, stacklevel=1)
        warnings.warn("ours", KalosWarning, stacklevel=1)
        return original(*args, **options)

    monkeypatch.setattr(kf, "compute_agreement", warn)
    with pytest.warns(RuntimeWarning, match="somebody else's"):
        result = run("compute_agreement", fields, **agreement_params())
    assert result["warnings"] == ["ours"]
