"""Where nothing is analysed yet: which raters were found, and the first step."""

from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.text import names_shown

from .parts.events import WORKBENCH, Context
from .parts.layout import add_row

WHAT_FOR = (
    "**Analyse** finds which annotations of different raters mean the same object, says how far the raters agree about "
    "existence, class and place, names each difference, and estimates what no model can be expected to pass."
)


def load_start(ctx: Context) -> None:
    """Which raters there are, and with which selection to analyse them."""
    found = kf.found_raters(ctx.dataset)
    ctx.panel.state.found = names_shown(map(str, found))
    ctx.panel.state.selection = _given(found[0].selection) if found else {}


def _given(selection: kf.Selection) -> dict[str, Any]:
    if selection.field is not None:
        return {"field": selection.field, "rater_attribute": selection.rater_attribute}
    return {} if selection.raters is None else {"raters": list(selection.raters)}


def add_start(panel: types.Object, ctx: Context) -> None:
    found = ctx.panel.state.found
    if found:
        panel.md(f"**Found: {'; '.join(found)}.**", name="found_text")
        panel.md(WHAT_FOR, name="what_for")
    else:
        panel.md("**No labels of several raters were found in this data set.**", name="found_text")
    row = add_row(panel, "first_steps")
    if found:
        params = {"operator": "analyse", "given": ctx.panel.state.selection}
        on_click = f"{WORKBENCH}#prompt"
        row.btn("analyse", label="Analyse", icon="play_arrow", on_click=on_click, params=params, variant="contained")
    variant = "outlined" if found else "contained"
    params = {"operator": "load_raters"}
    row.btn("load", label="Load labels", icon="upload", on_click=f"{WORKBENCH}#prompt", params=params, variant=variant)
