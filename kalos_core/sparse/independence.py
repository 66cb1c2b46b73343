"""Whether raters agree more, or less, on items with more annotations: sparse agreement assumes that they do not."""

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
"""Above so many items p is that of the normal distribution, which the statistic has in the limit."""

SUSPECT = 0.01
"""Below this p the assumption is taken to fail."""

FEW_ITEMS = 20
"""With fewer items than this nobody is warned."""

NOTEWORTHY = 2.0
"""Statistics below this have a p well above `SUSPECT`: no permutation is drawn to warn."""


@dataclass(frozen=True, eq=False, repr=False)
class Independence(Result):
    """The result of `check_independence`: annotations n and agreement P of the items with two annotations or more.

    Table: one row for each number of annotations.

    Figures: ``"numbers"``.

    Parameters
    ----------
    rho : float in [-1, 1]
        Correlation of the rank of n with P: above 0, raters agree more on items with more annotations. NaN where all
        items have the same n or the same P.
    p : float
        How often items whose agreement does not depend on n give a correlation that far from 0, on either side.
    permutations : int
        How many p is from; 0 where it is from the normal distribution.
    annotations : (L,) int
        The numbers of annotations that occur, ascending.
    agreement : (L,) float64
        Mean P of the items with that many: what does not depend on n if the assumption holds.
    deviation : (L,) float64
        Standard deviation of P among them, NaN of one item.
    items : (L,) int
        How many items there are.

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
        """The finding, in words."""
        if math.isnan(self.rho):
            return "annotations or agreement are the same for all items: nothing to test"
        verdict = "depends on" if self.doubtful else "shows no dependence on"
        return f"agreement {verdict} the number of annotations (rho {self.rho:.3f}, p {self.p:.3g})"


@dataclass(frozen=True)
class IndependenceSettings(Settings):
    """How p is found."""

    permutations: Annotated[int, Option("Permutations", "Number of permutations that are drawn for p.", low=1)] = 1000
    seed: Seed = 0


@takes(IndependenceSettings)
def check_independence(counts: Counts, settings: IndependenceSettings) -> Independence:
    """Whether the agreement of items depends on how many annotations they have (Nørregaard & Derczynski §4.3).

    Sparse agreement is unbiased if which labels are missing does not depend on how well raters agree on an item. If it
    does, weights by the number of annotations lean to the items that have more of them.

    The observed P of an item is unbiased whatever its n, but takes the extreme values 0 and 1 the more often the
    smaller n is. Ranks of P therefore depend on n where its mean does not, and Spearman's correlation rejects true
    independence far too often (of 100 items with 2 or 10 annotations in 60 % of cases at a level of 5 %). So only n is
    ranked, and the correlation is divided by its standard error before it is compared with those of permutations
    (DiCiccio & Romano 2017), which holds though P spreads less where n is large.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`

    Returns
    -------
    Independence

    Examples
    --------
    Two annotations on items that raters dispute, eight on those that they do not:

    >>> counts = [[1, 1], [2, 0]] * 20 + [[8, 0], [7, 1]] * 20
    >>> result = check_independence(counts)
    >>> round(result.rho, 2), result.doubtful
    (0.46, True)
    """
    found = tally(counts)
    numbers = found.annotations, found.item_agreement, found.times
    return independence_of(*numbers, settings.permutations, settings.seed)


def is_doubtful(annotations: NDArray[np.int64], agreement: NDArray[np.float64], times: NDArray[np.int64]) -> bool:
    """Whether `independence_of` so many items that one may warn is doubtful; without a permutation where it is not."""
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
    """Mean rank of the number of annotations of each kind of items, and how many items have each number."""
    items = total(index, times, len(numbers))
    return (np.cumsum(items) - (items - 1) / 2)[index], items


def independence_of(
    annotations: NDArray[np.int64],
    agreement: NDArray[np.float64],
    times: NDArray[np.int64],
    permutations: int = 1000,
    seed: int = 0,
) -> Independence:
    """`check_independence` of items (I,) by their annotations, agreement, and how many items each stands for."""
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
    """Correlation, and the same over its standard error; NaN where one of both does not vary."""
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
    """Share of permutations, the data being one, whose statistic is as far from 0."""
    rng = np.random.default_rng(seed)
    a, b = rank - rank.mean(), agreement - agreement.mean()
    as_far, size = 0, max(1, 200_000 // len(a))
    for start in range(0, permutations, size):
        turned = rng.permuted(np.tile(b, (min(size, permutations - start), 1)), axis=1)
        above, below = turned @ a, (turned**2) @ (a**2)
        found = np.divide(above, np.sqrt(below), out=np.zeros(len(above)), where=below > 0)
        as_far += int((np.abs(found) >= abs(statistic) - 1e-9).sum())
    return (as_far + 1) / (permutations + 1)
