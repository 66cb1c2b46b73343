"""Annotations into a folder of shards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.blocks import ByImage
from kalos_core.annotations.joining import join
from kalos_core.distributed.schema import SHAPES, Vocabulary, annotation_table, arrow, image_table
from kalos_core.distributed.shards import LIST, ShardFiles, Shards, file_system, order_of_mixed
from kalos_core.errors import InputError, check_whole, listed
from kalos_core.readers import read_labels, stream_coco
from kalos_core.readers.formats import find_reader
from kalos_core.shapes import ShapeColumn

BRIDGE = "kalos_core.fiftyone"
"""The module that reads data sets of FiftyOne, imported when one is given."""


def write_shards(
    source: Any, folder: Any, images_per_shard: int = 10_000, *, options: dict[str, Any] | None = None
) -> Shards:
    """Write annotations as shards: files of whole images that one worker after another can read.

    Parameters
    ----------
    source : Annotations, path, FiftyOne data set or view, or iterable of Annotations
        A path is read by `read_labels`, whatever its format; a COCO file by `stream_coco`, a shard at a time. Tables of
        an iterable are written one after the other, and
        only one shard is held: they have the same raters in the same order, and no image of another.
    folder : path, or address of `fsspec`
        New or empty.
    images_per_shard : int
        The last shard has what is left.
    options : dict, optional
        Of `fsspec`, such as keys.

    Returns
    -------
    Shards

    Raises
    ------
    InputError
        For a source that cannot be read, a folder that holds something, or shapes that shards do not hold (volumes).
        Nothing is left of a folder that could not be finished.

    Examples
    --------
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(5) for r in "ab"]
    >>> shards = write_shards(Annotations.from_rows(rows), "shards", images_per_shard=2)
    >>> [files.images for files in shards.files], shards.vocabulary.categories
    ([2, 2, 1], ('cat',))
    """
    size = check_whole(images_per_shard, "images_per_shard", least=1)
    draft = _Draft(str(folder), options or {})
    try:
        for table in _pieces(draft.noted(tables_of(source, size)), size):
            draft.add(table)
        return draft.finish()
    except BaseException:
        draft.remove()
        raise


def tables_of(source: Any, images: int) -> Iterable[Annotations]:
    """The tables of a source of `write_shards`, one after the other, of so many images where it can be read in part."""
    if isinstance(source, Annotations):
        return [source]
    if isinstance(source, (str, os.PathLike)) and find_reader(source)[0] == "coco":
        return stream_coco(source, images)
    if isinstance(source, (str, os.PathLike, Mapping)):
        return [read_labels(source)]
    if type(source).__module__.partition(".")[0] == "fiftyone":
        return [import_module(BRIDGE).read_annotations(source)]
    if not isinstance(source, Iterable):
        expected = "annotations, a path, a FiftyOne data set or view, or an iterable of Annotations"
        raise InputError(f"source: expected {expected}, got {type(source).__name__}")
    return _checked(source)


def _checked(tables: Iterable[Any]) -> Iterator[Annotations]:
    for number, table in enumerate(tables):
        if not isinstance(table, Annotations):
            raise InputError(f"source: expected Annotations as entry {number}, got {type(table).__name__}")
        yield table


def _pieces(tables: Iterable[Annotations], size: int) -> Iterator[Annotations]:
    """The same images in the same order, so many in each table but the last."""
    waiting: list[Annotations] = []
    count = 0
    for table in tables:
        by_image = ByImage(table)
        crowds = None if table.crowd_regions is None else ByImage(table.crowd_regions)
        first, images = 0, len(table.images)
        while first < images:
            last = min(first + size - count, images)
            piece = by_image.table(first, last, _taken)
            if crowds is not None:
                piece = _with_crowds(piece, crowds.table(first, last, _taken))
            waiting.append(piece)
            count += last - first
            first = last
            if count == size:
                yield join(waiting)
                waiting, count = [], 0
    if waiting:
        yield join(waiting)


def _taken(column: ShapeColumn, rows: NDArray[np.intp]) -> ShapeColumn:
    return column.take(rows)


def _with_crowds(table: Annotations, crowds: Annotations) -> Annotations:
    return replace(table, crowd_regions=crowds) if len(crowds) else table


@dataclass
class _Draft:
    """A folder that is being written; its list of shards comes last."""

    folder: str
    options: dict[str, Any]
    files: list[ShardFiles] = field(default_factory=list)
    categories: dict[str, None] = field(default_factory=dict)
    shapes: dict[str, None] = field(default_factory=dict)
    limits: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    seen: set[Any] = field(default_factory=set)
    first: Annotations | None = None
    has_numbers: bool = False
    has_text: bool = False
    written: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        arrow()
        self.system, self.inside = file_system(self.folder, self.options)
        self.was_there = self.system.exists(self.inside)
        there = self._listed() if self.was_there else []
        if there:
            raise InputError(
                f"{self.folder}: expected a new or an empty folder, got {len(there):,} files ({listed(there)})"
            )
        try:
            self.system.makedirs(self.inside, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder}: expected a folder to write to, got {error.strerror or error}") from error

    def _listed(self) -> list[str]:
        if not self.system.isdir(self.inside):
            raise InputError(f"{self.folder}: expected a folder, got a file")
        return [str(path).rsplit("/", 1)[-1] for path in self.system.ls(self.inside, detail=False)]

    def noted(self, tables: Iterable[Annotations]) -> Iterator[Annotations]:
        """The tables of a source, each looked at for what the list of shards says of all."""
        for table in tables:
            self.first = table.select(rows=[]) if self.first is None else self.first
            for name in ("raters", "person", "session"):
                expected, actual = getattr(self.first, name).tolist(), getattr(table, name).tolist()
                if actual != expected:
                    raise InputError(
                        f"{name}: expected those of the first table, {listed(expected)}, got {listed(actual)}"
                    )
            again = self.seen.intersection(table.images)
            if again:
                raise InputError(f"images: expected each entry once, got {listed(sorted(map(repr, again)))} again")
            self.seen.update(table.images)
            self._note(table)
            yield table

    def add(self, table: Annotations) -> None:
        """Write the next shard."""
        number, crowds = len(self.files), table.crowd_regions
        first = self.files[-1].first_image + self.files[-1].images if self.files else 0
        entry = ShardFiles(
            images_file=f"images-{number:05}.parquet",
            annotations_file=f"annotations-{number:05}.parquet",
            first_image=first,
            images=len(table.images),
            annotations=len(table),
            crowds=0 if crowds is None else len(crowds),
        )
        self._write(entry.images_file, image_table(table, first))
        self._write(entry.annotations_file, annotation_table(table, first))
        self.files.append(entry)

    def _note(self, table: Annotations) -> None:
        """What the list of shards says of all of them."""
        strange = [kind for kind in table.shapes if kind not in SHAPES]
        if strange:
            raise InputError(
                f"shapes: expected kinds among {', '.join(SHAPES)} to write shards of, got {listed(map(repr, strange))}"
            )
        self.categories |= dict.fromkeys(table.categories.tolist())
        self.shapes |= dict.fromkeys(table.shapes)
        for part in (table, table.crowd_regions):
            ids = [] if part is None or part.id.dtype.kind == "i" else part.id.tolist()
            text = sum(isinstance(value, str) for value in ids)
            self.has_text |= text > 0
            self.has_numbers |= part is not None and len(part) > text
        if table.assigned_categories is not None:
            for name, allowed in zip(table.categories, table.assigned_categories.T, strict=True):
                self.limits[name] = self.limits[name] & allowed if name in self.limits else allowed

    def finish(self) -> Shards:
        """Write the list of shards."""
        if self.first is None or not self.files:
            raise InputError("source: expected at least one image, got none")
        if self.has_text and self.has_numbers:
            self._write_order()
        raters = self.first.raters.tolist()
        limits = None
        if self.limits:
            limits = {
                rater: tuple(name for name in self.categories if name not in self.limits or self.limits[name][row])
                for row, rater in enumerate(raters)
            }
        vocabulary = Vocabulary(
            raters=tuple(raters),
            person=tuple(self.first.person.tolist()),
            session=tuple(self.first.session.tolist()),
            categories=tuple(self.categories),
            assigned_categories=limits,
            raters_are_local=self.first.raters_are_local,
            shapes=tuple(self.shapes),
            ids="mixed" if self.has_text and self.has_numbers else "text" if self.has_text else "int",
        )
        shards = Shards(self.folder, vocabulary, tuple(self.files), self.options)
        with self._opened(LIST) as file:
            file.write(shards.as_json().encode("utf-8"))
        return shards

    def _write_order(self) -> None:
        """Where numbers and text are among the ids: one order of all of them, in a column of each shard."""
        pa = arrow()
        texts, are_text = [], []
        for entry in self.files:
            ids = self._read(entry.annotations_file, ["id", "id_is_text"])
            texts.append(list(map(str, ids["id"].to_pylist())))
            are_text.append(np.array(ids["id_is_text"].to_pylist(), dtype=np.bool_))
        for entry, text, order in zip(self.files, texts, order_of_mixed(texts, are_text), strict=True):
            table = self._read(entry.annotations_file)
            table = table.set_column(table.column_names.index("id"), "id", pa.array(text, pa.string()))
            self._write(entry.annotations_file, table.append_column("order", pa.array(order)))

    def _read(self, name: str, columns: list[str] | None = None) -> Any:
        with self.system.open(f"{self.inside}/{name}", "rb") as file:
            return arrow().parquet.read_table(file, columns=columns)

    def _write(self, name: str, table: Any) -> None:
        with self._opened(name) as file:
            arrow().parquet.write_table(table, file)

    @contextmanager
    def _opened(self, name: str) -> Iterator[Any]:
        self.written.append(name)
        try:
            with self.system.open(f"{self.inside}/{name}", "wb") as file:
                yield file
        except OSError as error:
            path = f"{self.folder.rstrip('/')}/{name}"
            raise InputError(f"{path}: expected a file to write to, got {error.strerror or error}") from error

    def remove(self) -> None:
        """Take away what was written."""
        for name in dict.fromkeys(self.written):
            path = f"{self.inside}/{name}"
            if self.system.exists(path):
                self.system.rm_file(path)
        if not self.was_there and self.system.exists(self.inside) and not self._listed():
            self.system.rmdir(self.inside)
