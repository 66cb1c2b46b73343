"""What a run on pixels stores of every two raters of an image, counted image by image and read back without a mask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.errors import InputError
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.fiftyone.runs.stored import load_arrays, load_metrics
from kalos_core.pixels.paired import PairedRaters

BOOTSTRAP = 1000
"""Replicates of the intervals that are shown."""


class PairCounter:
    """Numbers of every two raters, one image after the other.

    Parameters
    ----------
    name : str
        Of the setting that asks for them, with which the names of their arrays begin.
    measures : tuple of str
        What is said of each pair.
    field : str
        Of samples, for the mean of `shown` on an image.
    shown : str
        One of the measures.
    raters : tuple of str
        Names of all.
    """

    def __init__(self, name: str, measures: tuple[str, ...], field: str, shown: str, raters: tuple[str, ...]) -> None:
        self.name, self.measures, self.field, self.shown = name, measures, field, shown
        self.rater = {rater: code for code, rater in enumerate(raters)}
        self.images: list[str] = []
        self.codes: list[NDArray[np.intp]] = []
        self.values: list[NDArray[np.float64]] = []

    def add(self, sample_id: str, by_class: Mapping[int, PairedRaters]) -> dict[str, float | None]:
        """Field -> mean over pairs of raters and classes of one image, None without any. By code of the class."""
        for category, found in by_class.items():
            code = np.array([self.rater[rater] for rater in found.raters], dtype=np.intp)
            same = np.full(len(found), len(self.images)), np.full(len(found), category)
            self.codes.append(np.stack([*same, code[found.rater_a], code[found.rater_b]], axis=1))
            self.values.append(found.values)
        self.images += [sample_id] * bool(by_class)
        column = self.measures.index(self.shown)
        own = np.concatenate([np.zeros(0), *(found.values[:, column] for found in by_class.values())])
        known = own[np.isfinite(own)]
        return {self.field: float(known.mean()) if len(known) else None}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What the run stores of them."""
        return {
            f"{self.name}_codes": np.concatenate([np.zeros((0, 4), np.intp), *self.codes]),
            f"{self.name}_values": np.concatenate([np.zeros((0, len(self.measures))), *self.values]),
            f"{self.name}_images": np.array(self.images, dtype=np.bytes_),
        }


def stored_pairs(samples: Any, run: AnyRun, name: str) -> tuple[dict[str, Any], NDArray[np.intp]]:
    """The fields of `PairedRaters` as a `PairCounter` of that name counted them, and the class of each pair."""
    arrays = load_arrays(samples, run.key)
    image, category, rater_a, rater_b = arrays[f"{name}_codes"].astype(np.intp).T
    fields = {
        "images": object_array([image_id.decode() for image_id in arrays[f"{name}_images"].tolist()]),
        "raters": object_array(list(run.selection.raters or ())),
        "image": image,
        "rater_a": rater_a,
        "rater_b": rater_b,
        "values": arrays[f"{name}_values"],
        "bootstrap": BOOTSTRAP,
        "seed": 0,
        "raters_are_local": run.settings["raters_are_local"],
    }
    return fields, category


def run_with(samples: Any, run_key: str, setting: str) -> AnyRun:
    """A run on pixels that compared what a setting of it asks for."""
    run = load_metrics(samples, run_key, "pixels")
    if not run.settings[setting]:
        raise InputError(f"run key: expected a run that compared {setting}, got {run.key!r}; make it anew with them")
    return run
