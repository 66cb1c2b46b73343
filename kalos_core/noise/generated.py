"""The result of generation: the raters, the truth about their annotations, and the sources that were used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.noise.events import EVENTS, Events, SignalLoss


@dataclass(frozen=True, eq=False)
class GeneratedRaters:
    """Raters generated from a reference, and the truth about their annotations.

    Parameters
    ----------
    annotations : Annotations
        N annotations of the R synthetic raters.
    object : (N, W) int
        Which objects each annotation is of, the lowest first and -1 where fewer: numbers below the number of
        reference annotations are rows of `original`, those above are false positives. Two annotations are of the same
        object if they share a number: raters who take one proposal for an object agree about the same false positive.
    events : Events
    reference : Annotations
        What the raters were generated from: the annotations of the reference raters, or those of the schools.
    reference_rater : (R,) int
        Code in `reference` of the rater each was generated from.
    schools : GeneratedRaters or None
        The schools as raters generated from the one reference, where they were; `reference` holds their annotations.
    magnitude : (R,) float64
        Lambda of each rater.
    seed : int
    class_source, false_positive_source : str
        Names of the sources that were used.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core.noise import NoiseModel
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [x, 20, 9, 9]} for x in (10, 40, 70)]
    >>> reference = Annotations.from_rows(rows, image_size={1: (100, 100)})
    >>> same = NoiseModel.default().generate(reference, raters=["r1", "r2"], magnitude=0)
    >>> same.annotations
    Annotations(6 annotations of 2 raters on 1 images, 1 categories, shapes: box)
    >>> same.truth.tolist()
    [[0], [1], [2], [0], [1], [2]]
    """

    annotations: Annotations
    object: NDArray[np.intp]
    events: Events
    reference: Annotations
    reference_rater: NDArray[np.intp]
    schools: GeneratedRaters | None
    magnitude: NDArray[np.float64]
    seed: int
    class_source: str
    false_positive_source: str

    @property
    def original(self) -> Annotations:
        """The annotations that everything is generated from; `truth` holds its rows."""
        return self.reference if self.schools is None else self.schools.original

    @cached_property
    def truth(self) -> NDArray[np.intp]:
        """(N, W) rows of `original` that each annotation comes from, -1 for additions and where fewer than W."""
        return np.where(self.object < len(self.original), self.object, -1)

    def signal_loss(self) -> SignalLoss:
        """How many events came too late for their annotation, by stage (KαLOS §9.4, Table 3)."""
        return self.events.signal_loss()

    def __repr__(self) -> str:
        counts = self.events.counts()
        done = ", ".join(f"{name} {counts[name]['done']:,}" for name in EVENTS)
        lost = self.signal_loss().ratio
        return (
            f"{self.annotations!r}\n  events: {done}; signal loss {lost:.1%}\n"
            f"  classes by {self.class_source}; additions from {self.false_positive_source}"
        )
