"""Decide: disputes one by one, the training list, questions about the annotation guideline, and results.

`view/src/sections/decide.tsx` declares the types of the records.
"""

from collections.abc import Sequence
from typing import Any

import kalos_core.fiftyone as kf
from kalos_core.errors import lookup
from kalos_core.fiftyone.deciding.queue import view_of_queue, view_of_units
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import plain

from ..parts.events import Context
from .base import Asked, DataSection, Led, click
from .disputes import FIRST, Record, decidable_in, findings_of, next_disputes, queue_of

MOST_ROWS = 50

STATES = {
    "open": "images with open disputes",
    "waiting": "images waiting for the guideline",
    "decided": "images with decided units",
}
"""State of disputes -> description of the view in the grid."""

RESOLVED = "Write a new label field of agreed and decided labels, with the author of each decision."

HAND_OVER = (
    "Hand over",
    "Send the images with open disputes to an annotation back end of FiftyOne, to annotate them again in a new field.",
)

TAG = "Tag the images in dispute and the labels of these units, to filter, export or save them."

RESULTS: dict[str, dict[str, tuple[str, str]]] = {
    "agreement": {
        "resolved": ("Make resolved labels", f"{RESOLVED} It is ground truth for FiftyOne's evaluate_detections."),
        "export_resolved": (
            "Export resolved labels",
            "Write these labels to a COCO file, with the source of each label.",
        ),
        "tag_disputes": ("Tag the disputes", TAG),
        "hand_over": HAND_OVER,
    },
    "image_labels": {
        "resolved": (
            "Make resolved labels",
            f"{RESOLVED} It is ground truth for FiftyOne's evaluate_classifications, and a reference for other runs "
            "and for rankings of classifiers.",
        ),
        "export_resolved": (
            "Export resolved labels",
            "Write these labels to a CSV table, with the source of each label.",
        ),
        "tag_disputes": ("Tag the disputes", "Tag the images in dispute, to filter, export or save them."),
        "hand_over": HAND_OVER,
    },
    "pixels": {"tag_disputes": ("Tag the disputes", TAG), "hand_over": HAND_OVER},
}
"""Kind of run -> operator -> its button, and its purpose."""


class Decidable(DataSection):
    """Section of the runs of an analysis that have units in dispute."""

    KIND = "agreement"
    NOTHING_YET = (
        "Which labels need a decision?",
        "Analyse finds where raters differ. Here you then decide each dispute, one by one.",
    )

    def is_shown(self, ctx: Context, analysis: Analysis | None) -> bool:
        return bool(analysis and decidable_in(analysis)) or super().is_shown(ctx, analysis)

    def run_kind(self, asked: Asked) -> str:
        return next((run.kind for run in decidable_in(asked.analysis)), self.KIND)

    @click
    def units(self, asked: Asked) -> Led:
        """Show the images of some units."""
        view = view_of_units(asked.dataset, asked.value("run"), asked.value("labels", Sequence[str]))
        return Led(view, asked.value("text"))


class DecideSection(Decidable):
    NAME = "Decide"
    FOLLOWS = ("category", "rater")

    def send(self, asked: Asked) -> Record:
        """Return the queue, and the other runs of the analysis that have disputes."""
        dataset, analysis, filter = asked.dataset, asked.analysis, asked.filter
        runs = decidable_in(analysis)
        part = {"category": filter.category, "rater": filter.rater}
        variations, _ = findings_of(dataset, runs[0], analysis.run("variations"))
        disputes = next_disputes(dataset, runs[0].key, FIRST, variations, **part)
        queue = queue_of(dataset, runs[0], variations, disputes, **part)
        return {"queue": queue, "runs": [(run.key, kf.KINDS[run.kind].title) for run in runs]}

    @click
    def show(self, asked: Asked) -> Led:
        """Show the images of the queue in the grid, with only the labels of these units."""
        filter, state = asked.filter, asked.value("state")
        view = view_of_queue(asked.dataset, asked.value("run"), filter.category, filter.rater, state)
        return Led(view, lookup(STATES, state, "state"))


class TrainingSection(Decidable):
    NAME = "Training list"
    FOLLOWS = ("category", "rater")

    def send(self, asked: Asked) -> list[Record]:
        return [row for run in decidable_in(asked.analysis) for row in _trained(asked, run.key)]


class GuidelineSection(Decidable):
    NAME = "Guideline"

    def send(self, asked: Asked) -> Record:
        dataset, runs = asked.dataset, decidable_in(asked.analysis)
        rows = [
            {
                "run": run.key,
                "note": one.note,
                "who": one.who,
                "when": f"{one.when:%Y-%m-%d %H:%M}" if one.when else "",
                "labels": one.labels,
            }
            for run in runs
            for one in kf.decisions(dataset, run.key)
            if one.decision == "guideline"
        ]
        text = "\n".join(kf.guideline_questions(dataset, run.key) for run in runs)
        return {"rows": rows[-MOST_ROWS:], "markdown": text if rows else ""}

    @click
    def open(self, asked: Asked) -> Led:
        found = (
            view_of_units(asked.dataset, asked.value("run"), asked.value("labels", Sequence[str])).limit(1).values("id")
        )
        if not found:
            return Led(said="The labels of this question were deleted.")
        return Led(sample=found[0])


class ResultsSection(Decidable):
    NAME = "Results"

    def send(self, asked: Asked) -> list[Record]:
        return [
            {"operator": name, "run": run.key, "of": kf.KINDS[run.kind].title, "label": label, "use": use}
            for run in decidable_in(asked.analysis)
            for name, (label, use) in RESULTS[run.kind].items()
        ]

    @click
    def make(self, asked: Asked) -> Led:
        return Led(operator=asked.value("operator"), given={"key": asked.value("run")})


def _trained(asked: Asked, run: str) -> list[Record]:
    """Return overruled raters with the class they gave, the decided class, and the labels of the units."""
    table: Any = kf.training_list(asked.dataset, run)
    filter = asked.filter
    if filter.rater is not None:
        table = table[table.rater == filter.rater]
    if filter.category is not None:
        table = table[(table.category == filter.category) | (table.decided == filter.category)]
    return [
        {
            "run": run,
            "rater": plain(row["rater"]),
            "gave": plain(row["category"]),
            "decided": plain(row["decided"]),
            **{name: row[name] for name in ("count", "units", "rate", "labels")},
        }
        for row in table[:MOST_ROWS].to_dict("records")
    ]
