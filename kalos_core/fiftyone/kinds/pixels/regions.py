"""Regions in dispute of a run on pixels: their labels on the samples, and their queue entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import fiftyone as fo
import numpy as np
from bson import ObjectId

from kalos_core.fiftyone.dataset.database import FieldArguments, label_field
from kalos_core.fiftyone.dataset.masks import ImageMasks
from kalos_core.fiftyone.dataset.raters import DISPUTED
from kalos_core.fiftyone.kinds.agreement.values import OPEN
from kalos_core.fiftyone.kinds.pixels.settings import PixelRunSettings
from kalos_core.fiftyone.runs.keys import TEXTS, WHOLE, RunNames
from kalos_core.pixels import Region, regions_in_dispute

NOTHING = ""
"""Value for a rater who gave no class to most of a region."""


def region_fields(names: RunNames) -> dict[str, FieldArguments]:
    """Return path -> declaration of the fields of regions."""
    about = f"Regions where raters differ most about pixels, of the run {names.key!r}"
    path = f"{names.regions}.detections"
    return {
        names.regions: label_field(fo.Detections, about, {DISPUTED: names.key}),
        f"{path}.{names.unit}": WHOLE,
        f"{path}.area": WHOLE,
        f"{path}.raters": TEXTS,
        f"{path}.given": TEXTS,
        **names.declared(names.queue, names.disputes, names.decisions),
    }


class RegionWriter:
    """Writer of the regions of each image, with the `count` and `area` (pixels) of all regions so far."""

    def __init__(self, names: RunNames, told: PixelRunSettings) -> None:
        self.names, self.told = names, told
        self.count, self.area = 0, 0

    def documents(self, sample_id: str, masks: ImageMasks) -> dict[str, Any]:
        """Return field -> value for one sample: undecided regions on which raters take different sides."""
        stacks = masks.stacks
        found = [
            region
            for region in regions_in_dispute(stacks, self.told.region_area, self.told.region_width)
            if region.has_sides
        ]
        size = next(iter(stacks.values())).masks.shape[1:]
        labels, queue = [], []
        for number, region in enumerate(found[: self.told.region_most], self.count):
            labels.append(_label(sample_id, region, size, number, self.names.unit))
            entry = {"unit": number, "together": number, "classes": _classes(region), "raters": _against(region)}
            asked = {"label": str(labels[-1]["_id"]), "assigned": list(region.given), "given": [*region.given.values()]}
            queue.append({**entry, **asked, "state": OPEN})
            self.area += region.area
        self.count += len(labels)
        names = self.names
        documents = {names.queue: queue, names.disputes: len(queue), names.decisions: []}
        return {names.regions: {"_cls": "Detections", "detections": labels}, **documents}


def _label(sample_id: str, region: Region, size: Iterable[int], number: int, unit: str) -> dict[str, Any]:
    """Return the document of a region; its id is the same in each run that finds it, so decisions carry over."""
    height, width = size
    x, y, across, down = region.box
    given = {rater: name or NOTHING for rater, name in region.given.items()}
    label = fo.Detection(
        label=" or ".join([*_classes(region), *["nothing"] * (NOTHING in given.values())]),
        bounding_box=[x / width, y / height, across / width, down / height],
        mask=region.mask,
        area=region.area,
        raters=list(given),
        given=list(given.values()),
        **{unit: number},
    )
    content = repr((sample_id, region.box, sorted(given.items()))).encode() + np.packbits(region.mask).tobytes()
    return {**label.to_dict(), "_id": ObjectId(blake2b(content, digest_size=12).digest())}


def _classes(region: Region) -> list[str]:
    return sorted({name for name in region.given.values() if name is not None})


def _against(region: Region) -> list[str]:
    """Return the raters who contradict the majority; all raters if there is no majority."""
    votes = Counter(region.given.values())
    most = max(votes.values())
    tied = list(votes.values()).count(most) > 1
    return [rater for rater, name in region.given.items() if tied or votes[name] < most]
