"""The schema of shards: a table of annotations as two Arrow tables, one of its images and one of its annotations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.annotations.columns import TEXT, codes_in
from kalos_core.arrays import expand_runs, run_starts
from kalos_core.errors import InputError, listed
from kalos_core.shapes import Boxes, Cuboids, Keypoints, Masks, Polygons, ShapeColumn
from kalos_core.shapes.joining import join_columns

FIXED: dict[str, dict[str, tuple[str, tuple[int, ...]]]] = {
    "box": {"corners": ("box", (4,))},
    "mask": {"size": ("mask_size", (2,))},
    "keypoints": {
        "points": ("keypoints", (-1, 2)),
        "visible": ("keypoints_visible", (-1,)),
        "size": ("keypoints_image_size", (2,)),
        "present": ("keypoints_present", ()),
    },
    "cuboid": {
        "location": ("cuboid_location", (3,)),
        "dimensions": ("cuboid_dimensions", (3,)),
        "rotation": ("cuboid_rotation", (3,)),
    },
}
"""Shape kind -> field of its column -> column of the file, and the shape of an entry; -1: as many as there are."""

COLUMNS: dict[str, type[Any]] = {"box": Boxes, "mask": Masks, "keypoints": Keypoints, "cuboid": Cuboids}

SHAPES = ("box", "polygon", "mask", "keypoints", "cuboid")
"""Kinds of shapes that shards can hold."""


def arrow() -> Any:
    """The module pyarrow with its module `pyarrow.parquet`; an error that says how to install it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "expected pyarrow, which shards are read and written with, got none: pip install 'kalos-fiftyone[dask]'"
        ) from None
    return pyarrow


@dataclass(frozen=True)
class Vocabulary:
    """What all shards of a data set share.

    Parameters
    ----------
    raters, person, session : tuple of str
    categories : tuple of str
    assigned_categories : mapping rater -> names of classes, or None
        Classes each rater is assigned to; None: all.
    raters_are_local : bool
    shapes : tuple of str
        Kinds of shapes, some of `SHAPES`.
    ids : "int", "text" or "mixed"
        Types of the ids of annotations; where they are mixed, the column ``order`` has their order.
    """

    raters: tuple[str, ...]
    person: tuple[str, ...]
    session: tuple[str, ...]
    categories: tuple[str, ...]
    assigned_categories: Mapping[str, tuple[str, ...]] | None
    raters_are_local: bool
    shapes: tuple[str, ...]
    ids: str

    @property
    def limits(self) -> NDArray[np.bool_] | None:
        """(R, K) which classes each rater is assigned to; None for all."""
        if self.assigned_categories is None:
            return None
        limits = np.zeros((len(self.raters), len(self.categories)), np.bool_)
        for row, rater in enumerate(self.raters):
            limits[row, codes_in(self.categories, self.assigned_categories[rater])] = True
        return limits

    def fields(self) -> dict[str, Any]:
        """Fields of `Annotations` that every shard has alike."""
        return {
            "raters": object_array(self.raters),
            "person": object_array(self.person),
            "session": object_array(self.session),
            "categories": object_array(self.categories),
            "assigned_categories": self.limits,
            "raters_are_local": self.raters_are_local,
        }


# ---- to Arrow ----


def image_table(annotations: Annotations, first: int) -> Any:
    """The images of a table, numbered from `first` on, as an Arrow table."""
    pa = arrow()
    images = len(annotations.images)
    image, rater = np.nonzero(annotations.assigned)
    excluded = annotations.excluded
    starts = np.searchsorted(excluded[:, 0], np.arange(images + 1))
    ids, is_text = id_columns(annotations.images, "images")
    return pa.table(
        {
            "number": first + np.arange(images),
            "image": ids,
            "image_is_text": is_text,
            "file": pa.array(annotations.files, pa.string()),
            "width": annotations.image_size[:, 0],
            "height": annotations.image_size[:, 1],
            "assigned": _lists(
                run_starts(np.bincount(image, minlength=images)), pa.array(annotations.raters[rater], pa.string())
            ),
            "excluded_rater": _lists(starts, pa.array(annotations.raters[excluded[:, 1]], pa.string())),
            "excluded_category": _lists(starts, pa.array(annotations.categories[excluded[:, 2]], pa.string())),
            "crowds": annotations.crowds,
            "skipped": annotations.skipped,
        }
    )


def annotation_table(annotations: Annotations, first: int) -> Any:
    """The annotations of a table and its crowd regions, images numbered from `first` on, as an Arrow table."""
    pa = arrow()
    parts = [annotations]
    if annotations.crowd_regions is not None:
        parts.append(annotations.crowd_regions)
    raters, categories = (_names(names) for names in (annotations.raters, annotations.categories))
    rater, category = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rater", "category"))
    whole = all(part.id.dtype.kind == "i" for part in parts)
    given = [part.id if whole else object_array(part.id.tolist()) for part in parts]
    ids, is_text = id_columns(np.concatenate(given), "id")
    columns = {
        "image": first + np.concatenate([part.image for part in parts]),
        "rater": pa.DictionaryArray.from_arrays(pa.array(rater, pa.int32()), raters),
        "category": pa.DictionaryArray.from_arrays(pa.array(category, pa.int32()), categories),
        "id": ids,
        "id_is_text": is_text,
        "crowd": np.repeat([False, True][: len(parts)], [len(part) for part in parts]),
    }
    for kind in annotations.shapes:
        column = join_columns(kind, [part.shapes.get(kind, len(part)) for part in parts])
        columns |= shape_arrays(kind, column)
    return pa.table(columns)


def id_columns(ids: Iterable[Any], what: str) -> tuple[Any, Any]:
    """Ids as numbers if all are, else as text; and which of them are text.

    Examples
    --------
    >>> [column.to_pylist() for column in id_columns([3, "a"], "id")], id_columns([3], "id")[0].to_pylist()
    ([['3', 'a'], [False, True]], [3])
    """
    pa = arrow()
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "i":
        return pa.array(ids), pa.array(np.zeros(len(ids), np.bool_))
    values = list(ids)
    is_text = [isinstance(value, str) for value in values]
    strange = [
        value
        for value, text in zip(values, is_text, strict=True)
        if not text and (isinstance(value, bool) or not isinstance(value, (int, np.integer)))
    ]
    if strange:
        raise InputError(f"{what}: expected ids that are whole numbers or text, got {listed(map(repr, strange))}")
    if not any(is_text):
        try:
            return pa.array([int(value) for value in values], pa.int64()), pa.array(is_text)
        except OverflowError:
            raise InputError(f"{what}: expected whole numbers below 2^63, got {max(values, key=abs)}") from None
    return pa.array(map(str, values), pa.string()), pa.array(is_text)


def shape_arrays(kind: str, column: ShapeColumn) -> dict[str, Any]:
    """A column of shapes as columns of an Arrow table, by their names.

    Examples
    --------
    >>> found = shape_arrays("box", Boxes.from_xywh([[0, 0, 2, 1]]))
    >>> found["box"].to_pylist()
    [[0.0, 0.0, 2.0, 1.0]]
    """
    if isinstance(column, Polygons):
        rings = _lists(2 * column.ring_start, np.ascontiguousarray(column.points).ravel())
        return {"polygon": _lists(column.part_start, rings)}
    found = {name: _fixed(getattr(column, field)) for field, (name, _) in FIXED[kind].items()}
    if isinstance(column, Masks):
        found |= {f"mask_{name}": _lists(column.run_start, getattr(column, name)) for name in ("first", "length")}
    return found


def _fixed(values: NDArray[Any]) -> Any:
    pa = arrow()
    if values.ndim == 1:
        return pa.array(values)
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, int(np.prod(values.shape[1:])))


def _lists(start: NDArray[np.intp], values: Any) -> Any:
    pa = arrow()
    entries = pa.array(values) if isinstance(values, np.ndarray) else values
    return pa.ListArray.from_arrays(pa.array(start.astype(np.int32)), entries)


def _names(names: NDArray[np.object_]) -> Any:
    pa = arrow()
    return pa.array(names, pa.string())


# ---- from Arrow ----


def read_tables(images: Any, rows: Any, vocabulary: Vocabulary, first: int) -> Annotations:
    """The table of annotations that `image_table` and `annotation_table` took apart; columns are checked.

    Parameters
    ----------
    images, rows : Arrow tables
    vocabulary : Vocabulary
    first : int
        Number of the first image.

    Raises
    ------
    InputError
        For a column that is absent, of another type, or does not fit the vocabulary.
    """
    fields = {**image_fields(images, vocabulary), **vocabulary.fields()}
    number = _numbers(images, "number")
    if (number != first + np.arange(len(number))).any():
        raise InputError(f"number: expected {first} to {first + len(number) - 1}, one after the other, got others")
    image = _numbers(rows, "image") - first
    if len(image) and (image.min() < 0 or image.max() >= len(number)):
        actual = f"{image.min() + first} to {image.max() + first}"
        raise InputError(f"image: expected numbers {first} to {first + len(number) - 1}, got {actual}")
    crowd = np.asarray(_column(rows, "crowd").to_numpy(zero_copy_only=False), dtype=np.bool_)
    whole = {
        **fields,
        "image": image,
        "rater": _codes(rows, "rater", vocabulary.raters),
        "category": _codes(rows, "category", vocabulary.categories),
        "id": _ids(rows, vocabulary.ids),
        "shapes": {kind: _shapes(rows, kind) for kind in vocabulary.shapes if _has(rows, kind)},
    }
    if not crowd.any():
        return Annotations(**whole)
    made = Annotations(**{**whole, **_rows_of(whole, np.flatnonzero(~crowd))})
    regions = Annotations(**{**whole, **_rows_of(whole, np.flatnonzero(crowd))})
    return replace(made, crowd_regions=regions)


def _rows_of(fields: Mapping[str, Any], rows: NDArray[np.intp]) -> dict[str, Any]:
    taken: dict[str, Any] = {name: fields[name][rows] for name in ("image", "rater", "category", "id")}
    return taken | {"shapes": {kind: column.take(rows) for kind, column in fields["shapes"].items()}}


def image_fields(images: Any, vocabulary: Vocabulary) -> dict[str, Any]:
    """Fields of `Annotations` about images, from the Arrow table of them."""
    count = len(images)
    owner, rater = _of_lists(images, "assigned", vocabulary.raters)
    assigned = np.zeros((count, len(vocabulary.raters)), np.bool_)
    assigned[owner, rater] = True
    owner, rater = _of_lists(images, "excluded_rater", vocabulary.raters)
    _, category = _of_lists(images, "excluded_category", vocabulary.categories)
    return {
        "images": _image_ids(images),
        "files": object_array(_column(images, "file").to_pylist()),
        "image_size": np.column_stack([_numbers(images, name, np.float64) for name in ("width", "height")]),
        "assigned": assigned,
        "excluded": np.column_stack([owner, rater, category]),
        "crowds": _numbers(images, "crowds"),
        "skipped": _numbers(images, "skipped"),
    }


def _image_ids(images: Any) -> NDArray[np.object_]:
    ids, is_text = _column(images, "image").to_pylist(), _column(images, "image_is_text").to_pylist()
    return object_array(value if text else int(value) for value, text in zip(ids, is_text, strict=True))


def _ids(rows: Any, ids: str) -> NDArray[Any]:
    """Ids of annotations, or their order where it cannot be seen in some of them."""
    if ids == "text":
        return np.array(_column(rows, "id").to_pylist(), dtype=TEXT)
    return _numbers(rows, "id" if ids == "int" else "order")


def _has(rows: Any, kind: str) -> bool:
    """Whether there is a kind of shapes at all: a table without annotations may know of none."""
    return any(name == kind or name.startswith(f"{kind}_") for name in rows.column_names)


def _shapes(rows: Any, kind: str) -> ShapeColumn:
    if kind == "polygon":
        rings = _column(rows, "polygon")
        coordinates = _flat(rings)
        points = _flat(coordinates).to_numpy(zero_copy_only=False).reshape(-1, 2)
        return Polygons(points, _starts(coordinates) // 2, _starts(rings))
    fields = {}
    for field, (name, shape) in FIXED[kind].items():
        column = _column(rows, name)
        flat = column if not shape else column.flatten()
        fields[field] = np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(column), *_trailing(column, shape))
    if kind == "mask":
        first, length = (_column(rows, f"mask_{name}") for name in ("first", "length"))
        fields |= {
            "first": _flat(first).to_numpy(zero_copy_only=False).astype(np.uint32, copy=False),
            "length": _flat(length).to_numpy(zero_copy_only=False).astype(np.uint32, copy=False),
            "run_start": _starts(first),
        }
    made: ShapeColumn = COLUMNS[kind](**fields)
    return made


def _trailing(column: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an entry, also of a column without any."""
    if -1 not in shape:
        return shape
    others = -int(np.prod(shape))
    return tuple(column.type.list_size // others if size == -1 else size for size in shape)


def _column(table: Any, name: str) -> Any:
    """A column as one array, without missing values."""
    if name not in table.column_names:
        raise InputError(f"expected a column {name!r}, got {listed(table.column_names, 30) or 'none'}")
    column = table.column(name).combine_chunks()
    pa = arrow()
    if isinstance(column, pa.ChunkedArray):  # older versions answer one, without or with one chunk
        column = column.chunk(0) if column.num_chunks else pa.array([], column.type)
    if column.null_count:
        raise InputError(f"{name}: expected a value in every row, got none in {column.null_count:,}")
    return column


def _numbers(table: Any, name: str, dtype: Any = np.int64) -> NDArray[Any]:
    column = _column(table, name)
    values = np.asarray(column.to_numpy(zero_copy_only=False))
    if len(values) and values.dtype.kind not in ("iu" if dtype is np.int64 else "iuf"):
        expected = "whole numbers" if dtype is np.int64 else "numbers"
        raise InputError(f"{name}: expected {expected}, got {column.type}")
    return values.astype(dtype)


def _codes(table: Any, name: str, names: tuple[str, ...]) -> NDArray[np.intp]:
    pa, column = arrow(), _column(table, name)
    return _coded(column if pa.types.is_dictionary(column.type) else column.dictionary_encode(), name, names)


def _coded(column: Any, name: str, names: tuple[str, ...]) -> NDArray[np.intp]:
    """Codes of a dictionary-encoded column into a vocabulary."""
    known = column.dictionary.to_pylist()
    code, used = codes_in(names, known), np.asarray(column.indices.to_numpy(zero_copy_only=False), dtype=np.intp)
    found = code[used]
    if (found < 0).any():
        strange = [known[at] for at in np.unique(used[found < 0])]
        raise InputError(f"{name}: expected names that the data set has, got {listed(map(repr, strange))}")
    return found


def _of_lists(table: Any, name: str, names: tuple[str, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The row and the code of each entry of a column of lists of names."""
    column = _column(table, name)
    owner, _ = expand_runs(np.zeros(len(column), np.intp), np.diff(_starts(column)))
    return owner, _coded(_flat(column).dictionary_encode(), name, names)


def _flat(column: Any) -> Any:
    """The entries of a column of lists, one list after the other."""
    return column.flatten()


def _starts(column: Any) -> NDArray[np.intp]:
    """Where each list of a column begins among all entries, the end appended."""
    offsets = np.asarray(column.offsets.to_numpy(), dtype=np.intp)
    return offsets - offsets[0] if len(offsets) else np.zeros(1, np.intp)
