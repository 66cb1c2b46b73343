"""Write an analysis as one HTML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fiftyone.operators.types as types

from . import base
from .widgets import Context


class WriteReport(base.OfAgreement):
    NAME, LABEL = "report", "Write a report"
    DESCRIPTION = "One HTML file with all that an analysis says, to be sent and printed; it needs no network"
    ICON, RESULT = "/assets/agreement.svg", "Written"

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        about = "On the computer that runs FiftyOne, such as report.html; a file of that name is replaced"
        inputs.str("path", label="File", description=about, required=True)
        inputs.str("title", label="Title", description="By default it names the data set and the analysis")

    def summary(self, params: Mapping[str, Any], found: Path) -> dict[str, Any]:
        return {**params, "path": str(found), "text": f"Written to `{found}`."}
