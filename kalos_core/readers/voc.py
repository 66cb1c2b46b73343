"""Reader of Pascal VOC, as written by LabelImg and many other tools: one folder per rater, one XML file per image."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError
from kalos_core.files import as_float, load_xml
from kalos_core.options import takes
from kalos_core.readers.findings import Findings
from kalos_core.readers.folders import Folders, LabelFile, assign_by_files, label_files
from kalos_core.readers.settings import FolderSettings, reading
from kalos_core.readers.shapes import UnusableError, box_or_polygon, turned

CORNERS = ("xmin", "ymin", "xmax", "ymax")

SIDES = (("width", "ncols"), ("height", "nrows"))
"""Names of the sides of an image in ``size``, and in the ``imagesize`` of LabelMe 3.0."""


@takes(FolderSettings)
@reading
def read_voc(folders: Folders, settings: FolderSettings) -> Annotations:
    """Read labels of several raters from Pascal VOC files, ``folder/rater/image.xml``.

    Parameters
    ----------
    folders : path or mapping
        A folder with one folder per rater (directly or in ``Annotations``), or rater -> folder. XML files are searched
        for at any depth; a folder ``Annotations`` is not part of the name of an image. Files of one image have one
        name. A file without an object means that its rater saw the image and annotated nothing.

    Returns
    -------
    Annotations
        Images are named after their label files, without extension; their files are those in ``filename``. Boxes are
        xmin, ymin, xmax, ymax as written, although the VOC challenge itself counts pixels from 1 and both corners as
        inside. An object with a ``polygon`` (x1, y1, x2, y2, ... or ``pt``) also has a polygon. Rotated boxes
        (``robndbox`` of roLabelImg, an attribute ``rotation`` of CVAT) are polygons. ``pose`` and ``truncated`` are
        ignored.

    Warns
    -----
    KalosWarning
        If parts of objects or deleted objects are left out, or objects are marked as ``difficult``.

    Raises
    ------
    InputError
        If a folder has no XML file, a file is not Pascal VOC, an image has two sizes, or a record is invalid.

    References
    ----------
    Everingham and Winn, "The PASCAL Visual Object Classes Challenge 2012 Development Kit", section 9.2,
    http://host.robots.ox.ac.uk/pascal/VOC/voc2012/htmldoc/devkit_doc.html

    Examples
    --------
    >>> text = "<annotation><filename>a.jpg</filename><size><width>40</width><height>30</height></size>{}</annotation>"
    >>> box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>8</ymax></bndbox>"
    >>> from pathlib import Path
    >>> for rater, objects in {"ann": f"<object><name>cat</name>{box}</object>", "bob": ""}.items():
    ...     Path("voc", rater).mkdir(parents=True)
    ...     _ = Path("voc", rater, "a.xml").write_text(text.format(objects))
    >>> annotations = read_voc("voc")
    >>> annotations.shapes["box"].xywh().tolist(), annotations.assigned.tolist()
    ([[1.0, 2.0, 8.0, 6.0]], [[True, True]])
    """
    findings = Findings("Pascal VOC folders", settings.on_invalid)
    files = label_files(findings, folders, ".xml", "XML files")
    for file in files:
        _read_file(findings, file)
    assign_by_files(findings, files, settings.assigned)
    return findings.build(aliases=settings.aliases)


def _read_file(findings: Findings, file: LabelFile) -> None:
    root, image, record = load_xml(file.path, "Pascal VOC file"), file.image, file.record
    if root.tag != "annotation":
        raise InputError(f"{file.path}: expected Pascal VOC with <annotation>, got <{root.tag}>")
    sides = [root.findtext(f"size/{side}", root.findtext(f"imagesize/{count}")) for side, count in SIDES]
    numbers = [as_float(side) for side in sides]
    if any(number is None and side is not None for number, side in zip(numbers, sides, strict=True)):
        findings.problems.add(record, "numbers as width and height", " x ".join(map(repr, sides)))
    width, height = numbers if any(numbers) else (None, None)  # some tools write 0 x 0 for an unknown size
    size = findings.size_from(width, height, record)
    findings.add_image(image, record, file=_name(root.findtext("filename"), image), size=size)
    for number, entry in enumerate(root.iterfind("object"), start=1):
        where = f"{record}, object {number}"
        if _text(entry, "deleted") == "1":
            findings.account.left_out["objects marked as deleted"] += 1
            continue
        if entry.find("part") is not None:
            findings.account.left_out["parts of objects"] += len(entry.findall("part"))
        if any(_text(entry, f"parts/{name}") for name in ("hasparts", "ispartof")):
            findings.account.unused["parts, which join objects"] += 1
        if _text(entry, "difficult") == "1":
            findings.account.unused["difficult"] += 1
        category = _text(entry, "name")
        if not category:
            findings.problems.add(where, "a name", "nothing")
            continue
        with findings.annotation(where, image):
            findings.add_annotation(where, image, file.rater, category, **_shape(entry))


def _text(entry: Element, tag: str) -> str:
    return (entry.findtext(tag) or "").strip()


def _name(filename: str | None, image: str) -> str:
    name = (filename or "").strip().replace("\\", "/").rpartition("/")[2]
    return name if name and "." in name else image


def _shape(entry: Element) -> dict[str, Any]:
    shape: dict[str, Any] = {}
    polygon, box, rotated = entry.find("polygon"), entry.find("bndbox"), entry.find("robndbox")
    if polygon is not None and polygon.find("pt") is not None:
        shape["polygon"] = [[[_number(point, "x"), _number(point, "y")] for point in polygon.iterfind("pt")]]
    elif polygon is not None and len(polygon):
        find: Callable[[str], float] = lambda tag: _number(polygon, tag)  # noqa: E731
        count = sum(point.tag.startswith("x") for point in polygon)
        shape["polygon"] = [[[find(f"x{point}"), find(f"y{point}")] for point in range(1, count + 1)]]
    if box is not None:
        x_min, y_min, x_max, y_max = (_number(box, corner) for corner in CORNERS)
        angle = 0.0 if "polygon" in shape else _rotation(entry)
        shape |= box_or_polygon([x_min, y_min, x_max - x_min, y_max - y_min], angle)
    if rotated is not None and not shape:
        x, y, width, height, angle = (_number(rotated, tag) for tag in ("cx", "cy", "w", "h", "angle"))
        return {"polygon": [turned([x - width / 2, y - height / 2, width, height], math.degrees(angle), (x, y))]}
    if not shape:
        raise UnusableError("a bndbox, a robndbox or a polygon", "none")
    return shape


def _rotation(entry: Element) -> float:
    """Return the rotation of a box about its centre in degrees, from an attribute of CVAT."""
    for attribute in entry.iterfind("attributes/attribute"):
        if _text(attribute, "name") == "rotation":
            return _number(attribute, "value")
    return 0.0


def _number(element: Element, tag: str) -> float:
    text = element.findtext(tag)
    number = as_float(text)
    if number is None:
        raise UnusableError(f"a number as {tag}", "nothing" if text is None else repr(text))
    return number
