"""Calibration and diagnostics in the App: from a form to a default threshold, and from a figure to its images."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import WORKSPACE
from kalos_core.fiftyone.runs.records import plain
from kalos_core.figures import (
    alpha_bins,
    alpha_text,
    calibration_title,
    class_difficulty_title,
    collaboration_title,
    hardest_classes,
    sensitivity_title,
    vitality_title,
)
from tests.browser.conftest import GRID, expect, rows
from tests.fiftyone_bridge.scenes import metrics_of

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]  # first of all, is there one?

FOUND = ("name", "ks", "tau", "reason", "why")
"""Of a similarity: what the title of its calibration takes."""

IN_README = {"Reading": "reading", "Classes": "classes", "Raters": "raters"}


def test_from_nothing_to_a_calibrated_threshold(app: Any, loaded: fo.Dataset) -> None:
    app.open(loaded.name, GRID)
    panel = app.add_panel("calibration")
    expect(panel).to_contain_text("Nothing is computed yet")
    app.picture("12-calibration-nothing-yet")
    panel.get_by_role("button", name="Calibrate the threshold").click()
    form = app.form()
    expect(form.get_by_text("IoU of polygons").first).to_be_visible()
    app.picture("13-calibration-form")
    summary = app.execute(form)
    found = kf.load_metrics(loaded, "calibration").metrics["similarities"]
    best = found[0]
    expect(summary).to_contain_text(calibration_title(*(best[name] for name in FOUND)))
    app.picture("14-calibration-summary")
    app.finish()
    expect(panel).to_contain_text(f"{best['name']} tells signal from chance best")
    table = panel.locator("table").first
    expect(table.locator("tbody tr")).to_have_count(len(found))
    assert [row[0].removeprefix("▸ ") for row in rows(table)] == [entry["name"] for entry in found]
    table.locator("tbody tr").nth(1).click()
    expect(panel).to_contain_text(calibration_title(*(found[1][name] for name in FOUND)))
    table.locator("tbody tr").nth(0).click()

    # its threshold becomes the default of the next form
    panel.get_by_role("button", name=f"Use {alpha_text(best['threshold'])} as the default").click()
    expect(panel).to_contain_text(f"is what later forms offer as the threshold of {best['name']}")
    form = app.start_operator("Match raters and compute agreement")
    expect(form).to_contain_text(f"Calibrated for {best['name']}: {alpha_text(best['threshold'])} (run calibration)")
    field = form.get_by_text("Threshold τ_s", exact=True).locator("xpath=following::input[1]")
    expect(field).to_have_value(str(round(best["threshold"], 3)))
    field.scroll_into_view_if_needed()
    app.picture("15-calibrated-default-in-the-form")
    app.execute(form)
    assert kf.load_metrics(loaded, "agreement").settings["threshold"] == round(best["threshold"], 3)
    app.finish()


def test_every_section_of_agreement_shows_its_figures(app: Any, analysed: fo.Dataset) -> None:
    stored = plain(kf.load_details(analysed, "agreement").details)
    classes, vitality, together = (stored[name] for name in ("class_difficulty", "vitality", "collaboration"))
    curve = stored["sensitivity"]
    titles = {
        "Reading": "Values of other configurations are not comparable",
        "Boundaries": sensitivity_title(curve["delta"], curve["anchor"], curve["strict"], curve["delta_interval"]),
        "Classes": class_difficulty_title(classes["category"], classes["alpha"], classes["images"]),
        "Raters": vitality_title(vitality["rater"], vitality["vitality"]),
    }
    app.open(analysed.name, WORKSPACE)
    panel = app.panel("agreement")
    for number, (section, title) in enumerate(titles.items()):
        app.choose_section(section)
        expect(panel).to_contain_text(title)
        expect(panel.locator(".js-plotly-plot")).to_have_count(2 if section == "Raters" else 1)
        app.scroll_to(panel.locator(".js-plotly-plot").last)
        app.picture(f"23-{number}-{section.lower()}", readme=IN_README.get(section))
        app.expect_nothing_cut_off("agreement")
    expect(panel).to_contain_text(collaboration_title(together["raters"], together["alpha"]))


def test_a_class_leads_to_its_images_and_filters_the_other_figures(app: Any, analysed: fo.Dataset) -> None:
    classes = plain(kf.load_details(analysed, "agreement").details)["class_difficulty"]
    shown = [classes["category"][place] for place in hardest_classes(classes["alpha"], classes["images"])]
    name = shown[2]
    view = kf.view_of_class(analysed, "agreement", name)
    assert 0 < len(view) < len(analysed)
    app.open(analysed.name, WORKSPACE)
    panel = app.panel("agreement")
    app.choose_section("Classes")
    expect(panel.locator(".bars .point path")).to_have_count(len(shown))
    app.click_bar("agreement", 2)
    app.expect_count(len(view))
    expect(panel).to_contain_text(f"Filtered by class {name}: alpha")
    app.picture("24-class-clicked")
    app.expect_nothing_cut_off("agreement")

    # the histogram, the worst images and the heatmap are of this class now
    app.choose_section("Images")
    alphas = metrics_of(kf.narrowed_metrics(analysed, "agreement", kf.Lens(category=name)))["image_alpha"]
    counts = alpha_bins(alphas)[1]
    expect(panel.locator(".bars .point path")).to_have_count(len(counts))
    expect(panel.locator("table tbody tr")).to_have_count(min(len(view), 25))
    app.picture("25-images-of-a-class")
    app.choose_section("Raters")
    together = metrics_of(kf.narrowed_metrics(analysed, "agreement", kf.Lens(category=name)))["collaboration"]
    expect(panel).to_contain_text(collaboration_title(together["raters"], together["alpha"]))
    expect(panel).to_contain_text("the filter does not apply here")

    panel.get_by_role("button", name="Clear", exact=True).click()
    app.expect_count(len(analysed))
    expect(panel).not_to_contain_text("Filtered by")

    # the same from the drop-downs, where a rater can be chosen, too
    app.choose_in_menu("agreement", "all classes", name)
    expect(panel).to_contain_text(f"Filtered by class {name}: alpha")
    app.choose_in_menu("agreement", "all raters", "chen")
    expect(panel).to_contain_text(f"Filtered by class {name} and rater chen with each of the others: alpha")
    app.picture("26-filtered-by-class-and-rater")
    app.expect_nothing_cut_off("agreement")


def test_two_raters_lead_to_the_images_where_they_disagree_most(app: Any, analysed: fo.Dataset) -> None:
    together = plain(kf.load_details(analysed, "agreement").details)["collaboration"]
    first, second = (together["raters"][together["order"][place]] for place in (0, 2))
    view = kf.view_of_pair(analysed, "agreement", first, second)
    assert 0 < len(view) < len(analysed)
    app.open(analysed.name, WORKSPACE)
    app.choose_section("Raters")
    app.click_cell("agreement", 0, 2, len(together["raters"]))
    app.expect_count(len(view))
    app.picture("27-pair-clicked")


def test_the_calibration_panel(app: Any, analysed: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    panel = app.show_panel("calibration")
    expect(panel.locator(".js-plotly-plot")).to_be_visible()
    app.picture("44-calibration")
    app.scroll_to(panel.locator(".js-plotly-plot"))
    app.picture("45-calibration-plot", readme="calibration")
    app.expect_nothing_cut_off("calibration")
    panel.get_by_role("button", name="New run").scroll_into_view_if_needed()
    app.picture("46-calibration-sizes")
