"""Write an analysis as one HTML file."""

from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf

from . import base
from .widgets import Context


class WriteReport(base.Download):
    NAME, LABEL = "report", "Write a report"
    DESCRIPTION = (
        "One HTML file with all that an analysis says, to be sent and printed; it needs no network and no script"
    )
    ICON, RESULT = "/assets/agreement.svg", "Report"
    ENDING = "html"

    def runs(self, dataset: Any) -> list[Any]:
        """The first run of each analysis: a report is of any labels."""
        return [next(iter(analysis.runs.values())) for analysis in kf.list_analyses(dataset)]

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        super().add_options(ctx, inputs, key)
        self.ask(ctx, inputs, "title", "interactive")

    def stem(self, dataset: Any, key: str) -> str:
        return f"{dataset.name}-{key}"
