"""One table, or shards of it: an analysis computes a part of each table, and its result of the merged parts.

`kalos_core.distributed` writes shards, opens them and gives them to workers. Analyses know only what stands here.
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
"""One task for every table, or one for each."""


class OneShard(Protocol[Read]):
    """A shard as it is sent to a worker."""

    @property
    def name(self) -> str:
        """Its file, for messages."""

    def read(self) -> Read:
        """Its table."""


class Sharded(ABC, Generic[Table]):
    """A data set as shards of whole images or items, as `open_shards` opens it."""

    _instead = "give shards.table(), if memory holds all of it"
    """What calls say that need a whole table."""

    @property
    @abstractmethod
    def known(self) -> Table:
        """The table without rows: its images or items, raters and vocabulary."""

    @property
    @abstractmethod
    def kinds(self) -> tuple[str, ...]:
        """Kinds of shapes that every annotation has."""

    @property
    @abstractmethod
    def starts(self) -> NDArray[np.intp]:
        """(S + 1,) the first image or item of each shard, and how many there are."""

    @property
    @abstractmethod
    def row_starts(self) -> NDArray[np.intp]:
        """(S + 1,) the first annotation or answer of each shard, and how many there are."""

    @abstractmethod
    def __iter__(self) -> Iterator[OneShard[Table]]: ...

    @abstractmethod
    def parts(self, tasks: Tasks[Table, Part], label: str) -> list[Part]:
        """The answer of a task for the table of each shard, in the order of the shards; `label` is for the progress."""


def known_of(source: Table | Sharded[Table], pairs: object = None) -> Table:
    """A table as it is; of shards the table without rows: pairs of a table are refused with them."""
    if not isinstance(source, Sharded):
        return source
    if pairs is not None:
        raise InputError("pairs: expected none with shards, whose pairs are computed where they are read")
    return source.known


def instead_of(source: object) -> str:
    """The way around, to be added to an error of a function that needs a table and is given shards, or a path."""
    if isinstance(source, (str, os.PathLike)):
        return "; read_wide_labels(path) and read_long_labels(path) read a file"
    return f"; {source._instead}" if isinstance(source, Sharded) else ""


def kinds_of(source: Table | Sharded[Any]) -> Table | tuple[str, ...]:
    """What decides which similarity fits: a table as it is, or the kinds of shapes of shards."""
    return source.kinds if isinstance(source, Sharded) else source


def starts_of(source: Table | Sharded[Table], images: int) -> NDArray[np.intp]:
    """The first image of each shard, and how many there are; one table is one shard."""
    return source.starts if isinstance(source, Sharded) else np.array([0, images])


def parts_of(source: Table | Sharded[Table], tasks: Tasks[Table, Part], label: str) -> list[Part]:
    """What a task, or one for each, answers for a table, or for the table of each shard."""
    if isinstance(source, Sharded):
        return source.parts(tasks, label)
    return [task(source) for task in ([tasks] if callable(tasks) else tasks)]
