"""Means of quotients of integers that are equal as floats if they are equal in exact arithmetic.

Added as floats, 1/9 + 1/9 + 4/9 and 1/9 + 4/9 + 1/9 differ in the last bit, and a rank would depend on the order of
classes, concepts or images. Means are therefore rounded once, and means that are close to each other are recomputed
with integers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

NEAR = 1e-12
"""Means that differ by at most this may be equal except for rounding errors, which are far smaller; they are recomputed
exactly."""

MOST = 1 << 26
"""Largest denominator up to which a quotient is determined by its float."""


def settle(values: NDArray[np.float64], exact: Callable[[int], float]) -> NDArray[np.float64]:
    """Replace values that are close to another one by `exact` of their position, and return all (S,) values.

    Parameters
    ----------
    values : (S,) float64
        NaN where undefined.
    exact : callable
        Position -> the float nearest to the exact value.

    Examples
    --------
    >>> settle(np.array([0.1 + 0.2, 0.3, 0.9]), lambda position: 0.3).tolist()
    [0.3, 0.3, 0.9]
    """
    settled = values.copy()
    order = np.argsort(values, kind="stable")
    near = np.diff(values[order]) <= NEAR  # false where one is NaN
    for position in np.unique(np.concatenate([order[:-1][near], order[1:][near]])).tolist():
        settled[position] = exact(position)
    return settled


def means_of_ratios(above: NDArray[np.integer], below: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the (S,) means of quotients (S, K) of integers; they are equal if equal in exact arithmetic.

    Parameters
    ----------
    above, below : (S, K) int
        Numerators and denominators. A quotient with denominator 0 is undefined and left out of the mean.

    Examples
    --------
    >>> means = means_of_ratios(np.array([[1, 1, 4], [1, 4, 1]]), np.full((2, 3), 9))
    >>> bool(means[0] == means[1]), bool((1 / 9 + 1 / 9 + 4 / 9) / 3 == (1 / 9 + 4 / 9 + 1 / 9) / 3)
    (True, False)
    """
    known = below != 0

    def exact(row: int) -> float:
        kept = known[row]
        return exact_mean(above[row, kept].tolist(), below[row, kept].tolist(), int(kept.sum()))

    rounded = np.divide(above, below, out=np.zeros(above.shape), where=known)
    means = [
        math.fsum(row) / times if times else math.nan
        for row, times in zip(rounded.tolist(), known.sum(axis=1).tolist(), strict=True)
    ]
    return settle(np.array(means, np.float64), exact)


def exact_mean(above: list[int], below: list[int], times: int) -> float:
    """Return the float nearest to the sum of quotients of integers, divided by `times`.

    Examples
    --------
    >>> exact_mean([1, 1, 4], [9, 9, 9], 3) == exact_mean([1, 4, 1], [9, 9, 9], 3) == 2 / 9
    True
    """
    by_divisor: dict[int, int] = {}
    for number, divisor in zip(above, below, strict=True):
        by_divisor[divisor] = by_divisor.get(divisor, 0) + number
    terms = [(number, divisor) for divisor, number in by_divisor.items()] or [(0, 1)]
    while len(terms) > 1:  # pairwise, so that few numbers are long
        paired = [(a * d + c * b, b * d) for (a, b), (c, d) in zip(terms[::2], terms[1::2], strict=False)]
        terms = paired + terms[len(paired) * 2 :]
    number, divisor = terms[0]
    return number / (divisor * times)  # Python divides integers of any length with one rounding


def as_ratio(value: float) -> tuple[int, int]:
    """Return the numerator and denominator, up to `MOST`, of the quotient that was rounded to a float.

    Examples
    --------
    >>> as_ratio(4 / 9)
    (4, 9)
    """
    found = Fraction(value).limit_denominator(MOST)
    return found.numerator, found.denominator
