"""Boundaries of masks as a run on pixels has them: how far those of every two raters are apart, image by image."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.errors import InputError
from kalos_core.fiftyone.runs.stored import load_arrays, load_metrics, load_run_view
from kalos_core.pixels import BoundaryAgreement, MaskStack, boundary_agreement
from kalos_core.pixels.rater_boundaries import MEASURES
from kalos_core.pixels.stored import MARKED

BOOTSTRAP = 1000
"""Replicates of the intervals that are shown."""

CODES = ("image", "category", "rater_a", "rater_b")


class BoundaryCounter:
    """Distances of one image after the other. `field`: of their mean; `raters`, `classes`: names of all."""

    def __init__(self, field: str, raters: tuple[str, ...], classes: list[str], tolerance: float) -> None:
        self.field = field
        self.rater = {name: code for code, name in enumerate(raters)}
        self.category = {name: code for code, name in enumerate(classes)}
        self.tolerance = tolerance
        self.images: list[str] = []
        self.codes: list[NDArray[np.intp]] = []
        self.values: list[NDArray[np.float64]] = []

    def documents(self, sample_id: str, stacks: Mapping[str, MaskStack]) -> dict[str, float | None]:
        """Field -> mean distance of two boundaries on an image, over pairs of raters and classes; None without any."""
        begin, compared = len(self.values), {name: stack for name, stack in stacks.items() if len(stack.raters) > 1}
        for name, stack in compared.items():
            found = boundary_agreement(stack, tolerance=self.tolerance, bootstrap=0)
            code = np.array([self.rater[rater] for rater in found.raters], dtype=np.intp)
            same = np.full(len(found), len(self.images)), np.full(len(found), self.category[name])
            self.codes.append(np.stack([*same, code[found.rater_a], code[found.rater_b]], axis=1))
            self.values.append(found.values)
        self.images += [sample_id] * bool(compared)
        own = np.concatenate([np.zeros(0), *(values[:, MEASURES.index("average")] for values in self.values[begin:])])
        known = own[np.isfinite(own)]
        return {self.field: float(known.mean()) if len(known) else None}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What the run stores of them."""
        codes = np.concatenate([np.zeros((0, len(CODES)), np.intp), *self.codes])
        values = np.concatenate([np.zeros((0, len(MEASURES))), *self.values])
        images = np.array(self.images, dtype=np.bytes_)
        return {"boundary_codes": codes, "boundary_values": values, "boundary_images": images}


def boundaries_of(samples: Any, run_key: str) -> BoundaryAgreement:
    """How far the boundaries of every two raters are apart, as a run on pixels with ``boundaries=True`` stored it.

    Images are sample ids. No mask is read.

    Raises
    ------
    InputError
        For a run that did not compare boundaries.
    """
    run = load_metrics(samples, run_key, "pixels")
    if not run.settings.get("boundaries"):
        raise InputError(f"run key: expected a run that compared boundaries, got {run.key!r}; make it anew with them")
    arrays = load_arrays(samples, run.key)
    image, category, rater_a, rater_b = arrays["boundary_codes"].astype(np.intp).T
    classes: list[Any] = list(run.settings["classes"])
    return BoundaryAgreement(
        images=object_array([image_id.decode() for image_id in arrays["boundary_images"].tolist()]),
        raters=object_array(list(run.selection.raters or ())),
        image=image,
        rater_a=rater_a,
        rater_b=rater_b,
        values=arrays["boundary_values"],
        bootstrap=BOOTSTRAP,
        seed=0,
        raters_are_local=run.settings["raters_are_local"],
        classes=object_array([None] if classes == [MARKED] else classes),
        category=category,
        unit=np.full(len(image), -1),
        tolerance=run.settings["tolerance"],
    )


def view_of_boundaries(samples: Any, run_key: str) -> Any:
    """The samples of a run on which two raters have a boundary each, those furthest apart first."""
    run = load_metrics(samples, run_key, "pixels")
    return load_run_view(samples, run.key).exists(run.names.boundary).sort_by(run.names.boundary, reverse=True)
