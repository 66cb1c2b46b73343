"""Write resolved labels as a COCO file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fiftyone.operators.types as types

from kalos_core.decisions import UNDECIDED
from kalos_core.text import shown

from . import base, widgets
from .widgets import Context


class ExportResolved(base.OfAgreement):
    NAME, LABEL = "export_resolved", "Export resolved labels"
    DESCRIPTION = "A COCO file of what raters agree on and of what was decided, with who decided it"
    ICON, RESULT = "/assets/agreement.svg", "Exported"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        about = "On the computer that runs FiftyOne; a file of that name is replaced"
        inputs.str("path", label="File", description=about, required=True)
        widgets.add_dropdown(
            inputs, "undecided", UNDECIDED, default="majority", label="Of units that nobody has decided"
        )

    def summary(self, params: Mapping[str, Any], found: Path) -> dict[str, Any]:
        return {**params, "path": str(found), "text": f"Written to {shown(str(found), None)}."}
