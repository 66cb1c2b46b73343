"""Maps and masks that a run writes: files beside the data set, and labels that point to them.

A map of 2,048 x 2,048 pixels in the database makes every look at its sample slow, in the grid, too, and many of them
pass the 16 MB a sample may have. FiftyOne's own answer for large masks is a file: it is read only when it is drawn.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray
from PIL import Image

FULL = 255
"""Value of what is marked in a binary mask, so that its file can be looked at."""


class MapFiles:
    """The files of one run, and the documents of the labels that show them.

    Parameters
    ----------
    folder : Path
        Of `kalos_core.fiftyone.runs.new_folder`.
    images : (I,) str
        Sample ids.
    """

    def __init__(self, folder: Path, images: list[str]) -> None:
        self._folder = folder
        self._images = images
        self.documents: list[dict[str, Any]] = [{} for _ in images]

    def add_heatmap(self, field: str, image: int, levels: NDArray[np.uint8], most: int) -> None:
        """A map of whole numbers from 0 to `most`."""
        path = self._save(field, image, levels)
        self.documents[image][field] = fo.Heatmap(map_path=path, range=[0, most]).to_dict()

    def add_mask(self, field: str, image: int, mask: NDArray[Any]) -> None:
        """A binary mask, or a map of the values of classes."""
        values = mask.astype(np.uint8) * FULL if mask.dtype == np.bool_ else mask
        narrow = np.uint8 if values.max(initial=0) <= np.iinfo(np.uint8).max else np.uint16
        path = self._save(field, image, values.astype(narrow))
        self.documents[image][field] = fo.Segmentation(mask_path=path).to_dict()

    def _save(self, field: str, image: int, values: NDArray[Any]) -> str:
        path = self._folder / field / f"{self._images[image]}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(values).save(path)
        return str(path)


def map_field(document: type, description: str, mark: dict[str, Any] | None = None) -> dict[str, Any]:
    """The arguments that declare a field of heatmaps or masks."""
    arguments = {"ftype": fo.EmbeddedDocumentField, "embedded_doc_type": document, "description": description}
    return arguments if mark is None else arguments | {"info": mark}
