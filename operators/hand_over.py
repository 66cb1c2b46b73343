"""Operator that sends the samples with open disputes to an annotation back end."""

from collections.abc import Mapping
from typing import Any

import fiftyone as fo
import fiftyone.operators.types as types

from kalos_core.fiftyone.deciding.kinds import DECIDABLE
from kalos_core.fiftyone.runs.keys import check_run_key, free_run_key

from . import base, forms, widgets
from .widgets import Context


class HandOver(base.OfAgreement):
    NAME, LABEL = "hand_over", "Hand over open disputes"
    DESCRIPTION = "Send the samples with open disputes to an annotation back end of FiftyOne, to annotate them again"
    KINDS = tuple(DECIDABLE)
    ICON, RESULT = "/assets/agreement.svg", "Handed over"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        backends = sorted(fo.annotation_config.backends)
        about = "Key of FiftyOne's annotation run, and name of the new label field"
        proposed = free_run_key(ctx.dataset, "handed_over")
        forms.add_key(ctx, inputs, "anno_key", proposed, check_run_key, "Key", about)
        about = "It must be running, and its address and login must be configured in FiftyOne"
        default = fo.annotation_config.default_backend
        widgets.add_dropdown(
            inputs, "backend", backends, default=default, label="Annotation back end", description=about
        )

    def summary(self, params: Mapping[str, Any], found: Any) -> dict[str, Any]:
        key = params["anno_key"]
        return {"anno_key": key, "text": f"Handed over. dataset.load_annotations({key!r}) fetches the new annotations."}
