"""Counts of pixels for the agreement of a data set, which can be summed over images of any size."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import divide
from kalos_core.pixels.patterns import Patterns


@dataclass(frozen=True, eq=False)
class PixelSums:
    """Counts of pixels of one or many images. R raters of the data set.

    If raters have no names, R is the largest number of raters of an image in `by_rater_count`, and 0 elsewhere.

    Parameters
    ----------
    by_rater_count : (R + 1, R + 1) int64
        ``by_rater_count[n, a]``: pixels marked by a of the n raters assigned to the image (Lampert et al., Eq. 2).
    common : (R, R) int64
        Pixels of the images that both raters are assigned to.
    marked : (R, R) int64
        Number of these that the first rater marked.
    both : (R, R) int64
        Number of these that both marked.
    confusion : (R, 2, 2) int64
        Number of pixels by vote of a rater and by the consensus of half of the raters: 0 nothing, 1 marked.

    Examples
    --------
    >>> from kalos_core.pixels.patterns import find_patterns
    >>> from kalos_core.pixels.stack import MaskStack
    >>> patterns = find_patterns(MaskStack.of([[[0, 0, 1]], [[0, 1, 1]]]))
    >>> sums = PixelSums.of(patterns, np.array([0, 1]), 2)
    >>> sums.by_rater_count[2].tolist(), sums.both.tolist(), sums.confusion[0].tolist()
    ([1, 1, 1], [[1, 1], [1, 2]], [[1, 1], [0, 1]])
    """

    by_rater_count: NDArray[np.int64]
    common: NDArray[np.int64]
    marked: NDArray[np.int64]
    both: NDArray[np.int64]
    confusion: NDArray[np.int64]

    @classmethod
    def nothing(cls, raters: int) -> PixelSums:
        """Return the sums of no image."""
        square = (raters, raters)
        shapes = ((raters + 1, raters + 1), square, square, square, (raters, 2, 2))
        return cls(*(np.zeros(shape, np.int64) for shape in shapes))

    @classmethod
    def of(cls, patterns: Patterns, given: NDArray[np.intp], raters: int) -> PixelSums:
        """Compute the sums of an image with N masks, of the raters `given` (N,) among all `raters`."""
        sums = cls.nothing(raters)
        votes, count = patterns.votes.astype(np.int64), patterns.count
        agreeing = votes.sum(axis=1)
        np.add.at(sums.by_rater_count, (len(given), agreeing), count)
        cells = np.ix_(given, given)
        sums.common[cells] = patterns.pixels
        sums.marked[cells] = (count @ votes)[:, None]
        sums.both[cells] = (votes * count[:, None]).T @ votes
        consensus = (2 * agreeing >= len(given)).astype(np.intp)
        for index, rater in enumerate(given):
            np.add.at(sums.confusion[rater], (votes[:, index], consensus), count)
        return sums

    def without_raters(self) -> PixelSums:
        """Return only the counts that do not depend on rater names: those by number of raters who marked a pixel."""
        return replace(PixelSums.nothing(0), by_rater_count=self.by_rater_count)

    def __add__(self, other: PixelSums) -> PixelSums:
        return PixelSums(*(_sum(getattr(self, each.name), getattr(other, each.name)) for each in fields(self)))

    @property
    def pixels(self) -> int:
        """Number of pixels that are not ignored."""
        return int(self.by_rater_count.sum())

    def smyth_bound(self) -> float:
        """Compute the mean over pixels of min(n - A, A) / n: minimum error of the raters, whatever the truth (Eq. 1).

        NaN without a pixel.
        """
        given, rater_count = np.indices(self.by_rater_count.shape)
        least = np.minimum(given - rater_count, rater_count) / np.maximum(given, 1)
        pixels = self.pixels
        return float((least * self.by_rater_count).sum() / pixels) if pixels else float("nan")

    def ratio(self) -> NDArray[np.float64]:
        """Compute the share (R,) of pixels marked by any rater that at least n = 1, ..., R raters marked (Eq. 3).

        Each share is over images with at least n raters, since others cannot have as many; NaN if nothing is marked
        there.
        """
        reached = self.by_rater_count[:, ::-1].cumsum(axis=1)[:, ::-1]  # [given, at least so many]
        at_least = reached[::-1].cumsum(axis=0)[::-1]  # of images with at least so many raters
        rater_count = np.arange(1, len(self.by_rater_count))
        return divide(at_least[rater_count, rater_count], at_least[rater_count, 1])

    def f1(self) -> NDArray[np.float64]:
        """Compute the F1 (R, R) of every two raters over their common images (Eq. 6); NaN if they have none.

        It is 1 if neither marked anything, since there is no disagreement.
        """
        either = self.marked + self.marked.T
        shared = divide(2 * self.both, either)
        return np.where((either == 0) & (self.common > 0), 1.0, shared)


def _sum(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add arrays; one may have fewer raters."""
    summed = np.zeros(np.maximum(one.shape, other.shape), np.int64)
    for part in (one, other):
        summed[tuple(map(slice, part.shape))] += part
    return summed
