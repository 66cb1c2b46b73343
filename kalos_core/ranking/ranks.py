"""Rankings under several truths and their agreement, for classifiers, detectors and models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations as every_order
from math import factorial
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.arrays import divide
from kalos_core.display import number_of
from kalos_core.errors import InputError, check_iterable, check_writable, is_hashable, listed
from kalos_core.inference import intervals, intervals_below_one
from kalos_core.options import Option, Seed, Settings, takes
from kalos_core.results import Result, crossed

if TYPE_CHECKING:
    import pandas as pd


LEVEL = 0.05
"""Significance level: rankings are called concordant for p below it."""


@dataclass(frozen=True, eq=False, repr=False)
class Rankings(Result):
    """Rankings of S systems (classifiers, detectors or models) by one measure under each of T truths.

    Figures: ``"ranking"``, ``"tau"``, ``"shared"``.

    Parameters
    ----------
    measure : str
        Name of the values.
    truths : (T,) object
        Names.
    systems : (S,) object
        Names.
    values : (T, S) float64
        NaN where undefined; `undefined` has the reasons.
    less_is_better : bool
    undefined : tuple of str
        One sentence for each reason why a value is missing.
    replicates : (B, T, S) float64, optional
        Values in each bootstrap replicate over images, all from the same draws. B is 0 without a bootstrap; None if
        images cannot be resampled.
    images : int
        Number of images that the bootstrap draws from.
    deciding_images : (T,) int, optional
        Number of images that determine the values under each truth; by default all.
    skewed : bool
        Whether, with few images, values accumulate at the best possible value: 1, or 0 if less is better. Their
        intervals are then computed by `intervals_below_one`.

    Examples
    --------
    >>> values = np.array([[0.9, 0.8, 0.7], [0.9, 0.6, 0.7], [0.5, 0.8, 0.7]])
    >>> rankings = Rankings("AUC", np.array(["ann", "bob", "eve"]), np.array(["a", "b", "c"]), values)
    >>> rankings.ranks.tolist()
    [[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [3.0, 1.0, 2.0]]
    >>> rankings.tau[0].round(3).tolist()
    [1.0, 0.333, -0.333]
    >>> rankings.times_best.tolist(), round(rankings.best_changes, 3)
    ([2, 1, 0], 0.667)

    Four replicates of two systems over eight images; in the second replicate, the systems tie:

    >>> drawn = np.array([[[0.9, 0.7]], [[0.8, 0.8]], [[0.6, 0.7]], [[0.9, 0.8]]])
    >>> names = np.array(["ann"]), np.array(["a", "b"])
    >>> rankings = Rankings("AUC", *names, np.array([[0.8, 0.75]]), replicates=drawn, images=8)
    >>> rankings.best_share.tolist(), rankings.interval.round(3).tolist()
    ([[0.625, 0.375]], [[[0.603, 0.9], [0.7, 0.8]]])
    >>> rankings.rank_interval.round(3).tolist()
    [[[1.0, 1.991], [1.009, 2.0]]]
    """

    _call = "rank_systems(scores, references).rankings[measure]"

    measure: str
    truths: NDArray[np.object_]
    systems: NDArray[np.object_]
    values: NDArray[np.float64]
    less_is_better: bool = False
    undefined: tuple[str, ...] = ()
    replicates: NDArray[np.float64] | None = None
    images: int = 0
    deciding_images: NDArray[np.intp] | None = None
    skewed: bool = False

    @cached_property
    def interval(self) -> NDArray[np.float64]:
        """(T, S, 2) 95 % bootstrap interval of the values over images; NaN without replicates."""
        if not self.skewed:
            return self._interval_of(self._drawn)
        if self.less_is_better:
            return 1 - self._interval_below_one(1 - self.values, 1 - self._drawn)[..., ::-1]
        return self._interval_below_one(self.values, self._drawn)

    @cached_property
    def rank_interval(self) -> NDArray[np.float64]:
        """(T, S, 2) 95 % bootstrap interval of the ranks over images; NaN without replicates."""
        return self._interval_of(self._drawn_ranks, whole_numbers=True)

    @cached_property
    def best_share(self) -> NDArray[np.float64]:
        """(T, S) share of the replicates in which a system is the best; tied systems share a replicate equally.

        NaN if no replicate ranks any system.
        """
        is_best = self._drawn_ranks == np.nan_to_num(self._drawn_ranks, nan=np.inf).min(
            axis=2, keepdims=True, initial=np.inf
        )
        shares = divide(is_best, is_best.sum(axis=2, keepdims=True))
        ranked = is_best.any(axis=2).sum(axis=0)[:, None]
        return divide(np.nansum(shares, axis=0), np.broadcast_to(ranked, self.values.shape))

    @property
    def sureness(self) -> tuple[float, float] | None:
        """Smallest and largest `best_share` of the best systems; None without replicates or competitors."""
        shares = self.best_share[self.is_best & np.isfinite(self.best_share)]
        return (float(shares.min()), float(shares.max())) if len(shares) and len(self.systems) > 1 else None

    @property
    def _drawn(self) -> NDArray[np.float64]:
        return np.zeros((0, *self.values.shape)) if self.replicates is None else self.replicates

    @cached_property
    def _drawn_ranks(self) -> NDArray[np.float64]:
        """(B, T, S) `ranks` in each replicate."""
        values = self._drawn if self.less_is_better else -self._drawn
        ranks = np.empty(values.shape)
        for system in range(values.shape[2]):
            own = values[..., system, None]
            ranks[..., system] = (values < own).sum(axis=2) + ((values == own).sum(axis=2) + 1) / 2
        return np.where(np.isnan(values), np.nan, ranks)

    def _interval_of(self, drawn: NDArray[np.float64], *, whole_numbers: bool = False) -> NDArray[np.float64]:
        flat = drawn.reshape(len(drawn), self.values.size)
        return intervals(flat, self._images, whole_numbers=whole_numbers).reshape(*self.values.shape, 2)

    def _interval_below_one(self, values: NDArray[np.float64], drawn: NDArray[np.float64]) -> NDArray[np.float64]:
        flat = drawn.reshape(len(drawn), values.size)
        return intervals_below_one(values.ravel(), flat, self._images).reshape(*values.shape, 2)

    @property
    def _images(self) -> NDArray[np.intp]:
        """(T * S,) number of images that determine each value."""
        truths, systems = self.values.shape
        by_truth = np.full(truths, self.images) if self.deciding_images is None else self.deciding_images
        return np.repeat(by_truth, systems)

    @property
    def ranks(self) -> NDArray[np.float64]:
        """(T, S) 1 for the best system under a truth; equal values share their mean rank; NaN where undefined."""
        return np.asarray([_ranks(row, self.less_is_better) for row in self.values]).reshape(self.values.shape)

    @property
    def is_best(self) -> NDArray[np.bool_]:
        """(T, S) whether a system is the best under a truth: several if they tie, none if all are undefined."""
        signed = self.values if not self.less_is_better else -self.values
        best = np.where(np.isnan(signed), -np.inf, signed).max(axis=1, initial=-np.inf, keepdims=True)
        return np.asarray(signed == best)

    @property
    def times_best(self) -> NDArray[np.intp]:
        """(S,) number of truths under which a system is the best, or one of the best."""
        return np.asarray(self.is_best.sum(axis=0))

    @property
    def best_changes(self) -> float:
        """Share of the pairs of truths without a common best system; NaN with fewer than two truths."""
        best = self.is_best[self.is_best.any(axis=1)].astype(np.intp)
        pairs = np.triu_indices(len(best), 1)
        return float((best @ best.T == 0)[pairs].mean()) if len(best) > 1 else np.nan

    @property
    def ranking_of(self) -> NDArray[np.intp]:
        """(T,) code of the ranking that a truth gives, by first occurrence; equal codes mean equal rankings."""
        codes: dict[bytes, int] = {}
        rows = np.nan_to_num(self.ranks, nan=-1.0)
        return np.array([codes.setdefault(row.tobytes(), len(codes)) for row in rows], np.intp)

    @property
    def tau(self) -> NDArray[np.float64]:
        """(T, T) Kendall's tau-b between the rankings under every two truths (Nowak & Rüger §4.3).

        NaN with fewer than two systems that both truths rank, or where all tie under one of them.
        """
        return _of_pairs(self, lambda first, second: _kendall(first, second)[0])

    @property
    def tau_p(self) -> NDArray[np.float64]:
        """(T, T) two-sided p value of tau under the null hypothesis of unrelated rankings."""
        return _of_pairs(self, lambda first, second: _kendall(first, second)[1])

    @property
    def headline(self) -> str:
        """One-line summary of the result."""
        return f"{len(self.systems):,} ranked by {self.measure} under {number_of(len(self.truths), 'reference')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per truth and system, with intervals and `best_share` if images can be resampled."""
        columns = {"value": self.values, "rank": self.ranks}
        if self.replicates is not None:
            columns |= {"value_interval": self.interval, "rank_interval": self.rank_interval}
            columns["best_share"] = self.best_share
        return crossed({"truth": self.truths, "system": self.systems}, **columns)


@dataclass(frozen=True, eq=False, repr=False)
class Concordance(Result):
    """The result of `concordance`. T truths.

    Figures: ``"references"``.

    Parameters
    ----------
    truths : (T,) object
    distance : (T, T) float64 in [0, 1/2)
        Row: the truth that defines the order; column: the truth whose ranks are cumulated. Not symmetric.
    p : (T, T) float64
        Share of random orders with a distance at most as large; small for concordant rankings.

    Examples
    --------
    >>> found = Concordance(np.array(["ann", "bob"]), np.array([[0, 0.2], [0.1, 0]]), np.ones((2, 2)))
    >>> found.to_pandas()["distance"].tolist()
    [0.2, 0.1]
    """

    _call = "concordance(rankings)"

    truths: NDArray[np.object_]
    distance: NDArray[np.float64]
    p: NDArray[np.float64]

    @property
    def concordant(self) -> NDArray[np.bool_]:
        """(T, T) whether the rankings of two truths are nearer than random orders: p below `LEVEL`, both ways."""
        p = np.where(np.isnan(self.p), np.inf, self.p)
        return np.asarray(np.maximum(p, p.T) < LEVEL)

    def verdict(self, one: int, other: int) -> str:
        """Describe the concordance of two truths.

        Examples
        --------
        >>> found = Concordance(
        ...     np.array(["ann", "bob"]), np.array([[0, 0.2], [0.1, 0]]), np.array([[0, 0.01], [0.3, 0]])
        ... )
        >>> found.verdict(0, 1)
        'no nearer than random orders: D 0.200, p 0.3'
        """
        d, p = (max(of[one, other], of[other, one]) for of in (self.distance, self.p))
        if np.isnan(d):
            return "undefined: fewer than two systems are ranked by both"
        words = "concordant" if self.concordant[one, other] else "no nearer than random orders"
        return f"{words}: D {d:.3f}, p {p:.2g}"

    @property
    def headline(self) -> str:
        """One-line summary of the result."""
        return f"Concordance of the rankings under {number_of(len(self.truths), 'reference')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per ordered pair of different truths."""
        axes = {"in_order_of": self.truths, "ranks_of": self.truths}
        every = crossed(axes, distance=self.distance, p=self.p, concordant=self.concordant)
        return every[~np.eye(len(self.truths), dtype=np.bool_).ravel()].reset_index(drop=True)


@dataclass(frozen=True)
class ConcordanceSettings(Settings):
    """Settings of `concordance`."""

    permutations: Annotated[
        int,
        Option(
            "Random orders",
            "Number of random orders that D is compared with; if there are no more orders than that, all are used.",
            low=1,
        ),
    ] = 1000
    seed: Seed = 0


@takes(ConcordanceSettings)
def concordance(rankings: Rankings, settings: ConcordanceSettings) -> Concordance:
    """Compute the concordance of rankings in the sense of Kolmogorov and Smirnov.

    The ranks of one truth are cumulated in the order of another truth. D is the largest gap between that sum and the
    other truth's own, relative to the sum of all ranks. It is 0 for equal rankings; for reversed rankings of S systems,
    it is S / (2 (S + 1)), or (S - 1) / (2 S) if S is odd. Systems that tie in the order enter together. The definition
    is our own: Nowak & Rüger §4.3 name a two-sample test, but between two lists of the same ranks it would always give
    0.

    Parameters
    ----------
    rankings : Rankings

    Returns
    -------
    Concordance

    Examples
    --------
    The ranks 1, 3, 2 in the order of ann sum up to 1, 4, 6, against 1, 3, 6: a gap of 1 in 6. Three of six orders are
    that close: ann's own order, and those with one pair of neighbours swapped.

    >>> values = np.array([[0.9, 0.8, 0.7], [0.9, 0.6, 0.7]])
    >>> rankings = Rankings("AUC", np.array(["ann", "bob"]), np.array(["a", "b", "c"]), values)
    >>> result = concordance(rankings)
    >>> result.distance.round(3).tolist(), result.p.round(3).tolist()
    ([[0.0, 0.167], [0.167, 0.0]], [[0.167, 0.5], [0.5, 0.167]])
    """
    rng = np.random.default_rng(settings.seed)
    known = np.isfinite(rankings.values).astype(np.intp)
    sizes = np.unique(known @ known.T).tolist()  # numbers of systems that two truths both rank
    orders = {size: _orders(size, settings.permutations, rng) for size in sizes if size > 1}

    def share_as_near(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
        permuted, complete = orders[len(first)]
        near = _gap(first, second[permuted]) <= _gap(first, second) + 1e-12
        return float(near.mean()) if complete else float((near.sum() + 1) / (len(permuted) + 1))

    return Concordance(
        truths=rankings.truths,
        distance=_of_pairs(rankings, lambda first, second: float(_gap(first, second))),
        p=_of_pairs(rankings, share_as_near),
    )


def _of_pairs(
    rankings: Rankings, of_pair: Callable[[NDArray[np.float64], NDArray[np.float64]], float]
) -> NDArray[np.float64]:
    """Return a (T, T) number for each ordered pair of truths, from the ranks of the systems that both rank."""
    found = np.full((len(rankings.truths), len(rankings.truths)), np.nan)
    for row, first in enumerate(rankings.values):
        for column, second in enumerate(rankings.values):
            both = np.isfinite(first) & np.isfinite(second)
            if both.sum() > 1:
                ranks = (_ranks(values[both], rankings.less_is_better) for values in (first, second))
                found[row, column] = of_pair(*ranks)
    return found


def _orders(size: int, tries: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], bool]:
    """Return (all orders, True) for few systems, else (as many random orders as `tries`, False)."""
    if size < 20 and factorial(size) <= tries:
        return np.array(list(every_order(range(size))), np.intp), True
    return rng.permuted(np.tile(np.arange(size), (tries, 1)), axis=1), False


def _gap(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (...,) D of ranks (..., S) in the order of the ranks (S,)."""
    order = np.argsort(first, kind="stable")
    in_order = first[order]
    ends = np.append(in_order[1:] != in_order[:-1], True)  # ties enter together
    gaps = np.cumsum(second[..., order] - in_order, axis=-1)[..., ends]
    return np.asarray(np.abs(gaps).max(axis=-1) / first.sum())


def _ranks(values: NDArray[np.float64], less_is_better: bool) -> NDArray[np.float64]:
    from scipy import stats  # slow to import, and needed here only

    known = np.isfinite(values)
    ranks = np.full(len(values), np.nan)
    ranks[known] = stats.rankdata(values[known] if less_is_better else -values[known])
    return ranks


def _kendall(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    from scipy import stats

    if (first == first[0]).all() or (second == second[0]).all():
        return np.nan, np.nan
    found = stats.kendalltau(first, second)
    return float(found.statistic), float(found.pvalue)


def check_names(names: Iterable[object], size: int, what: str) -> NDArray[np.object_]:
    """Check that names are unique, and return them as a (size,) array of objects.

    Examples
    --------
    >>> check_names(["a", "b"], 2, "systems").tolist()
    ['a', 'b']
    >>> check_names(["a", "a"], 2, "systems")
    Traceback (most recent call last):
    kalos_core.errors.InputError: systems: expected 2 names, each once, got a, a
    """
    given = list(check_iterable(names, what, f"{size} names"))
    if len(given) != size or not all(map(is_hashable, given)) or len(set(given)) != size:
        raise InputError(f"{what}: expected {size} names, each once, got {listed(given)}")
    check_writable(given, what)
    return object_array(given)
