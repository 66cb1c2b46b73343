"""A report from the button of *Overview*: one file that a browser shows without network, light and dark, and prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core.text import plain
from tests.browser.conftest import SCREENSHOTS, brightness, expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]


def test_the_button_writes_what_a_browser_shows(app: Any, context: Any, analysed: fo.Dataset, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    app.open(analysed.name, WORKSPACE)
    panel = app.raters()
    panel.get_by_role("button", name="Write a report").click()
    form = app.form()
    app.fill(form, "File", str(path))
    switch = form.get_by_role("switch", name="Download it, too").or_(form.get_by_label("Download it, too")).first
    switch.click()
    with app.page.expect_download() as download:
        form.get_by_role("button", name="Execute").first.click()
        expect(app.page.get_by_text("Written to").first).to_be_visible()
    assert download.value.suggested_filename == "report.html"
    assert Path(download.value.path()).read_bytes() == path.read_bytes()  # some 5 MB, most of them plotly
    app.page.get_by_role("button", name="Close").click()

    page, faults, asked = context.new_page(), [], []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    for statement in kf.overview_of(analysed, KEY):
        expect(page.get_by_text(plain(statement.text, None)).first).to_be_visible()
    page.get_by_role("heading", name="Ceiling").scroll_into_view_if_needed()
    expect(page.locator("h2", has_text="Ceiling").locator("xpath=..").locator(".main-svg").first).to_be_visible()
    colours = []
    for theme in ("first", "second"):
        page.evaluate("scrollTo(0, 0)")
        expect(page.locator(".plot .main-svg").first).to_be_visible()
        if app.keeps_pictures:
            page.screenshot(path=SCREENSHOTS / f"60-report-{theme}.png")
        ground, ink = page.evaluate(
            "() => [getComputedStyle(document.body).backgroundColor, "
            "getComputedStyle(document.querySelector('.plot .xtitle')).fill]"
        )
        colours.append((brightness(ground), brightness(ink)))
        page.get_by_role("button", name="Light or dark").click()
    assert all(abs(ground - ink) > 120 for ground, ink in colours)  # axes are read on either
    assert (colours[0][0] > 128) != (colours[1][0] > 128)
    page.emulate_media(media="print")
    assert page.evaluate("document.body.scrollWidth <= innerWidth")
    assert not faults
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    page.close()
