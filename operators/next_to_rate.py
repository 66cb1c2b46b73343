"""Which images one more rater should see."""

from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.text import shown

from . import base, widgets
from .widgets import Context

STATISTICS = {
    "global_alpha": "of the α of all units; comes nearer to what all raters would give",
    "alpha": "of the mean α of images",
}


class NextToRate(base.OfAgreement):
    NAME, LABEL = "next_to_rate", "Images for one more rater"
    DESCRIPTION = "Which images to give to one more rater, so that the interval on alpha narrows most for each label"
    ICON, RESULT = "/assets/agreement.svg", "One more rater"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        inputs.int("n", min=1, default=10, label="How many images, at most", required=True)
        widgets.add_dropdown(inputs, "statistic", STATISTICS, default="global_alpha", label="Narrow the interval")
        about = "To find or assign them by; it stays when the run is deleted"
        inputs.str("tag", label="Tag these samples, too", description=about)

    def summary(self, params: Mapping[str, Any], found: Any) -> dict[str, Any]:
        field, tag = RunNames(params["key"]).next, params.get("tag")
        tagged = f", and they are tagged {shown(tag)}" if tag else ""
        where = f"Their order is in `{field}`{tagged}." if len(found) else ""
        lines = [*found.headline.splitlines(), where]
        return {**params, "images": len(found), "text": "\n\n".join(filter(None, lines))}
