"""Part of an agreement as matched by all: the units of one class, the pairs of one rater, or both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings
from kalos_core.annotations import Annotations, object_array
from kalos_core.reliability import NOT_ASSIGNED, Coincidences, Units, coincidences, image_coincidences
from kalos_core.resampling import Cells, Estimates, estimate

OTHERS = "others"
"""Name of the second rater in a rater's pairs."""


@dataclass(frozen=True, eq=False)
class Part:
    """Subset of the units of an agreement; shapes are not needed.

    Examples
    --------
    Three raters, one object; the third calls it a dog. None of the third's pairs agrees:

    >>> from kalos_core import Annotations, agreement
    >>> given = [("ann", "cat"), ("bob", "cat"), ("cid", "dog")]
    >>> rows = [{"image": 1, "rater": r, "category": c, "box": [0, 0, 9, 9]} for r, c in given]
    >>> part = Part.of(agreement(Annotations.from_rows(rows)))
    >>> part.of_rater(2).units.values.tolist()
    [[1, 0], [1, 0]]
    >>> len(part.with_class(1).units), part.cells().value.tolist()
    (1, [0.0])
    """

    annotations: Annotations
    units: Units

    @classmethod
    def of(cls, agreement: Agreement) -> Part:
        """Create the part with all units of an agreement."""
        return cls(agreement.annotations, agreement.units)

    @property
    def images(self) -> int:
        """Number of images."""
        return len(self.annotations.images)

    def with_class(self, category: int) -> Part:
        """Select the units in which a rater chose a class."""
        chosen = (self.units.values == category).any(axis=1)
        return replace(self, units=Units(self.units.image[chosen], self.units.values[chosen]))

    def of_rater(self, rater: int) -> Part:
        """Select the pairs of a rater with every other rater, as two raters.

        Each unit becomes one pair of values for each other assigned rater, unless neither of the two annotated in it.
        """
        annotations, values = self.annotations, self.units.values
        others = np.arange(len(annotations.raters)) != rater
        mine, theirs = values[:, [rater]], values[:, others]
        compared = (mine != NOT_ASSIGNED) & (theirs != NOT_ASSIGNED) & ((mine >= 0) | (theirs >= 0))
        unit, other = np.nonzero(compared)
        assigned, limits = annotations.assigned, annotations.assigned_categories
        pairs = replace(
            annotations,
            rater=(annotations.rater != rater).astype(np.intp),
            raters=object_array([annotations.raters[rater], OTHERS]),
            person=object_array([]),
            session=object_array([]),
            assigned=np.column_stack([assigned[:, rater], assigned[:, others].any(axis=1)]),
            assigned_categories=None if limits is None else np.stack([limits[rater], limits[others].any(axis=0)]),
        )
        return Part(pairs, Units(self.units.image[unit], np.column_stack([mine[unit, 0], theirs[unit, other]])))

    def cells(self) -> Cells:
        """Cells of one statistic; images empty by agreement have their unit of `NO_OBJECT`."""
        return _one_statistic(image_coincidences(self.annotations, self.units)[0])

    def bare_cells(self) -> Cells:
        """Cells of one statistic; images without a unit add nothing."""
        return _one_statistic(coincidences(self.units.values, self.units.image, self.images))

    def class_cells(self) -> tuple[Cells, NDArray[np.intp], NDArray[np.intp]]:
        """Cells with one statistic for each class that occurs, (C,) its number of units, and (C,) its code."""
        classes = max(len(self.annotations.categories), 1)
        unit, column = np.nonzero(self.units.values >= 0)
        annotated = np.unique(unit * classes + self.units.values[unit, column])
        unit, category = annotated // classes, annotated % classes
        count = np.bincount(category, minlength=classes)
        occurring = np.flatnonzero(count)
        statistic = np.searchsorted(occurring, category)
        return self._cells(statistic, unit, self.units.values[unit]), count[occurring], occurring

    def pair_cells(self, category: int) -> Cells:
        """Cells with a statistic for each two raters, as `numpy.triu_indices`: units in which either chose a class."""
        first, second = np.triu_indices(len(self.annotations.raters), 1)
        a, b = self.units.values[:, first], self.units.values[:, second]
        unit, pair = np.nonzero((a != NOT_ASSIGNED) & (b != NOT_ASSIGNED) & ((a == category) | (b == category)))
        return self._cells(pair, unit, np.column_stack([a[unit, pair], b[unit, pair]]))

    def _cells(self, statistic: NDArray[np.intp], unit: NDArray[np.intp], values: NDArray[np.int32]) -> Cells:
        """Cells of units (M,) with values (M, raters), each counted for a statistic (M,)."""
        distinct, cell = np.unique(statistic * self.images + self.units.image[unit], return_inverse=True)
        sums = coincidences(values, cell.reshape(-1), len(distinct))
        return Cells.of(distinct // self.images, distinct % self.images, sums)


def _one_statistic(sums: Coincidences) -> Cells:
    images = np.arange(len(sums.pairable))
    return Cells.of(np.zeros_like(images), images, sums)


def where_seen(cells: Cells, units: Units) -> Cells:
    """Return cells, without their values if the units contain no object that could be compared."""
    return cells if units.compare_objects else cells.seen()


def estimate_cells(
    annotations: Annotations, configuration: AgreementSettings, cells: Cells, statistics: int
) -> Estimates:
    """Estimate statistics of annotations, with the bootstrap intervals of a configuration."""
    return estimate(cells, statistics, configuration.bootstrap, configuration.seed, annotations.image_rank)
