"""Label Studio's JSON export: tasks that several annotators worked on."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, OnInvalid, as_name
from kalos_core.arguments import check_arguments
from kalos_core.errors import InputError, as_number, listed, repr_of
from kalos_core.files import as_path, load_json
from kalos_core.readers.findings import Findings
from kalos_core.readers.shapes import MOST_PIXELS, UnusableError, rotated, run_lengths

OTHER_RESULTS = ("relation", "choices", "taxonomy", "textarea", "rating", "number", "datetime", "pairwise", "ranker")
"""Types of results that annotate no location."""

UPLOADED = re.compile(r"^[0-9a-f]{8}-(?=.)")
"""What Label Studio puts before the name of a file that was uploaded."""

HALF = 128
"""Least opacity (of 255) of a pixel that a brush has covered."""


def read_label_studio(
    path: str | os.PathLike[str], *, image_field: str = "image", on_invalid: OnInvalid = "raise"
) -> Annotations:
    """Labels of several annotators from a JSON export of Label Studio.

    Parameters
    ----------
    path : path
        A list of tasks, each with ``annotations``: one of each annotator (``completed_by``: an e-mail, an id or a
        record with either), which may be empty: the annotator looked and annotated nothing. Cancelled ones are passed
        over.
    image_field : str
        Field of a task's ``data`` that holds the image; where a task has another one only, that is taken.
    on_invalid : "raise" or "skip"
        Annotations whose shape cannot be used: an error, or left out with a warning and counted in `skipped`.

    Returns
    -------
    Annotations
        Images are the tasks' ids. Rectangles are boxes (one that is rotated becomes a polygon), polygons, brush strokes
        masks (pixels at least half opaque), and a key point is keypoints of one joint. Choices, texts and relations
        annotate no location and are passed over.

    Raises
    ------
    InputError
        If the file cannot be read or is another export, an annotator has two annotations of one task, or a record
        cannot be used.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> value = {"x": 10, "y": 50, "width": 20, "height": 25, "rectanglelabels": ["cat"]}
    >>> drawn = {"type": "rectanglelabels", "original_width": 200, "original_height": 100, "value": value}
    >>> annotations = [{"completed_by": 1, "result": [drawn]}, {"completed_by": 2, "result": []}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "export.json"
    ...     _ = path.write_text(json.dumps([{"id": 7, "data": {"image": "a.jpg"}, "annotations": annotations}]))
    ...     table = read_label_studio(path)
    >>> table.raters.tolist(), table.assigned.tolist(), table.shapes["box"].xywh().tolist()
    (['1', '2'], [[True, True]], [[20.0, 50.0, 40.0, 25.0]])
    """
    check_arguments(read_label_studio, locals())
    source = as_path(path, "path")
    tasks = load_json(source, "Label Studio export")
    if not isinstance(tasks, list) or not tasks:
        actual = "an empty list" if isinstance(tasks, list) else type(tasks).__name__
        raise InputError(f"{source}: expected a list of Label Studio tasks, got {actual}")
    findings = Findings(source.name, on_invalid)
    for number, task in enumerate(tasks):
        record = f"tasks[{number}]"
        if not isinstance(task, Mapping) or not isinstance(task.get("annotations"), list):
            findings.problems.add(record, "a task with a list of 'annotations' (the export 'JSON')", repr_of(task))
            continue
        record = f"{record} (id {task.get('id')!r})"
        key = task.get("id", number + 1)
        if not isinstance(key, (int, str)) or isinstance(key, bool) or key in findings.files:
            findings.problems.add(record, "an id of its own", repr_of(key))
            continue
        findings.add_image(key, record, file=_file(task.get("data"), image_field))
        for position, annotation in enumerate(task["annotations"]):
            _read_annotation(findings, key, annotation, f"{record}, annotations[{position}]")
    return findings.build()


def _file(data: object, image_field: str) -> str:
    """The name of a task's image, as it was before Label Studio stored it; "" where it says none."""
    fields = data if isinstance(data, Mapping) else {}
    texts = [value for value in fields.values() if isinstance(value, str)]
    path = fields.get(image_field) or (texts[0] if len(texts) == 1 else "")
    if not isinstance(path, str):
        return ""
    try:
        parts = urlsplit(path)
    except ValueError:  # brackets that are no address of a host
        return PurePosixPath(path).name
    local = parse_qs(parts.query).get("d")  # local storage: /data/local-files/?d=folder/a.jpg
    name = PurePosixPath(local[0] if local else unquote(parts.path)).name
    return UPLOADED.sub("", name) if "/upload/" in parts.path else name


def _read_annotation(findings: Findings, task: int | str, annotation: Any, record: str) -> None:
    results = annotation.get("result") if isinstance(annotation, Mapping) else None
    if not isinstance(results, list):
        findings.problems.add(record, "an annotation with a list 'result'", repr_of(annotation))
        return
    if annotation.get("was_cancelled"):
        return
    rater = _rater(annotation.get("completed_by"))
    if rater is None:
        findings.problems.add(record, "an annotator as 'completed_by'", repr_of(annotation.get("completed_by")))
        return
    if rater in findings.assigned.get(task, ()):
        findings.problems.add(record, "one annotation of each annotator", f"a second one of {rater!r}")
        return
    findings.assign(task, rater)
    for position, result in enumerate(results):
        where = f"{record}, result[{position}]"
        if not isinstance(result, Mapping):
            findings.problems.add(where, "an object", repr_of(result))
        elif result.get("type") not in OTHER_RESULTS:
            _read_result(findings, task, rater, result, where)


def _rater(completed_by: object) -> str | None:
    if isinstance(completed_by, Mapping):
        completed_by = completed_by.get("email") or completed_by.get("id")
    name = as_name(completed_by)
    return name if isinstance(name, str) else None


def _read_result(findings: Findings, task: int | str, rater: str, result: Mapping[str, Any], where: str) -> None:
    width, height = (as_number(result.get(f"original_{side}")) for side in ("width", "height"))
    size = findings.size_from(width, height, where)
    findings.add_image(task, where, size=size)
    kind, value = result.get("type"), result.get("value")
    try:
        if not isinstance(kind, str) or kind not in SHAPES:
            raise UnusableError(f"a result of a type among {listed(SHAPES, 10)}", repr_of(kind))
        if not isinstance(value, Mapping):
            raise UnusableError("a value", repr_of(value))
        if result.get("image_rotation"):
            raise UnusableError(
                "an image that was not rotated in Label Studio", f"{result['image_rotation']!r} degrees"
            )
        if np.isnan(size).any():
            raise UnusableError("original_width and original_height, which coordinates are percents of", "neither")
        label, shape = _label(value, kind), SHAPES[kind](value, size)
    except UnusableError as unusable:
        findings.fault(where, task, *unusable.args)
    else:
        findings.add_annotation(where, task, rater, label, **shape)


def _label(value: Mapping[str, Any], kind: str) -> str:
    labels = value.get(kind)
    name = as_name(labels[0]) if isinstance(labels, list) and len(labels) == 1 else None
    if not isinstance(name, str):
        raise UnusableError(f"one class in {kind!r}", repr_of(labels))
    return name


def _pixels(value: Mapping[str, Any], names: tuple[str, ...], size: tuple[float, float]) -> list[float]:
    """Fields in percents of the image's width and height by turns, as pixels."""
    numbers = [as_number(value.get(name)) for name in names]
    read = [number * size[position % 2] / 100 for position, number in enumerate(numbers) if number is not None]
    if len(read) < len(names):
        raise UnusableError(f"numbers in {', '.join(names)}", listed(repr_of(value.get(name)) for name in names))
    return read


def _rectangle(value: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    x, y, width, height = _pixels(value, ("x", "y", "width", "height"), size)
    angle = as_number(value.get("rotation", 0))
    if angle is None:
        raise UnusableError("a number as rotation", repr_of(value.get("rotation")))
    if not angle % 360:
        return {"box": [x, y, width, height]}
    return {"polygon": [rotated((x, y, x + width, y + height), angle, (x, y))]}


def _polygon(value: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    points = value.get("points")
    if not isinstance(points, list) or not all(isinstance(point, list) and len(point) == 2 for point in points):
        raise UnusableError("points [[x, y], ...]", repr_of(points))
    numbers = [[as_number(number) for number in point] for point in points]
    ring = [[x * size[0] / 100, y * size[1] / 100] for x, y in numbers if x is not None and y is not None]
    if len(ring) < len(points) or not ring:
        raise UnusableError("points [[x, y], ...]", repr_of(points))
    return {"polygon": [ring]}


def _key_point(value: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    return {"keypoints": [[*_pixels(value, ("x", "y"), size), 2]]}


def _brush(value: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    """The opacity (fourth value) of each pixel, row by row."""
    given, (width, height) = value.get("rle"), size
    if not (width.is_integer() and height.is_integer()):
        raise UnusableError("an image of whole pixels", f"{width} x {height}")
    if value.get("format") != "rle" or not isinstance(given, list) or width * height > MOST_PIXELS:
        raise UnusableError(
            "a brush with the format 'rle' and a list 'rle'", f"{value.get('format')!r}, {repr_of(given)}"
        )
    try:
        data = np.array(given, dtype=np.uint8)
    except (ValueError, TypeError, OverflowError):
        raise UnusableError("an rle of bytes", repr_of(given)) from None
    colours = unpack(data, int(width * height * 4))
    if colours is None:
        raise UnusableError(f"an rle of {width:g} x {height:g} pixels of four bytes", repr_of(given))
    return {"mask": run_lengths(colours.reshape(int(height), int(width), 4)[:, :, 3] >= HALF)}


def unpack(data: NDArray[np.uint8], count: int) -> NDArray[np.uint8] | None:
    """Bytes packed by Label Studio (the format of thi.ng/rle-pack), None if they are not `count` packed bytes.

    A stream of bits: 32 how many values, 5 the bits of a value less 1, four times 4 the bits of a run's length less 1;
    then runs: 1 whether one value is repeated, 2 which of the four lengths, the length less 1, and one value or all.

    Examples
    --------
    Three times 7, in runs of at most 2, 4, 8 or 16 (1, 2, 3 or 4 bits):

    >>> bits = f"{3:032b}{7:05b}{0:04b}{1:04b}{2:04b}{3:04b}" + "1" + "01" + f"{2:02b}" + f"{7:08b}"
    >>> packed = np.packbits([int(bit) for bit in bits])
    >>> unpack(packed, 3).tolist(), unpack(packed, 4)
    ([7, 7, 7], None)
    """
    bits = np.unpackbits(data)
    text = bits.tobytes().translate(_DIGITS).decode("ascii")
    if len(text) < 53 or int(text[:32], 2) != count or int(text[32:37], 2) != 7:
        return None
    lengths = [int(text[position : position + 4], 2) + 1 for position in range(37, 53, 4)]
    values = np.zeros(count, np.uint8)
    done, position = 0, 53
    while done < count:
        if position + 3 > len(text):
            return None
        repeated, width = text[position] == "1", lengths[int(text[position + 1 : position + 3], 2)]
        position += 3
        run = int(text[position : position + width] or "0", 2) + 1
        position += width
        end = position + (8 if repeated else 8 * run)
        if end > len(text) or done + run > count:
            return None
        values[done : done + run] = np.packbits(bits[position:end])
        done, position = done + run, end
    return values


_DIGITS = bytes.maketrans(b"\x00\x01", b"01")

Shape = Callable[[Mapping[str, Any], tuple[float, float]], dict[str, Any]]
"""``shape(value, size of the image)`` -> the shape's field of a record."""

SHAPES: dict[str, Shape] = {
    "rectanglelabels": _rectangle,
    "polygonlabels": _polygon,
    "keypointlabels": _key_point,
    "brushlabels": _brush,
}
"""Types of results that annotate a location."""
