"""Deciding beside the open sample: the next dispute comes by itself, and a decision can be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY
from tests.browser.conftest import GRID, expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]


def open_first(app: Any, dataset: fo.Dataset) -> tuple[Any, str]:
    """The panel beside the sample that is first in the queue, which stands alone in the grid."""
    first = kf.next_dispute(dataset, KEY)
    assert first is not None
    dataset.save_view("first", dataset.select(first))
    app.open(dataset.name, GRID, view="first")
    app.expect_count(1)
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
