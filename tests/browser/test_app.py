"""A user's walk through the App. Every number that is read there is compared with the library's own.

`pytest -m browser` leaves a picture of every step in artifacts/screenshots. Those of the README are in its folder
`readme`; `cp artifacts/screenshots/readme/*.png docs/images/` renews them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import WORKSPACE
from demo.files import LABELS
from kalos_core import VARIATION_TYPES
from kalos_core.figures import VARIATION_LABELS, agreement_title, alpha_bins, alpha_text, variations_title
from tests.browser.conftest import GRID, brightness, expect, rows

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]  # first of all, is there one?

FARM = 3  # a scene whose raters disagree in several ways


# ---- from nothing to a run ----


def test_from_nothing_to_an_agreement(app: Any, loaded: fo.Dataset) -> None:
    app.open(loaded.name, GRID)
    app.expect_count(len(loaded))
    panel = app.add_panel("agreement")
    expect(panel).to_contain_text("Nothing is computed yet")
    app.picture("01-agreement-nothing-yet")
    panel.get_by_role("button", name="Match raters and compute agreement").click()
    form = app.form()
    for rater in ("ana", "ben", "chen", "dara"):
        expect(form.get_by_text(rater, exact=True).first).to_be_visible()
    app.picture("02-agreement-form", readme="form")

    app.fill(form, "Run key", "not a key")
    message = form.get_by_text("expected a name of letters, digits and underscores").first
    expect(message).to_be_visible()
    expect(form.get_by_role("button", name="Execute").first).to_be_disabled()
    message.scroll_into_view_if_needed()
    app.picture("03-agreement-form-bad-run-key")
    app.fill(form, "Run key", "first")
    expect(message).to_have_count(0)

    summary = app.execute(form)
    figures = kf.load_metrics(loaded, "first").metrics
    title = agreement_title(figures["alpha"], figures["alpha_interval"])
    expect(summary).to_contain_text(title)
    expect(summary).to_contain_text(f"{figures['annotations']:,} in {figures['units']:,} units")
    app.picture("04-agreement-summary")
    app.finish()
    expect(panel).to_contain_text(title)
    expect(panel).to_contain_text(f"over {len(loaded)} images, {figures['units']} units, 4 raters")

    # a run started elsewhere, with other settings, comes up in the open panel
    form = app.start_operator("Match raters and compute agreement")
    app.fill(form, "Threshold τ_s", "0.8")
    app.fill(form, "Run key", "strict")
    summary = app.execute(form)
    strict = kf.load_metrics(loaded, "strict")
    assert strict.settings["threshold"] == 0.8
    title = agreement_title(strict.metrics["alpha"], strict.metrics["alpha_interval"])
    expect(summary).to_contain_text(title)
    app.finish()
    expect(panel).to_contain_text(title)
    assert kf.list_runs(loaded) == ["strict", "first"]

    # and a run that is deleted goes
    form = app.start_operator("Delete a run")
    expect(form).to_contain_text("This cannot be undone")
    app.picture("05-delete-form")
    form.get_by_role("button", name="Execute").first.click()
    expect(panel).not_to_contain_text(title)
    assert kf.list_runs(loaded) == ["first"]


def test_from_nothing_to_variations(app: Any, loaded: fo.Dataset) -> None:
    app.open(loaded.name, GRID)
    panel = app.add_panel("variations")
    expect(panel).to_contain_text("Nothing is computed yet")
    app.picture("06-variations-nothing-yet")
    panel.get_by_role("button", name="Find variations between raters").click()
    form = app.form()
    app.picture("07-variations-form")
    summary = app.execute(form)
    counts = kf.load_metrics(loaded, "variations").metrics["counts"]
    expect(summary).to_contain_text(variations_title(counts))
    app.picture("08-variations-summary")
    app.finish()
    expect(panel).to_contain_text(variations_title(counts))


def test_an_error_is_said_and_nothing_is_written(app: Any, loaded: fo.Dataset) -> None:
    loaded.set_values("ana.polylines.closed", [[False] * len(own or ()) for own in loaded.values("ana.polylines.id")])
    before = loaded.get_field_schema(flat=True).keys()
    app.open(loaded.name, GRID)
    summary = app.execute(app.start_operator("Match raters and compute agreement"))
    expect(summary).to_contain_text("Nothing was written. view:")
    expect(summary).to_contain_text("expected a closed polyline, got an open one")
    app.picture("09-agreement-error")
    app.finish()
    assert kf.list_runs(loaded) == []
    loaded.reload()
    assert loaded.get_field_schema(flat=True).keys() == before


def test_a_file_is_loaded_from_its_form(app: Any, loaded: fo.Dataset, scenes: Path) -> None:
    app.open(loaded.name, GRID)
    form = app.start_operator("Load labels of several raters")
    app.fill(form, "File of labels", str(scenes / "no.json"))
    expect(form).to_contain_text("There is no such file")
    app.fill(form, "File of labels", str(scenes / LABELS))
    expect(form).not_to_contain_text("There is no such file")
    app.fill(form, "Its name", loaded.name)
    expect(form).to_contain_text("exists already")
    app.picture("10-load-form-name-taken")
    app.fill(form, "Its name", "from the form")
    expect(form).not_to_contain_text("exists already")
    form.get_by_role("switch", name="Analyse right after").or_(form.get_by_label("Analyse right after")).first.click()
    form.get_by_role("button", name="Execute").first.click()
    summary = app.page.locator('[data-cy="operators-prompt-view-modal"]')
    expect(summary).to_contain_text(f"annotations of 4 raters on {len(loaded)} images", timeout=120_000)
    app.picture("11-load-summary")
    app.finish()
    expect(app.dataset()).to_have_value("from the form")
    app.expect_count(len(loaded))
    made = fo.load_dataset("from the form")
    assert kf.rater_fields(made) == kf.rater_fields(loaded)
    expect(app.panel("raters")).to_contain_text(f"{kf.load_metrics(made, 'analysis').metrics['alpha']:.2f}")
    app.picture("12-loaded-and-analysed")


# ---- the panels, with everything computed ----


def test_agreement_leads_to_its_images(app: Any, analysed: fo.Dataset) -> None:
    _, alphas = kf.image_alphas(analysed, "agreement")
    edges, counts = alpha_bins(alphas)
    app.open(analysed.name, WORKSPACE)
    panel = app.panel("agreement")
    run = kf.load_metrics(analysed, "agreement")
    expect(panel).to_contain_text(agreement_title(run.metrics["alpha"], run.metrics["alpha_interval"]))
    app.expect_count(len(analysed))
    app.picture("20-agreement", readme="agreement")
    app.expect_nothing_cut_off("agreement")
    chosen = [place for place, count in enumerate(counts) if count not in (0, len(analysed))]
    first, last = chosen[0], chosen[-1]  # the last bin holds its upper edge, too
    for place in (first, last):
        app.click_bar("agreement", place)
        app.expect_count(int(counts[place]))
    app.picture("21-agreement-bar-clicked")
    panel.get_by_role("button", name="Show all images").click()
    app.expect_count(len(analysed))
    assert edges[-1] == 1

    # a row of the table below opens its image
    worst = kf.worst_images(analysed, "agreement")
    table = app.panel("agreement").locator("table")
    expect(table.locator("tbody tr")).to_have_count(len(worst))
    expected = [[str(n), row.file, alpha_text(row.alpha, 3), str(row.labels)] for n, row in enumerate(worst, 1)]
    assert rows(table) == expected
    table.locator("tbody tr").nth(1).click()
    app.expect_open_sample(worst[1].file)
    app.picture("22-worst-image-open")


def cells(report: Any) -> list[list[str]]:
    """The table of the panel as the library's own report has it."""
    return [[str(number), *(" ".join(said(cell)) for cell in unit)] for number, unit in enumerate(report.cells, 1)]


def said(cell: Any) -> list[str]:
    """What the rater gave, the variations towards the others, by rater where they differ, and the least similarity."""
    types = list(dict.fromkeys(VARIATION_LABELS[found.variation] for found in cell.findings))
    raters = {name: [f.rater for f in cell.findings if VARIATION_LABELS[f.variation] == name] for name in types}
    similarities = [found.similarity for found in cell.findings if found.similarity is not None]
    return [
        cell.category or cell.state,
        *(types if len(types) < 2 else [f"{name}: {', '.join(raters[name])}" for name in types]),
        *([f"{min(similarities):.2f}"] if similarities else []),
    ]


def test_the_open_sample_shows_what_every_rater_gave_each_unit(app: Any, analysed: fo.Dataset) -> None:
    ids, paths = analysed.values(["id", "filepath"])
    app.open(analysed.name, WORKSPACE)
    app.page.locator('[data-cy="looker"]').nth(FARM).click(position={"x": 12, "y": 60})
    app.expect_open_sample(Path(paths[FARM]).name)
    app.picture("30-sample-open")
    panel = app.sample_panel()
    report = kf.sample_report(analysed, ids[FARM], "agreement", "variations")
    expect(panel).to_contain_text(f"alpha {alpha_text(report.alpha)}")
    table = panel.locator("table").first  # of units; annotations split into parts have another
    expect(table.locator("tbody tr")).to_have_count(len(report.units))
    assert [" ".join(cell.split()) for cell in table.locator("th").all_inner_texts()] == ["#", *report.raters]
    assert [[" ".join(cell.split()) for cell in row] for row in rows(table)] == cells(report)

    # a row selects the labels of its unit
    drawn = [sum(bool(cell.label_id) for cell in unit) for unit in report.cells]
    place = max(range(len(drawn)), key=lambda number: drawn[number])
    table.locator("tbody tr").nth(place).click()
    selected = app.page.locator('[data-cy="action-manage-selected"]').last
    expect(selected).to_have_text(str(drawn[place]))
    unit = panel.locator('img[src^="data:image/png"]')
    expect(unit).to_be_visible()  # and draws them
    assert unit.evaluate("image => image.complete && image.naturalWidth") >= 320
    app.picture("31-sample-unit-chosen", readme="sample")
    app.expect_nothing_cut_off("sample")

    # the panel follows to the next sample
    app.page.keyboard.press("ArrowRight")
    app.expect_open_sample(Path(paths[FARM + 1]).name)
    following = kf.sample_report(analysed, ids[FARM + 1], "agreement", "variations")
    expect(panel).to_contain_text(f"alpha {alpha_text(following.alpha)}")
    expect(table.locator("tbody tr")).to_have_count(len(following.units))
    assert [[" ".join(cell.split()) for cell in row] for row in rows(table)] == cells(following)
    expect(unit).to_have_count(0)
    app.picture("32-next-sample")


def test_variations_lead_to_their_labels(app: Any, analysed: fo.Dataset) -> None:
    figures = kf.load_metrics(analysed, "variations").metrics
    app.open(analysed.name, WORKSPACE)
    panel = app.show_panel("variations")
    expect(panel).to_contain_text(variations_title(figures["counts"]))
    expect(panel.locator(".bars .point path")).to_have_count(len(VARIATION_TYPES))
    app.picture("40-variations", readme="variations")
    app.expect_nothing_cut_off("variations")
    wrong_class = kf.view_of_variation(analysed, "variations", "wrong_class")
    assert 0 < len(wrong_class) < len(analysed)
    app.click_bar("variations", VARIATION_TYPES.index("wrong_class"))
    app.expect_count(len(wrong_class))
    expect(app.page.get_by_text("FilterLabels").first).to_be_attached()  # only those labels, not all of these images
    app.picture("41-variations-bar-clicked")

    raters = panel.locator("table")
    raters.scroll_into_view_if_needed()
    expect(raters.locator("tbody tr")).to_have_count(4)
    app.picture("43-variations-by-rater")

    # in the last tab a row leads to the labels of two classes
    confusions = figures["confusions"]
    app.choose_tab("variations", "Confusions")
    table = panel.locator("table")
    expect(table.locator("tbody tr")).to_have_count(min(len(confusions), 25))
    assert rows(table)[0] == [str(value) for value in confusions[0].values()]
    table.locator("tbody tr").first.click()
    pair = kf.view_of_confusion(analysed, "variations", confusions[0]["category_a"], confusions[0]["category_b"])
    assert 0 < len(pair) < len(analysed)
    app.expect_count(len(pair))
    app.picture("42-confused-pair-clicked")


def test_labels_are_filtered_by_variation_type_in_the_sidebar(app: Any, analysed: fo.Dataset) -> None:
    merged = analysed.filter_labels("dara", fo.ViewField("variations") == "merged")
    assert 0 < len(merged) < len(analysed)
    app.open(analysed.name, WORKSPACE)
    app.expand("dara")
    app.choose_value("dara.polylines.variations", "merged")
    app.expect_count(len(merged))
    app.picture("51-sidebar-filtered")


def test_the_panels_follow_the_light_theme(app: Any, analysed: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    panel = app.panel("agreement")
    expect(panel.locator(".bars .point path").first).to_be_visible()
    app.use_light_theme()
    app.picture("60-agreement-light")
    app.expect_nothing_cut_off("agreement")
    text = panel.locator("svg .xtick text").first.evaluate("e => getComputedStyle(e).fill")
    assert brightness(text) < 160  # dark on light
    for number, section in enumerate(("Reading", "Boundaries", "Classes", "Raters")):
        app.choose_section(section)
        expect(panel.locator(".js-plotly-plot").first).to_be_visible()
        app.scroll_to(panel.locator(".js-plotly-plot").last)
        app.picture(f"63-{number}-{section.lower()}-light")
    app.show_panel("variations")
    expect(app.panel("variations").locator(".bars .point path").first).to_be_visible()
    app.picture("61-variations-light")
    app.expect_nothing_cut_off("variations")
    for number, section in enumerate(("Thresholds", "Boundaries", "Merged", "Confusions")):
        app.choose_tab("variations", section)
        app.picture(f"64-{number}-{section.lower()}-light")
        app.expect_nothing_cut_off("variations")
    app.show_panel("calibration")
    app.scroll_to(app.panel("calibration").locator(".js-plotly-plot"))
    app.picture("62-calibration-light")
