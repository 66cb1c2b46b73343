"""Teams of raters, such as experts and a crowd: agreement within each, between them, and of their majorities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.arrays import divide
from kalos_core.chance import chance_corrected, expected_of_categories, tally
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.inference import clear_of_chance, intervals
from kalos_core.limits import check_replicates
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.majority import majority_vote
from kalos_core.nominal.questions import check_two_raters
from kalos_core.nominal.table import LabelTable
from kalos_core.options import BootstrapSettings, takes
from kalos_core.resampling import draws_of_kinds
from kalos_core.results import Result, crossed
from kalos_core.sharding import Sharded, known_of, parts_of
from kalos_core.text import plain

if TYPE_CHECKING:
    import pandas as pd

Number = TypeVar("Number", np.float64, np.intp)

COMPARISONS = ("within first", "within second", "between", "majorities", "first minus second")
"""Comparisons, in the order of the columns of `TeamComparison`."""


@dataclass(frozen=True, eq=False, repr=False)
class TeamComparison(Result):
    """Agreement of two teams on each of Q questions; columns are those of `COMPARISONS`.

    Figures: ``"teams"``.

    Parameters
    ----------
    first, second : str
        Names of the teams.
    question : (Q,) object
    agreement : (Q, 5) float64
        Mean over items of the probability of agreement: of two raters of the first team, two of the second, one of
        each, and the two majorities; last, the first minus the second. NaN if it is defined on no item.
    agreement_interval : (Q, 5, 2) float64
        95 % bootstrap interval over items, with the same replicates for all columns.
    kappa : (Q, 5) float64
        Agreement as free-marginal kappa, (P - 1/k) / (1 - 1/k).
    kappa_interval : (Q, 5, 2) float64
    items : (Q, 5) int
        Number of items in the mean; for a difference, that of the team with fewer items.

    Examples
    --------
    >>> labels = {"e1": "xy", "e2": "xy", "c1": "xx", "c2": "yy"}
    >>> rows = [{"item": i, "rater": r, "label": c} for r, text in labels.items() for i, c in enumerate(text)]
    >>> result = compare_teams(LabelTable.from_rows(rows), {"experts": ["e1", "e2"], "crowd": ["c1", "c2"]})
    >>> result.agreement[0].tolist()
    [1.0, 0.0, 0.5, nan, 1.0]
    """

    _call = "compare_teams(table, teams)"

    first: str
    second: str
    question: NDArray[np.object_]
    agreement: NDArray[np.float64]
    agreement_interval: NDArray[np.float64]
    kappa: NDArray[np.float64]
    kappa_interval: NDArray[np.float64]
    items: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.question)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, with the names of the teams."""
        between = f"{self.first} with {self.second}"
        return (self.first, self.second, between, "majorities", f"{self.first} − {self.second}")

    @property
    def differs(self) -> NDArray[np.bool_]:
        """(Q,) whether the difference is more than chance; about one in twenty of these is due to chance."""
        return clear_of_chance(self.agreement[:, -1], self.agreement_interval[:, -1], self.items[:, -1])

    @property
    def headline(self) -> str:
        """The finding, in words."""
        apart = self.question[self.differs].tolist()
        some = f"{', such as' * (len(apart) > 3)}: {', '.join(map(plain, apart[:3]))}" if apart else ""
        teams = f"{plain(self.first)} and {plain(self.second)}"
        return f"{teams} differ on {len(apart)} of {number_of(len(self), 'question')}{some}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per question and comparison."""
        return crossed(
            {"question": self.question, "comparison": self.names},
            agreement=self.agreement,
            agreement_interval=self.agreement_interval,
            kappa=self.kappa,
            kappa_interval=self.kappa_interval,
            items=self.items,
        )


@takes(BootstrapSettings)
def compare_teams(
    table: LabelTable | Sharded[LabelTable], teams: Mapping[str, Sequence[str]], settings: BootstrapSettings
) -> TeamComparison:
    """Compare two teams of raters: agreement within each, between them, and of their majorities (Nowak & Rüger §5.3).

    Parameters
    ----------
    table : LabelTable, or shards of one
    teams : mapping of two names to rater names
        A rater may be in one team only; raters in neither are left out.

    Returns
    -------
    TeamComparison

    Raises
    ------
    InputError
        If there are not two teams, a team is empty, a rater is unknown, or a rater is in both.

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": "x"} for r in ("ann", "bob", "cid")]
    >>> result = compare_teams(LabelTable.from_rows(rows, concepts=["x", "y"]), {"a": ["ann", "bob"], "b": ["cid"]})
    >>> result.agreement[0].tolist(), result.items[0].tolist()
    ([1.0, nan, 1.0, 1.0, nan], [1, 0, 1, 1, 0])
    """
    known = check_two_raters(known_of(table))
    bootstrap, seed = check_replicates(settings.bootstrap, len(known.items)), settings.seed
    names = _check_teams(teams)
    for name in names:
        known.select(raters=list(teams[name]))  # raises for unknown raters
    parts = parts_of(table, partial(_questions, teams=[list(teams[name]) for name in names]), "Teams")
    made = []
    for of_question in zip(*parts, strict=True):
        by_item, items = (np.concatenate(column) for column in zip(*of_question, strict=True))
        made.append(_compared(by_item, items, bootstrap, seed))
    agreement, interval, items = (np.stack(column) for column in zip(*made, strict=True))
    expected = expected_of_categories([len(known.options(question)) for question in known.questions])[:, None]
    kept = (1 - expected) * np.array([0, 0, 0, 0, 1])  # a difference is not corrected for chance
    return TeamComparison(
        first=names[0],
        second=names[1],
        question=np.array(known.questions, dtype=object),
        agreement=agreement,
        agreement_interval=interval,
        kappa=chance_corrected(1 - agreement - kept, expected),
        kappa_interval=chance_corrected(1 - interval - kept[..., None], expected[..., None]),
        items=items,
    )


def _questions(table: LabelTable, teams: Sequence[list[str]]) -> list[tuple[NDArray[np.float64], NDArray[np.intp]]]:
    """Return for each question the rows (M, 4) of `_by_item`, and (M,) the number of items of each row."""
    first, second = (table.select(raters=raters) for raters in teams)
    groups, optional = set(table.groups), _Optional.of(first, second)
    made = []
    for name in table.questions:
        if name in groups:
            by_item = _by_item(first.counts(name), second.counts(name))
            made.append((by_item, np.ones(len(by_item), np.intp)))
        else:
            made.append(optional.by_item(table.concepts_of(name)[0]))
    return made


def _check_teams(teams: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    if len(teams) != 2:
        raise InputError(f"teams: expected two names with their raters, got {repr_of(teams)}")
    first, second = teams
    hollow = [name for name in teams if not len(teams[name])]
    if hollow:
        raise InputError(f"teams: expected at least one rater in each, got none in {listed(map(repr_of, hollow))}")
    both = sorted(set(teams[first]) & set(teams[second]))
    if both:
        raise InputError(f"teams: expected each rater in one team only, got {listed(map(repr_of, both))} in both")
    return first, second


def _by_item(first: scipy.sparse.csr_array, second: scipy.sparse.csr_array) -> NDArray[np.float64]:
    """Compute the probability of agreement (I, 4) of each item: within each team, between, and of the majorities."""
    one, other = tally(first), tally(second)
    pairs = one.annotations * other.annotations
    same = np.asarray(first.multiply(second).sum(axis=1)).ravel()
    between = divide(same, pairs)
    leaders = majority_vote(first).winner, majority_vote(second).winner
    decided = (leaders[0] >= 0) & (leaders[1] >= 0)
    majorities = np.where(decided, (leaders[0] == leaders[1]).astype(np.float64), np.nan)
    return np.column_stack([one.item_agreement, other.item_agreement, between, majorities])


@dataclass(frozen=True, eq=False)
class _Optional:
    """Optional concepts of two teams; each item of a concept is one of G kinds, by how many answered and chose it.

    Most of many concepts are chosen by hardly any rater. Nearly all items then differ between concepts only in who
    answered, and only the other items are processed one by one.

    Parameters
    ----------
    values : (G, 4) float64
        As in `_by_item`.
    silent : (I,) int
        Kind of each item if no rater chose a concept or left it open.
    times : (G,) int
        Number of items of each of these kinds.
    item, kind : (M,) int
        Items where some rater did, by concept, and their kind.
    start : (C + 1,) int
        Start of each concept.
    """

    values: NDArray[np.float64]
    silent: NDArray[np.intp]
    times: NDArray[np.intp]
    item: NDArray[np.intp]
    kind: NDArray[np.intp]
    start: NDArray[np.intp]

    @classmethod
    def of(cls, first: LabelTable, second: LabelTable) -> _Optional:
        """Build from the tables of both teams, with the same items and concepts."""
        size = len(first.items)
        chosen, left_open = ([_cells(team, what) for team in (first, second)] for what in ("chosen", "left open"))
        cells = np.unique(np.concatenate([cells for cells, _ in (*chosen, *left_open)]))
        concept, item = np.divmod(cells, max(size, 1))
        kinds = []
        for team, some, others in zip((first, second), chosen, left_open, strict=True):
            answers = np.bincount(team.item, minlength=size)
            votes = np.append(np.zeros(size, np.intp), _times(cells, some))
            kinds.append(np.append(answers, answers[item] - _times(cells, others)) - votes)
            kinds.append(votes)
        rows, code = _distinct_rows(np.column_stack(kinds))
        counts = rows[:, :2], rows[:, 2:]  # not chosen and chosen, of either team
        return cls(
            values=_by_item(*(scipy.sparse.csr_array(part) for part in counts)),
            silent=code[:size],
            times=np.bincount(code[:size], minlength=len(rows)),
            item=item,
            kind=code[size:],
            start=np.searchsorted(concept, np.arange(len(first.concepts) + 1)),
        )

    def by_item(self, concept: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return rows (G', 4) as in `_by_item` for the kinds that occur with a concept, and (G',) the items of each."""
        here = slice(self.start[concept], self.start[concept + 1])
        size = len(self.times)
        times = self.times - np.bincount(self.silent[self.item[here]], minlength=size)
        times += np.bincount(self.kind[here], minlength=size)
        return self.values[times > 0], times[times > 0]


def _cells(team: LabelTable, what: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return keys, by concept, of items where raters chose an optional concept, or left it open; and how many did."""
    answer, concept = (team.answer, team.concept) if what == "chosen" else team.unanswered.T
    kept = team.group_of[concept] == OPTIONAL
    return np.unique(concept[kept] * len(team.items) + team.item[answer[kept]], return_counts=True)


def _times(cells: NDArray[np.intp], some: tuple[NDArray[np.intp], NDArray[np.intp]]) -> NDArray[np.intp]:
    """Return the counts (M,) of cells in `some`, 0 for the other cells."""
    times = np.zeros(len(cells), np.intp)
    times[np.searchsorted(cells, some[0])] = some[1]
    return times


def _distinct_rows(rows: NDArray[Number]) -> tuple[NDArray[Number], NDArray[np.intp]]:
    """Return the distinct rows, and the index of each row among them."""
    code = np.zeros(len(rows), np.intp)
    for column in rows.T:
        distinct, index = np.unique(column, return_inverse=True)
        code = np.unique(code * len(distinct) + index, return_inverse=True)[1]
    return rows[np.unique(code, return_index=True)[1]], code


def _compared(
    by_item: NDArray[np.float64], items: NDArray[np.intp], replicates: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Compute the agreement (5,), its interval (5, 2) and its number of items (5,).

    Parameters
    ----------
    by_item : (M, 4) float64
        As in `_by_item`.
    items : (M,) int
        Number of items that each row stands for.
    """
    defined = np.isfinite(by_item)
    # items with equal values in all columns are resampled as one of few kinds
    some = defined.any(axis=1)
    kinds, code = _distinct_rows(np.where(defined, by_item, -1)[some])
    times = np.bincount(code, items[some], minlength=len(kinds)).astype(np.intp)
    values, there = np.maximum(kinds, 0), (kinds >= 0).astype(np.float64)
    drawn = [np.zeros((0, len(times)), np.int64), *draws_of_kinds(times, replicates, seed)]
    resampled = np.concatenate(drawn)
    with np.errstate(invalid="ignore"):  # 0 / 0: nothing is defined in a replicate, or at all
        means = _with_difference((times @ values) / (times @ there))
        ends = _with_difference((resampled @ values) / (resampled @ there))
    count = items @ defined
    count = np.append(count, count[:2].min())
    return means, intervals(ends, count), count


def _with_difference(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Append the first minus the second (..., 5)."""
    return np.concatenate([values, values[..., :1] - values[..., 1:2]], axis=-1)
