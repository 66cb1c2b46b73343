"""Alpha of every image for each class, each rater and each two raters: what views are sorted by."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.annotations.blocks import ByImage
from kalos_core.annotations.joining import narrow
from kalos_core.diagnostics import Diagnosis
from kalos_core.diagnostics.parts import Part
from kalos_core.diagnostics.rematching import rematch
from kalos_core.errors import Undefined
from kalos_core.fiftyone.dataset.writing import Values, nested, or_none, picked
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.reliability import Units
from kalos_core.resampling import Cells


def sample_values(result: Agreement, names: RunNames) -> Values:
    """Fields of samples: alpha of the image, and of its classes, raters and pairs of raters.

    Classes that occur in an image are listed with their alphas, and with those of each rater; those of raters and pairs
    stand in the order of the raters, and of ``numpy.triu_indices``.
    """
    annotations, units, by_image = result.annotations, result.units, ByImage(result.annotations)
    raters = len(annotations.raters)
    of_pairs = (
        None if annotations.raters_are_local else np.full((len(annotations.images), raters * (raters - 1) // 2), np.nan)
    )
    if of_pairs is not None:
        pairs = pair_cells(result)
        of_pairs[pairs.image, pairs.statistic] = pairs.value

    def values(images: NDArray[np.intp]) -> dict[str, list[Any]]:
        first, last = (int(images[0]), int(images[-1]) + 1) if len(images) else (0, 0)
        chosen = slice(*np.searchsorted(units.image, (first, last)))
        part = Part(by_image.table(first, last), Units(units.image[chosen] - first, units.values[chosen]))
        cells, _, codes = part.class_cells()
        order, count = np.argsort(cells.image, kind="stable"), np.bincount(cells.image, minlength=len(images))
        index = codes[cells.statistic] * len(images) + cells.image  # ascending
        found = {
            names.alpha: or_none(result.image_alpha[images]),
            names.class_names: nested(annotations.categories[codes[cells.statistic[order]]], count),
            names.class_alphas: nested(cells.value[order], count),
        }
        if of_pairs is None:
            return found
        of_raters = np.empty((len(images), raters))
        of_classes = np.full((len(cells), raters), np.nan)
        for rater in range(raters):
            own = part.of_rater(rater)
            of_raters[:, rater] = own.cells().value
            own_cells, _, own_codes = own.class_cells()
            at = np.searchsorted(index, own_codes[own_cells.statistic] * len(images) + own_cells.image)
            of_classes[at, rater] = own_cells.value
        return {
            **found,
            names.rater_alphas: or_none(of_raters),
            names.class_rater_alphas: nested(of_classes[order], count),
            names.pair_alphas: or_none(of_pairs[images]),
        }

    return values


def threshold_values(details: Diagnosis, names: RunNames) -> Values:
    """Field of samples: alphas of the image at each threshold of the sensitivity."""
    curve = details.sensitivity
    return picked({} if isinstance(curve, Undefined) else {names.threshold_alphas: curve.image_alpha.T})


def pair_cells(result: Agreement) -> Cells:
    """Alpha of each image for each two raters, matched on these alone; a statistic a pair."""
    raters = len(result.annotations.raters)
    first, second = np.triu_indices(raters, 1)
    groups = np.zeros((len(first), raters), np.bool_)
    groups[np.arange(len(first)), first] = groups[np.arange(len(first)), second] = True
    return rematch(result, groups)


def unit_arrays(result: Agreement) -> dict[str, NDArray[Any]]:
    """The units, which `lens` looks at."""
    return {"unit_of": narrow(result.unit_of)}
