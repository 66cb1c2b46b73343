"""Shared parts of the kinds of runs on masks: reading and writing masks, changed files, and progress."""

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
"""Tolerance, in seconds, for file systems with a coarse or late clock."""


RatersAreLocal = Annotated[
    bool | None,
    Option(
        "Raters have no names",
        "Rater 1 of one image is not rater 1 of the next: only raters of one image are compared. By default as stored.",
    ),
]


def are_local(masks: RaterMasks, said: bool | None) -> bool:
    """Return whether raters have no names across images: `said`, or if it is None, the stored fact."""
    return any(about["is_local"] for about in masks.facts) if said is None else said


def read_masks(view: Any, run: Run[Any, Any, Any, Any]) -> Read:
    """Read the masks of samples, and their digests, with the settings of a run."""
    masks = open_masks(view, run.selection, run.settings["ignore_value"], again=True)
    masks.look()
    return masks


def read_masks_or_objects(view: Any, run: Run[Any, Any, Any, Any]) -> Read:
    """Read the masks, or the labels of objects, of samples with the settings of a run."""
    return read_compared(view, run) if run.settings["of"] == "objects" else read_masks(view, run)


def newer_files(view: Any, run: Run[Any, Any, Any, Any], slack: float = CLOCK) -> list[str]:
    """Return the ids of samples with a mask file that was written or removed since a run; only paths are read.

    `slack` extends the time before the run by some seconds; files from these seconds may be unchanged.
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
            of_rater = [entry if isinstance(entry, list) else [entry] for entry in stored]  # a list for each label list
            if any(_is_newer(path, since) for files in of_rater for path in files if path is not None):
                found.append(sample_id)
    return found


def _is_newer(path: str, since: float) -> bool:
    try:
        facts = Path(path).stat()
    except OSError:
        return True
    return max(facts.st_mtime, facts.st_ctime) >= since  # ctime: a file may be replaced by an older one


def with_progress(
    masks: RaterMasks,
    report: Callable[[float, str], None],
    raters_are_local: bool = False,
    begin: float = 0.0,
    end: float = STORING,
) -> Iterator[ImageMasks]:
    """Iterate over the masks of each image and report the progress."""
    for number, found in enumerate(masks):
        label = f"{masks.name(found.image)}: {number + 1:,} of {number_of(len(masks), 'image')}"
        report(begin + (end - begin) * number / len(masks), label)
        stacks = {name: replace(stack, raters_are_local=raters_are_local) for name, stack in found.stacks.items()}
        yield replace(found, stacks=stacks)


def outliers_of_study(masks: RaterMasks, report: Callable[[float, str], None], end: float) -> dict[str, list[str]]:
    """Return class -> outlying raters over all images, see `kalos_core.consensus.study_outliers`.

    Masks are read once. A class without two raters on any image is left out.
    """
    accumulators = {name: PixelAccumulator(masks.raters) for name in masks.classes}
    for found in with_progress(masks, report, end=end):
        for name, stack in found.stacks.items():
            accumulators[name].add(stack)
    results = {name: or_reason(accumulator.result, 0) for name, accumulator in accumulators.items()}
    agreed = {name: result for name, result in results.items() if not isinstance(result, Undefined)}
    return {name: result.raters[result.outliers].tolist() for name, result in agreed.items()}


FULL = 255
"""Value of the marked pixels in a binary mask; it makes the file viewable."""


@dataclass(frozen=True)
class MapFiles:
    """Files of one run, in a `folder` of `kalos_core.fiftyone.runs.upkeep.new_folder` with a folder for each field.

    Maps are not stored in the database. A map of 2,048 x 2,048 pixels slows down each access to its sample, and many
    of them exceed the size limit of a sample. FiftyOne reads a file only when it is shown.
    """

    folder: Path

    def heatmap(self, field: str, sample_id: str, values: NDArray[np.uint8], most: int) -> dict[str, Any]:
        """Write a map of whole numbers from 0 to `most` to a file, and return its document."""
        return dict(fo.Heatmap(map_path=self._save(field, sample_id, values), range=[0, most]).to_dict())

    def mask(self, field: str, sample_id: str, mask: NDArray[Any]) -> dict[str, Any]:
        """Write a binary mask, or a map of class values, to a file, and return its document."""
        values = mask.astype(np.uint8) * FULL if mask.dtype == np.bool_ else mask
        fits = values.max(initial=0) <= np.iinfo(np.uint8).max
        path = self._save(field, sample_id, values.astype(np.uint8 if fits else np.uint16))
        return dict(fo.Segmentation(mask_path=path).to_dict())

    def _save(self, field: str, sample_id: str, values: NDArray[Any]) -> str:
        path = self.folder / field / f"{sample_id}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(values).save(path)
        return str(path)
