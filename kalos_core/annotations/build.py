"""Checks of all records from a reader, and their conversion to the columns of `Annotations`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import repeat
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.account import Account
from kalos_core.annotations.columns import id_array, object_array
from kalos_core.annotations.shapes import SHAPE_FIELDS, ShapeFaults, Surroundings, build_shapes
from kalos_core.arrays import as_rows
from kalos_core.errors import Problems, is_hashable, listed, repr_of
from kalos_core.options import Option
from kalos_core.shapes import ShapeColumn

OUTSIDE_TOLERANCE = 0.01
"""Pixels by which an annotation may cross the edge of its image without counting as outside."""


OnInvalid = Annotated[
    Literal["raise", "skip"],
    Option(
        "Annotations that cannot be used",
        "Treatment of annotations whose shape cannot be used.",
        choices={"raise": "an error that names them", "skip": "they are left out with a warning and counted"},
    ),
]

EXPECTED = {"image": "an image of the source", "rater": "a rater of the source", "category": "a category of the source"}
"""Expected content of each column of codes, for messages."""


@dataclass
class RawTable:
    """Unchecked records from a reader, one entry per annotation. Absent values are None.

    `attributes` are mappings of names to numbers, booleans or text. Shape fields are those of `SHAPE_FIELDS`, in the
    formats of `Annotations.from_rows`.
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
    attributes: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        for column in fields(self):
            values = getattr(self, column.name)
            if not values:
                setattr(self, column.name, [None] * len(self.image))


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """Properties of a reader's source other than the annotations. I images, R raters.

    Parameters
    ----------
    name : str
        Name of the file or folder, for messages.
    images, files : sequences (I,)
        Ids and file names.
    raters : sequence (R,) of str
    categories : mapping
        Keys in the source -> class names, in the order of the vocabulary.
    image_size : sequence (I,) of (width, height)
        In pixels; NaN if unknown.
    assigned : sequence (I,)
        Names of the raters assigned to each image; None for all raters.
    assigned_categories : mapping, optional
        Rater -> names of the classes assigned to them; raters that are not listed have all classes.
    exclusions : sequence of (image, rater, class name), optional
    person, session : sequences (R,), optional
    raters_are_local : bool
    crowds : sequence (I,) of int, optional
    slice_positions : sequence (I,) of arrays or None, optional
    pixel_spacing : sequence (I,) of float, optional
        As in `Annotations` and `Annotations.from_rows`.
    account : Account
        Account of the reader; completed here, and a source of warnings.
    on_invalid : "raise" or "skip"
        With "skip", annotations whose shape cannot be used are left out, named in a warning and counted in
        `Annotations.skipped`. Other faults still raise an error.
    own_id : str
        Expected value in the message for duplicate ids.
    describe : callable, optional
        Row of the raw table -> name of its record, for messages.
    problems : Problems, optional
        Problems found by the reader; all problems are raised together.
    """

    name: str
    images: Sequence[Hashable]
    files: Sequence[str]
    raters: Sequence[str]
    categories: Mapping[Any, str]
    image_size: Sequence[tuple[float, float]]
    assigned: Sequence[Sequence[str] | None]
    assigned_categories: Mapping[str, Sequence[str]] | None = None
    exclusions: Sequence[tuple[Any, Any, Any]] = ()
    person: Sequence[str] = ()
    session: Sequence[str] = ()
    raters_are_local: bool = False
    crowds: Sequence[int] = ()
    slice_positions: Sequence[NDArray[np.float64] | None] | None = None
    pixel_spacing: Sequence[float] | None = None
    account: Account = field(default_factory=Account)
    on_invalid: OnInvalid = "raise"
    own_id: str = "an id of its own"
    describe: Callable[[int], str] | None = None
    problems: Problems | None = None

    @property
    def class_names(self) -> list[str]:
        """Class vocabulary, each name once."""
        return list(dict.fromkeys(self.categories.values()))


def check_records(table: RawTable, source: Source) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of `Annotations`, and warnings. Raises one `InputError` that names every unusable record."""
    name_of = source.describe or (lambda row: f"record {row + 1} (id {repr_of(table.id[row])})")
    problems = source.problems or Problems(source.name)
    codes = _vocabulary_codes(source)
    assigned = _encode_assignment(source, problems)
    columns = {name: _encode(getattr(table, name), codes[name], name, name_of, problems) for name in codes}
    _check_ids(table.id, source.own_id, name_of, problems)
    limits = _category_limits(source, problems)
    _check_assignment(table, source, columns, assigned, limits, name_of, problems)
    excluded = _encode_exclusions(source, problems)
    broken = Problems(source.name)
    faults = ShapeFaults(problems if source.on_invalid == "raise" else broken, name_of)
    image_size = as_rows(source.image_size, "image_size", np.float64, 2)
    given = {kind: getattr(table, kind) for kind in SHAPE_FIELDS}
    shapes = build_shapes(given, _surroundings(source, columns, image_size), faults)
    attributes = _encode_attributes(table.attributes, name_of, problems)
    problems.raise_if_any()
    skipped = np.bincount(columns["image"][sorted(faults.rows)], minlength=len(source.images))
    columns["id"] = id_array(table.id)
    messages = []
    kept = np.setdiff1d(np.arange(len(table.id)), sorted(faults.rows)) if faults.rows else np.arange(len(table.id))
    if faults.rows:
        columns = {name: values[kept] for name, values in columns.items()}
        shapes = {kind: column.take(kept) for kind, column in shapes.items()}
        attributes = {name: values[kept] for name, values in attributes.items()}
        messages.append(f"{broken.text()}\nThey are skipped.")
    source.account.read = len(columns["id"])
    if (said := source.account.warning(source.name)) is not None:
        messages.append(said)
    outside = reaching_outside(shapes, image_size[columns["image"]])
    if outside.any():
        own = source.describe is not None  # the ids may be numbers made by the reader
        ids = f"ids {listed(columns['id'][outside])}"
        names = listed(map(name_of, kept[outside].tolist())) if own else ids
        number = f"{outside.sum():,} annotations"
        messages.append(f"{source.name}: {number} reach beyond their image and are kept as they are ({names})")
    return {
        **columns,
        "shapes": shapes,
        "images": object_array(source.images),
        "files": object_array(source.files),
        "raters": object_array(source.raters),
        "categories": object_array(source.class_names),
        "image_size": image_size,
        "assigned": assigned,
        "assigned_categories": limits,
        "person": object_array(source.person),
        "session": object_array(source.session),
        "raters_are_local": source.raters_are_local,
        "crowds": np.asarray(source.crowds, dtype=np.intp),
        "skipped": skipped,
        "excluded": excluded,
        "attributes": attributes,
        "account": source.account,
    }, messages


def _vocabulary_codes(source: Source) -> dict[str, dict[Any, int]]:
    """Column -> accepted key -> code."""
    of_class = _codes(source.class_names)
    return {
        "image": _codes(source.images),
        "rater": _codes(source.raters),
        "category": {key: of_class[name] for key, name in source.categories.items()},
    }


def _codes(vocabulary: Sequence[Hashable]) -> dict[Any, int]:
    return {entry: code for code, entry in enumerate(vocabulary)}


def _encode_assignment(source: Source, problems: Problems) -> NDArray[np.bool_]:
    """(I, R) whether a rater is in the list of an image, or the image has no list."""
    code = _codes(source.raters)
    assigned = np.zeros((len(source.images), len(source.raters)), np.bool_)
    rows: list[int] = []
    columns: list[int] = []
    for position, names in enumerate(source.assigned):
        if names is None:
            assigned[position] = True
            continue
        unknown = [name for name in names if not (is_hashable(name) and name in code)]
        if unknown:
            record = f"image {source.images[position]!r}"
            problems.add(record, "known raters assigned to it", listed(map(repr_of, unknown)))
        else:
            rows += [position] * len(names)
            columns += [code[name] for name in names]
    assigned[rows, columns] = True
    return assigned


def _check_assignment(
    table: RawTable,
    source: Source,
    columns: Mapping[str, NDArray[np.intp]],
    assigned: NDArray[np.bool_],
    limits: NDArray[np.bool_] | None,
    describe: Callable[[int], str],
    problems: Problems,
) -> None:
    """Check that every annotation is by a rater who is assigned to its image and class."""
    rater, category = columns["rater"], columns["category"]
    stray = _refused(assigned, columns["image"], rater)
    problems.add_all(stray, describe, "a rater in its image's list", lambda row: f"rater {table.rater[row]!r}")
    if limits is not None:
        names = source.class_names
        problems.add_all(
            _refused(limits, rater, category),
            describe,
            "a class its rater is assigned to",
            lambda row: f"{names[category[row]]!r} by {source.raters[rater[row]]!r}",
        )


def _refused(allowed: NDArray[np.bool_], row_code: NDArray[np.intp], column_code: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return annotations whose cell of `allowed` is False; unknown codes (-1) are reported separately."""
    known = np.flatnonzero((row_code >= 0) & (column_code >= 0))
    return known[~allowed[row_code[known], column_code[known]]]


def _surroundings(
    source: Source, columns: Mapping[str, NDArray[np.intp]], image_size: NDArray[np.float64]
) -> Surroundings:
    spacing = None if source.pixel_spacing is None else np.asarray(source.pixel_spacing, dtype=np.float64)
    return Surroundings(columns["image"], columns["category"], image_size, source.slice_positions, spacing)


def _encode(
    keys: list[Any],
    codes: Mapping[Any, int],
    column: str,
    describe: Callable[[int], str],
    problems: Problems,
) -> NDArray[np.intp]:
    try:
        encoded = np.fromiter(map(codes.get, keys, repeat(-1)), dtype=np.intp, count=len(keys))
    except TypeError:  # a list or an object where a key should be
        encoded = np.array([codes.get(key, -1) if is_hashable(key) else -1 for key in keys], dtype=np.intp)
    problems.add_all(
        np.flatnonzero(encoded < 0),
        describe,
        EXPECTED[column],
        lambda row: "nothing" if keys[row] is None else repr_of(keys[row]),
    )
    return encoded


def _encode_attributes(
    given: list[Any], describe: Callable[[int], str], problems: Problems
) -> dict[str, NDArray[np.object_]]:
    """Name -> (N,) values; None if an annotation has none."""
    rows = [row for row, entry in enumerate(given) if entry is not None]
    strange = [row for row in rows if not _are_attributes(given[row])]
    problems.add_all(
        strange, describe, "attributes that are numbers, truth values or text", lambda row: repr_of(given[row])
    )
    found: dict[str, NDArray[np.object_]] = {}
    for row in () if strange else rows:
        for name, value in given[row].items():
            if name not in found:
                found[name] = np.full(len(given), None, dtype=object)
            found[name][row] = value
    return found


def _are_attributes(entry: Any) -> bool:
    return isinstance(entry, Mapping) and all(
        isinstance(name, str) and (value is None or isinstance(value, ATTRIBUTE)) for name, value in entry.items()
    )


ATTRIBUTE = (str, bool, int, float, np.bool_, np.integer, np.floating)
"""Types of attribute values."""


def _encode_exclusions(source: Source, problems: Problems) -> NDArray[np.intp]:
    """(X, 3) codes of an image, a rater and a category."""
    vocabularies = {"image": source.images, "rater": source.raters, "category": source.class_names}
    columns = [
        _encode(
            [entry[side] for entry in source.exclusions],
            _codes(vocabulary),
            name,
            lambda row: f"exclusion {row + 1}",
            problems,
        )
        for side, (name, vocabulary) in enumerate(vocabularies.items())
    ]
    return np.stack(columns, axis=1)


def _check_ids(ids: list[Any], own_id: str, describe: Callable[[int], str], problems: Problems) -> None:
    if set(map(type, ids)) <= {int, str} and len(set(ids)) == len(ids):
        return
    seen: set[Any] = set()
    again, unusable = [], []
    for row, key in enumerate(ids):
        if key is None or isinstance(key, bool) or not is_hashable(key):
            unusable.append(row)
        elif key in seen:
            again.append(row)
        else:
            seen.add(key)
    problems.add_all(unusable, describe, "an id", lambda row: "nothing" if ids[row] is None else repr_of(ids[row]))
    problems.add_all(again, describe, own_id, lambda row: f"{repr_of(ids[row])} a second time")


def _category_limits(source: Source, problems: Problems) -> NDArray[np.bool_] | None:
    """(R, K) whether a rater is assigned to a class; None if every rater is assigned to all."""
    if not source.assigned_categories:
        return None
    row, column = _codes(source.raters), _codes(source.class_names)
    limits = np.ones((len(row), len(column)), np.bool_)
    for rater, classes in source.assigned_categories.items():
        record = f"classes assigned to rater {rater!r}"
        unknown = [name for name in classes if not (is_hashable(name) and name in column)]
        if unknown:
            problems.add(record, "known classes", listed(map(repr_of, unknown)))
        elif rater not in row:
            problems.add(record, f"a rater among {listed(source.raters, 20)}", repr_of(rater))
        else:
            limits[row[rater]] = False
            limits[row[rater], [column[name] for name in classes]] = True
    return limits


def reaching_outside(shapes: Mapping[str, ShapeColumn], size: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(N,) whether a shape extends beyond its image of size (N, 2)."""
    outside = np.zeros(len(size), np.bool_)
    for column in shapes.values():
        bounds = column.outline_bounds()
        outside |= (bounds[:, :2] < -OUTSIDE_TOLERANCE).any(axis=1)
        outside |= (bounds[:, 2:] > size + OUTSIDE_TOLERANCE).any(axis=1)
    return outside
