"""Metrics of a part of a stored run: one class, one rater, or one rater's view of one class.

All come from the units the run stored: no label is read and nothing is matched again. A *class* stands for the units in
which somebody chose it, as in `class_difficulty`. A *rater* stands for the pairs of this rater with each other rater
who was assigned: each unit becomes one pair of values for every other rater, unless neither of the two annotated it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.joining import from_arrays
from kalos_core.diagnostics.parts import Part
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.kinds.agreement.details import ClassDetails, CollaborationDetails, Ends
from kalos_core.fiftyone.kinds.matched import TABLE
from kalos_core.fiftyone.runs.changes import part_of
from kalos_core.fiftyone.runs.plain import plain
from kalos_core.fiftyone.runs.stored import load_arrays, load_details
from kalos_core.fiftyone.runs.table import Run
from kalos_core.reliability import build_units
from kalos_core.resampling import Cells, Estimates, estimate


class PartMetrics(TypedDict):
    """What `filtered_metrics` answers."""

    category: str | None
    rater: str | None
    alpha: float | None
    alpha_interval: Ends
    global_alpha: float | None
    global_alpha_interval: Ends
    images: int
    units: int
    image_alpha: list[float | None]
    class_difficulty: ClassDetails
    collaboration: CollaborationDetails


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
    dict
        ``alpha``, ``alpha_interval``, ``global_alpha``, ``global_alpha_interval``, ``images``, ``units`` of the part;
        ``image_alpha``, a value per image in the order in which the run read them, None where undefined;
        ``class_difficulty`` (of the rater's pairs if there is a rater; never cut down to one class) and
        ``collaboration`` (of the units with the class if there is a class; never cut down to one rater), with the
        fields they have in `agreement_details`; and the ``category`` and ``rater`` given.

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
    return {
        "category": category,
        "rater": rater,
        "alpha": plain(made.alpha)[0],
        "alpha_interval": plain(made.alpha_interval)[0],
        "global_alpha": plain(made.global_alpha)[0],
        "global_alpha_interval": plain(made.global_alpha_interval)[0],
        "images": int(made.images[0]),
        "units": units,
        "image_alpha": plain(cells.value),
        "class_difficulty": details["class_difficulty"] if rater is None else stored.classes(part),
        "collaboration": details["collaboration"]
        if category is None
        else stored.collaboration(category, details["collaboration"]),
    }


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

    def classes(self, part: Part) -> ClassDetails:
        """As `class_difficulty`, of a part."""
        cells, units, codes = part.class_cells()
        made = self.estimate(cells, len(codes))
        names = self.everyone.annotations.categories[codes].tolist()
        return cast(ClassDetails, {"category": names, **plain(made), "units": units.tolist()})

    def collaboration(self, category: str, whole: CollaborationDetails) -> CollaborationDetails:
        """As `collaboration`, of the units with a class as they were matched by all, in the order of the `whole`."""
        if "reason" in whole:
            return whole
        annotations = self.everyone.annotations
        first, second = np.triu_indices(len(annotations.raters), 1)
        made = self.estimate(self.everyone.pair_cells(self.category_code(category)), len(first))

        def matrix(values: NDArray[Any], diagonal: Any) -> Any:
            """(P, ...) values of all pairs as a symmetric matrix (R, R, ...), its diagonal that of another."""
            found = np.array(diagonal, dtype=np.float64)
            found[first, second] = found[second, first] = values
            return plain(found)

        images = np.diag(annotations.assigned.sum(axis=0))
        images[first, second] = images[second, first] = made.images
        return {
            **whole,
            "alpha": matrix(made.alpha, whole["alpha"]),
            "alpha_interval": matrix(made.alpha_interval, whole["alpha_interval"]),
            "global_alpha": matrix(made.global_alpha, whole["global_alpha"]),
            "global_alpha_interval": matrix(made.global_alpha_interval, whole["global_alpha_interval"]),
            "images": images.tolist(),
        }


def _code(names: NDArray[Any], name: str, what: str) -> int:
    known = names.tolist()
    if name not in known:
        raise InputError(f"{what}: expected one of {listed(map(repr, known), 20)}, got {name!r}")
    return int(known.index(name))
