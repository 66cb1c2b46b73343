"""Disputes: every item and question on which not all raters gave the same answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import divide, total
from kalos_core.chance import tally
from kalos_core.display import number_of
from kalos_core.errors import check_number
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.decisions import ConceptVotes
from kalos_core.nominal.majority import majority_vote
from kalos_core.nominal.table import LabelTable
from kalos_core.options import Option, checked
from kalos_core.results import Result
from kalos_core.sharding import Sharded

if TYPE_CHECKING:
    import pandas as pd

QUORUM = 0.75
"""Default share of the answers below which the leading answer leaves an item in dispute."""


@dataclass(frozen=True, eq=False, repr=False)
class Disputes(Result):
    """D pairs of an item and a question without a unanimous answer, and the agreement on each of I items.

    Figures: ``"shares"``.

    Parameters
    ----------
    table : LabelTable
    item, question : (D,) int
        Codes of the item and of the question (index in `LabelTable.questions`) with at least two different answers.
    share : (D,) float64
        Share of the answers that the leading one has; in a tie, that of each leading one.
    tied : (D,) bool
        Whether several answers lead.
    answers : (D,) int
    agreement : (I,) float64
        Probability that two raters of the item answer a question alike, averaged over the questions that two answered;
        NaN if there are none.

    Examples
    --------
    >>> rows = [("a", "ann", "cat"), ("a", "bob", "cat"), ("a", "cid", "dog"), ("b", "ann", "cat"), ("b", "bob", "cat")]
    >>> table = LabelTable.from_rows([dict(zip(("item", "rater", "label"), row)) for row in rows])
    >>> found = find_disputes(table)
    >>> found.share.round(3).tolist(), found.agreement.round(3).tolist(), found.below(0.6).tolist()
    ([0.667], [0.333, 1.0], [False, False])
    """

    _call = "find_disputes(table)"

    table: LabelTable
    item: NDArray[np.intp]
    question: NDArray[np.intp]
    share: NDArray[np.float64]
    tied: NDArray[np.bool_]
    answers: NDArray[np.intp]
    agreement: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.item)

    def below(self, quorum: float = QUORUM) -> NDArray[np.bool_]:
        """Return which items (I,) have a question whose leading answer has a smaller share of the answers."""
        limit = check_number(quorum, "quorum", above=0, high=1)
        found = np.zeros(len(self.table.items), np.bool_)
        found[self.item[self.share < limit]] = True
        return found

    def of(self, question: str | None = None) -> NDArray[np.intp]:
        """Return the items on which a question, or any, is not unanimous, least agreed first."""
        rows = np.arange(len(self))
        if question is not None:
            self.table.concepts_of(question)  # raises if it is not a question
            rows = np.flatnonzero(self.question == self.table.questions.index(question))
        order = rows[np.lexsort((self.item[rows], self.share[rows]))]
        found, first = np.unique(self.item[order], return_index=True)
        return found[np.argsort(first)]

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{number_of(len(self.item), 'answer')} to {number_of(len(np.unique(self.item)), 'item')} in dispute"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per item and question, in the order of the table."""
        questions = np.array(self.table.questions, dtype=object)[self.question]
        table = self._frame("item:table.items[item] share tied answers")
        table.insert(1, "question", questions)
        return table


Quorum = Annotated[
    float,
    Option(
        "An image is in dispute below this share",
        "Minimum share of the leading answer to each question.",
        above=0,
        high=1,
    ),
]


@checked
def find_disputes(table: LabelTable | Sharded[LabelTable]) -> Disputes:
    """Find every item and question that at least two raters answered, not all of them alike.

    Parameters
    ----------
    table : LabelTable, or shards of one

    Returns
    -------
    Disputes
        Sorted by item, then by question. A concept that an answer leaves open, and a group it breaks, have no answer.
        With shards, the table of the result has no answers.

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": names} for r, names in (("ann", ["sky"]), ("bob", ["sky", "sea"]))]
    >>> found = find_disputes(LabelTable.from_rows(rows, groups=None))
    >>> found.to_pandas()[["question", "share", "tied"]].values.tolist(), found.agreement.tolist()
    ([['sea', 0.5, True]], [0.5])
    """
    if isinstance(table, Sharded):
        parts = table.parts(_disputes_alone, "Disputes")
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in OF_DISPUTES}
        columns["item"] = columns["item"] + np.repeat(table.starts[:-1], [len(part) for part in parts])
        return Disputes(table=table.known, **columns)
    index = {name: code for code, name in enumerate(table.questions)}
    items = len(table.items)
    votes = ConceptVotes.of(table)
    made: list[dict[str, NDArray[Any]]] = [_of_optional(table, votes, index)]
    optional = int((table.group_of == OPTIONAL).sum())
    lost = (votes.gap_decided < 2) & (votes.raters[votes.gap_item] >= 2)
    lost &= table.group_of[votes.gap_concept] == OPTIONAL
    compared = np.where(votes.raters >= 2, optional - np.bincount(votes.gap_item[lost], minlength=items), 0)
    agreeing = compared - total(made[0]["item"], made[0]["differing"], items)
    for name in table.groups.tolist():
        rows, usable, agreement = _of_group(table, str(name), index[str(name)])
        made.append(rows)
        compared = compared + usable
        agreeing = agreeing + agreement
    columns = {key: np.concatenate([part[key] for part in made]) for key in made[0]}
    order = np.lexsort((columns["question"], columns["item"]))
    return Disputes(
        table=table,
        item=columns["item"][order].astype(np.intp),
        question=columns["question"][order].astype(np.intp),
        share=columns["share"][order],
        tied=columns["tied"][order].astype(np.bool_),
        answers=columns["answers"][order].astype(np.intp),
        agreement=divide(agreeing, compared),
    )


OF_DISPUTES = ("item", "question", "share", "tied", "answers", "agreement")
"""Fields of `Disputes` except its table."""


def _disputes_alone(table: LabelTable) -> Disputes:
    return replace(find_disputes(table), table=table.select(items=[]))


def _of_optional(table: LabelTable, votes: ConceptVotes, index: dict[str, int]) -> dict[str, NDArray[Any]]:
    """Return the optional concepts that some raters of an item chose and others did not."""
    chose, decided = votes.chose, votes.decided
    mixed = (table.group_of[votes.concept] == OPTIONAL) & (chose < decided)
    chose, decided = chose[mixed], decided[mixed]
    code = np.array([index.get(str(name), -1) for name in table.concepts], np.intp)
    most = np.maximum(chose, decided - chose)
    return {
        "item": votes.item[mixed],
        "question": code[votes.concept[mixed]],
        "share": most / decided,
        "tied": 2 * chose == decided,
        "answers": decided,
        "differing": 2 * chose * (decided - chose) / (decided * (decided - 1)),
    }


def _of_group(
    table: LabelTable, name: str, code: int
) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_], NDArray[np.float64]]:
    """Return the disputes of a group, (I,) whether two raters answered it, and (I,) how likely these agree."""
    counts = table.counts(name)
    found, vote = tally(counts), majority_vote(counts)
    rows = np.flatnonzero(found.usable & (vote.votes < found.annotations))
    agreement = np.where(found.usable, found.item_agreement, 0.0)
    disputes = {
        "item": rows,
        "question": np.full(len(rows), code),
        "share": vote.share[rows],
        "tied": vote.tied[rows],
        "answers": found.annotations[rows],
        "differing": 1 - agreement[rows],
    }
    return disputes, found.usable, agreement
