"""A form, and the panel beside the open sample, whose numbers are compared with the library's own.

`pytest -m browser --pictures` saves a screenshot of every step in artifacts/screenshots. Those of the README are in
its folder `readme`; `cp artifacts/screenshots/readme/*.png docs/images/` updates them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

from demo.__main__ import KEY, WORKSPACE
from kalos_core.display import alpha_text
from kalos_core.fiftyone.kinds.agreement.sample import sample_report
from tests.browser.conftest import GRID, expect, rows
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

FARM = 3  # a scene whose raters disagree in several ways


VIEW = Path(__file__).resolve().parents[2] / "panels" / "view"
TAKEN = re.compile(r"^(?:import|export) {([^}]*)} from \"([^\"]+)\"", re.MULTILINE)


def test_the_app_has_all_that_the_view_takes_of_it(app: Any, loaded: fo.Dataset) -> None:
    """FiftyOne does not document these names on `window`; a failure says which of them is gone."""
    globals_of = json.loads((VIEW / "globals.json").read_text())
    names = {module: [] for module in globals_of}
    for source in ("app.ts", "mui.ts"):
        for listed, module in TAKEN.findall((VIEW / "src" / source).read_text()):
            names[module] += [name.split(" as ")[0].strip() for name in listed.split(",") if name.strip()]
    taken = [f"{globals_of[module]}.{name}" for module, of in names.items() for name in of]
    assert {"__foo__.useTriggerPanelEvent", "__mui__.Table"} <= set(taken)
    app.open(loaded.name, GRID)
    gone = "names => names.filter(name => name.split('.').reduce((of, part) => of?.[part], window) === undefined)"
    assert app.page.evaluate(gone, [*globals_of.values(), *taken]) == []


def test_a_form_marks_errors_while_typing(app: Any, loaded: fo.Dataset) -> None:
    app.open(loaded.name, GRID)
    form = app.start_operator("Match raters and compute agreement")
    for rater in ("ana", "ben", "chen", "dara"):
        expect(form.get_by_text(rater, exact=True).first).to_be_visible()
    app.picture("02-agreement-form", readme="form")
    app.fill(form, "Run key", "not a key")
    expect(form.get_by_text("expected a name of letters, digits and underscores").first).to_be_visible()
    expect(form.get_by_role("button", name="Execute").first).to_be_disabled()
    form.get_by_role("button", name="Cancel").click()


def test_the_open_sample_shows_the_label_of_every_rater_for_each_unit(app: Any, analysed: fo.Dataset) -> None:
    ids, paths = analysed.values(["id", "filepath"])
    app.open(analysed.name, WORKSPACE)
    app.page.locator('[data-cy="looker"]').nth(FARM).click(position={"x": 12, "y": 60})
    app.expect_open_sample(Path(paths[FARM]).name)
    panel = app.sample_panel()
    report = sample_report(analysed, ids[FARM], KEY)
    expect(panel).to_contain_text(f"α {alpha_text(report.alpha)}")
    table = panel.get_by_role("table")
    expect(table.locator("tbody tr")).to_have_count(len(report.units))
    assert [" ".join(cell.split()) for cell in table.locator("th").all_inner_texts()] == ["#", *report.raters]
    expected = [[cell.category or cell.state for cell in unit] for unit in report.cells]
    assert [[cell.splitlines()[0] for cell in row[1:]] for row in rows(table)] == expected

    # a row selects the labels of its unit
    drawn = [sum(bool(cell.label_id) for cell in unit) for unit in report.cells]
    place = max(range(len(drawn)), key=lambda number: drawn[number])
    table.locator("tbody tr").nth(place).click()
    selected = app.page.locator('[data-cy="action-manage-selected"]').last
    expect(selected).to_have_text(str(drawn[place]))
    app.picture("31-sample-unit-chosen")
    app.expect_nothing_cut_off("sample")

    # the panel follows to the next sample
    app.page.keyboard.press("ArrowRight")
    app.expect_open_sample(Path(paths[FARM + 1]).name)
    following = sample_report(analysed, ids[FARM + 1], KEY)
    expect(panel).to_contain_text(f"α {alpha_text(following.alpha)}")
    expect(table.locator("tbody tr")).to_have_count(len(following.units))
