"""Folder of shards: its list of files, reading shards one by one, and sending them to workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import run_starts
from kalos_core.distributed.base import Schema, Table
from kalos_core.distributed.folder import LIST, address_of, check_runs, list_text, read_list, read_parquet
from kalos_core.distributed.labels import LabelVocabulary
from kalos_core.distributed.schema import Vocabulary
from kalos_core.distributed.work import Progress, over_shards
from kalos_core.errors import InputError, lookup
from kalos_core.options import checked
from kalos_core.sharding import Part, Sharded, Tasks

SCHEMAS: dict[str, type[Schema[Any]]] = {schema.kind: schema for schema in (Vocabulary, LabelVocabulary)}
"""Kind of tables in the list of shards -> schema."""


@dataclass(frozen=True)
class ShardFiles:
    """One shard: its two files in the folder, the number of its first image, and its size.

    For image-level labels, images are items and rows are answers.
    """

    images_file: str
    rows_file: str
    first_image: int
    images: int
    rows: int
    crowds: int = 0


@dataclass(frozen=True)
class Shard(Generic[Table]):
    """One shard as sent to a worker, which reads it.

    Parameters
    ----------
    folder : str
        Folder or address, as in `fsspec`.
    files : ShardFiles
    vocabulary : Schema
    options : dict
        Options of `fsspec`, such as keys.
    """

    folder: str
    files: ShardFiles
    vocabulary: Schema[Table]
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """File of its rows, for messages."""
        return f"{self.folder.rstrip('/')}/{self.files.rows_file}"

    def read(self) -> Table:
        """Read the table.

        Raises
        ------
        InputError
            If a file is missing, is not Parquet, or has another schema or other images; the message names the file.
        """
        files, schema = self.files, self.vocabulary
        entries, rows = (read_parquet(self.folder, self.options, name) for name in (files.images_file, files.rows_file))
        if (len(entries), len(rows)) != (files.images, files.rows + files.crowds):
            raise InputError(
                f"{self.name}: expected {files.images:,} {schema.entry}s and {files.rows + files.crowds:,} "
                f"{schema.row}s, as {LIST} says, got {len(entries):,} and {len(rows):,}"
            )
        try:
            return schema.read(entries, rows, files.first_image)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None

    def read_images(self) -> dict[str, Any]:
        """Read only the fields of the table about images."""
        entries = read_parquet(self.folder, self.options, self.files.images_file)
        try:
            return self.vocabulary.entry_fields(entries)
        except InputError as error:
            raise InputError(f"{self.folder.rstrip('/')}/{self.files.images_file}: {error}") from None


@dataclass(frozen=True)
class Shards(Sharded[Table]):
    """Data set as shards, in the order of their images; functions of `kalos_core` take it in place of a table.

    Parameters
    ----------
    folder : str
    vocabulary : Schema
        Content common to all shards.
    files : tuple of ShardFiles
    options : dict
        Options of `fsspec`.
    client, progress
        As in `open_shards`.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(5) for r in "ab"]
    >>> shards = write_shards(Annotations.from_rows(rows), "of five images", images_per_shard=2)
    >>> len(shards), shards.images, shards.rows, [len(shard.read()) for shard in shards], agreement(shards).alpha
    (3, 5, 10, [4, 4, 2], 1.0)
    """

    folder: str
    vocabulary: Schema[Table]
    files: tuple[ShardFiles, ...]
    options: dict[str, Any] = field(default_factory=dict, repr=False)
    client: Any = field(default=None, repr=False, compare=False)
    progress: Progress | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[Shard[Table]]:
        return (Shard(self.folder, files, self.vocabulary, self.options) for files in self.files)

    @property
    def images(self) -> int:
        """Number of images; for image-level labels, of items."""
        return sum(files.images for files in self.files)

    @property
    def rows(self) -> int:
        """Number of annotations, without crowd regions; for image-level labels, of answers."""
        return sum(files.rows for files in self.files)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Shape kinds that every annotation has."""
        return self.vocabulary.kinds

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """(S + 1,) first image of each shard, with the total appended."""
        return run_starts([files.images for files in self.files])

    @cached_property
    def row_starts(self) -> NDArray[np.intp]:
        """(S + 1,) first annotation or answer of each shard, with the total appended."""
        return run_starts([files.rows for files in self.files])

    @cached_property
    def known(self) -> Table:
        """Table without rows: its images, raters, vocabulary and assignments."""
        return self.vocabulary.without_rows([shard.read_images() for shard in self])

    def parts(self, tasks: Tasks[Table, Part], label: str) -> list[Part]:
        """Return the results of a task for the table of each shard, computed by workers or locally in turn."""
        return over_shards(self, tasks, self.client, self.progress, label)

    def table(self) -> Table:
        """Read all shards as one table, if memory can hold it."""
        return self.vocabulary.joined([shard.read() for shard in self])

    def as_json(self) -> str:
        """Return the text of the list of shards."""
        head = {"images": self.images, "rows": self.rows, **asdict(self.vocabulary)}
        return list_text(self.vocabulary.kind, head, [asdict(files) for files in self.files])


@checked
def open_shards(
    folder: Any,
    client: Any = None,
    options: dict[str, Any] | None = None,
    *,
    progress: Callable[[float, str], None] | None = None,
) -> Shards[Any]:
    """Open a folder of shards written by `write_shards`; no shard is read.

    Parameters
    ----------
    folder : path, or address of `fsspec`
    client : Client of `dask.distributed`, address of a Dask scheduler, or None
        Workers to process the shards; None: this process, one shard after the other.
    options : dict, optional
        Options of `fsspec`, such as keys.
    progress : callable, optional
        ``progress(share, label)``, called after each shard with the fraction completed and the next step. Raise an
        exception in it to stop.

    Returns
    -------
    Shards
        Shards of annotations or image-level labels; pass them to functions in place of a table.

    Raises
    ------
    InputError
        If the folder holds no shards.

    Examples
    --------
    >>> open_shards("none")
    Traceback (most recent call last):
    kalos_core.errors.InputError: none: expected a folder of shards, as write_shards makes it, got no dataset.json
    """
    where, options = address_of(folder), {} if options is None else options
    content, path = read_list(where, options), f"{where.rstrip('/')}/{LIST}"
    try:
        schema = lookup(SCHEMAS, content["kind"], "kind").from_json(content)
        files = sorted((ShardFiles(**entry) for entry in content["shards"]), key=lambda entry: entry.first_image)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: expected a list by write_shards, got {type(error).__name__}: {error}") from None
    check_runs(where, schema.entry, [(entry.first_image, entry.images, entry.rows_file) for entry in files])
    return Shards(where, schema, tuple(files), options, client, progress)
