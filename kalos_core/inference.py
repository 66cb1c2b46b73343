"""Inference from the images of a data set: intervals, clear differences, and detectable differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import divide

OUTSIDE = 0.05
"""Share of data sets whose true value lies outside of the interval."""

FEWEST_IMAGES = 8
"""Smallest number of images for an interval; with fewer, coverage is too far below 95 %."""

POWER = 0.8
"""Share of studies that find a difference that we call detectable."""

ROUNDING = 1e-12
"""Relative tolerance (absolute below 1) within which the ends of an interval count as equal."""


def intervals(
    replicates: NDArray[np.float64], images: ArrayLike, *, whole_numbers: bool = False
) -> NDArray[np.float64]:
    """Compute 95 % intervals (F, 2) from replicates (B, F), leaving out NaN.

    Expanded percentile interval (Hesterberg 2015, §3.3). With few images n, the spread of replicates is too small by
    sqrt((n - 1) / n), and normal quantiles are too narrow. The percentiles are moved outwards to match Student's t with
    n - 1 degrees of freedom. See the coverage in `docs/intervals.md`.

    Parameters
    ----------
    replicates : (B, F) float64
    images : int or (F,) int
        Number of images of each statistic; there is no interval below `FEWEST_IMAGES`.
    whole_numbers : bool
        Whether the statistics are whole numbers such as ranks, whose replicates may all be equal.

    Returns
    -------
    (F, 2) float64
        NaN without replicates, below `FEWEST_IMAGES`, and if all replicates are equal up to rounding: images that are
        all alike say nothing about other images.

    Examples
    --------
    >>> drawn = np.random.default_rng(0).normal(size=(1000, 1))
    >>> intervals(drawn, 1000).round(1).tolist(), intervals(drawn, 10).round(1).tolist(), intervals(drawn, 7).tolist()
    ([[-1.9, 1.8]], [[-2.5, 2.3]], [[nan, nan]])
    """
    statistics = replicates.shape[1]
    if not len(replicates):
        return np.full((statistics, 2), np.nan)
    count = np.broadcast_to(np.asarray(images), statistics)
    shares = _expanded(count)
    ordered = np.sort(replicates.T, axis=1)  # NaN last
    last = np.isfinite(ordered).sum(axis=1, keepdims=True) - 1
    position = np.maximum(last, 0) * np.column_stack([shares, 1 - shares])
    low = np.floor(position).astype(np.intp)
    below = np.take_along_axis(ordered, low, axis=1)
    above = np.take_along_axis(ordered, np.minimum(low + 1, np.maximum(last, 0)), axis=1)
    found = below + (above - below) * (position - low)
    alike = np.diff(found)[:, 0] <= ROUNDING * np.maximum(1, np.abs(found).max(axis=1))
    found[(count < FEWEST_IMAGES) | (alike & (not whole_numbers))] = np.nan
    return np.asarray(found)


def why_no_interval(interval: ArrayLike, images: int, replicates: int = 1, of: str = "images") -> str:
    """Return why a statistic has no interval (2,), in words; "" if it has one, or none was requested.

    Examples
    --------
    >>> none = np.full(2, np.nan)
    >>> why_no_interval(none, 7), why_no_interval(none, 8), why_no_interval([0.1, 0.2], 8)
    ('fewer than 8 images', 'all images are alike', '')
    >>> why_no_interval(none, 7, replicates=0), why_no_interval(none, 7, of="items")
    ('', 'fewer than 8 items')
    """
    if not replicates or np.isfinite(np.asarray(interval, dtype=np.float64)).all():
        return ""
    return f"fewer than {FEWEST_IMAGES} {of}" if images < FEWEST_IMAGES else f"all {of} are alike"


def intervals_below_one(
    value: NDArray[np.float64], replicates: NDArray[np.float64], images: ArrayLike
) -> NDArray[np.float64]:
    """Compute 95 % intervals (F, 2) of statistics that few images push against their maximum of 1: Gwet's AC.

    Uses Student's t on log(1 - x), with the standard deviation of the replicates (B, F) on that scale. Percentiles of
    such statistics lie too close to 1, and cover the true value in .86 of data sets of 15 images (`docs/intervals.md`).

    Examples
    --------
    >>> drawn = 1 - np.exp(np.random.default_rng(0).normal(-2, 0.3, (1000, 1)))
    >>> intervals_below_one(np.array([1 - np.exp(-2)]), drawn, 50).round(2).tolist()
    [[0.75, 0.93]]
    """
    from scipy.special import stdtrit  # slow to import, and needed here only

    count = np.broadcast_to(np.asarray(images), len(value))
    many = np.maximum(count, 2)
    if not len(replicates):
        return np.full((len(value), 2), np.nan)
    left = np.where(replicates < 1, 1 - replicates, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(left)
        known = np.isfinite(logs)
        middle = divide(np.where(known, logs, 0).sum(axis=0), known.sum(axis=0))
        squares = np.where(known, logs - middle, 0) ** 2
        deviation = np.sqrt(divide(squares.sum(axis=0), known.sum(axis=0)) * many / (many - 1))
        factor = np.exp(stdtrit(many - 1, 1 - OUTSIDE / 2) * deviation)
        found = 1 - np.stack([(1 - value) * factor, (1 - value) / factor], axis=1)
    found[(count < FEWEST_IMAGES) | ~(deviation > 0) | ~(value < 1)] = np.nan
    return np.asarray(found)


def _expanded(images: NDArray[Any]) -> NDArray[np.float64]:
    """Return (F,) the share of replicates below each interval, given the number of images."""
    from scipy.special import ndtr, stdtrit  # slow to import, and needed here only

    many = np.maximum(images, 2)
    return np.asarray(ndtr(np.sqrt(many / (many - 1)) * stdtrit(many - 1, OUTSIDE / 2)))


def clear_of_chance(
    difference: NDArray[np.float64], interval: NDArray[np.float64], images: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return (F,) which differences of a table are significant at a false discovery rate of 5 %.

    A table of many classes or raters has intervals without 0 by chance alone. The false discovery rate of the whole
    table is controlled at 5 % (Benjamini & Hochberg 1995); p-values are those of Student's t, from interval widths.

    Parameters
    ----------
    difference : (F,) float64
    interval : (F, 2) float64
        As returned by `intervals`; NaN if there is none.
    images : (F,) int
        Number of images of each difference.

    Examples
    --------
    >>> ends = np.array([[0.01, 0.21], [-0.1, 0.1], [np.nan, np.nan]])
    >>> clear_of_chance(np.array([0.11, 0.0, 0.3]), ends, np.array([50, 50, 3])).tolist()
    [False, False, False]
    >>> clear_of_chance(np.array([0.11]), ends[:1], np.array([50])).tolist()
    [True]
    """
    from scipy import stats  # slow to import, and needed here only

    without_zero = (interval[:, 0] > 0) | (interval[:, 1] < 0)
    known = np.isfinite(difference) & np.isfinite(interval).all(axis=1)
    clear = np.zeros(len(difference), np.bool_)
    if known.any():
        error = standard_error(interval[known], images[known])
        p = 2 * stats.t.sf(np.abs(difference[known]) / error, images[known] - 1)
        clear[known] = without_zero[known] & (stats.false_discovery_control(p) <= OUTSIDE)
    return clear


def standard_error(interval: NDArray[np.float64], images: NDArray[np.intp]) -> NDArray[np.float64]:
    """Compute standard errors (F,) from 95 % intervals (F, 2) by Student's t; NaN without an interval."""
    from scipy.special import stdtrit  # slow to import, and needed here only

    return np.asarray(np.diff(interval)[:, 0] / (2 * stdtrit(np.maximum(images, 2) - 1, 1 - OUTSIDE / 2)))


def detectable(
    interval: NDArray[np.float64], images: NDArray[np.intp], of: int | NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return (F,) the smallest difference that four of five studies with `of` images find.

    Parameters
    ----------
    interval : (F, 2) float64
        Interval of each difference; NaN if there is none.
    images : (F,) int
        Number of images of each difference.
    of : int or (F,) int
        Number of images in the studies.

    Examples
    --------
    >>> detectable(np.array([[-0.1, 0.1]]), np.array([50]), 200).round(3).tolist()
    [0.07]
    """
    from scipy.special import stdtrit  # slow to import, and needed here only

    many = np.maximum(of, 2)
    reach = stdtrit(many - 1, 1 - OUTSIDE / 2) + stdtrit(many - 1, POWER)
    return np.asarray(reach * standard_error(interval, images) * np.sqrt(images / many))


def median_interval(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute the 95 % interval (2,) of the median of the finite values among (I,), for any distribution.

    Interpolates between order statistics (Hettmansperger & Sheather 1986): the outer two contain the median in at
    least 95 % of data sets, the next inner two in fewer. NaN with fewer than `FEWEST_IMAGES` values.

    Examples
    --------
    >>> median_interval(np.arange(1.0, 16.0)).round(2).tolist()
    [4.37, 11.63]
    """
    from scipy.special import bdtr, bdtrik  # slow to import, and needed here only

    ordered = np.sort(values[np.isfinite(values)])
    many = len(ordered)
    if many < FEWEST_IMAGES:
        return np.full(2, np.nan)
    outer = int(np.floor(bdtrik(OUTSIDE / 2, many, 0.5)))  # values below the lower end
    outside, more_outside = 2 * bdtr([outer, outer + 1], many, 0.5)
    inwards = (OUTSIDE - outside) / (more_outside - outside)
    below = outer + 1
    weight = (many - below) * inwards / (below + (many - 2 * below) * inwards)
    low, high = (
        [ordered[at], ordered[inner]] for at, inner in ((outer, outer + 1), (many - 1 - outer, many - 2 - outer))
    )
    return np.array([(1 - weight) * end + weight * inner for end, inner in (low, high)])
