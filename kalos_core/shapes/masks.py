"""Pixel masks, stored as runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import expand_runs, run_starts, total


@dataclass(frozen=True, eq=False)
class Masks:
    """N masks, each on a canvas of its own size, as runs of pixels in column-major order (as in COCO).

    A canvas is an image's own pixel grid. Runs of a mask are sorted and neither overlap nor touch, so that equal masks
    have equal runs.

    Parameters
    ----------
    size : (N, 2) int
        Width and height of each canvas in pixels; 0, 0 where an annotation has no mask.
    first, length : (S,) uint32
        First pixel of a run and its number of pixels. The number of a pixel is ``column * height + row``.
    run_start : (N + 1,) int
        Annotation n has the runs ``run_start[n]:run_start[n + 1]``; a mask may have none.

    Examples
    --------
    >>> masks = Masks.from_arrays([[[0, 1, 1], [0, 1, 0]]])
    >>> masks.first.tolist(), masks.length.tolist()
    ([2], [3])
    >>> masks.area().tolist(), masks.bounds().tolist()
    ([3.0], [[1.0, 0.0, 3.0, 2.0]])
    >>> len(Masks.from_arrays([]))
    0
    """

    size: NDArray[np.intp]
    first: NDArray[np.uint32]
    length: NDArray[np.uint32]
    run_start: NDArray[np.intp]

    @classmethod
    def from_arrays(cls, arrays: Sequence[ArrayLike]) -> Masks:
        """Return masks from N boolean arrays (height, width), each the whole canvas."""
        pixels = [np.asarray(array, dtype=np.bool_) for array in arrays]
        size = np.array([canvas.shape[::-1] for canvas in pixels], dtype=np.intp).reshape(-1, 2)
        counts = [count_pixels(canvas) for canvas in pixels]
        flat = np.concatenate([np.zeros(0, np.intp), *counts])
        return cls.from_counts(size, flat, run_starts([len(numbers) for numbers in counts]))

    @classmethod
    def from_counts(cls, size: NDArray[np.intp], counts: NDArray[np.integer], count_start: NDArray[np.intp]) -> Masks:
        """Return masks from COCO's counts: pixels off, on, off, ... down the columns; mask n from ``count_start[n]``.

        Examples
        --------
        >>> Masks.from_counts(np.array([[3, 2]]), np.array([2, 3, 1]), np.array([0, 3])).area().tolist()
        [3.0]
        """
        stop = np.cumsum(counts, dtype=np.intp)
        owner = np.repeat(np.arange(len(size)), np.diff(count_start))
        stop -= np.append(0, stop)[count_start[:-1]][owner]
        on = np.flatnonzero((np.arange(len(counts)) - count_start[:-1][owner]) % 2 == 1)
        return cls.from_spans(size, owner[on], stop[on] - counts[on], stop[on])

    @classmethod
    def from_spans(
        cls, size: NDArray[np.intp], owner: NDArray[np.intp], start: NDArray[np.intp], stop: NDArray[np.intp]
    ) -> Masks:
        """Return masks from spans of pixels, start to stop - 1, of masks `owner`, in any order, overlapping or not."""
        apart = int(size.prod(axis=1).max(initial=0)) + 1  # so that runs of two masks never touch
        start, stop = start + owner * apart, stop + owner * apart
        order = np.argsort(start[stop > start], kind="stable")
        start, stop = start[stop > start][order], stop[stop > start][order]
        reach = np.maximum.accumulate(stop) if len(stop) else stop
        fresh = np.flatnonzero(np.append(True, start[1:] > reach[:-1])[: len(start)])
        length = reach[np.append(fresh[1:], len(start))[: len(fresh)] - 1] - start[fresh]
        row, first = np.divmod(start[fresh], apart)
        runs = np.bincount(row, minlength=len(size))
        return cls(size, first.astype(np.uint32), length.astype(np.uint32), run_starts(runs))

    def __len__(self) -> int:
        return len(self.size)

    def rle(self, row: int) -> dict[str, Any]:
        """Return one mask in COCO's RLE, ``{"size": [height, width], "counts": text}``, encoded by pycocotools.

        Examples
        --------
        >>> Masks.from_arrays([[[0, 1, 1], [0, 1, 0]]]).rle(0)
        {'size': [2, 3], 'counts': '231'}
        """
        from pycocotools import mask  # slow to import, and only needed to write

        runs = slice(self.run_start[row], self.run_start[row + 1])
        width, height = self.size[row].tolist()
        edges = np.stack([self.first[runs], self.first[runs] + self.length[runs]], axis=1).ravel()
        counts = np.diff(edges.astype(np.int64), prepend=0, append=width * height)
        counts = counts[: len(counts) - (counts[-1] == 0)]  # drop an empty run at the end
        given: Any = {"size": [height, width], "counts": counts.tolist()}  # not covered by pycocotools' type hints
        made = mask.frPyObjects(given, height, width)
        return {"size": [height, width], "counts": made["counts"].decode("ascii")}

    def take(self, rows: NDArray[np.intp]) -> Masks:
        """Return the masks of the given rows."""
        runs = np.diff(self.run_start)[rows]
        run = expand_runs(self.run_start[rows], runs)[1]
        return Masks(self.size[rows], self.first[run], self.length[run], run_starts(runs))

    def absent(self) -> NDArray[np.bool_]:
        """Return an (N,) mask of annotations without a mask; an empty mask is not absent."""
        return np.asarray(self.size[:, 1] == 0)

    def strips(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.intp], ...]:
        """Return the runs of the given rows (M,), split at the ends of columns, independent of the canvas size.

        Returns
        -------
        place, column, top, bottom : (T,) int
            Position in `rows`, column, first row and last row + 1; sorted.
        """
        position, run = expand_runs(self.run_start[rows], np.diff(self.run_start)[rows])
        height = self.size[rows, 1][position]
        first = self.first[run].astype(np.intp)
        last = first + self.length[run] - 1
        left, right = first // height, last // height
        strip, column = expand_runs(left, right - left + 1)
        top = np.where(column == left[strip], (first - left * height)[strip], 0)
        bottom = np.where(column == right[strip], (last - right * height)[strip] + 1, height[strip])
        return position[strip], column, top, bottom

    @cached_property
    def _bounds(self) -> NDArray[np.float64]:
        bounds = np.full((len(self), 4), np.nan)
        drawn = np.flatnonzero(np.diff(self.run_start))
        if len(drawn):
            height = np.repeat(self.size[:, 1], np.diff(self.run_start))
            last = self.first.astype(np.intp) + self.length - 1
            left, right = self.first // height, last // height
            whole = right > left  # a run that spans several columns reaches the top and bottom edge
            begin = self.run_start[drawn]
            bounds[drawn, 0] = left[begin]
            bounds[drawn, 1] = np.minimum.reduceat(np.where(whole, 0, self.first % height), begin)
            bounds[drawn, 2] = right[self.run_start[drawn + 1] - 1] + 1
            bounds[drawn, 3] = np.maximum.reduceat(np.where(whole, height, last % height + 1), begin)
        return bounds

    def bounds(self) -> NDArray[np.float64]:
        """Return (N, 4) bounds of the pixels that are on; NaN for an empty mask."""
        return self._bounds

    def outline_bounds(self) -> NDArray[np.float64]:
        """Return the same as `bounds`."""
        return self._bounds

    @cached_property
    def _area(self) -> NDArray[np.float64]:
        return total(np.repeat(np.arange(len(self)), np.diff(self.run_start)), self.length, len(self))

    def area(self) -> NDArray[np.float64]:
        """Return the (N,) numbers of pixels that are on."""
        return self._area

    def union(self, rows: NDArray[np.intp]) -> Masks:
        """Return C masks, each the union of the m masks of one line of `rows` (C, m), on the largest canvas."""
        size = self.size[rows].max(axis=1)
        position, column, top, bottom = self.strips(rows.ravel())
        owner = position // rows.shape[1]
        start = column * size[owner, 1]
        return Masks.from_spans(size, owner, start + top, start + bottom)

    def tie_keys(self, rows: NDArray[np.intp]) -> list[NDArray[Any]]:
        """Return bounds, area and size, then a rank of the runs themselves."""
        taken = self.take(rows)
        runs = np.stack([taken.first, taken.length], axis=1)
        content = np.empty(len(rows), dtype=object)
        content[:] = [runs[begin:end].tobytes() for begin, end in pairwise(taken.run_start)]
        digest = np.unique(content, return_inverse=True)[1] if len(rows) else np.zeros(0, np.intp)
        bounds = np.nan_to_num(taken.bounds(), nan=-np.inf)
        return [*bounds.T, taken.area(), *taken.size.T, digest]


def count_pixels(pixels: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return COCO's counts of a whole canvas (height, width): pixels off, on, off, ... down the columns.

    Examples
    --------
    >>> count_pixels(np.array([[False, True, True], [False, True, False]])).tolist()
    [2, 3, 1]
    >>> count_pixels(np.ones((1, 2), bool)).tolist()
    [0, 2]
    """
    down = pixels.T.ravel()
    edges = np.flatnonzero(np.diff(down, prepend=False))
    return np.diff(edges, prepend=0, append=len(down))
