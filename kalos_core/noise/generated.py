"""Result of generation: the raters, the ground truth of their annotations, and the sources that were used."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count as count_from
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.noise.events import EVENTS, Events, RaterEvents, SignalLoss
from kalos_core.results import Result
from kalos_core.shapes.joining import join_columns

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class GeneratedRaters(Result):
    """Raters generated from a reference, and the ground truth of their annotations.

    Figures: ``"events"``.

    Parameters
    ----------
    annotations : Annotations
        N annotations of the R synthetic raters.
    object : (N, W) int
        Objects of each annotation, in ascending order, -1 where fewer than W. Numbers below the number of reference
        annotations are rows of `original`; those above are false positives. Two annotations are of the same object if
        they share a number: raters who accept the same proposal agree about the same false positive.
    events : Events
    reference : Annotations
        Source of the raters: the annotations of the reference raters, or those of the schools.
    reference_rater : (R,) int
        Code in `reference` of the rater that each was generated from.
    schools : GeneratedRaters or None
        Schools generated from a single reference, if there are any; `reference` holds their annotations.
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
    Annotations(6 annotations of 2 raters on 1 image, 1 category, shapes: box)
    >>> same.truth.tolist()
    [[0], [1], [2], [0], [1], [2]]
    >>> same.with_reference()
    Annotations(9 annotations of 3 raters on 1 image, 1 category, shapes: box)
    """

    _call = "NoiseModel.default().generate(annotations)"
    _shows_table = False

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
        """Annotations that everything is generated from; `truth` holds its rows."""
        return self.reference if self.schools is None else self.schools.original

    @cached_property
    def truth(self) -> NDArray[np.intp]:
        """(N, W) rows of `original` that each annotation comes from, -1 for additions and where fewer than W."""
        return np.where(self.object < len(self.original), self.object, -1)

    @property
    def redrawn_share(self) -> float:
        """Share of the changes of position and size that were drawn again; NaN if there are none."""
        moved = (self.events.outcome == "done") & np.isfinite(self.events.shift).all(axis=1)
        return float((self.events.redrawn[moved] > 0).mean()) if moved.any() else float("nan")

    def with_reference(self) -> Annotations:
        """Return the original raters and the synthetic ones in one table, ready for `agreement`.

        Returns
        -------
        Annotations
            The annotations of `original` with their ids, then those of the synthetic raters with new ids.

        Raises
        ------
        InputError
            If a synthetic rater has the name of a reference.

        Examples
        --------
        >>> from kalos_core import Annotations, agreement
        >>> from kalos_core.noise import NoiseModel
        >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [x, 20, 9, 9]} for x in (10, 40, 70)]
        >>> reference = Annotations.from_rows(rows, image_size={1: (100, 100)})
        >>> both = NoiseModel.default().generate(reference, raters=["copy"], magnitude=0).with_reference()
        >>> both.raters.tolist(), agreement(both).alpha
        (['ann', 'copy'], 1.0)
        """
        return side_by_side(self.original, self.annotations)

    @property
    def origins(self) -> NDArray[np.intp]:
        """(E, V) rows of `original` that each event concerns, -1 where fewer; with schools, those behind their rows."""
        rows = self.events.reference_rows
        if self.schools is None:
            return rows
        truth = np.concatenate([self.schools.truth, np.full((1, self.schools.truth.shape[1]), -1)])
        return truth[rows].reshape(len(rows), 2 * truth.shape[1])

    def by_rater(self) -> RaterEvents:
        """Return the events of each rater."""
        raters = len(self.magnitude)
        return RaterEvents(
            rater=self.annotations.raters,
            reference=self.reference.raters[self.reference_rater],
            original=self.original.raters,
            magnitude=self.magnitude,
            given=np.bincount(self.reference.rater, minlength=len(self.reference.raters))[self.reference_rater],
            annotations=np.bincount(self.annotations.rater, minlength=raters),
            counts=self.events.tally(self.events.rater, raters),
        )

    def signal_loss(self) -> SignalLoss:
        """Count by stage the events lost because an earlier one changed their annotation (KαLOS §9.4, Table 3)."""
        return self.events.signal_loss()

    @property
    def headline(self) -> str:
        """The finding, in words."""
        counts = self.events.counts()
        done = ", ".join(f"{name} {counts[name]['done']:,}" for name in EVENTS)
        lost = self.signal_loss().ratio
        loss = f"{lost:.1%}" if np.isfinite(lost) else "undefined (no event)"
        return (
            f"{self.annotations!r}\n  events: {done}; signal loss {loss}{self._redrawn()}\n"
            f"  classes by {self.class_source}; additions from {self.false_positive_source}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per rater: reference, magnitude, and events of each kind."""
        return self.by_rater().to_pandas()

    def _redrawn(self) -> str:
        share = self.redrawn_share
        return f"; shifts drawn again {share:.1%}" if share > 0 else ""


def side_by_side(first: Annotations, second: Annotations) -> Annotations:
    """Join two tables with the same images and classes but different raters; the raters of the first come first.

    Shape kinds that only one of them has are left out.
    """
    same = [name for name in second.raters if name in set(first.raters)]
    if same:
        raise InputError(f"raters: expected other names than those of the reference, got {listed(map(repr_of, same))}")
    count = len(first.raters)
    limits: NDArray[np.bool_] | None = None
    if first.assigned_categories is not None or second.assigned_categories is not None:
        limits = np.concatenate([_limits(table) for table in (first, second)])
    return Annotations(
        image=np.concatenate([first.image, second.image]),
        rater=np.concatenate([first.rater, second.rater + count]),
        category=np.concatenate([first.category, second.category]),
        id=_ids(first.id, second.id),
        shapes={
            kind: join_columns(kind, [first.shapes[kind], second.shapes[kind]])
            for kind in first.shapes
            if kind in second.shapes
        },
        images=first.images,
        files=first.files,
        raters=np.concatenate([first.raters, second.raters]),
        categories=first.categories,
        image_size=first.image_size,
        assigned=np.concatenate([first.assigned, second.assigned], axis=1),
        assigned_categories=limits,
        person=np.concatenate([first.person, second.person]),
        session=np.concatenate([first.session, second.session]),
        raters_are_local=first.raters_are_local,
        excluded=np.concatenate([first.excluded, second.excluded + np.array([0, count, 0])]),
    )


def _limits(table: Annotations) -> NDArray[np.bool_]:
    everything = np.ones((len(table.raters), len(table.categories)), np.bool_)
    return everything if table.assigned_categories is None else table.assigned_categories


def _ids(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Join ids: those of the first, then higher numbers or, beside names, ``synthetic 1``, ``synthetic 2``, ..."""
    if np.issubdtype(first.dtype, np.integer):
        return np.concatenate([first, int(first.max(initial=0)) + 1 + np.arange(len(second))])
    taken = set(first.tolist())
    names = (name for name in map("synthetic {}".format, count_from(1)) if name not in taken)
    return object_array([*first, *(next(names) for _ in range(len(second)))])
