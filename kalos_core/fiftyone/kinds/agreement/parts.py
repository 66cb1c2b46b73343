"""What an agreement writes on samples: what views are sorted by."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.diagnostics import AlphasByImage, Diagnosis
from kalos_core.errors import Undefined
from kalos_core.fiftyone.dataset.writing import Values, nested, or_none
from kalos_core.fiftyone.runs.keys import RunNames


def sample_values(result: Agreement, details: Diagnosis, names: RunNames) -> Values:
    """Fields of samples: alpha of the image, of its classes, raters and pairs of raters, and at each threshold.

    Classes that occur in an image are listed with their alphas, and with those of each rater; those of raters and pairs
    stand in the order of the raters, and of ``numpy.triu_indices``.
    """
    alphas, curve = AlphasByImage(result), details.sensitivity

    def values(images: NDArray[np.intp]) -> dict[str, list[Any]]:
        found = alphas.of(*((int(images[0]), int(images[-1]) + 1) if len(images) else (0, 0)))
        made = {
            names.alpha: or_none(result.image_alpha[images]),
            names.class_names: nested(found.category, found.count),
            names.class_alphas: nested(found.class_alpha, found.count),
        }
        if not result.annotations.raters_are_local:
            made |= {
                names.rater_alphas: or_none(found.rater_alpha),
                names.class_rater_alphas: nested(found.class_rater_alpha, found.count),
                names.pair_alphas: or_none(alphas.pairs[images]),
            }
        if not isinstance(curve, Undefined):
            made[names.threshold_alphas] = or_none(curve.image_alpha.T[images])
        return made

    return values
