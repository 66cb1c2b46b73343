"""Figures of a part of a stored run: one class, one rater, or one rater's view of one class.

All come from the units the run stored: no label is read and nothing is matched again. A *class* stands for the units in
which somebody chose it, as in `class_difficulty`. A *rater* stands for the pairs of this rater with everyone else who
was asked: each unit becomes one pair of values for every other rater, unless neither of the two drew in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.diagnostics.parts import Part
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.runs import Run, load_arrays, load_diagnostics, load_figures
from kalos_core.reliability import build_units
from kalos_core.resampling import Cells, Estimates, estimate


def filtered_figures(
    samples: Any, run_key: str, category: str | None = None, rater: str | None = None
) -> dict[str, Any]:
    """The figures of a run, of all of it or of one class, one rater, or both.

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
        ``image_alpha``, a value per image in the order of `image_alphas`, None where undefined; ``class_difficulty``
        (of the rater's pairs if there is a rater; never cut down to one class) and ``collaboration`` (of the units
        with the class if there is a class; never cut down to one rater), with the fields they have in
        `diagnostic_figures`; and the ``category`` and ``rater`` asked for.

    Raises
    ------
    InputError
        For a class or rater the run does not know, and for a run of version 0.1.0, which stored no units.
    """
    stored = _load(samples, run_key)
    diagnostics = load_diagnostics(samples, run_key)
    part = stored.everyone if rater is None else stored.of_rater(rater)
    if category is None:
        cells, units = part.cells(), len(part.units)
    else:
        chosen = part.with_class(stored.category_code(category))
        cells, units = chosen.bare_cells(), len(chosen.units)
    return {
        "category": category,
        "rater": rater,
        **{name: values[0] for name, values in plain(stored.estimate(cells, 1)).items()},
        "units": units,
        "image_alpha": plain(cells.value),
        "class_difficulty": diagnostics["class_difficulty"] if rater is None else stored.classes(part),
        "collaboration": diagnostics["collaboration"]
        if category is None
        else stored.collaboration(category, diagnostics["collaboration"]),
    }


def part_image_alphas(
    samples: Any, run_key: str, category: str | None = None, rater: str | None = None
) -> tuple[list[str], NDArray[np.float64]]:
    """Sample ids of a run, and alpha of a part of each, of a class, a rater's pairs or both; NaN where undefined."""
    stored = _load(samples, run_key)
    part = stored.everyone if rater is None else stored.of_rater(rater)
    cells = part.cells() if category is None else part.with_class(stored.category_code(category)).bare_cells()
    return stored.images, cells.value


def pair_image_alphas(samples: Any, run_key: str, rater_a: str, rater_b: str) -> tuple[list[str], NDArray[np.float64]]:
    """Sample ids of a run, and alpha of each for two raters, matched on these alone; NaN where undefined."""
    stored = _load(samples, run_key)
    return stored.images, stored.of_pair(rater_a, rater_b)


@dataclass(frozen=True)
class _Stored:
    """What a run stored, without reading any label."""

    run: Run
    arrays: Mapping[str, NDArray[Any]]
    everyone: Part

    @property
    def images(self) -> list[str]:
        """Sample ids."""
        ids: list[str] = self.arrays["image_ids"].tolist()
        return ids

    def category_code(self, name: str) -> int:
        return _code(self.arrays["categories"], name, "category")

    def estimate(self, cells: Cells, figures: int) -> Estimates:
        """With the intervals the run was told."""
        settings, rank = self.run.settings, self.everyone.annotations.image_rank
        return estimate(cells, figures, settings["bootstrap"], settings["seed"], rank)

    def of_rater(self, name: str) -> Part:
        """The pairs of a rater with each other rater."""
        return self.everyone.of_rater(_code(self.arrays["raters"], name, "rater"))

    def of_pair(self, rater_a: str, rater_b: str) -> NDArray[np.float64]:
        """(I,) alpha of two raters, as they were matched on these alone."""
        arrays = self.arrays
        if "pair_alpha" not in arrays:
            raise InputError(f"run {self.run.key!r}: its raters mean nothing beyond an image: no two can be compared")
        first, second = sorted(_code(arrays["raters"], name, "rater") for name in (rater_a, rater_b))
        if first == second:
            raise InputError(f"raters: expected two raters, got {rater_a!r} twice")
        chosen = (arrays["pair_rater_a"] == first) & (arrays["pair_rater_b"] == second)
        values = np.full(len(self.images), np.nan)
        values[arrays["pair_image"][chosen]] = arrays["pair_alpha"][chosen]
        return values

    def classes(self, part: Part) -> dict[str, Any]:
        """As `class_difficulty`, of a part."""
        cells, units, codes = part.class_cells()
        return {
            "category": self.arrays["categories"][codes].tolist(),
            **plain(self.estimate(cells, len(codes))),
            "units": units.tolist(),
        }

    def collaboration(self, category: str, whole: Mapping[str, Any]) -> dict[str, Any]:
        """As `collaboration`, of the units with a class as they were matched by all, in the order of the `whole`."""
        if "reason" in whole:
            return dict(whole)
        first, second = np.triu_indices(len(self.arrays["raters"]), 1)
        made = self.estimate(self.everyone.pair_cells(self.category_code(category)), len(first))
        asked = self.everyone.annotations.assigned.sum(axis=0)
        return {
            **whole,
            **{
                name: plain(_matrix(getattr(made, name), np.array(whole[name], dtype=np.float64), first, second))
                for name in ("alpha", "alpha_interval", "global_alpha", "global_alpha_interval")
            },
            "images": _matrix(made.images, np.diag(asked), first, second).tolist(),
        }


def _matrix(
    values: NDArray[Any], like: NDArray[Any], first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[Any]:
    """(P, ...) values of all pairs as a symmetric matrix (R, R, ...), its diagonal that of another."""
    matrix = like.copy()
    matrix[first, second] = matrix[second, first] = values
    return matrix


def _load(samples: Any, run_key: str) -> _Stored:
    run = load_figures(samples, run_key, "agreement")
    arrays = load_arrays(samples, run_key)
    if "mark_image" not in arrays:
        raise InputError(f"run {run.key!r}: made by an older version, which stored no units; make a new run")
    images = object_array(arrays["image_ids"].tolist())
    unit_of = arrays["unit_of"].astype(np.intp)
    annotations = Annotations(
        image=arrays["mark_image"],
        rater=arrays["mark_rater"],
        category=arrays["mark_category"],
        id=np.arange(len(unit_of)),
        shapes={},
        images=images,
        files=images,
        raters=object_array(arrays["raters"].tolist()),
        categories=object_array(arrays["categories"].tolist()),
        image_size=np.full((len(images), 2), np.nan),
        assigned=arrays["assigned"],
        assigned_categories=arrays.get("assigned_categories"),
    )
    return _Stored(run, arrays, Part(annotations, build_units(annotations, unit_of)))


def _code(names: NDArray[Any], name: str, what: str) -> int:
    known = names.tolist()
    if name not in known:
        raise InputError(f"{what}: expected one of {listed(map(repr, known), 20)}, got {name!r}")
    return int(known.index(name))
