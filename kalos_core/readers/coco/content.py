"""Content of a COCO file, of one file per rater, or of parsed data, as checked lists of records."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kalos_core.annotations import Account
from kalos_core.errors import InputError, Problems, is_hashable, listed, repr_of
from kalos_core.files import as_path, entries_of, load_json, parse_json, read_bytes
from kalos_core.readers.coco.columns import NOT_USED, Records, decode_coco, own_ids, record_name
from kalos_core.readers.coco.crowds import CrowdMarks
from kalos_core.readers.coco.raters import Info, find_rater_field, is_rater_list, without_raters
from kalos_core.readers.coco.settings import CocoSettings, Crowds
from kalos_core.shapes.boxes import LARGEST


class Content:
    """The records of a COCO file, or some of them; images are checked.

    Parameters
    ----------
    data : mapping
        Content of the whole file.
    info : Info
    name : str
        Name of the file, for messages.
    images : list of mappings
    annotations : Records
    rater_field : str
        Field of an annotation with its rater.
    marks : CrowdMarks
        Crowd marks of all annotations of the file.
    rule : "auto", "regions" or "objects"
        Meaning of these marks.
    first_image : int
        Position of the first image in the file.
    repeats : bool, optional
        Whether annotations of the file share ids; None if `annotations` are all of the file.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        info: Info,
        name: str,
        images: list[Mapping[str, Any]],
        annotations: Records,
        rater_field: str,
        marks: CrowdMarks,
        rule: Crowds,
        first_image: int = 0,
        repeats: bool | None = None,
    ) -> None:
        self.data, self.info, self.name, self.images, self.rater_field = data, info, name, images, rater_field
        self.first_image, self.repeats = first_image, repeats
        self.problems = Problems(name)
        check_images(images, self.problems, first_image)
        self.image_size = [size(image, row, self.problems) for row, image in enumerate(images, first_image)]
        self.objects, self.crowds = marks.parted(annotations, rater_field, rule)
        self.account = Account(notes=[note] if (note := marks.note(rule)) else [])
        for field in filter(self.objects.has, NOT_USED):
            self.account.unused[field] += sum(map(bool, self.objects.column(field)))
        self.keys = [image.get("id") for image in images]
        """(I,) image ids that annotations refer to."""
        own = [image.get("source_id") for image in images]
        self.image_ids = own_ids(own, self.keys) if info.own_ids else self.keys

    @classmethod
    def read(cls, path_or_dict: Any, settings: CocoSettings) -> Content:
        """Read the records of one file, of several files, or of parsed content."""
        given, names = path_or_dict, list[str]()
        if paths := files_of(given):
            given, names = join_files(paths)
        if isinstance(given, Mapping):
            data, name = given, "COCO data"
        else:
            given = as_path(given, "path_or_dict", EXPECTED)
            data, name = _load(given, settings)
        images, annotations = record_list(data, "images", name), data.get("annotations")
        if not isinstance(annotations, Records):
            annotations = Records(record_list(data, "annotations", name), names=names)
        if not images:
            raise InputError(f"{name}: expected at least one image, got none")
        own, marks, info = settings.rater_field or find_rater_field(annotations), CrowdMarks(), Info.of(data)
        if len(annotations) and not annotations.has(own):
            written = annotations.rows if annotations.are_mappings else load_json(given, "COCO file")["annotations"]
            raise InputError(f"{name}: {without_raters(written, settings.rater_field)}")
        marks.add(annotations, own)
        return cls(data, info, name, images, annotations, own, marks, info.rule(settings.crowds))

    def counts_of_crowds(self) -> list[int]:
        """Return the (I,) numbers of crowd regions per image, including those that were left out on writing."""
        position = {key: row for row, key in enumerate(self.keys)}
        counts = [_count(image.get("crowds")) for image in self.images]
        for image in self.crowds.keys("image_id"):
            if image in position:
                counts[position[image]] += 1
        return counts


EXPECTED = "a path, several paths, or the content of a COCO file as a mapping"


def _load(path: Path, settings: CocoSettings) -> tuple[Mapping[str, Any], str]:
    """Load a file, with annotations as `Records` if possible, and return its content and name."""
    content = read_bytes(path, "COCO file").removeprefix(BOM_UTF8)
    fields = (settings.category_field, settings.rater_field)
    outer = tuple(name.partition(".")[0] for name in fields if name is not None)
    data = decode_coco(content, outer, settings.category_field is None)
    return as_object(parse_json(path, content, "COCO file") if data is None else data, path), path.name


def as_object(data: Any, path: Path) -> Mapping[str, Any]:
    """Check that the content of a file is one JSON object, and return it."""
    if not isinstance(data, Mapping):
        raise InputError(f"{path}: expected a COCO object, got a JSON {type(data).__name__}")
    return data


def record_list(data: Mapping[str, Any], key: str, source: str) -> list[Mapping[str, Any]]:
    """Return the list of objects under a key."""
    found = data.get(key)
    if not isinstance(found, Sequence) or isinstance(found, (str, bytes)):
        there = listed(sorted(map(str, data)), 10) or "nothing"
        actual = f"{repr_of(key)} as {type(found).__name__}" if key in data else there
        raise InputError(f"{source}: expected COCO with a list {repr_of(key)}, got {actual}")
    return objects(found, key, source)


def objects(records: Sequence[Any], key: str, source: str, first: int = 0) -> list[Mapping[str, Any]]:
    """Check that records are objects; `first` is the position of the first one in its list."""
    problems = Problems(source)
    wrong = [row for row, record in enumerate(records) if type(record) is not dict and not isinstance(record, Mapping)]
    problems.add_all(wrong, lambda row: f"{key}[{first + row}]", "an object", lambda row: repr_of(records[row]))
    problems.raise_if_any()
    return list(records)


def check_images(
    images: list[Mapping[str, Any]], problems: Problems, first: int = 0, known: Container[Any] = ()
) -> None:
    """Check that images have valid, unique ids that are not `known`, and valid lists of raters."""
    seen: set[Any] = set()
    for position, image in enumerate(images, first):
        key = image.get("id")
        record = image_name(image, position)
        if key is None or isinstance(key, bool) or not is_hashable(key):
            problems.add(record, "an id", "nothing" if key is None else repr_of(key))
        elif key in seen or key in known:
            problems.add(record, "an id of its own", f"{repr_of(key)} a second time")
        else:
            seen.add(key)
        names = image.get("rater_list")
        if names is not None and not is_rater_list(names):
            problems.add(record, "a rater_list of names", repr_of(names))
    problems.raise_if_any()  # nothing can be looked up without valid ids


def image_name(image: Mapping[str, Any], position: int) -> str:
    """Return the name of an image record for messages."""
    return record_name("images", position, image.get("id"))


def size(image: Mapping[str, Any], position: int, problems: Problems) -> tuple[float, float]:
    """Return width and height in pixels, NaN if unknown."""
    width, height = image.get("width"), image.get("height")
    if width is None or height is None:
        return (np.nan, np.nan)
    if not (_is_length(width) and _is_length(height)):
        problems.add(
            image_name(image, position), "a positive width and height", f"{repr_of(width)} x {repr_of(height)}"
        )
        return (np.nan, np.nan)
    return (float(width), float(height))


def _is_length(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= LARGEST


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31 else 0


def files_of(source: Any) -> list[Path]:
    """Return the files of several raters: a list of paths, or the JSON files of a folder; empty for other input.

    Raises
    ------
    InputError
        If there are fewer than two.
    """
    if isinstance(source, (list, tuple)):
        found = [as_path(path, "path_or_dict") for path in source]
        there = [str(path) for path in found]
    elif isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        folders, inside = entries_of(Path(source))
        found = [path for path in inside if path.suffix.lower() == ".json"]
        there = [path.name for path in (*folders, *inside)]
    else:
        return []
    if len(found) < 2:
        raise InputError(
            f"{source}: expected one COCO file for each of several raters, got {listed(there) or 'nothing'}"
        )
    return found


def join_files(paths: Sequence[Path]) -> tuple[dict[str, Any], list[str]]:
    """Join files of single raters to the content of one COCO file, and return it with the record name per annotation.

    Raters are named after their files. Images are matched by ``file_name``, classes by name. A rater is assigned to the
    images in their file.

    Raises
    ------
    InputError
        If two files have the same name, an image has no file name or two sizes, or one file has an image twice.
    """
    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        raise InputError(f"expected files of different names, as they name the raters, got {listed(map(str, paths))}")
    images: dict[str, dict[str, Any]] = {}
    classes: dict[str, int] = {}
    annotations: list[dict[str, Any]] = []
    records: list[str] = []
    problems = Problems(str(paths[0].parent))
    for path, rater in zip(paths, names, strict=True):
        data = as_object(load_json(path, "COCO file"), path)
        image_of = _joined_images(record_list(data, "images", path.name), images, rater, path.name, problems)
        class_of = {
            record.get("id"): classes.setdefault(str(record.get("name")), len(classes) + 1)
            for record in record_list(data, "categories", path.name)
        }
        for position, record in enumerate(record_list(data, "annotations", path.name)):
            key, category = record.get("image_id"), record.get("category_id")
            where = f"{path.name}, {record_name('annotations', position, record.get('id'))}"
            if key not in image_of or category not in class_of:
                what, got = ("an image", key) if key not in image_of else ("a category", category)
                problems.add(where, f"{what} of the file", repr_of(got))
                continue
            ids = {"id": len(annotations) + 1, "image_id": image_of[key], "category_id": class_of[category]}
            annotations.append({**record, **ids, "rater_id": rater})
            records.append(where)
    problems.raise_if_any()
    categories = [{"id": key, "name": name} for name, key in classes.items()]
    return {"images": list(images.values()), "annotations": annotations, "categories": categories}, records


def _joined_images(
    found: Sequence[Mapping[str, Any]], images: dict[str, dict[str, Any]], rater: str, source: str, problems: Problems
) -> dict[Any, int]:
    """Return id in this file -> id in all files for each image; new images are added to `images`."""
    image_of: dict[Any, int] = {}
    for position, record in enumerate(found):
        name, where = record.get("file_name"), f"{source}, {image_name(record, position)}"
        if not isinstance(name, str) or not name:
            problems.add(where, "a file_name, by which the files are joined", repr_of(name))
            continue
        known = images.setdefault(name, {**record, "id": len(images) + 1, "rater_list": []})
        if rater in known["rater_list"]:
            problems.add(where, "each file_name once", f"{name!r} a second time")
            continue
        size = [(one.get("width"), one.get("height")) for one in (known, record)]
        if None not in (*size[0], *size[1]) and size[0] != size[1]:
            problems.add(where, f"the size {size[0]} that {name!r} has in another file", str(size[1]))
        known["rater_list"].append(rater)
        image_of[record.get("id")] = known["id"]
    return image_of
