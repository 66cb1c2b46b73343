"""From what a reader found to `Annotations`: every check of every record in one place."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.table import Annotations, id_array, object_array
from kalos_core.errors import InputError, KalosWarning, Problems, listed
from kalos_core.shapes import Boxes, Polygons, ShapeColumn
from kalos_core.shapes.boxes import find_box_problems

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
        else:
            who[position, [rater_code[name] for name in listed_raters]] = True

    image = _encode(table.image, image_code, "an image of the source", name_of, found)
    rater = _encode(table.rater, rater_code, "a rater of the source", name_of, found)
    category = _encode(table.category, category_code, "a category of the source", name_of, found)
    _check_ids(table.id, name_of, found)
    known = (image >= 0) & (rater >= 0)
    stray = np.flatnonzero(known)[~who[image[known], rater[known]]]
    found.add_all(stray, name_of, "a rater in its image's list", lambda row: f"rater {table.rater[row]!r}")
    limits = _category_limits(assigned_categories, raters, names)
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
    encoded = np.fromiter((codes.get(key, -1) for key in keys), dtype=np.intp, count=len(keys))
    problems.add_all(
        np.flatnonzero(encoded < 0),
        describe,
        expected,
        lambda row: "nothing" if keys[row] is None else repr(keys[row]),
    )
    return encoded


def _check_ids(ids: list[Any], describe: Callable[[int], str], problems: Problems) -> None:
    seen: set[Any] = set()
    again = [row for row, key in enumerate(ids) if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
    problems.add_all(again, describe, "an id of its own", lambda row: f"{ids[row]!r} a second time")


def _category_limits(
    asked_for: Mapping[str, Sequence[str]] | None, raters: Sequence[str], names: Sequence[str]
) -> NDArray[np.bool_] | None:
    if not asked_for:
        return None
    unknown = sorted(set(asked_for) - set(raters))
    if unknown:
        raise InputError(f"assigned_categories: expected raters among {listed(raters, 20)}, got {listed(unknown)}")
    limits = np.ones((len(raters), len(names)), np.bool_)
    for position, rater in enumerate(raters):
        if rater in asked_for:
            stray = sorted(set(asked_for[rater]) - set(names))
            if stray:
                raise InputError(f"assigned_categories of {rater!r}: expected known classes, got {listed(stray)}")
            limits[position] = np.isin(names, list(asked_for[rater]))
    return limits


def _build_shapes(table: RawTable, describe: Callable[[int], str], problems: Problems) -> dict[str, ShapeColumn]:
    """The shape columns of a table; a box that is absent is the bounds of its polygon."""
    has_box = np.array([box is not None for box in table.box], dtype=np.bool_)
    has_polygon = np.array([bool(polygon) for polygon in table.polygon], dtype=np.bool_)
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
    for row in rows:
        try:
            boxes[row] = table.box[row]
        except (TypeError, ValueError):
            problems.add(describe(row), "a box x, y, width, height", repr(table.box[row]))
    for wrong, expected in find_box_problems(boxes):
        problems.add_all(wrong, describe, expected, lambda row: list(map(float, table.box[row])))
    return boxes


def _raw_polygons(
    table: RawTable, rows: NDArray[np.intp], describe: Callable[[int], str], problems: Problems
) -> Polygons:
    rings: list[list[NDArray[np.float64]]] = [[] for _ in table.polygon]
    for row in rows:
        try:
            for ring in table.polygon[row]:
                rings[row].append(np.asarray(ring, dtype=np.float64).reshape(-1, 2))
        except (TypeError, ValueError):
            problems.add(
                describe(row),
                "rings of numbers x1, y1, x2, y2, ...",
                _shortened(table.polygon[row]),
            )
            rings[row] = []
            continue
        shortest = min(len(ring) for ring in rings[row])
        if shortest < 3:
            problems.add(describe(row), "rings of at least 3 points", f"a ring of {shortest}")
            rings[row] = []
    polygons = Polygons.from_rings(rings)
    infinite = ~np.isfinite(polygons.points).all(axis=1)
    if infinite.any():
        row_of_point = np.repeat(np.arange(len(rings)), [sum(map(len, parts)) for parts in rings])
        wrong = np.unique(row_of_point[infinite])
        problems.add_all(wrong, describe, "finite coordinates", lambda row: _shortened(table.polygon[row]))
    return polygons


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


def _shortened(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 4] + " ..."
