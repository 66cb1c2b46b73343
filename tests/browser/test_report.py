"""Report from the button of *Overview*: one file without network or scripts, light and dark, on phones, in print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest
from axe_playwright_python.sync_playwright import Axe

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core.text import plain
from tests.browser.conftest import SCREENSHOTS, brightness, expect
from tests.tiers import extended

INKS = (
    ("body", "backgroundColor"),
    ("body", "color"),
    ("svg text", "fill"),
    (".legend", "color"),
    ("svg .bar", "fill"),
)
"""Background of a page, and text colours on it."""

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]


def test_the_button_writes_what_a_browser_shows(app: Any, context: Any, analysed: fo.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    app.open(analysed.name, WORKSPACE)
    panel = app.raters()
    panel.get_by_role("button", name="Write a report").click()
    form = app.form()
    with app.page.expect_download() as download:
        form.get_by_role("button", name="Execute").first.click()
        expect(app.page.get_by_text("Downloaded as").first).to_be_visible()
    assert download.value.suggested_filename.endswith(f"{KEY}.html")
    download.value.save_as(path)
    app.page.get_by_role("button", name="Close").click()

    page, faults, asked = context.new_page(), [], []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    for statement in kf.overview_of(analysed, KEY):
        expect(page.get_by_text(plain(statement.text, None)).first).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours = [
            brightness(page.evaluate(f"getComputedStyle(document.querySelector('{of}')).{name}")) for of, name in INKS
        ]
        assert (colours[0] > 128) == (scheme == "light")
        assert all(abs(colours[0] - ink) > 80 for ink in colours[1:])
        found = Axe().run(page).response["violations"]
        assert not [(fault["id"], fault["nodes"][0]["html"]) for fault in found]
        if app.keeps_pictures:
            page.screenshot(path=SCREENSHOTS / f"60-report-{scheme}.png", full_page=True)
    for width in (390, 680):  # a phone, and the width between the margins of A4
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(media="print" if width == 680 else "screen")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    cut = "[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth + 1).length"
    assert page.evaluate(cut) == 0  # nothing is cut off on paper
    assert not faults
    assert all(url.startswith(("file:", "data:")) for url in asked)
    page.close()
