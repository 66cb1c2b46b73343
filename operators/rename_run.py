"""Give a run, and all it wrote, another key."""

from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import bold

from . import base, forms, widgets
from .widgets import Context


class RenameRun(base.Action):
    NAME, LABEL = "rename_run", "Rename a run"
    DESCRIPTION = "Give a run, or all runs of an analysis, and what they wrote another key"
    ICON, RESULT = "/assets/agreement.svg", "Renamed"
    STREAMED = False

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        run = forms.add_any_run(ctx, inputs)
        if run is None:
            return
        reason = kf.KINDS[run.kind].fixed_because
        if reason:
            widgets.block(inputs, f"{run.key} cannot be renamed", f"It is a run {reason}.")
            return
        check = kf.check_analysis_key if run.analysis == run.key else kf.check_run_key
        free = kf.free_run_key(ctx.dataset, run.key, check)
        forms.add_key(ctx, inputs, "new_key", free, check, label="New key")

    def execute(self, ctx: Context) -> dict[str, Any]:
        self.check_params(ctx)
        key, new_key = ctx.params["run_key"], ctx.params["new_key"]
        kf.rename_run(ctx.dataset, key, new_key)
        ctx.ops.reload_dataset()
        base.reload_panels(ctx)
        return {"run_key": new_key, "text": f"The run {bold(key)} is now {bold(new_key)}."}
