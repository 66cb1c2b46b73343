"""Images: distribution of alpha over images, and the images with the lowest agreement."""

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_alpha, view_worst_first
from kalos_core.figures.agreement import alpha_bins
from kalos_core.figures.captions import CAPTIONS
from kalos_core.text import plain

from .base import Asked, DataSection, Led, click, open_sample
from .rows import Row, row_of

WORST = 12


class ImagesSection(DataSection):
    NAME, KIND = "Images", "agreement"
    FOLLOWS = ("category", "rater", "tag", "view")
    NOTHING_YET = (
        "On which images do the raters disagree?",
        "Analyse matches labels of different raters that mean the same object. Alpha then measures agreement on each "
        "image, corrected for chance.",
    )

    def send(self, asked: Asked) -> Row:
        run = asked.run("agreement")
        found = narrowed_metrics(asked.dataset, run.key, asked.filter)
        edges, counts = alpha_bins(found.image_alpha)
        defined = found.image_alpha[np.isfinite(found.image_alpha)]
        median = np.median(defined) if len(defined) else None
        return {
            **row_of(found, "alpha", "images", "units", interval="alpha_interval", why="why_no_interval"),
            "undefined": len(found.image_alpha) - found.images,
            "edges": edges,
            "counts": counts,
            "middles": [("mean", found.alpha), ("median", median), ("all objects at once", found.global_alpha)],
            "caption": CAPTIONS["histogram"],
            "worst": kf.worst_images(asked.dataset, run.key, WORST, filter=asked.filter),
        }

    open = open_sample

    @click
    def alpha(self, asked: Asked) -> Led:
        low, high = asked.value("low", float), asked.value("high", float)
        view = asked.view(view_of_alpha, "agreement", low, high, **asked.part)
        return Led(view, f"images with α from {low:.1f} to {high:.1f}")

    @click
    def worst(self, asked: Asked) -> Led:
        """Show the images sorted by the alpha of the filtered class and rater; they display the alpha of all labels."""
        names = " and ".join(plain(name) for name in asked.part.values() if name is not None)
        order = f"lowest α of {names} first (an image shows the α of all its labels)" if names else "lowest α first"
        return Led(asked.view(view_worst_first, "agreement", **asked.part), f"images, {order}")
