"""The records of a COCO file: images, categories and annotations, each checked for what everything else rests on."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Container, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np

from kalos_core.errors import InputError, Problems, is_hashable, listed, repr_of
from kalos_core.files import as_path, parse_json, read_bytes
from kalos_core.options import Option
from kalos_core.readers.coco.columns import Records, decode_coco
from kalos_core.readers.coco.raters import info_of, is_rater_list
from kalos_core.shapes.boxes import LARGEST

NotExhaustive = Annotated[
    Literal["ignore", "exclude"],
    Option(
        "Classes annotated in part",
        "Of LVIS files, by category id: images whose not_exhaustive_category_ids name a class of which a rater "
        "annotated nothing.",
        choices={
            "ignore": "the rater counts as assigned, as in published numbers",
            "exclude": "the rater counts as not assigned to the class there (`Annotations.excluded`)",
        },
    ),
]

NOT_EXHAUSTIVE_FIELD, EXCLUDED_FIELD = "not_exhaustive_category_ids", "excluded_category_ids"
"""Of an image: LVIS's list for all raters, and ours of each rater."""


def load(path_or_dict: Any, category_field: str | None, rater_field: str | None) -> tuple[Mapping[str, Any], str]:
    """The content of a file, its annotations as `Records` with these fields, and its name, for messages."""
    if isinstance(path_or_dict, Mapping):
        return path_or_dict, "COCO data"
    path = as_path(path_or_dict, "path_or_dict", "a path, several, or the mapping a COCO file holds")
    content = read_bytes(path, "COCO file").removeprefix(BOM_UTF8)
    outer = tuple(name.partition(".")[0] for name in (category_field, rater_field) if name is not None)
    data = decode_coco(content, outer, category_field is None) or parse_json(path, content, "COCO file")
    if not isinstance(data, Mapping):
        raise InputError(f"{path}: expected a COCO object, got a JSON {type(data).__name__}")
    return data, path.name


def record_list(data: Mapping[str, Any], key: str, source: str) -> list[Mapping[str, Any]]:
    """The list of objects under a key."""
    found = data.get(key)
    if not isinstance(found, Sequence) or isinstance(found, (str, bytes)):
        there = listed(sorted(map(str, data)), 10) or "nothing"
        actual = f"{repr_of(key)} as {type(found).__name__}" if key in data else there
        raise InputError(f"{source}: expected COCO with a list {repr_of(key)}, got {actual}")
    return objects(found, key, source)


def objects(records: Sequence[Any], key: str, source: str, first: int = 0) -> list[Mapping[str, Any]]:
    """Records that are objects, the first of which stands at that place of a list."""
    problems = Problems(source)
    wrong = [row for row, record in enumerate(records) if type(record) is not dict and not isinstance(record, Mapping)]
    problems.add_all(wrong, lambda row: f"{key}[{first + row}]", "an object", lambda row: repr_of(records[row]))
    problems.raise_if_any()
    return list(records)


def record_name(key: str, position: int, id: Any) -> str:
    """The record of an image, a category or an annotation, for messages."""
    return f"{key}[{position}] (id {repr_of(id)})"


def annotation_ids(annotations: Records, positions: Sequence[int]) -> list[Any]:
    """(N,) ids; of an annotation without one its place in the file, counted from 1."""
    keys = annotations.column("id", ...)
    return [position + 1 if key is ... else key for position, key in zip(positions, keys, strict=True)]


def source_ids(own: list[Any], keys: list[Any]) -> list[Any]:
    """What records have under ``source_id``, their id where that can be none."""
    return [name if isinstance(name, (str, int)) else key for name, key in zip(own, keys, strict=True)]


def has_source_ids(data: Mapping[str, Any]) -> bool:
    """Whether `write_coco` replaced ids by numbers: then the own ones are under ``source_id``."""
    return bool(info_of(data).get("ids") == "source_id")


def check_images(
    images: list[Mapping[str, Any]], problems: Problems, first: int = 0, known: Container[Any] = ()
) -> None:
    """Ids that can be looked up and are not `known`, and lists of raters."""
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
    problems.raise_if_any()  # nothing can be looked up in images like these


def image_name(image: Mapping[str, Any], position: int) -> str:
    """The record of an image, for messages."""
    return record_name("images", position, image.get("id"))


def category_names(data: Mapping[str, Any], source: str, problems: Problems) -> dict[Any, str]:
    """Category id -> class name, in the order of the file."""
    categories: dict[Any, str] = {}
    for position, record in enumerate(record_list(data, "categories", source)):
        key, name = record.get("id"), record.get("name")
        fault = None
        if not isinstance(name, str) or not name:
            fault = "a name", repr_of(name)
        elif key is None or isinstance(key, bool) or not is_hashable(key):
            fault = "an id", "nothing" if key is None else repr_of(key)
        elif key == -1:
            fault = "an id that is not -1, which means 'no category'", repr_of(key)
        elif key in categories:
            fault = "an id of its own", f"{repr_of(key)} a second time"
        else:
            categories[key] = name  # of several ids, too: Roboflow begins with an empty class that groups the others
        if fault:
            problems.add(record_name("categories", position, key), *fault)
    return categories


def joint_counts(data: Mapping[str, Any]) -> dict[Any, int]:
    """Category id -> how many keypoints it names, where it names any."""
    categories = data.get("categories")
    return {
        record["id"]: len(record["keypoints"])
        for record in (categories if isinstance(categories, (list, tuple)) else ())  # not read where classes are text
        if isinstance(record, Mapping) and isinstance(record.get("keypoints"), list)
        if "id" in record and is_hashable(record["id"])
    }


def size(image: Mapping[str, Any], position: int, problems: Problems) -> tuple[float, float]:
    """Width and height in pixels, NaN where the image does not say."""
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


def counts_of_images(images: list[Mapping[str, Any]], crowds: Records) -> list[int]:
    """How many of the crowd regions each image has, with those that its writer says had been kept out before."""
    position = {image.get("id"): row for row, image in enumerate(images)}
    counts = [_count(image.get("crowds")) for image in images]
    for image in crowds.column("image_id"):
        if is_hashable(image) and image in position:
            counts[position[image]] += 1
    return counts


def exclusions(
    images: list[Mapping[str, Any]],
    assigned: Sequence[Sequence[str] | None],
    raters: Sequence[str],
    categories: Mapping[Any, str],
    not_exhaustive: NotExhaustive,
    problems: Problems,
    first: int = 0,
) -> list[tuple[int, str, str]]:
    """Position of the image, rater and class of which the rater is not assigned to annotate every object there."""
    found: list[tuple[int, str, str]] = []
    for position, image in enumerate(images):
        by_rater = image.get(EXCLUDED_FIELD, {})
        everyone = image.get(NOT_EXHAUSTIVE_FIELD, ()) if not_exhaustive == "exclude" else ()
        if not _are_keys(everyone):
            problems.add(image_name(image, first + position), f"a list {NOT_EXHAUSTIVE_FIELD}", repr_of(everyone))
        elif not isinstance(by_rater, Mapping) or not all(
            _are_keys(keys) and all(key in categories for key in keys) for keys in by_rater.values()
        ):
            problems.add(
                image_name(image, first + position), f"lists of category ids as {EXCLUDED_FIELD}", repr_of(by_rater)
            )
        else:
            names = assigned[position]
            known = [key for key in everyone if key in categories]  # LVIS also names classes it dropped later
            found += [
                (position, name, categories[key]) for key in known for name in (raters if names is None else names)
            ]
            found += [(position, name, categories[key]) for name, keys in by_rater.items() for key in keys]
    return found


def _are_keys(keys: object) -> bool:
    return isinstance(keys, (list, tuple)) and all(map(is_hashable, keys))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**31 else 0
