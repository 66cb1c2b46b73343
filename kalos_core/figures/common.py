"""What all figures share: colours, and numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

COLOURS = {
    "correct": "#009E73",
    "wrong_class": "#D55E00",
    "merged": "#CC79A7",
    "merged_wrong_class": "#8B3A62",
    "missing": "#0072B2",
    "additional": "#56B4E9",
}
"""One colour per variation type, everywhere; told apart by colour-blind readers (Okabe & Ito 2008)."""

RATER_COLOURS = ("#E69F00", "#117733", "#882255", "#44AA99", "#999933", "#332288", "#AA4499", "#DDCC77")
"""Colours of raters, in the order of the vocabulary, over and over; none is the colour of a variation type."""

NEUTRAL = "#8C96A3"
"""Bars of a quantity that is no variation type: a grey that reads on light and dark."""


def significant(value: float | None, digits: int = 3) -> str:
    """A number with three significant digits, "undefined" for None and NaN.

    Examples
    --------
    >>> significant(0.68888), significant(-0.05), significant(1.0), significant(None)
    ('0.689', '-0.0500', '1.00', 'undefined')
    """
    return "undefined" if value is None or np.isnan(value) else f"{value:#.{digits}g}".rstrip(".")


def with_interval(value: float | None, interval: Sequence[float | None] | NDArray[np.float64]) -> str:
    """A number with its interval, as far as there is one.

    Examples
    --------
    >>> with_interval(0.689, [0.634, 0.745]), with_interval(0.689, [None, None])
    ('0.689 [0.634, 0.745]', '0.689')
    """
    low, high = interval
    if low is None or high is None or np.isnan(low) or np.isnan(high):
        return significant(value)
    return f"{significant(value)} [{significant(low)}, {significant(high)}]"
