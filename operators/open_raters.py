"""Button above the grid that opens the panel *Raters*."""

from typing import Any

import fiftyone.operators as foo
import fiftyone.operators.types as types

from . import base
from .widgets import Context


class OpenRaters(foo.Operator):
    @property
    def config(self) -> foo.OperatorConfig:
        return foo.OperatorConfig(
            name="open_raters",
            label="Raters: open the panel",
            description="How much the raters agree, where they disagree, and what to do about it",
            icon="/assets/agreement.svg",
        )

    def resolve_placement(self, ctx: Context) -> types.Placement:
        button = types.Button(label="Raters", icon="/assets/agreement.svg", prompt=False)
        return types.Placement(types.Places.SAMPLES_GRID_SECONDARY_ACTIONS, button)

    def execute(self, ctx: Context) -> dict[str, Any]:
        for operation in base.showing(ctx):  # does not open a second panel
            operation()
        return {}
