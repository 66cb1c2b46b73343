"""Masks: how far raters agree about pixels, who stands out, and on which images."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.raters import MASKS
from kalos_core.fiftyone.kinds.pixels.figures import over_what
from kalos_core.fiftyone.kinds.pixels.kind import pixel_classes
from kalos_core.fiftyone.kinds.pixels.views import pixel_images, view_of_mask_rater
from kalos_core.figures.captions import CAPTIONS
from kalos_core.text import unshown

from .base import Asked, Led, click, open_form, open_sample, show
from .figure import figure_in
from .paged import Page, PagedSection, choice
from .paired import paired_of
from .rows import Row, rows_of, value_of

MOST_ROWS = 25

SHARES = ("sensitivity", "ppv", "kappa", "specificity", "npv")
"""What is known of a rater against a consensus of pixels."""

NO_INTERVAL = float("nan")


def shares_of(performance: Any) -> list[Row]:
    """Of each rater the shares by name, of a `RaterPerformance`."""
    return rows_of(**{name: getattr(performance, name) for name in SHARES})


@dataclass(frozen=True)
class Compared:
    """A way to compare every two raters: `measures`, by the first of which images are sorted.

    `name` is the setting that asks a run for it; `missing` is said of a run without it.
    """

    name: str
    load: Any
    view: Any
    measures: tuple[str, ...]
    low_is_worse: bool
    worst: str
    missing: str
    caption: str

    def send(self, asked: Asked) -> Row:
        run = asked.run("pixels")
        if not run.settings.get(self.name):
            return {"name": self.name, "reading": self.missing}
        found = self.load(asked.dataset, run.key)
        paired = paired_of(asked.dataset, found, self.measures[0], low_is_worse=self.low_is_worse)
        return {
            "name": self.name,
            "title": unshown(paired["title"]),
            "over": unshown(paired["over"]),
            "reading": CAPTIONS[self.caption].read,
            "formula": CAPTIONS[self.caption].formula,
            "worst": self.worst,
            "classes": [self._row(row, "class") for row in paired["classes"]],
            "pairs": [self._row(row, "rater_a", "rater_b") for row in paired["pairs"]],
            "images": [self._row(row, "file") for row in paired["images"]],
        }

    def _row(self, row: Mapping[str, Any], *names: str) -> Row:
        ends = {name: [row.get(f"{name}_{end}", NO_INTERVAL) for end in ("low", "high")] for name in self.measures}
        values = {name: value_of(row[name], ends[name]) for name in self.measures}
        return {"names": [str(row[name]) for name in names], "values": values, "sample": row.get("image")}


COMPARED = {
    "Boundaries": Compared(
        name="boundaries",
        load=kf.boundaries_of,
        view=kf.view_of_boundaries,
        measures=("average", "hausdorff95", "surface_dice"),
        low_is_worse=False,
        worst="boundaries furthest apart",
        missing="How far the outlines of every two raters are apart, in pixels, by pair of raters, class and image: a "
        "new run with Compare boundaries switched on has it.",
        caption="distances",
    ),
    "Divisions": Compared(
        name="divisions",
        load=kf.divisions_of,
        view=kf.view_of_divisions,
        measures=("adjusted_rand", "variation_of_information", "covering"),
        low_is_worse=True,
        worst="divisions least alike",
        missing="How alike every two raters divide images into regions, whatever these are called, by pair of raters "
        "and image: a new run with Compare divisions into regions switched on has it.",
        caption="divisions",
    ),
}
"""Page -> what it shows of every two raters, where the run has the setting of its name."""


def raters(asked: Asked) -> Row:
    run, of_class = _of_class(asked)
    found, parts = pixel_classes(run.details)[of_class["category"]], kf.figures_of(run, category=of_class["category"])
    return {
        **of_class,
        "title": unshown(parts["agreement"].title),
        "over": unshown(over_what(run, of_class["category"])),
        "raters": [] if found.raters_are_local else _raters(found),
        "performance": unshown(parts["performance"].title) if "performance" in parts else "",
        "tree": figure_in(parts, "tree"),
    }


def images(asked: Asked) -> Row:
    run, of_class = _of_class(asked)
    parts = kf.figures_of(run, category=of_class["category"])
    return {
        **of_class,
        "images": pixel_images(asked.dataset, run.key, MOST_ROWS),
        "bound": unshown(parts["agreement"].note),
        "ratio": figure_in(parts, "ratio"),
        "properties": figure_in(parts, "properties"),
    }


class MasksSection(PagedSection):
    NAME, KIND, FAMILY = "Masks", "pixels", MASKS
    NOTHING_YET = (
        "How far do raters agree about pixels?",
        "Nothing is computed yet. Raters who mark pixels of the same image differ at edges and on whole objects. This "
        "shows how far, who stands out, and where: each image has a map of how many raters marked each pixel.",
    )
    PAGES: ClassVar = {
        "Raters": Page("pixels", raters),
        "Images": Page("pixels", images),
        **{page: Page("pixels", compared.send) for page, compared in COMPARED.items()},
    }

    again, open = open_form, open_sample
    rater = show(view_of_mask_rater, "images assigned to {name}, least agreement first", rater="name")

    @click
    def worst(self, asked: Asked) -> Led:
        page = next(page for page in COMPARED.values() if page.name == asked.given["name"])
        return Led(page.view(asked.dataset, asked.run("pixels").key), f"images, {page.worst} first")


def _raters(found: Any) -> list[Row]:
    """Each rater against the consensus; `apart`: how far they differ from the others, 1 − F1."""
    shares = shares_of(found.performance)
    return rows_of(name=found.raters, stands_out=found.outliers, apart=found.mean_difference, shares=shares)


def _of_class(asked: Asked) -> tuple[Any, Row]:
    """The run, the class that is chosen, and all of them."""
    run = asked.details("pixels")
    classes = list(pixel_classes(run.details))
    return run, {"category": choice(asked, "category", classes), "categories": classes}
