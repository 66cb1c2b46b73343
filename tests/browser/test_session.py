"""A Python session stays in sync with the App, whatever a user does there."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.raters import synthetic_fields
from tests.browser.conftest import GRID, expect
from tests.browser.living import Living
from tests.browser.test_deciding import open_first
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]


def test_nothing_happens_for_a_minute_after_a_decision(app: Any, analysed: fo.Dataset, living: Living) -> None:
    panel, _ = open_first(app, analysed)
    panel.get_by_role("button", name="is right").first.click()
    expect(panel.get_by_role("button", name="Undo")).to_be_visible()
    panel.get_by_role("table", name="Labels of each rater").locator("tbody tr").first.click()
    app.page.wait_for_timeout(3_000)
    after = living.known()
    assert after["dataset"] == analysed.name
    assert after["labels"]  # those of the row, selected in the image
    for _ in range(12):
        app.page.wait_for_timeout(5_000)
        app.expect_still_open()
        expect(panel).to_be_visible()
        assert living.known() == after


def test_a_run_goes_while_its_copies_are_in_the_grid(app: Any, loaded: fo.Dataset, living: Living) -> None:
    """FiftyOne cannot create a view of deleted fields, neither for the grid nor for a session."""
    kf.inject_noise(loaded, "noise", reference="ana", raters=2, magnitude=1.0)
    loaded.save_view("copies", loaded.select_fields(synthetic_fields(loaded)))
    app.open(loaded.name, GRID, view="copies")
    form = app.start_operator("Delete a run")
    form.get_by_role("button", name="Execute").first.click()
    dialog = app.page.get_by_role("dialog")
    expect(dialog).to_contain_text("and all it wrote are deleted")
    dialog.get_by_role("button", name="Close").click()
    app.expect_count(len(loaded))
    assert kf.list_runs(loaded) == []
    app.page.wait_for_timeout(12_000)
    assert living.known()["view"] is None
