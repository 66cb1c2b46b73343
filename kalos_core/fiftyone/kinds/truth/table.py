"""Raters against truths that were estimated image by image, counted over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.consensus import Truth
from kalos_core.fiftyone.kinds.pixels.details import shares_of
from kalos_core.fiftyone.kinds.truth.details import Estimates, PixelTruthRow
from kalos_core.fiftyone.runs.arrays import as_texts, text_array
from kalos_core.fiftyone.runs.changes import part_of
from kalos_core.fiftyone.runs.records import plain
from kalos_core.fiftyone.runs.table import Arrays
from kalos_core.pixels import RaterPerformance
from kalos_core.pixels.sums import divide

NAMES = ("methods", "classes", "raters")
"""Which arrays of a `PixelTruths` are texts."""

PREFIX = "truth/"
"""What the names of its arrays begin with."""

MOST_NOTES = 100
"""Notes on single images that are kept."""


@dataclass(frozen=True, eq=False)
class PixelTruths:
    """Truths of pixels over a data set: M methods, K classes, R raters, I images.

    Parameters
    ----------
    methods, classes, raters : (M,), (K,), (R,) object
        Names.
    confusion : (M, K, R, 2, 2) int64
        Pixels by what a rater says and by what is true: 0 nothing, 1 marked.
    seen : (K, R) int64
        Images with a truth that each rater is assigned to.
    kept : (M, K, R) int64
        Those of them whose estimate rests on the rater.
    sensitivity, specificity : (M, K, R) float64
        Sums over these images of what each estimate says of the rater: STAPLE's own estimates, else counted.
    marked : (M, K, I) int64
        Pixels of the truth; -1 where there is none, as fewer than two raters are assigned.
    """

    methods: NDArray[np.object_]
    classes: NDArray[np.object_]
    raters: NDArray[np.object_]
    confusion: NDArray[np.int64]
    seen: NDArray[np.int64]
    kept: NDArray[np.int64]
    sensitivity: NDArray[np.float64]
    specificity: NDArray[np.float64]
    marked: NDArray[np.int64]

    def performance(self, method: int, category: int = 0) -> RaterPerformance:
        """Each rater against one truth, over all images."""
        return RaterPerformance(self.raters, self.confusion[method, category])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `of` reads back."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {f"{PREFIX}{name}": text_array(value) if name in NAMES else value for name, value in values.items()}

    @classmethod
    def of(cls, arrays: Arrays) -> PixelTruths:
        """From the arrays that a run stored."""
        stored: dict[str, Any] = part_of(arrays, PREFIX)
        stored |= {name: object_array(as_texts(stored[name])) for name in NAMES}
        return cls(**stored)

    def rows(self) -> list[PixelTruthRow]:
        """A row for each truth of each class as plain values, None for what is undefined."""
        return [self._row(m, k) for k in range(len(self.classes)) for m in range(len(self.methods))]

    def _row(self, m: int, k: int) -> PixelTruthRow:
        table, there = self.performance(m, k), self.marked[m, k][self.marked[m, k] >= 0]
        return PixelTruthRow(
            truth=self.methods[m],
            category=self.classes[k],
            images=len(there),
            empty=int((there == 0).sum()),
            pixels=int(there.sum()),
            kept=plain(divide(self.kept[m, k], self.seen[k])),
            estimated=Estimates(
                sensitivity=plain(_mean(self.sensitivity[m, k], self.seen[k])),
                specificity=plain(_mean(self.specificity[m, k], self.seen[k])),
            ),
            **shares_of(table),
        )


def _mean(sums: NDArray[np.float64], images: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.divide(sums, images, out=np.full(len(sums), np.nan), where=images > 0))


class TruthCounter:
    """Counts truths as they are estimated, image by image. `raters`: none where they have no names over the images."""

    def __init__(self, methods: Sequence[str], classes: Sequence[str], raters: Sequence[str], images: int) -> None:
        size = (len(methods), len(classes), len(raters))
        self._code = {name: code for code, name in enumerate(raters)}
        self._table = PixelTruths(
            methods=object_array(list(methods)),
            classes=object_array(list(classes)),
            raters=object_array(list(raters)),
            confusion=np.zeros((*size, 2, 2), np.int64),
            seen=np.zeros(size[1:], np.int64),
            kept=np.zeros(size, np.int64),
            sensitivity=np.zeros(size),
            specificity=np.zeros(size),
            marked=np.full((len(methods), len(classes), images), -1, np.int64),
        )
        self.notes: list[tuple[int, str, str]] = []

    def add(self, image: int, category: int, truths: Sequence[Truth]) -> None:
        """Count the truths of one class of an image, one for each method."""
        table = self._table
        assigned = [self._code[name] for name in truths[0].raters] if self._code else []
        table.seen[category, assigned] += 1
        for method, truth in enumerate(truths):
            if assigned:
                table.confusion[method, category, assigned] += truth.performance.confusion
                table.kept[method, category, assigned] += truth.kept
                table.sensitivity[method, category, assigned] += truth.sensitivity
                table.specificity[method, category, assigned] += truth.specificity
            table.marked[method, category, image] = truth.mask.sum()
            if truth.note and len(self.notes) < MOST_NOTES:
                self.notes.append((image, str(table.methods[method]), truth.note))

    def result(self) -> PixelTruths:
        """All that was counted so far."""
        return self._table
