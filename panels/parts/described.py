"""A section that Python describes, inside the view, to which its state goes, and back, as a value."""

from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

from kalos_core.fiftyone.internals import use_panel

from .events import Context
from .layout import stacked


class State:
    """What a section keeps between its events, by name; None where there is nothing."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "values", dict(values))

    def __getattr__(self, name: str) -> Any:
        return self.values.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self.values[name] = value


class Described:
    """What a section that Python describes sees of its panel; the App hears of none of it before the answer."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.state = State(state)
        self.data: dict[str, Any] = {}

    def get_state(self, name: str) -> Any:
        return self.state.values.get(name)

    def set_state(self, name: str, value: Any) -> None:
        self.state.values[name] = value

    def set_data(self, name: str, value: Any) -> None:
        self.data[name] = value


def begin(ctx: Context, state: Mapping[str, Any]) -> Described:
    """Let a section see a panel with this state."""
    panel = Described(state)
    use_panel(ctx, panel)
    return panel


def drawn(ctx: Context, section: Any) -> dict[str, Any]:
    """What the App's renderer draws, with its data, and the state that the view keeps for the next event."""
    described = types.Object()
    state = ctx.panel.state
    if section.PAGES and (state.has_run or state.kind != section.KIND):
        section.add_pages(described, ctx)
    if state.has_run:
        section.render(described, ctx)
    return {"schema": stacked(described).to_json(), "data": ctx.panel.data, "state": state.values}
