"""The whole way from raw labels to a decision and what it changed; and what happens to the panel meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from demo.files import IMAGES, LABELS
from kalos_core import KalosWarning
from kalos_core.display import with_interval
from kalos_core.fiftyone.runs.records import plain as values_of
from kalos_core.figures import hardest_classes
from kalos_core.text import plain
from tests.browser.conftest import GRID, expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]  # first of all, is there one

MINUTES = 240_000
"""Milliseconds for an analysis with its usual settings."""


def test_from_raw_labels_to_what_a_mended_label_changed(app: Any, few: fo.Dataset) -> None:
    # raw labels: the button above the grid opens the panel, which says what it found
    app.open(few.name, GRID)
    app.page.locator('img[src$="/assets/agreement.svg"]').first.click()
    panel = app.raters()
    expect(panel).to_contain_text("Found: 4 raters")
    panel.get_by_role("button", name="Analyse").click()
    form = app.form()
    app.picture("journey-1-analyse-form")
    form.get_by_role("button", name="Execute").first.click()
    summary = app.page.locator('[data-cy="operators-prompt-view-modal"]')
    app.picture("journey-2-progress")
    expect(summary).to_contain_text("Agreement: run first", timeout=MINUTES)
    app.picture("journey-3-summary")
    app.finish()

    # Overview: the worst class, its images, and back
    statements = kf.overview_of(few, KEY)
    for statement in statements:
        expect(panel).to_contain_text(plain(statement.text, None))
    app.picture("journey-4-overview")
    hardest = next(said for said in statements if said.leads_to == "Classes")
    name = hardest.arguments["category"]
    panel.get_by_role("button", name=hardest.text).click()
    app.expect_section("Classes")
    classes = values_of(kf.load_details(few, KEY).details)["class_difficulty"]
    shown = [classes["category"][place] for place in hardest_classes(classes["alpha"], classes["images"])]
    app.click_bar("raters", shown.index(name))
    app.expect_count(len(kf.view_of_class(few, KEY, name)))
    app.picture("journey-5-worst-class")
    app.back()
    app.expect_count(len(few))

    # the next dispute, decided beside its image
    app.choose_part("Decide")
    count = kf.count_disputes(few, KEY)
    expect(panel).to_contain_text(f"0 of {count.all} units in dispute decided")
    panel.get_by_role("button", name="Open the next dispute").click()
    first = kf.next_dispute(few, KEY, category=name)
    app.expect_open_sample(Path(few[first].filepath).name)
    beside = app.sample_panel()
    beside.get_by_role("button", name="is right").first.click()
    expect(beside.get_by_role("button", name="Undo")).to_be_visible()
    app.picture("journey-6-decided")
    assert len(kf.decisions(few, KEY)) == 1
    app.close_sample()

    # a label is mended, as FiftyOne's tab "Annotate" does; the panel says so
    worst = kf.worst_images(few, KEY, 1)[0]
    sample = few[worst.sample_id]
    edited = next(field for field in kf.rater_fields(few).values() if sample[field] and sample[field].polylines)
    sample[edited].polylines = sample[edited].polylines[1:]
    sample.save()
    app.choose_part("Overview")
    expect(panel).to_contain_text("1 sample was edited since")
    app.picture("journey-7-edited")

    # the same analysis again, and what it changed
    app.choose_part("Runs", "List")
    panel.get_by_role("button", name="Update", exact=True).click()
    form = app.form()
    form.get_by_role("button", name="Execute").first.click()
    expect(summary).to_contain_text("Agreement: run ", timeout=MINUTES)
    app.finish()
    newest, before = [analysis.key for analysis in kf.list_analyses(few)]
    assert before == KEY
    expect(panel).to_contain_text(f"{newest} · ")
    app.choose_part("Runs", "Compare")
    comparison = kf.compare_runs(few, before, newest).comparison
    expect(panel).to_contain_text(f"α changed by {with_interval(comparison.difference, comparison.interval)}")
    expect(panel.get_by_role("button", name=f"{len(comparison.improved)} improved")).to_be_visible()
    expect(panel.get_by_role("button", name=f"{len(comparison.worsened)} worsened")).to_be_visible()
    app.picture("journey-8-compared")
    app.expect_nothing_cut_off("raters")
    assert len(kf.decisions(few, newest)) == 1  # what was decided goes on


@extended
def test_two_windows_at_once_show_what_was_clicked_in_each(
    app: Any, context: Any, server: str, analysed: fo.Dataset
) -> None:
    """FiftyOne mirrors the layout of one window, and the state of its panels, in the others of the same App."""
    from tests.browser.app import App

    app.open(analysed.name, WORKSPACE)
    app.choose_part("Images")
    other = App(context.new_page(), server, keeps_pictures=app.keeps_pictures)
    other.open(analysed.name, WORKSPACE)
    other.choose_part("Classes")
    app.expect_section("Images")
    app.choose_lens("all raters", "chen")
    expect(app.raters().get_by_role("combobox").filter(has_text="chen")).to_be_visible()
    app.choose_part("Runs")
    other.expect_section("Classes")
    other.choose_part("Raters", "Pairs")
    app.expect_section("Runs")
    for window in (app, other):
        assert window.raters().get_by_text("could not be shown").count() == 0
    other.page.close()


@extended
def test_a_run_that_goes_and_another_data_set_are_survived(app: Any, analysed: fo.Dataset, loaded: fo.Dataset) -> None:
    app.open(analysed.name, WORKSPACE)
    panel = app.choose_part("Images")
    kf.delete_run(analysed, KEY)
    panel.get_by_role("button", name="Classes", exact=True).click()
    expect(panel).to_contain_text("This could not be shown")
    app.picture("meanwhile-1-run-deleted")
    panel.get_by_role("button", name="Try again").click()
    expect(panel).to_contain_text("Found: 4 raters")

    # another data set while a section is open
    kf.compute_agreement(loaded, "other")
    app.open(loaded.name, "")
    panel = app.raters() if app.raters().count() else app.add_panel("raters")
    expect(panel).to_contain_text(plain(kf.overview_of(loaded, "other")[0].text, None))
    app.dataset().click()
    app.page.keyboard.type(analysed.name)  # of many data sets the list shows some
    app.page.locator('[data-cy^="selector-result-"]').get_by_text(analysed.name, exact=True).first.click()
    app.opened = analysed.name
    expect(app.raters()).to_have_count(0)  # the App begins every data set with its own panels
    panel = app.add_panel("raters")
    expect(panel).to_contain_text("Found: 4 raters")
    app.picture("meanwhile-2-data-set-switched")


CLASSES = {
    "gull": "<b>**x**</b>",
    "kite": "a\u202egnp.exe",
    "van": "w" * 300,
    "sheep": "$x|y_z$ `code` [l](http://a.b)",
}
"""Class of the demo -> what it is called instead."""

RATERS = {"ana": "$x|y", "dara": "*d* <i>\u202ea</i>"}
"""Rater of the demo -> what they are called instead."""


@pytest.fixture
def hostile(scenes: Path, analysed_once: fo.Dataset) -> Iterator[fo.Dataset]:
    """The demo with names that Markdown, plotly or the browser could read something into."""
    text = json.loads((scenes / LABELS).read_text())
    for category in text["categories"]:
        category["name"] = CLASSES.get(category["name"], category["name"])
    for image in text["images"]:
        image["rater_list"] = [RATERS.get(name, name) for name in image["rater_list"]]
    for annotation in text["annotations"]:
        annotation["rater_id"] = RATERS.get(annotation["rater_id"], annotation["rater_id"])
    (scenes / "hostile.json").write_text(json.dumps(text))
    dataset = kf.load_raters(scenes / "hostile.json", "hostile", images=scenes / IMAGES).dataset
    settings = {"calibration": {"bootstrap": 5}, "convergence": {"subsets": 20, "fraction": 0.5}}
    with pytest.warns(KalosWarning, match="label convergence is .* on all|have fewer than 100 images"):
        kf.analyse(dataset, KEY, settings=settings)
    dataset.save_workspace(WORKSPACE, analysed_once.load_workspace(WORKSPACE))
    yield dataset
    dataset.delete()


@extended
def test_names_from_data_are_text_in_every_section(app: Any, hostile: fo.Dataset) -> None:
    app.open(hostile.name, WORKSPACE)
    panel = app.raters()
    expect(panel).to_contain_text("Raters agree")
    pages = {
        "Overview": ["Findings"],
        "Images": [],
        "Variations": ["Types", "Merged", "Confusions"],
        "Classes": [],
        "Raters": ["Scorecards", "Pairs"],
        "Threshold": [],
        "Ceiling": ["Raters"],
        "Decide": [],
        "Runs": [],
    }
    said = ""
    for section, names in pages.items():
        for page in names or [""]:
            app.choose_part(section, *filter(None, [page]))
            said += panel.inner_text()
            assert panel.locator("b, em, i, code, a[href='http://a.b']").count() == 0, (section, page)
            app.picture(f"hostile-{section}-{page}".lower())
    for name in ("<b>**x**</b>", "$x|y_z$ `code` [l](http://a.b)", "$x|y", "*d* <i>a</i>"):
        assert name in said
    assert "\u202e" not in said
    assert "w" * 100 not in said  # what is too long is cut
    app.choose_part("Classes")
    app.click_bar("raters", 0)
    expect(panel).to_contain_text("worst first")
    app.choose_part("Images")
    app.picture("hostile-lens")
