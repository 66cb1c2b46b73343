"""Tables into a folder of shards; those of annotations."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import chain
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.blocks import ByImage
from kalos_core.annotations.joining import join
from kalos_core.distributed.columns import arrow
from kalos_core.distributed.folder import Draft
from kalos_core.distributed.label_shards import LabelShards
from kalos_core.distributed.label_writing import LabelWriter
from kalos_core.distributed.schema import SHAPES, Vocabulary, annotation_table, image_table
from kalos_core.distributed.shards import ShardFiles, Shards, order_of_mixed
from kalos_core.distributed.writer import Table, Writer
from kalos_core.errors import InputError, check_whole, listed, repr_of
from kalos_core.nominal.table import LabelTable
from kalos_core.readers import read_labels, stream_coco
from kalos_core.readers.formats import find_reader
from kalos_core.shapes import ShapeColumn
from kalos_core.similarity.fitting import complete_kinds

BRIDGE = "kalos_core.fiftyone"
"""The module that reads data sets of FiftyOne, imported when one is given."""


@overload
def write_shards(
    source: LabelTable | Iterable[LabelTable],
    folder: Any,
    images_per_shard: int = ...,
    *,
    options: dict[str, Any] | None = ...,
) -> LabelShards: ...
@overload
def write_shards(
    source: Any, folder: Any, images_per_shard: int = ..., *, options: dict[str, Any] | None = ...
) -> Shards: ...
def write_shards(
    source: Any, folder: Any, images_per_shard: int = 10_000, *, options: dict[str, Any] | None = None
) -> Shards | LabelShards:
    """Write annotations or image-level labels as shards: files of whole images that one worker after another can read.

    Parameters
    ----------
    source : Annotations, path, FiftyOne data set or view, LabelTable, or iterable of Annotations or of LabelTables
        A path is read by `read_labels`, whatever its format; a COCO file by `stream_coco`, a shard at a time. Tables of
        an iterable are written one after the other, and
        only one shard is held: they have the same raters in the same order, and no image of another; tables of labels
        also the same concepts and groups. `read_long_labels` makes one of a CSV file of answers.
    folder : path, or address of `fsspec`
        New or empty.
    images_per_shard : int
        Of labels: items. The last shard has what is left.
    options : dict, optional
        Of `fsspec`, such as keys.

    Returns
    -------
    Shards or LabelShards

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
    >>> rows = [{"item": i, "rater": r, "label": "cat"} for i in range(5) for r in "ab"]
    >>> shards = write_shards(LabelTable.from_rows(rows), "labels", images_per_shard=2)
    >>> [files.items for files in shards.files], shards.vocabulary.concepts
    ([2, 2, 1], ('cat',))
    """
    size = check_whole(images_per_shard, "images_per_shard", least=1)
    draft = Draft(str(folder), options or {})
    try:
        tables = iter(tables_of(source, size))
        first = next(tables, None)
        of_labels, every = isinstance(first, LabelTable), chain([] if first is None else [first], tables)
        del first  # so that it is gone once it is written
        if of_labels:
            return LabelWriter(draft).write(_all_of(LabelTable, every), size)
        return AnnotationWriter(draft).write(_all_of(Annotations, every), size)
    except BaseException:
        draft.remove()
        raise


def tables_of(source: Any, images: int) -> Iterable[Any]:
    """The tables of a source of `write_shards`, one after the other, of so many images where it can be read in part."""
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


def _taken(column: ShapeColumn, rows: NDArray[np.intp]) -> ShapeColumn:
    return column.take(rows)


def _with_crowds(table: Annotations, crowds: Annotations) -> Annotations:
    return replace(table, crowd_regions=crowds) if len(crowds) else table


class AnnotationWriter(Writer[Annotations, Shards]):
    """Tables of annotations into a folder of shards."""

    entries = "images"
    shared = ("raters", "person", "session")

    def __init__(self, draft: Draft) -> None:
        super().__init__(draft)
        self.files: list[ShardFiles] = []
        self.categories: dict[str, None] = {}
        self.shapes: dict[str, None] = {}
        self.incomplete: set[str] = set()
        self.limits: dict[str, NDArray[np.bool_]] = {}
        self.has_numbers = self.has_text = False

    def emptied(self, table: Annotations) -> Annotations:
        """The table without rows."""
        return table.select(rows=[])

    def cut(self, table: Annotations) -> Callable[[int, int], Annotations]:
        """What answers the table of some of the images."""
        by_image = ByImage(table)
        crowds = None if table.crowd_regions is None else ByImage(table.crowd_regions)

        def part(first: int, last: int) -> Annotations:
            piece = by_image.table(first, last, _taken)
            return piece if crowds is None else _with_crowds(piece, crowds.table(first, last, _taken))

        return part

    def join(self, tables: Sequence[Annotations]) -> Annotations:
        """Tables end to end."""
        return join(tables)

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
        self.draft.write(entry.images_file, image_table(table, first))
        self.draft.write(entry.annotations_file, annotation_table(table, first))
        self.files.append(entry)

    def note(self, table: Annotations) -> None:
        """What the list of shards says of all of them."""
        strange = [kind for kind in table.shapes if kind not in SHAPES]
        if strange:
            kinds, actual = ", ".join(SHAPES), listed(map(repr_of, strange))
            raise InputError(f"shapes: expected kinds among {kinds} to write shards of, got {actual}")
        self.categories |= dict.fromkeys(table.categories.tolist())
        self.shapes |= dict.fromkeys(table.shapes)
        self.incomplete |= {kind for kind in SHAPES if len(table) and kind not in complete_kinds(table)}
        for part in (table, table.crowd_regions):
            ids = [] if part is None or part.id.dtype.kind == "i" else part.id.tolist()
            text = sum(isinstance(value, str) for value in ids)
            self.has_text |= text > 0
            self.has_numbers |= part is not None and len(part) > text
        if table.assigned_categories is not None:
            for name, allowed in zip(table.categories, table.assigned_categories.T, strict=True):
                self.limits[name] = self.limits[name] & allowed if name in self.limits else allowed

    def finish(self, first: Annotations) -> Shards:
        """Write the list of shards."""
        if self.has_text and self.has_numbers:
            self._write_order()
        raters = first.raters.tolist()
        limits = None
        if self.limits:
            limits = {
                rater: tuple(name for name in self.categories if name not in self.limits or self.limits[name][row])
                for row, rater in enumerate(raters)
            }
        vocabulary = Vocabulary(
            raters=tuple(raters),
            person=tuple(first.person.tolist()),
            session=tuple(first.session.tolist()),
            categories=tuple(self.categories),
            assigned_categories=limits,
            raters_are_local=first.raters_are_local,
            shapes=tuple(self.shapes),
            complete=tuple(kind for kind in self.shapes if kind not in self.incomplete),
            ids="mixed" if self.has_text and self.has_numbers else "text" if self.has_text else "int",
        )
        shards = Shards(self.draft.folder, vocabulary, tuple(self.files), self.draft.options)
        self.draft.finish(shards.as_json())
        return shards

    def _write_order(self) -> None:
        """Where numbers and text are among the ids: one order of all of them, in a column of each shard."""
        pa = arrow()
        texts, are_text = [], []
        for entry in self.files:
            ids = self.draft.read(entry.annotations_file, ["id", "id_is_text"])
            texts.append(list(map(str, ids["id"].to_pylist())))
            are_text.append(np.array(ids["id_is_text"].to_pylist(), dtype=np.bool_))
        for entry, text, order in zip(self.files, texts, order_of_mixed(texts, are_text), strict=True):
            table = self.draft.read(entry.annotations_file)
            table = table.set_column(table.column_names.index("id"), "id", pa.array(text, pa.string()))
            self.draft.write(entry.annotations_file, table.append_column("order", pa.array(order)))
