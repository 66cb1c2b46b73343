"""Coefficients from sums, codes and counts: Krippendorff's alpha, Conger's and Cohen's kappa.

Letters used in shapes: I items, R raters, K categories, G groups.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalos_core.chance.counts import Tally
from kalos_core.chance.disagreement import (
    chance_corrected,
    crossed_coincidences,
    expected_of_raters,
    expected_of_values,
    observe,
    observe_counts,
    pairable_counts,
    pairable_values,
)
from kalos_core.chance.distances import FEW_CATEGORIES, FEW_RATERS, Distance, metric_distance
from kalos_core.options import checked


@checked
def alpha_of_sums(
    pairable: NDArray[np.float64], agreeing: NDArray[np.float64], squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute Krippendorff's alpha for nominal values from sums over units (Krippendorff 2004, §11.3; KαLOS Eq. 8).

    With n pairable values, D_o = (n - sum o_cc) / n and D_e = (n² - sum n_c²) / (n (n - 1)).

    Parameters
    ----------
    pairable : (G,) float64
        n
    agreeing : (G,) float64
        Sum of o_cc.
    squares : (G,) float64
        Sum of n_c².

    Returns
    -------
    (G,) float64, at most 1
        1 if all values are equal (no disagreement possible: Krippendorff leaves 0 / 0, KαLOS defines agreement);
        NaN if nothing is pairable.

    Examples
    --------
    Two units of two raters: one agreed, and one that the second rater did not annotate. Values are 0 0 | 0 -1, so
    n = 4, o_00 = 2 and n_c = 3, 1: D_o = 2 / 4, D_e = (16 - 10) / 12.

    >>> alpha_of_sums(np.array([4.0, 2.0, 0.0]), np.array([2.0, 2.0, 0.0]), np.array([10.0, 4.0, 0.0])).tolist()
    [0.0, 1.0, nan]
    """
    n = pairable
    observed = (n - agreeing) / np.where(n > 0, n, np.nan)
    expected = (n**2 - squares) / np.where(n > 1, n * (n - 1), np.nan)
    return chance_corrected(observed, expected, if_none_expected=1.0)


@checked
def alpha_of_totals(
    apart: float | NDArray[np.float64], totals: NDArray[np.float64], distance: Distance
) -> NDArray[np.float64]:
    """Compute Krippendorff's alpha for any metric, 1 - D_o / D_e with D_o = `apart` / n.

    Parameters
    ----------
    apart : (...) float
        Sum over items of the distances between ordered pairs of their m values, divided by m - 1.
    totals : (..., K) float
        n_c; n is their sum.

    Returns
    -------
    (...) float64, at most 1
        1 if all pairable values are equal; NaN if nothing is pairable.

    Examples
    --------
    >>> from kalos_core.chance import Unequal
    >>> alpha_of_totals(np.array([2.0, 0.0]), np.array([[3.0, 1.0], [0.0, 2.0]]), Unequal()).tolist()
    [0.0, 1.0]
    """
    n = totals.sum(axis=-1)
    observed = apart / np.where(n > 0, n, np.nan)
    return chance_corrected(observed, expected_of_values(totals, distance), if_none_expected=1.0)


@checked
def alpha_of_codes(codes: NDArray[np.intp], metric: str, levels: NDArray[np.float64]) -> float:
    """Compute Krippendorff's alpha of a reliability matrix.

    Parameters
    ----------
    codes : (I, R) int
        -1 where missing.
    metric : name in `METRICS`
    levels : (K,) float64, ascending
        Numbers of the categories.

    Examples
    --------
    Values 1 1 | 2 4. Squared differences sum to 24 over the pairs of all four, and to 4 over pairs within items:
    1 - 3 · 4 / 24.

    >>> alpha_of_codes(np.array([[0, 0], [1, 2]]), "interval", np.array([1.0, 2.0, 4.0]))
    0.5
    """
    size = len(levels)
    if metric != "nominal" and size <= FEW_CATEGORIES and codes.shape[1] <= FEW_RATERS:
        return alpha_of_coincidences(crossed_coincidences(codes, size), metric, levels)
    totals = pairable_values(codes, size)
    distance = metric_distance(metric, levels, totals)
    return float(alpha_of_totals(observe(codes, distance).by_value, totals, distance))


@checked
def alpha_of_coincidences(found: NDArray[np.float64], metric: str, levels: NDArray[np.float64]) -> float:
    """Compute Krippendorff's alpha of a coincidence matrix (K, K).

    Examples
    --------
    >>> round(alpha_of_coincidences(np.array([[2.0, 1.0], [1.0, 2.0]]), "interval", np.array([0.0, 1.0])), 4)
    0.4444
    """
    totals = found.sum(axis=0)
    distance = metric_distance(metric, levels, totals)
    return float(alpha_of_totals((found * distance.matrix(len(levels))).sum(), totals, distance))


@checked
def alpha_of_tally(found: Tally, metric: str, levels: NDArray[np.float64]) -> float:
    """Compute Krippendorff's alpha of counts; arguments as in `alpha_of_codes`."""
    totals = pairable_counts(found)
    distance = metric_distance(metric, levels, totals)
    return float(alpha_of_totals(observe_counts(found, distance).by_value, totals, distance))


@checked
def conger_of_codes(codes: NDArray[np.intp], categories: int, distance: Distance) -> float:
    """Compute Conger's kappa of codes (I, R).

    Examples
    --------
    >>> from kalos_core.chance import Unequal
    >>> conger_of_codes(np.array([[0, 0], [0, 0], [1, 1], [1, 0]]), 2, Unequal())
    0.5
    """
    given = codes >= 0
    cell = (np.arange(codes.shape[1]) * categories + codes)[given]
    counts = np.bincount(cell, minlength=codes.shape[1] * categories).reshape(codes.shape[1], categories)
    return float(chance_corrected(observe(codes, distance).by_item, expected_of_raters(counts, distance)))


@checked
def cohen_of_codes(one: NDArray[np.intp], other: NDArray[np.intp], categories: int, distance: Distance) -> float:
    """Compute Cohen's kappa of codes (I,) of two raters: Conger's kappa over the items that both labelled.

    Examples
    --------
    >>> from kalos_core.chance import Unequal
    >>> cohen_of_codes(np.array([0, 0, 1, 1, 0]), np.array([0, 0, 1, 0, -1]), 2, Unequal())
    0.5
    """
    both = (one >= 0) & (other >= 0)
    if not both.any():
        return np.nan
    pair = one[both], other[both]
    counts = np.stack([np.bincount(codes, minlength=categories) for codes in pair])
    return float(chance_corrected(distance.between(*pair).mean(), expected_of_raters(counts, distance)))


@checked
def cohen_of_sums(
    items: NDArray[np.float64],
    same: NDArray[np.float64],
    products: NDArray[np.float64],
    if_none_expected: float = np.nan,
) -> NDArray[np.float64]:
    """Compute Cohen's kappa (1960) from sums over the items that two raters both labelled.

    Parameters
    ----------
    items : (...) whole numbers
        Number of items.
    same : (...) whole numbers
        Number of items with the same category from both raters.
    products : (...) whole numbers
        Sum over categories of the product of how often each rater chose the category.
    if_none_expected : float
        As in `chance_corrected`, for raters who both chose one and the same category throughout.

    Examples
    --------
    >>> cohen_of_sums(np.array([4, 0]), np.array([3, 0]), np.array([2 * 3 + 2 * 1, 0])).tolist()
    [0.5, nan]
    """
    n = np.where(items > 0, items, np.nan)
    return chance_corrected((items - same) / n, (n * n - products) / (n * n), if_none_expected)
