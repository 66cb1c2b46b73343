"""Synthetic raters in the App: from the form with its preview to the panel, and from its bars to the labels."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.figures import events_title
from tests.browser.conftest import GRID, expect, rows
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]


def title(figures: Any) -> str:
    counts = figures["changed"], figures["generated_from"], figures["signal_loss"]
    return events_title(figures["references"], len(figures["fields"]), *counts)


def test_from_a_preview_to_what_happened_to_which_label(app: Any, loaded: fo.Dataset) -> None:
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
    figures = kf.load_metrics(loaded, "noise").metrics
    expect(summary).to_contain_text(title(figures))
    app.picture("64-noise-summary")
    app.finish()

    # events: a bar leads to its labels
    panel = app.choose_part("Noise")
    expect(panel).to_contain_text(title(figures))
    expect(panel.locator(".bars .point path").first).to_be_visible()
    app.expect_idle("raters")
    app.expect_count(len(loaded))
    expect(app.page.locator('[data-cy="looker"]').first).to_be_visible()
    if app.keeps_pictures:
        app.page.wait_for_timeout(1_500)  # the grid draws the new fields
    app.picture("65-noise", readme="raters")
    app.expect_nothing_cut_off("raters")
    app.click_bar("raters", 0)
    app.expect_count(len(kf.view_of_event(loaded, "noise", "deletion")))
    app.picture("66-noise-bar-clicked")
    panel.locator("table tbody tr").nth(2).click()
    app.expect_count(len(kf.view_of_event(loaded, "noise", "wrong_class")))
    panel.get_by_role("button", name="Most events first").click()
    found = kf.noisy_images(loaded, "noise")
    app.expect_count(len(found))

    # raters, and what was used
    app.choose_part("Noise", "Raters")
    expect(panel).to_contain_text("Events of each rater")
    assert [row[0] for row in rows(panel.locator("table"))] == figures["fields"]
    app.picture("67-noise-raters")
    app.expect_nothing_cut_off("raters")
    app.choose_part("Noise", "Used")
    expect(panel).to_contain_text(figures["class_source"])
    app.picture("68-noise-used")
    app.expect_nothing_cut_off("raters")
    app.use_light_theme()
    app.choose_part("Noise", "Events")
    expect(panel.locator(".bars .point path").first).to_be_visible()
    app.picture("69-noise-light")

    # beside the paper, and beside the real raters
    app.choose_part("Noise", "Loss")
    expect(panel).to_contain_text("Signal loss at λ = 1")
    app.picture("693-noise-loss-light")
    app.expect_nothing_cut_off("raters")
    app.choose_part("Noise", "Fidelity")
    expect(panel).to_contain_text("is compared where the noise model is fitted")

    # images: a bar opens one
    app.choose_part("Noise", "Images")
    expect(panel.locator(".bars .point path").first).to_be_visible()
    app.picture("691-noise-images-light")
    app.expect_nothing_cut_off("raters")
    app.click_bar("raters", 0)
    app.expect_open_sample(found[0].file)
    app.picture("692-noise-open")
