"""A user's walk through the App. Every number that is read there is compared with the library's own.

`pytest -m browser --pictures` leaves a picture of every step in artifacts/screenshots. Those of the README are in its
folder `readme`; `cp artifacts/screenshots/readme/*.png docs/images/` renews them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from demo.files import LABELS
from kalos_core.display import alpha_text, number_of
from kalos_core.fiftyone.runs.records import plain
from kalos_core.figures import (
    agreement_title,
    alpha_bins,
    collaboration_title,
    events_title,
    hardest_classes,
)
from tests.browser.conftest import GRID, expect, rows
from tests.fiftyone_bridge.scenes import metrics_of
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

FARM = 3  # a scene whose raters disagree in several ways

FOUND = ("name", "ks", "tau", "reason", "why")
"""Of a similarity: what the title of its calibration takes."""


# ---- from nothing to runs ----


def test_an_agreement_is_made_shown_and_deleted(app: Any, loaded: fo.Dataset) -> None:
    app.open(loaded.name, GRID)
    app.expect_count(len(loaded))
    panel = app.add_panel("raters")
    expect(panel).to_contain_text("Found: 4 raters")
    app.picture("01-start")
    app.expect_nothing_cut_off("raters")
    form = app.start_operator("Match raters and compute agreement")
    for rater in ("ana", "ben", "chen", "dara"):
        expect(form.get_by_text(rater, exact=True).first).to_be_visible()
    app.picture("02-agreement-form", readme="form")

    app.fill(form, "Run key", "not a key")
    message = form.get_by_text("expected a name of letters, digits and underscores").first
    expect(message).to_be_visible()
    expect(form.get_by_role("button", name="Execute").first).to_be_disabled()
    message.scroll_into_view_if_needed()
    app.picture("03-agreement-form-bad-run-key")
    app.fill(form, "Run key", "plain")
    expect(message).to_have_count(0)

    summary = app.execute(form)
    figures = kf.load_metrics(loaded, "plain").metrics
    expect(summary).to_contain_text(agreement_title(figures["alpha"], figures["alpha_interval"]))
    expect(summary).to_contain_text(f"{figures['annotations']:,} in {figures['units']:,} units")
    app.picture("04-agreement-summary")
    app.finish()
    first_said = kf.overview_of(loaded, "plain")[0].text
    expect(panel).to_contain_text(first_said)

    # a run started elsewhere, with other settings, comes up in the open panel
    form = app.start_operator("Match raters and compute agreement")
    app.fill(form, "Threshold τ_s", "0.8")
    app.fill(form, "Run key", "strict")
    summary = app.execute(form)
    strict = kf.load_metrics(loaded, "strict")
    assert strict.settings["threshold"] == 0.8
    expect(summary).to_contain_text(agreement_title(strict.metrics["alpha"], strict.metrics["alpha_interval"]))
    app.finish()
    said = kf.overview_of(loaded, "strict")[0].text
    assert said != first_said
    expect(panel).to_contain_text(said)
    assert kf.list_runs(loaded) == ["strict", "plain"]

    # and a run that is deleted goes
    form = app.start_operator("Delete a run")
    expect(form).to_contain_text("This cannot be undone")
    app.picture("05-delete-form")
    form.get_by_role("button", name="Execute").first.click()
    expect(panel).to_contain_text(first_said)
    assert kf.list_runs(loaded) == ["plain"]


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
    app.opened = "from the form"
    app.expect_still_open()
    app.expect_count(len(loaded))
    made = fo.load_dataset("from the form")
    assert kf.rater_fields(made) == kf.rater_fields(loaded)
    expect(app.panel("raters")).to_contain_text(f"{kf.load_metrics(made, 'analysis').metrics['alpha']:.2f}")
    app.picture("12-loaded-and-analysed")


def test_a_preview_follows_the_form_of_noise(app: Any, loaded: fo.Dataset) -> None:
    app.open(loaded.name, GRID)
    form = app.start_operator("Create synthetic raters")
    preview = form.locator('img[src^="data:image/svg"]')
    expect(preview).to_be_visible()
    app.picture("61-noise-form")
    app.fill(form, "Magnitude", "-1")
    # at the field, and where the preview was
    expect(form.get_by_text("expected numbers of 0 or more, such as 1 or 0.5, 1, 2, got '-1'")).to_have_count(2)
    expect(form).to_contain_text("No preview: magnitude: expected numbers of 0 or more")
    app.picture("62-noise-form-refused")
    app.fill(form, "Magnitude", "0.5, 1, 2")
    expect(preview).to_be_visible()
    form.get_by_text("Dashed white").scroll_into_view_if_needed()
    preview.scroll_into_view_if_needed()
    app.picture("63-noise-form-preview")
    summary = app.execute(form)
    found = kf.load_metrics(loaded, "noise").metrics
    counts = found["changed"], found["generated_from"], found["signal_loss"]
    title = events_title(found["references"], len(found["fields"]), *counts)
    expect(summary).to_contain_text(title)
    app.picture("64-noise-summary")
    app.finish()

    panel = app.choose_part("Noise")
    expect(panel).to_contain_text(title)
    app.click_bar("raters", 0)
    app.expect_count(len(kf.view_of_event(loaded, "noise", "deletion")))


# ---- the sections, with everything computed ----


def test_images_lead_to_the_grid_and_back(app: Any, analysed: fo.Dataset) -> None:
    _, alphas = kf.image_alphas(analysed, KEY)
    counts = alpha_bins(alphas)[1]
    app.open(analysed.name, WORKSPACE)
    panel = app.choose_part("Images")
    app.expect_count(len(analysed))
    chosen = [place for place, count in enumerate(counts) if count not in (0, len(analysed))]
    for place in (chosen[0], chosen[-1]):  # the last bin holds its upper edge, too
        app.click_bar("raters", place)
        app.expect_count(int(counts[place]))
        expect(panel).to_contain_text(f"{number_of(int(counts[place]), 'image')} with α from")
    app.picture("21-bar-clicked")
    app.back()
    app.expect_count(int(counts[chosen[0]]))
    app.back()
    app.expect_count(len(analysed))

    # a row of the table below opens its image
    worst = kf.worst_images(analysed, KEY)
    table = panel.locator("table")
    expect(table.locator("tbody tr")).to_have_count(len(worst))
    expected = [[str(n), row.file, alpha_text(row.alpha, 3), str(row.labels)] for n, row in enumerate(worst, 1)]
    assert rows(table) == expected
    table.locator("tbody tr").nth(1).click()
    app.expect_open_sample(worst[1].file)
    app.picture("22-worst-image-open")


def test_a_class_leads_to_its_images_and_narrows_the_other_sections(app: Any, analysed: fo.Dataset) -> None:
    classes = plain(kf.load_details(analysed, KEY).details)["class_difficulty"]
    shown = [classes["category"][place] for place in hardest_classes(classes["alpha"], classes["images"])]
    name = shown[2]
    view = kf.view_of_class(analysed, KEY, name)
    assert 0 < len(view) < len(analysed)
    app.open(analysed.name, WORKSPACE)
    panel = app.choose_part("Classes")
    expect(panel.locator(".bars .point path")).to_have_count(len(shown))
    app.click_bar("raters", 2)
    app.expect_count(len(view))
    expect(panel).to_contain_text(f"images with {name}, worst first")
    app.picture("24-class-clicked")
    app.expect_nothing_cut_off("raters")

    # the histogram, the worst images and the heatmap are of this class now
    app.choose_part("Images")
    narrowed = metrics_of(kf.narrowed_metrics(analysed, KEY, kf.Lens(category=name)))
    counts = alpha_bins(narrowed["image_alpha"])[1]
    expect(panel.locator(".bars .point path")).to_have_count(len(counts))
    expect(panel.locator("table tbody tr")).to_have_count(min(len(view), 25))
    app.picture("25-images-of-a-class")
    app.choose_part("Raters", "Pairs")
    together = narrowed["collaboration"]
    expect(panel).to_contain_text(collaboration_title(together["raters"], together["alpha"]))
    app.choose_part("Ceiling")
    expect(panel).to_contain_text("the lens does not reach here")

    app.choose_part("Images")
    panel.get_by_role("button", name="Clear", exact=True).click()
    expect(panel.get_by_role("combobox").filter(has_text="all classes")).to_be_visible()
    app.back()
    app.expect_count(len(analysed))

    # the same from the menus, where a rater can be chosen, too
    app.choose_lens("all classes", name)
    app.choose_lens("all raters", "chen")
    both = kf.narrowed_metrics(analysed, KEY, kf.Lens(category=name, rater="chen"))
    expect(panel).to_contain_text(f"α {alpha_text(both.alpha)}")
    expect(panel).to_contain_text(f"over {both.images} images")
    expect(panel.locator(".bars .point path")).to_have_count(len(alpha_bins(both.image_alpha)[1]))
    app.picture("26-class-and-rater")
    app.expect_nothing_cut_off("raters")

    # the view is followed, and nothing of the figure before stays
    panel.get_by_role("button", name="Clear", exact=True).click()
    expect(panel.get_by_role("combobox").filter(has_text="all raters")).to_be_visible()
    app.expect_idle("raters")
    panel.get_by_text("Follow view", exact=True).click()
    _, alphas = kf.image_alphas(analysed, KEY)
    edges, counts = alpha_bins(alphas)
    place = next(place for place, count in enumerate(counts) if 1 < count < len(analysed))
    app.click_bar("raters", place)
    expect(panel).to_contain_text(f"over {counts[place]} images")
    within = [alpha for alpha in alphas if edges[place] <= (alpha or 0) < edges[place + 1]]
    expect(panel.locator(".bars .point path")).to_have_count(len(alpha_bins(within)[1]))
    app.picture("27-view-followed")


def test_the_open_sample_shows_what_every_rater_gave_each_unit(app: Any, analysed: fo.Dataset) -> None:
    ids, paths = analysed.values(["id", "filepath"])
    app.open(analysed.name, WORKSPACE)
    app.page.locator('[data-cy="looker"]').nth(FARM).click(position={"x": 12, "y": 60})
    app.expect_open_sample(Path(paths[FARM]).name)
    panel = app.sample_panel()
    report = kf.sample_report(analysed, ids[FARM], KEY)
    expect(panel).to_contain_text(f"α {alpha_text(report.alpha)}")
    table = panel.locator("table").first  # of units; annotations split into parts have another
    expect(table.locator("tbody tr")).to_have_count(len(report.units))
    assert [" ".join(cell.split()) for cell in table.locator("th").all_inner_texts()] == ["#", *report.raters]
    expected = [[cell.category or cell.state for cell in unit] for unit in report.cells]
    assert [[cell.splitlines()[0] for cell in row[1:]] for row in rows(table)] == expected

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
    following = kf.sample_report(analysed, ids[FARM + 1], KEY)
    expect(panel).to_contain_text(f"α {alpha_text(following.alpha)}")
    expect(table.locator("tbody tr")).to_have_count(len(following.units))
