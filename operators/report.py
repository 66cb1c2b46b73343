"""Write an analysis as one HTML file."""

from typing import Any

import fiftyone.operators.types as types

from . import base
from .widgets import Context


class WriteReport(base.Download):
    NAME, LABEL = "report", "Write a report"
    DESCRIPTION = (
        "One HTML file with all that an analysis says, to be sent and printed; it needs no network and no script"
    )
    ICON, RESULT = "/assets/agreement.svg", "Report"
    ENDING = "html"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        super().add_options(ctx, inputs, key)
        self.ask(ctx, inputs, "title", "interactive")

    def stem(self, dataset: Any, key: str) -> str:
        return f"{dataset.name}-{key}"
