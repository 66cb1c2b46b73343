"""What kinds of runs on masks have in common: masks as a run read them, files that changed, and progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timezone
from pathlib import Path
from typing import Annotated, Any

from kalos_core.display import number_of
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.masks import ImageMasks, RaterMasks, open_masks
from kalos_core.fiftyone.dataset.raters import MASKS, OBJECTS, label_fields, rater_facts
from kalos_core.fiftyone.kinds.matched import read_compared
from kalos_core.fiftyone.runs.life import STORING
from kalos_core.fiftyone.runs.records import Undefined, or_reason
from kalos_core.fiftyone.runs.table import Read, Run
from kalos_core.options import Option
from kalos_core.pixels import PixelAccumulator

CLOCK = 2.0
"""Seconds by which the clock of a file system may be coarser than ours, or late."""


IgnoreValue = Annotated[
    int | None,
    Option("Value to ignore", "A pixel that any rater gives this value counts for nothing; none by default."),
]

RatersAreLocal = Annotated[
    bool | None,
    Option(
        "Raters have no names",
        "Rater 1 of one image is not rater 1 of the next: only raters of one image are compared. By default as stored.",
    ),
]


def are_local(masks: RaterMasks, said: bool | None) -> bool:
    """Whether raters have no names over the images: as said, or as is known of them."""
    facts = rater_facts(masks.view)
    return any(facts[name]["is_local"] for name in masks.raters if name in facts) if said is None else said


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
