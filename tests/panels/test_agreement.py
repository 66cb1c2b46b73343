"""The sections of an agreement: *Overview*, *Images*, *Classes* and *Raters*: their numbers, and where clicks lead."""

from __future__ import annotations

import sys

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.display import with_interval
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import image_alphas, view_of_class, view_of_pair, view_worst_first
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion
from kalos_core.figures.agreement import alpha_bins
from kalos_core.figures.captions import CAPTIONS
from kalos_core.results import plain_values
from tests.fiftyone_bridge.scenes import RATERS, metrics_of
from tests.panels.operations import at, given, ids, look_at, names, opened, samples_of
from tests.plugin import Workbench
from tests.tiers import first

# ---- figures ----


def test_the_figures_are_those_the_run_stored_each_with_how_to_read_it(trio: fo.Dataset) -> None:
    stored = plain_values(kf.load_details(trio, "agreement").details)
    panel = opened(trio, "Raters", "Pairs")
    assert panel.data["vitality"][0]["x"] == stored["vitality"]["vitality"]
    pairs, order = stored["collaboration"], stored["collaboration"]["order"]
    heat = panel.data["collaboration"][0]["z"]
    assert heat[0][1] == pairs["alpha"][order[0]][order[1]]
    assert heat[1][0] == pairs["global_alpha"][order[0]][order[1]]
    at(panel, "Classes")
    assert sorted(panel.data["classes"][0]["x"]) == sorted(stored["class_difficulty"]["alpha"])
    at(panel, "Images")
    whole = kf.load_metrics(trio, "agreement").metrics["global_alpha"]
    assert whole in [line["x0"] for line in panel.state["layouts"]["histogram"]["shapes"]]
    assert CAPTIONS["histogram"].read in panel.text()


def test_what_is_undefined_says_why(analysed: fo.Dataset, dataset: fo.Dataset) -> None:
    panel = opened(analysed, "Raters", "Pairs")
    assert "vitality: expected at least three raters" in panel.text()
    assert "collaboration" in panel.data
    kf.compute_agreement(dataset.skip(5), "undefined", raters=RATERS)  # only one of them was assigned
    panel = Workbench(dataset).load()
    assert "Alpha is undefined:" in panel.text()
    assert at(panel, "Images").rows("worst") == []


# ---- images ----


def test_a_bar_sets_a_view_of_exactly_its_images(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Images")
    edges, found = panel.state["edges"], {}
    for place, edge in enumerate(edges[:-1]):
        found[edge] = sorted(samples_of(analysed, panel.send("images_click_bar", idx=place)))
        assert panel.grids[-1]["text"].startswith(f"{len(found[edge])} image")
    expected: dict[float, list[str]] = {edge: [] for edge in edges[:-1]}
    expected |= {-0.7: ids(analysed, 3), 0.0: sorted(ids(analysed, 1, 2)), 0.9: sorted(ids(analysed, 0, 4))}
    assert found == expected


def test_the_worst_images_are_listed_the_worst_first(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Images")
    expected = [(1, "−0.667", 3), (2, "0.000", 2), (3, "0.000", 1), (4, "1.000", 2), (5, "1.000", 0)]
    assert [(row["rank"], row["alpha"], row["labels"]) for row in panel.rows("worst")] == expected
    operations = panel.send("images_click_worst", row=0)
    assert given(operations, "open_sample") == {"id": ids(analysed, 3)[0], "group_id": None}
    view = samples_of(analysed, panel.send("images_show_worst"))
    assert view[0] == ids(analysed, 3)[0]
    assert len(view) == 5  # the one without an alpha is none of them


@pytest.mark.parametrize("lens", first([{"category": "dog", "rater": "cid"}, {"rater": "bob"}]))
def test_bars_and_worst_images_follow_the_lens(trio: fo.Dataset, lens: dict[str, str]) -> None:
    panel = look_at(opened(trio, "Images"), **lens)
    sample_ids, alphas = image_alphas(trio, "agreement", **lens)
    value = dict(zip(sample_ids, alphas, strict=True))
    edges, counts = alpha_bins(alphas)
    assert panel.state["edges"] == edges.tolist()
    found = metrics_of(narrowed_metrics(trio, "agreement", kf.Lens(**lens)))
    assert with_interval(found["alpha"], found["alpha_interval"]) in panel.text()
    for place, count in enumerate(counts):
        if count:
            shown = samples_of(trio, panel.send("images_click_bar", idx=place))
            low, high = edges[place], edges[place + 1]
            assert len(shown) == count
            assert all(low <= value[sample] < high or value[sample] == high == 1 for sample in shown)
    worst = panel.state["worst_ids"]
    assert [value[sample] for sample in worst] == sorted(alpha for alpha in alphas if alpha is not None)[:25]
    assert samples_of(trio, panel.send("images_show_worst")) == worst
    assert f"worst first by α of {' and '.join(lens.values())} (" in panel.grids[-1]["text"]


def test_of_a_long_sorted_view_the_first_images_are_shown(
    analysed: fo.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = opened(analysed, "Images")
    worst = view_worst_first(analysed, "agreement", 25).values("id")
    (events,) = [module for name, module in sys.modules.items() if name.endswith(".panels.parts.events")]
    for most, said in ((2, "the first 2 of 5 images"), (5, "5 images")):
        monkeypatch.setattr(events, "MOST_SORTED", most)
        assert samples_of(analysed, panel.send("images_show_worst")) == worst[:most]
        assert panel.grids[-1]["text"].startswith(said)


# ---- classes and raters ----


def test_a_class_leads_to_its_images_and_into_the_lens(trio: fo.Dataset) -> None:
    panel = opened(trio, "Classes")
    shown = panel.state["shown_classes"]
    operations = panel.send("classes_click_class", idx=0)
    assert samples_of(trio, operations) == view_of_class(trio, "agreement", shown[0]).values("id")
    assert f"images with {shown[0]}, worst first by α of {shown[0]}" in panel.grids[-1]["text"]
    at(panel, "Images")
    found = metrics_of(narrowed_metrics(trio, "agreement", kf.Lens(category=shown[0])))
    assert with_interval(found["alpha"], found["alpha_interval"]) in panel.text()
    assert sum(panel.data["histogram"][0]["y"]) == sum(value is not None for value in found["image_alpha"])


def test_a_pair_leads_to_the_images_where_they_disagree_most(trio: fo.Dataset) -> None:
    panel = opened(trio, "Raters", "Pairs")
    shown = panel.state["shown_raters"]
    operations = panel.send("raters_click_pair", idx=[0, 2])
    assert samples_of(trio, operations) == view_of_pair(trio, "agreement", shown[0], shown[2]).values("id")
    assert f"images of {shown[0]} and {shown[2]}" in panel.grids[-1]["text"]
    assert names(panel.send("raters_click_pair", idx=[1, 1])) == []  # the empty diagonal
    panel.send("raters_click_rater", idx=2)
    assert panel.state["card"] == "cid"


def test_there_is_a_scorecard_for_each_rater_the_lowest_alpha_first(trio: fo.Dataset) -> None:
    panel = opened(trio, "Raters", "Scorecards")
    cards = {card.rater: card for card in kf.rater_scorecard(trio, "agreement")}
    rows = panel.rows("cards")
    assert [row["rater"] for row in rows] == sorted(cards, key=lambda name: (cards[name].alpha, name))
    for row in rows:
        card = cards[row["rater"]]
        assert (row["missing"], row["splits"]) == (f"{card.rates['missing']:.1f}", f"{card.splits:.1f}")
    panel.send("raters_on_change_sorted_by", value="wrong_class")
    rates = [float(row["wrong_class"]) for row in panel.rows("cards")]
    assert rates == sorted(rates, reverse=True)
    panel.send("raters_on_change_sorted_by", value="rater")
    assert [row["rater"] for row in panel.rows("cards")] == ["ann", "bob", "cid"]


def test_a_scorecard_shows_all_there_is_to_say_of_a_rater(trio: fo.Dataset) -> None:
    panel = opened(trio, "Raters", "Scorecards")
    place = [row["rater"] for row in panel.rows("cards")].index("cid")
    panel.send("raters_click_card", row=place)
    assert panel.state["card"] == "cid"
    lines = {row["name"]: row["value"] for row in panel.rows("card_lines")}
    assert lines["Says dog where others say cat"].endswith("findings")
    assert panel.data["example_wrong_class"].startswith("data:image/png;base64,")
    confused = view_of_confusion(trio, "variations", "dog", "cat")
    assert samples_of(trio, panel.send("raters_click_confused", row=0)) == confused.values("id")
    wrong = kf.view_of_variation(trio, "variations", "wrong_class", rater="cid")
    assert samples_of(trio, panel.send("raters_show_kind", kind="wrong_class")) == wrong.values("id")
    assert panel.grids[-1]["text"].endswith("images with findings of cid: wrong class")
    sent = given(panel.send("raters_print_sheet"), "browser_download")
    assert sent["filename"] == "feedback-cid.html"
    assert sent["url"].startswith("data:text/html;charset=utf-8;base64,")
