"""Forms of numbers on a page: scale, cards, ranked lists and matrices; `axes` has plots with axes.

All are drawn as HTML and inline SVG, without scripts. Numbers are always text, so pages are readable without drawings
and by screen readers. The template `look.html` renders them.
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
"""Missing interval."""

INK, SOFT, ACCENT, PALE = "#1b2530", "#5c6874", "#0b62b5", "#8C96A3"
"""Default colours of a drawing: text, axes, bars, and bars of less weight."""

TINT = (11, 98, 181)
"""RGB colour of a full matrix cell, blended with the background."""

FAINTEST, FULLEST = 0.05, 0.45
"""Opacity of the least and the greatest value, chosen so that text stays readable on light and dark pages."""

LEAST = -0.1
"""Left end of the scale of alpha."""


@dataclass(frozen=True)
class Scale:
    r"""Alpha with its interval, on the scale of its bands.

    Examples
    --------
    >>> print(Scale(0.5, (0.4, 0.6)).label.replace("\xa0", " "))
    alpha 0.50 [0.40, 0.60], moderate, on a scale from −0.1 to 1
    """

    kind: ClassVar[str] = "scale"

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
        """Left end and width in percent, name and shade of each band, from the left."""
        ends = [LEAST, *(least for least, _ in reversed(BANDS)), 1.0]
        names = ["below 0", *(name for _, name in reversed(BANDS))]
        shades = np.linspace(0.12, 0.34, len(names)).round(2).tolist()
        return [
            (self.place(low), self.place(high) - self.place(low), name, shade)
            for (low, high), name, shade in zip(pairwise(ends), names, shades, strict=True)
        ]

    def place(self, value: float) -> float:
        """Return the position of a value in percent."""
        return round(100 * (min(max(value, LEAST), 1.0) - LEAST) / (1 - LEAST), 2)

    @property
    def span(self) -> tuple[float, float] | None:
        """Left end and width of the interval in percent; None without one."""
        if not has_interval(self.interval):
            return None
        low, high = map(self.place, self.interval)
        return low, max(high - low, 0.5)

    @property
    def is_defined(self) -> bool:
        """Whether alpha is defined."""
        return not math.isnan(self.alpha)


@dataclass(frozen=True)
class Card:
    """Number with a name and a note."""

    value: str
    name: str
    note: str = ""

    @classmethod
    def of(cls, count: int, one: str, note: str = "") -> Card:
        """Create a card with a count; the name is given for one item.

        Examples
        --------
        >>> Card.of(2, "object in dispute")
        Card(value='2', name='objects in dispute', note='')
        """
        value, _, name = number_of(count, one).partition(" ")
        return cls(value, name, note)


@dataclass(frozen=True)
class Cards:
    """Cards shown side by side."""

    kind: ClassVar[str] = "cards"

    cards: Sequence[Card]


@dataclass(frozen=True)
class Row:
    """Row of a ranked list.

    Parameters
    ----------
    name : str
    text : str
        Value as text.
    value : float
        Length of the bar; NaN for no bar.
    interval : (2,) float
        NaN if there is none.
    beside : sequence of str
        Texts of further columns.
    colour : str
        Colour of the bar, if it differs from the default.
    pale : bool
        Whether the bar is shown with less weight.
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
        """Colour of the bar."""
        return self.colour or (PALE if self.pale else ACCENT)


@dataclass(frozen=True)
class Ranked:
    """Ranked list of names, each with a bar from zero, its interval and its numbers.

    Examples
    --------
    >>> found = Ranked("Alpha by class", ("class", "alpha"), [Row("cat", "0.50", 0.5)], (-0.5, 1.0))
    >>> found.bar(0.5), found.bar(-0.25)
    ((33.33, 33.34), (16.67, 16.66))
    """

    kind: ClassVar[str] = "ranked"

    label: str
    heads: Sequence[str]
    rows: Sequence[Row]
    domain: tuple[float, float] = (0.0, 1.0)

    def place(self, value: float) -> float:
        """Return the position of a value in percent."""
        low, high = self.domain
        return round(100 * (min(max(value, low), high) - low) / ((high - low) or 1), 2)

    def bar(self, value: float) -> tuple[float, float]:
        """Return the left end and width of a bar in percent."""
        zero, end = self.place(0), self.place(value)
        return min(zero, end), round(abs(end - zero), 2)

    def span(self, row: Row) -> tuple[float, float] | None:
        """Return the left end and width of an interval in percent; None without one."""
        if not has_interval(row.interval):
            return None
        low, high = map(self.place, row.interval)
        return low, round(max(high - low, 0.6), 2)


def ranked_domain(
    values: Sequence[float] | NDArray[np.float64], *others: Interval, most: float = 1.0
) -> tuple[float, float]:
    """Return the range from 0, or a lower value, to `most`, or a higher value.

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
    """Matrix cell: text, and strength of its colour from 0 to 1; None for an empty cell."""

    text: str
    strength: float | None = None

    @property
    def style(self) -> str:
        """CSS background, blended with that of the page."""
        if self.strength is None:
            return ""
        share = FAINTEST + (FULLEST - FAINTEST) * self.strength
        return f"background-color: rgba({', '.join(map(str, TINT))}, {share:.2f})"


@dataclass(frozen=True, eq=False)
class Matrix:
    """Values of rows and columns as a shaded table.

    Parameters
    ----------
    label : str
    rows, columns : (n,), (m,) str
    values : (n, m) float64
        NaN for empty cells.
    domain : (float, float)
        Values of the palest and the fullest cell.
    heads : (str, str)
        Headings of rows and columns.
    show : callable
        Format a value as text.

    Examples
    --------
    >>> matrix = Matrix("Alpha of pairs", ["ann"], ["ann", "bob"], np.array([[np.nan, 0.5]]))
    >>> [cell.text for cell in matrix.cells[0]], matrix.cells[0][1].style
    (['', '0.50'], 'background-color: rgba(11, 98, 181, 0.25)')
    """

    kind: ClassVar[str] = "matrix"

    label: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: NDArray[np.float64]
    domain: tuple[float, float] = (0.0, 1.0)
    heads: tuple[str, str] = ("", "")
    show: Callable[[float], str] = field(default=alpha_text, compare=False)

    @property
    def cells(self) -> list[list[Cell]]:
        """Cells by row."""
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
    """Create a row with a number, formatted as an alpha unless `text` is given."""
    return Row(name, text or with_interval(value, interval), value, interval, beside, colour, pale)
