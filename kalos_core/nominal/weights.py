"""Weights of kappas: how far two grades agree that are not the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_floats
from kalos_core.errors import InputError, lookup
from kalos_core.nominal.grades import (
    FEW_RATERS,
    Distance,
    Grades,
    encode_grades,
    sum_of_all,
    sums_between_raters,
    sums_of_items,
    tally_of_grades,
)

KAPPA_WEIGHTS = {
    "linear": "1 - d / d_max, d the difference of two grades",
    "quadratic": "1 - (d / d_max)²",
}
"""Weight by name -> how far two grades agree (Cohen 1968; Fleiss & Cohen 1973; Gwet 2014, §3.5)."""


def encode_weighted(
    values: ArrayLike, weights: str | ArrayLike, order: Sequence[Any] | None
) -> tuple[Grades, Distance]:
    """Values (I, R) as grades, and how far each two of these disagree."""
    name = weights if isinstance(weights, str) else "weights"
    grades = encode_grades(values, name, order)
    return grades, disagreement(weights, grades.levels)


def disagreement(weights: str | ArrayLike, levels: NDArray[np.float64]) -> Distance:
    """1 - weight of two grades, from 0 to 1.

    Parameters
    ----------
    weights : name in `KAPPA_WEIGHTS`, or (K, K) numbers
    levels : (K,) float, ascending
        Of grades without numbers their positions.

    Examples
    --------
    >>> apart = disagreement("quadratic", np.array([1.0, 2.0, 5.0]))
    >>> apart(np.array([0, 0]), np.array([1, 2])).tolist()
    [0.0625, 1.0]
    >>> disagreement([[1, 0.5], [0.5, 1]], np.array([1.0, 2.0]))(np.array([0]), np.array([1])).tolist()
    [0.5]
    """
    if isinstance(weights, str):
        lookup(KAPPA_WEIGHTS, weights, "weights")
        place = (levels - levels[:1]) / ((levels[-1] - levels[0]) if len(levels) > 1 else 1)
        power = 1 if weights == "linear" else 2
        return lambda one, other: np.asarray(np.abs(place[one] - place[other]) ** power)
    table = as_floats(weights, "weights")
    size = len(levels)
    if table.shape != (size, size):
        raise InputError(
            f"weights: expected a table of {size} x {size}, as there are so many grades, got shape {table.shape}; "
            "order=[...] names all grades of which some do not occur"
        )
    if not (((table >= 0) & (table <= 1)).all() and (table == table.T).all() and (np.diag(table) == 1).all()):
        raise InputError("weights: expected agreement from 0 to 1, symmetric, 1 on the diagonal, got other numbers")
    return lambda one, other: np.asarray(1 - table[one, other])


def weighted_cohen(grades: Grades, a: int, b: int, distance: Distance) -> float:
    """Weighted kappa of two raters: 1 - mean disagreement / that of their grades drawn independently (Cohen 1968)."""
    both = (grades.codes[:, [a, b]] >= 0).all(axis=1)
    if not both.any():
        return float("nan")
    one, other = grades.codes[both][:, [a, b]].T
    shares = [np.bincount(column, minlength=len(grades.levels)) / len(column) for column in (one, other)]
    return _corrected(float(distance(one, other).mean()), _expected(shares[0], shares[1], distance))


def weighted_conger(grades: Grades, distance: Distance) -> float:
    """Conger's kappa, weighted: `conger_kappa` has the definition."""
    codes, size = grades.codes, len(grades.levels)
    columns = np.ascontiguousarray(codes[:, (codes >= 0).any(axis=0)].T)
    annotations = (columns >= 0).sum(axis=0)
    several = annotations >= 2
    if len(columns) < 2 or not several.any():
        return float("nan")
    if len(columns) <= FEW_RATERS:
        sums = sums_between_raters(columns[:, several], distance)
    else:
        sums = sums_of_items(tally_of_grades(columns.T[several], size), distance)
    observed = float((sums / (annotations * (annotations - 1))[several]).mean())
    counts = np.stack([np.bincount(row[row >= 0], minlength=size) for row in columns])
    shares = counts / counts.sum(axis=1, keepdims=True)
    within = sum(sum_of_all(share, distance) for share in shares)
    return _corrected(
        observed, (sum_of_all(shares.sum(axis=0), distance) - within) / (len(columns) * (len(columns) - 1))
    )


def _expected(one: NDArray[np.float64], other: NDArray[np.float64], distance: Distance) -> float:
    """Mean distance of a grade drawn from the first shares (K,) and one from the second."""
    return (sum_of_all(one + other, distance) - sum_of_all(one, distance) - sum_of_all(other, distance)) / 2


def _corrected(observed: float, expected: float) -> float:
    """1 - D_o / D_e; NaN where chance alone would always agree."""
    return 1 - observed / expected if expected > 0 else float("nan")
