"""What kinds of runs on masks have in common: masks as a run read them, files that changed, and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timezone
from pathlib import Path
from typing import Any

from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.masks import ImageMasks, RaterMasks, open_masks
from kalos_core.fiftyone.dataset.raters import MASKS, OBJECTS, label_fields
from kalos_core.fiftyone.kinds.matched import read_compared
from kalos_core.fiftyone.runs.life import STORING
from kalos_core.fiftyone.runs.table import Read, Run

CLOCK = 2.0
"""Seconds by which the clock of a file system may be coarser than ours, or late."""


def masks_again(view: Any, run: Run[Any, Any, Any, Any]) -> RaterMasks:
    """The masks of some samples, as a run read them, with their digests."""
    masks = open_masks(view, run.selection, run.settings["ignore_value"], again=True)
    masks.look()
    return masks


def read_masks_or_objects(view: Any, run: Run[Any, Any, Any, Any]) -> Read:
    """The masks, or the labels of objects, of some samples, as a run read them."""
    return masks_again(view, run) if run.settings["of"] == "pixels" else read_compared(view, run)


def newer_files(view: Any, run: Run[Any, Any, Any, Any]) -> list[str]:
    """Ids of samples of which a file of a rater's mask was written or removed since a run; only paths are read."""
    since = run.read_at.replace(tzinfo=timezone.utc).timestamp() - CLOCK
    lists = {field: path for field, path in label_fields(view, OBJECTS).items() if path == f"{field}.detections"}
    fields = lists | label_fields(view, MASKS)
    paths = [f"{fields[field]}.mask_path" for field in run.label_fields if field in fields]
    found = []
    for columns in stream(view, ["id", *paths]) if paths else ():
        for sample_id, *stored in zip(columns["id"], *(columns[path] for path in paths), strict=True):
            if any(_is_newer(path, since) for path in _flat(stored)):
                found.append(sample_id)
    return found


def _flat(stored: list[Any]) -> Iterator[str]:
    """The paths of masks, and of the masks of lists of labels."""
    for entry in stored:
        yield from (path for path in (entry if isinstance(entry, list) else [entry]) if path is not None)


def _is_newer(path: str, since: float) -> bool:
    try:
        facts = Path(path).stat()
    except OSError:
        return True
    return max(facts.st_mtime, facts.st_ctime) >= since  # also one that was replaced by an older one


def with_progress(masks: RaterMasks, report: Callable[[float, str], None]) -> Iterator[ImageMasks]:
    """The masks of each image; tells which one comes next."""
    for number, found in enumerate(masks):
        label = f"{masks.name(found.image)}: {number + 1:,} of {len(masks):,} images"
        report(STORING * number / len(masks), label)
        yield found
