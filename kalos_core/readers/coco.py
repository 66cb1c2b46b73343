"""COCO detection and segmentation files of several raters: `annotations[].rater_id`, `images[].rater_list`."""

from __future__ import annotations

import json
import os
import uuid
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kalos_core.annotations import Annotations, RawTable, as_name, build_annotations
from kalos_core.errors import InputError, KalosWarning, Problems, is_hashable, listed
from kalos_core.readers.vocabulary import Aliases, Vocabulary, reconcile_all
from kalos_core.shapes import Boxes, Polygons
from kalos_core.shapes.boxes import LARGEST

RATER_FIELDS = ("rater_id", "rater", "annotator", "rad_id")
"""Names under which files hold the rater of an annotation, the first that occurs is read."""

Assignment = Literal["all", "drew"]
"""Who counts as assigned where a file has no `rater_list`: every rater everywhere, or those who drew in an image."""

WITHOUT_LIST = (
    "{source}: no rater_list on {count} of {total} images: every rater of the file is taken as assigned to them, so "
    "that an image a rater never saw counts as 'saw it and drew nothing', which lowers alpha. "
    "Pass assigned='drew' to count only those who drew in an image (then agreement on absence is lost)."
)


def read_coco(
    path_or_dict: str | os.PathLike[str] | Mapping[str, Any],
    *,
    category_field: str | None = None,
    aliases: Aliases | None = None,
    assigned: Assignment = "all",
) -> Annotations:
    """Annotations of a COCO file, or of its parsed content.

    Parameters
    ----------
    path_or_dict : path or mapping
        ``images`` (``id``, ``file_name``, ``width``, ``height``, ``rater_list``), ``annotations`` (``image_id``,
        ``category_id``, ``bbox``, ``segmentation``, and the rater under one of `RATER_FIELDS`), ``categories``. Boxes
        that are absent are the bounds of the polygon. ``info.rater_categories`` (rater -> class names or ids) limits
        the classes a rater was asked for; ``info.raters`` (names) gives raters and their order.
    category_field : str, optional
        Annotation field that holds the class as text, instead of ``category_id``.
    aliases : mapping, optional
        What raters wrote -> class (`kalos_core.readers.vocabulary.Aliases`). Names without an alias stay and are
        listed in a warning.
    assigned : "all" or "drew"
        For images without ``rater_list``: every rater of the file, or those who drew in it.

    Returns
    -------
    Annotations
        Crowd regions (``iscrowd``) are kept out and counted in `crowds`.

    Warns
    -----
    KalosWarning
        If a ``rater_list`` is absent, a name has no alias, or marks reach beyond their picture.

    Raises
    ------
    InputError
        If the file is not JSON or not COCO; or listing all records that cannot be used.

    Examples
    --------
    >>> annotations = read_coco(
    ...     {
    ...         "images": [{"id": 7, "width": 20, "height": 20, "rater_list": ["ann", "bob"]}],
    ...         "categories": [{"id": 1, "name": "cat"}],
    ...         "annotations": [
    ...             {
    ...                 "id": 1,
    ...                 "image_id": 7,
    ...                 "category_id": 1,
    ...                 "rater_id": "ann",
    ...                 "segmentation": [[0, 0, 8, 0, 8, 4]],
    ...             }
    ...         ],
    ...     }
    ... )
    >>> annotations.shapes["box"].xywh().tolist()
    [[0.0, 0.0, 8.0, 4.0]]
    """
    if assigned not in ("all", "drew"):
        raise InputError(f"assigned: expected 'all' or 'drew', got {assigned!r}")
    data, source = _load(path_or_dict)
    images, marks = _records(data, "images", source), _records(data, "annotations", source)
    if not images:
        raise InputError(f"{source}: expected at least one image, got none")
    problems = Problems(source)
    _check_images(images, problems)
    sizes = [_size(image, position, problems) for position, image in enumerate(images)]
    crowd = [bool(mark.get("iscrowd")) for mark in marks]
    kept = [(position, mark) for position, mark in enumerate(marks) if not crowd[position]]
    rater_field = _rater_field(marks)
    table = _raw_table([mark for _, mark in kept], rater_field)
    named = [*_known_raters(data), *_listed_raters(images), *table.rater]
    raters = list(dict.fromkeys(name for name in named if isinstance(name, str)))
    categories = _categories(data, source, problems) if category_field is None else {}
    limits = _rater_categories(data, categories, source)
    vocabulary = Vocabulary.from_aliases(aliases or {})
    if category_field is not None or aliases:
        written = _written_names([mark for _, mark in kept], category_field, categories)
        table.category = reconcile_all(vocabulary, table.rater, written, raters, source) if aliases else written
        used = [*table.category, *(name for names in (limits or {}).values() for name in names)]
        categories = {name: name for name in used if isinstance(name, str)}
    annotations = build_annotations(
        table,
        source=source,
        images=[image.get("id") for image in images],
        files=["" if image.get("file_name") is None else str(image["file_name"]) for image in images],
        raters=raters,
        categories=categories,
        image_size=sizes,
        assigned=_assigned(images, table, assigned),
        assigned_categories=limits,
        crowds=_crowds(images, marks, crowd),
        describe=lambda row: f"annotations[{kept[row][0]}] (id {kept[row][1].get('id')!r})",
        problems=problems,
    )
    unlisted = sum(image.get("rater_list") is None for image in images)
    if unlisted and assigned == "all" and len(raters) > 1:
        text = WITHOUT_LIST.format(source=source, count=f"{unlisted:,}", total=f"{len(images):,}")
        warnings.warn(text, KalosWarning, stacklevel=2)
    if vocabulary.unmapped:
        warnings.warn(f"{source}: {vocabulary.describe_unmapped()}", KalosWarning, stacklevel=2)
    return annotations


def write_coco(annotations: Annotations, path: str | os.PathLike[str]) -> Path:
    """Write annotations as a COCO file that `read_coco` reads back as the same table.

    The file appears whole or not at all. Image and annotation ids stay where they are whole numbers; others are
    numbered from 1 and kept, as text, under ``source_id``, which `read_coco` does not read. Categories are numbered
    from 1 in the order of the vocabulary. `person`, `session`, `raters_are_local` and `crowds` are not written.

    Parameters
    ----------
    annotations : Annotations
    path : path

    Returns
    -------
    Path
        Where it was written.

    Examples
    --------
    >>> import tempfile
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 4, 2]}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_coco(Annotations.from_rows(rows), Path(folder) / "labels.json")
    ...     read_coco(path)
    Annotations(1 marks of 1 raters on 1 images, 1 categories, shapes: box)
    """
    target = Path(path)
    image_ids, mark_ids = _whole_ids(annotations.images), _whole_ids(annotations.id)
    content: dict[str, Any] = {
        "info": {
            "description": "Labels of several raters, one rater_id per annotation",
            "raters": list(annotations.raters),
        },
        "images": [_image_record(annotations, row, image_ids[row]) for row in range(len(annotations.images))],
        "categories": [{"id": code + 1, "name": name} for code, name in enumerate(annotations.categories)],
        "annotations": [
            _mark_record(annotations, row, mark_ids[row], image_ids[annotations.image[row]])
            for row in range(len(annotations))
        ],
    }
    if annotations.assigned_categories is not None:
        content["info"]["rater_categories"] = {
            rater: list(annotations.categories[allowed])
            for rater, allowed in zip(annotations.raters, annotations.assigned_categories, strict=True)
        }
    write_whole(target, json.dumps(content, allow_nan=False))
    return target


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that it is there whole or not at all."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")  # not `tempfile`: others may read what is written
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _load(
    path_or_dict: str | os.PathLike[str] | Mapping[str, Any],
) -> tuple[Mapping[str, Any], str]:
    if isinstance(path_or_dict, Mapping):
        return path_or_dict, "COCO data"
    try:
        path = Path(path_or_dict)
    except TypeError:
        came = type(path_or_dict).__name__
        raise InputError(f"path_or_dict: expected a path or the mapping a COCO file holds, got {came}") from None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: expected a readable COCO file in UTF-8, got {error}") from error
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected JSON, got {error}") from error
    if not isinstance(data, Mapping):
        raise InputError(f"{path}: expected a COCO object, got a JSON {type(data).__name__}")
    return data, path.name


def _records(data: Mapping[str, Any], key: str, source: str) -> list[Mapping[str, Any]]:
    records = data.get(key)
    if not isinstance(records, Sequence) or isinstance(records, (str, bytes)):
        there = listed(sorted(map(str, data)), 10) or "nothing"
        came = f"{key!r} as {type(records).__name__}" if key in data else there
        raise InputError(f"{source}: expected COCO with a list {key!r}, got {came}")
    problems = Problems(source)
    wrong = [position for position, record in enumerate(records) if not isinstance(record, Mapping)]
    problems.add_all(wrong, lambda row: f"{key}[{row}]", "an object", lambda row: repr(records[row]))
    problems.raise_if_any()
    return list(records)


def _check_images(images: list[Mapping[str, Any]], problems: Problems) -> None:
    seen: set[Any] = set()
    for position, image in enumerate(images):
        key = image.get("id")
        record = _image_name(image, position)
        if key is None or isinstance(key, bool) or not is_hashable(key):
            problems.add(record, "an id", "nothing" if key is None else repr(key))
        elif key in seen:
            problems.add(record, "an id of its own", f"{key!r} a second time")
        else:
            seen.add(key)
        names = image.get("rater_list")
        if names is not None and not _are_names(names):
            problems.add(record, "a rater_list of names", repr(names))
    problems.raise_if_any()  # nothing can be looked up in images like these


def _image_name(image: Mapping[str, Any], position: int) -> str:
    return f"images[{position}] (id {image.get('id')!r})"


def _are_names(names: object) -> bool:
    return isinstance(names, (list, tuple)) and all(isinstance(as_name(name), str) for name in names)


def _rater_field(marks: list[Mapping[str, Any]]) -> str:
    return next((name for name in RATER_FIELDS if any(name in mark for mark in marks)), RATER_FIELDS[0])


def _raw_table(marks: list[Mapping[str, Any]], rater_field: str) -> RawTable:
    return RawTable(
        image=[mark.get("image_id") for mark in marks],
        rater=[as_name(mark.get(rater_field)) for mark in marks],
        category=[mark.get("category_id") for mark in marks],
        id=[mark.get("id", position + 1) for position, mark in enumerate(marks)],
        box=[mark.get("bbox") for mark in marks],
        polygon=[mark.get("segmentation") for mark in marks],
    )


def _known_raters(data: Mapping[str, Any]) -> Iterable[str]:
    info = data.get("info")
    names = info.get("raters", ()) if isinstance(info, Mapping) else ()
    return [as_name(name) for name in names] if _are_names(names) else ()  # another file's may be something else


def _listed_raters(images: list[Mapping[str, Any]]) -> Iterable[str]:
    return (as_name(name) for image in images for name in image.get("rater_list") or ())


def _categories(data: Mapping[str, Any], source: str, problems: Problems) -> dict[Any, str]:
    records = _records(data, "categories", source)
    categories: dict[Any, str] = {}
    names: set[str] = set()
    for position, record in enumerate(records):
        key, name = record.get("id"), record.get("name")
        where = f"categories[{position}] (id {key!r})"
        if not isinstance(name, str) or not name:
            problems.add(where, "a name", repr(name))
        elif key is None or isinstance(key, bool) or not is_hashable(key):
            problems.add(where, "an id", "nothing" if key is None else repr(key))
        elif key == -1:
            problems.add(where, "an id that is not -1, which means 'no category'", repr(key))
        elif key in categories:
            problems.add(where, "an id of its own", f"{key!r} a second time")
        elif name in names:
            problems.add(where, "a name of its own", f"{name!r} a second time")
        else:
            categories[key] = name
            names.add(name)
    return categories


def _written_names(
    marks: list[Mapping[str, Any]], category_field: str | None, categories: Mapping[Any, str]
) -> list[Any]:
    """Class names as written; what is no name stays as it came, to be refused."""
    if category_field is None:
        keys = [mark.get("category_id") for mark in marks]
        # an unknown id is no name, though it may be text
        return [categories.get(key, (key,)) if isinstance(key, str) else _get(categories, key) for key in keys]
    names = [mark.get(category_field) for mark in marks]
    return [as_name(name.strip() if isinstance(name, str) else name) for name in names]


def _get(categories: Mapping[Any, str], key: Any) -> Any:
    return categories.get(key, key) if is_hashable(key) else key


def _size(image: Mapping[str, Any], position: int, problems: Problems) -> tuple[float, float]:
    width, height = image.get("width"), image.get("height")
    if width is None or height is None:
        return (np.nan, np.nan)
    if not (_is_length(width) and _is_length(height)):
        problems.add(_image_name(image, position), "a positive width and height", f"{width!r} x {height!r}")
        return (np.nan, np.nan)
    return (float(width), float(height))


def _is_length(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= LARGEST


def _assigned(images: list[Mapping[str, Any]], table: RawTable, assigned: Assignment) -> list[list[str] | None]:
    drew: dict[Any, set[str]] = {}
    for image, rater in zip(table.image, table.rater, strict=True):
        if isinstance(rater, str) and is_hashable(image):
            drew.setdefault(image, set()).add(rater)
    lists: list[list[str] | None] = []
    for image in images:
        names = image.get("rater_list")
        if names is not None:
            lists.append([as_name(name) for name in names])
        else:
            lists.append(None if assigned == "all" else sorted(drew.get(image["id"], ())))
    return lists


def _rater_categories(
    data: Mapping[str, Any], categories: Mapping[Any, str], source: str
) -> dict[str, list[Any]] | None:
    info = data.get("info")
    limits = info.get("rater_categories") if isinstance(info, Mapping) else None
    if limits is None:
        return None
    if not isinstance(limits, Mapping) or not all(isinstance(keys, (list, tuple)) for keys in limits.values()):
        raise InputError(f"{source}: expected info.rater_categories to map raters to lists of classes, got {limits!r}")
    return {as_name(rater): [_get(categories, key) for key in keys] for rater, keys in limits.items()}


def _crowds(images: list[Mapping[str, Any]], marks: list[Mapping[str, Any]], crowd: list[bool]) -> list[int]:
    position = {image.get("id"): row for row, image in enumerate(images)}
    counts = [0] * len(images)
    for mark, is_crowd in zip(marks, crowd, strict=True):
        image = mark.get("image_id")
        if is_crowd and is_hashable(image) and image in position:
            counts[position[image]] += 1
    return counts


def _whole_ids(ids: Any) -> list[int]:
    entries = list(ids)
    if all(isinstance(entry, (int, np.integer)) and not isinstance(entry, bool) for entry in entries):
        return [int(entry) for entry in entries]
    return list(range(1, len(entries) + 1))


def _image_record(annotations: Annotations, row: int, image_id: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": image_id,
        "file_name": annotations.files[row],
        "rater_list": list(annotations.raters[annotations.assigned[row]]),
    }
    width, height = annotations.image_size[row]
    if np.isfinite(width) and np.isfinite(height):
        record |= {"width": _plain(width), "height": _plain(height)}
    return record | _source_id(annotations.images[row], image_id)


def _mark_record(annotations: Annotations, row: int, mark_id: int, image_id: int) -> dict[str, Any]:
    boxes, polygons = annotations.shapes.get("box"), annotations.shapes.get("polygon")
    record: dict[str, Any] = {
        "id": mark_id,
        "image_id": image_id,
        "category_id": int(annotations.category[row]) + 1,
        "rater_id": annotations.raters[annotations.rater[row]],
        "iscrowd": 0,
    }
    column = polygons if isinstance(polygons, Polygons) and not polygons.absent()[row] else boxes
    if column is not None:
        record["area"] = float(column.area()[row])
    if isinstance(boxes, Boxes) and (boxes.area()[row] > 0 or column is not polygons):
        record["bbox"] = boxes.xywh()[row].tolist()  # the flat one of a polygon without area is derived again
    if isinstance(polygons, Polygons):
        record["segmentation"] = [ring.ravel().tolist() for ring in polygons.rings(row)]
    return record | _source_id(annotations.id[row], mark_id)


def _source_id(source_id: Any, written_id: int) -> dict[str, Any]:
    return {} if source_id == written_id else {"source_id": str(source_id)}


def _plain(number: float) -> int | float:
    return int(number) if float(number).is_integer() else float(number)
