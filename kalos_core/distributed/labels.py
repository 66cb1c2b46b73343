"""Schema of image-level labels: a table as two Arrow tables, one of its items and one of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.annotations.columns import codes_in
from kalos_core.arrays import run_starts
from kalos_core.distributed.base import Schema
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
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.grouping import GroupRecord
from kalos_core.nominal.table import LabelTable


@dataclass(frozen=True)
class LabelVocabulary(Schema[LabelTable]):
    """Content common to all shards of a data set of image-level labels.

    Parameters
    ----------
    raters, concepts : tuple of str
    groups : tuple of GroupRecord
        Names of groups with their concepts; the other concepts are optional.
    """

    kind, entry, row = "labels", "item", "answer"

    concepts: tuple[str, ...]
    groups: tuple[GroupRecord, ...]

    @classmethod
    def of(cls, table: LabelTable) -> LabelVocabulary:
        """Return the vocabulary of a table."""
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
        """Fields of `LabelTable` that are equal in all shards."""
        group_of = np.full(len(self.concepts), OPTIONAL)
        for code, group in enumerate(self.groups):
            group_of[codes_in(self.concepts, group["labels"])] = code
        return {
            "raters": object_array(self.raters),
            "concepts": object_array(self.concepts),
            "groups": object_array(group["name"] for group in self.groups),
            "group_of": group_of,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> LabelVocabulary:
        """Create the vocabulary from a list of shards."""
        groups = (GroupRecord(name=str(of["name"]), labels=list(map(str, of["labels"]))) for of in content["groups"])
        raters, concepts = (tuple(map(str, content[name])) for name in ("raters", "concepts"))
        made = cls(raters, concepts, tuple(groups))
        unknown = [name for group in made.groups for name in group["labels"] if name not in concepts]
        if unknown:
            raise InputError(f"expected groups of concepts that it lists, got {listed(unknown)}")
        return made

    def entry_table(self, table: LabelTable, first: int) -> Any:
        """Return the items of a table as an Arrow table."""
        ids, is_text = id_columns(table.items, "items")
        return arrow().table({"number": first + np.arange(len(table.items)), "item": ids, "item_is_text": is_text})

    def row_table(self, table: LabelTable, first: int) -> Any:
        """Return the answers of a table; the concepts that an answer chose are one list, those it left open another."""
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

    def entry_fields(self, entries: Any) -> dict[str, Any]:
        """Return items by their ids."""
        return {"items": ids_of(entries, "item")}

    def without_rows(self, fields: Sequence[dict[str, Any]]) -> LabelTable:
        """Create the table of all items, raters and concepts, without answers."""
        none, items = np.zeros(0, np.intp), np.concatenate([part["items"] for part in fields])
        return LabelTable(item=none, rater=none, answer=none, concept=none, items=items, **self.fields())

    def joined(self, tables: Sequence[LabelTable]) -> LabelTable:
        """Join tables of different items, in their order."""
        item = run_starts([len(table.items) for table in tables])[:-1]
        answer = run_starts([len(table) for table in tables])[:-1]
        return replace(
            tables[0],
            item=np.concatenate([table.item + start for table, start in zip(tables, item, strict=True)]),
            rater=np.concatenate([table.rater for table in tables]),
            answer=np.concatenate([table.answer + start for table, start in zip(tables, answer, strict=True)]),
            concept=np.concatenate([table.concept for table in tables]),
            items=np.concatenate([table.items for table in tables]),
            unanswered=np.concatenate(
                [np.add(table.unanswered, (start, 0)) for table, start in zip(tables, answer, strict=True)]
            ),
            time=np.concatenate([table.time for table in tables]),
        )

    def read(self, entries: Any, rows: Any, first: int) -> LabelTable:
        """Rebuild the table of one shard."""
        answer, concept = entries_of(rows, "chosen", self.concepts)
        return LabelTable(
            item=self.places(entries, rows, first),
            rater=codes_of(rows, "rater", self.raters),
            answer=answer,
            concept=concept,
            unanswered=np.column_stack(entries_of(rows, "left_open", self.concepts)),
            time=numbers_of(rows, "time", np.float64),
            **self.entry_fields(entries),
            **self.fields(),
        )


def _named(table: LabelTable, answer: NDArray[np.intp], concept: NDArray[np.intp]) -> Any:
    """Return the names of concepts as a list for each answer."""
    order = np.argsort(answer, kind="stable")
    start = run_starts(np.bincount(answer, minlength=len(table)))
    return as_lists(start, as_names(table.concepts[concept[order]]))


def by_item(table: LabelTable) -> LabelTable:
    """Return the same table with answers in the order of items, and labels in the order of answers.

    Examples
    --------
    >>> rows = [{"item": i, "rater": "ann", "label": f"of {i}"} for i in "ba"]
    >>> found = by_item(LabelTable.from_rows(rows, items=["a", "b"]))
    >>> found.item.tolist(), found.concepts[found.concept].tolist()
    ([0, 1], ['of a', 'of b'])
    """
    order = np.argsort(table.item, kind="stable")
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    labels = np.argsort(place[table.answer], kind="stable")
    unanswered = np.column_stack([place[table.unanswered[:, 0]], table.unanswered[:, 1]])
    return replace(
        table,
        item=table.item[order],
        rater=table.rater[order],
        answer=place[table.answer][labels],
        concept=table.concept[labels],
        unanswered=unanswered[np.argsort(unanswered[:, 0], kind="stable")],
        time=table.time[order],
    )
