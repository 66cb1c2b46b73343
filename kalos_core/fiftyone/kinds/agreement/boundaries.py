"""Boundaries of matched labels as an agreement stores them: how far those of every two raters of a unit are apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError
from kalos_core.fiftyone.kinds.agreement.stored import stored_units
from kalos_core.fiftyone.runs.stored import load_arrays, load_metrics, load_run_view
from kalos_core.pixels import BoundaryAgreement

CODES = ("image", "category", "rater_a", "rater_b", "unit")


def boundary_arrays(found: BoundaryAgreement) -> dict[str, NDArray[Any]]:
    """What the run stores of them."""
    arrays: dict[str, NDArray[Any]] = {f"boundary_{name}": getattr(found, name).astype(np.int32) for name in CODES}
    return {**arrays, "boundary_values": found.values}


def unit_boundaries_of(samples: Any, run_key: str) -> BoundaryAgreement:
    """How far the boundaries of matched labels are apart, as an agreement with ``boundaries=True`` stored it.

    Images are sample ids, distances in pixels. No label is read.

    Raises
    ------
    InputError
        For a run that did not compare boundaries.
    """
    run = load_metrics(samples, run_key, "agreement")
    if not run.settings["boundaries"]:
        raise InputError(f"run key: expected a run that compared boundaries, got {run.key!r}; make it anew with them")
    arrays = load_arrays(samples, run.key, "agreement")
    annotations = stored_units(arrays)[0]
    return BoundaryAgreement(
        images=annotations.images,
        raters=annotations.raters,
        classes=annotations.categories,
        **{name: arrays[f"boundary_{name}"].astype(np.intp) for name in CODES},
        values=arrays["boundary_values"],
        bootstrap=run.settings["bootstrap"],
        seed=run.settings["seed"],
        raters_are_local=annotations.raters_are_local,
        tolerance=run.settings["tolerance"],
    )


def view_of_unit_boundaries(samples: Any, run_key: str) -> Any:
    """The samples of an agreement with boundaries of two raters of one unit, those furthest apart first."""
    run = load_metrics(samples, run_key, "agreement")
    return load_run_view(samples, run.key).exists(run.names.boundary).sort_by(run.names.boundary, reverse=True)
