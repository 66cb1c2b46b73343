"""What kinds of runs on masks have in common: masks as a run read and writes them, files that changed, and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timezone
from pathlib import Path
from typing import Annotated, Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kalos_core.display import number_of
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.masks import ImageMasks, RaterMasks, open_masks
from kalos_core.fiftyone.dataset.raters import MASKS, OBJECTS, label_fields
from kalos_core.fiftyone.kinds.matched import read_compared
from kalos_core.fiftyone.runs.life import STORING
from kalos_core.fiftyone.runs.records import Undefined, or_reason
from kalos_core.fiftyone.runs.table import Read, Run
from kalos_core.options import Option
from kalos_core.pixels import PixelAccumulator

CLOCK = 2.0
"""Seconds by which the clock of a file system may be coarser than ours, or late."""


RatersAreLocal = Annotated[
    bool | None,
    Option(
        "Raters have no names",
        "Rater 1 of one image is not rater 1 of the next: only raters of one image are compared. By default as stored.",
    ),
]


def are_local(masks: RaterMasks, said: bool | None) -> bool:
    """Whether raters have no names over the images: as said, or as is known of them."""
    return any(about["is_local"] for about in masks.facts) if said is None else said


def read_masks(view: Any, run: Run[Any, Any, Any, Any]) -> Read:
    """The masks of some samples with their digests, as a run read them."""
    masks = open_masks(view, run.selection, run.settings["ignore_value"], again=True)
    masks.look()
    return masks


def read_masks_or_objects(view: Any, run: Run[Any, Any, Any, Any]) -> Read:
    """The masks of some samples, or the labels of objects, as a run read them."""
    return read_compared(view, run) if run.settings["of"] == "objects" else read_masks(view, run)


def newer_files(view: Any, run: Run[Any, Any, Any, Any], slack: float = CLOCK) -> list[str]:
    """Ids of samples of which a file of a rater's mask was written or removed since a run; only paths are read.

    `slack`: seconds before the run that count, too; files of these may be unchanged.
    """
    since = run.read_at.replace(tzinfo=timezone.utc).timestamp() - slack
    lists = {field: path for field, path in label_fields(view, OBJECTS).items() if path == f"{field}.detections"}
    fields = lists | label_fields(view, MASKS)
    paths = [f"{fields[field]}.mask_path" for field in run.label_fields if field in fields]
    if not paths:
        return []
    found, in_files = [], [{path: {"$type": "string"}} for path in paths]
    for columns in stream(view.mongo([{"$match": {"$or": in_files}}]), ["id", *paths]):
        for sample_id, *stored in zip(columns["id"], *(columns[path] for path in paths), strict=True):
            of_rater = [entry if isinstance(entry, list) else [entry] for entry in stored]  # of a list of labels each
            if any(_is_newer(path, since) for files in of_rater for path in files if path is not None):
                found.append(sample_id)
    return found


def _is_newer(path: str, since: float) -> bool:
    try:
        facts = Path(path).stat()
    except OSError:
        return True
    return max(facts.st_mtime, facts.st_ctime) >= since  # also one that was replaced by an older one


def with_progress(
    masks: RaterMasks,
    report: Callable[[float, str], None],
    raters_are_local: bool = False,
    begin: float = 0.0,
    end: float = STORING,
) -> Iterator[ImageMasks]:
    """The masks of each image; tells which one comes next."""
    for number, found in enumerate(masks):
        label = f"{masks.name(found.image)}: {number + 1:,} of {number_of(len(masks), 'image')}"
        report(begin + (end - begin) * number / len(masks), label)
        stacks = {name: replace(stack, raters_are_local=raters_are_local) for name, stack in found.stacks.items()}
        yield replace(found, stacks=stacks)


def outliers_of_study(masks: RaterMasks, report: Callable[[float, str], None], end: float) -> dict[str, list[str]]:
    """Class -> the raters who stand out over all images, see `kalos_core.consensus.study_outliers`; one reading.

    A class without two raters on any image is left out.
    """
    accumulators = {name: PixelAccumulator(masks.raters) for name in masks.classes}
    for found in with_progress(masks, report, end=end):
        for name, stack in found.stacks.items():
            accumulators[name].add(stack)
    results = {name: or_reason(accumulator.result, 0) for name, accumulator in accumulators.items()}
    agreed = {name: result for name, result in results.items() if not isinstance(result, Undefined)}
    return {name: result.raters[result.outliers].tolist() for name, result in agreed.items()}


FULL = 255
"""Value of what is marked in a binary mask, so that its file can be looked at."""


@dataclass(frozen=True)
class MapFiles:
    """The files of one run, in a `folder` of `kalos_core.fiftyone.runs.upkeep.new_folder`: a field a folder in it.

    Not in the database: a map of 2,048 x 2,048 pixels makes every look at its sample slow, and many of them pass what a
    sample may hold. FiftyOne reads a file only when it is shown.
    """

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
