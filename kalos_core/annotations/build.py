"""From what a reader found to `Annotations`: every check of every record in one place."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.table import Annotations, id_array, object_array
from kalos_core.errors import KalosWarning, Problems, is_hashable, listed
from kalos_core.shapes import Boxes, Polygons, ShapeColumn
from kalos_core.shapes.boxes import LARGEST, find_box_problems

OUTSIDE_TOLERANCE = 0.01
"""Pixels by which a mark may pass the edge of its picture before it is counted as reaching beyond."""


@dataclass
class RawTable:
    """What a reader found, one entry a mark, before any check. Absent values are None."""

    image: list[Any] = field(default_factory=list)
    rater: list[Any] = field(default_factory=list)
    category: list[Any] = field(default_factory=list)
    id: list[Any] = field(default_factory=list)
    box: list[Any] = field(default_factory=list)
    polygon: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        for column in fields(self):
            values = getattr(self, column.name)
            if not values:
                setattr(self, column.name, [None] * len(self.image))


def build_annotations(
    table: RawTable,
    *,
    source: str,
    images: Sequence[Hashable],
    files: Sequence[str],
    raters: Sequence[str],
    categories: Mapping[Any, str],
    image_size: Sequence[tuple[float, float]],
    assigned: Sequence[Sequence[str] | None],
    assigned_categories: Mapping[str, Sequence[str]] | None = None,
    person: Sequence[str] | None = None,
    session: Sequence[str] | None = None,
    raters_are_local: bool = False,
    crowds: Sequence[int] | None = None,
    describe: Callable[[int], str] | None = None,
    problems: Problems | None = None,
    stacklevel: int = 3,
) -> Annotations:
    """Check what a reader found and turn it into `Annotations`; every reader ends here.

    `categories` maps the source's keys to class names, in the order of the vocabulary. `assigned` has a list of rater
    names per image, None for every rater. `describe` names the record of a row in messages. `problems` may already
    hold what the reader itself found; all of it is raised together.
    """
    name_of = describe or (lambda row: f"record {row + 1} (id {table.id[row]!r})")
    found = problems if problems is not None else Problems(source)
    names = list(dict.fromkeys(categories.values()))
    code_of_name = {name: code for code, name in enumerate(names)}
    category_code = {key: code_of_name[name] for key, name in categories.items()}
    image_code = {key: code for code, key in enumerate(images)}
    rater_code = {name: code for code, name in enumerate(raters)}

    who = np.zeros((len(images), len(raters)), np.bool_)
    for position, listed_raters in enumerate(assigned):
        if listed_raters is None:
            who[position] = True
            continue
        strangers = [name for name in listed_raters if not (is_hashable(name) and name in rater_code)]
        if strangers:
            found.add(f"image {images[position]!r}", "known raters assigned to it", listed(map(repr, strangers)))
        else:
            who[position, [rater_code[name] for name in listed_raters]] = True

    image = _encode(table.image, image_code, "an image of the source", name_of, found)
    rater = _encode(table.rater, rater_code, "a rater of the source", name_of, found)
    category = _encode(table.category, category_code, "a category of the source", name_of, found)
    _check_ids(table.id, name_of, found)
    known = (image >= 0) & (rater >= 0)
    stray = np.flatnonzero(known)[~who[image[known], rater[known]]]
    found.add_all(stray, name_of, "a rater in its image's list", lambda row: f"rater {table.rater[row]!r}")
    limits = _category_limits(assigned_categories, raters, names, found)
    if limits is not None:
        known = (rater >= 0) & (category >= 0)
        unasked = np.flatnonzero(known)[~limits[rater[known], category[known]]]
        found.add_all(
            unasked,
            name_of,
            "a class its rater was asked for",
            lambda row: f"{names[category[row]]!r} by {raters[rater[row]]!r}",
        )
    shapes = _build_shapes(table, name_of, found)
    found.raise_if_any()
    made = Annotations(
        image=image,
        rater=rater,
        category=category,
        id=id_array(table.id),
        shapes=shapes,
        images=object_array(images),
        files=object_array(files),
        raters=object_array(raters),
        categories=object_array(names),
        image_size=np.asarray(image_size, dtype=np.float64).reshape(-1, 2),
        assigned=who,
        assigned_categories=limits,
        person=object_array(person or []),
        session=object_array(session or []),
        raters_are_local=raters_are_local,
        crowds=np.asarray(crowds if crowds is not None else [], dtype=np.intp),
    )
    _warn_of_marks_outside(made, source, stacklevel + 1)
    return made


def _encode(
    keys: list[Any],
    codes: Mapping[Any, int],
    expected: str,
    describe: Callable[[int], str],
    problems: Problems,
) -> NDArray[np.intp]:
    try:
        encoded = np.fromiter((codes.get(key, -1) for key in keys), dtype=np.intp, count=len(keys))
    except TypeError:  # a list or an object where a key should be
        encoded = np.array([codes.get(key, -1) if is_hashable(key) else -1 for key in keys], dtype=np.intp)
    problems.add_all(
        np.flatnonzero(encoded < 0),
        describe,
        expected,
        lambda row: "nothing" if keys[row] is None else repr(keys[row]),
    )
    return encoded


def _check_ids(ids: list[Any], describe: Callable[[int], str], problems: Problems) -> None:
    seen: set[Any] = set()
    again, unusable = [], []
    for row, key in enumerate(ids):
        if key is None or isinstance(key, bool) or not is_hashable(key):
            unusable.append(row)
        elif key in seen:
            again.append(row)
        else:
            seen.add(key)
    problems.add_all(unusable, describe, "an id", lambda row: "nothing" if ids[row] is None else repr(ids[row]))
    problems.add_all(again, describe, "an id of its own", lambda row: f"{ids[row]!r} a second time")


def _category_limits(
    asked_for: Mapping[str, Sequence[str]] | None, raters: Sequence[str], names: Sequence[str], problems: Problems
) -> NDArray[np.bool_] | None:
    if not asked_for:
        return None
    limits = np.ones((len(raters), len(names)), np.bool_)
    row, column = ({name: code for code, name in enumerate(entries)} for entries in (raters, names))
    for rater, classes in asked_for.items():
        record = f"classes asked of rater {rater!r}"
        stray = [name for name in classes if not (is_hashable(name) and name in column)]
        if stray:
            problems.add(record, "known classes", listed(map(repr, stray)))
        elif rater not in row:
            problems.add(record, f"a rater among {listed(raters, 20)}", repr(rater))
        else:
            limits[row[rater]] = False
            limits[row[rater], [column[name] for name in classes]] = True
    return limits


def _build_shapes(table: RawTable, describe: Callable[[int], str], problems: Problems) -> dict[str, ShapeColumn]:
    """The shape columns of a table; a box that is absent is the bounds of its polygon."""
    has_box = np.array([_is_given(box) for box in table.box], dtype=np.bool_)
    has_polygon = np.array([_is_given(polygon) for polygon in table.polygon], dtype=np.bool_)
    bare = np.flatnonzero(~has_box & ~has_polygon)
    problems.add_all(bare, describe, "a box or a polygon", lambda _: "neither")
    boxes = _raw_boxes(table, np.flatnonzero(has_box), describe, problems)
    polygons = _raw_polygons(table, np.flatnonzero(has_polygon), describe, problems)
    if problems.count:
        return {}
    shapes: dict[str, ShapeColumn] = {}
    if has_polygon.any():
        shapes["polygon"] = polygons
        derived = ~has_box
        bounds = polygons.drawn_bounds()[derived]
        boxes[derived] = np.concatenate([bounds[:, :2], bounds[:, 2:] - bounds[:, :2]], axis=1)
    return {"box": Boxes.from_xywh(boxes), **shapes}


def _raw_boxes(
    table: RawTable, rows: NDArray[np.intp], describe: Callable[[int], str], problems: Problems
) -> NDArray[np.float64]:
    boxes = np.ones((len(table.box), 4))
    together = _numbers([table.box[row] for row in rows])
    if together is not None and together.shape == (len(rows), 4):
        boxes[rows] = together
    else:  # one by one, to name those that are wrong
        for row in rows:
            box = _numbers(table.box[row])
            if box is None or box.shape != (4,):
                problems.add(describe(row), "a box of four numbers x, y, width, height", repr(table.box[row]))
            else:
                boxes[row] = box
    for wrong, expected in find_box_problems(boxes):
        problems.add_all(wrong, describe, expected, lambda row: repr(table.box[row]))
    return boxes


def _raw_polygons(
    table: RawTable, rows: NDArray[np.intp], describe: Callable[[int], str], problems: Problems
) -> Polygons:
    rings: list[list[NDArray[np.float64]]] = [[] for _ in table.polygon]
    for row in rows:
        given = table.polygon[row]
        parts = [_ring(ring) for ring in given] if isinstance(given, Iterable) else [None]
        read = [ring for ring in parts if ring is not None]
        shortest = min((_corner_count(ring) for ring in read if len(ring) < 4), default=3)  # longer ones have 3 anyway
        if len(read) < len(parts):
            problems.add(describe(row), "rings of numbers x1, y1, x2, y2, ...", repr(given))
        elif shortest < 3:
            problems.add(describe(row), "rings of at least 3 points", f"a ring of {shortest}")
        else:
            rings[row] = read
    polygons = Polygons.from_rings(rings)
    wrong = ~(np.abs(polygons.points) <= LARGEST).all(axis=1)  # NaN is not
    if wrong.any():
        row_of_point = np.repeat(np.arange(len(rings)), [sum(map(len, parts)) for parts in rings])
        problems.add_all(
            np.unique(row_of_point[wrong]),
            describe,
            f"finite coordinates up to {LARGEST:.0e}",
            lambda row: repr(table.polygon[row]),
        )
    return polygons


def _is_given(shape: object) -> bool:
    """False for None and for an empty list, which is how COCO files say that there is none."""
    return shape is not None and not (isinstance(shape, Sized) and len(shape) == 0)


def _numbers(value: object) -> NDArray[np.float64] | None:
    """What was given as an array of numbers; None if it holds anything else, such as text or nothing."""
    try:
        array = np.asarray(value)
        if array.dtype == object:  # numbers beyond 64 bits are numbers too
            numbers = all(isinstance(entry, (int, float)) and not isinstance(entry, bool) for entry in array.flat)
            return array.astype(np.float64) if numbers else None
        return array.astype(np.float64) if array.dtype.kind in "iuf" else None
    except (TypeError, ValueError, OverflowError):
        return None


def _ring(value: object) -> NDArray[np.float64] | None:
    """(V, 2) vertices of x1, y1, x2, y2, ... or of a list of (x, y); None if it is neither."""
    numbers = _numbers(value)
    if numbers is None or not ((numbers.ndim == 1 and len(numbers) % 2 == 0) or numbers.shape[1:] == (2,)):
        return None
    return numbers.reshape(-1, 2)


def _corner_count(ring: NDArray[np.float64]) -> int:
    """Points of a ring, the first not counted again where the ring is closed by repeating it."""
    return len(ring) - int(len(ring) > 1 and bool((ring[0] == ring[-1]).all()))


def _warn_of_marks_outside(annotations: Annotations, source: str, stacklevel: int) -> None:
    if not len(annotations):
        return
    size = annotations.image_size[annotations.image]
    outside = np.zeros(len(annotations), np.bool_)
    for column in annotations.shapes.values():
        bounds = column.drawn_bounds() if isinstance(column, Polygons) else column.bounds()
        outside |= (bounds[:, :2] < -OUTSIDE_TOLERANCE).any(axis=1)
        outside |= (bounds[:, 2:] > size + OUTSIDE_TOLERANCE).any(axis=1)
    if outside.any():
        ids = listed(annotations.id[outside])
        warnings.warn(
            f"{source}: {outside.sum():,} marks reach beyond their picture and are kept as they are (ids {ids})",
            KalosWarning,
            stacklevel=stacklevel,
        )
