"""The annotations of a COCO file, a field at a time: of mappings, or straight from JSON without making any.

Outlines and boxes are nine tenths of a file. As lists they would all be there at once, an object for each coordinate;
so they stay JSON until the numbers of each annotation are put into one array with those of all others.
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
"""Names under which files hold the rater of an annotation."""

KNOWN_FIELDS = (*RATER_FIELDS, *(f"attributes.{name}" for name in RATER_FIELDS))
"""Where the rater of an annotation is looked for; the first that occurs is read."""

SESSION_FIELD = "session_id"

OUTLINE, BOX, NAMED = "segmentation", "bbox", "named"

OWN_FIELDS = ("id", "image_id", "category_id", "keypoints", "iscrowd", "source_id", "attributes")
NOT_USED = ("group_id", "ignore")
"""Fields that other tools give a meaning, and that are only counted."""

FIELDS = (*OWN_FIELDS, *NOT_USED, SESSION_FIELD, *RATER_FIELDS)
"""Fields of an annotation that are read, besides its outline, its box and the one that a caller names."""

AS_JSON = (OUTLINE, BOX)

NOTHING = re.compile(rb"\{|null|\[\s*\]")
"""How JSON begins that is a mask or no shape at all."""

OPENING, MINUS, NINE = b"[-9"
"""In ASCII; numbers begin with a letter from the minus to the nine."""


@dataclass(eq=False)
class Records:
    """Annotations: mappings, or objects with the fields that are read and the outline as JSON.

    Parameters
    ----------
    rows : sequence (N,)
    are_mappings : bool
    named : tuple of str
        Fields of objects that are read besides `FIELDS`.
    positions : sequence (N,) of int, optional
        Where each stands in the file; these are all of it unless given.
    names : sequence of str, optional
        What messages call each record of the file, where it is not by its position.

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
        """(N,) values of a field, `absent` where a record does not have it; `msgspec.Raw` where they are JSON still.

        A name with a dot is that of a field within a field, such as ``attributes.annotator``.
        """
        outer, _, inner = name.partition(".")
        if inner:
            return [entry.get(inner, absent) if isinstance(entry, Mapping) else absent for entry in self.column(outer)]
        if self.are_mappings:
            return [row.get(name, absent) for row in self.rows]
        if name in AS_JSON:
            return _without_nothing(list(map(attrgetter(name), self.rows)))
        values = self._values(name).copy()  # callers may change theirs
        if msgspec.UnsetType in set(map(type, values)):
            return [absent if value is msgspec.UNSET else value for value in values]
        return values

    def _values(self, name: str) -> list[Any]:
        """(N,) values as they were decoded."""
        if name not in self._read:
            attribute = name if name in FIELDS else f"{NAMED}{self.named.index(name)}"
            self._read[name] = list(map(attrgetter(attribute), self.rows))
        return self._read[name]

    def has(self, name: str) -> bool:
        """Whether any record has a field of that name."""
        if not self.are_mappings and "." not in name and name not in AS_JSON:
            return any(value is not msgspec.UNSET for value in self._values(name))
        return any(value is not msgspec.UNSET for value in self.column(name, msgspec.UNSET))

    def outlines(self) -> tuple[list[Any], list[Any]]:
        """(N,) polygons and (N,) masks; None where there is none."""
        shapes = self.column(OUTLINE)
        if set(map(type, shapes)) <= {list, type(None), msgspec.Raw}:
            return shapes, [None] * len(shapes)
        masks = [shape if isinstance(shape, Mapping) else None for shape in shapes]
        return [None if mask is not None else shape for shape, mask in zip(shapes, masks, strict=True)], masks

    def keys(self, name: str) -> list[Any]:
        """(N,) values of a field by which something is looked up; None for lists and objects."""
        values = self.column(name)
        if set(map(type, values)) <= {str, int, type(None)}:
            return values
        return [value if is_hashable(value) else None for value in values]

    def ids(self, replaced: bool) -> list[Any]:
        """(N,) ids; of a record without one its position in the file, counted from 1.

        `replaced`: whether `write_coco` replaced them by numbers, see `own_ids`.
        """
        written = zip(self.positions, self.column("id", ...), strict=True)
        ids = [position + 1 if key is ... else key for position, key in written]
        return own_ids(self.column("source_id"), ids) if replaced else ids

    @cached_property
    def _written_ids(self) -> list[Any]:
        return self.column("id")

    def name_of(self, row: int) -> str:
        """A record, for messages."""
        position = self.positions[row]
        return self.names[position] if self.names else record_name("annotations", position, self._written_ids[row])

    def where(self, chosen: Sequence[bool]) -> Records:
        """The chosen records."""
        rows, positions = (list(compress(values, chosen)) for values in (self.rows, self.positions))
        return Records(rows, self.are_mappings, self.named, positions, self.names)

    def parted(self, chosen: Sequence[bool]) -> tuple[Records, Records]:
        """The records that are not chosen, and those that are."""
        others = self.where(list(map(not_, chosen))) if any(chosen) else self
        return others, self.where(chosen)


def record_name(key: str, position: int, id: Any) -> str:
    """The record of an image, a category or an annotation, for messages."""
    return f"{key}[{position}] (id {repr_of(id)})"


def own_ids(own: list[Any], ids: list[Any]) -> list[Any]:
    """The ids that `write_coco` replaced by numbers, from ``source_id``; the others stay."""
    return [name if isinstance(name, (str, int)) else key for name, key in zip(own, ids, strict=True)]


def _without_nothing(values: list[msgspec.Raw]) -> list[Any]:
    """JSON as it is; what is no list with something in it is read.

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
    """A COCO file with `Records` under ``annotations``; None for what is none, or is JSON to Python's `json` alone.

    Parameters
    ----------
    content : bytes
        The file, in UTF-8.
    named : tuple of str
        Fields of an annotation that are wanted besides `FIELDS`.
    with_classes : bool
        Whether the file has to have categories.
    """
    if set(named) & {*AS_JSON}:
        return None
    named = tuple(name for name in dict.fromkeys(named) if name not in FIELDS)
    try:
        if not content.isascii():
            content.decode()  # strings that are passed over are checked too
        read = _decoder(named, with_classes).decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    parts = {name: getattr(read, name) for name in ("info", "images", "categories")}
    return {name: part for name, part in parts.items() if part is not msgspec.UNSET} | {
        "annotations": Records(read.annotations, are_mappings=False, named=named)
    }


def decode_list(content: bytes, path: Path, positions: Sequence[int]) -> Records:
    """Annotations from JSON of a list of them, which stand in that file; they may be no objects at all."""
    try:
        return Records(_list_decoder().decode(content), are_mappings=False, positions=positions)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return Records(parse_json(path, content, "COCO file"), positions=positions)


@lru_cache(maxsize=1)
def _list_decoder() -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(list[_record_type(())])  # type: ignore[misc]


@lru_cache(maxsize=8)
def _decoder(named: tuple[str, ...], with_classes: bool) -> msgspec.json.Decoder[Any]:
    """Of the whole file."""
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
    """Of an annotation; its `named` fields are the attributes `NAMED` and a number."""
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
