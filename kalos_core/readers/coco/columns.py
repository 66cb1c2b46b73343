"""Annotations of a COCO file as columns, from mappings, or directly from JSON without creating mappings.

Outlines and boxes make up 90 % of a file. As lists, they would need a Python object for each coordinate. They therefore
stay JSON until the numbers of all annotations are put into one array.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import compress
from operator import attrgetter, not_
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from kalos_core.annotations.shapes.faults import decoded
from kalos_core.arrays import run_starts
from kalos_core.errors import is_hashable, repr_of
from kalos_core.files import parse_json

RATER_FIELDS = (
    "rater_id", "rater", "annotator", "rad_id", "annotator_id", "user", "user_id", "worker", "worker_id", "labeler",
    "labeler_id",
)  # fmt: skip
"""Common names of the field with the rater of an annotation."""

KNOWN_FIELDS = (*RATER_FIELDS, *(f"attributes.{name}" for name in RATER_FIELDS))
"""Fields that are searched for the rater of an annotation; the first that occurs is read."""

SESSION_FIELD = "session_id"

OUTLINE, BOX, NAMED = "segmentation", "bbox", "named"

OWN_FIELDS = ("id", "image_id", "category_id", "keypoints", "iscrowd", "source_id", "attributes")
NOT_USED = ("group_id", "ignore")
"""Fields that have a meaning in other tools, and that are only counted."""

FIELDS = (*OWN_FIELDS, *NOT_USED, SESSION_FIELD, *RATER_FIELDS)
"""Fields of an annotation that are read, in addition to its outline, its box and the fields that a caller names."""

AS_JSON = (OUTLINE, BOX)

NOTHING = re.compile(rb"\{|null|\[\s*\]")
"""Start of JSON that is a mask or an empty shape."""

OPENING, MINUS, NINE = b"[-9"
"""ASCII codes; numbers begin with a character from minus to nine."""


@dataclass(eq=False)
class Records:
    """Annotations: mappings, or objects with the fields that are read and the outline as JSON.

    Parameters
    ----------
    rows : sequence (N,)
    are_mappings : bool
    named : tuple of str
        Fields of objects that are read in addition to `FIELDS`.
    positions : sequence (N,) of int, optional
        Position of each record in the file; by default these are all records of the file.
    names : sequence of str, optional
        Names of the file's records in messages; by default from their positions.

    Examples
    --------
    >>> records = Records([{"id": 1, "iscrowd": 1, "segmentation": [[0, 0, 4, 0, 4, 2]]}, {"id": 2}])
    >>> records.column("id"), records.column("iscrowd", 0), records.has("bbox")
    ([1, 2], [1, 0], False)
    >>> records.outlines()
    ([[[0, 0, 4, 0, 4, 2]], None], [None, None])
    >>> records.where([False, True]).name_of(0)
    'annotations[1] (id 2)'
    """

    rows: Sequence[Any]
    are_mappings: bool = True
    named: tuple[str, ...] = ()
    positions: Sequence[int] = ()
    names: Sequence[str] = ()
    _read: dict[str, list[Any]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.positions = self.positions or range(len(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str, absent: Any = None) -> list[Any]:
        """Return (N,) values of a field, `absent` for records without it, `msgspec.Raw` for values that are still JSON.

        A name with a dot refers to a nested field, such as ``attributes.annotator``.
        """
        outer, _, inner = name.partition(".")
        if inner:
            return [entry.get(inner, absent) if isinstance(entry, Mapping) else absent for entry in self.column(outer)]
        if self.are_mappings:
            return [row.get(name, absent) for row in self.rows]
        if name in AS_JSON:
            return _without_nothing(list(map(attrgetter(name), self.rows)))
        values = self._values(name).copy()  # callers may modify the list
        if msgspec.UnsetType in set(map(type, values)):
            return [absent if value is msgspec.UNSET else value for value in values]
        return values

    def _values(self, name: str) -> list[Any]:
        """Return (N,) values as decoded, from the cache."""
        if name not in self._read:
            attribute = name if name in FIELDS else f"{NAMED}{self.named.index(name)}"
            self._read[name] = list(map(attrgetter(attribute), self.rows))
        return self._read[name]

    def has(self, name: str) -> bool:
        """Check whether any record has a field of that name."""
        if not self.are_mappings and "." not in name and name not in AS_JSON:
            return any(value is not msgspec.UNSET for value in self._values(name))
        return any(value is not msgspec.UNSET for value in self.column(name, msgspec.UNSET))

    def outlines(self) -> tuple[list[Any], list[Any]]:
        """Return (N,) polygons and (N,) masks; None for records without one."""
        shapes = self.column(OUTLINE)
        if set(map(type, shapes)) <= {list, type(None), msgspec.Raw}:
            return shapes, [None] * len(shapes)
        masks = [shape if isinstance(shape, Mapping) else None for shape in shapes]
        return [None if mask is not None else shape for shape, mask in zip(shapes, masks, strict=True)], masks

    def keys(self, name: str) -> list[Any]:
        """Return (N,) values of a field as lookup keys; None for lists and objects."""
        values = self.column(name)
        if set(map(type, values)) <= {str, int, type(None)}:
            return values
        return [value if is_hashable(value) else None for value in values]

    def ids(self, replaced: bool) -> list[Any]:
        """Return (N,) ids; for a record without one, its position in the file, counted from 1.

        `replaced` tells whether `write_coco` replaced them by numbers, see `own_ids`.
        """
        written = zip(self.positions, self.column("id", ...), strict=True)
        ids = [position + 1 if key is ... else key for position, key in written]
        return own_ids(self.column("source_id"), ids) if replaced else ids

    @cached_property
    def _written_ids(self) -> list[Any]:
        return self.column("id")

    def name_of(self, row: int) -> str:
        """Return the name of a record for messages."""
        position = self.positions[row]
        return self.names[position] if self.names else record_name("annotations", position, self._written_ids[row])

    def where(self, chosen: Sequence[bool]) -> Records:
        """Return the selected records."""
        rows, positions = (list(compress(values, chosen)) for values in (self.rows, self.positions))
        return Records(rows, self.are_mappings, self.named, positions, self.names)

    def parted(self, chosen: Sequence[bool]) -> tuple[Records, Records]:
        """Return the records that are not selected, and those that are."""
        others = self.where(list(map(not_, chosen))) if any(chosen) else self
        return others, self.where(chosen)


def record_name(key: str, position: int, id: Any) -> str:
    """Return the name of an image, category or annotation record for messages."""
    return f"{key}[{position}] (id {repr_of(id)})"


def own_ids(own: list[Any], ids: list[Any]) -> list[Any]:
    """Return the original ids from ``source_id`` where `write_coco` replaced them by numbers, else the ids."""
    return [name if isinstance(name, (str, int)) else key for name, key in zip(own, ids, strict=True)]


def _without_nothing(values: list[msgspec.Raw]) -> list[Any]:
    """Decode values that are not non-empty lists, and leave the others as JSON.

    Examples
    --------
    >>> empty, none, box = _without_nothing([msgspec.Raw(text) for text in (b"[ ]", b"null", b"[7]")])
    >>> empty, none, bytes(box)
    ([], None, b'[7]')
    """
    letters = np.frombuffer(b"".join([*values, b" "]), np.uint8)
    start = run_starts(np.fromiter(map(len, values), np.intp, len(values)))[:-1]
    second = letters[start + 1]
    usual = (letters[start] == OPENING) & ((second == OPENING) | ((second >= MINUS) & (second <= NINE)))
    found: list[Any] = values.copy()
    for row in np.flatnonzero(~usual).tolist():
        if NOTHING.match(values[row]):
            found[row] = decoded(values[row])
    return found


def decode_coco(content: bytes, named: tuple[str, ...], with_classes: bool) -> dict[str, Any] | None:
    """Decode a COCO file with `Records` under ``annotations``; None if msgspec cannot decode it as such.

    Parameters
    ----------
    content : bytes
        Content of the file, in UTF-8.
    named : tuple of str
        Fields of an annotation to read in addition to `FIELDS`.
    with_classes : bool
        Whether the file must have categories.
    """
    if set(named) & {*AS_JSON}:
        return None
    named = tuple(name for name in dict.fromkeys(named) if name not in FIELDS)
    try:
        if not content.isascii():
            content.decode()  # also checks strings that are skipped
        read = _decoder(named, with_classes).decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    parts = {name: getattr(read, name) for name in ("info", "images", "categories")}
    return {name: part for name, part in parts.items() if part is not msgspec.UNSET} | {
        "annotations": Records(read.annotations, are_mappings=False, named=named)
    }


def decode_list(content: bytes, path: Path, positions: Sequence[int]) -> Records:
    """Decode a JSON list of annotations of a file; invalid entries, which may not be objects, are kept."""
    try:
        return Records(_list_decoder().decode(content), are_mappings=False, positions=positions)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return Records(parse_json(path, content, "COCO file"), positions=positions)


@lru_cache(maxsize=1)
def _list_decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(list[_record_type(())])  # type: ignore[misc]


@lru_cache(maxsize=8)
def _decoder(named: tuple[str, ...], with_classes: bool) -> msgspec.json.Decoder[Any]:
    """Return the decoder of a whole file."""
    record = _record_type(named)
    categories = ("categories", Any) if with_classes else ("categories", Any, msgspec.UNSET)
    file = msgspec.defstruct(
        "File",
        [("images", list[dict[str, Any]]), ("annotations", list[record]), categories, ("info", Any, msgspec.UNSET)],  # type: ignore[valid-type]
        kw_only=True,
    )
    return msgspec.json.Decoder(file)


@lru_cache(maxsize=8)
def _record_type(named: tuple[str, ...]) -> type[msgspec.Struct]:
    """Return the struct type of an annotation; its `named` fields are attributes called `NAMED` and a number."""
    own = {f"{NAMED}{number}": name for number, name in enumerate(named)}
    return msgspec.defstruct(
        "Record",
        [
            *((name, Any, msgspec.UNSET) for name in (*FIELDS, *own)),
            *((name, msgspec.Raw, msgspec.Raw(b"null")) for name in AS_JSON),
        ],
        rename=own or None,
        gc=False,
    )
