"""Tables of image-level labels into a folder of shards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kalos_core.arrays import run_starts
from kalos_core.distributed.folder import Draft
from kalos_core.distributed.label_shards import LabelFiles, LabelShards, LabelVocabulary, answer_table, item_table
from kalos_core.distributed.writer import Writer
from kalos_core.nominal.table import LabelTable


class LabelWriter(Writer[LabelTable, LabelShards]):
    """Tables of image-level labels into a folder of shards."""

    entries = "items"
    shared = ("raters", "concepts", "groups", "group_of")

    def __init__(self, draft: Draft) -> None:
        super().__init__(draft)
        self.files: list[LabelFiles] = []

    def emptied(self, table: LabelTable) -> LabelTable:
        """The table without items."""
        return LabelVocabulary.of(table).empty()

    def note(self, table: LabelTable) -> None:
        """There is nothing that tables do not share."""

    def cut(self, table: LabelTable) -> Callable[[int, int], LabelTable]:
        """What answers the table of some of the items."""
        whole = by_item(table)

        def part(first: int, last: int) -> LabelTable:
            begin, end = np.searchsorted(whole.item, [first, last])
            chosen = slice(*np.searchsorted(whole.answer, [begin, end]))
            left_open = slice(*np.searchsorted(whole.unanswered[:, 0], [begin, end]))
            return replace(
                whole,
                item=whole.item[begin:end] - first,
                rater=whole.rater[begin:end],
                answer=whole.answer[chosen] - begin,
                concept=whole.concept[chosen],
                items=whole.items[first:last],
                unanswered=np.subtract(whole.unanswered[left_open], (begin, 0)),
                time=whole.time[begin:end],
            )

        return part

    def join(self, tables: Sequence[LabelTable]) -> LabelTable:
        """Tables of different items end to end."""
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

    def add(self, table: LabelTable) -> None:
        """Write the next shard."""
        number = len(self.files)
        first = self.files[-1].first_item + self.files[-1].items if self.files else 0
        entry = LabelFiles(
            items_file=f"items-{number:05}.parquet",
            answers_file=f"answers-{number:05}.parquet",
            first_item=first,
            items=len(table.items),
            answers=len(table),
        )
        self.draft.write(entry.items_file, item_table(table, first))
        self.draft.write(entry.answers_file, answer_table(table, first))
        self.files.append(entry)

    def finish(self, first: LabelTable) -> LabelShards:
        """Write the list of shards."""
        shards = LabelShards(self.draft.folder, LabelVocabulary.of(first), tuple(self.files), self.draft.options)
        self.draft.finish(shards.as_json())
        return shards


def by_item(table: LabelTable) -> LabelTable:
    """The same table with answers in the order of items, and their labels in the order of answers.

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
