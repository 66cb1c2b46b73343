"""Maps and masks that a run writes: files next to the data set, and the documents of the labels that point to them.

A map of 2,048 x 2,048 pixels in the database makes every look at its sample slow, in the grid, too, and many of them
pass the 16 MB a sample may have. FiftyOne's own answer for large masks is a file: it is read only when it is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray
from PIL import Image

FULL = 255
"""Value of what is marked in a binary mask, so that its file can be looked at."""


@dataclass(frozen=True)
class MapFiles:
    """The files of one run, in a `folder` of `kalos_core.fiftyone.runs.life.new_folder`: a field a folder in it."""

    folder: Path

    def heatmap(self, field: str, sample_id: str, values: NDArray[np.uint8], most: int) -> dict[str, Any]:
        """The document of a map of whole numbers from 0 to `most`, whose file is written."""
        return dict(fo.Heatmap(map_path=self._save(field, sample_id, values), range=[0, most]).to_dict())

    def mask(self, field: str, sample_id: str, mask: NDArray[Any]) -> dict[str, Any]:
        """The document of a binary mask, or of a map of the values of classes, whose file is written."""
        values = mask.astype(np.uint8) * FULL if mask.dtype == np.bool_ else mask
        fits = values.max(initial=0) <= np.iinfo(np.uint8).max
        path = self._save(field, sample_id, values.astype(np.uint8 if fits else np.uint16))
        return dict(fo.Segmentation(mask_path=path).to_dict())

    def _save(self, field: str, sample_id: str, values: NDArray[Any]) -> str:
        path = self.folder / field / f"{sample_id}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(values).save(path)
        return str(path)
