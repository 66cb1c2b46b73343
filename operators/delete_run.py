"""Delete a run and everything it wrote."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf

from . import running


class DeleteRun(running.Action):
    NAME, LABEL = "delete_run", "Delete a run"
    DESCRIPTION = "Delete a run with all it wrote, and nothing else"
    ICON, RESULT = "/assets/delete.svg", "Deleted"
    STREAMED = False

    def add_inputs(self, ctx, inputs):
        keys = [] if ctx.dataset is None else kf.list_runs(ctx.dataset)
        if not keys:
            inputs.view("none", types.Notice(label="There are no runs to delete"))
            nothing = inputs.str("run_key", required=True, view=types.HiddenView())
            nothing.invalid = True
            return
        choices = types.DropdownView()
        for key in keys:
            choices.add_choice(key, label=key, description=kf.load_figures(ctx.dataset, key).kind)
        chosen = ctx.params.get("run_key") or keys[0]
        run = inputs.enum("run_key", choices.values(), required=True, default=keys[0], view=choices, label="Run")
        if chosen in keys:
            written = kf.load_figures(ctx.dataset, chosen).written
            inputs.view("what", types.Warning(label="This cannot be undone", description=f"Deletes {written}"))
        else:
            run.invalid, run.error_message = True, f"There is no run {chosen!r} any more"

    def execute(self, ctx):
        key = ctx.params["run_key"]
        kf.delete_run(ctx.dataset, key)
        ctx.ops.reload_dataset()
        running.reload_panels(ctx, "agreement", "variations", "calibration", "convergence", "labels", "truth")
        return {"run_key": key, "summary": f"The run **{key}** and all it wrote are deleted."}
