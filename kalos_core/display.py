"""Formatting of names, numbers and intervals for people, without plotly, so that any module may import it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

Numbers = Sequence[float | None] | NDArray[np.float64]
"""Values; None or NaN where undefined."""

MINUS, NO_BREAK = "\u2212", "\u00a0"
"""Minus sign of numbers, and no-break space."""

NARROW = 0.05
"""An interval narrower than this needs three decimals."""

LEAST_PERCENT, MOST_PERCENT = 0.001, 99.5
"""Bounds of percentages that two digits cannot tell from 0 or 100."""

VARIATION_LABELS = {
    "correct": "correct",
    "wrong_class": "wrong class",
    "merged": "merged",
    "merged_wrong_class": "merged, wrong class",
    "missing": "missing",
    "additional": "additional",
}
"""Variation types as shown to users."""

RATER_COLOURS = ("#E69F00", "#117733", "#882255", "#44AA99", "#999933", "#332288", "#AA4499", "#DDCC77")
"""Colours of raters in the order of the vocabulary, repeated as needed; none is the colour of a variation type."""

EVENT_LABELS = {
    "deletion": "missed",
    "addition": "added",
    "split": "split",
    "merge": "merged",
    "wrong_class": "wrong class",
    "shift": "moved",
}
"""Events of synthetic raters as shown to users."""

STAGE_LABELS = {
    "unmatched": "1. missed and added",
    "topology": "2. split and merged",
    "category": "3. wrong class",
    "first three": "together: signal loss",
    "localization": "4. moved and scaled",
}
"""Stages of generation as shown to users."""

OUTCOME_LABELS = {"done": "done", "lost": "lost: too late for its annotation", "impossible": "impossible"}
"""Outcomes of events as shown to users."""

TRUTH_LABELS = {
    "any": "pixels that any rater marked",
    "0.5": "pixels that half of the raters marked",
    "0.75": "pixels that three quarters of the raters marked",
    "excl-0.5": "pixels that half of the raters marked, leaving out raters who are outliers over all images",
    "staple": "STAPLE: raters weighted by their estimated performance",
    "staple-classes": "STAPLE of all classes at once: also uses which classes each rater confuses",
    "simple": "SIMPLE: leaves out the raters with the lowest performance, step by step",
    "lsml": "LSML: likely and smooth; slow",
}
"""Methods of estimating the ground truth of pixels, as shown to users."""


def rater_colour(number: int) -> str:
    """Return the colour of the n-th rater; colours repeat after the last one.

    Examples
    --------
    >>> rater_colour(0) == rater_colour(len(RATER_COLOURS)) == RATER_COLOURS[0]
    True
    """
    return RATER_COLOURS[number % len(RATER_COLOURS)]


def alpha_text(value: float | None, digits: int = 2) -> str:
    """Format an alpha, or another coefficient or similarity; "undefined" for None and NaN.

    Use two decimals in sentences and plots, three in tables.

    Examples
    --------
    >>> alpha_text(0.68888), alpha_text(0.68888, 3), alpha_text(-0.0154), alpha_text(-0.001), alpha_text(None)
    ('0.69', '0.689', '−0.02', '0.00', 'undefined')
    """
    return "undefined" if value is None or np.isnan(value) else _typeset(f"{float(value):,.{digits}f}")


def metric_text(alpha: str, metric: str) -> str:
    """Return an alpha with its metric, unless that is nominal.

    Examples
    --------
    >>> metric_text("0.81", "ordinal").replace(NO_BREAK, " "), metric_text("0.81", "nominal")
    ('0.81 ordinal', '0.81')
    """
    return alpha if metric == "nominal" else f"{alpha}{NO_BREAK}{metric}"


def with_interval(
    value: float | None,
    interval: Numbers,
    digits: int | None = None,
    *,
    why: str = "",
    text: Callable[[float | None], str] | None = None,
) -> str:
    """Format a number with its 95 % interval, if there is one, without line breaks.

    Parameters
    ----------
    value : float, optional
    interval : (2,)
        NaN or None if there is none.
    digits : int, optional
        Decimals of an alpha; by default two, or three if the interval is too narrow for two (`NARROW`).
    why : str, optional
        Reason for a missing interval, shown if given (`inference.why_no_interval`).
    text : function, optional
        Formats the number and both ends, instead of `alpha_text`.

    Examples
    --------
    >>> with_interval(0.689, [0.634, 0.746]).replace(NO_BREAK, " ")
    '0.69 [0.63, 0.75]'
    >>> with_interval(0.798, [0.786, 0.807]).replace(NO_BREAK, " "), with_interval(0.689, [None, None])
    ('0.798 [0.786, 0.807]', '0.69')
    >>> with_interval(0.689, [None, None], why="fewer than 8 images").replace(NO_BREAK, " ")
    '0.69 (no interval: fewer than 8 images)'
    """
    if text is None:
        is_narrow = has_interval(interval) and interval[1] - interval[0] < NARROW  # type: ignore[operator]
        text = partial(alpha_text, digits=digits or (3 if is_narrow else 2))
    ends = interval_text(interval, text=text)
    if not ends and why and value is not None and not np.isnan(value):
        ends = no_interval(why)
    return f"{text(value)} {ends}".rstrip().replace(" ", NO_BREAK)


def has_interval(interval: Numbers) -> bool:
    """Return whether both ends (2,) of an interval are known.

    Examples
    --------
    >>> has_interval([0.1, 0.2]), has_interval([None, None]), has_interval(np.full(2, np.nan))
    (True, False, False)
    """
    return all(end is not None and not np.isnan(end) for end in interval)


def no_interval(why: str) -> str:
    """Return the reason for a missing interval, in parentheses.

    Examples
    --------
    >>> no_interval("fewer than 8 images")
    '(no interval: fewer than 8 images)'
    """
    return f"(no interval: {why})"


def interval_text(interval: Numbers, digits: int = 2, *, text: Callable[[float | None], str] | None = None) -> str:
    """Format both ends of an interval without line breaks; "" if there is none. `text` is as in `with_interval`.

    Examples
    --------
    >>> interval_text([-0.1, 0.746]).replace(NO_BREAK, " "), interval_text([None, None])
    ('[−0.10, 0.75]', '')
    """
    if not has_interval(interval):
        return ""
    low, high = map(text or partial(alpha_text, digits=digits), interval)
    return f"[{low},{NO_BREAK}{high}]"


def ends_text(interval: Numbers, text: Callable[[float | None], str] = alpha_text) -> str:
    """Format both ends of an interval for a table column; "none" if there is none.

    Examples
    --------
    >>> ends_text([0.304, 0.696], points_text), ends_text([None, None])
    ('30.4 to 69.6', 'none')
    """
    return " to ".join(map(text, interval)) if has_interval(interval) else "none"


def bracketed(interval: Numbers, form: str = ".3f", why: str = "") -> str:
    """Format an interval for plain text, with a leading space; if there is none, return `why`, or "".

    Examples
    --------
    >>> bracketed([-0.1, 0.2]), bracketed([-0.1, 0.2], "+.2f"), bracketed([None, None], why="fewer than 8 images")
    (' [-0.100, 0.200]', ' [-0.10, +0.20]', ' (no interval: fewer than 8 images)')
    """
    if has_interval(interval):
        low, high = interval
        return f" [{low:{form}}, {high:{form}}]"
    return f" {no_interval(why)}" if why else ""


def signed(value: float | None, digits: int = 3) -> str:
    """Format a difference of alphas with its sign.

    Examples
    --------
    >>> signed(0.0412), signed(-0.02), signed(0.0), signed(None)
    ('+0.041', '−0.020', '0.000', 'undefined')
    """
    text = alpha_text(value, digits)
    return f"+{text}" if value is not None and value > 0 and text.strip("0.") else text


def points_text(value: float | None, digits: int = 1) -> str:
    """Format a mAP in [0, 1] as points from 0 to 100, as in papers.

    Examples
    --------
    >>> points_text(0.66068), points_text(float("nan"))
    ('66.1', 'undefined')
    """
    return alpha_text(None if value is None else 100 * value, digits)


def count_text(count: int) -> str:
    """Format a whole number.

    Examples
    --------
    >>> count_text(1402), count_text(-3)
    ('1,402', '−3')
    """
    return _typeset(f"{count:,d}")


def number_of(count: int, one: str, several: str | None = None) -> str:
    """Format a count with its noun, in the singular or the plural.

    Parameters
    ----------
    count : int
    one : str
        Text for one: the noun, with any words before it, and any words after it that begin with "of", "in" or the like.
    several : str, optional
        Text for none or several, if more than the noun changes; by default the noun is put into the plural.

    Examples
    --------
    >>> number_of(1, "image"), number_of(0, "class"), number_of(1200, "pair of raters"), number_of(2, "boundary")
    ('1 image', '0 classes', '1,200 pairs of raters', '2 boundaries')
    >>> number_of(1, "image is", "images are"), number_of(3, "image is", "images are")
    ('1 image is', '3 images are')
    """
    if count == 1:
        return f"1 {one}"
    if several is None:
        until = _AFTER_NOUN.search(one)
        end = until.start() if until else len(one)
        several = _plural(one[:end]) + one[end:]
    return f"{count_text(count)} {several}"


_AFTER_NOUN = re.compile(r" (?:of|in|on|with|matched|annotated) ")


def _plural(noun: str) -> str:
    """Return the regular plural; no noun in use is irregular."""
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if re.search(r"(?:s|x|ch|sh)$", noun) else f"{noun}s"


def percent_text(share: float | None) -> str:
    """Format a share in [0, 1] as percentage with at most two significant digits; 0 and 100 only if exact.

    Examples
    --------
    >>> [percent_text(share).replace(NO_BREAK, " ") for share in (0.0346, 0.123, 0.000506, 0.05, 0, 1, 0.999, 1e-7)]
    ['3.5 %', '12 %', '0.051 %', '5 %', '0 %', '100 %', '> 99 %', '< 0.001 %']
    """
    if share is None or np.isnan(share):
        return "undefined"
    percent = 100 * abs(share)
    if 0 < percent < LEAST_PERCENT:
        text = f"< {LEAST_PERCENT:g}"
    elif MOST_PERCENT <= percent < 100:
        text = "> 99"
    else:
        text = significant(np.copysign(percent, share), 2)
    return f"{text} %".replace(" ", NO_BREAK)


def count_and_share(count: int, total: int) -> str:
    """Format a part of a whole as count and share; 0 has no share.

    Examples
    --------
    >>> count_and_share(1402, 11683).replace(NO_BREAK, " "), count_and_share(0, 9)
    ('1,402 (12 %)', '0')
    """
    return f"{count_text(count)}{NO_BREAK}({percent_text(count / total)})" if count and total else count_text(count)


def significant(value: float | None, digits: int = 3) -> str:
    """Format a number of no fixed scale (an area, a statistic) with at most three significant digits.

    Use `alpha_text` for alphas and similarities, `percent_text` for shares.

    Examples
    --------
    >>> significant(0.0380), significant(-1402.3), significant(100.0), significant(None)
    ('0.038', '−1,402', '100', 'undefined')
    """
    if value is None or np.isnan(value):
        return "undefined"
    if not np.isfinite(value) or abs(value) >= 10**digits:
        return _typeset(f"{value:,.0f}")
    return _typeset(f"{float(value):.{digits}g}")


def statistic_text(value: float | None) -> str:
    """Format a statistic of any scale: three decimals below 10, three digits above.

    Examples
    --------
    >>> statistic_text(0.7), statistic_text(1398.0), statistic_text(-0.083)
    ('0.700', '1,398', '−0.083')
    """
    return alpha_text(value, 3) if value is not None and abs(value) < 10 else significant(value)


def p_text(p: float | None) -> str:
    """Format a p-value for a sentence.

    Examples
    --------
    >>> p_text(0.0316), p_text(0.00001), p_text(None)
    ('p = 0.032', 'p < 0.001', 'p undefined')
    """
    if p is None or np.isnan(p):
        return "p undefined"
    return "p < 0.001" if p < 0.001 else f"p = {significant(p, 2)}"


def _typeset(text: str) -> str:
    """Replace the hyphen of a formatted number by a minus sign; a number rounded to zero gets none."""
    return text.replace("-", "" if not text.strip("-0.,") else MINUS, 1)
