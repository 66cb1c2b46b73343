"""Writing of tables as a folder of shards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from itertools import chain
from typing import Annotated, Any, Generic

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.distributed.base import Source, Table
from kalos_core.distributed.columns import arrow
from kalos_core.distributed.folder import Draft, address_of
from kalos_core.distributed.schema import Vocabulary
from kalos_core.distributed.shards import ShardFiles, Shards
from kalos_core.distributed.sources import AnnotationSource, LabelSource
from kalos_core.errors import InputError, listed
from kalos_core.nominal.table import LabelTable
from kalos_core.options import Option, Settings, takes
from kalos_core.readers import read_labels, stream_coco
from kalos_core.readers.formats import find_reader

BRIDGE = "kalos_core.fiftyone"
"""Module that reads FiftyOne data sets; imported only if one is given."""


@dataclass(frozen=True)
class ShardSettings(Settings):
    """Settings for writing shards."""

    images_per_shard: Annotated[
        int,
        Option(
            "Images per shard", "Images (or items of image-level labels) per shard; the last shard has the rest.", low=1
        ),
    ] = 10_000
    _: KW_ONLY
    options: dict[str, Any] | None = None


@takes(ShardSettings)
def write_shards(source: Any, folder: Any, settings: ShardSettings) -> Shards[Any]:
    """Write annotations or image-level labels as shards: files of whole images that workers read one at a time.

    Parameters
    ----------
    source : Annotations, path, FiftyOne data set or view, LabelTable, or iterable of Annotations or of LabelTables
        A path is read by `read_labels`, in any format; a COCO file is streamed by `stream_coco`, one shard at a time.
        Tables of an iterable are written in turn, and only one shard is in memory. They must have the same raters in
        the same order, and different images; tables of labels also need the same concepts and groups.
        `read_long_labels` reads a CSV file of answers into a table.
    folder : path, or address of `fsspec`
        New or empty folder.
    options : dict, optional
        Options of `fsspec`, such as keys.

    Returns
    -------
    Shards

    Raises
    ------
    InputError
        If the source cannot be read, the folder is not empty, or shards cannot hold the shapes (volumes). An incomplete
        folder is removed.

    Examples
    --------
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(5) for r in "ab"]
    >>> shards = write_shards(Annotations.from_rows(rows), "shards", images_per_shard=2)
    >>> [files.images for files in shards.files], shards.vocabulary.categories
    ([2, 2, 1], ('cat',))
    >>> rows = [{"item": i, "rater": r, "label": "cat"} for i in range(5) for r in "ab"]
    >>> shards = write_shards(LabelTable.from_rows(rows), "labels", images_per_shard=2)
    >>> [files.images for files in shards.files], shards.vocabulary.concepts
    ([2, 2, 1], ('cat',))
    """
    size = settings.images_per_shard
    draft = Draft(address_of(folder), {} if settings.options is None else settings.options)
    try:
        tables = iter(tables_of(source, size))
        first = next(tables, None)
        of_labels, every = isinstance(first, LabelTable), chain([] if first is None else [first], tables)
        del first  # to free its memory once it is written
        if of_labels:
            return _Writer(draft, LabelSource()).write(_all_of(LabelTable, every), size)
        return _Writer(draft, AnnotationSource()).write(_all_of(Annotations, every), size)
    except BaseException:
        draft.remove()
        raise


def tables_of(source: Any, images: int) -> Iterable[Any]:
    """Yield the tables of a source of `write_shards`; COCO files in parts of `images` images."""
    if isinstance(source, (Annotations, LabelTable)):
        return [source]
    if isinstance(source, (str, os.PathLike)) and find_reader(source)[0] == "coco":
        return stream_coco(source, images)
    if isinstance(source, (str, os.PathLike, Mapping)):
        return [read_labels(source)]
    if type(source).__module__.partition(".")[0] == "fiftyone":
        return [import_module(BRIDGE).read_annotations(source)]
    if not isinstance(source, Iterable):
        expected = "annotations, a path, a FiftyOne data set or view, a LabelTable, or an iterable of tables"
        raise InputError(f"source: expected {expected}, got {type(source).__name__}")
    return source


def _all_of(kind: type[Table], tables: Iterable[Any]) -> Iterator[Table]:
    for number, table in enumerate(tables):
        if not isinstance(table, kind):
            raise InputError(f"source: expected {kind.__name__} as entry {number}, got {type(table).__name__}")
        yield table


class _Writer(Generic[Table]):
    """Writer of tables of one kind into a new folder."""

    def __init__(self, draft: Draft, source: Source[Table]) -> None:
        self.draft, self.source = draft, source
        self.files: list[ShardFiles] = []
        self.shared: dict[str, list[Any]] = {}
        self.seen: set[Any] = set()

    def write(self, tables: Iterable[Table], size: int) -> Shards[Table]:
        """Write tables as shards of `size` images or items; the last has the rest."""
        for piece in self._pieces(self._noted(tables), size):
            self._add(piece)
        if not self.seen:
            raise InputError(f"source: expected at least one {self.source.entries.removesuffix('s')}, got none")
        schema = self.source.schema()
        if isinstance(schema, Vocabulary) and schema.ids == "mixed":
            self._write_order()
        shards = Shards(self.draft.folder, schema, tuple(self.files), self.draft.options)
        self.draft.finish(shards.as_json())
        return shards

    def _noted(self, tables: Iterable[Table]) -> Iterator[Table]:
        """Yield the tables of a source, after checks and inspection of each."""
        for table in tables:
            for name in self.source.shared:
                actual = getattr(table, name).tolist()
                expected = self.shared.setdefault(name, actual)
                if actual != expected:
                    raise InputError(
                        f"{name}: expected those of the first table, {listed(expected)}, got {listed(actual)}"
                    )
            ids = getattr(table, self.source.entries)
            again = self.seen.intersection(ids)
            if again:
                raise InputError(
                    f"{self.source.entries}: expected each entry once, got {listed(sorted(map(repr, again)))} again"
                )
            self.seen.update(ids)
            self.source.note(table)
            yield table

    def _pieces(self, tables: Iterable[Table], size: int) -> Iterator[Table]:
        """Regroup tables into tables of `size` images or items in the same order; the last has the rest."""
        waiting: list[Table] = []
        count = 0
        for table in tables:
            cut = self.source.cut(table)
            first, entries = 0, len(getattr(table, self.source.entries))
            while first < entries:
                last = min(first + size - count, entries)
                waiting.append(cut(first, last))
                count += last - first
                first = last
                if count == size:
                    yield self.source.schema().joined(waiting)
                    waiting, count = [], 0
        if waiting:
            yield self.source.schema().joined(waiting)

    def _add(self, table: Table) -> None:
        """Write the next shard."""
        schema, crowds = self.source.schema(), getattr(table, "crowd_regions", None)
        entry = ShardFiles(
            images_file=f"{schema.entry}s-{len(self.files):05}.parquet",
            rows_file=f"{schema.row}s-{len(self.files):05}.parquet",
            first_image=sum(files.images for files in self.files),
            images=len(getattr(table, self.source.entries)),
            rows=len(table),
            crowds=0 if crowds is None else len(crowds),
        )
        self.draft.write(entry.images_file, schema.entry_table(table, entry.first_image))
        self.draft.write(entry.rows_file, schema.row_table(table, entry.first_image))
        self.files.append(entry)

    def _write_order(self) -> None:
        """Add a column with the order of ids to each shard, for ids of both numbers and text."""
        pa = arrow()
        texts, are_text = [], []
        for entry in self.files:
            ids = self.draft.read(entry.rows_file, ["id", "id_is_text"])
            texts.append(list(map(str, ids["id"].to_pylist())))
            are_text.append(np.array(ids["id_is_text"].to_pylist(), dtype=np.bool_))
        for entry, text, order in zip(self.files, texts, order_of_mixed(texts, are_text), strict=True):
            table = self.draft.read(entry.rows_file)
            table = table.set_column(table.column_names.index("id"), "id", pa.array(text, pa.string()))
            self.draft.write(entry.rows_file, table.append_column("order", pa.array(order)))


def order_of_mixed(texts: list[list[str]], are_text: list[NDArray[np.bool_]]) -> list[NDArray[np.int64]]:
    """Return the position of each id among the ids of all shards, for ids of both numbers and text.

    The order is as in one table: by the id as text, with numbers before equal text.

    Examples
    --------
    >>> [order.tolist() for order in order_of_mixed([["10", "9"], ["9"]], [np.array([False, False]), np.array([True])])]
    [[0, 1], [2]]
    """
    text = object_array(one for part in texts for one in part)
    rank = np.empty(len(text), np.int64)
    rank[np.lexsort((np.concatenate([np.zeros(0, np.bool_), *are_text]), text))] = np.arange(len(text))
    ends = np.cumsum([len(part) for part in texts])[:-1]
    return list(np.split(rank, ends))
