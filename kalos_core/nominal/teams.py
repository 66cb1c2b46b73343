"""Groups of raters, such as experts and a crowd: agreement within each, between them, and of their majorities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.errors import InputError, check_whole, listed
from kalos_core.nominal.majority import majority_vote
from kalos_core.nominal.questions import check_two_raters
from kalos_core.nominal.table import LabelTable
from kalos_core.resampling import intervals
from kalos_core.results import Result
from kalos_core.sparse import tally

if TYPE_CHECKING:
    import pandas as pd

COMPARISONS = ("within first", "within second", "between", "majorities", "first minus second")
"""What is compared, in the order of the columns of `TeamComparison`."""


@dataclass(frozen=True, eq=False, repr=False)
class TeamComparison(Result):
    """How two teams agree on each of Q questions; columns are those of `COMPARISONS`.

    Figures: ``"teams"``.

    Parameters
    ----------
    first, second : str
        Names of the teams.
    question : (Q,) object
    agreement : (Q, 5) float64
        Mean over items of the probability that two raters of the first team agree, of the second, one of each, and of
        the two majorities; last, the first minus the second. NaN where it is defined on no item.
    agreement_interval : (Q, 5, 2) float64
        95 % percentile bootstrap over items, all columns on the same replicates.
    kappa : (Q, 5) float64
        The same as free-marginal kappa, (P - 1/k) / (1 - 1/k).
    kappa_interval : (Q, 5, 2) float64
    items : (Q, 5) int
        Over how many items the mean is.

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
        """What the columns are, with the names of the teams."""
        between = f"{self.first} with {self.second}"
        return (self.first, self.second, between, "majorities", f"{self.first} − {self.second}")

    def differs(self, row: int) -> bool:
        """Whether the interval of the difference of a question leaves out 0."""
        low, high = self.agreement_interval[row, -1]
        return bool(low > 0 or high < 0)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        differing = sum(self.differs(row) for row in range(len(self)))
        return f"{self.first} and {self.second}: {differing:,} of {len(self):,} questions differ"

    def to_pandas(self) -> pd.DataFrame:
        """One row a question and comparison."""
        import pandas as pd

        size = len(COMPARISONS)
        return pd.DataFrame(
            {
                "question": np.repeat(self.question, size),
                "comparison": np.tile(self.names, len(self)),
                "agreement": self.agreement.ravel(),
                "agreement_low": self.agreement_interval[..., 0].ravel(),
                "agreement_high": self.agreement_interval[..., 1].ravel(),
                "kappa": self.kappa.ravel(),
                "kappa_low": self.kappa_interval[..., 0].ravel(),
                "kappa_high": self.kappa_interval[..., 1].ravel(),
                "items": self.items.ravel(),
            }
        )


def compare_teams(
    table: LabelTable, teams: Mapping[str, Sequence[str]], bootstrap: int = 1000, seed: int = 0
) -> TeamComparison:
    """Agreement within two teams of raters, between them, and of their majorities (Nowak & Rüger §5.3).

    Parameters
    ----------
    table : LabelTable
    teams : mapping of two names to rater names
        Nobody in both; raters in neither are left out.
    bootstrap : int
        Replicates of the intervals; 0 for none.
    seed : int

    Returns
    -------
    TeamComparison

    Raises
    ------
    InputError
        For other than two teams, a team of nobody, unknown raters, or a rater in both.

    Examples
    --------
    >>> rows = [{"item": 1, "rater": r, "label": "x"} for r in ("ann", "bob", "cid")]
    >>> result = compare_teams(LabelTable.from_rows(rows, concepts=["x", "y"]), {"a": ["ann", "bob"], "b": ["cid"]})
    >>> result.agreement[0].tolist(), result.items[0].tolist()
    ([1.0, nan, 1.0, 1.0, nan], [1, 0, 1, 1, 0])
    """
    check_two_raters(table)
    bootstrap, seed = check_whole(bootstrap, "bootstrap"), check_whole(seed, "seed")
    names = _check_teams(teams)
    first, second = (table.select(raters=list(teams[name])) for name in names)
    made = [_question(first.counts(name), second.counts(name), bootstrap, seed) for name in table.questions]
    agreement, interval, items = (np.stack(column) for column in zip(*made, strict=True))
    chance = np.array([1 / len(table.options(question)) for question in table.questions])[:, None]
    scale = 1 / np.where(chance < 1, 1 - chance, np.nan)
    offset = chance * np.array([1, 1, 1, 1, 0])  # a difference has no chance to be taken off
    return TeamComparison(
        first=names[0],
        second=names[1],
        question=np.array(table.questions, dtype=object),
        agreement=agreement,
        agreement_interval=interval,
        kappa=(agreement - offset) * scale,
        kappa_interval=(interval - offset[..., None]) * scale[..., None],
        items=items,
    )


def _check_teams(teams: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    if len(teams) != 2:
        raise InputError(f"teams: expected two names with their raters, got {teams!r:.200}")
    first, second = teams
    hollow = [name for name in teams if not len(teams[name])]
    if hollow:
        raise InputError(f"teams: expected at least one rater in each, got none in {listed(map(repr, hollow))}")
    both = sorted(set(teams[first]) & set(teams[second]))
    if both:
        raise InputError(f"teams: expected a rater in one of them, got {listed(map(repr, both))} in both")
    return first, second


def _by_item(first: scipy.sparse.csr_array, second: scipy.sparse.csr_array) -> NDArray[np.float64]:
    """(I, 4) probability of agreement of each item: within, within, between, and of the majorities."""
    one, other = tally(first), tally(second)
    pairs = one.annotations * other.annotations
    same = np.asarray(first.multiply(second).sum(axis=1)).ravel()
    between = same / np.where(pairs > 0, pairs, np.nan)
    leaders = majority_vote(first).winner, majority_vote(second).winner
    decided = (leaders[0] >= 0) & (leaders[1] >= 0)
    majorities = np.where(decided, (leaders[0] == leaders[1]).astype(np.float64), np.nan)
    return np.column_stack([one.item_agreement, other.item_agreement, between, majorities])


def _question(
    first: scipy.sparse.csr_array, second: scipy.sparse.csr_array, replicates: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Agreement (5,), its interval (5, 2) and the items (5,) it is of, from the counts (I, K) of both teams."""
    by_item = _by_item(first, second)
    defined = np.isfinite(by_item)
    # items that are alike in all columns are resampled as one kind, of which there are few
    kinds, times = _kinds(np.where(defined, by_item, -1)[defined.any(axis=1)])
    values, there = np.maximum(kinds, 0), (kinds >= 0).astype(np.float64)
    resampled: NDArray[Any] = np.zeros((0, len(times)))
    if len(times):
        resampled = np.random.default_rng(seed).multinomial(times.sum(), times / times.sum(), size=replicates)
    with np.errstate(invalid="ignore"):  # 0 / 0: nothing defined in a replicate, or at all
        means = _with_difference((times @ values) / (times @ there))
        ends = _with_difference((resampled @ values) / (resampled @ there))
    either = (defined[:, 0] | defined[:, 1]).sum() if np.isfinite(means[-1]) else 0
    return means, intervals(ends), np.append(defined.sum(axis=0), either)


def _kinds(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """The distinct rows of values (M, 4), and how often each occurs."""
    code = np.zeros(len(values), np.intp)
    for column in values.T:
        distinct, index = np.unique(column, return_inverse=True)
        code = np.unique(code * len(distinct) + index, return_inverse=True)[1]
    first, times = np.unique(code, return_index=True, return_counts=True)[1:]
    return values[first], times


def _with_difference(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 5) with the first minus the second appended."""
    return np.concatenate([values, values[..., :1] - values[..., 1:2]], axis=-1)
