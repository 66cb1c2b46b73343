"""Decisions in the App by keys, in *Decide* and beside the open sample, with concurrent users and a lost server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core.fiftyone.deciding.queue import queued_images
from tests.browser.conftest import GRID, expect
from tests.browser.windows import DECIDE
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]


def shown(panel: Any) -> str:
    """Return which dispute is shown."""
    found: str = panel.locator('[data-cy="crop"]').get_attribute("data-id")
    return found


def test_an_hour_of_decisions(app: Any, analysed: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    app.choose_part("Decide")
    panel, count = app.raters(), kf.count_disputes(analysed, KEY).all
    progress = panel.locator('[data-cy="progress"]')
    expect(progress).to_have_text(f"0 of {count} decisions made")
    for theme in ("dark", "light"):
        if theme == "light":
            app.use_light_theme()
        room = panel.get_by_role("main").evaluate("e => [e.scrollHeight, e.clientHeight]")
        assert room[0] <= room[1], (theme, room)
        app.picture(f"decide-{theme}", readme="decide" if theme == "dark" else None)
    app.expect_nothing_cut_off("raters")

    # by keys, faster than responses: ten decisions, three of them undone
    panel.get_by_role("group", name="Decide by keys").focus()
    for key in "1n1b1g1n1c":
        app.page.evaluate(DECIDE, key)
    for _ in range(3):
        app.page.keyboard.press("u")
    expect(progress).to_contain_text(f"6 of {count} decisions made, 1 waiting for the guideline")
    expect(progress).not_to_contain_text("storing")
    made = [
        one.decision for one in kf.decisions(analysed, KEY) if one.decision != "skip"
    ]  # units are decided independently
    assert sorted(made) == ["both", "guideline", "none", "take", "take", "take", "take"]
    counted = kf.count_disputes(analysed, KEY)
    assert (counted.decided, counted.waiting) == (6, 1)

    # another user decides about the one that is shown
    (unit,) = [
        unit
        for image in queued_images(analysed, KEY, 1_000)
        for unit in kf.disputed_units(analysed, KEY, image.sample_id)
        if str(unit.units[0]) == shown(panel)
    ]
    kf.decide(analysed, KEY, unit.labels, "both", who="dan")
    app.page.keyboard.press("n")
    expect(panel.get_by_role("alert").filter(has_text="Another user decided")).to_be_visible()
    panel.get_by_role("button", name="Look").click()
    expect(panel).to_contain_text("Decided: Both readings are legitimate by dan")
    assert kf.decisions(analysed, KEY)[-1].who == "dan"

    # the server is lost and comes back: no decision is lost
    app.page.route("**/operators/execute*", lambda route: route.abort())
    app.page.keyboard.press("ArrowRight")
    app.page.keyboard.press("n")
    app.page.keyboard.press("n")
    expect(panel).to_contain_text("The server does not answer: 2 decisions are kept here")
    app.picture("decide-lost")
    app.page.unroute("**/operators/execute*")
    panel.get_by_role("button", name="Send now").click()
    expect(progress).to_contain_text(f"9 of {count}")
    expect(progress).not_to_contain_text("storing")
    assert kf.count_disputes(analysed, KEY).decided == 9

    # a note, and the whole image
    panel.get_by_role("textbox", name="Note").fill("a *sure* case")
    panel.get_by_role("textbox", name="Your name").fill("eve")
    app.page.keyboard.press("Enter")
    before = panel.locator('[data-cy="crop"] svg').get_attribute("viewBox")
    app.page.keyboard.press("i")
    expect(panel.locator('[data-cy="crop"] svg')).not_to_have_attribute("viewBox", before)
    app.page.keyboard.press("1")
    expect(panel.get_by_role("textbox", name="Note")).to_have_value("")
    expect(progress).to_contain_text(f"10 of {count}")
    expect(progress).not_to_contain_text("storing")
    made = kf.decisions(analysed, KEY)[-1]
    assert (made.note, made.who) == ("a *sure* case", "eve")


def open_first(app: Any, dataset: fo.Dataset) -> tuple[Any, str]:
    """Open the panel beside the first image in dispute; return it and the id of that image."""
    first = kf.next_dispute(dataset, KEY)
    assert first is not None
    dataset.save_view("first", dataset.select(first))
    app.open(dataset.name, GRID, view="first")
    app.expect_count(1)
    app.page.locator('[data-cy="looker"]').first.click(position={"x": 12, "y": 60})
    app.expect_open_sample(Path(dataset[first].filepath).name)
    return app.sample_panel(), first


def test_next_to_the_open_sample_the_next_dispute_opens_automatically(app: Any, analysed: fo.Dataset) -> None:
    panel, first = open_first(app, analysed)
    units = [unit for unit in kf.disputed_units(analysed, KEY, first) if unit.state == "open"]
    app.picture("33-sample-dispute", readme="sample")
    app.expect_nothing_cut_off("sample")
    rater = next(iter(units[0].values))
    for _ in units:
        panel.get_by_role("button", name=f"{rater} is right").click()
    following = kf.next_dispute(analysed, KEY, after=first)
    assert following not in (None, first)
    app.expect_open_sample(Path(analysed[following].filepath).name)
    app.picture("34-sample-next-dispute")
    assert [(one.decision, one.rater) for one in kf.decisions(analysed, KEY)] == [("take", rater)] * len(units)

    panel.get_by_role("button", name="Undo").click()
    app.expect_open_sample(Path(analysed[first].filepath).name)
    expect(panel.locator('[data-cy="progress"]')).not_to_contain_text("storing")
    states = [unit.state for unit in kf.disputed_units(analysed, KEY, first)]
    assert sorted(states) == sorted([*["decided"] * (len(units) - 1), "open"])
