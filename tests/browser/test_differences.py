"""Differences, Images, Classes and Raters in the App: each page fits the screen, and clicks select in the grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core.fiftyone.kinds.agreement.views import view_of_class, view_worst_first
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion, view_of_findings
from kalos_core.fiftyone.runs.stored import find_analysis
from tests.browser.conftest import expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

PAGES = {
    "Raters": ("Each rater", "Pairs", "Sessions"),
    "Variations": ("Types", "Outlines", "Merged", "Attributes"),
    "Classes": ("Agreement", "Confusions"),
    "Images": (),
}


def test_every_page_fits_the_screen_in_both_themes(app: Any, analysed: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    wide: dict[tuple[str, ...], list[str]] = {}
    for theme in ("dark", "light"):
        if theme == "light":
            app.use_light_theme()
        for section, pages in PAGES.items():
            for page in pages or ("",):
                app.choose_part(section, *filter(None, [page]))
                wide[theme, section, page] = app.cut_off("raters")
                app.picture(f"{section}-{page}-{theme}".lower().replace(" ", "-"))
    assert not {where: found for where, found in wide.items() if found}


def test_a_click_shows_its_labels_in_the_grid(app: Any, analysed: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    panel = app.raters()

    def leads_to(click: Callable[[], Any], view: fo.DatasetView) -> None:
        click()
        app.expect_count(len(view))
        app.back()
        app.expect_count(len(analysed))

    run = find_analysis(analysed, KEY).runs["variations"].key
    rates = narrowed_variations(analysed, run).rater_rates.counts
    rater = max(rates, key=lambda name: rates[name]["missing"][0])
    count, of = rates[rater]["missing"]
    app.choose_part("Raters")
    cell = panel.get_by_role("button", name=f"{rater}: Objects that most others annotated").first
    expect(cell).to_contain_text(f"{count} / {of}")
    leads_to(cell.click, view_of_findings(analysed, run, ["missing"], rater=rater))

    app.choose_part("Raters", "Pairs")
    matrix = panel.get_by_role("table", name="Alpha of every two raters")
    expect(matrix.get_by_role("button")).to_have_count(4 * 3)

    app.choose_part("Variations")
    leads_to(
        panel.get_by_role("button", name="classes differ: ").click, view_of_findings(analysed, run, ["wrong_class"])
    )

    app.choose_part("Classes")
    hardest = next(said for said in kf.overview_of(analysed, KEY) if said.leads_to == "Classes").arguments["category"]
    leads_to(panel.get_by_role("button", name=f"{hardest}: ").first.click, view_of_class(analysed, KEY, hardest))
    app.choose_part("Classes", "Confusions")
    first = narrowed_variations(analysed, run).confusions
    names = first.category_a[0], first.category_b[0]
    row = panel.get_by_role("table", name="Two classes for one object").get_by_role("row").nth(1)
    row.focus()
    leads_to(lambda: app.page.keyboard.press("Enter"), view_of_confusion(analysed, run, *names))

    app.choose_part("Images")
    leads_to(panel.get_by_role("button", name="in the grid").click, view_worst_first(analysed, KEY))
