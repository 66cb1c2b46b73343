"""Full journey from raw labels to a decision and its effect, with the state of the panel at each step."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core.display import with_interval
from kalos_core.fiftyone.kinds.agreement.views import view_of_class
from kalos_core.text import plain
from tests.browser.conftest import GRID, expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]  # skipped without a browser

MINUTES = 240_000
"""Milliseconds for an analysis with default settings."""


def test_from_raw_labels_to_what_a_mended_label_changed(app: Any, few: fo.Dataset) -> None:
    # raw labels: the button above the grid opens the panel, which lists what it found
    app.open(few.name, GRID)
    app.page.locator('img[src$="/assets/agreement.svg"]').first.click()
    panel = app.raters()
    expect(panel).to_contain_text("Found: 4 raters")
    panel.get_by_role("button", name="Analyse").click()
    form = app.form()
    app.picture("journey-1-analyse-form")
    form.get_by_role("button", name="Execute").first.click()
    summary = app.page.locator('[data-cy="operators-prompt-view-modal"]')
    app.picture("journey-2-progress")
    expect(summary).to_contain_text("shows all of it", timeout=MINUTES)
    app.picture("journey-3-summary")
    app.finish()

    # Overview: the worst class, its images, and back
    statements = kf.overview_of(few, KEY)
    for section in ("Images", "Variations", "Classes"):
        expect(panel).to_contain_text(next(plain(said.text, None) for said in statements if said.leads_to == section))
    app.picture("journey-4-overview")
    hardest = next(said for said in statements if said.leads_to == "Classes")
    name = hardest.arguments["category"]
    app.choose_part("Classes")
    panel.get_by_role("button", name=f"{name}: ").first.click()
    app.expect_count(len(view_of_class(few, KEY, name)))
    app.picture("journey-5-worst-class")
    app.back()
    app.expect_count(len(few))

    # decide the first dispute of the class by a key
    app.choose_part("Decide")
    count = kf.count_disputes(few, KEY)
    expect(panel).to_contain_text(f"0 of {count.all} decisions made")
    panel.get_by_role("group", name="Decide by keys").press("1")
    expect(panel).to_contain_text(f"1 of {count.all} decisions made")
    expect(panel.locator('[data-cy="progress"]')).not_to_contain_text("storing")
    app.picture("journey-6-decided")
    (made,) = kf.decisions(few, KEY)
    assert made.decision == "take"

    # edit a label as FiftyOne's tab "Annotate" does; the panel reports it
    worst = kf.worst_images(few, KEY, 1)[0]
    sample = few[worst.sample_id]
    edited = next(field for field in kf.rater_fields(few).values() if sample[field] and sample[field].polylines)
    sample[edited].polylines = sample[edited].polylines[1:]
    sample.save()
    app.choose_part("Overview")
    expect(panel).to_contain_text("1 sample was edited since")
    app.picture("journey-7-edited")

    # repeat the analysis, and compare
    app.choose_part("Runs", "List")
    panel.get_by_role("button", name="Update", exact=True).click()
    form = app.form()
    form.get_by_role("button", name="Execute").first.click()
    expect(summary).to_contain_text("shows all of it", timeout=MINUTES)
    app.finish()
    newest, before = [analysis.key for analysis in kf.list_analyses(few)]
    assert before == KEY
    expect(panel.get_by_role("combobox", name="Analysis")).to_contain_text(newest)
    app.choose_part("Runs", "Compare")
    comparison = kf.compare_runs(few, before, newest).comparison
    expect(panel).to_contain_text(f"α changed by {with_interval(comparison.difference, comparison.interval)}")
    expect(panel.get_by_role("button", name=f"{len(comparison.improved)} improved")).to_be_visible()
    expect(panel.get_by_role("button", name=f"{len(comparison.worsened)} worsened")).to_be_visible()
    app.picture("journey-8-compared")
    app.expect_nothing_cut_off("raters")
    assert len(kf.decisions(few, newest)) == 1  # decisions are kept


@extended
def test_two_windows_show_their_own_clicks(app: Any, context: Any, server: str, analysed: fo.Dataset) -> None:
    """FiftyOne mirrors the layout of one window, and the state of its panels, in other windows of the same App."""
    from tests.browser.app import App

    app.open(analysed.name, WORKSPACE)
    app.choose_part("Images")
    other = App(context.new_page(), server, keeps_pictures=app.keeps_pictures)
    other.open(analysed.name, WORKSPACE)
    other.choose_part("Classes")
    app.expect_section("Images")
    app.choose_filter("all raters", "chen")
    expect(app.raters().get_by_role("combobox").filter(has_text="chen")).to_be_visible()
    app.choose_part("Runs")
    other.expect_section("Classes")
    other.choose_part("Raters", "Pairs")
    app.expect_section("Runs")
    for window in (app, other):
        assert window.raters().get_by_text("could not be shown").count() == 0
    other.page.close()
