"""Boundaries of masks as a run on pixels has them: how far those of every two raters are apart, image by image."""

from __future__ import annotations

from typing import Any

import numpy as np

from kalos_core.annotations import object_array
from kalos_core.fiftyone.dataset.masks import ImageMasks
from kalos_core.fiftyone.kinds.pixels.paired import PairCounter, run_with, stored_pairs
from kalos_core.fiftyone.runs.stored import load_metrics, load_run_view
from kalos_core.pixels import BoundaryAgreement, boundary_agreement
from kalos_core.pixels.rater_boundaries import MEASURES
from kalos_core.pixels.stored import MARKED


class BoundaryCounter(PairCounter):
    """Distances of one image after the other. `field`: of their mean; `raters`, `classes`: names of all."""

    def __init__(self, field: str, raters: tuple[str, ...], classes: list[str], tolerance: float) -> None:
        super().__init__("boundary", MEASURES, field, "average", raters)
        self.category = {name: code for code, name in enumerate(classes)}
        self.tolerance = tolerance

    def documents(self, sample_id: str, found: ImageMasks) -> dict[str, float | None]:
        """Field -> mean distance of two boundaries on an image, over pairs of raters and classes; None without any."""
        compared = {
            self.category[name]: boundary_agreement(stack, tolerance=self.tolerance, bootstrap=0)
            for name, stack in found.stacks.items()
            if len(stack.raters) > 1
        }
        return self.add(sample_id, compared)


def boundaries_of(samples: Any, run_key: str) -> BoundaryAgreement:
    """How far the boundaries of every two raters are apart, as a run on pixels with ``boundaries=True`` stored it.

    Images are sample ids. No mask is read.

    Raises
    ------
    InputError
        For a run that did not compare boundaries.
    """
    run = run_with(samples, run_key, "boundaries")
    fields, category = stored_pairs(samples, run, "boundary")
    classes: list[Any] = list(run.settings["classes"])
    return BoundaryAgreement(
        **fields,
        classes=object_array([None] if classes == [MARKED] else classes),
        category=category,
        unit=np.full(len(category), -1),
        tolerance=run.settings["tolerance"],
    )


def view_of_boundaries(samples: Any, run_key: str) -> Any:
    """The samples of a run on which two raters have a boundary each, those furthest apart first."""
    run = load_metrics(samples, run_key, "pixels")
    return load_run_view(samples, run.key).exists(run.names.boundary).sort_by(run.names.boundary, reverse=True)
