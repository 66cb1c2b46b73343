"""Image-level labels of several raters as one frozen table of flat arrays.

Letters used in shapes: A answers, N chosen labels, I items, R raters, C concepts, G groups, K options of one question.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations import Account, object_array
from kalos_core.annotations.columns import new_codes, positions
from kalos_core.arrays import as_array, as_rows, by_item, find_sorted, freeze
from kalos_core.display import number_of
from kalos_core.errors import InputError, check_writable, index_of, is_hashable, listed, repr_of, warn
from kalos_core.nominal.build import OPTIONAL, RawLabels, TableSettings, check_records
from kalos_core.options import checked, takes
from kalos_core.reliability import NOT_ASSIGNED
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class LabelTable(Result):
    """Image-level labels of several raters: their answers to items, and the concepts they chose.

    There are three states. A concept was *chosen*; or it was *not chosen* by a rater who answered; or the rater did
    not answer, which is missing data (there is no answer for the item, or the answer leaves the concept open).

    A *question* is the subject of one coefficient: a group of concepts that exclude each other, where exactly one
    must be chosen, or an optional concept, chosen or not.

    Figures: ``"raters"``.

    Parameters
    ----------
    item, rater : (A,) int
        Codes into `items` and `raters`, one for each answer; every pair occurs at most once.
    answer, concept : (N,) int
        Code of the answer and code into `concepts`, one for each chosen label.
    items : (I,) object
        Ids of the labelled images or other items, in the order of the source.
    raters, concepts, groups : (R,), (C,), (G,) object
        Names.
    group_of : (C,) int
        Code of the group of each concept, `OPTIONAL` for none; by default all are optional.
    unanswered : (X, 2) int
        Codes of an answer and a concept that it leaves open; one concept of a group leaves the whole group open.
    time : (A,) float64
        Time of each answer, in any unit; NaN if unknown.
    account : Account, optional
        What the reader left out, ignored and guessed, as in `Annotations`; `read` counts answers.

    Raises
    ------
    InputError
        If lengths differ, a code is out of range, a rater answers an item twice, a concept is chosen twice in an
        answer or both chosen and left open, or a name is used twice.

    Examples
    --------
    Two raters, one exclusive group and one optional concept; bob did not answer for the second image:

    >>> rows = [
    ...     {"item": "a.jpg", "rater": "ann", "label": ["indoor", "aesthetic"]},
    ...     {"item": "a.jpg", "rater": "bob", "label": ["indoor"]},
    ...     {"item": "b.jpg", "rater": "ann", "label": ["outdoor"]},
    ... ]
    >>> table = LabelTable.from_rows(rows, groups={"place": ["indoor", "outdoor"]})
    >>> table.questions
    ('place', 'aesthetic')
    >>> table.values("place").tolist(), table.values("aesthetic").tolist()
    ([[0, 0], [1, -2]], [[1, 0], [0, -2]])
    """

    _call = "read_long_labels(path)"
    _shows_table = False

    item: NDArray[np.intp]
    rater: NDArray[np.intp]
    answer: NDArray[np.intp]
    concept: NDArray[np.intp]
    items: NDArray[np.object_]
    raters: NDArray[np.object_]
    concepts: NDArray[np.object_]
    groups: NDArray[np.object_] = field(default_factory=lambda: object_array([]))
    group_of: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    unanswered: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 2), np.intp))
    time: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    account: Account = field(default_factory=Account)

    def __post_init__(self) -> None:
        for name in ("items", "raters", "concepts", "groups"):
            freeze(self, name, object_array(getattr(self, name)))
        for name in ("item", "rater", "answer", "concept"):
            freeze(self, name, as_array(getattr(self, name), name, np.intp, "whole numbers").reshape(-1))
        group_of = as_array(self.group_of, "group_of", np.intp, "whole numbers").reshape(-1)
        freeze(self, "group_of", group_of if len(group_of) else np.full(len(self.concepts), OPTIONAL))
        time = as_array(self.time, "time", np.float64, "numbers").reshape(-1)
        freeze(self, "time", time if len(time) else np.full(len(self.item), np.nan))
        freeze(self, "unanswered", as_rows(self.unanswered, "unanswered", np.intp, 2))
        self._check_lengths()
        self._check_codes()
        self._check_names()

    def _check_lengths(self) -> None:
        pairs = (("rater", "item"), ("concept", "answer"), ("group_of", "concepts"), ("time", "item"))
        for name, other in pairs:
            actual, expected = getattr(self, name).shape, (len(getattr(self, other)),)
            if actual != expected:
                raise InputError(f"{name}: expected shape {expected}, as {other} has, got {actual}")

    def _check_codes(self) -> None:
        a, c = len(self.item), len(self.concepts)
        ranges = (
            ("item", self.item, 0, len(self.items)),
            ("rater", self.rater, 0, len(self.raters)),
            ("answer", self.answer, 0, a),
            ("concept", self.concept, 0, c),
            ("group_of", self.group_of, OPTIONAL, len(self.groups)),
            ("unanswered", self.unanswered[:, 0], 0, a),
            ("unanswered", self.unanswered[:, 1], 0, c),
        )
        for name, codes, least, size in ranges:
            if len(codes) and (codes.min() < least or codes.max() >= size):
                raise InputError(f"{name}: expected codes {least} to {size - 1}, got {codes.min()} to {codes.max()}")
        pairs = self.item * len(self.raters) + self.rater
        again = _repeats(pairs)
        if len(again):
            who = (f"{self.raters[self.rater[row]]} on {self.items[self.item[row]]}" for row in again)
            raise InputError(f"answers: expected one answer of a rater to an item, got another of {listed(who)}")
        chosen = self.answer * c + self.concept
        left_open = self.unanswered[:, 0] * c + self.unanswered[:, 1]
        again = _repeats(np.concatenate([chosen, left_open]))
        if len(again):
            raise InputError(
                f"answers: expected a concept once in an answer, chosen or left open, got {len(again):,} again"
            )

    def _check_names(self) -> None:
        alone = self.concepts[self.group_of == OPTIONAL].tolist()
        for name, entries in (
            ("items", self.items.tolist()),
            ("raters", self.raters.tolist()),
            ("concepts", self.concepts.tolist()),
            ("questions (groups and optional concepts)", [*self.groups.tolist(), *alone]),
        ):
            if len(set(entries)) != len(entries):
                again = [entry for entry, times in Counter(entries).items() if times > 1]
                raise InputError(f"{name}: expected each name once, got {listed(map(repr_of, again))} again")
            check_writable(entries, name)
        hollow = [name for code, name in enumerate(self.groups) if code not in self.group_of]
        if hollow:
            raise InputError(f"groups: expected at least one concept in a group, got none in {listed(hollow)}")

    def __len__(self) -> int:
        """Return the number of answers."""
        return len(self.item)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return (
            f"LabelTable({number_of(len(self), 'answer')} of {number_of(len(self.raters), 'rater')} to "
            f"{number_of(len(self.items), 'item')}, "
            f"{number_of(len(self.concepts), 'concept')} in {number_of(len(self.questions), 'question')})"
        )

    def _table(self) -> pd.DataFrame:
        import pandas as pd

        counts = np.bincount(self.rater, minlength=len(self.raters))
        return pd.DataFrame({"rater": self.raters, "answers": counts})

    @classmethod
    @takes(TableSettings)
    def from_rows(cls, rows: Iterable[Mapping[str, Any]], settings: TableSettings) -> LabelTable:
        """Build a table from records, one per label or one per answer.

        Parameters
        ----------
        rows : iterable of mappings
            ``item``, ``rater``, ``label``, and optionally ``time`` (a number). ``label`` is a name, a list of names
            (empty: looked and chose nothing), or None. Integers as names become text.

        Notes
        -----
        If `groups` is a name, every record is an answer. Otherwise the records of a rater and item (and time, if given)
        together form one answer.

        Raises
        ------
        InputError
            For records without item or rater, with a label that is empty, unknown or not a name, or of a rater who has
            already answered; the message names them.

        Examples
        --------
        >>> rows = [("a", "ann", "cat"), ("a", "bob", "dog"), ("b", "ann", "cat")]
        >>> table = LabelTable.from_rows([dict(zip(("item", "rater", "label"), row)) for row in rows])
        >>> table.values("label").tolist()
        [[0, 1], [0, -2]]
        """
        return build_table(RawLabels.of_rows(rows), source="rows", **settings.record())

    @cached_property
    def questions(self) -> tuple[str, ...]:
        """Groups and optional concepts by name, in the order of their first concept."""
        names = (
            self.concepts[code] if group == OPTIONAL else self.groups[group] for code, group in enumerate(self.group_of)
        )
        return tuple(dict.fromkeys(names))

    def options(self, question: str | None = None) -> tuple[str, ...]:
        """Return the (K,) meanings of the values of a question: the concepts of a group, or "not chosen" and "chosen".

        `question` may be left out if there is only one.
        """
        codes = self.concepts_of(question)
        if self.group_of[codes[0]] == OPTIONAL:
            return ("not chosen", "chosen")
        return tuple(self.concepts[codes])

    def concepts_of(self, question: str | None = None) -> NDArray[np.intp]:
        """Return the codes of the concepts of a question, ascending: those of a group, or the one optional concept."""
        if question is None:
            if len(self.questions) != 1:
                raise InputError(f"question: expected a name, as there are several: {listed(self.questions, 20)}")
            question = self.questions[0]
        index_of(self.questions, question, "question")
        groups = self.groups.tolist()
        if question in groups:
            return np.flatnonzero(self.group_of == groups.index(question))
        return np.array([self.concepts.tolist().index(question)])

    def answered(self, question: str | None = None) -> NDArray[np.int32]:
        """Return the option (A,) that each answer gives to a question, `NOT_ASSIGNED` if it gives none.

        An answer with none or several concepts of a group gives none: see `check_groups`.
        """
        codes = self.concepts_of(question)
        option = find_sorted(codes, self.concept)
        here = option >= 0
        times = np.bincount(self.answer[here], minlength=len(self))
        values = np.full(len(self), NOT_ASSIGNED, np.int32)
        if self.group_of[codes[0]] == OPTIONAL:
            values = times.astype(np.int32)
        else:
            values[self.answer[here]] = option[here]
            values[times != 1] = NOT_ASSIGNED
        values[self.unanswered[np.isin(self.unanswered[:, 1], codes), 0]] = NOT_ASSIGNED
        return values

    def values(self, question: str | None = None) -> NDArray[np.int32]:
        """Return the reliability matrix (I, R): the option each rater gave each item, `NOT_ASSIGNED` if none."""
        values = np.full((len(self.items), len(self.raters)), NOT_ASSIGNED, np.int32)
        values[self.item, self.rater] = self.answered(question)
        return values

    def counts(self, question: str | None = None) -> scipy.sparse.csr_array:
        """Count how many raters gave each option to each item (I, K)."""
        values = self.answered(question)
        given = values >= 0
        shape = (len(self.items), len(self.options(question)))
        ones = np.ones(int(given.sum()), np.int64)
        counts = scipy.sparse.coo_array((ones, (self.item[given], values[given])), shape=shape).tocsr()
        counts.sum_duplicates()
        return counts

    def decisions(self, rater: str) -> NDArray[np.int8]:
        """Return the decisions (I, C) of one rater: 1 chosen, 0 not chosen, `NOT_ASSIGNED` missing.

        If an answer chose none or several concepts of a group, the group is missing.
        """
        names = self.raters.tolist()
        mine = np.flatnonzero(self.rater == index_of(names, rater, "rater"))
        found = np.full((len(self.items), len(self.concepts)), NOT_ASSIGNED, np.int8)
        found[self.item[mine]] = 0
        chosen_labels = np.isin(self.answer, mine)
        found[self.item[self.answer[chosen_labels]], self.concept[chosen_labels]] = 1
        left_open = self.unanswered[np.isin(self.unanswered[:, 0], mine)]
        found[self.item[left_open[:, 0]], left_open[:, 1]] = NOT_ASSIGNED
        for group in range(len(self.groups)):
            within = np.flatnonzero(self.group_of == group)
            usable = (found[:, within] == 1).sum(axis=1) == 1
            usable &= (found[:, within] != NOT_ASSIGNED).all(axis=1)
            found[np.ix_(~usable, within)] = NOT_ASSIGNED
        return found

    @checked
    def select(self, items: ArrayLike | None = None, raters: Sequence[str] | None = None) -> LabelTable:
        """Return a part of the table: items by a mask (I,) or codes, raters by name, in the given order."""
        kept_items = positions(items, len(self.items), "items")
        names = self.raters.tolist()
        unknown = [
            name for name in (() if raters is None else raters) if not is_hashable(name) or name not in set(names)
        ]
        if unknown:
            raise InputError(f"raters: expected names among {listed(names, 20)}, got {listed(map(repr_of, unknown))}")
        chosen = None if raters is None else [names.index(name) for name in raters]
        kept_raters = positions(chosen, len(names), "raters")
        item_code, rater_code = new_codes(kept_items, len(self.items)), new_codes(kept_raters, len(names))
        kept = (item_code[self.item] >= 0) & (rater_code[self.rater] >= 0)
        left = self.without_answers(~kept)
        return replace(
            left,
            item=item_code[left.item],
            rater=rater_code[left.rater],
            items=self.items[kept_items],
            raters=self.raters[kept_raters],
        )

    def without_answers(self, gone: NDArray[np.bool_]) -> LabelTable:
        """Return the table with the same items and raters but without the answers marked in `gone` (A,).

        Examples
        --------
        >>> table = LabelTable.from_rows([{"item": 1, "rater": rater, "label": "cat"} for rater in ("ann", "bob")])
        >>> table.without_answers(np.array([True, False])).values().tolist()
        [[-2, 0]]
        """
        kept = ~as_array(gone, "gone", np.bool_, "truth values")
        if kept.shape != self.item.shape:
            raise InputError(f"gone: expected {len(self.item)} truth values, got shape {kept.shape}")
        answer_code = np.where(kept, np.cumsum(kept) - 1, -1)
        chosen_labels = kept[self.answer]
        unanswered = self.unanswered[kept[self.unanswered[:, 0]]]
        return replace(
            self,
            item=self.item[kept],
            rater=self.rater[kept],
            answer=answer_code[self.answer[chosen_labels]],
            concept=self.concept[chosen_labels],
            unanswered=np.column_stack([answer_code[unanswered[:, 0]], unanswered[:, 1]]),
            time=self.time[kept],
        )

    @checked
    def regroup(self, groups: Mapping[str, Sequence[str]] | None) -> LabelTable:
        """Return the same answers with other groups of concepts that exclude each other; None: all are optional.

        Raises
        ------
        InputError
            For a concept that the table lacks, or that is in two groups, or a group without concepts.

        Examples
        --------
        >>> table = LabelTable.from_rows([{"item": 1, "rater": "ann", "label": ["day", "sky"]}], groups=None)
        >>> table.regroup({"time": ["day"]}).questions
        ('time', 'sky')
        """
        named = {name: list(concepts) for name, concepts in (groups or {}).items()}
        group_of = np.full(len(self.concepts), OPTIONAL)
        known = self.concepts.tolist()
        for code, (name, concepts) in enumerate(named.items()):
            for concept in concepts:
                if concept not in known:
                    raise InputError(f"groups: expected concepts of the table in {name!r}, got {repr_of(concept)}")
                if group_of[known.index(concept)] != OPTIONAL:
                    raise InputError(f"groups: expected a concept in one group, got {repr_of(concept)} again")
                group_of[known.index(concept)] = code
        return replace(self, groups=object_array(named), group_of=group_of)

    @property
    def raw(self) -> RawLabels:
        """Answers as records; `build_table` restores the table from them, except for concepts that are left open.

        Examples
        --------
        >>> LabelTable.from_rows([{"item": 1, "rater": "ann", "label": "cat"}]).raw.label
        [['cat']]
        """
        labels = list(by_item(self.answer, self.concepts[self.concept], len(self)))
        times = [None if math.isnan(time) else time for time in self.time.tolist()]
        return RawLabels(self.items[self.item].tolist(), self.raters[self.rater].tolist(), labels, times)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per chosen label, and one without a label per answer that chose nothing."""
        import pandas as pd

        silent = np.setdiff1d(np.arange(len(self)), self.answer)
        answer = np.concatenate([self.answer, silent])
        label = object_array([*self.concepts[self.concept], *[None] * len(silent)])
        order = np.argsort(answer, kind="stable")
        who = answer[order]
        return pd.DataFrame(
            {
                "item": self.items[self.item[who]],
                "rater": self.raters[self.rater[who]],
                "label": label[order],
                "time": self.time[who],
            }
        )


@checked
def build_table(
    raw: RawLabels,
    *,
    source: str,
    describe: Callable[[int], str] | None = None,
    account: Account | None = None,
    **options: Any,
) -> LabelTable:
    """Check the records of a reader and convert them to a `LabelTable`; every reader uses this function.

    Options are those of `LabelTable.from_rows`; `describe` names the record of a row in messages. Records that are left
    out are counted in the account of the reader, with a warning.

    Examples
    --------
    >>> raw = RawLabels([1, 2], ["ann"] * 2, ["cat"] * 2, [None] * 2)
    >>> build_table(raw, source="labels.csv", account=Account(notes=["item = image"])).account.record()
    {'read': 2, 'left_out': {}, 'unused': {}, 'notes': ['item = image']}
    """
    account = Account() if account is None else account
    fields = check_records(raw, source, TableSettings.of(options), describe, account)
    table = LabelTable(**fields, account=account)
    account.read = len(table)
    if said := account.passed_over():
        text = " ".join([f"{source}: {number_of(len(table), 'answer is', 'answers are')} read.", *said])
        warn(text)
    return table


def _repeats(keys: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows whose key occurred before."""
    ordered = np.sort(keys)
    if (ordered[1:] != ordered[:-1]).all():
        return np.zeros(0, np.intp)
    first = np.unique(keys, return_index=True)[1]
    return np.setdiff1d(np.arange(len(keys)), first)
