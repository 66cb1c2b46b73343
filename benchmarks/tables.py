"""What was measured, as an aligned table for people and as records for programs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import dataclass
from statistics import median
from typing import Any

SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")),
}
"""Unit -> sizes it is written in, largest first."""

VERSIONS_OF = ("numpy", "shapely", "fiftyone", "kalos", "pycocotools", "hotcoco", "SimpleITK", "krippendorff")


@dataclass(frozen=True)
class Measured:
    """One figure, measured several times; seconds or bytes."""

    values: tuple[float, ...]
    unit: str = "s"

    @property
    def median(self) -> float:
        return median(self.values)

    def per(self, count: int) -> Measured:
        return Measured(tuple(value / count for value in self.values), self.unit)

    def __str__(self) -> str:
        size, name = next((scale for scale in SCALES[self.unit] if self.median >= scale[0]), SCALES[self.unit][-1])
        return f"{_with_range(self.median / size, [value / size for value in self.values], name)}"


@dataclass(frozen=True)
class Row:
    """Ours against something else; `claim` is the least or, where less is better, the greatest ratio promised."""

    what: str
    ours: Measured
    other: Measured | None = None
    claim: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows that answer one question.

    `speedup` tells what the ratio is: how many times faster ours is (other / ours), or else how many times as much
    ours takes (ours / other).
    """

    title: str
    rows: tuple[Row, ...]
    ours: str = "ours"
    other: str = "peer"
    speedup: bool = True
    notes: tuple[str, ...] = ()

    def ratio(self, row: Row) -> tuple[float, float, float] | None:
        """Ratio of the medians, then the least and the greatest of single rounds."""
        if row.other is None:
            return None
        above, below = (row.other, row.ours) if self.speedup else (row.ours, row.other)
        rounds = [a / b for a, b in zip(above.values, below.values, strict=False)]
        return above.median / below.median, min(rounds), max(rounds)

    def met(self, row: Row) -> bool | None:
        """Whether the claim holds for the ratio of the medians; None without a claim."""
        ratio = self.ratio(row)
        if row.claim is None or ratio is None:
            return None
        return ratio[0] >= row.claim if self.speedup else ratio[0] <= row.claim

    def __str__(self) -> str:
        sign = "≥" if self.speedup else "≤"
        over, under = (self.other, self.ours) if self.speedup else (self.ours, self.other)
        lines = [("what", self.ours, self.other, f"{over} / {under}", "claim", "met")]
        for row in self.rows:
            ratio = self.ratio(row)
            lines.append(
                (
                    row.what,
                    str(row.ours),
                    "-" if row.other is None else str(row.other),
                    "-" if ratio is None else _with_range(ratio[0], ratio[1:], ""),
                    "-" if row.claim is None else f"{sign} {row.claim:g}",
                    {True: "yes", False: "NO", None: "-"}[self.met(row)],
                )
            )
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, tuple("-" * width for width in widths))
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([self.title, *(line.rstrip() for line in text), *(f"  {note}" for note in self.notes)])

    def record(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "columns": [self.ours, self.other],
            "ratio_is": "other / ours" if self.speedup else "ours / other",
            "rows": [
                {
                    "what": row.what,
                    "unit": row.ours.unit,
                    "ours": row.ours.values,
                    "other": None if row.other is None else row.other.values,
                    "ratio": self.ratio(row),
                    "claim": row.claim,
                    "met": self.met(row),
                }
                for row in self.rows
            ],
            "notes": self.notes,
        }


def environment() -> dict[str, str]:
    """Versions and cores: what a measurement depends on besides the code."""
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
