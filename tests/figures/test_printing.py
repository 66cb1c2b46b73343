"""Figures on paper: white, told apart without colours, and written to files."""

import importlib.util
import os

import plotly.graph_objects as go
import pytest

from kalos_core import Annotations, InputError, KalosError, agreement, collaboration
from kalos_core.figures import plot_collaboration, print_theme, printing, save_figure
from scripts.setup_environment import find_browser

BARS = go.Figure([go.Bar(x=["a", "b"], y=[1, 2], name=name, marker={"color": name}) for name in ("red", "blue")])
LINES = go.Figure(
    [
        go.Scatter(x=[0, 1], y=[0, 1], mode="lines+markers", line={"dash": dash}, name=f"{dash}")
        for dash in (None, None, "dot")
    ]
)


def annotations():
    """Three raters; the third agrees less."""
    rows = [
        {"image": i, "rater": r, "category": "cat" if i % 3 or r != "c" else "dog"} for i in range(9) for r in "abc"
    ]
    return Annotations.from_rows([{**row, "box": [0, 0, 9, 9]} for row in rows])


def test_the_figure_itself_stays_as_it_is():
    before = BARS.to_json()
    print_theme(BARS)
    assert BARS.to_json() == before


def test_bars_are_grey_and_have_patterns():
    printed = print_theme(BARS)
    first, second = printed.data
    assert {first.marker.color, second.marker.color} <= set(printing.GREYS)
    assert first.marker.color != second.marker.color
    assert first.marker.pattern.shape != second.marker.pattern.shape
    assert printed.layout.paper_bgcolor == printed.layout.plot_bgcolor == "white"


def test_lines_differ_in_dash_and_symbol_and_keep_their_own():
    traces = print_theme(LINES).data
    assert [trace.line.dash for trace in traces] == ["solid", "dash", "dot"]
    assert len({trace.marker.symbol for trace in traces}) == 3
    assert {trace.line.color for trace in traces} == {printing.INK}


def test_heat_maps_are_grey():
    printed = print_theme(go.Figure(go.Heatmap(z=[[0, 1]], colorscale="Viridis")))
    assert printed.data[0].colorscale[-1][1] == "rgb(0,0,0)"


def test_texts_of_cells_are_seen_on_greys():
    """White on the dark half of the colours, which is where values are low; greys are dark where they are high."""
    figure = plot_collaboration(collaboration(agreement(annotations())))
    before, after = ([text.font.color for text in made.layout.annotations] for made in (figure, print_theme(figure)))
    assert set(before) == {"white", "black"}
    assert after == [{"white": printing.INK, "black": "white"}[colour] for colour in before]


def test_stacked_areas_are_grey_and_lines_of_one_group_are_alike():
    areas = [go.Scatter(x=[0, 1], y=[1, 1], stackgroup="s", fillcolor="red", mode="lines") for _ in range(2)]
    first, second = print_theme(go.Figure(areas)).data
    assert (first.fillcolor, second.fillcolor) == printing.GREYS[:2]
    assert first.fillpattern.shape != second.fillpattern.shape
    groups = [go.Scatter(x=[0, 1], y=[1, 1], mode="lines", legendgroup=name) for name in "abab"]
    points = go.Scatter(x=[0], y=[0], mode="markers")
    dashes = [trace.line.dash for trace in print_theme(go.Figure([points, *groups])).data[1:]]
    assert dashes == ["solid", "dash", "solid", "dash"]


def test_a_line_with_a_dash_of_its_own_is_the_only_one_with_it():
    lines = [go.Scatter(x=[0, 1], y=[1, 1], mode="lines", line={"dash": dash}) for dash in (None, None, "dash")]
    assert [trace.line.dash for trace in print_theme(go.Figure(lines)).data] == ["solid", "dot", "dash"]


def test_all_text_grows():
    figure = go.Figure(layout={"title": {"text": "x", "font": {"size": 14}}, "annotations": [{"font": {"size": 11}}]})
    printed = print_theme(figure, font_scale=2)
    sizes = (printed.layout.font.size, printed.layout.title.font.size, printed.layout.annotations[0].font.size)
    assert sizes == (24, 28, 22)
    assert figure.layout.title.font.size == 14


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: print_theme(5), r"figure: expected a plotly figure, such as result\.plot\(\), got int"),
        (lambda: print_theme(BARS, 0), "font_scale: expected a number above 0, got 0"),
        (lambda: save_figure(BARS, "x.gif"), r"path: expected a name with \.html.*got 'x\.gif'"),
        (lambda: save_figure(BARS, "x.html", theme="dark"), "theme: expected one of 'print'"),
        (lambda: save_figure("x", "x.html"), "figure: expected a plotly figure"),
    ],
)
def test_what_cannot_be_done_is_said(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        call()
    assert not list(tmp_path.iterdir())


def test_html_needs_nothing_else(tmp_path):
    path = save_figure(BARS, tmp_path / "new" / "bars.HTML", theme="print")
    assert "plotly" in path.read_text(encoding="utf-8")


def test_without_kaleido_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(printing, "find_spec", lambda _: None)
    with pytest.raises(KalosError, match=r'bars\.png: kaleido is missing: pip install "kalos-fiftyone\[figures\]"'):
        save_figure(BARS, tmp_path / "bars.png")


def test_without_a_browser_the_message_says_how_to_get_one(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("Kaleido requires Google Chrome to be installed.")

    monkeypatch.setattr(printing, "find_spec", lambda _: object())
    monkeypatch.setattr(go.Figure, "to_image", fail)
    with pytest.raises(KalosError, match="kaleido found no browser: install Chrome or Chromium, or run"):
        save_figure(BARS, tmp_path / "bars.pdf")
    assert not (tmp_path / "bars.pdf").exists()


@pytest.mark.skipif(importlib.util.find_spec("kaleido") is None, reason="kaleido is an extra")
@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")])
def test_images_are_written(ending, start, tmp_path, monkeypatch):
    found = find_browser()
    if found is None and os.environ.get("KALOS_REQUIRE_BROWSER") != "1":
        pytest.skip("no Chromium, Chrome or Edge that starts is installed")
    assert found is not None
    monkeypatch.setenv("BROWSER_PATH", found.split(" (")[0])
    path = save_figure(BARS, tmp_path / f"bars.{ending}", theme="print", width=300, height=200)
    assert path.read_bytes().startswith(start)
    assert path.stat().st_size < 100_000
