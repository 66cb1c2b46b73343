"""CVAT's "CVAT for images 1.1": one export per annotator, as jobs and tasks of a consensus give them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from kalos_core.annotations import Annotations, OnInvalid, as_name
from kalos_core.arguments import check_arguments
from kalos_core.errors import InputError, repr_of
from kalos_core.files import as_float, as_path, load_xml
from kalos_core.readers.findings import Findings
from kalos_core.readers.shapes import MOST_PIXELS, UnusableError, rotated, run_lengths

OTHER_ELEMENTS = ("tag", "attribute")
"""Elements of an image that are no annotations: classes and properties of the whole image."""


def read_cvat(
    exports: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]], *, on_invalid: OnInvalid = "raise"
) -> Annotations:
    """Labels of several annotators from CVAT exports, one file each.

    Parameters
    ----------
    exports : path or mapping
        A folder of XML files, the name of a file (without ``.xml``) being the rater's; or of folders that hold an
        ``annotations.xml`` each, the name of the folder being the rater's; or a mapping rater -> file. Images are
        matched by their name. A rater is assigned to the images their file lists, whether they annotated anything there
        or not.
    on_invalid : "raise" or "skip"
        Annotations whose shape cannot be used: an error, or left out with a warning and counted in `skipped`.

    Returns
    -------
    Annotations
        Boxes (one that is rotated becomes a polygon), polygons, masks, and points and skeletons as keypoints. Tags,
        which belong to whole images, are passed over. Joints of skeletons are in the order in which the first file
        names them; hidden ones count as labelled, those outside of the image do not.

    Raises
    ------
    InputError
        If a file cannot be read or is another export, an image has two sizes, or a record cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> text = '<annotations><image id="0" name="a.jpg" width="20" height="10">{}</image></annotations>'
    >>> box = '<box label="cat" xtl="1" ytl="2" xbr="5" ybr="8"/>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "ann.xml").write_text(text.format(box))
    ...     _ = (Path(folder) / "bob.xml").write_text(text.format(""))
    ...     annotations = read_cvat(folder)
    >>> annotations.raters.tolist(), annotations.shapes["box"].xywh().tolist()
    (['ann', 'bob'], [[1.0, 2.0, 4.0, 6.0]])
    """
    check_arguments(read_cvat, locals())
    files, source = _files(exports)
    findings = Findings(source, on_invalid)
    joints: dict[str, dict[str, None]] = {}
    order: dict[str, None] = {}
    opened = {rater: _open(path) for rater, path in files.items()}
    for root in opened.values():
        order |= dict.fromkeys(_labels(root, joints))
    for rater, root in opened.items():
        findings.raters[rater] = None
        for number, image in enumerate(root.iterfind("image")):
            record = f"{files[rater].name}, image {image.get('name') or number!r}"
            _read_image(findings, image, rater, record, joints)
    return findings.build(order=order)


def _open(path: Path) -> Element:
    root = load_xml(path, "CVAT export")
    tracks = root.find("track") is not None
    if root.tag != "annotations" or tracks or root.find("image") is None:
        actual = "CVAT for video, with tracks" if tracks else f"<{root.tag}> without images"
        raise InputError(f"{path}: expected an export in the format 'CVAT for images 1.1', got {actual}")
    return root


def _files(exports: object) -> tuple[dict[str, Path], str]:
    """Rater -> file, and what to call them together."""
    if isinstance(exports, Mapping):
        names = [as_name(rater) for rater in exports]
        if not names or not all(isinstance(name, str) for name in names):
            raise InputError(f"exports: expected a mapping of raters' names to files, got {repr_of(exports)}")
        paths = [as_path(path, f"exports[{name!r}]") for name, path in zip(names, exports.values(), strict=True)]
        return dict(zip(names, paths, strict=True)), "CVAT exports"
    folder = as_path(exports, "exports", "a folder, or a mapping rater -> file")
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: expected a folder of CVAT exports, one file per rater, or a mapping rater -> file")
    files = {path.stem: path for path in sorted(folder.glob("*.xml"))}
    files = files or {path.parent.name: path for path in sorted(folder.glob("*/annotations.xml"))}
    if not files:
        raise InputError(f"{folder}: expected XML files, or folders with an annotations.xml, one per rater, got none")
    return files, folder.name


def _labels(root: Element, joints: dict[str, dict[str, None]]) -> list[str]:
    """Classes the export declares, in order; the joints of each class of skeletons go to `joints`."""
    classes = []
    for label in root.iterfind("meta//label"):
        name, parent = (label.findtext("name") or "").strip(), (label.findtext("parent") or "").strip()
        if name and parent:  # a joint is declared as a label that belongs to another
            joints.setdefault(parent, {})[name] = None
        elif name:
            classes.append(name)
    for skeleton in root.iterfind("image/skeleton"):
        names = [_label(point) for point in skeleton.iterfind("points")]
        joints.setdefault(_label(skeleton), {}).update(dict.fromkeys(name for name in names if name))
    return classes


def _label(element: Element) -> str:
    return (element.get("label") or "").strip()


def _read_image(
    findings: Findings, image: Element, rater: str, record: str, joints: dict[str, dict[str, None]]
) -> None:
    name = (image.get("name") or "").strip()
    if not name:
        findings.problems.add(record, "a name", "nothing")
        return
    if rater in findings.assigned.get(name, ()):
        findings.problems.add(record, "an image once in a file", "it a second time")
        return
    width, height = (as_float(image.get(side)) for side in ("width", "height"))
    if width is None or height is None:
        findings.problems.add(record, "a width and height", f"{image.get('width')!r} x {image.get('height')!r}")
    size = findings.size_from(width, height, record)
    findings.add_image(name, record, file=name, size=size)
    findings.assign(name, rater)
    for position, element in enumerate(image, start=1):
        if element.tag in OTHER_ELEMENTS:
            continue
        where = f"{record}, annotation {position} ({element.tag})"
        label = _label(element)
        try:
            if element.tag not in SHAPES:
                raise UnusableError(f"one of {', '.join(SHAPES)}", f"<{element.tag}>")
            if not label:
                raise UnusableError("a label", "nothing")
            shape = SHAPES[element.tag](element, size, joints.get(label, {}))
        except UnusableError as unusable:
            findings.fault(where, name, *unusable.args)
        else:
            findings.add_annotation(where, name, rater, label, **shape)


def _box(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    left, top, right, bottom = _numbers(element, "xtl", "ytl", "xbr", "ybr")
    angle = _numbers(element, "rotation")[0] if element.get("rotation") else 0.0
    if not angle % 360:
        return {"box": [left, top, right - left, bottom - top]}
    return {"polygon": [rotated((left, top, right, bottom), angle, ((left + right) / 2, (top + bottom) / 2))]}


def _polygon(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    return {"polygon": [_points(element)]}


def _mask(element: Element, size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    """Runs of pixels off, on, off, ... row by row within the mask's own box."""
    position = np.array(_numbers(element, "left", "top", "width", "height"))
    outside = (position[:2] < 0).any() or (position[2:] < 1).any() or (position[:2] + position[2:] > size).any()
    if not (position == np.rint(position)).all() or outside or np.isnan(size).any() or np.prod(size) > MOST_PIXELS:
        expected = f"a left, top, width and height in whole pixels inside of {size[0]:g} x {size[1]:g}"
        raise UnusableError(expected, ", ".join(f"{number:g}" for number in position))
    left, top, width, height = position.astype(np.intp).tolist()
    text = element.get("rle") or ""
    runs = [as_float(part) for part in text.split(",")]
    counts = np.array([np.nan if run is None else run for run in runs])
    whole = (counts >= 0) & (counts <= width * height) & (counts == np.rint(counts))
    if not whole.all() or counts.sum() != width * height:
        raise UnusableError(f"an rle of counts that sum to {width} x {height}", repr(text))
    on = np.repeat(np.arange(len(counts)) % 2 == 1, counts.astype(np.intp))
    canvas = np.zeros((int(size[1]), int(size[0])), np.bool_)
    canvas[top : top + height, left : left + width] = on.reshape(height, width)
    return {"mask": run_lengths(canvas)}


def _keypoints(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    return {"keypoints": [[x, y, 2] for x, y in _points(element)]}


def _skeleton(element: Element, _size: tuple[float, float], joints: dict[str, None]) -> dict[str, Any]:
    found: dict[str, list[float]] = {}
    for point in element.findall("points"):
        name = _label(point)
        points = _points(point)
        if not name or name in found or len(points) != 1:
            raise UnusableError(
                "joints of one point, each with a label of its own", f"{point.get('points')!r} of {name!r}"
            )
        visible = 0 if point.get("outside") == "1" else 1 if point.get("occluded") == "1" else 2
        found[name] = [*points[0], visible]
    if not found:
        raise UnusableError("joints", "none")
    return {"keypoints": [found.get(name, [0.0, 0.0, 0]) for name in joints]}


Shape = Callable[[Element, tuple[float, float], dict[str, None]], dict[str, Any]]
"""``shape(element, size of the image, joints of the class)`` -> the shape's field of a record."""

SHAPES: dict[str, Shape] = {
    "box": _box,
    "polygon": _polygon,
    "mask": _mask,
    "points": _keypoints,
    "skeleton": _skeleton,
}


def _numbers(element: Element, *names: str) -> list[float]:
    values = [as_float(element.get(name)) for name in names]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(names):
        raise UnusableError(f"numbers in {', '.join(names)}", ", ".join(repr(element.get(name)) for name in names))
    return numbers


def _points(element: Element) -> list[list[float]]:
    """``x,y;x,y;...`` as points."""
    text = element.get("points") or ""
    points = [[as_float(number) for number in point.split(",")] for point in text.split(";")]
    read = [[number for number in point if number is not None] for point in points]
    if not all(len(point) == 2 for point in read) or read != points:
        raise UnusableError("points x,y;x,y;...", repr(text))
    return read
