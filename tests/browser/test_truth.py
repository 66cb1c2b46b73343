"""Agreement about pixels, truths and detectors in the App: from the form to the tree, the truths and the curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.figures import ranking_title, smyth_title, tree_title
from tests.browser.conftest import expect, of_a_new_name
from tests.fiftyone_bridge.stacks import add_scores, drawn_stack

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]  # first of all, is there one?

BESIDE = "beside"


@pytest.fixture(scope="module")
def masks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[fo.Dataset]:
    """Masks of five raters, score maps of two detectors, and the panel beside the grid; nothing computed."""
    folder = tmp_path_factory.mktemp("stack")
    drawn_stack(folder)
    dataset = kf.load_mask_folders(folder / "masks", "masks", pictures=folder / "pictures").dataset
    add_scores(dataset, folder)
    grid, panel = fo.Panel(type="Samples", pinned=True), fo.Panel(type="truth")
    spaces = [fo.Space(children=[shown], active_child=shown.component_id) for shown in (grid, panel)]
    dataset.save_workspace(BESIDE, fo.Space(children=spaces, orientation="horizontal"))
    yield dataset
    dataset.delete()


@pytest.fixture
def computed(masks: fo.Dataset) -> Iterator[fo.Dataset]:
    """The same with a run of each kind."""
    dataset = of_a_new_name(masks)
    kf.compute_pixel_agreement(dataset, "pixels", pictures=True)
    kf.estimate_truth(dataset, "truth", methods=["any", "0.5", "excl-0.5", "staple"])
    kf.rank_detectors(dataset, "detectors", detectors=["sharp", "broad"], truths=["truth_staple"])
    yield dataset
    for key in kf.list_runs(dataset):
        kf.delete_run(dataset, key)


def test_from_nothing_to_agreement(app: Any, masks: fo.Dataset) -> None:
    dataset = of_a_new_name(masks)
    app.open(dataset.name, BESIDE)
    panel = app.panel("truth")
    expect(panel).to_contain_text("Nothing is computed yet")
    app.picture("truth-0-nothing-yet")
    panel.get_by_role("button", name="Compute agreement about pixels").click()
    form = app.form()
    app.picture("truth-1-form")
    summary = app.execute(form)
    figures = kf.load_figures(dataset, "pixels").figures
    expect(summary).to_contain_text(smyth_title(figures["smyth_bound"], 5))
    expect(summary).to_contain_text("eve")
    app.picture("truth-2-summary")
    app.finish()
    expect(panel).to_contain_text(tree_title(figures["raters"], [False] * 4 + [True]))
    app.expect_nothing_cut_off("truth")
    kf.delete_run(dataset, "pixels")


def test_every_tab_shows_its_part(app: Any, computed: fo.Dataset) -> None:
    app.open(computed.name, BESIDE)
    panel = app.panel("truth")
    ranking = kf.stored_ranking(kf.load_figures(computed, "detectors").figures)
    expect(panel).to_contain_text(ranking_title(ranking))
    said = {
        "Ranking": "Rank of each detector under each truth",
        "Curves": "sharp reaches",
        "Truths": "Raters beside",
        "Levels": "agree on",
        "Raters": "eve stands out among 5 raters",
    }
    for theme in ("dark", "light"):
        if theme == "light":
            app.use_light_theme()
        for tab, text in said.items():
            app.choose_tab("truth", tab)
            expect(panel).to_contain_text(text)
            app.expect_idle("truth")
            app.picture(f"truth-{theme}-{tab.lower()}-top")
            app.scroll_to(panel.get_by_text("New run"))
            app.picture(f"truth-{theme}-{tab.lower()}")
            app.expect_nothing_cut_off("truth")
    app.scroll_to(panel.locator("td", has_text="eve").first)
    panel.locator("td", has_text="eve").first.click()
    app.expect_count(len(computed))
