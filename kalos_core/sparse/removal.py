"""The effect of random removal of annotations on sparse agreement: the mean stays, the variance grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import run_starts
from kalos_core.errors import InputError, check_whole
from kalos_core.results import Result
from kalos_core.sparse.counts import Counts, Tally, tally
from kalos_core.sparse.weights import WEIGHTS, item_weights

if TYPE_CHECKING:
    import pandas as pd

LEAST_KEPT = 0.1
"""The sparsest step keeps this share of the annotations."""


@dataclass(frozen=True, eq=False, repr=False)
class RemovalExperiment(Result):
    """Sparse agreement of random parts of the data: L steps from few annotations to all, S ways to weight items.

    Figures: ``"removal"``, ``"weights"``.

    Parameters
    ----------
    weights : (S,) str
        Names of the weights.
    full : (S,) float64
        Agreement of all data under each.
    kept : (L,) int
        How many annotations each step keeps.
    annotations : (L,) float64
        How many of these lie in usable items, in the mean over rounds: the paper's axis.
    mean, variance : (S, L) float64
        Over rounds in which some item is usable; NaN with fewer than two such rounds.
    per_item : (T,) int
        Numbers of annotations per item of the comparison with equal ones (coloured lines of Figure 6).
    items : (T, L) int
        How many items each of their steps takes.
    per_item_mean, per_item_variance : (T, L) float64
        Over rounds.
    rounds : int

    Examples
    --------
    >>> result = removal_experiment([[3, 1], [0, 4], [2, 2]] * 10, rounds=50, steps=3, weights=["flat"])
    >>> result.kept.tolist(), bool(result.variance[0, 0] > result.variance[0, 1] > result.variance[0, 2])
    ([12, 66, 120], True)
    """

    _call = "removal_experiment(counts)"

    weights: tuple[str, ...]
    full: NDArray[np.float64]
    kept: NDArray[np.intp]
    annotations: NDArray[np.float64]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    per_item: tuple[int, ...]
    items: NDArray[np.intp]
    per_item_mean: NDArray[np.float64]
    per_item_variance: NDArray[np.float64]
    rounds: int

    @property
    def against_flat(self) -> NDArray[np.float64]:
        """(S, L) variance minus that of equal weights (Figure 7, Table 1); below 0 is better than ``"flat"``."""
        if "flat" not in self.weights:
            raise InputError(f"against_flat: expected 'flat' among the weights, got {', '.join(self.weights)}")
        return np.asarray(self.variance - self.variance[self.weights.index("flat")])

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"Removal of annotations, {self.rounds:,} rounds: {len(self.weights):,} weights"

    def to_pandas(self) -> pd.DataFrame:
        """One row a weight and step."""
        import pandas as pd

        steps = len(self.kept)
        return pd.DataFrame(
            {
                "weights": np.repeat(self.weights, steps),
                "kept": np.tile(self.kept, len(self.weights)),
                "annotations": np.tile(self.annotations, len(self.weights)),
                "mean": self.mean.ravel(),
                "variance": self.variance.ravel(),
                "full": np.repeat(self.full, steps),
            }
        )


def removal_experiment(
    counts: Counts,
    weights: Sequence[str] = tuple(WEIGHTS),
    *,
    per_item: Sequence[int] = (2, 3, 5),
    steps: int = 10,
    rounds: int = 200,
    seed: int = 0,
) -> RemovalExperiment:
    """Remove annotations at random, many times over, and measure sparse agreement (Figures 6 and 7 of the paper).

    Where all items have equally many annotations, the mean over rounds is the agreement of all data, under every weight
    (§4.2); where they have not, weights differ between a part and the whole, and the mean may drift towards
    the items that stay usable longest. The comparison with equal numbers takes so many annotations of some items each.
    Every round goes through all annotations once a step: half a million take seconds a round.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`
    weights : names in `WEIGHTS`
        Those whose variance is 0 for the data (one class) are refused, as in `sparse_agreement`. Class shares are those
        of all data.
    per_item : numbers of at least 2
        Those that no item reaches are left out.
    steps : int, at least 2
        From a tenth of the annotations to all.
    rounds : int, at least 2
    seed : int

    Returns
    -------
    RemovalExperiment

    Examples
    --------
    >>> result = removal_experiment([[3, 1], [0, 4], [2, 2]] * 10, rounds=50, steps=3, weights=["flat", "edges"])
    >>> bool(abs(result.mean[:, 0] - result.full).max() < 0.1)
    True
    """
    steps, rounds = check_whole(steps, "steps", least=2), check_whole(rounds, "rounds", least=2)
    rng = np.random.default_rng(check_whole(seed, "seed"))
    wanted = [check_whole(number, "per_item", least=2) for number in per_item]
    whole = tally(counts)
    if not whole.usable.any():
        raise InputError("counts: expected an item with at least two annotations, got none")
    share = whole.category_totals / whole.category_totals.sum()
    entry = np.repeat(np.arange(len(whole.count)), whole.count)  # which entry of the counts each annotation is in
    kept = np.linspace(LEAST_KEPT, 1, steps)
    sizes = np.maximum(np.rint(kept * len(entry)).astype(np.intp), min(2, len(entry)))
    values, usable = np.empty((rounds, len(weights), steps)), np.empty((rounds, steps))
    for number in range(rounds):
        order = rng.permutation(entry)
        for step, size in enumerate(sizes):
            part = _part(whole, np.bincount(order[:size], minlength=len(whole.count)))
            usable[number, step] = part.annotations[part.usable].sum()
            values[number, :, step] = [_value(part, name, share) for name in weights]
    reached = tuple(number for number in wanted if (whole.annotations >= number).any())
    items, equal = _equal_numbers(whole, reached, kept, rounds, rng)
    mean, variance = _moments(values)
    per_item_mean, per_item_variance = _moments(equal)
    return RemovalExperiment(
        weights=tuple(weights),
        full=np.array([_value(whole, name, share) for name in weights]),
        kept=sizes,
        annotations=usable.mean(axis=0),
        mean=mean,
        variance=variance,
        per_item=reached,
        items=items,
        per_item_mean=per_item_mean,
        per_item_variance=per_item_variance,
        rounds=rounds,
    )


def _part(whole: Tally, count: NDArray[np.intp]) -> Tally:
    return Tally(whole.item, whole.category, count.astype(np.int64), whole.items, whole.categories)


def _value(found: Tally, weights: str, share: NDArray[np.float64]) -> float:
    weight = item_weights(found, weights, share)[found.usable]
    with np.errstate(invalid="ignore"):  # 0 / 0: no item is usable
        return float((weight * found.item_agreement[found.usable]).sum() / weight.sum())


def _equal_numbers(
    whole: Tally, per_item: Sequence[int], kept: NDArray[np.float64], rounds: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """(T, L) items taken and (rounds, T, L) mean agreement of so many annotations of each."""
    items = np.zeros((len(per_item), len(kept)), np.intp)
    values = np.empty((rounds, len(per_item), len(kept)))
    owner = np.repeat(whole.item, whole.count)
    entry = np.repeat(np.arange(len(whole.count)), whole.count)
    start = run_starts(whole.annotations)
    for index, number in enumerate(per_item):
        enough = np.flatnonzero(whole.annotations >= number)
        items[index] = np.maximum(np.rint(kept * len(enough)), 1)
        for turn in range(rounds):
            order = np.lexsort([rng.random(len(owner)), owner])  # within each item, in any order
            first = np.arange(len(order)) - start[owner[order]] < number
            part = _part(whole, np.bincount(entry[order[first]], minlength=len(whole.count)))
            agreement = part.item_agreement[rng.permutation(enough)]
            values[turn, index] = [agreement[:taken].mean() for taken in items[index]]
    return items, values


def _moments(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance over rounds (rounds, ...), those that are NaN left out."""
    defined = np.isfinite(values)
    count = defined.sum(axis=0).astype(np.float64)
    enough = np.where(count > 1, count, np.nan)
    mean = np.where(defined, values, 0).sum(axis=0) / enough
    squares = (np.where(defined, values - mean, 0) ** 2).sum(axis=0)
    return mean, squares / (enough - 1)
