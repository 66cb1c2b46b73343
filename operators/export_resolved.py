"""Operator that writes resolved labels to a file."""

from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.decisions import UNDECIDED
from kalos_core.fiftyone.kinds.resolved.resolving import RESOLVING

from . import base, widgets
from .widgets import Context


class ExportResolved(base.Download):
    NAME, LABEL = "export_resolved", "Export resolved labels"
    DESCRIPTION = "Write agreed and decided labels to a file (COCO, or a table of image-level labels)"
    KINDS = tuple(RESOLVING)
    ICON, RESULT = "/assets/agreement.svg", "Exported"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        super().add_options(ctx, inputs, key)
        widgets.add_dropdown(inputs, "undecided", UNDECIDED, default="majority", label="Units without a decision")

    def ending(self, dataset: Any, key: str) -> str:
        return RESOLVING[kf.load_metrics(dataset, key, self.KINDS).kind].ENDING

    def stem(self, dataset: Any, key: str) -> str:
        return f"{dataset.name}-{key}-resolved"
