"""Panel *Raters*: its sections, its filter, effects of clicks and *Back*, and concurrent changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError
from kalos_core.fiftyone.dataset.document import touch
from kalos_core.fiftyone.internals import database, id_of
from kalos_core.fiftyone.kinds.agreement.views import view_worst_first
from kalos_core.fiftyone.runs.stored import describe_run
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import RATERS, SCENES, make_samples
from tests.operators.calls import data_set
from tests.panels.conftest import THREE
from tests.panels.operations import at, look_at, names, opened, prompted, samples_of
from tests.plugin import Panel, Workbench, form, post
from tests.tiers import extended


def ask(panel: Panel, method: str, **params: Any) -> list[dict[str, Any]]:
    """Return the operations in response to one event, as the App receives them."""
    view = params.pop("view", {})
    asked = {"panel_id": "p", "__method__": method, "panel_state": panel.state, **params}
    requests: list[dict[str, Any]] = post("raters", panel.dataset, asked, **view).executor.to_json()["requests"]
    return requests


# ---- initial state ----


def test_before_any_run_it_says_which_raters_were_found(dataset: fo.Dataset) -> None:
    panel = Workbench(dataset).load()
    start = panel.frame["start"]
    assert start["found"][0].startswith("2 raters, boxes, 6 images")
    asked = panel.send("prompt", operator="analyse", given=start["given"])
    assert prompted(asked) == ("analyse", {"raters": list(RATERS)})
    assert Workbench(fo.Dataset()).load().frame["start"] == {"found": [], "given": {}, "unreadable": []}


def test_a_deleted_field_of_a_run_is_named(own: fo.Dataset, tmp_path: Path) -> None:
    own.delete_sample_field("agreement_alpha")
    panel = Workbench(own).load()
    words = "the field 'agreement_alpha' of run 'agreement' was deleted or renamed; compute the run again; "
    assert panel.state["problem"] == f"{words}nothing is shown"
    with pytest.raises(KalosError, match=f"^{words}no report is written$"):
        kf.report(own, "agreement", tmp_path / "report.html")


def test_runs_that_cannot_be_read_are_named_and_can_be_deleted(own: fo.Dataset) -> None:
    """They are listed beside others in *Runs*; without others, on the first page."""
    every, runs = kf.list_runs(own), database().runs

    def damage(keys: list[str]) -> None:
        runs.update_many({"key": {"$in": keys}, "_dataset_id": id_of(own)}, {"$set": {"config.images": "many"}})
        touch(own)

    key = kf.list_analyses(own)[-1].key
    damage([key])
    panel = Workbench(own).load()
    assert key not in [name for name, _ in panel.frame["analyses"]]
    rows = {row["key"]: row for row in opened(own, "Runs").record["shown"]["runs"]}
    assert [row["changed"] for name, row in rows.items() if name == key] in ([None], [])
    assert any("'images' was changed or lost" in text for row in rows.values() for text in row["said"])
    damage(every)
    start = Workbench(own).load().frame["start"]
    assert {run["key"] for run in start["unreadable"]} == set(every)
    while every := kf.list_runs(own):
        assert f"{every[0]} cannot be read" in form("delete_run", own, {"run_key": every[0]})["unreadable"].view.label
        post("delete_run", own, {"run_key": every[0]})
    own.reload()
    assert own.list_runs() == []


def test_the_newest_analysis_is_shown_and_an_old_one_can_be_chosen(own: fo.Dataset) -> None:
    panel = Workbench(own).load()
    assert (panel.state["analysis"], panel.state["section"]) == ("agreement", "Overview")
    kf.compute_agreement(own, "second", raters=RATERS, threshold=0.7, bootstrap=20)
    panel.send("reload")
    assert panel.state["analysis"] == "second"
    for _ in range(2):
        panel.send("on_change_analysis", value="agreement")
        assert panel.state["analysis"] == "agreement"
        panel.send("reload")


def test_sections_are_those_of_the_labels_that_are_there(analysed: fo.Dataset) -> None:
    groups = {
        "Overview": ["Overview", "Published"],
        "Differences": ["Variations", "Images", "Classes"],
        "Raters": ["Raters"],
        "Decide": ["Decide", "Training list", "Guideline", "Results"],
        "Models": ["Ceiling"],
        "Runs": ["Runs", "Threshold"],
    }
    panel = Workbench(analysed).load()
    found: dict[str, list[str]] = {}
    for section in panel.frame["sections"]:
        found.setdefault(section["group"], []).append(section["name"])
        at(panel, section["name"])
        assert panel.record is not None
    assert found == groups
    answers = data_set(quiz())
    kf.compute_label_agreement(answers, "labels", raters=THREE, bootstrap=0)
    found = set(Workbench(answers).load().state["sections"])
    assert {"Questions", "Teams", "Ranking", "Runs"} <= found
    assert not {"Masks", "Truth", "Noise", "Images"} & found


# ---- the filter ----


def test_the_view_is_followed_only_when_it_is_to_be(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Images")
    everything = panel.record
    panel.request = {"view": analysed.limit(3)}
    (told,) = panel.post("on_change_view")[1]  # the view is notified, and repeats its request if it depends on it
    assert told[0] == "patch_panel_data"
    assert at(panel, "Images").record == everything
    panel.look_through(follow=True)
    assert panel.record["images"] == 3


def test_a_panel_that_an_operator_loads_anew_stays_where_it_was(trio: fo.Dataset) -> None:
    panel = look_at(opened(trio, "Images"), category="cat")
    panel.send("reload")
    assert panel.state["section"] == "Images"
    assert panel.filter["category"] == "cat"
    panel.send("reload", section="Classes")  # a new run names the section that shows it
    assert panel.state["section"] == "Classes"
    assert Workbench(trio).load().state["section"] == "Overview"


# ---- errors, and concurrent changes ----


def test_a_problem_is_answered_in_words(
    analysed: fo.Dataset, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(error: Exception) -> Any:
        def raising(*_: Any, **__: Any) -> None:
            raise error

        return raising

    panel = Workbench(analysed)
    beside = Panel("sample", analysed, current_sample=analysed.first().id)
    with monkeypatch.context() as patch:
        patch.setattr(kf, "list_analyses", fail(InputError("run 'agreement': its stored result is gone\n  details")))
        panel.send("on_load")
        assert panel.state["problem"].startswith("run 'agreement': its stored result is gone")
        beside.send("on_load")
        assert json.loads(beside.data["beside"])["problem"] == panel.state["problem"]
        patch.setattr(kf, "list_analyses", fail(ZeroDivisionError("by nought")))
        panel.send("reload")
        assert panel.state["problem"] == "ZeroDivisionError: by nought"
        assert "A question of the view" in caplog.text
    panel.send("reload")
    beside.send("reload")
    assert not panel.state.get("problem")
    assert json.loads(beside.data["beside"])["queue"]["run"] == "agreement"


def test_runs_fields_and_data_sets_may_go_meanwhile(own: fo.Dataset, dataset: fo.Dataset) -> None:
    panel = opened(own, "Images")
    panel.dataset = dataset  # another one replaces the first
    panel.send("on_change_dataset")
    assert panel.frame["start"]["found"][0].startswith("2 raters")
    assert panel.state["analysis"] is None
    panel = opened(own, "Overview")
    own.delete_sample_field("agreement_alpha")
    panel.send("choose_section", value="Images")
    assert panel.state["problem"]
    for key in kf.list_runs(own):
        kf.delete_run(own, key)
    panel.send("choose_section", value="Classes")
    assert panel.state["problem"]
    panel.send("reload")
    assert panel.frame["start"]["found"][0].startswith("2 raters")


def test_a_click_leads_to_images_and_back_again(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Images")
    operations = panel.act("worst")
    worst = view_worst_first(analysed, "agreement")
    assert samples_of(analysed, operations) == worst.values("id")
    panel.request = {"view": worst}
    assert names(panel.send("back")) == ["clear_view"]
    assert panel.grids == []


@extended
def test_an_analysis_of_many_images_stays_small() -> None:
    many = make_samples(SCENES * 334)
    for number, sample in enumerate(many):
        sample.filepath = f"/pictures/{number}.jpg"
    dataset = data_set(many)
    del many, sample  # samples in memory would be reloaded after each write
    kf.compute_agreement(dataset, "agreement", raters=RATERS, bootstrap=20)
    kf.find_variations(dataset, "variations", raters=RATERS)
    panel = Workbench(dataset).load()
    sizes = {}
    for section in panel.state["sections"]:
        at(panel, section)
        sizes[section] = len(json.dumps([panel.state, panel.data, panel.record]))
    assert {section: size for section, size in sizes.items() if size >= 50_000} == {}


# ---- runs ----


def test_two_analyses_are_compared(own_trio: fo.Dataset) -> None:
    panel = opened(own_trio, "Runs").choose(page="Compare")
    assert panel.record["shown"] is None  # there is no other one
    first = own_trio.first()
    first.cid.detections = []
    first.save()
    kf.compute_agreement(own_trio, "second", raters=THREE, bootstrap=50)
    panel.send("reload")
    assert panel.state["section"] == "Runs"
    found = kf.compare_runs(own_trio, "agreement", "second").comparison
    shown = panel.choose(page="Compare").record["shown"]
    assert shown["images"] == {"improved": len(found.improved), "worsened": len(found.worsened)}
    assert (shown["against"], shown["analysis"]) == ("agreement", "second")
    assert shown["change"]["value"] == found.difference
    operations = panel.act("change", which="worsened", against="agreement")
    assert samples_of(own_trio, operations) == found.worsened.tolist()
    assert {row["name"] for row in shown["classes"]} == set(found.classes.name)
    changes = [abs(row["change"]) for row in shown["raters"]]
    assert changes == sorted(changes, reverse=True)


def test_runs_are_listed_by_analysis_and_what_to_do_with_them_is_offered(own_trio: fo.Dataset) -> None:
    describe_run(own_trio, "variations", note="before the new guideline")
    kf.analyse(own_trio, "first", kinds=["agreement", "variations"], raters=RATERS)
    describe_run(own_trio, "first_variations", note="all of them seen")
    panel = opened(own_trio, "Runs")
    rows = panel.record["shown"]["runs"]
    assert [row["key"] for row in rows] == ["first", "variations", "agreement"]
    assert rows[0]["what"] == ["Agreement", "Variations"]  # the runs of an analysis are in one row
    assert [row["said"][-1] for row in rows[:2]] == ["all of them seen", "before the new guideline"]
    arguments = {"update_run": "key", "rename_run": "run_key", "describe_run": "run_key", "delete_run": "run_key"}
    for operator, argument in arguments.items():
        assert prompted(panel.act("do", operator=operator, key="variations")) == (operator, {argument: "variations"})
    offered = form("rename_run", own_trio, {"run_key": "first"})["run_key"].type.values
    assert set(offered) == {"variations", "agreement", "first_variations", "first"}  # each separately, too
    sample = own_trio.first()
    sample.ann.detections[0].label = "dog"
    sample.save()
    panel.send("reload")
    assert [row["changed"] for row in panel.record["shown"]["runs"]] == [1, 1, 1]


def test_a_request_with_another_type_or_without_an_entry_is_refused(
    analysed: fo.Dataset, caplog: pytest.LogCaptureFixture
) -> None:
    """The problem names the entry, what was expected and the actual value; an exception of Python would be logged."""
    part, sample = {"category": None, "rater": None}, analysed.first().id
    queue = {"run": "agreement", "variations": None, "part": part}
    made = {**queue, "sample": sample, "labels": [], "decision": "none", "note": "", "who": ""}
    at = {"analysis": "agreement", "section": "Overview"}
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("queue", {**queue, "part": 5}, "part: expected a mapping, got 5"),
        ("queue", {**queue, "run": None}, "run: expected a value, got none"),
        ("disputes", {**queue, "part": {"category": ["cat"]}}, "category: expected a text, got ['cat']"),
        ("decide", {**made, "note": 5}, "note: expected a text, got 5"),
        ("decide", {**made, "when": "noon"}, "when: expected a time in ISO format, got 'noon'"),
        ("select", {"sample": sample, "labels": [["a"]]}, "labels: expected pairs of an id and its field, got [['a']]"),
        ("frame", {"filter": 5}, "filter: expected a mapping, got 5"),
        ("frame", {"known": 5}, "known: expected several names, got 5"),
        ("section", {"analysis": "agreement", "name": "Odd"}, "section: expected one of "),
        ("act", {**at, "click": "odd"}, "click: expected one of "),
        ("act", {**at, "click": "open"}, "sample: expected a value, got none"),
        ("act", {**at, "click": "open", "given": 5}, "given: expected a mapping, got 5"),
        ("act", {**at, "click": "difference", "given": {"name": "odd"}}, "name: expected one of "),
        (
            "act",
            {**at, "section": "Images", "click": "alpha", "given": {"low": "0"}},
            "low: expected a number, got '0'",
        ),
        (
            "act",
            {**at, "section": "Classes", "click": "confusion", "given": {"classes": ["cat"]}},
            "classes: expected two names, got ['cat']",
        ),
        (
            "act",
            {**at, "section": "Guideline", "click": "open", "given": {"run": "agreement", "labels": ["odd"]}},
            "labels: expected ids of labels, got 'odd'",
        ),
        ("section", {"analysis": "agreement", "name": "Ranking"}, "section: expected one with data, got 'Ranking'"),
        ("back", {"before": 5}, "before: expected several mappings, got 5"),
        ("prompt", {}, "operator: expected a value, got none"),
    ]
    panel = Workbench(analysed)
    for question, params, problem in wrong:
        panel.ask(question, **params)
        assert problem in (panel.state["problem"] or ""), (question, params)
    assert caplog.records == []
