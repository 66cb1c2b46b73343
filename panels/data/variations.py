"""Differences between raters: by type and rater, in outlines, in parts, and in attributes of matched labels."""

from collections.abc import Mapping
from typing import Any

import kalos_core.fiftyone as kf
from kalos_core.display import VARIATION_LABELS
from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.variations import views
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.variations import copies_warning, divided_title, variations_title
from kalos_core.nominal import GradeAgreement, least_agreed_first
from kalos_core.statements import DIFFERENCES, statements
from kalos_core.text import plain
from kalos_core.variation import NarrowedVariations

from .base import Asked, DataSection, Led, click, open_sample, prompt, show
from .paired import paired_of
from .ranked import most_first
from .rows import Row, row_of

MOST_ROWS = 25
"""Maximum number of rows of a table."""

MOST_IMAGES = 10
"""Maximum number of images of an attribute."""

RATE_TEXTS = {
    "missing": "objects that {} missed and others annotated",
    "additional": "labels that only {} has",
    "wrong_class": "labels to which {} and others give different classes",
    "merges": "labels of {} that cover several labels of another rater",
    "splits": "labels of {} that are parts of a label of another rater",
}
"""Name of a rate -> description of the labels in its view."""


TITLES = {
    "unmatched": "one annotated",
    "wrong_class": "classes differ",
    "merged": "several as one",
    "merged_wrong_class": "as one, class",
}
"""Kind of difference -> text of its row."""


def ranked_differences(counts: Mapping[str, int]) -> list[Row]:
    """Return the kinds of differences with their numbers of findings, most frequent first."""
    sums = {kind: sum(counts[name] for name in names) for kind, names in DIFFERENCES.items()}
    return [{**row, "title": TITLES[row["name"]]} for row in most_first(sums)]


@click
def show_difference(_section: DataSection, asked: Asked) -> Led:
    """Show the findings of a kind of differences, or of a type."""
    name = asked.value("name")
    text = lookup({**TITLES, **VARIATION_LABELS}, name, "name")
    view = asked.view(views.view_of_findings, "variations", DIFFERENCES.get(name, (name,)), **asked.part)
    return Led(view, f"images with findings: {text}")


@click
def show_rate(_section: DataSection, asked: Asked) -> Led:
    """Show the labels behind the rate `kind` of a `rater`."""
    rater, kind = asked.value("rater"), asked.value("kind")
    text = lookup(RATE_TEXTS, kind, "kind").format(plain(rater))
    view = asked.view(views.view_of_findings, "variations", [kind], **{**asked.part, "rater": rater})
    return Led(view, f"images with {text}")


class DifferencesSection(DataSection):
    NAME, TITLE, KIND = "Variations", "Differences", "variations"
    FOLLOWS = ("category", "rater", "tag", "view")
    NOTHING_YET = (
        "How do the raters differ?",
        "Analyse names every difference between two raters (wrong class, merged, missing or additional), and writes "
        "the name on their labels.",
    )

    def send(self, asked: Asked) -> Row:
        dataset, run, matched = asked.dataset, asked.run("variations"), asked.analysis.run("agreement")
        part = narrowed_variations(dataset, run.key, asked.filter)
        return {
            "title": _title(part),
            "correct": part.counts["correct"],
            "kinds": _kinds(part),
            "raters": _rater_rows(part),
            "alarm": copies_warning(part.identical_share),
            "outlines": {
                "title": part.boundary.headline,
                "caption": CAPTIONS["boundary"],
                "quality": part.boundary,
                "in_pixels": _in_pixels(dataset, matched),
            },
            "divided": kept(dataset, run, "divided", lambda: _divided(dataset, run.key)),
            "attributes": _attributes(dataset, matched),
        }

    open = open_sample
    kind, rate = show_difference, show_rate
    copies = show(views.view_of_copies, "images with identical outlines")
    furthest = show(kf.view_of_unit_boundaries, "images, largest outline distances first", "agreement")
    divided = show(views.view_of_merged, "images with annotations that another rater split into parts")
    attribute = show(kf.view_of_attribute, "images, largest differences on {name} first", "agreement", attribute="name")
    agree = prompt("compute_agreement")

    @click
    def apart(self, asked: Asked) -> Led:
        low, high = asked.value("low", float), asked.value("high", float)
        view = asked.view(views.view_of_boundary, "variations", low, high)
        return Led(view, f"images with correct labels whose outlines are {low:.3g} to {high:.3g} apart")

    @click
    def whole(self, asked: Asked) -> Led:
        """Show only a whole and its parts, in their image."""
        view = asked.view(views.view_of_merged, "variations", asked.value("finding", int))
        return Led(view, "images with a whole and its parts", sample=asked.value("sample"))


def _title(part: NarrowedVariations) -> str:
    if part.rater:
        return variations_title(part.by_rater[part.rater])
    return next((said.text for said in statements(found=part)), "No findings: no rater annotated anything")


def _kinds(part: NarrowedVariations) -> list[Row]:
    """Return the most frequent first: types as seen by the filtered rater, otherwise kinds as in *Overview*."""
    if not part.rater:
        return ranked_differences(part.counts)
    counts = part.by_rater[part.rater]
    rows = most_first({kind: counts[kind] for kind in views.DIFFERENCES})
    return [{**row, "title": VARIATION_LABELS[row["name"]]} for row in rows]


def _rater_rows(part: NarrowedVariations) -> list[Row]:
    """Return the raters with annotations, highest sum of rates first."""
    counts, rates = part.rater_rates.counts, part.rater_rates.per_100
    names = [name for name, own in zip(counts, part.own, strict=True) if own]
    names.sort(key=lambda name: -sum(rates[name][kind] for kind in RATE_TEXTS if rates[name][kind] > 0))
    return [{"rater": name, "counts": counts[name], "rates": rates[name]} for name in names]


def _in_pixels(dataset: Any, run: AnyRun | None) -> Any:
    if run is None or not run.settings["boundaries"]:
        return None

    def made() -> Any:
        return paired_of(dataset, kf.unit_boundaries_of(dataset, run.key), "average", low_is_worse=False)

    return kept(dataset, run, "boundaries in pixels", made)


def _divided(dataset: Any, key: str) -> Row:
    """Return the raters who annotate one object where others annotate several, and their findings, over all images."""
    found = narrowed_variations(dataset, key).found
    merged_by, split_by = found.merged_by(), found.split_by()
    return {
        "title": divided_title(merged_by, split_by),
        "merged_by": [row for row in most_first(merged_by) if row["value"]],
        "split_by": [row for row in most_first(split_by) if row["value"]],
        "rows": views.merged_findings(dataset, key, MOST_ROWS),
    }


def _attributes(dataset: Any, run: AnyRun | None) -> list[Row]:
    """Return the attributes that agreement compared, lowest agreement first, with the images that differ on each."""
    if run is None or not run.settings["attributes"]:
        return []

    def made() -> list[Row]:
        found = least_agreed_first(kf.load_details(dataset, run.key).details.attributes)
        return [{**_attribute(of), "rows": kf.attribute_rows(dataset, run.key, of.name, MOST_IMAGES)} for of in found]

    return kept(dataset, run, "attributes", made)


def _attribute(found: GradeAgreement) -> Row:
    return row_of(found, "name", "metric", "value", "interval", "reason", title="headline", units="items")
