"""An agreement as its run stored it: no label is read and nothing is matched again."""

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
    """The annotations of a run without their shapes, and (N,) the unit of each."""
    return stored_table(arrays, with_shapes=False), arrays["unit_of"].astype(np.intp)


def stored_agreement(samples: Any, run_key: str, bootstrap: int = 0) -> Agreement:
    """An agreement as it was when the run was made, whatever has become of the labels since; without shapes.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of an agreement.
    bootstrap : int
        Replicates of its intervals; those of the run are among its metrics.
    """
    run = load_metrics(samples, run_key, "agreement")
    annotations, unit_of = stored_units(run.arrays)
    pairs = stored_pairs(run.arrays, run.settings["similarity"])
    return matched(annotations, pairs, replace(matching(run.settings), bootstrap=bootstrap), unit_of)


UNITS, PAIR_CELLS, LEFT_OUT, BOUNDARIES = "units/", "cells of pairs/", "cells left out/", "boundary/"
"""What the names of the arrays of units, of `ImageSums.pairs`, `ImageSums.left_out`, and of boundaries begin with."""


def narrowed_metrics(samples: Any, run_key: str, filter: Filter = Filter()) -> NarrowedAgreement:  # noqa: B008
    """Return the metrics of a run within a filter; see `kalos_core.diagnostics.narrowed`.

    All come from what the run stored: no label is read and nothing is matched again.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of an agreement.
    filter : Filter
        Its class and its rater are names of the run.

    Returns
    -------
    NarrowedAgreement
        Images in the order in which the run read them.

    Raises
    ------
    InputError
        For a class or rater the run does not know.
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
    """The sums of a run, with what was computed of them with the run already; and the ids of its images."""
    details = load_details(samples, run.key).details
    sums = load_sums(run.arrays, matching(run.settings))
    for name in ("class_difficulty", "collaboration", "vitality"):
        vars(sums)[name] = getattr(details, name)
    return sums, run.arrays[f"{TABLE}images"]


def _estimates(metrics: Mapping[str, Any]) -> Estimates:
    """Those of all labels, which the run has."""
    alpha, whole = (np.array([value], np.float64) for value in (metrics["alpha"], metrics["global_alpha"]))  # None: NaN
    ends = (np.array([pair], np.float64) for pair in (metrics["alpha_interval"], metrics["global_alpha_interval"]))
    alpha_ends, whole_ends = ends
    return Estimates(alpha, alpha_ends, whole, whole_ends, np.array([metrics["defined_images"]]))


def load_sums(arrays: Mapping[str, NDArray[Any]], configuration: AgreementSettings) -> ImageSums:
    """The sums of a stored agreement."""
    table, units = compared(_who_annotated(arrays), configuration.empty), made_from(Units, arrays, UNITS)
    pairs, left_out = (made_from(Cells, arrays, prefix) for prefix in (PAIR_CELLS, LEFT_OUT))
    return ImageSums(Part(table, units), configuration, pairs, left_out)


def _who_annotated(arrays: Mapping[str, NDArray[Any]]) -> Annotations:
    """A table with one annotation for each rater and image, without shapes: all that sums need of annotations."""
    none = dict.fromkeys((*CODES, "id"), np.zeros(0, np.intp))
    light = {name: arrays[f"{TABLE}{name}"] for name in OF_IMAGES if f"{TABLE}{name}" in arrays}
    classes = np.full(light["assigned"].shape, -1, np.int32)
    image, rater, category = (arrays[f"{TABLE}{name}"] for name in CODES)
    classes[image, rater] = category
    return thinned(from_arrays(none | light), classes)


OF_IMAGES = (*NAMES, *OTHERS, "raters_are_local", "assigned_categories")
"""Columns of a table that are not of annotations."""


def arrays_of(
    labels: Labels, result: Agreement, sums: ImageSums, apart: BoundaryAgreement | None
) -> dict[str, NDArray[Any]]:
    """All arrays that an agreement stores."""
    cells = columns_of(sums.pairs, PAIR_CELLS) | columns_of(sums.left_out, LEFT_OUT)
    arrays = {"unit_of": result.unit_of, **columns_of(sums.part.units, UNITS), **cells}
    arrays |= matched_arrays(labels, result.pairs)
    return arrays | ({} if apart is None else columns_of(apart, BOUNDARIES, but=OF_TABLE))


OF_TABLE = ("images", "raters", "classes", "bootstrap", "seed")
"""Fields of a `BoundaryAgreement` that stand in the table and in the settings."""


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
    table = stored_units(run.arrays)[0]
    named: dict[str, Any] = {"images": table.images, "raters": table.raters, "classes": table.categories}
    drawn = {name: run.settings[name] for name in ("bootstrap", "seed")}
    return made_from(BoundaryAgreement, run.arrays, BOUNDARIES, **named, **drawn)
