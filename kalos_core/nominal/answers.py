"""Preparation of answers for a table: available options, separate ground truth, digests and times."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from kalos_core.errors import as_number
from kalos_core.nominal.build import RawLabels
from kalos_core.nominal.grouping import Groups
from kalos_core.nominal.table import LabelTable


def concepts_of(raw: RawLabels, groups: Groups, known: Sequence[str] = ()) -> list[str]:
    """Return the available options: labels that occur and labels named by the groups, independent of record order.

    Parameters
    ----------
    raw : RawLabels
    groups : Groups
    known : sequence of str
        If all labels exclude each other, these are the options, provided that no other label occurs.

    Examples
    --------
    >>> raw = RawLabels(["a", "b"], ["ann", "ann"], [["dog"], ["cat"]], [None, None])
    >>> concepts_of(raw, "label"), concepts_of(raw, "label", ["owl", "dog", "cat"]), concepts_of(raw, {"x": ["dog"]})
    (['cat', 'dog'], ['owl', 'dog', 'cat'], ['dog', 'cat'])
    """
    used = {name for names in raw.label if names for name in names if isinstance(name, str)}
    if isinstance(groups, str):
        return list(known) if used.issubset(known) else sorted(used)
    named = dict.fromkeys(name for of in (groups or {}).values() for name in of)
    return [*named, *sorted(used.difference(named))]


def split_reference(answers: LabelTable, reference: str | None) -> tuple[LabelTable, LabelTable | None]:
    """Split answers into those of raters and those of the reference; the latter is None if there are none.

    Examples
    --------
    >>> rows = [{"item": "a", "rater": rater, "label": "x"} for rater in ("ann", "gold")]
    >>> [part.raters.tolist() for part in split_reference(LabelTable.from_rows(rows), "gold")]
    [['ann'], ['gold']]
    """
    if reference is None:
        return answers, None
    others = [name for name in answers.raters if name != reference]
    known = answers.select(raters=[reference])
    return answers.select(raters=others), known if len(known) else None


def answers_digest(raw: RawLabels, begin: int, in_order: bool) -> str:
    """Compute a digest of the answers from `begin` on: who answered, when and what, independent of rater order.

    With `in_order` the order of a rater's answers counts, as for exclusive labels, where the first or last may
    count.

    Examples
    --------
    >>> raw = RawLabels(["a", "a"], ["ann", "bob"], [["cat"], ["dog"]], [None, None])
    >>> turned = RawLabels(["a", "a"], ["bob", "ann"], [["dog"], ["cat"]], [None, None])
    >>> answers_digest(raw, 0, True) == answers_digest(turned, 0, True), answers_digest(raw, 1, True) == ""
    (True, False)
    """
    of_rater: dict[str, list[str]] = {}
    for rater, label, time in zip(raw.rater[begin:], raw.label[begin:], raw.time[begin:], strict=True):
        names = label if isinstance(label, list) else [label]
        of_rater.setdefault(str(rater), []).append("\x1f".join([str(time), *sorted(map(str, names))]))
    texts = ["\x1e".join([rater, *(of if in_order else sorted(of))]) for rater, of in of_rater.items()]
    return hashlib.blake2b("\x1d".join(sorted(texts)).encode(), digest_size=8).hexdigest()


def as_seconds(moment: Any) -> float | None:
    """Convert a time to a number: a date to seconds since 1970, anything that is neither to None.

    Examples
    --------
    >>> as_seconds(3), as_seconds(datetime(1970, 1, 1, 0, 1)), as_seconds("noon")
    (3.0, 60.0, None)
    """
    if isinstance(moment, datetime):
        zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
        return zoned.timestamp()
    return as_number(moment)
