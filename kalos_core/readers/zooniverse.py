"""Zooniverse: the classification export of a project, one row a volunteer and subject."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kalos_core.annotations import Annotations, OnInvalid
from kalos_core.arguments import check_arguments
from kalos_core.display import number_of
from kalos_core.errors import InputError, KalosWarning, as_number, listed, repr_of
from kalos_core.files import as_float, as_path, read_text
from kalos_core.readers.findings import Findings
from kalos_core.readers.shapes import UnusableError, rotated
from kalos_core.readers.vocabulary import Aliases

COLUMNS = ("user_name", "annotations", "subject_data", "subject_ids")
"""Columns of every classification export that are read."""

FILE_KEYS = ("filename", "file", "image", "image_name", "imagename", "name", "image1", "image_1")
"""Where the manifest of a project usually has the name of a subject's image, in small letters without a leading #."""

TOOLS = ("tool_label", "tool", "toolIndex")
"""What says the class of a shape, the first that is there: the label of the tool, else its number."""

ELLIPSE_POINTS = 64
"""Corners of the polygon that stands for an ellipse or a circle."""

LONGEST_CELL = 1 << 27


def read_zooniverse(
    path: str | os.PathLike[str],
    *,
    workflow: int | str | None = None,
    task: str | None = None,
    file_field: str | None = None,
    aliases: Aliases | None = None,
    on_invalid: OnInvalid = "raise",
) -> Annotations:
    r"""Shapes that volunteers annotated in a Zooniverse project.

    Parameters
    ----------
    path : path
        The classification export (CSV, may end in ``.gz``). Every row is one volunteer's classification of one subject:
        they are assigned to it, and one without a shape saw nothing. A second classification of a subject by the same
        volunteer is passed over and counted in a warning.
    workflow : int or str, optional
        Id or name: rows of another workflow are passed over. Needed where the export has several.
    task : str, optional
        Key of the drawing task, such as "T0"; by default all of them.
    file_field : str, optional
        Field of the subject's metadata that holds the name of its image; by default one of `FILE_KEYS`.
    aliases : mapping, optional
        Labels of tools -> class, as in `read_coco`.
    on_invalid : "raise" or "skip"
        Shapes that cannot be used: an error, or left out with a warning and counted in `skipped`.

    Returns
    -------
    Annotations
        Images are the subjects' ids, raters the user names (guests are "not-logged-in-..." each), classes the labels of
        the tools. Rectangles are boxes, rotated ones polygons; polygons and freehand lines (closed) polygons; ellipses
        and circles polygons of 64 corners; points are keypoints of one joint, lines of two. Combined drawing tasks are
        read, too; questions, texts and surveys are passed over. Sizes are those of the screen's report
        (``subject_dimensions``), where it is there.

    Warns
    -----
    KalosWarning
        If a volunteer classified a subject again.

    Raises
    ------
    InputError
        If the file cannot be read or is another export, has several workflows and none is chosen, mixes shapes that
        cannot stand in one table, or a record cannot be used.

    References
    ----------
    Zooniverse, "Data Exports", https://help.zooniverse.org/next-steps/data-exports/

    Examples
    --------
    >>> drawn = [{"tool": 0, "frame": 0, "x": 10, "y": 20, "width": 30, "height": 40, "details": []}]
    >>> drawn[0]["tool_label"] = "Penguin"
    >>> rows = [{"user_name": "ann", "annotations": json.dumps([{"task": "T0", "value": drawn}])}]
    >>> rows.append({"user_name": "bob", "annotations": json.dumps([{"task": "T0", "value": []}])})
    >>> with open("classifications.csv", "w", newline="") as file:
    ...     table = csv.DictWriter(file, COLUMNS)
    ...     _ = table.writeheader()
    ...     for row in rows:
    ...         _ = table.writerow(row | {"subject_ids": 5, "subject_data": json.dumps({"5": {"Filename": "a.jpg"}})})
    >>> annotations = read_zooniverse("classifications.csv")
    >>> annotations.shapes["box"].xywh().tolist(), annotations.assigned.tolist(), annotations.files.tolist()
    ([[10.0, 20.0, 30.0, 40.0]], [[True, True]], ['a.jpg'])
    """
    check_arguments(read_zooniverse, locals())
    source = as_path(path, "path")
    rows = list(_rows(source))
    found = {key: row.get("workflow_name", "") for _, row in rows if (key := row.get("workflow_id"))}
    if workflow is not None:
        wanted = [key for key, name in found.items() if str(workflow) in (key, name)]
        if not wanted:
            known = listed((f"{key} ({name})" for key, name in found.items()), 10) or "none"
            raise InputError(f"workflow: expected one of {known}, got {repr_of(workflow)}")
        rows = [(line, row) for line, row in rows if row.get("workflow_id") in wanted]
    elif len(found) > 1:
        known = listed((f"{key} ({name})" for key, name in found.items()), 10)
        raise InputError(f"{source}: expected classifications of one workflow, got {known}: choose by workflow=")
    findings = Findings(source.name, on_invalid)
    again = 0
    for line, row in rows:
        again += _read_row(findings, row, f"line {line}", task, file_field)
    made = findings.build(aliases=aliases)
    if again:
        over = number_of(again, "classification is", "classifications are")
        text = f"{source.name}: {over} passed over, as the volunteer had classified the subject"
        warnings.warn(text, KalosWarning, stacklevel=2)
    return made


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The line at which each row ends, and its cells by column."""
    before = csv.field_size_limit(LONGEST_CELL)  # a drawing is one cell
    try:
        lines = csv.reader(io.StringIO(read_text(path, "Zooniverse export"), newline=""))
        header = next(lines, [])
        if not set(COLUMNS) <= set(header):
            actual = listed(header, 20) or "nothing"
            raise InputError(f"{path}: expected a classification export with {', '.join(COLUMNS)}, got {actual}")
        empty = True
        for cells in lines:
            if len(cells) > len(header):
                raise InputError(f"{path}: line {lines.line_num}: expected {len(header)} cells, got {len(cells)}")
            if cells:
                empty = False
                yield lines.line_num, dict(zip(header, cells, strict=False))
        if empty:
            raise InputError(f"{path}: expected at least one classification, got none")
    except csv.Error as error:
        raise InputError(f"{path}: expected CSV, got {error}") from error
    finally:
        csv.field_size_limit(before)


def _read_row(findings: Findings, row: Mapping[str, str], record: str, task: str | None, file_field: str | None) -> int:
    """Note one classification; 1 if its volunteer had classified the subject before."""
    subject, rater = row.get("subject_ids", "").strip(), row.get("user_name", "").strip()
    for column, value in (("subject_ids", subject), ("user_name", rater)):
        if not value or (column == "subject_ids" and not value.isdigit()):
            expected = "one subject" if column == "subject_ids" else "a name"
            findings.problems.add(f"{record}, column {column}", expected, repr(value))
            return 0
    contents = {}
    for column, kind in (("annotations", list), ("subject_data", dict), ("metadata", dict)):
        text = row.get(column) or ("{}" if kind is dict else "")
        try:
            contents[column] = json.loads(text)
        except (ValueError, RecursionError):
            contents[column] = None
        if not isinstance(contents[column], kind):
            expected = f"JSON, {'a list' if kind is list else 'an object'}"
            findings.problems.add(f"{record}, column {column}", expected, repr(text[:60]))
            return 0
    if rater in findings.assigned.get(subject, ()):
        return 1
    findings.add_image(subject, record, file=_file(contents["subject_data"], subject, file_field))
    size = _size(contents["metadata"])
    if size is not None and np.isnan(findings.sizes[subject][0]):
        findings.sizes[subject] = size
    findings.assign(subject, rater)
    for where, entry in _drawn(contents["annotations"], task):
        place = f"{record}, {where}"
        try:
            shape = _shape(entry)
            label = next((entry[key] for key in TOOLS if entry.get(key) not in (None, "")), None)
            if label is None or isinstance(label, (dict, list)):
                raise UnusableError("a tool_label", "nothing" if label is None else repr(label))
        except UnusableError as unusable:
            findings.fault(place, subject, *unusable.args)
        else:
            findings.add_annotation(place, subject, rater, str(label), **shape)
    return 0


def _drawn(tasks: list[Any], task: str | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every shape of the drawing tasks, with its place; parts of combined tasks are tasks."""
    for number, entry in enumerate(tasks):
        if not isinstance(entry, dict) or not isinstance(entry.get("value"), list):
            continue
        key = str(entry.get("task", number))
        values = entry["value"]
        parts = [part for part in values if isinstance(part, dict)]
        if any("task" in part for part in parts):
            yield from _drawn(parts, task)
        elif task is None or key == task:
            yield from (
                (f"task {key}, shape {position}", part)
                for position, part in enumerate(parts, start=1)
                if any(key in part for key in TOOLS)
            )


def _file(data: Mapping[str, Any], subject: str, field: str | None) -> str:
    """The name of the image of a subject, from its metadata."""
    about = data.get(subject, data)
    about = about if isinstance(about, Mapping) else {}
    if field is not None:
        return str(about.get(field) or "")
    plain = {str(key).lstrip("#/!").strip().lower().replace(" ", "_"): value for key, value in about.items()}
    return next((str(plain[key]) for key in FILE_KEYS if isinstance(plain.get(key), str) and plain[key]), "")


def _size(metadata: Mapping[str, Any]) -> tuple[float, float] | None:
    """Width and height of the first frame, as the volunteer's browser reported them."""
    dimensions = metadata.get("subject_dimensions")
    first = dimensions[0] if isinstance(dimensions, list) and dimensions else None
    if not isinstance(first, Mapping):
        return None
    width, height = (as_number(first.get(name)) or 0.0 for name in ("naturalWidth", "naturalHeight"))
    return (width, height) if 0 < width < math.inf and 0 < height < math.inf else None


def _shape(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The shape by the fields that it has: tools do not say their type."""
    fields = next((names for names in SHAPES if all(name in entry for name in names)), None)
    if fields is None:
        raise UnusableError("the fields of a rectangle, polygon, ellipse, circle, line or point", listed(entry, 10))
    return SHAPES[fields](entry)


def _numbers(entry: Mapping[str, Any], *names: str) -> list[float]:
    found = [as_number(entry[name]) if not isinstance(entry[name], str) else as_float(entry[name]) for name in names]
    numbers = [number for number in found if number is not None]
    if len(numbers) < len(names):
        raise UnusableError(f"numbers in {', '.join(names)}", ", ".join(repr(entry[name]) for name in names))
    return numbers


def _rectangle(entry: Mapping[str, Any]) -> dict[str, Any]:
    x, y, width, height = _numbers(entry, "x", "y", "width", "height")
    angle = _numbers(entry, "angle")[0] if entry.get("angle") is not None else 0.0
    if not angle % 360:
        return {"box": [x, y, width, height]}
    return {"polygon": [rotated((x, y, x + width, y + height), angle, (x + width / 2, y + height / 2))]}


def _rectangle_at_centre(entry: Mapping[str, Any]) -> dict[str, Any]:
    x, y, width, height = _numbers(entry, "x_center", "y_center", "width", "height")
    return _rectangle({**entry, "x": x - width / 2, "y": y - height / 2})


def _polygon(entry: Mapping[str, Any]) -> dict[str, Any]:
    points = entry["points"]
    if not isinstance(points, list) or not all(isinstance(p, dict) and {"x", "y"} <= p.keys() for p in points):
        raise UnusableError("a list of points with x and y", repr(points))
    return {"polygon": [[_numbers(point, "x", "y") for point in points]]}


def _path(entry: Mapping[str, Any]) -> dict[str, Any]:
    xs, ys = entry["pathX"], entry["pathY"]
    if not isinstance(xs, list) or not isinstance(ys, list) or len(xs) != len(ys):
        raise UnusableError("lists pathX and pathY of one length", "others")
    return {"polygon": [[_numbers({"x": x, "y": y}, "x", "y") for x, y in zip(xs, ys, strict=True)]]}


def _ellipse(entry: Mapping[str, Any]) -> dict[str, Any]:
    x, y, rx, ry = _numbers(entry, "x", "y", "rx", "ry")
    turn = np.radians(-_numbers(entry, "angle")[0]) if entry.get("angle") is not None else 0.0  # counter-clockwise
    angles = np.linspace(0, 2 * np.pi, ELLIPSE_POINTS, endpoint=False)
    with np.errstate(over="ignore", invalid="ignore"):
        along, across = rx * np.cos(angles), ry * np.sin(angles)
        points = np.stack(
            [x + along * np.cos(turn) - across * np.sin(turn), y + along * np.sin(turn) + across * np.cos(turn)], axis=1
        )
    return {"polygon": [points.tolist()]}


def _circle(entry: Mapping[str, Any]) -> dict[str, Any]:
    return _ellipse({"x": entry["x"], "y": entry["y"], "rx": entry["r"], "ry": entry["r"]})


def _about_centre(entry: Mapping[str, Any]) -> dict[str, Any]:
    moved = {**entry, "x": entry["x_center"], "y": entry["y_center"]}
    return _ellipse(moved) if "rx" in entry else _circle(moved)


def _line(entry: Mapping[str, Any]) -> dict[str, Any]:
    x1, y1, x2, y2 = _numbers(entry, "x1", "y1", "x2", "y2")
    return {"keypoints": [[x1, y1, 2], [x2, y2, 2]]}


def _point(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"keypoints": [[*_numbers(entry, "x", "y"), 2]]}


Shape = Callable[[Mapping[str, Any]], dict[str, Any]]

SHAPES: dict[tuple[str, ...], Shape] = {
    ("x", "y", "width", "height"): _rectangle,
    ("x_center", "y_center", "width", "height"): _rectangle_at_centre,
    ("x_center", "y_center", "rx", "ry"): _about_centre,
    ("x_center", "y_center", "r"): _about_centre,
    ("points",): _polygon,
    ("pathX", "pathY"): _path,
    ("x", "y", "rx", "ry"): _ellipse,
    ("x", "y", "r"): _circle,
    ("x1", "y1", "x2", "y2"): _line,
    ("x", "y"): _point,
}
"""Fields of a shape -> its reader, the first that fits is taken."""
