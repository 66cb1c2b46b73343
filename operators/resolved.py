"""Operator that writes a label field of agreed and decided labels."""

from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.decisions import UNDECIDED
from kalos_core.display import number_of
from kalos_core.fiftyone.kinds.resolved.kind import ResolvedRun
from kalos_core.fiftyone.kinds.resolved.resolving import RESOLVING
from kalos_core.fiftyone.runs.keys import check_run_key, free_run_key
from kalos_core.text import shown

from . import base, forms, widgets
from .widgets import Context


class MakeResolved(base.OfAgreement):
    NAME, LABEL = "resolved", "Make resolved labels"
    DESCRIPTION = "Write a label field of agreed and decided labels, as ground truth to evaluate models"
    KINDS = tuple(RESOLVING)
    ICON, RESULT = "/assets/agreement.svg", "Resolved labels"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        proposed = free_run_key(ctx.dataset, "resolved")
        about = "Also the key of a run; deleting the run deletes the field"
        forms.add_key(ctx, inputs, "field", proposed, check_run_key, "New field", about)
        widgets.add_dropdown(inputs, "undecided", UNDECIDED, default="majority", label="Units without a decision")

    def summary(self, params: Mapping[str, Any], found: ResolvedRun) -> dict[str, Any]:
        metrics, count = found.metrics, kf.count_disputes(found.dataset, params["key"])
        text = (
            f"{number_of(metrics['labels'], 'label')} in the field {shown(found.key)}; "
            f"{number_of(count.open + count.waiting, 'decision is', 'decisions are')} still to be made."
        )
        if metrics["left_out"]:
            left_out = number_of(metrics["left_out"], "decision does", "decisions do")
            text += f" {left_out} not count: labels were changed since."
        return {**params, **metrics, "text": text}
