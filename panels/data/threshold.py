"""Threshold: from which similarity on two annotations may be the same object, and what depends on it."""

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning
from kalos_core.calibration import Separation
from kalos_core.display import VARIATION_LABELS, alpha_text, number_of
from kalos_core.errors import Undefined
from kalos_core.fiftyone.analyses.summaries import threshold_advice
from kalos_core.fiftyone.kinds.agreement.views import view_of_threshold
from kalos_core.fiftyone.kinds.calibration.kind import default_threshold
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.published import PUBLISHED_CALIBRATIONS
from kalos_core.variation import VARIATION_TYPES

from ..parts.events import Context
from .base import Asked, Led, click, is_there
from .figure import Figure, figure_of
from .paged import Page, PagedSection, Value, choice


@dataclass(frozen=True)
class Calibrated:
    """What a calibration says of a similarity, or of one with annotations of a size; `doubt`: why it is not trusted."""

    name: str
    ks: Value
    tau: Value
    threshold: Value
    doubt: str = ""
    is_default: bool = False


@dataclass(frozen=True)
class Calibration:
    """`advice` is about the threshold in use; `again`: what a form for a new analysis is filled in with."""

    similarity: str
    said: str
    advice: str
    over: str
    similarities: tuple[Calibrated, ...]
    sizes: tuple[Calibrated, ...]
    figure: Figure
    again: dict[str, Any]


@dataclass(frozen=True)
class Level:
    threshold: float
    alpha: Value
    images: int


@dataclass(frozen=True)
class Sensitivity:
    figure: Figure | None
    title: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Count:
    """Findings of a type at the threshold in use and at another one."""

    type: str
    own: int
    own_share: float
    chosen: int
    chosen_share: float
    change: int


@dataclass(frozen=True)
class Types:
    figure: Figure | None
    title: str
    levels: tuple[float, ...] = ()
    own: float = 0
    level: float = 0
    counts: tuple[Count, ...] = ()


@dataclass(frozen=True)
class Printed:
    dataset: str
    name: str
    ks: Value
    tau: Value
    threshold: float
    source: str


def calibration(asked: Asked) -> Calibration:
    """The similarity in use, until another one is chosen."""
    dataset, run = asked.dataset, kf.load_details(asked.dataset, asked.run("calibration").key)
    used = _in_use(asked.analysis)
    similarity = choice(asked, "similarity", run.details.names, used and used[0])
    found = run.details[similarity]
    part = replace(kf.figures_of(run)[similarity], title="")  # it is said
    metrics, settings = run.metrics, run.settings
    return Calibration(
        similarity=similarity,
        said=_in_words(found, used),
        advice=threshold_advice(dataset, asked.analysis.key).text if used and used[0] in run.details.names else "",
        over=f"Over {number_of(metrics['images'], 'image')}, {number_of(metrics['annotations'], 'annotation')}, "
        f"{number_of(len(metrics['raters']), 'rater')}; {number_of(settings['repeats'], 'draw of chance')}, "
        f"seed {settings['seed']}.",
        similarities=tuple(_calibrated(one, one.name, default_threshold(dataset, one.name)) for one in run.details),
        sizes=tuple(_calibrated(one, size) for size, one in found.strata.items()),
        figure=figure_of(part, CAPTIONS["calibration"]),
        again={"similarity": similarity, "threshold": round(found.threshold, 3), "view_target": "DATASET"},
    )


def sensitivity(asked: Asked) -> Sensitivity:
    run = kf.load_details(asked.dataset, asked.run("agreement").key)
    found, part = run.details.sensitivity, kf.figures_of(run)["sensitivity"]
    if isinstance(found, Undefined):
        return Sensitivity(None, part.title, ())
    rows = zip(found.threshold, found.alpha, found.alpha_interval, found.images, strict=True)
    levels = tuple(Level(threshold, Value.of(alpha, ends), int(images)) for threshold, alpha, ends, images in rows)
    return Sensitivity(figure_of(part, CAPTIONS["sensitivity"]), part.title, levels)


def types(asked: Asked) -> Types:
    """The shares, and the counts at the threshold that is chosen: at first the run's own."""
    run = kf.load_details(asked.dataset, asked.run("variations").key)
    shares, own = run.details.shares, run.settings["threshold"]
    if isinstance(shares, Undefined):
        return Types(None, kf.figures_of(run)["shares"].title)
    levels = tuple(shares.threshold.tolist())
    level = choice(asked, "level", levels, own)
    counts = dict(zip(levels, shares.counts.tolist(), strict=True))
    part = kf.figures_of(run, threshold=level)["shares"]
    rows = tuple(_count(*row, counts[own], counts[level]) for row in enumerate(VARIATION_TYPES))
    return Types(figure_of(part, CAPTIONS["shares"]), part.title, levels, own, level, rows)


def published(asked: Asked) -> tuple[Printed, ...]:
    """Published calibrations, those of the similarity in use first."""
    used = _in_use(asked.analysis)
    return tuple(
        Printed(
            dataset=one.dataset,
            name=one.similarity,
            ks=Value.of(one.ks, one.ks_interval),
            tau=Value.of(one.tau, one.tau_interval),
            threshold=one.threshold,
            source=f"{one.source} {one.note}".rstrip(),
        )
        for one in sorted(PUBLISHED_CALIBRATIONS, key=lambda one: used is None or one.similarity != used[0])
    )


class ThresholdSection(PagedSection):
    NAME = "Threshold"
    NOTHING_YET = (
        "From which similarity on are two annotations the same object?",
        "Nothing is computed yet. Calibration compares each annotation with the nearest one of another rater of its "
        "image, and with that of a rater of another image, which is chance. Where chance becomes the likelier "
        "explanation is the threshold.",
    )
    PAGES: ClassVar = {
        "Calibration": Page("calibration", calibration),
        "Sensitivity": Page("agreement", sensitivity),
        "Types": Page("variations", types),
        "Published": Page("", published),
    }

    def is_shown(self, ctx: Context, analysis: Analysis | None) -> bool:
        return is_there(ctx, "calibration", self.FAMILY, analysis)

    @click
    def again(self, asked: Asked) -> Led:
        return Led(operator="analyse", given=asked.given)

    @click
    def use(self, asked: Asked) -> Led:
        """Make its threshold the default of later forms."""
        similarity = asked.given["similarity"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # it was said
            run = kf.choose_threshold(asked.dataset, asked.run("calibration").key, similarity)
        threshold = run.metrics["chosen"][similarity]["threshold"]
        return Led(said=f"Later forms offer {alpha_text(threshold)} for {similarity}")

    @click
    def alpha(self, asked: Asked) -> Led:
        threshold = asked.given["threshold"]
        view = view_of_threshold(asked.dataset, asked.run("agreement").key, threshold)
        return Led(view, f"images, the lowest alpha at threshold {alpha_text(threshold)} first")


def _in_use(analysis: Analysis) -> tuple[str, float] | None:
    """The similarity and the threshold of the agreement."""
    lead = analysis.run("agreement")
    return None if lead is None else (lead.settings["similarity"], lead.settings["threshold"])


def _in_words(found: Separation, used: tuple[str, float] | None) -> str:
    """What a calibration says of a similarity, and what is in use."""
    if found.reason:
        text = f"No threshold for {found.name}: {found.reason}"
    elif found.why:
        text = f"Threshold {alpha_text(found.threshold)} for {found.name} is not to be trusted: {found.why}"
    else:
        above = f"From {found.name} {alpha_text(found.threshold)} on"
        text = f"{above}, two annotations are more likely the same object than chance"
    if used is None:
        return text
    similarity, threshold = used
    return f"{text}; in use: {'' if similarity == found.name else f'{similarity} '}{alpha_text(threshold)}"


def _calibrated(found: Separation, name: str, default: float | None = None) -> Calibrated:
    return Calibrated(
        name=name,
        ks=Value.of(found.ks, found.ks_interval),
        tau=Value.of(found.tau, found.tau_interval),
        threshold=Value.of(found.threshold, found.threshold_interval, found.reason),
        doubt="" if found.reason or found.trusted else found.why,
        is_default=default is not None and default == found.threshold,
    )


def _count(place: int, name: str, own: list[int], chosen: list[int]) -> Count:
    return Count(
        type=VARIATION_LABELS[name],
        own=own[place],
        own_share=own[place] / max(sum(own), 1),
        chosen=chosen[place],
        chosen_share=chosen[place] / max(sum(chosen), 1),
        change=chosen[place] - own[place],
    )
