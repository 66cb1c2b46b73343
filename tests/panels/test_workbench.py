"""The panel *Raters*: its sections, its lens, what a click leads to and back, and what happens meanwhile."""

from __future__ import annotations

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.scenes import RATERS
from tests.panels.operations import given, ids, names, opened, samples_of
from tests.plugin import Panel, form, post


def buttons(panel: Panel, row: str) -> dict[str, bool]:
    """The buttons of a row, and whether each is the chosen one."""
    entries = panel.shown[row]["type"]["properties"].values()
    return {entry["view"]["label"]: entry["view"]["variant"] == "contained" for entry in entries}


def on(panel: Panel, section: str) -> Panel:
    panel.send("choose_section", value=section)
    return panel


# ---- the first look ----


def test_it_says_which_raters_were_found_and_offers_to_analyse_them(dataset: fo.Dataset) -> None:
    panel = Panel("raters", dataset).load()
    assert "Found: 2 raters, boxes, 6 images" in panel.text()
    assert list(buttons(panel, "first_steps").items()) == [("Analyse", True), ("Load labels", False)]
    ((operation, given),) = panel.send("prompt", operator="analyse", given=panel.state["selection"])
    assert operation.endswith("prompt_user_for_operation")
    assert given["operator_uri"] == "@kalos/variation/analyse"


def test_without_raters_it_offers_to_load_labels() -> None:
    panel = Panel("raters", fo.Dataset()).load()
    assert "No labels of several raters" in panel.text()
    assert buttons(panel, "first_steps") == {"Load labels": True}


def test_the_newest_analysis_stands_there(analysed: fo.Dataset) -> None:
    panel = Panel("raters", analysed).load()
    assert panel.state["analysis"] == "agreement"
    shown = buttons(panel, "sections_row")
    assert [name for name, chosen in shown.items() if chosen] == [next(iter(shown))]


# ---- sections ----


def test_a_section_is_chosen_by_its_button(analysed: fo.Dataset) -> None:
    panel = Panel("raters", analysed).load()
    operations = panel.send("choose_section", value="Classes")
    assert buttons(panel, "sections_row")["Classes"]
    assert "classes" in panel.data
    assert "histogram" not in panel.data  # what was there before is gone
    assert [given["title"] for name, given in operations if name.endswith("set_panel_title")] == ["Raters: Classes"]


def test_the_formula_stands_behind_the_question_mark(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    assert "histogram_formula" not in panel.shown
    panel.send("explain", name="histogram")
    assert "histogram_formula" in panel.shown
    panel.send("explain", name="histogram")
    assert "histogram_formula" not in panel.shown


# ---- the lens ----


def test_a_class_narrows_the_figures_and_stays_in_the_next_section(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Images")
    everything = panel.state["found"]
    panel.look_through(category=str(panel.state["choices"]["category"].index("cat")))
    assert panel.state["found"] != everything
    on(panel, "Classes")
    assert panel.state["lens"]["category"] != "0"
    panel.send("clear_lens")
    on(panel, "Images")
    assert panel.state["found"] == everything


def test_the_view_is_followed_only_when_it_is_to_be(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    everything = panel.state["found"]
    panel.request = {"view": analysed.limit(2)}
    panel.send("on_change_view")
    assert panel.state["found"] == everything
    panel.look_through(follow=True)
    panel.request = {"view": analysed.limit(3)}
    panel.send("on_change_view")
    assert "over 3 images" in panel.state["found"]


def test_a_click_is_followed_with_the_same_answer(analysed: fo.Dataset) -> None:
    """The App tells of the view that a click sets seconds later."""
    panel = on(Panel("raters", analysed).load(), "Images").look_through(follow=True)
    before = panel.state["found"]
    place = next(place for place, count in enumerate(panel.data["histogram"][0]["y"]) if 0 < count < len(analysed))
    clicked = analysed.select(samples_of(analysed, answer := panel.send("images_click_bar", idx=place)))
    assert f"over {len(clicked)} image" in panel.state["found"] != before
    view = fo.DatasetView._build(analysed, given(answer, "set_view")["view"])
    asked = {"panel_id": "p", "__method__": "on_change_view", "panel_state": panel.state}
    assert post("raters", analysed, asked, view=view).executor.to_json()["requests"] == []
    panel.request = {"view": view}
    panel.send("back")
    assert panel.state["found"] == before


def test_of_a_figure_with_fewer_bars_nothing_stays(analysed: fo.Dataset) -> None:
    """With a choice in a menu the App copies the data into the state, and lays what is new over it."""
    panel = on(Panel("raters", analysed).load(), "Images").look_through(follow=True)
    assert panel.state["histogram"] is None
    assert panel.data["histogram"]


def test_a_change_of_the_view_that_is_sent_three_times_is_answered_once(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images").look_through(follow=True)
    asked = {"panel_id": "p", "__method__": "on_change_view", "panel_state": panel.state}
    view = analysed.limit(2)
    answers = [post("raters", analysed, asked, view=view).executor.to_json()["requests"] for _ in range(3)]
    assert [bool(answer) for answer in answers] == [True, False, False]


def test_events_that_change_nothing_are_not_answered(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    result = post("raters", analysed, {"panel_id": "p", "__method__": "on_change_view", "panel_state": panel.state})
    assert result.executor.to_json()["requests"] == []


def test_an_answer_is_one_change_of_the_state_and_one_of_the_data(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    asked = {"panel_id": "p", "__method__": "choose_section", "panel_state": panel.state, "value": "Classes"}
    requests = post("raters", analysed, asked).executor.to_json()["requests"]
    changes = ["set_panel_data", "patch_panel_state", "set_panel_title", "show_panel_output"]
    assert [request["operator_uri"] for request in requests] == changes


def test_a_class_that_a_click_sets_gets_new_menus_whose_own_event_changes_nothing(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Classes")
    before = panel.state["lens_row"]
    panel.send("classes_click_class", idx=0)
    assert panel.state["lens_row"] != before
    assert panel.state[panel.state["lens_row"]] == panel.state["lens"]
    asked = {"panel_id": "p", "__method__": "on_change_lens", "panel_state": panel.state, "value": "1"}
    assert post("raters", trio, asked).executor.to_json()["requests"] == []


def test_a_panel_that_an_operator_loads_anew_stays_where_it_was(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Images")
    panel.look_through(category=str(panel.state["choices"]["category"].index("cat")))
    panel.state = {}  # an operator cannot send it
    panel.send("reload")
    assert panel.state["section"] == "Images"
    assert panel.state["choices"]["category"][int(panel.state["lens"]["category"])] == "cat"
    panel.state = {}
    panel.send("reload", section="Classes")  # a new run names the section that shows it
    assert panel.state["section"] == "Classes"
    opened = Panel("raters", trio).load()
    assert opened.state["section"] == "Overview"


# ---- where clicks lead ----


def test_a_click_leads_to_images_and_back_again(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    operations = panel.send("images_show_worst")
    worst = kf.view_worst_first(analysed, "agreement", 25)
    assert samples_of(analysed, operations) == worst.values("id")
    panel.request = {"view": worst}
    assert "back" in panel.shown["grid_row"]["type"]["properties"]
    assert names(panel.send("back")) == ["clear_view"]
    assert "grid_row" not in panel.shown


def test_the_worst_image_opens(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    ((operation, given),) = panel.send("images_click_worst", row=0)
    assert operation.endswith("open_sample")
    assert given["id"] in ids(analysed, *range(len(analysed)))


# ---- what happens meanwhile ----


def test_a_run_that_was_deleted_is_no_longer_there(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    for key in kf.list_runs(analysed):
        kf.delete_run(analysed, key)
    panel.send("choose_section", value="Classes")
    assert "This could not be shown" in panel.text()
    panel.send("reload")
    assert "Found: 2 raters" in panel.text()


def test_another_data_set_takes_the_place_of_the_first(analysed: fo.Dataset, dataset: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    panel.dataset = dataset
    panel.send("on_change_dataset")
    assert "Found: 2 raters" in panel.text()
    assert panel.state["analysis"] is None


def test_a_new_analysis_is_shown_and_an_old_one_can_be_chosen(analysed: fo.Dataset) -> None:
    panel = Panel("raters", analysed).load()
    kf.compute_agreement(analysed, "second", raters=RATERS, threshold=0.7, bootstrap=20)
    panel.send("reload")
    assert panel.state["analysis"] == "second"
    panel.send("on_change_analysis", value="agreement")
    assert panel.state["analysis"] == "agreement"
    panel.send("reload")
    assert panel.state["analysis"] == "agreement"


@pytest.mark.parametrize("section", ["Overview", "Images", "Classes", "Raters", "Runs"])
def test_every_section_is_drawn(section: str, analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), section)
    assert not panel.state.get("problem")
    assert buttons(panel, "sections_row")[section]


# ---- runs ----


def test_two_analyses_are_compared(trio: fo.Dataset) -> None:
    raters = (*RATERS, "cid")
    panel = on(Panel("raters", trio).load(), "Runs")
    panel.send("choose_page", value="Compare")
    assert "There is only one analysis" in panel.text()
    first = trio.first()
    first.cid.detections = []
    first.save()
    kf.compute_agreement(trio, "second", raters=raters, bootstrap=50)
    panel.send("reload")
    assert panel.state["section"] == "Runs"
    found = kf.compare_runs(trio, "agreement", "second").comparison
    assert panel.state["changed_images"] == [len(found.improved), len(found.worsened)]
    assert "From agreement to second α changed by" in panel.text()
    operations = panel.send("runs_show_change", which="worsened")
    assert samples_of(trio, operations) == found.worsened.tolist()
    assert {row["name"] for row in panel.rows("by_class")} == set(found.classes.name)


def test_a_run_is_picked_and_what_to_do_with_it_is_offered(trio: fo.Dataset) -> None:
    kf.find_variations(trio, "variations", raters=(*RATERS, "cid"))
    kf.describe_run(trio, "variations", note="before the new guideline")
    panel = on(Panel("raters", trio).load(), "Runs")
    rows = panel.rows("runs")
    assert [row["key"] for row in rows] == ["variations", "▸\N{NO-BREAK SPACE}agreement"]
    assert "before the new guideline" in rows[0]["state"]
    panel.send("runs_click_run", row=0)
    assert panel.rows("runs")[0]["key"] == "▸\N{NO-BREAK SPACE}variations"
    entries = panel.shown["actions"]["type"]["properties"]
    assert entries["delete_run"]["view"]["params"]["given"] == {"run_key": "variations"}
    sample = trio.first()
    sample.ann.detections[0].label = "dog"
    sample.save()
    panel.send("reload")
    assert all("1 image edited since" in row["state"] for row in panel.rows("runs"))


def test_the_runs_of_an_analysis_stand_in_one_row(dataset: fo.Dataset) -> None:
    kf.analyse(dataset, "first", kinds=["agreement", "variations"], raters=RATERS)
    kf.find_variations(dataset, "alone", raters=RATERS)
    kf.describe_run(dataset, "first_variations", note="all of them seen")
    panel = on(Panel("raters", dataset).load(), "Runs")
    alone, together = panel.rows("runs")
    assert (alone["key"], together["key"]) == ("alone", "▸\N{NO-BREAK SPACE}first")
    assert together["what"].startswith("Agreement, Variations\n")
    assert "all of them seen" in together["state"]
    offered = form("rename_run", dataset, {"run_key": "first"})["run_key"].type.values
    assert offered == ["alone", "first_variations", "first"]  # each by itself, too


def test_overview_offers_a_report_of_its_agreement(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Overview")
    asked = panel.shown["next_row"]["type"]["properties"]["report"]["view"]["params"]
    (prompted,) = [params for name, params in panel.send("prompt", **asked) if name == "prompt_user_for_operation"]
    assert prompted["operator_uri"].endswith("/report")
    assert prompted["params"] == {"key": panel.state["run"]}


def test_overview_names_the_images_for_one_more_rater(trio: fo.Dataset) -> None:
    panel = opened(trio, "Overview")
    operations = panel.send("overview_show_next")
    found = kf.next_to_rate(trio, "agreement", 20)
    assert samples_of(trio, operations) == found.image.tolist()
    assert found.headline.splitlines()[0] in panel.text()
    assert "`agreement_next`" in panel.text()
    assert panel.state["in_grid"] == (
        f"{len(found)} images for one more rater: the interval on α is expected to narrow from {found.width:.3f} to "
        f"{found.expected_width:.3f}"
    )
