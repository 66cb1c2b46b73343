"""Noise: what happened to the annotations of the reference of synthetic raters, by kind, stage, image and rater."""

from dataclasses import dataclass
from typing import Any, ClassVar

import kalos_core.fiftyone as kf
from kalos_core import NoiseModel
from kalos_core.display import EVENT_LABELS, OUTCOME_LABELS, STAGE_LABELS, number_of
from kalos_core.fiftyone.kinds.noise.views import CHANGES, noisy_images, view_of_changes, view_of_event
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.events import stage_rows
from kalos_core.figures.experiments import loss_rows
from kalos_core.figures.noise import fidelity_rows, fit_rows, origin_rows
from kalos_core.text import plain, unshown

from .base import Asked, Led, click
from .figure import Figure, figure_of
from .paged import Page, PagedSection

MOST_IMAGES = 20

STAGE_EVENTS = {
    "unmatched": ("deletion", "addition"),
    "topology": ("split", "merge"),
    "category": ("wrong_class",),
    "first three": CHANGES,
    "localization": ("shift",),
}

Rows = list[dict[str, str]]
"""Of a table that the library writes as people read it."""


@dataclass(frozen=True)
class Event:
    """How many events of a kind there are by outcome."""

    kind: str
    label: str
    outcomes: dict[str, int]


@dataclass(frozen=True)
class Events:
    """`stages`: the names that a click is given, with a row of the table for each."""

    title: str
    fidelity: str
    over: str
    events: tuple[Event, ...]
    outcomes: dict[str, str]
    stages: tuple[str, ...]
    rows: Rows
    images: int


@dataclass(frozen=True)
class Image:
    sample_id: str
    file: str
    changed: int
    events: dict[str, int]


@dataclass(frozen=True)
class Images:
    title: str
    labels: dict[str, str]
    images: tuple[Image, ...]


@dataclass(frozen=True)
class Rater:
    field: str
    reference: str
    magnitude: float
    annotations: int
    events: dict[str, int]


@dataclass(frozen=True)
class Raters:
    labels: dict[str, str]
    raters: tuple[Rater, ...]


@dataclass(frozen=True)
class Fidelity:
    title: str
    figure: Figure | None
    quantities: Rows
    tests: Rows


@dataclass(frozen=True)
class Loss:
    figure: Figure
    rows: Rows


@dataclass(frozen=True)
class Used:
    facts: dict[str, str]
    origins: Rows


def events(asked: Asked) -> Events:
    run = _run(asked)
    parts, metrics, loss = kf.figures_of(run), run.metrics, run.details.loss
    counts = metrics["events"]
    first, *rest = metrics["fields"]
    fields = f"fields {first} to {rest[-1]}" if len(rest) > 1 else f"fields {', '.join([first, *rest])}"
    made = f"{number_of(metrics['annotations'], 'label')} on {number_of(metrics['images'], 'image')}"
    return Events(
        title=unshown(parts["events"].title),
        fidelity=unshown(parts["fidelity"].title) if parts["fidelity"].figure else "",
        over=f"{made}; {fields}.",
        events=tuple(Event(kind, EVENT_LABELS[kind], dict(counts[kind])) for kind in CHANGES),
        outcomes=OUTCOME_LABELS,
        stages=tuple(loss.stage),
        rows=stage_rows(loss),
        images=metrics["changed_images"],
    )


def images(asked: Asked) -> Images:
    run = _run(asked)
    found = noisy_images(asked.dataset, run.key, MOST_IMAGES)
    title = kf.figures_of(run, images=found)["images"].title
    rows = tuple(Image(image.sample_id, image.file, image.changed, image.events) for image in found)
    return Images(unshown(title), _labels(), rows)


def raters(asked: Asked) -> Raters:
    run = _run(asked)
    rows = zip(run.details.raters.to_pandas().to_dict("records"), run.metrics["fields"], strict=True)
    return Raters(_labels(), tuple(_rater(row, field) for row, field in rows))


def fidelity(asked: Asked) -> Fidelity:
    run = _run(asked)
    part = kf.figures_of(run)["fidelity"]
    if not part.figure:
        return Fidelity(unshown(part.title), None, [], [])
    found = figure_of(part, CAPTIONS["fidelity"])
    return Fidelity(found.title, found, fidelity_rows(run.details.fidelity), fit_rows(run.details.rate_tests))


def loss(asked: Asked) -> Loss:
    run = _run(asked)
    figure = figure_of(kf.figures_of(run)["loss"], CAPTIONS["loss"])
    return Loss(figure, loss_rows(run.details.loss_by_magnitude))


def used(asked: Asked) -> Used:
    run = _run(asked)
    metrics = run.metrics
    facts = {
        "Model": metrics["model"],
        "Classes are mistaken by": metrics["class_source"],
        "Annotations are added from": metrics["false_positive_source"],
        "Seed": str(metrics["seed"]),
    }
    return Used(facts, origin_rows(NoiseModel.from_json(run.details.model)))


class NoiseSection(PagedSection):
    """What synthetic raters changed, and whether they differ as the real ones do."""

    NAME, KIND, FAMILY = "Noise", "noise", None
    PAGES: ClassVar = {
        "Events": Page("noise", events),
        "Images": Page("noise", images),
        "Raters": Page("noise", raters),
        "Fidelity": Page("noise", fidelity),
        "Loss": Page("noise", loss),
        "Used": Page("noise", used),
    }

    @click
    def again(self, asked: Asked) -> Led:
        return Led(operator=kf.KINDS[self.KIND].operator)

    @click
    def event(self, asked: Asked) -> Led:
        kind, outcome = asked.given["kind"], asked.given["outcome"]
        view = view_of_event(asked.dataset, asked.run("noise").key, kind, outcome)
        text = f"images with annotations {EVENT_LABELS[kind]}: {OUTCOME_LABELS[outcome]}"
        return Led(view, text, fields=_fields(asked))

    @click
    def stage(self, asked: Asked) -> Led:
        name = asked.given["name"]
        view = view_of_event(asked.dataset, asked.run("noise").key, STAGE_EVENTS[name])
        return Led(view, f"images with events of the stage {STAGE_LABELS[name]}", fields=_fields(asked))

    @click
    def rater(self, asked: Asked) -> Led:
        field = asked.given["field"]
        view = view_of_event(asked.dataset, asked.run("noise").key, CHANGES, rater=field)
        return Led(view, f"images with what {plain(field)} changed", fields=_fields(asked, field))

    @click
    def changed(self, asked: Asked) -> Led:
        view = view_of_changes(asked.dataset, asked.run("noise").key)
        return Led(view, "images with events, those with most first", fields=_fields(asked))

    @click
    def open(self, asked: Asked) -> Led:
        return Led(sample=asked.given["sample"])


def _run(asked: Asked) -> Any:
    return kf.load_details(asked.dataset, asked.run("noise").key)


def _fields(asked: Asked, field: str | None = None) -> tuple[str, ...]:
    """What is to be seen: the labels of the synthetic raters, or of one, which the App leaves out, and the reference's.

    The App shows no synthetic labels unasked, as they would be taken for those of people.
    """
    run = asked.run("noise")
    own = run.metrics["fields"] if field is None else [field]
    return (*own, *run.settings["reference_fields"])


def _labels() -> dict[str, str]:
    return {kind: EVENT_LABELS[kind] for kind in CHANGES}


def _rater(row: dict[Any, Any], field: str) -> Rater:
    counts = {name: int(row[name]) for name in (*CHANGES, "lost")}
    return Rater(field, str(row["reference"]), float(row["magnitude"]), int(row["annotations"]), counts)
