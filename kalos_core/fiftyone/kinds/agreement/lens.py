"""Metrics of a part of a stored run: one class, one rater, or one rater's view of one class.

All come from the units the run stored: no label is read and nothing is matched again. A *class* stands for the units in
which somebody chose it, as in `class_difficulty`. A *rater* stands for the pairs of this rater with each other rater
who was assigned: each unit becomes one pair of values for every other rater, unless neither of the two annotated it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.joining import from_arrays
from kalos_core.diagnostics import ClassDifficulty, Collaboration
from kalos_core.diagnostics.parts import Part
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.kinds.matched import TABLE
from kalos_core.fiftyone.runs.changes import part_of
from kalos_core.fiftyone.runs.records import Undefined
from kalos_core.fiftyone.runs.stored import load_arrays, load_details
from kalos_core.fiftyone.runs.table import Run
from kalos_core.reliability import build_units
from kalos_core.resampling import Cells, Estimates, estimate


@dataclass(frozen=True, eq=False)
class PartMetrics:
    """The numbers of a part of a run. I images it read.

    Parameters
    ----------
    category, rater : str, optional
        What the part is of.
    alpha, alpha_interval, global_alpha, global_alpha_interval : float, (2,) float
        As in `kalos_core.Agreement`.
    images, units : int
        How many have an alpha, and how many there are.
    image_alpha : (I,) float64
        In the order in which the run read the images; NaN where undefined.
    class_difficulty : ClassDifficulty
        Of the rater's pairs if there is a rater; never cut down to one class.
    collaboration : Collaboration
        Of the units with the class if there is a class; never cut down to one rater.
    """

    category: str | None
    rater: str | None
    alpha: float
    alpha_interval: NDArray[np.float64]
    global_alpha: float
    global_alpha_interval: NDArray[np.float64]
    images: int
    units: int
    image_alpha: NDArray[np.float64]
    class_difficulty: ClassDifficulty | Undefined
    collaboration: Collaboration | Undefined


def filtered_metrics(samples: Any, run_key: str, category: str | None = None, rater: str | None = None) -> PartMetrics:
    """The metrics of a run, of all of it or of one class, one rater, or both.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of an agreement.
    category, rater : str, optional
        Names of the run.

    Returns
    -------
    PartMetrics

    Raises
    ------
    InputError
        For a class or rater the run does not know.
    """
    stored = _Stored.load(samples, run_key)
    details = stored.run.details
    part = stored.everyone if rater is None else stored.of_rater(rater)
    if category is None:
        cells, units = part.cells(), len(part.units)
    else:
        chosen = part.with_class(stored.category_code(category))
        cells, units = chosen.bare_cells(), len(chosen.units)
    made = stored.estimate(cells, 1)
    return PartMetrics(
        category,
        rater,
        float(made.alpha[0]),
        made.alpha_interval[0],
        float(made.global_alpha[0]),
        made.global_alpha_interval[0],
        int(made.images[0]),
        units,
        cells.value,
        details.class_difficulty if rater is None else stored.classes(part),
        details.collaboration if category is None else stored.collaboration(category, details.collaboration),
    )


@dataclass(frozen=True)
class _Stored:
    """What a run stored, without reading any label."""

    run: Run[Any, Any, Any, Any]
    everyone: Part

    @classmethod
    def load(cls, samples: Any, run_key: str) -> _Stored:
        arrays = load_arrays(samples, run_key, "agreement")
        annotations = from_arrays(part_of(arrays, TABLE, without="."))  # shapes are not fetched
        units = build_units(annotations, arrays["unit_of"].astype(np.intp))
        return cls(load_details(samples, run_key), Part(annotations, units))

    def category_code(self, name: str) -> int:
        return _code(self.everyone.annotations.categories, name, "category")

    def estimate(self, cells: Cells, statistics: int) -> Estimates:
        """With the intervals the run was told."""
        settings, rank = self.run.settings, self.everyone.annotations.image_rank
        return estimate(cells, statistics, settings["bootstrap"], settings["seed"], rank)

    def of_rater(self, name: str) -> Part:
        """The pairs of a rater with each other rater."""
        return self.everyone.of_rater(_code(self.everyone.annotations.raters, name, "rater"))

    def classes(self, part: Part) -> ClassDifficulty:
        """As `class_difficulty`, of a part."""
        cells, units, codes = part.class_cells()
        made = self.estimate(cells, len(codes))
        return ClassDifficulty(**vars(made), category=self.everyone.annotations.categories[codes], units=units)

    def collaboration(self, category: str, whole: Collaboration | Undefined) -> Collaboration | Undefined:
        """As `collaboration`, of the units with a class as they were matched by all, in the order of the `whole`."""
        if isinstance(whole, Undefined):
            return whole
        annotations = self.everyone.annotations
        first, second = np.triu_indices(len(annotations.raters), 1)
        made = self.estimate(self.everyone.pair_cells(self.category_code(category)), len(first))

        def matrix(values: NDArray[Any], diagonal: NDArray[Any]) -> NDArray[Any]:
            """(P, ...) values of all pairs as a symmetric matrix (R, R, ...), its diagonal that of another."""
            found = diagonal.copy()
            found[first, second] = found[second, first] = values
            return found

        return replace(
            whole,
            alpha=matrix(made.alpha, whole.alpha),
            alpha_interval=matrix(made.alpha_interval, whole.alpha_interval),
            global_alpha=matrix(made.global_alpha, whole.global_alpha),
            global_alpha_interval=matrix(made.global_alpha_interval, whole.global_alpha_interval),
            images=matrix(made.images, np.diag(annotations.assigned.sum(axis=0))),
        )


def _code(names: NDArray[Any], name: str, what: str) -> int:
    known = names.tolist()
    if name not in known:
        raise InputError(f"{what}: expected one of {listed(map(repr, known), 20)}, got {name!r}")
    return int(known.index(name))
