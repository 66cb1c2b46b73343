"""Figures for print: a white theme that is readable without colours, and export to files."""

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
from kalos_core.files import as_path, make_folder, write_whole
from kalos_core.options import checked

INK, GRID = "#111111", "#D0D0D0"
"""Colours of text and lines, and of the grid."""

GREYS = ("#B5B5B5", "#333333", "#DADADA", "#6E6E6E", "#949494", "#525252")
"""Greys of bars and areas; error bars are visible on the first."""

PATTERNS = ("", "/", ".", "x", "\\", "-")
"""Patterns of bars, one for each grey."""

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
"""Line styles."""

SYMBOLS = ("circle", "square-open", "diamond", "triangle-up-open", "x", "star-open")
"""Point symbols."""

FONT = 12
"""Font size in points; other texts of a figure keep their ratio to it."""

TURNED = {"white": INK, "black": "white"}
"""Text colours of cells for print, since the grey scale is inverted."""

TEXTS = ("font", "tickfont", "textfont")
"""Parts of a figure with a font size."""

IMAGES = ("png", "svg", "pdf")
"""File types that need kaleido."""

MARKED = '<head><meta name="generator" content="kalos_core" />'
"""Marker in every HTML file written here, by which such files are recognised before they are replaced."""

BROWSER = "install Chrome or Chromium, or run `plotly_get_chrome`"
"""How to install the browser that kaleido needs."""

RESTART = "restart Python, or the kernel of the notebook"
"""Needed because plotly looks for kaleido once per process."""


@checked
def print_theme(figure: go.Figure, font_scale: float = 1.0) -> go.Figure:
    """Copy a figure for print: white, with dark text, and readable in greys.

    Bars and stacked areas get greys and patterns, lines get dashes, points get symbols, and heatmaps a grey scale.
    Existing dashes and symbols are kept. Traces of one legend group look alike.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
        Figure to copy; it is not changed.
    font_scale : float above 0
        Factor for all font sizes.

    Returns
    -------
    plotly.graph_objects.Figure

    Raises
    ------
    InputError
        If `figure` is not a figure, or `font_scale` is not a valid number.

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
    if any(trace.type == "heatmap" for trace in printed.data):  # colours are dark for low values, greys for high
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
    """Write a figure to a file; PNG, SVG and PDF need kaleido from the extra ``figures``, HTML does not.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure
    path : path
        Must end with ``.html``, ``.png``, ``.svg`` or ``.pdf``; its folder is created.
    theme : str, optional
        ``"print"`` for `print_theme`; by default the figure is unchanged, on white in images.
    font_scale : float
        Option of `print_theme`.
    width, height : int, optional
        Size in pixels; by default that of the figure, or 700 x 450.
    scale : float
        Pixels of a PNG for each pixel of the figure.
    overwrite : bool
        Replace an existing file. HTML files written by this function are always replaced.

        Patterns make a PDF large, since each bar stores one as an image. With the print theme, PDFs with one or two
        bar traces therefore have none.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If `figure` is not a figure, or the file extension or theme is unknown.
    KalosError
        If kaleido or its browser is missing, or kaleido was installed while Python was running. The message says what
        to do.

    Examples
    --------
    >>> save_figure(go.Figure(go.Bar(y=[1, 2])), "figure.html", theme="print").name
    'figure.html'
    """
    _check_figure(figure)
    target = as_path(path, "path")
    kind = target.suffix.lower().removeprefix(".")
    if kind not in ("html", *IMAGES):
        raise InputError(f"path: expected a name with .html, .png, .svg or .pdf, got {repr_of(target.name)}")
    if theme is not None:
        figure = lookup({"print": print_theme}, theme, "theme")(figure, font_scale)
        if kind == "pdf" and sum(trace.type == "bar" for trace in figure.data) < 3:
            figure.update_traces(marker_pattern_shape="", selector={"type": "bar"})
    make_folder(target.parent)
    if kind == "html":
        sides = {"default_width": width or "100%", "default_height": height or "100%"}
        drawn = StringIO()
        figure.write_html(drawn, include_plotlyjs=True, **sides)
        begin, _, rest = drawn.getvalue().partition("<head>")
        write_whole(target, f"{begin}{MARKED}{rest}", f"{begin}{MARKED}", overwrite=overwrite)
        return target
    if find_spec("kaleido") is None:
        raise KalosError(missing("kaleido", "figures", target.name, "Save as .html"))
    sizes: dict[str, Any] = {
        "width": width or figure.layout.width or 700,
        "height": height or figure.layout.height or 450,
        "scale": scale if kind == "png" else 1,
    }
    try:
        content = figure.to_image(kind, **sizes)
    except Exception as error:  # from kaleido, plotly or the browser, depending on the version
        if "requires the kaleido package" in str(error).lower():
            raise KalosError(f"{target.name}: kaleido was installed after this session began: {RESTART}") from error
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
    """Kind of a trace, for numbering traces of one kind. Areas and edges do not count as lines."""
    if trace.type != "scatter" or trace.stackgroup:
        return f"{trace.type} {trace.stackgroup if trace.type == 'scatter' else ''}"
    mode = trace.mode or "lines"
    return "line" if "lines" in mode and trace.line.width != 0 else "edge" if "lines" in mode else "points"


def _look(trace: Any, number: int, dashes: Sequence[str]) -> Layout:
    """Style that distinguishes a trace from others of its kind."""
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
