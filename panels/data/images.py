"""Images: how alpha is distributed over them, and those that the raters agree on least."""

from dataclasses import dataclass

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import ImageRow, view_of_alpha, view_worst_first
from kalos_core.figures.agreement import alpha_bins
from kalos_core.figures.captions import CAPTIONS, Caption
from kalos_core.text import plain

from .base import Asked, DataSection, Led, click

WORST = 12


@dataclass(frozen=True)
class Images:
    """`why` there is no interval; `middles` are the mean, the median and the alpha of all units in one matrix."""

    alpha: float | None
    interval: tuple[float | None, float | None]
    why: str
    images: int
    units: int
    undefined: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    middles: tuple[tuple[str, float | None], ...]
    caption: Caption
    worst: tuple[ImageRow, ...]


class ImagesSection(DataSection):
    NAME, KIND = "Images", "agreement"
    FOLLOWS = ("category", "rater", "tag", "view")
    NOTHING_YET = (
        "On which images do the raters disagree?",
        "Analyse finds which labels of different raters mean the same object; alpha says how far they agree on each "
        "image, corrected for chance.",
    )

    def send(self, asked: Asked) -> Images:
        run = asked.run("agreement")
        found = narrowed_metrics(asked.dataset, run.key, asked.lens)
        low, high = found.alpha_interval
        edges, counts = alpha_bins(found.image_alpha)
        defined = found.image_alpha[np.isfinite(found.image_alpha)]
        median = float(np.median(defined)) if len(defined) else None
        return Images(
            alpha=found.alpha,
            interval=(low, high),
            why=found.why_no_interval,
            images=found.images,
            units=found.units,
            undefined=len(found.image_alpha) - found.images,
            edges=tuple(edges.tolist()),
            counts=tuple(counts.tolist()),
            middles=(("mean", found.alpha), ("median", median), ("all objects at once", found.global_alpha)),
            caption=CAPTIONS["histogram"],
            worst=tuple(kf.worst_images(asked.dataset, run.key, WORST, lens=asked.lens)),
        )

    @click
    def alpha(self, asked: Asked) -> Led:
        low, high, lens = asked.given["low"], asked.given["high"], asked.lens
        run = asked.run("agreement")
        view = view_of_alpha(asked.dataset, run.key, low, high, category=lens.category, rater=lens.rater)
        return Led(view, f"images with α from {low:.1f} to {high:.1f}")

    @click
    def worst(self, asked: Asked) -> Led:
        lens = asked.lens
        view = view_worst_first(asked.dataset, asked.run("agreement").key, category=lens.category, rater=lens.rater)
        return Led(view, f"images, {_order(lens.category, lens.rater)}")

    @click
    def open(self, asked: Asked) -> Led:
        return Led(sample=asked.given["sample"])


def _order(*of: str | None) -> str:
    """By which alpha images are sorted: that of a class or a rater, where they show that of all their labels."""
    names = " and ".join(plain(name) for name in of if name is not None)
    return f"worst first by α of {names} (on an image stands α of all labels)" if names else "the lowest α first"
