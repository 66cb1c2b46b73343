"""Effect of randomly removing annotations on sparse agreement: the mean stays the same, the variance grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import run_starts, total
from kalos_core.chance import Counts, Tally, Unequal, tally
from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.options import Option, Seed, Settings, takes
from kalos_core.results import Result, crossed
from kalos_core.sparse.weights import WEIGHTS, ItemWeight, item_weights

if TYPE_CHECKING:
    import pandas as pd

LEAST_KEPT = 0.1
"""Share of the annotations that the sparsest step keeps."""


@dataclass(frozen=True, eq=False, repr=False)
class RemovalExperiment(Result):
    """Sparse agreement of random parts of the data: L steps from few annotations to all, S kinds of weights.

    Figures: ``"removal"``, ``"weights"``.

    Parameters
    ----------
    weights : (S,) str
        Names of the weights.
    full : (S,) float64
        Agreement of all data for each kind of weights.
    kept : (L,) int
        Number of annotations that each step keeps.
    annotations : (L,) float64
        Number of these in usable items, as mean over rounds: the paper's axis.
    mean, variance : (S, L) float64
        Mean and variance over rounds with a usable item; NaN with fewer than two such rounds.
    per_item : (T,) int
        Numbers of annotations per item in the comparison with equal numbers (coloured lines of Figure 6).
    items : (T, L) int
        Number of items in each of their steps.
    per_item_mean, per_item_variance : (T, L) float64
        Mean and variance over rounds.
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
        """(S, L) variance minus that of equal weights (Figure 7, Table 1); negative is better than ``"flat"``."""
        if "flat" not in self.weights:
            raise InputError(f"against_flat: expected 'flat' among the weights, got {', '.join(self.weights)}")
        return np.asarray(self.variance - self.variance[self.weights.index("flat")])

    @property
    def headline(self) -> str:
        """Finding, in words."""
        return f"Removal of annotations, {number_of(self.rounds, 'round')}: {number_of(len(self.weights), 'weight')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per kind of weights and step."""
        shape = self.mean.shape
        numbers, full = np.broadcast_to(self.annotations, shape), np.broadcast_to(self.full[:, None], shape)
        axes = {"weights": self.weights, "kept": self.kept}
        return crossed(axes, annotations=numbers, mean=self.mean, variance=self.variance, full=full)


RemovalWeights = Annotated[
    Sequence[ItemWeight],
    Option(
        "Weights",
        "Weights whose variance is 0 for the data (one class) are refused, as in `sparse_agreement`. Class shares are "
        "those of all data.",
        type="names in `WEIGHTS`",
    ),
]
PerItem = Annotated[
    Sequence[int],
    Option(
        "Annotations of an item",
        "Numbers of at least 2; numbers that no item has are left out.",
        low=2,
        type="sequence of int",
    ),
]


@dataclass(frozen=True)
class RemovalSettings(Settings):
    """Settings of the experiment."""

    weights: RemovalWeights = tuple(WEIGHTS)
    _: KW_ONLY
    per_item: PerItem = (2, 3, 5)
    steps: Annotated[int, Option("Steps", "From a tenth of the annotations to all.", low=2)] = 10
    rounds: Annotated[int, Option("Rounds", "Number of times that annotations are removed.", low=2)] = 200
    seed: Seed = 0


@takes(RemovalSettings)
def removal_experiment(counts: Counts, settings: RemovalSettings) -> RemovalExperiment:
    """Repeatedly remove annotations at random, and measure sparse agreement (Figures 6 and 7 of the paper).

    If all items have equally many annotations, the mean over rounds is the agreement of all data, with any weights
    (§4.2). Otherwise, weights differ between a part and the whole, and the mean may drift towards the items that stay
    usable longest. The comparison with equal numbers takes that many annotations of some items each. With half a
    million annotations, a round takes a tenth of a second.

    Parameters
    ----------
    counts : (I, C) whole numbers, dense or `scipy.sparse`

    Returns
    -------
    RemovalExperiment

    Examples
    --------
    >>> result = removal_experiment([[3, 1], [0, 4], [2, 2]] * 10, rounds=50, steps=3, weights=["flat", "edges"])
    >>> bool(abs(result.mean[:, 0] - result.full).max() < 0.1)
    True
    """
    weights, steps, rounds = settings.weights, settings.steps, settings.rounds
    rng = np.random.default_rng(settings.seed)
    whole = tally(counts)
    if not whole.usable.any():
        raise InputError("counts: expected an item with at least two annotations, got none")
    share = whole.category_totals / whole.category_totals.sum()
    entry = np.repeat(np.arange(len(whole.count)), whole.count)  # entry of the counts for each annotation
    kept = np.linspace(LEAST_KEPT, 1, steps)
    sizes = np.maximum(np.rint(kept * len(entry)).astype(np.intp), min(2, len(entry)))
    full = np.array([_value(whole, name, share) for name in weights])
    weigh = _weights_by_number(int(whole.annotations.max()), weights, share)
    values, usable = np.empty((rounds, len(weights), steps)), np.empty((rounds, steps))
    for number in range(rounds):
        order = rng.permutation(entry)
        count = np.zeros(len(whole.count), np.int64)
        for step, (before, size) in enumerate(zip([0, *sizes], sizes, strict=False)):
            count += np.bincount(order[before:size], minlength=len(count))
            there, agreement = _by_number(whole, count, len(weigh))
            usable[number, step] = (there * np.arange(len(there))).sum()
            with np.errstate(invalid="ignore"):  # 0 / 0: no item is usable
                values[number, :, step] = agreement @ weigh / (there @ weigh)
    reached = tuple(number for number in settings.per_item if (whole.annotations >= number).any())
    items, equal = _equal_numbers(whole, reached, kept, rounds, rng)
    mean, variance = _moments(values)
    per_item_mean, per_item_variance = _moments(equal)
    return RemovalExperiment(
        weights=tuple(weights),
        full=full,
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


def _weights_by_number(most: int, weights: Sequence[ItemWeight], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (most + 1, S) the weight of an item by its number of annotations; 0 for fewer than two."""
    made = np.zeros((most + 1, len(weights)))
    for column, name in enumerate(weights):
        made[2:, column] = WEIGHTS[name](np.arange(2.0, most + 1), share)
    return made


def _by_number(whole: Tally, count: NDArray[np.int64], size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for n below `size`, the number of items with n annotations, and the sum of their agreement.

    `count` holds the counts of the entries. Both results are 0 for n below two. Weights depend on n only.
    """
    annotations = total(whole.item, count, whole.items).astype(np.intp)
    items = np.bincount(annotations, minlength=size).astype(np.float64)
    agreeing = np.bincount(annotations[whole.item], weights=count * (count - 1), minlength=size)
    number = np.arange(size, dtype=np.float64)
    items[:2] = agreeing[:2] = 0
    return items, agreeing / np.where(number > 1, number * (number - 1), 1)


def _value(found: Tally, weights: str, share: NDArray[np.float64]) -> float:
    weight = item_weights(found, weights, share)[found.usable]
    with np.errstate(invalid="ignore"):  # 0 / 0: no item is usable
        return float((weight * found.item_agreement[found.usable]).sum() / weight.sum())


def _equal_numbers(
    whole: Tally, per_item: Sequence[int], kept: NDArray[np.float64], rounds: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return (T, L) the items taken, and (rounds, T, L) mean agreement with equally many annotations of each."""
    items = np.zeros((len(per_item), len(kept)), np.intp)
    values = np.empty((rounds, len(per_item), len(kept)))
    owner = np.repeat(whole.item, whole.count)
    category = np.repeat(whole.category, whole.count)
    place = np.argsort(owner, kind="stable")  # annotations of each item are adjacent, from `start` on
    start = run_starts(whole.annotations)
    agreement = np.full(whole.items, np.nan)
    for index, number in enumerate(per_item):
        enough = np.flatnonzero(whole.annotations >= number)
        items[index] = np.maximum(np.rint(kept * len(enough)), 1)
        several = [np.flatnonzero(whole.annotations == n) for n in np.unique(whole.annotations[enough])]
        places = [place[start[of][:, None] + np.arange(whole.annotations[of[0]])] for of in several]
        for turn in range(rounds):
            draw = rng.random(len(owner))
            for of, where in zip(several, places, strict=True):
                first = np.argsort(draw[where], axis=1, kind="stable")[:, :number]  # a random `number` of each item
                apart = Unequal().of_raters(category[np.take_along_axis(where, first, axis=1).T])
                agreement[of] = 1 - apart / (number * (number - 1))
            shuffled = agreement[rng.permutation(enough)]
            values[turn, index] = [shuffled[:taken].mean() for taken in items[index]]
    return items, values


def _moments(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and variance over rounds (rounds, ...), leaving out NaN."""
    defined = np.isfinite(values)
    count = defined.sum(axis=0).astype(np.float64)
    enough = np.where(count > 1, count, np.nan)
    mean = np.where(defined, values, 0).sum(axis=0) / enough
    squares = (np.where(defined, values - mean, 0) ** 2).sum(axis=0)
    return mean, squares / (enough - 1)
