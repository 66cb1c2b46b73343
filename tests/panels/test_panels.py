"""Panels posted to as the App does: what they hold, what a click leads to, what they say when something is wrong."""

from __future__ import annotations

import json

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.figures import agreement_title
from tests.fiftyone_bridge.scenes import MEAN, RATERS, SCENES, make_samples
from tests.panels.operations import at, given, ids, names, samples_of
from tests.plugin import Panel, uri

each_panel = pytest.mark.parametrize("name", ["agreement", "sample"])
OPERATORS = {
    "agreement": "compute_agreement",
    "sample": "compute_agreement",
}


# ---- nothing computed yet ----


@each_panel
def test_with_nothing_computed_a_panel_says_what_to_do(name, dataset):
    panel = Panel(name, dataset, current_sample=dataset.first().id)
    panel.load()
    assert "Nothing is computed yet" in panel.text()
    assert set(panel.shown) == {"invitation", "compute"}
    prompted = panel.send("compute")
    assert given(prompted, "prompt_user_for_operation")["operator_uri"] == uri(OPERATORS[name])


@each_panel
def test_the_last_run_is_deleted(name, analysed):
    panel = Panel(name, analysed, current_sample=analysed.first().id).load()
    assert panel.state["run"]
    for key in kf.list_runs(analysed):
        kf.delete_run(analysed, key)
    panel.load()
    assert "Nothing is computed yet" in panel.text()


# ---- Agreement ----


def test_agreement_shows_its_figures(analysed):
    panel = Panel("agreement", analysed).load()
    figures = kf.load_metrics(analysed, "agreement").metrics
    assert panel.text().count(agreement_title(MEAN, figures["alpha_interval"])) == 1
    assert "over 5 images, 7 units, 2 raters" in panel.text()
    assert "1 images empty by agreement lift the mean" in panel.text()
    assert "1 images have no alpha" in panel.text()
    (bars,) = panel.data["histogram"]
    edges = panel.state["edges"]
    assert (edges[0], edges[-1]) == (-0.7, 1.0)  # the lowest is -2/3
    counts = dict(zip(edges, bars["y"], strict=False))
    assert {edge: count for edge, count in counts.items() if count} == {-0.7: 1, 0.0: 2, 0.9: 2}
    assert [(row["rank"], row["alpha"], row["labels"]) for row in panel.rows("worst")] == [
        (1, "−0.667", 3),
        (2, "0.000", 2),
        (3, "0.000", 1),
        (4, "1.000", 2),
        (5, "1.000", 0),
    ]


def test_a_bar_sets_a_view_of_exactly_its_images(analysed):
    panel = Panel("agreement", analysed).load()
    edges = panel.state["edges"]
    found = {}
    for place, edge in enumerate(edges[:-1]):
        operations = panel.send("on_click_bar", idx=place)
        found[edge] = sorted(samples_of(analysed, operations))
        assert given(operations, "notify")["message"].startswith(f"{len(found[edge])} images with alpha from")
    expected = {edge: [] for edge in edges[:-1]}
    expected |= {-0.7: ids(analysed, 3), 0.0: sorted(ids(analysed, 1, 2)), 0.9: sorted(ids(analysed, 0, 4))}
    assert found == expected


def test_a_row_of_the_worst_images_opens_its_sample(analysed):
    panel = Panel("agreement", analysed).load()
    assert given(panel.send("on_click_worst", row=0), "open_sample") == {"id": ids(analysed, 3)[0], "group_id": None}
    view = samples_of(analysed, panel.send("show_worst"))
    assert view[0] == ids(analysed, 3)[0]
    assert len(view) == 5  # the one without an alpha is none of them


def test_all_images_of_a_run_are_shown_again(analysed):
    panel = Panel("agreement", analysed).load()
    assert names(panel.send("show_all")) == ["clear_view"]
    kf.compute_agreement(analysed.limit(2), "two", raters=RATERS)
    panel.load()
    assert panel.state["run"] == "two"
    assert samples_of(analysed, panel.send("show_all")) == ids(analysed, 0, 1)


def test_a_run_without_any_alpha_is_shown(dataset):
    kf.compute_agreement(dataset.skip(5), "undefined", raters=RATERS)  # only one of them was assigned
    panel = Panel("agreement", dataset).load()
    assert "Agreement is undefined" in panel.text()
    assert panel.rows("worst") == []
    assert "show_worst" not in panel.text()
    assert "Traceback" not in panel.text()


# ---- which run ----


def test_a_new_run_comes_up_and_an_older_one_can_be_chosen(analysed):
    panel = Panel("agreement", analysed).load()
    assert "run" not in panel.shown  # one run is no choice
    kf.compute_agreement(analysed, "second", raters=RATERS)
    panel.load()
    assert panel.state["run"] == "second"
    panel.send("on_change_run", value="agreement")
    assert panel.state["run"] == "agreement"
    panel.load()
    assert panel.state["run"] == "agreement"
    assert [choice["value"] for choice in panel.shown["run"]["view"]["choices"]] == ["second", "agreement"]


def test_choosing_an_older_run_counts_also_where_a_newer_one_came_up_meanwhile(analysed):
    kf.compute_agreement(analysed, "second", raters=RATERS)
    panel = Panel("agreement", analysed).load()
    kf.compute_agreement(analysed, "third", raters=RATERS)
    panel.send("on_change_run", value="agreement")
    assert panel.state["run"] == "agreement"


@pytest.mark.parametrize("section", ["Images", "Variations", "Threshold", "Ceiling"])
def test_labels_that_changed_since_are_reported_in_a_section(section, analysed):
    assert "since this run" not in at(Panel("raters", analysed).load(), section).text()
    sample = analysed.first()
    sample.ann.detections[0].label = "dog"
    sample.save()
    assert "1 image was edited or deleted since this run" in at(Panel("raters", analysed).load(), section).text()


@pytest.mark.parametrize("name", ["agreement"])
def test_labels_that_changed_since_are_reported(name, analysed):
    assert "since this run" not in Panel(name, analysed).load().text()
    sample = analysed.first()
    sample.ann.detections[0].label = "dog"
    sample.save()
    assert "1 image was edited or deleted since this run" in Panel(name, analysed).load().text()


@each_panel
def test_what_the_app_asks_twice_changes_nothing(name, analysed, monkeypatch):
    panel = Panel(name, analysed, current_sample=analysed.first().id).load()
    state = dict(panel.state)
    with monkeypatch.context() as patch:
        patch.setattr(kf, "list_runs", None)  # nothing is looked up
        panel.send("on_load")
    assert panel.state == state
    assert panel.shown
    panel.state["loaded"] -= 60  # opened anew later
    kf.delete_run(analysed, panel.state["run"])
    panel.send("on_load")
    assert panel.state["run"] is None


# ---- what goes wrong ----


@each_panel
def test_a_problem_is_shown_with_a_way_out(name, analysed, monkeypatch):
    def fail(*_, **__):
        raise InputError("run 'agreement': its stored result is gone\n  details")

    panel = Panel(name, analysed, current_sample=analysed.first().id)
    with monkeypatch.context() as patch:
        patch.setattr(kf, "list_runs", fail)
        operations = panel.send("on_load")
        text = given(operations, "notify")
        assert (text["message"], text["variant"]) == ("run 'agreement': its stored result is gone", "error")
        assert set(panel.shown) == {"failed", "retry"}
        assert "its stored result is gone" in panel.text()
    panel.load()
    assert "failed" not in panel.shown


@each_panel
def test_an_unexpected_error_is_shown_too_and_logged(name, analysed, monkeypatch, caplog):
    def fail(*_, **__):
        raise ZeroDivisionError("by nought")

    panel = Panel(name, analysed, current_sample=analysed.first().id)
    monkeypatch.setattr(kf, "list_runs", fail)
    panel.load()
    assert "ZeroDivisionError: by nought" in panel.text()
    assert "retry" in panel.shown
    assert "The panel" in caplog.text


@pytest.mark.parametrize(
    ("name", "method", "params"),
    [
        ("agreement", "on_click_bar", {"idx": 0}),
        ("agreement", "show_worst", {}),
        ("agreement", "show_all", {}),
        ("agreement", "on_click_class", {"idx": 0}),
        ("agreement", "on_change_category", {"value": "1"}),
    ],
)
def test_a_click_in_a_run_that_is_gone_is_no_traceback(analysed, name, method, params):
    panel = Panel(name, analysed).load()
    for key in kf.list_runs(analysed):
        kf.delete_run(analysed, key)
    panel.send(method, **params)
    assert f"got '{name}'" in panel.text()
    panel.load()
    assert "Nothing is computed yet" in panel.text()


@pytest.mark.parametrize(
    ("section", "page", "method", "params"),
    [
        ("Variations", "Types", "variations_click_bar", {"idx": 0}),
        ("Variations", "Types", "variations_click_rater", {"row": 0, "column": 1}),
        ("Variations", "Confusions", "variations_click_confusion", {"row": 0}),
        ("Variations", "Outlines", "variations_click_boundary", {"idx": 0}),
        ("Variations", "Outlines", "variations_show_copies", {}),
        ("Variations", "Merged", "variations_click_merged", {"row": 0}),
        ("Variations", "Merged", "variations_show_merged", {}),
        ("Threshold", "Types", "threshold_click_level", {"x": 0.7}),
        ("Threshold", "Sensitivity", "threshold_click_alpha", {"x": 0.5}),
        ("Threshold", "Calibration", "threshold_click_similarity", {"row": 1}),
        ("Threshold", "Calibration", "threshold_use", {}),
        ("Ceiling", "Interval", "ceiling_on_change_least", {"value": 0.6}),
        ("Ceiling", "Interval", "ceiling_click_part", {"row": 0}),
    ],
)
def test_a_click_in_a_section_of_a_run_that_is_gone_is_no_traceback(analysed, section, page, method, params):
    panel = at(Panel("raters", analysed).load(), section, page)
    panel.state["asked"] = True  # its doubts were read
    for key in kf.list_runs(analysed):
        kf.delete_run(analysed, key)
    panel.send(method, **params)
    assert "expected" in panel.state["problem"]
    assert "This could not be shown" in panel.text()
    panel.load()
    assert "Found: 2 raters" in panel.text()


def test_the_written_field_was_deleted_by_hand(analysed):
    analysed.delete_sample_field("agreement_alpha")
    panel = Panel("agreement", analysed).load()
    assert set(panel.shown) == {"failed", "retry"}


# ---- how much is sent ----


def test_a_run_on_many_images_stays_small():
    dataset = fo.Dataset()
    many = make_samples(SCENES * 334)
    for number, sample in enumerate(many):
        sample.filepath = f"/pictures/{number}.jpg"
    dataset.add_samples(many, progress=False)
    del many  # samples in memory would be loaded again after each write
    kf.compute_agreement(dataset, "agreement", raters=RATERS)
    kf.find_variations(dataset, "variations", raters=RATERS)
    kf.calibrate_threshold(dataset, "calibration", raters=RATERS, similarities=["box_iou"])
    for name in ("agreement", "sample"):
        panel = Panel(name, dataset, current_sample=dataset.first().id).load()
        assert panel.state["run"] == {"sample": "agreement"}.get(name, name)
        assert len(json.dumps([panel.state, panel.data])) < 50_000
    panel = Panel("raters", dataset).load()
    for section, page in (("Variations", "Types"), ("Variations", "Merged"), ("Threshold", "Calibration")):
        at(panel, section, page)
        assert len(json.dumps([panel.state, panel.data])) < 50_000
    assert len(dataset) == 2004
