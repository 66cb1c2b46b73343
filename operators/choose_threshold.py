"""Operator that makes a calibrated threshold the default of later forms."""

import warnings
from collections.abc import Mapping
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES, KalosWarning
from kalos_core.display import alpha_text
from kalos_core.fiftyone.kinds.calibration.kind import CalibrationRun
from kalos_core.text import shown

from . import base, forms, widgets
from .widgets import Context


class ChooseThreshold(base.OfRun):
    NAME, LABEL, KIND = "choose_threshold", "Use a calibrated threshold", "calibration"
    DESCRIPTION = (
        "Write the threshold chosen from a calibration into its run, and offer it as the default of later forms"
    )
    ICON, RESULT = "/assets/calibration.svg", "Threshold"
    FILLED = ("similarity",)

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        found = {entry["name"]: entry for entry in _calibrated(ctx, key)}
        best = next(iter(found))
        similarity = widgets.add_dropdown(
            inputs,
            "similarity",
            {name: SIMILARITIES[name].label if name in SIMILARITIES else name for name in found},
            default=best,
            label="Similarity",
            description="The one that separates matches from chance best is first",
        )
        chosen = ctx.params.get("similarity") or best
        if chosen not in found:
            widgets.refuse(similarity, f"The run {key!r} did not calibrate {chosen}")
            return
        entry = found[chosen]
        forms.add_threshold_field(
            ctx, inputs, chosen, best, entry["threshold"], f"Smallest similarity. {_finding(entry)}"
        )

    def call(self, ctx: Context, key: str, given: dict[str, Any]) -> CalibrationRun:
        found = _calibrated(ctx, key)
        given["similarity"] = similarity = given.get("similarity") or found[0]["name"]
        given["threshold"] = forms.threshold_of(ctx.params, similarity)
        if given["threshold"] in [forms.shown_threshold(of["threshold"]) for of in found if of["name"] == similarity]:
            given["threshold"] = None  # the form shows the calibrated threshold with three digits
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # the summary says it
            return kf.choose_threshold(ctx.dataset, key, **given)

    def summary(self, params: Mapping[str, Any], found: Any) -> dict[str, Any]:
        similarity, metrics = params["similarity"], found.metrics
        own = [entry for entry in metrics["similarities"] if entry["name"] == similarity]
        doubt = "".join(map(_doubt, own)) if params["threshold"] is None else ""
        value = metrics["chosen"][similarity]["threshold"]
        text = f"Later forms offer **{alpha_text(value)}** as the threshold of {shown(similarity)}.{doubt}"
        return {"similarity": similarity, "threshold": value, "text": text}


def _calibrated(ctx: Context, key: str) -> list[dict[str, Any]]:
    """Return the results of a calibration for each similarity."""
    found: list[dict[str, Any]] = kf.load_metrics(ctx.dataset, key, "calibration").metrics["similarities"]
    return found


def _finding(entry: dict[str, Any]) -> str:
    """Describe the result of a calibration for a similarity."""
    if entry["threshold"] is None:
        return f"Not calibrated: {entry['reason']}"
    return f"Calibrated: {alpha_text(entry['threshold'])} (KS {alpha_text(entry['ks'])}).{_doubt(entry)}"


def _doubt(entry: dict[str, Any]) -> str:
    """Return the reason not to trust a calibrated threshold, or ""."""
    return "" if entry["trusted"] else f" Not to be trusted: {entry['why']}"
