"""Readers of the classification export of a Zooniverse project, with one row per volunteer and subject."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from kalos_core.annotations import Account, Annotations
from kalos_core.errors import InputError, Problems, as_number, listed, repr_of
from kalos_core.files import as_path
from kalos_core.nominal import LabelTable
from kalos_core.options import Option, takes
from kalos_core.readers.answers import Answers, RepeatableSettings
from kalos_core.readers.findings import Findings, shapes_not_read
from kalos_core.readers.settings import AliasSettings, reading
from kalos_core.readers.shapes import ELLIPSE_CORNERS, UnusableError, angle_in, box_or_polygon, ellipse, numbers_in
from kalos_core.readers.tables import read_table

COLUMNS = ("user_name", "annotations", "subject_data", "subject_ids")
"""Columns of every classification export that are read."""

FILE_KEYS = ("filename", "file", "image", "image_name", "imagename", "name")
"""Usual fields of a manifest with the name of a subject's image, in lower case without a leading #; else `NUMBERED`."""

TOOLS = ("tool_label", "tool", "toolIndex")
"""Fields with the class of a shape; the first that exists is used: the label of the tool, else its number."""

NO_SHAPES = ("bezier", "column", "fan", "graph2dRangeX", "temporalPoint", "triangle")
"""Types of tools whose marks have the fields of another shape."""

FRAME = re.compile(r'"frame":\s*(\d{1,4})\b')
"""Frame of a mark, counted from 0, in the column annotations."""

NUMBERED = re.compile(r"^(?:image|img|file|filename|frame|image_name)_?(\d+)$")
"""Fields of a subject's metadata with the names of its frames, in lower case without a leading #."""

Workflow = Annotated[
    int | str | None,
    Option(
        "Workflow",
        "Id or name of the workflow to read; required if the export has several.",
        type="int or str, optional",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ZooniverseSettings(AliasSettings):
    """Options of `read_zooniverse`."""

    workflow: Workflow = None
    task: Annotated[str | None, Option("Task", "Key of the drawing task, such as T0; by default all of them.")] = None
    file_field: Annotated[
        str | None,
        Option(
            "Field of the image",
            "Field of the subject's metadata with the name of its image; by default a common name, or one with a "
            "number (image1).",
        ),
    ] = None
    frames: Annotated[
        Literal["apart", "shared"],
        Option(
            "Frames",
            "Handling of subjects in which volunteers marked several frames.",
            choices={
                "apart": "each frame is an image (5001#2); the volunteers are assigned to all of them",
                "shared": "all marks are on one image",
            },
        ),
    ] = "apart"


@takes(ZooniverseSettings)
@reading
def read_zooniverse(path: str | os.PathLike[str], settings: ZooniverseSettings) -> Annotations:
    r"""Read shapes that volunteers annotated in a Zooniverse project.

    Parameters
    ----------
    path : path
        The classification export (CSV, optionally ``.gz``). Every row is one volunteer's classification of one subject,
        to which the volunteer is assigned. A row without a shape means that the volunteer saw nothing. A second
        classification of a subject by the same volunteer is left out and counted in a warning.

    Returns
    -------
    Annotations
        Images are the subjects' ids, raters the user names (each guest is "not-logged-in-..."), classes the labels of
        the tools. Rectangles are boxes, rotated ones polygons; polygons and freehand lines (closed) are polygons;
        ellipses and circles are polygons of 64 corners; points are keypoints of one joint, lines of two. Combined
        drawing tasks are read, too. Questions, texts, surveys and marks of other tools are left out and counted in
        `account`. Answers about a mark are attributes ("detail 1"), as text. Sizes are those that the browser reported
        (``subject_dimensions``), if available.

    Raises
    ------
    InputError
        If the file cannot be read or is a different export, has several workflows and none is selected, mixes shapes
        that cannot be in one table, or a record is invalid.

    References
    ----------
    Zooniverse, "Data Exports", https://help.zooniverse.org/next-steps/data-exports/

    Examples
    --------
    >>> import csv
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
    source = as_path(path, "path")
    rows = _chosen(source, settings.workflow)
    findings, apart = Findings(source.name, settings.on_invalid), settings.frames == "apart"
    counts = _frames(rows) if apart else {}
    if counts:
        findings.account.note('each frame of a subject is a separate image (frames="shared" joins them)')
    for record, row in rows:
        _read_row(findings, row, record, settings, counts if apart else None)
    return findings.build(aliases=settings.aliases)


@dataclass(frozen=True, kw_only=True)
class ZooniverseAnswersSettings(RepeatableSettings):
    """Options of `read_zooniverse_answers`."""

    task: Annotated[
        str | None,
        Option("Task", "Key of the question or survey, such as T0; required if volunteers answered several."),
    ] = None
    workflow: Workflow = None


@takes(ZooniverseAnswersSettings)
@reading
def read_zooniverse_answers(path: str | os.PathLike[str], settings: ZooniverseAnswersSettings) -> LabelTable:
    r"""Read answers of volunteers to a question or a survey of a Zooniverse project.

    Parameters
    ----------
    path : path
        The classification export, as in `read_zooniverse`.

    Returns
    -------
    LabelTable
        Items are the subjects' ids, raters the user names. In a survey, only the choices are read, not the answers
        about them.

    Raises
    ------
    InputError
        As raised by `read_zooniverse`; if there is no answer, several questions and no `task`, or several choices in
        one answer that exclude each other.

    Examples
    --------
    >>> import csv
    >>> rows = [("ann", "Yes"), ("bob", "No")]
    >>> with open("classifications.csv", "w", newline="") as file:
    ...     table = csv.writer(file)
    ...     table.writerow(COLUMNS)
    ...     for user, answer in rows:
    ...         table.writerow([user, json.dumps([{"task": "T0", "value": answer}]), "{}", 5])  # doctest: +ELLIPSIS
    4...
    >>> labels = read_zooniverse_answers("classifications.csv")
    >>> labels.questions, labels.values().tolist()
    (('T0',), [[0, 1]])
    """
    source = as_path(path, "path")
    problems = Problems(source.name)
    found: list[tuple[_Row, dict[str, list[str]]]] = []
    for record, row in _chosen(source, settings.workflow):
        if (read := _contents(row, record, problems)) is not None:
            found.append((read, dict(_answers(read.tasks))))
    problems.raise_if_any()
    tasks = dict.fromkeys(key for _, answers in found for key, labels in answers.items() if labels)
    if not tasks:
        raise InputError(f"{source}: expected answers to a question or a survey, got none")
    task = settings.task
    if task not in tasks and (task is not None or len(tasks) > 1):
        actual = "none" if task is None else repr_of(task)
        raise InputError(f"task: expected one of {listed(map(repr_of, tasks), 20)}, got {actual}")
    name = task or next(iter(tasks))
    answers_of = [(read, answers[name]) for read, answers in found if name in answers]
    answers = Answers(settings.groups, "choice", problems)
    for place, (read, labels) in enumerate(answers_of):
        time = None if isinstance(settings.groups, str) else float(place)
        answers.add(read.record, read.subject, read.rater, labels, time)
    account = Account(notes=shapes_not_read(sum(len(list(_drawn(read.tasks, None, Counter()))) for read, _ in found)))
    if any(
        isinstance(part, dict) and part.get("answers") for read, _ in answers_of for part in _values(read.tasks, name)
    ):
        account.notes.append("answers about identifications not read")
    return answers.build(source.name, settings, account, question=name)


def _values(tasks: Iterable[Any], key: str) -> list[Any]:
    """Return the answers of a task."""
    of = [entry.get("value") for entry in tasks if isinstance(entry, dict) and str(entry.get("task")) == key]
    return [part for value in of if isinstance(value, list) for part in value]


def _answers(tasks: Iterable[Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the key of each question task and the selected texts; parts of combined tasks are tasks."""
    for number, entry in enumerate(tasks):
        if not isinstance(entry, dict) or "markIndex" in entry:
            continue
        key, value = str(entry.get("task", number)), entry.get("value")
        parts = value if isinstance(value, list) else [value]
        if any(isinstance(part, dict) and "task" in part for part in parts):
            yield from _answers(parts)
        elif (texts := [_choice(part) for part in parts]) and all(texts):
            yield key, [text for text in dict.fromkeys(texts) if text]
        elif value is None or value == []:
            yield key, []


def _choice(part: object) -> str | None:
    """Return the text or number of an answer, or the choice of an identification in a survey."""
    text = part.get("choice") if isinstance(part, dict) else part
    whole = isinstance(text, int) and not isinstance(text, bool)
    return str(text) if whole or isinstance(text, str) else None


# ---- rows ----


def _chosen(source: Path, workflow: int | str | None) -> list[tuple[str, dict[str, str]]]:
    """Return the rows of one workflow, with the names of their records."""
    rows = list(read_table(source, "Zooniverse export", COLUMNS).rows())
    if not rows:
        raise InputError(f"{source}: expected at least one classification, got none")
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
    return [
        (f"classification {key} (line {line})" if (key := row.get("classification_id")) else f"line {line}", row)
        for line, row in rows
    ]


class _Row(NamedTuple):
    """Relevant cells of a classification."""

    record: str
    subject: str
    rater: str
    tasks: list[Any]
    data: dict[str, Any]
    metadata: dict[str, Any]


def _contents(row: Mapping[str, str], record: str, problems: Problems) -> _Row | None:
    subject, rater = row.get("subject_ids", "").strip(), row.get("user_name", "").strip()
    for column, value in (("subject_ids", subject), ("user_name", rater)):
        if not value or (column == "subject_ids" and not value.isdigit()):
            expected = "one subject" if column == "subject_ids" else "a name"
            problems.add(f"{record}, column {column}", expected, repr(value))
            return None
    contents: list[Any] = []
    for column, kind in (("annotations", list), ("subject_data", dict), ("metadata", dict)):
        text = row.get(column) or ("{}" if kind is dict else "")
        content = _parsed(text)
        if not isinstance(content, kind):
            expected = f"JSON, {'a list' if kind is list else 'an object'}"
            problems.add(f"{record}, column {column}", expected, repr(text[:60]))
            return None
        contents.append(content)
    return _Row(record, subject, rater, *contents)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _frames(rows: Sequence[tuple[str, Mapping[str, str]]]) -> dict[str, int]:
    """Return the number of frames of each subject; empty if all marks of the export are on the first frame."""
    found: dict[str, int] = {}
    for _, row in rows:
        subject = row.get("subject_ids", "").strip()
        marked = [int(number) + 1 for number in FRAME.findall(row.get("annotations", ""))]
        found[subject] = max([found.get(subject, 1), *marked])
    if set(found.values()) <= {1}:
        return {}
    for _, row in rows:
        subject = row.get("subject_ids", "").strip()
        found[subject] = max(found[subject], len(_dimensions(_parsed(row.get("metadata", "")))))
    return found


def _read_row(
    findings: Findings,
    row: Mapping[str, str],
    record: str,
    settings: ZooniverseSettings,
    frames: Mapping[str, int] | None,
) -> None:
    """Record one classification; `frames` has the number of frames per subject, None if all marks share one image."""
    read = _contents(row, record, findings.problems)
    if read is None:
        return
    subject, rater, account = read.subject, read.rater, findings.account
    count = (frames or {}).get(subject, 1)
    images = [subject] if count == 1 else [f"{subject}#{number}" for number in range(1, count + 1)]
    if rater in findings.assigned.get(images[0], ()):
        account.left_out["further classifications of the same volunteer and subject"] += 1
        return
    for frame, image in enumerate(images):
        file = _file(read.data, subject, settings.file_field, frame if count > 1 else None)
        findings.add_image(image, record, file=file)
        size = _size(read.metadata, frame)
        if size is not None and np.isnan(findings.sizes[image][0]):
            findings.sizes[image] = size
        findings.assign(image, rater)
    for where, entry in _drawn(read.tasks, settings.task, account.left_out):
        place = f"{record}, {where}"
        with findings.annotation(place, images[0]):
            image = images[0] if frames is None else images[_frame(entry, count)]
            _read_mark(findings, entry, place, image, rater)


def _read_mark(findings: Findings, entry: Mapping[str, Any], place: str, image: str, rater: str) -> None:
    account = findings.account
    with findings.annotation(place, image):
        label = next((entry[key] for key in TOOLS if entry.get(key) not in (None, "")), None)
        if label is None or isinstance(label, (dict, list)):
            raise UnusableError("a tool_label", "nothing" if label is None else repr(label))
        shape = _shape(entry)
        if shape is None:
            account.left_out[f"marks of the tool {str(label)!r}, which is not supported"] += 1
            return
        if "r" in entry or "rx" in entry:
            account.note(f"ellipses and circles are polygons of {ELLIPSE_CORNERS} corners")
        findings.add_annotation(place, image, rater, str(label), attributes=_details(entry), **shape)


def _frame(entry: Mapping[str, Any], count: int) -> int:
    frame = as_number(entry.get("frame", 0))
    if frame is None or not frame.is_integer() or not 0 <= frame < count:
        raise UnusableError(f"a frame from 0 to {count - 1}", repr_of(entry.get("frame")))
    return int(frame)


def _details(entry: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the answers about a mark, which contain neither the question nor the choices."""
    details = entry.get("details")
    parts = details if isinstance(details, list) else []
    values = [part.get("value") if isinstance(part, dict) else part for part in parts]
    return {f"detail {n}": str(value) for n, value in enumerate(values, 1) if value not in (None, "", [])} or None


def _drawn(tasks: Iterable[Any], task: str | None, left_out: Counter[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the record name and the data of every shape in drawing tasks; parts of combined tasks are tasks."""
    for number, entry in enumerate(tasks):
        if not isinstance(entry, dict):
            continue
        key, value = str(entry.get("task", number)), entry.get("value")
        parts = [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
        if any("task" in part for part in parts):
            yield from _drawn(parts, task, left_out)
        elif task is not None and key != task:
            continue
        elif any(name in part for part in parts for name in TOOLS):
            for position, part in enumerate(parts, start=1):
                yield f"task {key}, shape {position}", part
        elif value not in (None, "", []):
            words = "answers about marks" if "markIndex" in entry else _words(value)
            left_out[words] += max(len(parts), 1)


def _words(value: Any) -> str:
    """Return the description of a task without shapes for the account."""
    parts = value if isinstance(value, list) else [value]
    if not all(map(_choice, parts)):
        return "answers to other tasks"
    survey = isinstance(parts[0], dict)
    return f"{'identifications in surveys' if survey else 'answers to questions'} (kalos-core labels reads them)"


def _file(data: Mapping[str, Any], subject: str, field: str | None, frame: int | None) -> str:
    """Return the file name of a subject's image, or of one of its frames, from its metadata."""
    about = data.get(subject, data)
    about = about if isinstance(about, Mapping) else {}
    plain = {str(key).lstrip("#/!").strip().lower().replace(" ", "_"): value for key, value in about.items()}
    names = {key: value for key, value in plain.items() if isinstance(value, str) and value}
    numbered = {int(found[1]): name for key, name in names.items() if (found := NUMBERED.match(key))}
    if frame is not None and field is None and len(numbered) > frame:
        return numbered[sorted(numbered)[frame]]
    known = [names[key] for key in FILE_KEYS if key in names] + [numbered[key] for key in sorted(numbered)]
    file = str(about.get(field) or "") if field is not None else known[0] if known else ""
    return file if frame is None or not file else f"{file}#{frame + 1}"


def _dimensions(metadata: Any) -> list[Any]:
    """Return the sizes of the frames as reported by the volunteer's browser."""
    found = metadata.get("subject_dimensions") if isinstance(metadata, Mapping) else None
    return found if isinstance(found, list) else []


def _size(metadata: Mapping[str, Any], frame: int) -> tuple[float, float] | None:
    """Return width and height of a frame, None if unknown."""
    dimensions = _dimensions(metadata)
    size = dimensions[frame] if frame < len(dimensions) else None
    if not isinstance(size, Mapping):
        return None
    width, height = (as_number(size.get(name)) or 0.0 for name in ("naturalWidth", "naturalHeight"))
    return (width, height) if 0 < width < math.inf and 0 < height < math.inf else None


def _shape(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read a shape by the fields of a mark, as most exports lack its type; None for unsupported tools."""
    if entry.get("toolType") in NO_SHAPES or "spread" in entry:  # a fan
        return None
    fields = next((names for names in SHAPES if all(name in entry for name in names)), None)
    return None if fields is None else SHAPES[fields](entry)


def _rectangle(entry: Mapping[str, Any]) -> dict[str, Any]:
    return box_or_polygon(numbers_in(entry, "x", "y", "width", "height"), angle_in(entry, "angle"))


def _rectangle_at_centre(entry: Mapping[str, Any]) -> dict[str, Any]:
    x, y, width, height = numbers_in(entry, "x_center", "y_center", "width", "height")
    return _rectangle({**entry, "x": x - width / 2, "y": y - height / 2})


def _polygon(entry: Mapping[str, Any]) -> dict[str, Any]:
    points = entry["points"]
    if not isinstance(points, list) or not all(isinstance(p, dict) and {"x", "y"} <= p.keys() for p in points):
        raise UnusableError("a list of points with x and y", repr(points))
    return {"polygon": [[numbers_in(point, "x", "y") for point in points]]}


def _path(entry: Mapping[str, Any]) -> dict[str, Any]:
    xs, ys = entry["pathX"], entry["pathY"]
    if not isinstance(xs, list) or not isinstance(ys, list) or len(xs) != len(ys):
        raise UnusableError("lists pathX and pathY of one length", "others")
    return {"polygon": [[numbers_in({"x": x, "y": y}, "x", "y") for x, y in zip(xs, ys, strict=True)]]}


def _ellipse(entry: Mapping[str, Any]) -> dict[str, Any]:
    x, y, rx, ry = numbers_in(entry, "x", "y", "rx", "ry")
    return {"polygon": [ellipse(x, y, rx, ry, -angle_in(entry, "angle"))]}  # the tool rotates counter-clockwise


def _circle(entry: Mapping[str, Any]) -> dict[str, Any]:
    return _ellipse({"x": entry["x"], "y": entry["y"], "rx": entry["r"], "ry": entry["r"]})


def _about_centre(entry: Mapping[str, Any]) -> dict[str, Any]:
    moved = {**entry, "x": entry["x_center"], "y": entry["y_center"]}
    return _ellipse(moved) if "rx" in entry else _circle(moved)


def _line(entry: Mapping[str, Any]) -> dict[str, Any]:
    x1, y1, x2, y2 = numbers_in(entry, "x1", "y1", "x2", "y2")
    return {"keypoints": [[x1, y1, 2], [x2, y2, 2]]}


def _point(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"keypoints": [[*numbers_in(entry, "x", "y"), 2]]}


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
"""Fields of a shape -> its reader; the first match is used."""
