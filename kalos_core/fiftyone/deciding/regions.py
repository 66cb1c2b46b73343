"""Regions of pixels in dispute on one sample: what every rater gave each, and a drawing of one."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from bson import ObjectId

from kalos_core.annotations import Annotations
from kalos_core.drawing import Drawing
from kalos_core.drawing.draw import draw_members
from kalos_core.errors import InputError, KalosWarning, repr_of
from kalos_core.fiftyone.dataset.database import collection
from kalos_core.fiftyone.dataset.masks import Stacks, open_masks
from kalos_core.fiftyone.deciding.units import load_decidable
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun
from kalos_core.fiftyone.kinds.pixels.regions import region_table
from kalos_core.fiftyone.runs.stored import load_run_view
from kalos_core.variation.reports import Findings, ImageReport, image_report

MARGIN = 0.5
"""Around a region that is drawn, as a share of its longer side."""


def region_report(samples: Any, sample_id: str, key: str) -> ImageReport:
    """Regions x raters of one sample, as `sample_report` has units x raters; its alpha is the mean F1 of the image.

    Raises
    ------
    NotInRun
        If the sample is not part of the run.
    """
    run = load_decidable(samples, key)
    names = run.names
    where = {"_id": ObjectId(sample_id) if ObjectId.is_valid(sample_id) else None}
    found = collection(samples).find_one(where, {names.f1: True, names.queue: True})
    if found is None or found.get(names.queue) is None:
        raise NotInRun(f"sample {sample_id}: not part of the run {run.key!r}")
    annotations, unit_of, number = region_table(samples, names, sample_id)
    findings = [Findings(unit=int(number[unit]), field=names.regions) for unit in unit_of]
    return image_report(annotations, findings, found[names.f1])


def draw_region(samples: Any, key: str, label_id: str, sample_id: str, **options: Any) -> Drawing:
    """The part of a sample where a region in dispute lies, with what each rater marked there.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of a run on pixels that wrote its regions in dispute.
    label_id, sample_id : str
        Of the region, and of its sample.
    **options
        As in `draw_unit`: ``longest_side``.

    Raises
    ------
    InputError
        For a region that the run did not write, and one where no mask is any more.
    """
    run = load_decidable(samples, key)
    path = f"{run.names.regions}.detections"
    place = {"_id": ObjectId(sample_id)}, {f"{path}.mask": False}
    stored = (collection(samples).find_one(*place) or {}).get(run.names.regions) or {"detections": []}
    box = next((label["bounding_box"] for label in stored["detections"] if str(label["_id"]) == label_id), None)
    if box is None:
        raise InputError(f"label: expected a region of the run {run.key!r}, got {repr_of(label_id)}")
    view = load_run_view(samples, run.key).select(sample_id)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)  # what there is to say was said when the run was made
        read = [found.stacks for found in open_masks(view, run.selection, run.settings["ignore_value"])]
    table = _annotations(sample_id, box, read[0]) if read else None
    if table is None or not len(table):
        raise InputError(f"label: expected masks where the region {label_id} was, got none: they were edited since")
    return draw_members(table, range(len(table)), *view.values("filepath"), margin=0.0, **options)


def _annotations(sample_id: str, box: Sequence[float], stacks: Stacks) -> Annotations:
    """What each rater marked around a box (fractions of the image), an annotation for each class."""
    rows = []
    height, width = next(iter(stacks.values())).masks.shape[1:]
    window = _window(np.array(box) * [width, height, width, height])
    for name, stack in stacks.items():
        for rater, mask in zip(stack.raters.tolist(), stack.masks, strict=True):
            part = np.zeros_like(mask)
            part[window] = mask[window]
            if part.any():
                rows.append({"image": sample_id, "rater": rater, "category": name, "mask": part})
    raters = list(dict.fromkeys(rater for stack in stacks.values() for rater in stack.raters.tolist()))
    return Annotations.from_rows(
        rows, images=[sample_id], raters=raters, image_size={sample_id: (width, height)}, assigned="all"
    )


def _window(box: Any) -> tuple[slice, slice]:
    """Rows and columns of a box in pixels and what is around it."""
    x, y, across, down = box.round().astype(int).tolist()
    around = int(np.ceil(MARGIN * max(across, down)))
    return slice(max(y - around, 0), y + down + around), slice(max(x - around, 0), x + across + around)
