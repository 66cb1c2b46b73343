"""Figures on paper: a white theme that can be read without colours, and files of figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from kalos_core.errors import InputError, KalosError, as_number, lookup, repr_of
from kalos_core.extras import missing
from kalos_core.figures.common import Layout
from kalos_core.figures.late import go
from kalos_core.files import write_whole
from kalos_core.options import checked

INK, GRID = "#111111", "#D0D0D0"
"""Colours of text and lines, and of the grid."""

GREYS = ("#B5B5B5", "#333333", "#DADADA", "#6E6E6E", "#949494", "#525252")
"""Fills of bars and areas, told apart without a colour; the first lets whiskers be seen on it."""

PATTERNS = ("", "/", ".", "x", "\\", "-")
"""Patterns of bars, one for each fill."""

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
"""Lines."""

SYMBOLS = ("circle", "square-open", "diamond", "triangle-up-open", "x", "star-open")
"""Points."""

FONT = 12
"""Points of text; other texts of a figure keep their ratio to it."""

TURNED = {"white": INK, "black": "white"}
"""Colours of the texts of cells, on colours and on greys."""

TEXTS = ("font", "tickfont", "textfont")
"""Parts of a figure with the size of a text."""

IMAGES = ("png", "svg", "pdf")
"""Kinds of files that kaleido draws."""

MARKED = '<head><meta name="generator" content="kalos_core" />'
"""In every HTML file that is written here, so that it is known where it would be replaced."""

BROWSER = "install Chrome or Chromium, or run `plotly_get_chrome`"
"""How to get the browser that kaleido draws with."""


@checked
def print_theme(figure: go.Figure, font_scale: float = 1.0) -> go.Figure:
    """A copy of a figure for print: white, dark text, and told apart in greys, too.

    Bars and stacked areas have greys and patterns, lines dashes, points symbols, heat maps a scale of greys. A line
    that is dashed, and a point with a symbol, keep them; traces of one legend group look alike.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        It stays as it is.
    font_scale : float above 0
        All text is so many times as large.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    InputError
        For what is no figure, or a scale that is none.

    Examples
    --------
    >>> printed = print_theme(go.Figure(go.Bar(y=[1, 2])), font_scale=1.5)
    >>> printed.layout.paper_bgcolor, printed.layout.font.size, printed.data[0].marker.color
    ('white', 18.0, '#B5B5B5')
    """
    _check_figure(figure)
    scale = as_number(font_scale)
    if scale is None or not 0 < scale < 100:
        raise InputError(f"font_scale: expected a number above 0, got {repr_of(font_scale)}")
    printed = go.Figure(figure)
    _scale_fonts(printed, scale)
    printed.update_layout(
        template="none",
        paper_bgcolor="white",
        plot_bgcolor="white",
        font={"size": FONT * scale, "color": INK},
        coloraxis={"colorscale": "Greys"},
    )
    for axes in (printed.update_xaxes, printed.update_yaxes):
        axes(showline=True, linecolor=INK, gridcolor=GRID, zerolinecolor=INK, automargin=True)
    own = {trace.line.dash for trace in printed.data if trace.type == "scatter"}
    dashes = [DASHES[0], *(dash for dash in DASHES[1:] if dash not in own)]
    order: dict[str, dict[str, int]] = {}
    for place, trace in enumerate(printed.data):
        of_type = order.setdefault(_kind(trace), {})
        number = of_type.setdefault(trace.legendgroup or f"trace {place}", len(of_type))
        trace.update(_look(trace, number, dashes))
    printed.update_shapes(line_color=INK)
    if any(trace.type == "heatmap" for trace in printed.data):  # their colours are dark for low values, greys for high
        for text in printed.layout.annotations:
            if text.font.color in TURNED:
                text.font.color = TURNED[text.font.color]
    return printed


@checked
def save_figure(
    figure: go.Figure,
    path: str | os.PathLike[str],
    theme: str | None = None,
    *,
    font_scale: float = 1.0,
    width: int | None = None,
    height: int | None = None,
    scale: float = 2.0,
    overwrite: bool = False,
) -> Path:
    """Write a figure to a file: HTML always; PNG, SVG and PDF with kaleido, the extra ``figures``.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    path : path
        Ends with ``.html``, ``.png``, ``.svg`` or ``.pdf``; its folder is made.
    theme : str, optional
        ``"print"`` for `print_theme`; by default the figure as it is, on white in images.
    font_scale : float
        Of `print_theme`.
    width, height : int, optional
        Pixels; by default those of the figure, and 700 x 450.
    scale : float
        Pixels of a PNG for one of the figure.
    overwrite : bool
        Replace a file that is there. One in HTML that this function wrote is always replaced.

        Patterns make a PDF large, as each bar holds one as an image: for print, one or two kinds of bars have none
        there.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        For what is no figure, an unknown ending or theme.
    KalosError
        Where kaleido or its browser is missing; the message says how to get it.

    Examples
    --------
    >>> save_figure(go.Figure(go.Bar(y=[1, 2])), "figure.html", theme="print").name
    'figure.html'
    """
    _check_figure(figure)
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in ("html", *IMAGES):
        raise InputError(f"path: expected a name with .html, .png, .svg or .pdf, got {repr_of(target.name)}")
    if theme is not None:
        figure = lookup({"print": print_theme}, theme, "theme")(figure, font_scale)
        if kind == "pdf" and sum(trace.type == "bar" for trace in figure.data) < 3:
            figure.update_traces(marker_pattern_shape="", selector={"type": "bar"})
    target.parent.mkdir(parents=True, exist_ok=True)
    if kind == "html":
        sides = {"default_width": width or "100%", "default_height": height or "100%"}
        drawn = StringIO()
        figure.write_html(drawn, include_plotlyjs=True, **sides)
        begin, _, rest = drawn.getvalue().partition("<head>")
        write_whole(target, f"{begin}{MARKED}{rest}", f"{begin}{MARKED}", overwrite=overwrite)
        return target
    if find_spec("kaleido") is None:
        raise KalosError(f"{missing('kaleido', 'figures', target.name)}, or save as .html")
    sizes: dict[str, Any] = {
        "width": width or figure.layout.width or 700,
        "height": height or figure.layout.height or 450,
        "scale": scale if kind == "png" else 1,
    }
    try:
        content = figure.to_image(kind, **sizes)
    except Exception as error:  # of kaleido, plotly or the browser, by its version
        if "chrome" not in str(error).lower() and "browser" not in str(error).lower():
            raise
        raise KalosError(f"{target.name}: kaleido found no browser: {BROWSER}, or save as .html") from error
    write_whole(target, content, overwrite=overwrite)
    return target


def _check_figure(figure: Any) -> None:
    if not isinstance(figure, go.Figure):
        raise InputError(f"figure: expected a plotly figure, such as result.plot(), got {type(figure).__name__}")


def _scale_fonts(figure: go.Figure, scale: float) -> None:
    """Multiply every font size of a figure."""

    def walk(part: Any, of_text: bool = False) -> Any:
        if isinstance(part, dict):
            return {
                name: entry * scale if of_text and name == "size" else walk(entry, name in TEXTS)
                for name, entry in part.items()
            }
        return [walk(entry) for entry in part] if isinstance(part, (list, tuple)) else part

    layout: Layout = walk(figure.layout.to_plotly_json())
    figure.layout = layout


def _kind(trace: Any) -> str:
    """The kind of a trace; traces of one kind are numbered together. Areas and edges are no lines."""
    if trace.type != "scatter" or trace.stackgroup:
        return f"{trace.type} {trace.stackgroup if trace.type == 'scatter' else ''}"
    mode = trace.mode or "lines"
    return "line" if "lines" in mode and trace.line.width != 0 else "edge" if "lines" in mode else "points"


def _look(trace: Any, number: int, dashes: Sequence[str]) -> Layout:
    """The style that tells a trace apart from others of its kind."""
    at = number % len(GREYS)
    if trace.type in ("bar", "histogram", "box"):
        look: Layout = {"marker": {"color": GREYS[at], "line": {"color": INK, "width": 1}}}
        if trace.type == "bar":
            look |= {name: {"color": INK} for name in ("error_x", "error_y")}
        if trace.type == "box":
            return look | {"line": {"color": INK}, "fillcolor": GREYS[at]}
        look["marker"]["pattern"] = {"shape": PATTERNS[at], "fgcolor": INK}
        return look
    if trace.type in ("heatmap", "contour"):
        return {"colorscale": "Greys"}
    if trace.type != "scatter":
        return {}
    if trace.stackgroup:
        return {"line": {"color": INK}, "fillcolor": GREYS[at], "fillpattern": {"shape": PATTERNS[at], "fgcolor": INK}}
    look = {}
    mode = trace.mode or "lines"
    if "lines" in mode:
        dash = trace.line.dash if trace.line.dash not in (None, "solid") else dashes[number % len(dashes)]
        look["line"] = {"color": INK, "dash": dash}
    if "markers" in mode:
        symbol = SYMBOLS[at] if trace.marker.symbol in (None, "circle") else trace.marker.symbol
        look["marker"] = {"color": INK, "symbol": symbol}
    if trace.fill not in (None, "none"):
        look["fillcolor"] = "rgba(0, 0, 0, 0.12)"
    return look
