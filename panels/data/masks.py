"""Masks: agreement about pixels, outlying raters, and the images on which raters differ."""

from collections.abc import Callable
from typing import Any, ClassVar

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.raters import MASKS
from kalos_core.fiftyone.kinds.pixels.figures import over_what
from kalos_core.fiftyone.kinds.pixels.kind import pixel_classes
from kalos_core.fiftyone.kinds.pixels.views import pixel_images, view_of_mask_rater
from kalos_core.figures.captions import CAPTIONS
from kalos_core.text import unshown

from .base import Asked, open_form, open_sample, show
from .figure import figure_in
from .paged import Page, PagedSection, choice
from .paired import paired_of
from .rows import Row, rows_of

MOST_ROWS = 25

SHARES = ("sensitivity", "ppv", "kappa", "specificity", "npv")
"""Measures of a rater against a consensus of pixels."""


def shares_of(performance: Any) -> list[Row]:
    """Return the measures of each rater by name, from a `RaterPerformance`."""
    return rows_of(**{name: getattr(performance, name) for name in SHARES})


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


def boundaries(asked: Asked) -> Row | None:
    return _paired(asked, "boundaries", kf.boundaries_of, "average", "distances", low_is_worse=False)


def divisions(asked: Asked) -> Row | None:
    return _paired(asked, "divisions", kf.divisions_of, "adjusted_rand", "divisions", low_is_worse=True)


class MasksSection(PagedSection):
    NAME, KIND, FAMILY = "Masks", "pixels", MASKS
    NOTHING_YET = (
        "How much do raters agree about pixels?",
        "Nothing is computed yet. Raters who annotate pixels of the same image differ at edges and on whole objects. "
        "This section shows how much they differ, which raters are outliers, and where they differ: each image gets a "
        "map of the number of raters who annotated each pixel.",
    )
    PAGES: ClassVar = {
        "Raters": Page("pixels", raters),
        "Images": Page("pixels", images),
        "Boundaries": Page("pixels", boundaries),
        "Divisions": Page("pixels", divisions),
    }

    again, open = open_form, open_sample
    rater = show(view_of_mask_rater, "images assigned to {name}, lowest agreement first", rater="name")

    furthest = show(kf.view_of_boundaries, "images, largest boundary distances first")
    least_alike = show(kf.view_of_divisions, "images, least similar divisions first")


def _paired(
    asked: Asked, setting: str, load: Callable[..., Any], measure: str, caption: str, *, low_is_worse: bool
) -> Row | None:
    """Return a run's comparison of each pair of raters and its worst images by a measure; None without the setting."""
    run = asked.run("pixels")
    if not run.settings.get(setting):
        return None
    paired = paired_of(asked.dataset, load(asked.dataset, run.key), measure, low_is_worse=low_is_worse)
    return {**paired, "caption": CAPTIONS[caption]}


def _raters(found: Any) -> list[Row]:
    """Return each rater against the consensus; `apart`: the difference from the others, 1 − F1."""
    shares = shares_of(found.performance)
    return rows_of(name=found.raters, stands_out=found.outliers, apart=found.mean_difference, shares=shares)


def _of_class(asked: Asked) -> tuple[Any, Row]:
    """Return the run, the selected class, and all classes."""
    run = asked.details("pixels")
    classes = list(pixel_classes(run.details))
    return run, {"category": choice(asked, "category", classes), "categories": classes}
