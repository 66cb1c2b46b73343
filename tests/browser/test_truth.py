"""Agreement about pixels, truths and detectors in the workbench: from the form to tree, truths and curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.figures import ranking_title, skill_title
from tests.browser.conftest import expect
from tests.fiftyone_bridge.stacks import add_scores, drawn_stack
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

Copy = Callable[[fo.Dataset], fo.Dataset]
BESIDE = "beside"


@pytest.fixture(scope="module")
def masks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[fo.Dataset]:
    """Masks of five raters, score maps of two detectors, and the panel beside the grid; nothing computed."""
    folder = tmp_path_factory.mktemp("stack")
    drawn_stack(folder)
    dataset = kf.load_mask_folders(folder / "masks", "masks", images=folder / "images").dataset
    add_scores(dataset, folder)
    grid, panel = fo.Panel(type="Samples", pinned=True), fo.Panel(type="raters")
    spaces = [fo.Space(children=[shown], active_child=shown.component_id) for shown in (grid, panel)]
    dataset.save_workspace(BESIDE, fo.Space(children=spaces, orientation="horizontal"))
    yield dataset
    dataset.delete()


@pytest.fixture
def computed(masks: fo.Dataset, copy: Copy) -> Iterator[fo.Dataset]:
    """The same with a run of each kind."""
    dataset = copy(masks)
    kf.compute_pixel_agreement(dataset, "pixels", images=True, boundaries=True, divisions=True)
    kf.estimate_truth(dataset, "truth", methods=["any", "0.5", "excl-0.5", "staple"])
    options = {"truths": ["truth_staple"], "shares": "all", "boundaries": 9}
    kf.rank_detectors(dataset, "detectors", detectors=["sharp", "broad"], **options)
    dataset.app_config.active_fields = fo.ActiveFields(paths=["pixels_rater_count"])
    dataset.save()
    yield dataset
    for key in kf.list_runs(dataset):
        kf.delete_run(dataset, key)


def click_leaf(app: Any, place: int) -> None:
    """Click a rater of the tree: plotly listens to the mouse, not to elements."""
    app.expect_idle("raters")
    leaf = app.panel("raters").locator(".scatterlayer .points path").nth(place)
    expect(leaf).to_be_visible()
    box = app.scroll_to(leaf)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    app.page.mouse.move(x - 3, y)
    app.page.mouse.move(x, y)  # plotly answers a click where the mouse has hovered
    expect(app.panel("raters").locator(".hoverlayer .hovertext").first).to_be_visible()
    app.page.mouse.click(x, y)


def test_every_tab_shows_its_part(app: Any, computed: fo.Dataset) -> None:
    app.open(computed.name, BESIDE)
    panel = app.choose_part("Ranking")
    ranking = kf.load_details(computed, "detectors").details.ranking.ranking
    expect(panel).to_contain_text(ranking_title(ranking))
    said = {
        ("Ranking", "Detectors"): "who is best depends on whose labels you trust",
        ("Ranking", "Curves"): "sharp reaches",
        ("Truth",): "Raters against",
        ("Masks", "Boundaries"): "Boundaries of two raters are",
        ("Masks", "Divisions"): "Regions of two raters: adjusted Rand index",
        ("Masks", "Images"): "agree on",
        ("Masks", "Raters"): "eve stands out among 5 raters",
    }
    for theme in ("dark", "light") if app.keeps_pictures else ("dark",):
        if theme == "light":
            app.use_light_theme()
        for part, text in said.items():
            app.choose_part(*part)
            expect(panel).to_contain_text(text)
            app.expect_idle("raters")
            name = "-".join(part).lower()
            top = panel.get_by_role("button", name="Ranking", exact=True)
            app.picture(f"truth-{theme}-{name}-top", of=top)
            app.picture(f"truth-{theme}-{name}", of=panel.locator("table, .js-plotly-plot").last)
            app.expect_nothing_cut_off("raters")


def test_a_click_on_a_rater_shows_their_images(app: Any, computed: fo.Dataset) -> None:
    sample = computed.first()
    sample["raters"] = [name for name in sample["raters"] if name != "eve"]
    sample["eve"] = None
    sample.save()
    kf.compute_pixel_agreement(computed, "fewer")
    app.open(computed.name, BESIDE)
    panel = app.choose_part("Masks")
    expect(panel).to_contain_text("stands out among 5 raters")
    expect(panel.locator(".scatterlayer .points path").last).to_be_visible()
    app.expect_idle("raters")
    app.picture("truth-3-counts-in-the-grid", readme="truth")
    place = ["ann", "bob", "cid", "dan", "eve"].index("eve")
    click_leaf(app, place)
    app.expect_count(len(computed) - 1)
    app.picture("truth-4-images-of-a-rater")


def test_regions_of_masks_are_decided_from_the_queue(theme: str, app: Any, masks: fo.Dataset, copy: Copy) -> None:
    dataset = copy(masks)
    run = kf.compute_pixel_agreement(dataset, "pixels", regions=True, region_area=60)
    kf.estimate_truth(dataset, "truth", methods=["staple"], maps=True)
    dataset.app_config.active_fields = fo.ActiveFields(paths=["pixels_regions", "truth_staple_entropy"])
    dataset.save()
    app.open(dataset.name, BESIDE)
    if theme == "light":
        app.use_light_theme()
    panel = app.choose_part("Decide")
    expect(panel).to_contain_text(f"0 of {run.metrics['regions']:,} regions in dispute decided")
    expect(panel).to_contain_text("Open regions")
    app.picture(f"truth-5-{theme}-regions-to-decide")
    app.expect_nothing_cut_off("raters")
    panel.get_by_role("button", name="Open the next dispute").click()
    first = kf.next_dispute(dataset, "pixels")
    app.expect_open_sample(Path(dataset[first].filepath).name)
    beside = app.sample_panel()
    expect(beside).to_contain_text("in dispute")
    button = beside.get_by_role("button", name="ann is right").first
    expect(button).to_be_in_viewport(ratio=1)
    app.expect_idle("sample")
    app.picture(f"truth-6-{theme}-region")
    app.expect_nothing_cut_off("sample")
    button.click()
    expect(beside.get_by_role("button", name="Undo")).to_be_visible()
    (made,) = kf.decisions(dataset, "pixels")
    assert (made.decision, made.rater) == ("take", "ann")
    for key in kf.list_runs(dataset):
        kf.delete_run(dataset, key)


def test_who_is_right_about_objects(app: Any, loaded: fo.Dataset) -> None:
    """From a truth by votes, through its form as it was filled in, to the objects that a rater missed."""
    grid, shown = fo.Panel(type="Samples", pinned=True), fo.Panel(type="raters")
    spaces = [fo.Space(children=[each], active_child=each.component_id) for each in (grid, shown)]
    loaded.save_workspace(BESIDE, fo.Space(children=spaces, orientation="horizontal"))
    kf.estimate_truth(loaded, "votes", quorum=0.4)
    app.open(loaded.name, BESIDE)
    panel = app.choose_part("Truth")
    expect(panel).to_contain_text("objects at quorum 0.4")
    panel.get_by_role("button", name="Estimate who is right").click()
    form = app.form()
    expect(form.get_by_text("Quorum", exact=True).locator("xpath=following::input[1]")).to_have_value("0.4")
    expect(form).to_contain_text("How raters are taken to answer")
    app.picture("truth-objects-0-form")
    summary = app.execute(form)
    expect(summary).to_contain_text("are decided otherwise than most of their raters say")
    app.finish()
    (key,) = set(kf.list_runs(loaded, "truth")) - {"votes"}
    found = kf.load_details(loaded, key).details.truths["confusion 0.4"]
    expect(panel).to_contain_text(
        skill_title(found.estimate.raters.tolist(), found.estimate.skill).replace("\xa0", " ")
    )
    expect(panel).to_contain_text(f"{key}_existence")
    app.expect_idle("raters")
    app.picture("truth-objects-1")
    app.expect_nothing_cut_off("raters")
    app.picture("truth-objects-2-below", of=panel.locator(".js-plotly-plot").last)
    least = found.estimate.raters[int(found.estimate.skill.argmin())]
    app.click_bar("raters", 0)
    app.expect_count(len(kf.view_of_objections(loaded, key, least)))
    panel.get_by_role("button", name="Least sure images").click()
    app.expect_count(len(kf.view_least_sure_first(loaded, key)))
