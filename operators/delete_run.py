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
        runs = {} if ctx.dataset is None else {run.key: run for run in kf.list_runs(ctx.dataset, info=True)}
        kinds = {key: kf.KINDS[run.kind].title for key, run in runs.items()}
        key = forms.add_run(ctx, inputs, list(runs), "run", descriptions=kinds, required=True)
        if key is not None:
            text = f"Deletes {runs[key].written}"
            inputs.view("what", types.Warning(label="This cannot be undone", description=text))

    def execute(self, ctx: Context) -> dict[str, Any]:
        self.check_params(ctx)
        key = ctx.params["run_key"]
        kf.delete_run(ctx.dataset, key)
        ctx.ops.reload_dataset()
        base.reload_panels(ctx)
        return {"run_key": key, "text": f"The run **{key}** and all it wrote are deleted."}
