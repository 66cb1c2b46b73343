"""Test whether agreement depends on the number of annotations of an item; sparse agreement assumes that it does not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import total
from kalos_core.chance import Counts, tally
from kalos_core.options import Option, Seed, Settings, takes
from kalos_core.results import Result

MOST_PERMUTED = 5_000
"""Number of items above which p is from the normal distribution, which is the limit of the statistic."""

SUSPECT = 0.01
"""Level of p below which the assumption is rejected."""

FEW_ITEMS = 20
"""Minimum number of items for a warning."""

NOTEWORTHY = 2.0
"""Statistics below this have a p well above `SUSPECT`; no permutations are needed to decide on a warning."""


@dataclass(frozen=True, eq=False, repr=False)
class Independence(Result):
    """Result of `check_independence`: annotations n and agreement P of the items with at least two annotations.

    Table: one row per number of annotations.

    Figures: ``"numbers"``.

    Parameters
    ----------
    rho : float in [-1, 1]
        Correlation of the rank of n with P: above 0, raters agree more on items with more annotations. NaN if all items
        have the same n or the same P.
    p : float
        Probability of a correlation at least that far from 0 (two-sided) if agreement does not depend on n.
    permutations : int
        Number of permutations for p; 0 if p is from the normal distribution.
    annotations : (L,) int
        Numbers of annotations that occur, ascending.
    agreement : (L,) float64
        Mean P of the items with that many annotations; it does not depend on n if the assumption holds.
    deviation : (L,) float64
        Standard deviation of P among them; NaN for one item.
    items : (L,) int
        Number of items.

    Examples
    --------
    >>> result = check_independence([[2, 0], [0, 2], [1, 1], [1, 1], [3, 0], [2, 1]])
    >>> result.annotations.tolist(), result.agreement.round(3).tolist(), result.items.tolist()
    ([2, 3], [0.5, 0.667], [4, 2])
    """

    _call = "check_independence(counts)"
    _columns = "annotations agreement deviation items"

    rho: float
    p: float
    permutations: int
    annotations: NDArray[np.int64]
    agreement: NDArray[np.float64]
    deviation: NDArray[np.float64]
    items: NDArray[np.int64]

    @property
    def doubtful(self) -> bool:
        """Whether p is below `SUSPECT`."""
        return self.p < SUSPECT

    @property
    def headline(self) -> str:
        """Finding, in words."""
        if math.isnan(self.rho):
            return "annotations or agreement are the same for all items: nothing to test"
        verdict = "depends on" if self.doubtful else "shows no dependence on"
        return f"agreement {verdict} the number of annotations (rho {self.rho:.3f}, p {self.p:.3g})"


@dataclass(frozen=True)
class IndependenceSettings(Settings):
    """Settings of the test."""

    permutations: Annotated[int, Option("Permutations", "Number of permutations for p.", low=1)] = 1000
    seed: Seed = 0


@takes(IndependenceSettings)
def check_independence(counts: Counts, settings: IndependenceSettings) -> Independence:
    """Test whether the agreement of items depends on their number of annotations (Nørregaard & Derczynski §4.3).

    Sparse agreement is unbiased if missing labels do not depend on how well raters agree on an item. Otherwise, weights
    by the number of annotations favour the items with more of them.

    The observed P of an item is unbiased for any n, but more often takes the extreme values 0 and 1 if n is small.
    Ranks of P therefore depend on n even if the mean does not, and Spearman's correlation rejects true independence far
    too often (for 100 items with 2 or 10 annotations, in 60 % of cases at a level of 5 %). Therefore, only n is ranked,
    and the correlation is divided by its standard error before comparison with permutations (DiCiccio & Romano 2017).
    This is valid although P varies less if n is large.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`

    Returns
    -------
    Independence

    Examples
    --------
    Two annotations on items that raters dispute, eight on the others:

    >>> counts = [[1, 1], [2, 0]] * 20 + [[8, 0], [7, 1]] * 20
    >>> result = check_independence(counts)
    >>> round(result.rho, 2), result.doubtful
    (0.46, True)
    """
    found = tally(counts)
    numbers = found.annotations, found.item_agreement, found.times
    return independence_of(*numbers, settings.permutations, settings.seed)


def is_doubtful(annotations: NDArray[np.int64], agreement: NDArray[np.float64], times: NDArray[np.int64]) -> bool:
    """Return whether `independence_of` enough items for a warning is doubtful; skips permutations if clearly not."""
    n, values, often = _usable(annotations, agreement, times)
    if often.sum() < FEW_ITEMS:
        return False
    numbers, index = np.unique(n, return_inverse=True)
    statistic = _correlation(_ranks(numbers, index, often)[0], values, often)[1]
    return abs(statistic) >= NOTEWORTHY and independence_of(annotations, agreement, times).doubtful


def _usable(
    annotations: NDArray[np.int64], agreement: NDArray[np.float64], times: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    kept = (annotations >= 2) & (times > 0)
    return annotations[kept], agreement[kept], times[kept]


def _ranks(
    numbers: NDArray[np.int64], index: NDArray[np.intp], times: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean rank of the number of annotations of each kind of items, and the number of items of each."""
    items = total(index, times, len(numbers))
    return (np.cumsum(items) - (items - 1) / 2)[index], items


def independence_of(
    annotations: NDArray[np.int64],
    agreement: NDArray[np.float64],
    times: NDArray[np.int64],
    permutations: int = 1000,
    seed: int = 0,
) -> Independence:
    """Compute `check_independence` of items (I,) from their annotations, agreement, and the items each stands for."""
    n, agreement, times = _usable(annotations, agreement, times)
    numbers, index = np.unique(n, return_inverse=True)
    rank, items = _ranks(numbers, index, times)
    mean = total(index, agreement * times, len(numbers)) / items
    spread = total(index, (agreement - mean[index]) ** 2 * times, len(numbers))
    rho, statistic = _correlation(rank, agreement, times)
    count, drawn, p = int(items.sum()), 0, math.nan
    if count > MOST_PERMUTED and not math.isnan(rho):
        p = math.erfc(abs(statistic) / math.sqrt(2))
    elif not math.isnan(rho):
        drawn = permutations
        p = _permuted(np.repeat(rank, times), np.repeat(agreement, times), statistic, permutations, seed)
    return Independence(
        rho=rho,
        p=p,
        permutations=drawn,
        annotations=numbers,
        agreement=mean,
        deviation=np.sqrt(spread / np.where(items > 1, items - 1, np.nan)),
        items=items.astype(np.int64),
    )


def _correlation(
    rank: NDArray[np.float64], agreement: NDArray[np.float64], times: NDArray[np.int64]
) -> tuple[float, float]:
    """Return the correlation, and its ratio to its standard error; NaN if either variable is constant."""
    if not len(rank) or np.ptp(rank) == 0 or np.ptp(agreement) == 0:
        return math.nan, math.nan
    items = times.sum()
    a, b = (values - (values * times).sum() / items for values in (rank, agreement))
    together = (a * b * times).sum() / items
    rho = together / math.sqrt((a**2 * times).sum() / items * (b**2 * times).sum() / items)
    error = math.sqrt((a**2 * b**2 * times).sum() / items)
    return float(rho), float(math.sqrt(items) * together / error) if error > 0 else 0.0


def _permuted(
    rank: NDArray[np.float64], agreement: NDArray[np.float64], statistic: float, permutations: int, seed: int
) -> float:
    """Return the share of permutations, counting the data as one, whose statistic is at least as far from 0."""
    rng = np.random.default_rng(seed)
    a, b = rank - rank.mean(), agreement - agreement.mean()
    as_far, size = 0, max(1, 200_000 // len(a))
    for start in range(0, permutations, size):
        turned = rng.permuted(np.tile(b, (min(size, permutations - start), 1)), axis=1)
        above, below = turned @ a, (turned**2) @ (a**2)
        found = np.divide(above, np.sqrt(below), out=np.zeros(len(above)), where=below > 0)
        as_far += int((np.abs(found) >= abs(statistic) - 1e-9).sum())
    return (as_far + 1) / (permutations + 1)
