"""Means of quotients of whole numbers, so that means that are equal in exact arithmetic are equal as floats.

Added as floats, 1/9 + 1/9 + 4/9 and 1/9 + 4/9 + 1/9 differ in the last bit, and a rank would hang on the order of
classes, concepts or images. Means are therefore rounded once, and those that are near one another are computed again
with whole numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

NEAR = 1e-12
"""Means at most this far apart may be equal but for rounding, which stays far below it: they are computed exactly."""

MOST = 1 << 26
"""A quotient k / n of n up to this is the only one with such a denominator that rounds to its float."""


def settle(values: NDArray[np.float64], exact: Callable[[int], float]) -> NDArray[np.float64]:
    """(S,) values, those that are near another one replaced by what `exact` answers for their position.

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
    near = np.diff(values[order]) <= NEAR  # not where one is NaN
    for position in np.unique(np.concatenate([order[:-1][near], order[1:][near]])).tolist():
        settled[position] = exact(position)
    return settled


def means_of_ratios(above: NDArray[np.integer], below: NDArray[np.integer]) -> NDArray[np.float64]:
    """(S,) means of quotients (S, K) of whole numbers, equal where they are equal in exact arithmetic.

    Parameters
    ----------
    above, below : (S, K) int
        A quotient without a divisor, 0, is undefined and left out of the mean.

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
    """The float nearest to the sum of quotients of whole numbers, divided by a number of `times`.

    Examples
    --------
    >>> exact_mean([1, 1, 4], [9, 9, 9], 3) == exact_mean([1, 4, 1], [9, 9, 9], 3) == 2 / 9
    True
    """
    by_divisor: dict[int, int] = {}
    for number, divisor in zip(above, below, strict=True):
        by_divisor[divisor] = by_divisor.get(divisor, 0) + number
    terms = [(number, divisor) for divisor, number in by_divisor.items()] or [(0, 1)]
    while len(terms) > 1:  # two by two, so that few of the numbers are long
        paired = [(a * d + c * b, b * d) for (a, b), (c, d) in zip(terms[::2], terms[1::2], strict=False)]
        terms = paired + terms[len(paired) * 2 :]
    number, divisor = terms[0]
    return number / (divisor * times)  # whole numbers of any length are divided with one rounding


def as_ratio(value: float) -> tuple[int, int]:
    """The quotient of whole numbers up to `MOST` that a float was rounded from.

    Examples
    --------
    >>> as_ratio(4 / 9)
    (4, 9)
    """
    found = Fraction(value).limit_denominator(MOST)
    return found.numerator, found.denominator
