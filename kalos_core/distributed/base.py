"""Base classes of shards for each kind of table: schema, and cutting, joining and inspecting tables for writing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from kalos_core.distributed.columns import numbers_of
from kalos_core.errors import InputError

Table = TypeVar("Table", bound=Sized)


@dataclass(frozen=True)
class Schema(ABC, Generic[Table]):
    """Content common to all shards of a data set, and how a shard is read and written. Subclasses are frozen."""

    kind: ClassVar[str]
    """Kind of tables, as stored in the list of shards."""

    entry: ClassVar[str]
    """Name of the entries that shards keep whole: "image" or "item"."""

    row: ClassVar[str]
    """Name of the rows: "annotation" or "answer"."""

    raters: tuple[str, ...]

    @classmethod
    @abstractmethod
    def from_json(cls, content: dict[str, Any]) -> Schema[Table]:
        """Create the schema from a list of shards; wrong types and missing keys raise errors of any kind."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Shape kinds that every row has."""
        return ()

    @abstractmethod
    def entry_table(self, table: Table, first: int) -> Any:
        """Return the images or items of a table, numbered from `first`, as an Arrow table."""

    @abstractmethod
    def row_table(self, table: Table, first: int) -> Any:
        """Return the rows of a table as an Arrow table; images or items are numbered from `first`."""

    @abstractmethod
    def read(self, entries: Any, rows: Any, first: int) -> Table:
        """Rebuild the table from its `entry_table` and `row_table`; columns are checked."""

    @abstractmethod
    def entry_fields(self, entries: Any) -> dict[str, Any]:
        """Return the fields of the table about images or items, from their Arrow table."""

    @abstractmethod
    def without_rows(self, fields: Sequence[dict[str, Any]]) -> Table:
        """Create the table without rows, from the `entry_fields` of all shards."""

    @abstractmethod
    def joined(self, tables: Sequence[Table]) -> Table:
        """Join tables of different images or items, in their order."""

    def places(self, entries: Any, rows: Any, first: int) -> Any:
        """Return (N,) the position of each row's image or item in its shard; numbers are checked."""
        number, place = numbers_of(entries, "number"), numbers_of(rows, self.entry) - first
        last = first + len(number) - 1
        if (number - first).tolist() != list(range(len(number))):
            raise InputError(f"number: expected {first} to {last}, one after the other, got others")
        if len(place) and (place.min() < 0 or place.max() >= len(number)):
            actual = f"{place.min() + first} to {place.max() + first}"
            raise InputError(f"{self.entry}: expected numbers {first} to {last}, got {actual}")
        return place


class Source(ABC, Generic[Table]):
    """Properties of the tables to write, collected from each table in turn."""

    entries: ClassVar[str]
    """Name of the field with the images or items."""

    shared: ClassVar[tuple[str, ...]]
    """Fields that must be equal in all tables."""

    @abstractmethod
    def note(self, table: Table) -> None:
        """Inspect a table before it is cut."""

    @abstractmethod
    def cut(self, table: Table) -> Callable[[int, int], Table]:
        """Return a function that maps the first image or item, and the end of the range, to the table of that range."""

    @abstractmethod
    def schema(self) -> Schema[Table]:
        """Return the schema common to all tables, after all were inspected."""
