"""Noise: events that changed the annotations of the reference of synthetic raters, by kind, stage, image and rater."""

from dataclasses import replace
from functools import partial
from typing import ClassVar

import kalos_core.fiftyone as kf
from kalos_core import NoiseModel
from kalos_core.display import EVENT_LABELS, OUTCOME_LABELS, STAGE_LABELS
from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.noise.views import CHANGES, noisy_images, view_of_changes, view_of_event
from kalos_core.figures.events import stage_rows
from kalos_core.figures.experiments import loss_rows
from kalos_core.figures.noise import fidelity_rows, fit_rows, origin_rows
from kalos_core.text import unshown

from .base import Asked, Led, click, open_form, open_sample, show
from .figure import figure_in
from .paged import Page, PagedSection
from .rows import Row, row_of, rows_of

MOST_IMAGES = 20

STAGE_EVENTS = {
    "unmatched": ("deletion", "addition"),
    "topology": ("split", "merge"),
    "category": ("wrong_class",),
    "first three": CHANGES,
    "localization": ("shift",),
}

LABELS = {kind: EVENT_LABELS[kind] for kind in CHANGES}


def events(asked: Asked) -> Row:
    """Return the page *Events*; `stages` has the names that clicks use, one per row of the table."""
    run = asked.details("noise")
    parts, counts, loss = kf.figures_of(run), run.metrics["events"], run.details.loss
    return {
        "title": unshown(parts["events"].title),
        "fidelity": unshown(parts["fidelity"].title) if parts["fidelity"].figure else "",
        "over": unshown(parts["events"].note),
        "events": [{"kind": kind, "label": label, "outcomes": counts[kind]} for kind, label in LABELS.items()],
        "outcomes": OUTCOME_LABELS,
        "stages": loss.stage,
        "rows": stage_rows(loss),
        "images": run.metrics["changed_images"],
    }


def images(asked: Asked) -> Row:
    run = asked.details("noise")
    found = noisy_images(asked.dataset, run.key, MOST_IMAGES)
    title = kf.figures_of(run, images=found)["images"].title
    rows = [row_of(one, "sample_id", "file", "changed", "events") for one in found]
    return {"title": unshown(title), "labels": LABELS, "images": rows}


def raters(asked: Asked) -> Row:
    run = asked.details("noise")
    found = run.details.raters.to_pandas()
    counts = found[[*CHANGES, "lost"]].to_dict("records")
    about = {name: found[name] for name in ("reference", "magnitude", "annotations")}
    return {"labels": LABELS, "raters": rows_of(field=run.metrics["fields"], **about, events=counts)}


def fidelity(asked: Asked) -> Row:
    run = asked.details("noise")
    parts, details = kf.figures_of(run), run.details
    figure = figure_in(parts, "fidelity")
    return {
        "title": unshown(parts["fidelity"].title),
        "figure": figure,
        "quantities": fidelity_rows(details.fidelity) if figure else [],
        "tests": fit_rows(details.rate_tests) if figure else [],
    }


def loss(asked: Asked) -> Row:
    run = asked.details("noise")
    return {"figure": figure_in(kf.figures_of(run), "loss"), "rows": loss_rows(run.details.loss_by_magnitude)}


def used(asked: Asked) -> Row:
    run = asked.details("noise")
    facts = {
        "Model": run.metrics["model"],
        "Source of wrong classes": run.metrics["class_source"],
        "Source of added annotations": run.metrics["false_positive_source"],
        "Seed": str(run.metrics["seed"]),
    }
    return {"facts": facts, "origins": origin_rows(NoiseModel.from_json(run.details.model))}


class NoiseSection(PagedSection):
    """Section on the events of synthetic raters, and on how realistic they are."""

    NAME, KIND, FAMILY = "Noise", "noise", None
    PAGES: ClassVar = {
        "Events": Page("noise", events),
        "Images": Page("noise", images),
        "Raters": Page("noise", raters),
        "Fidelity": Page("noise", fidelity),
        "Loss": Page("noise", loss),
        "Used": Page("noise", used),
    }

    again, open = open_form, open_sample

    @click
    def event(self, asked: Asked) -> Led:
        kind, outcome = asked.value("kind"), asked.value("outcome")
        text = f"{lookup(EVENT_LABELS, kind, 'kind')}: {lookup(OUTCOME_LABELS, outcome, 'outcome')}"
        return Led(asked.view(view_of_event, "noise", kind, outcome), f"images with annotations {text}")

    @click
    def stage(self, asked: Asked) -> Led:
        name = asked.value("name")
        view = asked.view(view_of_event, "noise", lookup(STAGE_EVENTS, name, "name"))
        return Led(view, f"images with events of the stage {STAGE_LABELS[name]}")

    rater = show(partial(view_of_event, event=CHANGES), "images with changes by {field}", rater="field")
    changed = show(view_of_changes, "images with events, most events first")

    def act(self, name: str, asked: Asked) -> Led:
        """Return the target with the label fields to show: the synthetic raters, or the clicked one, and the reference.

        By default, the App hides synthetic labels, so that nobody mistakes them for labels of people.
        """
        led, run = super().act(name, asked), asked.run("noise")
        own = [asked.value("field")] if "field" in asked.given else run.metrics["fields"]
        return led if led.view is None else replace(led, fields=(*own, *run.settings["reference_fields"]))
