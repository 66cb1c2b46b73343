"""Sparse agreement and alpha while annotations arrive; each annotation is counted once, and nothing is recomputed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_floats, total
from kalos_core.chance import alpha_of_sums
from kalos_core.display import number_of, with_interval
from kalos_core.errors import InputError, check_number, listed, lookup
from kalos_core.inference import intervals
from kalos_core.options import Option, Replicates, Seed, Settings, checked, takes
from kalos_core.results import Result
from kalos_core.sparse.weights import WEIGHTS

ITEMS_AT_ONCE = 10_000
"""Items whose replicate weights are multiplied at once, to bound memory."""

RUNNING_WEIGHTS = {name: WEIGHTS[name] for name in ("annotations_m1", "flat", "annotations", "edges")}
"""Weights that need no class shares; these change for all items while annotations arrive."""
RUNNING_WEIGHTS["inv_var"] = WEIGHTS["edges"]  # equal for uniform class shares, independently of later classes

PARTS = 4
"""Number of sums over items that are not per category."""

Coefficient = Literal["spa", "alpha"]


@dataclass(frozen=True, eq=False, repr=False)
class RunningCurve(Result):
    """Agreement after each of T steps.

    Table: one row per step.

    Figures: ``"running"``.

    Parameters
    ----------
    annotations : (T,) int
        Number of annotations that had arrived.
    usable_items : (T,) int
        Number of items with at least two annotations.
    spa, alpha : (T,) float64
        Sparse probability of agreement, and Krippendorff's alpha for nominal values; NaN until an item has two
        annotations.
    spa_interval, alpha_interval : (T, 2) float64
        95 % bootstrap interval over items; NaN below `FEWEST_IMAGES` usable items.
    time : (T,) float64
        Time when the last annotation of the step arrived; NaN if unknown.

    Examples
    --------
    >>> curve = running_agreement([0, 0, 1, 1], ["cat", "cat", "cat", "dog"], points=2)
    >>> curve.annotations.tolist(), curve.spa.tolist(), curve.usable_items.tolist()
    ([2, 4], [1.0, 0.5], [1, 2])
    """

    _call = "running_agreement(counts)"
    _columns = "annotations usable_items spa alpha spa_interval alpha_interval time"

    annotations: NDArray[np.int64]
    usable_items: NDArray[np.int64]
    spa: NDArray[np.float64]
    spa_interval: NDArray[np.float64]
    alpha: NDArray[np.float64]
    alpha_interval: NDArray[np.float64]
    time: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.annotations)

    def narrow_from(self, width: float, of: Coefficient = "spa") -> int | None:
        """Return the first step from which the interval stays narrower than a width; None if it is wider at the end.

        An interval can be narrow by luck and widen again, so the first narrow one is not conclusive.

        Examples
        --------
        >>> curve = running_agreement(range(40), [0] * 40, points=2)
        >>> curve.narrow_from(0.1) is None
        True
        >>> curve = running_agreement([*range(40)] * 2, [0] * 40 + [1] + [0] * 39, points=8)
        >>> step = curve.narrow_from(0.15)
        >>> int(curve.annotations[step])
        70
        """
        number = check_number(width, "width", above=0)
        ends = lookup({"spa": self.spa_interval, "alpha": self.alpha_interval}, of, "of")
        wide = np.flatnonzero(~(ends[:, 1] - ends[:, 0] < number))  # NaN does not count as narrow
        first = int(wide[-1]) + 1 if len(wide) else 0
        return first if first < len(self) else None

    @property
    def headline(self) -> str:
        """Finding, in words."""
        if not len(self.spa):
            return "Running agreement of no annotation"
        last = with_interval(self.spa[-1], self.spa_interval[-1])
        return f"Running agreement {last} after {number_of(int(self.annotations[-1]), 'annotation')}"


RunningWeights = Annotated[
    Literal["annotations_m1", "flat", "annotations", "edges", "inv_var"],
    Option("Weights", "Weight of each item.", known=RUNNING_WEIGHTS, type="name in `RUNNING_WEIGHTS`"),
]


class RunningAgreement:
    """Count annotations as they arrive, and track the agreement so far.

    Every item stores how often each bootstrap replicate draws it (Poisson with mean 1, the limit of sampling with
    replacement, which does not need the number of items in advance). An annotation only changes the contribution of its
    item to the sums of each replicate. The cost of a step depends on the annotations that it adds, not on the total.

    Parameters
    ----------
    weights : name in `RUNNING_WEIGHTS`
    bootstrap : int
        Replicates for the intervals; 0 for none.
    seed : int

    Examples
    --------
    >>> running = RunningAgreement(bootstrap=0)
    >>> running.add(["a.jpg", "a.jpg"], ["cat", "dog"])
    >>> running.add(["b.jpg", "b.jpg"], ["cat", "cat"])
    >>> running.curve().spa.tolist()
    [0.0, 0.5]
    """

    @checked
    def __init__(self, weights: RunningWeights = "annotations_m1", bootstrap: Replicates = 200, seed: Seed = 0) -> None:
        self._weigh = RUNNING_WEIGHTS[weights]
        self._replicates = bootstrap
        self._rng = np.random.default_rng(seed)
        self._item_code: dict[Hashable, int] = {}
        self._category_code: dict[Hashable, int] = {}
        self._count_of: dict[tuple[int, int], int] = {}
        self._annotations = np.zeros(0, np.int64)
        self._agreeing = np.zeros(0, np.int64)
        self._first = np.zeros(0, np.intp)  # category of the first annotation, which pairs with nothing until the next
        self._draws = np.zeros((0, 1 + self._replicates), np.uint8)
        # sums of each replicate: k P and k for SPA, n and agreeing pairs for alpha, then pairable values by category
        self._sums = np.zeros((PARTS, 1 + self._replicates))
        self._steps: list[tuple[float, ...]] = []
        self._intervals: list[NDArray[np.float64]] = []

    @checked
    def add(self, items: Iterable[Hashable], categories: Iterable[Hashable], time: float = float("nan")) -> None:
        """Count a batch of annotations, and record the agreement after it.

        Parameters
        ----------
        items, categories : (M,) hashable
            Item, and the category that a rater gave it; any raters, but each at most once per item.
        time : float
            Time when the last annotation arrived.
        """
        item = _encode(items, self._item_code, "items")
        category = _encode(categories, self._category_code, "categories")
        if len(item) != len(category):
            raise InputError(f"categories: expected one for each of {len(item)} items, got {len(category)}")
        self._grow()
        if len(item):
            self._count(item, category)
        self._note(time)

    def curve(self) -> RunningCurve:
        """Return the agreement after every batch so far."""
        steps = np.array(self._steps, dtype=np.float64).reshape(-1, 5)
        ends = np.array(self._intervals, dtype=np.float64).reshape(-1, 2, 2)
        return RunningCurve(
            annotations=steps[:, 0].astype(np.int64),
            usable_items=steps[:, 1].astype(np.int64),
            spa=steps[:, 2],
            spa_interval=ends[:, 0],
            alpha=steps[:, 3],
            alpha_interval=ends[:, 1],
            time=steps[:, 4],
        )

    def _grow(self) -> None:
        """Add space for new items and categories, and draw replicates of the items."""
        items = len(self._item_code) - len(self._annotations)
        if items:
            none = np.zeros(items, np.int64)
            draws = self._rng.poisson(1.0, (items, self._replicates)).astype(np.uint8)
            self._annotations = np.concatenate([self._annotations, none])
            self._agreeing = np.concatenate([self._agreeing, none])
            self._first = np.concatenate([self._first, none.astype(np.intp)])
            self._draws = np.concatenate([self._draws, np.column_stack([np.ones(items, np.uint8), draws])])
        categories = PARTS + len(self._category_code) - len(self._sums)
        if categories:
            self._sums = np.concatenate([self._sums, np.zeros((categories, self._sums.shape[1]))])

    def _count(self, item: NDArray[np.intp], category: NDArray[np.intp]) -> None:
        touched, first, index = np.unique(item, return_index=True, return_inverse=True)
        before, agreed = self._annotations[touched], self._agreeing[touched]
        new = before == 0
        self._first[touched[new]] = category[first[new]]
        entry, added = np.unique(index * len(self._category_code) + category, return_counts=True)
        entry_index, entry_category = np.divmod(entry, len(self._category_code))
        old = self._add_counts(touched[entry_index], entry_category, added)
        after = before + np.bincount(index, minlength=len(touched))
        gained = total(entry_index, (old + added) * (old + added - 1) - old * (old - 1), len(touched))
        agreeing = agreed + gained.astype(np.int64)
        self._annotations[touched], self._agreeing[touched] = after, agreeing
        change = self._parts(after, agreeing) - self._parts(before, agreed)
        # the second annotation of an item makes the first one pairable, too
        paired = np.flatnonzero((before == 1) & (after >= 2))
        counted = (after >= 2)[entry_index]
        part, changed = np.nonzero(change)
        rows = (part, PARTS + entry_category[counted], PARTS + self._first[touched[paired]])
        columns = (changed, entry_index[counted], paired)
        amounts = (change[part, changed], added[counted], np.ones(len(paired)))
        table = scipy.sparse.csc_array(
            (np.concatenate(amounts), (np.concatenate(rows), np.concatenate(columns))),
            shape=(len(self._sums), len(touched)),
        )
        for start in range(0, len(touched), ITEMS_AT_ONCE):
            block = slice(start, start + ITEMS_AT_ONCE)
            self._sums += np.asarray(table[:, block] @ self._draws[touched[block]].astype(np.float64))

    def _add_counts(
        self, item: NDArray[np.intp], category: NDArray[np.intp], added: NDArray[np.intp]
    ) -> NDArray[np.int64]:
        """Return (M,) the number of earlier annotations of an item in a category, and add the new ones."""
        old = np.zeros(len(item), np.int64)
        for row, (key, more) in enumerate(
            zip(zip(item.tolist(), category.tolist(), strict=True), added.tolist(), strict=True)
        ):
            old[row] = self._count_of.get(key, 0)
            self._count_of[key] = int(old[row]) + more
        return old

    def _parts(self, annotations: NDArray[np.int64], agreeing: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (4, M) the contribution of each item to the sums; 0 for fewer than two annotations."""
        parts = np.zeros((PARTS, len(annotations)))
        usable = annotations >= 2
        n, same = annotations[usable].astype(np.float64), agreeing[usable]
        weight = self._weigh(n, np.zeros(0))
        parts[:, usable] = weight * same / (n * (n - 1)), weight, n, same / (n - 1)
        return parts

    def _note(self, time: float) -> None:
        weighted, weight, pairable, agreeing = self._sums[:PARTS]
        with np.errstate(invalid="ignore"):  # 0 / 0 if nothing is pairable yet
            spa = weighted / np.where(weight > 0, weight, np.nan)
            coefficient = alpha_of_sums(pairable, agreeing, (self._sums[PARTS:] ** 2).sum(axis=0))
        usable = int((self._annotations >= 2).sum())
        both = np.column_stack([spa, coefficient])
        self._intervals.append(intervals(both[1:], usable))
        self._steps.append((float(self._annotations.sum()), float(usable), spa[0], coefficient[0], time))


@dataclass(frozen=True, kw_only=True)
class RunningSettings(Settings):
    """Settings of running agreement."""

    points: Annotated[
        int, Option("Points", "Maximum number of steps of the curve, with equal numbers of annotations.", low=1)
    ] = 100
    weights: RunningWeights = "annotations_m1"
    bootstrap: Replicates = 200
    seed: Seed = 0


@dataclass(frozen=True)
class RunningArguments(RunningSettings):
    """Arguments of `running_agreement`: its settings, and when annotations arrived."""

    time: ArrayLike | None = None


@takes(RunningArguments)
def running_agreement(
    items: Iterable[Hashable], categories: Iterable[Hashable], settings: RunningArguments
) -> RunningCurve:
    """Compute sparse agreement and alpha with intervals as annotations arrive, see `RunningAgreement`.

    Parameters
    ----------
    items, categories : (N,) hashable
        One annotation each, in order of arrival unless `time` is given.
    time : (N,) float, optional
        Time of arrival of each, which gives their order; ties stay in the order given.

    Returns
    -------
    RunningCurve

    Examples
    --------
    >>> curve = running_agreement([0, 1, 0, 1], ["cat", "dog", "cat", "dog"], time=[1, 2, 3, 4], points=4)
    >>> curve.spa.tolist(), curve.time.tolist()
    ([nan, nan, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0])
    """
    item, category = _encode(items, {}, "items"), _encode(categories, {}, "categories")
    if len(item) != len(category):
        raise InputError(f"categories: expected one for each of {len(item)} items, got {len(category)}")
    running = RunningAgreement(settings.weights, settings.bootstrap, settings.seed)
    when = _times(settings.time, len(item))
    order = np.argsort(when, kind="stable") if settings.time is not None else np.arange(len(item))
    for rows in np.array_split(order, min(settings.points, max(len(item), 1))):
        if len(rows):
            running.add(item[rows], category[rows], float(when[rows[-1]]))
    return running.curve()


def _times(time: ArrayLike | None, count: int) -> NDArray[np.float64]:
    if time is None:
        return np.full(count, np.nan)
    when = as_floats(time, "time")
    if when.shape != (count,) or np.isnan(when).any():
        unknown = int(np.isnan(when).sum())
        raise InputError(f"time: expected {count} numbers, got shape {when.shape} with {unknown:,} unknown")
    return when


def _encode(names: Iterable[Hashable], code: dict[Any, int], what: str) -> NDArray[np.intp]:
    """Encode names; new ones get codes in order of first occurrence."""
    entries: Sequence[Any] = names.tolist() if isinstance(names, np.ndarray) else list(names)
    try:
        missing = [index for index, entry in enumerate(entries) if entry is None or entry != entry]
        codes = [code.setdefault(entry, len(code)) for entry in entries] if not missing else []
    except (TypeError, ValueError) as error:  # e.g. a list, an array, or pandas.NA
        raise InputError(f"{what}: expected names or numbers, got {error}") from None
    if missing:
        raise InputError(
            f"{what}: expected one for each annotation, got nothing in {len(missing):,}: {listed(missing)}"
        )
    return np.array(codes, dtype=np.intp)
