"""Reader of Datumaro's JSON, also exported by CVAT: one file per rater, or one folder per rater with subsets."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kalos_core.annotations import Annotations, as_name
from kalos_core.errors import InputError, as_number, listed, repr_of
from kalos_core.files import as_path, entries_of, files_below, load_json
from kalos_core.options import takes
from kalos_core.readers.cvat import CUBOIDS, around
from kalos_core.readers.findings import Findings, attributes_in, fields_of
from kalos_core.readers.folders import WRAPPERS, Folders, check_raters, folder_of_raters, rater_folders
from kalos_core.readers.groups import Grouped, Part, Parts
from kalos_core.readers.settings import AliasSettings, reading
from kalos_core.readers.shapes import UnusableError, angle_in, box_or_polygon, ellipse

Record = Mapping[str, Any]

LEFT_OUT = {
    "label": "labels of images",
    "caption": "captions of images",
    "polyline": "polylines, which no similarity compares",
    "cuboid_3d": "cuboids of point clouds",
}
"""Types of annotations that are not read -> their description in the account."""

NOT_ATTRIBUTES = ("rotation", "is_crowd", "keyframe", "track_id")


@dataclass(frozen=True, kw_only=True)
class DatumaroSettings(AliasSettings):
    """Options of `read_datumaro`."""

    grouped: Grouped = "one"


@takes(DatumaroSettings)
@reading
def read_datumaro(exports: Folders, settings: DatumaroSettings) -> Annotations:
    """Read labels of several raters from Datumaro's JSON, as exported by Datumaro and CVAT.

    Parameters
    ----------
    exports : path or mapping
        A folder of JSON files, each named after its rater (without ``.json``); or a folder with one folder per rater,
        whose JSON files (``annotations/train.json``, ...) are the subsets of the rater's data set; or a mapping rater
        -> file or folder. Images are matched by the ``id`` of their item. A rater is assigned to the items in their
        files.

    Returns
    -------
    Annotations
        Boxes (with an attribute ``rotation``, they become polygons), polygons, ellipses as polygons of 64 corners, 2D
        cuboids as the polygon around their corners, masks, and points and skeletons as keypoints, all in pixels. Named
        joints are matched by name. Attributes are kept, except those that are false.

    Warns
    -----
    KalosWarning
        If image-level labels, captions, polylines or other annotations are left out, masks are marked as crowds, or
        shapes of a group cannot be joined.

    Raises
    ------
    InputError
        If a file cannot be read or is not Datumaro JSON, an image has two sizes, or an annotation is invalid.

    References
    ----------
    Datumaro, "Datumaro format",
    https://openvinotoolkit.github.io/datumaro/latest/docs/data-formats/datumaro_format.html

    Examples
    --------
    >>> import json
    >>> box = {"id": 0, "type": "bbox", "attributes": {}, "group": 0, "label_id": 0, "bbox": [1, 2, 8, 6]}
    >>> Path("datumaro").mkdir()
    >>> for rater, annotations in {"ann": [box], "bob": []}.items():
    ...     item = {"id": "a", "annotations": annotations, "image": {"path": "a.jpg", "size": [30, 40]}}
    ...     content = {"categories": {"label": {"labels": [{"name": "cat"}]}}, "items": [item]}
    ...     _ = Path("datumaro", f"{rater}.json").write_text(json.dumps(content))
    >>> annotations = read_datumaro("datumaro")
    >>> annotations.shapes["box"].xywh().tolist(), annotations.image_size.tolist()
    ([[1.0, 2.0, 8.0, 6.0]], [[40.0, 30.0]])
    """
    files, source = _files(exports)
    findings = Findings(source, settings.on_invalid)
    reading = _Reading(findings, Parts(findings))
    opened = [(rater, record, _File.open(path)) for rater, paths in files.items() for record, path in paths.items()]
    for _, _, file in opened:
        reading.declare(file)
    for rater, record, file in opened:
        reading.read(file, record, rater)
    reading.parts.finish(settings.grouped)
    return reading.findings.build(order=reading.order, aliases=settings.aliases)


def _files(exports: Any) -> tuple[dict[str, dict[str, Path]], str]:
    """Return rater -> name in messages -> file, and a name for all files."""
    if isinstance(exports, Mapping):
        source, homes = "Datumaro files", {str(r): as_path(path, f"exports[{r!r}]") for r, path in exports.items()}
    else:
        folder = folder_of_raters(exports, "exports")
        source = folder.name
        inside = [path for path in entries_of(folder)[0] if WRAPPERS.fullmatch(path.name)]
        direct = [path for place in (folder, *inside) for path in entries_of(place)[1] if path.suffix == ".json"]
        homes = {path.stem: path for path in direct} or rater_folders(folder, least=1)
        check_raters(homes, str(folder))
    files = {}
    for rater, home in homes.items():
        found = files_below(home) if os.path.isdir(home) else []
        named = {f"{rater}/{path.relative_to(home).as_posix()}": path for path in found if path.suffix == ".json"}
        files[rater] = named if os.path.isdir(home) else {home.name: home}
        if not files[rater]:
            raise InputError(f"{home}: expected JSON files of Datumaro, got none")
    return files, source


def _entries(of: Record, *names: str) -> list[Any]:
    """Return a list within nested mappings, empty if there is none."""
    found: Any = of
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, list) else []


@dataclass(frozen=True)
class _File:
    """Items of a file, its classes by number, and the joints of classes that have joints."""

    items: list[Any]
    names: list[str]
    joints: dict[str, list[str]]

    @classmethod
    def open(cls, path: Path) -> _File:
        content = load_json(path, "Datumaro file")
        items = content.get("items") if isinstance(content, Mapping) and "categories" in content else None
        if not isinstance(items, list):
            raise InputError(f"{path}: expected Datumaro's JSON with categories and items, got {fields_of(content)}")
        labels = _entries(content, "categories", "label", "labels")
        found = [as_name(label.get("name")) if isinstance(label, Mapping) else None for label in labels]
        names = [name for name in found if isinstance(name, str)]
        if len(names) < len(found):
            raise InputError(f"{path}: expected a name for each label, got {listed(map(repr_of, labels))}")
        joints: dict[str, list[str]] = {}
        for entry in _entries(content, "categories", "points", "items"):
            number, own = (entry.get("label_id"), entry.get("labels")) if isinstance(entry, Mapping) else (None, None)
            own = own if isinstance(own, list) and all(isinstance(name, str) for name in own) else []
            if isinstance(number, int) and 0 <= number < len(names) and len(set(own)) == len(own):
                joints[names[number]] = own
        return cls(items, names, joints)


@dataclass
class _Reading:
    """Contents of the files read so far."""

    findings: Findings
    parts: Parts
    joints: dict[str, dict[str, None]] = field(default_factory=dict)
    order: dict[str, None] = field(default_factory=dict)

    def declare(self, file: _File) -> None:
        """Record the classes and the joints of a file."""
        joints = {name for own in file.joints.values() for name in own}
        self.order |= dict.fromkeys(name for name in file.names if name not in joints)
        for label, own in file.joints.items():
            self.joints.setdefault(label, {}).update(dict.fromkeys(own))

    def read(self, file: _File, record: str, rater: str) -> None:
        """Read all items of a file."""
        findings = self.findings
        findings.raters[rater] = None
        for number, item in enumerate(file.items):
            given = as_name(item.get("id")) if isinstance(item, Mapping) else None
            where = f"{record}, item {given if isinstance(given, str) else number!r}"
            key = findings.own_image(where, given, rater, "an item with an id of its own")
            if key is None:
                continue
            media = next((m for name in ("image", "media") if isinstance(m := item.get(name), Mapping)), {})
            size = media.get("size")
            height, width = size if isinstance(size, list) and len(size) == 2 else (None, None)
            path = as_name(media.get("path"))
            name = Path(path.replace("\\", "/")).name if isinstance(path, str) else ""
            findings.add_image(key, where, file=name or key, size=findings.size_from(width, height, where))
            findings.assign(key, rater)
            for place, entry in enumerate(_entries(item, "annotations"), start=1):
                self._read_annotation(entry, f"{where}, annotation {place}", key, rater, file)

    def _read_annotation(self, entry: Any, where: str, image: str, rater: str, file: _File) -> None:
        account = self.findings.account
        kind = entry.get("type") if isinstance(entry, Mapping) else None
        if isinstance(kind, str) and kind not in SHAPES:
            account.left_out[LEFT_OUT.get(kind, f"annotations of type {kind!r}")] += 1
            return
        with self.findings.annotation(where, image):
            if not isinstance(kind, str):
                raise UnusableError("an annotation with a type", repr_of(entry))
            number, group = entry.get("label_id"), as_number(entry.get("group"))
            if not isinstance(number, int) or not 0 <= number < len(file.names):
                raise UnusableError(f"a label_id from 0 to {len(file.names) - 1}", repr_of(number))
            shape = SHAPES[kind](entry)
            self._add(Part(where, image, rater, file.names[number], group or None, shape), entry, kind, file)

    def _add(self, part: Part, entry: Record, kind: str, file: _File) -> None:
        """Record an annotation with its attributes, and its joints in the order of all files."""
        account = self.findings.account
        attributes = _attributes(entry)
        if attributes.get("is_crowd") is True:
            account.unused["is_crowd"] += 1
        if kind == "cuboid_2d":
            account.note(CUBOIDS)
        given, own = part.shape.get("keypoints", []), file.joints.get(part.category, [])
        shape = part.shape
        if given and len(own) == len(given):
            found = dict(zip(own, given, strict=True))
            shape = {"keypoints": [found.get(name, [0.0, 0.0, 0]) for name in self.joints[part.category]]}
        unset = [name for name, value in attributes.items() if value is False]
        kept = attributes_in(attributes, but=[*NOT_ATTRIBUTES, *unset])
        are_points = kind == "points" and len(own) != len(given)
        self.parts.add(replace(part, shape=shape, attributes=kept), are_points=are_points)


def _numbers(entry: Record, name: str, count: int | None = None) -> list[float]:
    given = entry.get(name)
    found = [as_number(value) for value in given] if isinstance(given, list) else []
    numbers = [number for number in found if number is not None]
    if not numbers or len(numbers) != len(found) or (count or len(found)) != len(found):
        raise UnusableError(f"{name}, a list of {count or ''} numbers".replace("  ", " "), repr_of(given))
    return numbers


def _pairs(entry: Record) -> list[list[float]]:
    numbers = _numbers(entry, "points")
    if len(numbers) % 2:
        raise UnusableError("points x1, y1, x2, y2, ...", f"{len(numbers)} numbers")
    return [[x, y] for x, y in zip(numbers[::2], numbers[1::2], strict=True)]


def _attributes(entry: Record) -> Record:
    given = entry.get("attributes")
    return given if isinstance(given, Mapping) else {}


def _box(entry: Record) -> dict[str, Any]:
    return box_or_polygon(_numbers(entry, "bbox", 4), angle_in(_attributes(entry)))


def _mask(entry: Record) -> dict[str, Any]:
    if not isinstance(entry.get("rle"), Mapping):
        raise UnusableError("an rle with counts and size", repr_of(entry.get("rle")))
    return {"mask": entry["rle"]}


def _ellipse(entry: Record) -> dict[str, Any]:
    """Read an ellipse from the corners of its box before rotation."""
    x1, y1, x2, y2 = _numbers(entry, "points", 4)
    angle = angle_in(_attributes(entry))
    return {"polygon": [ellipse((x1 + x2) / 2, (y1 + y2) / 2, (x2 - x1) / 2, (y2 - y1) / 2, angle)]}


def _points(entry: Record) -> dict[str, Any]:
    pairs = _pairs(entry)
    visibility = _numbers(entry, "visibility", len(pairs)) if entry.get("visibility") else [2.0] * len(pairs)
    return {"keypoints": [[x, y, v] for (x, y), v in zip(pairs, visibility, strict=True)]}


def _skeleton(entry: Record) -> dict[str, Any]:
    numbers = _numbers(entry, "points")
    if len(numbers) % 3:
        raise UnusableError("points x1, y1, v1, x2, ...", f"{len(numbers)} numbers")
    return {"keypoints": np.reshape(numbers, (-1, 3)).tolist()}


def _cuboid(entry: Record) -> dict[str, Any]:
    points = entry.get("points")
    flat = [value for point in points for value in (point if isinstance(point, list) else [point])] if points else []
    return {"polygon": [around(np.array(_pairs({"points": flat})))]}


SHAPES: dict[str, Callable[[Record], dict[str, Any]]] = {
    "bbox": _box,
    "polygon": lambda entry: {"polygon": [_pairs(entry)]},
    "mask": _mask,
    "ellipse": _ellipse,
    "points": _points,
    "skeleton": _skeleton,
    "cuboid_2d": _cuboid,
}
"""Type of an annotation -> function that reads the shape's field of a record."""
