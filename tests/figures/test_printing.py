"""Plots on paper: white, distinguishable without colours, and written to files."""

import importlib.util
import os

import plotly.graph_objects as go
import pytest

from kalos_core import InputError, KalosError
from kalos_core.figures import print_theme, printing, save_figure
from scripts.setup_environment import find_browser
from tests.tiers import first

BARS = go.Figure([go.Bar(x=["a", "b"], y=[1, 2], name=name, marker={"color": name}) for name in ("red", "blue")])


def test_bars_are_grey_and_have_patterns_and_the_figure_itself_stays_as_it_is():
    before = BARS.to_json()
    made = print_theme(BARS)
    assert BARS.to_json() == before
    one, other = made.data
    assert {one.marker.color, other.marker.color} <= set(printing.GREYS)
    assert one.marker.color != other.marker.color
    assert one.marker.pattern.shape != other.marker.pattern.shape
    assert made.layout.paper_bgcolor == made.layout.plot_bgcolor == "white"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: print_theme(5), r"figure: expected a plotly figure, such as result\.plot\(\), got int"),
        (lambda: print_theme(BARS, 0), "font_scale: expected a number above 0, got 0"),
        (lambda: save_figure(BARS, "x.gif"), r"path: expected a name with \.html.*got 'x\.gif'"),
        (lambda: save_figure(BARS, "x.html", theme="dark"), "theme: expected one of 'print'"),
        (lambda: save_figure("x", "x.html"), "figure: expected a plotly figure"),
        (lambda: save_figure(BARS, f"{__file__}/x.html"), "test_printing.py: expected a folder to write to, got"),
    ],
)
def test_impossible_actions_are_explained(call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        call()
    assert not list(tmp_path.iterdir())


def test_html_needs_nothing_else(tmp_path):
    path = save_figure(BARS, tmp_path / "new" / "bars.HTML", theme="print")
    assert "plotly" in path.read_text(encoding="utf-8")


def test_without_kaleido_or_a_browser_the_message_says_how_to_get_it(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("Kaleido requires Google Chrome to be installed.")

    monkeypatch.setattr(printing, "find_spec", lambda _: None)
    with pytest.raises(KalosError, match=r'bars\.png: needs .* Save as \.html, or install it: pip install "kaleido'):
        save_figure(BARS, tmp_path / "bars.png")
    monkeypatch.setattr(printing, "find_spec", lambda _: object())
    monkeypatch.setattr(go.Figure, "to_image", fail)
    with pytest.raises(KalosError, match="kaleido found no browser: install Chrome or Chromium, or run"):
        save_figure(BARS, tmp_path / "bars.pdf")
    assert not list(tmp_path.iterdir())


def test_after_an_installation_during_a_session_the_message_asks_for_a_restart(tmp_path, monkeypatch):
    monkeypatch.setattr(printing, "find_spec", lambda _: object())
    monkeypatch.setattr("plotly.io._kaleido._KALEIDO_AVAILABLE", False)  # plotly keeps its first answer
    with pytest.raises(KalosError, match=r"bars\.png: kaleido was installed .* restart Python, or the kernel"):
        save_figure(BARS, tmp_path / "bars.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(importlib.util.find_spec("kaleido") is None, reason="kaleido is an extra")
@pytest.mark.parametrize("ending", first(["png", "svg", "pdf"]))
def test_images_are_written(ending, tmp_path, monkeypatch):
    found = find_browser()
    if found is None and os.environ.get("KALOS_REQUIRE_BROWSER") != "1":
        pytest.skip("no Chromium, Chrome or Edge that starts is installed")
    assert found is not None
    monkeypatch.setenv("BROWSER_PATH", found.split(" (")[0])
    path = save_figure(BARS, tmp_path / f"bars.{ending}", theme="print", width=300, height=200)
    start = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}[ending]
    assert path.read_bytes().startswith(start)
    assert path.stat().st_size < 100_000
