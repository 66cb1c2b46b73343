"""Figures of a panel: the finding as the title, how to read it in a line, and the formula behind "?"."""

import base64
from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

from kalos_core.drawing import Drawing
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.captions import CAPTIONS
from kalos_core.text import bold

from .events import WORKBENCH, Context


def put_parts(ctx: Context, parts: Mapping[str, Part]) -> None:
    """Parts by name, for `add_part`."""
    layouts = {}
    for name, part in parts.items():
        if part.figure:
            traces, layouts[name] = to_data(part.figure)
            ctx.panel.set_data(name, traces)
    ctx.panel.state.layouts = layouts
    ctx.panel.state.titles = {name: [part.title, part.note] for name, part in parts.items()}


def add_part(panel: types.Object, ctx: Context, name: str, click: str = "", on_click: str | None = None) -> None:
    """A part of `put_parts`: its finding, how to read it, its figure; nothing where the run has none.

    `click` says where a click leads.
    """
    state = ctx.panel.state
    if name not in state.titles:
        return
    title, note = state.titles[name]
    if title:
        panel.md(bold(title), name=f"{name}_title")
    if name not in state.layouts:
        return
    reading = f"{CAPTIONS[name].read} {bold(click) if click else ''} {note}".strip()
    add_reading(panel, ctx, name, reading, CAPTIONS[name].formula)
    handler = {"on_click": on_click} if on_click else {}
    panel.plot(name, layout=state.layouts[name], config={"displayModeBar": False}, **handler)


READING = {"gridTemplateColumns": "minmax(0, 1fr) auto", "justifyContent": "stretch", "alignItems": "start"}
"""A line, and "?" at its end."""

SMALL = {"button": {"sx": {"padding": "0 10px", "minWidth": 0}}}


def add_reading(panel: types.Object, ctx: Context, name: str, reading: str, formula: str) -> None:
    """How to read what is below, in a line; the formula behind "?"."""
    row = panel.h_stack(f"{name}_reading", gap=1, componentsProps={"grid": {"sx": READING}})
    row.md(reading, name="read")
    row.btn(
        "explain",
        label="?",
        on_click=f"{WORKBENCH}#explain",
        params={"name": name},
        title="Formula and source",
        componentsProps=SMALL,
    )
    if ctx.panel.state.explained == name:
        panel.md(formula, name=f"{name}_formula")


def to_data(figure: Any) -> tuple[Any, dict[str, Any]]:
    """A plotly figure as a panel takes it: traces and layout as plain values."""
    plain = figure.to_plotly_json()
    plain["layout"].pop("template", None)  # the App brings its theme; plotly's own is white, and 7 kB of state
    return plain["data"], plain["layout"]


# ---- drawings ----


def put_drawing(ctx: Context, name: str, drawing: Drawing | None) -> None:
    """A drawing, for `add_drawing`; None takes it away."""
    ctx.panel.set_state(f"{name}_title", drawing and drawing.title)
    png = base64.b64encode(drawing.png()).decode("ascii") if drawing else ""
    ctx.panel.set_data(name, f"data:image/png;base64,{png}")


def add_drawing(panel: types.Object, ctx: Context, name: str) -> None:
    """A drawing of `put_drawing` below its title, where there is one."""
    if title := ctx.panel.get_state(f"{name}_title"):
        panel.md(bold(title), name=f"{name}_heading")
        panel.view(name, types.ImageView(alt=title))
