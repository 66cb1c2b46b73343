"""Reader of COCO files larger than memory, `stream_coco`, some images at a time.

COCO lists annotations in any order. The records of each block of images are therefore first collected on disk, in one
temporary file, and only one block is in memory.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, Problems, is_hashable, repr_of
from kalos_core.files import as_path, parse_json
from kalos_core.options import takes
from kalos_core.readers.coco.columns import KNOWN_FIELDS, RATER_FIELDS, Records, decode_list
from kalos_core.readers.coco.content import Content, as_object, check_images, objects, record_list
from kalos_core.readers.coco.crowds import CrowdMarks
from kalos_core.readers.coco.raters import Info, Raters, find_rater_field, without_raters
from kalos_core.readers.coco.reading import OWN_ID, build_content
from kalos_core.readers.coco.scanning import Batch, scan
from kalos_core.readers.coco.settings import CocoSettings, Crowds, StreamSettings

LISTS = ("images", "annotations")

SEEN = 100
"""Number of annotations whose fields are listed in the error if none has a rater."""

MARKED = re.compile(rb'"iscrowd"\s*:\s*(?:[1-9]|true)')
"""Mark of a crowd region, or of a mask by a tool that marks every mask."""

NAMES: list[str] = []
SESSIONS: dict[str, list[str]] = {}
"""Placeholders for a list of raters without or with sessions, if the raters themselves do not matter."""


@takes(StreamSettings)
def stream_coco(path: str | os.PathLike[str], settings: StreamSettings) -> Iterator[Annotations]:
    """Read a COCO file of any size, a block of images at a time.

    Each table equals ``read_coco(path).select(images=...)`` of its images, which are in the order of the file. It has
    all raters and categories, and its annotations in the order of the file. Classes are those of ``category_id``.

    The file is read twice, and written once to the folder for temporary files. The memory holds one block, the id of
    each image and whether it lists raters, and 8 bytes per annotation.

    Parameters
    ----------
    path : path
        As for `read_coco`.

    Yields
    ------
    Annotations

    Warns
    -----
    KalosWarning
        As in `read_coco`, separately for each block; messages name its images.

    Raises
    ------
    InputError
        As raised by `read_coco`. Errors of the whole file (JSON, images, raters, duplicate ids of annotations) are
        raised before the first table; errors of single records, when their block is read.

    Examples
    --------
    >>> from kalos_core import write_coco
    >>> rows = [{"image": key, "rater": "ann", "category": "cat", "box": [0, 0, 4, 2]} for key in (3, 1, 2)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_coco(Annotations.from_rows(rows), Path(folder) / "labels.json")
    ...     [table.images.tolist() for table in stream_coco(path, images_per_block=2)]
    [[3, 1], [2]]
    """
    return _stream(as_path(path, "path"), settings)


def _stream(path: Path, settings: StreamSettings) -> Iterator[Annotations]:
    of_block = settings.part(CocoSettings, aliases=None, category_field=None, rater_field=None)
    with tempfile.TemporaryFile() as file:
        blocks = _Blocks(path, settings.images_per_block, settings.crowds, _Shelves(file))
        blocks.sort()
        if blocks.hashes and settings.on_invalid == "raise":
            blocks.check_ids()
        for number in range(len(blocks)):
            yield build_content(blocks.content(number), of_block)


@dataclass
class _Shelves:
    """Texts in a file, indexed by shelf."""

    file: IO[bytes]
    places: defaultdict[tuple[str, int], array[int]] = field(default_factory=lambda: defaultdict(lambda: array("q")))

    def put(self, key: str, shelf: int, texts: Sequence[bytes]) -> None:
        """Add texts, at least one, to the shelf of that key and number."""
        text = b",".join(texts)
        self.places[key, shelf].extend((self.file.tell(), len(text)))
        self.file.write(text)

    def take(self, key: str, shelf: int) -> bytes:
        """Return the JSON list of all texts of a shelf, in the order in which they were added."""
        places = self.places[key, shelf]
        texts = []
        for start, length in zip(places[::2], places[1::2], strict=True):
            self.file.seek(start)
            texts.append(self.file.read(length))
        return b"[" + b",".join(texts) + b"]"


def _names_in(text: bytes, path: Path) -> Any:
    """Return the field names of a record and its attributes, without other values, which may be long."""
    record = parse_json(path, text, "COCO file")
    return (
        {name: of if name == "attributes" else None for name, of in record.items()}
        if isinstance(record, dict)
        else record
    )


@dataclass
class _Blocks:
    """A file whose records are sorted by blocks of images.

    Parameters
    ----------
    path : Path
    size : int
        Number of images in a block.
    crowds : "auto", "regions" or "objects"
    shelves : _Shelves
        Images, annotations, and positions of annotations in the file, for each block.
    position : dict
        Id of each image -> its position in the file.
    lists : list (I,)
        `NAMES` or `SESSIONS` for each image, None without a list of raters.
    data : dict
        Content of the file without images and annotations.
    marks : CrowdMarks
        Crowd marks of all annotations.
    hashes : set of int
        Hashes that occur more than once among the ids of annotations.
    field : str
        Field of an annotation with its rater.
    """

    path: Path
    size: int
    crowds: Crowds
    shelves: _Shelves
    position: dict[Any, int] = field(default_factory=dict)
    lists: list[Any] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)
    info: Info = field(default_factory=lambda: Info.of({}))
    marks: CrowdMarks = field(default_factory=CrowdMarks)
    hashes: set[int] = field(default_factory=set)
    field: str = RATER_FIELDS[0]

    def __len__(self) -> int:
        return -(-len(self.position) // self.size)

    def sort(self) -> None:
        """Scan the file twice: for the images, which may come last, then for the annotations."""
        rest = bytearray()
        rater_lists: dict[str, Any] = {}
        for batch in scan(self.path, LISTS, rest):
            if batch.key == "images":
                self._sort_images(batch, rater_lists)
            elif MARKED.search(batch.text):
                records = decode_list(batch.together, self.path, ())
                if records.are_mappings:  # `_sort_annotations` refuses records that are no objects, by their position
                    records = Records([row for row in records.rows if isinstance(row, Mapping)])
                self.marks.add(records, find_rater_field(records))
        data = as_object(parse_json(self.path, bytes(rest), "COCO file"), self.path)
        for key in LISTS:  # only {} in place of each batch
            record_list(data, key, self.path.name)
        if not self.position:
            raise InputError(f"{self.path.name}: expected at least one image, got none")
        self.data = {key: value for key, value in data.items() if key not in LISTS}
        self.info = Info.of(data)
        self.crowds = self.info.rule(self.crowds)
        self._sort_annotations([{"rater_list": names} for names in rater_lists.values()])

    def _sort_images(self, batch: Batch, rater_lists: dict[str, Any]) -> None:
        first = len(self.position)
        images = objects(parse_json(self.path, batch.together, "COCO file"), "images", self.path.name, first)
        check_images(images, Problems(self.path.name), first, self.position)
        texts = batch.each()
        for start in range(first - first % self.size, first + len(images), self.size):
            begin, end = max(start - first, 0), start + self.size - first
            self.shelves.put("images", start // self.size, texts[begin:end])
        for image in images:
            self.position[image["id"]] = len(self.position)
            names = image.get("rater_list")
            rater_lists.setdefault(repr_of(names, sys.maxsize), names)
            self.lists.append(SESSIONS if isinstance(names, Mapping) else None if names is None else NAMES)

    def _sort_annotations(self, with_lists: list[dict[str, Any]]) -> None:
        found = {name: Raters(self.info, Problems(self.path.name)) for name in KNOWN_FIELDS}
        for raters in found.values():
            raters.listed(with_lists)
        occurring: set[str] = set()
        hashes = array("q")
        seen: list[Any] = []
        first = 0
        for batch in scan(self.path, ["annotations"], bytearray()):
            texts = batch.each()
            records = decode_list(batch.together, self.path, range(first, first + len(texts)))
            if records.are_mappings:
                objects(records.rows, "annotations", self.path.name, first)
            seen = seen or [_names_in(text, self.path) for text in texts[:SEEN]]
            keys = records.keys("image_id")
            images = [self.position.get(key) for key in keys]
            shelf_of = np.array([(image or 0) // self.size for image in images], np.intp)  # unknown: reported there
            for shelf in np.unique(shelf_of).tolist():
                rows = np.flatnonzero(shelf_of == shelf).tolist()
                self.shelves.put("annotations", shelf, [texts[row] for row in rows])
                self.shelves.put("positions", shelf, [b"%d" % (first + row) for row in rows])
            known = {keys[row]: self.lists[image] for row, image in enumerate(images) if image is not None}
            pseudo = [{"id": key, "rater_list": names} for key, names in known.items()]
            kept, _ = self.marks.parted(records, find_rater_field(records), self.crowds)
            for name in filter(records.has, KNOWN_FIELDS):
                occurring.add(name)
                found[name].annotators(kept, name, pseudo)
            hashes.extend(number for number in map(_hash, kept.ids(self.info.own_ids)) if number is not None)
            first += len(texts)
        self.field = next(filter(occurring.__contains__, KNOWN_FIELDS), RATER_FIELDS[0])
        if seen and self.field not in occurring:
            raise InputError(f"{self.path.name}: {without_raters(seen, None)}")
        raters = found[self.field]
        raters.problems.raise_if_any()
        self.info = replace(self.info, raters=raters.identity)
        self.hashes = _repeated(hashes)

    def check_ids(self) -> None:
        """Raise an error for duplicate ids among those with duplicate hashes."""
        entries: list[tuple[int, Any, str]] = []
        for number in range(len(self)):
            records, _ = self.marks.parted(self._annotations(number), self.field, self.crowds)
            rows = enumerate(zip(records.positions, records.ids(self.info.own_ids), strict=True))
            entries += [(at, key, records.name_of(row)) for row, (at, key) in rows if _hash(key) in self.hashes]
        problems, seen = Problems(self.path.name), set()
        for _, key, record in sorted(entries, key=lambda entry: entry[0]):
            if key in seen:
                problems.add(record, OWN_ID, f"{repr_of(key)} a second time")
            seen.add(key)
        problems.raise_if_any()

    def _annotations(self, number: int) -> Records:
        """Return the annotations of a block."""
        positions: list[int] = parse_json(self.path, self.shelves.take("positions", number), "COCO file")
        return decode_list(self.shelves.take("annotations", number), self.path, positions)

    def content(self, number: int) -> Content:
        """Return a block as the content of a separate file, except for the positions of its records."""
        first = number * self.size
        images = parse_json(self.path, self.shelves.take("images", number), "COCO file")
        name = f"{self.path.name}, images {first + 1:,} to {first + len(images):,}"
        records, repeats = self._annotations(number), bool(self.hashes)
        return Content(self.data, self.info, name, images, records, self.field, self.marks, self.crowds, first, repeats)


def _repeated(hashes: array[int]) -> set[int]:
    """Return the hashes that occur more than once."""
    ordered = np.sort(np.array(hashes, dtype=np.int64))
    return set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())


def _hash(key: Any) -> int | None:
    """Return the hash of an id; None for an invalid id, which is reported when its record is read."""
    return None if key is None or isinstance(key, bool) or not is_hashable(key) else hash(key)
