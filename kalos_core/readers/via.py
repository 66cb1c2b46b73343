"""Reader of VGG Image Annotator (VIA 2): one JSON or CSV file per rater."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kalos_core.annotations import Annotations, as_name
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.files import load_json, parse_json
from kalos_core.options import takes
from kalos_core.readers.findings import Findings, attributes_in, fields_of
from kalos_core.readers.folders import Folders, check_raters, rater_files
from kalos_core.readers.settings import AliasSettings, CategoryField, reading
from kalos_core.readers.shapes import UnusableError, angle_in, ellipse, numbers_in, points_in
from kalos_core.readers.sizes import Sizes, read_sizes
from kalos_core.readers.tables import read_table

Record = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ViaSettings(AliasSettings):
    """Options of `read_via`."""

    category_field: CategoryField = None
    sizes: Sizes = None


@takes(ViaSettings)
@reading
def read_via(exports: Folders, settings: ViaSettings) -> Annotations:
    """Read labels of several raters from projects or annotations (JSON, CSV) of the VGG Image Annotator 2.

    Parameters
    ----------
    exports : path or mapping
        A folder of JSON or CSV files, each named after its rater (without extension), or a folder with one folder per
        rater, or a mapping rater -> file. Images are matched by ``filename``. A rater is assigned to the images that
        their file lists.

    Returns
    -------
    Annotations
        Rectangles as boxes, polygons, circles and ellipses as polygons of 64 corners, points as keypoints of one joint,
        all in pixels. Other region attributes are kept as attributes.

    Warns
    -----
    KalosWarning
        If polylines are left out, or images have attributes.

    Raises
    ------
    InputError
        If a file is not of VIA 2, regions have several attributes and `category_field` is not given, or a region is
        invalid.

    References
    ----------
    Dutta and Zisserman, "The VIA Annotation Software for Images, Audio and Video", ACM Multimedia 2019,
    https://www.robots.ox.ac.uk/~vgg/software/via/

    Examples
    --------
    >>> import json
    >>> region = {
    ...     "shape_attributes": {"name": "rect", "x": 1, "y": 2, "width": 8, "height": 6},
    ...     "region_attributes": {"animal": "cat"},
    ... }
    >>> Path("via").mkdir()
    >>> for rater, regions in {"ann": [region], "bob": []}.items():
    ...     images = {"a.jpg9": {"filename": "a.jpg", "size": 9, "regions": regions, "file_attributes": {}}}
    ...     _ = Path("via", f"{rater}.json").write_text(json.dumps({"_via_img_metadata": images}))
    >>> annotations = read_via("via")
    >>> annotations.shapes["box"].xywh().tolist(), annotations.assigned.tolist()
    ([[1.0, 2.0, 8.0, 6.0]], [[True, True]])
    """
    files, names = rater_files(exports, (".json", ".csv"), "JSON or CSV files of VIA")
    check_raters(files if not isinstance(exports, Mapping) else (), str(exports))
    source = "VIA files" if isinstance(exports, Mapping) else Path(exports).name
    read = {rater: _of_table(path) if path.suffix.lower() == ".csv" else _images(path) for rater, path in files.items()}
    name = settings.category_field or _class_attribute(source, read)
    findings = Findings(source, settings.on_invalid)
    size_of = read_sizes(settings.sizes)
    for rater, images in read.items():
        findings.raters[rater] = None
        for number, image in enumerate(images):
            record = f"{names[rater]}, image {image.get('filename') or number!r}"
            file = findings.own_image(record, image.get("filename"), rater, "an image of its own, by its filename")
            if file is None:
                continue
            findings.add_image(file, record, file=file, size=findings.size_from(*size_of(file), record))
            findings.assign(file, rater)
            answers = image.get("file_attributes")
            if isinstance(answers, Mapping) and any(answers.values()):
                findings.account.unused["attributes of the image"] += 1
            for place, region in enumerate(_regions(image), start=1):
                _read_region(findings, f"{record}, region {place}", file, rater, region, name)
    return findings.build(aliases=settings.aliases)


CELLS = ("file_attributes", "region_shape_attributes", "region_attributes")
"""Columns of VIA's CSV that contain JSON."""


def _of_table(path: Path) -> list[Record]:
    """Read the images of a CSV file in the form of the JSON; an image without regions has one row."""
    images: dict[tuple[str, str], dict[str, Any]] = {}
    table = read_table(path, "CSV file of VIA")
    names = {name.lstrip("#"): name for name in table.columns}
    missing = [name for name in ("filename", *CELLS) if name not in names]
    if missing:
        raise InputError(f"{path}: expected the columns of VIA's CSV, got none named {listed(missing)}")
    for line, cells in table.rows():
        row = {name: cells[own] for name, own in names.items()}
        about, shape, attributes = (
            parse_json(Path(f"{path}, line {line}"), (row[name] or "{}").encode(), name) for name in CELLS
        )
        key = (row["filename"], row.get("file_size", ""))
        image = images.setdefault(key, {"filename": row["filename"], "file_attributes": about, "regions": []})
        if shape:
            image["regions"].append({"shape_attributes": shape, "region_attributes": attributes})
    if not images:
        raise InputError(f"{path}: expected the CSV of VIA, got no row")
    return list(images.values())


def _images(path: Path) -> list[Record]:
    content = load_json(path, "VIA file")
    if isinstance(content, Mapping) and content.keys() >= {"project", "metadata"}:
        raise InputError(
            f"{path}: expected a project of VIA 2, got one of VIA 3, which is not read; annotate in VIA 2, or make a "
            "table of its regions (read_boxes)"
        )
    images = content.get("_via_img_metadata", content) if isinstance(content, Mapping) else None
    entries = list(images.values()) if isinstance(images, Mapping) else []
    if not all(isinstance(entry, Mapping) and isinstance(_regions(entry), list) for entry in entries) or not entries:
        raise InputError(f"{path}: expected a project of VIA 2, or its annotations as JSON, got {fields_of(content)}")
    return entries


def _regions(image: Record) -> Any:
    """Return the regions of an image: a list, or in older files a mapping by number."""
    regions = image.get("regions")
    return list(regions.values()) if isinstance(regions, Mapping) else regions


def _class_attribute(source: str, read: Mapping[str, list[Record]]) -> str:
    """Return the name of the only attribute of regions."""
    regions = [region for images in read.values() for image in images for region in _regions(image)]
    found = [region.get("region_attributes") for region in regions if isinstance(region, Mapping)]
    names = dict.fromkeys(name for attributes in found if isinstance(attributes, Mapping) for name in attributes)
    if len(names) > 1 or (regions and not names):
        raise InputError(
            f"{source}: expected one region attribute, which holds the class, got {listed(names, 20) or 'none'}"
            f"{'; name it by category_field=' if names else ''}"
        )
    return next(iter(names), "")


def _read_region(findings: Findings, where: str, image: str, rater: str, region: Any, name: str) -> None:
    with findings.annotation(where, image):
        shape, attributes = (
            (region.get(field) if isinstance(region, Mapping) else None)
            for field in ("shape_attributes", "region_attributes")
        )
        if not isinstance(shape, Mapping) or not isinstance(attributes, Mapping):
            raise UnusableError("shape_attributes and region_attributes", repr_of(region))
        kind, category = shape.get("name"), as_name(_answer(attributes.get(name)))
        if kind == "polyline":
            findings.account.left_out["polylines, which no similarity compares"] += 1
            return
        if not isinstance(kind, str) or kind not in SHAPES:
            raise UnusableError(f"a shape among {listed(SHAPES, 10)}, polyline", repr_of(kind))
        if not isinstance(category, str):
            raise UnusableError(f"one class in {name!r}", repr_of(attributes.get(name)))
        made = SHAPES[kind](shape)
        others = attributes_in(attributes, but=[name])
        findings.add_annotation(where, image, rater, category.strip(), attributes=others, **made)


def _answer(value: Any) -> Any:
    """Return the value that a rater selected; for checkboxes, the only one that is set."""
    chosen = [name for name, is_set in value.items() if is_set is True] if isinstance(value, Mapping) else []
    return chosen[0] if len(chosen) == 1 else value


def _polygon(shape: Record) -> dict[str, Any]:
    given = [shape.get(f"all_points_{axis}") for axis in "xy"]
    x, y = (axis if isinstance(axis, list) else [] for axis in given)
    expected = "numbers in all_points_x and all_points_y"
    if len(x) != len(y):
        raise UnusableError(expected, listed(map(repr_of, given)))
    return {"polygon": [points_in(list(zip(x, y, strict=True)), expected)]}


def _ellipse(shape: Record) -> dict[str, Any]:
    angle = math.degrees(angle_in(shape, "theta"))
    x, y, radius_x, radius_y = numbers_in(shape, "cx", "cy", "rx", "ry")
    return {"polygon": [ellipse(x, y, radius_x, radius_y, angle)]}


def _circle(shape: Record) -> dict[str, Any]:
    x, y, radius = numbers_in(shape, "cx", "cy", "r")
    return {"polygon": [ellipse(x, y, radius, radius)]}


SHAPES: dict[str, Callable[[Record], dict[str, Any]]] = {
    "rect": lambda shape: {"box": numbers_in(shape, "x", "y", "width", "height")},
    "polygon": _polygon,
    "ellipse": _ellipse,
    "circle": _circle,
    "point": lambda shape: {"keypoints": [[*numbers_in(shape, "cx", "cy"), 2]]},
}
"""Name of a shape -> function that reads the shape's field of a record."""
