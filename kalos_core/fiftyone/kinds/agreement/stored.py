"""An agreement as its run stored it: no label is read and nothing is matched again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings, compared, matched
from kalos_core.annotations import Annotations
from kalos_core.annotations.joining import from_arrays
from kalos_core.diagnostics.narrowing import NarrowedAgreement, narrowed
from kalos_core.diagnostics.parts import Part
from kalos_core.diagnostics.sums import ImageSums, cell_arrays, cells_from
from kalos_core.errors import InputError, Undefined
from kalos_core.fiftyone.dataset.lens import Lens
from kalos_core.fiftyone.dataset.objects import Labels
from kalos_core.fiftyone.kinds.agreement.settings import AgreementRun, matching
from kalos_core.fiftyone.kinds.matched import TABLE, matched_arrays, stored_pairs
from kalos_core.fiftyone.runs.arrays import part_of
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.fiftyone.runs.stored import load_details, load_metrics
from kalos_core.fiftyone.runs.table import Arrays
from kalos_core.pixels import BoundaryAgreement
from kalos_core.reliability import NOT_ASSIGNED, Units
from kalos_core.resampling import Estimates


def stored_units(arrays: Arrays) -> tuple[Annotations, NDArray[np.intp]]:
    """The annotations of a run without their shapes, and (N,) the unit of each."""
    return from_arrays(part_of(arrays, TABLE, without=".")), arrays["unit_of"].astype(np.intp)


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


PAIR_CELLS, LEFT_OUT = "cells of pairs/", "cells left out/"
"""What the names of the arrays of `ImageSums.pairs` and `ImageSums.left_out` begin with."""


def narrowed_metrics(samples: Any, run_key: str, lens: Lens = Lens()) -> NarrowedAgreement:  # noqa: B008
    """The metrics of a run as a lens leaves them; see `kalos_core.diagnostics.narrowed`.

    All come from what the run stored: no label is read and nothing is matched again.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of an agreement.
    lens : Lens
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
    if lens.limits_images:
        return narrowed(sums, lens.category, lens.rater, lens.images_in(samples, names))
    part = lens.category, lens.rater
    found = kept(samples, run, part, lambda: narrowed(sums, *part))
    if lens.is_whole:
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
    units = Units(
        arrays["units/image"].astype(np.intp), arrays["units/values"].astype(np.int32) + np.int32(NOT_ASSIGNED)
    )
    table = compared(_who_annotated(arrays), configuration.empty)
    return ImageSums(Part(table, units), configuration, _cells(arrays, PAIR_CELLS), _cells(arrays, LEFT_OUT))


def _who_annotated(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """A table with one annotation for each rater and image, without shapes: all that sums need of annotations."""
    names = ("image", "rater", "category", "id")
    light = part_of({name: arrays[name] for name in _light(arrays, names)}, TABLE)
    one = np.full(light["assigned"].shape, -1, np.intp)
    one[arrays[f"{TABLE}image"], arrays[f"{TABLE}rater"]] = arrays[f"{TABLE}category"]
    image, rater = np.nonzero(one >= 0)
    code = {"image": image, "rater": rater, "category": one[image, rater], "id": np.arange(len(image))}
    return from_arrays({**light, **code})


def _light(arrays: Mapping[str, NDArray[Any]], heavy: tuple[str, ...]) -> list[str]:
    """Names of the arrays of the table but shapes, crowd regions and columns of annotations."""
    left_out = {f"{TABLE}{name}" for name in heavy}
    own = [name for name in arrays if name.startswith(TABLE) and name not in left_out]
    return [name for name in own if "." not in name and not name.startswith(f"{TABLE}crowd_")]


def _cells(arrays: Mapping[str, NDArray[Any]], prefix: str) -> Any:
    if f"{prefix}reason" in arrays:
        return Undefined(arrays[f"{prefix}reason"].item().decode())
    return cells_from(part_of(arrays, prefix))


CODES = ("image", "category", "rater_a", "rater_b", "unit")


def arrays_of(
    labels: Labels, result: Agreement, sums: ImageSums, apart: BoundaryAgreement | None
) -> dict[str, NDArray[Any]]:
    """All arrays that an agreement stores."""
    units = sums.part.units
    arrays = matched_arrays(labels, result.pairs)
    arrays |= {
        "unit_of": result.unit_of,
        "units/image": units.image,
        "units/values": units.values - NOT_ASSIGNED,
    }
    if apart is not None:
        arrays |= {f"boundary_{name}": getattr(apart, name) for name in (*CODES, "values")}
    for prefix, cells in ((PAIR_CELLS, sums.pairs), (LEFT_OUT, sums.left_out)):
        if isinstance(cells, Undefined):
            arrays[f"{prefix}reason"] = np.array(cells.reason.encode())
        else:
            arrays |= {prefix + name: array for name, array in cell_arrays(cells).items()}
    return arrays


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
    arrays, annotations = run.arrays, stored_units(run.arrays)[0]
    return BoundaryAgreement(
        images=annotations.images,
        raters=annotations.raters,
        classes=annotations.categories,
        **{name: arrays[f"boundary_{name}"] for name in CODES},
        values=arrays["boundary_values"],
        bootstrap=run.settings["bootstrap"],
        seed=run.settings["seed"],
        raters_are_local=annotations.raters_are_local,
        tolerance=run.settings["tolerance"],
    )
