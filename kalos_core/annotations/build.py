"""From what a reader found to `Annotations`: every check of every record in one place."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import id_array, object_array
from kalos_core.annotations.shapes import SHAPE_FIELDS, ShapeFaults, Surroundings, build_shapes
from kalos_core.annotations.table import Annotations
from kalos_core.errors import InputError, KalosWarning, Problems, is_hashable, listed
from kalos_core.shapes import ShapeColumn

OUTSIDE_TOLERANCE = 0.01
"""Pixels by which a mark may pass the edge of its picture before it is counted as reaching beyond."""


OnInvalid = Literal["raise", "skip"]
"""What becomes of marks whose shape cannot be used: an error that names them, or they are left out and counted."""


@dataclass
class RawTable:
    """What a reader found, one entry a mark, before any check. Absent values are None.

    Fields of shapes are those of `SHAPE_FIELDS`; `Annotations.from_rows` says how each is written.
    """

    image: list[Any] = field(default_factory=list)
    rater: list[Any] = field(default_factory=list)
    category: list[Any] = field(default_factory=list)
    id: list[Any] = field(default_factory=list)
    box: list[Any] = field(default_factory=list)
    polygon: list[Any] = field(default_factory=list)
    mask: list[Any] = field(default_factory=list)
    keypoints: list[Any] = field(default_factory=list)
    volume: list[Any] = field(default_factory=list)
    cuboid: list[Any] = field(default_factory=list)

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
    exclusions: Sequence[tuple[Any, Any, Any]] = (),
    person: Sequence[str] | None = None,
    session: Sequence[str] | None = None,
    raters_are_local: bool = False,
    crowds: Sequence[int] | None = None,
    slice_positions: Sequence[NDArray[np.float64] | None] | None = None,
    pixel_spacing: Sequence[float] | None = None,
    on_invalid: OnInvalid = "raise",
    describe: Callable[[int], str] | None = None,
    problems: Problems | None = None,
    stacklevel: int = 3,
) -> Annotations:
    """Check what a reader found and turn it into `Annotations`; every reader ends here.

    `categories` maps the source's keys to class names, in the order of the vocabulary. `assigned` has a list of rater
    names per image, None for every rater. `describe` names the record of a row in messages. `problems` may already
    hold what the reader itself found; all of it is raised together. With `on_invalid` "skip", marks whose shape cannot
    be used are left out, named in a warning and counted in `Annotations.skipped`; any other fault is still an error.
    """
    if on_invalid not in ("raise", "skip"):
        raise InputError(f"on_invalid: expected 'raise' or 'skip', got {on_invalid!r}")
    name_of = describe or (lambda row: f"record {row + 1} (id {table.id[row]!r})")
    found = problems if problems is not None else Problems(source)
    names = list(dict.fromkeys(categories.values()))
    image_code, rater_code, code_of_name = _codes(images), _codes(raters), _codes(names)
    category_code = {key: code_of_name[name] for key, name in categories.items()}

    who = _encode_assignment(assigned, images, raters, found)
    image = _encode(table.image, image_code, "an image of the source", name_of, found)
    rater = _encode(table.rater, rater_code, "a rater of the source", name_of, found)
    category = _encode(table.category, category_code, "a category of the source", name_of, found)
    _check_ids(table.id, name_of, found)
    stray = _refused(who, image, rater)
    found.add_all(stray, name_of, "a rater in its image's list", lambda row: f"rater {table.rater[row]!r}")
    limits = _category_limits(assigned_categories, raters, names, found)
    if limits is not None:
        found.add_all(
            _refused(limits, rater, category),
            name_of,
            "a class its rater was asked for",
            lambda row: f"{names[category[row]]!r} by {raters[rater[row]]!r}",
        )
    excluded = _encode_exclusions(exclusions, (image_code, rater_code, code_of_name), found)
    sizes = np.asarray(image_size, dtype=np.float64).reshape(-1, 2)
    spacing = None if pixel_spacing is None else np.asarray(pixel_spacing, dtype=np.float64)
    broken = Problems(source)
    faults = ShapeFaults(found if on_invalid == "raise" else broken, name_of)
    given = {kind: getattr(table, kind) for kind in SHAPE_FIELDS}
    shapes = build_shapes(given, Surroundings(image, sizes, slice_positions, spacing), faults)
    found.raise_if_any()
    kept = np.ones(len(image), np.bool_)
    kept[sorted(faults.rows)] = False
    rows = np.flatnonzero(kept)
    if faults.rows:
        shapes = _leave_out(shapes, rows, broken, stacklevel + 1)
    made = Annotations(
        image=image[rows],
        rater=rater[rows],
        category=category[rows],
        id=id_array(table.id)[rows],
        shapes=shapes,
        images=object_array(images),
        files=object_array(files),
        raters=object_array(raters),
        categories=object_array(names),
        image_size=sizes,
        assigned=who,
        assigned_categories=limits,
        person=object_array(person or []),
        session=object_array(session or []),
        raters_are_local=raters_are_local,
        crowds=np.asarray(crowds if crowds is not None else [], dtype=np.intp),
        skipped=np.bincount(image[~kept], minlength=len(images)),
        excluded=excluded,
    )
    _warn_of_marks_outside(made, source, stacklevel + 1)
    return made


def _codes(vocabulary: Sequence[Hashable]) -> dict[Any, int]:
    return {entry: code for code, entry in enumerate(vocabulary)}


def _encode_assignment(
    assigned: Sequence[Sequence[str] | None],
    images: Sequence[Hashable],
    raters: Sequence[str],
    problems: Problems,
) -> NDArray[np.bool_]:
    """(I, R) True where a rater is in the list of an image, or the image has none."""
    code = _codes(raters)
    who = np.zeros((len(images), len(raters)), np.bool_)
    for position, listed_raters in enumerate(assigned):
        if listed_raters is None:
            who[position] = True
            continue
        strangers = [name for name in listed_raters if not (is_hashable(name) and name in code)]
        if strangers:
            problems.add(f"image {images[position]!r}", "known raters assigned to it", listed(map(repr, strangers)))
        else:
            who[position, [code[name] for name in listed_raters]] = True
    return who


def _refused(asked: NDArray[np.bool_], row_code: NDArray[np.intp], column_code: NDArray[np.intp]) -> NDArray[np.intp]:
    """Marks whose cell of `asked` is False; unknown codes (-1) are a fault of their own."""
    known = np.flatnonzero((row_code >= 0) & (column_code >= 0))
    return known[~asked[row_code[known], column_code[known]]]


def _leave_out(
    shapes: Mapping[str, ShapeColumn], kept: NDArray[np.intp], broken: Problems, stacklevel: int
) -> dict[str, ShapeColumn]:
    """The shapes that can be used, and a warning that names the others."""
    warnings.warn(f"{broken.text()}\nThey are left out.", KalosWarning, stacklevel=stacklevel)
    return {kind: column.take(kept) for kind, column in shapes.items()}


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


def _encode_exclusions(
    exclusions: Sequence[tuple[Any, Any, Any]], codes: tuple[Mapping[Any, int], ...], problems: Problems
) -> NDArray[np.intp]:
    """(X, 3) codes of an image, a rater and a category."""

    def name_of(row: int) -> str:
        return f"exclusion {row + 1}"

    expected = ("an image of the source", "a rater of the source", "a category of the source")
    columns = [
        _encode([entry[side] for entry in exclusions], codes[side], expected[side], name_of, problems)
        for side in range(3)
    ]
    return np.stack(columns, axis=1)


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
    row, column = _codes(raters), _codes(names)
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


def _warn_of_marks_outside(annotations: Annotations, source: str, stacklevel: int) -> None:
    if not len(annotations):
        return
    size = annotations.image_size[annotations.image]
    outside = np.zeros(len(annotations), np.bool_)
    for column in annotations.shapes.values():
        bounds = column.outline_bounds()
        outside |= (bounds[:, :2] < -OUTSIDE_TOLERANCE).any(axis=1)
        outside |= (bounds[:, 2:] > size + OUTSIDE_TOLERANCE).any(axis=1)
    if outside.any():
        ids = listed(annotations.id[outside])
        warnings.warn(
            f"{source}: {outside.sum():,} marks reach beyond their picture and are kept as they are (ids {ids})",
            KalosWarning,
            stacklevel=stacklevel,
        )
