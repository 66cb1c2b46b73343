"""Counts of annotations, items by categories, stored as their nonzero entries."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import divide, expand_runs, run_starts, total
from kalos_core.errors import InputError
from kalos_core.options import checked

ITEMS_AT_ONCE = 512
"""Rows of dense counts searched at once, so that intermediate results stay in the cache."""

PAIRS_AT_ONCE = 1 << 20
"""Pairs of entries compared at once."""

WORTH_THREADS = 10_000_000
"""Dense counts with at least this many cells are searched in several threads."""

HINT = (
    "pass labels, items x raters, to nominal_alpha(labels), or convert them with label_counts(labels), as in "
    "fleiss_kappa(label_counts(labels))"
)
"""Hint on how to pass labels."""

MOST = 100_000_000
"""Maximum number of annotations of an item in one category; their pairs still fit into a whole number."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts (I, C) as M nonzero entries, and the sums that every coefficient needs.

    Parameters
    ----------
    item, category : (M,) int
    count : (M,) int
        At least 1.
    items, categories : int
        I and C.
    times : (I,) int
        Number of items that a row of the counts stands for (items with equal counts can share a row); 1 by default.

    Examples
    --------
    >>> found = tally_unseen([[2, 1], [0, 1]])
    >>> found.annotations.tolist(), found.agreeing.tolist(), found.item_agreement.tolist()
    ([3, 1], [2, 0], [0.3333333333333333, nan])
    """

    item: NDArray[np.intp]
    category: NDArray[np.intp]
    count: NDArray[np.int64]
    items: int
    categories: int
    times: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        if not len(self.times):
            object.__setattr__(self, "times", np.ones(self.items, np.int64))

    @cached_property
    def annotations(self) -> NDArray[np.int64]:
        """(I,) n: annotations of each item."""
        return total(self.item, self.count, self.items).astype(np.int64)

    @cached_property
    def agreeing(self) -> NDArray[np.int64]:
        """(I,) ordered pairs of annotations that agree: sum over categories of n_c (n_c - 1)."""
        return total(self.item, self.count * (self.count - 1), self.items).astype(np.int64)

    @cached_property
    def usable(self) -> NDArray[np.bool_]:
        """(I,) whether an item has at least two annotations, so that agreement is defined."""
        return self.annotations >= 2

    @cached_property
    def item_agreement(self) -> NDArray[np.float64]:
        """(I,) probability that two annotations of an item agree (Eq. 7); NaN with fewer than two."""
        pairs = self.annotations * (self.annotations - 1)
        return divide(self.agreeing, pairs)

    @cached_property
    def category_totals(self) -> NDArray[np.float64]:
        """(C,) number of annotations of each category, over all items."""
        return total(self.category, self.count * self.times[self.item], self.categories)


Counts: TypeAlias = "ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix | Tally"
"""(I, C) number of raters that put each item into each category, or their `Tally`."""


@checked
def tally_unseen(counts: Counts) -> Tally:
    """Read counts like `tally`, without the check for labels."""
    if isinstance(counts, Tally):
        return counts
    item, category, count, (items, categories) = _entries(counts)
    wrong = np.flatnonzero(~((count >= 0) & (count <= MOST)) | (count != np.rint(count)))  # NaN fails both comparisons
    if len(wrong):
        first = wrong[0]
        index = f"item {item[first]}, category {category[first]}"
        allowed = f"at most {MOST:,}" if count[first] > MOST else "at least 0"
        hint = f"; {HINT}" if count[first] in (-1, -2) else ""
        raise InputError(f"counts: expected whole numbers of {allowed}, got {count[first]!s} for {index}{hint}")
    return Tally(item, category, count.astype(np.int64), items, categories)


@checked
def join_tallies(parts: Sequence[Tally]) -> Tally:
    """Join the counts of different items in the same categories.

    Examples
    --------
    >>> found = join_tallies([tally_unseen([[2, 1]]), tally_unseen([[0, 1], [1, 1]])])
    >>> found.items, found.item.tolist(), found.count.tolist()
    (3, [0, 0, 1, 2, 2], [2, 1, 1, 1, 1])
    """
    start = run_starts([part.items for part in parts])
    item = np.concatenate([part.item + first for part, first in zip(parts, start, strict=False)])
    category, count, times = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("category", "count", "times")
    )
    return Tally(item, category, count, int(start[-1]), parts[0].categories, times)


@checked
def tally_of_codes(codes: NDArray[np.intp], categories: int | None = None) -> Tally:
    """Count how many raters gave each item each category, from codes (I, R), with -1 for missing values.

    `categories` is K; by default the smallest number that the codes need.

    Examples
    --------
    >>> found = tally_of_codes(np.array([[0, 0, -1], [1, 0, 1]]))
    >>> found.item.tolist(), found.category.tolist(), found.count.tolist()
    ([0, 1, 1], [0, 0, 1], [2, 1, 2])
    """
    size = int(codes.max(initial=0)) + 1 if categories is None else categories
    item, rater = np.nonzero(codes >= 0)
    cell, count = np.unique(item * size + codes[item, rater], return_counts=True)
    return Tally(cell // max(size, 1), cell % max(size, 1), count.astype(np.int64), len(codes), size)


def entry_pairs(found: Tally) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield ordered pairs of entries of the same item, including each with itself; about `PAIRS_AT_ONCE` at a time.

    Examples
    --------
    >>> [(own.tolist(), other.tolist()) for own, other in entry_pairs(tally_unseen([[2, 1], [0, 1]]))]
    [([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])]
    """
    order = np.argsort(found.item, kind="stable")
    length = np.bincount(found.item, minlength=found.items)
    first, partners = run_starts(length)[found.item[order]], length[found.item[order]]
    ends = run_starts(partners)
    begin = 0
    while begin < len(order):
        end = max(int(np.searchsorted(ends, ends[begin] + PAIRS_AT_ONCE, side="right")) - 1, begin + 1)
        owner, other = expand_runs(first[begin:end], partners[begin:end])
        yield order[begin + owner], order[other]
        begin = end


def _entries(
    counts: ArrayLike | scipy.sparse.sparray | scipy.sparse.spmatrix,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any], tuple[int, int]]:
    if isinstance(counts, (scipy.sparse.sparray, scipy.sparse.spmatrix)):
        given: Any = counts
        if given.ndim != 2:
            raise InputError(f"counts: expected items x categories, got shape {given.shape}")
        given = given.tocsr()
        if not given.has_canonical_format:
            given = given.copy()  # do not change the caller's matrix
            given.sum_duplicates()
        item = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
        return item, given.indices.astype(np.intp), given.data, given.shape
    try:
        dense = np.asarray(counts)
    except ValueError:
        raise InputError("counts: expected numbers, items x categories, got rows of unequal length") from None
    if dense.ndim != 2 or not (np.issubdtype(dense.dtype, np.number) or dense.dtype == np.bool_):
        hint = "" if np.issubdtype(dense.dtype, np.number) else f"; {HINT}"
        raise InputError(
            f"counts: expected numbers, items x categories, got {dense.dtype} of shape {dense.shape}{hint}"
        )
    width = dense.shape[1]

    def search(start: int) -> NDArray[np.intp]:
        block = dense[start : start + ITEMS_AT_ONCE]
        return np.asarray(np.flatnonzero(block != 0) + start * width)

    starts = range(0, len(dense), ITEMS_AT_ONCE)
    if dense.size < WORTH_THREADS:
        found = list(map(search, starts))
    else:
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:  # NumPy releases the GIL
            found = list(pool.map(search, starts))
    index = np.concatenate([np.zeros(0, np.intp), *found])
    item, category = index // max(width, 1), index % max(width, 1)
    return item, category, dense[item, category], (dense.shape[0], width)
