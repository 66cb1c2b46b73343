"""Write resolved labels as a COCO file."""

from typing import Any

import fiftyone.operators.types as types

from kalos_core.decisions import UNDECIDED

from . import base, widgets
from .widgets import Context


class ExportResolved(base.Download):
    NAME, LABEL = "export_resolved", "Export resolved labels"
    DESCRIPTION = "A COCO file of what raters agree on and of what was decided, with who decided it"
    ICON, RESULT = "/assets/agreement.svg", "Exported"
    ENDING, MEDIA = "json", "application/json"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        super().add_options(ctx, inputs, key)
        widgets.add_dropdown(
            inputs, "undecided", UNDECIDED, default="majority", label="Of units that nobody has decided"
        )

    def stem(self, dataset: Any, key: str) -> str:
        return f"{dataset.name}-{key}-resolved"
