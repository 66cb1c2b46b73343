"""Bootstrap intervals of pixel-wise agreement: images are drawn with replacement, each with all its pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import check_whole
from kalos_core.inference import intervals
from kalos_core.limits import check_replicates
from kalos_core.pixels.sums import PixelSums
from kalos_core.resampling import draws


@dataclass(frozen=True, eq=False)
class ImageCounts:
    """Contribution of one image to the replicates. P pairs of the raters known so far, ordered as `numpy.triu_indices`.

    Parameters
    ----------
    image : object
        Id of the image.
    least : float
        Sum over its pixels of the minimum mean error of its raters (Lampert et al., Eq. 1).
    pixels : int
    f1 : float
        Mean F1 of its pairs, for raters without names.
    both, either : (P,) uint32
        Number of pixels that both raters of a pair marked, and sum of the numbers that each marked.
    shared : (P,) bool
        Whether both raters of a pair are assigned to the image.
    """

    image: Any
    least: float
    pixels: int
    f1: float
    both: NDArray[np.uint32]
    either: NDArray[np.uint32]
    shared: NDArray[np.bool_]

    @classmethod
    def of(cls, image: Any, sums: PixelSums, f1: float, named: bool) -> ImageCounts:
        """Build from the sums of an image with pixels; with counts of pairs only if raters have names."""
        pairs = np.triu_indices(len(sums.common) if named else 0, 1)
        return cls(
            image=image,
            least=sums.smyth_bound() * sums.pixels,
            pixels=sums.pixels,
            f1=f1,
            both=sums.both[pairs].astype(np.uint32),
            either=(sums.marked + sums.marked.T)[pairs].astype(np.uint32),
            shared=sums.common[pairs] > 0,
        )


@dataclass(frozen=True, eq=False)
class PixelIntervals:
    """95 % bootstrap intervals over images; NaN without replicates. R raters.

    Parameters
    ----------
    mean_f1, smyth_bound : (2,) float64
    f1 : (R, R, 2) float64
        Symmetric; NaN on the diagonal, which is trivial.
    """

    mean_f1: NDArray[np.float64]
    smyth_bound: NDArray[np.float64]
    f1: NDArray[np.float64]


def pixel_intervals(
    counted: Sequence[ImageCounts], raters: int, bootstrap: int = 1000, seed: int = 0
) -> PixelIntervals:
    """Compute intervals of the mean F1, of Smyth's bound and of the F1 of every two raters, all on the same draws.

    Parameters
    ----------
    counted : sequence of ImageCounts
        Images with pixels; they are drawn in the order of their ids as text.
    raters : int
        R, or 0 if raters have no names; the mean F1 is then over images.
    bootstrap : int
        Number of replicates; 0 for none.
    seed : int

    Examples
    --------
    Eight images with the same number of pixels, and F1 of 1 and 0 in turn:

    >>> from kalos_core.pixels import pixel_agreement
    >>> images = [{"ann": [[1, 0]], "bob": [[1, 0]]}, {"ann": [[1, 0]], "bob": [[0, 1]]}] * 4
    >>> found = pixel_agreement(images)
    >>> found.mean_f1, found.mean_f1_interval.tolist(), found.smyth_interval.tolist()
    (0.5, [0.125, 0.875], [0.0625, 0.4375])
    """
    replicates, seed = check_replicates(bootstrap, len(counted)), check_whole(seed, "seed")
    ordered = sorted(counted, key=lambda each: repr(each.image))
    columns = (np.array([getattr(each, name) for each in ordered], np.float64) for name in ("least", "pixels", "f1"))
    least, pixels, own = columns
    places = [_places(len(each.both), raters) for each in ordered]
    both, either, shared = np.zeros((3, len(ordered), raters * (raters - 1) // 2))
    for row, (each, place) in enumerate(zip(ordered, places, strict=True)):
        both[row, place], either[row, place], shared[row, place] = each.both, each.either, each.shared
    means, bounds, f1s = [np.zeros(0)], [np.zeros(0)], [np.zeros((0, both.shape[-1]))]
    for times in draws(len(ordered), replicates, seed) if ordered else ():
        bounds.append(times @ least / (times @ pixels))
        if not raters:
            means.append(times @ own / len(ordered))
            continue
        marked, there = times @ either, times @ shared > 0
        with np.errstate(invalid="ignore", divide="ignore"):
            f1s.append(np.where(there, np.where(marked > 0, 2 * (times @ both) / marked, 1.0), np.nan))
            means.append(np.nansum(f1s[-1], axis=1) / there.sum(axis=1))
    matrix, (first, second) = np.full((raters, raters, 2), np.nan), np.triu_indices(raters, 1)
    if raters:
        matrix[first, second] = matrix[second, first] = intervals(np.concatenate(f1s), (shared > 0).sum(axis=0))
    return PixelIntervals(
        mean_f1=intervals(np.concatenate(means)[:, None], len(ordered))[0],
        smyth_bound=intervals(np.concatenate(bounds)[:, None], len(ordered))[0],
        f1=matrix,
    )


def _places(pairs: int, raters: int) -> NDArray[np.intp]:
    """Return the positions (P,) of the pairs of the first raters among those of all raters."""
    known = (1 + math.isqrt(1 + 8 * pairs)) // 2
    first, second = np.triu_indices(known, 1)
    return np.asarray(first * raters - first * (first + 1) // 2 + second - first - 1)
