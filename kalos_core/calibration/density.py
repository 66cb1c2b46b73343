"""Separation of two samples of distances (KS) and crossing of their densities (tau*), for many resamples at once.

B is the number of resamples of the images; a resample gives the multiplicity of each image. In the original sample,
every image occurs once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import run_starts, total
from kalos_core.options import checked

if TYPE_CHECKING:
    from scipy import sparse

GRID = np.linspace(0, 1, 1000)
"""Distances at which densities are compared (KαLOS §3.3)."""

BINS_A_BANDWIDTH = 30
MOST_BINS_A_STEP = 64

CERTAIN = 1e-12
"""Share of a kernel's peak below which rounding errors of the Fourier transform matter."""

REACH = 9.0
"""Bandwidths beyond which a kernel is below `CERTAIN`."""

LEAST_VARIANCE = 1e-15
"""Variance up to which all values are equal up to rounding."""

EQUAL = 1e-9
"""Relative difference up to which two peaks are equal."""

AT_ONCE = 1 << 20
"""Size of temporary arrays for a block of resamples, in numbers."""


@dataclass(frozen=True, eq=False)
class Sample:
    """n distances and the image of each.

    Parameters
    ----------
    value : (n,) float64 in [0, 1]
    image : (n,) int
    """

    value: NDArray[np.float64]
    image: NDArray[np.intp]


@checked
def once_each(images: int) -> NDArray[np.float64]:
    """(1, I) resample in which every image occurs once."""
    return np.ones((1, images))


@checked
def kolmogorov_smirnov(
    observed: Sample, expected: Sample, times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the largest excess of the observed over the expected distribution function (KαLOS §7.2, Eq. 11).

    The paper prints the absolute difference. Here, larger observed than expected distances do not count as separation.

    Parameters
    ----------
    observed, expected : Sample
        n and m values.
    times : (B, I)
        Multiplicity of each image in each resample.

    Returns
    -------
    ks : (B,) float64 in [0, 1]
        NaN if a sample is empty.
    ks_at : (B,) float64 in [0, 1]
        Smallest distance at which the excess is reached.

    Examples
    --------
    >>> near, far = (Sample(np.array(values), np.zeros(2, int)) for values in ([0.1, 0.6], [0.5, 1.0]))
    >>> [found.tolist() for found in kolmogorov_smirnov(near, far, once_each(1))]
    [[0.5], [0.1]]
    >>> nothing = Sample(np.zeros(0), np.zeros(0, int))
    >>> [found.tolist() for found in kolmogorov_smirnov(near, nothing, once_each(1))]
    [[nan], [nan]]
    """
    points = np.sort(observed.value)
    points = points[np.append(points[1:] != points[:-1], True)[: len(points)]]  # the excess can increase only here
    below = [_Below(sample, points, whole=bool((times == 1).all())) for sample in (observed, expected)]
    ks, at = np.full(len(times), np.nan), np.full(len(times), np.nan)
    size = max(AT_ONCE // max(len(observed.value) + len(expected.value), 1), 1)
    for start in range(0, len(times), size):
        (seen, all_seen), (by_chance, all_by_chance) = (one.of(times[start : start + size]) for one in below)
        for row in np.flatnonzero((all_seen > 0) & (all_by_chance > 0)).tolist():
            excess = seen[row] / all_seen[row] - by_chance[row] / all_by_chance[row]
            top = int(excess.argmax())
            ks[start + row], at[start + row] = excess[top], points[top]
    return ks, at


class _Below:
    """Counts of sample values up to each of P ascending points; `whole` if only the original sample is needed."""

    def __init__(self, sample: Sample, points: NDArray[np.float64], whole: bool) -> None:
        order = None if whole else np.argsort(sample.value)
        ordered = np.sort(sample.value) if order is None else sample.value[order]  # ten times as fast as argsort
        self._image = None if order is None else sample.image[order]
        self._count, self._all = np.searchsorted(ordered, points, side="right"), len(ordered)

    def of(self, times: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return (B, P) counts in resamples (B, I), and (B,) total numbers of values."""
        if self._image is None:
            return np.broadcast_to(self._count, (len(times), len(self._count))), np.full(len(times), self._all)
        sums = np.zeros((len(times), self._all + 1))
        np.cumsum(times[:, self._image], axis=1, out=sums[:, 1:])
        return sums[:, self._count], sums[:, -1]


@checked
def has_density(values: NDArray[np.float64]) -> bool:
    """Check whether a density of values (n,) can be estimated: at least two values, not all the same.

    Examples
    --------
    >>> has_density(np.array([0.4, 0.6])), has_density(np.ones(9)), has_density(np.zeros(1))
    (True, False, False)
    """
    sample = Sample(values, np.zeros(len(values), np.intp))
    return bool(np.isfinite(_scott(sample, once_each(1))[0]))


@checked
def densities(sample: Sample, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Estimate Gaussian kernel densities on `GRID` with Scott's bandwidth, from counts in fine bins.

    Each value is split between its two nearest bins. The counts are convolved with the kernel by a Fourier transform.
    Where the result is so small that rounding errors of the transform matter, the kernels are summed directly, since
    two densities may cross far out in both tails.

    Parameters
    ----------
    sample : Sample
    times : (B, I)

    Returns
    -------
    (B, 1000) float64
        NaN if there are fewer than 2 values, or if all are equal.

    Examples
    --------
    >>> sample = Sample(np.array([0.4, 0.6]), np.array([0, 1]))
    >>> found = densities(sample, np.array([[1.0, 1.0], [2.0, 0.0]]))
    >>> found[0, [0, 500, 999]].round(4).tolist(), bool(np.isnan(found[1]).all())
    ([0.0083, 2.3299, 0.0083], True)
    """
    from scipy import fft  # slow to import, and needed here only

    bandwidth = _scott(sample, times)
    found = np.full((len(times), len(GRID)), np.nan)
    defined = np.flatnonzero(np.isfinite(bandwidth))
    if not len(defined):
        return found
    narrow = 1 / (len(GRID) - 1) / float(bandwidth[defined].min())
    steps = int(np.clip(np.ceil(BINS_A_BANDWIDTH * narrow), 1, MOST_BINS_A_STEP))
    bins = (len(GRID) - 1) * steps + 1
    table = _binned(sample, bins, times.shape[1])
    reach = min(int(np.ceil(REACH * float(bandwidth[defined].max()) * (bins - 1))), bins)
    length = fft.next_fast_len(bins + reach, real=True)
    offset = np.minimum(np.arange(length), length - np.arange(length)) / (bins - 1)
    size = max(AT_ONCE // length, 1)
    for start in range(0, len(defined), size):
        rows = defined[start : start + size]
        counts = np.asarray(times[rows] @ table)
        counts /= counts.sum(axis=1, keepdims=True)
        width = bandwidth[rows, None]
        kernel = fft.rfft(np.exp(-0.5 * (offset / width) ** 2), axis=1)
        smooth = fft.irfft(fft.rfft(counts, length, axis=1) * kernel, length, axis=1)[:, :bins:steps]
        for number, row in enumerate(rows):
            tiny = np.flatnonzero(smooth[number] < CERTAIN)
            smooth[number, tiny] = _summed(counts[number], float(bandwidth[row]), tiny * steps)
        found[rows] = smooth / (width * np.sqrt(2 * np.pi))
    return found


@checked
def crossings(observed: Sample, expected: Sample, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute tau*, where the density of expected distances overtakes that of observed ones (KαLOS §3.3, Eq. 5).

    This is the last point of `GRID` before the first crossing beyond the mode of the observed distances. Without a
    crossing, it is the minimum of the sum of both densities between their modes.

    Parameters
    ----------
    observed, expected : Sample
    times : (B, I)

    Returns
    -------
    (B,) float64 in [0, 1]
        NaN if a density cannot be estimated, or both have the same mode and do not cross.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> near, far = (Sample(rng.beta(a, 10 - a, 500), np.zeros(500, int)) for a in (3, 7))
    >>> crossings(near, far, once_each(1)).round(1).tolist()
    [0.5]
    """
    return np.array([tau for tau, _ in find_crossings(observed, expected, times)])


@checked
def do_cross(observed: Sample, expected: Sample) -> bool:
    """Check whether the densities cross beyond the mode of the first, so that tau* is a true crossing.

    Examples
    --------
    Observed distances are smaller than expected ones, and the other way round:

    >>> rng = np.random.default_rng(0)
    >>> near, far = (Sample(rng.beta(a, 10 - a, 500), np.zeros(500, int)) for a in (3, 7))
    >>> do_cross(near, far), do_cross(far, near)
    (True, False)
    """
    images = int(max(observed.image.max(initial=-1), expected.image.max(initial=-1))) + 1
    (found,) = find_crossings(observed, expected, once_each(images))
    return found[1]


def find_crossings(observed: Sample, expected: Sample, times: NDArray[np.float64]) -> list[tuple[float, bool]]:
    """tau* of each resample, NaN if undefined, and whether the densities cross there; see `crossings`."""
    of_observed, of_expected = densities(observed, times), densities(expected, times)
    defined = np.isfinite(of_observed[:, 0]) & np.isfinite(of_expected[:, 0])
    return [
        _crossing(of_observed[row], of_expected[row]) if defined[row] else (float("nan"), False)
        for row in range(len(times))
    ]


def _crossing(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> tuple[float, bool]:
    """Point of `GRID` where two densities (1000,) cross, or the minimum between their modes, and which it is."""
    sign = np.sign(observed - expected)
    mode, other = _mode(observed), _mode(expected)
    change = np.flatnonzero(sign[1:] != sign[:-1])
    beyond = change[change > mode]
    if len(beyond):
        return float(GRID[beyond[0]]), True
    if mode == other:
        return float("nan"), False
    low, high = min(mode, other), max(mode, other)
    return float(GRID[low + int((observed + expected)[low : high + 1].argmin())]), False


def _mode(density: NDArray[np.float64]) -> int:
    """Index on `GRID` of the largest density; the first of equal peaks, up to rounding."""
    return int(np.argmax(density >= density.max() * (1 - EQUAL)))


def _scott(sample: Sample, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """(B,) bandwidths: standard deviation (ddof 1) times n^(-1/5); NaN if all values are the same."""
    images = times.shape[1]
    centre = float(np.median(sample.value)) if len(sample.value) else 0.0  # exact if most values are the same
    away = sample.value - centre
    n = times @ np.bincount(sample.image, minlength=images)
    first, second = (times @ total(sample.image, powers, images) for powers in (away, away**2))
    with np.errstate(divide="ignore", invalid="ignore"):  # no value, or one
        variance = (second - first**2 / n) / (n - 1)
        usable = (n >= 2) & (variance > LEAST_VARIANCE)
        return np.where(usable, np.sqrt(np.where(usable, variance, 1)) * n**-0.2, np.nan)


def _binned(sample: Sample, bins: int, images: int) -> sparse.csr_array:
    """(I, bins) values of each image, each split between its two nearest bins in proportion to proximity."""
    from scipy import sparse  # slow to import, and needed here only

    by_image = np.argsort(sample.image, kind="stable")
    position = sample.value[by_image].clip(0, 1) * (bins - 1)  # an index outside the table would corrupt memory
    where, entries = np.empty((len(position), 2), np.int32), np.empty((len(position), 2))
    where[:, 0] = np.minimum(position, bins - 2)
    where[:, 1] = where[:, 0] + 1
    entries[:, 1] = position - where[:, 0]
    entries[:, 0] = 1 - entries[:, 1]
    start = 2 * run_starts(np.bincount(sample.image, minlength=images))
    return sparse.csr_array((entries.ravel(), where.ravel(), start), shape=(images, bins))


def _summed(counts: NDArray[np.float64], width: float, points: NDArray[np.intp]) -> NDArray[np.float64]:
    """(points,) sum of unit-height kernels at each of the given bins, computed directly."""
    if not len(points):
        return np.zeros(0)
    filled = np.flatnonzero(counts)
    kernel = np.exp(-0.5 * (np.arange(len(counts)) / (len(counts) - 1) / width) ** 2)
    return np.asarray(kernel[np.abs(points[:, None] - filled)] @ counts[filled])
