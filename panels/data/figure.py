"""A figure of the library as the view draws it: with the App's own Plotly, or as a matrix."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.captions import Caption
from kalos_core.text import unshown


@dataclass(frozen=True)
class Figure:
    """The finding as the title, how to read it, the formula behind "?", and plotly's traces and layout."""

    title: str
    reading: str
    formula: str
    traces: Any
    layout: Any


def figure_of(part: Part, caption: Caption) -> Figure:
    """A part of a run that has a figure."""
    plain = part.figure.to_plotly_json()
    plain["layout"].pop("template", None)  # the App brings its theme; plotly's own is white, and 7 kB
    reading = unshown(f"{caption.read} {part.note}".strip())
    return Figure(unshown(part.title), reading, caption.formula, plain["data"], plain["layout"])


@dataclass(frozen=True)
class Matrix:
    """What the library draws as a heat map, for a matrix of the view: the finding, how to read it, and the values."""

    title: str
    reading: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Any


def matrix_of(part: Part, caption: Caption, rows: Iterable[Any], columns: Iterable[Any] | None = None) -> Matrix:
    """A part of a run whose figure is a heat map of these rows and columns (by default the rows)."""
    names = tuple(map(str, rows))
    across = names if columns is None else tuple(map(str, columns))
    heatmap = part.figure.data[0]
    values = np.array(heatmap.z, float).reshape(len(names), len(across))
    return Matrix(unshown(part.title), unshown(f"{caption.read} {part.note}".strip()), names, across, values)
