"""Statistics over images and their intervals: means and whole-data-set alphas, images drawn with replacement.

A *statistic* is anything that has a value per image: the agreement of all raters, of two of them, of one class. Its
images are *cells*, and many statistics are resampled at once, all with the same draws, so that their differences have
intervals too.
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
"""Replicates that are drawn at a time, as long as they are no more images than may be drawn at a time."""

DRAWN_AT_ONCE = 1 << 20
"""Images that `draws` draws at a time."""

KEPT = 1 << 25
"""Images drawn, a byte each: so many are kept for further statistics, and drawn at a time."""

LINES_AT_ONCE = 1 << 11
"""Lines of a table that are multiplied at a time, or twice its columns: their weights stay in the cache."""


EXACT = 1 << 24
"""Below it single precision holds every whole number."""

SUMS_AT_ONCE = 1 << 24
"""Sums of replicates that are held at a time: of many pairs of raters and classes those of 100 would be gigabytes."""

MOST_DRAWN = 12
"""A sum over images drawn with replacement is nowhere near so many times that over each image once."""

DENSE = 5
"""A table of at most so many places for each entry is multiplied as it is: sparse ones are so much slower."""


@dataclass(frozen=True, eq=False)
class Cells:
    """M cells: what one image holds for one statistic, each image and statistic at most once.

    Parameters
    ----------
    statistic, image : (M,) int
    sums : Coincidences
        Of the units of each cell: M groups.
    value : (M,) float64
        What is averaged over the images of a statistic, NaN where undefined: the alpha of the cell, if nothing else.

    Examples
    --------
    One statistic, two images of one unit each, agreed in the first only:

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
        """Cells whose value is their alpha."""
        return cls(statistic, image, sums, alpha_by_group(sums))

    def __len__(self) -> int:
        return len(self.statistic)

    def count(self, statistics: int) -> NDArray[np.intp]:
        """(F,) over how many images the mean of each statistic is."""
        return np.bincount(self.statistic[np.isfinite(self.value)], minlength=statistics)

    def pairable(self, statistics: int) -> NDArray[np.intp]:
        """(F,) how many images have a pairable value of each statistic."""
        return np.bincount(self.statistic[self.sums.pairable > 0], minlength=statistics)

    def mean(self, statistics: int) -> NDArray[np.float64]:
        """(F,) mean of the defined values of each statistic; NaN without any.

        Sums are exact, so that what is equal does not differ by the order of images, raters or classes.
        """
        defined = np.flatnonzero(np.isfinite(self.value))
        order = defined[np.argsort(self.statistic[defined], kind="stable")]
        ends = np.searchsorted(self.statistic[order], np.arange(statistics + 1)).tolist()
        ordered = self.value[order].tolist()
        sums = np.array([math.fsum(ordered[begin:end]) for begin, end in pairwise(ends)])
        return sums / np.where(self.count(statistics), self.count(statistics), np.nan)

    def whole(self, statistics: int) -> NDArray[np.float64]:
        """(F,) alpha of all units of each statistic taken as one reliability matrix; NaN where nothing is pairable."""
        column, statistic = self.columns()
        counts = total(column, self.sums.count, len(statistic))
        return alpha_of_sums(
            total(self.statistic, self.sums.pairable, statistics),
            total(self.statistic, self.sums.agreeing, statistics),
            total(statistic, counts**2, statistics),
        )

    def columns(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """A column for each value of a statistic: (counts of `sums`,) its column, and (C,) its statistic."""
        span = int(self.sums.value.max(initial=NO_OBJECT)) - NO_OBJECT + 1
        key = self.statistic[self.sums.group] * span + self.sums.value - NO_OBJECT
        distinct, column = distinct_codes(key)
        return column, distinct // span

    @property
    def drawable(self) -> NDArray[np.bool_]:
        """(M,) True where there is a value or a pairable value: images with one are drawn from."""
        return np.isfinite(self.value) | (self.sums.pairable > 0)

    def seen(self) -> Cells:
        """The cells, without a number where all their values are `NO_OBJECT`.

        That no rater saw an object in the whole of a data set is no agreement: nothing shows that they annotate at all.

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
        """The cells at the given positions, in that order, each at most once."""
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
    """The cells of all parts, one part after the other.

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
    """The cells of tables of different images, the first image of each table being that of `starts`.

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
        As `Cells.mean` and `Cells.whole`; NaN in a replicate that drew no image of a statistic. B may be 0.
    """

    mean: NDArray[np.float64]
    whole: NDArray[np.float64]


def join_replicates(parts: Sequence[Replicates], statistics: int) -> Replicates:
    """The replicates (B, F) of all parts, one part after the other.

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
    """The same draws for statistics that come one after the other; how often each image was drawn, some at a time.

    They are kept if they are few, and drawn again for each statistic else.

    Parameters
    ----------
    images : (I,) int
        Ranks of the images that are drawn from, ascending.
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
    """What `draws` answers, in few bytes; those of the last two sizes are there at once."""
    return list(_counted_draws(images, replicates, seed, KEPT))


def resample(
    cells: Cells,
    statistics: int,
    replicates: int,
    seed: int,
    rank: NDArray[np.intp] | None = None,
) -> Replicates:
    """Percentile bootstrap over images: those with a value or a pairable value in any statistic, with replacement.

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
        not matter; as they are numbered unless given.

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
    """Statistics of cells, ready to be computed of draws: what cells hold is summed by products of matrices.

    Parameters
    ----------
    cells : Cells
    statistics : int
        F
    images : (I,) int
        Ranks of the images that are drawn from, ascending: all with a value or a pairable value here, and others.
    rank : (I',) int, optional
        As of `resample`.

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
        if 2 * len(first) < len(cells):  # how often each kind of cell was drawn comes first
            often = np.bincount(kind[there], minlength=len(first))
            self._alike = WeightedSums([(kind[there], line[there], np.ones(int(there.sum())))], len(first), lines)
            cells, line, lines = cells.take(first), np.arange(len(first)), len(first)
        defined, pairable = np.flatnonzero(np.isfinite(cells.value)), np.flatnonzero(cells.sums.pairable > 0)
        column, statistic_of_column = cells.columns()
        self._ends = np.searchsorted(statistic_of_column, np.arange(statistics + 1))
        # one above the other: whole numbers (how many, pairable, counts of values) and others (values, agreeing)
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
        """The replicates of draws (B, I), which say how often each image was drawn."""
        at_once = max(1, SUMS_AT_ONCE // self._counted.columns)
        parts = [self._some(times[first : first + at_once]) for first in range(0, len(times), at_once)]
        return join_replicates(parts, len(self._ends) - 1)

    def _some(self, times: NDArray[Any]) -> Replicates:
        statistics = len(self._ends) - 1
        weights = times.T if self._alike is None else self._alike.sums(times.T)
        count, n, counts = np.split(self._counted.sums(weights), statistics * np.arange(1, 3))
        values, agreeing = np.split(self._summed.sums(weights), 2)
        squares = np.zeros((len(counts) + 1, counts.shape[1]))
        np.cumsum(np.square(counts), axis=0, out=squares[1:])  # whole numbers: nothing is lost
        with np.errstate(invalid="ignore"):  # 0 / 0: no image of that statistic was drawn
            return Replicates((values / count).T, alpha_of_sums(n, agreeing, np.diff(squares[self._ends], axis=0)).T)


def _kinds(cells: Cells) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(M,) number of the cells that hold the same for the same statistic, and the first cell of each."""
    sums, rng = cells.sums, np.random.default_rng(0)

    def mixed(values: NDArray[Any]) -> NDArray[np.uint64]:
        """A number for each distinct value, of so many that sums of them are equal by chance in no data set."""
        distinct, inverse = distinct_codes(values)
        return rng.integers(0, 1 << 64, len(distinct), dtype=np.uint64)[inverse]

    key = mixed(cells.statistic) + mixed(sums.agreeing) + mixed(cells.value)  # wraps around
    count = sums.count.astype(np.intp)
    np.add.at(key, sums.group, mixed((sums.value - NO_OBJECT) * (int(count.max(initial=0)) + 1) + count))
    _, first, kind = np.unique(key, return_index=True, return_inverse=True)
    return kind.reshape(-1), first


class WeightedSums:
    """What lines of a table hold, for sums over its lines with many weights at once.

    Some lines at a time are multiplied in single precision where their amounts are whole numbers with sums below
    `EXACT`, which loses nothing; parts are added up in double precision.

    Parameters
    ----------
    entries : sequence of (column, line, amount)
        Three arrays (n,) each.
    columns, lines : int
    alike : (lines,) int, optional
        For how many images each line stands; one unless given.

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
        """(columns, B) sums of weights (lines, B)."""
        found = np.zeros((self.columns, weights.shape[1]))
        for rows, part in self._parts:
            found += part @ np.ascontiguousarray(weights[rows], dtype=part.dtype)
        return found


def draws(images: int, replicates: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """(B', I) how often each image was drawn with replacement, some replicates at a time.

    Examples
    --------
    >>> [times.sum(axis=1).tolist() for times in draws(images=5, replicates=3, seed=0)]
    [[5.0, 5.0, 5.0]]
    """
    for times in _counted_draws(images, replicates, seed, DRAWN_AT_ONCE):
        yield times.astype(np.float64, order="C")


def _counted_draws(images: int, replicates: int, seed: int, most: int) -> Iterator[NDArray[np.uint8]]:
    """As `draws`, at most so many images at a time, which lie one after the other; drawn while others are counted."""
    rng = np.random.default_rng(seed)
    at_once = min(REPLICATES_AT_ONCE, max(1, most // max(images, 1)))
    sizes = [min(at_once, replicates - start) for start in range(0, replicates, at_once)]

    def some(size: int) -> NDArray[np.uint8]:  # a byte holds how often, of which once is the mean
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
    """(B', K) how often each kind is among items drawn with replacement, a block of replicates at a time.

    Items that are alike are of one kind, as `count` (K,) says, so that their numbers are multinomial.

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
        Over how many images the mean is.
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
    """Each statistic's mean and whole alpha, how many images it has, and the intervals of both; see `resample`.

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
