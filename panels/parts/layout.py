"""Tables, menus and rows of buttons, as wide as the panel."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import fiftyone.operators.types as types

from kalos_core.display import NO_BREAK, with_interval
from kalos_core.text import plain

Entries: TypeAlias = Mapping[str, str] | Iterable[str]
"""Values with their labels, or values that are their own labels."""

CROWDED = 4
"""More columns than this share the width of a panel only in smaller letters."""

FULL = 7
"""More columns than this break their words, too."""

NARROW = {"button": {"sx": {"padding": "3px 6px", "minWidth": 0, "width": "100%"}}}
"""Of buttons in a row of many."""


def wrapped(least: str) -> dict[str, Any]:
    """Properties of a row whose items are at least this wide, and go on below where the panel is narrow."""
    columns = f"repeat(auto-fill, minmax(min({least}, 100%), 1fr))"
    sx = {"gridAutoFlow": "row", "gridTemplateColumns": columns, "justifyContent": "stretch", "alignItems": "center"}
    return {"grid": {"sx": sx}}


def in_two_lines(value: float | None, interval: Any, digits: int = 3) -> str:
    """A value with its interval below, which may break after its comma, for a narrow column."""
    return with_interval(value, interval, digits).replace(f"{NO_BREAK}[", "\n[").replace(NO_BREAK, " ")


def number_or_reason(value: float, interval: Any, reason: str) -> str:
    """A coefficient in two lines, or why there is none."""
    return reason or in_two_lines(value, interval, 2)


def add_table(
    panel: types.Object,
    name: str,
    label: str,
    columns: Iterable[tuple[str, str]],
    on_click_row: Any = None,
) -> None:
    """The rows of the data of that name, as wide as the panel: FiftyOne's own least 650 pixels cut columns off."""
    columns = list(columns)
    row = {"hover": True, "sx": {"cursor": "pointer"}} if on_click_row else {}
    cell = {"whiteSpace": "pre-line", "fontSize": "0.9rem"}
    if len(columns) > CROWDED:
        cell |= {"fontSize": "0.8rem", "padding": "6px 4px"}
    if len(columns) > FULL:
        cell |= {"fontSize": "0.7rem", "padding": "2px", "overflowWrap": "anywhere"}
    parts = {
        "table": {"sx": {"minWidth": 0}},
        "tableHeadCell": {"sx": cell},
        "tableBodyRow": row,
        "tableBodyCell": {"sx": cell},
    }
    handler = {"on_click_row": on_click_row} if on_click_row else {}
    view = types.TableView(**handler, componentsProps=parts)
    for key, title in columns:
        view.add_column(key, label=plain(title))
    panel.list(name, types.Object(), view=view, label=label)


def dropdown(entries: Entries) -> types.DropdownView:
    view = types.DropdownView()
    labels = entries if isinstance(entries, Mapping) else {entry: entry for entry in entries}
    for value, label in labels.items():
        view.add_choice(value, label=plain(label))
    return view


def add_menu(panel: types.Object, name: str, entries: Entries, on_change: Any, label: str | None = None) -> None:
    """A drop-down, only where there is more than one entry."""
    view = dropdown(entries or ())
    if len(view.values()) > 1:
        panel.enum(name, view.values(), view=view, label=label, on_change=on_change)


def add_row(panel: types.Object, name: str, least: str = "200px") -> types.Object:
    """A row that wraps, of items at least this wide."""
    row: types.Object = panel.h_stack(name, gap=1, componentsProps=wrapped(least))
    return row


def add_choice(
    panel: types.Object, name: str, entries: Entries, chosen: str, on_click: str, least: str = "96px"
) -> None:
    """A row of buttons, one of which is chosen; the handler gets its value as ``value``."""
    row = add_row(panel, name, least)
    labels = entries if isinstance(entries, Mapping) else {entry: entry for entry in entries}
    for number, (value, label) in enumerate(labels.items()):
        variant = "contained" if value == chosen else "outlined"
        row.btn(
            f"choice_{number}",
            label=plain(label),
            on_click=on_click,
            params={"value": value},
            variant=variant,
            componentsProps=NARROW,
        )


def stacked(panel: types.Object) -> types.Property:
    """One column as wide as the panel: by default a wide table would push the rest out of sight."""
    column = {"gridTemplateColumns": "minmax(0, 1fr)", "justifyContent": "stretch"}
    view = types.GridView(orientation="vertical", gap=1, pad=2, componentsProps={"grid": {"sx": column}})
    return types.Property(panel, view=view)
