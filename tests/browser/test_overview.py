"""Overview in the App: it fits the screen, agrees with the library, and every number leads to its evidence."""

from __future__ import annotations

import re
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core.display import alpha_text
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_class, view_worst_first
from kalos_core.text import plain
from tests.browser.app import RATERS
from tests.browser.conftest import expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]


def test_it_fits_the_screen_and_every_click_leads_somewhere(app: Any, analysed: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    app.expect_section("Overview")
    panel = app.raters()
    metrics = kf.load_metrics(analysed, KEY).metrics
    expect(panel.locator('[data-cy="alpha"]')).to_have_text(alpha_text(metrics["alpha"]))
    said = {entry.leads_to: entry for entry in kf.overview_of(analysed, KEY)}
    for section in ("Images", "Variations", "Classes"):
        expect(panel).to_contain_text(plain(said[section].text, None))
    for theme in ("dark", "light"):
        if theme == "light":
            app.use_light_theme()
        room = panel.get_by_role("main").evaluate("e => [e.scrollHeight, e.clientHeight]")
        assert room[0] <= room[1], (theme, room)
        app.expect_accessible(RATERS)
        app.picture(f"overview-{theme}", readme="overview" if theme == "dark" else None)

    # a class leads to its images, and back
    hardest = said["Classes"].arguments["category"]
    panel.get_by_role("button", name=re.compile(f"^{hardest}:")).click()
    app.expect_count(len(view_of_class(analysed, KEY, hardest)))
    expect(panel.locator('[data-cy="in-grid"]')).to_contain_text(hardest)
    app.back()
    app.expect_count(len(analysed))

    # keyboard only: the tab of another group, and the worst images
    panel.get_by_role("tab", name="Overview", exact=True).focus()
    app.page.keyboard.press("ArrowRight")
    app.expect_section("Variations")
    app.choose_part("Overview")
    panel.get_by_role("button", name="in the grid", exact=True).focus()
    app.page.keyboard.press("Enter")
    app.expect_count(len(view_worst_first(analysed, KEY)))


def test_a_filter_narrows_it_down_and_stays_where_it_is(app: Any, analysed: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    app.expect_section("Overview")
    number = app.raters().locator('[data-cy="alpha"]')
    place = app.raters().get_by_role("combobox", name="Class").bounding_box()
    app.choose_filter("all classes", "dog")
    found = narrowed_metrics(analysed, KEY, kf.Filter(category="dog"))
    expect(number).to_have_text(alpha_text(found.alpha))
    app.choose_part("Classes")
    assert app.raters().get_by_role("combobox", name="Class").bounding_box() == place


def test_a_section_is_shown_at_once_because_hovering_loaded_it(app: Any, analysed: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    app.expect_section("Overview")
    with app.page.expect_response(lambda answer: "operators/execute" in answer.url):
        app.raters().get_by_role("tab", name="Raters", exact=True).hover()
    app.page.wait_for_timeout(200)
    app.page.route("**/operators/execute", lambda route: route.abort())  # no more responses
    app.raters().get_by_role("tab", name="Raters", exact=True).click()
    expect(app.raters().get_by_role("main", name="Raters")).to_contain_text("with the others")
    app.page.unroute("**/operators/execute")
