"""Operators called from Python: directly, as functions, and delegated; and as called by the App."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.operators as foo
import pytest
from fiftyone.operators.executor import ExecutionContext, ExecutionError, Executor
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosWarning
from tests.fiftyone_bridge.scenes import ALPHAS, MEAN, WITHOUT_EMPTY, documents
from tests.operators.calls import coco, delegate, last_line, run, summaries
from tests.plugin import SPACES, post, stream, uri

FIRST: dict[str, Any] = {"raters": ["ann", "bob"], "similarity": "box_iou", "threshold": 0.5, "run_key": "first"}
"""Required inputs, which calls from Python must pass."""


@pytest.fixture
def analysed(fields: fo.Dataset) -> fo.Dataset:
    """Return the scenes with an agreement."""
    kf.compute_agreement(fields, "run", raters=("ann", "bob"), bootstrap=0)
    return fields


# ---- from Python ----


def test_compute_agreement_answers_its_metrics(fields: fo.Dataset) -> None:
    result = run("compute_agreement", fields, **FIRST)
    assert result["alpha"] == pytest.approx(MEAN)
    assert result["alpha_without_empty"] == pytest.approx(WITHOUT_EMPTY)
    assert (
        f"| Mean alpha over images | {MEAN:.2f}\xa0(no\xa0interval:\xa0fewer\xa0than\xa08\xa0images)" in result["text"]
    )
    assert fields.values("first_alpha") == [pytest.approx(value) for value in ALPHAS[:5]] + [None]
    part = foo.execute_operator(uri("compute_agreement"), {"view": fields.limit(2)}, params=FIRST | {"run_key": "two"})
    assert (part.result["images"], part.result["alpha"]) == (2, pytest.approx(0.5))


def test_operators_are_functions_for_a_notebook(
    fields: fo.Dataset, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KALOS_FOLDER", str(file.parent))
    given = {name: value for name, value in FIRST.items() if name != "run_key"}
    agreed = foo.get_operator(uri("compute_agreement"))(fields, "first", **given)
    assert agreed.result["alpha"] == pytest.approx(MEAN)
    found = foo.get_operator(uri("find_variations"))(fields.limit(2), "second", **given)
    assert found.result["images"] == 2
    for samples, key in ((fields, "first"), (fields.limit(1), "second")):
        foo.get_operator(uri("delete_run"))(samples, key)
    assert kf.list_runs(fields) == []
    loaded = foo.get_operator(uri("load_raters"))(file, canvas="canvas")
    assert loaded.result["annotations"] == 3


def test_warnings_of_ours_are_part_of_the_summary_and_others_go_their_way(
    fields: fo.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = kf.compute_agreement

    def warn(*args: Any, **options: Any) -> Any:
        warnings.warn("somebody else's", RuntimeWarning, stacklevel=1)
        warnings.warn("ours", KalosWarning, stacklevel=1)
        return original(*args, **options)

    monkeypatch.setattr(kf, "compute_agreement", warn)
    with pytest.warns(RuntimeWarning, match="somebody else's"):
        result = run("compute_agreement", fields, **FIRST)
    assert result["warnings"] == ["ours"]
    assert "- **Note:** ours" in result["text"]


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("compute_agreement", {"raters": ["ann", "nobody"]}, "raters: expected a rater, or a field of Detections"),
        ("compute_agreement", {"run_key": "not a key"}, "run key: expected a name of letters, digits and underscores"),
        ("find_variations", {"run_key": "bounding_box"}, "would overwrite the attribute 'bounding_box' of a Detection"),
        ("find_variations", {"more": True, "classes": ["unicorn"]}, "classes: expected classes among"),
    ],
)
def test_input_that_cannot_be_used_is_an_error_and_writes_nothing(
    fields: fo.Dataset, name: str, params: dict[str, Any], message: str
) -> None:
    before, schema = documents(fields), fields.get_field_schema(flat=True).keys()
    with pytest.raises((ExecutionError, ValueError)) as error:
        run(name, fields, **FIRST | params)
    assert message in last_line(error)
    assert documents(fields) == before
    assert fields.get_field_schema(flat=True).keys() == schema
    assert kf.list_runs(fields) == []


def test_an_unknown_argument_is_refused(fields: fo.Dataset, file: Path) -> None:
    """For operators that do not create one kind of run; tests/operators/test_kinds.py tests the others."""
    Image.new("RGB", (100, 80)).save(file.parent / "a.jpg")
    kf.compute_agreement(fields, "agreement", raters=("ann", "bob"), bootstrap=0)
    kf.calibrate_threshold(fields, "run", raters=("ann", "bob"), similarities=["box_iou"], bootstrap=0)
    asked: dict[str, dict[str, Any]] = {
        "load_raters": {"labels": str(file), "image": "folder"},
        "delete_run": {"run_key": "run", "all": True},
        "analyse": {"key": "first", "run_key": "first"},
        "update_run": {"key": "agreement", "threshold": 0.5},
        "rename_run": {"run_key": "run", "new_key": "other", "kind": "calibration"},
        "describe_run": {"run_key": "run", "notes": "seen"},
        "choose_threshold": {"run_key": "run", "tau": 0.5},
        "decide": {"labels": ["x"], "decision": "none", "remark": "none"},
        "resolved": {"field": "gold", "remark": "none"},
        "tag_disputes": {"tag": "look", "remark": "none"},
        "next_to_rate": {"n": 2, "remark": "none"},
        "export_resolved": {"path": "a.json", "remark": "none"},
        "report": {"path": "a.html", "remark": "none"},
        "hand_over": {"anno_key": "ann", "remark": "none"},
    }
    for name, params in asked.items():
        with pytest.raises(ExecutionError) as error:
            run(name, fields, **params)
        assert f"{name}: expected arguments among" in last_line(error)
    assert sorted(fields.list_runs()) == ["agreement", "run"]


@pytest.mark.parametrize("request_params", [{}, {"spaces": SPACES}], ids=["python", "app"])
def test_a_value_of_another_type_and_a_missing_argument_are_refused(
    analysed: fo.Dataset, request_params: dict[str, Any]
) -> None:
    """The names that a call gives are checked before a form or a function reads them."""
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("compute_agreement", {"raters": math.inf}, "raters: expected several names, got inf"),
        ("compute_agreement", {"raters": 5}, "raters: expected several names, got 5"),
        ("compute_agreement", {"run_key": ["a"]}, "run_key: expected a text, got ['a']"),
        ("compute_agreement", {"threshold_of_box_iou": {}}, "threshold_of_box_iou: expected a number, got {}"),
        ("analyse", {"key": False}, "key: expected a text, got False"),
        ("analyse", {"attributes": 5}, "attributes: expected several names, got 5"),
        ("calibrate_threshold", {"similarities": 5}, "or several entries, got int"),
        ("estimate_convergence", {"least": "low"}, "least: expected a number, got 'low'"),
        ("estimate_convergence", {"least": math.nan}, "least: expected a number from 0.05 to 1, got nan"),
        ("estimate_convergence", {"greatest": 0.1}, "greatest: expected a number from 0.5 to 1, got 0.1"),
        ("inject_noise", {"raters": {}}, "raters: expected a whole number or several names, got {}"),
        ("compute_label_agreement", {"own_group_0": 5}, "own_group_0: expected several names, got 5"),
        ("compute_label_agreement", {"own_group_0": [None]}, "an entry of own_group_0: expected a text of at most"),
        ("compute_label_agreement", {"first_name": ["a"]}, "first_name: expected a text, got ['a']"),
        ("load_raters", {"labels": 0}, "labels: expected a text, got 0"),
        ("load_raters", {}, "load_raters: expected an argument labels, got none"),
        ("describe_run", {"run_key": "run", "note": "\ud800"}, "note: expected a text of at most"),
        ("decide", {"labels": None, "decision": "none"}, "decide: expected an argument labels, got none"),
        ("hand_over", {}, "hand_over: expected an argument anno_key, got none"),
        ("rename_run", {"run_key": "run", "new_key": None}, "rename_run: expected an argument new_key, got none"),
        ("update_run", {}, "expected a name, got None"),
    ]
    for name, params, message in wrong:
        asked = {"dataset_name": analysed.name, "view": [], "params": params, **request_params}
        found: Any = None
        try:
            context = ExecutionContext(asked, Executor(), operator_uri=uri(name))
            found = foo.get_operator(uri(name)).execute(context)
            found = found["text"] if isinstance(found, dict) else [part.body.params for part in found]
        except InputError as error:
            found = error
        assert message in str(found), (name, params)
    assert kf.list_runs(analysed) == ["run"]


# ---- delegated ----


def test_a_delegated_run_is_queued_and_stores_its_progress(fields: fo.Dataset) -> None:
    done = delegate("compute_agreement", fields, **FIRST)
    assert done.run_state == "completed"
    assert done.status.progress == 1.0
    assert done.result.result["alpha"] == pytest.approx(MEAN)
    assert kf.list_runs(fields) == ["first"]


def test_cancelled_it_leaves_nothing(fields: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    before = documents(fields)

    def stop(_: Any, progress: float | None = None, label: str | None = None) -> None:
        if progress is not None and progress > 0.55:
            raise RuntimeError(f"cancelled at {label}")

    monkeypatch.setattr(ExecutionContext, "set_progress", stop)
    done = delegate("inject_noise", fields, reference="ann", raters=2)
    assert done.run_state == "failed"
    assert "cancelled at Writing" in done.result.error
    assert fields.list_runs() == []
    assert documents(fields) == before


# ---- as the App ----


def arranged(*panels: str) -> dict[str, Any]:
    """Return the App's layout with these panels open beside the grid."""
    children = [{"_cls": "Panel", "component_id": f"panel-{name}", "type": name} for name in panels]
    right = {"_cls": "Space", "component_id": "right", "children": children}
    return {**SPACES, "children": [SPACES["children"][0], right]}


def test_panels_that_are_open_take_up_that_a_run_is_made_and_gone(fields: fo.Dataset) -> None:
    operations = stream("compute_agreement", fields, FIRST, spaces=arranged("sample", "raters"))
    reloads = [(name, given) for name, given in operations if given.get("__method__") == "reload"]
    section = kf.KINDS["agreement"].section
    assert reloads == [(uri("raters"), {"panel_id": "panel-raters", "__method__": "reload", "section": section})]
    assert "open_panel" not in [name for name, _ in operations]  # which would open a second one

    for panels, asked in (((), "open_panel"), (("raters",), uri("raters"))):  # the button above the grid
        requests = post("open_raters", fields, {}, spaces=arranged(*panels)).executor.to_json()["requests"]
        assert [entry["operator_uri"] for entry in requests] == [asked]
    spaces = arranged("raters", "sample", "Map")  # a foreign panel
    requests = post("delete_run", fields, {"run_key": "first"}, spaces=spaces).executor.to_json()["requests"]
    found = {entry["operator_uri"] for entry in requests if entry["params"].get("__method__") == "reload"}
    assert found == {uri("raters"), uri("sample")}


def test_the_app_shows_what_is_wrong(fields: fo.Dataset) -> None:
    flat = [[[0.1, 0.1, 0.0, 0.2] for _ in own or ()] for own in fields.values("ann.detections.id")]
    fields.set_values("ann.detections.bounding_box", flat)
    before = documents(fields)
    operations = stream("compute_agreement", fields, FIRST)
    (notice,) = [given for name, given in operations if name == "notify"]
    assert notice["variant"] == "error"
    assert notice["message"].startswith("Nothing was written: view: 5 records cannot be used")
    (summary,) = summaries(operations)
    assert summary.startswith("**Nothing was written.** view: 5 records cannot be used.")
    assert summary.count("\n- ") == 5
    assert "open_panel" not in [name for name, _ in operations]
    assert documents(fields) == before


def test_an_unexpected_error_is_shown_and_raised(fields: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(kf, "compute_agreement", fail)
    generator = post("compute_agreement", fields, FIRST).result
    notices = []
    with pytest.raises(ZeroDivisionError):
        notices.extend(message.body for message in generator)
    assert notices[-1].operator_uri == "notify"
    assert notices[-1].params["message"] == "Nothing was written: ZeroDivisionError: by nought"


# ---- loading ----


def test_load_raters_into_a_new_data_set(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KALOS_FOLDER", str(file.parent))
    labels = coco()
    for number, annotation in enumerate(labels["annotations"]):
        annotation["label_raw"] = ["kitty", "cat_1", "cat"][number]
    file.write_text(json.dumps(labels))
    params = {"labels": str(file), "dataset_name": "loaded", "canvas": "canvas"}
    params |= {"category_field": "label_raw", "aliases": '{"kitty": "cat", "bob": {"/cat_[0-9]+/": "cat"}}'}
    result = foo.execute_operator(uri("load_raters"), {}, params=params).result
    assert (result["dataset"], result["images"], result["annotations"]) == ("loaded", 1, 3)
    assert result["fields"] == {"ann": "ann", "bob": "bob", "dr. c": "dr_c"}
    assert "Grey canvases stand in for 1 missing image" in result["text"]
    loaded = fo.load_dataset("loaded")
    assert loaded.values("raters") == [["ann", "bob", "dr. c"]]
    assert loaded.distinct("ann.detections.label") == loaded.distinct("bob.detections.label") == ["cat"]
    operations = stream("load_raters", loaded, params | {"dataset_name": "shown"})
    assert [given["dataset"] for name, given in operations if name == "open_dataset"] == ["shown"]
