"""Deciding beside the open sample: the next dispute comes by itself, and a decision can be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from tests.browser.conftest import GRID, expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]


def open_first(app: Any, dataset: fo.Dataset, theme: str = "dark") -> tuple[Any, str]:
    """The panel beside the sample that is first in the queue, which stands alone in the grid."""
    first = kf.next_dispute(dataset, KEY)
    assert first is not None
    dataset.save_view("first", dataset.select(first))
    app.open(dataset.name, GRID, view="first")
    app.expect_count(1)
    if theme == "light":
        app.use_light_theme()
    app.page.locator('[data-cy="looker"]').first.click(position={"x": 12, "y": 60})
    app.expect_open_sample(Path(dataset[first].filepath).name)
    return app.sample_panel(), first


def test_deciding_opens_the_next_dispute_and_undo_comes_back(app: Any, analysed: fo.Dataset) -> None:
    panel, first = open_first(app, analysed)
    units = [unit for unit in kf.disputed_units(analysed, KEY, first) if unit.state == "open"]
    count = sum(len(unit.units) for unit in units)  # as the queue counts: a whole and its parts are several
    expect(panel).to_contain_text(f"{count} in dispute, {count} open")
    button = panel.get_by_role("button", name="is right").first
    expect(button).to_be_in_viewport(ratio=1)
    app.picture("33-sample-dispute")
    app.expect_nothing_cut_off("sample")

    rater = next(iter(units[0].values))
    panel.get_by_placeholder("Note").fill("a *sure* case")
    panel.get_by_placeholder("Your name").fill("eve")
    for number in range(len(units)):
        expect(panel).to_contain_text(f"Dispute {number + 1} of {len(units)}" if len(units) > 1 else "One dispute")
        panel.get_by_role("button", name=f"{rater} is right").click()
    following = kf.next_dispute(analysed, KEY, after=first)
    assert following not in (None, first)
    app.expect_open_sample(Path(analysed[following].filepath).name)
    expect(panel.get_by_placeholder("Note")).to_have_value("")
    expect(panel.get_by_placeholder("Your name")).to_have_value("eve")
    app.picture("34-sample-next-dispute")
    made = kf.decisions(analysed, KEY)
    assert [(one.decision, one.rater, one.who) for one in made] == [("take", rater, "eve")] * len(units)
    assert [one.note for one in made] == ["a *sure* case", *[""] * (len(units) - 1)]

    # and back: the decision is taken back, and its unit is there again
    panel.get_by_role("button", name="Undo").click()
    app.expect_open_sample(Path(analysed[first].filepath).name)
    expect(panel).to_contain_text(f"{count} in dispute, {len(units[-1].units)} open")
    expect(panel).to_contain_text("nobody has decided")
    states = [unit.state for unit in kf.disputed_units(analysed, KEY, first)]
    assert sorted(states) == sorted([*["decided"] * (len(units) - 1), "open"])


def test_it_looks_well(theme: str, app: Any, analysed: fo.Dataset) -> None:
    panel, _ = open_first(app, analysed, theme)
    expect(panel).to_contain_text("nobody has decided")
    app.picture(f"37-sample-{theme}")
    panel.locator("table").last.scroll_into_view_if_needed()
    app.picture(f"38-sample-{theme}-tables")
    app.expect_nothing_cut_off("sample")


def test_a_decision_of_somebody_else_is_shown(app: Any, analysed: fo.Dataset) -> None:
    panel, first = open_first(app, analysed)
    unit = next(unit for unit in kf.disputed_units(analysed, KEY, first) if unit.state == "open")
    expect(panel).to_contain_text("nobody has decided")
    kf.decide(analysed, KEY, unit.labels, "guideline", note="is <b>it</b> one?", who="dan")
    panel.get_by_role("button", name="No object there").click()
    expect(app.page.get_by_text("Somebody has decided about this unit meanwhile")).to_be_visible()
    expect(panel).to_contain_text("The guideline must say by dan")
    expect(panel).to_contain_text("Note: is <b>it</b> one?")
    assert [one.decision for one in kf.decisions(analysed, KEY, history=True)] == ["guideline"]
    app.picture("36-sample-decided-meanwhile")
    panel.get_by_role("button", name="No object there").click()
    expect(panel).not_to_contain_text("by dan")
    made = kf.decisions(analysed, KEY, history=True)
    assert [one.decision for one in made] == ["guideline", "none"]


def test_the_queue_leads_to_the_next_dispute(theme: str, app: Any, analysed: fo.Dataset, tmp_path: Path) -> None:
    first = kf.next_dispute(analysed, KEY)
    (unit, *_) = kf.disputed_units(analysed, KEY, first)
    kf.decide(analysed, KEY, unit.labels, "take", next(iter(unit.values)), who="eve")
    asked = kf.next_dispute(analysed, KEY, after=first)
    (unit, *_) = kf.disputed_units(analysed, KEY, asked)
    kf.decide(analysed, KEY, unit.labels, "guideline", note="is a *toy* one, too?", who="dan")
    count = kf.count_disputes(analysed, KEY)
    app.open(analysed.name, WORKSPACE)
    if theme == "light":
        app.use_light_theme()
    panel = app.panel("raters")
    panel.get_by_role("button", name="Decide", exact=True).click()
    said = f"{count.decided} of {count.all} units in dispute decided, {count.waiting} waiting for the guideline"
    expect(panel).to_contain_text(said)
    following = panel.get_by_role("button", name="Open the next dispute")
    expect(following).to_be_in_viewport(ratio=1)
    app.picture(f"39-decide-{theme}")
    app.expect_nothing_cut_off("raters")
    for page, text in (
        ("Training list", "Who was decided against"),
        ("Guideline", "is a *toy* one, too?"),
        ("Results", "Make resolved labels"),
    ):
        panel.get_by_role("button", name=page, exact=True).click()
        expect(panel).to_contain_text(text)
        app.picture(f"39-decide-{theme}-{page.split()[0].lower()}")
        if page != "Guideline":  # whose lines to be copied are scrolled
            app.expect_nothing_cut_off("raters")
    for button, field, text, said in (
        ("Export resolved labels", "File", str(tmp_path / "resolved.json"), "Written to"),
        ("Hand over", "Key", "ana", "Nothing was written. field: 'ana' is there already"),
    ):
        panel.get_by_role("button", name=button).click()
        form = app.form()
        app.fill(form, field, text)
        form.get_by_role("button", name="Execute").first.click()
        dialog = app.page.get_by_role("dialog")
        expect(dialog).to_contain_text(said)
        app.picture(f"39-decide-{theme}-{button.split()[0].lower()}")
        dialog.get_by_role("button", name="Close").click()
        expect(dialog).to_have_count(0)
    assert (tmp_path / "resolved.json").stat().st_size
    panel.get_by_role("button", name="Queue", exact=True).click()
    following.click()
    app.expect_open_sample(Path(analysed[kf.next_dispute(analysed, KEY)].filepath).name)
