"""Tables that come one after the other, as shards of so many images or items, whatever they are tables of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from kalos_core.distributed.folder import Draft
from kalos_core.errors import InputError, listed

Table = TypeVar("Table")
Written = TypeVar("Written")


class Writer(ABC, Generic[Table, Written]):
    """Tables of one kind into a folder that is being written.

    Parameters
    ----------
    draft : Draft
    """

    entries: ClassVar[str]
    """The field with the images or items, of which shards have whole ones."""

    shared: ClassVar[tuple[str, ...]]
    """Fields that all tables have alike."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.first: Table | None = None
        self.seen: set[Any] = set()

    def write(self, tables: Iterable[Table], size: int) -> Written:
        """Write tables as shards of so many images or items, the last of what is left."""
        for piece in self._pieces(self._noted(tables), size):
            self.add(piece)
        if self.first is None or not self.seen:
            raise InputError(f"source: expected at least one {self.entries.removesuffix('s')}, got none")
        return self.finish(self.first)

    def _noted(self, tables: Iterable[Table]) -> Iterator[Table]:
        """The tables of a source, each looked at for what the list of shards says of all."""
        for table in tables:
            self.first = self.emptied(table) if self.first is None else self.first
            for name in self.shared:
                expected, actual = getattr(self.first, name).tolist(), getattr(table, name).tolist()
                if actual != expected:
                    raise InputError(
                        f"{name}: expected those of the first table, {listed(expected)}, got {listed(actual)}"
                    )
            ids = getattr(table, self.entries)
            again = self.seen.intersection(ids)
            if again:
                raise InputError(
                    f"{self.entries}: expected each entry once, got {listed(sorted(map(repr, again)))} again"
                )
            self.seen.update(ids)
            self.note(table)
            yield table

    def _pieces(self, tables: Iterable[Table], size: int) -> Iterator[Table]:
        """The same images or items in the same order, so many in each table but the last."""
        waiting: list[Table] = []
        count = 0
        for table in tables:
            cut = self.cut(table)
            first, entries = 0, len(getattr(table, self.entries))
            while first < entries:
                last = min(first + size - count, entries)
                waiting.append(cut(first, last))
                count += last - first
                first = last
                if count == size:
                    yield self.join(waiting)
                    waiting, count = [], 0
        if waiting:
            yield self.join(waiting)

    @abstractmethod
    def emptied(self, table: Table) -> Table:
        """What is kept of the first table."""

    @abstractmethod
    def note(self, table: Table) -> None:
        """Look at a table before it is cut."""

    @abstractmethod
    def cut(self, table: Table) -> Callable[[int, int], Table]:
        """What answers the part of a table from one image or item up to another."""

    @abstractmethod
    def join(self, tables: Sequence[Table]) -> Table:
        """Parts end to end."""

    @abstractmethod
    def add(self, table: Table) -> None:
        """Write the next shard."""

    @abstractmethod
    def finish(self, first: Table) -> Written:
        """Write the list of shards, from what is kept of the first table."""
