"""Image-level labels in dispute, and the labels that follow from decisions about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.decisions.decision import LABEL_DECISIONS, OPEN, UNDECIDED, Decision, Undecided
from kalos_core.display import number_of
from kalos_core.errors import InputError, check_number, listed, lookup, repr_of
from kalos_core.nominal import OPTIONAL, QUORUM, Disputes, LabelTable, majority_labels
from kalos_core.options import checked
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class DisputedAnswer:
    """Question that raters answered differently for an item.

    Parameters
    ----------
    id : str
        Id of 24 digits, derived from item, question and answers, so it is reproducible.
    item, question : int
        Codes of the table.
    given : dict
        Rater -> label; None if they did not choose an optional label. Raters who did not answer are left out.
    """

    id: str
    item: int
    question: int
    given: dict[str, str | None]

    @property
    def against(self) -> list[str]:
        """Raters whose answer is not the most frequent one; all raters if there is a tie."""
        votes = Counter(self.given.values()).most_common(2)
        most, tied = votes[0][0], votes[0][1] == votes[-1][1]
        return [rater for rater, label in self.given.items() if tied or label != most]


@checked
def disputed_answers(disputes: Disputes, quorum: float = QUORUM) -> list[DisputedAnswer]:
    """Return the answers in dispute, for which the most frequent one has less than a given share.

    Parameters
    ----------
    disputes : Disputes
    quorum : float

    Returns
    -------
    list of DisputedAnswer
        Sorted by item, then by ascending agreement.

    Examples
    --------
    >>> from kalos_core.nominal import LabelTable, find_disputes
    >>> rows = [("a", "ann", "cat"), ("a", "bob", "dog"), ("b", "ann", "cat"), ("b", "bob", "cat")]
    >>> table = LabelTable.from_rows([dict(zip(("item", "rater", "label"), row)) for row in rows])
    >>> [(one.item, one.given, one.against) for one in disputed_answers(find_disputes(table))]
    [(0, {'ann': 'cat', 'bob': 'dog'}, ['ann', 'bob'])]
    """
    table = disputes.table
    rows = np.flatnonzero(disputes.share < check_number(quorum, "quorum", above=0, high=1))
    order = rows[np.lexsort((disputes.share[rows], disputes.item[rows]))]
    given = {question: _given(table, question, disputes) for question in np.unique(disputes.question[rows]).tolist()}
    pairs = zip(disputes.item[order].tolist(), disputes.question[order].tolist(), strict=True)
    return [_disputed(table, item, question, given[question][item]) for item, question in pairs]


def _given(table: LabelTable, question: int, disputes: Disputes) -> dict[int, dict[str, str | None]]:
    """Return item in dispute -> rater -> answer to a question, in the order of the raters."""
    name = table.questions[question]
    codes, option = table.concepts_of(name), table.answered(name)
    labels: list[str | None] = [str(label) for label in table.concepts[codes]]
    if table.group_of[codes[0]] == OPTIONAL:
        labels = [None, *labels]
    there = np.isin(table.item, disputes.item[disputes.question == question]) & (option >= 0)
    answers = np.flatnonzero(there)
    found: dict[int, dict[str, str | None]] = {}
    for row in answers[np.lexsort((table.rater[answers], table.item[answers]))].tolist():
        found.setdefault(int(table.item[row]), {})[str(table.raters[table.rater[row]])] = labels[option[row]]
    return found


def _disputed(table: LabelTable, item: int, question: int, given: dict[str, str | None]) -> DisputedAnswer:
    content = repr((table.items[item], table.questions[question], sorted(given.items()))).encode()
    return DisputedAnswer(blake2b(content, digest_size=12).hexdigest(), item, question, given)


@dataclass(frozen=True, eq=False, repr=False)
class ResolvedLabels(Result):
    """Result of `resolve_labels`: N labels of items.

    Figures: ``"origins"``.

    Parameters
    ----------
    items, concepts : (I,), (C,) object
    item, concept : (N,) int
        Codes, sorted by item.
    origin : (N,) object
        "agreed", a decision of `LABEL_DECISIONS`, or "undecided" (in dispute, resolved by majority).
    raters : tuple of tuples
        Raters who gave the item this label.
    note, who : (N,) object
        Note of the decision, and who decided; "" if there is none.
    decided, left_open : int
        Number of disputed questions on items that were decided, and that were not.

    Examples
    --------
    >>> from kalos_core.nominal import LabelTable, find_disputes
    >>> rows = [{"item": "a", "rater": rater, "label": "cat"} for rater in ("ann", "bob")]
    >>> found = resolve_labels(find_disputes(LabelTable.from_rows(rows)))
    >>> found.origin.tolist(), found.raters, found.decided
    (['agreed'], (('ann', 'bob'),), 0)
    """

    _call = "resolve_labels(find_disputes(table))"

    items: NDArray[np.object_]
    concepts: NDArray[np.object_]
    item: NDArray[np.intp]
    concept: NDArray[np.intp]
    origin: NDArray[np.object_]
    raters: tuple[tuple[str, ...], ...]
    note: NDArray[np.object_]
    who: NDArray[np.object_]
    decided: int
    left_open: int

    @property
    def headline(self) -> str:
        """Finding, in words."""
        labels = number_of(len(self.origin), "resolved label")
        return f"{labels}: {number_of(self.decided, 'dispute')} decided, {self.left_open:,} open"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per label, as read by `read_long_labels`: item, rater ("resolved"), label; and its origin."""
        import pandas as pd

        return pd.DataFrame(
            {
                "item": self.items[self.item],
                "rater": "resolved",
                "label": self.concepts[self.concept],
                "origin": self.origin,
                "given_by": [", ".join(names) for names in self.raters],
                "note": self.note,
                "decided_by": self.who,
            }
        )


@checked
def resolve_labels(
    disputes: Disputes, decisions: Iterable[Decision] = (), undecided: Undecided = "majority", quorum: float = QUORUM
) -> ResolvedLabels:
    """Resolve the labels of each item by agreement, then decisions, then majority.

    Parameters
    ----------
    disputes : Disputes
    decisions : iterable of Decision
        Their labels are ids of `disputed_answers`; a later decision overrides earlier ones.
    undecided : name in `UNDECIDED`
        How to resolve open disputes: by the most frequent label, if it is unique, or by dropping them.
    quorum : float
        As in `disputed_answers`; above it, the most frequent label counts as agreed.

    Raises
    ------
    InputError
        If an id belongs to no answer in dispute, a decision is not about labels, a rater did not answer, or the table
        does not have a label.

    Examples
    --------
    >>> from kalos_core.nominal import LabelTable, find_disputes
    >>> rows = [("a", "ann", "cat"), ("a", "bob", "dog"), ("b", "ann", "cat"), ("b", "bob", "owl")]
    >>> table = LabelTable.from_rows([dict(zip(("item", "rater", "label"), row)) for row in rows])
    >>> found = find_disputes(table)
    >>> one, other = disputed_answers(found)
    >>> made = [Decision((one.id,), "take", "bob"), Decision((other.id,), "label", category="dog")]
    >>> resolve_labels(found, made).to_pandas()[["item", "label", "origin"]].values.tolist()
    [['a', 'dog', 'take'], ['b', 'dog', 'label']]
    """
    lookup(UNDECIDED, undecided, "undecided")
    table = disputes.table
    answers = {one.id: one for one in disputed_answers(disputes, quorum)}
    made = {key: one for key, one in _latest(answers, decisions).items() if one.decision not in OPEN}
    question_of = _questions(table)
    in_dispute = {(one.item, one.question): key for key, one in answers.items()}
    rows: list[tuple[int, int, str, str, str]] = []
    majority = majority_labels(table)
    kept = np.flatnonzero(~majority.tied)
    for item, concept in zip(majority.item[kept].tolist(), majority.concept[kept].tolist(), strict=True):
        key = in_dispute.get((item, question_of[concept]))
        if key is None:
            rows.append((item, concept, "agreed", "", ""))
        elif key not in made and undecided == "majority":
            rows.append((item, concept, "undecided", "", ""))
    codes = {name: code for code, name in enumerate(table.concepts.tolist())}
    for key, decision in made.items():
        label = answers[key].given[decision.rater] if decision.rater is not None else decision.category
        if label is not None:
            rows.append((answers[key].item, codes[label], decision.decision, decision.note, decision.who))
    rows.sort()
    item, concept, origin, note, who = zip(*rows, strict=True) if rows else ((),) * 5
    pairs = np.array(item, dtype=np.intp), np.array(concept, dtype=np.intp)
    return ResolvedLabels(
        items=table.items,
        concepts=table.concepts,
        item=pairs[0],
        concept=pairs[1],
        origin=object_array(list(origin)),
        raters=_givers(table, *pairs),
        note=object_array(list(note)),
        who=object_array(list(who)),
        decided=len(made),
        left_open=len(answers) - len(made),
    )


def _latest(answers: dict[str, DisputedAnswer], decisions: Iterable[Decision]) -> dict[str, Decision]:
    """Return id of the answer in dispute -> last decision about it."""
    found: dict[str, Decision] = {}
    for decision in decisions:
        lookup(LABEL_DECISIONS, decision.decision, "decision")
        for key in map(str, decision.labels):
            if key not in answers:
                raise InputError(f"labels: expected ids of answers in dispute, got {repr_of(key)}")
            raters = answers[key].given
            if decision.rater is not None and decision.rater not in raters:
                known = listed(map(repr_of, raters), 20)
                raise InputError(f"rater: expected one who answered, {known}, got {repr_of(decision.rater)}")
            found[key] = decision
    return found


def _questions(table: LabelTable) -> list[int]:
    """Return (C,) the question of each concept."""
    index = {name: code for code, name in enumerate(table.questions)}
    pairs = zip(table.concepts.tolist(), table.group_of.tolist(), strict=True)
    return [index[name if group == OPTIONAL else table.groups[group]] for name, group in pairs]


def _givers(table: LabelTable, item: NDArray[np.intp], concept: NDArray[np.intp]) -> tuple[tuple[str, ...], ...]:
    """Return for each label of an item the raters who gave it."""
    given: dict[tuple[int, int], list[str]] = {}
    owner = table.rater[table.answer]
    for of, label, rater in zip(table.item[table.answer].tolist(), table.concept.tolist(), owner.tolist(), strict=True):
        given.setdefault((of, label), []).append(str(table.raters[rater]))
    pairs: list[Any] = list(zip(item.tolist(), concept.tolist(), strict=True))
    return tuple(tuple(given.get(pair, ())) for pair in pairs)
