"""Alpha of every image for each class, each rater and each two raters: what views are sorted by."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.annotations.joining import narrow
from kalos_core.diagnostics import Diagnosis
from kalos_core.diagnostics.parts import Part
from kalos_core.diagnostics.rematching import rematch
from kalos_core.errors import Undefined
from kalos_core.fiftyone.dataset.writing import Owned, Values, nested, or_none, picked
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.resampling import Cells


def sample_values(result: Agreement, names: RunNames) -> Values:
    """Fields of samples: alpha of the image, and of its classes, raters and pairs of raters.

    Classes that occur in an image are listed with their alphas, and with those of each rater; those of raters and pairs
    stand in the order of the raters, and of ``numpy.triu_indices``.
    """
    annotations, part, count = result.annotations, Part.of(result), len(result.annotations.images)
    cells, _, codes = part.class_cells()
    owned, category, alpha = Owned(cells.image, count), codes[cells.statistic], cells.value

    def of_image(images: NDArray[np.intp]) -> dict[str, list[Any]]:
        entries, lengths = owned.of(images)
        return {
            names.alpha: or_none(result.image_alpha[images]),
            names.class_names: nested(annotations.categories[category[entries]], lengths),
            names.class_alphas: nested(alpha[entries], lengths),
        }

    if annotations.raters_are_local:
        return of_image
    raters = len(annotations.raters)
    of_raters = np.empty((count, raters))
    of_classes = np.full((len(alpha), raters), np.nan)
    index = category * count + cells.image  # ascending
    for rater in range(raters):
        own = part.of_rater(rater)
        of_raters[:, rater] = own.cells().value
        own_cells, _, own_codes = own.class_cells()
        at = np.searchsorted(index, own_codes[own_cells.statistic] * count + own_cells.image)
        of_classes[at, rater] = own_cells.value
    pairs = pair_cells(result)
    of_pairs = np.full((count, raters * (raters - 1) // 2), np.nan)
    of_pairs[pairs.image, pairs.statistic] = pairs.value

    def of_all(images: NDArray[np.intp]) -> dict[str, list[Any]]:
        entries, lengths = owned.of(images)
        return of_image(images) | {
            names.rater_alphas: or_none(of_raters[images]),
            names.class_rater_alphas: nested(of_classes[entries], lengths),
            names.pair_alphas: or_none(of_pairs[images]),
        }

    return of_all


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
