"""Interface for analyses of one table or of shards: compute a part for each table, then merge the parts.

`kalos_core.distributed` writes and opens shards, and sends them to workers. Analyses depend on this module only.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError

Table = TypeVar("Table")
Part = TypeVar("Part")
Read = TypeVar("Read", covariant=True)
Task = Callable[[Table], Part]
Tasks = Task[Table, Part] | Sequence[Task[Table, Part]]
"""One task for all tables, or one for each."""


class OneShard(Protocol[Read]):
    """Shard as sent to a worker."""

    @property
    def name(self) -> str:
        """File of the shard, for messages."""

    def read(self) -> Read:
        """Return the table."""


class Sharded(ABC, Generic[Table]):
    """Data set as shards of whole images or items; created by `open_shards`."""

    _instead = "give shards.table(), if memory holds all of it"
    """Hint for messages of calls that need a whole table."""

    @property
    @abstractmethod
    def known(self) -> Table:
        """Table without rows: its images or items, raters and vocabulary."""

    @property
    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """Shape kinds that every annotation has."""

    @property
    @abstractmethod
    def starts(self) -> NDArray[np.intp]:
        """(S + 1,) first image or item of each shard; the total is appended."""

    @property
    @abstractmethod
    def row_starts(self) -> NDArray[np.intp]:
        """(S + 1,) first annotation or answer of each shard; the total is appended."""

    @abstractmethod
    def __iter__(self) -> Iterator[OneShard[Table]]: ...

    @abstractmethod
    def parts(self, tasks: Tasks[Table, Part], label: str) -> list[Part]:
        """Return the results of a task for the table of each shard, in their order; `label` is for progress."""


def known_of(source: Table | Sharded[Table], pairs: object = None) -> Table:
    """Return a table as it is; for shards, the table without rows. Shards do not allow `pairs`."""
    if not isinstance(source, Sharded):
        return source
    if pairs is not None:
        raise InputError("pairs: expected none with shards, whose pairs are computed for each shard")
    return source.known


def instead_of(source: object) -> str:
    """Return a hint for the message of a function that needs a table, but gets shards or a path."""
    if isinstance(source, (str, os.PathLike)):
        return "; read_wide_labels(path) and read_long_labels(path) read a file"
    return f"; {source._instead}" if isinstance(source, Sharded) else ""


def kinds_of(source: Table | Sharded[Any]) -> Table | tuple[str, ...]:
    """Return the input for choosing a similarity: a table as it is, or the shape kinds of shards."""
    return source.kinds if isinstance(source, Sharded) else source


def starts_of(source: Table | Sharded[Table], images: int) -> NDArray[np.intp]:
    """Return the first image of each shard, with the total appended; one table is one shard."""
    return source.starts if isinstance(source, Sharded) else np.array([0, images])


def parts_of(source: Table | Sharded[Table], tasks: Tasks[Table, Part], label: str) -> list[Part]:
    """Return the results of a task, or one task each, for one table or for the table of each shard."""
    if isinstance(source, Sharded):
        return source.parts(tasks, label)
    return [task(source) for task in ([tasks] if callable(tasks) else tasks)]
