"""Schema of annotations: a table as two Arrow tables, one of its images and one of its annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.annotations.columns import TEXT, codes_in
from kalos_core.annotations.joining import join
from kalos_core.arrays import run_starts
from kalos_core.distributed.base import Schema
from kalos_core.distributed.columns import (
    arrow,
    as_lists,
    as_names,
    codes_of,
    column_of,
    entries_of,
    flat_of,
    id_columns,
    ids_of,
    numbers_of,
    starts_of,
)
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
"""Shape kind -> field -> column in the file, and shape of an entry; -1 means any length."""

COLUMNS: dict[str, type[Any]] = {"box": Boxes, "mask": Masks, "keypoints": Keypoints, "cuboid": Cuboids}

SHAPES = ("box", "polygon", "mask", "keypoints", "cuboid")
"""Shape kinds that shards can hold."""


IDS = ("int", "text", "mixed")
"""Types of the ids of annotations."""


@dataclass(frozen=True)
class Vocabulary(Schema[Annotations]):
    """Content common to all shards of annotations of a data set.

    Parameters
    ----------
    raters, person, session : tuple of str
    categories : tuple of str
    assigned_categories : mapping rater -> names of classes, or None
        Classes that each rater is assigned to; None: all.
    raters_are_local : bool
    shapes : tuple of str
        Shape kinds, a subset of `SHAPES`.
    complete : tuple of str
        Shape kinds that every annotation has.
    ids : "int", "text" or "mixed"
        Types of the ids of annotations; if they are mixed, the column ``order`` holds their order.
    """

    kind, entry, row = "annotations", "image", "annotation"

    person: tuple[str, ...]
    session: tuple[str, ...]
    categories: tuple[str, ...]
    assigned_categories: Mapping[str, tuple[str, ...]] | None
    raters_are_local: bool
    shapes: tuple[str, ...]
    complete: tuple[str, ...]
    ids: str

    @property
    def limits(self) -> NDArray[np.bool_] | None:
        """(R, K) classes that each rater is assigned to; None for all."""
        if self.assigned_categories is None:
            return None
        limits = np.zeros((len(self.raters), len(self.categories)), np.bool_)
        for row, rater in enumerate(self.raters):
            limits[row, codes_in(self.categories, self.assigned_categories[rater])] = True
        return limits

    def fields(self) -> dict[str, Any]:
        """Fields of `Annotations` that are equal in all shards."""
        return {
            "raters": object_array(self.raters),
            "person": object_array(self.person),
            "session": object_array(self.session),
            "categories": object_array(self.categories),
            "assigned_categories": self.limits,
            "raters_are_local": self.raters_are_local,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Vocabulary:
        """Create the vocabulary from a list of shards."""
        names = ("raters", "person", "session", "categories", "shapes", "complete")
        limits = content["assigned_categories"]
        made = cls(
            **{name: tuple(map(str, content[name])) for name in names},
            assigned_categories=None if limits is None else {name: tuple(limits[name]) for name in content["raters"]},
            raters_are_local=bool(content["raters_are_local"]),
            ids=content["ids"],
        )
        if made.ids not in IDS or not set(made.shapes) <= set(SHAPES):
            raise InputError(f"expected ids of {listed(IDS)} and shapes of {listed(SHAPES)}, got others")
        return made

    @property
    def kinds(self) -> tuple[str, ...]:
        """Shape kinds that every annotation has."""
        return self.complete

    def entry_table(self, table: Annotations, first: int) -> Any:
        """Return the images of a table as an Arrow table."""
        pa = arrow()
        images = len(table.images)
        image, rater = np.nonzero(table.assigned)
        excluded = table.excluded
        starts = np.searchsorted(excluded[:, 0], np.arange(images + 1))
        ids, is_text = id_columns(table.images, "images")
        return pa.table(
            {
                "number": first + np.arange(images),
                "image": ids,
                "image_is_text": is_text,
                "file": pa.array(table.files, pa.string()),
                "width": table.image_size[:, 0],
                "height": table.image_size[:, 1],
                "assigned": as_lists(
                    run_starts(np.bincount(image, minlength=images)), pa.array(table.raters[rater], pa.string())
                ),
                "excluded_rater": as_lists(starts, pa.array(table.raters[excluded[:, 1]], pa.string())),
                "excluded_category": as_lists(starts, pa.array(table.categories[excluded[:, 2]], pa.string())),
                "crowds": table.crowds,
                "skipped": table.skipped,
            }
        )

    def row_table(self, table: Annotations, first: int) -> Any:
        """Return the annotations of a table, including crowd regions, as an Arrow table."""
        pa = arrow()
        parts = [table]
        if table.crowd_regions is not None:
            parts.append(table.crowd_regions)
        raters, categories = (as_names(names) for names in (table.raters, table.categories))
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
        for kind in table.shapes:
            column = join_columns(kind, [part.shapes.get(kind, len(part)) for part in parts])
            columns |= shape_arrays(kind, column)
        return pa.table(columns)

    def entry_fields(self, entries: Any) -> dict[str, Any]:
        """Return the fields of `Annotations` about images."""
        count = len(entries)
        owner, rater = entries_of(entries, "assigned", self.raters)
        assigned = np.zeros((count, len(self.raters)), np.bool_)
        assigned[owner, rater] = True
        owner, rater = entries_of(entries, "excluded_rater", self.raters)
        _, category = entries_of(entries, "excluded_category", self.categories)
        return {
            "images": ids_of(entries, "image"),
            "files": object_array(column_of(entries, "file").to_pylist()),
            "image_size": np.column_stack([numbers_of(entries, name, np.float64) for name in ("width", "height")]),
            "assigned": assigned,
            "excluded": np.column_stack([owner, rater, category]),
            "crowds": numbers_of(entries, "crowds"),
            "skipped": numbers_of(entries, "skipped"),
        }

    def without_rows(self, fields: Sequence[dict[str, Any]]) -> Annotations:
        """Create the table of all images, raters, classes and assignments, without annotations."""
        starts = run_starts([len(part["images"]) for part in fields])
        excluded = [part["excluded"] + (start, 0, 0) for part, start in zip(fields, starts, strict=False)]
        joined: dict[str, Any] = {name: np.concatenate([part[name] for part in fields]) for name in fields[0]}
        none = np.zeros(0, np.intp)
        return Annotations(
            **{**joined, "excluded": np.concatenate(excluded)},
            **self.fields(),
            image=none,
            rater=none,
            category=none,
            id=none,
            shapes={"box": Boxes.from_xywh([])},
        )

    def joined(self, tables: Sequence[Annotations]) -> Annotations:
        """Join tables of different images, in their order."""
        return join(tables)

    def read(self, entries: Any, rows: Any, first: int) -> Annotations:
        """Rebuild the table of one shard."""
        crowd = np.asarray(column_of(rows, "crowd").to_numpy(zero_copy_only=False), dtype=np.bool_)
        whole = {
            **self.entry_fields(entries),
            **self.fields(),
            "image": self.places(entries, rows, first),
            "rater": codes_of(rows, "rater", self.raters),
            "category": codes_of(rows, "category", self.categories),
            "id": _ids(rows, self.ids),
            "shapes": {kind: _shapes(rows, kind) for kind in self.shapes if _has(rows, kind)},
        }
        if not crowd.any():
            return Annotations(**whole)
        made = Annotations(**{**whole, **_rows_of(whole, np.flatnonzero(~crowd))})
        regions = Annotations(**{**whole, **_rows_of(whole, np.flatnonzero(crowd))})
        return replace(made, crowd_regions=regions)


# ---- to Arrow ----


def shape_arrays(kind: str, column: ShapeColumn) -> dict[str, Any]:
    """Return a column of shapes as columns of an Arrow table, by name.

    Examples
    --------
    >>> found = shape_arrays("box", Boxes.from_xywh([[0, 0, 2, 1]]))
    >>> found["box"].to_pylist()
    [[0.0, 0.0, 2.0, 1.0]]
    """
    if isinstance(column, Polygons):
        rings = as_lists(2 * column.ring_start, np.ascontiguousarray(column.points).ravel())
        return {"polygon": as_lists(column.part_start, rings)}
    found = {name: _fixed(getattr(column, field)) for field, (name, _) in FIXED[kind].items()}
    if isinstance(column, Masks):
        found |= {f"mask_{name}": as_lists(column.run_start, getattr(column, name)) for name in ("first", "length")}
    return found


def _fixed(values: NDArray[Any]) -> Any:
    pa = arrow()
    if values.ndim == 1:
        return pa.array(values)
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, int(np.prod(values.shape[1:])))


# ---- from Arrow ----


def _rows_of(fields: Mapping[str, Any], rows: NDArray[np.intp]) -> dict[str, Any]:
    taken: dict[str, Any] = {name: fields[name][rows] for name in ("image", "rater", "category", "id")}
    return taken | {"shapes": {kind: column.take(rows) for kind, column in fields["shapes"].items()}}


def _ids(rows: Any, ids: str) -> NDArray[Any]:
    """Return the ids of annotations; for mixed types, their order in the whole data set."""
    if ids == "text":
        return np.array(column_of(rows, "id").to_pylist(), dtype=TEXT)
    return numbers_of(rows, "id" if ids == "int" else "order")


def _has(rows: Any, kind: str) -> bool:
    """Return whether the rows have a kind of shapes; a table without annotations may lack it."""
    return any(name == kind or name.startswith(f"{kind}_") for name in rows.column_names)


def _shapes(rows: Any, kind: str) -> ShapeColumn:
    if kind == "polygon":
        rings = column_of(rows, "polygon")
        coordinates = flat_of(rings)
        points = flat_of(coordinates).to_numpy(zero_copy_only=False).reshape(-1, 2)
        return Polygons(points, starts_of(coordinates) // 2, starts_of(rings))
    fields = {}
    for field, (name, shape) in FIXED[kind].items():
        column = column_of(rows, name)
        flat = column if not shape else column.flatten()
        fields[field] = np.asarray(flat.to_numpy(zero_copy_only=False)).reshape(len(column), *_trailing(column, shape))
    if kind == "mask":
        first, length = (column_of(rows, f"mask_{name}") for name in ("first", "length"))
        fields |= {
            "first": flat_of(first).to_numpy(zero_copy_only=False).astype(np.uint32, copy=False),
            "length": flat_of(length).to_numpy(zero_copy_only=False).astype(np.uint32, copy=False),
            "run_start": starts_of(first),
        }
    made: ShapeColumn = COLUMNS[kind](**fields)
    return made


def _trailing(column: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of an entry, even for an empty column."""
    if -1 not in shape:
        return shape
    others = -int(np.prod(shape))
    return tuple(column.type.list_size // others if size == -1 else size for size in shape)
