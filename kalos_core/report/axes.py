"""Plots with two axes as inline SVG: histograms and lines, with their numbers as alternative text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import alpha_text, count_text, significant
from kalos_core.report.look import ACCENT, INK, Cards, Matrix, Ranked, Scale

WIDTH, HEIGHT = 360.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 16.0, 8.0, 38.0
"""Size of a plot with axes and its margins, in its own units."""

SERIES = ("#0b62b5", "#8C96A3", "#D55E00", "#009E73", "#CC79A7", "#56B4E9")
"""Colours of lines, used cyclically."""

DASHES = ("", "6 4", "2 3", "8 3 2 3")
"""Dash patterns that distinguish lines without colour."""


@dataclass(frozen=True)
class Mark:
    """Named vertical line in a plot."""

    name: str
    at: float
    dash: str = ""


@dataclass(frozen=True)
class Tick:
    """Grid line with a label."""

    at: float
    text: str


@dataclass(frozen=True)
class Key:
    """Legend entry."""

    name: str
    colour: str
    dash: str = ""
    is_area: bool = False


class _Axes:
    """Coordinates in a plot with axes, in its own units."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    log_x: bool = False
    log_y: bool = False

    def x(self, value: float) -> float:
        """Return the horizontal position of a value, from the left."""
        return round(LEFT + _share(value, self.x_range, self.log_x) * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        """Return the vertical position of a value, from the top."""
        return round(HEIGHT - BOTTOM - _share(value, self.y_range, self.log_y) * (HEIGHT - TOP - BOTTOM), 1)


def _share(value: float, ends: tuple[float, float], log: bool) -> float:
    low, high = map(math.log10, ends) if log else ends
    at = math.log10(max(value, ends[0])) if log else value
    return min(max((at - low) / ((high - low) or 1), 0.0), 1.0)


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return at most `most` round numbers in a range.

    Examples
    --------
    >>> round_ticks(0, 1), round_ticks(0, 47), round_ticks(-0.3, 1)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 10.0, 20.0, 30.0, 40.0], [0.0, 0.5, 1.0])
    """
    span = (high - low) or 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(step * power for step in (1, 2, 5, 10, 20) if span / (step * power) <= most - 1 + 1e-9)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 10) + 0.0 for number in range(first, last + 1)]


def _ticks(ends: tuple[float, float], log: bool, show: Callable[[float], str]) -> list[Tick]:
    if log:
        first, last = (math.ceil(math.log10(ends[0]) - 1e-9), math.floor(math.log10(ends[1]) + 1e-9))
        return [Tick(10.0**power, show(10.0**power)) for power in range(first, last + 1)]
    return [Tick(at, show(at)) for at in round_ticks(*ends)]


@dataclass(frozen=True, eq=False)
class Bars:
    """Bar heights of one histogram."""

    name: str
    heights: Sequence[float]
    colour: str = ACCENT


@dataclass(frozen=True, eq=False)
class Histogram(_Axes):
    """Histogram; several histograms are overlaid.

    Parameters
    ----------
    label : str
    edges : (n + 1,) float
    bars : sequence of Bars
        Series of n heights each.
    x_axis, y_axis : str
        Axis titles with units.
    marks : sequence of Mark
    show, show_height : callable
        Format an edge, and a height, as text.
    log_y : bool
        Whether heights are on a logarithmic scale.

    Examples
    --------
    >>> print(Histogram("Images by alpha", [0, 0.5, 1], [Bars("images", [3, 5])], "alpha", "images").alternative)
    Images by alpha. 0.0 to 0.5: 3; 0.5 to 1.0: 5
    """

    kind: ClassVar[str] = "histogram"

    label: str
    edges: Sequence[float]
    bars: Sequence[Bars]
    x_axis: str
    y_axis: str
    marks: Sequence[Mark] = ()
    show: Callable[[float], str] = field(default=lambda edge: alpha_text(edge, 1), compare=False)
    show_height: Callable[[float], str] = field(default=lambda height: count_text(round(height)), compare=False)
    log_y: bool = False

    @property
    def x_range(self) -> tuple[float, float]:  # type: ignore[override]
        """First and last edge."""
        return float(self.edges[0]), float(self.edges[-1])

    @property
    def y_range(self) -> tuple[float, float]:  # type: ignore[override]
        """From zero to the greatest height; on a logarithmic scale from half of the least positive height."""
        every = np.concatenate([np.asarray(each.heights, np.float64) for each in self.bars])
        most = float(every.max(initial=0)) or 1.0
        return (float(every[every > 0].min(initial=most)) / 2 if self.log_y else 0.0), most

    @property
    def alternative(self) -> str:
        """Alternative text with all numbers."""
        parts = []
        for number, (low, high) in enumerate(pairwise(self.edges)):
            heights = [(each.name, each.heights[number]) for each in self.bars if each.heights[number]]
            if heights:
                said = ", ".join(
                    f"{name} {self.show_height(height)}" if len(self.bars) > 1 else self.show_height(height)
                    for name, height in heights
                )
                parts.append(f"{self.show(low)} to {self.show(high)}: {said}")
        return ". ".join([self.label, "; ".join(parts)])

    @property
    def rectangles(self) -> Iterator[tuple[float, float, float, float, str, float]]:
        """Left, top, width, height, colour and opacity of each bar."""
        for each in self.bars:
            for (low, high), height in zip(pairwise(self.edges), each.heights, strict=True):
                if height:
                    top = self.y(height)
                    width = max(self.x(high) - self.x(low) - 1, 0.5)
                    yield (
                        self.x(low),
                        top,
                        round(width, 1),
                        round(HEIGHT - BOTTOM - top, 1),
                        each.colour,
                        1.0 if len(self.bars) == 1 else 0.6,
                    )

    @property
    def x_ticks(self) -> list[Tick]:
        """Ticks of the lower axis."""
        return _ticks(self.x_range, False, self.show)

    @property
    def y_ticks(self) -> list[Tick]:
        """Ticks of the left axis, without repeated labels."""
        found = _ticks(self.y_range, self.log_y, self.show_height)
        return [
            tick
            for tick, before in zip(found, [None, *found], strict=False)
            if before is None or tick.text != before.text
        ]

    @property
    def keys(self) -> list[Key]:
        """Legend entries."""
        areas = [Key(each.name, each.colour, is_area=True) for each in self.bars] if len(self.bars) > 1 else []
        return [*areas, *(Key(mark.name, INK, mark.dash) for mark in self.marks)]


@dataclass(frozen=True, eq=False)
class Line:
    """Line through points, optionally with an interval.

    Parameters
    ----------
    name : str
    x, y : (n,) float
        Coordinates of the points; NaN leaves a gap.
    interval : (n, 2) float64, optional
    colour, dash : str
    dotted : bool
        Whether points are marked.
    """

    name: str
    x: Sequence[float] | NDArray[np.float64]
    y: Sequence[float] | NDArray[np.float64]
    interval: NDArray[np.float64] | None = None
    colour: str = ACCENT
    dash: str = ""
    dotted: bool = True


MOST_SAID = 12
"""Maximum number of points of a line in its alternative text."""


@dataclass(frozen=True, eq=False)
class Lines(_Axes):
    """Line plot.

    Parameters
    ----------
    label : str
    lines : sequence of Line
    x_axis, y_axis : str
        Axis titles with units.
    x_range, y_range : (float, float)
    marks : sequence of Mark
    log_x : bool
    show_x, show_y : callable
        Format values as text.

    Examples
    --------
    >>> line = Line("alpha", [0, 1], [0.5, 0.25])
    >>> print(Lines("Alpha over thresholds", [line], "threshold", "alpha", (0, 1), (0, 1)).alternative)
    Alpha over thresholds. alpha: 0.50 at 0; 0.25 at 1
    """

    kind: ClassVar[str] = "lines"

    label: str
    lines: Sequence[Line]
    x_axis: str
    y_axis: str
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    marks: Sequence[Mark] = ()
    log_x: bool = False
    show_x: Callable[[float], str] = field(default=lambda value: significant(value, 2), compare=False)
    show_y: Callable[[float], str] = field(default=alpha_text, compare=False)

    @property
    def alternative(self) -> str:
        """Alternative text with a few points of each line."""
        parts = []
        for line in self.lines:
            known = [(x, y) for x, y in zip(_plain(line.x), _plain(line.y), strict=True) if math.isfinite(y)]
            chosen = sorted(
                set(np.linspace(0, len(known) - 1, min(len(known), MOST_SAID)).round().astype(int).tolist())
            )
            said = "; ".join(f"{self.show_y(known[at][1])} at {self.show_x(known[at][0])}" for at in chosen)
            parts.append(f"{line.name}: {said}" if said else f"{line.name}: undefined")
        return ". ".join([self.label, *parts])

    @property
    def drawn(self) -> Iterator[tuple[Line, str, str, list[tuple[float, float]]]]:
        """Each line with its path, the path of its interval, and its points."""
        for line in self.lines:
            places = [
                None if math.isnan(y) else (self.x(x), self.y(y))
                for x, y in zip(_plain(line.x), _plain(line.y), strict=True)
            ]
            points = [place for place in places if place is not None] if line.dotted else []
            yield line, _path(places), self._around(line), points

    def _around(self, line: Line) -> str:
        if line.interval is None:
            return ""
        known = np.isfinite(line.interval).all(axis=1)
        x, ends = np.asarray(line.x, np.float64)[known], line.interval[known]
        upper = [(self.x(at), self.y(high)) for at, high in zip(x.tolist(), ends[:, 1].tolist(), strict=True)]
        lower = [(self.x(at), self.y(low)) for at, low in zip(x.tolist(), ends[:, 0].tolist(), strict=True)]
        return f"{_path([*upper, *reversed(lower)])}Z" if upper else ""

    @property
    def x_ticks(self) -> list[Tick]:
        """Ticks of the lower axis."""
        return _ticks(self.x_range, self.log_x, self.show_x)

    @property
    def y_ticks(self) -> list[Tick]:
        """Ticks of the left axis."""
        return _ticks(self.y_range, False, self.show_y)

    @property
    def keys(self) -> list[Key]:
        """Legend entries; lines are included only if there are several."""
        lines = [Key(line.name, line.colour, line.dash) for line in self.lines] if len(self.lines) > 1 else []
        return [*lines, *(Key(mark.name, INK, mark.dash) for mark in self.marks)]


def _plain(values: Sequence[float] | NDArray[np.float64]) -> list[float]:
    found: list[float] = np.asarray(values, np.float64).tolist()
    return found


def _path(places: Sequence[tuple[float, float] | None]) -> str:
    """Return an SVG path through points, with gaps."""
    parts, pen = [], "M"
    for place in places:
        if place is None:
            pen = "M"
            continue
        parts.append(f"{pen}{place[0]:g},{place[1]:g}")
        pen = "L"
    return "".join(parts)


def percent_axis(value: float) -> str:
    r"""Format a share as an axis label.

    Examples
    --------
    >>> percent_axis(0.2).replace("\xa0", " "), percent_axis(0.001).replace("\xa0", " ")
    ('20 %', '0.1 %')
    """
    return f"{significant(100 * value, 2)}\xa0%"


def series(number: int) -> tuple[str, str]:
    """Return colour and dash of the n-th of several lines.

    Examples
    --------
    >>> series(0), series(7)
    (('#0b62b5', ''), ('#8C96A3', '6 4'))
    """
    return SERIES[number % len(SERIES)], DASHES[number // len(SERIES) % len(DASHES)]


Form: TypeAlias = Scale | Cards | Ranked | Matrix | Histogram | Lines
"""Forms in which a figure can be drawn."""
