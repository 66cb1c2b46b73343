"""Conversion of the records of a reader to the columns of a `LabelTable`, with every check of every record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from operator import not_
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Account, as_name, object_array
from kalos_core.arrays import expand_runs, run_starts
from kalos_core.errors import InputError, Problems, as_number, is_hashable, listed, repr_of
from kalos_core.nominal.grouping import Grouping, Groups
from kalos_core.options import Option, Settings

OPTIONAL = -1
"""Group of a stand-alone concept: any number of such concepts may be chosen."""

OnRepeat = Literal["raise", "first", "last"]
"""Treatment of a rater who answered an item twice: an error that names them, or their first or last answer counts."""

OnEmpty = Literal["raise", "none", "skip"]
"""Meaning of a row without a label: an error, "looked and chose nothing", or no answer."""

OnUnknown = Literal["raise", "skip"]
"""Treatment of a label that is not in the vocabulary: an error, or it is left out with a warning."""


Repeats = Annotated[
    OnRepeat,
    Option(
        "Repeated answers",
        "Repeated answers of a rater to an item, sorted by time if every record has one, else in the order of records.",
        choices={"raise": "an error that names them", "first": "the first counts", "last": "the last counts"},
    ),
]


Items = Annotated[
    Sequence[Hashable] | None,
    Option(
        "Items",
        "All items in the desired order, including those that no rater labelled; by default those that occur.",
        type="sequence, optional",
    ),
]

RaterNames = Annotated[
    Sequence[str] | None,
    Option("Raters", "All raters in the desired order; by default those that occur.", type="sequence of str, optional"),
]

Concepts = Annotated[
    Sequence[str] | None,
    Option(
        "Labels",
        "All labels in the desired order, including those that no rater chose; by default those that occur.",
        type="sequence of str, optional",
    ),
]

Unlabelled = Annotated[
    OnEmpty,
    Option(
        "Records without a label",
        "Meaning of records without a label.",
        choices={
            "raise": "an error",
            "none": "the rater looked and chose nothing",
            "skip": "the rater did not answer",
        },
    ),
]

Unknown = Annotated[
    OnUnknown,
    Option(
        "Labels that are not in the vocabulary",
        "Treatment of labels that are not in the vocabulary.",
        choices={"raise": "an error", "skip": "they are left out with a warning"},
    ),
]


@dataclass(frozen=True, kw_only=True)
class TableSettings(Settings):
    """Settings for building a table from records.

    Examples
    --------
    >>> TableSettings(groups={"place": "indoor"})
    Traceback (most recent call last):
    kalos_core.errors.InputError: groups: expected names with a list each, got {'place': 'indoor'}
    """

    groups: Grouping = "label"
    items: Items = None
    raters: RaterNames = None
    concepts: Concepts = None
    on_repeat: Repeats = "raise"
    on_empty: Unlabelled = "raise"
    on_unknown: Unknown = "raise"

    @property
    def vocabulary(self) -> list[str] | None:
        """Concepts known beforehand; None if they are those that occur."""
        return _vocabulary(self.concepts, self.groups)


@dataclass
class RawLabels:
    """Records of a reader before any check, one entry each. Missing values are None."""

    item: list[Any] = field(default_factory=list)
    rater: list[Any] = field(default_factory=list)
    label: list[Any] = field(default_factory=list)
    time: list[Any] = field(default_factory=list)

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]]) -> RawLabels:
        """Build from mappings with the keys ``item``, ``rater``, ``label`` and, optionally, ``time``."""
        records: list[Any] = list(rows)
        problems = Problems("rows")
        strange = [index for index, row in enumerate(records) if not isinstance(row, Mapping)]
        problems.add_all(strange, lambda row: f"record {row + 1}", "a mapping", lambda row: repr_of(records[row]))
        problems.raise_if_any()
        return cls(*([row.get(key) for row in records] for key in ("item", "rater", "label", "time")))

    def __len__(self) -> int:
        return len(self.item)

    def updated(self, fresh: RawLabels, changed: Collection[Hashable], items: Sequence[Hashable]) -> RawLabels:
        """Return the records of some items, in order: from `fresh` for items in `changed`, from this for all others.

        Examples
        --------
        >>> old, new = (RawLabels([1, 2], ["ann"] * 2, [label] * 2, [None] * 2) for label in ("old", "new"))
        >>> old.updated(new, changed={2}, items=[2, 1]).label
        ['new', 'old']
        """
        rows: dict[Hashable, list[tuple[Any, ...]]] = {item: [] for item in items}
        for records, are_fresh in ((self, False), (fresh, True)):
            for row in zip(records.item, records.rater, records.label, records.time, strict=True):
                if row[0] in rows and (row[0] in changed) is are_fresh:
                    rows[row[0]].append(row)
        columns = zip(*(row for of_item in rows.values() for row in of_item), strict=True)
        return RawLabels(*map(list, columns))


@dataclass(frozen=True)
class CodedLabels:
    """Records of a reader as codes; the names are strings, each once, in the order of first occurrence.

    Parameters
    ----------
    item, rater, label : (N,) int
    items, raters, labels : list of str
    parts : list of list of str
        Concepts that each of `labels` names.
    time : (N,) float64
        NaN if unknown.
    """

    item: NDArray[np.intp]
    rater: NDArray[np.intp]
    label: NDArray[np.intp]
    items: list[str]
    raters: list[str]
    labels: list[str]
    parts: list[list[str]]
    time: NDArray[np.float64]


@dataclass(frozen=True)
class _Answer:
    """Answer of a rater to an item: its concepts, its first record, and its time."""

    concepts: list[str]
    record: int
    time: float


def check_records(
    raw: RawLabels, source: str, settings: TableSettings, describe: Callable[[int], str] | None, account: Account
) -> dict[str, Any]:
    """Check records and return the fields of a `LabelTable`; arguments as in `build_table`."""
    checked = _Records(raw, source, describe or (lambda row: f"record {row + 1}"), settings, account)
    checked.check_names()
    labels = checked.labels()
    times = checked.times()
    answers = _answers(raw, labels, times, together=not isinstance(settings.groups, str))
    kept = checked.without_repeats(answers)
    checked.problems.raise_if_any()
    used = dict.fromkeys(name for found in labels if found is not None for name in found)
    names = settings.vocabulary or list(used)
    items, raters = settings.items, settings.raters
    item_names = list(dict.fromkeys(raw.item)) if items is None else list(items)
    rater_names = list(dict.fromkeys(map(as_name, raw.rater))) if raters is None else [as_name(r) for r in raters]
    return _columns(kept, item_names, rater_names, names, settings.groups)


def check_codes(coded: CodedLabels, settings: TableSettings) -> dict[str, Any] | None:
    """Do the same as `check_records` for records without faults; return None if one needs a closer look.

    Each name is checked once, whatever the number of records.
    """
    groups, items, raters, on_empty = settings.groups, settings.items, settings.raters, settings.on_empty
    vocabulary = settings.vocabulary
    blank = [not label.strip() for label in coded.labels]
    names = vocabulary or list(dict.fromkeys(chain.from_iterable(compress(coded.parts, map(not_, blank)))))
    item_names = coded.items if items is None else list(items)
    rater_names = coded.raters if raters is None else [as_name(name) for name in raters]
    faults = (
        not len(coded.item),
        not all(coded.items) or not set(coded.items) <= set(item_names),
        not all(coded.raters) or not set(coded.raters) <= set(rater_names),
        any(blank) and on_empty == "raise",
        not set(chain.from_iterable(compress(coded.parts, map(not_, blank))))
        <= set(names if vocabulary is None else vocabulary),
        any(len(set(part)) < len(part) for part in coded.parts),
    )
    if any(faults):
        return None
    kept = np.ones(len(coded.item), np.bool_) if on_empty == "none" else ~np.array(blank, np.bool_)[coded.label]
    pair = coded.item[kept] * len(coded.raters) + coded.rater[kept]
    first, answer = _in_order(pair)
    are_several = len(first) < len(pair)
    del pair
    if are_several and (isinstance(groups, str) or not np.isnan(coded.time).all()):
        return None  # repeated answers
    fields, code = _vocabularies(item_names, rater_names, names, groups)
    parts = [[] if empty else [code[name] for name in part] for part, empty in zip(coded.parts, blank, strict=True)]
    length = np.array([len(part) for part in parts], np.intp)
    label = coded.label[kept]
    owner, position = expand_runs(run_starts(length)[label], length[label])
    concept = np.array(list(chain.from_iterable(parts)), dtype=np.intp)[position]
    chosen = answer[owner]
    if are_several:  # the labels of an answer are in several records
        order = np.argsort(chosen, kind="stable")
        chosen, concept = chosen[order], concept[order]
        if len(np.unique(chosen * len(code) + concept)) < len(chosen):
            return None
    recode = [
        np.array(list(map({name: c for c, name in enumerate(known)}.__getitem__, used)), np.intp)
        for used, known in ((coded.items, item_names), (coded.raters, rater_names))
    ]
    return fields | {
        "item": recode[0][coded.item[kept][first]],
        "rater": recode[1][coded.rater[kept][first]],
        "answer": chosen,
        "concept": concept,
        "time": coded.time[kept][first],
    }


def _in_order(keys: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each distinct key first occurs, ascending, and the index of its key among these for each entry.

    Examples
    --------
    >>> [array.tolist() for array in _in_order(np.array([7, 3, 7, 5]))]
    [[0, 1, 3], [0, 1, 0, 2]]
    """
    if (keys[1:] > keys[:-1]).all():  # each once, as in most tables
        every = np.arange(len(keys))
        return every, every
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(distinct), np.intp)
    rank[order] = np.arange(len(distinct))
    return first[order], rank[inverse]


def _vocabulary(concepts: Sequence[str] | None, groups: Groups) -> list[str] | None:
    """Return the concepts known beforehand; None if they are those that occur."""
    if concepts is None:
        return None
    names = [as_name(name) for name in concepts]
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong or len(set(names)) != len(names):
        raise InputError(f"concepts: expected names, each once, got {listed(map(repr_of, wrong or names))}")
    grouped = [] if groups is None or isinstance(groups, str) else [name for of in groups.values() for name in of]
    unknown = [name for name in map(as_name, grouped) if name not in names]
    if unknown:
        raise InputError(f"groups: expected concepts among {listed(names, 20)}, got {listed(map(repr_of, unknown))}")
    return names


@dataclass
class _Records:
    """Records of one source, and their problems."""

    raw: RawLabels
    source: str
    name_of: Callable[[int], str]
    settings: TableSettings
    account: Account
    problems: Problems = field(init=False)

    def __post_init__(self) -> None:
        self.problems = Problems(self.source)
        if not len(self.raw):
            raise InputError(f"{self.source}: expected at least one record, got none")

    def check_names(self) -> None:
        """Check that every record has an item and a rater, from the vocabularies where these are given."""
        items, raters = self.settings.items, self.settings.raters
        known_items = None if items is None else set(items)
        known_raters = None if raters is None else {as_name(name) for name in raters}
        for row, (item, rater) in enumerate(zip(self.raw.item, self.raw.rater, strict=True)):
            if item is None or not is_hashable(item) or item != item or item == "":
                self.problems.add(self.name_of(row), "an item", "nothing" if _is_empty(item) else repr_of(item))
            elif known_items is not None and item not in known_items:
                self.problems.add(self.name_of(row), "an item of the vocabulary", repr_of(item))
            name = as_name(rater)
            if not isinstance(name, str):
                self.problems.add(self.name_of(row), "a rater", "nothing" if _is_empty(rater) else repr_of(rater))
            elif known_raters is not None and name not in known_raters:
                self.problems.add(self.name_of(row), "a rater of the vocabulary", repr_of(name))
        self.problems.raise_if_any()

    def labels(self) -> list[list[str] | None]:
        """Return the concepts of every record; None for a record that is left out."""
        known, on_empty = self.settings.vocabulary, self.settings.on_empty
        vocabulary = None if known is None else set(known)
        left_out: dict[str, int] = {}
        found: list[list[str] | None] = []
        for row, label in enumerate(self.raw.label):
            if _is_empty(label):
                if on_empty == "raise":
                    self.problems.add(self.name_of(row), "a label", "nothing")
                found.append([] if on_empty == "none" else None)
                continue
            names = [as_name(entry) for entry in label] if isinstance(label, (list, tuple)) else [as_name(label)]
            wrong = [name for name in names if not isinstance(name, str)]
            strange = [] if vocabulary is None or wrong else [name for name in names if name not in vocabulary]
            if wrong:
                self.problems.add(self.name_of(row), "names of labels", listed(map(repr_of, wrong)))
            elif strange and self.settings.on_unknown == "raise":
                self.problems.add(self.name_of(row), "a label of the vocabulary", listed(map(repr_of, strange)))
            for name in strange:
                left_out[name] = left_out.get(name, 0) + 1
            kept = [name for name in names if name not in strange]
            found.append(kept if kept or not strange else None)
        self.problems.raise_if_any()
        if left_out:
            text = listed(f"{name!r} ({times:,})" for name, times in left_out.items())
            self.account.left_out[f"labels that are not in the vocabulary: {text}"] += sum(left_out.values())
        return found

    def times(self) -> list[float]:
        """Return the time of each record, NaN if unknown."""
        numbers = []
        for row, time in enumerate(self.raw.time):
            number = float("nan") if time is None else as_number(time)
            if number is None:
                self.problems.add(self.name_of(row), "a number as its time", repr_of(time))
            numbers.append(float("nan") if number is None else number)
        self.problems.raise_if_any()
        return numbers

    def without_repeats(self, answers: dict[tuple[Any, Any], list[_Answer]]) -> dict[tuple[Any, Any], _Answer]:
        """Return one answer of each rater to each item; add repeats to the problems if they are errors."""
        on_repeat = self.settings.on_repeat
        timed = all(answer.time == answer.time for several in answers.values() for answer in several)
        kept = {}
        for (item, rater), several in answers.items():
            if on_repeat == "raise":
                self._refuse_repeats(item, rater, several)
            ordered = sorted(several, key=lambda answer: answer.time) if timed else several
            kept[item, rater] = ordered[-1 if on_repeat == "last" else 0]
            if on_repeat != "raise" and len(several) > 1:
                why = f"repeated answers of one rater to one item (on_repeat={on_repeat!r})"
                self.account.left_out[why] += len(several) - 1
        return kept

    def _refuse_repeats(self, item: Any, rater: Any, several: list[_Answer]) -> None:
        for answer in several[1:]:
            actual = f"{rater!r} on {item!r} again (on_repeat='first' or 'last' keeps one)"
            self.problems.add(self.name_of(answer.record), "one answer of a rater to an item", actual)
        for answer in several:
            again = [name for name in dict.fromkeys(answer.concepts) if answer.concepts.count(name) > 1]
            if again:
                actual = f"{listed(map(repr_of, again))} again by {rater!r} on {item!r}"
                self.problems.add(self.name_of(answer.record), "a label once in an answer", actual)


def _is_empty(value: object) -> bool:
    """Check for None, an empty string, or NaN, which represent empty cells in tables."""
    return (
        value is None or (isinstance(value, str) and not value.strip()) or bool(np.isscalar(value) and value != value)
    )


def _answers(
    raw: RawLabels, labels: list[list[str] | None], times: list[float], together: bool
) -> dict[tuple[Any, Any], list[_Answer]]:
    """Return the answers of each rater to each item; with `together`, records of the same time form one answer."""
    answers: dict[tuple[Any, Any], list[_Answer]] = {}
    for row, (item, rater, found, time) in enumerate(zip(raw.item, raw.rater, labels, times, strict=True)):
        if found is None:
            continue
        several = answers.setdefault((item, as_name(rater)), [])
        same = next((entry for entry in several if together and _is_same_time(entry.time, time)), None)
        if same is None:
            several.append(_Answer(list(found), row, time))
        else:
            same.concepts.extend(found)
    return answers


def _is_same_time(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)  # unknown times are equal


def _columns(
    kept: Mapping[tuple[Any, Any], _Answer],
    items: list[Any],
    raters: list[str],
    concepts: list[str],
    groups: Groups,
) -> dict[str, Any]:
    """Replace names by codes."""
    fields, concept_code = _vocabularies(items, raters, concepts, groups)
    item_code, rater_code = ({name: c for c, name in enumerate(of)} for of in (items, raters))
    chosen_labels = [
        (index, concept_code[name])
        for index, answer in enumerate(kept.values())
        for name in dict.fromkeys(answer.concepts)
    ]
    answer, concept = np.array(chosen_labels, dtype=np.intp).reshape(-1, 2).T
    return fields | {
        "item": np.array([item_code[item] for item, _ in kept], np.intp),
        "rater": np.array([rater_code[rater] for _, rater in kept], np.intp),
        "answer": answer,
        "concept": concept,
        "time": np.array([answer.time for answer in kept.values()]),
    }


def _vocabularies(
    items: list[Any], raters: list[str], concepts: list[str], groups: Groups
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the fields that hold names, and the code of each concept."""
    if isinstance(groups, str):
        groups = {groups: concepts}
    members = {name: [as_name(entry) for entry in of] for name, of in (groups or {}).items()}
    listed_twice = [name for of in members.values() for name in of]
    if len(set(listed_twice)) != len(listed_twice):
        raise InputError("groups: expected every concept in one group at most, got some in several or twice")
    concepts = list(dict.fromkeys([*concepts, *listed_twice]))
    concept_code = {name: c for c, name in enumerate(concepts)}
    group_of = np.full(len(concepts), OPTIONAL)
    for code, of in enumerate(members.values()):
        group_of[[concept_code[name] for name in of]] = code
    names = {"items": items, "raters": raters, "concepts": concepts, "groups": list(members)}
    return {name: object_array(of) for name, of in names.items()} | {"group_of": group_of}, concept_code
