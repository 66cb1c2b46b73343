"""What forms ask of estimates of who is right."""

import fiftyone.operators.types as types

from kalos_core.nominal import MODELS

from . import widgets
from .widgets import Context

SWITCH = "estimate"
"""The switch that shows the model."""


def add_model(ctx: Context, inputs: types.Object, name: str, about: str, needs: str) -> None:
    """Whether to estimate who is right, and the model in a drop-down of that name."""
    widgets.add_switch(inputs, SWITCH, label="Estimate who is right, and how sure", description=about)
    if ctx.params.get(SWITCH):
        widgets.add_dropdown(
            inputs,
            name,
            MODELS,
            descriptions=MODELS,
            default="confusion",
            label="How raters are taken to answer",
            description=needs,
        )
