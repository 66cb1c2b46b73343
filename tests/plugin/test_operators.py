"""The operators as FiftyOne runs them: from the SDK, from the App, delegated; and their forms."""

import json
from types import SimpleNamespace

import fiftyone as fo
import fiftyone.operators as foo
import pytest
from fiftyone.operators.delegated import DelegatedOperationService
from fiftyone.operators.executor import ExecutionContext

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.scenes import ALPHAS, COUNTS, MEAN, UNITS, VARIATIONS

PLUGIN = "@kalos/variation"
ANALYSES = ["compute_agreement", "find_variations"]


def run(name, dataset, **params):
    return foo.execute_operator(f"{PLUGIN}/{name}", {"dataset": dataset}, params=params).result


def form(name, dataset, **params):
    """The inputs of a form as the App gets them: name -> property."""
    operator = foo.get_operator(f"{PLUGIN}/{name}")
    context = ExecutionContext(
        request_params={"dataset_name": dataset.name, "dataset_id": str(dataset._doc.id), "params": params, "view": []},
        operator_uri=operator.uri,
    )
    return operator.resolve_input(context).to_json()["type"]["properties"]


def refused(properties):
    return {name: entry["error_message"] for name, entry in properties.items() if entry.get("invalid")}


def in_app(name, dataset, **params):
    """The messages streamed to the App: (operator, params) of each."""
    operator = foo.get_operator(f"{PLUGIN}/{name}")
    context = ExecutionContext(
        request_params={
            "dataset_name": dataset.name,
            "dataset_id": str(dataset._doc.id),
            "params": params,
            "view": [],
            "spaces": {},
        },
        executor=SimpleNamespace(trigger=lambda operator, params: (operator, params)),
        operator_uri=operator.uri,
    )
    return operator.execute(context)


# ---- from the SDK


def test_agreement_answers_its_figures_and_writes_them(dataset):
    result = run("compute_agreement", dataset, run_key="first")
    assert result["alpha"] == pytest.approx(MEAN)
    assert (result["empty_images"], result["undefined_images"]) == (1, 1)
    assert result["summary"].startswith("**Raters agree")
    assert dataset.values("first_alpha") == pytest.approx(ALPHAS)
    assert [dataset.values(f"{rater}.detections.first_unit") for rater in ("ann", "bob")] == UNITS


def test_variations_answer_their_counts_and_write_them(dataset):
    assert run("find_variations", dataset, run_key="first")["counts"] == COUNTS
    assert [dataset.values(f"{rater}.detections.first") for rater in ("ann", "bob")] == VARIATIONS


def test_without_a_run_key_a_free_one_is_taken(dataset):
    assert [run("compute_agreement", dataset)["run_key"] for _ in range(2)] == ["agreement", "agreement2"]


def test_a_view_is_what_is_analysed(dataset):
    result = foo.get_operator(f"{PLUGIN}/compute_agreement")(dataset[:2], "first").result
    assert (result["images"], result["alpha"]) == (2, 0.5)


def test_deleting_a_run_removes_what_it_wrote(dataset):
    before = [sample.to_dict() for sample in dataset]
    run("find_variations", dataset, run_key="first")
    assert run("delete_run", dataset, run_key="first")["run_key"] == "first"
    after = [sample.to_dict() for sample in dataset]
    for sample in before + after:
        sample.pop("last_modified_at")
    assert after == before


def test_labels_are_loaded_into_a_new_data_set(dataset, tmp_path):
    (tmp_path / "labels.json").write_text(json.dumps(COCO))
    result = run("load_raters", dataset, labels=str(tmp_path / "labels.json"), canvas=str(tmp_path / "canvas"))
    try:
        assert result["fields"] == {"ann": "ann", "b.o.b": "b_o_b"}
        assert "1 pictures are missing" in result["summary"]
        assert fo.load_dataset(result["dataset"]).values("raters") == [["ann", "b.o.b"]]
    finally:
        fo.delete_dataset(result["dataset"])


COCO = {
    "images": [{"id": 1, "file_name": "a.jpg", "width": 40, "height": 30, "rater_list": ["ann", "b.o.b"]}],
    "categories": [{"id": 1, "name": "cat"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "rater_id": "ann", "bbox": [1, 2, 3, 4]}],
}


@pytest.mark.parametrize("name", ANALYSES)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"run_key": "no identifier"}, "run key"),
        ({"run_key": "first", "raters": ["ann"]}, "at least two raters"),
        ({"run_key": "first", "threshold": 1.5}, "threshold"),
    ],
)
def test_bad_input_is_an_error_and_writes_nothing(dataset, name, params, message):
    with pytest.raises(Exception, match=f"(?is){message}|Validation"):
        run(name, dataset, **params)
    assert kf.list_runs(dataset) == []


# ---- in the App


@pytest.mark.parametrize("name", ANALYSES)
def test_the_app_sees_progress_then_the_summary(dataset, name):
    messages = list(in_app(name, dataset, run_key="first"))
    shares = [params["progress"] for operator, params in messages if operator == "set_progress"]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    operator, params = messages[-1]
    assert operator == "show_output"
    assert params["results"]["summary"].startswith("**")
    assert [operator for operator, _ in messages[-3:-1]] == ["reload_dataset", "open_panel"]
    assert kf.list_runs(dataset) == ["first"]


def test_the_app_sees_what_is_wrong_with_the_labels(dataset):
    sample = dataset.first()
    sample.ann.detections[0].bounding_box = [0.1, 0.1, 0.0, 0.5]
    sample.save()
    messages = dict(in_app("compute_agreement", dataset, run_key="first"))
    assert messages["notify"]["variant"] == "error"
    text = messages["show_output"]["results"]["summary"]
    assert "Nothing was written" in text
    assert sample.ann.detections[0].id in text
    assert kf.list_runs(dataset) == []


def test_an_unforeseen_failure_is_said_and_raised(dataset, monkeypatch):
    monkeypatch.setattr(kf, "compute_agreement", lambda *_, **__: 1 / 0)
    stream = in_app("compute_agreement", dataset, run_key="first")
    assert [next(stream)[0], next(stream)[0]] == ["set_progress", "notify"]
    with pytest.raises(ZeroDivisionError):
        next(stream)


# ---- delegated


def test_a_delegated_analysis_runs_and_keeps_its_result(dataset):
    queued = foo.execute_operator(
        f"{PLUGIN}/compute_agreement", {"dataset": dataset}, params={"run_key": "later"}, request_delegation=True
    )
    assert queued.delegated
    service = DelegatedOperationService()
    service.execute_queued_operations(operator=f"{PLUGIN}/compute_agreement", limit=1, log=False)
    done = service.get(queued.result["id"] if "id" in queued.result else queued.result["_id"])
    assert done.run_state == "completed"
    assert done.result.result["alpha"] == pytest.approx(MEAN)
    assert kf.list_runs(dataset) == ["later"]


# ---- forms


@pytest.mark.parametrize("name", ANALYSES)
def test_the_form_as_it_opens_can_be_run(dataset, name):
    properties = form(name, dataset)
    assert refused(properties) == {}
    defaults = {key: entry["default"] for key, entry in properties.items() if entry.get("default") is not None}
    assert defaults["raters"] == ["ann", "bob"]
    assert run(name, dataset, **defaults)["images"] == len(dataset)


@pytest.mark.parametrize("name", ANALYSES)
@pytest.mark.parametrize(
    ("params", "field", "message"),
    [
        ({"run_key": "1st"}, "run_key", "letters, digits"),
        ({"run_key": "class"}, "run_key", "letters, digits"),
        ({"run_key": "label"}, "run_key", "overwrite"),
        ({"raters": ["ann"]}, "raters", "two raters"),
    ],
)
def test_the_form_says_what_is_wrong_while_it_is_filled_in(dataset, name, params, field, message):
    assert message in refused(form(name, dataset, **params))[field]


def test_a_run_key_that_exists_is_refused_as_it_is_typed(dataset):
    run("compute_agreement", dataset, run_key="first")
    assert "another run" in refused(form("compute_agreement", dataset, run_key="first"))["run_key"]


@pytest.mark.parametrize("name", ANALYSES)
def test_a_data_set_without_labels_is_told_to_load_some(name):
    empty = fo.Dataset()
    try:
        assert any("oad" in str(entry) for entry in form(name, empty).values())
    finally:
        empty.delete()


def test_the_load_form_checks_paths_and_aliases(dataset, tmp_path):
    assert "no such file" in refused(form("load_raters", dataset, labels=str(tmp_path / "none.json")))["labels"]
    assert "JSON" in refused(form("load_raters", dataset, more=True, aliases="{"))["aliases"]


def test_the_delete_form_offers_the_runs_newest_first(dataset):
    assert refused(form("delete_run", dataset))
    for key in ("first", "second"):
        run("find_variations", dataset, run_key=key)
    assert form("delete_run", dataset)["run_key"]["default"] == "second"
