"""The sections of the Variations panel: what each shows, and what a click leads to."""

from __future__ import annotations

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES
from kalos_core.figures import boundary_title, shares_title
from tests.fiftyone_bridge.scenes import RATERS
from tests.panels.operations import given, ids, names, on, plots, view_of
from tests.plugin import Panel

SECTIONS = ["Types", "Thresholds", "Boundaries", "Merged", "Confusions"]


@pytest.fixture
def found(dataset: fo.Dataset) -> fo.Dataset:
    """The six scenes with a search for variations."""
    kf.find_variations(dataset, "variations", raters=RATERS)
    return dataset


def test_a_section_shows_its_figures_each_with_how_to_read_it(found):
    panel = Panel("variations", found).load()
    assert [choice["value"] for choice in panel.shown["section"]["view"]["choices"]] == SECTIONS
    shown = {section: plots(on(panel, section)) for section in SECTIONS}
    assert shown == {
        "Types": ["counts"],
        "Thresholds": ["shares"],
        "Boundaries": ["boundary"],
        "Merged": [],
        "Confusions": [],
    }
    for section, figures in shown.items():
        assert all(f"{figure}_caption" in on(panel, section).shown for figure in figures)


def test_a_tab_that_the_app_has_changed_itself_is_not_set_again(found):
    # set again, it sends another event: two changes that cross would never end
    panel = Panel("variations", found).load()
    panel.state["section"] = "Merged"
    before = dict(panel.state)
    panel.state = dict(before)
    panel.send("on_change_section", value="Merged")
    assert panel.state == before
    assert "merged" in panel.shown


def test_thresholds_show_what_the_run_stored(found):
    panel = on(Panel("variations", found).load(), "Thresholds")
    shares = kf.load_details(found, "variations").details.shares
    for index, trace in enumerate(panel.data["shares"]):
        assert trace["x"] == shares.threshold.tolist()
        assert trace["customdata"] == shares.counts[:, index].tolist()
    assert shares_title(shares.equilibrium, shares.no_equilibrium) in panel.text()
    counts = shares.counts[shares.threshold.tolist().index(0.5)]
    assert [row["own"].split("\xa0")[0] for row in panel.rows("at_threshold")] == [str(count) for count in counts]
    assert "Change" not in panel.text()


@pytest.mark.parametrize(
    ("method", "params"), [("on_click_threshold", {"x": 0.31}), ("on_change_threshold", {"value": "0.3"})]
)
def test_a_threshold_shows_its_counts(found, method, params):
    panel = on(Panel("variations", found).load(), "Thresholds")
    panel.send(method, **params)
    assert panel.state["threshold"] == "0.3"
    # one half is taken for the bench there, and the other one is additional
    rows = [
        (row["own"].split("\xa0")[0], row["chosen"].split("\xa0")[0], row["change"])
        for row in panel.rows("at_threshold")
    ]
    assert dict(zip(VARIATION_TYPES, rows, strict=True)) == {
        "correct": ("1", "2", "+1"),
        "merged": ("1", "0", "−1"),
        "merged_wrong_class": ("0", "0", "0"),
        "wrong_class": ("1", "1", "0"),
        "missing": ("1", "1", "0"),
        "additional": ("0", "1", "+1"),
    }
    assert "At 0.3" in panel.text()
    lines = panel.state["layouts"]["shares"]["shapes"]
    assert [line["x0"] for line in lines] == [0.3]


def test_a_run_that_has_not_the_chosen_threshold_shows_its_own(found):
    panel = on(Panel("variations", found).load(), "Thresholds")
    panel.send("on_change_threshold", value="0.3")
    kf.find_variations(found, "other", raters=RATERS, threshold=0.7, thresholds=[0.5])
    panel.load()
    assert (panel.state["threshold"], panel.state["thresholds"]) == ("0.7", ["0.5", "0.7"])


def test_a_bar_of_outlines_sets_a_view_of_its_labels(found):
    panel = on(Panel("variations", found).load(), "Boundaries")
    boundary = kf.load_details(found, "variations").details.boundary
    (bars,) = panel.data["boundary"]
    assert bars["y"] == boundary.counts.tolist()
    assert boundary_title(boundary.findings, boundary.median, boundary.identical) in panel.text()
    operations = panel.send("on_click_boundary", idx=0)
    assert view_of(found, operations).values("id") == ids(found, 0)
    assert given(operations, "notify")["message"].endswith("outlines are 0 to 0.025 apart")
    assert view_of(found, panel.send("on_click_boundary", idx=1)).values("id") == []


def test_copies_raise_an_alarm_in_every_section_that_leads_to_their_labels(found):
    panel = Panel("variations", found).load()
    for section in SECTIONS:
        on(panel, section)
        assert panel.shown["alarm"]["view"]["label"].startswith("100\xa0% of the correct pairs are identical")
        assert panel.shown["show_copies"]["view"]["label"] == "Show the labels of 1 identical pair"
    view = view_of(found, panel.send("show_copies"))
    assert view.values("id") == ids(found, 0)
    assert [view.first()[rater].detections[0].label for rater in RATERS] == ["cat", "cat"]


def test_without_copies_there_is_no_alarm(found):
    panel = on(Panel("variations", found).load(), "Boundaries")
    assert "alarm" in panel.shown
    found.limit(1).set_values("bob.detections.bounding_box", [[[0.1, 0.1, 0.4, 0.3]]])
    kf.find_variations(found, "other", raters=RATERS)
    panel.load()
    assert not {"alarm", "show_copies"} & set(panel.shown)


def test_a_row_opens_an_annotation_with_its_parts(found):
    panel = on(Panel("variations", found).load(), "Merged")
    assert "1 finding of one annotation split into parts, most often by bob (1)" in panel.text()
    assert panel.rows("merged") == [
        {"file": "3.jpg", "whole": "ann: bench", "parts": "bob: 2 × bench", "similarity": "1.000"}
    ]
    operations = panel.send("on_click_merged", row=0)
    assert names(operations) == ["set_view", "open_sample"]
    view = view_of(found, operations)
    assert [len(view.first()[rater].detections) for rater in RATERS] == [1, 2]
    assert given(operations, "open_sample")["id"] == ids(found, 3)[0]
    assert view_of(found, panel.send("show_merged")).values("id") == ids(found, 3)
