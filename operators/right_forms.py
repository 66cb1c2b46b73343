"""What forms ask of estimates of who is right."""

import fiftyone.operators.types as types

from . import widgets
from .widgets import Context

MODEL_HELP = {
    "confusion": "of each class of their own: finds habits, such as taking dogs for cats; usually the best",
    "one_coin": "right with one probability, whatever the class: for few answers of each",
    "weighted": "a majority in which raters count as often as they are in it: simple to explain, hardly better",
}

SWITCH = "estimate"
"""The switch that shows the model."""


def add_model(ctx: Context, inputs: types.Object, name: str, about: str, needs: str) -> None:
    """Whether to estimate who is right, and the model in a drop-down of that name."""
    widgets.add_switch(inputs, SWITCH, label="Estimate who is right, and how sure", description=about)
    if ctx.params.get(SWITCH):
        widgets.add_dropdown(
            inputs,
            name,
            MODEL_HELP.keys(),
            descriptions=MODEL_HELP,
            default="confusion",
            label="How raters are taken to answer",
            description=needs,
        )
