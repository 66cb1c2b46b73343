"""Delete a run and everything it wrote."""

from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf

from . import base, forms
from .widgets import Context


class DeleteRun(base.Action):
    NAME, LABEL = "delete_run", "Delete a run"
    DESCRIPTION = "Delete a run with all it wrote, and nothing else"
    ICON, RESULT = "/assets/delete.svg", "Deleted"
    STREAMED = False

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        run = forms.add_any_run(ctx, inputs)
        if run is None:
            return
        members = [other for other in kf.list_runs(ctx.dataset, info=True) if other.analysis == run.key] or [run]
        text = f"Deletes {'; '.join(member.written for member in members)}"
        inputs.view("what", types.Warning(label="This cannot be undone", description=text))

    def execute(self, ctx: Context) -> dict[str, Any]:
        self.check_params(ctx)
        key = ctx.params["run_key"]
        kf.delete_run(ctx.dataset, key)
        ctx.ops.reload_dataset()
        base.reload_panels(ctx)
        return {"run_key": key, "text": f"The run **{key}** and all it wrote are deleted."}
