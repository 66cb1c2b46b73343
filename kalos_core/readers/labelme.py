"""Reader of labelme: one folder per rater, one JSON file per image."""

from __future__ import annotations

import base64
import binascii
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kalos_core.annotations import Annotations, as_name
from kalos_core.errors import InputError, is_hashable, listed, repr_of
from kalos_core.files import BROKEN, load_json
from kalos_core.limits import check_pixels
from kalos_core.options import takes
from kalos_core.readers.findings import Findings, attributes_in, fields_of
from kalos_core.readers.folders import Folders, LabelFile, assign_by_files, label_files
from kalos_core.readers.groups import Grouped, Part, add_grouped
from kalos_core.readers.settings import FolderSettings, reading
from kalos_core.readers.shapes import UnusableError, ellipse, mask_at, points_in, rectangle

LEFT_OUT = ("line", "linestrip")
"""Types of shapes that no similarity compares."""

Size = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class LabelmeSettings(FolderSettings):
    """Options of `read_labelme`."""

    grouped: Grouped = "one"


@takes(LabelmeSettings)
@reading
def read_labelme(folders: Folders, settings: LabelmeSettings) -> Annotations:
    """Read labels of several raters from labelme's JSON files, ``folder/rater/image.json``.

    Parameters
    ----------
    folders : path or mapping
        A folder with one folder per rater (directly or in ``labels``), or rater -> folder. JSON files are searched for
        at any depth; a folder ``Annotations`` or ``labels`` is not part of the name of an image. Files of one image
        have one name. A file without a shape means that its rater saw the image and annotated nothing.

    Returns
    -------
    Annotations
        Images are named after their label files, without extension; their files are the names in ``imagePath``. All
        shapes are in pixels: rectangles are boxes, circles polygons of 64 corners, points keypoints of one joint. Flags
        that are set, and attributes of X-AnyLabeling, are attributes. Shapes of one group (``group_id``) and label are
        one object, as in labelme's own export to COCO: polygons, circles and rectangles become one polygon of several
        rings, masks their union.

    Warns
    -----
    KalosWarning
        If lines are left out, images have flags, shapes are marked as difficult or described, or shapes of a group
        cannot be joined.

    Raises
    ------
    InputError
        If a folder has no JSON file, a file is not of labelme, an image has two sizes, or a shape is invalid.

    References
    ----------
    Wada, "labelme: Image Polygonal Annotation with Python", https://github.com/wkentaro/labelme

    Examples
    --------
    >>> import json
    >>> shape = {"label": "cat", "points": [[1, 2], [9, 8]], "shape_type": "rectangle", "group_id": None}
    >>> from pathlib import Path
    >>> for rater, shapes in {"ann": [shape], "bob": []}.items():
    ...     Path("labelme", rater).mkdir(parents=True)
    ...     content = {"shapes": shapes, "imagePath": "a.jpg", "imageWidth": 40, "imageHeight": 30}
    ...     _ = Path("labelme", rater, "a.json").write_text(json.dumps(content))
    >>> annotations = read_labelme("labelme")
    >>> annotations.shapes["box"].xywh().tolist(), annotations.assigned.tolist()
    ([[1.0, 2.0, 8.0, 6.0]], [[True, True]])
    """
    findings = Findings("labelme folders", settings.on_invalid)
    files = label_files(findings, folders, ".json", "JSON files")
    parts = [part for file in files for part in _read_file(findings, file)]
    assign_by_files(findings, files, settings.assigned)
    add_grouped(findings, parts, settings.grouped)
    return findings.build(aliases=settings.aliases)


def _read_file(findings: Findings, label_file: LabelFile) -> list[Part]:
    rater, image, path, record = label_file
    content = load_json(path, "labelme file")
    if not isinstance(content, Mapping) or not isinstance(content.get("shapes"), list):
        raise InputError(f"{path}: expected labelme's JSON with a list 'shapes', got {fields_of(content)}")
    size = findings.size_from(content.get("imageWidth"), content.get("imageHeight"), record)
    name = content.get("imagePath")
    file = name.replace("\\", "/").rpartition("/")[2] if isinstance(name, str) else ""
    findings.add_image(image, record, file=file or image, size=size)
    if _attributes({"flags": content.get("flags")}):
        findings.account.unused["flags of the image"] += 1
    parts = []
    for number, shape in enumerate(content["shapes"], start=1):
        where = f"{record}, shape {number}"
        kind = (shape.get("shape_type") or "polygon") if isinstance(shape, Mapping) else None
        label = as_name(shape.get("label")) if isinstance(shape, Mapping) else None
        if kind in LEFT_OUT:
            findings.account.left_out["lines, which no similarity compares"] += 1
            continue
        with findings.annotation(where, image):
            if not isinstance(kind, str) or kind not in SHAPES:
                raise UnusableError(f"a shape_type among {listed([*SHAPES, *LEFT_OUT], 10)}", repr_of(kind))
            if not isinstance(label, str):
                raise UnusableError("a label", repr_of(label))
            group = shape.get("group_id")
            if not is_hashable(group):
                raise UnusableError("a number as group_id", repr_of(group))
            parts.append(Part(where, image, rater, label, group, SHAPES[kind](shape, size), _attributes(shape)))
            findings.account.unused.update(name for name in ("difficult", "description") if shape.get(name))
    return parts


def _attributes(shape: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the flags that are set, and the attributes of X-AnyLabeling; None without any."""
    flags = shape.get("flags")
    found = {name: True for name, value in flags.items() if value is True} if isinstance(flags, Mapping) else {}
    return found | (attributes_in(shape.get("attributes")) or {}) or None


def _points(shape: Mapping[str, Any], count: int | None = None) -> list[list[float]]:
    """Return the points of a shape, and check their number if given."""
    expected = "points [[x, y], ...]" if count is None else f"points [[x, y], ...], {count} of them"
    points = points_in(shape.get("points"), expected)
    if count not in (None, len(points)):
        raise UnusableError(expected, repr_of(points))
    return points


def _rectangle(shape: Mapping[str, Any], _size: Size) -> dict[str, Any]:
    """Read a rectangle from two opposite corners, or all four."""
    points = _points(shape)
    if len(points) not in (2, 4):
        raise UnusableError("a rectangle of 2 or 4 points", f"{len(points)} points")
    x, y = ([point[axis] for point in points] for axis in (0, 1))
    box = [min(x), min(y), max(x) - min(x), max(y) - min(y)]
    corners = {tuple(corner) for corner in rectangle(box)}
    upright = len(points) == 2 or all(min(math.dist(point, corner) for corner in corners) < UPRIGHT for point in points)
    return {"box": box} if upright else {"polygon": [points]}


UPRIGHT = 0.01
"""Tolerance in pixels within which the corners of an upright rectangle match those of its bounds."""


def _polygon(shape: Mapping[str, Any], _size: Size) -> dict[str, Any]:
    return {"polygon": [_points(shape)]}


def _circle(shape: Mapping[str, Any], _size: Size) -> dict[str, Any]:
    """Read a circle from its centre and a point on it."""
    (x, y), other = _points(shape, 2)
    radius = math.dist((x, y), other)
    return {"polygon": [ellipse(x, y, radius, radius)]}


def _point(shape: Mapping[str, Any], _size: Size) -> dict[str, Any]:
    return {"keypoints": [[*point, 2] for point in _points(shape)]}


def _mask(shape: Mapping[str, Any], size: Size) -> dict[str, Any]:
    """Read a mask from a base64 PNG of the pixels between two corners."""
    from PIL import Image  # slow to import, and needed for masks only

    (left, top), _ = _points(shape, 2)
    text = shape.get("mask")
    try:
        with Image.open(io.BytesIO(base64.b64decode(text if isinstance(text, str) else "", validate=True))) as image:
            check_pixels(image.width, image.height, "mask")
            pixels = np.asarray(image.convert("L")) != 0
    except (*BROKEN, binascii.Error):
        raise UnusableError("a mask as PNG in base64", repr_of(text)) from None
    x, y = (round(number) if math.isfinite(number) else -1 for number in (left, top))
    return mask_at(pixels, x, y, size)


Shape = Callable[[Mapping[str, Any], Size], dict[str, Any]]
"""``shape(record, size of the image)`` -> the shape's field of a record."""

SHAPES: dict[str, Shape] = {
    "rectangle": _rectangle,
    "polygon": _polygon,
    "oriented_rectangle": _polygon,
    "rotation": _polygon,
    "circle": _circle,
    "point": _point,
    "points": _point,
    "mask": _mask,
}
"""Type of a shape -> function that reads it; "rotation" is a rotated box of AnyLabeling and X-AnyLabeling."""
