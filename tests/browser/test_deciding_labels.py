"""Decisions about image-level labels in the App by keys, in *Decide* and beside the open sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import WORKSPACE, _arrange
from demo.files import IMAGES
from tests.browser.conftest import GRID, expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

KEY = "weather"
GRADES = ["1", "2", "3", "4", "5"]
RATERS = ("ann", "bob", "cora")


@pytest.fixture
def graded(scenes: Path, copy: Callable[[fo.Dataset], fo.Dataset]) -> fo.Dataset:
    """Grade how clear the view is; cora grades higher than the others on every second image."""
    original = fo.Dataset()
    for number, path in enumerate(sorted((scenes / IMAGES).iterdir())[:24]):
        truth = number % 4
        given = (truth, truth + (number % 8 == 0), truth + (number % 2 == 0))
        labels = {name: fo.Classification(label=GRADES[of]) for name, of in zip(RATERS, given, strict=True)}
        original.add_sample(fo.Sample(str(path), raters=list(RATERS), **labels))
    original.default_classes = GRADES
    original.save()
    dataset = copy(original)
    original.delete()
    kf.analyse(dataset, KEY, raters=RATERS, settings={"image_labels": {"bootstrap": 50}})
    dataset.save_workspace(GRID, fo.Space(children=[fo.Panel(type="Samples", pinned=True)]))
    _arrange(dataset, fo)
    return dataset


def test_grades_are_decided_by_keys(app: Any, graded: fo.Dataset) -> None:
    app.open(graded.name, WORKSPACE)
    app.choose_part("Decide")
    panel, count = app.raters(), kf.count_disputes(graded, KEY).all
    progress = panel.locator('[data-cy="progress"]')
    assert count == graded.values("weather_disputed").count(True) > 8
    expect(progress).to_have_text(f"0 of {count} decisions made")
    for theme in ("dark", "light"):
        if theme == "light":
            app.use_light_theme()
        room = panel.get_by_role("main").evaluate("e => [e.scrollHeight, e.clientHeight]")
        assert room[0] <= room[1], (theme, room)
        app.picture(f"decide-labels-{theme}")
    app.expect_nothing_cut_off("raters")
    app.expect_accessible("raters")
    expect(panel.locator('[data-cy="decider"]')).to_contain_text("higher than the others")

    # a rater, a label that nobody gave, a question for the guideline, and one that is undone
    panel.get_by_role("group", name="Decide by keys").focus()
    for key in ("1", "t", "g", "3"):
        before = panel.locator('[data-cy="crop"]').get_attribute("data-id")
        app.page.keyboard.press(key)
        expect(panel.locator('[data-cy="crop"]')).not_to_have_attribute("data-id", before or "")
    app.page.keyboard.press("u")
    expect(progress).to_contain_text(f"2 of {count} decisions made, 1 waiting for the guideline")
    expect(progress).not_to_contain_text("storing")
    made = [(one.decision, one.rater, one.category) for one in kf.decisions(graded, KEY) if one.decision != "skip"]
    assert sorted(made, key=str) == [("guideline", None, None), ("label", None, "5"), ("take", "ann", None)]

    # another user decides about the one that is shown
    shown = panel.locator('[data-cy="crop"]').get_attribute("data-id")
    units = [unit for sample in graded.values("id") for unit in kf.disputed_units(graded, KEY, sample)]
    (unit,) = [unit for unit in units if str(unit.units[0]) == shown]
    kf.decide(graded, KEY, unit.labels, "label", category="2", who="dan")
    app.page.keyboard.press("n")
    expect(panel.get_by_role("alert").filter(has_text="Another user decided this question")).to_be_visible()
    panel.get_by_role("button", name="Look").click()
    expect(panel).to_contain_text("Decided: 2 is right by dan")

    # the resulting labels
    app.choose_part("Training list")
    expect(panel).to_contain_text("How often")
    app.choose_part("Results")
    expect(panel).to_contain_text("evaluate_classifications")


def test_next_to_the_open_image(app: Any, graded: fo.Dataset) -> None:
    first = kf.next_dispute(graded, KEY)
    assert first is not None
    graded.save_view("first", graded.select(first))
    app.open(graded.name, GRID, view="first")
    app.expect_count(1)
    app.page.locator('[data-cy="looker"]').first.click(position={"x": 12, "y": 60})
    app.expect_open_sample(Path(graded[first].filepath).name)
    panel = app.sample_panel()
    expect(panel).to_contain_text("1 question in dispute")
    app.picture("sample-labels")
    app.expect_nothing_cut_off("sample")
    panel.get_by_role("button", name="ann is right").click()
    following = kf.next_dispute(graded, KEY, after=first)
    assert following not in (None, first)
    app.expect_open_sample(Path(graded[following].filepath).name)
    (made,) = kf.decisions(graded, KEY)
    assert made.rater == "ann"
