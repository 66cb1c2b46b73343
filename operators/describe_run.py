"""A note and a status for a run."""

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
    DESCRIPTION = "What people are to know of a run, and whether it has been reviewed"
    ICON, RESULT = "/assets/agreement.svg", "Noted"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        run = kf.load_metrics(ctx.dataset, key)
        inputs.str("note", default=run.note, label="Note", view=types.FieldView(multiline=True))
        statuses = {NO_STATUS: "no status", **STATUSES}
        widgets.add_dropdown(inputs, "status", statuses, default=run.status or NO_STATUS, label="Status")

    def execute(self, ctx: Context) -> dict[str, Any]:
        self.check_params(ctx)
        key, status = ctx.params["run_key"], ctx.params.get("status")
        describe_run(ctx.dataset, key, note=ctx.params.get("note"), status="" if status == NO_STATUS else status)
        base.reload_panels(ctx)
        run = kf.load_metrics(ctx.dataset, key)
        text = f"Noted of the run {bold(key)}: {STATUSES.get(run.status, 'no status')}."
        return {"run_key": key, "note": run.note, "status": run.status, "text": text}
