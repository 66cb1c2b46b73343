"""From what FiftyOne stores, relative to the image, to shapes as a source of ours holds them, in pixels.

What is no such shape stays as it came, to be refused by its record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import fiftyone as fo
import fiftyone.core.utils as fou
import numpy as np
from numpy.typing import NDArray

Fault = tuple[str, str]
"""What was expected of a label, and what came."""

OPEN: Fault = ("a closed polyline", "an open one")

CROWD = "iscrowd"
"""COCO's attribute of a label that stands for many objects; see `Annotations.crowd_regions`."""

REGION = ("bounding_box", "mask", "mask_path")
"""Attributes that hold a crowd region among labels that are no detections, as in a detection."""

LABELLED = 2
"""COCO's word for a keypoint that is labelled and visible; FiftyOne knows none that is labelled and hidden."""


def shapes_of(
    labels: str, stored: Mapping[str, list[Any]], size: tuple[float, float]
) -> tuple[dict[str, list[Any]], list[Fault | None]]:
    """The shapes of one list of labels by kind, and what is wrong with each label that cannot be read.

    `labels`: what it is a list of; `stored`: their attributes as the database holds them.
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
    """Whether an attribute `CROWD` says that a label is a crowd region.

    Examples
    --------
    >>> [is_crowd(value) for value in (True, 1.0, 0, None)]
    [True, True, False, False]
    """
    return bool(value == 1)


def box_in_pixels(box: Any, width: float, height: float) -> Any:
    """x, y, width, height.

    Examples
    --------
    >>> box_in_pixels([0.1, 0.25, 0.5, 0.5], 10, 20), box_in_pixels([0.1, 0.25], 10, 20)
    ([1.0, 5.0, 5.0, 10.0], [0.1, 0.25])
    """
    try:
        x, y, w, h = box
        return [x * width, y * height, w * width, h * height]
    except (TypeError, ValueError):
        return box


def rings_in_pixels(rings: Any, width: float, height: float) -> Any:
    """Lists of (x, y).

    Examples
    --------
    >>> rings_in_pixels([[(0.5, 0.5), (1, 0)]], 10, 20)
    [[(5.0, 10.0), (10, 0)]]
    """
    try:
        return [[(x * width, y * height) for x, y in ring] for ring in rings]
    except (TypeError, ValueError):
        return rings


def keypoints_in_pixels(points: Any, width: float, height: float) -> Any:
    """x1, y1, v1, x2, ... as COCO writes keypoints; a point of NaN is not labelled: 0, 0, 0.

    Examples
    --------
    >>> keypoints_in_pixels([(0.5, 0.5), (float("nan"), float("nan"))], 10, 20)
    [5.0, 10.0, 2, 0, 0, 0]
    """
    try:
        flat: list[float] = []
        for x, y in points:
            flat += (0, 0, 0) if x != x and y != y else (x * width, y * height, LABELLED)
        return flat
    except (TypeError, ValueError):
        return points


def mask_in_pixels(crop: Any, box: Any, width: float, height: float) -> Any:
    """Run lengths on the grid of the whole image, as COCO writes them, of a crop (h, w) that fills a box.

    The crop lies where it was cut: at the corners of the box, rounded to whole pixels and cut off at the edge of the
    image, as FiftyOne's importers cut it. A crop of another size than these corners is stretched to them, the
    nearest pixel giving the value.

    Examples
    --------
    >>> mask_in_pixels(np.array([[True, False], [True, True]]), [0.25, 0.5, 0.5, 0.5], 4, 4)["counts"].tolist()
    [6, 2, 3, 1, 4]
    """
    try:
        x, y, w, h = box
        corners = np.rint(np.array([x * width, y * height, (x + w) * width, (y + h) * height], np.float64))
        left, top, right, bottom = np.clip(corners, 0, [width, height] * 2).astype(np.intp)
    except (TypeError, ValueError):
        return crop
    drawn = np.asarray(crop)
    if drawn.ndim == 3:
        drawn = drawn[:, :, 0]
    if drawn.ndim != 2 or not drawn.size:
        return crop
    placed = _stretched(drawn != 0, int(bottom - top), int(right - left))
    return _run_lengths(placed, int(left), int(top), int(width), int(height))


def _stretched(crop: NDArray[np.bool_], height: int, width: int) -> NDArray[np.bool_]:
    if crop.shape == (height, width):
        return crop
    rows, columns = (
        ((np.arange(size) + 0.5) * there / max(size, 1)).astype(np.intp)
        for size, there in zip((height, width), crop.shape, strict=True)
    )
    return crop[np.ix_(rows, columns)]


def _run_lengths(crop: NDArray[np.bool_], left: int, top: int, width: int, height: int) -> dict[str, Any]:
    """Lengths of the runs outside, inside, outside, ... down the columns of a image with the crop at a position."""
    rows, columns = crop.shape
    padded = np.zeros((columns, rows + 1), np.bool_)  # a pixel outside ends the runs of each column
    padded[:, :rows] = crop.T
    flat = np.concatenate([[False], padded.ravel()])
    starts, stops = np.flatnonzero(flat[1:] != flat[:-1]).reshape(-1, 2).T
    column, row = np.divmod(starts, rows + 1)
    first = (left + column) * height + top + row
    end = first + stops - starts
    apart = first[1:] > end[:-1]  # runs of columns as high as the image touch
    first, end = first[np.append(True, apart)[: len(first)]], end[np.append(apart, True)[: len(end)]]
    edges = np.concatenate([[0], np.column_stack([first, end]).ravel(), [width * height]])
    return {"size": [height, width], "counts": np.diff(edges)}


def stored_mask(stored: Any, path: str | None) -> tuple[Any, Fault | None]:
    """The crop of a mask as the database holds it, or that of its file, None without either; and what is wrong."""
    if isinstance(stored, bytes):
        return fou.deserialize_numpy_array(stored), None
    if stored is None and path is not None:
        try:
            return fo.Detection(mask_path=path).get_mask(), None
        except OSError as error:
            return None, ("a mask that can be read", str(error))
    return stored, None


def cuboid(location: Any, dimensions: Any, rotation: Any) -> Any:
    """A record of all three; no rotation is none about any axis. None without location and dimensions.

    Examples
    --------
    >>> cuboid([1, 2, 3], [4, 5, 6], None)["rotation"], cuboid(None, None, None)
    ([0.0, 0.0, 0.0], None)
    """
    if location is None and dimensions is None:
        return None
    turned: Sequence[float] = [0.0, 0.0, 0.0] if rotation is None else rotation
    return {"location": location, "dimensions": dimensions, "rotation": turned}
