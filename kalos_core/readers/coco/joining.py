"""One COCO file a rater, joined by file and class names: ids mean nothing beyond their own file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kalos_core.errors import InputError, Problems, listed, repr_of
from kalos_core.files import as_path, load_json
from kalos_core.readers.coco.records import image_name, record_list, record_name


def files_of(source: Any) -> list[Path]:
    """The files of several raters: of a list of paths, or the JSON files of a folder; none for any other input.

    Raises
    ------
    InputError
        If there are fewer than two.
    """
    if isinstance(source, (list, tuple)):
        found = [as_path(path, "path_or_dict") for path in source]
        there = [str(path) for path in found]
    elif isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        inside = sorted(Path(source).iterdir())
        found = [path for path in inside if path.suffix.lower() == ".json" and path.name[0] != "."]
        there = [path.name for path in inside]
    else:
        return []
    if len(found) < 2:
        raise InputError(
            f"{source}: expected one COCO file for each of several raters, got {listed(there) or 'nothing'}"
        )
    return found


def join_files(paths: Sequence[Path]) -> tuple[dict[str, Any], list[str]]:
    """The content of one COCO file of several raters, who are named as their files; and the name of each annotation.

    Images are the same where they have the same ``file_name``, classes where they have the same name. A rater is
    assigned to the images of their file.

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
        data = load_json(path, "COCO file")
        if not isinstance(data, Mapping):
            raise InputError(f"{path}: expected a COCO object, got a JSON {type(data).__name__}")
        image_of = _images(record_list(data, "images", path.name), images, rater, path.name, problems)
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


def _images(
    found: Sequence[Mapping[str, Any]], images: dict[str, dict[str, Any]], rater: str, source: str, problems: Problems
) -> dict[Any, int]:
    """Id in this file -> id in all, for each image of a file; new ones are added to `images`."""
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
