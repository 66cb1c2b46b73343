"""A folder of shards: its list of files, reading them one by one, and giving them to workers."""

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
"""What a list of shards says they are of -> their schema."""


@dataclass(frozen=True)
class ShardFiles:
    """One shard: names of its two files in the folder, its first image's number, and what it holds.

    Of image-level labels, images are items and rows are answers.
    """

    images_file: str
    rows_file: str
    first_image: int
    images: int
    rows: int
    crowds: int = 0


@dataclass(frozen=True)
class Shard(Generic[Table]):
    """One shard as it is sent to a worker, which reads it.

    Parameters
    ----------
    folder : str
        The folder or address, as of `fsspec`.
    files : ShardFiles
    vocabulary : Schema
    options : dict
        Of `fsspec`, such as keys.
    """

    folder: str
    files: ShardFiles
    vocabulary: Schema[Table]
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The file of its rows, for messages."""
        return f"{self.folder.rstrip('/')}/{self.files.rows_file}"

    def read(self) -> Table:
        """Its table.

        Raises
        ------
        InputError
            Naming the file, if it is absent, no Parquet, of another schema or of other images.
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
        """Only what is known of its images: fields of its table."""
        entries = read_parquet(self.folder, self.options, self.files.images_file)
        try:
            return self.vocabulary.entry_fields(entries)
        except InputError as error:
            raise InputError(f"{self.folder.rstrip('/')}/{self.files.images_file}: {error}") from None


@dataclass(frozen=True)
class Shards(Sharded[Table]):
    """A data set as shards, in the order of their images; functions of `kalos_core` take it in place of a table.

    Parameters
    ----------
    folder : str
    vocabulary : Schema
        What the shards share.
    files : tuple of ShardFiles
    options : dict
        Of `fsspec`.
    client, progress
        As of `open_shards`.

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
        """How many images there are; of image-level labels, items."""
        return sum(files.images for files in self.files)

    @property
    def rows(self) -> int:
        """How many annotations there are, crowd regions not among them; of image-level labels, answers."""
        return sum(files.rows for files in self.files)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of shapes that every annotation has."""
        return self.vocabulary.kinds

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """(S + 1,) the first image of each shard, and how many there are."""
        return run_starts([files.images for files in self.files])

    @cached_property
    def row_starts(self) -> NDArray[np.intp]:
        """(S + 1,) the first annotation or answer of each shard, and how many there are."""
        return run_starts([files.rows for files in self.files])

    @cached_property
    def known(self) -> Table:
        """The table without rows: its images, raters and vocabulary, and who was assigned."""
        return self.vocabulary.without_rows([shard.read_images() for shard in self])

    def parts(self, tasks: Tasks[Table, Part], label: str) -> list[Part]:
        """The answer of a task for the table of each shard: of the workers, or computed here one after the other."""
        return over_shards(self, tasks, self.client, self.progress, label)

    def table(self) -> Table:
        """All of it as one table, as far as memory holds it."""
        return self.vocabulary.joined([shard.read() for shard in self])

    def as_json(self) -> str:
        """The text of the list of shards."""
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
    """The shards of a folder, as `write_shards` made them; no shard is read.

    Parameters
    ----------
    folder : path, or address of `fsspec`
    client : Client of `dask.distributed`, address of a Dask scheduler, or None
        Whose workers work on the shards; None: this process, on one after the other.
    options : dict, optional
        Of `fsspec`, such as keys.
    progress : callable, optional
        ``progress(share, label)``, after each shard: the share of the work that is done, and what comes next. An
        exception of it ends the work.

    Returns
    -------
    Shards
        Of annotations, or of image-level labels: to be given to functions in place of a table.

    Raises
    ------
    InputError
        For a folder that is none of shards.

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
        raise InputError(f"{path}: expected what write_shards writes, got {type(error).__name__}: {error}") from None
    check_runs(where, schema.entry, [(entry.first_image, entry.images, entry.rows_file) for entry in files])
    return Shards(where, schema, tuple(files), options, client, progress)
