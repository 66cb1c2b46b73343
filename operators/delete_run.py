"""Operator that deletes a run and everything it wrote."""

from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.text import bold

from . import base
from .widgets import Context


class DeleteRun(base.OfRun):
    NAME, LABEL = "delete_run", "Delete a run"
    DESCRIPTION = "Delete a run with everything it wrote, and nothing else"
    ICON, RESULT = "/assets/delete.svg", "Deleted"

    def runs(self, dataset: Any) -> list[AnyRun]:
        """Return all runs, including those that cannot be read."""
        return kf.list_runs(dataset, info=True)

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        members = [run for run in self.runs(ctx.dataset) if key in (run.analysis, run.key)]
        text = f"Deletes {'; '.join(member.written for member in members)}"
        reasons = [f"{run.key} cannot be read: {run.unreadable}" for run in members if run.unreadable]
        if reasons:
            inputs.view("unreadable", types.Notice(label="; ".join(reasons)))
        inputs.view("what", types.Warning(label="This cannot be undone", description=text))

    def summary(self, params: Mapping[str, Any], found: None) -> dict[str, Any]:
        return {"text": f"The run {bold(params['run_key'])} and all it wrote are deleted."}
