"""Operator that repeats an analysis with the current labels."""

from collections.abc import Iterator
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.analyses.analysis import check_analysis_key, next_analysis_key

from . import base, forms
from .analyse import summary
from .widgets import Context


class UpdateRun(base.Action):
    NAME, FUNCTION = "update_run", "update_analysis"
    LABEL = "Update: the same analysis with the current labels"
    DESCRIPTION = "Repeat the runs of an analysis with the same settings under another key, to compare the two"
    ICON, RESULT = "/assets/agreement.svg", "Updated"
    KEY_NAME = "key"

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        found = [] if ctx.dataset is None else kf.list_analyses(ctx.dataset)
        key = forms.add_run(ctx, inputs, [analysis.key for analysis in found], "analysis", "key", required=True)
        if key is not None:
            forms.add_key(
                ctx,
                inputs,
                "new_key",
                next_analysis_key(ctx.dataset, key),
                check_analysis_key,
                label="New key",
                description="The previous analysis is kept",
            )

    def execute(self, ctx: Context) -> dict[str, Any] | Iterator[Any]:
        self.check_params(ctx)
        params = ctx.params

        def work(progress: base.Progress) -> dict[str, Any]:
            made = kf.update_analysis(ctx.dataset, params.get("key"), params.get("new_key"), progress=progress)
            return summary(made, ctx.dataset)

        return base.run(ctx, work, then=base.written(ctx))
