"""A menu of a section that Python describes."""

from typing import Any

from ..parts.events import Context, Handler, guarded
from .base import Section


def chooses(name: str) -> Handler[Any]:
    """A handler of the menu of that name: what is chosen goes into the state, and the section is shown anew."""

    def change(self: Section, ctx: Context) -> None:
        ctx.panel.set_state(name, ctx.params["value"])
        self.load_again(ctx)

    change.__name__ = f"change_{name}"
    return guarded(change)
