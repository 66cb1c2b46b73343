"""Decide: one dispute after the other; the training list, the questions to the guideline, and what follows."""

from dataclasses import dataclass

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.deciding.queue import view_of_queue, view_of_units
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import plain

from ..parts.events import Context
from .base import Asked, DataSection, Led, click
from .disputes import FIRST, Queue, decidable_in, findings_of, next_disputes, queue_of

MOST_ROWS = 50

STATES = {
    "open": "images with open disputes",
    "waiting": "images waiting for the guideline",
    "decided": "images with decided units",
}
"""State of disputes -> what is in the grid then."""

RESULTS = {
    "resolved": (
        "Make resolved labels",
        "A new label field: what raters agree on, and what was decided, with who decided it. Ground truth for "
        "FiftyOne's evaluate_detections.",
    ),
    "export_resolved": ("Export resolved labels", "The same as a COCO file, with where each label comes from."),
    "tag_disputes": (
        "Tag the disputes",
        "A tag on the images in dispute and on the labels of these units, to filter, export or save them by.",
    ),
    "hand_over": (
        "Hand over",
        "The images with open disputes go to an annotation back end that FiftyOne knows, for a new field.",
    ),
}
"""Operator -> its button, and what it is good for."""

OF_REGIONS = ("tag_disputes", "hand_over")
"""Those that decisions about regions of masks have, too."""


@dataclass(frozen=True)
class Decide:
    """What is decided about, and the other runs of the analysis that have disputes, by their keys."""

    queue: Queue
    runs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Trained:
    """Who was decided against: gave one class, and another was decided; `labels` are those of these units."""

    run: str
    rater: str
    gave: str
    decided: str
    count: int
    units: int
    rate: float
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A unit of which the guideline must say; `labels` are those of the unit."""

    run: str
    note: str
    who: str
    when: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Questions:
    rows: tuple[Question, ...]
    markdown: str


@dataclass(frozen=True)
class Result:
    """A form that goes on with what was decided."""

    operator: str
    run: str
    of: str
    label: str
    use: str


class Decidable(DataSection):
    """A section of the runs of an analysis that have units in dispute."""

    KIND = "agreement"
    NOTHING_YET = (
        "Which labels need a decision?",
        "Analyse says where the raters differ; each dispute is then decided here, one after the other.",
    )

    def is_shown(self, ctx: Context, analysis: Analysis | None) -> bool:
        return bool(analysis and decidable_in(analysis)) or super().is_shown(ctx, analysis)

    def run_kind(self, asked: Asked) -> str:
        return next((run.kind for run in decidable_in(asked.analysis)), self.KIND)

    @click
    def units(self, asked: Asked) -> Led:
        """The images of some units."""
        view = view_of_units(asked.dataset, asked.given["run"], asked.given["labels"])
        return Led(view, asked.given["text"])


class DecideSection(Decidable):
    NAME = "Decide"
    FOLLOWS = ("category", "rater")

    def send(self, asked: Asked) -> Decide:
        dataset, analysis, lens = asked.dataset, asked.analysis, asked.lens
        runs = decidable_in(analysis)
        part = {"category": lens.category, "rater": lens.rater}
        variations, _ = findings_of(dataset, runs[0], analysis.run("variations"))
        disputes = next_disputes(dataset, runs[0].key, FIRST, variations, **part)
        queue = queue_of(dataset, runs[0], variations, disputes, **part)
        return Decide(queue, tuple((run.key, kf.KINDS[run.kind].title) for run in runs))

    @click
    def show(self, asked: Asked) -> Led:
        """The images of the queue in the grid, with the labels of these units alone."""
        lens, state = asked.lens, asked.given["state"]
        view = view_of_queue(asked.dataset, asked.given["run"], lens.category, lens.rater, state)
        return Led(view, STATES[state])


class TrainingSection(Decidable):
    NAME = "Training list"
    FOLLOWS = ("category", "rater")

    def send(self, asked: Asked) -> tuple[Trained, ...]:
        return tuple(row for run in decidable_in(asked.analysis) for row in _trained(asked, run.key))


class GuidelineSection(Decidable):
    NAME = "Guideline"

    def send(self, asked: Asked) -> Questions:
        dataset, runs = asked.dataset, decidable_in(asked.analysis)
        made = [(run.key, one) for run in runs for one in kf.decisions(dataset, run.key)]
        rows = [
            Question(
                run, one.note, one.who, f"{one.when:%Y-%m-%d %H:%M}" if one.when else "", tuple(map(str, one.labels))
            )
            for run, one in made
            if one.decision == "guideline"
        ]
        text = "\n".join(kf.guideline_questions(dataset, run.key) for run in runs)
        return Questions(tuple(rows[-MOST_ROWS:]), text if rows else "")

    @click
    def open(self, asked: Asked) -> Led:
        found = view_of_units(asked.dataset, asked.given["run"], asked.given["labels"]).limit(1).values("id")
        if not found:
            return Led(said="The labels of this question were deleted since.")
        return Led(sample=found[0])


class ResultsSection(Decidable):
    NAME = "Results"

    def send(self, asked: Asked) -> tuple[Result, ...]:
        return tuple(
            Result(name, run.key, kf.KINDS[run.kind].title, *RESULTS[name])
            for run in decidable_in(asked.analysis)
            for name in (RESULTS if run.kind == "agreement" else OF_REGIONS)
        )

    @click
    def make(self, asked: Asked) -> Led:
        return Led(operator=asked.given["operator"], given={"key": asked.given["run"]})


def _trained(asked: Asked, run: str) -> list[Trained]:
    table, lens = kf.training_list(asked.dataset, run), asked.lens
    if lens.rater is not None:
        table = table[table.rater == lens.rater]
    if lens.category is not None:
        table = table[(table.category == lens.category) | (table.decided == lens.category)]
    return [
        Trained(
            run,
            plain(row["rater"]),
            plain(row["category"]),
            plain(row["decided"]),
            row["count"],
            row["units"],
            row["rate"],
            tuple(map(str, row["labels"])),
        )
        for row in table[:MOST_ROWS].to_dict("records")
    ]
