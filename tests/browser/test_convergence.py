"""Label convergence in the App: from the form to the interval, its thresholds, models and tags."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core.figures import convergence_title, directions_title
from tests.browser.conftest import expect, rows
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

RUN = f"{KEY}_convergence"


def title(found: Any) -> str:
    whole = found.whole
    spread = whole.convergence
    return convergence_title(
        spread.mean, spread.interval, whole.images_per_replicate, whole.whole_convergence, whole.images
    )


def step(app: Any, place: int, key: str, least: float, greatest: float) -> None:
    """Move a slider of the panel by a key: 0 the least threshold, 1 the greatest; what both are then."""
    app.expect_idle("raters")
    panel = app.raters()
    panel.locator("input[type=range]").nth(place).focus()
    app.page.keyboard.press(key)
    expect(panel).to_contain_text(f"thresholds {least:.2f} to {greatest:.2f};")


def test_thresholds_models_and_tags(app: Any, analysed: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    panel = app.choose_part("Ceiling")
    whole = kf.convergence_metrics(analysed, RUN)
    expect(panel).to_contain_text(title(whole))
    expect(panel.locator(".js-plotly-plot .main-svg").first).to_be_visible()

    # other thresholds, from the stored replicates
    step(app, 0, "ArrowRight", 0.55, 0.95)
    step(app, 0, "ArrowRight", 0.6, 0.95)
    some = kf.convergence_metrics(analysed, RUN, least=0.6)
    assert some.whole.convergence.mean < whole.whole.convergence.mean
    expect(panel).to_contain_text(title(some))
    step(app, 1, "ArrowLeft", 0.6, 0.9)
    expect(panel).to_contain_text(title(kf.convergence_metrics(analysed, RUN, least=0.6, greatest=0.9)))

    # a model that is typed
    field = panel.get_by_role("textbox").first
    field.fill("mine 55")
    panel.get_by_role("button", name="Place").click()
    expect(panel).to_contain_text("expected the mAP of 'mine' from 0 to 1, got 55.0; 55 % is 0.55")
    field.fill("mine 0.55")
    panel.get_by_role("button", name="Place").click()
    placed = kf.convergence_metrics(analysed, RUN, least=0.6, greatest=0.9, models="mine 0.55")
    expect(panel).to_contain_text(placed.placed[0].meaning)
    app.picture("97-ceiling-placed")
    app.expect_nothing_cut_off("raters")

    # the bar of a tag
    names = [part.name for part in whole.largest()]
    app.click_bar("raters", names.index("harbour"))
    app.expect_count(len(analysed.match_tags("harbour")))
    app.picture("98-ceiling-tag-clicked")

    app.choose_part("Ceiling", "Raters")
    found = kf.convergence_metrics(analysed, RUN, least=0.6, greatest=0.9)
    expect(panel).to_contain_text(directions_title(found.raters.tolist(), found.matrix))
    app.choose_part("Ceiling", "Checks")
    expect(panel.locator("table tbody tr")).to_have_count(len(found.checklist))
    assert [row[1] for row in rows(panel.locator("table"))] == [line.criterion for line in found.checklist]
