"""Conversion of FiftyOne's shapes, relative to the image, to shapes in pixels, as our readers hold them.

Values that are not valid shapes are passed on unchanged; the check of their record refuses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fiftyone as fo
import fiftyone.core.utils as fou

from kalos_core.readers.fractions import box_in_pixels, cuboid, keypoints_in_pixels, mask_in_pixels, rings_in_pixels

Fault = tuple[str, str]
"""Expected and actual property of a label."""

OPEN: Fault = ("a closed polyline", "an open one")

CROWD = "iscrowd"
"""COCO's attribute for a label that stands for many objects; see `Annotations.crowd_regions`."""

FILE_ID = "annotation_id"
"""Attribute of loaded labels: their id in the file."""

REGION = ("bounding_box", "mask", "mask_path")
"""Attributes that hold a crowd region in labels other than detections, named as in a detection."""


def shapes_of(
    labels: str, stored: Mapping[str, list[Any]], size: tuple[float, float]
) -> tuple[dict[str, list[Any]], list[Fault | None]]:
    """Return the shapes of one list of labels by kind, and the fault of each label that cannot be read.

    `labels`: name of the list, such as "detections"; `stored`: the attributes as the database holds them.
    """
    width, height = size
    faults: list[Fault | None] = [None] * len(stored["id"])
    if labels == "polylines":
        kind, made = "polygon", [rings_in_pixels(rings, width, height) for rings in stored["points"]]
        faults = [None if closed else OPEN for closed in stored["closed"]]
    elif labels == "keypoints":
        kind, made = "keypoints", [keypoints_in_pixels(points, width, height) for points in stored["points"]]
    if labels != "detections":
        boxes, crowds = stored["bounding_box"], stored[CROWD]
        regions = [box is not None and is_crowd(crowd) for box, crowd in zip(boxes, crowds, strict=True)]
        if not any(regions):
            return {kind: made}, faults
        own = {
            name: [value if of else None for value, of in zip(stored[name], regions, strict=True)] for name in REGION
        }
        shapes, unread = shapes_of("detections", own | {"id": stored["id"]}, size)
        made = [None if of else value for value, of in zip(made, regions, strict=True)]
        return shapes | {kind: made}, [other or fault for fault, other in zip(faults, unread, strict=True)]
    shapes = {}
    if "bounding_box" in stored:
        shapes["box"] = [box_in_pixels(box, width, height) for box in stored["bounding_box"]]
    if "mask" in stored:
        read = [stored_mask(*given) for given in zip(stored["mask"], stored["mask_path"], strict=True)]
        shapes["mask"] = [
            None if crop is None else mask_in_pixels(crop, box, width, height)
            for (crop, _), box in zip(read, stored["bounding_box"], strict=True)
        ]
        faults = [fault for _, fault in read]
    if "location" in stored:
        parts = zip(stored["location"], stored["dimensions"], stored["rotation"], strict=True)
        shapes["cuboid"] = [cuboid(*part) for part in parts]
    return shapes, faults


def is_crowd(value: Any) -> bool:
    """Return whether a value of the attribute `CROWD` marks a crowd region.

    Examples
    --------
    >>> [is_crowd(value) for value in (True, 1.0, 0, None)]
    [True, True, False, False]
    """
    return bool(value == 1)


def stored_mask(stored: Any, path: str | None) -> tuple[Any, Fault | None]:
    """Return the crop of a mask from the database or its file, None without either; and the fault, if any."""
    if isinstance(stored, bytes):
        return fou.deserialize_numpy_array(stored), None
    if stored is None and path is not None:
        try:
            return fo.Detection(mask_path=path).get_mask(), None
        except OSError as error:
            return None, ("a mask that can be read", str(error))
    return stored, None
