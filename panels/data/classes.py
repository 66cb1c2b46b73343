"""Classes: the classes with the lowest agreement, and the classes that raters confuse."""

from typing import Any

import numpy as np

from kalos_core.diagnostics import ClassDifficulty
from kalos_core.diagnostics.classes import LEAST_IMAGES
from kalos_core.errors import Undefined
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_class
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.classes import class_difficulty_title
from kalos_core.figures.variations import confusions_title
from kalos_core.text import plain

from .base import Asked, DataSection, Led, click, prompt, show
from .ranked import ranked_classes
from .rows import Row, rows_of

MOST_CLASSES = 7
"""Maximum number of rows of the matrix, those of the classes that are most often confused."""

MOST_ROWS = 25
"""Maximum number of rows of the table of pairs of classes."""

TOO_FEW = f"Too few images to rank classes: fewer than two classes are on at least {LEAST_IMAGES} images"


class ClassesSection(DataSection):
    NAME, KIND = "Classes", "agreement"
    FOLLOWS = ("rater", "tag", "view")
    NOTHING_YET = (
        "Which classes are hard?",
        "Analyse computes agreement on the objects of each class, and shows which classes raters confuse.",
    )

    def send(self, asked: Asked) -> Row:
        difficulty = narrowed_metrics(asked.dataset, asked.run("agreement").key, asked.filter).class_difficulty
        rows = ranked_classes(difficulty)
        return {
            "title": _title(difficulty, rows),
            "caption": CAPTIONS["classes"],
            "classes": rows,
            "undefined": 0 if isinstance(difficulty, Undefined) else len(difficulty.category) - len(rows),
            "confused": _confused(asked),
        }

    category = show(
        view_of_class,
        "images with {name}, lowest α of {name} first (an image shows the α of all its labels)",
        category="name",
    )
    find = prompt("find_variations")

    @click
    def confusion(self, asked: Asked) -> Led:
        first, second = asked.pair("classes")
        view = asked.view(view_of_confusion, "variations", first, second)
        return Led(view, f"images where raters confused {plain(first)} and {plain(second)}")


def _title(difficulty: ClassDifficulty | Undefined, rows: list[Row]) -> str:
    if isinstance(difficulty, Undefined):
        return difficulty.reason
    if sum(row["is_ranked"] for row in rows) < 2:
        return TOO_FEW
    return class_difficulty_title(difficulty.category.tolist(), difficulty.alpha, difficulty.images.tolist())


def _confused(asked: Asked) -> Row | None:
    """Return the most often confused classes, with the findings of each pair, and the raters behind them."""
    run = asked.analysis.run("variations")
    if run is None:
        return None
    part = narrowed_variations(asked.dataset, run.key, asked.filter)
    found, raters = part.confusions, part.annotations.raters
    classes, counts = found.matrix(MOST_CLASSES)
    first_by, second_by = ([_counted(raters, counts) for counts in found.by_rater[:MOST_ROWS, side]] for side in (0, 1))
    columns = {"first": found.category_a, "second": found.category_b, "count": found.count}
    rows = rows_of(range(len(first_by)), **columns, first_by=first_by, second_by=second_by)
    return {"title": confusions_title(found), "classes": classes, "counts": counts, "rows": rows}


def _counted(raters: Any, counts: Any) -> list[tuple[str, int]]:
    """Return the raters with their counts, largest first."""
    return [(raters[at], counts[at]) for at in np.argsort(-counts, kind="stable") if counts[at]]
