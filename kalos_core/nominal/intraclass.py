"""Intraclass correlation: share of the variance of numbers that is between items, not between their raters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations import object_array
from kalos_core.display import number_of, with_interval
from kalos_core.inference import intervals
from kalos_core.limits import check_replicates
from kalos_core.nominal.values import encode_grades
from kalos_core.options import BootstrapSettings, takes
from kalos_core.resampling import draws_of_kinds
from kalos_core.results import Result

FORMS = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")
"""Forms of one grade and of the mean of k. 1: each item has its own raters; 2: raters are a sample; 3: are fixed."""

TAIL = 0.025
"""Probability of the F distribution outside either end of an interval."""

SAME_ITEMS = "items do not differ more than their raters: there is no variance to divide by"


@dataclass(frozen=True, eq=False, repr=False)
class IntraclassCorrelation(Result):
    """Result of `intraclass_correlation`.

    Table: one row per form.

    Figures: ``"forms"``.

    Parameters
    ----------
    form : (6,) object
        `FORMS`.
    value : (6,) float64, at most 1
        NaN if undefined.
    interval : (6, 2) float64
        95 % interval.
    reason : (6,) object
        Reason why a form is undefined; "" if it is defined.
    items : int
        Number of items with at least two grades; the others are left out.
    raters : float
        k: grades per item. If their number differs, the k of the one-way analysis, which is slightly below their mean.
    method : str
        Method of the intervals: "F" if every item has a grade of every rater, else "bootstrap" over items.

    Examples
    --------
    >>> found = intraclass_correlation([[1, 2], [4, 4], [8, None]], bootstrap=0)
    >>> found.items, found.method, found.form[np.isfinite(found.value)].tolist()
    (2, 'F', ['ICC(1,1)', 'ICC(2,1)', 'ICC(3,1)', 'ICC(1,k)', 'ICC(2,k)', 'ICC(3,k)'])
    """

    _call = "intraclass_correlation(values)"
    _columns = "form value value_interval:interval reason"

    form: NDArray[np.object_]
    value: NDArray[np.float64]
    interval: NDArray[np.float64]
    reason: NDArray[np.object_]
    items: int
    raters: float
    method: str

    @property
    def usual(self) -> int:
        """Index of ICC(2,1), or of ICC(1,1) if some items lack a grade."""
        return 1 if np.isfinite(self.value[1]) else 0

    @property
    def headline(self) -> str:
        """The finding, in words."""
        at = self.usual
        name = f"{self.form[at]} {with_interval(float(self.value[at]), self.interval[at])}"
        return f"{name} over {number_of(self.items, 'item')} of {self.raters:.4g} raters, intervals by {self.method}"


@takes(BootstrapSettings)
def intraclass_correlation(values: ArrayLike, settings: BootstrapSettings) -> IntraclassCorrelation:
    """Compute intraclass correlations of numbers, single and average, in the six forms of Shrout & Fleiss (1979).

    Items with fewer than two grades are left out. If every other item has a grade of every rater, all forms are those
    of the two-way analysis of variance, with intervals of the F distribution (Shrout & Fleiss 1979; McGraw & Wong 1996,
    Table 7). If grades are missing, two-way forms are undefined, and the one-way forms are those of items with unequal
    numbers of grades. Then k is (N - sum k_i² / N) / (n - 1) for k_i grades of n items, N in total (Donner 1986), and
    intervals are percentiles of a bootstrap over items.

    Parameters
    ----------
    values : (I, R)
        Items by raters: numbers, missing as for `nominal_alpha`.

    Returns
    -------
    IntraclassCorrelation

    Raises
    ------
    InputError
        If `values` is not a table, or has values that are not numbers.

    Examples
    --------
    Six items and four raters from Shrout & Fleiss (1979, Table 2):

    >>> table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> found = intraclass_correlation(table)
    >>> found.value.round(2).tolist()
    [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    >>> found.interval[1].round(2).tolist()
    [0.02, 0.76]
    """
    grades = encode_grades(values, "interval")
    check_replicates(settings.bootstrap, len(grades.codes))
    several = (grades.codes >= 0).sum(axis=1) >= 2
    codes = grades.codes[several]
    codes = codes[:, (codes >= 0).any(axis=0)]
    if len(codes) < 2:
        return _undefined("fewer than two items with two grades", len(codes), codes.shape[1])
    levels = grades.levels - grades.levels[0]
    levels = levels / (levels[-1] or 1)  # avoids overflow of squares and their sums
    numbers = np.where(codes >= 0, np.append(levels, 0)[codes], np.nan)
    if np.nanmin(numbers) == np.nanmax(numbers):
        return _undefined("all grades are equal", *numbers.shape)
    return _one_way(numbers, settings.bootstrap, settings.seed) if np.isnan(numbers).any() else _two_way(numbers)


def _undefined(reason: str, items: int, raters: int) -> IntraclassCorrelation:
    reasons, method = object_array([reason] * len(FORMS)), "F"
    return IntraclassCorrelation(
        object_array(FORMS), np.full(6, np.nan), np.full((6, 2), np.nan), reasons, items, float(raters), method
    )


def _two_way(numbers: NDArray[np.float64]) -> IntraclassCorrelation:
    """Compute all forms of complete numbers (n, k)."""
    n, k = numbers.shape
    whole, of_item, of_rater = numbers.mean(), numbers.mean(axis=1, keepdims=True), numbers.mean(axis=0)
    between = k * ((of_item - whole) ** 2).sum() / (n - 1)
    within = ((numbers - of_item) ** 2).sum() / (n * (k - 1))
    raters = n * ((of_rater - whole) ** 2).sum() / (k - 1)
    error = ((numbers - of_item - of_rater + whole) ** 2).sum() / ((n - 1) * (k - 1))
    signal = np.array([between - within, between - error, between - error] * 2)
    single = [(k - 1) * within, (k - 1) * error + k * (raters - error) / n, (k - 1) * error]
    variance = between + np.array([*single, 0, (raters - error) / n, 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(variance > 0, signal / variance, np.nan)
        ends = np.array(
            [
                _ends_of_ratio(between, within, n - 1, n * (k - 1), k),
                _ends_of_sample(between, raters, error, value[1], n, k),
                _ends_of_ratio(between, error, n - 1, (n - 1) * (k - 1), k),
            ]
        )
        averaged = np.where(ends == -1 / (k - 1), -np.inf, k * ends / (1 + (k - 1) * ends))  # Spearman & Brown
    interval = np.concatenate([ends, averaged])
    interval[np.isnan(value)] = np.nan
    reason = ["" if defined else SAME_ITEMS for defined in np.isfinite(value)]
    return IntraclassCorrelation(object_array(FORMS), value, interval, object_array(reason), n, float(k), "F")


def _quantile(of: float, against: float) -> float:
    return float(scipy.stats.f.ppf(1 - TAIL, of, against))


def _ends_of_ratio(between: float, other: float, df: float, other_df: float, k: int) -> tuple[float, float]:
    """Compute the interval of a form that depends on a single ratio F = between / other."""
    if not other:
        return (1.0, 1.0) if between else (math.nan, math.nan)
    ratio = between / other
    low, high = ratio / _quantile(df, other_df), ratio * _quantile(other_df, df)
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _ends_of_sample(between: float, raters: float, error: float, value: float, n: int, k: int) -> tuple[float, float]:
    """Compute the interval of ICC(2,1), with Satterthwaite's degrees of freedom (Shrout & Fleiss 1979, p. 424)."""
    if not error and not raters:
        return (1.0, 1.0) if between else (math.nan, math.nan)
    of_raters, of_error = k * value * raters, (n * (1 + (k - 1) * value) - k * value) * error
    df = (n - 1) * (k - 1) * (of_raters + of_error) ** 2 / ((n - 1) * of_raters**2 + of_error**2)
    upper, lower = _quantile(n - 1, df), _quantile(df, n - 1)
    rest = k * raters + (k * n - k - n) * error
    return (
        n * (between - upper * error) / (upper * rest + n * between),
        n * (lower * between - error) / (rest + n * lower * between),
    )


def _one_way(numbers: NDArray[np.float64], replicates: int, seed: int) -> IntraclassCorrelation:
    """Compute the one-way forms of numbers (n, R) with missing values."""
    given = ~np.isnan(numbers)
    count = given.sum(axis=1)
    there = np.where(given, numbers - numbers[given].mean(), 0)
    sums = there.sum(axis=1)
    within = np.where(given, there - (sums / count)[:, None], 0)
    parts = np.column_stack([np.ones(len(count)), count, count**2, sums, sums**2 / count, (within**2).sum(axis=1)])
    value, raters = _one_way_of(parts.sum(axis=0)[None])
    n = len(count)
    drawn = [_one_way_of(times @ parts)[0] for times in draws_of_kinds(np.ones(n), replicates, seed)]
    ends = intervals(np.concatenate(drawn), n) if drawn else np.full((2, 2), np.nan)
    two_way = "needs a grade of every rater for every item: some are missing"
    found, interval = np.full(6, np.nan), np.full((6, 2), np.nan)
    found[[0, 3]], interval[[0, 3]] = value[0], ends
    reason = object_array(["" if at % 3 == 0 else two_way for at in range(6)])
    for at in (0, 3):
        reason[at] = "" if np.isfinite(found[at]) else SAME_ITEMS
    return IntraclassCorrelation(object_array(FORMS), found, interval, reason, n, float(raters[0]), "bootstrap")


def _one_way_of(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the single and average form (B, 2) from sums over items (B, 6), and the k of each."""
    items, count, squares, amount, between, within = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        raters = (count - squares / count) / (items - 1)
        between = (between - amount**2 / count) / (items - 1)
        within = within / (count - items)
        found = np.column_stack([(between - within) / (between + (raters - 1) * within), (between - within) / between])
    found[~np.isfinite(found)] = np.nan
    return found, raters
