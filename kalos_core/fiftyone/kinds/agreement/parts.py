"""Alpha of every image for each class, each rater and each two raters: what views are sorted by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.annotations.joining import narrow
from kalos_core.diagnostics import Diagnosis
from kalos_core.diagnostics.parts import Part
from kalos_core.diagnostics.rematching import rematch
from kalos_core.errors import Undefined
from kalos_core.fiftyone.kinds.matched import nested
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.records import plain
from kalos_core.resampling import Cells


def sample_values(result: Agreement, names: RunNames) -> Mapping[str, list[Any]]:
    """Sample field -> (I,) values: alpha of the image, and of its classes, raters and pairs of raters.

    Classes that occur in an image are listed with their alphas, and with those of each rater; those of raters and pairs
    stand in the order of the raters, and of ``numpy.triu_indices``.
    """
    annotations, part, images = result.annotations, Part.of(result), len(result.annotations.images)
    cells, _, codes = part.class_cells()
    classes = annotations.categories[codes[cells.statistic]].tolist()
    values = {
        names.alpha: plain(result.image_alpha),
        names.class_names: nested(cells.image, classes, images),
        names.class_alphas: nested(cells.image, plain(cells.value), images),
    }
    if annotations.raters_are_local:
        return values
    raters = len(annotations.raters)
    own_parts = [part.of_rater(rater) for rater in range(raters)]
    of_raters = np.column_stack([own.cells().value for own in own_parts])
    of_classes = np.full((len(cells.image), raters), np.nan)
    index = codes[cells.statistic] * images + cells.image  # ascending
    for rater, own in enumerate(own_parts):
        own_cells, _, own_codes = own.class_cells()
        at = np.searchsorted(index, own_codes[own_cells.statistic] * images + own_cells.image)
        of_classes[at, rater] = own_cells.value
    of_pairs = np.full((images, raters * (raters - 1) // 2), np.nan)
    pairs = pair_cells(result)
    of_pairs[pairs.image, pairs.statistic] = pairs.value
    return {
        **values,
        names.rater_alphas: plain(of_raters),
        names.class_rater_alphas: nested(cells.image, plain(of_classes), images),
        names.pair_alphas: plain(of_pairs),
    }


def threshold_values(details: Diagnosis, names: RunNames) -> Mapping[str, list[Any]]:
    """Sample field -> (I,) alphas of the image at each threshold of the sensitivity."""
    curve = details.sensitivity
    return {} if isinstance(curve, Undefined) else {names.threshold_alphas: plain(curve.image_alpha.T)}


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
