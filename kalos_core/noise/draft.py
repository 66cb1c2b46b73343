"""State of one synthetic rater during generation: untouched reference annotations, new annotations, and events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.noise.events import DONE
from kalos_core.noise.scene import Scene

WHOLE, LOWER, UPPER = range(3)
"""Part of its source that an annotation covers: all of it, or the half with the lower or the higher coordinates."""

ANNOTATION_FIELDS = {"source": -1, "partner": -1, "proposal": -1, "part": WHOLE, "category": -1}
"""Integer fields of a new annotation, with defaults: rows of the scene, a proposal, a part."""

EVENT_FIELDS = {
    "event": -1,
    "outcome": DONE,
    "image": -1,
    "reference_a": -1,
    "reference_b": -1,
    "row_a": -1,
    "row_b": -1,
    "category_from": -1,
    "category_to": -1,
    "redrawn": 0,
}
"""Integer fields of an event, with defaults."""

Columns = dict[str, NDArray[Any]]


@dataclass
class Draft:
    """State that the stages of generation read and write.

    Parameters
    ----------
    scene : Scene
    magnitude : float
        Lambda.
    rng : Generator
    overlap : float
        Minimum IoU with its reference that an annotation keeps at magnitude 1; 0 if it may be separated from it.
    coupling : float
        Share of annotations whose shift and size changes have a common heavy tail.
    """

    scene: Scene
    magnitude: float
    rng: np.random.Generator
    overlap: float = 0.0
    coupling: float = 0.0
    free: NDArray[np.bool_] = field(init=False)
    annotations: list[Columns] = field(init=False, default_factory=list)
    events: list[Columns] = field(init=False, default_factory=list)
    size: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.free = np.ones(len(self.scene), np.bool_)
        none = np.zeros(0, np.intp)
        self.add_annotations(np.zeros((0, 4)))  # so that every column exists
        self.record(-1, none)

    def happens(self, chance: ArrayLike, count: int) -> NDArray[np.bool_]:
        """Draw which of M events happen (M,); each probability is multiplied by the magnitude and clipped to 1."""
        return np.asarray(self.rng.random(count) < np.minimum(np.asarray(chance) * self.magnitude, 1))

    def consume(self, targets: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Claim untouched targets (T,): True where a target was untouched; among duplicates the first gets it."""
        got = np.zeros(len(targets), np.bool_)
        got[np.unique(targets, return_index=True)[1]] = True
        got &= self.free[targets]
        self.free[targets] = False
        return got

    def add_annotations(self, corners: NDArray[np.float64], **columns: ArrayLike) -> NDArray[np.intp]:
        """Add annotations with the given corners (M, 4) and `ANNOTATION_FIELDS`; return their rows (M,)."""
        count = len(corners)
        filled = {name: np.full(count, default) for name, default in ANNOTATION_FIELDS.items()}
        filled |= {name: np.broadcast_to(np.asarray(values), count) for name, values in columns.items()}
        self.annotations.append(filled | {"corners": corners})
        self.size += count
        return np.arange(self.size - count, self.size)

    def record(
        self,
        event: int,
        image: NDArray[np.intp],
        shift: NDArray[np.float64] | None = None,
        scale: NDArray[np.float64] | None = None,
        **columns: ArrayLike,
    ) -> None:
        """Record events on images (E,), with `EVENT_FIELDS` and, where the box changed, shift and scale (E, 2)."""
        count = len(image)
        filled = {name: np.full(count, default) for name, default in EVENT_FIELDS.items()}
        given = {"event": event, "image": image} | columns
        filled |= {name: np.broadcast_to(np.asarray(values), count) for name, values in given.items()}
        moved = {"shift": shift, "scale": scale}
        self.events.append(
            filled | {name: np.full((count, 2), np.nan) if by is None else by for name, by in moved.items()}
        )

    def keep_rest(self) -> None:
        """Copy every untouched annotation without changes."""
        rest = np.flatnonzero(self.free)
        self.add_annotations(self.scene.corners[rest], source=rest, category=self.scene.category[rest])
        self.free[rest] = False

    def finished(self) -> tuple[Columns, Columns]:
        """Return all annotations, sorted by source with additions last, and all events, with rows in that order."""
        annotations = {name: np.concatenate([part[name] for part in self.annotations]) for name in self.annotations[0]}
        events = {name: np.concatenate([part[name] for part in self.events]) for name in self.events[0]}
        order = np.lexsort((annotations["part"], annotations["source"], annotations["proposal"]))
        index = np.empty(len(order) + 1, np.intp)
        index[order], index[-1] = np.arange(len(order)), -1
        for name in ("row_a", "row_b"):
            events[name] = index[events[name]]
        return {name: values[order] for name, values in annotations.items()}, events
