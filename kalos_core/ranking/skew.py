"""Precision averaged over a range of skew, and the area under it (Lampert et al. §III-C, Eq. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_floats, divide
from kalos_core.errors import InputError, as_number, check_iterable, repr_of
from kalos_core.options import Option, checked

NEAR = 2e-3
"""Value of |TPR - FPR| p2 / FPR below which a series replaces the logarithm, which would lose digits."""

TERMS = 7
"""Number of terms of that series; the next term is below 1e-18 of the first."""

NODES = 24
"""Number of Gauss-Legendre points between two points of a curve."""


def check_skew(skew: Sequence[float] | NDArray[np.float64], name: str = "skew") -> tuple[float, float]:
    """Check a range of skew and return its ends: ordered fractions of positives in [0, 1], not both 0.

    Examples
    --------
    >>> check_skew((0.1, 0.5))
    (0.1, 0.5)
    >>> check_skew((0.5, 0.1))
    Traceback (most recent call last):
    kalos_core.errors.InputError: skew: expected fractions of positives 0 <= p1 <= p2 <= 1, p2 > 0, got (0.5, 0.1)
    """
    given = list(check_iterable(skew, name, "the ends of a range"))
    ends = [as_number(end) for end in given]
    if len(ends) == 2 and ends[0] is not None and ends[1] is not None and 0 <= ends[0] <= ends[1] <= 1 and ends[1]:
        return ends[0], ends[1]
    actual = ", ".join(
        f"{end:g}" if end is not None else repr_of(value) for end, value in zip(ends, given, strict=True)
    )
    raise InputError(f"{name}: expected fractions of positives 0 <= p1 <= p2 <= 1, p2 > 0, got ({actual})")


Skew = Annotated[
    Sequence[float] | None,
    Option(
        "Range of skew",
        "Lowest and highest fraction of positives over which precision is averaged; by default `skew_range` of the "
        "share of each image that each rater marked.",
        type="two floats, optional",
        check=lambda given, name: None if given is None else list(check_skew(given, name)),
    ),
]


@checked
def skew_range(fractions: ArrayLike) -> tuple[float, float]:
    """Return the default range of skew: mean ± 3 standard deviations of the fractions of positives, clipped to [0, 1].

    Parameters
    ----------
    fractions : (n,) float in [0, 1]
        Share of positive pixels of each image. The standard deviation is that of the sample, 0 for one image.

    Raises
    ------
    InputError
        If no image has a positive.

    Examples
    --------
    >>> skew_range([0.1, 0.2, 0.3]), skew_range([0.25])
    ((0.0, 0.5), (0.25, 0.25))
    """
    shares = as_floats(fractions, "fractions").ravel()
    if not (shares > 0).any():
        raise InputError("truths: expected positives to derive a range of skew from, got none; give `skew`")
    spread = 3 * shares.std(ddof=1) if len(shares) > 1 else 0.0
    return float(max(shares.mean() - spread, 0.0)), float(min(shares.mean() + spread, 1.0))


@checked
def mean_precision(tpr: ArrayLike, fpr: ArrayLike, skew: Sequence[float]) -> NDArray[np.float64]:
    """Compute precision averaged over fractions p of positives in [p1, p2] (Eq. 7; in rates, the paper's phi cancels).

    It is the mean over p of p·TPR / (p·TPR + (1 - p)·FPR). In closed form, with d = TPR - FPR, it is
    TPR/d · (1 - FPR / (d (p2 - p1)) · ln((FPR + d p2) / (FPR + d p1))). Near d = 0, the series of that in d p / FPR is
    used. The mean is 1 without false positives, 0 without true positives, and NaN without either. With p1 = p2, it is
    the precision at that skew.

    Parameters
    ----------
    tpr, fpr : (...) float in [0, 1]
        Rates of true and false positives; they broadcast.
    skew : (2,) float
        p1 <= p2, in [0, 1].

    Returns
    -------
    (...) float64 in [0, 1]

    Raises
    ------
    InputError
        If the ends of `skew` are not in order or not fractions.

    Examples
    --------
    >>> mean_precision([0.5, 0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.1, 0.1, 0.0], (0.1, 0.5)).round(4).tolist()
    [1.0, 0.3, 0.6546, 0.0, nan]
    """
    low, high = check_skew(skew)
    found, wrong = np.broadcast_arrays(as_floats(tpr, "tpr"), as_floats(fpr, "fpr"))
    if low == high:
        return _precision_at(found, wrong, low)
    precision = np.full(found.shape, np.nan)
    difference = found - wrong
    precision[(found == 0) & (wrong > 0)] = 0.0
    precision[(found > 0) & (wrong == 0)] = 1.0
    near = np.abs(difference) * high <= NEAR * wrong
    both = (found > 0) & (wrong > 0)
    series, closed = both & near, both & ~near
    precision[series] = _by_series(found[series], wrong[series], low, high)
    precision[closed] = by_logarithm(found[closed], wrong[closed], low, high)
    return precision


def _precision_at(found: NDArray[np.float64], wrong: NDArray[np.float64], skew: float) -> NDArray[np.float64]:
    return divide(skew * found, skew * found + (1 - skew) * wrong)


def by_logarithm(
    a: float | NDArray[np.float64], b: NDArray[np.float64], low: float, high: float
) -> NDArray[np.float64]:
    """Compute the closed form of `mean_precision` for positive rates that are not close to each other; low < high.

    Examples
    --------
    >>> by_logarithm(np.array([0.5]), np.array([0.1]), 0.1, 0.5).round(4).tolist()
    [0.6546]
    """
    d = a - b
    ratio = d * (high - low)
    return np.asarray(a / d * (1 - b / ratio * np.log1p(ratio / (b + d * low))))


def _by_series(a: NDArray[np.float64], b: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Return the mean of (a/b) p (1 - x + x² - ...) with x = (d/b) p."""
    step = -(a - b) / b
    power = np.arange(TERMS)
    means = (high ** (power + 2) - low ** (power + 2)) / ((power + 2) * (high - low))
    return np.asarray(a / b * (step[..., None] ** power @ means))


@checked
def curve_area(tpr: NDArray[np.float64], fpr: NDArray[np.float64], skew: Sequence[float]) -> NDArray[np.float64]:
    """Compute the area under precision averaged over skew, for recall from 0 to the last point of a curve.

    Between two points, both rates are interpolated linearly, and precision is integrated by a fixed Gauss-Legendre
    rule. From recall 0 to the first point, precision is constant, as it is along a line from (0, 0).

    Parameters
    ----------
    tpr, fpr : (..., L) float
        Points of a curve, both rates ascending.
    skew : (2,) float

    Returns
    -------
    (...) float64
        NaN where a rate is NaN.

    Examples
    --------
    A detector that finds half of the positives without false alarms, and the rest together with all negatives:

    >>> tpr, fpr = np.array([0.5, 1.0]), np.array([0.0, 1.0])
    >>> curve_area(tpr, fpr, (0.1, 0.5)).round(4)
    np.float64(0.7212)
    """
    if tpr.shape != fpr.shape:
        raise InputError(f"fpr: expected one for every tpr, of shape {tpr.shape}, got shape {fpr.shape}")
    node, weight = np.polynomial.legendre.leggauss(NODES)
    share, weight = ((node + 1) / 2) ** 2, weight * (node + 1) / 2  # denser at the steep start of a segment
    zero = np.zeros((*tpr.shape[:-1], 1))
    steps = [np.diff(rate, axis=-1, prepend=zero) for rate in (tpr, fpr)]
    rising = np.nonzero(steps[0] > 0)
    ends = [rate[rising][:, None] for rate in (tpr, fpr)]
    back = [step[rising][:, None] * (1 - share) for step in steps]
    area = np.zeros(tpr.shape)
    # summed row by row: a matrix product may differ in the last bit with the position of a row
    precision = mean_precision(ends[0] - back[0], ends[1] - back[1], skew)
    area[rising] = steps[0][rising] * np.einsum("ij,j->i", precision, weight)
    return np.asarray(np.where(np.isnan(tpr + fpr).any(axis=-1), np.nan, area.sum(axis=-1)))


def sample_curve(
    tpr: NDArray[np.float64], fpr: NDArray[np.float64], skew: Sequence[float], recall: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute precision averaged over skew at given recalls, along a curve interpolated as in `curve_area`.

    Parameters
    ----------
    tpr, fpr : (L,) float
        Points of one curve, both rates ascending.
    skew : (2,) float
    recall : (P,) float
        Above 0 and up to 1.

    Returns
    -------
    (P,) float64
        NaN if a rate is NaN.

    Examples
    --------
    >>> tpr, fpr = np.array([0.5, 1.0]), np.array([0.0, 1.0])
    >>> sample_curve(tpr, fpr, (0.1, 0.5), np.array([0.25, 0.5, 0.75, 1.0])).round(3).tolist()
    [1.0, 1.0, 0.385, 0.3]
    """
    if np.isnan(tpr).any() or np.isnan(fpr).any():
        return np.full(len(recall), np.nan)
    alarms = np.interp(recall, np.append(0.0, tpr), np.append(0.0, fpr))
    return mean_precision(recall, alarms, skew)
