"""Truth: what most raters, or methods, take for true, and each rater against it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import kalos_core.fiftyone as kf
from kalos_core.display import TRUTH_LABELS, count_text, number_of, significant
from kalos_core.fiftyone.dataset.raters import MASKS
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.labels import least_first
from kalos_core.text import plain, unshown

from .again import form_of_truth
from .base import Asked, Led, click
from .figure import Matrix, matrix_of
from .masks import SHARES
from .paged import Page, PagedSection, Value, choice

MOST_NOTES = 10

FEW_RATERS = 4
"""Raters of objects below which they cannot be told apart."""

ALL_RATERS = ""
"""In a menu of raters."""


@dataclass(frozen=True)
class Consensus:
    """A way to estimate the truth. Of pixels: how many are true, images without any, and the raters' kappa to it."""

    name: str
    said: str
    pixels: int | None = None
    empty: int | None = None
    images: int | None = None
    least_kappa: float | None = None
    most_kappa: float | None = None
    objects: int | None = None
    below: int | None = None
    tied: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class Against:
    """A rater against the consensus that is chosen; `kept`: the share of images in which a method keeps them."""

    rater: str
    shares: dict[str, float]


@dataclass(frozen=True)
class Skill:
    rater: str
    skill: Value


@dataclass(frozen=True)
class Estimate:
    """Who is right about objects, of the consensus that is chosen."""

    title: str
    text: str
    warnings: tuple[str, ...]
    skills: tuple[Skill, ...]
    rater: str
    raters: tuple[str, ...]
    confusion: Matrix


@dataclass(frozen=True)
class Truth:
    title: str
    over: str
    of_pixels: bool
    consensus: str
    consensuses: tuple[Consensus, ...]
    against: str
    note: str
    raters: tuple[Against, ...]
    estimate: Estimate | None
    notes: tuple[str, ...]


def truth(asked: Asked) -> Truth:
    run = kf.load_details(asked.dataset, asked.run("truth").key)
    metrics, truths = run.metrics, run.details.truths
    consensus = choice(asked, "consensus", list(truths))
    rater = choice(asked, "rater", [ALL_RATERS, *(metrics["raters"] or ())])
    parts, found = kf.figures_of(run, consensus=consensus, rater=rater or None), truths[consensus]
    raters = number_of(len(metrics["raters"]), "rater") if metrics["raters"] else "unnamed raters"
    fields = ", ".join([*metrics["fields"].values(), *metrics["maps"].values()])
    of_pixels = metrics["of"] == "pixels"
    return Truth(
        title=consensus_title(metrics, truths),
        over=f"{number_of(metrics['images'], 'image')}, {raters}. Fields: {fields}",
        of_pixels=of_pixels,
        consensus=consensus,
        consensuses=tuple((_of_pixels if of_pixels else _of_objects)(*of) for of in truths.items()),
        against=unshown(parts["against"].title),
        note=unshown(parts["against"].note),
        raters=tuple(_against(metrics, found)),
        estimate=_estimate(run, found, parts, rater),
        notes=_notes(run.details.notes),
    )


class TruthSection(PagedSection):
    NAME, KIND, FAMILY = "Truth", "truth", MASKS
    NOTHING_YET = (
        "What is true?",
        "Nothing is estimated yet. The ground truth can be estimated from several raters in many ways: by vote, or by "
        "weighing raters as STAPLE does. Each consensus becomes a field next to the raters', which are compared with "
        "it.",
    )

    PAGES: ClassVar = {"Truth": Page("truth", truth)}

    @click
    def again(self, asked: Asked) -> Led:
        return Led(operator=kf.KINDS[self.KIND].operator)

    @click
    def estimate(self, asked: Asked) -> Led:
        """The form that made the run, with who is right asked for, too."""
        run = kf.load_metrics(asked.dataset, asked.run(self.KIND).key)
        return Led(operator=kf.KINDS[self.KIND].operator, given=form_of_truth(asked.dataset, run) | {"estimate": True})

    @click
    def least_sure(self, asked: Asked) -> Led:
        view = kf.view_least_sure_first(asked.dataset, asked.run(self.KIND).key)
        return Led(view, "images, the least sure first")

    @click
    def rater(self, asked: Asked) -> Led:
        """What a rater annotated otherwise, or missed."""
        name, consensus = asked.given["name"], asked.given["consensus"]
        view = kf.view_of_objections(asked.dataset, asked.run(self.KIND).key, name, consensus)
        return Led(view, f"images with what {plain(name)} annotated otherwise than {consensus}, or missed")


def consensus_title(metrics: Any, truths: Mapping[str, Any]) -> str:
    """How much is true, and how far that depends on the way to estimate it."""
    if metrics["of"] == "objects":
        name, found = next(iter(truths.items()))
        of = f"of {number_of(sum(found.counts.values()), 'thing')} that anybody annotated"
        return f"{number_of(found.counts['kept'], f'{of} is an object', f'{of} are objects')} at {name}"
    pixels = {name: found.pixels for name, found in truths.items()}
    least, most = min(pixels, key=lambda name: pixels[name]), max(pixels, key=lambda name: pixels[name])
    if len(pixels) < 2 or not pixels[least]:
        return f"{number_of(pixels[most], 'pixel is', 'pixels are')} true by {most}"
    times = significant(pixels[most] / pixels[least], 2)
    if times == significant(1, 2):
        range_of = f"{count_text(pixels[least])} to {count_text(pixels[most])}"
        return f"However the truth is estimated, about as many pixels are true ({range_of})"
    return f"How the truth is estimated matters: {most} marks {times} times as many pixels as {least}"


def _of_pixels(name: str, found: Any) -> Consensus:
    known = [value for value in found.performance.kappa.tolist() if value == value]
    return Consensus(
        name,
        TRUTH_LABELS.get(name, ""),
        pixels=found.pixels,
        empty=found.empty,
        images=found.images,
        least_kappa=min(known, default=None),
        most_kappa=max(known, default=None),
    )


def _of_objects(name: str, found: Any) -> Consensus:
    kept, below, tied = (found.counts[outcome] for outcome in ("kept", "below quorum", "tied class"))
    return Consensus(name, "", objects=kept, below=below, tied=tied, score=found.score)


def _against(metrics: Any, found: Any) -> Iterator[Against]:
    """Each rater; nobody where raters have no names over the images."""
    if metrics["of"] == "pixels":
        columns = {name: getattr(found.performance, name) for name in SHARES} | {"kept": found.kept_share}
    else:
        columns = {"sensitivity": found.sensitivity, "ppv": found.ppv}
    for row, name in enumerate(metrics["raters"] or ()):
        yield Against(name, {key: column[row] for key, column in columns.items()})


def _estimate(run: Any, found: Any, parts: Mapping[str, Any], rater: str) -> Estimate | None:
    estimate = getattr(found, "estimate", None)
    if estimate is None:
        return None
    names = tuple(map(str, estimate.raters))
    text = (
        "Who is right is estimated: the confidence of a label is the probability that it is an object of its class, "
        f"{run.names.existence} that of any. {number_of(found.overruled, 'is', 'are')} decided otherwise than most of "
        "their raters say."
    )
    rows = least_first(estimate.skill).tolist()
    return Estimate(
        title=unshown(parts["skill"].title),
        text=text,
        warnings=tuple(_doubts(estimate)),
        skills=tuple(Skill(names[row], Value.of(estimate.skill[row], estimate.skill_interval[row])) for row in rows),
        rater=rater,
        raters=names,
        confusion=matrix_of(parts["confusion"], CAPTIONS["confusion"], estimate.classes),
    )


def _doubts(estimate: Any) -> Iterator[str]:
    """What speaks against an estimate."""
    if len(estimate.raters) < FEW_RATERS:
        yield f"Fewer than {FEW_RATERS} raters can hardly be told apart: votes are right more often."
    if estimate.overturned:
        have = number_of(estimate.overturned, "has", "have")
        yield (
            f"Do not use it: {have} another class than all their raters gave, or none: classes were probably taken "
            "for one another."
        )
    if not estimate.converged:
        yield "Not settled: the estimation was ended before its numbers stood still."


def _notes(found: Any) -> tuple[str, ...]:
    """Notes on single images, the first of them."""
    more = [f"and {count_text(len(found) - MOST_NOTES)} more"] * (len(found) > MOST_NOTES)
    return (*map(str, found[:MOST_NOTES]), *more)
