"""How far raters agree on image-level labels."""

from typing import Any

import fiftyone.operators.types as types

from kalos_core.figures import accuracy_title, kappa_title, majority_title, significant, with_interval

from . import forms, image_label_forms, widgets
from .base import Run
from .widgets import Context

WEIGHT_HELP = {
    "annotations_m1": "answers less one: the paper's advice",
    "flat": "all images alike",
    "annotations": "answers, as alpha does",
    "edges": "pairs of answers",
    "inv_var": "inverse variance, which is pairs of answers",
    "inv_var_class": "inverse variance for the shares of labels found",
}


class ComputeLabelAgreement(image_label_forms.ImageLabelAnalysis):
    NAME, LABEL, KEY = "compute_label_agreement", "Compute agreement on image-level labels", "labels"
    DESCRIPTION = "Kappas of every question, majorities, accuracy of raters, and the images in dispute"
    ICON, RESULT = "/assets/labels.svg", "Agreement on image-level labels"

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        widgets.add_number(
            ctx,
            inputs,
            "quorum",
            0.01,
            1.0,
            default=0.75,
            label="An image is in dispute below this share",
            description="Of its answers to some question, for the leading one",
        )
        widgets.add_number(
            ctx,
            inputs,
            "width",
            0.001,
            default=0.1,
            label="An interval is narrow enough at this width",
            description="The running curve says from how many answers on it is",
        )
        widgets.add_dropdown(
            inputs,
            "weights",
            WEIGHT_HELP.keys(),
            descriptions=WEIGHT_HELP,
            default="annotations_m1",
            label="How much an image counts in the probability of agreement",
        )
        forms.add_bootstrap(ctx, inputs, 1000)

    def summary(self, run: Run) -> str:
        """The least agreed questions with all coefficients, then the majority, raters, disputes and breaches."""
        f, rows = run.metrics, run.details["questions"]
        title = kappa_title([row["question"] for row in rows], [row["free_marginal"] for row in rows])
        table = "\n".join(_row(row) for row in f["least_agreed"])
        more = f["questions"] - len(f["least_agreed"])
        means, accuracy = f["with_majority"], run.details["accuracy"]
        notes = [
            f"**{f['disputed']:,} of {f['images']:,} images are in dispute** "
            f"(`{run.names.disputed}`; agreement of each image: `{run.names.agreement}`).",
            f"{majority_title(means['concept_all'], means['concept_chosen'])}.",
            f"{accuracy_title(accuracy['raters'], accuracy['accuracy'])}.",
        ]
        if f["breaches"]:
            who = ", ".join(f"{entry['rater']} {entry['answers']:,}" for entry in f["breaches_by_rater"][:5])
            answers = "answer" if f["breaches"] == 1 else "answers"
            notes.append(f"{f['breaches']:,} {answers} broke a group, with none or several of its labels: {who}.")
        return (
            f"**{title}**\n\n{f['answers']:,} answers of {len(f['raters'])} raters to {f['images']:,} images\n\n"
            "| Question | Free-marginal κ | Fleiss' κ | α | Cohen's κ | Probability of agreement | Images | Ties |\n"
            f"|---|---|---|---|---|---|---|---|\n{table}\n\n"
            + (f"and {more:,} more, agreed on better; the panel has them all.\n\n" if more else "")
            + "\n".join(f"- {note}" for note in notes)
        )


def _row(row: dict[str, Any]) -> str:
    numbers = [
        f"{with_interval(row['free_marginal'], row['interval'])} {row['bands']['free_marginal']}",
        *(significant(row[name]) for name in ("fleiss", "alpha", "cohen")),
        with_interval(row["spa"], row["spa_interval"]),
        f"{row['items']:,}",
        f"{row['ties']:,}",
    ]
    return f"| {row['question']} | {' | '.join(numbers)} |"
