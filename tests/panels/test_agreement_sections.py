"""The sections of agreement: what each shows, what a click leads to, and what the lens leaves."""

from __future__ import annotations

from types import SimpleNamespace

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import Annotations
from kalos_core.display import number_of, with_interval
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.runs.records import plain
from kalos_core.figures import (
    BAND_SOURCES,
    CAPTIONS,
    PUBLISHED_ALPHAS,
    alpha_bins,
    class_difficulty_title,
    vitality_title,
)
from panels.parts import events
from tests.fiftyone_bridge.scenes import RATERS, metrics_of
from tests.panels.operations import given, ids, names, plots, samples_of
from tests.plugin import Panel


def on(panel: Panel, section: str, page: str | None = None) -> Panel:
    panel.send("choose_section", value=section)
    if page is not None:
        panel.send("choose_page", value=page)
    return panel


def look_at(panel: Panel, **lens: str) -> Panel:
    """Set the lens as its menus do: by the number of the entry."""
    choices = panel.state["choices"]
    return panel.look_through(**{part: str(choices[part].index(name)) for part, name in lens.items()})


# ---- what is shown ----


@pytest.mark.parametrize(
    ("section", "page", "figures"),
    [
        ("Overview", "Published", ["scale"]),
        ("Images", None, ["histogram"]),
        ("Classes", None, ["classes"]),
        ("Raters", "Pairs", ["vitality", "collaboration"]),
    ],
)
def test_a_section_shows_its_figures_each_with_how_to_read_it(
    trio: fo.Dataset, section: str, page: str | None, figures: list[str]
) -> None:
    panel = on(Panel("raters", trio).load(), section, page)
    assert plots(panel) == figures
    for figure in figures:
        assert CAPTIONS[figure].read in panel.text()
        assert CAPTIONS[figure].formula not in panel.text()
        assert panel.data[figure]
        panel.send("explain", name=figure)
        assert CAPTIONS[figure].formula in panel.text()


def test_the_figures_are_those_the_run_stored(trio: fo.Dataset) -> None:
    stored = plain(kf.load_details(trio, "agreement").details)
    vitality, classes = stored["vitality"], stored["class_difficulty"]
    panel = on(Panel("raters", trio).load(), "Raters", "Pairs")
    assert panel.data["vitality"][0]["x"] == vitality["vitality"]
    pairs, order = stored["collaboration"], stored["collaboration"]["order"]
    heat = panel.data["collaboration"][0]["z"]
    assert heat[0][1] == pairs["alpha"][order[0]][order[1]]
    assert heat[1][0] == pairs["global_alpha"][order[0]][order[1]]
    assert vitality_title(vitality["rater"], vitality["vitality"]) in panel.text()
    on(panel, "Classes")
    assert sorted(panel.data["classes"][0]["x"]) == sorted(classes["alpha"])
    title = class_difficulty_title(classes["category"], classes["alpha"], classes["images"])
    assert title in panel.text()
    whole = kf.load_metrics(trio, "agreement").metrics["global_alpha"]
    on(panel, "Images")
    assert whole in [line["x0"] for line in panel.state["layouts"]["histogram"]["shapes"]]


def test_published_values_stand_next_to_the_runs_own_with_their_sources(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Overview", "Published")
    rows = panel.rows("published")
    assert len(rows) == len(PUBLISHED_ALPHAS)
    assert rows[0]["notation"].startswith("bbox, threshold 0.5")  # boxes, as this run's
    assert all(row["source"] for row in rows)
    assert panel.data["scale"][0]["x"][0] == kf.load_metrics(trio, "agreement").metrics["alpha"]
    panel.send("explain", name="scale")
    assert BAND_SOURCES in panel.text()


def test_the_overview_says_what_the_lens_leaves_as_it_is(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Overview")
    said = "the disputes and what was edited are of all images and raters"
    assert said not in panel.text()
    look_at(panel, category="cat")
    assert said in panel.text()
    panel.send("clear_lens")
    assert said not in panel.text()


def test_two_raters_have_no_vitality_and_the_panel_says_why(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Raters", "Pairs")
    assert plots(panel) == ["collaboration"]
    assert "vitality: expected at least three raters" in panel.text()


def test_sessions_are_shown_where_there_are_any(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Raters", "Sessions")
    assert "No rater has several sessions" in panel.text()
    raters = {"raters": [*RATERS, "cid"], "person": ["Ann", "Bob", "Ann"], "session": ["1", "1", "2"]}
    store_raters(trio, {}, Annotations.from_rows([], **raters))
    kf.compute_agreement(trio, "sessions", raters=(*RATERS, "cid"), bootstrap=0)
    panel.send("reload")
    assert plots(panel) == ["intra_rater", "team"]
    assert panel.data["intra_rater"][0]["x"] == plain(kf.load_details(trio, "sessions").details)["intra_rater"]["alpha"]


def test_the_statements_of_the_overview_lead_to_their_sections(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Overview")
    found = kf.overview_of(trio, "agreement")
    assert [text for text, *_ in panel.state["statements"]] == [entry.text for entry in found]
    (number,) = (place for place, entry in enumerate(found) if entry.leads_to == "Raters")
    panel.send("overview_follow", number=number)
    assert panel.state["section"] == "Raters"
    assert panel.state["choices"]["rater"][int(panel.state["lens"]["rater"])] == found[number].arguments["rater"]
    assert panel.state["card"] == found[number].arguments["rater"]


# ---- images ----


def test_a_bar_sets_a_view_of_exactly_its_images(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    edges = panel.state["edges"]
    found = {}
    for place, edge in enumerate(edges[:-1]):
        found[edge] = sorted(samples_of(analysed, panel.send("images_click_bar", idx=place)))
        assert panel.state["in_grid"].startswith(f"{number_of(len(found[edge]), 'image')} with α from")
    expected: dict[float, list[str]] = {edge: [] for edge in edges[:-1]}
    expected |= {-0.7: ids(analysed, 3), 0.0: sorted(ids(analysed, 1, 2)), 0.9: sorted(ids(analysed, 0, 4))}
    assert found == expected


def test_the_worst_images_are_listed_the_worst_first(analysed: fo.Dataset) -> None:
    panel = on(Panel("raters", analysed).load(), "Images")
    assert [(row["rank"], row["alpha"], row["labels"]) for row in panel.rows("worst")] == [
        (1, "−0.667", 3),
        (2, "0.000", 2),
        (3, "0.000", 1),
        (4, "1.000", 2),
        (5, "1.000", 0),
    ]
    opened = given(panel.send("images_click_worst", row=0), "open_sample")
    assert opened == {"id": ids(analysed, 3)[0], "group_id": None}
    view = samples_of(analysed, panel.send("images_show_worst"))
    assert view[0] == ids(analysed, 3)[0]
    assert len(view) == 5  # the one without an alpha is none of them


def test_a_run_without_any_alpha_is_shown(dataset: fo.Dataset) -> None:
    kf.compute_agreement(dataset.skip(5), "undefined", raters=RATERS)  # only one of them was assigned
    panel = Panel("raters", dataset).load()
    assert "Alpha is undefined here" in panel.text()
    on(panel, "Images")
    assert panel.rows("worst") == []
    assert not panel.state.get("problem")


@pytest.mark.parametrize("lens", [{"category": "cat"}, {"rater": "bob"}, {"category": "dog", "rater": "cid"}])
def test_bars_and_worst_images_follow_the_lens(trio: fo.Dataset, lens: dict[str, str]) -> None:
    panel = look_at(on(Panel("raters", trio).load(), "Images"), **lens)
    sample_ids, alphas = kf.image_alphas(trio, "agreement", **lens)
    edges, counts = alpha_bins(alphas)
    assert panel.state["edges"] == edges.tolist()
    found = metrics_of(kf.narrowed_metrics(trio, "agreement", kf.Lens(**lens)))
    assert with_interval(found["alpha"], found["alpha_interval"]) in panel.text()
    for place, count in enumerate(counts):
        shown = samples_of(trio, panel.send("images_click_bar", idx=place))
        low, high = edges[place], edges[place + 1]
        inside = [
            sample
            for sample, alpha in zip(sample_ids, alphas, strict=True)
            if alpha is not None and low <= alpha and (alpha < high or high == alpha == 1)
        ]
        assert sorted(shown) == sorted(inside)
        assert len(shown) == count
    worst, value = panel.state["worst_ids"], dict(zip(sample_ids, alphas, strict=True))
    assert [value[sample] for sample in worst] == sorted(alpha for alpha in alphas if alpha is not None)[:25]
    assert samples_of(trio, panel.send("images_show_worst")) == worst
    assert f"worst first by α of {' and '.join(lens.values())} (" in panel.state["in_grid"]


def test_a_tag_narrows_figures_tables_and_what_clicks_lead_to(trio: fo.Dataset) -> None:
    tagged = trio.limit(7)
    tagged.tag_samples("night")
    panel = look_at(on(Panel("raters", trio).load(), "Images"), tag="night")
    found = kf.narrowed_metrics(trio, "agreement", kf.Lens(tag="night"))
    assert with_interval(found.alpha, found.alpha_interval) in panel.text()
    assert set(panel.state["worst_ids"]) <= set(tagged.values("id"))
    assert set(samples_of(trio, panel.send("images_show_worst"))) <= set(tagged.values("id"))


def test_another_analysis_begins_without_a_lens(trio: fo.Dataset) -> None:
    panel = look_at(on(Panel("raters", trio).load(), "Images"), category="cat")
    kf.compute_agreement(trio, "second", raters=RATERS, bootstrap=0)
    panel.send("reload")
    assert panel.state["analysis"] == "second"
    assert panel.state["lens"]["category"] == "0"


def test_a_row_opens_its_image_also_where_the_app_sends_the_tables_back(trio: fo.Dataset) -> None:
    panel = look_at(on(Panel("raters", trio).load(), "Images"), category="cat")
    operations = panel.send("images_click_worst", row=0, panel_state={**panel.state, **panel.data})
    assert given(operations, "open_sample")["id"] == panel.state["worst_ids"][0]


# ---- classes and raters ----


def test_a_class_leads_to_its_images_and_into_the_lens(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Classes")
    shown = panel.state["shown_classes"]
    operations = panel.send("classes_click_class", idx=0)
    assert samples_of(trio, operations) == kf.view_of_class(trio, "agreement", shown[0]).values("id")
    by = f"worst first by α of {shown[0]} (on an image stands α of all labels)"  # which is in the grid
    assert panel.state["in_grid"].endswith(f"images with {shown[0]}, {by}")
    on(panel, "Images")
    found = metrics_of(kf.narrowed_metrics(trio, "agreement", kf.Lens(category=shown[0])))
    assert with_interval(found["alpha"], found["alpha_interval"]) in panel.text()
    assert sum(panel.data["histogram"][0]["y"]) == sum(value is not None for value in found["image_alpha"])


def test_of_a_long_sorted_view_the_first_images_are_shown(trio: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, shown = kf.view_worst_first(trio, "agreement"), SimpleNamespace()
    ops = SimpleNamespace(set_view=lambda view: setattr(shown, "view", view), clear_view=lambda: None)
    request = SimpleNamespace(params={})
    for most, view, count, said in (
        (2, whole, 2, f"the first 2 of {len(whole)} images"),
        (len(whole), whole, len(whole), f"{len(whole)} images"),
        (2, trio.match_tags("none", bool=False), len(trio), f"{len(trio)} images"),  # not sorted
    ):
        monkeypatch.setattr(events, "MOST_SORTED", most)
        ctx = SimpleNamespace(
            dataset=trio,
            ops=ops,
            panel=SimpleNamespace(state=SimpleNamespace(before=None)),
            request_params={},
            executor=SimpleNamespace(_requests=[request]),
        )
        events.show_view(ctx, view, "images")
        assert ctx.panel.state.in_grid == said
        assert shown.view.values("id") == view.values("id")[:count]


def test_a_pair_leads_to_the_images_where_they_disagree_most(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Raters", "Pairs")
    shown = panel.state["shown_raters"]
    operations = panel.send("raters_click_pair", idx=[0, 2])
    assert samples_of(trio, operations) == kf.view_of_pair(trio, "agreement", shown[0], shown[2]).values("id")
    assert f"images of {shown[0]} and {shown[2]}" in panel.state["in_grid"]
    assert names(panel.send("raters_click_pair", idx=[1, 1])) == []  # the empty diagonal


def test_a_rater_narrows_classes_and_images(trio: fo.Dataset) -> None:
    panel = on(Panel("raters", trio).load(), "Classes")
    before = panel.data["classes"][0]["x"]
    look_at(panel, rater="cid")
    found = metrics_of(kf.narrowed_metrics(trio, "agreement", kf.Lens(rater="cid")))
    values = [value for value in found["class_difficulty"]["alpha"] if value is not None]
    assert sorted(panel.data["classes"][0]["x"]) == sorted(values)
    assert panel.data["classes"][0]["x"] != before


class TestScorecards:
    @pytest.fixture
    def panel(self, trio: fo.Dataset) -> Panel:
        kf.find_variations(trio, "variations", raters=(*RATERS, "cid"))
        return on(Panel("raters", trio).load(), "Raters")

    def test_there_is_a_row_for_each_rater_the_lowest_alpha_first(self, panel: Panel, trio: fo.Dataset) -> None:
        cards = {card.rater: card for card in kf.rater_scorecard(trio, "agreement")}
        rows = panel.rows("cards")
        assert [row["rater"] for row in rows] == sorted(cards, key=lambda name: (cards[name].alpha, name))
        for row in rows:
            assert row["missing"] == f"{cards[row['rater']].rates['missing']:.1f}"
            assert row["splits"] == f"{cards[row['rater']].splits:.1f}"

    def test_they_are_sorted_by_what_is_asked_for(self, panel: Panel) -> None:
        panel.send("raters_on_change_sorted_by", value="wrong_class")
        rates = [float(row["wrong_class"]) for row in panel.rows("cards")]
        assert rates == sorted(rates, reverse=True)
        panel.send("raters_on_change_sorted_by", value="rater")
        assert [row["rater"] for row in panel.rows("cards")] == ["ann", "bob", "cid"]

    def test_a_row_shows_all_there_is_to_say_of_a_rater(self, panel: Panel) -> None:
        place = [row["rater"] for row in panel.rows("cards")].index("cid")
        panel.send("raters_click_card", row=place)
        assert panel.state["card"] == "cid"
        lines = {row["name"]: row["value"] for row in panel.rows("card_lines")}
        assert lines["Says dog where others say cat"].endswith("findings")
        assert panel.data["example_wrong_class"].startswith("data:image/png;base64,")
        view = given(panel.send("raters_click_confused", row=0), "set_view")["view"]
        assert view
        panel.send("raters_show_kind", kind="wrong_class")
        assert panel.state["in_grid"].endswith("images with findings of cid: wrong class")

    def test_a_sheet_can_be_printed(self, panel: Panel) -> None:
        panel.send("raters_click_card", row=0)
        sent = given(panel.send("raters_print_sheet"), "browser_download")
        assert sent["filename"] == f"feedback-{panel.state['card']}.html"
        assert sent["url"].startswith("data:text/html;charset=utf-8;base64,")

    def test_a_bar_of_vitality_leads_to_the_card(self, panel: Panel) -> None:
        on(panel, "Raters", "Pairs")
        panel.send("raters_click_rater", idx=2)
        assert panel.state["card"] == "cid"


# ---- names ----


def test_names_that_look_like_options_are_only_names() -> None:
    box = {"bounding_box": [0.1, 0.1, 0.4, 0.4]}
    boxes = {name: fo.Detections(detections=[fo.Detection(label="0", **box)]) for name in ("a", "b", "c")}
    dataset = fo.Dataset()
    metadata = fo.ImageMetadata(width=100, height=100)
    dataset.add_samples([fo.Sample("1.jpg", metadata=metadata, raters=["a", "b", "c"], **boxes)], progress=False)
    kf.compute_agreement(dataset, "agreement", raters=("a", "b", "c"), bootstrap=0)
    panel = look_at(on(Panel("raters", dataset).load(), "Images"), category="0")
    assert panel.state["lens"]["category"] == "1"
