"""Shapes of annotations as FiftyOne's labels hold them: coordinates as fractions of the picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import expand_runs
from kalos_core.errors import InputError, listed, lookup
from kalos_core.shapes import Boxes, Keypoints, Masks, Polygons

LabelType = Literal["auto", "detections", "polylines", "keypoints"]

WHOLE = 1e-6
"""Pixels by which the edge of a box may lie beside that of a pixel and still be meant to lie there."""

Fields = list[dict[str, Any]]
"""What each label of a table is made with, beside its class."""


@dataclass(frozen=True)
class Kind:
    """A type of FiftyOne's labels.

    Parameters
    ----------
    document, label : type
        Of the field and of one label in it.
    list : str
        The document's list of labels.
    fields : callable
        Annotations -> what each label is made with.
    """

    document: type
    label: type
    list: str
    fields: Callable[[Annotations], Fields]


def choose_kind(annotations: Annotations, label_type: LabelType) -> Kind:
    """The labels that can hold the annotations' shapes.

    Auto is polylines where every annotation has a polygon, keypoints where each has keypoints and none a polygon or a
    mask, else detections, with a mask where there is one.

    Raises
    ------
    InputError
        For shapes that FiftyOne's pictures cannot hold, and for annotations that lack the shape asked for.
    """
    others = [kind for kind in ("volume", "cuboid") if kind in annotations.shapes]
    if others:
        raise InputError(
            f"labels: expected boxes, polygons, masks or keypoints, got {listed(others)}, which have no place on a "
            "picture; their agreement is computed from the table that the reader returns"
        )
    if label_type == "auto":
        outlined = {"polygon", "mask"} & set(annotations.shapes)
        if not _lacking(annotations, "polygon"):
            label_type = "polylines"
        else:
            label_type = "detections" if outlined or _lacking(annotations, "keypoints") else "keypoints"
    lookup({"auto": None, **KINDS}, label_type, "label_type")
    shape = {"polylines": "polygon", "keypoints": "keypoints", "detections": "box"}[label_type]
    lacking = _lacking(annotations, shape)
    if lacking and len(annotations):
        have = f"{label_type} need a {shape} for every annotation, {lacking:,} have none"
        raise InputError(f"label_type: {have}")
    return KINDS[label_type]


def _lacking(annotations: Annotations, kind: str) -> int:
    """How many annotations have no shape of a kind; all those of an empty table, of which nothing is known."""
    column = annotations.shapes.get(kind)
    return max(len(annotations), 1) if column is None else int(column.absent().sum())


def _sizes(annotations: Annotations) -> NDArray[np.float64]:
    return annotations.image_size[annotations.image]


def _detections(annotations: Annotations) -> Fields:
    boxes, masks = annotations.shapes.get("box"), annotations.shapes.get("mask")
    if not isinstance(boxes, Boxes):
        return []
    corners = boxes.corners.copy()
    crops: dict[int, NDArray[np.bool_]] = {}
    if isinstance(masks, Masks):
        rows = np.flatnonzero(~masks.absent())
        corners[rows] = _frames(corners[rows], masks.take(rows))
        crops = dict(zip(rows.tolist(), _crops(masks.take(rows), corners[rows].astype(np.intp)), strict=True))
    sizes = _sizes(annotations)
    xywh = np.hstack([corners[:, :2] / sizes, (corners[:, 2:] - corners[:, :2]) / sizes]).tolist()
    return [{"bounding_box": box} | ({"mask": crops[row]} if row in crops else {}) for row, box in enumerate(xywh)]


def _frames(corners: NDArray[np.float64], masks: Masks) -> NDArray[np.float64]:
    """(N, 4) whole pixels a crop of each mask is cut at: its box where that holds it, else the mask's own bounds."""
    whole, bounds, size = np.rint(corners), masks.bounds(), masks.size
    empty = np.isnan(bounds[:, 0])
    beside = (whole[:, :2] > bounds[:, :2]) | (whole[:, 2:] < bounds[:, 2:])  # never of an empty mask's NaN
    inside = (whole[:, :2] >= 0) & (whole[:, 2:] <= size)
    fits = np.asarray(np.hstack([np.abs(whole - corners) <= WHOLE, ~beside, inside]).all(axis=1))
    low = np.clip(np.floor(corners[:, :2]), 0, size - 1)
    around = np.hstack([low, np.clip(np.ceil(corners[:, 2:]), low + 1, size)])
    return np.where(fits[:, None], whole, np.where(empty[:, None], around, bounds))


def _crops(masks: Masks, frames: NDArray[np.intp]) -> list[NDArray[np.bool_]]:
    """The pixels (height, width) of each mask within its frame."""
    place, column, top, bottom = masks.strips(np.arange(len(masks)))
    strip, row = expand_runs(top, bottom - top)
    start = np.searchsorted(place[strip], np.arange(len(masks) + 1))
    crops = []
    for number, (left, upper, right, lower) in enumerate(frames.tolist()):
        pixels = slice(start[number], start[number + 1])
        crop = np.zeros((lower - upper, right - left), np.bool_)
        crop[row[pixels] - upper, column[strip[pixels]] - left] = True
        crops.append(crop)
    return crops


def _polylines(annotations: Annotations) -> Fields:
    polygons = annotations.shapes.get("polygon")
    if not isinstance(polygons, Polygons):
        return []
    return [
        {"points": [(ring / size).tolist() for ring in polygons.rings(row)], "closed": True, "filled": False}
        for row, size in enumerate(_sizes(annotations))
    ]


def _keypoints(annotations: Annotations) -> Fields:
    """A keypoint that is not labelled is NaN, as FiftyOne has it."""
    poses = annotations.shapes.get("keypoints")
    if not isinstance(poses, Keypoints):
        return []
    return [{"points": points} for points in (poses.points / _sizes(annotations)[:, None]).tolist()]


KINDS: dict[str, Kind] = {
    "detections": Kind(fo.Detections, fo.Detection, "detections", _detections),
    "polylines": Kind(fo.Polylines, fo.Polyline, "polylines", _polylines),
    "keypoints": Kind(fo.Keypoints, fo.Keypoint, "keypoints", _keypoints),
}
"""Label type -> how its labels are made."""
