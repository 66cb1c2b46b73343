"""All analyses from one form, repeated analyses, and notes on runs: same results as the functions."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.runs.stored import find_analysis
from tests.fiftyone_bridge.quiz import RATERS as QUIZ_RATERS
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import RATERS, THREE, crowded, make_samples
from tests.operators.calls import data_set, delegate, notices, run, send, shares, summaries
from tests.plugin import defaults, form, post, refused, stream

FEW: dict[str, dict[str, Any]] = {"convergence": {"subsets": 4, "fraction": 0.5}, "calibration": {"bootstrap": 0}}
KEYS = ["first", "first_calibration", "first_convergence", "first_variations"]

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


@pytest.fixture
def crowd() -> fo.Dataset:
    """Return objects of three stored raters."""
    dataset = data_set(make_samples(crowded(0, 8)))
    store_raters(dataset, {name: name for name in THREE})
    return dataset


@pytest.fixture
def two_runs(fields: fo.Dataset) -> fo.Dataset:
    kf.analyse(fields, "first", kinds=["agreement", "variations"], raters=RATERS)
    return fields


def test_one_form_makes_all_runs(crowd: fo.Dataset) -> None:
    params = defaults(form("analyse", crowd)) | {"settings": FEW}
    assert params["key"] == "first"
    operations = stream("analyse", crowd, params)
    progress = shares(operations)
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert [given["name"] for name, given in operations if name == "open_panel"] == ["raters"]
    (text,) = summaries(operations)
    assert "On 8 images: agreement, variations, calibration" in text
    assert sorted(kf.list_runs(crowd)) == KEYS
    expected = kf.compute_agreement(crowd, "alone")
    assert kf.load_metrics(crowd, "first").metrics == expected.metrics
    kf.delete_run(crowd, "first")
    kf.find_variations(crowd, "first_variations", raters=THREE)
    assert form("analyse", crowd)["key"].default == "first2"  # a key is checked with all names derived from it
    assert "'first_variations' is the key of another run" in refused(form("analyse", crowd, {"key": "first"}))["key"]


def test_the_selection_reaches_every_run(crowd: fo.Dataset) -> None:
    params = {
        "raters": ["ann", "bob"],
        "similarity": "centroid_box",
        "threshold_of_centroid_box": 0.25,
        "more": True,
        "classes": ["cat"],
    }
    done = delegate("analyse", crowd, key="first", settings=FEW, **params)
    assert (done.run_state, done.status.progress) == ("completed", 1.0)
    assert done.result.result["runs"]["variations"] == "first_variations"
    runs = find_analysis(crowd, "first").runs
    assert sorted(kf.list_runs(crowd)) == KEYS
    assert {found.selection for found in runs.values()} == {kf.Selection(raters=("ann", "bob"), classes=("cat",))}
    assert runs["variations"].settings["threshold"] == 0.25
    assert runs["convergence"].settings["similarity"] == "centroid_box"


def test_attributes_are_compared_by_the_agreement(crowd: fo.Dataset) -> None:
    for field in THREE:
        counts = [len(names or ()) for names in crowd.values(f"{field}.detections.label")]
        crowd.set_values(f"{field}.detections.grade", [list(range(count)) for count in counts], dynamic=True)
    few = {"agreement": {"bootstrap": 20}}
    send("analyse", crowd, kinds=["agreement", "variations"], settings=few, attributes=["grade"])
    found = kf.load_details(crowd, "first")
    assert found.settings["bootstrap"] == 20
    assert [one.name for one in found.details.attributes] == ["grade"]
    send("update_run", crowd, run_key="first")
    assert [one.name for one in kf.load_details(crowd, "first2").details.attributes] == ["grade"]


def test_without_objects_there_is_nothing_to_select() -> None:
    dataset = data_set(quiz)
    store_raters(dataset, {name: name for name in QUIZ_RATERS})
    assert set(form("analyse", dataset)) == {"key"}
    send("analyse", dataset)
    assert [(found.kind, found.key) for found in kf.list_runs(dataset, info=True)] == [("image_labels", "first")]


def test_update_is_the_same_again(two_runs: fo.Dataset) -> None:
    inputs = form("update_run", two_runs)
    assert (inputs["key"].default, inputs["new_key"].default) == ("first", "first2")
    sample = two_runs.skip(1).first()
    sample.bob.detections[0].label = "cat"
    sample.save()
    send("update_run", two_runs)
    assert [analysis.key for analysis in kf.list_analyses(two_runs)] == ["first2", "first"]
    assert kf.compare_runs(two_runs, "first", "first2").comparison.improved.tolist() == [sample.id]
    assert run("update_run", two_runs, key="first2")["key"] == "first3"


def test_renaming_and_deleting_an_analysis_says_all_that_goes(two_runs: fo.Dataset) -> None:
    params = {"run_key": "first", "new_key": defaults(form("rename_run", two_runs, {"run_key": "first"}))["new_key"]}
    assert params["new_key"] == "first2"
    assert refused(form("rename_run", two_runs, params)) == {}
    assert "new_key" in refused(form("rename_run", two_runs, {"run_key": "first", "new_key": "first"}))
    run("rename_run", two_runs, **params)
    assert sorted(kf.list_runs(two_runs)) == ["first2", "first2_variations"]
    said = notices(form("delete_run", two_runs, {"run_key": "first2"}))
    assert "'first2_alpha'" in said
    assert "'first2_variations_all'" in said
    assert "'first2_alpha'" not in notices(form("delete_run", two_runs, {"run_key": "first2_variations"}))
    post("delete_run", two_runs, {"run_key": "first2"})
    assert kf.list_runs(two_runs) == []


def test_a_note_and_a_status(fields: fo.Dataset) -> None:
    kf.compute_agreement(fields, "first", raters=RATERS, bootstrap=0)
    assert defaults(form("describe_run", fields))["status"] == "none"
    answer = run("describe_run", fields, run_key="first", note="cats first", status="in_review")
    assert (answer["note"], answer["status"]) == ("cats first", "in_review")
    inputs = form("describe_run", fields)
    assert (inputs["note"].default, inputs["status"].default) == ("cats first", "in_review")
    run("describe_run", fields, run_key="first", status="none")
    found = kf.load_metrics(fields, "first")
    assert (found.note, found.status) == ("cats first", "")
