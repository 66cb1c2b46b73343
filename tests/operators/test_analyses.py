"""All analyses from one form, the same again, and what is said of a run: as the functions do."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.raters import store_raters
from tests.fiftyone_bridge.quiz import RATERS as QUIZ_RATERS
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import RATERS, THREE, crowded, make_samples
from tests.operators.calls import delegate, notices, run, send, shares, summaries
from tests.plugin import defaults, form, post, refused, stream

FEW: dict[str, dict[str, Any]] = {"convergence": {"subsets": 4, "fraction": 0.5}, "calibration": {"bootstrap": 0}}
KEYS = ["first", "first_calibration", "first_convergence", "first_variations"]

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


@pytest.fixture
def crowd() -> fo.Dataset:
    """Objects of three raters, who are stored."""
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(make_samples(crowded(0, 16)), progress=False)
    store_raters(dataset, {name: name for name in THREE})
    return dataset


def test_one_form_makes_all_runs(crowd: fo.Dataset) -> None:
    send("analyse", crowd, settings=FEW)
    assert sorted(kf.list_runs(crowd)) == KEYS
    expected = kf.compute_agreement(crowd, "alone")
    assert kf.load_metrics(crowd, "first").metrics == expected.metrics


def test_the_app_gets_one_bar_the_panel_and_what_was_made(crowd: fo.Dataset) -> None:
    operations = stream("analyse", crowd, {"settings": FEW, "key": "study"})
    progress = shares(operations)
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert [given["name"] for name, given in operations if name == "open_panel"] == ["raters"]
    (text,) = summaries(operations)
    assert "- Label convergence: run **study\\_convergence**, 16 images" in text


def test_what_is_selected_reaches_every_run(crowd: fo.Dataset) -> None:
    params = {
        "raters": ["ann", "bob"],
        "similarity": "centroid_box",
        "threshold_of_centroid_box": 0.25,
        "more": True,
        "classes": ["cat"],
    }
    send("analyse", crowd, settings=FEW, **params)
    runs = kf.find_analysis(crowd, "first").runs
    assert {found.selection for found in runs.values()} == {kf.Selection(raters=("ann", "bob"), classes=("cat",))}
    assert runs["variations"].settings["threshold"] == 0.25
    assert runs["convergence"].settings["similarity"] == "centroid_box"


def test_attributes_are_compared_by_the_agreement(crowd: fo.Dataset) -> None:
    assert "attributes" not in form("analyse", crowd, {})
    for field in THREE:
        counts = [len(names or ()) for names in crowd.values(f"{field}.detections.label")]
        crowd.set_values(f"{field}.detections.grade", [list(range(count)) for count in counts], dynamic=True)
    assert "attributes" in form("analyse", crowd, {})
    few = {"agreement": {"bootstrap": 20}}
    send("analyse", crowd, kinds=["agreement", "variations"], settings=few, attributes=["grade"])
    run = kf.load_details(crowd, "first")
    assert run.settings["bootstrap"] == 20
    assert [found.name for found in run.details.attributes] == ["grade"]
    send("update_run", crowd, run_key="first")
    assert [found.name for found in kf.load_details(crowd, "first2").details.attributes] == ["grade"]


def test_a_key_is_checked_with_all_that_it_names(crowd: fo.Dataset) -> None:
    kf.find_variations(crowd, "first_variations")
    inputs = form("analyse", crowd)
    assert inputs["key"].default == "first2"
    assert "'first_variations' is the key of another run" in refused(form("analyse", crowd, {"key": "first"}))["key"]


def test_without_objects_there_is_nothing_to_select() -> None:
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(quiz(), progress=False)
    store_raters(dataset, {name: name for name in QUIZ_RATERS})
    assert set(form("analyse", dataset)) == {"key"}
    send("analyse", dataset)
    assert [(found.kind, found.key) for found in kf.list_runs(dataset, info=True)] == [("image_labels", "first")]


def test_without_labels_the_form_says_what_to_do() -> None:
    dataset = fo.Dataset(persistent=True)
    dataset.add_samples([fo.Sample("/a.jpg")], progress=False)
    assert "No labels yet" in notices(form("analyse", dataset))
    assert "refused" in refused(form("analyse", dataset))


def test_it_can_be_delegated(crowd: fo.Dataset) -> None:
    done = delegate("analyse", crowd, key="first", settings=FEW)
    assert done.run_state == "completed"
    assert done.status.progress == 1.0
    assert done.result.result["runs"]["variations"] == "first_variations"
    assert sorted(kf.list_runs(crowd)) == KEYS


def test_update_is_the_same_again(fields: fo.Dataset) -> None:
    kf.analyse(fields, "first", kinds=["agreement", "variations"], raters=RATERS)
    inputs = form("update_run", fields)
    assert (inputs["key"].default, inputs["new_key"].default) == ("first", "first2")
    sample = fields.skip(1).first()
    sample.bob.detections[0].label = "cat"
    sample.save()
    send("update_run", fields)
    assert [analysis.key for analysis in kf.list_analyses(fields)] == ["first2", "first"]
    assert kf.compare_runs(fields, "first", "first2").comparison.improved.tolist() == [sample.id]
    assert run("update_run", fields, key="first2")["key"] == "first3"


def test_update_without_an_analysis(fields: fo.Dataset) -> None:
    assert "There is no analysis yet" in notices(form("update_run", fields))
    assert "key" in refused(form("update_run", fields))


def test_renaming(fields: fo.Dataset) -> None:
    kf.analyse(fields, "first", kinds=["agreement", "variations"], raters=RATERS)
    params = {"run_key": "first"} | {"new_key": defaults(form("rename_run", fields, {"run_key": "first"}))["new_key"]}
    assert params["new_key"] == "first2"
    assert refused(form("rename_run", fields, params)) == {}
    assert "new_key" in refused(form("rename_run", fields, {"run_key": "first", "new_key": "first"}))
    run("rename_run", fields, **params)
    assert sorted(kf.list_runs(fields)) == ["first2", "first2_variations"]


def test_what_cannot_be_renamed_says_why(fields: fo.Dataset) -> None:
    kf.inject_noise(fields, "noise", reference="ann", raters=2)
    assert "cannot be renamed" in notices(form("rename_run", fields))
    assert "refused" in refused(form("rename_run", fields))


def test_a_note_and_a_status(fields: fo.Dataset) -> None:
    kf.compute_agreement(fields, "first", raters=RATERS)
    assert defaults(form("describe_run", fields))["status"] == "none"
    answer = run("describe_run", fields, run_key="first", note="cats first", status="in_review")
    assert (answer["note"], answer["status"]) == ("cats first", "in_review")
    inputs = form("describe_run", fields)
    assert (inputs["note"].default, inputs["status"].default) == ("cats first", "in_review")
    run("describe_run", fields, run_key="first", status="none")
    found = kf.load_metrics(fields, "first")
    assert (found.note, found.status) == ("cats first", "")


def test_deleting_an_analysis_says_all_that_goes(fields: fo.Dataset) -> None:
    kf.analyse(fields, "first", kinds=["agreement", "variations"], raters=RATERS)
    said = notices(form("delete_run", fields, {"run_key": "first"}))
    assert "'first_alpha'" in said
    assert "'first_variations_all'" in said
    assert "'first_alpha'" not in notices(form("delete_run", fields, {"run_key": "first_variations"}))
    post("delete_run", fields, {"run_key": "first"})
    assert kf.list_runs(fields) == []
