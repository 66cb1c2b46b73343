"""How raters do beside truths that were estimated image by image, counted over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.table import object_array
from kalos_core.consensus import Truth
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.masks.stored import SHARES
from kalos_core.pixels import RaterPerformance
from kalos_core.pixels.sums import divide


@dataclass(frozen=True, eq=False)
class PixelTruths:
    """Truths of pixels over a data set: M methods, K classes, R raters, I images.

    Parameters
    ----------
    methods, classes, raters : (M,), (K,), (R,) str
    confusion : (M, K, R, 2, 2) int64
        Pixels by what a rater says and by what is true: 0 nothing, 1 marked.
    seen : (K, R) int64
        Images with a truth that each rater was asked about.
    kept : (M, K, R) int64
        Those of them whose estimate rests on the rater.
    sensitivity, specificity : (M, K, R) float64
        Sums over these images of what each estimate says of the rater: STAPLE's own estimates, else counted.
    marked : (M, K, I) int64
        Pixels of the truth; -1 where there is none, as fewer than two raters were asked.
    """

    methods: NDArray[np.str_]
    classes: NDArray[np.str_]
    raters: NDArray[np.str_]
    confusion: NDArray[np.int64]
    seen: NDArray[np.int64]
    kept: NDArray[np.int64]
    sensitivity: NDArray[np.float64]
    specificity: NDArray[np.float64]
    marked: NDArray[np.int64]

    def performance(self, method: int, category: int = 0) -> RaterPerformance:
        """Each rater beside one truth, over all images."""
        return RaterPerformance(object_array(self.raters.tolist()), self.confusion[method, category])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What `of` reads back."""
        return {f"truth_{field.name}": getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> PixelTruths:
        """From the arrays that a run stored."""
        return cls(**{field.name: arrays[f"truth_{field.name}"] for field in fields(cls)})

    def rows(self) -> list[dict[str, Any]]:
        """A row for each class and truth as plain values, None for what is undefined.

        ``truth``, ``class``, ``images`` (with a truth), ``empty`` (images whose truth is), ``pixels`` (marked), the
        five `SHARES` (R,), ``kept`` (R,) share of their images that the estimate rests on, and ``estimated``:
        ``sensitivity`` and ``specificity`` (R,), means over images of what the method says of each rater.
        """
        found = []
        for k, name in enumerate(self.classes.tolist()):
            for m, method in enumerate(self.methods.tolist()):
                table, there = self.performance(m, k), self.marked[m, k][self.marked[m, k] >= 0]
                found.append(
                    {
                        "truth": method,
                        "class": name,
                        "images": len(there),
                        "empty": int((there == 0).sum()),
                        "pixels": int(there.sum()),
                        **{share: plain(getattr(table, share)) for share in SHARES},
                        "kept": plain(divide(self.kept[m, k], self.seen[k])),
                        "estimated": {
                            "sensitivity": plain(_mean(self.sensitivity[m, k], self.seen[k])),
                            "specificity": plain(_mean(self.specificity[m, k], self.seen[k])),
                        },
                    }
                )
        return found


def _mean(sums: NDArray[np.float64], images: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.divide(sums, images, out=np.full(len(sums), np.nan), where=images > 0))


class TruthCounter:
    """Counts truths as they are estimated, image by image."""

    def __init__(self, methods: Sequence[str], classes: Sequence[str], raters: Sequence[str], images: int) -> None:
        size = (len(methods), len(classes), len(raters))
        self._code = {name: place for place, name in enumerate(raters)}
        self._table = PixelTruths(
            methods=np.array(methods, dtype=str),
            classes=np.array(classes, dtype=str),
            raters=np.array(raters, dtype=str),
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
        asked = [self._code[name] for name in truths[0].raters]
        table.seen[category, asked] += 1
        for method, truth in enumerate(truths):
            table.confusion[method, category, asked] += truth.performance.confusion
            table.kept[method, category, asked] += truth.kept
            table.sensitivity[method, category, asked] += truth.sensitivity
            table.specificity[method, category, asked] += truth.specificity
            table.marked[method, category, image] = truth.mask.sum()
            if truth.note:
                self.notes.append((image, str(table.methods[method]), truth.note))

    def result(self) -> PixelTruths:
        """All that was counted so far."""
        return self._table
