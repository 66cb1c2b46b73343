"""Where nothing is analysed yet: what was found, and the first step."""

import fiftyone.operators.types as types

from .parts.events import WORKBENCH, Context


def load_start(ctx: Context) -> None:
    ctx.panel.state.found = ""


def add_start(panel: types.Object, ctx: Context) -> None:
    panel.md("**Raters**", name="start")
    panel.btn("analyse", label="Analyse", on_click=f"{WORKBENCH}#prompt", params={"operator": "analyse"})
