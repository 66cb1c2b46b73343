"""Figures of agreement about pixels."""

from __future__ import annotations

from collections.abc import Iterator

from kalos_core.display import number_of
from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.pixels.kind import PixelRun, pixel_classes
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.pixels import pixel_title, smyth_note
from kalos_core.report import Block, Text, masks
from kalos_core.text import plain, shown

MOST_CLASSES = 6
"""Maximum number of classes with figures in a report."""


def figures(run: PixelRun, category: str | None = None) -> dict[str, Part]:
    """Return the figures of one class: ``agreement``, ``tree``, ``ratio``, ``performance`` and ``properties``.

    ``tree`` and ``performance`` need raters with names across images, and ``properties`` needs images that were read.

    Parameters
    ----------
    run : Run
        A run with its details.
    category : str, optional
        The class; by default the first.
    """
    classes = pixel_classes(run.details)
    found = lookup(classes, next(iter(classes)) if category is None else category, "category")
    note = smyth_note(found.smyth_bound, [*found.smyth_notes, *found.notes])
    parts = {
        "agreement": Part(pixel_title(found.mean_f1, found.rater_count), note=note),
        "ratio": Part.of(found, "ratio"),
    }
    if not found.raters_are_local:
        parts["tree"] = Part.of(found, "tree")
        parts["performance"] = Part.of(found, "performance")
    if found.correlations:
        parts["properties"] = Part.of(found, "correlations")
    return parts


def over_what(run: PixelRun, category: str) -> str:
    """Describe the data behind the agreement about the pixels of a class."""
    classes = pixel_classes(run.details)
    text = f"{number_of(run.metrics['images'], 'image')}, {number_of(run.metrics['pixels'], 'pixel')}"
    text += f", class {shown(category)}" if len(classes) > 1 else ""
    alone = classes[category].alone
    if not alone:
        return f"{text}."
    return f"{text}; {number_of(alone, 'image with one rater is', 'images with one rater are')} not counted."


def drawn(run: PixelRun) -> Iterator[Block]:
    """Return the same figures as blocks of a report, for the first classes."""
    classes = pixel_classes(run.details)
    for name, found in list(classes.items())[:MOST_CLASSES]:
        of_class = f"{plain(name)}: " if len(classes) > 1 else ""
        note = smyth_note(found.smyth_bound, [*found.smyth_notes, *found.notes])
        yield Text(f"{of_class}{pixel_title(found.mean_f1, found.rater_count)}. {note}")
        yield masks.share_of_all(found)
        if not found.raters_are_local:
            yield masks.who_marks_alike(found)
            yield masks.against(found.performance)
        if found.correlations:
            yield masks.with_properties(found)
