"""Classes: which the raters agree on least, and which they take for one another."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kalos_core.diagnostics.classes import LEAST_IMAGES
from kalos_core.display import count_text
from kalos_core.errors import Undefined
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_class
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion
from kalos_core.figures.captions import CAPTIONS, Caption
from kalos_core.figures.classes import class_difficulty_title
from kalos_core.text import plain
from kalos_core.variation import Confusions

from .base import Asked, DataSection, Led, click
from .ranked import RankedClass, ranked_classes

MOST_CLASSES = 7
"""Rows of the matrix: the classes that are most often confused."""

MOST_ROWS = 25
"""Rows of the table of two classes."""

TOO_FEW = f"Fewer than two classes are on at least {LEAST_IMAGES} images: none is called the hardest"


@dataclass(frozen=True)
class Confusion:
    """Two classes given to the same objects: in how many findings, and which raters gave the one and the other."""

    first: str
    second: str
    count: int
    first_by: tuple[tuple[str, int], ...]
    second_by: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Confused:
    """`counts` (C, C) are findings of every two of the classes of the matrix, None where there are none."""

    title: str
    classes: tuple[str, ...]
    counts: Any
    rows: tuple[Confusion, ...]


@dataclass(frozen=True)
class Classes:
    """`confused` is None where no differences were searched for."""

    title: str
    caption: Caption
    classes: tuple[RankedClass, ...]
    undefined: int
    confused: Confused | None


class ClassesSection(DataSection):
    NAME, KIND = "Classes", "agreement"
    FOLLOWS = ("rater", "tag", "view")
    NOTHING_YET = (
        "Which classes are hard?",
        "Analyse says how far the raters agree about the objects of each class, and which classes they confuse.",
    )

    def send(self, asked: Asked) -> Classes:
        difficulty = narrowed_metrics(asked.dataset, asked.run("agreement").key, asked.lens).class_difficulty
        rows = ranked_classes(difficulty)
        if isinstance(difficulty, Undefined):
            return Classes(difficulty.reason, CAPTIONS["classes"], rows, 0, _confused(asked))
        title = class_difficulty_title(difficulty.category.tolist(), difficulty.alpha, difficulty.images.tolist())
        if sum(row.is_ranked for row in rows) < 2:
            title = TOO_FEW
        return Classes(title, CAPTIONS["classes"], rows, len(difficulty.category) - len(rows), _confused(asked))

    @click
    def category(self, asked: Asked) -> Led:
        name = asked.given["name"]
        view = view_of_class(asked.dataset, asked.run("agreement").key, name)
        about = f"worst first by α of {plain(name)} (on an image stands α of all labels)"
        return Led(view, f"images with {plain(name)}, {about}")

    @click
    def confusion(self, asked: Asked) -> Led:
        first, second = asked.given["classes"]
        view = view_of_confusion(asked.dataset, asked.run("variations").key, first, second)
        return Led(view, f"images where {plain(first)} and {plain(second)} were taken for one another")

    @click
    def find(self, asked: Asked) -> Led:
        """The form that names differences, confusions among them."""
        return Led(operator="find_variations")


def _confused(asked: Asked) -> Confused | None:
    run = asked.analysis.run("variations")
    if run is None:
        return None
    part = narrowed_variations(asked.dataset, run.key, asked.lens)
    found, raters = part.confusions, part.found.annotations.raters
    classes = _most_confused(found)
    rows = [_confusion(found, raters, row) for row in range(min(MOST_ROWS, len(found.count)))]
    return Confused(_title(found), classes, _matrix(found, classes), tuple(rows))


def _most_confused(found: Confusions) -> tuple[str, ...]:
    """The classes of the matrix, the most often confused first."""
    totals: dict[str, int] = {}
    for names in (found.category_a, found.category_b):
        for name, count in zip(names.tolist(), found.count.tolist(), strict=True):
            totals[name] = totals.get(name, 0) + count
    return tuple(sorted(totals, key=lambda name: -totals[name])[:MOST_CLASSES])


def _matrix(found: Confusions, classes: tuple[str, ...]) -> Any:
    place = {name: number for number, name in enumerate(classes)}
    counts = np.full((len(classes), len(classes)), np.nan)
    for first, second, count in zip(found.category_a, found.category_b, found.count, strict=True):
        if first in place and second in place:
            counts[place[first], place[second]] = counts[place[second], place[first]] = count
    return counts


def _confusion(found: Confusions, raters: Any, row: int) -> Confusion:
    by = [
        tuple((str(raters[at]), int(counts[at])) for at in np.argsort(-counts, kind="stable") if counts[at])
        for counts in found.by_rater[row]
    ]
    return Confusion(str(found.category_a[row]), str(found.category_b[row]), int(found.count[row]), *by)


def _title(found: Confusions) -> str:
    if not len(found.count):
        return "No class was taken for another"
    total = int(found.count.sum())
    return (
        f"{count_text(total)} finding{'s' * (total > 1)} of two classes for one object, most often "
        f"{plain(found.category_a[0])} and {plain(found.category_b[0])} ({count_text(int(found.count[0]))})"
    )
