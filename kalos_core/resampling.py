"""Bootstrap over images: per-image means and whole-data-set alphas, and their intervals.

A *statistic* is anything with a value per image: the agreement of all raters, of two raters, or on one class. A
*cell* is one image of one statistic. Many statistics are resampled at once with the same draws, so that their
differences have intervals, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import distinct_codes, total
from kalos_core.chance import alpha_of_sums
from kalos_core.inference import intervals
from kalos_core.reliability import NO_OBJECT, Coincidences, alpha_by_group, coincidences, join_coincidences
from kalos_core.results import Result

REPLICATES_AT_ONCE = 100
"""Replicates drawn at a time, unless that exceeds the images drawn at a time."""

DRAWN_AT_ONCE = 1 << 20
"""Images drawn at a time by `draws`."""

KEPT = 1 << 25
"""Images drawn at a time, one byte each; draws of at most this size are kept for further statistics."""

LINES_AT_ONCE = 1 << 11
"""Rows of a table multiplied at a time (or twice its columns, if more), so that weights stay in the cache."""


EXACT = 1 << 24
"""Single precision represents all whole numbers below this exactly."""

SUMS_AT_ONCE = 1 << 24
"""Sums of replicates held at a time; for many pairs of raters and classes, 100 replicates would need gigabytes."""

MOST_DRAWN = 12
"""Upper bound on a sum over resampled images, relative to the sum over all images; never reached in practice."""

DENSE = 5
"""Tables with at most this many cells per entry are multiplied as dense arrays; sparse ones are slower by this."""


@dataclass(frozen=True, eq=False)
class Cells:
    """M cells: one image of one statistic each, without duplicates.

    Parameters
    ----------
    statistic, image : (M,) int
    sums : Coincidences
        Sums of the units of each cell: M groups.
    value : (M,) float64
        Value to average over the images of a statistic, NaN where undefined; usually the alpha of the cell.

    Examples
    --------
    One statistic, two images of one unit each; raters agree in the first only:

    >>> from kalos_core.reliability import coincidences
    >>> sums = coincidences(np.array([[0, 0], [0, -1]]), np.array([0, 1]), 2)
    >>> cells = Cells.of(np.array([0, 0]), np.array([0, 1]), sums)
    >>> cells.value.tolist(), cells.mean(1).tolist(), cells.whole(1).tolist(), cells.count(1).tolist()
    ([1.0, 0.0], [0.5], [0.0], [2])
    """

    statistic: NDArray[np.intp]
    image: NDArray[np.intp]
    sums: Coincidences
    value: NDArray[np.float64]

    @classmethod
    def of(cls, statistic: NDArray[np.intp], image: NDArray[np.intp], sums: Coincidences) -> Cells:
        """Create cells whose value is their alpha."""
        return cls(statistic, image, sums, alpha_by_group(sums))

    def __len__(self) -> int:
        return len(self.statistic)

    def count(self, statistics: int) -> NDArray[np.intp]:
        """Return (F,) the number of images in the mean of each statistic."""
        return np.bincount(self.statistic[np.isfinite(self.value)], minlength=statistics)

    def pairable(self, statistics: int) -> NDArray[np.intp]:
        """Return (F,) the number of images with a pairable value of each statistic."""
        return np.bincount(self.statistic[self.sums.pairable > 0], minlength=statistics)

    def mean(self, statistics: int) -> NDArray[np.float64]:
        """Return (F,) the mean of the defined values of each statistic; NaN if there are none.

        Sums are exact, so equal means do not differ by the order of images, raters or classes.
        """
        defined = np.flatnonzero(np.isfinite(self.value))
        order = defined[np.argsort(self.statistic[defined], kind="stable")]
        ends = np.searchsorted(self.statistic[order], np.arange(statistics + 1)).tolist()
        ordered = self.value[order].tolist()
        sums = np.array([math.fsum(ordered[begin:end]) for begin, end in pairwise(ends)])
        return sums / np.where(self.count(statistics), self.count(statistics), np.nan)

    def whole(self, statistics: int) -> NDArray[np.float64]:
        """Return (F,) alpha of all units of each statistic as one reliability matrix; NaN if nothing is pairable."""
        column, statistic = self.columns()
        counts = total(column, self.sums.count, len(statistic))
        return alpha_of_sums(
            total(self.statistic, self.sums.pairable, statistics),
            total(self.statistic, self.sums.agreeing, statistics),
            total(statistic, counts**2, statistics),
        )

    def columns(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Assign a column to each value of a statistic; return the column of each count, and (C,) its statistic."""
        span = int(self.sums.value.max(initial=NO_OBJECT)) - NO_OBJECT + 1
        key = self.statistic[self.sums.group] * span + self.sums.value - NO_OBJECT
        distinct, column = distinct_codes(key)
        return column, distinct // span

    @property
    def drawable(self) -> NDArray[np.bool_]:
        """(M,) whether a cell has a value or a pairable value; only images with such cells are drawn."""
        return np.isfinite(self.value) | (self.sums.pairable > 0)

    def seen(self) -> Cells:
        """Return the cells, with undefined values if all values of all cells are `NO_OBJECT`.

        If no rater saw an object in the whole data set, that is not agreement; nothing shows that they annotate at all.

        Examples
        --------
        >>> from kalos_core.reliability import coincidences
        >>> zero = np.array([0])
        >>> empty = Cells.of(zero, zero, coincidences(np.array([[NO_OBJECT, NO_OBJECT]]), zero, 1))
        >>> empty.mean(1).tolist(), empty.seen().mean(1).tolist()
        ([1.0], [nan])
        """
        if (self.sums.value != NO_OBJECT).any():
            return self
        nothing = coincidences(np.zeros((0, 2), np.int32), np.zeros(0, np.intp), len(self))
        return replace(self, sums=nothing, value=np.full(len(self), np.nan))

    def take(self, chosen: NDArray[np.intp]) -> Cells:
        """Return the cells at the given positions, in that order, each at most once."""
        index = np.full(len(self), -1, np.intp)
        index[chosen] = np.arange(len(chosen))
        kept = index[self.sums.group] >= 0
        sums = Coincidences(
            self.sums.pairable[chosen],
            self.sums.agreeing[chosen],
            index[self.sums.group[kept]],
            self.sums.value[kept],
            self.sums.count[kept],
        )
        return Cells(self.statistic[chosen], self.image[chosen], sums, self.value[chosen])


def join_cells(parts: Sequence[Cells]) -> Cells:
    """Join the cells of all parts, one part after the other.

    Examples
    --------
    >>> from kalos_core.reliability import coincidences
    >>> zero = np.array([0])
    >>> cells = Cells.of(zero, zero, coincidences(np.array([[0, 0]]), zero, 1))
    >>> join_cells([cells, cells]).sums.group.tolist()
    [0, 1]
    """
    return Cells(
        statistic=np.concatenate([part.statistic for part in parts]),
        image=np.concatenate([part.image for part in parts]),
        sums=join_coincidences([part.sums for part in parts]),
        value=np.concatenate([part.value for part in parts]),
    )


def join_images(parts: Sequence[Cells], starts: NDArray[np.intp]) -> Cells:
    """Join the cells of tables of different images; `starts` gives the first image of each table.

    Examples
    --------
    >>> from kalos_core.reliability import coincidences
    >>> zero = np.array([0])
    >>> cells = Cells.of(zero, zero, coincidences(np.array([[0, 0]]), zero, 1))
    >>> join_images([cells, cells], np.array([0, 7, 8])).image.tolist()
    [0, 7]
    """
    return join_cells([replace(part, image=part.image + start) for part, start in zip(parts, starts, strict=False)])


@dataclass(frozen=True, eq=False)
class Replicates:
    """B replicates of F statistics, all from the same draws of images.

    Parameters
    ----------
    mean, whole : (B, F) float64
        As `Cells.mean` and `Cells.whole`; NaN if a replicate drew no image of a statistic. B may be 0.
    """

    mean: NDArray[np.float64]
    whole: NDArray[np.float64]


def join_replicates(parts: Sequence[Replicates], statistics: int) -> Replicates:
    """Join the replicates (B, F) of all parts, one part after the other.

    Examples
    --------
    >>> join_replicates([], 2).mean.shape
    (0, 2)
    """
    none = np.zeros((0, statistics))
    return Replicates(
        np.concatenate([none, *(part.mean for part in parts)]), np.concatenate([none, *(part.whole for part in parts)])
    )


@dataclass(frozen=True, eq=False)
class Draws:
    """Repeatable draws, yielded in blocks: how often each image was drawn; the same for every statistic.

    Small draws are kept; large ones are repeated for each statistic.

    Parameters
    ----------
    images : (I,) int
        Ranks of the images to draw from, ascending.
    replicates, seed : int
        As in `resample`.

    Examples
    --------
    >>> drawn = Draws(np.arange(5), replicates=3, seed=0)
    >>> [times.sum(axis=1).tolist() for _ in range(2) for times in drawn]
    [[5, 5, 5], [5, 5, 5]]
    """

    images: NDArray[np.intp]
    replicates: int
    seed: int

    def __iter__(self) -> Iterator[NDArray[Any]]:
        images = len(self.images)
        if images * self.replicates > KEPT:
            return _counted_draws(images, self.replicates, self.seed, KEPT)
        return iter(_kept_draws(images, self.replicates if images else 0, self.seed))


@lru_cache(maxsize=2)
def _kept_draws(images: int, replicates: int, seed: int) -> list[NDArray[Any]]:
    """Bootstrap counts, cached as bytes for the last two sizes."""
    return list(_counted_draws(images, replicates, seed, KEPT))


def resample(
    cells: Cells,
    statistics: int,
    replicates: int,
    seed: int,
    rank: NDArray[np.intp] | None = None,
) -> Replicates:
    """Bootstrap statistics over images, with replacement; draws images with a value or a pairable value in any of them.

    Parameters
    ----------
    cells : Cells
    statistics : int
        F
    replicates : int
        B, 0 for none.
    seed : int
    rank : (I,) int, optional
        Position of each image among those drawn from (`Annotations.image_rank`), so that the order of the table does
        not matter; by default their order in the table.

    Returns
    -------
    Replicates

    Examples
    --------
    >>> from kalos_core.reliability import coincidences
    >>> sums = coincidences(np.array([[0, 0], [0, -1]]), np.array([0, 1]), 2)
    >>> drawn = resample(Cells.of(np.array([0, 0]), np.array([0, 1]), sums), 1, replicates=4, seed=0)
    >>> drawn.mean.ravel().tolist()
    [0.0, 0.5, 1.0, 1.0]
    """
    image = cells.image if rank is None else rank[cells.image]
    images = distinct_codes(image[cells.drawable])[0]
    if not replicates or not len(images):
        return join_replicates([], statistics)
    resampled = Resampled(cells, statistics, images, rank)
    return join_replicates([resampled.of(times) for times in Draws(images, replicates, seed)], statistics)


class Resampled:
    """Statistics of cells, prepared for computing replicates by matrix products.

    Parameters
    ----------
    cells : Cells
    statistics : int
        F
    images : (I,) int
        Ranks of the images to draw from, ascending: all with a value or a pairable value here, and possibly others.
    rank : (I',) int, optional
        As in `resample`.

    Examples
    --------
    >>> from kalos_core.reliability import coincidences
    >>> sums = coincidences(np.array([[0, 0], [0, -1]]), np.array([0, 1]), 2)
    >>> resampled = Resampled(Cells.of(np.array([0, 0]), np.array([0, 1]), sums), 1, np.arange(2))
    >>> resampled.of(np.array([[2, 0], [1, 1]])).mean.tolist()
    [[1.0], [0.5]]
    """

    def __init__(
        self, cells: Cells, statistics: int, images: NDArray[np.intp], rank: NDArray[np.intp] | None = None
    ) -> None:
        there = cells.drawable
        line = np.searchsorted(images, cells.image if rank is None else rank[cells.image])
        lines, often = len(images), None
        self._alike: WeightedSums | None = None
        kind, first = _kinds(cells)
        if 2 * len(first) < len(cells):  # first count how often each kind of cell was drawn
            often = np.bincount(kind[there], minlength=len(first))
            self._alike = WeightedSums([(kind[there], line[there], np.ones(int(there.sum())))], len(first), lines)
            cells, line, lines = cells.take(first), np.arange(len(first)), len(first)
        defined, pairable = np.flatnonzero(np.isfinite(cells.value)), np.flatnonzero(cells.sums.pairable > 0)
        column, statistic_of_column = cells.columns()
        self._ends = np.searchsorted(statistic_of_column, np.arange(statistics + 1))
        # two stacked tables: whole numbers (counts, pairable, counts of values) and others (values, agreeing)
        of_defined, of_pairable = cells.statistic[defined], statistics + cells.statistic[pairable]
        self._counted = WeightedSums(
            [
                (of_defined, line[defined], np.ones(len(defined))),
                (of_pairable, line[pairable], cells.sums.pairable[pairable]),
                (column + 2 * statistics, line[cells.sums.group], cells.sums.count),
            ],
            2 * statistics + len(statistic_of_column),
            lines,
            often,
        )
        self._summed = WeightedSums(
            [
                (of_defined, line[defined], cells.value[defined]),
                (of_pairable, line[pairable], cells.sums.agreeing[pairable]),
            ],
            2 * statistics,
            lines,
        )

    def of(self, times: NDArray[Any]) -> Replicates:
        """Return the replicates for draws (B, I), which hold how often each image was drawn."""
        at_once = max(1, SUMS_AT_ONCE // self._counted.columns)
        parts = [self._some(times[first : first + at_once]) for first in range(0, len(times), at_once)]
        return join_replicates(parts, len(self._ends) - 1)

    def _some(self, times: NDArray[Any]) -> Replicates:
        statistics = len(self._ends) - 1
        weights = times.T if self._alike is None else self._alike.sums(times.T)
        count, n, counts = np.split(self._counted.sums(weights), statistics * np.arange(1, 3))
        values, agreeing = np.split(self._summed.sums(weights), 2)
        squares = np.zeros((len(counts) + 1, counts.shape[1]))
        np.cumsum(np.square(counts), axis=0, out=squares[1:])  # whole numbers, so sums are exact
        with np.errstate(invalid="ignore"):  # 0 / 0: no image of that statistic was drawn
            return Replicates((values / count).T, alpha_of_sums(n, agreeing, np.diff(squares[self._ends], axis=0)).T)


def _kinds(cells: Cells) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Group identical cells of the same statistic: return (M,) the group of each cell, and the first cell of each."""
    sums, rng = cells.sums, np.random.default_rng(0)

    def mixed(values: NDArray[Any]) -> NDArray[np.uint64]:
        """Return a random 64-bit number for each distinct value; sums of them do not collide in practice."""
        distinct, inverse = distinct_codes(values)
        return rng.integers(0, 1 << 64, len(distinct), dtype=np.uint64)[inverse]

    key = mixed(cells.statistic) + mixed(sums.agreeing) + mixed(cells.value)  # wraps around
    count = sums.count.astype(np.intp)
    np.add.at(key, sums.group, mixed((sums.value - NO_OBJECT) * (int(count.max(initial=0)) + 1) + count))
    _, first, kind = np.unique(key, return_index=True, return_inverse=True)
    return kind.reshape(-1), first


class WeightedSums:
    """Weighted sums over the rows of a table, for many weights at once.

    Blocks of rows use single precision if amounts are whole numbers with sums below `EXACT`, which is exact. Sums of
    blocks use double precision.

    Parameters
    ----------
    entries : sequence of (column, line, amount)
        Three arrays (n,) for each entry.
    columns, lines : int
    alike : (lines,) int, optional
        Number of images that each row stands for; 1 by default.

    Examples
    --------
    >>> entries = [(np.array([0, 1]), np.array([0, 1]), np.array([3, 5]))]
    >>> WeightedSums(entries, columns=2, lines=2).sums(np.array([[1, 2], [2, 0]])).tolist()
    [[3.0, 6.0], [10.0, 0.0]]
    """

    def __init__(
        self,
        entries: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]],
        columns: int,
        lines: int,
        alike: NDArray[np.intp] | None = None,
    ) -> None:
        from scipy import sparse  # slow to import, and needed here only

        column, line, amount = (np.concatenate([entry[at] for entry in entries]) for at in range(3))
        where = line.astype(np.int32), column.astype(np.int32)
        table = sparse.csr_array((amount, where), shape=(lines, columns))
        often = np.ones(lines) if alike is None else alike
        is_whole, is_dense = not (amount % 1).any(), columns * lines < DENSE * len(amount)
        self.columns, at_once = columns, max(LINES_AT_ONCE, 2 * columns)
        self._parts: list[tuple[slice, Any]] = []
        for rows in (slice(first, first + at_once) for first in range(0, lines, at_once)):
            part = table[rows].T
            single = is_whole and MOST_DRAWN * (part @ often[rows]).max(initial=0) < EXACT
            part = part.astype(np.float32 if single else np.float64)
            self._parts.append((rows, part.toarray(order="C") if is_dense else part.tocsr()))

    def sums(self, weights: NDArray[Any]) -> NDArray[np.float64]:
        """Return (columns, B) sums for weights (lines, B)."""
        found = np.zeros((self.columns, weights.shape[1]))
        for rows, part in self._parts:
            found += part @ np.ascontiguousarray(weights[rows], dtype=part.dtype)
        return found


def draws(images: int, replicates: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield blocks (B', I) of replicates: how often each image was drawn with replacement.

    Examples
    --------
    >>> [times.sum(axis=1).tolist() for times in draws(images=5, replicates=3, seed=0)]
    [[5.0, 5.0, 5.0]]
    """
    for times in _counted_draws(images, replicates, seed, DRAWN_AT_ONCE):
        yield times.astype(np.float64, order="C")


def _counted_draws(images: int, replicates: int, seed: int, most: int) -> Iterator[NDArray[np.uint8]]:
    """Yield blocks as `draws`, of at most `most` images; the next block is drawn in a thread ahead of time."""
    rng = np.random.default_rng(seed)
    at_once = min(REPLICATES_AT_ONCE, max(1, most // max(images, 1)))
    sizes = [min(at_once, replicates - start) for start in range(0, replicates, at_once)]

    def some(size: int) -> NDArray[np.uint8]:  # counts fit into a byte: their mean is 1
        times = np.zeros((size, images), np.uint8)
        for row in times:
            np.add.at(row, rng.integers(0, images, images), np.uint8(1))
        return np.asfortranarray(times)

    if not sizes:
        return
    with ThreadPoolExecutor(1) as ahead:
        coming = ahead.submit(some, sizes[0])
        for size in sizes[1:]:
            drawn, coming = coming.result(), ahead.submit(some, size)
            yield drawn
        yield coming.result()


def draws_of_kinds(count: NDArray[Any], replicates: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield blocks (B', K) of replicates: how often each kind was drawn with replacement.

    Items of one kind are identical, and `count` (K,) gives their number, so the numbers drawn are multinomial.

    Examples
    --------
    >>> [block.sum(axis=1).tolist() for block in draws_of_kinds(np.array([3, 1]), replicates=2, seed=0)]
    [[4, 4]]
    """
    rng, items = np.random.default_rng(seed), int(count.sum())
    for start in range(0, replicates if len(count) else 0, REPLICATES_AT_ONCE):
        yield rng.multinomial(items, count / items, size=min(REPLICATES_AT_ONCE, replicates - start))


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Result):
    """F statistics with their intervals.

    Parameters
    ----------
    alpha, global_alpha : (F,) float64
        `Cells.mean` and `Cells.whole`.
    alpha_interval, global_alpha_interval : (F, 2) float64
        95 % bootstrap interval over images; NaN without a bootstrap.
    images : (F,) int
        Number of images in the mean.
    """

    alpha: NDArray[np.float64]
    alpha_interval: NDArray[np.float64]
    global_alpha: NDArray[np.float64]
    global_alpha_interval: NDArray[np.float64]
    images: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.alpha)


def estimate(
    cells: Cells, statistics: int, replicates: int, seed: int, rank: NDArray[np.intp] | None = None
) -> Estimates:
    """Compute the mean and whole alpha of each statistic, the number of images, and intervals; see `resample`.

    Examples
    --------
    >>> from kalos_core.reliability import coincidences
    >>> sums = coincidences(np.array([[0, 0], [0, 0]]), np.array([0, 1]), 2)
    >>> made = estimate(Cells.of(np.array([0, 1]), np.array([0, 0]), sums), 2, replicates=10, seed=0)
    >>> made.alpha.tolist(), made.alpha_interval.tolist(), made.images.tolist()
    ([1.0, 1.0], [[nan, nan], [nan, nan]], [1, 1])
    """
    drawn = resample(cells, statistics, replicates, seed, rank)
    return Estimates(
        alpha=cells.mean(statistics),
        alpha_interval=intervals(drawn.mean, cells.count(statistics)),
        global_alpha=cells.whole(statistics),
        global_alpha_interval=intervals(drawn.whole, cells.pairable(statistics)),
        images=cells.count(statistics),
    )
