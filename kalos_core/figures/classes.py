"""Plots of class difficulty: agreement on the objects of each class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kalos_core.diagnostics import ClassDifficulty
from kalos_core.diagnostics.classes import LEAST_IMAGES, hardest_first
from kalos_core.display import Numbers, alpha_text
from kalos_core.figures.bars import value_bars, with_counts
from kalos_core.figures.common import NEUTRAL, PALE, as_numbers
from kalos_core.figures.late import go
from kalos_core.options import checked
from kalos_core.text import MOST_LETTERS, names_shown

MOST_CLASSES = 40
"""Maximum number of bars in a figure; omitted classes are reported."""


def hardest_classes(
    alpha: Numbers, images: Sequence[int] | NDArray[np.intp], limit: int = MOST_CLASSES
) -> NDArray[np.intp]:
    """Return indices of the classes to show, lowest alpha first.

    Only classes on at least `LEAST_IMAGES` images are used, unless there are none.

    Parameters
    ----------
    alpha : (K,) None or NaN where undefined; such classes are never shown
    images : (K,) number of images with a defined alpha of the class

    Examples
    --------
    >>> hardest_classes([0.9, 0.1, 0.5, None], [20, 2, 30, 0]).tolist()
    [2, 0]
    """
    values, counts = as_numbers(alpha), np.asarray(images)
    order = hardest_first(values, counts)
    if not len(order):
        order = np.argsort(values, kind="stable")[: np.isfinite(values).sum()]
    return order[:limit]


def class_difficulty_title(categories: Sequence[str], alpha: Numbers, images: Sequence[int]) -> str:
    """Summarise class difficulty in one line.

    Examples
    --------
    >>> class_difficulty_title(["car", "van", "bus"], [0.9, 0.31, None], [20, 12, 0])
    'Raters agree least about van (0.31), best about car (0.90)'
    """
    categories = names_shown(categories, MOST_LETTERS)
    values, order = as_numbers(alpha), hardest_classes(alpha, images, len(categories))
    if not len(order):
        return "No class has an alpha"
    hardest, easiest = order[0], order[-1]
    least = f"{categories[hardest]} ({alpha_text(values[hardest])})"
    if len(order) == 1:
        return f"Agreement about {least}"
    return f"Raters agree least about {least}, best about {categories[easiest]} ({alpha_text(values[easiest])})"


def left_out(alpha: Numbers, images: Sequence[int], limit: int = MOST_CLASSES) -> str:
    """List which classes are not shown, and why; "" if all are.

    Examples
    --------
    >>> left_out([0.9, 0.1, 0.5, None], [20, 2, 30, 0], limit=1)
    'Not shown: 1 that the raters agree about better, 1 on fewer than 10 images, 1 without an alpha.'
    """
    values = as_numbers(alpha)
    defined = np.isfinite(values)
    usable, shown = len(hardest_classes(alpha, images, len(values))), len(hardest_classes(alpha, images, limit))
    parts = [
        (usable - shown, "that the raters agree about better"),
        (int(defined.sum()) - usable, f"on fewer than {LEAST_IMAGES} images"),
        (len(values) - int(defined.sum()), "without an alpha"),
    ]
    text = ", ".join(f"{count:,} {why}" for count, why in parts if count)
    return f"Not shown: {text}." if text else ""


@checked
def plot_class_difficulty(result: ClassDifficulty, selected: str | None = None) -> go.Figure:
    """Plot mean alpha of each class, hardest first, with interval and number of images; highlight a selected one."""
    order = hardest_classes(result.alpha, result.images)
    names, values, counts = result.category[order].tolist(), result.alpha[order], result.images[order].tolist()
    return value_bars(
        names,
        values,
        result.alpha_interval[order],
        axis="mean alpha of the class",
        name="alpha",
        title=class_difficulty_title(result.category.tolist(), result.alpha, result.images.tolist()),
        what="alpha ",
        digits=3,
        after=with_counts(counts, "image"),
        texts=[f"{alpha_text(value)} ({count:,})" for value, count in zip(values.tolist(), counts, strict=True)],
        colours=[NEUTRAL if name == selected else PALE for name in names],
        click="click to see them",
    )
