"""Operator that opens the panel for a data set that was just loaded."""

from typing import Any

import fiftyone.operators as foo

from . import base
from .widgets import Context

JUST_LOADED: set[str] = set()
"""Names of new data sets that the App is about to open."""


class AfterLoad(foo.Operator):
    """Operator that the App calls after opening a data set, which closes panels that were open before."""

    @property
    def config(self) -> foo.OperatorConfig:
        return foo.OperatorConfig(
            name="after_load",
            label="Open the panel of raters after a load",
            icon="/assets/load.svg",
            unlisted=True,
            on_dataset_open=True,
        )

    def execute(self, ctx: Context) -> dict[str, Any]:
        if ctx.dataset is not None and ctx.dataset.name in JUST_LOADED:
            JUST_LOADED.remove(ctx.dataset.name)
            for operation in base.showing(ctx):
                operation()
        return {}
