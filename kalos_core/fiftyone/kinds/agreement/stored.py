"""Agreement loaded from a stored run, without reading labels and without matching."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings, compared, matched
from kalos_core.annotations import Annotations
from kalos_core.annotations.columns import CODES, NAMES
from kalos_core.annotations.joining import OTHERS, from_arrays
from kalos_core.annotations.thin import thinned
from kalos_core.diagnostics.narrowing import NarrowedAgreement, narrowed
from kalos_core.diagnostics.parts import Part
from kalos_core.diagnostics.sums import ImageSums
from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.filter import Filter
from kalos_core.fiftyone.dataset.objects import Labels
from kalos_core.fiftyone.kinds.agreement.settings import AgreementRun, matching
from kalos_core.fiftyone.kinds.columns import columns_of, made_from
from kalos_core.fiftyone.kinds.matched import TABLE, matched_arrays, stored_pairs, stored_table
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.fiftyone.runs.stored import load_details, load_metrics
from kalos_core.fiftyone.runs.table import Arrays
from kalos_core.pixels import BoundaryAgreement
from kalos_core.reliability import Units
from kalos_core.resampling import Cells, Estimates


def stored_units(arrays: Arrays) -> tuple[Annotations, NDArray[np.intp]]:
    """Return the annotations of a run without their shapes, and the (N,) units of the annotations."""
    return stored_table(arrays, with_shapes=False), arrays["unit_of"].astype(np.intp)


def stored_agreement(samples: Any, run_key: str, bootstrap: int = 0) -> Agreement:
    """Return an agreement as stored by its run, whether or not labels changed since; annotations have no shapes.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Key of an agreement run.
    bootstrap : int
        Number of bootstrap replicates for intervals; the intervals of the run are among its metrics.
    """
    run = load_metrics(samples, run_key, "agreement")
    annotations, unit_of = stored_units(run.arrays)
    pairs = stored_pairs(run.arrays, run.settings["similarity"])
    return matched(annotations, pairs, replace(matching(run.settings), bootstrap=bootstrap), unit_of)


UNITS, PAIR_CELLS, LEFT_OUT, BOUNDARIES = "units/", "cells of pairs/", "cells left out/", "boundary/"
"""Prefixes of the names of the arrays of units, `ImageSums.pairs`, `ImageSums.left_out`, and boundaries."""


def narrowed_metrics(samples: Any, run_key: str, filter: Filter = Filter()) -> NarrowedAgreement:  # noqa: B008
    """Return the metrics of a run within a filter; see `kalos_core.diagnostics.narrowed`.

    All come from what the run stored: no label is read and nothing is matched again.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Key of an agreement run.
    filter : Filter
        Its class and its rater are names in the run.

    Returns
    -------
    NarrowedAgreement
        Images in the order in which the run read them.

    Raises
    ------
    InputError
        If the run has no such class or rater.
    """
    run = load_metrics(samples, run_key, "agreement")
    sums, names = kept(samples, run, "sums", lambda: _sums_and_images(samples, run))
    if filter.limits_images:
        return narrowed(sums, filter.category, filter.rater, filter.images_in(samples, names))
    part = filter.category, filter.rater
    found = kept(samples, run, part, lambda: narrowed(sums, *part))
    if filter.is_whole:
        vars(found)["_whole"] = _estimates(run.metrics)
    return found


def _sums_and_images(samples: Any, run: AgreementRun) -> tuple[ImageSums, NDArray[Any]]:
    """Return the sums of a run, completed with results that the run already stored, and its image ids."""
    details = load_details(samples, run.key).details
    sums = load_sums(run.arrays, matching(run.settings))
    for name in ("class_difficulty", "collaboration", "vitality"):
        vars(sums)[name] = getattr(details, name)
    return sums, run.arrays[f"{TABLE}images"]


def _estimates(metrics: Mapping[str, Any]) -> Estimates:
    """Return the estimates over all labels, which are among the metrics of the run."""
    alpha, whole = (np.array([value], np.float64) for value in (metrics["alpha"], metrics["global_alpha"]))  # None: NaN
    ends = (np.array([pair], np.float64) for pair in (metrics["alpha_interval"], metrics["global_alpha_interval"]))
    alpha_ends, whole_ends = ends
    return Estimates(alpha, alpha_ends, whole, whole_ends, np.array([metrics["defined_images"]]))


def load_sums(arrays: Mapping[str, NDArray[Any]], configuration: AgreementSettings) -> ImageSums:
    """Return the sums of a stored agreement."""
    table, units = compared(_who_annotated(arrays), configuration.empty), made_from(Units, arrays, UNITS)
    pairs, left_out = (made_from(Cells, arrays, prefix) for prefix in (PAIR_CELLS, LEFT_OUT))
    return ImageSums(Part(table, units), configuration, pairs, left_out)


def _who_annotated(arrays: Mapping[str, NDArray[Any]]) -> Annotations:
    """Return a table with one annotation per rater and image, without shapes, which is all that sums need."""
    none = dict.fromkeys((*CODES, "id"), np.zeros(0, np.intp))
    light = {name: arrays[f"{TABLE}{name}"] for name in OF_IMAGES if f"{TABLE}{name}" in arrays}
    classes = np.full(light["assigned"].shape, -1, np.int32)
    image, rater, category = (arrays[f"{TABLE}{name}"] for name in CODES)
    classes[image, rater] = category
    return thinned(from_arrays(none | light), classes)


OF_IMAGES = (*NAMES, *OTHERS, "raters_are_local", "assigned_categories")
"""Columns of a table that do not belong to annotations."""


def arrays_of(
    labels: Labels, result: Agreement, sums: ImageSums, apart: BoundaryAgreement | None
) -> dict[str, NDArray[Any]]:
    """Return all arrays that an agreement stores."""
    cells = columns_of(sums.pairs, PAIR_CELLS) | columns_of(sums.left_out, LEFT_OUT)
    arrays = {"unit_of": result.unit_of, **columns_of(sums.part.units, UNITS), **cells}
    arrays |= matched_arrays(labels, result.pairs)
    return arrays | ({} if apart is None else columns_of(apart, BOUNDARIES, but=OF_TABLE))


OF_TABLE = ("images", "raters", "classes", "bootstrap", "seed")
"""Fields of a `BoundaryAgreement` that are stored in the table and in the settings."""


def unit_boundaries_of(samples: Any, run_key: str) -> BoundaryAgreement:
    """Return the boundary distances of matched labels, as stored by an agreement with ``boundaries=True``.

    Images are sample ids, and distances are in pixels. No label is read.

    Raises
    ------
    InputError
        If the run did not compare boundaries.
    """
    run = load_metrics(samples, run_key, "agreement")
    if not run.settings["boundaries"]:
        raise InputError(
            f"run key: expected a run that compared boundaries, got {run.key!r}; compute it again with them"
        )
    table = stored_units(run.arrays)[0]
    named: dict[str, Any] = {"images": table.images, "raters": table.raters, "classes": table.categories}
    drawn = {name: run.settings[name] for name in ("bootstrap", "seed")}
    return made_from(BoundaryAgreement, run.arrays, BOUNDARIES, **named, **drawn)
