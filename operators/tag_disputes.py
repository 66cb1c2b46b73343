"""Operator that tags the samples and labels in dispute."""

from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

from kalos_core.display import number_of
from kalos_core.fiftyone.deciding.kinds import DECIDABLE

from . import base, widgets
from .widgets import Context


class TagDisputes(base.OfAgreement):
    NAME, LABEL = "tag_disputes", "Tag disputes"
    DESCRIPTION = "Tag the samples where annotators disagree (disagreement, label errors), and the labels in dispute"
    KINDS = tuple(DECIDABLE)
    ICON, RESULT = "/assets/agreement.svg", "Tagged"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        inputs.str("tag", default="disputed", label="Tag", required=True)
        widgets.add_switch(inputs, "open_only", default=True, label="Only undecided ones")

    def summary(self, params: Mapping[str, Any], found: int) -> dict[str, Any]:
        tagged = number_of(found, "sample is", "samples are")
        return {**params, "samples": found, "text": f"{tagged} tagged, and the labels in dispute."}
