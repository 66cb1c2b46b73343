"""A folder of shards of image-level labels: its schema, its list of files, and reading them one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.annotations.columns import codes_in
from kalos_core.arrays import run_starts
from kalos_core.distributed.columns import (
    arrow,
    as_lists,
    as_names,
    codes_of,
    entries_of,
    id_columns,
    ids_of,
    numbers_of,
)
from kalos_core.distributed.folder import LIST, ShardFolder, check_runs, list_text, open_folder, read_parquet
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.grouping import GroupRecord
from kalos_core.nominal.table import LabelTable

# ---- the schema ----


@dataclass(frozen=True)
class LabelVocabulary:
    """What all shards of a data set of image-level labels share.

    Parameters
    ----------
    raters, concepts : tuple of str
    groups : tuple of GroupRecord
        Names of groups with their concepts; the other concepts are optional.
    """

    raters: tuple[str, ...]
    concepts: tuple[str, ...]
    groups: tuple[GroupRecord, ...]

    @classmethod
    def of(cls, table: LabelTable) -> LabelVocabulary:
        """That of a table."""
        names = [*table.raters, *table.concepts, *table.groups]
        strange = [name for name in names if not isinstance(name, str)]
        if strange:
            raise InputError(f"names: expected text, got {listed(map(repr_of, strange))}")
        groups = (
            GroupRecord(name=name, labels=table.concepts[table.group_of == code].tolist())
            for code, name in enumerate(table.groups)
        )
        return cls(tuple(table.raters), tuple(table.concepts), tuple(groups))

    def fields(self) -> dict[str, Any]:
        """Fields of `LabelTable` that every shard has alike."""
        group_of = np.full(len(self.concepts), OPTIONAL)
        for code, group in enumerate(self.groups):
            group_of[codes_in(self.concepts, group["labels"])] = code
        return {
            "raters": object_array(self.raters),
            "concepts": object_array(self.concepts),
            "groups": object_array(group["name"] for group in self.groups),
            "group_of": group_of,
        }

    def empty(self) -> LabelTable:
        """The table of no item."""
        none = np.zeros(0, np.intp)
        return LabelTable(item=none, rater=none, answer=none, concept=none, items=object_array([]), **self.fields())


def item_table(table: LabelTable, first: int) -> Any:
    """The items of a table, numbered from `first` on, as an Arrow table."""
    ids, is_text = id_columns(table.items, "items")
    return arrow().table({"number": first + np.arange(len(table.items)), "item": ids, "item_is_text": is_text})


def answer_table(table: LabelTable, first: int) -> Any:
    """The answers of a table, items numbered from `first` on, as an Arrow table.

    The concepts that an answer chose stand together, as do those that it leaves open.
    """
    pa = arrow()
    return pa.table(
        {
            "item": first + table.item,
            "rater": pa.DictionaryArray.from_arrays(pa.array(table.rater, pa.int32()), as_names(table.raters)),
            "chosen": _named(table, table.answer, table.concept),
            "left_open": _named(table, *table.unanswered.T),
            "time": table.time,
        }
    )


def _named(table: LabelTable, answer: NDArray[np.intp], concept: NDArray[np.intp]) -> Any:
    """Names of concepts as a list for each answer."""
    order = np.argsort(answer, kind="stable")
    start = run_starts(np.bincount(answer, minlength=len(table)))
    return as_lists(start, as_names(table.concepts[concept[order]]))


def read_answers(items: Any, rows: Any, vocabulary: LabelVocabulary, first: int) -> LabelTable:
    """The table that `item_table` and `answer_table` took apart; columns are checked.

    Raises
    ------
    InputError
        For a column that is absent, of another type, or does not fit the vocabulary.
    """
    number, item = numbers_of(items, "number"), numbers_of(rows, "item") - first
    if (number != first + np.arange(len(number))).any():
        raise InputError(f"number: expected {first} to {first + len(number) - 1}, one after the other, got others")
    if len(item) and (item.min() < 0 or item.max() >= len(number)):
        actual = f"{item.min() + first} to {item.max() + first}"
        raise InputError(f"item: expected numbers {first} to {first + len(number) - 1}, got {actual}")
    answer, concept = entries_of(rows, "chosen", vocabulary.concepts)
    return LabelTable(
        item=item,
        rater=codes_of(rows, "rater", vocabulary.raters),
        answer=answer,
        concept=concept,
        items=ids_of(items, "item"),
        unanswered=np.column_stack(entries_of(rows, "left_open", vocabulary.concepts)),
        time=numbers_of(rows, "time", np.float64),
        **vocabulary.fields(),
    )


# ---- the folder ----


@dataclass(frozen=True)
class LabelFiles:
    """One shard: names of its two files in the folder, its first item's number, and what it holds."""

    items_file: str
    answers_file: str
    first_item: int
    items: int
    answers: int


@dataclass(frozen=True)
class LabelShard:
    """One shard of image-level labels as it is sent to whoever works on it; it is read there.

    Parameters
    ----------
    folder : str
        The folder or address, as of `fsspec`.
    files : LabelFiles
    vocabulary : LabelVocabulary
    options : dict
        Of `fsspec`, such as keys.
    """

    folder: str
    files: LabelFiles
    vocabulary: LabelVocabulary
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """The file of its answers, for messages."""
        return f"{self.folder.rstrip('/')}/{self.files.answers_file}"

    def read(self) -> LabelTable:
        """Its table of labels.

        Raises
        ------
        InputError
            Naming the file, if it is absent, no Parquet, of another schema or of other items.
        """
        items, rows = (
            read_parquet(self.folder, self.options, name) for name in (self.files.items_file, self.files.answers_file)
        )
        if (len(items), len(rows)) != (self.files.items, self.files.answers):
            raise InputError(
                f"{self.name}: expected {self.files.items:,} items and {self.files.answers:,} answers, as {LIST} says, "
                f"got {len(items):,} and {len(rows):,}"
            )
        try:
            return read_answers(items, rows, self.vocabulary, self.files.first_item)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None


@dataclass(frozen=True)
class LabelShards(ShardFolder):
    """A data set of image-level labels as shards, in the order of their items.

    Parameters
    ----------
    folder : str
    vocabulary : LabelVocabulary
    files : tuple of LabelFiles
    options : dict
        Of `fsspec`.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"item": i, "rater": r, "label": "cat"} for i in range(5) for r in "ab"]
    >>> shards = write_shards(LabelTable.from_rows(rows), "answers", images_per_shard=2)
    >>> len(shards), shards.items, shards.answers, [len(shard.read()) for shard in shards]
    (3, 5, 10, [4, 4, 2])
    """

    kind = "labels"

    folder: str
    vocabulary: LabelVocabulary
    files: tuple[LabelFiles, ...]
    options: dict[str, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[LabelShard]:
        return (LabelShard(self.folder, files, self.vocabulary, self.options) for files in self.files)

    @property
    def items(self) -> int:
        """How many items there are."""
        return sum(files.items for files in self.files)

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return sum(files.answers for files in self.files)

    def as_json(self) -> str:
        """The text of the list of shards."""
        head = {"items": self.items, "answers": self.answers, **asdict(self.vocabulary)}
        return list_text(self.kind, head, [asdict(files) for files in self.files])


def open_label_shards(folder: Any, options: dict[str, Any] | None = None) -> LabelShards:
    """The shards of image-level labels in a folder, as `write_shards` made them; no shard is read.

    Parameters
    ----------
    folder : path, address of `fsspec`, or LabelShards
    options : dict, optional
        Of `fsspec`, such as keys.

    Raises
    ------
    InputError
        For a folder that is none of shards of labels.

    Examples
    --------
    >>> open_label_shards("none")
    Traceback (most recent call last):
    kalos_core.errors.InputError: none: expected a folder of shards, as write_shards makes it, got no dataset.json
    """
    return open_folder(folder, options, LabelShards, _checked)


def _checked(folder: str, content: dict[str, Any], options: dict[str, Any]) -> LabelShards:
    groups = (GroupRecord(name=str(of["name"]), labels=list(map(str, of["labels"]))) for of in content["groups"])
    raters, concepts = (tuple(map(str, content[name])) for name in ("raters", "concepts"))
    vocabulary = LabelVocabulary(raters, concepts, tuple(groups))
    unknown = [name for group in vocabulary.groups for name in group["labels"] if name not in concepts]
    if unknown:
        raise InputError(f"{folder}/{LIST}: expected groups of concepts that it lists, got {listed(unknown)}")
    files = sorted((LabelFiles(**entry) for entry in content["shards"]), key=lambda entry: entry.first_item)
    check_runs(folder, "item", [(entry.first_item, entry.items, entry.answers_file) for entry in files])
    return LabelShards(folder, vocabulary, tuple(files), options)
