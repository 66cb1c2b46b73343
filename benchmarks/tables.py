"""Measurements as tables for people and as records for programs, which can be read back."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")),
}
"""Unit -> scales for output, largest first."""

Written = dict[str, Any]
"""Result of `Table.record`, as read back from JSON."""

VERSIONS_OF = (
    "numpy",
    "shapely",
    "fiftyone",
    "kalos",
    "pycocotools",
    "hotcoco",
    "SimpleITK",
    "krippendorff",
    "crowd-kit",
)


@dataclass(frozen=True)
class Measured:
    """One quantity measured several times: seconds by the clock, or bytes, and CPU seconds of the same rounds."""

    values: tuple[float, ...]
    unit: str = "s"
    cpu: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def busy(self) -> Measured | None:
        """CPU seconds, added up over threads and hardly affected by other load on the machine; None for memory."""
        return Measured(self.cpu) if self.cpu else None

    def per(self, count: int) -> Measured:
        """Return the value per item."""
        return self.times(1 / count)

    def times(self, factor: float) -> Measured:
        """Return the value for `factor` times the work."""
        values, cpu = (tuple(value * factor for value in each) for each in (self.values, self.cpu))
        return Measured(values, self.unit, cpu)

    def __str__(self) -> str:
        size, name = next((scale for scale in SCALES[self.unit] if self.median >= scale[0]), SCALES[self.unit][-1])
        return f"{_with_range(self.median / size, [value / size for value in self.values], name)}"


@dataclass(frozen=True)
class Ratio:
    """Ratio of two medians, with the minimum and maximum over single rounds."""

    middle: float
    least: float
    most: float

    def __str__(self) -> str:
        return _with_range(self.middle, (self.least, self.most), "")


@dataclass(frozen=True)
class Row:
    """Our measurement vs. another; `claim` is the promised minimum ratio, or the maximum if less is better.

    `headline` is its name in the short table of the documentation; rows without one are not in it. `images` is their
    number, for tables about growth.
    """

    what: str
    ours: Measured
    other: Measured | None = None
    claim: float | None = None
    headline: str = ""
    images: int | None = None


@dataclass(frozen=True)
class Table:
    """Rows that answer one question.

    `speedup` defines the ratio: how many times faster ours is (other / ours), or how many times as much ours takes
    (ours / other).
    """

    title: str
    rows: tuple[Row, ...]
    ours: str = "ours"
    other: str = "peer"
    speedup: bool = True
    notes: tuple[str, ...] = ()

    def ratio(self, row: Row) -> Ratio | None:
        """Return the ratio of wall-clock times, or of bytes."""
        return None if row.other is None else self._ratio(row.ours, row.other)

    def cpu_ratio(self, row: Row) -> Ratio | None:
        """Return the ratio of CPU seconds; None for memory and for limits, which are not measured."""
        ours, other = row.ours.busy, row.other and row.other.busy
        return None if ours is None or other is None else self._ratio(ours, other)

    def _ratio(self, ours: Measured, other: Measured) -> Ratio:
        if len(other.values) == 1:  # a limit, used for each round
            other = Measured(other.values * len(ours.values))
        above, below = (other, ours) if self.speedup else (ours, other)
        rounds = [a / b for a, b in zip(above.values, below.values, strict=True)]
        return Ratio(above.median / below.median, min(rounds), max(rounds))

    def met(self, row: Row) -> bool | None:
        """Return whether the claim holds for the ratio of the median wall-clock times; None without a claim."""
        ratio = self.ratio(row)
        if row.claim is None or ratio is None:
            return None
        return ratio.middle >= row.claim if self.speedup else ratio.middle <= row.claim

    def cells(self) -> list[tuple[str, ...]]:
        """Return head and rows as text, with columns of CPU seconds if there are any."""
        over, under = (self.other, self.ours) if self.speedup else (self.ours, self.other)
        sign = "≥" if self.speedup else "≤"
        lines: list[tuple[str, ...]] = [
            (
                "case",
                self.ours,
                self.other,
                f"{over} / {under}",
                f"{self.ours}: CPU",
                f"{self.other}: CPU",
                "ratio of CPU",
                "claim",
                "met",
            )
        ]
        for row in self.rows:
            figures = (row.ours, row.other, self.ratio(row), row.ours.busy, row.other and row.other.busy)
            lines.append(
                (
                    row.what,
                    *("-" if figure is None else str(figure) for figure in (*figures, self.cpu_ratio(row))),
                    "-" if row.claim is None else f"{sign} {row.claim:g}",
                    {True: "yes", False: "NO", None: "-"}[self.met(row)],
                )
            )
        used = [index < 4 or any(line[index] != "-" for line in lines[1:]) for index in range(len(lines[0]))]
        return [tuple(cell for cell, keep in zip(line, used, strict=True) if keep) for line in lines]

    def __str__(self) -> str:
        lines = self.cells()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, tuple("-" * width for width in widths))
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([self.title, *(line.rstrip() for line in text), *(f"  {note}" for note in self.notes)])

    def record(self) -> Written:
        return asdict(self)

    @classmethod
    def of(cls, record: Written) -> Table:
        """Restore the table from a record."""

        def measured(figure: Written | None) -> Measured | None:
            return figure and Measured(tuple(figure["values"]), figure["unit"], tuple(figure["cpu"]))

        rows = [row | {name: measured(row[name]) for name in ("ours", "other")} for row in record["rows"]]
        return cls(**record | {"rows": tuple(Row(**row) for row in rows), "notes": tuple(record["notes"])})


def environment() -> dict[str, str]:
    """Return versions and cores, which measurements depend on."""
    found = {"python": platform.python_version()}
    for name in VERSIONS_OF:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found | {"cores": str(os.cpu_count()), "machine": f"{platform.system()} {platform.machine()}"}


def _with_range(middle: float, values: Any, unit: str) -> str:
    least, most = min(values), max(values)
    name = f" {unit}" if unit else ""
    return f"{middle:.3g}{name}" if least == most else f"{middle:.3g}{name} [{least:.3g}, {most:.3g}]"
