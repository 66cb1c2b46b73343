"""Views behind the figures of masks: the images of a rater, and those on which raters agree least."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import lookup
from kalos_core.fiftyone.runs import load_arrays, load_figures, load_run_view
from kalos_core.pixels.sums import mean_of_defined


@dataclass(frozen=True)
class PixelImage:
    """An image of a run on pixels: its sample, file name, mean F1 of its raters and Smyth's bound."""

    sample_id: str
    file: str
    f1: float
    bound: float


def pixel_images(samples: Any, run_key: str, limit: int | None = None) -> list[PixelImage]:
    """The images of a run that raters agree about, those with the least F1 first; of classes the mean."""
    stored = load_arrays(samples, run_key)
    f1, bound = (_by_image(stored, name) for name in ("image_f1", "image_bound"))
    files = dict(zip(*load_run_view(samples, run_key).values(["id", "filepath"]), strict=True))
    ids = stored["image_ids"].tolist()
    order = [row for row in np.argsort(f1, kind="stable").tolist() if np.isfinite(f1[row]) and ids[row] in files]
    return [
        PixelImage(ids[row], Path(files[ids[row]]).name, float(f1[row]), float(bound[row])) for row in order[:limit]
    ]


def view_of_mask_rater(samples: Any, run_key: str, rater: str) -> Any:
    """The images of a run that a rater was asked about, those raters agree about least first."""
    raters = load_figures(samples, run_key, "pixels").figures["raters"]
    code = lookup({name: place for place, name in enumerate(raters)}, rater, "rater")
    stored = load_arrays(samples, run_key)
    f1 = _by_image(stored, "image_f1")
    ids = [stored["image_ids"][row] for row in np.argsort(f1, kind="stable") if stored["assigned"][row, code]]
    view = load_run_view(samples, run_key)
    return view.select([str(key) for key in ids], ordered=True) if ids else view.limit(0)


def _by_image(stored: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float64]:
    """(I,) a figure of each image, mean over the classes; NaN of an image without two raters."""
    columns, number = [], 0
    while f"{name}_{number}" in stored:
        column = np.full(len(stored["image_ids"]), np.nan)
        column[stored[f"image_{number}"]] = stored[f"{name}_{number}"]
        columns.append(column)
        number += 1
    return mean_of_defined(np.array(columns))
