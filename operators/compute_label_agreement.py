"""Operator that computes the agreement of raters on image-level labels."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core._agreement import band
from kalos_core.display import alpha_text, metric_text, number_of, with_interval
from kalos_core.fiftyone.kinds.image_labels.figures import breaches_text
from kalos_core.fiftyone.kinds.image_labels.kind import LabelRun
from kalos_core.figures.labels import doubt_of_weights
from kalos_core.nominal import METRICS, LabelAgreement
from kalos_core.nominal.grouping import read_groups
from kalos_core.text import shown

from . import again, base, image_label_forms, widgets
from .widgets import Context

BY_QUESTION = "by question"

METRICS_HELP = "For example, grade: ordinal; size: ratio; others are nominal"

ORDER_HELP = "Separated by commas: none, mild, severe. For several groups: grade: none, mild; age: young, old"

ESTIMATE_HELP = "A label for each image with its probability, and how often each rater is right, without ground truth"

REJECT_HELP = "Before anything is computed. The remaining answers agree better because they were selected"

REJECTING = ("reject_broken", "most_breaches", "least_accuracy")

MOST_ROWS = 20
"""Maximum number of questions in the summary, those with the lowest agreement."""

HEAD = (
    "Question",
    "Free-marginal κ",
    "Fleiss' κ",
    "AC1",
    "α",
    "Cohen's κ",
    "Probability of agreement",
    "Images",
    "Ties",
)


class ComputeLabelAgreement(image_label_forms.ImageLabelAnalysis[LabelRun]):
    NAME, LABEL, KEY = "compute_label_agreement", "Compute agreement on image-level labels", "labels"
    DESCRIPTION = "Inter-annotator kappas of every question, majorities, accuracy, and images with disagreement"
    ICON, RESULT = "/assets/labels.svg", "Agreement on image-level labels"
    HIDDEN: ClassVar = {"reject": REJECTING, base.ESTIMATE: ("truth",)}
    INPUTS: ClassVar = {
        **image_label_forms.ImageLabelAnalysis.INPUTS,
        "metrics": str,
        "order": str | Sequence[str] | Mapping[str, Sequence[str]],
    }

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        self.ask(ctx, inputs, "quorum", "width", "weights")
        self.ask(ctx, inputs, "metric", offered=[*METRICS, BY_QUESTION], default="nominal")
        if ctx.params.get("metric") == BY_QUESTION:
            metrics = inputs.str("metrics", label="Metric of each question", description=METRICS_HELP, required=True)
            widgets.check(metrics, lambda: read_metrics(ctx.params.get("metrics")))
        if ctx.params.get("metric") in ("ordinal", BY_QUESTION):
            label = "Labels from lowest to highest; not needed for numbers"
            inputs.str("order", label=label, description=ORDER_HELP)
        self.ask(ctx, inputs, "bootstrap")
        needs = "Requires at least three independent raters per image"
        self.add_model(ctx, inputs, "truth", ESTIMATE_HELP, needs)
        about = "Agreement within each team, between the teams, and between their majorities"
        image_label_forms.add_teams(ctx, inputs, about)
        if widgets.is_on(ctx, inputs, "reject", label="Reject answers by rule", description=REJECT_HELP):
            self.ask(ctx, inputs, *REJECTING)

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the function; the groups named by an order have an ordinal metric by default."""
        found = super().settings(params)
        if found.get("metric") == BY_QUESTION:
            found["metric"] = read_metrics(params.get("metrics"))
        metric, order = found.get("metric", "nominal"), found.pop("order", None)
        if not order or "ordinal" not in (metric.values() if isinstance(metric, Mapping) else [metric]):
            return found
        found["order"] = _read_order(order) if isinstance(order, str) else order
        if metric == "ordinal" and isinstance(order, str) and isinstance(found["order"], dict):
            found["metric"] = dict.fromkeys(found["order"], "ordinal")
        return found

    def filled_in(self, _dataset: Any, run: LabelRun) -> dict[str, Any]:
        """Return the params of the form that repeat a run."""
        return again.form_of_labels(run)

    def summary(self, run: LabelRun) -> str:
        """Return the questions with the lowest agreement, then the majority, raters, disputes and breaches."""
        f = run.metrics
        found = run.details.agreement
        order = np.argsort(found.free_marginal, kind="stable")[:MOST_ROWS]
        head = [*HEAD, "Reason if undefined"] if found.reason.any() else HEAD
        table = widgets.table(head, [_row(found, index) for index in order])
        more = len(found) - len(order)
        parts, images = kf.figures_of(run), number_of(f["images"], "image")
        notes = [
            f"**{number_of(f['disputed'], f'of {images} is', f'of {images} are')} in dispute** "
            f"(`{run.names.disputed}`; agreement of each image: `{run.names.agreement}`).",
            *(f"{parts[name].title}." for name in ("concepts", "accuracy", "teams", "rejection") if name in parts),
            f"Majority labels are in `{run.names.majority}`, with the share of raters; ties in `{run.names.tied}`.",
        ]
        if "skill" in parts:
            notes.append(f"{parts['skill'].title}: estimated together with the labels in `{run.names.truth}`.")
        if f["breaches"]:
            notes.append(breaches_text(f))
        if found.doubtful.any():
            notes.append(f"{doubt_of_weights(found)}.")
        return (
            f"**{parts['kappas'].title}**\n\n{number_of(f['answers'], 'answer')} of "
            f"{number_of(len(f['raters']), 'rater')} to {images}\n\n{table}\n\n"
            + (f"and {more:,} more with higher agreement; the panel has them all.\n\n" if more else "")
            + "\n".join(f"- {note}" for note in notes)
        )


def read_metrics(text: str | None) -> dict[str, str]:
    """Parse the metric of each question, such as ``"grade: ordinal; size: ratio"``."""
    found = {name: ", ".join(metrics) for name, metrics in read_groups(text).items()}
    unknown = [metric for metric in found.values() if metric not in METRICS]
    if unknown or not found:
        known = ", ".join(METRICS)
        raise InputError(
            f"metric: expected one of {known} for at least one question, got {unknown[0] if unknown else ''!r}"
        )
    return found


def _read_order(text: str) -> list[str] | dict[str, list[str]]:
    """Parse labels from lowest to highest, for all questions or by question."""
    return read_groups(text) if ":" in text else [name.strip() for name in text.split(",") if name.strip()]


def _row(found: LabelAgreement, index: int) -> list[str]:
    return [
        shown(found.question[index]),
        f"{with_interval(found.free_marginal[index], found.free_marginal_interval[index])} "
        f"{band(found.free_marginal[index])}",
        alpha_text(found.fleiss[index], 3),
        alpha_text(found.ac1[index], 3),
        metric_text(alpha_text(found.alpha[index], 3), found.metric[index]),
        alpha_text(found.cohen[index], 3),
        with_interval(found.spa[index], found.spa_interval[index]),
        f"{found.items[index]:,}",
        f"{found.ties[index]:,}",
        *([shown(found.reason[index], None)] if found.reason.any() else []),
    ]
