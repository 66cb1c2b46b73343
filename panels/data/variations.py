"""Differences between raters: by type and rater, in outlines, in parts, and in attributes of matched labels."""

from collections.abc import Mapping
from dataclasses import dataclass

import kalos_core.fiftyone as kf
from kalos_core.display import VARIATION_LABELS, count_text, percent_text
from kalos_core.fiftyone.kinds.variations import views
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.figures.captions import CAPTIONS, Caption
from kalos_core.figures.variations import variations_title
from kalos_core.statements import DIFFERENCES, statements
from kalos_core.text import plain
from kalos_core.variation import BoundaryQuality, NarrowedVariations

from .attributes import Attribute, attributes_of
from .base import Asked, DataSection, Led, click
from .overview import TITLES
from .paired import Paired, paired_of
from .ranked import Ranked
from .rates import RATE_TEXTS, led_to_rate

MOST_ROWS = 25
"""Rows of a table."""

ALARMING = 0.05
"""Share of correct findings with the very same outline from which on copies are suspected."""


@dataclass(frozen=True)
class RaterRow:
    """A rater with the counts of their rates and with the rates, as `RaterRates` has them."""

    rater: str
    counts: dict[str, tuple[int, int]]
    rates: dict[str, float]


@dataclass(frozen=True)
class Outlines:
    """How far the outlines of correct findings are apart, in bins, and what a run says of them in pixels."""

    title: str
    caption: Caption
    quality: BoundaryQuality
    in_pixels: Paired | None


@dataclass(frozen=True)
class Divided:
    """Who draws one annotation where another draws several, by the findings of each; of all images and classes."""

    title: str
    merged_by: tuple[Ranked, ...]
    split_by: tuple[Ranked, ...]
    rows: tuple[views.MergedFinding, ...]


@dataclass(frozen=True)
class Differences:
    """`kinds` are differences, the most frequent first: of a rater by types as they see them, else as in *Overview*.

    `alarm` is said where labels may have been copied; `attributes` is None where no agreement was computed.
    """

    title: str
    correct: int
    kinds: tuple[Ranked, ...]
    raters: tuple[RaterRow, ...]
    alarm: str
    outlines: Outlines
    divided: Divided
    attributes: tuple[Attribute, ...] | None


class DifferencesSection(DataSection):
    NAME, TITLE, KIND = "Variations", "Differences", "variations"
    FOLLOWS = ("category", "rater", "tag", "view")
    NOTHING_YET = (
        "How do the raters differ?",
        "Every difference between two raters gets a name, which their labels carry: wrong class, merged, missing or "
        "additional.",
    )

    def send(self, asked: Asked) -> Differences:
        dataset, run, matched = asked.dataset, asked.run("variations"), asked.analysis.run("agreement")
        part = narrowed_variations(dataset, run.key, asked.lens)
        return Differences(
            title=_title(part),
            correct=part.counts["correct"],
            kinds=_kinds(part),
            raters=_rater_rows(part),
            alarm=_alarm(part.identical_share),
            outlines=Outlines(part.boundary.headline, CAPTIONS["boundary"], part.boundary, _in_pixels(asked)),
            divided=kept(dataset, run, "divided", lambda: _divided(asked)),
            attributes=None
            if matched is None
            else kept(dataset, matched, "attributes", lambda: attributes_of(dataset, matched)),
        )

    @click
    def kind(self, asked: Asked) -> Led:
        name, lens = asked.given["name"], asked.lens
        kinds, run = DIFFERENCES.get(name, (name,)), asked.run("variations")
        view = views.view_of_findings(asked.dataset, run.key, kinds, rater=lens.rater, category=lens.category)
        return Led(view, f"images with findings: {VARIATION_LABELS.get(name) or TITLES[name]}")

    @click
    def rate(self, asked: Asked) -> Led:
        return led_to_rate(asked)

    @click
    def copies(self, asked: Asked) -> Led:
        view = views.view_of_copies(asked.dataset, asked.run("variations").key)
        return Led(view, "images with labels of the very same outline")

    @click
    def apart(self, asked: Asked) -> Led:
        low, high = asked.given["low"], asked.given["high"]
        view = views.view_of_boundary(asked.dataset, asked.run("variations").key, low, high)
        return Led(view, f"images with correct labels whose outlines are {low:.3g} to {high:.3g} apart")

    @click
    def furthest(self, asked: Asked) -> Led:
        view = kf.view_of_unit_boundaries(asked.dataset, asked.run("agreement").key)
        return Led(view, "images, outlines furthest apart first")

    @click
    def whole(self, asked: Asked) -> Led:
        """Only a whole and its parts, in the image they are of."""
        given = asked.given
        view = views.view_of_merged(asked.dataset, asked.run("variations").key, given["finding"])
        return Led(view, "images with a whole and its parts", sample=given["sample"])

    @click
    def divided(self, asked: Asked) -> Led:
        view = views.view_of_merged(asked.dataset, asked.run("variations").key)
        return Led(view, "images with annotations that another rater split into parts")

    @click
    def attribute(self, asked: Asked) -> Led:
        name = asked.given["name"]
        view = kf.view_of_attribute(asked.dataset, asked.run("agreement").key, name)
        return Led(view, f"images, those first that differ most on {plain(name)}")

    @click
    def open(self, asked: Asked) -> Led:
        return Led(sample=asked.given["sample"])

    @click
    def agree(self, asked: Asked) -> Led:
        """The form of an agreement that compares boundaries, or attributes."""
        return Led(operator="compute_agreement", given=asked.given)


def _title(part: NarrowedVariations) -> str:
    if part.rater:
        return variations_title(part.by_rater[part.rater])
    return next((said.text for said in statements(found=part)), "No findings: nobody annotated anything")


def _kinds(part: NarrowedVariations) -> tuple[Ranked, ...]:
    if part.rater:
        counts = part.by_rater[part.rater]
        rows = [Ranked(kind, counts[kind], title=VARIATION_LABELS[kind]) for kind in views.DIFFERENCES]
    else:
        counts = part.counts
        rows = [
            Ranked(kind, sum(counts[of] for of in kinds), title=TITLES[kind]) for kind, kinds in DIFFERENCES.items()
        ]
    return tuple(sorted(rows, key=lambda row: -(row.value or 0)))


def _rater_rows(part: NarrowedVariations) -> tuple[RaterRow, ...]:
    """Raters with annotations, those first that differ most often."""
    found = part.rater_rates
    rates, names = found.per_100, [name for name, own in zip(found.counts, part.own, strict=True) if own]
    names.sort(key=lambda name: -sum(rates[name][kind] for kind in RATE_TEXTS if rates[name][kind] > 0))
    return tuple(RaterRow(name, found.counts[name], rates[name]) for name in names)


def _alarm(share: float) -> str:
    if not share >= ALARMING:  # undefined without a correct finding
        return ""
    return f"{percent_text(share)} of the correct pairs are identical: were labels copied?"


def _in_pixels(asked: Asked) -> Paired | None:
    run = asked.analysis.run("agreement")
    if run is None or not run.settings["boundaries"]:
        return None

    def made() -> Paired:
        return paired_of(asked.dataset, kf.unit_boundaries_of(asked.dataset, run.key), "average", low_is_worse=False)

    return kept(asked.dataset, run, "boundaries in pixels", made)


def _divided(asked: Asked) -> Divided:
    key = asked.run("variations").key
    found = narrowed_variations(asked.dataset, key).found
    merged_by, split_by = found.merged_by(), found.split_by()
    rows = views.merged_findings(asked.dataset, key, MOST_ROWS)
    return Divided(_divided_title(merged_by, split_by), _most_first(merged_by), _most_first(split_by), tuple(rows))


def _most_first(counts: Mapping[str, int]) -> tuple[Ranked, ...]:
    order = sorted(counts, key=lambda name: -counts[name])
    return tuple(Ranked(name, counts[name]) for name in order if counts[name])


def _divided_title(merged_by: Mapping[str, int], split_by: Mapping[str, int]) -> str:
    """How many annotations of each rater others split into parts, and how many of others' each rater splits."""
    total = sum(split_by.values())
    if not total:
        return "No annotation was split into parts by another rater"
    (merges, wholes), (splits, parts) = (
        max(counts.items(), key=lambda entry: entry[1]) for counts in (merged_by, split_by)
    )
    return (
        f"{count_text(total)} time{'s' * (total > 1)} several annotations of one rater are one of another's: "
        f"most often {plain(merges)} merges ({count_text(wholes)}), {plain(splits)} splits ({count_text(parts)})"
    )
