"""Variations in the App: over thresholds, in outlines, in parts; each click leads to its labels."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import WORKSPACE
from kalos_core import VARIATION_TYPES
from kalos_core.figures import VARIATION_LABELS, boundary_title, shares_title
from tests.browser.conftest import expect, rows

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]  # first of all, is there one?


def test_counts_are_read_at_any_threshold(app: Any, analysed: fo.Dataset) -> None:
    shares = kf.load_details(analysed, "variations").details.shares
    app.open(analysed.name, WORKSPACE)
    app.show_panel("variations")
    panel = app.choose_tab("variations", "Thresholds")
    expect(panel).to_contain_text(shares_title(shares.equilibrium, shares.no_equilibrium))
    expect(panel.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    app.picture("70-thresholds", readme="thresholds")
    app.expect_nothing_cut_off("variations")
    table = panel.locator("table")
    at = {
        level: dict(zip(VARIATION_TYPES, row, strict=True))
        for level, row in zip(shares.threshold.tolist(), shares.counts.tolist(), strict=True)
    }
    assert [row[1].split("\xa0")[0] for row in rows(table)] == [f"{at[0.5][name]:,}" for name in VARIATION_TYPES]

    # a click on the plot chooses the threshold below the mouse
    plot = panel.locator(".js-plotly-plot")
    box = app.scroll_to(plot.locator(".nsewdrag"))
    x, y = box["x"] + box["width"] * (0.75 - 0.1) / 0.8, box["y"] + box["height"] / 2
    app.page.mouse.move(x - 3, y)
    app.page.mouse.move(x, y)
    expect(plot.locator(".hoverlayer .legend, .hoverlayer .hovertext").first).to_be_visible()
    app.picture("71-thresholds-hover")
    app.page.mouse.click(x, y)
    expect(table.locator("th").nth(2)).to_contain_text("At 0.75")
    expected = [[VARIATION_LABELS[name], f"{at[0.5][name]:,}", f"{at[0.75][name]:,}"] for name in VARIATION_TYPES]
    assert [[row[0], row[1].split("\xa0")[0], row[2].split("\xa0")[0]] for row in rows(table)] == expected
    app.scroll_to(table)
    app.picture("72-threshold-clicked")
    app.expect_nothing_cut_off("variations")
    app.choose_in_menu("variations", "threshold 0.75", "threshold 0.9")
    expect(table.locator("th").nth(2)).to_contain_text("At 0.9")


def test_outlines_lead_to_their_labels(app: Any, analysed: fo.Dataset) -> None:
    boundary = kf.load_details(analysed, "variations").details.boundary
    app.open(analysed.name, WORKSPACE)
    app.show_panel("variations")
    panel = app.choose_tab("variations", "Boundaries")
    expect(panel).to_contain_text(boundary_title(boundary.findings, boundary.median, boundary.identical))
    expect(panel.locator(".js-plotly-plot")).to_be_visible()
    app.picture("73-outlines")
    app.expect_nothing_cut_off("variations")
    filled = np.flatnonzero(boundary.counts)
    place = int(filled[np.argmin(boundary.counts[filled])])
    view = kf.view_of_boundary(analysed, "variations", *boundary.edges[place : place + 2])
    assert 0 < len(view) < len(analysed)
    app.click_bar("variations", place)
    app.expect_count(len(view))
    app.picture("74-outlines-bar-clicked")


def test_an_annotation_and_its_parts_are_shown_together(app: Any, analysed: fo.Dataset) -> None:
    found = kf.merged_findings(analysed, "variations")
    app.open(analysed.name, WORKSPACE)
    app.show_panel("variations")
    panel = app.choose_tab("variations", "Merged")
    table = panel.locator("table")
    expect(table.locator("tbody tr")).to_have_count(min(len(found), 50))
    expect(panel).to_contain_text(f"{len(found)} findings of one annotation split into parts")
    app.picture("75-merged")
    app.expect_nothing_cut_off("variations")
    panel.get_by_role("button", name="Show all of them in the grid").click()
    app.expect_count(len(kf.view_of_merged(analysed, "variations")))
    app.picture("76-merged-in-the-grid")
    table.locator("tbody tr").first.click()
    app.expect_open_sample(found[0].file)
    app.page.mouse.move(640, 20)  # where it tells nothing
    app.picture("77-merged-open", readme="merged")

    # and next to the open sample a row selects the annotation with its parts
    panel = app.sample_panel()
    parts = panel.locator("table").nth(1)
    app.scroll_to(parts)
    parts.locator("tbody tr").first.click()
    selected = app.page.locator('[data-cy="action-manage-selected"]').last
    app.picture("78-merged-selected")
    report = kf.sample_report(analysed, found[0].sample_id, "agreement", "variations")
    expect(selected).to_have_text(str(1 + len(report.merged[0].parts)))
