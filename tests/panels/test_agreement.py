"""The sections of the Agreement panel: what each shows, what a click leads to, and what a filter leaves."""

from __future__ import annotations

from types import SimpleNamespace

import fiftyone as fo
import pytest
from bson import ObjectId

import kalos_core.fiftyone as kf
from kalos_core import Annotations
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.runs.records import plain
from kalos_core.figures import (
    BAND_SOURCES,
    PUBLISHED_ALPHAS,
    alpha_bins,
    class_difficulty_title,
    vitality_title,
    with_interval,
)
from panels import common
from panels.agreement import headline
from tests.fiftyone_bridge.scenes import RATERS, metrics_of
from tests.panels.operations import given, names, on, plots, samples_of
from tests.plugin import Panel

SECTIONS = ["Images", "Reading", "Boundaries", "Classes", "Raters"]


# ---- what is shown ----


def test_a_section_shows_its_figures_each_with_how_to_read_it(trio):
    panel = Panel("agreement", trio).load()
    assert [choice["value"] for choice in panel.shown["section"]["view"]["choices"]] == SECTIONS
    found = {section: plots(on(panel, section)) for section in SECTIONS}
    assert found == {
        "Images": ["histogram"],
        "Reading": ["scale"],
        "Boundaries": ["sensitivity"],
        "Classes": ["classes"],
        "Raters": ["vitality", "collaboration"],
    }
    for section, figures in found.items():
        on(panel, section)
        for figure in figures:
            assert f"{figure}_caption" in panel.shown
            assert panel.data[figure]


def test_the_figures_are_those_the_run_stored(trio):
    panel = Panel("agreement", trio).load()
    stored = plain(kf.load_details(trio, "agreement").details)
    vitality, classes = stored["vitality"], stored["class_difficulty"]
    assert panel.data["vitality"][0]["x"] == vitality["vitality"]
    assert sorted(panel.data["classes"][0]["x"]) == sorted(classes["alpha"])
    pairs, order = stored["collaboration"], stored["collaboration"]["order"]
    heat = panel.data["collaboration"][0]["z"]
    assert heat[0][1] == pairs["alpha"][order[0]][order[1]]
    assert heat[1][0] == pairs["global_alpha"][order[0]][order[1]]
    whole = kf.load_metrics(trio, "agreement").metrics["global_alpha"]
    assert whole in [line["x0"] for line in panel.state["layouts"]["histogram"]["shapes"]]
    curve = panel.data["sensitivity"][-1]
    assert (curve["x"], curve["y"]) == (stored["sensitivity"]["threshold"], stored["sensitivity"]["alpha"])
    assert vitality_title(vitality["rater"], vitality["vitality"]) in on(panel, "Raters").text()
    title = class_difficulty_title(classes["category"], classes["alpha"], classes["images"])
    assert title in on(panel, "Classes").text()


def test_published_values_stand_next_to_the_runs_own_with_their_sources(trio):
    panel = on(Panel("agreement", trio).load(), "Reading")
    rows = panel.rows("published")
    assert len(rows) == len(PUBLISHED_ALPHAS)
    assert rows[0]["notation"].startswith("bbox, threshold 0.5")  # boxes, as this run's
    assert all(row["source"] for row in rows)
    assert {"0.9055", "0.8069", "0.3683"} <= {row["alpha"] for row in rows}
    assert panel.data["scale"][0]["x"][0] == kf.load_metrics(trio, "agreement").metrics["alpha"]
    assert "Values of other configurations are not comparable" in panel.text()
    assert BAND_SOURCES in panel.text()


def test_two_raters_have_no_vitality_and_the_panel_says_why(analysed):
    panel = on(Panel("agreement", analysed).load(), "Raters")
    assert plots(panel) == ["collaboration"]
    assert "vitality: expected at least three raters" in panel.text()
    assert "rater" not in panel.shown["filter"]["type"]["properties"]


def test_sessions_are_shown_where_there_are_any(trio):
    raters = {"raters": [*RATERS, "cid"], "person": ["Ann", "Bob", "Ann"], "session": ["1", "1", "2"]}
    store_raters(trio, {}, Annotations.from_rows([], **raters))
    kf.compute_agreement(trio, "sessions", raters=(*RATERS, "cid"), bootstrap=0)
    panel = on(Panel("agreement", trio).load(), "Raters")
    assert plots(panel) == ["vitality", "collaboration", "intra_rater", "team"]
    assert panel.data["intra_rater"][0]["x"] == plain(kf.load_details(trio, "sessions").details)["intra_rater"]["alpha"]


def test_a_note_on_solvers_stands_below_the_headline(trio):
    assert headline({**kf.load_metrics(trio, "agreement").metrics, "note": "Other solvers"}).endswith(
        "\n\nOther solvers"
    )


# ---- clicks ----


def test_a_point_of_the_curve_leads_to_its_images(trio):
    panel = on(Panel("agreement", trio).load(), "Boundaries")
    operations = panel.send("on_click_threshold", x=0.9)
    assert samples_of(trio, operations) == kf.view_of_threshold(trio, "agreement", 0.9).values("id")
    assert given(operations, "notify")["message"].endswith("images, the lowest alpha at similarity 0.9 first")
    assert panel.send("on_click_threshold", x=0.123) == []


def test_a_class_leads_to_its_images_and_filters(trio):
    panel = on(Panel("agreement", trio).load(), "Classes")
    shown = panel.state["shown_classes"]
    operations = panel.send("on_click_class", idx=0)
    assert samples_of(trio, operations) == kf.view_of_class(trio, "agreement", shown[0]).values("id")
    assert given(operations, "notify")["message"].endswith(f"images with {shown[0]}, worst first")
    found = metrics_of(kf.narrowed_metrics(trio, "agreement", kf.Lens(category=shown[0])))
    title = f"Filtered by class **{shown[0]}**: alpha {with_interval(found['alpha'], found['alpha_interval'])}"
    assert title in panel.text()
    assert sum(panel.data["histogram"][0]["y"]) == sum(value is not None for value in found["image_alpha"])
    assert panel.data["collaboration"][0]["z"] != Panel("agreement", trio).load().data["collaboration"][0]["z"]


def test_a_pair_leads_to_the_images_where_they_disagree_most(trio):
    panel = on(Panel("agreement", trio).load(), "Raters")
    shown = panel.state["shown_raters"]
    operations = panel.send("on_click_pair", idx=[0, 2])
    assert samples_of(trio, operations) == kf.view_of_pair(trio, "agreement", shown[0], shown[2]).values("id")
    assert f"images of {shown[0]} and {shown[2]}" in given(operations, "notify")["message"]
    assert names(panel.send("on_click_pair", idx=[1, 1])) == []  # the empty diagonal


def test_a_rater_filters_classes_and_images(trio):
    panel = on(Panel("agreement", trio).load(), "Raters")
    before = panel.data["classes"][0]["x"]
    panel.send("on_click_rater", idx=2)
    found = metrics_of(kf.narrowed_metrics(trio, "agreement", kf.Lens(rater="cid")))
    assert panel.state["filter"] == {"category": "0", "rater": "3"}
    assert sorted(panel.data["classes"][0]["x"]) == sorted(
        value for value in found["class_difficulty"]["alpha"] if value is not None
    )
    assert panel.data["classes"][0]["x"] != before
    assert "Filtered by rater **cid** with each of the others" in panel.text()
    assert "Of all labels: the filter does not apply here." in panel.text()  # at vitality


@pytest.mark.parametrize(("category", "rater"), [("1", "0"), ("0", "2"), ("2", "3")])
def test_bars_and_worst_images_follow_the_filter(trio, category, rater):
    panel = Panel("agreement", trio).load()
    panel.send("on_change_category", value=category)
    panel.send("on_change_rater", value=rater)
    chosen = {
        "category": [None, *panel.state["categories"]][int(category)],
        "rater": [None, *panel.state["raters"]][int(rater)],
    }
    ids, alphas = kf.image_alphas(trio, "agreement", **chosen)
    edges, counts = alpha_bins(alphas)
    assert panel.state["edges"] == edges.tolist()
    for place, count in enumerate(counts):
        found = samples_of(trio, panel.send("on_click_bar", idx=place))
        low, high = edges[place], edges[place + 1]
        inside = [
            sample
            for sample, alpha in zip(ids, alphas, strict=True)
            if alpha is not None and low <= alpha and (alpha < high or high == alpha == 1)
        ]
        assert sorted(found) == sorted(inside)
        assert len(found) == count
    worst, value = panel.state["worst_ids"], dict(zip(ids, alphas, strict=True))
    assert [value[sample] for sample in worst] == sorted(alpha for alpha in alphas if alpha is not None)[:25]
    assert samples_of(trio, panel.send("show_worst")) == worst


def test_a_filter_can_be_cleared(trio):
    panel = Panel("agreement", trio).load()
    whole = panel.data["histogram"]
    assert "clear" not in panel.shown["filter"]["type"]["properties"]
    panel.send("on_change_category", value="1")
    assert "clear" in panel.shown["filter"]["type"]["properties"]
    assert panel.data["histogram"] != whole
    assert names(panel.send("clear_filter")) == ["clear_view"]
    assert panel.data["histogram"] == whole
    assert "Filtered by" not in panel.text()


def test_another_run_begins_without_a_filter(trio):
    panel = Panel("agreement", trio).load()
    panel.send("on_change_category", value="1")
    kf.compute_agreement(trio, "second", raters=RATERS, bootstrap=0)
    panel.load()
    assert panel.state["run"] == "second"
    assert panel.state["filter"] == {"category": "0", "rater": "0"}


def test_a_row_opens_its_image_also_where_the_app_sends_the_tables_back(trio):
    panel = Panel("agreement", trio).load()
    panel.send("on_change_category", value="1")
    operations = panel.send("on_click_worst", row=0, panel_state={**panel.state, **panel.data})
    assert given(operations, "open_sample")["id"] == panel.state["worst_ids"][0]


def test_ids_go_to_the_app_as_text():
    sent = {}
    ops = SimpleNamespace(open_sample=sent.update, set_selected_labels=lambda labels: sent.update(labels=labels))
    sample, label = ObjectId(), ObjectId()
    common.open_sample(SimpleNamespace(ops=ops), sample)
    common.select_labels(SimpleNamespace(ops=ops), sample, [(label, "ann")])
    assert sent == {
        "id": str(sample),
        "labels": [{"sample_id": str(sample), "label_id": str(label), "field": "ann"}],
    }


def test_names_that_look_like_options_are_only_names():
    box = {"bounding_box": [0.1, 0.1, 0.4, 0.4]}
    boxes = {name: fo.Detections(detections=[fo.Detection(label="0", **box)]) for name in ("a", "b", "c")}
    dataset = fo.Dataset()
    metadata = fo.ImageMetadata(width=100, height=100)
    dataset.add_samples([fo.Sample("1.jpg", metadata=metadata, raters=["a", "b", "c"], **boxes)], progress=False)
    kf.compute_agreement(dataset, "agreement", raters=("a", "b", "c"), bootstrap=0)
    panel = Panel("agreement", dataset).load()
    panel.send("on_change_category", value="1")
    assert "Filtered by class **0**" in panel.text()
