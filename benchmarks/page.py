"""`python -m benchmarks.page`: write results of `python -m benchmarks --results` to the documentation.

Writes the page of all results, the short table of *Speed*, and the plot of growth; a test compares them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

from benchmarks.tables import Row, Table
from kalos_core.figures import save_figure

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE, SPEED, PLOT = (ROOT / "docs" / name for name in ("benchmarks.md", "speed.md", "images/growth.svg"))

BEGIN, END = "<!-- made by python -m benchmarks.page -->", "<!-- end of what is made -->"

HEAD = f"""# Benchmark results

{BEGIN}

This page has the results of the last `make bench`. Goals that were missed are marked "NO". [Speed](speed.md) has a
summary.

- Both sides of a row ran in turns in one process, on new inputs.
- A value is the median of the rounds, with the minimum and the maximum in brackets.
- Seconds are wall-clock time; CPU seconds add up all threads. Claims refer to wall-clock time.
- A ratio is the ratio of the medians, with its range over single rounds.
"""


@dataclass(frozen=True)
class Results:
    """Results of one run of a benchmark."""

    name: str
    measured: str
    environment: dict[str, str]
    rounds: int
    tables: tuple[Table, ...]

    @classmethod
    def read(cls, file: Path) -> Results:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return cls(file.stem, **content | {"tables": tuple(map(Table.of, content["tables"]))})


def read_all(folder: Path = RESULTS) -> list[Results]:
    """Read all results, in the order in which benchmarks are run."""
    from benchmarks.__main__ import BENCHMARKS

    return [Results.read(file) for name in BENCHMARKS if (file := folder / f"{name}.json").is_file()]


def page(results: Iterable[Results]) -> str:
    """Return the page of all results."""
    parts = [HEAD]
    for result in results:
        about = ", ".join(f"{name} {value}" for name, value in result.environment.items() if value != "not installed")
        parts.append(
            f"## {result.name.capitalize()}\n\nMeasured on {result.measured} in {result.rounds} rounds: {about}.\n"
        )
        for table in result.tables:
            parts.append(f"### {table.title[0].upper()}{table.title[1:]}\n\n{_table(table.cells())}\n")
            if any(row.images for row in table.rows):
                parts.append(f"![Seconds per image by the number of images](images/{PLOT.name})\n")
            parts += [f"* {note}" for note in table.notes]
            parts += [""] * bool(table.notes)
    return "\n".join(parts)


def headlines(results: Iterable[Results]) -> str:
    """Return the short table: claims against other tools."""
    lines: list[Sequence[str]] = [("task", "ours", "other tool", "speed-up", "speed-up in CPU time")]
    for result in results:
        for table in result.tables:
            lines += [_headline(table, row) for row in table.rows if row.headline]
    return _table(lines)


def _headline(table: Table, row: Row) -> Sequence[str]:
    return row.headline, *(
        str(figure or "-") for figure in (row.ours, row.other, table.ratio(row), table.cpu_ratio(row))
    )


def speed(text: str, results: Iterable[Results]) -> str:
    """Replace the short table between its two comments in *Speed*."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{headlines(results)}\n\n{END}{rest.split(END)[1]}"


def growth(results: Iterable[Results]) -> go.Figure:
    """Plot milliseconds per image by number of images, one line per analysis."""
    figure = go.Figure()
    lines: dict[str, list[Row]] = {}
    for row in (row for result in results for table in result.tables for row in table.rows if row.images):
        lines.setdefault(row.what.rpartition(", ")[0], []).append(row)
    for name, rows in lines.items():
        figure.add_scatter(
            name=name, x=[row.images for row in rows], y=[row.ours.median * 1000 for row in rows], mode="lines+markers"
        )
    figure.update_layout(
        title="Time per image by number of images",
        xaxis={
            "title": {"text": "images"},
            "type": "log",
            "dtick": 1,
            "exponentformat": "none",
            "separatethousands": True,
        },
        yaxis={"title": {"text": "milliseconds per image"}, "type": "log", "dtick": 1},
        width=900,
        height=520,
    )
    return figure


def _table(lines: Sequence[Sequence[str]]) -> str:
    head, *rows = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, "|---" * len(lines[0]) + "|", *rows])


def main() -> int:
    results = read_all()
    PAGE.write_text(page(results), encoding="utf-8")
    SPEED.write_text(speed(SPEED.read_text(encoding="utf-8"), results), encoding="utf-8")
    save_figure(growth(results), PLOT, overwrite=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
