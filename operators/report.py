"""Operator that writes an analysis as one HTML file."""

from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf

from . import base
from .widgets import Context


class WriteReport(base.Download):
    NAME, LABEL = "report", "Write a report"
    DESCRIPTION = "One HTML file with all results of an analysis, to send or print; it needs no network and no scripts"
    ICON, RESULT = "/assets/agreement.svg", "Report"
    ENDING = "html"

    def runs(self, dataset: Any) -> list[Any]:
        """Return the first run of each analysis, whatever its kind."""
        return [next(iter(analysis.runs.values())) for analysis in kf.list_analyses(dataset)]

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        super().add_options(ctx, inputs, key)
        self.ask(ctx, inputs, "title", "interactive")

    def stem(self, dataset: Any, key: str) -> str:
        return f"{dataset.name}-{key}"
