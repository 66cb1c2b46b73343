"""Operator that ranks the images for one more rater."""

from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.text import shown

from . import base
from .widgets import Context


class NextToRate(base.OfAgreement):
    NAME, LABEL = "next_to_rate", "Images for one more rater"
    DESCRIPTION = "Rank images for one more rater, so that the interval on alpha narrows most for each label"
    ICON, RESULT = "/assets/agreement.svg", "One more rater"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        self.ask(ctx, inputs, "n", "statistic", "write", "tag")

    def summary(self, params: Mapping[str, Any], found: Any) -> dict[str, Any]:
        field, tag = RunNames(params["key"]).next, params.get("tag")
        tagged = f", and they are tagged {shown(tag)}" if tag else ""
        is_written = len(found) and (params.get("write") or tag)
        where = f"Their order is in `{field}`{tagged}." if is_written else ""
        lines = [*found.headline.splitlines(), where]
        return {**params, "images": len(found), "text": "\n\n".join(filter(None, lines))}
