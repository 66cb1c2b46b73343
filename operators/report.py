"""Write an analysis as one HTML file."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fiftyone.operators.types as types

from kalos_core.text import shown

from . import base, widgets
from .widgets import Context


class WriteReport(base.OfAgreement):
    NAME, LABEL = "report", "Write a report"
    DESCRIPTION = "One HTML file with all that an analysis says, to be sent and printed; it needs no network"
    ICON, RESULT = "/assets/agreement.svg", "Written"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        about = "On the computer that runs FiftyOne, such as report.html; a file of that name is replaced"
        inputs.str("path", label="File", description=about, required=True)
        inputs.str("title", label="Title", description="By default it names the data set and the analysis")
        about = "A copy for the computer with the browser, where that is another one"
        widgets.add_switch(inputs, "download", label="Download it, too", description=about)

    def execute(self, ctx: Context) -> dict[str, Any]:
        answer = super().execute(ctx)
        if ctx.params.get("download"):
            path = Path(answer["path"])
            page = base64.b64encode(path.read_bytes()).decode("ascii")  # an address would depend on proxies between
            ctx.ops.browser_download(f"data:text/html;charset=utf-8;base64,{page}", filename=path.name)
        return answer

    def summary(self, params: Mapping[str, Any], found: Path) -> dict[str, Any]:
        return {**params, "path": str(found), "text": f"Written to {shown(str(found), None)}."}
