"""Operator that sets the note and the status of a run."""

from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.runs.stored import STATUSES, describe_run
from kalos_core.text import bold

from . import base, widgets
from .widgets import Context

NO_STATUS = "none"


class DescribeRun(base.OfRun):
    NAME, LABEL = "describe_run", "Note and status of a run"
    DESCRIPTION = "Add a note to a run, and mark whether it was reviewed"
    ICON, RESULT = "/assets/agreement.svg", "Noted"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        run = kf.load_metrics(ctx.dataset, key)
        inputs.str("note", default=run.note, label="Note", view=types.FieldView(multiline=True))
        statuses = {NO_STATUS: "no status", **STATUSES}
        widgets.add_dropdown(inputs, "status", statuses, default=run.status or NO_STATUS, label="Status")

    def call(self, ctx: Context, key: str, given: dict[str, Any]) -> Any:
        status = given.get("status")
        describe_run(ctx.dataset, key, note=given.get("note"), status="" if status == NO_STATUS else status)
        return kf.load_metrics(ctx.dataset, key)

    def summary(self, params: Mapping[str, Any], found: Any) -> dict[str, Any]:
        text = f"Saved for the run {bold(found.key)}: {STATUSES.get(found.status, 'no status')}."
        return {"note": found.note, "status": found.status, "text": text}
