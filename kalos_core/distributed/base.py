"""What shards of each kind of table need: their schema, and how tables are cut, joined and looked at to be written."""

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
    """What all shards of a data set share, and how a shard is read and written. A subclass is frozen."""

    kind: ClassVar[str]
    """Of tables, as the list of shards says."""

    entry: ClassVar[str]
    """Images or items, of which each shard has whole ones: "image" or "item"."""

    row: ClassVar[str]
    """Their rows: "annotation" or "answer"."""

    raters: tuple[str, ...]

    @classmethod
    @abstractmethod
    def from_json(cls, content: dict[str, Any]) -> Schema[Table]:
        """What a list of shards says; other types and absent keys are errors of any kind."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of shapes that every row has."""
        return ()

    @abstractmethod
    def entry_table(self, table: Table, first: int) -> Any:
        """The images or items of a table, numbered from `first` on, as an Arrow table."""

    @abstractmethod
    def row_table(self, table: Table, first: int) -> Any:
        """The rows of a table, images or items numbered from `first` on, as an Arrow table."""

    @abstractmethod
    def read(self, entries: Any, rows: Any, first: int) -> Table:
        """The table that `entry_table` and `row_table` took apart; columns are checked."""

    @abstractmethod
    def entry_fields(self, entries: Any) -> dict[str, Any]:
        """Fields of the table about images or items, from the Arrow table of them."""

    @abstractmethod
    def without_rows(self, fields: Sequence[dict[str, Any]]) -> Table:
        """The table without rows, from the `entry_fields` of all shards."""

    @abstractmethod
    def joined(self, tables: Sequence[Table]) -> Table:
        """Tables of different images or items end to end."""

    def places(self, entries: Any, rows: Any, first: int) -> Any:
        """(N,) the position of each row's image or item in its shard; numbers are checked."""
        number, place = numbers_of(entries, "number"), numbers_of(rows, self.entry) - first
        last = first + len(number) - 1
        if (number - first).tolist() != list(range(len(number))):
            raise InputError(f"number: expected {first} to {last}, one after the other, got others")
        if len(place) and (place.min() < 0 or place.max() >= len(number)):
            actual = f"{place.min() + first} to {place.max() + first}"
            raise InputError(f"{self.entry}: expected numbers {first} to {last}, got {actual}")
        return place


class Source(ABC, Generic[Table]):
    """What is known of the tables that are being written, all looked at once."""

    entries: ClassVar[str]
    """The field with the images or items."""

    shared: ClassVar[tuple[str, ...]]
    """Fields that all tables have alike."""

    @abstractmethod
    def note(self, table: Table) -> None:
        """Look at a table before it is cut."""

    @abstractmethod
    def cut(self, table: Table) -> Callable[[int, int], Table]:
        """A function from the first image or item and the one after the last to the table of these."""

    @abstractmethod
    def schema(self) -> Schema[Table]:
        """What all tables share, once all were looked at."""
