"""The section *Variations*: what each page shows, and what a click leads to."""

from __future__ import annotations

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES
from kalos_core.display import significant
from kalos_core.figures import COLOURS, boundary_title, variations_title
from tests.fiftyone_bridge.scenes import COUNTS, RATERS
from tests.panels.operations import at, given, ids, names, plots, view_of
from tests.plugin import Panel

PAGES = ["Types", "Outlines", "Merged", "Confusions"]


def on(page: str, dataset: fo.Dataset) -> Panel:
    return at(Panel("raters", dataset).load(), "Variations", page)


@pytest.fixture
def found(dataset: fo.Dataset) -> fo.Dataset:
    """The six scenes with a search for variations."""
    kf.find_variations(dataset, "variations", raters=RATERS)
    return dataset


def test_a_page_shows_its_figures_each_with_how_to_read_it(found):
    shown = {page: plots(on(page, found)) for page in PAGES}
    assert shown == {"Types": ["counts"], "Outlines": ["boundary"], "Merged": [], "Confusions": []}
    for page, figures in shown.items():
        assert all(f"{figure}_reading" in on(page, found).shown for figure in figures)


def test_raters_are_compared_by_rates(trio):
    # cid takes every cat for a dog: of 36 images 6 have one cat of ann and bob, and so on, six times over
    kf.find_variations(trio, "variations", raters=(*RATERS, "cid"))
    run = kf.load_run(trio, "variations")
    panel = on("Types", trio)
    rows = {row["rater"]: row for row in panel.rows("by_rater")}
    rates = run.result.rates()
    for rater, row in rows.items():
        for kind in ("wrong_class", "missing", "additional"):
            assert row[kind] == significant(rates[rater][kind], 2)
    own = dict(zip(run.result.annotations.raters, np.bincount(run.result.annotations.rater), strict=True))
    merges, splits = run.result.merged_by(), run.result.split_by()
    assert {rater: row["merges"] for rater, row in rows.items()} == {
        rater: significant(100 * merges[rater] / own[rater], 2) for rater in rows
    }
    assert {rater: row["splits"] for rater, row in rows.items()} == {
        rater: significant(100 * splits[rater] / own[rater], 2) for rater in rows
    }
    sums = [sum(share for kind, share in rates[rater].items() if kind != "correct") for rater in rows]
    assert sums == sorted(sums, reverse=True)


@pytest.mark.parametrize(("column", "kinds"), [(0, None), (1, ["wrong_class"]), (5, ["additional"])])
def test_a_number_of_a_rater_leads_to_its_labels(trio, column, kinds):
    kf.find_variations(trio, "variations", raters=(*RATERS, "cid"))
    panel = on("Types", trio)
    row = [entry["rater"] for entry in panel.rows("by_rater")].index("cid")
    view = view_of(trio, panel.send("variations_click_rater", row=row, column=column))
    expected = kf.view_of_findings(trio, "variations", *([kinds] if kinds else []), rater="cid")
    assert len(view) > 0
    for rater in (*RATERS, "cid"):
        path = f"{rater}.detections.id"
        assert view.values(path) == expected.values(path)


def test_a_bar_of_outlines_sets_a_view_of_its_labels(found):
    panel = on("Outlines", found)
    boundary = kf.load_details(found, "variations").details.boundary
    (bars,) = panel.data["boundary"]
    assert bars["y"] == boundary.counts.tolist()
    assert boundary_title(boundary.findings, boundary.median, boundary.identical) in panel.text()
    operations = panel.send("variations_click_boundary", idx=0)
    assert view_of(found, operations).values("id") == ids(found, 0)
    assert panel.state["in_grid"] == "1 images with correct labels whose outlines are 0 to 0.025 apart"
    assert view_of(found, panel.send("variations_click_boundary", idx=1)).values("id") == []


def test_copies_raise_an_alarm_in_every_section_that_leads_to_their_labels(found):
    for page in PAGES:
        panel = on(page, found)
        assert panel.shown["alarm"]["view"]["label"].startswith("100\xa0% of the correct pairs are identical")
        assert panel.shown["show_copies"]["view"]["label"] == "Show the labels of 1 identical pair"
    view = view_of(found, panel.send("variations_show_copies"))
    assert view.values("id") == ids(found, 0)
    assert [view.first()[rater].detections[0].label for rater in RATERS] == ["cat", "cat"]


def test_without_copies_there_is_no_alarm(found):
    panel = on("Outlines", found)
    assert "alarm" in panel.shown
    found.limit(1).set_values("bob.detections.bounding_box", [[[0.1, 0.1, 0.4, 0.3]]])
    kf.delete_run(found, "variations")
    kf.find_variations(found, "other", raters=RATERS)
    assert not {"alarm", "show_copies"} & set(on("Outlines", found).shown)


def test_a_row_opens_an_annotation_with_its_parts(found):
    panel = on("Merged", found)
    assert "1 time several annotations of one rater are one of another's" in panel.text()
    assert "ann merges (1), bob splits (1)" in panel.text()
    assert panel.rows("merged") == [
        {"file": "3.jpg", "whole": "ann: bench", "parts": "bob: 2 × bench", "similarity": "1.000"}
    ]
    operations = panel.send("variations_click_merged", row=0)
    assert names(operations) == ["set_view", "open_sample"]
    view = view_of(found, operations)
    assert [len(view.first()[rater].detections) for rater in RATERS] == [1, 2]
    assert given(operations, "open_sample")["id"] == ids(found, 3)[0]
    assert view_of(found, panel.send("variations_show_merged")).values("id") == ids(found, 3)


def test_variations_shows_its_figures(analysed):
    panel = on("Types", analysed)
    assert variations_title(COUNTS) in panel.text()
    (bars,) = panel.data["counts"]
    assert bars["x"] == [COUNTS[name] for name in VARIATION_TYPES]
    assert bars["marker"]["color"] == [COLOURS[name] for name in VARIATION_TYPES]
    assert sorted(row["rater"] for row in panel.rows("by_rater")) == ["ann", "bob"]


@pytest.mark.parametrize("kind", VARIATION_TYPES)
def test_a_bar_sets_a_view_of_exactly_its_labels(analysed, kind):
    panel = on("Types", analysed)
    view = view_of(analysed, panel.send("variations_click_bar", idx=VARIATION_TYPES.index(kind)))
    expected = kf.view_of_variation(analysed, "variations", kind)
    for field in RATERS:
        path = f"{field}.detections.id"
        assert view.values(path) == expected.values(path)
    scene = {"correct": [0], "wrong_class": [1], "missing": [2], "merged": [3]}.get(kind, [])
    assert view.values("id") == ids(analysed, *scene)


def test_a_row_of_confused_classes_sets_a_view_of_its_labels(analysed):
    panel = on("Confusions", analysed)
    assert panel.rows("confusions") == [{"first": "cat\nann 1", "second": "dog\nbob 1", "count": "1"}]
    assert "1 finding of two classes for one object, most often cat and dog (1)" in panel.text()
    view = view_of(analysed, panel.send("variations_click_confusion", row=0))
    assert view.values("id") == ids(analysed, 1)
    assert view.values("ann.detections.label") == [["cat"]]
    assert view.values("bob.detections.label") == [["dog"]]


def test_copied_labels_raise_an_alarm(analysed):
    # the one correct pair of the six scenes is the same box twice
    assert "100\xa0% of the correct pairs are identical: were labels copied?" in on("Types", analysed).text()


def test_a_run_without_findings_is_shown(dataset):
    kf.find_variations(dataset.skip(4).limit(1), "nothing", raters=RATERS)
    for page, text in (
        ("Types", "No findings: nobody annotated anything"),
        ("Outlines", "No finding is correct: there are no boundaries to compare"),
        ("Merged", "No annotation was split into parts by another rater"),
        ("Confusions", "No class was taken for another"),
    ):
        panel = on(page, dataset)
        assert text in panel.text()
        assert not {"boundary", "merged", "confusions"} & set(panel.shown)
    panel = at(Panel("raters", dataset).load(), "Threshold", "Types")
    assert "No equilibrium: there are no findings" in panel.text()
