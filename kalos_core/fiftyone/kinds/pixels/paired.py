"""Boundaries and divisions of pairs of raters in a run on pixels, restored without reading masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.masks import ImageMasks, RaterMasks
from kalos_core.fiftyone.kinds.columns import columns_of, made_from
from kalos_core.fiftyone.kinds.pixels.settings import PixelRunSettings
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.pixels import BoundaryAgreement, RegionAgreement, boundary_agreement, region_agreement
from kalos_core.pixels.paired import PairedRaters
from kalos_core.pixels.stored import MARKED

BOOTSTRAP = 1000
"""Number of bootstrap replicates for displayed intervals."""

Compared = Mapping[int, PairedRaters]
"""Code of a class -> numbers of the pairs of raters on one image."""


@dataclass
class PairCounter:
    """Collector of the numbers of pairs of raters, image by image.

    Parameters
    ----------
    name : str
        Name of the setting that requests the numbers, and prefix of the names of their arrays.
    made : type
        Class of the numbers.
    shown, on_samples : str
        A measure of this class, and the sample field for its mean on an image.
    raters : tuple of str
        Names of all raters.
    compare : callable
        ``compare(masks of an image)`` -> the numbers by code of the class.
    """

    name: str
    made: type[PairedRaters]
    shown: str
    on_samples: str
    raters: tuple[str, ...]
    compare: Callable[[ImageMasks], Compared]
    images: list[str] = field(default_factory=list)
    codes: list[NDArray[np.intp]] = field(default_factory=list)
    values: list[NDArray[np.float64]] = field(default_factory=list)

    def documents(self, sample_id: str, masks: ImageMasks) -> dict[str, float | None]:
        """Return sample field -> mean over pairs of raters and classes of one image, None without any."""
        compared = self.compare(masks)
        for category, found in compared.items():
            code = np.array([self.raters.index(rater) for rater in found.raters], dtype=np.intp)
            same = np.full(len(found), len(self.images)), np.full(len(found), category)
            self.codes.append(np.stack([*same, code[found.rater_a], code[found.rater_b]], axis=1))
            self.values.append(found.values)
        self.images += [sample_id] * bool(compared)
        column = self.made.measures.index(self.shown)
        own = np.concatenate([np.zeros(0), *(found.values[:, column] for found in compared.values())])
        known = own[np.isfinite(own)]
        return {self.on_samples: float(known.mean()) if len(known) else None}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that the run stores."""
        codes = np.concatenate([np.zeros((0, 4), np.intp), *self.codes])
        columns = dict(zip(("image", "category", "rater_a", "rater_b"), codes.T, strict=True))
        values = np.concatenate([np.zeros((0, len(self.made.measures))), *self.values])
        return columns_of({"images": object_array(self.images), **columns, "values": values}, f"{self.name}/")


def pair_counters(names: RunNames, masks: RaterMasks, told: PixelRunSettings) -> list[PairCounter]:
    """Return the collectors that the settings request."""
    number = {name: code for code, name in enumerate(masks.classes)}

    def boundaries(found: ImageMasks) -> Compared:
        stacks = {name: stack for name, stack in found.stacks.items() if len(stack.raters) > 1}
        return {
            number[name]: boundary_agreement(stack, tolerance=told.tolerance, bootstrap=0)
            for name, stack in stacks.items()
        }

    def divisions(found: ImageMasks) -> Compared:
        labels = found.labels
        return {} if labels is None or len(labels.raters) < 2 else {0: region_agreement([labels], bootstrap=0)}

    known = [
        PairCounter("boundaries", BoundaryAgreement, "average", names.boundary, masks.raters, boundaries),
        PairCounter("divisions", RegionAgreement, "adjusted_rand", names.adjusted_rand, masks.raters, divisions),
    ]
    return [counter for counter in known if getattr(told, counter.name)]


def boundaries_of(samples: Any, run_key: str) -> BoundaryAgreement:
    """Return the boundary distances of pairs of raters, as stored by a run on pixels with ``boundaries=True``.

    Images are sample ids. No mask is read.

    Raises
    ------
    InputError
        If the run did not compare boundaries.
    """
    run = _run_with(samples, run_key, "boundaries")
    classes = [None if name == MARKED else name for name in run.settings["classes"]]
    own = {"classes": object_array(classes), "tolerance": run.settings["tolerance"]}
    unit = np.full(len(run.arrays["boundaries/category"]), -1)
    return made_from(BoundaryAgreement, run.arrays, "boundaries/", **_about(run), **own, unit=unit)


def divisions_of(samples: Any, run_key: str) -> RegionAgreement:
    """Return how similarly pairs of raters divide images, as stored by a run on pixels with ``divisions=True``.

    Images are sample ids. No mask is read.

    Raises
    ------
    InputError
        If the run did not compare divisions.
    """
    run = _run_with(samples, run_key, "divisions")
    return made_from(RegionAgreement, run.arrays, "divisions/", **_about(run))


def view_of_boundaries(samples: Any, run_key: str) -> Any:
    """Return the samples of a run with boundaries of two raters, largest mean distance first."""
    run = load_metrics(samples, run_key, "pixels")
    return run.view.exists(run.names.boundary).sort_by(run.names.boundary, reverse=True)


def view_of_divisions(samples: Any, run_key: str) -> Any:
    """Return the samples of a run that two raters divided, least similar divisions first."""
    run = load_metrics(samples, run_key, "pixels")
    return run.view.exists(run.names.adjusted_rand).sort_by(run.names.adjusted_rand)


def _run_with(samples: Any, run_key: str, setting: str) -> AnyRun:
    run = load_metrics(samples, run_key, "pixels")
    if not run.settings[setting]:
        raise InputError(
            f"run key: expected a run that compared {setting}, got {run.key!r}; compute it again with them"
        )
    return run


def _about(run: AnyRun) -> dict[str, Any]:
    raters, local = object_array(list(run.selection.raters or ())), run.settings["raters_are_local"]
    return {"raters": raters, "bootstrap": BOOTSTRAP, "seed": 0, "raters_are_local": local}
