"""Operator that renames a run and everything it wrote."""

from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.analyses.analysis import check_analysis_key
from kalos_core.fiftyone.runs.keys import check_run_key, free_run_key
from kalos_core.text import bold

from . import base, forms, widgets
from .widgets import Context


class RenameRun(base.OfRun):
    NAME, LABEL = "rename_run", "Rename a run"
    DESCRIPTION = "Change the key of a run, or of all runs of an analysis, and of everything they wrote"
    ICON, RESULT = "/assets/agreement.svg", "Renamed"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        run = kf.load_metrics(ctx.dataset, key)
        reason = kf.KINDS[run.kind].fixed_because
        if reason:
            widgets.block(inputs, f"{key} cannot be renamed", f"It is a run {reason}.")
            return
        check = check_analysis_key if run.analysis == key else check_run_key
        forms.add_key(ctx, inputs, "new_key", free_run_key(ctx.dataset, key, check), check, label="New key")

    def summary(self, params: Mapping[str, Any], found: None) -> dict[str, Any]:
        new_key = params["new_key"]
        return {"run_key": new_key, "text": f"The run {bold(params['run_key'])} is now {bold(new_key)}."}
