"""The forms in which a page shows numbers: a scale, cards, ranked lists and matrices; `axes` has plots with axes.

Each is drawn as HTML and inline SVG, without a script. Numbers are always text, so that a page can be read where a
drawing is not shown, and by a screen reader; the template writes them (`look.html`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import BANDS, band
from kalos_core.display import alpha_text, has_interval, number_of, with_interval

Interval: TypeAlias = Sequence[float] | NDArray[np.float64]

NOBODY = (math.nan, math.nan)
"""No interval."""

INK, SOFT, ACCENT, PALE = "#1b2530", "#5c6874", "#0b62b5", "#8C96A3"
"""Colours of a drawing where a page's own are not known: text, axes, bars, and bars of less weight."""

TINT = (11, 98, 181)
"""Red, green and blue of a full cell of a matrix, which is laid over any ground."""

FAINTEST, FULLEST = 0.05, 0.45
"""How much of it the least and the greatest value have: text is read on either, light or dark."""

LEAST = -0.1
"""Left end of the scale of alpha."""


@dataclass(frozen=True)
class Scale:
    r"""Alpha on the scale of its bands, with its interval.

    Examples
    --------
    >>> print(Scale(0.5, (0.4, 0.6)).label.replace("\xa0", " "))
    alpha 0.50 [0.40, 0.60], moderate, on a scale from −0.1 to 1
    """

    kind: ClassVar = "scale"

    alpha: float
    interval: Interval = NOBODY

    @property
    def label(self) -> str:
        """Alternative text."""
        if math.isnan(self.alpha):
            return "alpha is undefined"
        shown = with_interval(self.alpha, self.interval)
        return f"alpha {shown}, {band(self.alpha)}, on a scale from {alpha_text(LEAST, 1)} to 1"

    @property
    def bands(self) -> list[tuple[float, float, str, float]]:
        """Of each band from the left: where it begins, how wide it is in percent, its name, how dark it is."""
        ends = [LEAST, *(least for least, _ in reversed(BANDS)), 1.0]
        names = ["below 0", *(name for _, name in reversed(BANDS))]
        shades = np.linspace(0.12, 0.34, len(names)).round(2).tolist()
        return [
            (self.place(low), self.place(high) - self.place(low), name, shade)
            for (low, high), name, shade in zip(pairwise(ends), names, shades, strict=True)
        ]

    def place(self, value: float) -> float:
        """Where a value stands, in percent."""
        return round(100 * (min(max(value, LEAST), 1.0) - LEAST) / (1 - LEAST), 2)

    @property
    def span(self) -> tuple[float, float] | None:
        """Where the interval begins and how wide it is, in percent; None without one."""
        if not has_interval(self.interval):
            return None
        low, high = map(self.place, self.interval)
        return low, max(high - low, 0.5)

    @property
    def is_defined(self) -> bool:
        """Whether there is a value to mark."""
        return not math.isnan(self.alpha)


@dataclass(frozen=True)
class Card:
    """A number, what it counts, and a remark."""

    value: str
    name: str
    note: str = ""

    @classmethod
    def of(cls, count: int, one: str, note: str = "") -> Card:
        """A count of things, which are called as one of them is.

        Examples
        --------
        >>> Card.of(2, "object in dispute")
        Card(value='2', name='objects in dispute', note='')
        """
        value, _, name = number_of(count, one).partition(" ")
        return cls(value, name, note)


@dataclass(frozen=True)
class Cards:
    """Numbers side by side."""

    kind: ClassVar = "cards"

    cards: Sequence[Card]


@dataclass(frozen=True)
class Row:
    """A row of a ranked list.

    Parameters
    ----------
    name : str
    text : str
        The value as people read it.
    value : float
        Of the bar; NaN for none.
    interval : (2,) float
        NaN without one.
    beside : sequence of str
        Further columns.
    colour : str
        Of the bar, where it is not that of all.
    pale : bool
        Whether it has less weight than others.
    marks : sequence of float
        Further values on the same axis.
    """

    name: str
    text: str
    value: float = math.nan
    interval: Interval = NOBODY
    beside: Sequence[str] = ()
    colour: str = ""
    pale: bool = False
    marks: Sequence[float] = ()

    @property
    def fill(self) -> str:
        """The colour of the bar."""
        return self.colour or (PALE if self.pale else ACCENT)


@dataclass(frozen=True)
class Ranked:
    """Names in their order, each with a bar from zero, its interval and its numbers.

    Examples
    --------
    >>> found = Ranked("Alpha by class", ("class", "alpha"), [Row("cat", "0.50", 0.5)], (-0.5, 1.0))
    >>> found.bar(0.5), found.bar(-0.25)
    ((33.33, 33.34), (16.67, 16.66))
    """

    kind: ClassVar = "ranked"

    label: str
    heads: Sequence[str]
    rows: Sequence[Row]
    domain: tuple[float, float] = (0.0, 1.0)

    def place(self, value: float) -> float:
        """Where a value stands, in percent."""
        low, high = self.domain
        return round(100 * (min(max(value, low), high) - low) / ((high - low) or 1), 2)

    def bar(self, value: float) -> tuple[float, float]:
        """Where a bar begins, and how wide it is, in percent."""
        zero, end = self.place(0), self.place(value)
        return min(zero, end), round(abs(end - zero), 2)

    def span(self, row: Row) -> tuple[float, float] | None:
        """The same of an interval; None without one."""
        if not has_interval(row.interval):
            return None
        low, high = map(self.place, row.interval)
        return low, round(max(high - low, 0.6), 2)


def ranked_domain(
    values: Sequence[float] | NDArray[np.float64], *others: Interval, most: float = 1.0
) -> tuple[float, float]:
    """From 0, or below where a value is, to `most`, or above.

    Examples
    --------
    >>> ranked_domain([0.5, float("nan"), -0.2]), ranked_domain([3.0], most=0)
    ((-0.2, 1.0), (0.0, 3.0))
    """
    known = np.concatenate([np.ravel(np.asarray(part, dtype=np.float64)) for part in (values, *others)])
    known = known[np.isfinite(known)]
    return float(min(0.0, *known, 0.0)), float(max(most, *known, most))


@dataclass(frozen=True)
class Cell:
    """A cell of a matrix: its text, and how full it is, from 0 to 1; None where there is nothing to say."""

    text: str
    strength: float | None = None

    @property
    def style(self) -> str:
        """Its ground, laid over that of the page."""
        if self.strength is None:
            return ""
        share = FAINTEST + (FULLEST - FAINTEST) * self.strength
        return f"background-color: rgba({', '.join(map(str, TINT))}, {share:.2f})"


@dataclass(frozen=True, eq=False)
class Matrix:
    """Values of every row and column as a shaded table.

    Parameters
    ----------
    label : str
    rows, columns : (n,), (m,) str
    values : (n, m) float64
        NaN where there is nothing to say.
    domain : (float, float)
        From pale to full.
    heads : (str, str)
        What rows and columns are.
    show : callable
        A value as people read it.

    Examples
    --------
    >>> matrix = Matrix("Alpha of pairs", ["ann"], ["ann", "bob"], np.array([[np.nan, 0.5]]))
    >>> [cell.text for cell in matrix.cells[0]], matrix.cells[0][1].style
    (['', '0.50'], 'background-color: rgba(11, 98, 181, 0.25)')
    """

    kind: ClassVar = "matrix"

    label: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: NDArray[np.float64]
    domain: tuple[float, float] = (0.0, 1.0)
    heads: tuple[str, str] = ("", "")
    show: Callable[[float], str] = field(default=alpha_text, compare=False)

    @property
    def cells(self) -> list[list[Cell]]:
        """A row of cells for each row."""
        low, high = self.domain
        share = np.clip((self.values - low) / ((high - low) or 1), 0, 1)
        return [
            [
                Cell("") if math.isnan(value) else Cell(self.show(value), strength)
                for value, strength in zip(*row, strict=True)
            ]
            for row in zip(self.values.tolist(), share.tolist(), strict=True)
        ]


def row_of(
    name: str,
    value: float,
    interval: Interval = NOBODY,
    beside: Sequence[str] = (),
    *,
    text: str = "",
    pale: bool = False,
    colour: str = "",
) -> Row:
    """A row with a number that is written as an alpha, unless a text is given."""
    return Row(name, text or with_interval(value, interval), value, interval, beside, colour, pale)
