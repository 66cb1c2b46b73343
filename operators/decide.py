"""Operator that decides about a unit in dispute."""

from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.decisions import Decision
from kalos_core.display import number_of
from kalos_core.fiftyone.deciding.kinds import DECIDABLE, deciding_of

from . import base, widgets
from .widgets import Context


class Decide(base.OfAgreement):
    NAME, LABEL = "decide", "Decide about labels"
    DESCRIPTION = "Settle a disagreement: decide about the unit of the selected labels, which are not changed"
    KINDS = tuple(DECIDABLE)
    ICON, RESULT = "/assets/agreement.svg", "Decided"

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        selected = [label["label_id"] for label in ctx.selected_labels]
        run = kf.load_metrics(ctx.dataset, key)
        about = "Ids of labels of one unit, or of a whole and its parts; by default, the selected labels"
        inputs.list("labels", types.String(), default=selected, label="Labels", description=about, required=True)
        decision = widgets.add_dropdown(
            inputs, "decision", DECIDABLE[run.kind].DECISIONS, label="Decision", required=True
        )
        if ctx.params.get("decision") == "take":
            widgets.add_dropdown(inputs, "rater", run.metrics["raters"], label="Who is right", required=True)
        elif ctx.params.get("rater"):
            widgets.refuse(decision, "A rater is only needed if the decision is to take one rater's labels")
        if ctx.params.get("decision") == "label":
            labels = deciding_of(ctx.dataset, run).classes["classes"]
            widgets.add_dropdown(inputs, "category", labels, label="Which label is right", required=True)
        inputs.str("note", default="", label="Note")
        inputs.str("who", default="", label="Who decides")

    def summary(self, params: Mapping[str, Any], found: Decision) -> dict[str, Any]:
        words = kf.LABEL_DECISIONS | kf.DECISIONS
        text = f"{words[found.decision]}: decided about {number_of(len(found.labels), 'label')}."
        return {**params, "labels": list(found.labels), "text": text}
