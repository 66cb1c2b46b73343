"""Tasks of a Label Studio export: their annotators, and the images of their results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from kalos_core.annotations import Account, as_name
from kalos_core.annotations.account import PREDICTIONS
from kalos_core.errors import InputError, Problems, listed, repr_of
from kalos_core.files import load_json
from kalos_core.nominal import OnRepeat

ANSWERS = {
    "choices": "choices",
    "taxonomy": "taxonomy",
    "rating": "rating",
    "number": "number",
    "pairwise": "selected",
    "textarea": "text",
    "datetime": "datetime",
    "field": "field",
}
"""Types of results that answer a question -> field of the value with the answer. `FIELD` is our own type."""

FIELD = "field"
"""Text of a JSON-MIN record: the answer to a question, or any other data of the task."""

FIELDS = {
    "brush": ("rle",),
    "ellipse": ("radiusX", "radiusY"),
    "polygon": ("points",),
    "rectangle": ("x", "y", "width", "height"),
    "keypoint": ("x", "y"),
}
"""Shape -> fields of its value; the first match is used."""

FLAT = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement")
"""Fields of a JSON-MIN record that are neither data nor results."""

KNOWN = {"annotations", "annotator", "annotation_id", "completed_by", "result", "completions", "data"}
"""Fields that identify a record of Label Studio."""

ADDRESS = re.compile(r"^(\w+://|/|data:)|\.(jpe?g|png|gif|bmp|webp|tiff?|svg|dcm|pdf)([?#]|$)", re.IGNORECASE)
"""Text that is the path or the URL of an image."""

UPLOADED = re.compile(r"^[0-9a-f]{8}-(?=.)")
"""Prefix that Label Studio adds to the name of an uploaded file."""

MOST_PAGES = 10_000

DEEPEST = 3
"""Number of levels of lists and objects in the data of a task that are searched for images."""


@dataclass(frozen=True)
class Annotation:
    """All results of one annotator for one task, with the names of their records."""

    record: str
    rater: str
    updated: str
    results: list[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Task:
    """One task of an export."""

    key: int | str
    record: str
    data: Mapping[str, Any]
    annotations: list[Annotation] = field(default_factory=list)


@dataclass(frozen=True)
class Pages:
    """Images of a task: (tag, page index) -> id and file name; tag or index is None if the task has only one."""

    several_tags: bool
    several_pages: bool
    images: dict[tuple[str | None, int | None], tuple[int | str, str]]

    def of(self, result: Mapping[str, Any]) -> int | str:
        """Return the id of the image of a result."""
        place = _tag(result) if self.several_tags else None, (page_of(result) or 0) if self.several_pages else None
        return self.images.get(place, next(iter(self.images.values())))[0]


def load_tasks(source: Path, problems: Problems, account: Account, on_repeat: OnRepeat, remedy: str) -> list[Task]:
    """Load the tasks of an export (JSON or JSON-MIN), with one annotation per annotator.

    Records of one task are joined. `remedy` is a hint for messages about a second annotation by an annotator.

    Raises
    ------
    InputError
        If the file cannot be read, or has no task. Faults of records are added to `problems`.
    """
    content = load_json(source, "Label Studio export")
    if isinstance(content, Mapping):  # one task, or a page of tasks of the API
        content = content["tasks"] if isinstance(content.get("tasks"), list) else [content]
    if not isinstance(content, list) or not content:
        actual = "an empty list" if isinstance(content, list) else type(content).__name__
        raise InputError(f"{source}: expected Label Studio tasks (the export JSON or JSON-MIN), got {actual}")
    fields = dict.fromkeys(str(name) for record in content if isinstance(record, Mapping) for name in record)
    if fields and not KNOWN & set(fields):
        raise InputError(
            f"{source}: expected Label Studio tasks (the export JSON or JSON-MIN), got records with "
            f"{listed(fields, 10)}. Exports of other tools are not supported: convert them to COCO, or a table of boxes"
        )
    tasks: dict[int | str, Task] = {}
    for number, record in enumerate(content):
        _add_task(tasks, record, number, problems, account)
    for task in tasks.values():
        task.annotations[:] = _once(task.annotations, problems, account, on_repeat, remedy)
    return list(tasks.values())


def _add_task(tasks: dict[int | str, Task], record: Any, number: int, problems: Problems, account: Account) -> None:
    where = f"tasks[{number}]"
    flat = isinstance(record, Mapping) and "annotations" not in record and {"annotator", "annotation_id"} & set(record)
    if flat:
        record = _unfolded(record)
    elif isinstance(record, Mapping) and "result" in record and isinstance(record.get("task"), Mapping):
        record = {**record["task"], "annotations": [record]}  # a cloud storage file: an annotation with its task
    if not isinstance(record, Mapping) or not isinstance(record.get("annotations"), list):
        expected = "a task with a list of 'annotations' (the export JSON), or with an 'annotator' (JSON-MIN)"
        problems.add(where, expected, repr_of(record))
        return
    key, data = record.get("id", number + 1), record.get("data")
    if not isinstance(key, (int, str)) or isinstance(key, bool):
        problems.add(where, "a number or a text as 'id'", repr_of(key))
        return
    where = f"task {key}" if "id" in record else where
    task = tasks.setdefault(key, Task(key, where, data if isinstance(data, Mapping) else {}))
    images = addresses(data)
    if images != addresses(task.data):
        problems.add(f"tasks[{number}] (id {key!r})", "an id of its own for each image", f"{key!r} again")
        return
    if flat and len(images) > 1 and any(is_located(of) for of in record["annotations"][0]["result"]):
        expected = "one image in a task of JSON-MIN, which does not say where a region is (use the export JSON)"
        problems.add(where, expected, f"{len(images)} images")
    for name in ("drafts", PREDICTIONS):
        if isinstance(record.get(name), list) and record[name]:
            account.left_out[name] += len(record[name])
    for position, annotation in enumerate(record["annotations"]):
        _add_annotation(task, annotation, position, problems, account)


def _add_annotation(task: Task, annotation: Any, position: int, problems: Problems, account: Account) -> None:
    results = annotation.get("result") if isinstance(annotation, Mapping) else None
    key = as_name(annotation.get("id")) if isinstance(annotation, Mapping) else None
    where = f"{task.record}, annotation {key}" if isinstance(key, str) else f"{task.record}, annotations[{position}]"
    if not isinstance(results, list):
        problems.add(where, "an annotation with a list 'result'", repr_of(annotation))
        return
    if annotation.get("was_cancelled") or annotation.get("skipped"):
        account.left_out["cancelled annotations"] += 1
        return
    rater = _rater(annotation.get("completed_by"))
    if rater is None:
        problems.add(where, "an annotator as 'completed_by'", repr_of(annotation.get("completed_by")))
        return
    reviews = annotation.get("reviews")
    if isinstance(reviews, list) and any(isinstance(of, Mapping) and of.get("accepted") is False for of in reviews):
        account.unused["the rejection by a reviewer"] += 1
    named = []
    for number, result in enumerate(results):
        if isinstance(result, Mapping):
            id = as_name(result.get("id"))
            named.append((f"{where}, " + (f"result {id}" if isinstance(id, str) else f"result[{number}]"), result))
        else:
            problems.add(f"{where}, result[{number}]", "an object", repr_of(result))
    updated = annotation.get("updated_at") or annotation.get("created_at")
    task.annotations.append(Annotation(where, rater, updated if isinstance(updated, str) else "", named))


def _rater(completed_by: object) -> str | None:
    if isinstance(completed_by, Mapping):
        completed_by = completed_by.get("email") or completed_by.get("id")
    name = as_name(completed_by)
    return name if isinstance(name, str) else None


def _once(
    annotations: Sequence[Annotation], problems: Problems, account: Account, on_repeat: OnRepeat, remedy: str
) -> list[Annotation]:
    """Return one annotation per annotator: the first or last by time of update, else by position."""
    of_rater: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        of_rater.setdefault(annotation.rater, []).append(annotation)
    for rater, several in of_rater.items():
        if on_repeat == "raise":
            for later in several[1:]:
                problems.add(later.record, f"one annotation of each annotator ({remedy})", f"a second one of {rater!r}")
        elif len(several) > 1:
            account.left_out["further annotations of the same annotator and task"] += len(several) - 1
        several.sort(key=lambda annotation: annotation.updated)
    return [several[0 if on_repeat == "first" else -1] for several in of_rater.values()]


def _unfolded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record of JSON-MIN, which is one annotation, to a task of the export JSON."""
    data = {}
    parts = []
    for name, value in record.items():
        several = value if isinstance(value, list) else [value]
        found = [(name, number, part, kind) for number, part in enumerate(several) if (kind := _kind(part)) is not None]
        if name in FLAT:
            continue
        if not found:
            data[name] = value
        if isinstance(value, str) and not ADDRESS.search(value):
            found = [(name, 0, {FIELD: value}, FIELD)]
        parts += found
    results, regions = [], dict[str, str]()
    for name, number, part, kind in sorted(parts, key=lambda entry: _rank(entry[3])):
        id, place = f"{name}[{number}]", shape_of(part)
        if place is not None:  # results of one region have the same coordinates, and no id
            place = repr([part.get(key) for key in (*FIELDS[place], "width", "height", "rotation")])
            first = regions.setdefault(place, id)
            id = first if _rank(kind) else id
        sizes = {side: part[side] for side in ("original_width", "original_height") if side in part}
        results.append({**sizes, "id": id, "type": kind, "from_name": name, "value": part})
    annotation = {
        "id": record.get("annotation_id"),
        "completed_by": record.get("annotator"),
        "updated_at": record.get("updated_at"),
        "created_at": record.get("created_at"),
        "result": results,
    }
    keys = [record["id"]] if "id" in record else addresses(data)[:1]
    return {"data": data, "annotations": [annotation]} | ({"id": keys[0]} if keys else {})


def _rank(kind: str) -> int:
    """Return a sort key: shapes with a class first, then shapes without, then other results."""
    return 0 if kind != "labels" and kind.endswith("labels") else 1 if kind in FIELDS else 2


def _kind(value: object) -> str | None:
    """Return the result type of a value of JSON-MIN; None if it is not a result."""
    if not isinstance(value, Mapping):
        return None
    labels = next((name for name in value if name.endswith("labels")), None)
    return labels or next((kind for kind, name in ANSWERS.items() if name in value), None) or shape_of(value)


def shape_of(value: object) -> str | None:
    """Return the shape that a value without a type has the fields of."""
    if not isinstance(value, Mapping):
        return None
    return next((kind for kind, names in FIELDS.items() if all(name in value for name in names)), None)


# ---- images of a task ----


def is_located(result: object) -> bool:
    """Check whether a result is a region of an image."""
    if not isinstance(result, Mapping):
        return False
    kind = result.get("type")
    return isinstance(kind, str) and kind not in ANSWERS and (
        kind.removesuffix("labels") in FIELDS or result.get("original_width") is not None
    )  # fmt: skip


def page_of(result: Mapping[str, Any]) -> int | None:
    """Return the page index of a result, None without one."""
    index = result.get("item_index")
    return index if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < MOST_PAGES else None


def _tag(result: Mapping[str, Any]) -> str:
    return str(result.get("to_name", ""))


def _located(task: Task) -> list[Mapping[str, Any]]:
    return [result for annotation in task.annotations for _, result in annotation.results if is_located(result)]


def has_several_tags(tasks: Sequence[Task], account: Account) -> bool:
    """Check whether regions are on several Image tags that show different images."""
    several = [task for task in tasks if len({_tag(result) for result in _located(task)}) > 1]
    if several and all(len(addresses(task.data)) == 1 for task in several):
        account.note("regions of all Image tags are on one image, as each task has one")
        return False
    return bool(several)


def pages_of(task: Task, several_tags: bool, image_field: str) -> Pages:
    """Return the images of a task: the task itself, or one per page (``7#2``), per Image tag (``7#left``), or both."""
    located = _located(task)
    indexes = [index for result in located if (index := page_of(result)) is not None]
    files = _files_of_pages(task.data, image_field)
    several_pages = bool(indexes or (files and not located))
    pages = range(max([len(files), *(index + 1 for index in indexes)]))
    tags: list[str | None] = list(dict.fromkeys(map(_tag, located))) if several_tags and located else [None]
    images: dict[tuple[str | None, int | None], tuple[int | str, str]] = {}
    for tag in tags:
        key, file = task.key, file_of(task.data, image_field)
        if tag is not None:
            own = task.data.get(tag)
            key, file = f"{key}#{tag}", _name(own) if isinstance(own, str) else _numbered(file, tag)
        if not several_pages:
            images[tag, None] = key, file
        for index in pages if several_pages else ():
            of_page = _name(files[index]) if index < len(files) else _numbered(file, index + 1)
            images[tag, index] = f"{key}#{index + 1}", of_page
    return Pages(several_tags and bool(located), several_pages, images)


def _numbered(file: str, part: object) -> str:
    return f"{file}#{part}" if file else ""


def addresses(data: object, depth: int = DEEPEST) -> list[str]:
    """Return paths and URLs of images in the data of a task."""
    if isinstance(data, str):
        return [data] if ADDRESS.search(data) else []
    parts = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    return [found for part in parts for found in addresses(part, depth - 1)] if depth else []


def _files_of_pages(data: Mapping[str, Any], image_field: str) -> list[str]:
    """Return the list of pages in the data of a task; empty if there is none, or if it is ambiguous."""
    lists = {
        name: value
        for name, value in data.items()
        if isinstance(value, list) and value and all(isinstance(of, str) and ADDRESS.search(of) for of in value)
    }
    return lists.get(image_field) or (next(iter(lists.values())) if len(lists) == 1 else [])


def file_of(data: Mapping[str, Any], image_field: str) -> str:
    """Return the original file name of a task's image, before Label Studio stored it; "" if unknown."""
    texts = [value for value in data.values() if isinstance(value, str)]
    images = [text for text in texts if ADDRESS.search(text)]
    path = data.get(image_field) or (texts[0] if len(texts) == 1 else images[0] if len(images) == 1 else "")
    return _name(path) if isinstance(path, str) else ""


def _name(path: str) -> str:
    if path.startswith("data:"):  # the image itself
        return ""
    try:
        parts = urlsplit(path)
    except ValueError:  # brackets that are not an IPv6 address
        return PurePosixPath(path).name
    local = parse_qs(parts.query).get("d")  # local storage: /data/local-files/?d=folder/a.jpg
    name = PurePosixPath(local[0] if local else unquote(parts.path)).name
    return UPLOADED.sub("", name) if "/upload/" in parts.path else name
