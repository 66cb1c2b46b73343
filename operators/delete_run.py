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
        keys = [] if ctx.dataset is None else kf.list_runs(ctx.dataset)
        kinds = {key: kf.load_metrics(ctx.dataset, key).kind for key in keys}
        key = forms.add_run(ctx, inputs, keys, "run", descriptions=kinds, required=True)
        if key is not None:
            written = kf.load_metrics(ctx.dataset, key).written
            inputs.view("what", types.Warning(label="This cannot be undone", description=f"Deletes {written}"))

    def execute(self, ctx: Context) -> dict[str, Any]:
        key = ctx.params["run_key"]
        kf.delete_run(ctx.dataset, key)
        ctx.ops.reload_dataset()
        base.reload_panels(ctx)
        return {"run_key": key, "summary": f"The run **{key}** and all it wrote are deleted."}
