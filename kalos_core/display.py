"""How results are written for people: names of types and numbers; without plotly, so that everything may import it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = Sequence[float | None] | NDArray[np.float64]
"""Values, None or NaN where undefined."""

VARIATION_LABELS = {
    "correct": "correct",
    "wrong_class": "wrong class",
    "merged": "merged",
    "merged_wrong_class": "merged, wrong class",
    "missing": "missing",
    "additional": "additional",
}
"""Variation types as people read them."""

RATER_COLOURS = ("#E69F00", "#117733", "#882255", "#44AA99", "#999933", "#332288", "#AA4499", "#DDCC77")
"""Colours of raters, in the order of the vocabulary, over and over; none is the colour of a variation type."""

EVENT_LABELS = {
    "deletion": "missed",
    "addition": "added",
    "split": "split",
    "merge": "merged",
    "wrong_class": "wrong class",
    "shift": "moved",
}
"""Events of synthetic raters as people read them."""

STAGE_LABELS = {
    "unmatched": "1. missed and added",
    "topology": "2. split and merged",
    "category": "3. wrong class",
    "first three": "together: signal loss",
    "localization": "4. moved and scaled",
}
"""Stages of generation as people read them."""

OUTCOME_LABELS = {"done": "done", "lost": "lost: too late for its annotation", "impossible": "impossible"}
"""Outcomes of events as people read them."""


def rater_colour(number: int) -> str:
    """The colour of the n-th rater; they begin again after the last one.

    Examples
    --------
    >>> rater_colour(0) == rater_colour(len(RATER_COLOURS)) == RATER_COLOURS[0]
    True
    """
    return RATER_COLOURS[number % len(RATER_COLOURS)]


def significant(value: float | None, digits: int = 3) -> str:
    """A number with three significant digits, "undefined" for None and NaN.

    Examples
    --------
    >>> significant(0.68888), significant(-0.05), significant(1.0), significant(None)
    ('0.689', '-0.0500', '1.00', 'undefined')
    """
    return "undefined" if value is None or np.isnan(value) else f"{value:#.{digits}g}".rstrip(".")


def with_interval(value: float | None, interval: Numbers) -> str:
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


def signed(value: float | None, digits: int = 3) -> str:
    """A difference with its sign.

    Examples
    --------
    >>> signed(0.0412), signed(-0.02), signed(0.0), signed(None)
    ('+0.0412', '-0.0200', '0.00', 'undefined')
    """
    text = significant(value, digits)
    return f"+{text}" if value is not None and value > 0 else text


def bold(text: str) -> str:
    r"""A finding in bold Markdown, in which names with underscores, and τ*, stay as they are.

    Examples
    --------
    >>> print(bold("τ* of box_iou"))
    **τ\* of box\_iou**
    """
    escaped = re.sub(r"([_*])", r"\\\1", text)
    return f"**{escaped}**"
